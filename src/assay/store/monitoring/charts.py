"""The stored states of the charts: reading, advancing and rewinding them.

Advancing is one transaction: it stores the new state and its alarms with their log entries, or nothing if another
process has advanced the charts meanwhile. So a process that dies at any moment leaves either the old or the new state,
and several processes may advance the same charts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from assay.errors import StoreError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import ALARM, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import ALARM as ALARM_UNIT
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros, moment_at
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.values import WITHDRAWN, AlarmRow, ObservedRow

MOST_READ: Final = 20_000
"""Observations that are read in one query."""
SNAPSHOT_EVERY: Final = 86_400_000_000
"""The interval between snapshots in microseconds: one day."""


class ChartsMovedError(StoreError):
    """Another process advanced the charts meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """The state of a tenant's charts."""

    until: int
    """The moment up to which observations were added, in microseconds since 1970."""
    body: Mapping[str, Any]
    dirty: int | None = None
    """The moment of the earliest observation that came late; None if none did."""


def read_state(connection: Connection, tenant: str, before: int | None = None) -> StoredState | None:
    """The current state, or with `before` the latest snapshot that is not after that moment; None if there is none."""
    table = tables.chart_states.c
    query = select(table.until, table.dirty, table.body).where(table.tenant == tenant)
    if before is not None:
        query = query.where(table.until <= before)
    row = connection.execute(query.order_by(table.until.desc()).limit(1)).one_or_none()
    return None if row is None else StoredState(row.until, row.body, row.dirty)


def read_observations(
    connection: Connection, tenant: str, since: int, until: int, most: int | None = None, *, latest: bool = False
) -> list[ObservedRow]:
    """The observations of a period, in order of moment and id.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose observations.
        since: the first moment, in microseconds since 1970.
        until: the moment after the last one.
        most: the most observations, the earliest ones.
        latest: return the latest ones instead.
    """
    table = tables.observations.c
    query = (
        select(tables.observations)
        .where(table.tenant == tenant, table.at >= since, table.at < until)
        .order_by(*((table.at.desc(), table.id.desc()) if latest else (table.at, table.id)))
    )
    if most is not None:
        query = query.limit(most)
    rows = [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001 SQLAlchemy's own way to a mapping
    return rows[::-1] if latest else rows


def each_observation(connection: Connection, tenant: str, since: int, until: int) -> Iterator[ObservedRow]:
    """The observations of production outputs in a period, in order of moment and id, read in batches."""
    table, after = tables.observations.c, (since - 1, "")
    while True:
        rows = connection.execute(
            select(tables.observations)
            .where(
                table.tenant == tenant,
                table.at < until,
                table.cadence.is_(None),
                (table.at > after[0]) | ((table.at == after[0]) & (table.id > after[1])),
            )
            .order_by(table.at, table.id)
            .limit(MOST_READ)
        ).all()
        for row in rows:
            yield dict(row._mapping)  # noqa: SLF001 SQLAlchemy's own way to a mapping
        if len(rows) < MOST_READ:
            return
        after = (rows[-1].at, rows[-1].id)


def advance_charts(
    store: Store,
    tenant: str,
    before: StoredState | None,
    after: StoredState,
    alarms: Sequence[AlarmRow],
    snapshots_since: int,
) -> None:
    """Store the next state of the charts.

    Args:
        store: the store.
        tenant: whose charts.
        before: the state from which they were advanced; None if there was none.
        after: the new state.
        alarms: the alarms that were raised in between; alarms that exist already are left as they are.
        snapshots_since: snapshots before this moment are deleted, except the latest of them.

    Raises:
        ChartsMovedError: the current state is not `before`; nothing was stored.
        StoreError: it cannot be stored.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.chart_states
        own = table.c.tenant == tenant
        current = read_state(connection, tenant)
        if _version(current) != _version(before):
            raise ChartsMovedError("the charts were moved by somebody else meanwhile; run it again")
        if before is not None and (before.dirty is not None or not _is_snapshot(before.until, after.until)):
            connection.execute(delete(table).where(own, table.c.until == before.until))
        connection.execute(delete(table).where(own, table.c.until == after.until))
        connection.execute(
            insert(table), {"tenant": tenant, "until": after.until, "dirty": None, "body": dict(after.body)}
        )
        old = select(table.c.until).where(own, table.c.until <= snapshots_since).order_by(table.c.until.desc())
        oldest_kept = connection.execute(old.limit(1)).scalar()
        if oldest_kept is not None:
            connection.execute(delete(table).where(own, table.c.until < oldest_kept))
        return _raise_alarms(connection, tenant, alarms, micros(now))

    store.apply(Change(checked_tenant(tenant), act=act))


def rewind_charts(store: Store, tenant: str, before: StoredState) -> StoredState | None:
    """Rewind the charts to the latest snapshot before an observation that came late, and withdraw later alarms.

    Withdrawn alarms that are raised again when the charts advance are open again.

    Args:
        store: the store.
        tenant: whose charts.
        before: the current state; its `dirty` is the moment of that observation.

    Returns:
        The state to which they were rewound; None if they begin anew.

    Raises:
        ChartsMovedError: the current state is not `before`; nothing was stored.
        StoreError: it cannot be stored.
    """
    now, dirty = micros(store.now()), before.dirty
    if dirty is None:
        raise StoreError("expected a state that an observation came late for")

    def act(connection: Connection) -> Sequence[Entry]:
        table, alarms = tables.chart_states, tables.alarms
        own = table.c.tenant == tenant
        current = read_state(connection, tenant)
        if _version(current) != _version(before):
            raise ChartsMovedError("the charts were moved by somebody else meanwhile; run it again")
        connection.execute(delete(table).where(own, table.c.until > dirty))
        snapshot = read_state(connection, tenant)
        since = 0 if snapshot is None else snapshot.until
        later_alarms = (
            connection.execute(
                select(alarms.c.id).where(alarms.c.tenant == tenant, alarms.c.at >= since, alarms.c.state != WITHDRAWN)
            )
            .scalars()
            .all()
        )
        touch(connection, ALARM_UNIT, later_alarms)
        for id_ in later_alarms:
            connection.execute(
                update(alarms)
                .where(alarms.c.tenant == tenant, alarms.c.id == id_)
                .values(state=WITHDRAWN, changed=now, actor=None)
            )
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    with store.reading(tenant) as connection:
        return read_state(connection, tenant)


def _version(state: StoredState | None) -> tuple[int, int | None] | None:
    """What changes with every change of a state."""
    return None if state is None else (state.until, state.dirty)


def _is_snapshot(until: int, following: int) -> bool:
    """Whether a state is kept as a snapshot: it is the last one of its day."""
    return (until - 1) // SNAPSHOT_EVERY != (following - 1) // SNAPSHOT_EVERY


def _raise_alarms(connection: Connection, tenant: str, alarms: Sequence[AlarmRow], now: int) -> list[Entry]:
    table, entries = tables.alarms, list[Entry]()
    own = table.c.tenant == tenant
    touch(connection, ALARM_UNIT, [alarm.id for alarm in alarms])
    for alarm in alarms:
        state = connection.execute(select(table.c.state).where(own, table.c.id == alarm.id)).scalar()
        if state is None:
            connection.execute(
                insert(table),
                {
                    "tenant": tenant,
                    "id": alarm.id,
                    "series": alarm.series,
                    "direction": alarm.direction,
                    "at": alarm.at,
                    "raised": now,
                    "state": alarm.state,
                    "changed": None,
                    "actor": None,
                    "body": dict(alarm.body),
                },
            )
            entries.append(
                entry(
                    ALARM,
                    alarm.id,
                    {
                        "at": instant(moment_at(now)),
                        "series": alarm.series,
                        "direction": alarm.direction,
                        "observed": instant(moment_at(alarm.at)),
                        "state": alarm.state,
                    },
                )
            )
        elif state == WITHDRAWN:
            connection.execute(
                update(table)
                .where(own, table.c.id == alarm.id)
                .values(state=alarm.state, changed=now, body=dict(alarm.body))
            )
    return entries
