"""Adopting a database of a version that bound only runs: from then on all its rows are bound as they were found.

Alterations from before the adoption cannot be detected. The log gets entries that record what was there: one for each
unit of rows, and one with a digest of the hourly counts.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, select

from assay.store.audit.binding import adoption_entry
from assay.store.audit.entries import ADOPTION, entry, exact
from assay.store.audit.log import Appender, Entry
from assay.store.audit.units import SEAL, UNITS, Unit, read_states
from assay.store.db import tables

BATCH: Final = 200
"""Units that are read and bound at a time."""


def adopt(connection: Connection) -> None:
    """Bind all rows of all tenants that are not bound yet, in the transaction of the migration."""
    for tenant in _tenants(connection):
        appender = Appender()
        appender.append(connection, tenant, [_counts_entry(connection, tenant)], appender.lock(connection, tenant))
        for unit in UNITS:
            for ids in _unbound(connection, tenant, unit):
                states = read_states(connection, tenant, unit, ids)
                entries: list[Entry] = [
                    adoption_entry(connection, tenant, unit, id_, state) for id_, state in sorted(states.items())
                ]
                appender.append(connection, tenant, entries, appender.lock(connection, tenant))


def hourly_digest(rows: Iterable[Any]) -> str:
    """The digest of hourly counts: of the hour, kind, name and count of each that is not zero."""
    return sha256(exact(sorted([list(row) for row in rows if row[3]]))).hexdigest()


def read_hourly(connection: Connection, tenant: str) -> list[tuple[int, str, str, int]]:
    """The hourly counts of a tenant: hour, kind, name, count."""
    table = tables.hourly.c
    query = select(table.hour, table.kind, table.name, table.count).where(table.tenant == tenant)
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


def _counts_entry(connection: Connection, tenant: str) -> Entry:
    return entry(ADOPTION, None, {"hourly": hourly_digest(read_hourly(connection, tenant))})


def _tenants(connection: Connection) -> list[str]:
    """The tenants that have any rows to bind."""
    tenants: set[str] = set()
    for table in (tables.hourly, *(unit.head for unit in UNITS)):
        tenants |= set(connection.execute(select(table.c.tenant).distinct()).scalars())
    return sorted(tenants)


def _unbound(connection: Connection, tenant: str, unit: Unit) -> Iterator[list[str]]:
    """The ids of the units of a kind that are not bound yet, in batches."""
    head = unit.head.c
    unbound = (head.tenant == tenant) & head[SEAL].is_(None)
    if unit.id is None:
        if connection.execute(select(head.tenant).where(unbound)).first() is not None:
            yield [""]
        return
    last = ""
    while (
        ids := connection.execute(
            select(head[unit.id]).where(unbound, head[unit.id] > last).order_by(head[unit.id]).limit(BATCH)
        )
        .scalars()
        .all()
    ):
        yield list(ids)
        # In the database's own collation, by which the next batch is compared too.
        last = ids[-1]
