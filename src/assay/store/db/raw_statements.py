"""Statements that go straight to the driver: inserts of many rows, and the few that every transaction makes.

SQLAlchemy spends three times as long on a row as SQLite does, and longer on compiling a statement than SQLite on
executing it. So the text of an insert is built once for each table, from the table's own names and nothing else; any
other statement is compiled by SQLAlchemy once for each dialect.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import ClauseElement, Connection, CursorResult, Dialect, Table
from sqlalchemy.exc import DBAPIError

UNLESS_THERE: Final = "ON CONFLICT DO NOTHING"
"""Keep the existing row if its key is already there."""


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], conflict: str = "") -> None:
    """Insert rows that have a value for every column; values of packed columns are packed already.

    Args:
        connection: a transaction that writes.
        table: the table.
        rows: the rows.
        conflict: an ON CONFLICT clause, which must be a constant of this package; by default an existing key is an
            error.
    """
    values_of = itemgetter(*(column.name for column in table.columns))
    insert_tuples(connection, table, [values_of(row) for row in rows], conflict)


def insert_tuples(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]], conflict: str = "") -> None:
    """Like `insert_rows`, with the values in the order of the columns."""
    if rows:
        connection.exec_driver_sql(_insert_sql(table, connection.dialect, conflict), list(rows))


def execute_prepared(
    connection: Connection, statement: ClauseElement, values: Mapping[str, int | str]
) -> CursorResult[Any]:
    """Execute a statement that is compiled once; the values of its parameters are integers and strings."""
    return connection.exec_driver_sql(*_with_parameters(statement, connection.dialect, values))


@contextmanager
def one_round_trip(connection: Connection) -> Iterator[None]:
    """Sends the statements of the block to PostgreSQL without waiting for each; the block's end waits for all of them.

    A busy process waits for its own interpreter lock after every answer of the database, so that a dozen round trips
    take longer than the work. A result cannot be read inside of the block; `read_later` reads one after it. In SQLite,
    which is in this process, nothing changes.

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
        # A connection that was lost in the middle may be left in pipeline mode, in which nothing else can be sent.
        if not driver.closed and driver.pgconn.pipeline_status:
            driver.close()
        # What the driver raises outside of a statement does not pass through SQLAlchemy.
        raise DBAPIError.instance(
            None,
            None,
            error,
            dbapi.Error,
            connection_invalidated=connection.dialect.is_disconnect(error, driver, None),
            dialect=connection.dialect,
        ) from error


def read_later(connection: Connection, statement: ClauseElement, values: Mapping[str, int | str]) -> Callable[[], Any]:
    """Executes a statement inside of `one_round_trip`.

    Args:
        connection: the transaction.
        statement: what to execute; it is compiled once, as by `execute_prepared`.
        values: those of its parameters.

    Returns:
        A function that gives the first column of the first row, or None if there is no row; to be called after the
        block.
    """
    if connection.dialect.name != "postgresql":
        found = execute_prepared(connection, statement, values).scalar()
        return lambda: found
    driver: Any = connection.connection.driver_connection
    cursor = driver.execute(*_with_parameters(statement, connection.dialect, values))

    def scalar() -> Any:
        row = cursor.fetchone()
        return None if row is None else row[0]

    return scalar


def _with_parameters(
    statement: ClauseElement, dialect: Dialect, values: Mapping[str, int | str]
) -> tuple[str, tuple[int | str, ...] | dict[str, int | str]]:
    sql, positional = _compiled(statement, dialect)
    return sql, tuple(values[name] for name in positional) if positional else dict(values)


@lru_cache(maxsize=256)
def _compiled(statement: ClauseElement, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    """The SQL of a statement, and the names of its parameters by position; no names where the dialect names them."""
    compiled = statement.compile(dialect=dialect)
    return str(compiled), tuple(getattr(compiled, "positiontup", None) or ())


@lru_cache(maxsize=128)
def _insert_sql(table: Table, dialect: Dialect, conflict: str) -> str:
    quote = dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in table.columns)
    placeholder = "?" if dialect.paramstyle == "qmark" else "%s"
    # A column may name an SQL expression that the database applies to its value.
    placeholders = ", ".join(column.info.get(dialect.name, "{}").format(placeholder) for column in table.columns)
    return f"INSERT INTO {quote(table.name)} ({names}) VALUES ({placeholders}) {conflict}"  # noqa: S608 only names from our own tables
