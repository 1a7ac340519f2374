"""Engines for SQLite and PostgreSQL, set up so that what was committed is on disk."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import ConnectionPoolEntry

from assay.errors import MissingPackageError, StoreError

BUSY_MS: Final = 30_000
"""How long a writer waits for another one."""
CONNECT_S: Final = 10
"""How long a connection to PostgreSQL may take, in seconds, where the URL says nothing else (`connect_timeout`)."""
WRITES: Final = "assay_writes"
"""The execution option of a connection that is going to write."""


def database_url(text: str) -> URL:
    """The URL of a database; a plain path is one of SQLite.

    >>> database_url("postgres://me@db/assay").drivername, str(database_url("runs.db"))
    ('postgresql+psycopg', 'sqlite:///runs.db')

    Raises:
        StoreError: it is neither SQLite in a file nor PostgreSQL.
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
    """An engine over a database.

    SQLite runs in WAL mode with `synchronous=FULL`: a commit returns when its log is on disk. Transactions that write
    begin as writers, so that none fails halfway because another one wrote; those that read see one state throughout.
    What is deleted is overwritten. Errors show no values: they may be secret, and errors are logged.

    Raises:
        StoreError: the URL is of no database that is known, or its file cannot be made.
        MissingPackageError: its driver is not installed.
    """
    url = database_url(text)
    try:
        if url.get_backend_name() == "sqlite":
            file = Path(str(url.database))
            file.parent.mkdir(parents=True, exist_ok=True)
            # It holds what was asked and answered; the files that SQLite puts beside it have the same permissions.
            file.touch(mode=0o600, exist_ok=True)
            arguments = {"timeout": BUSY_MS / 1000, "check_same_thread": False}
            engine = create_engine(url, connect_args=arguments, hide_parameters=True)
            event.listen(engine, "connect", _set_up_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        waits = {} if "connect_timeout" in url.query else {"connect_timeout": CONNECT_S}
        return create_engine(
            url, connect_args=waits, pool_pre_ping=True, pool_size=10, max_overflow=20, hide_parameters=True
        )
    except (ImportError, NoSuchModuleError) as error:
        raise MissingPackageError(
            "expected the driver of PostgreSQL, which is not installed; run: pip install 'assay-ai[postgres]'"
        ) from error
    except OSError as error:
        raise StoreError(f"{url.database} cannot be made: {error.strerror or error}") from error


def _set_up_sqlite(connection: Any, _: ConnectionPoolEntry) -> None:
    # Transactions are begun by `_begin_sqlite`, not by the driver when it guesses that one is needed.
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


def writing(engine: Engine) -> Engine:
    """The same engine for transactions that write."""
    return engine.execution_options(**{WRITES: True})
