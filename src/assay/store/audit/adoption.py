"""Taking over a database of a version that bound only runs: from here on all of its rows are bound as they are found.

What was altered before is not found by that. It is written down, as entries of the log, what there was: one for each
unit of rows, and one with a digest of the counts of reports by hour.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, select

from assay.store.audit.binding import adopted
from assay.store.audit.entries import ADOPTION, entry, exact
from assay.store.audit.log import Appender, Entry
from assay.store.audit.units import SEAL, UNITS, Unit, read_states
from assay.store.db import tables

PART: Final = 200
"""Units that are read and written at a time."""


def adopt(connection: Connection) -> None:
    """Bind all rows of all tenants that are not bound yet, in the transaction that migrates."""
    for tenant in _tenants(connection):
        appender = Appender()
        appender.append(connection, tenant, [_counts(connection, tenant)], appender.lock(connection, tenant))
        for unit in UNITS:
            for ids in _unbound(connection, tenant, unit):
                states = read_states(connection, tenant, unit, ids)
                entries: list[Entry] = [
                    adopted(connection, tenant, unit, id_, state) for id_, state in sorted(states.items())
                ]
                appender.append(connection, tenant, entries, appender.lock(connection, tenant))


def hourly_digest(rows: Iterable[Any]) -> str:
    """The digest of counts: of hour, kind, name and count of each that is not nought."""
    return sha256(exact(sorted([list(row) for row in rows if row[3]]))).hexdigest()


def read_hourly(connection: Connection, tenant: str) -> list[tuple[int, str, str, int]]:
    """The counts of a tenant."""
    table = tables.hourly.c
    query = select(table.hour, table.kind, table.name, table.count).where(table.tenant == tenant)
    return [(row[0], row[1], row[2], row[3]) for row in connection.execute(query)]


def _counts(connection: Connection, tenant: str) -> Entry:
    return entry(ADOPTION, None, {"hourly": hourly_digest(read_hourly(connection, tenant))})


def _tenants(connection: Connection) -> list[str]:
    """The tenants that have anything to bind."""
    found: set[str] = set()
    for table in (tables.hourly, *(unit.head for unit in UNITS)):
        found |= set(connection.execute(select(table.c.tenant).distinct()).scalars())
    return sorted(found)


def _unbound(connection: Connection, tenant: str, unit: Unit) -> Iterator[list[str]]:
    """The ids of the units of a kind that are not bound, some at a time."""
    head = unit.head.c
    open_ = (head.tenant == tenant) & head[SEAL].is_(None)
    if unit.id is None:
        if connection.execute(select(head.tenant).where(open_)).first() is not None:
            yield [""]
        return
    last = ""
    while (
        ids := connection.execute(
            select(head[unit.id]).where(open_, head[unit.id] > last).order_by(head[unit.id]).limit(PART)
        )
        .scalars()
        .all()
    ):
        yield list(ids)
        # By the database's own order of texts, in which the next page begins too.
        last = ids[-1]
