"""Asks a model again for what did not pass, with what was found, and lets only what passes take its place.

Two loops over one conversation, both bounded in number and time. An answer of one text goes through the revise loop
(`assay.rewrite.revise.loop`): only its failed sentences may change, the better version is kept, and one that does not
converge is escalated. Calls that were refused, and an answer that breaks the schema of its request, are asked for
again: each call is answered with why it was not executed, as a tool that failed would answer. Nothing that the upstream
says on the way goes out unchecked, and an upstream that fails leaves the first ruling as it was.
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
"""Asks the model with another body; raises an `AssayError` where there is no answer, or none that can be read."""


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
    """What asking again came to."""

    requests: int = 0
    """How often the upstream was asked again."""
    upstream_s: float = 0.0
    """Seconds that it took to answer."""
    usage: Json = field(default_factory=dict)
    """What it counted for all its answers to this request, the first included."""
    attempts: list[Json] = field(default_factory=list)
    """What became of each new version."""
    stopped: str = ""
    """Why there was no further attempt."""

    def summary(self) -> Json:
        """What the answer says of it."""
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
    """Has one answer revised."""

    def __init__(self, exchange: Exchange, checker: Checks, ask: Ask, *, attempts: int, seconds: float) -> None:
        """A reviser that asks at most `attempts` times, and none after `seconds` have gone by."""
        self._exchange, self._checker, self._ask = exchange, checker, ask
        self._wire = exchange.wire
        self._left = attempts
        self._until = time.monotonic() + seconds
        self._request = exchange.request
        self._log = AttemptLog(retries=attempts)
        self.cost = Cost()

    async def run(self, answer: Json, ruling: Ruling) -> tuple[Json, Ruling]:
        """The answer that takes the place of one that did not pass, and its ruling; the first ones where none does.

        Raises:
            AssayError: a version could not be checked; then nothing may go out.
        """
        self.cost.usage = added({}, answer.get("usage"))
        found = answer, ruling
        while self._left > 0 and not found[1].passes:
            shown = self._wire.shown(found[0])
            if shown.unreadable is not None or found[1].action not in _ACTIONS["block"]:
                break
            if not shown.calls and self._wire.schema(self._exchange.request) is None:
                return await self._reworded(*found, shown)
            asked = self._refusing(*found) if shown.calls else self._restructuring(*found, shown)
            anew = await self._sent(asked) if asked is not None else None
            if asked is None or anew is None:
                self.cost.stopped = self.cost.stopped or "not_revisable"
                break
            self._request = asked
            found = anew, await self._checker.run(lambda new=anew: self._exchange.whole(new))  # type: ignore[misc]
            self._note(found[1])
        self.cost.stopped = "passed" if found[1].passes else self.cost.stopped or "exhausted"
        if found[1].passes:
            return found
        # The client is told of the answer that it asked for, not of what came of asking again.
        return answer, ruling

    def _note(self, ruling: Ruling) -> None:
        outcome = "passed" if ruling.passes else "no_better"
        self.cost.attempts.append({"outcome": outcome, "reason": "; ".join(ruling.reasons[:1])})

    def _refusing(self, answer: Json, ruling: Ruling) -> Json | None:
        """The request with each call answered by why it was not executed; none where nothing in them can be
        repaired."""
        if not any(call.status is CallStatus.REJECTED for call in ruling.calls):
            return None
        for call in ruling.calls:
            self._log = self._log.record(call)
        replies = {call.call_id: self._log.reply(call) or _NOT_EXECUTED for call in ruling.calls}
        named = {name: text for name, text in replies.items() if name is not None}
        if len(named) < len(ruling.calls):
            return None
        return self._wire.refuse_calls(self._request, answer, named)

    def _restructuring(self, answer: Json, ruling: Ruling, shown: Shown) -> Json | None:
        """The request with what is wrong with a structured answer; none where it has more than one text."""
        text = _only_text(shown)
        if text is None or self._wire.reword(answer, text) is None:
            return None
        return self._wire.ask_again(self._request, text, _structure_message(ruling))

    async def _reworded(self, answer: Json, ruling: Ruling, shown: Shown) -> tuple[Json, Ruling]:
        """The revise loop over an answer that is one text."""
        text = _only_text(shown)
        if text is None or len(ruling.reports) != 1 or self._wire.reword(answer, text) is None:
            self.cost.stopped = "not_revisable"
            return answer, ruling
        report = await arevise(ruling.reports[0], self._author, self._verified, self._left)
        report = self._exchange.guard.settled(report)
        self._take(report)
        found = await self._checker.run(lambda: self._exchange.on_revised(report))
        made = self._wire.reword(answer, report.output) if found.passes else answer
        return (answer, replace(found, passes=False)) if made is None else (made, found)

    async def _author(self, feedback: Feedback) -> str:
        """The upstream's next version; the last one once more where it gives none, which ends the loop."""
        asked = self._wire.ask_again(self._request, feedback.output, feedback.text)
        anew = await self._sent(asked) if asked is not None else None
        shown = self._wire.shown(anew) if anew is not None else Shown(unreadable="there is no answer")
        text = _only_text(shown)
        return text if text is not None and shown.unreadable is None and not shown.calls else feedback.output

    async def _verified(self, text: str, failed: int) -> HallucinationReport:
        return await self._checker.run(lambda: self._exchange.report(text, revisions_failed=failed))

    def _take(self, report: HallucinationReport) -> None:
        revision = report.revision
        if revision is None:
            return
        for attempt in revision.attempts:
            attempt_data = {"outcome": attempt.outcome, "reason": attempt.reason, "restored": attempt.restored}
            self.cost.attempts.append(attempt_data)
        # The upstream's failure says more than that the version was the old one.
        self.cost.stopped = self.cost.stopped or revision.stopped

    async def _sent(self, request: Json) -> Json | None:
        """The upstream's answer to another request; none where it gives none in time."""
        left = self._until - time.monotonic()
        if left <= 0:
            self.cost.stopped = "out_of_time"
            return None
        self._left -= 1
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
        self.cost.usage = added(self.cost.usage, answer.get("usage"))
        return answer


def _only_text(shown: Shown) -> str | None:
    """The one text of an answer; none where it has several, or a refusal of the model's own."""
    names = list(shown.texts)
    return shown.texts[names[0]] if len(names) == 1 and not names[0].endswith("/refusal") else None


def _structure_message(ruling: Ruling) -> str:
    """What was found of a structured answer, for the model that wrote it."""
    claims = [claim for report in ruling.reports for claim in report.claims if claim.status in FAILING]
    # What the gate says of the whole answer is for its reader; the author needs to know what in it is wrong.
    general = {reason for report in ruling.reports for reason in report.decision.reasons}
    said = [issue.message for claim in claims for issue in claim.issues]
    reasons = dict.fromkeys([*said, *(reason for reason in ruling.reasons if reason not in general)])
    faults = [{"number": number, "found": why[:LONGEST]} for number, why in enumerate(reasons, start=1)][:MOST_LISTED]
    return load_prompt("feedback_structure").render(faults=Data(tuple(faults)), count=len(faults)).user


def added(one: Json, other: object) -> Json:
    """Two counts of usage added up, member by member; what is no number is left out.

    >>> added({"tokens": 3, "of": {"cached": 1}}, {"tokens": 4, "of": {"cached": 2}, "tier": "x"})
    {'tokens': 7, 'of': {'cached': 3}}
    """
    made: dict[str, Any] = dict(one)
    for name, value in other.items() if isinstance(other, dict) else ():
        if isinstance(value, dict):
            before = made.get(name)
            made[name] = added(before if isinstance(before, dict) else {}, value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            before = made.get(name, 0)
            made[name] = (before if isinstance(before, int | float) else 0) + value
    return made
