"""Rows of Parquet files, of data sets that Hugging Face `datasets` saved on disk, and of SQL queries."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from assay.batch.values import RawRow
from assay.errors import InputError, MissingPackageError
from assay.evaluation.rows.reading import decoded

ROWS_AT_ONCE: Final = 64
"""Rows that are decoded at a time."""


def parquet_rows(stream: IO[bytes], source: str, name: str) -> Iterator[RawRow]:
    """The rows of a Parquet file; one with a cell that cannot be decoded becomes a broken row.

    Raises:
        InputError: it is not a readable Parquet file.
        MissingPackageError: pyarrow is not installed.
    """
    with _arrow(source):
        import pyarrow.parquet as parquet

        batches = parquet.ParquetFile(stream).iter_batches(batch_size=ROWS_AT_ONCE)
        yield from _numbered(batches, source, name)


def arrow_rows(stream: IO[bytes], source: str, name: str) -> Iterator[RawRow]:
    """The rows of an Arrow stream, the format of the files of a saved data set; one with a cell that cannot be decoded
    becomes a broken row.

    Raises:
        InputError: it is not a readable Arrow stream.
        MissingPackageError: pyarrow is not installed.
    """
    with _arrow(source):
        import pyarrow as pa

        with pa.ipc.open_stream(stream) as reader:
            cut = (batch.slice(at, ROWS_AT_ONCE) for batch in reader for at in range(0, batch.num_rows, ROWS_AT_ONCE))
            yield from _numbered(cut, source, name)


def _numbered(batches: Iterator[Any], source: str, name: str) -> Iterator[RawRow]:
    records = (record for batch in batches for record in decoded(batch))
    for number, record in enumerate(records, 1):
        if isinstance(record, str):
            yield RawRow(source, number, name, "broken", f"{source}, row {number}: {record}")
        else:
            yield RawRow(source, number, name, "columns", record)


@contextmanager
def _arrow(source: str) -> Iterator[None]:
    try:
        from pyarrow import ArrowException
    except ImportError as error:
        message = f"{source}: reading it needs pyarrow; install it with: pip install 'assay-ai[batch]'"
        raise MissingPackageError(message) from error
    try:
        yield
    except (ArrowException, OSError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from error


def saved_files(folder: Path) -> list[Path] | None:
    """The files of a data set that `Dataset.save_to_disk` or `DatasetDict.save_to_disk` wrote, in order; none where the
    folder is not such a data set.

    Raises:
        InputError: the folder has the files of such a data set, and they cannot be read.
    """
    try:
        if (folder / "dataset_dict.json").is_file():
            splits = json.loads((folder / "dataset_dict.json").read_text(encoding="utf-8"))["splits"]
            return [file for split in splits for file in saved_files(folder / _inside(split)) or []]
        if not ((folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()):
            return None
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        return [folder / _inside(one["filename"]) for one in state["_data_files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{folder}: not a readable data set of Hugging Face datasets: {error}") from error


def _inside(name: object) -> str:
    if not isinstance(name, str) or Path(name).name != name or name in {"", ".", ".."}:
        raise ValueError(f"{name!r} is not the name of a file in the folder")
    return name


def query_rows(database: str, query: str) -> Iterator[RawRow]:
    """The rows of a query, streamed from the database.

    The query is the caller's own and is sent unchanged. Its columns have to be named like the fields of a row, with
    `AS` where the table names them otherwise; `evidence` may hold a JSON list.

    Args:
        database: SQLAlchemy's URL.
        query: one statement that returns rows.

    Raises:
        InputError: the database cannot be reached, or refuses the query.
        MissingPackageError: SQLAlchemy is not installed.
    """
    try:
        import sqlalchemy
    except ImportError as error:
        raise MissingPackageError("a query needs SQLAlchemy; install it with: pip install 'assay-ai[store]'") from error
    try:
        address = sqlalchemy.make_url(database)
    except ValueError:  # its message may contain a part of the password
        raise InputError("--database: no address of SQLAlchemy; write @ : / ? in a password as %XX") from None
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise InputError(f"--database: {error}") from error
    try:
        engine = sqlalchemy.create_engine(address)
        with engine.connect() as connection, connection.begin() as transaction:
            result = connection.execution_options(stream_results=True, yield_per=1_000).exec_driver_sql(query)
            if not result.returns_rows:
                raise InputError("the query gives no rows; a batch reads, such as SELECT id, answer, evidence FROM ...")
            for number, record in enumerate(result.mappings(), 1):
                yield RawRow("query", number, "query", "columns", _plain(record))
            transaction.rollback()  # a batch only reads: whatever else the statement did is undone
        engine.dispose()
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as error:
        raise InputError(f"the query could not be read: {error}") from error


def _plain(record: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in record.items()}
