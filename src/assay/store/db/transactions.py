"""Transactions for a tenant that begin in one round trip to the database.

A busy process waits after every answer of the database: for a processor, and for its own interpreter lock. So
PostgreSQL gets BEGIN and the tenant together. A transaction that only reads ends with COMMIT, because the driver
forgets its prepared statements after a ROLLBACK.

Connections are not tested before they are used. The first round trip is the test: where it finds that the database has
closed the connection, nothing was done yet, and the transaction begins again on a new one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from assay.store.db.engine import SNAPSHOT
from assay.store.db.raw_statements import one_round_trip
from assay.store.db.row_security import set_acting_tenant


class CommitFailedError(SQLAlchemyError):
    """COMMIT failed: nobody knows whether the transaction was committed."""

    def __init__(self, error: DBAPIError) -> None:
        """COMMIT failed with this error."""
        super().__init__(str(error))
        self.orig = error.orig
        """What the driver raised."""


@contextmanager
def reading_transaction(engine: Engine, tenant: str) -> Iterator[Connection]:
    """A connection that sees one snapshot of a tenant's rows until the block ends, and cannot write.

    Args:
        engine: the database.
        tenant: a tenant, or `EVERY_TENANT`.

    Raises:
        SQLAlchemyError: the database cannot be read.
    """
    with transaction(engine.execution_options(**{SNAPSHOT: True}), tenant) as connection:
        yield connection


@contextmanager
def transaction(engine: Engine, tenant: str, first: Callable[[Connection], None] | None = None) -> Iterator[Connection]:
    """A transaction that acts for a tenant; it is committed at the end of the block, or rolled back by an error.

    Args:
        engine: the database (`assay.store.db.engine.writing` where the block writes).
        tenant: a tenant, or `EVERY_TENANT`.
        first: further statements for the first round trip; run again where the transaction begins again.

    Raises:
        CommitFailedError: COMMIT failed, so that nobody knows whether the transaction was committed.
        SQLAlchemyError: the database does not answer, or refused a statement; nothing was committed.
    """
    connection = _begun(engine, tenant, first)
    try:
        yield connection
        _commit(connection)
    except BaseException as error:
        _give_back(connection, error)
        raise
    _give_back(connection)


def _commit(connection: Connection) -> None:
    try:
        connection.commit()
    except IntegrityError:
        raise  # a constraint that is checked at the end: the transaction was rolled back
    except DBAPIError as error:
        # A process of PostgreSQL that is ended may have committed before it says so in place of an answer.
        raise CommitFailedError(error) from error


def _begun(engine: Engine, tenant: str, first: Callable[[Connection], None] | None) -> Connection:
    try:
        return _begin(engine, tenant, first)
    except DBAPIError as error:
        if not error.connection_invalidated:
            raise
        # The database was restarted or ended the connection. What else is in the pool is as old: new ones are opened.
        engine.dispose()
    return _begin(engine, tenant, first)


def _begin(engine: Engine, tenant: str, first: Callable[[Connection], None] | None) -> Connection:
    connection = engine.connect()
    try:
        with one_round_trip(connection):
            connection.begin()
            set_acting_tenant(connection, tenant)
            if first is not None:
                first(connection)
    except BaseException as error:
        _give_back(connection, error)
        raise
    return connection


def _give_back(connection: Connection, error: BaseException | None = None) -> None:
    """Roll back what was not committed, and return the connection to the pool. One that was lost is dropped: to roll it
    back would raise an error of its own, which would hide the first."""
    if isinstance(error, CommitFailedError) or (isinstance(error, DBAPIError) and error.connection_invalidated):
        connection.invalidate(error)
    connection.close()
