"""From failures to a static suite: runs propose cases, people decide on them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.redteam.cases import Case, lint, read_suite, suite_digest, suite_text, without_duplicates
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.promotion.ledger import Ledger, Proposal, State

LONGEST_NAME: Final = 200


class ProposalLog(Protocol):
    """Stores proposals and decisions: a ledger on disk, or a table of a server."""

    @property
    def proposals(self) -> Mapping[str, Proposal]:
        """The proposals by the ids under which they were proposed."""
        ...

    def append(self, event: str, case: Case, **fields: Any) -> None:
        """Records durably that a case was `proposed`, `approved`, `edited` or `rejected`."""
        ...


def propose(
    ledger: ProposalLog,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    target: str,
    *,
    static: Sequence[Case] = (),
    flaky_too: bool = False,
) -> tuple[Proposal, ...]:
    """Proposes the failed cases of a run for the static suite.

    Skipped are cases that are in the ledger or the static suite already, near-duplicates of a case of the static suite
    or of this run, and flaky cases unless they are asked for.

    Args:
        ledger: where the proposals are recorded.
        cases: the suite of the run.
        judgements: one for each case, in the same order.
        target: the name of the system that failed.
        static: the static suite.
        flaky_too: whether flaky cases are proposed as well.

    Returns:
        The new proposals.
    """
    known = (
        {case.id for case in static}
        | set(ledger.proposals)
        | {judgement.case.id for judgement in ledger.proposals.values()}
    )
    failed = [
        (case, judgement)
        for case, judgement in zip(cases, judgements, strict=True)
        if judgement.outcome is Outcome.FAILED and case.id not in known and (flaky_too or not judgement.flaky)
    ]
    unique_ids = {case.id for case in without_duplicates([*static, *(case for case, _ in failed)])}
    proposals = []
    for case, judgement in failed:
        if case.id in unique_ids:
            ledger.append(
                "proposed",
                case,
                match=judgement.behavior_match,
                rule=judgement.rule,
                flaky=judgement.flaky,
                target=target,
                trials=judgement.trials,
                answer=judgement.answer,
            )
            proposals.append(ledger.proposals[case.id])
    return tuple(proposals)


def approve(ledger: Ledger, proposal: str, by: str, reason: str, suite: Path, edited: Case | None = None) -> Case:
    """Approves a case for the static suite, as it is or edited, and adds it.

    The decision is recorded in the ledger before the suite is changed, so that every case of the suite was approved.

    Args:
        ledger: the ledger with the proposal.
        proposal: the id of the proposal.
        by: the name of the person who decides.
        reason: why.
        suite: the file of the static suite; created if it does not exist.
        edited: the edited case, if the person changed it.

    Returns:
        The case as it was added.

    Raises:
        InputError: the name is blank or too long, there is no such open proposal, or the linter rejects the case.
    """
    before = suite_digest(read_suite(suite)) if suite.exists() else None
    approved = record_approval(ledger, proposal, by, reason, edited, suite_before=before)
    apply_approvals(ledger, suite)
    return approved


def record_approval(
    ledger: ProposalLog, proposal: str, by: str, reason: str, edited: Case | None = None, **fields: Any
) -> Case:
    """Records the approval of a case for the static suite; the suite itself is not changed.

    Args:
        ledger: where the proposal is recorded.
        proposal: the id of the proposal.
        by: the name of the person who decides.
        reason: why.
        edited: the edited case, if the person changed it.
        fields: further fields of the entry.

    Returns:
        The approved case.

    Raises:
        InputError: the name is blank or too long, there is no such open proposal, or the linter rejects the case.
    """
    open_proposal = _open_proposal(ledger, proposal, by)
    case = edited or open_proposal.case
    problems = lint((case,))
    if problems:
        raise InputError(f"{case.id}: {problems[0].message}; edit the case before it goes in")
    parent = open_proposal.case.id if edited is not None and edited.id != open_proposal.case.id else case.lineage.parent
    lineage = case.lineage.model_copy(update={"origin": "promoted", "approved_by": by.strip(), "parent": parent})
    approved = case.model_copy(update={"lineage": lineage})
    event = "edited" if edited is not None else "approved"
    ledger.append(event, approved, proposal=proposal, by=by.strip(), reason=reason, **fields)
    return approved


def reject(ledger: ProposalLog, proposal: str, by: str, reason: str) -> None:
    """Records the rejection of a proposal; its case is not proposed again.

    Raises:
        InputError: the name is blank or too long, or there is no such open proposal.
    """
    open_proposal = _open_proposal(ledger, proposal, by)
    ledger.append("rejected", open_proposal.case, proposal=proposal, by=by.strip(), reason=reason)


def apply_approvals(ledger: Ledger, suite: Path) -> tuple[Case, ...]:
    """Adds approved cases that the static suite lacks, such as after a crash between the decision and the change.

    Two proposals may have been approved as the same case, one of them edited: it is added once.

    Returns:
        The cases that were added.
    """
    suite_cases = read_suite(suite) if suite.exists() else ()
    ids = {case.id for case in suite_cases}
    missing: dict[str, Case] = {}
    for case in ledger.approved:
        if case.id not in ids:
            missing.setdefault(case.id, case)
    if missing:
        write_file(suite, suite_text((*suite_cases, *missing.values())))
    return tuple(missing.values())


def _open_proposal(ledger: ProposalLog, proposal: str, by: str) -> Proposal:
    if not by.strip() or len(by) > LONGEST_NAME:
        raise InputError("expected the name of the person who decides")
    found = ledger.proposals.get(proposal)
    if found is None:
        raise InputError(f"{proposal}: no such proposal in the ledger")
    if found.state is not State.OPEN:
        raise InputError(f"{proposal}: was {found.state.value} by {found.by} already")
    return found
