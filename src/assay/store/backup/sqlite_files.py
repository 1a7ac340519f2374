"""SQLite files: copied while others write, and replaced while nobody has them open."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Final
from urllib.parse import quote

from assay.errors import StoreError

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

PAGES: Final = 4096
"""Pages that are copied between two calls of `progress`: 16 MiB with the usual 4 KiB pages."""
_COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite keeps next to a database. They belong to its content: without them, or with those
of another database, the content differs."""
_SHARED_LOCK: Final = (0x40000002, 510)
"""The first byte and the number of bytes that each SQLite connection locks while it is open in WAL mode
(sqlite.org/fileformat2.html, section 1.3.1; `SHARED_FIRST` and `SHARED_SIZE` of `os.h`)."""
_CHUNK: Final = 1 << 20


def address(path: Path, query: str) -> str:
    """The URI of a file with a query, for `sqlite3.connect(..., uri=True)`."""
    return f"file:{quote(str(path.resolve()))}?{query}"


@contextmanager
def private_file(beside: Path) -> Iterator[Path]:
    """A new, empty file that only its owner may read, in the folder of another file; it is deleted afterwards unless it
    was moved.

    Raises:
        StoreError: it cannot be created.
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
        for suffix in ("", *_COMPANIONS):
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def copy_online(source: Path, target: Path, progress: Callable[[int, int], object] | None = None) -> None:
    """Copy a snapshot of a database while others read and write it.

    One read transaction is open from the first page to the last, so the copy holds all of a commit or nothing of it.
    Nobody waits: in WAL mode readers do not block writers. The write-ahead log grows until the copy is done, because
    SQLite does not merge what a reader may still need.

    Args:
        source: the database file.
        target: an empty file; it becomes a complete database without companion files.
        progress: called with the number of remaining pages and of all pages.

    Raises:
        StoreError: the source is not a SQLite database, or one of the two files cannot be read or written.
    """
    try:
        with (
            closing(sqlite3.connect(address(source, "mode=rw"), uri=True, timeout=30, isolation_level=None)) as reader,
            closing(sqlite3.connect(target, isolation_level=None)) as writer,
        ):
            reader.execute("PRAGMA query_only=ON")
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sqlite_master").fetchone()  # takes the snapshot
            reader.backup(
                writer, pages=PAGES, progress=None if progress is None else lambda _, left, all_: progress(left, all_)
            )
            reader.execute("ROLLBACK")
            writer.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StoreError(f"{source} cannot be copied: {error}") from error
    _sync_to_disk(target)


def copy_file(source: Path, target: Path) -> str:
    """Copy a file that nobody writes to.

    Returns:
        The SHA-256 of the content, in hexadecimal digits.

    Raises:
        StoreError: one of the two files cannot be read or written.
    """
    digest = sha256()
    try:
        with source.open("rb") as reader, target.open("wb") as writer:
            while chunk := reader.read(_CHUNK):
                digest.update(chunk)
                writer.write(chunk)
        _sync_to_disk(target)
    except OSError as error:
        raise StoreError(f"{source} cannot be copied: {error.strerror or error}") from error
    return digest.hexdigest()


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def put_in_place(new: Path, target: Path, *, replace: bool) -> Path | None:
    """Move a file to the place of a database that nobody has open.

    At every moment either the old or the new database is there. The old one is kept next to it under another name.

    Args:
        new: the new database file, in the same folder.
        target: the place of the database.
        replace: whether an existing database may be replaced.

    Returns:
        The path of the old database now; None if there was none.

    Raises:
        StoreError: there is a database that may not be replaced, somebody has it open, or a file cannot be moved.
    """
    companions = [target.with_name(target.name + suffix) for suffix in _COMPANIONS]
    exists = target.exists() and target.stat().st_size > 0
    if (exists or any(path.exists() for path in companions)) and not replace:
        raise StoreError(f"there is a database at {target} already; --replace puts the backup in its place")
    kept = None
    try:
        if exists:
            kept = _set_aside(target)
        for path in companions:
            path.unlink(missing_ok=True)
        new.replace(target)
        _sync_to_disk(target.parent)
    except OSError as error:
        raise StoreError(f"{target} cannot be put in place: {error.strerror or error}") from error
    return kept


def _set_aside(target: Path) -> Path:
    """Give the old database a second name, after merging its companion files into it."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    kept = target.with_name(f"{target.name}.replaced-{stamp}")
    companions = {target.with_name(target.name + name): kept.with_name(kept.name + name) for name in _COMPANIONS}
    for path, second in companions.items():  # the companions of a damaged file may be needed to read it
        with suppress(FileNotFoundError):
            os.link(path, second)
    try:
        merged = _merge_companions(target)
    # Whatever stopped it, an interrupt too: the database is not replaced, so the second names go and the error is
    # raised.
    except BaseException:
        merged = True
        raise
    finally:
        for second in companions.values() if merged else ():
            second.unlink(missing_ok=True)
    os.link(target, kept)
    return kept


def _merge_companions(target: Path) -> bool:
    """Merge the companion files of a database into it, which succeeds only if nobody else has it open.

    Returns:
        Whether it is one complete file now; False if it is damaged.

    Raises:
        StoreError: somebody else has it open.
    """
    try:
        with closing(
            sqlite3.connect(address(target, "mode=rw"), uri=True, timeout=1, isolation_level=None)
        ) as connection:
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("ROLLBACK")
            if mode == "delete":
                return True
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise _in_use(target) from error
    except sqlite3.DatabaseError:
        pass  # damaged, which may be why it is being replaced
    if fcntl is not None:
        with target.open("r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_LOCK[1], _SHARED_LOCK[0])
            except OSError as error:
                raise _in_use(target) from error
    return False


def _in_use(target: Path) -> StoreError:
    return StoreError(f"{target} is in use; stop every server and command that has it open, and try again")


def _sync_to_disk(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
