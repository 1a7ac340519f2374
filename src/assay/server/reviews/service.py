"""Decisions on review items, and everything that a decision triggers.

A text is released in one of three ways only. A reviewer approves the output as it is; a reviewer edits it and the gate
emits the edited text; or the gate would not emit the edited text, does not block it either, and the reviewer expressly
accepts its findings. Nobody can release here what the gate blocks. Each way ends in a report with the action `emit`,
which is stored with the decision, and in a receipt if the server has signing keys.
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
from assay.server.services import Services
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
"""The guard of the policy with a name; `None` stands for the server's own policy."""

_log = logging.getLogger("assay.server")
_MOST_REASONS = 3
"""Reasons of the gate that a refusal quotes."""


@dataclass(frozen=True, slots=True)
class ReviewCase:
    """A review item with the check that led to it."""

    item: ReviewItem
    check: StoredCheck
    report: HallucinationReport
    """The newest report of the run."""
    evidence: tuple[Evidence, ...]


def _refuse_blocked(report: HallucinationReport) -> None:
    """Nobody can release as it is what the gate blocks.

    Raises:
        ReviewError: the gate blocks the output.
    """
    if report.action is Action.BLOCK:
        reasons = " ".join(report.decision.reasons[:_MOST_REASONS])
        raise ReviewError(
            f"the gate blocks this output, and nobody can release it as it is: {reasons} Edit it, ask for "
            "evidence, or reject it.",
            "refused",
        )


def make_review_service(services: Services) -> "ReviewService":
    """The review service of a server that has a database."""
    return ReviewService(Reviews(services.store), services.guard_of)


class ReviewService:
    """Reads items of the review queue and decides on them. Has no state of its own, so threads may share it."""

    def __init__(self, reviews: Reviews, guard_of: GuardOf) -> None:
        """Over a queue; `guard_of` gives the guard of a policy by its name."""
        self.reviews, self._guard_of = reviews, guard_of

    @property
    def _store(self) -> Store:
        return self.reviews.store

    # Reading

    def item(self, tenant: str, id_: str) -> ReviewItem | None:
        """An item, or `None` where the tenant has none with this id."""
        with self._store.reading(tenant) as connection:
            return read_item(connection, tenant, id_)

    def package(self, tenant: str, id_: str) -> EscalationPackage | None:
        """Everything that a reviewer needs to decide; `None` where there is no such item, or its content was erased."""
        with self._store.reading(tenant) as connection:
            return read_package(connection, tenant, id_)

    def events(self, tenant: str, id_: str) -> list[ReviewEvent]:
        """Every action on an item, the earliest first."""
        with self._store.reading(tenant) as connection:
            return read_events(connection, tenant, id_)

    def case(self, tenant: str, id_: str) -> ReviewCase:
        """An item with the check that led to it.

        Raises:
            ReviewError: there is no such item, or its content was erased.
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
            return ReviewCase(item, check, report, evidence_of(connection, tenant, check))

    def final_report(self, item: ReviewItem) -> HallucinationReport | None:
        """The report that the caller of the check gets after the decision; `None` while there is no decision."""
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
        reviewer: Reviewer,
        reason: str,
        *,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Releases the output as it is.

        Raises:
            ReviewError: there is no such item, somebody else holds it, it has another version or is decided already,
                or the gate blocks the output.
            StoreError: the decision cannot be stored.
        """
        case = self.case(tenant, id_)
        _refuse_blocked(case.report)
        decision = ReviewDecision(ReviewAct.APPROVE, reason, approved(case.report), claims=claims or {})
        return self._with_receipt(self.reviews.decide(tenant, id_, reviewer, decision, version))

    def reject(
        self,
        tenant: str,
        id_: str,
        reviewer: Reviewer,
        reason: str,
        *,
        response: str | None = None,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Keeps the output withheld for good.

        Args:
            tenant: the tenant.
            id_: the id of the item.
            reviewer: the reviewer.
            reason: why; it is stored.
            response: the text that the caller gets instead; the fallback response by default.
            claims: the reviewer's verdicts on single claims, by their positions.
            version: the version of the item that the reviewer has seen.

        Raises:
            ReviewError: as for `approve`.
        """
        decision = ReviewDecision(ReviewAct.REJECT, reason, response=response, claims=claims or {})
        return self.reviews.decide(tenant, id_, reviewer, decision, version)

    def check_edit(self, tenant: str, id_: str, text: str) -> HallucinationReport:
        """Checks an edited text in place of the output; nothing is decided or stored.

        Raises:
            ReviewError: there is no such item, its content was erased, or the text is blank.
            InputError: the text cannot be read.
        """
        if not text.strip():
            raise ReviewError("expected the text to release, and it is blank; reject the item instead", "refused")
        case = self.case(tenant, id_)
        # The reviewer's text is released as it is: whether to add a disclosure is for the reviewer to decide.
        guard = self._guard(case.report, case.item.tenant)
        return without_disclosure(recheck(guard, case.check.asked or {}, case.evidence, text))

    def edit(
        self,
        tenant: str,
        id_: str,
        reviewer: Reviewer,
        reason: str,
        report: HallucinationReport,
        *,
        accept: bool = False,
        claims: Mapping[int, Verdict] | None = None,
        version: int | None = None,
    ) -> ReviewItem:
        """Releases an edited text in place of the output.

        Args:
            tenant: the tenant.
            id_: the id of the item.
            reviewer: the reviewer.
            reason: why; it is stored.
            report: the report of the edited text, from `check_edit`.
            accept: whether the reviewer releases the text even if the gate would revise or escalate it.
            claims: the reviewer's verdicts on single claims of the original output, by their positions.
            version: the version of the item that the reviewer has seen.

        Raises:
            ReviewError: the gate blocks the text, or does not emit it and `accept` is false; or as for `approve`.
        """
        action = report.action
        if action is Action.BLOCK or (action is not Action.EMIT and not accept):
            reasons = " ".join(report.decision.reasons[:_MOST_REASONS])
            hint = "" if action is Action.BLOCK else " Accept the findings expressly to release it all the same."
            raise ReviewError(
                f"the edited text was checked, and the gate says {action.value}: {reasons}{hint}", "refused"
            )
        released = report if action is Action.EMIT else approved(report)
        decision = ReviewDecision(ReviewAct.EDIT, reason, released, claims=claims or {})
        return self._with_receipt(self.reviews.decide(tenant, id_, reviewer, decision, version))

    def check_with_evidence(self, tenant: str, id_: str, evidence: Sequence[Evidence]) -> HallucinationReport:
        """Checks the output against further evidence as well; nothing is stored.

        Raises:
            ReviewError: there is no such item, its content was erased, or the run has evidence with one of these ids.
            InputError: the evidence cannot be read.
        """
        case = self.case(tenant, id_)
        known = {item.id for item in case.evidence}
        for item in evidence:
            if item.id in known:
                raise ReviewError(
                    f"expected a new id for the evidence {item.id!r}: the run has one so called", "refused"
                )
        all_evidence = (*case.evidence, *evidence)
        guard = self._guard(case.report, case.item.tenant)
        return recheck(guard, case.check.asked or {}, all_evidence, case.report.output)

    def item_with_receipt(self, tenant: str, id_: str) -> ReviewItem:
        """The item with the receipt of what was released; the receipt is issued now if that has not been done yet.

        Raises:
            ReviewError: there is no such item.
        """
        item = self.item(tenant, id_)
        if item is None:
            raise ReviewError(f"expected an item of {tenant}, and there is none with this id", "missing")
        return self._with_receipt(item)

    def _with_receipt(self, item: ReviewItem) -> ReviewItem:
        """Issues the receipt of a released item. The decision is stored before it is signed, the receipt after."""
        outcome = item.outcome
        if not item.state.released or outcome is None or outcome.output is None or outcome.receipt is not None:
            return item
        report = self.final_report(item)
        if report is None:
            return item
        receipt = self._issue_receipt(report)
        return item if receipt is None else self.reviews.keep_receipt(item.tenant, item.id, receipt)

    def _issue_receipt(self, report: HallucinationReport) -> Receipt | None:
        try:
            guard = self._guard(report, None)
            if not guard.has_keys or refusal(report) is not None:
                return None
            return guard.issue(report)
        except (ReceiptError, PolicyError) as error:
            # The decision stands without a receipt: `item_with_receipt` tries again whenever the item is read.
            _log.warning("no receipt was issued for a released output: %s", error)
            return None

    def _guard(self, report: HallucinationReport, tenant: str | None) -> Guard:
        """The guard of the policy that decided, or of the server's own policy if that one no longer exists."""
        try:
            return self._guard_of(report.policy.name).for_tenant(tenant)
        except PolicyError:
            return self._guard_of(None).for_tenant(tenant)
