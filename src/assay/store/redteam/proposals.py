"""Proposals for the approved suite: made by machines, each decided once by a person, every step an entry of the log.

The approved suite consists of the approved cases and nothing else. Its version is the digest of the ids of its cases,
and each id follows from the content of its case; the log entry of a decision has the versions before and after it.
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
from assay.store.db.column_values import checked_tenant, micros, storable
from assay.store.db.store import Store, batches
from assay.store.db.writer import Change
from assay.store.redteam.runs import REDTEAM
from assay.store.redteam.values import APPROVED, MOST_LISTED, OPEN, ProposedCase, packable


@dataclass(frozen=True, slots=True)
class ProposalDecision:
    """A person's decision on a proposal."""

    state: str
    """`approved` or `rejected`."""
    decider: str
    """The name of the person."""
    actor: str
    """The id of that person in the log."""
    reason: str = ""
    case: Any = None
    """The case as it is approved, as a JSON value; None for a rejection."""
    kept: str | None = None
    """The id of the case in the approved suite; None for a rejection."""
    edited: bool = False
    """Whether the person changed the case before approving it."""


def add_proposals(store: Store, tenant: str, proposals: Sequence[ProposedCase], actor: str) -> list[str]:
    """Propose cases; cases that were proposed before, or are in the approved suite, are skipped.

    Returns:
        The ids of the new proposals.

    Raises:
        StoreError: they cannot be stored.
    """
    now, added = store.now(), list[str]()

    def act(connection: Connection) -> Sequence[Entry]:
        added.clear()
        existing = _existing_ids(connection, tenant, [proposal.id for proposal in proposals])
        new = {proposal.id: proposal for proposal in proposals if proposal.id not in existing}
        touch(connection, PROPOSAL, new)
        for proposal in new.values():
            connection.execute(insert(tables.redteam_proposals), _values(tenant, proposal, micros(now)))
            added.append(proposal.id)
        return [
            entry(
                REDTEAM,
                proposal.id,
                {
                    "at": instant(now),
                    "act": "proposed",
                    "category": proposal.category,
                    "run": proposal.run,
                    "actor": actor,
                },
            )
            for proposal in new.values()
        ]

    if proposals:
        store.apply(Change(checked_tenant(tenant), act=act))
    return list(added)


def _existing_ids(connection: Connection, tenant: str, ids: Sequence[str]) -> set[str]:
    """The ids of existing proposals, and of their approved cases, that match any of the given ids."""
    table, existing = tables.redteam_proposals.c, set[str]()
    for part in batches(ids):
        rows = connection.execute(
            select(table.id, table.kept).where(table.tenant == tenant, or_(table.id.in_(part), table.kept.in_(part)))
        )
        existing.update(id_ for row in rows for id_ in (row.id, row.kept) if id_ is not None)
    return existing


def _values(tenant: str, proposal: ProposedCase, created: int) -> dict[str, Any]:
    return {
        "tenant": tenant,
        "id": proposal.id,
        "created": created,
        "run": proposal.run,
        "category": proposal.category,
        "target": storable(proposal.target),
        "match": proposal.match,
        "rule": None if proposal.rule is None else storable(proposal.rule),
        "flaky": proposal.flaky,
        "state": OPEN,
        "version": 1,
        "body": packable(proposal.body),
    }


def decide_proposal(
    store: Store,
    tenant: str,
    id_: str,
    decision: ProposalDecision,
    version_of: Callable[[Sequence[str]], str],
    version: int | None = None,
) -> ProposedCase:
    """Decide on a proposal, finally.

    Args:
        store: the store.
        tenant: whose proposal.
        id_: the id of the proposal.
        decision: the decision of a person.
        version_of: computes the version of a suite from the ids of its cases.
        version: the version of the proposal that the person has seen; any by default.

    Returns:
        The proposal after the decision.

    Raises:
        ProposalError: there is no such proposal, it was decided or has changed, or the suite has such a case already.
        StoreError: it cannot be stored.
    """
    now, result = store.now(), list[ProposedCase]()

    def act(connection: Connection) -> Sequence[Entry]:
        result.clear()
        proposal = _undecided(connection, tenant, id_, version)
        ids = approved_ids(connection, tenant)
        if decision.kept is not None and decision.kept in ids:
            raise ProposalError(f"{decision.kept}: the approved suite has this case already; reject it", "refused")
        touch(connection, PROPOSAL, [id_])
        _write_decision(connection, tenant, proposal, decision, micros(now))
        result.append(_required(connection, tenant, id_))
        after = ids if decision.kept is None else [*ids, decision.kept]
        fields = {
            "at": instant(now),
            "act": "edited" if decision.edited else decision.state,
            "category": proposal.category,
            "kept": decision.kept,
            "suite_before": version_of(ids),
            "suite_after": version_of(after),
            "actor": decision.actor,
        }
        return [entry(REDTEAM, id_, fields)]

    store.apply(Change(checked_tenant(tenant), act=act))
    return result[0]


def _undecided(connection: Connection, tenant: str, id_: str, version: int | None) -> ProposedCase:
    """The proposal; raises ProposalError if it was decided, or has another version than the one that was seen."""
    proposal = _required(connection, tenant, id_)
    if proposal.state != OPEN:
        raise ProposalError(f"{id_}: was {proposal.state} by {proposal.decider} already", "decided")
    if version is not None and version != proposal.version:
        raise ProposalError(f"expected version {version} of {id_}, and it has version {proposal.version}", "stale")
    return proposal


def _write_decision(
    connection: Connection, tenant: str, proposal: ProposedCase, decision: ProposalDecision, at: int
) -> None:
    table = tables.redteam_proposals
    body = dict(proposal.body) if decision.case is None else {**proposal.body, "approved": decision.case}
    connection.execute(
        update(table)
        .where(table.c.tenant == tenant, table.c.id == proposal.id)
        .values(
            state=decision.state,
            decided=at,
            decider=storable(decision.decider),
            actor=decision.actor,
            reason=storable(decision.reason),
            kept=decision.kept,
            version=proposal.version + 1,
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
    """Proposals, newest first.

    Args:
        connection: from `Store.reading`.
        tenant: whose proposals.
        states: only proposals in these states.
        before: the id of the last proposal on the previous page.
        limit: the most proposals, capped at `MOST_LISTED`.
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
    """A proposal by its id; None if the tenant has no such proposal."""
    table = tables.redteam_proposals.c
    row = connection.execute(
        select(tables.redteam_proposals).where(table.tenant == tenant, table.id == id_)
    ).one_or_none()
    return None if row is None else _proposal(row)


def count_proposals(connection: Connection, tenant: str) -> dict[str, int]:
    """The number of proposals by state; states without proposals are left out."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.state, func.count().label("count")).where(table.tenant == tenant).group_by(table.state)
    )
    return {str(row.state): int(row._mapping["count"]) for row in rows}  # noqa: SLF001 `count` is a method of a row


def approved_ids(connection: Connection, tenant: str) -> list[str]:
    """The ids of the cases in the approved suite, in the order of their approval."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.kept)
        .where(table.tenant == tenant, table.state == APPROVED, table.kept.is_not(None))
        .order_by(table.decided, table.id)
    )
    return [str(kept) for kept in rows.scalars()]


def approved_cases(connection: Connection, tenant: str) -> list[Any]:
    """The cases in the approved suite as JSON values, in the order of their approval."""
    table = tables.redteam_proposals.c
    rows = connection.execute(
        select(table.body).where(table.tenant == tenant, table.state == APPROVED).order_by(table.decided, table.id)
    )
    return [body["approved"] for body in rows.scalars() if body and body.get("approved") is not None]


def known_ids(connection: Connection, tenant: str) -> set[str]:
    """The ids of all proposals, and of all approved cases."""
    table = tables.redteam_proposals.c
    rows = connection.execute(select(table.id, table.kept).where(table.tenant == tenant))
    return {id_ for row in rows for id_ in (row.id, row.kept) if id_ is not None}


def _required(connection: Connection, tenant: str, id_: str) -> ProposedCase:
    proposal = read_proposal(connection, tenant, id_)
    if proposal is None:
        raise ProposalError(f"expected a proposal of {tenant}, and there is none with this id", "missing")
    return proposal


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
