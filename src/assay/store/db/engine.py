"""Engines for SQLite and PostgreSQL, configured so that a commit returns only when it is on disk."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from assay.errors import MissingPackageError, StoreError

BUSY_MS: Final = 30_000
"""How long a SQLite writer waits for another writer, in milliseconds."""
CONNECT_S: Final = 10
"""How long connecting to PostgreSQL may take, in seconds, unless the URL sets `connect_timeout`."""
WRITES: Final = "assay_writes"
"""The execution option of a connection that will write."""
SNAPSHOT: Final = "assay_snapshot"
"""The execution option of a connection that only reads, and sees one snapshot throughout."""


def database_url(text: str) -> URL:
    """The URL of a database; a plain path means a SQLite file.

    >>> database_url("postgres://me@db/assay").drivername, str(database_url("runs.db"))
    ('postgresql+psycopg', 'sqlite:///runs.db')

    Raises:
        StoreError: it is neither a SQLite file nor PostgreSQL.
    """
    try:
        url = make_url(text) if "://" in text else URL.create("sqlite", database=text)
    except (ArgumentError, ValueError) as error:
        # The text may hold a password: it is never shown.
        raise StoreError("expected a database as sqlite:///FILE or postgresql://HOST/NAME, got another URL") from error
    if url.drivername in {"postgres", "postgresql", "postgresql+psycopg"}:
        return url.set(drivername="postgresql+psycopg")
    if url.drivername not in {"sqlite", "sqlite+pysqlite"}:
        raise StoreError(f"expected a database of SQLite or PostgreSQL, got one of {url.drivername}")
    if url.database in (None, "", ":memory:") or "mode=memory" in str(url):
        raise StoreError("expected SQLite in a file, got one in memory, which nothing outlasts; name a file")
    return url


def make_engine(text: str) -> Engine:
    """An engine for a database.

    SQLite runs in WAL mode with `synchronous=FULL`: a commit returns when its write-ahead log is on disk. Transactions
    that write begin with a write lock, so none fails halfway because another one wrote; those that read see one
    snapshot throughout. Deleted content is overwritten. Error messages show no parameter values: those may be secret,
    and errors are logged.

    Raises:
        StoreError: the URL names an unsupported database, or the file cannot be created.
        MissingPackageError: the driver is not installed.
    """
    url = database_url(text)
    try:
        if url.get_backend_name() == "sqlite":
            file = Path(str(url.database))
            file.parent.mkdir(parents=True, exist_ok=True)
            # It holds questions and answers; the files that SQLite creates next to it get the same permissions.
            file.touch(mode=0o600, exist_ok=True)
            connect_args = {"timeout": BUSY_MS / 1000, "check_same_thread": False}
            engine = create_engine(url, connect_args=connect_args, hide_parameters=True)
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        connect_args = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_S}
        engine = create_engine(url, connect_args=connect_args, pool_size=10, max_overflow=20, hide_parameters=True)
    except (ImportError, NoSuchModuleError) as error:
        raise MissingPackageError(
            "expected the driver of PostgreSQL, which is not installed; run: pip install 'assay-ai[postgres]'"
        ) from error
    except OSError as error:
        raise StoreError(f"{url.database} cannot be made: {error.strerror or error}") from error
    event.listen(engine, "connect", _set_up_postgresql)
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _set_up_sqlite(connection: Any, _: ConnectionPoolEntry) -> None:
    # `_begin_sqlite` begins transactions; left to itself, the driver begins one when it guesses that it is needed.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout={BUSY_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "trusted_schema=OFF",
        "cache_size=-65536",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgresql(connection: Any, _: ConnectionPoolEntry) -> None:
    # `_begin_postgresql` begins transactions; the driver would wait for the database's answer to each BEGIN.
    connection.autocommit = True


def _begin_postgresql(connection: Connection) -> None:
    snapshot = connection.get_execution_options().get(SNAPSHOT, False)
    connection.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if snapshot else "BEGIN")


def writing(engine: Engine) -> Engine:
    """The same engine, for transactions that write."""
    return engine.execution_options(**{WRITES: True})
