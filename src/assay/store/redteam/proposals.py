"""Proposals for the approved suite: made by machines, decided on once each by people, every step an entry of the log.

The approved suite is what was let in, and nothing else. Its version is the digest of the ids of its cases, each of
which follows from the case's content; the entry of a decision says what the version was before and is after it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, and_, func, insert, or_, select, update

from assay.errors import ProposalError
from assay.receipt import instant
from assay.store.audit.binding import touch
from assay.store.audit.entries import entry
from assay.store.audit.log import Entry
from assay.store.audit.units import PROPOSAL
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.recording import checked_tenant, micros, storable
from assay.store.redteam.runs import REDTEAM
from assay.store.redteam.values import APPROVED, MOST_LISTED, OPEN, ProposedCase, packable

PART = 500


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decides on a proposal."""

    state: str
    """`approved` or `rejected`."""
    decider: str
    """The person's name."""
    actor: str
    """What the log names them by."""
    reason: str = ""
    case: Any = None
    """The case as it is let in, as a JSON value; none of one that is rejected."""
    kept: str | None = None
    """Its id."""
    edited: bool = False


def add_proposals(store: Store, tenant: str, proposals: Sequence[ProposedCase], actor: str) -> list[str]:
    """Propose cases; those that were proposed before, or stand in the approved suite, are left as they are.

    Returns:
        The ids of those that were new.

    Raises:
        StoreError: they cannot be stored.
    """
    now, added = store.now(), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        added.clear()
        ids = [one.id for one in proposals]
        there = _known(connection, tenant, ids)
        new = {one.id: one for one in proposals if one.id not in there}
        touch(connection, PROPOSAL, new)
        for one in new.values():
            connection.execute(insert(tables.redteam_proposals), _values(tenant, one, micros(now)))
            added.append(one.id)
        return [
            entry(
                REDTEAM,
                one.id,
                {
                    "at": instant(now),
                    "act": "proposed",
                    "category": one.category,
                    "run": one.run,
                    "actor": actor,
                },
            )
            for one in new.values()
        ]

    if proposals:
        store.apply(Change(checked_tenant(tenant), act=act))
    return list(added)


def _known(connection: Connection, tenant: str, ids: Sequence[str]) -> set[str]:
    table, found = tables.redteam_proposals.c, set[str]()
    for begin in range(0, len(ids), PART):
        part = ids[begin : begin + PART]
        rows = connection.execute(
            select(table.id, table.kept).where(table.tenant == tenant, or_(table.id.in_(part), table.kept.in_(part)))
        )
        found.update(name for row in rows for name in (row.id, row.kept) if name is not None)
    return found


def _values(tenant: str, one: ProposedCase, created: int) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "id": one.id,
        "created": created,
        "run": one.run,
        "category": one.category,
        "target": storable(one.target),
        "match": one.match,
        "rule": None if one.rule is None else storable(one.rule),
        "flaky": one.flaky,
        "state": OPEN,
        "version": 1,
        "body": packable(one.body),
    }


def decide(
    store: Store,
    tenant: str,
    id_: str,
    decision: Decision,
    version_of: Callable[[Sequence[str]], str],
    version: int | None = None,
) -> ProposedCase:
    """A person decides on a proposal, once and for all.

    Args:
        store: the store.
        tenant: whose.
        id_: of the proposal.
        decision: what they decide.
        version_of: the version of a suite out of the ids of its cases.
        version: which version of the proposal they have seen.

    Returns:
        The proposal as it stands then.

    Raises:
        ProposalError: there is none of this id, it was decided, has changed, or the suite has such a case already.
        StoreError: it cannot be stored.
    """
    now, found = store.now(), list[ProposedCase]()

    def act(connection: Connection) -> Sequence[Entry]:
        found.clear()
        known = _undecided(connection, tenant, id_, version)
        ids = approved_ids(connection, tenant)
        if decision.kept is not None and decision.kept in ids:
            raise ProposalError(f"{decision.kept}: the approved suite has this case already; reject it", "refused")
        touch(connection, PROPOSAL, [id_])
        _write_decision(connection, tenant, known, decision, micros(now))
        found.append(_required(connection, tenant, id_))
        after = ids if decision.kept is None else [*ids, decision.kept]
        fields = {
            "at": instant(now),
            "act": "edited" if decision.edited else decision.state,
            "category": known.category,
            "kept": decision.kept,
            "suite_before": version_of(ids),
            "suite_after": version_of(after),
            "actor": decision.actor,
        }
        return [entry(REDTEAM, id_, fields)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return found[0]


def _undecided(connection: Connection, tenant: str, id_: str, version: int | None) -> ProposedCase:
    """The proposal, in the version that was seen."""
    known = _required(connection, tenant, id_)
    if known.state != OPEN:
        raise ProposalError(f"{id_}: was {known.state} by {known.decider} already", "decided")
    if version is not None and version != known.version:
        raise ProposalError(f"expected version {version} of {id_}, and it has version {known.version}", "stale")
    return known


def _write_decision(connection: Connection, tenant: str, known: ProposedCase, decision: Decision, at: int) -> None:
    table = tables.redteam_proposals
    body = dict(known.body) if decision.case is None else {**known.body, "approved": decision.case}
    connection.execute(
        update(table)
        .where(table.c.tenant == tenant, table.c.id == known.id)
        .values(
            state=decision.state,
            decided=at,
            decider=storable(decision.decider),
            actor=decision.actor,
            reason=storable(decision.reason),
            kept=decision.kept,
            version=known.version + 1,
            body=packable(body),
        )
    )


# Reading


def list_proposals(
    connection: Connection,
    tenant: str,
    states: Sequence[str] | None = None,
    *,
    before: str | None = None,
    limit: int = 50,
) -> list[ProposedCase]:
    """Proposals, the newest first.

    Args:
        connection: reads a tenant's rows.
        tenant: whose.
        states: only those that stand there.
        before: the id of the last one of the page before.
        limit: at most so many, and `MOST_LISTED`.
    """
    table = tables.redteam_proposals.c
    query = select(tables.redteam_proposals).where(table.tenant == tenant)
    if states is not None:
        query = query.where(table.state.in_(states))
    if before is not None:
        last = select(table.created).where(table.tenant == tenant, table.id == before).scalar_subquery()
        query = query.where(or_(table.created < last, and_(table.created == last, table.id < before)))
    ordered = query.order_by(table.created.desc(), table.id.desc()).limit(max(0, min(limit, MOST_LISTED)))
    return [_proposal(row) for row in connection.execute(ordered)]


def read_proposal(connection: Connection, tenant: str, id_: str) -> ProposedCase | None:
    """A proposal by its id; none where the tenant has none of this id."""
    table = tables.redteam_proposals.c
    row = connection.execute(
        select(tables.redteam_proposals).where(table.tenant == tenant, table.id == id_)
    ).one_or_none()
    return None if row is None else _proposal(row)


def count_proposals(connection: Connection, tenant: str) -> dict[str, int]:
    """How many proposals stand where; states in which there are none are left out."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.state, func.count().label("count")).where(table.tenant == tenant).group_by(table.state)
    )
    return {str(row.state): int(row._mapping["count"]) for row in rows}  # noqa: SLF001 `count` is a method of a row


def approved_ids(connection: Connection, tenant: str) -> list[str]:
    """The ids of the cases of the approved suite, in the order in which they were let in."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.kept)
        .where(table.tenant == tenant, table.state == APPROVED, table.kept.is_not(None))
        .order_by(table.decided, table.id)
    )
    return [str(kept) for kept in rows.scalars()]


def approved_cases(connection: Connection, tenant: str) -> list[Any]:
    """The cases of the approved suite as JSON values, in the order in which they were let in."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.body).where(table.tenant == tenant, table.state == APPROVED).order_by(table.decided, table.id)
    )
    return [body["approved"] for body in rows.scalars() if body and body.get("approved") is not None]


def known_ids(connection: Connection, tenant: str) -> set[str]:
    """The ids of all that was ever proposed or let in."""
    table = tables.redteam_proposals.c
    rows = connection.execute(select(table.id, table.kept).where(table.tenant == tenant))
    return {name for row in rows for name in (row.id, row.kept) if name is not None}


def _required(connection: Connection, tenant: str, id_: str) -> ProposedCase:
    found = read_proposal(connection, tenant, id_)
    if found is None:
        raise ProposalError(f"expected a proposal of {tenant}, and there is none with this id", "missing")
    return found


def _proposal(row: Row[Any]) -> ProposedCase:
    return ProposedCase(
        id=row.id,
        category=row.category,
        target=row.target,
        match=row.match,
        rule=row.rule,
        flaky=bool(row.flaky),
        body=row.body or {},
        run=row.run,
        state=row.state,
        created=row.created,
        decided=row.decided,
        decider=row.decider,
        actor=row.actor,
        reason=row.reason,
        kept=row.kept,
        version=row.version,
    )
