"""Opening review items: the rows and the entry that are stored together with an escalated record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Table

from assay.policy import Escalation, deadline_of, escalation_of, preset, row_of
from assay.receipt import instant
from assay.schema import ReviewAct, ReviewState
from assay.schema.report_parts import Tier
from assay.store.audit.entries import REVIEW, entry, ppm
from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.records.interface import CheckRecord

GATE: Final = "gate"
"""The actor that opens items, and that decides first on a run."""
OPENED: Final = "review.opened"
"""The event of a new item."""

_MICROSECOND: Final = timedelta(microseconds=1)

Rows = dict[Table, Sequence[Mapping[str, Any]]]
"""Rows to insert, by table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedItem:
    """A new item, from which its rows, its message and its log entry are made."""

    tenant: str
    run: str
    """The id of the run, which is also that of the item: one output, one item."""
    now: datetime
    at: int
    """`now` in microseconds since 1970."""
    tier: Tier
    rules: Escalation
    weight: float
    """The weight of the stakes (`Escalation.weight`)."""
    stakes: str
    policy: str
    """The name of the policy that escalated."""
    risk: float | None = None
    caller: str | None = None
    callback: str | None = None
    position: int = 1
    """The position of the act among the decisions on the run."""

    @property
    def deadline(self) -> datetime:
        """The first deadline of the item."""
        return deadline_of(self.rules, self.tier, self.now)

    def rows(self) -> Rows:
        """The rows of the item, of the first act on it, and of a message."""
        message = message_row(self.tenant, self.run, OPENED, self.at, self._message_body())
        return {tables.review_items: [self._item()], tables.decisions: [self._act()], tables.outbox: [message]}

    def entry(self) -> Entry:
        """Its log entry."""
        fields = {
            "at": instant(self.now),
            "item": self.run,
            "act": ReviewAct.OPEN.value,
            "position": self.position,
            "actor": None,
            "state": ReviewState.OPEN.value,
            "tier": self.tier.value,
            "risk": ppm(self.risk),
            "deadline": instant(self.deadline),
            "reason": None,
            "said": None,
        }
        return entry(REVIEW, self.run, fields)

    def _item(self) -> dict[str, Any]:
        due = self.at + (self.deadline - self.now) // _MICROSECOND
        unset = ("assignee", "claimed", "decided", "outcome", "holder", "held_until")
        return {
            "tenant": self.tenant,
            "id": self.run,
            "run": self.run,
            "created": self.at,
            "updated": self.at,
            "tier": self.tier.value,
            "state": ReviewState.OPEN.value,
            "deadline": due,
            "due": due,
            "expertise": self.rules.expertise or None,
            "version": 1,
            "report": self.run,
            "risk": self.risk,
            "package": tables.pack({"rules": self.rules.model_dump(mode="json"), "weight": self.weight}),
            "caller": self.caller,
            "callback": self.callback,
            **dict.fromkeys(unset),
        }

    def _act(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "run": self.run,
            "position": self.position,
            "created": self.at,
            "actor": GATE,
            "action": ReviewAct.OPEN.value,
            "route": ReviewState.OPEN.value,
            "reasons": None,
        }

    def _message_body(self) -> dict[str, Any]:
        return {
            "review": self.run,
            "state": "open",
            "tier": self.tier.value,
            "level": row_of(self.tier).level,
            "risk": ppm(self.risk),
            "deadline": instant(self.deadline),
            "act": ReviewAct.OPEN.value,
            "version": 1,
            "at": instant(self.now),
            "policy": self.policy,
            "stakes": self.stakes,
        }


def review_item(record: CheckRecord, now: datetime, at: int) -> tuple[Rows, tuple[Entry, ...]]:
    """The rows and entries that open a review item for a record; empty if no person has to decide on it.

    Args:
        record: the check.
        now: the moment at which it is recorded.
        at: the same in microseconds since 1970.
    """
    report = record.report
    policy = record.policy or preset("general")
    escalation = report.escalation or escalation_of(
        policy, report.decision, report.stakes, report.overall_score, report.claims
    )
    if escalation is None or not record.held:
        return {}, ()
    item = OpenedItem(
        tenant=record.tenant,
        run=record.id,
        now=now,
        at=at,
        tier=escalation.tier,
        rules=policy.escalation,
        weight=policy.escalation.weight(report.stakes),
        stakes=report.stakes.value,
        policy=report.policy.name,
        risk=escalation.risk,
        caller=record.caller,
        callback=record.callback,
    )
    return item.rows(), (item.entry(),)


def message_row(
    tenant: str, run: str, event: str, at: int, body: Mapping[str, Any], *, target: str = "", version: int = 1
) -> dict[str, Any]:
    """A row of the outbox. Its id is made from subject, version and event, so that no event is reported twice.

    Args:
        tenant: whose message.
        run: the id of the subject: a run, which is also that of its item, or an alert.
        event: the event, such as `review.opened`.
        at: when it happened, in microseconds since 1970.
        body: the content: never a checked text.
        target: the recipient; all configured ones by default.
        version: the version of the subject.
    """
    return {
        "tenant": tenant,
        "id": f"{run}.{version}.{event}",
        "target": target,
        "event": event,
        "run": run,
        "created": at,
        "state": "waiting",
        "attempts": 0,
        "due": at,
        "held_until": None,
        "sent": None,
        "error": None,
        "body": tables.pack(dict(body)),
    }


def merge_rows(rows: Rows, more: Rows) -> Rows:
    """The rows of two changes, table by table."""
    merged = dict(rows)
    for table, further in more.items():
        merged[table] = [*merged.get(table, ()), *further]
    return merged
