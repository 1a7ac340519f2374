"""A bound on how many requests are under way at once, shared by threads and tasks."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

from assay.errors import InputError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion
from assay.models.chat.wrapping import ChatWrapper

DEFAULT_AT_ONCE = 8
"""Requests under way at once by default."""


class Slots:
    """So many places, given in the order in which they were asked for, to threads and to tasks of any event loop."""

    def __init__(self, places: int) -> None:
        if places < 1:
            raise InputError(f"at least one request must be possible at once, got {places}")
        self._free = places
        self._waiting: deque[Future[None]] = deque()
        self._lock = threading.Lock()

    def _ask(self) -> Future[None]:
        place: Future[None] = Future()
        with self._lock:
            if self._free:
                self._free -= 1
                place.set_result(None)
            else:
                self._waiting.append(place)
        return place

    def _give_back(self) -> None:
        with self._lock:
            while self._waiting:
                place = self._waiting.popleft()
                if place.set_running_or_notify_cancel():  # false for a waiter that has given up
                    place.set_result(None)
                    return
            self._free += 1

    @contextmanager
    def held(self) -> Iterator[None]:
        """A place, waited for in this thread."""
        place = self._ask()
        try:
            place.result()
        except BaseException:  # an interrupt of this thread: raised again once the place is free
            self._drop(place)
            raise
        try:
            yield
        finally:
            self._give_back()

    @asynccontextmanager
    async def aheld(self) -> AsyncIterator[None]:
        """A place, waited for in the running event loop."""
        place = self._ask()
        try:
            await asyncio.wrap_future(place)
        except BaseException:  # the task was cancelled: raised again once the place is free
            self._drop(place)
            raise
        try:
            yield
        finally:
            self._give_back()

    def _drop(self, place: Future[None]) -> None:
        """Give up waiting; a place that was given in the same moment goes to the next waiter."""
        if not place.cancel():
            self._give_back()


class Limited(ChatWrapper):
    """A chat model that has no more than so many requests under way at once."""

    def __init__(self, model: ChatModel, at_once: int = DEFAULT_AT_ONCE) -> None:
        """Make one.

        Raises:
            InputError: fewer than one at once.
        """
        self._model = model
        self._slots = Slots(at_once)

    def complete(self, request: ChatRequest) -> Completion:
        """The model's answer, once there is a place."""
        with self._slots.held():
            return self._model.complete(request)

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        async with self._slots.aheld():
            return await self._model.acomplete(request)
