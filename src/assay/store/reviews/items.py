"""Reading the review queue: items, their history, and the package that a reviewer decides on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, func, or_, select

from assay.errors import InputError, StoreError
from assay.policy import Escalation, package_of, row_of
from assay.schema import (
    EscalationPackage,
    Evidence,
    HallucinationReport,
    ReviewAct,
    ReviewEvent,
    ReviewItem,
    ReviewOutcome,
    ReviewState,
    TaskContext,
)
from assay.schema.report_parts import Tier
from assay.schema.run import ModelTurn, ReasoningPart
from assay.schema.traces import read_run
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, moment_or_none, storable
from assay.store.db.store import StoredCheck, read_check, read_report

MOST_LISTED: Final = 500
"""The most items on one page."""
OPEN_STATES: Final = (ReviewState.OPEN.value, ReviewState.EVIDENCE.value)
"""The states of items that are not decided."""
_ACTS: Final = frozenset(act.value for act in ReviewAct)
_MOST_REASONING: Final = 100_000
"""The most characters of a model's reasoning in a package."""


@dataclass(frozen=True, slots=True)
class ReviewFilter:
    """The filter of a list of items."""

    states: tuple[str, ...] = OPEN_STATES
    """Only items in one of these states; all if it is empty."""
    tier: Tier | None = None
    expertise: str | None = None
    """Only items that require this expertise or none."""
    holder: str | None = None
    """Only items that this reviewer holds or is assigned to."""
    caller: str | None = None
    overdue_at: datetime | None = None
    """Only items whose first deadline had passed by this moment."""


def item_of(row: Row[Any]) -> ReviewItem:
    """An item from its row."""
    tier = Tier(row.tier)
    return ReviewItem(
        id=row.id,
        tenant=row.tenant,
        run=row.run,
        report=row.report or row.run,
        state=ReviewState(row.state),
        tier=tier,
        level=row_of(tier).level,
        risk=row.risk,
        created=moment_at(row.created),
        updated=moment_at(row.updated or row.created),
        deadline=moment_or_none(row.deadline),
        due=moment_at(row.due or row.created),
        expertise=row.expertise,
        assignee=row.assignee,
        holder=row.holder,
        held_until=moment_or_none(row.held_until),
        caller=row.caller,
        version=row.version,
        decided=moment_or_none(row.decided),
        outcome=None if row.outcome is None else ReviewOutcome.model_validate(row.outcome),
    )


def rules_of(row: Row[Any]) -> tuple[Escalation, float]:
    """The policy's rules of escalation when the item was opened, and the weight of its stakes."""
    package = row.package if isinstance(row.package, dict) else {}
    return Escalation.model_validate(package.get("rules", {})), float(package.get("weight", 1.0))


def read_item(connection: Connection, tenant: str, id_: str) -> ReviewItem | None:
    """An item by its id; None if the tenant has no such item."""
    row = read_row(connection, tenant, id_)
    return None if row is None else item_of(row)


def read_row(connection: Connection, tenant: str, id_: str) -> Row[Any] | None:
    """The row of an item; None if the tenant has no such item."""
    table = tables.review_items
    return connection.execute(select(table).where(table.c.tenant == tenant, table.c.id == id_)).one_or_none()


def list_items(
    connection: Connection,
    tenant: str,
    wanted: ReviewFilter | None = None,
    *,
    after: str | None = None,
    limit: int = 50,
) -> list[ReviewItem]:
    """Items: open ones with the next deadline first; if decided ones are included, newest first.

    Args:
        connection: from `Store.reading`.
        tenant: whose items.
        wanted: the filter; open items by default.
        after: the id of the last item on the previous page.
        limit: the most items, capped at `MOST_LISTED`.
    """
    wanted = wanted or ReviewFilter()
    table = tables.review_items
    query = _filtered(select(table).where(table.c.tenant == tenant), wanted)
    only_open = bool(wanted.states) and set(wanted.states) <= set(OPEN_STATES)
    last = None if after is None else read_row(connection, tenant, after)
    if only_open:
        query = query.order_by(table.c.deadline, table.c.id)
        if last is not None:
            # An item that was decided meanwhile has no deadline; its first one was, as a rule, not later than the last
            # one.
            # Items from before first deadlines were stored have none either.
            place = next((at for at in (last.deadline, last.due) if at is not None), last.created)
            query = query.where(
                or_(table.c.deadline > place, and_(table.c.deadline == place, table.c.id > last.id)),
            )
    else:
        query = query.order_by(table.c.created.desc(), table.c.id.desc())
        if last is not None:
            query = query.where(
                or_(table.c.created < last.created, and_(table.c.created == last.created, table.c.id < last.id))
            )
    return [item_of(row) for row in connection.execute(query.limit(max(0, min(limit, MOST_LISTED))))]


def _filtered(query: Select[Any], wanted: ReviewFilter) -> Select[Any]:
    table = tables.review_items.c
    if wanted.states:
        query = query.where(table.state.in_(wanted.states))
    if wanted.tier is not None:
        query = query.where(table.tier == wanted.tier.value)
    if wanted.expertise is not None:
        query = query.where(or_(table.expertise == storable(wanted.expertise), table.expertise.is_(None)))
    if wanted.holder is not None:
        query = query.where(or_(table.holder == wanted.holder, table.assignee == wanted.holder))
    if wanted.caller is not None:
        query = query.where(table.caller == wanted.caller)
    if wanted.overdue_at is not None:
        query = query.where(table.due <= micros(wanted.overdue_at))
    return query


def changed_since(connection: Connection, tenant: str, since: int, limit: int = 200) -> list[ReviewItem]:
    """Items that changed after a moment in microseconds since 1970, in order of their change: for event streams."""
    table = tables.review_items
    query = select(table).where(table.c.tenant == tenant, table.c.updated > since)
    return [item_of(row) for row in connection.execute(query.order_by(table.c.updated, table.c.id).limit(limit))]


def read_events(connection: Connection, tenant: str, id_: str) -> list[ReviewEvent]:
    """Every act on an item, in order."""
    table = tables.decisions
    rows = connection.execute(
        select(table)
        .where(table.c.tenant == tenant, table.c.run == id_, table.c.position > 0)
        .order_by(table.c.position)
    )
    return [
        ReviewEvent(
            position=row.position,
            act=row.action,
            actor=row.actor,
            at=moment_at(row.created),
            state=row.route,
            reason="\n".join(map(str, row.reasons)) if row.reasons else None,
        )
        for row in rows
        if row.action in _ACTS
    ]


def read_package(connection: Connection, tenant: str, id_: str) -> EscalationPackage | None:
    """The package that a reviewer decides on; None if there is no such item, or it was erased."""
    row = read_row(connection, tenant, id_)
    check = None if row is None else read_check(connection, tenant, row.run)
    if row is None or check is None or check.asked is None:
        return None
    report = newest_report(connection, tenant, row) if row.report not in (None, row.run) else check.report
    if report is None:
        return None
    context = TaskContext(
        task=str(check.asked.get("task", "qa")),
        kind="run" if "run" in check.asked else "check",
        question=report.question,
        run_id=report.run_id,
        caller=check.caller,
        stakes=report.stakes,
        policy=report.policy.name,
        reasons=report.decision.reasons,
        created=check.created,
    )
    return package_of(
        report,
        evidence_of(connection, tenant, check),
        context,
        tier=Tier(row.tier),
        deadline=moment_or_none(row.deadline),
        weight=rules_of(row)[1],
        reasoning=tuple(_reasoning(check.asked)),
    )


def newest_report(connection: Connection, tenant: str, row: Row[Any]) -> HallucinationReport | None:
    """The newest report of an item; None if it was erased."""
    return read_report(connection, tenant, row.report or row.run)


def evidence_of(connection: Connection, tenant: str, check: StoredCheck) -> tuple[Evidence, ...]:
    """The evidence of a run: what it was checked against, then what the caller supplied on a reviewer's request."""
    first = [item for _, _, item in check.evidence if item is not None]
    had, stored = tables.run_evidence.c, tables.evidence.c
    rows = connection.execute(
        select(had.evidence_id, stored.body)
        .join_from(tables.run_evidence, tables.evidence, and_(stored.tenant == had.tenant, stored.digest == had.digest))
        .where(had.tenant == tenant, had.run == check.id, had.position >= len(check.evidence))
        .order_by(had.position)
    )
    more = [Evidence.model_validate({"id": row.evidence_id, **row.body}) for row in rows if row.body is not None]
    return (*first, *more)


def _reasoning(asked: dict[str, Any]) -> Iterator[str]:
    """The reasoning of the model in a recorded agent run, up to `_MOST_REASONING` characters."""
    if "run" not in asked:
        return
    try:
        run = read_run(asked["run"], format=asked.get("format"))
    except (InputError, StoreError):
        return
    left = _MOST_REASONING
    for step in run.steps:
        for part in step.content if isinstance(step, ModelTurn) else ():
            if isinstance(part, ReasoningPart) and part.text and left > 0:
                yield part.text[:left]
                left -= len(part.text)


def count_open_items(connection: Connection, tenant: str) -> dict[str, int]:
    """The number of open items by tier."""
    table = tables.review_items.c
    rows = connection.execute(
        select(table.tier, func.count())
        .where(table.tenant == tenant, table.state.in_(OPEN_STATES))
        .group_by(table.tier)
    )
    return {tier.value: 0 for tier in Tier} | {str(tier): int(count) for tier, count in rows}
