"""Requests that read or change the database are answered in turns, so that no caller keeps it from the others.

A read of much (an export, a long list) holds a thread and a connection to the database while it is made. One caller has
few of them at once; what it sends beyond that waits, whoever else comes does not. Checks have a queue of their own
(`assay.server.checking`), and what waits for a person, or tells of events, holds nothing while it waits.
"""

import asyncio
import re
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from assay.server.gateway.asgi import Message, Scope, Send
from assay.server.http.admission import OPEN_PATHS

OF_ONE: Final = 2
"""Requests of one caller that are answered at once."""
_CHECKS: Final = frozenset({"/v1/check", "/v1/runs/check", "/v1/batch", "/v1/screen", "/v1/consensus"})
"""The paths whose work waits in the queue for checks."""
_REVIEW: Final = re.compile(r"/v1/reviews/[^/]+")
"""The path that may wait for a person (`?wait=`)."""


def takes_turn(scope: Scope) -> bool:
    """Whether a request is answered in turns: those that are no checks, and do not wait for something else.

    >>> [takes_turn({"path": path, "query_string": b"wait=3"}) for path in ("/v1/me", "/v1/check", "/v1/reviews/a")]
    [True, False, False]
    """
    path = scope["path"]
    waits = _REVIEW.fullmatch(path) is not None and b"wait=" in scope.get("query_string", b"")
    return not (path in OPEN_PATHS or path in _CHECKS or waits)


class Turns:
    """Who is answered now, and who waits for it."""

    def __init__(self, most: int) -> None:
        """At most so many requests at once, of one caller at most `OF_ONE`."""
        self._most = most
        self._running: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def running(self) -> int:
        """Requests that are being answered."""
        return self._running.total()

    @asynccontextmanager
    async def turn(self, owner: str, send: Send) -> AsyncIterator[Send]:
        """While one request of a caller is answered; its turn ends with its answer.

        An answer that is made when it begins ends its turn there, however slowly it is read, and so does a stream of
        events. Any other stream is made while it is read.

        Args:
            owner: the caller.
            send: sends the answer.

        Yields:
            What sends it in place of `send`.
        """
        await self._take(owner)
        held = True

        async def sending(message: Message) -> None:
            nonlocal held
            if held and message["type"] == "http.response.start" and _is_made(message):
                held = False
                self._leave(owner)
            await send(message)

        try:
            yield sending
        finally:
            if held:
                self._leave(owner)

    async def _take(self, owner: str) -> None:
        if self.running < self._most and self._running[owner] < OF_ONE:
            self._running[owner] += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave(owner)  # it was given the turn while it was told to stop
            raise

    def _leave(self, owner: str) -> None:
        self._running[owner] -= 1
        if not self._running[owner]:
            del self._running[owner]
        while (following := self._next()) is not None:
            queue = self._waiting.pop(following)
            turn = queue.popleft()
            if queue:
                # Behind everybody else who waits.
                self._waiting[following] = queue
            if not turn.done():  # else whoever waited has left
                self._running[following] += 1
                turn.set_result(None)

    def _next(self) -> str | None:
        """Whose turn it is: of those who wait and may have one, the caller with fewest, who waited longest."""
        if self.running >= self._most:
            return None
        may = [owner for owner in self._waiting if self._running[owner] < OF_ONE]
        return min(may, key=lambda owner: self._running[owner], default=None)


def _is_made(message: Message) -> bool:
    """Whether nothing is left to do for an answer that begins, or nothing but to wait."""
    headers = dict(message.get("headers", ()))
    return b"content-length" in headers or headers.get(b"content-type", b"").startswith(b"text/event-stream")
