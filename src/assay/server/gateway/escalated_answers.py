"""Answers that the gate escalated, while their requests wait for a reviewer.

A reviewer decides on an answer with a single text, also beside tool calls if every one of them was accepted. An
approval releases the whole answer; an edited text replaces the whole answer, its calls included.
"""

import asyncio
import time
from dataclasses import replace

from assay.guard import Ruling
from assay.schema import Action, HallucinationReport
from assay.server.recording import AnswerRecorder
from assay.server.reviews.held_answers import HeldAnswers
from assay.server.settings import Mode, Route
from assay.wire import Exchange, encoded, read_object


class ReviewWait:
    """Waits for reviewers on behalf of one request, in all no longer than its route allows."""

    def __init__(self, held: HeldAnswers | None, route: Route, kept: AnswerRecorder) -> None:
        """For a request to a route; `held` waits for decisions, and is none where the server has no reviews."""
        self._held, self._kept, self._seconds = held, kept, float(route.review_s)
        self._can_ask = held is not None and held.waiter is not None and route.mode is Mode.ENFORCE
        self._deadline: float | None = None
        self.id: str | None = None
        """The id of the review item; none where there is none."""
        self.state = "none"
        """The state of the review."""

    @property
    def waits(self) -> bool:
        """Whether requests of the route wait for reviewers at all."""
        return self._can_ask and self._seconds > 0

    def can_decide(self, ruling: Ruling) -> bool:
        """Whether a reviewer's decision on its single text is all that an answer lacks to be released."""
        is_one_text = ruling.action == Action.ESCALATE.value and not ruling.passes and len(ruling.reports) == 1
        return self._can_ask and is_one_text and all(call.accepted for call in ruling.calls)

    def find(self, ruling: Ruling) -> bool:
        """Note the review item of a ruling, and return whether there is one."""
        self.id = next((found for one in ruling.reports if (found := self._kept.items.get(one.output))), None)
        self.state = "none" if self.id is None else "open"
        return self.id is not None

    async def decide(self, ruling: Ruling) -> Ruling | None:
        """The reviewer's ruling in place of a recorded one that escalates; none where there is none in time.

        Raises:
            StoreError: the decision cannot be read.
        """
        if self._held is None or not self.find(ruling):
            return None
        now = time.monotonic()
        self._deadline = now + self._seconds if self._deadline is None else self._deadline
        item = await self._held.wait_for_decision(self.id, self._kept.caller, max(0.0, self._deadline - now))
        self.state = "none" if item is None else item.state.value
        if item is None or not item.state.decided:
            return None
        report, receipt = await asyncio.to_thread(self._held.outcome, item)
        return None if report is None else replace(_ruling(report, receipt), calls=ruling.calls)


def _ruling(report: HallucinationReport, receipt: str | None) -> Ruling:
    decision = report.decision
    return Ruling(
        report.action.value,
        report.action is Action.EMIT,
        decision.response,
        report.overall_score,
        (report,),
        reasons=decision.reasons,
        receipts=() if receipt is None else (receipt,),
    )


def released(exchange: Exchange, body: bytes, ruling: Ruling) -> bytes | None:
    """A whole answer as a reviewer decided; none where the edited text has no place in it.

    Args:
        exchange: the request.
        body: the upstream's answer.
        ruling: the reviewer's ruling.
    """
    answer = read_object(body, "the upstream's answer")
    if not ruling.passes:
        return encoded(exchange.wire.withhold(answer, ruling.notice or "", ruling.summary(exchange.report_id)))
    (report,) = ruling.reports
    if tuple(exchange.wire.shown(answer).texts.values()) == (report.output,):
        return body
    worded = exchange.wire.reword(answer, report.output)
    return None if worded is None else encoded(worded)
