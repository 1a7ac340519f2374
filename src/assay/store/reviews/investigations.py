"""Investigations: review items for released outputs, so that somebody finds out what went wrong."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, insert, select

from assay.policy import preset
from assay.schema.report_parts import Tier
from assay.store.audit.binding import touch
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.column_values import checked_tenant, micros
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.reviews.opened_items import OpenedItem


def open_investigation(store: Store, tenant: str, run: str) -> bool:
    """Open a review item for a run that has none.

    Returns:
        Whether it was opened; False if there is no such run, its content was erased, or it has an item already.

    Raises:
        StoreError: it cannot be stored.
    """
    opened = list[bool]()

    def act(connection: Connection) -> Sequence[Entry]:
        item = _item_for(connection, store, tenant, run)
        opened[:] = [item is not None]
        if item is None:
            return ()
        touch(connection, RUN, [run])
        for table, rows in item.rows().items():
            connection.execute(insert(table), rows)
        return [item.entry()]

    store.apply(Change(checked_tenant(tenant), act=act))
    return opened[0]


def _item_for(connection: Connection, store: Store, tenant: str, run: str) -> OpenedItem | None:
    """The item to open; None if there is no such run, it was erased, or it has an item."""
    runs, items, decisions = tables.runs.c, tables.review_items.c, tables.decisions.c
    run_row = connection.execute(
        select(runs.id, runs.caller, runs.stakes).where(runs.tenant == tenant, runs.id == run, runs.erased.is_(None))
    ).one_or_none()
    item = connection.execute(select(items.id).where(items.tenant == tenant, items.id == run)).one_or_none()
    if run_row is None or item is not None:
        return None
    last = select(func.max(decisions.position)).where(decisions.tenant == tenant, decisions.run == run)
    now, policy = store.now(), preset("general")
    return OpenedItem(
        tenant=tenant,
        run=run,
        now=now,
        at=micros(now),
        tier=Tier.ASYNC,
        rules=policy.escalation,
        weight=1.0,
        stakes=run_row.stakes,
        policy=policy.name,
        caller=run_row.caller,
        position=int(connection.execute(last).scalar() or 0) + 1,
    )
