"""ASGI helpers: reading a body within its limit, sending an answer, and noticing that a client has disconnected."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Final, Self

from assay.wire import encoded

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

JSON: Final = (b"content-type", b"application/json")


class TooLargeError(Exception):
    """A request's body is larger than the limit."""


class SlowBodyError(Exception):
    """A request's body did not arrive in time, or was ended in favour of others."""


class ClientGoneError(Exception):
    """The client has closed its connection."""


_CHARSET: Final = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]+)", re.IGNORECASE)
_UTF8: Final = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})


def other_encoding(scope: Scope, body: bytes) -> str | None:
    """Why a body is refused for its encoding; none for UTF-8, in which JSON is exchanged (RFC 8259, 8.1).

    Readers that guess UTF-16 from the first bytes and readers that do not would read different messages.

    >>> other_encoding({"headers": []}, '{"a": 1}'.encode("utf-16"))
    'expected a body in UTF-8, got UTF-16 or UTF-32'
    """
    charset = _CHARSET.search(header(scope, b"content-type") or "")
    if charset is not None and charset[1].lower() not in _UTF8:
        return f"expected a body in UTF-8, got the charset {charset[1][:40]}"
    if body[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in body[:4]:
        return "expected a body in UTF-8, got UTF-16 or UTF-32"
    return None


def header(scope: Scope, name: bytes) -> str | None:
    """The first value of a header; its name is given in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


async def read_body(scope: Scope, receive: Receive, most: int = sys.maxsize) -> bytes:
    """The whole body of a request.

    Raises:
        TooLargeError: it is larger than `most` bytes; the rest is not read.
        ClientGoneError: the client closed its connection before the end.
    """
    stated_length = header(scope, b"content-length")
    if stated_length is not None and stated_length.isdigit() and int(stated_length) > most:
        raise TooLargeError
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGoneError
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise TooLargeError
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns a body that was already read, and then the further messages of `receive`."""
    replayed = False

    async def receive_again() -> Message:
        nonlocal replayed
        if replayed:
            return await receive()
        replayed = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


class Reply:
    """The answer to one request: one head, and a body in any number of pieces."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.started = False
        self.ended = False
        self.status = 0

    async def start(self, status: int, headers: Headers) -> None:
        """Sends the head."""
        self.started, self.status = True, status
        await self._send({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def write(self, piece: bytes) -> None:
        """Sends a piece of the body, waiting while the client reads more slowly than it is sent."""
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def end(self, piece: bytes = b"") -> None:
        """Sends the last piece."""
        self.ended = True
        await self._send({"type": "http.response.body", "body": piece, "more_body": False})

    async def whole(self, status: int, headers: Headers, body: bytes) -> None:
        """Sends a head and a body with its length."""
        kept = [pair for pair in headers if pair[0] != b"content-length"]
        await self.start(status, [*kept, (b"content-length", str(len(body)).encode())])
        await self.end(body)

    async def json(self, status: int, value: Mapping[str, Any], headers: Headers = ()) -> None:
        """Sends a value as JSON."""
        await self.whole(status, [JSON, *headers], encoded(dict(value)))


class UntilGone:
    """Cancels the block when the client closes its connection; the block then ends with `ClientGoneError`."""

    __slots__ = ("_gone", "_receive", "_task", "_watcher")

    def __init__(self, receive: Receive) -> None:
        """Watch the connection that `receive` reads."""
        self._receive = receive
        self._gone = False

    async def __aenter__(self) -> Self:
        """Begins to watch."""
        self._task = asyncio.current_task()
        self._watcher = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the watch.

        Raises:
            ClientGoneError: the client has gone.
        """
        self._watcher.cancel()
        if self._gone and self._task is not None and isinstance(error, asyncio.CancelledError):
            self._task.uncancel()
            raise ClientGoneError from None

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        if self._task is not None:
            self._task.cancel()
