"""One code path for generation with and without an event loop.

A pipeline is a generator that yields steps: ask the model, check a text, judge claims. `drive` carries them out in a
thread, `adrive` in an event loop; both send the requests of one step at the same time.
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
"""A claim, the evidence it is judged by, and the question that it answers."""
Reply = Completion | ChatError
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model; the result is a completion or an error for each request, in order."""

    purpose: str
    """The purpose under which the cost is recorded."""
    requests: tuple[ChatRequest, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """Check a text; the result is its report."""

    text: str
    entropy: float | None = None
    """The normalised entropy of the answer that the text comes from, where the model gave log-probabilities."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judge single claims; the result is a report for each, in order."""

    rows: tuple[Row, ...]


Steps = Generator[Ask | Check | Judge, Any, T]


@dataclass(frozen=True, slots=True)
class StepHandlers:
    """What carries out the steps of a pipeline."""

    meter: Meter
    check: Callable[[Check], HallucinationReport]
    judge: Callable[[Sequence[Row]], list[ClaimReport]]


def drive(steps: Steps[T], handlers: StepHandlers) -> T:
    """Carries out the steps in this thread."""
    result: Any = None
    while True:
        try:
            step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        result = _asked(step, handlers) if isinstance(step, Ask) else _checked(step, handlers)


async def adrive(steps: Steps[T], handlers: StepHandlers) -> T:
    """Carries out the steps with the model awaited and the checks off the event loop."""
    import asyncio

    result: Any = None
    while True:
        try:
            step = steps.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        if isinstance(step, Ask):
            result = await _aasked(step, handlers)
        else:
            result = await asyncio.to_thread(_checked, step, handlers)


def _checked(step: Check | Judge, handlers: StepHandlers) -> HallucinationReport | list[ClaimReport]:
    return handlers.check(step) if isinstance(step, Check) else handlers.judge(step.rows)


def _asked(step: Ask, handlers: StepHandlers) -> list[Reply]:
    model = handlers.meter.asking(step.purpose)

    def one(request: ChatRequest) -> Reply:
        try:
            return model.complete(request)
        except ChatError as error:
            return error

    if len(step.requests) < 2:
        return [one(request) for request in step.requests]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=min(16, len(step.requests))) as pool:
        return list(pool.map(one, step.requests))


async def _aasked(step: Ask, handlers: StepHandlers) -> list[Reply]:
    import asyncio

    model = handlers.meter.asking(step.purpose)

    async def one(request: ChatRequest) -> Reply:
        try:
            return await model.acomplete(request)
        except ChatError as error:
            return error

    return list(await asyncio.gather(*(one(request) for request in step.requests)))


def messages(rendered: Rendered) -> tuple[Message, ...]:
    """The messages of a request made from a prompt."""
    return Message("system", rendered.system), Message("user", rendered.user)
