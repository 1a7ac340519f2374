"""What a check's answer says of the review that it leads to, and the request that waits for one.

Imported by servers without a database too, which have no reviews: what needs the store is loaded with it.
"""

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query, Response

from assay.schema import Action, HallucinationReport, ReviewItem
from assay.server.caller import Caller
from assay.server.http.problems import ProblemError
from assay.server.services import Services

if TYPE_CHECKING:
    from assay.server.reviews.service import ReviewService
    from assay.server.reviews.waiting import Waiting

MOST_WAIT_S: Final = 900.0
"""The longest that one request waits for a person."""
Wait = Annotated[
    float, Query(ge=0, le=MOST_WAIT_S, description="Seconds to wait for a reviewer where a person has to decide.")
]
Callback = Annotated[
    str | None,
    Query(max_length=63, description="The operator's target that is notified of a reviewer's decision."),
]


class Held:
    """What waits for people in one server."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server, where it has one."""
        self._notify = services.settings.notify
        self.desk: ReviewService | None = None
        self.waiting: Waiting | None = None
        if services.kept is not None:
            from assay.server.reviews import service, waiting
            from assay.store.reviews import Reviews

            self.desk = service.ReviewService(Reviews(services.store), services.guard_of)
            self.waiting = waiting.Waiting(self.desk)

    def require(self, callback: str | None, caller: Caller) -> None:
        """Refuse a callback that the operator did not configure.

        Raises:
            ProblemError: there is no such target for this tenant.
        """
        if callback is not None and (self.desk is None or self._notify.callback(callback, caller.tenant) is None):
            raise ProblemError(
                422,
                "expected the name of a target that the operator configured for callbacks, got another",
                code="callback.unknown",
                todo="Leave it out, and ask GET /v1/reviews/{id} instead.",
            )

    async def decided(self, id_: str | None, caller: Caller, seconds: float) -> ReviewItem | None:
        """The item of a record, once it is decided or the time is up; none where nobody was asked."""
        if id_ is None or self.waiting is None:
            return None
        return await self.waiting.decided(caller.tenant, id_, seconds)

    def outcome(self, item: ReviewItem) -> tuple[HallucinationReport | None, str | None]:
        """What a decision comes to: the report that goes to the caller, and its receipt."""
        if self.desk is None:
            return None, None
        if item.state.released:
            item = self.desk.receipt(item.tenant, item.id)
        return self.desk.answer(item), None if item.outcome is None else item.outcome.receipt

    async def answer(
        self, made: Response, report: HallucinationReport, id_: str | None, caller: Caller, seconds: float
    ) -> Response:
        """The answer to a check: as it was made, or what a person decided on it within the time.

        Args:
            made: the answer with the report of the check.
            report: that report.
            id_: the id of the record.
            caller: who asked.
            seconds: how long to wait.
        """
        import asyncio

        if report.escalation is None or id_ is None or self.desk is None:
            return made
        headers = [(b"x-assay-review", id_.encode())]
        # What is blocked is answered at once: no decision lets this output out.
        waits = seconds > 0 and report.action is Action.ESCALATE
        item = await self.decided(id_, caller, seconds) if waits else None
        state = "open" if item is None else item.state.value
        if item is not None and item.state.decided:
            outcome, receipt = await asyncio.to_thread(self.outcome, item)
            if outcome is not None:
                made = Response(outcome.model_dump_json(), media_type="application/json")
                headers.append((b"x-assay-report-id", (_report_of(item) or id_).encode()))
                headers += [] if receipt is None else [(b"x-assay-receipt", receipt.encode())]
        made.raw_headers += [*headers, (b"x-assay-review-state", state.encode())]
        return made


def _report_of(item: ReviewItem) -> str | None:
    return None if item.outcome is None else item.outcome.report
