"""Asks a model again for an answer that did not pass, with the findings, and replaces it only by one that passes.

There are two loops over one conversation, both bounded in number and time. An answer of one text goes through the
revise loop (`assay.rewrite.revise.loop`): only its failed sentences may change, the better version is kept, and one
that does not converge is escalated. Refused calls, and an answer that breaks the schema of its request, are asked for
again: each call gets as its result why it was not executed, as from a tool that failed. No intermediate answer goes out
unchecked, and if the upstream fails, the first ruling stands.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

from assay.errors import AssayError
from assay.guard import Ruling
from assay.prompts import Data, load_prompt
from assay.rewrite.revise import FAILING, LONGEST, MOST_LISTED, Feedback, arevise
from assay.schema import Action, HallucinationReport
from assay.verify.tools import AttemptLog, CallStatus
from assay.wire.exchange import Exchange
from assay.wire.interface import Json, Shown

T = TypeVar("T")

Ask = Callable[[Json], Awaitable[Json]]
"""Sends the model another body; raises an `AssayError` where there is no readable answer."""


class Checks(Protocol):
    """Runs checks off the event loop."""

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns."""
        ...


_NOT_EXECUTED: Final = (
    "This call was not executed, because another call of the same answer was refused. Nothing is wrong with it: "
    "send it again where it is still needed."
)
_ACTIONS: Final[Mapping[str, frozenset[str]]] = {
    "off": frozenset(),
    "revise": frozenset({Action.REVISE.value}),
    "block": frozenset({Action.REVISE.value, Action.BLOCK.value}),
}


@dataclass(slots=True)
class Cost:
    """The cost of asking again."""

    requests: int = 0
    """Further requests to the upstream."""
    upstream_s: float = 0.0
    """Seconds that the upstream took to answer them."""
    usage: Json = field(default_factory=dict)
    """The usage that it counted for all its answers to this request, including the first."""
    attempts: list[Json] = field(default_factory=list)
    """The outcome of each new version."""
    stopped: str = ""
    """Why there was no further attempt."""

    def summary(self) -> Json:
        """The cost as it is added to the answer."""
        return {
            "requests": self.requests,
            "upstream_ms": round(self.upstream_s * 1000, 2),
            "usage": self.usage,
            "attempts": self.attempts,
            "stopped": self.stopped,
        }


def sends_back(revise: str, ruling: Ruling) -> bool:
    """Whether an answer with this ruling goes back to its author; `revise` is `off`, `revise` or `block`."""
    return not ruling.passes and ruling.action in _ACTIONS[revise]


class Reviser:
    """Revises one answer."""

    def __init__(self, exchange: Exchange, checker: Checks, ask: Ask, *, attempts: int, seconds: float) -> None:
        """A reviser that asks at most `attempts` times, and none after `seconds` have gone by."""
        self._exchange, self._checker, self._ask = exchange, checker, ask
        self._wire = exchange.wire
        self._attempts_left = attempts
        self._deadline = time.monotonic() + seconds
        self._request = exchange.request
        self._log = AttemptLog(retries=attempts)
        self.cost = Cost()

    async def run(self, answer: Json, ruling: Ruling) -> tuple[Json, Ruling]:
        """An answer that passes in place of one that did not, with its ruling; the first ones where there is none.

        Raises:
            AssayError: a version could not be checked; then nothing may go out.
        """
        self.cost.usage = sum_usage({}, answer.get("usage"))
        current = answer, ruling
        while self._attempts_left > 0 and not current[1].passes:
            shown = self._wire.shown(current[0])
            if shown.unreadable is not None or current[1].action not in _ACTIONS["block"]:
                break
            if not shown.calls and self._wire.schema(self._exchange.request) is None:
                return await self._revise_text(*current, shown)
            request = (
                self._request_with_refusals(*current) if shown.calls else self._request_with_faults(*current, shown)
            )
            new_answer = await self._ask_upstream(request) if request is not None else None
            if request is None or new_answer is None:
                self.cost.stopped = self.cost.stopped or "not_revisable"
                break
            self._request = request
            current = new_answer, await self._checker.run(lambda new=new_answer: self._exchange.whole(new))  # type: ignore[misc]
            self._note_attempt(current[1])
        self.cost.stopped = "passed" if current[1].passes else self.cost.stopped or "exhausted"
        if current[1].passes:
            return current
        # The client gets the ruling on the answer that it asked for, not on a later version.
        return answer, ruling

    def _note_attempt(self, ruling: Ruling) -> None:
        outcome = "passed" if ruling.passes else "no_better"
        self.cost.attempts.append({"outcome": outcome, "reason": "; ".join(ruling.reasons[:1])})

    def _request_with_refusals(self, answer: Json, ruling: Ruling) -> Json | None:
        """The request in which each call has as its result why it was not executed; none where no call was rejected, or
        one of them has no id."""
        if not any(call.status is CallStatus.REJECTED for call in ruling.calls):
            return None
        for call in ruling.calls:
            self._log = self._log.record(call)
        replies = {call.call_id: self._log.reply(call) or _NOT_EXECUTED for call in ruling.calls}
        named = {name: text for name, text in replies.items() if name is not None}
        if len(named) < len(ruling.calls):
            return None
        return self._wire.refuse_calls(self._request, answer, named)

    def _request_with_faults(self, answer: Json, ruling: Ruling, shown: Shown) -> Json | None:
        """The request with the faults of a structured answer; none where the answer has more than one text."""
        text = _only_text(shown)
        if text is None or self._wire.reword(answer, text) is None:
            return None
        return self._wire.ask_again(self._request, text, _structure_message(ruling))

    async def _revise_text(self, answer: Json, ruling: Ruling, shown: Shown) -> tuple[Json, Ruling]:
        """The revise loop over an answer of one text."""
        text = _only_text(shown)
        if text is None or len(ruling.reports) != 1 or self._wire.reword(answer, text) is None:
            self.cost.stopped = "not_revisable"
            return answer, ruling
        report = await arevise(ruling.reports[0], self._next_version, self._check_version, self._attempts_left)
        report = self._exchange.guard.settled(report)
        self._note_attempts(report)
        found = await self._checker.run(lambda: self._exchange.on_revised(report))
        made = self._wire.reword(answer, report.output) if found.passes else answer
        return (answer, replace(found, passes=False)) if made is None else (made, found)

    async def _next_version(self, feedback: Feedback) -> str:
        """The upstream's next version; the last one again where there is none, which ends the loop."""
        request = self._wire.ask_again(self._request, feedback.output, feedback.text)
        new_answer = await self._ask_upstream(request) if request is not None else None
        shown = self._wire.shown(new_answer) if new_answer is not None else Shown(unreadable="there is no answer")
        text = _only_text(shown)
        return text if text is not None and shown.unreadable is None and not shown.calls else feedback.output

    async def _check_version(self, text: str, failed: int) -> HallucinationReport:
        return await self._checker.run(lambda: self._exchange.report(text, revisions_failed=failed))

    def _note_attempts(self, report: HallucinationReport) -> None:
        revision = report.revision
        if revision is None:
            return
        for attempt in revision.attempts:
            attempt_data = {"outcome": attempt.outcome, "reason": attempt.reason, "restored": attempt.restored}
            self.cost.attempts.append(attempt_data)
        # A failure of the upstream is the better reason than an unchanged version.
        self.cost.stopped = self.cost.stopped or revision.stopped

    async def _ask_upstream(self, request: Json) -> Json | None:
        """The upstream's answer to another request; none where there is none in time."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.cost.stopped = "out_of_time"
            return None
        self._attempts_left -= 1
        self.cost.requests += 1
        begun = time.monotonic()
        try:
            async with asyncio.timeout(left):
                answer = await self._ask(request)
        except TimeoutError:
            self.cost.stopped = "out_of_time"
            return None
        except AssayError:
            self.cost.stopped = "upstream_failed"
            return None
        finally:
            self.cost.upstream_s += time.monotonic() - begun
        self.cost.usage = sum_usage(self.cost.usage, answer.get("usage"))
        return answer


def _only_text(shown: Shown) -> str | None:
    """The one text of an answer; none where it has several, or a refusal of the model's own."""
    names = list(shown.texts)
    return shown.texts[names[0]] if len(names) == 1 and not names[0].endswith("/refusal") else None


def _structure_message(ruling: Ruling) -> str:
    """The message to the model about the faults of its structured answer."""
    claims = [claim for report in ruling.reports for claim in report.claims if claim.status in FAILING]
    # The gate's reasons about the whole answer are for its reader; the author needs the single faults.
    general = {reason for report in ruling.reports for reason in report.decision.reasons}
    said = [issue.message for claim in claims for issue in claim.issues]
    reasons = dict.fromkeys([*said, *(reason for reason in ruling.reasons if reason not in general)])
    faults = [{"number": number, "found": why[:LONGEST]} for number, why in enumerate(reasons, start=1)][:MOST_LISTED]
    return load_prompt("feedback_structure").render(faults=Data(tuple(faults)), count=len(faults)).user


def sum_usage(one: Json, other: object) -> Json:
    """The sum of two usages, member by member; values that are no numbers are left out.

    >>> sum_usage({"tokens": 3, "of": {"cached": 1}}, {"tokens": 4, "of": {"cached": 2}, "tier": "x"})
    {'tokens': 7, 'of': {'cached': 3}}
    """
    made: dict[str, Any] = dict(one)
    for name, value in other.items() if isinstance(other, dict) else ():
        if isinstance(value, dict):
            before = made.get(name)
            made[name] = sum_usage(before if isinstance(before, dict) else {}, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            before = made.get(name, 0)
            made[name] = (before if isinstance(before, int | float) else 0) + value
    return made
