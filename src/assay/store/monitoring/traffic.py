"""Counts of the gateway's traffic (digests of prompts, tools and models), until the monitor has added them up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.store import Store
from assay.store.db.writer import Change

MOST_READ: Final = 2_000
"""Batches that are read in one go."""
KEPT: Final = 7 * 86_400_000_000
"""How long batches that nobody adds up are kept, in microseconds."""

Sequences = Sequence[tuple[Sequence[str], int]]
"""Sequences of digests, each with its count."""


@dataclass(frozen=True, slots=True)
class TrafficBatch:
    """A batch: what one process counted for one scope."""

    at: int
    """When it was stored, in microseconds since 1970."""
    source: str
    """The process that counted."""
    sequences: Sequences


def add_traffic(store: Store, tenant: str, source: str, counts: Mapping[tuple[str, str], Sequences]) -> None:
    """Store the counts of one process by kind and scope; each is a batch.

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
        existing = {
            (row.kind, row.scope)
            for row in connection.execute(
                select(table.kind, table.scope).where(table.tenant == tenant, table.at == now, table.source == source)
            )
        }
        new = [row for row in rows if (row["kind"], row["scope"]) not in existing]
        if new:
            connection.execute(insert(tables.passing), new)
        return ()

    if rows:
        store.apply(Change(checked_tenant(tenant), act=act))


def read_traffic(connection: Connection, tenant: str) -> dict[tuple[str, str], list[TrafficBatch]]:
    """The batches that were not added up yet, by kind and scope, in the order in which they were stored."""
    table = tables.passing.c
    rows = connection.execute(
        select(tables.passing).where(table.tenant == tenant).order_by(table.at, table.source).limit(MOST_READ)
    )
    batches: dict[tuple[str, str], list[TrafficBatch]] = {}
    for row in rows:
        sequences = [(list(parts), int(count)) for parts, count in row.body or ()]
        batches.setdefault((row.kind, row.scope), []).append(TrafficBatch(row.at, row.source, sequences))
    return batches


def read_traffic_state(connection: Connection, tenant: str, kind: str, scope: str) -> tuple[int, dict[str, Any]]:
    """The number of batches of a scope that were added up, and their sum."""
    table = tables.passing_states.c
    row = connection.execute(
        select(table.until, table.body).where(table.tenant == tenant, table.kind == kind, table.scope == scope)
    ).one_or_none()
    return (0, {}) if row is None else (row.until, dict(row.body or {}))


def absorb_traffic(
    store: Store,
    tenant: str,
    kind: str,
    scope: str,
    until: int,
    state: Mapping[str, Any],
    batches: Sequence[TrafficBatch],
) -> bool:
    """Store the sum that includes further batches, and delete these; False if another process has added some meanwhile.

    Args:
        store: the store.
        tenant: whose traffic.
        kind: `prompt`, `tools` or `model`.
        scope: the route and the caller.
        until: the number of batches that had been added up before.
        state: the new sum.
        batches: the batches that it newly includes.

    Raises:
        StoreError: it cannot be stored.
    """
    stored = [False]

    def act(connection: Connection) -> Sequence[Entry]:
        table, batch_table = tables.passing_states, tables.passing.c
        this_scope = (table.c.tenant == tenant) & (table.c.kind == kind) & (table.c.scope == scope)
        added = connection.execute(select(table.c.until).where(this_scope)).scalar()
        stored[0] = (added or 0) == until
        if not stored[0]:
            return ()
        values = {"until": until + len(batches), "body": dict(state)}
        if added is None:
            connection.execute(insert(table), {"tenant": tenant, "kind": kind, "scope": scope, **values})
        else:
            connection.execute(update(table).where(this_scope).values(values))
        for batch in batches:
            connection.execute(
                delete(tables.passing).where(
                    batch_table.tenant == tenant,
                    batch_table.kind == kind,
                    batch_table.scope == scope,
                    batch_table.at == batch.at,
                    batch_table.source == batch.source,
                )
            )
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    return stored[0]
