"""What the gateway needs of ASGI: reading a body within its limit, answering, and seeing that a client has gone."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = Iterable[tuple[bytes, bytes]]

JSON: Final = (b"content-type", b"application/json")


class TooLargeError(Exception):
    """A request's body is larger than the limit."""


class ClientGoneError(Exception):
    """The client has closed its connection."""


def header(scope: Scope, name: bytes) -> str | None:
    """The first value of a header; its name is given in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            return str(value.decode("latin-1"))
    return None


async def read_body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The whole body of a request.

    Raises:
        TooLargeError: it is larger than `most` bytes; what is left of it is not read.
        ClientGoneError: the client closed its connection before the end.
    """
    said = header(scope, b"content-length")
    if said is not None and said.isdigit() and int(said) > most:
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


class Reply:
    """The answer to one request: its head is sent once, its body in any number of pieces."""

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
        """Sends a piece of the body, and waits while the client is slower than it comes."""
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
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
        await self.whole(status, [JSON, *headers], body)


@asynccontextmanager
async def until_gone(receive: Receive) -> AsyncIterator[None]:
    """Cancels what runs inside when the client closes its connection.

    Raises:
        ClientGoneError: the client has gone.
    """
    task = asyncio.current_task()
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        if task is not None:
            task.cancel()

    watcher = asyncio.create_task(watch())
    try:
        yield
    except asyncio.CancelledError:
        if gone and task is not None:
            task.uncancel()
            raise ClientGoneError from None
        raise
    finally:
        watcher.cancel()
