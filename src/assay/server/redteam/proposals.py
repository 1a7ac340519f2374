"""Promotion over the store of a server: the same functions as on a ledger file, backed by a table.

`assay.redteam.promotion` decides what is proposed and what a decision requires and does to a case. Its events
(`ProposalLog.append`) become rows and entries of the audit log here. State and version are checked within the
transaction, so that of two people who decide at the same time one is refused.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.errors import InputError, ProposalError
from assay.redteam.cases import Case, digest_of_ids, first_fault
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.promotion import Proposal, State, propose, record_approval, reject
from assay.server.redteam.rows import LONGEST_RULE, LONGEST_TEXT
from assay.store.db import Store
from assay.store.redteam import (
    APPROVED,
    REJECTED,
    ProposalDecision,
    ProposedCase,
    add_proposals,
    approved_cases,
    decide_proposal,
    known_ids,
    read_proposal,
)

LARGEST_CASE: Final = 256 * 1024
"""The most bytes of a case, as JSON, that can be proposed."""
ACTS: Final = ("approve", "edit", "reject")
LONGEST_REASON: Final = 10_000


class StoredProposalLog:
    """Proposals in a store, as an `assay.redteam.promotion.ProposalLog`."""

    def __init__(self, store: Store, tenant: str, actor: str, run: str | None = None) -> None:
        """A log for the acts of one actor.

        Args:
            store: the store.
            tenant: the tenant of the proposals.
            actor: the name of the actor in the audit log.
            run: the id of the run whose failures are proposed.
        """
        self._store, self._tenant, self._actor, self._run = store, tenant, actor, run
        self._waiting: list[ProposedCase] = []
        self._version: int | None = None
        self.proposals: dict[str, Proposal] = {}
        self.decided: ProposedCase | None = None
        """The proposal after a decision; none before."""

    def take(self, row: ProposedCase, version: int | None) -> None:
        """Adds a stored proposal to decide on.

        Args:
            row: the row of the proposal.
            version: the version that the person who decides has seen; none if any will do.
        """
        self._version = version
        self.proposals[row.id] = proposal_of(row)

    def append(self, event: str, case: Case, **fields: Any) -> None:
        """Records a proposal, which `keep` stores later, or a decision, which is stored at once."""
        if event == "proposed":
            self._waiting.append(
                ProposedCase(
                    case.id,
                    case.category.value,
                    fields["target"],
                    fields["match"],
                    fields["rule"][:LONGEST_RULE],
                    fields["flaky"],
                    {
                        "case": case.model_dump(mode="json"),
                        "trials": fields["trials"],
                        "answer": None if fields["answer"] is None else fields["answer"][:LONGEST_TEXT],
                    },
                    self._run,
                )
            )
            self.proposals[case.id] = proposal_of(self._waiting[-1])
            return
        approves = event != "rejected"
        decision = ProposalDecision(
            APPROVED if approves else REJECTED,
            fields["by"],
            self._actor,
            fields["reason"][:LONGEST_REASON],
            case.model_dump(mode="json") if approves else None,
            case.id if approves else None,
            event == "edited",
        )
        self.decided = decide_proposal(
            self._store, self._tenant, fields["proposal"], decision, digest_of_ids, self._version
        )

    def keep(self) -> list[str]:
        """Stores the recorded proposals; returns the ids of the new ones."""
        waiting, self._waiting = self._waiting, []
        return add_proposals(self._store, self._tenant, waiting, self._actor)


def proposal_of(row: ProposedCase) -> Proposal:
    """A row of the store as a proposal."""
    case = Case.model_validate(row.body.get("approved") or row.body["case"])
    return Proposal(
        case, row.id, row.match or 0.0, row.rule or "", row.flaky, row.target, State(row.state), row.decider, row.reason
    )


def propose_failures(
    store: Store,
    tenant: str,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    target: str,
    actor: str,
    *,
    run: str | None = None,
    flaky_too: bool = False,
) -> list[str]:
    """Proposes the failed cases of a run for the approved suite.

    Besides the cases that `assay.redteam.promotion.propose` skips, cases of more than `LARGEST_CASE` bytes are skipped.

    Args:
        store: the store.
        tenant: the tenant of the proposals.
        cases: the suite of the run.
        judgements: one for each case, in the same order.
        target: the name of the system that failed.
        actor: the name of the actor in the audit log.
        run: the id of the run.
        flaky_too: whether flaky cases are proposed as well.

    Returns:
        The ids of the new proposals.

    Raises:
        StoreError: they cannot be stored.
    """
    with store.reading(tenant) as connection:
        known = known_ids(connection, tenant)
    failed = [
        (case, judgement)
        for case, judgement in zip(cases, judgements, strict=True)
        if judgement.outcome is Outcome.FAILED and case.id not in known and _size(case) <= LARGEST_CASE
    ]
    log = StoredProposalLog(store, tenant, actor, run)
    propose(
        log,
        [case for case, _ in failed],
        [judgement for _, judgement in failed],
        target,
        static=approved_suite(store, tenant),
        flaky_too=flaky_too,
    )
    return log.keep()


def _size(case: Case) -> int:
    return len(json.dumps(case.model_dump(mode="json")))


def approved_suite(store: Store, tenant: str) -> tuple[Case, ...]:
    """The approved cases, in the order of their approval."""
    with store.reading(tenant) as connection:
        return tuple(Case.model_validate(one) for one in approved_cases(connection, tenant))


def decide_on(
    store: Store,
    tenant: str,
    id_: str,
    act: str,
    by: str,
    actor: str,
    reason: str,
    *,
    edited: Case | None = None,
    version: int | None = None,
) -> ProposedCase:
    """A person approves, edits or rejects a proposal.

    Args:
        store: the store.
        tenant: the tenant of the proposal.
        id_: the id of the proposal.
        act: one of `ACTS`.
        by: the name of the person.
        actor: their name in the audit log.
        reason: why.
        edited: for `edit`, the edited case.
        version: the version of the proposal that they have seen; none if any will do.

    Returns:
        The proposal after the decision.

    Raises:
        ProposalError: there is no proposal with this id, it was decided or has changed, or the linter rejects the case.
        StoreError: it cannot be stored.
    """
    with store.reading(tenant) as connection:
        row = read_proposal(connection, tenant, id_)
    if row is None:
        raise ProposalError(f"expected a proposal of {tenant}, and there is none with this id", "missing")
    if act not in ACTS:
        raise ProposalError(f"expected one of {', '.join(ACTS)}, got {ascii(act)[:40]}", "refused")
    if (act == "edit") != (edited is not None):
        raise ProposalError("expected the edited case with `edit`, and none without", "refused")
    log = StoredProposalLog(store, tenant, actor)
    log.take(row, version)
    try:
        if act == "reject":
            reject(log, id_, by, reason)
        else:
            record_approval(log, id_, by, reason, edited)
    except InputError as error:
        raise ProposalError(str(error), "decided" if row.state != "open" else "refused") from error
    if log.decided is None:
        raise ProposalError(f"{id_}: the decision was not stored", "refused")
    return log.decided


def edited_case(known: Mapping[str, Any], changes: Mapping[str, Any]) -> Case:
    """A case with some fields changed and its id derived anew.

    Raises:
        ProposalError: the result is not a valid case.
    """
    from pydantic import ValidationError

    try:
        return Case.model_validate({**known, **changes, "id": ""})
    except ValidationError as error:
        raise ProposalError(f"expected a case: {first_fault(error)}", "refused") from error
