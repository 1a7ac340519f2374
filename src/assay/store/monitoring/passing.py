"""Counts of what passes through, until the monitor has added them up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros, storable

MOST_READ: Final = 2_000
"""Batches that are added up at a time."""
KEPT: Final = 7 * 86_400_000_000
"""Microseconds for which batches wait that nobody adds up."""

Sequences = Sequence[tuple[Sequence[str], int]]


@dataclass(frozen=True, slots=True)
class PassingRow:
    """What one process counted of one scope."""

    at: int
    source: str
    sequences: Sequences


def add_passing(store: Store, tenant: str, source: str, counts: Mapping[tuple[str, str], Sequences]) -> None:
    """Store counts by kind and scope.

    Raises:
        StoreError: they cannot be stored.
    """
    now = micros(store.now())
    rows = [
        {
            "tenant": tenant,
            "kind": kind,
            "scope": storable(scope),
            "at": now,
            "source": source,
            "count": sum(count for _, count in sequences),
            "body": [[[storable(part) for part in parts], count] for parts, count in sequences],
        }
        for (kind, scope), sequences in sorted(counts.items())
    ]

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.passing.c
        connection.execute(delete(tables.passing).where(table.tenant == tenant, table.at < now - KEPT))
        there = {
            (row.kind, row.scope)
            for row in connection.execute(
                select(table.kind, table.scope).where(table.tenant == tenant, table.at == now, table.source == source)
            )
        }
        fresh = [row for row in rows if (row["kind"], row["scope"]) not in there]
        if fresh:
            connection.execute(insert(tables.passing), fresh)
        return ()

    if rows:
        store.apply(Change(checked_tenant(tenant), act=act))


def read_passing(connection: Connection, tenant: str) -> dict[tuple[str, str], list[PassingRow]]:
    """The batches that wait, by kind and scope, each in the order of their moments."""
    table = tables.passing.c
    rows = connection.execute(
        select(tables.passing).where(table.tenant == tenant).order_by(table.at, table.source).limit(MOST_READ)
    )
    found: dict[tuple[str, str], list[PassingRow]] = {}
    for row in rows:
        sequences = [(list(parts), int(count)) for parts, count in row.body or ()]
        found.setdefault((row.kind, row.scope), []).append(PassingRow(row.at, row.source, sequences))
    return found


def read_passing_state(connection: Connection, tenant: str, kind: str, scope: str) -> tuple[int, dict[str, Any]]:
    """How many batches of a scope were added up, and what they came to."""
    table = tables.passing_states.c
    row = connection.execute(
        select(table.until, table.body).where(table.tenant == tenant, table.kind == kind, table.scope == scope)
    ).one_or_none()
    return (0, {}) if row is None else (row.until, dict(row.body or {}))


def absorb_passing(
    store: Store,
    tenant: str,
    kind: str,
    scope: str,
    until: int,
    state: Mapping[str, Any],
    batches: Sequence[PassingRow],
) -> bool:
    """Keep what batches came to, and drop them; false where somebody else has added some up meanwhile.

    Args:
        store: the store.
        tenant: whose.
        kind: prompt, tools or model.
        scope: of which route and caller.
        until: how many batches had been added up before.
        state: what they come to with these.
        batches: these.

    Raises:
        StoreError: it cannot be stored.
    """
    done = [False]

    def act(connection: Connection) -> Sequence[Entry]:
        table, waiting = tables.passing_states, tables.passing.c
        here = (table.c.tenant == tenant) & (table.c.kind == kind) & (table.c.scope == scope)
        known = connection.execute(select(table.c.until).where(here)).scalar()
        done[0] = (known or 0) == until
        if not done[0]:
            return ()
        values = {"until": until + len(batches), "body": dict(state)}
        if known is None:
            connection.execute(insert(table), {"tenant": tenant, "kind": kind, "scope": scope, **values})
        else:
            connection.execute(update(table).where(here).values(values))
        for one in batches:
            connection.execute(
                delete(tables.passing).where(
                    waiting.tenant == tenant,
                    waiting.kind == kind,
                    waiting.scope == scope,
                    waiting.at == one.at,
                    waiting.source == one.source,
                )
            )
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return done[0]
