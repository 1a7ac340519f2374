"""One request at a time to one server, whose IP address is checked before anything is sent to it.

The host name is resolved once for each connection, all of its IP addresses must be public, and the connection goes to
one of the checked addresses: a name that resolves to another machine a moment later (DNS rebinding) has no effect. No
redirects are followed here, no proxy is taken from the environment, no cookies are kept, no compressed body is
decompressed. The time limit and the size limit of a response hold whatever the server does.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from assay.corpus.site.addresses import origin_of
from assay.errors import AssayError, InputError
from assay.knowledge.kinds.transport import connection_problem

_CHUNK: Final = 65_536
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_MAX_DISCARDED: Final = 64_000
"""Bytes of an unneeded body that are read in order to keep the connection."""


class FetchError(AssayError):
    """A response is missing or not as it should be; the message says why and contains no address."""


@dataclass(frozen=True, slots=True)
class Response:
    """The response of a server."""

    status: int
    headers: Mapping[str, str]
    """Values by lower-case names; of several headers with the same name the first."""
    body: bytes


class Server:
    """The server of a site. Use it in a `with` block, at whose end its connection is closed."""

    def __init__(self, address: str, *, allow_private: bool, seconds: float, agent: str) -> None:
        """Set up the client; no connection is made yet.

        Args:
            address: any address of the site, normalised.
            allow_private: whether the server may be this machine or in a private network.
            seconds: the time limit for one response.
            agent: sent as `User-Agent`.
        """
        self._origin = origin_of(address)
        self._allow_private, self._seconds, self._agent = allow_private, seconds, agent
        self._connection: _Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, address: str, max_bytes: int, headers: Mapping[str, str] | None = None) -> Response:
        """Request one address of the site.

        Args:
            address: normalised; of the origin that the server was made for.
            max_bytes: the largest body that is accepted.
            headers: further headers to send.

        Raises:
            FetchError: no complete response arrives in time, or it is larger than allowed or compressed.
            InputError: the server is this machine or in a private network, which is not allowed.
        """
        if origin_of(address) != self._origin:
            raise FetchError("it is of another site")
        reused = self._connection is not None
        try:
            return self._request(address, max_bytes, headers or {})
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self.close()
            if not reused:
                raise FetchError("it closed the connection without an answer") from error
        # The server may have closed a kept connection in the meantime.
        try:
            return self._request(address, max_bytes, headers or {})
        except OSError as error:
            self.close()
            raise FetchError("it closed the connection without an answer") from error

    def _request(self, address: str, max_bytes: int, headers: Mapping[str, str]) -> Response:
        deadline = time.monotonic() + self._seconds
        connection = self._connection or _Connection(self._origin, self._seconds, allow_private=self._allow_private)
        self._connection = connection
        # Socket timeouts apply to each read: a server that sends one byte a second would never exceed them.
        watch = threading.Timer(self._seconds, connection.cut_off)
        watch.daemon = True
        watch.start()
        try:
            parts = urlsplit(address)
            target = f"{parts.path}{'?' + parts.query if parts.query else ''}"
            defaults = {"Accept": "text/html, */*;q=0.5", "Accept-Encoding": "identity", "User-Agent": self._agent}
            connection.request("GET", target, headers={**defaults, **headers})
            answer = connection.getresponse()
            headers_by_name: dict[str, str] = {}
            for name, value in answer.getheaders():
                headers_by_name.setdefault(name.lower(), value)
            body = _body(answer, headers_by_name, deadline, max_bytes)
            if answer.will_close or not answer.isclosed():
                self.close()
            return Response(answer.status, headers_by_name, body)
        except (FetchError, InputError):
            self.close()
            raise
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            # AttributeError: the connection was cut off between two reads.
            if time.monotonic() >= deadline:
                self.close()
                raise FetchError(f"it did not answer within {self._seconds:g} s") from error
            if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
                raise
            self.close()
            raise FetchError(connection_problem(error)) from error
        finally:
            watch.cancel()


class _Connection(http.client.HTTPConnection):
    """A connection that goes only to a checked IP address."""

    def __init__(self, origin: tuple[str, str, int], seconds: float, *, allow_private: bool) -> None:
        scheme, host, port = origin
        super().__init__(host, port, timeout=seconds)
        self._secure = scheme == "https"
        self.default_port = 443 if self._secure else 80
        self._allow_private = allow_private
        self._socket: socket.socket | None = None

    def connect(self) -> None:
        """Connect to the first IP address of the host that answers, after all of them were checked."""
        last_error: OSError | None = None
        for address in addresses_of(self.host, self.port, allow_private=self._allow_private):
            try:
                found = socket.create_connection(address, self.timeout)
            except OSError as error:
                last_error = error
                continue
            self._socket = found
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secure = ssl.create_default_context() if self._secure else None
            self.sock = found if secure is None else secure.wrap_socket(found, server_hostname=self.host)
            self._socket = self.sock
            return
        raise last_error or OSError("the name has no address")

    def cut_off(self) -> None:
        """Shut down the socket, which ends every wait for the server."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def addresses_of(host: str, port: int, *, allow_private: bool) -> list[tuple[str, int]]:
    """The IP addresses of a host, after checking that all may be connected to.

    Raises:
        FetchError: the host name cannot be resolved.
        InputError: one of its addresses is not public, and that is not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"its name is not known: {host}") from error
    addresses = list(dict.fromkeys((str(one[4][0]), port) for one in found))
    private_address = next((address for address, _ in addresses if not is_public(address)), None)
    if private_address is not None and not allow_private:
        at = "" if private_address == host.strip("[]") else f", at {private_address},"
        raise InputError(f"{host}{at} is not of the public internet; --allow-private lets a check ask for it")
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is public; so must be an IPv4 address that is embedded in an IPv6 address.

    >>> [is_public(one) for one in ("93.184.215.14", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


def _body(answer: http.client.HTTPResponse, headers: Mapping[str, str], deadline: float, max_bytes: int) -> bytes:
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise FetchError("it answered with a packed body, which was not asked for")
    if not 200 <= answer.status < 300:
        answer.read(_MAX_DISCARDED)  # the body of an error response is not a document
        return b""
    announced = headers.get("content-length", "").strip()
    if announced.isdigit() and int(announced) > max_bytes:
        raise FetchError(f"it announced {int(announced):,} bytes, and {max_bytes:,} are read of such a page")
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read1(_CHUNK):
        size += len(piece)
        if size > max_bytes:
            raise FetchError(f"it sent more than the {max_bytes:,} bytes that are read of such a page")
        if time.monotonic() >= deadline:
            raise FetchError("its answer was not complete in time")
        pieces.append(piece)
    if time.monotonic() >= deadline:
        # A connection that was shut down reads like a regular end.
        raise FetchError("its answer was not complete in time")
    if announced.isdigit() and size < int(announced):
        raise FetchError(f"it announced {int(announced):,} bytes and sent {size:,}")
    return b"".join(pieces)
