"""An answer that the gate escalated, while its request waits for a person.

A person decides on an answer that is one text, whatever calls are next to it as long as each of them was accepted. An
approval lets the whole answer out; the words of an edit take the place of the whole answer, its calls included.
"""

import asyncio
import time
from dataclasses import replace

from assay.guard import Ruling
from assay.schema import Action, HallucinationReport
from assay.server.recording import Keeping
from assay.server.reviews.held_answers import HeldAnswers
from assay.server.settings import Mode, Route
from assay.wire import Exchange, encoded, read_object


class People:
    """Waits for people on behalf of one request, and no longer than its route says, however often it has to."""

    def __init__(self, held: HeldAnswers | None, route: Route, kept: Keeping) -> None:
        """Over what waits for people in this server; none where it has no reviews."""
        self._held, self._kept, self._seconds = held, kept, float(route.review_s)
        self._there = held is not None and held.waiter is not None and route.mode is Mode.ENFORCE
        self._ends: float | None = None
        self.id: str | None = None
        """The item of the review; none where nobody was asked."""
        self.state = "none"
        """The state of the review."""

    @property
    def waits(self) -> bool:
        """Whether requests of the route wait for people at all."""
        return self._there and self._seconds > 0

    def can_decide(self, ruling: Ruling) -> bool:
        """Whether all that keeps an answer from going out is that a person has to decide on its one text."""
        one = ruling.action == Action.ESCALATE.value and not ruling.passes and len(ruling.reports) == 1
        return self._there and one and all(call.accepted for call in ruling.calls)

    def find(self, ruling: Ruling) -> bool:
        """Take note of the item that a ruling led to; whether there is one."""
        self.id = next((found for one in ruling.reports if (found := self._kept.items.get(one.output))), None)
        self.state = "none" if self.id is None else "open"
        return self.id is not None

    async def decide(self, ruling: Ruling) -> Ruling | None:
        """The ruling that a person makes of one that escalates and is on record; none where nobody does in time."""
        if self._held is None or not self.find(ruling):
            return None
        now = time.monotonic()
        self._ends = now + self._seconds if self._ends is None else self._ends
        item = await self._held.wait_for_decision(self.id, self._kept.caller, max(0.0, self._ends - now))
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
    """A whole answer with what a person decided; none where the format has no place for it.

    Args:
        exchange: the request.
        body: the upstream's answer.
        ruling: what was decided.
    """
    answer = read_object(body, "the upstream's answer")
    if not ruling.passes:
        return encoded(exchange.wire.withhold(answer, ruling.notice or "", ruling.summary(exchange.report_id)))
    (report,) = ruling.reports
    if tuple(exchange.wire.shown(answer).texts.values()) == (report.output,):
        return body
    worded = exchange.wire.reword(answer, report.output)
    return None if worded is None else encoded(worded)
