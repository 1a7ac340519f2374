"""Scheduled work: when it last began and finished, and the state that it keeps for the next time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, insert, select, update

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.store import Store
from assay.store.db.writer import Change


@dataclass(frozen=True, slots=True)
class TimedWork:
    """The state of a piece of scheduled work."""

    slot: int
    """The scheduled moment for which it last began, in microseconds since 1970."""
    begun: int
    finished: int | None
    """None while it runs, or if it was interrupted."""
    body: Mapping[str, Any] = field(default_factory=dict)
    """The state that it keeps for the next time."""

    @property
    def done(self) -> bool:
        """Whether it finished."""
        return self.finished is not None


def read_timed_work(connection: Connection, tenant: str) -> dict[str, TimedWork]:
    """The scheduled work of a tenant, by name."""
    table = tables.schedules.c
    rows = connection.execute(select(tables.schedules).where(table.tenant == tenant)).all()
    return {row.name: TimedWork(row.slot, row.begun, row.finished, row.body or {}) for row in rows}


def note_timed_work(
    store: Store, tenant: str, name: str, slot: int, *, finished: bool, body: Mapping[str, Any] | None = None
) -> None:
    """Note that work began for a scheduled moment, or finished. A later slot is never replaced by an earlier one.

    Args:
        store: the store.
        tenant: whose work.
        name: the name of the work.
        slot: the scheduled moment, in microseconds since 1970.
        finished: whether it finished.
        body: the state for the next time; unchanged by default.

    Raises:
        StoreError: it cannot be stored.
    """
    now = micros(store.now())

    def act(connection: Connection) -> Sequence[Entry]:
        table = tables.schedules
        this_work = (table.c.tenant == tenant) & (table.c.name == name)
        row = connection.execute(select(table.c.slot, table.c.begun, table.c.body).where(this_work)).one_or_none()
        if row is not None and row.slot > slot:
            return ()
        begun = row.begun if row is not None and finished else now
        kept = dict(body) if body is not None else ({} if row is None else row.body or {})
        values = {"slot": slot, "begun": begun, "finished": now if finished else None, "body": kept}
        if row is None:
            connection.execute(insert(table), {"tenant": tenant, "name": name, **values})
        else:
            connection.execute(update(table).where(this_work).values(values))
        return ()

    store.apply(Change(checked_tenant(tenant), act=act))
