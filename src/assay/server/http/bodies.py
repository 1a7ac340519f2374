"""Reads the bodies of requests within limits on their number, size and time, before a byte of them is kept.

A client that begins a body and never ends it costs the server a connection, a task and the bytes it sent. So each body
has a time limit, and one caller may hold at most half of the bytes that may be held for all. Unknown callers, at the
pages where people sign in, have a smaller size limit, a shorter time limit and a small number of bodies in progress.
Beyond that number the oldest body of the address with the most of them is ended: a form that a person sends comes in
one piece and is never the oldest.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from assay.server.gateway.asgi import Message, Receive, Scope, SlowBodyError, header, read_body
from assay.server.settings import Limits

STRANGER_BYTES: Final = 64 * 1024
"""The largest body of an unknown caller, which holds names, passwords and tokens."""


class NoRoomError(Exception):
    """This caller, or all callers together, hold as many bytes as they may."""


class Shares:
    """Counts what is held for each owner; one owner may hold at most half, so that there is always some for others."""

    def __init__(self, most: int) -> None:
        """At most `most` units at a time for all owners."""
        self._most = most
        self._held: Counter[str] = Counter()
        self._total = 0

    @property
    def total(self) -> int:
        """The units that are held for all owners."""
        return self._total

    def take(self, owner: str, amount: int = 1) -> bool:
        """Hold more for an owner; false, with nothing changed, where that would exceed a bound."""
        if self._total + amount > self._most or self._held[owner] + amount > max(1, self._most // 2):
            if not self._held[owner]:
                del self._held[owner]
            return False
        self._held[owner] += amount
        self._total += amount
        return True

    def give_back(self, owner: str, amount: int = 1) -> None:
        """Release what an owner held."""
        self._total -= amount
        self._held[owner] -= amount
        if not self._held[owner]:
            del self._held[owner]


@dataclass(slots=True)
class _IncomingBody:
    """A body of an unknown caller that is being received."""

    address: str
    timer: asyncio.Timeout
    ended: bool = False
    """Whether it was ended in favour of a newer one."""


class Bodies:
    """Reads bodies within the limits of a server. Of one event loop."""

    def __init__(self, limits: Limits) -> None:
        """Bodies within these limits."""
        self._limits = limits
        self._bytes = Shares(limits.bodies_bytes)
        self._strangers: list[_IncomingBody] = []
        """Oldest first."""

    @property
    def held(self) -> int:
        """Bytes that are held for all requests."""
        return self._bytes.total

    @contextmanager
    def room(self, owner: str) -> Iterator["Room"]:
        """Room for one request's body; what it holds is given back at the end of the block."""
        room = Room(self._bytes, owner)
        try:
            yield room
        finally:
            room.empty()

    async def read(self, scope: Scope, receive: Receive, room: "Room") -> bytes:
        """The body of a request whose caller is known.

        Raises:
            TooLargeError: it is larger than `limits.body_bytes`.
            SlowBodyError: it did not come within `limits.body_s`.
            NoRoomError: there is no room for it.
            ClientGoneError: the client closed its connection before the end.
        """
        try:
            async with asyncio.timeout(self._limits.body_s):
                return await read_body(scope, room.counted(receive), self._limits.body_bytes)
        except TimeoutError as error:
            raise SlowBodyError(f"expected the whole body within {self._limits.body_s:g} seconds") from error

    async def read_of_stranger(self, scope: Scope, receive: Receive, room: "Room", address: str) -> bytes:
        """The body of a request whose caller is not known.

        Raises:
            TooLargeError: it is larger than `STRANGER_BYTES`.
            SlowBodyError: it did not come within `limits.stranger_body_s`, or was ended in favour of a newer one.
            NoRoomError: there is no room for it.
            ClientGoneError: the client closed its connection before the end.
        """
        limits = self._limits
        try:
            async with asyncio.timeout(limits.stranger_body_s) as timer:
                mine = _IncomingBody(address, timer)
                self._strangers.append(mine)
                try:
                    self._end_oldest(limits.stranger_bodies)
                    return await read_body(scope, room.counted(receive), min(STRANGER_BYTES, limits.body_bytes))
                finally:
                    self._strangers.remove(mine)
        except TimeoutError as error:
            raise SlowBodyError(
                f"expected the whole body within {limits.stranger_body_s:g} seconds, or sooner where many are on "
                "their way"
            ) from error

    def _end_oldest(self, most: int) -> None:
        """Ends the oldest body of the address with most of them, where more than `most` are received."""
        # One that was ended, or whose time is up, is there until its task runs; it cannot be ended once more.
        received = [one for one in self._strangers if not one.ended and not one.timer.expired()]
        if len(received) <= most:
            return
        counts = Counter(one.address for one in received)
        largest = max(counts.values())
        oldest = next(one for one in received if counts[one.address] == largest)
        oldest.ended = True
        oldest.timer.reschedule(asyncio.get_running_loop().time())


class Room:
    """The bytes that are held for one request."""

    __slots__ = ("_held", "_owner", "_shares")

    def __init__(self, shares: Shares, owner: str) -> None:
        """No bytes yet."""
        self._shares, self._owner, self._held = shares, owner, 0

    def counted(self, receive: Receive) -> Receive:
        """A `receive` that counts the bytes of each piece; it raises `NoRoomError` where there is no room for one."""

        async def receive_and_count() -> Message:
            message = await receive()
            amount = len(message.get("body", b"")) if message["type"] == "http.request" else 0
            if amount and not self._shares.take(self._owner, amount):
                raise NoRoomError
            self._held += amount
            return message

        return receive_and_count

    def empty(self) -> None:
        """Release all bytes."""
        if self._held:
            self._shares.give_back(self._owner, self._held)
            self._held = 0


def has_body(scope: Scope) -> bool:
    """Whether a body follows the head of a request (RFC 9112, section 6.3).

    >>> has_body({"headers": [(b"content-length", b"2")]}), has_body({"headers": [(b"content-length", b"0")]})
    (True, False)
    """
    return header(scope, b"transfer-encoding") is not None or (header(scope, b"content-length") or "0").strip() != "0"
