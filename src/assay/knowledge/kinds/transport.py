"""One HTTP request with a deadline that holds whatever the server does, and a limit on the size of the response.

It uses the standard library's client, because a source needs few features: no redirect is followed, no proxy is read
from the environment, no cookie is kept, no compressed body is unpacked. A body that is shorter than announced, longer
than allowed or late is a failure and never an answer.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from assay.errors import SourceError
from assay.knowledge.interface import Deadline

_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response."""

    status: int
    headers: Mapping[str, str]
    """By lower-case names."""
    body: bytes


def fetch(request: Request, deadline: Deadline, max_bytes: int, *, accept: str = "application/json") -> Response:
    """Send a request and read the whole response.

    Args:
        request: the request; its URL comes from `assay.knowledge.kinds.templates` and is ASCII.
        deadline: when the response must be complete.
        max_bytes: the most bytes of the body.
        accept: the media type to accept.

    Raises:
        SourceError: there was no response in time, or it is larger than allowed, shorter than announced, compressed or
            not HTTP; the message names no address and no credential.
    """
    parts = urlsplit(request.url)
    connection = _connection(parts.scheme, parts.hostname or "", parts.port, deadline)
    # Socket timeouts apply to each read: a server that sends a byte a second would never hit one. This timer does.
    sockets: list[socket.socket] = []
    watch = threading.Timer(deadline.require(), _cut_off, (connection, sockets))
    watch.daemon = True
    watch.start()
    try:
        target = f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}"
        connection.request(
            request.method,
            target,
            request.body,
            {
                "Accept": accept,
                "Accept-Encoding": "identity",
                "User-Agent": "assay",
                "Connection": "close",
                **dict(request.headers),
            },
        )
        if connection.sock is not None:
            sockets.append(connection.sock)  # the connection drops its reference once the head is read
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, headers, _body(answer, headers, deadline, max_bytes))
    except SourceError:
        raise
    except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
        # AttributeError: the connection was cut off between two reads.
        if deadline.left <= 0:
            raise SourceError("it did not answer in time") from error
        raise SourceError(connection_problem(error)) from error
    finally:
        watch.cancel()
        connection.close()


def _connection(scheme: str, host: str, port: int | None, deadline: Deadline) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=deadline.require(), context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=deadline.require())


def _cut_off(connection: http.client.HTTPConnection, sockets: list[socket.socket]) -> None:
    """End whatever a thread is waiting for at the socket."""
    for found in (connection.sock, *sockets):
        if found is not None:
            with contextlib.suppress(OSError):
                found.shutdown(socket.SHUT_RDWR)


def _body(answer: http.client.HTTPResponse, headers: Mapping[str, str], deadline: Deadline, max_bytes: int) -> bytes:
    if headers.get("content-encoding", "identity").lower() not in {"", "identity"}:
        raise SourceError("it answered with a compressed body, which was not asked for")
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > max_bytes:
        raise SourceError(f"it announced {int(announced):,} bytes, and {max_bytes:,} are allowed")
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read1(_CHUNK):
        deadline.require()
        size += len(piece)
        if size > max_bytes:
            raise SourceError(f"it sent more than the {max_bytes:,} bytes that are allowed")
        pieces.append(piece)
    deadline.require()  # a connection that was cut off looks like one that has ended
    if announced.isdigit() and size < int(announced):
        raise SourceError(f"it announced {int(announced):,} bytes and sent {size:,}")
    return b"".join(pieces)


def connection_problem(error: Exception) -> str:
    """A message on what went wrong with a connection, without anything that the server sent."""
    if isinstance(error, ConnectionRefusedError):
        return "it refused the connection"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, ssl.SSLError):
        return f"its certificate or its encryption does not hold: {error.reason}"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected):
        return "it closed the connection before the answer was complete"
    return f"it was not reached: {type(error).__name__}"


def require_ok(response: Response) -> None:
    """Refuse a response that is an error or a redirect.

    Raises:
        SourceError: its status is not 2xx.
    """
    if 300 <= response.status < 400:
        raise SourceError(f"it answered {response.status}: redirects are not followed")
    if not 200 <= response.status < 300:
        raise SourceError(f"it answered {response.status}")
