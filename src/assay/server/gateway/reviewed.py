"""An answer that the gate escalated, while its request waits for a person."""

import asyncio
from dataclasses import dataclass

from assay.guard.rulings import Ruling
from assay.schema import Action, HallucinationReport
from assay.server.caller import Caller
from assay.server.reviews.held import Held
from assay.wire.answers import encoded
from assay.wire.exchange import Exchange, read_object


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What became of it."""

    body: bytes
    """The answer as its reader gets it."""
    ruling: Ruling
    state: str
    """The state of the review."""


def can_wait(ruling: Ruling) -> bool:
    """Whether a person can decide on an answer as one text: it is one, and asks for no calls."""
    return ruling.action == Action.ESCALATE.value and len(ruling.reports) == 1 and not ruling.calls


async def reviewed(
    held: Held, exchange: Exchange, body: bytes, withheld: tuple[bytes, Ruling], caller: Caller, seconds: float
) -> Reviewed:
    """What a person decides on an answer within some seconds; the withheld one where nobody does.

    Args:
        held: what waits for people in this server.
        exchange: the request; its report id is that of the review.
        body: the upstream's answer.
        withheld: the answer as it goes out without a decision, and the ruling on it.
        caller: who asked.
        seconds: how long to wait.
    """
    item = await held.decided(exchange.report_id, caller, seconds)
    if item is None:
        return Reviewed(*withheld, "none")
    if not item.state.decided:
        return Reviewed(*withheld, item.state.value)
    report, receipt = await asyncio.to_thread(held.outcome, item)
    if report is None:
        return Reviewed(*withheld, item.state.value)
    made = await asyncio.to_thread(_released, exchange, body, report, receipt)
    return Reviewed(*(made or withheld), item.state.value)


def _released(
    exchange: Exchange, body: bytes, report: HallucinationReport, receipt: str | None
) -> tuple[bytes, Ruling] | None:
    """The answer with what was decided; none where the format has no place for it."""
    answer = read_object(body, "the upstream's answer")
    decision = report.decision
    ruling = Ruling(
        report.action.value, report.action is Action.EMIT, decision.response, report.overall_score, (report,),
        reasons=decision.reasons, receipts=() if receipt is None else (receipt,),
    )  # fmt: skip
    if not ruling.passes:
        summary = ruling.summary(exchange.report_id)
        return encoded(exchange.wire.withhold(answer, ruling.notice or "", summary)), ruling
    if tuple(exchange.wire.shown(answer).texts.values()) == (report.output,):
        return body, ruling
    worded = exchange.wire.reword(answer, report.output)
    return None if worded is None else (encoded(worded), ruling)
