"""Where charts stand, in the database: read, moved on, taken back.

A move is one transaction: the new state, its alarms with their entries in the log, and nothing where somebody else has
moved it meanwhile. So a process that dies at any moment leaves either the state before or the state after, and several
processes may move the same charts.
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
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.monitoring.values import WITHDRAWN, AlarmRow, ObservedRow
from assay.store.records.recording import checked_tenant, micros, moment_at

MOST_READ: Final = 20_000
"""Observations of one part."""
SNAPSHOT_EVERY: Final = 86_400_000_000
"""A snapshot a day, in microseconds."""


class MovedError(StoreError):
    """Somebody else moved the charts meanwhile; nothing was stored."""


@dataclass(frozen=True, slots=True)
class StoredState:
    """Where the charts of a tenant stand."""

    until: int
    body: Mapping[str, Any]
    dirty: int | None = None
    """The moment of the earliest observation that came late, where one did."""


def read_state(connection: Connection, tenant: str, before: int | None = None) -> StoredState | None:
    """The state in force, or the last snapshot that is not after a moment; none where there is none."""
    table = tables.chart_states.c
    query = select(table.until, table.dirty, table.body).where(table.tenant == tenant)
    if before is not None:
        query = query.where(table.until <= before)
    row = connection.execute(query.order_by(table.until.desc()).limit(1)).one_or_none()
    return None if row is None else StoredState(row.until, row.body, row.dirty)


def read_observations(
    connection: Connection, tenant: str, since: int, until: int, most: int | None = None, *, latest: bool = False
) -> list[ObservedRow]:
    """The observations of a stretch of time in their order, from `since` on and before `until`.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        since: the first moment, in microseconds since 1970.
        until: the moment after the last one.
        most: how many at most; the earliest ones.
        latest: the latest ones instead.
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
    """The observations of outputs in the path of a stretch of time in their order, of which a part at a time is held in
    memory."""
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


def move(
    store: Store,
    tenant: str,
    before: StoredState | None,
    after: StoredState,
    alarms: Sequence[AlarmRow],
    snapshots_since: int,
) -> None:
    """Put the charts where they stand now.

    Args:
        store: the store.
        tenant: whose.
        before: the state that was moved on; none where there was none.
        after: where they stand now.
        alarms: that were raised on the way; those that are known already are left as they are.
        snapshots_since: snapshots before this moment are dropped, but for the last of them.

    Raises:
        MovedError: it is not the state any more; nothing was stored.
        StoreError: it cannot be stored.
    """
    now = store.now()

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.chart_states
        here = table.c.tenant == tenant
        found = read_state(connection, tenant)
        known = None if found is None else (found.until, found.dirty)
        if known != (None if before is None else (before.until, before.dirty)):
            raise MovedError("the charts were moved by somebody else meanwhile; run it again")
        if before is not None and (before.dirty is not None or not _is_snapshot(before.until, after.until)):
            connection.execute(delete(table).where(here, table.c.until == before.until))
        connection.execute(delete(table).where(here, table.c.until == after.until))
        connection.execute(
            insert(table), {"tenant": tenant, "until": after.until, "dirty": None, "body": dict(after.body)}
        )
        kept = select(table.c.until).where(here, table.c.until <= snapshots_since).order_by(table.c.until.desc())
        last = connection.execute(kept.limit(1)).scalar()
        if last is not None:
            connection.execute(delete(table).where(here, table.c.until < last))
        return _raise(connection, tenant, alarms, micros(now))

    store.apply(Change(checked_tenant(tenant), act=act))


def go_back(store: Store, tenant: str, before: StoredState) -> StoredState | None:
    """Take the charts back to the last snapshot before an observation that came late, and withdraw later alarms.

    Those of the alarms that are raised again on the way forward are open again.

    Args:
        store: the store.
        tenant: whose.
        before: the state, whose `dirty` says how far.

    Returns:
        The state that they were taken back to; none where they begin anew.

    Raises:
        MovedError: it is not the state any more; nothing was stored.
        StoreError: it cannot be stored.
    """
    now, dirty = micros(store.now()), before.dirty
    if dirty is None:
        raise StoreError("expected a state that an observation came late for")

    def act(connection: Connection) -> Sequence[Entry]:
        table, alarms = tables.chart_states, tables.alarms
        here = table.c.tenant == tenant
        found = read_state(connection, tenant)
        if found is None or (found.until, found.dirty) != (before.until, dirty):
            raise MovedError("the charts were moved by somebody else meanwhile; run it again")
        connection.execute(delete(table).where(here, table.c.until > dirty))
        back = read_state(connection, tenant)
        since = 0 if back is None else back.until
        open_ = (
            connection.execute(
                select(alarms.c.id).where(alarms.c.tenant == tenant, alarms.c.at >= since, alarms.c.state != WITHDRAWN)
            )
            .scalars()
            .all()
        )
        touch(connection, ALARM_UNIT, open_)
        for id_ in open_:
            connection.execute(
                update(alarms)
                .where(alarms.c.tenant == tenant, alarms.c.id == id_)
                .values(state=WITHDRAWN, changed=now, actor=None)
            )
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
    with store.reading(tenant) as connection:
        return read_state(connection, tenant)


def _is_snapshot(until: int, following: int) -> bool:
    """Whether a state is kept: it is the last one of its day."""
    return (until - 1) // SNAPSHOT_EVERY != (following - 1) // SNAPSHOT_EVERY


def _raise(connection: Connection, tenant: str, alarms: Sequence[AlarmRow], now: int) -> list[Entry]:
    table, entries = tables.alarms, list[Entry]()
    here = table.c.tenant == tenant
    touch(connection, ALARM_UNIT, [alarm.id for alarm in alarms])
    for alarm in alarms:
        state = connection.execute(select(table.c.state).where(here, table.c.id == alarm.id)).scalar()
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
                .where(here, table.c.id == alarm.id)
                .values(state=alarm.state, changed=now, body=dict(alarm.body))
            )
    return entries
