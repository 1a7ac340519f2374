"""One code path for generating with and without an event loop.

A pipeline is a generator that yields what it wants done: models asked, a text checked, claims judged. `drive` does it
in a thread, `adrive` in an event loop; requests of one step run at the same time in both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.errors import ChatError
from assay.models.chat import ChatRequest, Completion, Message, Meter
from assay.prompts import Rendered
from assay.schema import ClaimReport, Evidence, HallucinationReport

Row = tuple[str, tuple[Evidence, ...], str | None]
"""A claim, what it is judged by, and the question that it answers."""
Said = Completion | ChatError
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asks:
    """Ask the model; gives a completion or an error for each request, in order."""

    purpose: str
    """What the cost is put down to."""
    requests: tuple[ChatRequest, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Check a text; gives its report."""

    text: str
    entropy: float | None = None
    """The normalised entropy of the answer that it is of, where the model's log-probabilities are known."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge single claims; gives a report for each, in order."""

    rows: tuple[Row, ...]


Steps = Generator[Asks | Check | Judge, Any, T]


@dataclass(frozen=True, slots=True)
class Hands:
    """What does the steps."""

    meter: Meter
    check: Callable[[Check], HallucinationReport]
    judge: Callable[[Sequence[Row]], list[ClaimReport]]


def drive(steps: Steps[T], hands: Hands) -> T:
    """Do what the steps want, in this thread."""
    done: Any = None
    while True:
        try:
            step = steps.send(done)
        except StopIteration as end:
            value: T = end.value
            return value
        done = _asked(step, hands) if isinstance(step, Asks) else _checked(step, hands)


async def adrive(steps: Steps[T], hands: Hands) -> T:
    """Do what the steps want, with the models awaited and the checks off the event loop."""
    import asyncio

    done: Any = None
    while True:
        try:
            step = steps.send(done)
        except StopIteration as end:
            value: T = end.value
            return value
        done = await _aasked(step, hands) if isinstance(step, Asks) else await asyncio.to_thread(_checked, step, hands)


def _checked(step: Check | Judge, hands: Hands) -> HallucinationReport | list[ClaimReport]:
    return hands.check(step) if isinstance(step, Check) else hands.judge(step.rows)


def _asked(step: Asks, hands: Hands) -> list[Said]:
    model = hands.meter.asking(step.purpose)

    def one(request: ChatRequest) -> Said:
        try:
            return model.complete(request)
        except ChatError as error:
            return error

    if len(step.requests) < 2:
        return [one(request) for request in step.requests]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(16, len(step.requests))) as pool:
        return list(pool.map(one, step.requests))


async def _aasked(step: Asks, hands: Hands) -> list[Said]:
    import asyncio

    model = hands.meter.asking(step.purpose)

    async def one(request: ChatRequest) -> Said:
        try:
            return await model.acomplete(request)
        except ChatError as error:
            return error

    return list(await asyncio.gather(*(one(request) for request in step.requests)))


def messages(rendered: Rendered) -> tuple[Message, ...]:
    """A prompt as the messages of a request."""
    return Message("system", rendered.system), Message("user", rendered.user)
