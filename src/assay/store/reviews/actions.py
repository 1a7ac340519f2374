"""What one act on the review queue looks at and changes; always while the tenant's log is locked."""

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
from assay.store.db.raw_statements import UNLESS_THERE, insert_rows
from assay.store.records.interface import new_id
from assay.store.records.recording import micros, moment_at, report_rows, storable
from assay.store.reviews.items import read_row, rules_of
from assay.store.reviews.opening import message_row

LONGEST_REASON: Final = 10_000
"""The most characters of a reason."""
SKEW: Final = timedelta(minutes=5)
"""How far ahead another host's clock may be. A moment further ahead was written before a clock was set back."""
DEADLINE: Final = "deadline"
"""Who acts when a deadline has passed."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Who acts."""

    name: str
    expertise: frozenset[str] = frozenset()
    admin: bool = False
    """Whether they may take what asks for expertise that they lack, and take away what somebody else has."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a reviewer decides."""

    act: ReviewAct
    """`approve`, `edit` or `reject`."""
    reason: str
    released: HallucinationReport | None = None
    """The report under which a text goes out: of the output as it is, or of the edited one, which was checked again.
    None for `reject`."""
    response: str | None = None
    """What to say in place of what was rejected."""
    claims: Mapping[int, Verdict] = field(default_factory=dict)
    """What they say of single claims of the output, by their places: labels to learn from."""


@dataclass(frozen=True, slots=True)
class Move:
    """What one act changes."""

    act: ReviewAct
    actor: str
    values: Mapping[str, Any]
    reason: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the entry: no text that was checked, no name."""
    said: tuple[Any, ...] = ()
    """What the entry commits to besides the reason."""
    rows: Mapping[Table, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    event: str | None = None
    """The message that goes out; none for what nobody waits for."""


Worked = tuple[Sequence[Entry], ReviewError | None]
"""The entries of what was done, and why the rest was not."""
LET_GO: Final[Mapping[str, Any]] = {"holder": None, "claimed": None, "held_until": None}


def held_by(row: Row[Any], now: datetime) -> str | None:
    """Who has an item. A claim from the future was made before a clock was set back, and does not hold."""
    if row.holder is None or row.held_until is None or row.claimed is None:
        return None
    holds = row.held_until > micros(now) and row.claimed <= micros(now + SKEW)
    return str(row.holder) if holds else None


def require_as_seen(row: Row[Any], version: int | None) -> None:
    """Refuse an act of who has seen another version, with a `ReviewError`."""
    if version is not None and version != row.version:
        raise ReviewError(
            f"expected version {version} of the item, and it has changed since: it has version {row.version}", "stale"
        )


def require_undecided(row: Row[Any]) -> None:
    """Refuse an act on what was decided, with a `ReviewError`."""
    if ReviewState(row.state).decided:
        raise ReviewError(f"the item was decided already: it is {row.state}", "decided")


def require_free(connection: Connection, row: Row[Any], who: Reviewer, now: datetime) -> None:
    """Whether somebody may take an item that they do not have.

    Raises:
        ReviewError: somebody else has it or is meant to, or it asks for what they do not know.
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
    """What a reviewer of an item has to know: all that it asks for where one person knows all of it, else what counts
    more and somebody knows. What nobody knows must not keep everybody out."""
    senior = rules_of(row)[0].senior if row.tier == Tier.BLOCKING else ""
    asked = frozenset(word for word in (row.expertise, senior) if word)
    if not asked:
        return asked
    known = [words for _, words in reviewers(connection, row.tenant)]
    wanted = (asked, frozenset({senior}), frozenset({row.expertise}))
    return next((one for one in wanted if one <= asked and any(one <= words for words in known)), frozenset())


_MAY_REVIEW: Final = frozenset({Role.REVIEWER.value, Role.ADMIN.value})


def reviewers(connection: Connection, tenant: str) -> list[tuple[str, frozenset[str]]]:
    """The names of the people of a tenant who may review now, in order, each with the fields that they know."""
    table = tables.users.c
    rows = connection.execute(
        select(table.name, table.roles, table.expertise)
        .where(table.tenant == tenant, table.disabled.is_(None), table.name.is_not(None))
        .order_by(table.name)
    )
    return [(str(row.name), frozenset(row.expertise.split())) for row in rows if _MAY_REVIEW & set(row.roles.split())]


def is_away(connection: Connection, tenant: str, name: str) -> bool:
    """Whether somebody to whom an item was given cannot decide on it any more: they were disabled, forgotten, or lost
    the role. A tenant without people knows its reviewers by other names, such as those of keys."""
    if name in {known for known, _ in reviewers(connection, tenant)}:
        return False
    people, keys = tables.users.c, tables.api_keys.c
    program = select(keys.id).where(keys.tenant == tenant, keys.name == name, keys.revoked.is_(None)).limit(1)
    anybody = select(people.id).where(people.tenant == tenant).limit(1)
    return connection.execute(program).first() is None and connection.execute(anybody).first() is not None


def deciding(
    connection: Connection, row: Row[Any], who: Reviewer, verdict: Verdicts, reason: str, now: datetime
) -> Move:
    """What a decision changes."""
    _has_claims(connection, row, verdict.claims)
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
    said: tuple[Any, ...] = ()
    if verdict.released is not None:
        rows, body = further_report(row, verdict.released, now)
        outcome = outcome.model_copy(update={"output": verdict.released.output, "report": named_of(rows)})
        said = (verdict.released.output, body)
    values = {
        **LET_GO,
        "state": state.value,
        "decided": micros(now),
        "deadline": None,
        "assignee": who.name,
        "report": outcome.report or row.report,
        "outcome": outcome.model_dump(mode="json"),
    }
    labels = {str(place): Verdict(label).value for place, label in sorted(verdict.claims.items())}
    return Move(verdict.act, who.name, values, reason, {"labels": labels}, said, rows, "review.decided")


_STATES: Final[Mapping[ReviewAct, ReviewState]] = {
    ReviewAct.APPROVE: ReviewState.APPROVED,
    ReviewAct.EDIT: ReviewState.EDITED,
    ReviewAct.REJECT: ReviewState.REJECTED,
}


def _has_claims(connection: Connection, row: Row[Any], labels: Mapping[int, Verdict]) -> None:
    table = tables.claims.c
    number = connection.execute(
        select(func.count()).select_from(tables.claims).where(table.tenant == row.tenant, table.report == row.run)
    ).scalar_one()
    strange = [place for place in labels if not 0 <= place < number]
    if strange:
        raise ReviewError(f"expected claims of the output, and it has none at {strange[0]}", "refused")


def further_report(
    row: Row[Any], report: HallucinationReport, now: datetime
) -> tuple[Mapping[Table, Sequence[Mapping[str, Any]]], str]:
    """The rows of a further report of the run, and the digest of its body."""
    body = canonical(report.model_dump(mode="json", exclude={"timing"}))
    return report_rows(row.tenant, row.run, new_id(), report, body, micros(now)), sha256(body).hexdigest()


def named_of(rows: Mapping[Table, Sequence[Mapping[str, Any]]]) -> str:
    """The id of the report among rows."""
    return str(rows[tables.reports][0]["id"])


def supplied_rows(
    connection: Connection, row: Row[Any], evidence: Sequence[Evidence], at: int
) -> tuple[Mapping[Table, Sequence[Mapping[str, Any]]], list[str], list[str]]:
    """The rows of evidence that the caller gave, its ids and its digests."""
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


def lateness(row: Row[Any], now: datetime) -> Move | None:
    """What the policy has happen to an item whose deadline has passed."""
    if row.deadline is None or ReviewState(row.state).decided or row.deadline > micros(now):
        return None
    rules, _ = rules_of(row)
    tier = Tier(row.tier)
    found = overdue(rules, tier)
    if found.rejected:
        said = f"Nobody had decided by {instant(moment_at(row.deadline))}."
        outcome = ReviewOutcome(act=ReviewAct.EXPIRE, actor=DEADLINE, at=now, reason=said)
        values = {
            **LET_GO,
            "state": ReviewState.REJECTED.value,
            "decided": micros(now),
            "deadline": None,
            "outcome": outcome.model_dump(mode="json"),
        }
        return Move(ReviewAct.EXPIRE, DEADLINE, values, said, event="review.decided")
    # From now, not from the deadline: after a standstill, or a clock that jumped, people still get their time.
    values = {"deadline": micros(deadline_of(rules, found.tier, now)), "tier": found.tier.value}
    if found.tier is tier:
        return Move(ReviewAct.REMIND, DEADLINE, values, event="review.overdue")
    return Move(ReviewAct.NEXT_TIER, DEADLINE, {**values, **LET_GO, "assignee": None}, event="review.escalated")


def carry_out(connection: Connection, row: Row[Any], move: Move, now: datetime) -> Entry:
    """Writes all of an act, and gives its entry."""
    touch(connection, RUN, [row.run])
    for table, rows in move.rows.items():
        insert_rows(connection, table, rows, UNLESS_THERE if table in _STORED_ONCE else "")
    values = {**move.values, "version": row.version + 1, "updated": micros(now)}
    set_values(connection, row, values)
    state = str(values.get("state", row.state))
    position = _position(connection, row)
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
        _announce(connection, row, move.event, data, values["version"], micros(now))
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
            "said": None if salt is None or not move.said else commitment(salt, "review", exact(list(move.said))),
        },
    )


_STORED_ONCE: Final = frozenset({tables.evidence})


def _position(connection: Connection, row: Row[Any]) -> int:
    table = tables.decisions.c
    last = connection.execute(
        select(func.max(table.position)).where(table.tenant == row.tenant, table.run == row.run)
    ).scalar_one()
    return int(last or 0) + 1


def _announce(
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
    """Changes an item that nobody has changed since it was read. Its run was touched, unless only a lease changes."""
    table = tables.review_items
    done = connection.execute(
        update(table)
        .where(table.c.tenant == row.tenant, table.c.id == row.id, table.c.version == row.version)
        .values(**values)
    )
    if done.rowcount != 1:
        raise ReviewError("the item has changed since it was read", "stale")


def reread(connection: Connection, row: Row[Any]) -> Row[Any]:
    """The item as it is now."""
    after = read_row(connection, row.tenant, row.id)
    if after is None:
        raise ReviewError(f"expected the item {row.id}, and it has gone", "missing")
    return after


def _salt(connection: Connection, row: Row[Any]) -> bytes | None:
    """The salt of the item's run; none where it was erased."""
    table = tables.runs.c
    salt = connection.execute(select(table.salt).where(table.tenant == row.tenant, table.id == row.run)).scalar()
    return None if salt is None or len(salt) != SALT_BYTES else bytes(salt)


def required_words(reason: str) -> str:
    """A reason that must be given, as it is stored."""
    words = words_of(reason)
    if not words:
        raise ReviewError("expected a reason for the decision: it is all that a reader of the record has", "refused")
    return words


def words_of(reason: str | None) -> str | None:
    """A reason that may be given, as it is stored."""
    if reason is not None and len(reason) > LONGEST_REASON:
        raise ReviewError(f"expected a reason of at most {LONGEST_REASON:,} characters, got {len(reason):,}", "refused")
    return storable(reason).strip() or None if reason is not None else None
