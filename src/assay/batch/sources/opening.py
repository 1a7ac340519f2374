"""Opens the sources that the caller names, as one stream of rows in a defined order."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

from assay.batch.sources.columns import arrow_rows, parquet_rows, query_rows, saved_files
from assay.batch.sources.text_files import csv_rows, json_lines
from assay.batch.values import RawRow
from assay.errors import InputError, MissingPackageError

_READERS: Final[dict[str, Callable[[IO[bytes], str, str], Iterator[RawRow]]]] = {
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".csv": csv_rows,
    ".parquet": parquet_rows,
    ".arrow": arrow_rows,
}
ENDINGS: Final = (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".csv", ".csv.gz", ".parquet")
"""The endings of files that can be read; other files in a folder are passed over."""


def open_sources(paths: Sequence[str], *, database: str | None = None, query: str | None = None) -> Iterator[RawRow]:
    """All rows of the sources, one source after the other.

    Args:
        paths: files, folders, data sets saved on disk, or URLs that fsspec knows, such as `s3://bucket/rows/*.parquet`.
            The files of a folder and of a pattern come in the order of their names.
        database: SQLAlchemy's URL of the database of a query.
        query: a query; its rows come last.

    Raises:
        InputError: no source is named, or one does not exist or cannot be read.
        MissingPackageError: a file or URL needs a package that is not installed.
    """
    if not paths and query is None:
        raise InputError("nothing to check: name files, folders or URLs, or a query with --database and --query")
    if (query is None) != (database is None):
        raise InputError("a query needs both --database and --query")
    files = [file for path in paths for file in _files_of(path)]
    return _rows(files, database, query)


def _rows(
    files: Sequence[tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]],
    database: str | None,
    query: str | None,
) -> Iterator[RawRow]:
    for source, open_stream in files:
        with open_stream() as stream:
            yield from _rows_of(stream, source)
    if database is not None and query is not None:
        yield from query_rows(database, query)


def _files_of(path: str) -> list[tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]]:
    if "://" in path:
        return _remote(path)
    place = Path(path)
    if place.is_dir():
        files = saved_files(place)
        if files is None:
            files = sorted(one for one in place.rglob("*") if one.name.lower().endswith(ENDINGS) and one.is_file())
        if not files:
            raise InputError(f"{path}: no file in this folder ends in {', '.join(ENDINGS)}")
        _stay_inside(files, place)
        return [(str(one), _local_opener(one)) for one in files]
    if not place.is_file():
        raise InputError(f"{path}: no such file or folder")
    if _ending(path) not in _READERS:
        raise InputError(f"{path}: unknown file ending; expected one of {', '.join(ENDINGS)}")
    return [(path, _local_opener(place))]


def _stay_inside(files: Sequence[Path], folder: Path) -> None:
    """Refuses links out of a folder: the files of a folder must not choose what else on this machine is read.

    Raises:
        InputError: a file is a link to a place outside of the folder.
    """
    inside = folder.resolve()
    for one in files:
        if not one.resolve().is_relative_to(inside):
            raise InputError(f"{one}: is a link out of {folder}; name the file itself if it is meant")


def _local_opener(path: Path) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    return lambda: path.open("rb")


def _remote(url: str) -> list[tuple[str, Callable[[], AbstractContextManager[IO[bytes]]]]]:
    try:
        import fsspec
    except ImportError as error:
        raise MissingPackageError(
            f"{url}: a URL needs fsspec; install it with: pip install 'assay-ai[batch]'"
        ) from error
    try:
        system, path = fsspec.core.url_to_fs(url)
        paths = _listed(system, path)
    except ImportError as error:
        raise MissingPackageError(f"{url}: {error}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{url}: cannot be read: {error}") from error
    files = [one for one in paths if one.lower().endswith(ENDINGS)]
    if not files:
        raise InputError(f"{url}: names no file that ends in {', '.join(ENDINGS)}")
    return [(system.unstrip_protocol(one), _remote_opener(system, one)) for one in files]


def _listed(system: Any, path: str) -> list[str]:
    if any(mark in path for mark in "*?["):
        return sorted(str(one) for one in system.glob(path))
    return sorted(str(one) for one in system.find(path)) if system.isdir(path) else [path]


def _remote_opener(system: Any, path: str) -> Callable[[], AbstractContextManager[IO[bytes]]]:
    @contextmanager
    def open_stream() -> Iterator[IO[bytes]]:
        try:
            # fsspec's `readline` reads a line to its end, however long; that of `io.BufferedReader` keeps to its limit.
            with system.open(path, "rb") as raw, cast("IO[bytes]", io.BufferedReader(raw)) as stream:
                yield stream
        except OSError as error:
            raise InputError(f"{system.unstrip_protocol(path)}: cannot be read: {error}") from error

    return open_stream


def _ending(name: str) -> str:
    return Path(name.lower().removesuffix(".gz")).suffix


def _rows_of(stream: IO[bytes], source: str) -> Iterator[RawRow]:
    name = source.replace("\\", "/").rsplit("/", 1)[-1]
    read = _READERS[_ending(name)]
    set_name = name.split(".")[0] or name
    if not name.lower().endswith(".gz"):
        yield from read(stream, source, set_name)
        return
    try:
        with cast("IO[bytes]", io.BufferedReader(gzip.GzipFile(fileobj=stream, mode="rb"))) as unpacked:
            yield from read(unpacked, source, set_name)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{source}: cannot be unpacked: {error}") from error
