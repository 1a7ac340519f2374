"""Several answers from endpoints that give one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def complete(self, request: ChatRequest) -> Completion:
        """The model's answers.

        Raises:
            ChatError: there is not even one.
        """
        first = self._model.complete(request)
        further = _further(request, first)
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
        first = await self._model.acomplete(request)

        async def one(asked: ChatRequest) -> Completion | ChatError:
            try:
                return await self._model.acomplete(asked)
            except ChatError as error:
                return error

        return _joined(first, await asyncio.gather(*(one(asked) for asked in _further(request, first))))


def _further(request: ChatRequest, first: Completion) -> list[ChatRequest]:
    """The requests for the missing answers; the calls that are left are divided among them."""
    have = len(first.choices)
    missing = request.n - have
    if request.most_calls is not None:
        missing = min(missing, max(0, request.most_calls - first.calls))
    if missing <= 0:
        return []
    share = None if request.most_calls is None else (request.most_calls - first.calls) // missing
    seeds = [None if request.seed is None else request.seed + have + place for place in range(missing)]
    return [replace(request, n=1, seed=seed, most_calls=share) for seed in seeds]


def _joined(first: Completion, others: Sequence[Completion | ChatError]) -> Completion:
    made = first
    for other in others:
        spent = replace(made, calls=made.calls + other.calls)
        made = spent if isinstance(other, ChatError) else made.joined(other)
    return made
