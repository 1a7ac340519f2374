"""Cached reports, keyed by everything they depend on, so that only one of several servers has to make each of them.

A row is found by its tenant and a key that nobody can compute without the operator's secret. It is not a record:
nothing is lost with it, nothing relies on it, and the audit log does not cover it. Writes neither wait for the disk nor
lock the tenant's log, so a check never waits for them.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from assay.errors import StoreError
from assay.store.db import tables
from assay.store.db.engine import writing
from assay.store.db.migrate import reason
from assay.store.db.store import Store
from assay.store.db.transactions import transaction

_PRUNE_LOCK = text("SELECT pg_try_advisory_xact_lock(1635218273, hashtext(:tenant))")
"""Two processes that delete the same rows could deadlock; the first number identifies this purpose."""


@dataclass(frozen=True, slots=True)
class KeptVerdict:
    """A row of the cache; its reader must verify the seal over the rest."""

    key: str
    created: int
    """Microseconds since 1970 in UTC, by the clock of its writer."""
    seal: bytes
    body: bytes


def find_verdict(store: Store, tenant: str, key: str, since: int) -> KeptVerdict | None:
    """The row of a key, if it is not older than a moment; None otherwise.

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
    """Store a row; of several rows for one key the last one stays.

    Raises:
        StoreError: the database cannot be written.
    """
    table = tables.verdict_cache
    values = {"created": kept.created, "size": len(kept.body), "seal": kept.seal, "body": kept.body}
    try:
        with transaction(writing(store.engine), tenant, _commit_without_waiting) as connection:
            insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(table)
            statement = insert.values(tenant=tenant, key=kept.key, **values)
            connection.execute(
                statement.on_conflict_do_update(index_elements=[table.c.tenant, table.c.key], set_=values)
            )
    except SQLAlchemyError as error:
        raise StoreError(f"a verdict cannot be kept: {reason(error)}") from error


def prune_verdicts(store: Store, tenant: str, since: int, entries: int, size: int) -> int:
    """Delete rows that are too old, and of the rest the oldest beyond a number of rows or bytes.

    Args:
        store: the store.
        tenant: whose rows.
        since: rows from before this moment are deleted.
        entries: the most rows to keep.
        size: the most bytes of their bodies to keep.

    Returns:
        The number of deleted rows; 0 if another server is pruning now.

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
        with transaction(writing(store.engine), tenant, _commit_without_waiting) as connection:
            if (
                connection.dialect.name == "postgresql"
                and not connection.execute(_PRUNE_LOCK, {"tenant": tenant}).scalar()
            ):
                return 0
            last = connection.execute(beyond).scalar_one()
            oldest = since if last is None else max(since, last + 1)
            deleted = connection.execute(
                delete(tables.verdict_cache).where(table.tenant == tenant, table.created < oldest)
            ).rowcount
    except SQLAlchemyError as error:
        raise StoreError(f"old verdicts cannot be dropped: {reason(error)}") from error
    return int(deleted)


def forget_verdicts(connection: Connection, tenant: str) -> None:
    """Delete all rows of a tenant: their keys do not reveal which of them contain erased content."""
    connection.execute(delete(tables.verdict_cache).where(tables.verdict_cache.c.tenant == tenant))


def _commit_without_waiting(connection: Connection) -> None:
    """A verdict that is lost in a crash is judged again."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL synchronous_commit TO off")
