"""The checks and changes of one act on the review queue; they always run while the tenant's log is locked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, Row, Table, func, select, update

from assay.errors import ReviewError
from assay.policy import deadline_of, overdue, row_of
from assay.receipt import canonical, instant
from assay.schema import Evidence, HallucinationReport, ReviewAct, ReviewOutcome, ReviewState, Role, Verdict
from assay.schema.report_parts import Tier
from assay.store.audit.binding import touch
from assay.store.audit.entries import (
    REVIEW,
    SALT_BYTES,
    commitment,
    entry,
    evidence_content,
    evidence_digest,
    exact,
    ppm,
)
from assay.store.audit.log import Entry
from assay.store.audit.units import RUN
from assay.store.db import tables
from assay.store.db.column_values import micros, moment_at, storable
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.records.check_rows import report_rows
from assay.store.records.interface import new_id
from assay.store.reviews.items import read_row, rules_of
from assay.store.reviews.opened_items import message_row

LONGEST_REASON: Final = 10_000
"""The most characters of a reason."""
SKEW: Final = timedelta(minutes=5)
"""How far ahead another host's clock may be. A moment further ahead was stored before a clock was set back."""
DEADLINE: Final = "deadline"
"""The actor where a deadline has passed."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A person who acts on the queue."""

    name: str
    expertise: frozenset[str] = frozenset()
    admin: bool = False
    """Whether they may take items that require expertise they lack, and release items that others hold."""


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """A reviewer's decision."""

    act: ReviewAct
    """`approve`, `edit` or `reject`."""
    reason: str
    released: HallucinationReport | None = None
    """The report under which a text is released: of the unchanged output, or of the edited one, which was checked
    again. None for `reject`."""
    response: str | None = None
    """The response in place of a rejected output."""
    claims: Mapping[int, Verdict] = field(default_factory=dict)
    """Verdicts on single claims of the output, by position: labels for training."""


@dataclass(frozen=True, slots=True)
class Move:
    """The changes of one act."""

    act: ReviewAct
    actor: str
    values: Mapping[str, Any]
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the entry: no checked text, no name."""
    committed: tuple[Any, ...] = ()
    """Values that the entry commits to besides the reason."""
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    """New rows."""
    event: str | None = None
    """The event to send a message about; None if nobody waits for it."""


ActResult = tuple[Sequence[Entry], ReviewError | None]
"""The log entries of what was done, and the error that prevented the rest."""
UNCLAIMED: Final[Mapping[str, Any]] = {"holder": None, "claimed": None, "held_until": None}
"""The columns of an item that nobody has claimed."""


def held_by(row: Row[Any], now: datetime) -> str | None:
    """The holder of an item; None if nobody has a valid claim. A claim from the future was made before a clock was set
    back, and is not valid."""
    if row.holder is None or row.held_until is None or row.claimed is None:
        return None
    holds = row.held_until > micros(now) and row.claimed <= micros(now + SKEW)
    return str(row.holder) if holds else None


def require_as_seen(row: Row[Any], version: int | None) -> None:
    """Raise a `ReviewError` if the item has another version than the one that was seen."""
    if version is not None and version != row.version:
        raise ReviewError(
            f"expected version {version} of the item, and it has changed since: it has version {row.version}", "stale"
        )


def require_undecided(row: Row[Any]) -> None:
    """Raise a `ReviewError` if the item was decided."""
    if ReviewState(row.state).decided:
        raise ReviewError(f"the item was decided already: it is {row.state}", "decided")


def require_free(connection: Connection, row: Row[Any], who: Reviewer, now: datetime) -> None:
    """Check that a reviewer may take an item that they do not hold.

    Raises:
        ReviewError: somebody else holds it or is assigned to it, or the reviewer lacks the required expertise.
    """
    holder = held_by(row, now)
    if holder not in (None, who.name):
        raise ReviewError(f"{holder} has the item until {instant(moment_at(row.held_until))}", "held")
    if who.admin:
        return
    if row.assignee not in (None, who.name) and not is_away(connection, row.tenant, row.assignee):
        raise ReviewError(f"the item was given to {row.assignee}", "held")
    missing = _required(connection, row) - who.expertise
    if missing:
        raise ReviewError(f"the item asks for a reviewer with the expertise {min(missing)!r}", "refused")


def _required(connection: Connection, row: Row[Any]) -> frozenset[str]:
    """The expertise that a reviewer of an item needs: all that it asks for if one person has all of it, else the most
    important part that somebody has. Expertise that nobody has must not keep everybody out."""
    senior = rules_of(row)[0].senior if row.tier == Tier.BLOCKING else ""
    required = frozenset(field for field in (row.expertise, senior) if field)
    if not required:
        return required
    available = [fields for _, fields in reviewers(connection, row.tenant)]
    by_importance = (required, frozenset({senior}), frozenset({row.expertise}))
    return next(
        (option for option in by_importance if option <= required and any(option <= fields for fields in available)),
        frozenset(),
    )


_MAY_REVIEW: Final = frozenset({Role.REVIEWER.value, Role.ADMIN.value})


def reviewers(connection: Connection, tenant: str) -> list[tuple[str, frozenset[str]]]:
    """The users of a tenant who may review now, by name, each with the fields of their expertise."""
    table = tables.users.c
    rows = connection.execute(
        select(table.name, table.roles, table.expertise)
        .where(table.tenant == tenant, table.disabled.is_(None), table.name.is_not(None))
        .order_by(table.name)
    )
    return [(str(row.name), frozenset(row.expertise.split())) for row in rows if _MAY_REVIEW & set(row.roles.split())]


def is_away(connection: Connection, tenant: str, name: str) -> bool:
    """Whether an assignee can no longer decide: the user was disabled or removed, or lost the role. In a tenant without
    users, reviewers have other names, such as those of API keys."""
    if name in {reviewer for reviewer, _ in reviewers(connection, tenant)}:
        return False
    users, keys = tables.users.c, tables.api_keys.c
    key = select(keys.id).where(keys.tenant == tenant, keys.name == name, keys.revoked.is_(None)).limit(1)
    any_user = select(users.id).where(users.tenant == tenant).limit(1)
    return connection.execute(key).first() is None and connection.execute(any_user).first() is not None


def decision_move(
    connection: Connection, row: Row[Any], who: Reviewer, verdict: ReviewDecision, reason: str, now: datetime
) -> Move:
    """The changes of a decision."""
    _require_claims(connection, row, verdict.claims)
    state = _STATES[verdict.act]
    outcome = ReviewOutcome(
        act=verdict.act,
        actor=storable(who.name),
        at=now,
        reason=reason,
        response=None if verdict.response is None else storable(verdict.response),
        claims=dict(verdict.claims),
    )
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = {}
    committed: tuple[Any, ...] = ()
    if verdict.released is not None:
        rows, body = further_report(row, verdict.released, now)
        outcome = outcome.model_copy(update={"output": verdict.released.output, "report": report_id_in(rows)})
        committed = (verdict.released.output, body)
    values = {
        **UNCLAIMED,
        "state": state.value,
        "decided": micros(now),
        "deadline": None,
        "assignee": who.name,
        "report": outcome.report or row.report,
        "outcome": outcome.model_dump(mode="json"),
    }
    labels = {str(place): Verdict(label).value for place, label in sorted(verdict.claims.items())}
    return Move(verdict.act, who.name, values, reason, {"labels": labels}, committed, rows, "review.decided")


_STATES: Final[Mapping[ReviewAct, ReviewState]] = {
    ReviewAct.APPROVE: ReviewState.APPROVED,
    ReviewAct.EDIT: ReviewState.EDITED,
    ReviewAct.REJECT: ReviewState.REJECTED,
}


def _require_claims(connection: Connection, row: Row[Any], labels: Mapping[int, Verdict]) -> None:
    table = tables.claims.c
    number = connection.execute(
        select(func.count()).select_from(tables.claims).where(table.tenant == row.tenant, table.report == row.run)
    ).scalar_one()
    unknown = [place for place in labels if not 0 <= place < number]
    if unknown:
        raise ReviewError(f"expected claims of the output, and it has none at {unknown[0]}", "refused")


def further_report(
    row: Row[Any], report: HallucinationReport, now: datetime
) -> tuple[Mapping[Table, Sequence[Mapping[str, Any]]], str]:
    """The rows of a further report of the item's run, and the digest of its body."""
    body = canonical(report.model_dump(mode="json", exclude={"timing"}))
    return report_rows(row.tenant, row.run, new_id(), report, body, micros(now)), sha256(body).hexdigest()


def report_id_in(rows: Mapping[Table, Sequence[Mapping[str, Any]]]) -> str:
    """The id of the report in rows of `further_report`."""
    return str(rows[tables.reports][0]["id"])


def supplied_rows(
    connection: Connection, row: Row[Any], evidence: Sequence[Evidence], at: int
) -> tuple[Mapping[Table, Sequence[Mapping[str, Any]]], list[str], list[str]]:
    """The rows of evidence that the caller supplied, the ids and the digests of the evidence."""
    table = tables.run_evidence.c
    first = connection.execute(
        select(func.count()).select_from(tables.run_evidence).where(table.tenant == row.tenant, table.run == row.run)
    ).scalar_one()
    contents = [evidence_content(item) for item in evidence]
    digests = [evidence_digest(content) for content in contents]
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = {
        tables.evidence: [
            {"tenant": row.tenant, "digest": digest, "created": at, "body": tables.pack(exact(content))}
            for digest, content in sorted(dict(zip(digests, contents, strict=True)).items())
        ],
        tables.run_evidence: [
            {
                "tenant": row.tenant,
                "run": row.run,
                "position": place,
                "evidence_id": storable(item.id),
                "digest": digest,
            }
            for place, (item, digest) in enumerate(zip(evidence, digests, strict=True), first)
        ],
    }
    return rows, [item.id for item in evidence], digests


def overdue_move(row: Row[Any], now: datetime) -> Move | None:
    """The changes that the policy prescribes for an item whose deadline has passed; None if it has not passed."""
    if row.deadline is None or ReviewState(row.state).decided or row.deadline > micros(now):
        return None
    rules, _ = rules_of(row)
    tier = Tier(row.tier)
    consequence = overdue(rules, tier)
    if consequence.rejected:
        reason = f"Nobody had decided by {instant(moment_at(row.deadline))}."
        outcome = ReviewOutcome(act=ReviewAct.EXPIRE, actor=DEADLINE, at=now, reason=reason)
        values = {
            **UNCLAIMED,
            "state": ReviewState.REJECTED.value,
            "decided": micros(now),
            "deadline": None,
            "outcome": outcome.model_dump(mode="json"),
        }
        return Move(ReviewAct.EXPIRE, DEADLINE, values, reason, event="review.decided")
    # From now, not from the deadline: after an outage, or when a clock jumped ahead, people still get their time.
    values = {"deadline": micros(deadline_of(rules, consequence.tier, now)), "tier": consequence.tier.value}
    if consequence.tier is tier:
        return Move(ReviewAct.REMIND, DEADLINE, values, event="review.overdue")
    return Move(ReviewAct.NEXT_TIER, DEADLINE, {**values, **UNCLAIMED, "assignee": None}, event="review.escalated")


def apply_move(connection: Connection, row: Row[Any], move: Move, now: datetime) -> Entry:
    """Write the changes of an act; returns its log entry."""
    touch(connection, RUN, [row.run])
    for table, rows in move.rows.items():
        insert_rows(connection, table, rows, UNLESS_THERE if table in _STORED_ONCE else "")
    values = {**move.values, "version": row.version + 1, "updated": micros(now)}
    set_values(connection, row, values)
    state = str(values.get("state", row.state))
    position = _next_position(connection, row)
    insert_rows(
        connection,
        tables.decisions,
        [
            {
                "tenant": row.tenant,
                "run": row.run,
                "position": position,
                "created": micros(now),
                "actor": storable(move.actor),
                "action": move.act.value,
                "route": state,
                "reasons": None if move.reason is None else tables.pack([move.reason]),
            }
        ],
    )
    tier, deadline = Tier(values.get("tier", row.tier)), values.get("deadline", row.deadline)
    data = {
        "act": move.act.value,
        "state": state,
        "tier": tier.value,
        "at": instant(now),
        "deadline": None if deadline is None else instant(moment_at(deadline)),
    }
    if move.event is not None:
        _send_message(connection, row, move.event, data, values["version"], micros(now))
    salt = _salt(connection, row)
    return entry(
        REVIEW,
        row.run,
        {
            **data,
            **move.details,
            "item": row.id,
            "position": position,
            "risk": ppm(row.risk),
            "actor": None if salt is None else commitment(salt, "actor", storable(move.actor).encode()),
            "reason": None if salt is None or move.reason is None else commitment(salt, "reason", move.reason.encode()),
            "said": None
            if salt is None or not move.committed
            else commitment(salt, "review", exact(list(move.committed))),
        },
    )


_STORED_ONCE: Final = frozenset({tables.evidence})
"""Tables whose existing rows are kept."""


def _next_position(connection: Connection, row: Row[Any]) -> int:
    table = tables.decisions.c
    last = connection.execute(
        select(func.max(table.position)).where(table.tenant == row.tenant, table.run == row.run)
    ).scalar_one()
    return int(last or 0) + 1


def _send_message(
    connection: Connection, row: Row[Any], event: str, data: Mapping[str, Any], version: int, at: int
) -> None:
    body = {
        "review": row.id,
        "level": row_of(Tier(data["tier"])).level,
        "version": version,
        "risk": ppm(row.risk),
        **data,
    }
    for target in dict.fromkeys(("", row.callback or "")):
        message = message_row(row.tenant, row.run, event, at, body, target=target, version=version)
        insert_rows(connection, tables.outbox, [message], UNLESS_THERE)


def set_values(connection: Connection, row: Row[Any], values: Mapping[str, Any]) -> None:
    """Update an item, if nobody has changed it since it was read. Its run must be touched first, unless only the lease
    changes.

    Raises:
        ReviewError: the item has another version by now.
    """
    table = tables.review_items
    result = connection.execute(
        update(table)
        .where(table.c.tenant == row.tenant, table.c.id == row.id, table.c.version == row.version)
        .values(**values)
    )
    if result.rowcount != 1:
        raise ReviewError("the item has changed since it was read", "stale")


def reread(connection: Connection, row: Row[Any]) -> Row[Any]:
    """The current row of an item."""
    current = read_row(connection, row.tenant, row.id)
    if current is None:
        raise ReviewError(f"expected the item {row.id}, and it has gone", "missing")
    return current


def _salt(connection: Connection, row: Row[Any]) -> bytes | None:
    """The salt of an item's run; None if it was erased."""
    table = tables.runs.c
    salt = connection.execute(select(table.salt).where(table.tenant == row.tenant, table.id == row.run)).scalar()
    return None if salt is None or len(salt) != SALT_BYTES else bytes(salt)


def required_reason(reason: str) -> str:
    """A mandatory reason as it is stored.

    Raises:
        ReviewError: it is blank or too long.
    """
    stored = optional_reason(reason)
    if not stored:
        raise ReviewError("expected a reason for the decision: it is all that a reader of the record has", "refused")
    return stored


def optional_reason(reason: str | None) -> str | None:
    """An optional reason as it is stored; None if it is blank.

    Raises:
        ReviewError: it is too long.
    """
    if reason is not None and len(reason) > LONGEST_REASON:
        raise ReviewError(f"expected a reason of at most {LONGEST_REASON:,} characters, got {len(reason):,}", "refused")
    return storable(reason).strip() or None if reason is not None else None
