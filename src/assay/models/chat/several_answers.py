"""Several answers from endpoints that give one at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from assay.errors import ChatError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion
from assay.models.chat.wrapping import ChatWrapper


class Several(ChatWrapper):
    """A chat model that asks the one behind it again, in parallel, for the answers that it left out.

    Further requests that fail are skipped: there are fewer answers then, and the failed calls are counted. Where a
    request has a seed, each answer gets one of its own.
    """

    def __init__(self, model: ChatModel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._model = model
        self._clock = clock

    def complete(self, request: ChatRequest) -> Completion:
        """The model's answers.

        Raises:
            ChatError: there is not even one.
        """
        begun = self._clock()
        first = self._model.complete(request)
        further = _further(request, first, self._clock() - begun)
        if not further:
            return first

        def one(asked: ChatRequest) -> Completion | ChatError:
            try:
                return self._model.complete(asked)
            except ChatError as error:
                return error

        with ThreadPoolExecutor(max_workers=len(further)) as pool:
            return _joined(first, list(pool.map(one, further)))

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        begun = self._clock()
        first = await self._model.acomplete(request)
        further = _further(request, first, self._clock() - begun)

        async def one(asked: ChatRequest) -> Completion | ChatError:
            try:
                return await self._model.acomplete(asked)
            except ChatError as error:
                return error

        return _joined(first, await asyncio.gather(*(one(asked) for asked in further)))


def _further(request: ChatRequest, first: Completion, elapsed_s: float) -> list[ChatRequest]:
    """The requests for the missing answers, within the time and the calls that the first one left.

    The calls are divided among them.
    """
    have = len(first.choices)
    missing = request.n - have
    if request.most_calls is not None:
        missing = min(missing, max(0, request.most_calls - first.calls))
    left = None if request.timeout is None else request.timeout - elapsed_s
    if missing <= 0 or (left is not None and left <= 0):
        return []
    share = None if request.most_calls is None else (request.most_calls - first.calls) // missing
    seeds = [None if request.seed is None else request.seed + have + place for place in range(missing)]
    return [replace(request, n=1, seed=seed, most_calls=share, timeout=left) for seed in seeds]


def _joined(first: Completion, others: Sequence[Completion | ChatError]) -> Completion:
    made = first
    for other in others:
        spent = replace(made, calls=made.calls + other.calls)
        made = spent if isinstance(other, ChatError) else made.joined(other)
    return made
