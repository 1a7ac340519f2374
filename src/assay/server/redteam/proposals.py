"""Promotion over the store of a server: the same functions as on a ledger in a file, in front of a table.

`assay.redteam.promotion` says what is proposed, what a decision needs and what it makes of a case. What it hears
(`Book.append`) becomes rows and entries of the audit log here, the state and the version held against each other within
the transaction, so that of two people who decide at once one is refused.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from assay.errors import InputError, ProposalError
from assay.redteam.cases import Case, digest_of_ids
from assay.redteam.judging import Judgement, Outcome
from assay.redteam.promotion import Proposal, State, let_in, propose, reject
from assay.server.redteam.recording import LONGEST_RULE, LONGEST_TEXT
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
"""Bytes of a case in JSON that can be proposed."""
ACTS: Final = ("approve", "edit", "reject")
LONGEST_REASON: Final = 10_000


class StoredBook:
    """Proposals in a store, as promotion works on them. Is an `assay.redteam.promotion.Book`."""

    def __init__(self, store: Store, tenant: str, actor: str, run: str | None = None) -> None:
        """A book for the acts of one actor.

        Args:
            store: the store.
            tenant: whose.
            actor: what the log names the actor by.
            run: the run whose failures are proposed.
        """
        self._store, self._tenant, self._actor, self._run = store, tenant, actor, run
        self._waiting: list[ProposedCase] = []
        self._version: int | None = None
        self.proposals: dict[str, Proposal] = {}
        self.decided: ProposedCase | None = None
        """What a decision came to."""

    def take(self, known: ProposedCase, version: int | None) -> None:
        """Opens the book at a proposal, of which a version was seen."""
        self._version = version
        self.proposals[known.id] = proposal_of(known)

    def append(self, event: str, case: Case, **fields: Any) -> None:
        """Takes in a proposal, which waits for `keep`, or a decision, which is stored at once."""
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
        lets_in = event != "rejected"
        said = ProposalDecision(
            APPROVED if lets_in else REJECTED,
            fields["by"],
            self._actor,
            fields["reason"][:LONGEST_REASON],
            case.model_dump(mode="json") if lets_in else None,
            case.id if lets_in else None,
            event == "edited",
        )
        self.decided = decide_proposal(
            self._store, self._tenant, fields["proposal"], said, digest_of_ids, self._version
        )

    def keep(self) -> list[str]:
        """Stores what was proposed; the ids of those that were new."""
        waiting, self._waiting = self._waiting, []
        return add_proposals(self._store, self._tenant, waiting, self._actor)


def proposal_of(row: ProposedCase) -> Proposal:
    """A row as promotion knows it."""
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
    """Proposes what broke a system for the approved suite.

    Left out are, beside what `assay.redteam.promotion.propose` leaves out, cases of more than `LARGEST_CASE` bytes.

    Returns:
        The ids of the new proposals.

    Raises:
        StoreError: they cannot be stored.
    """
    with store.reading(tenant) as connection:
        known = known_ids(connection, tenant)
    pairs = [
        (case, one)
        for case, one in zip(cases, judgements, strict=True)
        if one.outcome is Outcome.FAILED and case.id not in known and _size(case) <= LARGEST_CASE
    ]
    book = StoredBook(store, tenant, actor, run)
    propose(
        book,
        [case for case, _ in pairs],
        [one for _, one in pairs],
        target,
        static=approved_suite(store, tenant),
        flaky_too=flaky_too,
    )
    return book.keep()


def _size(case: Case) -> int:
    return len(json.dumps(case.model_dump(mode="json")))


def approved_suite(store: Store, tenant: str) -> tuple[Case, ...]:
    """The cases that people let in, in the order in which they did."""
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
        tenant: whose.
        id_: of the proposal.
        act: one of `ACTS`.
        by: the person's name.
        actor: what the log names them by.
        reason: why.
        edited: for `edit`, the case as the person would have it.
        version: which version of the proposal they have seen.

    Returns:
        The proposal as it stands then.

    Raises:
        ProposalError: there is none of this id, it was decided or has changed, or the case is not sound.
        StoreError: it cannot be stored.
    """
    with store.reading(tenant) as connection:
        known = read_proposal(connection, tenant, id_)
    if known is None:
        raise ProposalError(f"expected a proposal of {tenant}, and there is none with this id", "missing")
    if act not in ACTS:
        raise ProposalError(f"expected one of {', '.join(ACTS)}, got {ascii(act)[:40]}", "refused")
    if (act == "edit") != (edited is not None):
        raise ProposalError("expected the edited case with `edit`, and none without", "refused")
    book = StoredBook(store, tenant, actor)
    book.take(known, version)
    try:
        if act == "reject":
            reject(book, id_, by, reason)
        else:
            let_in(book, id_, by, reason, edited)
    except InputError as error:
        raise ProposalError(str(error), "decided" if known.state != "open" else "refused") from error
    if book.decided is None:
        raise ProposalError(f"{id_}: the decision was not stored", "refused")
    return book.decided


def edited_case(known: Mapping[str, Any], changes: Mapping[str, Any]) -> Case:
    """A case with some fields as a person would have them, and the id of what it is then.

    Raises:
        ProposalError: it is no case.
    """
    from pydantic import ValidationError

    try:
        return Case.model_validate({**known, **changes, "id": ""})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ProposalError(f"expected a case: {place + ': ' if place else ''}{first['msg']}", "refused") from error
