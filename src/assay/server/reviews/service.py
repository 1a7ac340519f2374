"""The desk of the reviewers: deciding, with all that a decision sets going.

A text goes out only in one of three ways: the output as it is, which a person approves; words of a person that the gate
emits; words of a person that the gate would not emit but does not block, which that person has to accept expressly.
What the gate blocks nobody can release here. Each way ends in a report with the action `emit`, stored with the
decision, and a receipt where the server signs.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import PolicyError, ReceiptError, ReviewError
from assay.guard import Guard
from assay.policy import approved, rejected, without_disclosure
from assay.receipt import Receipt, refusal
from assay.schema import (
    Action,
    EscalationPackage,
    Evidence,
    HallucinationReport,
    ReviewAct,
    ReviewEvent,
    ReviewItem,
    Verdict,
)
from assay.server.reviews.edited_text import recheck
from assay.store.db import Store, StoredCheck, read_check
from assay.store.reviews import (
    ReviewDecision,
    Reviewer,
    Reviews,
    evidence_of,
    newest_report,
    read_events,
    read_item,
    read_package,
    read_row,
)

GuardOf = Callable[[str | None], Guard]

_log = logging.getLogger("assay.server")
_MOST_TOLD = 3


@dataclass(frozen=True, slots=True)
class Case:
    """An item with everything that it is about."""

    item: ReviewItem
    check: StoredCheck
    report: HallucinationReport
    """The newest report of it."""
    evidence: tuple[Evidence, ...]


class ReviewService:
    """Decides on items of the queue. Keeps nothing; may be shared by threads."""

    def __init__(self, reviews: Reviews, guard_of: GuardOf) -> None:
        """A desk over a queue; `guard_of` gives the guard of a policy by its name."""
        self.reviews, self._guard_of = reviews, guard_of

    @property
    def _store(self) -> Store:
        return self.reviews.store

    # Reading

    def item(self, tenant: str, id_: str) -> ReviewItem | None:
        """An item, or none that the tenant has."""
        with self._store.reading(tenant) as connection:
            return read_item(connection, tenant, id_)

    def package(self, tenant: str, id_: str) -> EscalationPackage | None:
        """All that a reviewer needs to decide; none where the item is not there or was erased."""
        with self._store.reading(tenant) as connection:
            return read_package(connection, tenant, id_)

    def events(self, tenant: str, id_: str) -> list[ReviewEvent]:
        """Every act on an item, in order."""
        with self._store.reading(tenant) as connection:
            return read_events(connection, tenant, id_)

    def case(self, tenant: str, id_: str) -> Case:
        """An item with what it is about.

        Raises:
            ReviewError: it is not there, or its content was erased.
        """
        with self._store.reading(tenant) as connection:
            row = read_row(connection, tenant, id_)
            check = None if row is None else read_check(connection, tenant, row.run)
            item = read_item(connection, tenant, id_)
            if row is None or item is None:
                raise ReviewError(f"expected an item of {tenant}, and there is none with this id", "missing")
            report = newest_report(connection, tenant, row)
            if check is None or check.asked is None or report is None:
                raise ReviewError("the content of this item was erased; nothing can be decided on it", "decided")
            return Case(item, check, report, evidence_of(connection, tenant, check))

    def answer(self, item: ReviewItem) -> HallucinationReport | None:
        """The report that a decision comes to: what the waiting caller gets; none while there is no decision."""
        if not item.state.decided:
            return None
        with self._store.reading(item.tenant) as connection:
            row = read_row(connection, item.tenant, item.id)
            report = None if row is None else newest_report(connection, item.tenant, row)
        if report is None or item.state.released:
            return report
        return rejected(report, None if item.outcome is None else item.outcome.response)

    # Deciding

    def approve(
        self,
        tenant: str,
        id_: str,
        who: Reviewer,
        reason: str,
        *,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Let the output out as it is.

        Raises:
            ReviewError: it is not there, somebody else's, changed, decided already, or the gate blocks the output.
            StoreError: it cannot be stored.
        """
        case = self.case(tenant, id_)
        if case.report.action is Action.BLOCK:
            found = " ".join(case.report.decision.reasons[:_MOST_TOLD])
            raise ReviewError(
                f"the gate blocks this output, and nobody can release it as it is: {found} Edit it, ask for evidence, "
                "or reject it.",
                "refused",
            )
        verdict = ReviewDecision(ReviewAct.APPROVE, reason, approved(case.report), claims=claims or {})
        return self._signed(self.reviews.decide(tenant, id_, who, verdict, version))

    def reject(
        self,
        tenant: str,
        id_: str,
        who: Reviewer,
        reason: str,
        *,
        response: str | None = None,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Keep the output withheld.

        Args:
            tenant: whose.
            id_: the item.
            who: the reviewer.
            reason: why; for the record.
            response: what the caller gets in its place.
            claims: what they say of single claims.
            version: the version that they have seen.

        Raises:
            ReviewError: as for `approve`.
        """
        verdict = ReviewDecision(ReviewAct.REJECT, reason, response=response, claims=claims or {})
        return self.reviews.decide(tenant, id_, who, verdict, version)

    def edited(self, tenant: str, id_: str, text: str) -> HallucinationReport:
        """The report of a reviewer's words in the place of the output; nothing is decided yet.

        Raises:
            ReviewError: the item is not there or was erased, or the text is blank.
            InputError: the text cannot be read.
        """
        if not text.strip():
            raise ReviewError("expected the text to release, and it is blank; reject the item instead", "refused")
        case = self.case(tenant, id_)
        # A person's words go out as they are: they decide what the reader is told.
        return without_disclosure(
            recheck(self._guard(case.report, case.item.tenant), case.check.asked or {}, case.evidence, text)
        )

    def edit(
        self,
        tenant: str,
        id_: str,
        who: Reviewer,
        reason: str,
        report: HallucinationReport,
        *,
        accept: bool = False,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Let a reviewer's words out in place of the output.

        Args:
            tenant: whose.
            id_: the item.
            who: the reviewer.
            reason: why.
            report: what `edited` found of the words.
            accept: whether the reviewer lets them out although the gate would not, short of what it blocks.
            claims: what they say of single claims of the first output.
            version: the version that they have seen.

        Raises:
            ReviewError: the gate blocks the words, or does not emit them and nobody accepted that; or as for `approve`.
        """
        action = report.action
        if action is Action.BLOCK or (action is not Action.EMIT and not accept):
            found = " ".join(report.decision.reasons[:_MOST_TOLD])
            hint = "" if action is Action.BLOCK else " Accept the findings expressly to release it all the same."
            raise ReviewError(
                f"the edited text was checked, and the gate says {action.value}: {found}{hint}", "refused"
            )
        released = report if action is Action.EMIT else approved(report)
        verdict = ReviewDecision(ReviewAct.EDIT, reason, released, claims=claims or {})
        return self._signed(self.reviews.decide(tenant, id_, who, verdict, version))

    def with_evidence(self, tenant: str, id_: str, evidence: Sequence[Evidence]) -> HallucinationReport:
        """The report of the output checked against further evidence too; nothing is stored yet.

        Raises:
            ReviewError: the item is not there or was erased, or evidence with such an id is there already.
            InputError: the evidence cannot be read.
        """
        case = self.case(tenant, id_)
        known = {item.id for item in case.evidence}
        for item in evidence:
            if item.id in known:
                raise ReviewError(
                    f"expected a new id for the evidence {item.id!r}: the run has one so called", "refused"
                )
        everything = (*case.evidence, *evidence)
        return recheck(
            self._guard(case.report, case.item.tenant), case.check.asked or {}, everything, case.report.output
        )

    def receipt(self, tenant: str, id_: str) -> ReviewItem:
        """The item with the receipt of what was released, issued now where that was not done yet.

        Raises:
            ReviewError: it is not there.
        """
        item = self.item(tenant, id_)
        if item is None:
            raise ReviewError(f"expected an item of {tenant}, and there is none with this id", "missing")
        return self._signed(item)

    def _signed(self, item: ReviewItem) -> ReviewItem:
        """What was released with its receipt: first the decision is on disk, then it is signed, then the log knows."""
        outcome = item.outcome
        if not item.state.released or outcome is None or outcome.output is None or outcome.receipt is not None:
            return item
        report = self.answer(item)
        if report is None:
            return item
        receipt = self._issued(report)
        if receipt is None:
            return item
        return self.reviews.keep_receipt(item.tenant, item.id, receipt)

    def _issued(self, report: HallucinationReport) -> Receipt | None:
        try:
            guard = self._guard(report, None)
            if not guard.has_keys or refusal(report) is not None:
                return None
            return guard.issue(report)
        except (ReceiptError, PolicyError) as error:
            # The decision stands; whoever asks for the receipt later gets it once it can be issued.
            _log.warning("no receipt was issued for a released output: %s", error)
            return None

    def _guard(self, report: HallucinationReport, tenant: str | None) -> Guard:
        """The guard of the policy that decided, or the server's own where it has no such policy any more."""
        try:
            return self._guard_of(report.policy.name).for_tenant(tenant)
        except PolicyError:
            return self._guard_of(None).for_tenant(tenant)
