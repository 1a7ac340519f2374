"""Statements that go to the driver as they are: inserts of many rows, and the few that every transaction makes.

SQLAlchemy takes three times as long over a row as SQLite does, and longer over a statement than SQLite over its work.
So the text of an insert is made once for each table, from the table's own names and nothing else; that of any other
statement is what SQLAlchemy makes of it, once for each database.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ClauseElement, Connection, CursorResult, Dialect, Table
from sqlalchemy.exc import DBAPIError

UNLESS_THERE: Final = "ON CONFLICT DO NOTHING"
"""Leave a row as it is whose key is there already."""


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], conflict: str = "") -> None:
    """Insert rows that have a value for every column, packed where the column is.

    Args:
        connection: a transaction that writes.
        table: where to.
        rows: the rows.
        conflict: what to do with a row whose key is there already: a constant of this package; it fails by default.
    """
    values = itemgetter(*(column.name for column in table.columns))
    insert_tuples(connection, table, [values(row) for row in rows], conflict)


def insert_tuples(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]], conflict: str = "") -> None:
    """As `insert_rows`, with the values in the order of the columns."""
    if rows:
        connection.exec_driver_sql(_statement(table, connection.dialect, conflict), list(rows))


def execute_prepared(
    connection: Connection, statement: ClauseElement, values: Mapping[str, int | str]
) -> CursorResult[Any]:
    """Execute a statement that is made once, with values for its parameters: whole numbers and texts."""
    text, places = _prepared(statement, connection.dialect)
    return connection.exec_driver_sql(text, tuple(values[name] for name in places) if places else dict(values))


@contextmanager
def one_round_trip(connection: Connection) -> Iterator[None]:
    """Sends the statements of the block to PostgreSQL without waiting for each; the block's end waits for all of them.

    A busy process waits for its own interpreter lock after every answer of the database, so that a dozen round trips
    take longer than the work. The block holds inserts and updates alone: a result cannot be read inside of it. In
    SQLite, which is in this process, nothing changes.

    Raises:
        DBAPIError: a statement failed, perhaps another than the last; the transaction has to be rolled back.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    driver: Any = connection.connection.driver_connection
    dbapi: Any = connection.dialect.loaded_dbapi
    try:
        with driver.pipeline():
            yield
    except dbapi.Error as error:
        # What the driver raises outside of a statement does not pass through SQLAlchemy.
        raise DBAPIError.instance(
            None,
            None,
            error,
            dbapi.Error,
            connection_invalidated=connection.dialect.is_disconnect(error, driver, None),
            dialect=connection.dialect,
        ) from error


@lru_cache(maxsize=256)
def _prepared(statement: ClauseElement, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    made = statement.compile(dialect=dialect)
    return str(made), tuple(getattr(made, "positiontup", None) or ())


@lru_cache(maxsize=128)
def _statement(table: Table, dialect: Dialect, conflict: str) -> str:
    quote = dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in table.columns)
    mark = "?" if dialect.paramstyle == "qmark" else "%s"
    # A column may be made of its value by the database itself.
    marks = ", ".join(column.info.get(dialect.name, "{}").format(mark) for column in table.columns)
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({marks}) {conflict}"  # noqa: S608 names of ours alone
