"""One code path for the synchronous and the asynchronous form of a wrapper around a chat model.

A wrapper is written as a generator that yields its requests: to ask the model, or to wait. `drive` fulfils them in a
thread and `adrive` in an event loop; a `ChatError` is thrown into the generator at the `yield` that asked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass

from assay.errors import ChatError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask the model; its completion comes back."""

    request: ChatRequest


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


Steps = Generator[Ask | Wait, Completion | None, Completion]


def drive(steps: Steps, model: ChatModel, sleep: Callable[[float], object]) -> Completion:
    """Do what the steps want, in this thread.

    Raises:
        ChatError: the steps let one through.
    """
    answer: Completion | None = None
    error: ChatError | None = None
    while True:
        try:
            step = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            return _completion(end)
        answer, error = None, None
        if isinstance(step, Wait):
            sleep(step.seconds)
            continue
        try:
            answer = model.complete(step.request)
        except ChatError as failed:
            error = failed


async def adrive(steps: Steps, model: ChatModel, sleep: Callable[[float], Awaitable[object]]) -> Completion:
    """Do what the steps want, in the running event loop.

    Raises:
        ChatError: the steps let one through.
    """
    answer: Completion | None = None
    error: ChatError | None = None
    while True:
        try:
            step = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            return _completion(end)
        answer, error = None, None
        if isinstance(step, Wait):
            await sleep(step.seconds)
            continue
        try:
            answer = await model.acomplete(step.request)
        except ChatError as failed:
            error = failed


def _completion(end: StopIteration) -> Completion:
    completion: Completion = end.value
    return completion
