"""Retries after failures that may be temporary, with pauses that grow and are random."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count

from assay.errors import ChatError, InputError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion
from assay.models.chat.steps import Ask, Steps, Wait, adrive, drive
from assay.models.chat.wrapping import ChatWrapper


@dataclass(frozen=True, slots=True)
class Retries:
    """How often to retry and how long to pause.

    The pause before retry k (from 0) is drawn evenly from 0 to min(longest, first * 2**k), "full jitter": clients that
    failed together do not come back together. A pause that the endpoint asks for is kept, with jitter added.
    """

    most: int = 3
    """Retries after the first try; 0 for none."""
    first_s: float = 0.5
    longest_s: float = 20.0
    """The longest pause; an endpoint that asks for a longer one is not asked again."""

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            InputError: a number is negative.
        """
        if self.most < 0 or self.first_s < 0 or self.longest_s < 0:
            raise InputError(f"retries, first_s and longest_s are 0 or more, got {self}")


class Retrying(ChatWrapper):
    """A chat model that asks the one behind it again where that may help, within the request's time and calls."""

    def __init__(
        self,
        model: ChatModel,
        retries: Retries | None = None,
        *,
        draw: Callable[[float], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        asleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Make one.

        Args:
            model: the model behind.
            retries: how often and how long.
            draw: draws a number from 0 to its argument; at random by default.
            clock: seconds from any beginning.
            sleep: waits in a thread.
            asleep: waits in an event loop.
        """
        self._model = model
        self._retries = retries or Retries()
        self._draw = draw or (lambda most: random.uniform(0, most))  # noqa: S311 a pause is no secret
        self._clock = clock
        self._sleep = sleep
        self._asleep = asleep

    def complete(self, request: ChatRequest) -> Completion:
        """The model's answer.

        Raises:
            ChatError: every try failed, or another one would take too long.
        """
        return drive(self._steps(request), self._model, self._sleep)

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        return await adrive(self._steps(request), self._model, self._asleep)

    def _steps(self, request: ChatRequest) -> Steps:
        begun = self._clock()
        spent = 0
        for tried in count():
            left = self._left(request, begun)
            if left is not None and left <= 0:
                raise ChatError(f"model {self.name!r}: there is no time left to ask", calls=spent)
            calls = None if request.most_calls is None else request.most_calls - spent
            try:
                made = yield Ask(replace(request, timeout=left, most_calls=calls))
            except ChatError as error:
                spent += error.calls
                error.calls = spent
                pause = self._pause(error, tried, request, spent)
                left = self._left(request, begun)
                if pause is None or (left is not None and pause >= left):
                    raise
                yield Wait(pause)
                continue
            if made is None:
                raise ChatError(f"model {self.name!r} gave nothing", calls=spent)
            return replace(made, calls=made.calls + spent, retries=made.retries + tried)
        raise AssertionError  # count() does not end

    def _left(self, request: ChatRequest, begun: float) -> float | None:
        """Seconds that are left of the request's time; none where it has no bound."""
        return None if request.timeout is None else request.timeout - (self._clock() - begun)

    def _pause(self, error: ChatError, tried: int, request: ChatRequest, spent: int) -> float | None:
        """Seconds to wait before asking again; none where it would not help or is not allowed."""
        retries = self._retries
        exhausted = request.most_calls is not None and spent >= request.most_calls
        if not error.retryable or tried >= retries.most or exhausted:
            return None
        if error.wait is not None:
            return error.wait + self._draw(retries.first_s) if error.wait <= retries.longest_s else None
        return self._draw(min(retries.longest_s, retries.first_s * 2.0 ** min(tried, 60)))
