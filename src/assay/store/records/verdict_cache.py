"""Reports kept by what they depend on, so that of several servers over one database one has to make each.

A row is found by its tenant and a key that nobody can make without the operator's secret; it is no record: nothing is
lost with it, nothing rests on it, and the audit log knows nothing of it. Writes do not wait for the disk, and do not
take the tenant's lock, so that a check never waits for one.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.migrate import reason
from assay.store.db.row_security import set_acting_tenant
from assay.store.db.store import Store

_TURN = text("SELECT pg_try_advisory_xact_lock(1635218273, hashtext(:tenant))")
"""Two that drop the same rows could wait for each other; the first number is of this purpose alone."""


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A row; whoever reads it holds its seal against the rest."""

    key: str
    created: int
    """Microseconds since 1970, UTC, by the clock of who kept it."""
    seal: bytes
    body: bytes


def find_verdict(store: Store, tenant: str, key: str, since: int) -> KeptVerdict | None:
    """The row of a key that is not older than a moment; none where there is no such.

    Raises:
        StoreError: the database cannot be read.
    """
    table = tables.verdict_cache.c
    with store.reading(tenant) as connection:
        row = connection.execute(
            select(table.created, table.seal, table.body).where(
                table.tenant == tenant, table.key == key, table.created >= since
            )
        ).one_or_none()
    return None if row is None else KeptVerdict(key, row.created, bytes(row.seal), bytes(row.body))


def keep_verdict(store: Store, tenant: str, kept: KeptVerdict) -> None:
    """Keep a row; of several with one key, which servers make at once, the last one stays.

    Raises:
        StoreError: the database cannot be written.
    """
    table = tables.verdict_cache
    values = {"created": kept.created, "size": len(kept.body), "seal": kept.seal, "body": kept.body}
    try:
        with writing(store.engine).begin() as connection:
            _begin(connection, tenant)
            insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)
            statement = insert.values(tenant=tenant, key=kept.key, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=[table.c.tenant, table.c.key], set_=values)
            )
    except SQLAlchemyError as error:
        raise StoreError(f"a verdict cannot be kept: {reason(error)}") from error


def prune_verdicts(store: Store, tenant: str, since: int, entries: int, size: int) -> int:
    """Drop what is too old, and of the rest the oldest beyond a number of rows or of bytes.

    Args:
        store: the store.
        tenant: whose.
        since: what was made before this moment goes.
        entries: rows that may stay.
        size: bytes of their bodies that may stay.

    Returns:
        How many rows were dropped; none where another server is at it.

    Raises:
        StoreError: the database cannot be written.
    """
    table = tables.verdict_cache.c
    newest_first = (table.created.desc(), table.key)
    running = (
        select(
            table.created.label("created"),
            func.row_number().over(order_by=newest_first).label("place"),
            func.sum(table.size).over(order_by=newest_first, rows=(None, 0)).label("taken"),
        )
        .where(table.tenant == tenant)
        .subquery()
    )
    beyond = select(func.max(running.c.created)).where((running.c.place > entries) | (running.c.taken > size))
    try:
        with writing(store.engine).begin() as connection:
            _begin(connection, tenant)
            if connection.dialect.name == "postgresql" and not connection.execute(_TURN, {"tenant": tenant}).scalar():
                return 0
            last = connection.execute(beyond).scalar_one()
            limit = since if last is None else max(since, last + 1)
            gone = connection.execute(
                delete(tables.verdict_cache).where(table.tenant == tenant, table.created < limit)
            ).rowcount
    except SQLAlchemyError as error:
        raise StoreError(f"old verdicts cannot be dropped: {reason(error)}") from error
    return int(gone)


def forget_verdicts(connection: Connection, tenant: str) -> None:
    """Drop all rows of a tenant: which of them hold what was erased cannot be told from their keys."""
    connection.execute(delete(tables.verdict_cache).where(tables.verdict_cache.c.tenant == tenant))


def _begin(connection: Connection, tenant: str) -> None:
    set_acting_tenant(connection, tenant)
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
