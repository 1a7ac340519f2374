"""Answers that wait for a reviewer: the review headers of a check's answer, and requests that wait for the decision.

Servers without a database import this module too, although they have no reviews: it loads the store only where there
is one.
"""

from typing import TYPE_CHECKING, Annotated

from fastapi import Query, Response

from assay.schema import Action, HallucinationReport, ReviewItem
from assay.server.caller import Caller
from assay.server.http.problems import ProblemError
from assay.server.reviews import MOST_WAIT_S
from assay.server.services import Services

if TYPE_CHECKING:
    from assay.server.reviews.decision_waiter import DecisionWaiter
    from assay.server.reviews.service import ReviewService

Wait = Annotated[
    float, Query(ge=0, le=MOST_WAIT_S, description="Seconds to wait for a reviewer where a person has to decide.")
]
Callback = Annotated[
    str | None,
    Query(max_length=63, description="The operator's target that is notified of a reviewer's decision."),
]


class HeldAnswers:
    """The answers of one server that a reviewer has to decide on."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server. Without a store, `service` and `waiter` are `None` and nothing ever waits."""
        self._notify = services.settings.notify
        self.service: ReviewService | None = None
        self.waiter: DecisionWaiter | None = None
        if services.kept is not None:
            from assay.server.reviews import decision_waiter, service

            self.service = service.make_review_service(services)
            self.waiter = decision_waiter.DecisionWaiter(self.service)

    def require_callback(self, callback: str | None, caller: Caller) -> None:
        """Refuses a callback that the operator did not configure for the caller's tenant.

        Raises:
            ProblemError: the tenant has no such target.
        """
        if callback is not None and (self.service is None or self._notify.callback(callback, caller.tenant) is None):
            raise ProblemError(
                422,
                "expected the name of a target that the operator configured for callbacks, got another",
                code="callback.unknown",
                todo="Leave it out, and ask GET /v1/reviews/{id} instead.",
            )

    async def wait_for_decision(self, id_: str | None, caller: Caller, seconds: float) -> ReviewItem | None:
        """The item of a record once it is decided, or as it is after `seconds`; `None` where there is no item."""
        if id_ is None or self.waiter is None:
            return None
        return await self.waiter.wait_for_decision(caller.tenant, id_, seconds)

    def outcome(self, item: ReviewItem) -> tuple[HallucinationReport | None, str | None]:
        """The result of a decision: the report for the caller, and the receipt of what was released."""
        if self.service is None:
            return None, None
        if item.state.released:
            item = self.service.item_with_receipt(item.tenant, item.id)
        return self.service.final_report(item), None if item.outcome is None else item.outcome.receipt

    async def respond(
        self, response: Response, report: HallucinationReport, id_: str | None, caller: Caller, seconds: float
    ) -> Response:
        """The response to a check: as the gate decided, or as a reviewer decided within the time.

        Args:
            response: the response with the report of the check.
            report: that report.
            id_: the id of the record; `None` where nothing is recorded.
            caller: the caller of the check.
            seconds: how long to wait for a decision.
        """
        import asyncio

        if report.escalation is None or id_ is None or self.service is None:
            return response
        headers = [(b"x-assay-review", id_.encode())]
        # A blocked output is answered at once, since no decision can release it.
        may_wait = seconds > 0 and report.action is Action.ESCALATE
        item = await self.wait_for_decision(id_, caller, seconds) if may_wait else None
        state = "open" if item is None else item.state.value
        if item is not None and item.state.decided:
            outcome, receipt = await asyncio.to_thread(self.outcome, item)
            if outcome is not None:
                response = Response(outcome.model_dump_json(), media_type="application/json")
                headers.append((b"x-assay-report-id", (_report_of(item) or id_).encode()))
                headers += [] if receipt is None else [(b"x-assay-receipt", receipt.encode())]
        response.raw_headers += [*headers, (b"x-assay-review-state", state.encode())]
        return response


def _report_of(item: ReviewItem) -> str | None:
    return None if item.outcome is None else item.outcome.report
