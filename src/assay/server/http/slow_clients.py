"""Closes connections on which no request comes: silent ones, and such that send the head of a request drop by drop.

uvicorn waits for the first byte of a connection, and for the end of a head that has begun, for as long as a client
likes. Each of them costs a file descriptor, of which a process has a bounded number: who opens enough of them keeps
everybody else out. Here a head has `head_s` seconds, and beyond `heads` connections without one the oldest gives way.
"""

import asyncio
import copyreg
from collections.abc import Callable
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

DESCRIPTORS: Final = 65_536
"""So many files and connections a server asks the system for; it gets at most what its hard limit allows."""


class Heads:
    """Connections of one process whose next head has not come in whole, oldest first."""

    def __init__(self, most: int) -> None:
        """At most so many at once."""
        self._most = most
        self._waiting: dict[Any, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, connection: "TimedHeads") -> None:
        """One more waits; the oldest gives way where there are too many."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if len(self._waiting) > self._most:
            next(iter(self._waiting)).give_way()

    def end(self, connection: "TimedHeads") -> None:
        """A head is whole, or its connection has gone."""
        self._waiting.pop(connection, None)


class _Pickled(type):
    """Of classes that are made with their limits: processes that start again make them again."""


class TimedHeads(HttpToolsProtocol, metaclass=_Pickled):
    """HTTP/1.1 of uvicorn, with a time in which the head of each request has to come in."""

    heads: Heads
    head_s: float
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first head."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Begins to wait for the rest of a head; the first one has been waited for since the connection was made."""
        super().on_message_begin()
        if self._timer is None:
            self._begin()

    def on_headers_complete(self) -> None:
        """Waits no more."""
        self._end()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Counts as waiting again, for as long as uvicorn keeps a connection that says nothing."""
        super().on_response_complete()
        if self._timer is None and self.cycle.response_complete and not self.transport.is_closing():
            self.heads.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Waits no more."""
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        self._timer = self.loop.call_later(self.head_s, self.give_way)
        self.heads.begin(self)

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.heads.end(self)

    def give_way(self) -> None:
        """Closes the connection. Who sent half of a head is told why (408, RFC 9110, section 15.5.9)."""
        self._end()
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # The head of a further request, beside an answer that is still owed: looked at again later.
            self._timer = self.loop.call_later(self.head_s, self.give_way)
            return
        if self.headers is not None and self.cycle is None:
            said = b"expected the head of the request sooner"
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                b"content-length: " + str(len(said)).encode() + b"\r\n\r\n" + said
            )
        self.transport.close()


def timed_heads(head_s: float, most: int) -> type[TimedHeads]:
    """The protocol for `uvicorn.Config(http=...)`, with its limits.

    Args:
        head_s: seconds for the head of a request.
        most: connections of a process that may wait for one at once.
    """
    members = {"heads": Heads(most), "head_s": head_s, "made_of": (head_s, most)}
    return cast("type[TimedHeads]", _Pickled("TimedHeads", (TimedHeads,), members))


def _made_again(made: _Pickled) -> Any:
    limits = vars(made).get("made_of")
    return (timed_heads, limits) if limits is not None else made.__qualname__


copyreg.pickle(_Pickled, _made_again)


def raise_descriptors(most: int = DESCRIPTORS) -> int | None:
    """Allows this process as many open files as the system lets it have, up to `most`.

    Returns:
        How many it may have; none where the system has no such limit.
    """
    setter: Callable[..., Any]
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    setter = resource.setrlimit
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return soft
    try:
        setter(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return soft
    return wanted
