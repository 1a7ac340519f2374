"""Opening an item of the review queue: rows and an entry that go to disk with the record that a person has to see."""

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
"""Who opens an item."""
OPENED: Final = "review.opened"
"""The event of a new item."""

_MICROSECOND: Final = timedelta(microseconds=1)

Rows = dict[Table, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedItem:
    """An item as it is opened: what its rows, its message and its entry in the log are made of."""

    tenant: str
    run: str
    """The id of the run, which is the item's too: one output, one item."""
    now: datetime
    at: int
    """`now` in microseconds."""
    tier: Tier
    rules: Escalation
    weight: float
    """How much the item counts among others (`Escalation.weight`)."""
    stakes: str
    policy: str
    """The name of the policy that escalated."""
    risk: float | None = None
    caller: str | None = None
    callback: str | None = None
    position: int = 1
    """Which decision on the run this is."""

    @property
    def deadline(self) -> datetime:
        """When something happens if nobody has decided."""
        return deadline_of(self.rules, self.tier, self.now)

    def rows(self) -> Rows:
        """The item, the first act on it, and a message."""
        message = message_row(self.tenant, self.run, OPENED, self.at, self._announcement())
        return {tables.review_items: [self._item()], tables.decisions: [self._act()], tables.outbox: [message]}

    def entry(self) -> Entry:
        """What the log says of it."""
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
        later = ("assignee", "claimed", "decided", "outcome", "holder", "held_until")
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
            **dict.fromkeys(later),
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

    def _announcement(self) -> dict[str, Any]:
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
    """What a record adds where a person has to decide: an item, the first act on it, and a message.

    Args:
        record: the check.
        now: when it is recorded.
        at: the same in microseconds.
    """
    report = record.report
    policy = record.policy or preset("general")
    escalated = report.escalation or escalation_of(
        policy, report.decision, report.stakes, report.overall_score, report.claims
    )
    if escalated is None or not record.held:
        return {}, ()
    item = OpenedItem(
        tenant=record.tenant,
        run=record.id,
        now=now,
        at=at,
        tier=escalated.tier,
        rules=policy.escalation,
        weight=policy.escalation.weight(report.stakes),
        stakes=report.stakes.value,
        policy=report.policy.name,
        risk=escalated.risk,
        caller=record.caller,
        callback=record.callback,
    )
    return item.rows(), (item.entry(),)


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
    """Rows of one change and further ones."""
    both = dict(rows)
    for table, some in more.items():
        both[table] = [*both.get(table, ()), *some]
    return both
