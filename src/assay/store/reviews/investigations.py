"""Opening an item of the review queue for an output that was let out: somebody has to look what went wrong with it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, func, insert, select

from assay.policy import deadline_of, preset, row_of
from assay.receipt import instant
from assay.schema import ReviewAct, ReviewState
from assay.schema.report_parts import Tier
from assay.store.audit.binding import touch
from assay.store.audit.entries import REVIEW, entry
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros
from assay.store.reviews.opening import GATE, OPENED, message_row

_MICROSECOND: Final = timedelta(microseconds=1)


def open_investigation(store: Store, tenant: str, run: str) -> bool:
    """Open an item for a run that has none.

    Returns:
        Whether it was opened: not where there is no such run, its content was erased, or it has an item already.

    Raises:
        StoreError: it cannot be stored.
    """
    now, opened = store.now(), list[bool]()
    at = micros(now)
    rules, tier = preset("general").escalation, Tier.ASYNC
    deadline = deadline_of(rules, tier, now)
    due = at + (deadline - now) // _MICROSECOND

    def act(connection: Connection) -> Sequence[Entry]:
        opened[:] = [False]
        runs, items, decisions = tables.runs.c, tables.review_items.c, tables.decisions.c
        found = connection.execute(
            select(runs.id, runs.caller, runs.stakes).where(
                runs.tenant == tenant, runs.id == run, runs.erased.is_(None)
            )
        ).one_or_none()
        there = connection.execute(select(items.id).where(items.tenant == tenant, items.id == run)).one_or_none()
        if found is None or there is not None:
            return ()
        last = connection.execute(
            select(func.max(decisions.position)).where(decisions.tenant == tenant, decisions.run == run)
        ).scalar()
        position = int(last or 0) + 1
        touch(connection, RUN, [run])
        connection.execute(insert(tables.review_items), {
            "tenant": tenant, "id": run, "run": run, "created": at, "tier": tier.value,
            "state": ReviewState.OPEN.value, "deadline": due, "expertise": rules.expertise or None, "assignee": None,
            "claimed": None, "decided": None, "version": 1, "outcome": None, "report": run, "risk": None, "due": due,
            "package": {"rules": rules.model_dump(mode="json"), "weight": 1.0}, "updated": at, "holder": None,
            "held_until": None, "caller": found.caller, "callback": None,
        })  # fmt: skip
        connection.execute(insert(tables.decisions), {
            "tenant": tenant, "run": run, "position": position, "created": at, "actor": GATE,
            "action": ReviewAct.OPEN.value, "route": ReviewState.OPEN.value, "reasons": None,
        })  # fmt: skip
        connection.execute(insert(tables.outbox), message_row(tenant, run, OPENED, at, {
            "review": run, "state": "open", "tier": tier.value, "level": row_of(tier).level, "risk": None,
            "deadline": instant(deadline), "act": ReviewAct.OPEN.value, "version": 1, "at": instant(now),
            "policy": "general", "stakes": found.stakes,
        }))  # fmt: skip
        opened[:] = [True]
        return [entry(REVIEW, run, {
            "at": instant(now), "item": run, "act": ReviewAct.OPEN.value, "position": position, "actor": None,
            "state": ReviewState.OPEN.value, "tier": tier.value, "risk": None, "deadline": instant(deadline),
            "reason": None, "said": None,
        })]  # fmt: skip

    store.apply(Change(checked_tenant(tenant), act=act))
    return opened[0]
