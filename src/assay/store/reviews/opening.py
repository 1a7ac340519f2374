"""Opening an item of the review queue: rows and an entry that go to disk with the record that a person has to see."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Table

from assay.policy import deadline_of, escalation_of, preset, row_of
from assay.receipt import instant
from assay.schema import ReviewAct, ReviewState
from assay.store.audit.entries import REVIEW, entry, ppm
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.records.interface import CheckRecord

GATE: Final = "gate"
"""Who opens an item."""
OPENED: Final = "review.opened"
"""The event of a new item."""

_MICROSECOND: Final = timedelta(microseconds=1)

Rows = dict[Table, Sequence[Mapping[str, Any]]]


def opening(record: CheckRecord, now: datetime, at: int) -> tuple[Rows, tuple[Entry, ...]]:
    """What a record adds where a person has to decide: an item, the first act on it, and a message.

    The item has the id of the record: one output, one item.

    Args:
        record: the check.
        now: when it is recorded.
        at: the same in microseconds.
    """
    report = record.report
    policy = record.policy or preset("general")
    told = report.escalation or escalation_of(
        policy, report.decision, report.stakes, report.overall_score, report.claims
    )
    if told is None or not record.held:
        return {}, ()
    rules, tier, risk = policy.escalation, told.tier, told.risk
    deadline = deadline_of(rules, tier, now)
    due = at + (deadline - now) // _MICROSECOND
    item = {
        "tenant": record.tenant, "id": record.id, "run": record.id, "created": at, "tier": tier.value,
        "state": ReviewState.OPEN.value, "deadline": due, "expertise": rules.expertise or None, "assignee": None,
        "claimed": None, "decided": None, "version": 1, "outcome": None, "report": record.id, "risk": risk, "due": due,
        "package": tables.pack({"rules": rules.model_dump(mode="json"), "weight": rules.weight(report.stakes)}),
        "updated": at, "holder": None, "held_until": None, "caller": record.caller, "callback": record.callback,
    }  # fmt: skip
    act = {
        "tenant": record.tenant, "run": record.id, "position": 1, "created": at, "actor": GATE,
        "action": ReviewAct.OPEN.value, "route": ReviewState.OPEN.value, "reasons": None,
    }  # fmt: skip
    fields = {
        "at": instant(now), "item": record.id, "act": ReviewAct.OPEN.value, "position": 1, "actor": None,
        "state": ReviewState.OPEN.value, "tier": tier.value, "risk": ppm(risk), "deadline": instant(deadline),
        "reason": None, "said": None,
    }  # fmt: skip
    message = message_row(
        record.tenant, record.id, OPENED, at,
        {"review": record.id, "state": "open", "tier": tier.value, "level": row_of(tier).level, "risk": ppm(risk),
         "deadline": instant(deadline), "act": ReviewAct.OPEN.value, "version": 1, "at": instant(now),
         "policy": report.policy.name, "stakes": report.stakes.value},
    )  # fmt: skip
    rows: Rows = {tables.review_items: [item], tables.decisions: [act], tables.outbox: [message]}
    return rows, (entry(REVIEW, record.id, fields),)


def message_row(
    tenant: str, run: str, event: str, at: int, body: Mapping[str, Any], *, target: str = "", version: int = 1
) -> dict[str, Any]:
    """A row of the outbox. Its id follows from what it tells of, so that nothing is told twice under two names.

    Args:
        tenant: whose.
        run: the run, which is the item too.
        event: what happened, such as `review.opened`.
        at: when, in microseconds.
        body: what to tell: never a text that was checked.
        target: who is to hear of it; whoever is configured to, by default.
        version: the version of the item that it tells of.
    """
    return {
        "tenant": tenant, "id": f"{run}.{version}.{event}", "target": target, "event": event, "run": run,
        "created": at, "state": "waiting", "attempts": 0, "due": at, "held_until": None, "sent": None, "error": None,
        "body": tables.pack(dict(body)),
    }  # fmt: skip


def merged(rows: Rows, more: Rows) -> Rows:
    """Rows of one change and further ones."""
    both = dict(rows)
    for table, some in more.items():
        both[table] = [*both.get(table, ()), *some]
    return both
