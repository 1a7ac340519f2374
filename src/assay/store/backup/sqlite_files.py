"""Files of SQLite: copied while others write, and exchanged while nobody has them open."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from assay.errors import StoreError

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

PAGES: Final = 4096
"""Pages that are copied between two looks at whether to go on: 16 MiB of the usual 4 KiB."""
_BESIDE: Final = ("-wal", "-shm", "-journal")
"""What SQLite puts beside a file; without it, or with that of another file, the content is another."""
_SHARED: Final = (0x40000002, 510)
"""The bytes that each connection of SQLite locks as long as it is open in WAL mode (sqlite.org/fileformat2.html,
section 1.3.1; `SHARED_FIRST` and `SHARED_SIZE` of `os.h`)."""
_CHUNK: Final = 1 << 20


def address(path: Path, query: str) -> str:
    """The URI of a file for `sqlite3.connect(..., uri=True)`."""
    return f"file:{quote(str(path.resolve()))}?{query}"


@contextmanager
def private_file(beside: Path) -> Iterator[Path]:
    """A new, empty file in the folder of another one, that only its owner may read; it is gone afterwards, unless it
    was moved.

    Raises:
        StoreError: it cannot be made.
    """
    path = beside.with_name(f".{beside.name}.{secrets.token_hex(6)}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StoreError(f"{path.parent} cannot be written to: {error.strerror or error}") from error
    try:
        yield path
    finally:
        for name in ("", *_BESIDE):
            path.with_name(path.name + name).unlink(missing_ok=True)


def copy_online(source: Path, target: Path, progress: Callable[[int, int], object] | None = None) -> None:
    """Copy a database as it is at one moment, while others read and write it.

    One reading transaction is open from the first page to the last, so the copy holds all of a commit or nothing of
    it. Nobody waits for it: in WAL mode readers hold up no writers. The log of what is written meanwhile grows until
    the copy is done, because SQLite merges nothing that a reader may still need.

    Args:
        source: the file.
        target: an empty file, which becomes one whole file without any beside it.
        progress: called with the pages that are left, and all pages.

    Raises:
        StoreError: the source is not a database of SQLite, or one of both cannot be read or written.
    """
    try:
        with (
            closing(sqlite3.connect(address(source, "mode=rw"), uri=True, timeout=30, isolation_level=None)) as reads,
            closing(sqlite3.connect(target, isolation_level=None)) as writes,
        ):
            reads.execute("PRAGMA query_only=ON")
            reads.execute("BEGIN")
            reads.execute("SELECT count(*) FROM sqlite_master").fetchone()  # the moment of the copy
            reads.backup(
                writes, pages=PAGES, progress=None if progress is None else lambda _, left, all_: progress(left, all_)
            )
            reads.execute("ROLLBACK")
            writes.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied: {error}") from error
    _to_disk(target)


def copy_file(source: Path, target: Path) -> str:
    """Copy the bytes of a file that nobody writes.

    Returns:
        The SHA-256 of what was copied, in hexadecimal digits.

    Raises:
        StoreError: one of both cannot be read or written.
    """
    found = sha256()
    try:
        with source.open("rb") as reads, target.open("wb") as writes:
            while part := reads.read(_CHUNK):
                found.update(part)
                writes.write(part)
        _to_disk(target)
    except OSError as error:
        raise StoreError(f"{source} cannot be copied: {error.strerror or error}") from error
    return found.hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return _digest(iter(lambda: file.read(_CHUNK), b""))


def _digest(parts: Iterator[bytes]) -> str:
    found = sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def put_in_place(new: Path, target: Path, *, replace: bool) -> Path | None:
    """Put a file in the place of a database that nobody has open.

    At every moment there is the old database or the new one. The old one is kept beside it under another name.

    Args:
        new: the file, in the same folder.
        target: the place.
        replace: whether a database that is there may be exchanged.

    Returns:
        Where the old database is now; none where there was none.

    Raises:
        StoreError: there is one and it may not be exchanged, somebody has it open, or a file cannot be moved.
    """
    left = [target.with_name(target.name + name) for name in _BESIDE]
    there = target.exists() and target.stat().st_size > 0
    if (there or any(path.exists() for path in left)) and not replace:
        raise StoreError(f"there is a database at {target} already; --replace puts the backup in its place")
    kept = None
    try:
        if there:
            kept = _set_aside(target)
        for path in left:
            path.unlink(missing_ok=True)
        new.replace(target)
        _to_disk(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be put in place: {error.strerror or error}") from error
    return kept


def _set_aside(target: Path) -> Path:
    """Give the old database a second name, once everything of it is in its one file."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    kept = target.with_name(f"{target.name}.replaced-{stamp}")
    beside = {target.with_name(target.name + name): kept.with_name(kept.name + name) for name in _BESIDE}
    for path, second in beside.items():  # what is beside a damaged file may be needed to read it
        with suppress(FileNotFoundError):
            os.link(path, second)
    try:
        whole = _close_for_good(target)
    except BaseException:
        whole = True  # nothing is exchanged
        raise
    finally:
        for second in beside.values() if whole else ():
            second.unlink(missing_ok=True)
    os.link(target, kept)
    return kept


def _close_for_good(target: Path) -> bool:
    """Merge what SQLite keeps beside a file into it, which succeeds only where nobody else has it open.

    Returns:
        Whether it is one whole file now; not so where it is damaged.
    """
    try:
        with closing(sqlite3.connect(address(target, "mode=rw"), uri=True, timeout=1, isolation_level=None)) as alone:
            alone.execute("PRAGMA locking_mode=EXCLUSIVE")
            mode = alone.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
            alone.execute("BEGIN EXCLUSIVE")
            alone.execute("ROLLBACK")
            if mode == "delete":
                return True
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise _in_use(target) from error
    except sqlite3.DatabaseError:
        pass  # damaged, which may be why it is replaced
    if fcntl is not None:
        with target.open("r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED[1], _SHARED[0])
            except OSError as error:
                raise _in_use(target) from error
    return False


def _in_use(target: Path) -> StoreError:
    return StoreError(f"{target} is in use; stop every server and command that has it open, and try again")


def _to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
