"""Closes connections on which no request arrives: silent ones, and those that send a request's head byte by byte.

uvicorn waits for the first byte of a connection, and for the end of a head that has begun, for as long as a client
likes. Each connection costs a file descriptor, of which a process has a bounded number, so that a client that opens
enough of them keeps everybody else out. Here a head has `head_s` seconds, and beyond `heads` connections without one
the oldest is closed (the Slowloris attack).
"""

import asyncio
import copyreg
from collections.abc import Callable
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

DESCRIPTORS: Final = 65_536
"""Open files that a server asks the system for; it gets at most its hard limit."""


class PendingHeads:
    """The connections of one process whose next head is not complete, oldest first."""

    def __init__(self, most: int) -> None:
        """At most `most` connections."""
        self._most = most
        self._waiting: dict[Any, None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, connection: "TimedHeads") -> None:
        """Add a connection; the oldest is closed where there are too many."""
        self._waiting.pop(connection, None)
        self._waiting[connection] = None
        if len(self._waiting) > self._most:
            next(iter(self._waiting)).give_way()

    def end(self, connection: "TimedHeads") -> None:
        """Remove a connection whose head is complete or which is closed."""
        self._waiting.pop(connection, None)


class _PickledByLimits(type):
    """The metaclass of classes that are created from limits: a spawned process creates them again from the same."""


class TimedHeads(HttpToolsProtocol, metaclass=_PickledByLimits):
    """uvicorn's HTTP/1.1, with a time limit for the head of each request."""

    heads: PendingHeads
    head_s: float
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first head."""
        super().connection_made(transport)
        self._begin()

    def on_message_begin(self) -> None:
        """Start the timer of a further head; that of the first one runs since the connection was made."""
        super().on_message_begin()
        if self._timer is None:
            self._begin()

    def on_headers_complete(self) -> None:
        """Stop the timer."""
        self._end()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Count the connection as waiting again, for as long as uvicorn keeps it alive."""
        super().on_response_complete()
        if self._timer is None and self.cycle.response_complete and not self.transport.is_closing():
            self.heads.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
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
        """Close the connection; a client that sent part of a head gets a 408 (RFC 9110, section 15.5.9)."""
        self._end()
        if self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            # The head of a pipelined request while an answer is still being sent: try again later.
            self._timer = self.loop.call_later(self.head_s, self.give_way)
            return
        if self.headers is not None and self.cycle is None:
            reason = b"expected the head of the request sooner"
            self.transport.write(
                b"HTTP/1.1 408 Request Timeout\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                b"content-length: " + str(len(reason)).encode() + b"\r\n\r\n" + reason
            )
        self.transport.close()


def timed_heads(head_s: float, most: int) -> type[TimedHeads]:
    """The protocol class for `uvicorn.Config(http=...)`, with its limits.

    Args:
        head_s: seconds for the head of a request.
        most: connections of a process that may wait for one at a time.
    """
    members = {"heads": PendingHeads(most), "head_s": head_s, "made_of": (head_s, most)}
    return cast("type[TimedHeads]", _PickledByLimits("TimedHeads", (TimedHeads,), members))


def _reduce(protocol: _PickledByLimits) -> Any:
    limits = vars(protocol).get("made_of")
    return (timed_heads, limits) if limits is not None else protocol.__qualname__


copyreg.pickle(_PickledByLimits, _reduce)


def raise_descriptors(most: int = DESCRIPTORS) -> int | None:
    """Raise this process's limit of open files to `most`, or as far as the system allows.

    Returns:
        The limit; none where the system has none.
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
