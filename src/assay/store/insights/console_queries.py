"""Queries of the console beyond those of the REST API: each is bounded and uses an index."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, func, select

from assay.errors import AssayError
from assay.store.audit.entries import read_entry_data
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, moment_or_none
from assay.store.reviews.items import OPEN_STATES

MOST_COUNTED: Final = 10_000
"""The most waiting items that are counted: a larger number tells nobody more."""
MOST_ENTRIES: Final = 200
"""The most decisions, pieces of feedback and log entries of a run."""


@dataclass(frozen=True, slots=True)
class ClaimsSummary:
    """The claims of a report as a list shows them."""

    first_claim: str | None = None
    """The beginning of the first claim, which distinguishes runs without a question."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    """The number of claims by verdict."""


def describe(connection: Connection, tenant: str, ids: Sequence[str]) -> dict[str, ClaimsSummary]:
    """The claims of the reports on one page of a list, by the id of the report."""
    if not ids:
        return {}
    claims = tables.claims.c
    own = (claims.tenant == tenant, claims.report.in_(ids))
    first = select(claims.report, func.substr(claims.text, 1, 400).label("text")).where(*own, claims.position == 0)
    first_claims = {row.report: row.text for row in connection.execute(first)}
    counted = select(claims.report, claims.verdict, func.count().label("number")).where(*own)
    verdicts: dict[str, dict[str, int]] = {}
    for row in connection.execute(counted.group_by(claims.report, claims.verdict)):
        verdicts.setdefault(row.report, {})[row.verdict] = row.number
    return {id_: ClaimsSummary(first_claims.get(id_), verdicts.get(id_, {})) for id_ in ids}


@dataclass(frozen=True, slots=True)
class Backlog:
    """The review items that wait for people."""

    waiting: int
    overdue: int
    by_tier: Mapping[str, int]
    next_deadline: datetime | None


def read_backlog(connection: Connection, tenant: str, now: datetime) -> Backlog:
    """The review items that wait now, counted up to `MOST_COUNTED`."""
    items = tables.review_items.c
    open_items = (
        select(items.tier, items.deadline)
        .where(items.tenant == tenant, items.state.in_(OPEN_STATES))
        .limit(MOST_COUNTED)
        .subquery()
    )
    at = micros(now)
    by_tier, overdue, soonest = {}, 0, None
    rows = connection.execute(
        select(
            open_items.c.tier,
            func.count().label("number"),
            func.count().filter(open_items.c.deadline < at).label("late"),
            func.min(open_items.c.deadline).filter(open_items.c.deadline >= at).label("next"),
        ).group_by(open_items.c.tier)
    )
    for row in rows:
        by_tier[row.tier] = row.number
        overdue += row.late
        if row.next is not None:
            soonest = row.next if soonest is None else min(soonest, row.next)
    return Backlog(sum(by_tier.values()), overdue, by_tier, moment_or_none(soonest))


@dataclass(frozen=True, slots=True)
class RecordedDecision:
    """A decision on a run, by the gate or a person."""

    created: datetime
    actor: str
    action: str
    route: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UserFeedback:
    """A user's feedback on an output."""

    created: datetime
    author: str | None
    verdict: str
    claim: int | None
    comment: str | None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry of the audit log about a run."""

    index: int
    kind: str
    at: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class History:
    """The history of a run."""

    decisions: tuple[RecordedDecision, ...]
    feedback: tuple[UserFeedback, ...]
    entries: tuple[LogEntry, ...]
    review: tuple[str, str, str] | None
    """The id, tier and state of its newest review item."""


def read_history(connection: Connection, tenant: str, run: str) -> History:
    """The history of a run: at most `MOST_ENTRIES` items of each kind, in order."""
    return History(
        _decisions(connection, tenant, run),
        _feedback(connection, tenant, run),
        _entries(connection, tenant, run),
        _review(connection, tenant, run),
    )


def _decisions(connection: Connection, tenant: str, run: str) -> tuple[RecordedDecision, ...]:
    table = tables.decisions.c
    rows = connection.execute(
        select(table.created, table.actor, table.action, table.route, table.reasons)
        .where(table.tenant == tenant, table.run == run)
        .order_by(table.position)
        .limit(MOST_ENTRIES)
    )
    return tuple(
        RecordedDecision(moment_at(row.created), row.actor, row.action, row.route, tuple(map(str, row.reasons or ())))
        for row in rows
    )


def _feedback(connection: Connection, tenant: str, run: str) -> tuple[UserFeedback, ...]:
    table = tables.feedback.c
    rows = connection.execute(
        select(table.created, table.author, table.verdict, table.claim, table.comment)
        .where(table.tenant == tenant, table.run == run)
        .order_by(table.created, table.id)
        .limit(MOST_ENTRIES)
    )
    return tuple(UserFeedback(moment_at(row.created), row.author, row.verdict, row.claim, row.comment) for row in rows)


def _entries(connection: Connection, tenant: str, run: str) -> tuple[LogEntry, ...]:
    table = tables.audit_entries.c
    rows = connection.execute(
        select(table.idx, table.kind, table.data)
        .where(table.tenant == tenant, table.record == run)
        .order_by(table.idx)
        .limit(MOST_ENTRIES)
    )
    return tuple(LogEntry(row.idx, row.kind, *_entered(bytes(row.data))) for row in rows)


def _entered(data: bytes) -> tuple[str, Mapping[str, Any]]:
    """The time and the fields of an entry; empty if it was altered, which verification reports, not this page."""
    try:
        fields = read_entry_data(data)
    except AssayError:
        return "", {}
    return str(fields.get("at", "")), fields


def _review(connection: Connection, tenant: str, run: str) -> tuple[str, str, str] | None:
    table = tables.review_items.c
    row = connection.execute(
        select(table.id, table.tier, table.state)
        .where(table.tenant == tenant, table.run == run)
        .order_by(table.created.desc())
        .limit(1)
    ).first()
    return None if row is None else (row.id, row.tier, row.state)


def latest_actions(connection: Connection, tenant: str, policy: str, most: int) -> dict[str, int]:
    """The number of decisions by action, among the latest decisions under a policy.

    Args:
        connection: one that sees one snapshot of the database.
        tenant: whose decisions.
        policy: the digest of the policy.
        most: the most decisions that are counted.
    """
    table = tables.reports.c
    latest = (
        select(table.action)
        .where(table.tenant == tenant, table.policy == policy)
        .order_by(table.created.desc(), table.id.desc())
        .limit(most)
        .subquery()
    )
    rows = connection.execute(select(latest.c.action, func.count().label("number")).group_by(latest.c.action))
    return {row.action: row.number for row in rows}
