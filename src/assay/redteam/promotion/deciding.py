"""From failures to a static suite: machines propose, people decide."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from assay.errors import InputError
from assay.evaluation.rows import write_file
from assay.redteam.cases import Case, lint, read_suite, suite_digest, suite_text, without_duplicates
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.promotion.ledger import Ledger, Proposal, State

LONGEST_NAME: Final = 200


class Book(Protocol):
    """Where proposals and decisions stand: a ledger on disk, or a table of a server."""

    @property
    def proposals(self) -> Mapping[str, Proposal]:
        """The proposals by the ids under which they were proposed."""
        ...

    def append(self, event: str, case: Case, **fields: Any) -> None:
        """Takes in that a case was `proposed`, `approved`, `edited` or `rejected`, and makes it durable."""
        ...


def propose(
    ledger: Book,
    cases: Sequence[Case],
    judgements: Sequence[Judgement],
    target: str,
    *,
    static: Sequence[Case] = (),
    flaky_too: bool = False,
) -> tuple[Proposal, ...]:
    """Proposes the cases that failed for the static suite.

    Left out are cases that are unjudged, those that are in the ledger or the static suite already or say nearly the
    same as one there, and flaky ones unless they are asked for.

    Returns:
        The new proposals.
    """
    known = {case.id for case in static} | set(ledger.proposals) | {one.case.id for one in ledger.proposals.values()}
    failed = [
        (case, one)
        for case, one in zip(cases, judgements, strict=True)
        if one.outcome is Outcome.FAILED and case.id not in known and (flaky_too or not one.flaky)
    ]
    fresh = {case.id for case in without_duplicates([*static, *(case for case, _ in failed)])}
    made = []
    for case, one in failed:
        if case.id in fresh:
            ledger.append(
                "proposed",
                case,
                match=one.behavior_match,
                rule=one.rule,
                flaky=one.flaky,
                target=target,
                trials=one.trials,
                answer=one.answer,
            )
            made.append(ledger.proposals[case.id])
    return tuple(made)


def approve(ledger: Ledger, proposal: str, by: str, reason: str, suite: Path, edited: Case | None = None) -> Case:
    """A person lets a case into the static suite, as it is or edited.

    The decision is written to the ledger first and carried out after: what is in the suite was decided.

    Args:
        ledger: where the proposal stands.
        proposal: its id.
        by: who decides.
        reason: why.
        suite: the static suite; made where it is not there.
        edited: the case as the person would have it.

    Returns:
        The case as it went in.

    Raises:
        InputError: nobody is named, there is no such open proposal, or the edited case is not sound.
    """
    before = suite_digest(read_suite(suite)) if suite.exists() else None
    kept = let_in(ledger, proposal, by, reason, edited, suite_before=before)
    carry_out(ledger, suite)
    return kept


def let_in(ledger: Book, proposal: str, by: str, reason: str, edited: Case | None = None, **fields: Any) -> Case:
    """A person decides that a case goes into the static suite; the decision is written down and not carried out.

    Args:
        ledger: where the proposal stands.
        proposal: its id.
        by: who decides.
        reason: why.
        edited: the case as the person would have it.
        fields: what else is written down.

    Returns:
        The case as it goes in.

    Raises:
        InputError: nobody is named, there is no such open proposal, or the case is not sound.
    """
    known = _open(ledger, proposal, by)
    case = edited or known.case
    problems = lint((case,))
    if problems:
        raise InputError(f"{case.id}: {problems[0].message}; edit the case before it goes in")
    parent = known.case.id if edited is not None and edited.id != known.case.id else case.lineage.parent
    lineage = case.lineage.model_copy(update={"origin": "promoted", "approved_by": by.strip(), "parent": parent})
    kept = case.model_copy(update={"lineage": lineage})
    event = "edited" if edited is not None else "approved"
    ledger.append(event, kept, proposal=proposal, by=by.strip(), reason=reason, **fields)
    return kept


def reject(ledger: Book, proposal: str, by: str, reason: str) -> None:
    """A person keeps a case out of the static suite; it is not proposed again.

    Raises:
        InputError: nobody is named, or there is no such open proposal.
    """
    known = _open(ledger, proposal, by)
    ledger.append("rejected", known.case, proposal=proposal, by=by.strip(), reason=reason)


def carry_out(ledger: Ledger, suite: Path) -> tuple[Case, ...]:
    """Puts into the static suite what was approved and is not there yet, as after a crash between the two.

    Returns:
        The cases that were put in.
    """
    held = read_suite(suite) if suite.exists() else ()
    ids = {case.id for case in held}
    missing = tuple(case for case in ledger.approved if case.id not in ids)
    if missing:
        write_file(suite, suite_text((*held, *missing)))
    return missing


def _open(ledger: Book, proposal: str, by: str) -> Proposal:
    if not by.strip() or len(by) > LONGEST_NAME:
        raise InputError("expected the name of the person who decides")
    known = ledger.proposals.get(proposal)
    if known is None:
        raise InputError(f"{proposal}: no such proposal in the ledger")
    if known.state is not State.OPEN:
        raise InputError(f"{proposal}: was {known.state.value} by {known.by} already")
    return known
