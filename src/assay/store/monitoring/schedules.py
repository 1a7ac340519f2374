"""When timed work was begun and finished last, and what it has to know the next time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros


@dataclass(frozen=True, slots=True)
class TimedWork:
    """Where a piece of timed work stands."""

    slot: int
    """The moment of the plan for which it was begun last, in microseconds since 1970."""
    begun: int
    finished: int | None
    """None while it is being done, or where it was broken off."""
    body: Mapping[str, Any] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether it was finished."""
        return self.finished is not None


def read_timed_work(connection: Connection, tenant: str) -> dict[str, TimedWork]:
    """What is known of a tenant's timed work, by name."""
    table = tables.schedules.c
    rows = connection.execute(select(tables.schedules).where(table.tenant == tenant)).all()
    return {row.name: TimedWork(row.slot, row.begun, row.finished, row.body or {}) for row in rows}


def note_timed_work(
    store: Store, tenant: str, name: str, slot: int, *, finished: bool, body: Mapping[str, Any] | None = None
) -> None:
    """Note that work was begun for a moment of its plan, or finished. A later slot is never moved back.

    Args:
        store: the store.
        tenant: whose.
        name: which work.
        slot: the moment of the plan, in microseconds since 1970.
        finished: whether it is done.
        body: what it has to know the next time; what was there by default.

    Raises:
        StoreError: it cannot be stored.
    """
    now = micros(store.now())

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.schedules
        here = (table.c.tenant == tenant) & (table.c.name == name)
        row = connection.execute(select(table.c.slot, table.c.begun, table.c.body).where(here)).one_or_none()
        if row is not None and row.slot > slot:
            return ()
        begun = row.begun if row is not None and finished else now
        kept = dict(body) if body is not None else ({} if row is None else row.body or {})
        values = {"slot": slot, "begun": begun, "finished": now if finished else None, "body": kept}
        if row is None:
            connection.execute(insert(table), {"tenant": tenant, "name": name, **values})
        else:
            connection.execute(update(table).where(here).values(values))
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
