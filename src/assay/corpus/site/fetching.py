"""One request at a time to one server, at an address that was looked at before anything is sent to it.

A name is resolved once for each connection, every address that it has must be one of the public internet, and the
connection goes to an address that was looked at: a name that means another machine a moment later leads nowhere. No
redirect is followed here, no proxy is taken from the environment, no cookie is kept, no packed body is unpacked. The
time for an answer holds whatever the server does, and so does the bound on its size.
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
_SPENT: Final = 64_000
"""Bytes of a body that nobody wants which are read to keep a connection."""


class FetchError(AssayError):
    """An answer that did not come, or not as it should; the message says why and names no address."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """By lower-case names; of several with one name the first."""
    body: bytes


class Server:
    """The server of a site. Use it in a `with` block: its connection ends with it."""

    def __init__(self, address: str, *, allow_private: bool, seconds: float, agent: str) -> None:
        """Connect to nothing yet.

        Args:
            address: any address of the site, in one spelling.
            allow_private: whether it may be this machine or one of a private network.
            seconds: the time for one answer.
            agent: what is sent as `User-Agent`.
        """
        self._origin = origin_of(address)
        self._private, self._seconds, self._agent = allow_private, seconds, agent
        self._connection: _Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, address: str, most: int, headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for one address of the site.

        Args:
            address: in one spelling; of the origin that the server was made for.
            most: bytes of the body at most.
            headers: what is sent besides.

        Raises:
            FetchError: there is no whole answer in time, or one that is larger than allowed or packed.
            InputError: the name of the server is of this machine or of a private network, which is not allowed.
        """
        if origin_of(address) != self._origin:
            raise FetchError("it is of another site")
        kept = self._connection is not None
        try:
            return self._asked(address, most, headers or {})
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
            self.close()
            if not kept:
                raise FetchError("it closed the connection without an answer") from error
        # A connection that was kept open may have been closed by the server meanwhile.
        try:
            return self._asked(address, most, headers or {})
        except OSError as error:
            self.close()
            raise FetchError("it closed the connection without an answer") from error

    def _asked(self, address: str, most: int, headers: Mapping[str, str]) -> Answer:
        deadline = time.monotonic() + self._seconds
        connection = self._connection or _Connection(self._origin, self._seconds, allow_private=self._private)
        self._connection = connection
        # Timeouts of sockets are for each read: a server that sends a byte a second would never run into one.
        watch = threading.Timer(self._seconds, connection.cut_off)
        watch.daemon = True
        watch.start()
        try:
            parts = urlsplit(address)
            target = f"{parts.path}{'?' + parts.query if parts.query else ''}"
            defaults = {"Accept": "text/html, */*;q=0.5", "Accept-Encoding": "identity", "User-Agent": self._agent}
            connection.request("GET", target, headers={**defaults, **headers})
            answer = connection.getresponse()
            known: dict[str, str] = {}
            for name, value in answer.getheaders():
                known.setdefault(name.lower(), value)
            body = _body(answer, known, deadline, most)
            if answer.will_close or not answer.isclosed():
                self.close()
            return Answer(answer.status, known, body)
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
    """A connection to an address that may be connected to."""

    def __init__(self, origin: tuple[str, str, int], seconds: float, *, allow_private: bool) -> None:
        scheme, host, port = origin
        super().__init__(host, port, timeout=seconds)
        self._secure = scheme == "https"
        self.default_port = 443 if self._secure else 80
        self._private = allow_private
        self._socket: socket.socket | None = None

    def connect(self) -> None:
        """Connect to the first address of the name that answers, all of which were looked at before."""
        failed: OSError | None = None
        for address in addresses_of(self.host, self.port, allow_private=self._private):
            try:
                found = socket.create_connection(address, self.timeout)
            except OSError as error:
                failed = error
                continue
            self._socket = found
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            secure = ssl.create_default_context() if self._secure else None
            self.sock = found if secure is None else secure.wrap_socket(found, server_hostname=self.host)
            self._socket = self.sock
            return
        raise failed or OSError("the name has no address")

    def cut_off(self) -> None:
        """End whatever waits for the server."""
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)


def addresses_of(host: str, port: int, *, allow_private: bool) -> list[tuple[str, int]]:
    """The addresses of a name that may be connected to.

    Raises:
        FetchError: the name is not known.
        InputError: one of its addresses is not of the public internet, and that is not allowed.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"its name is not known: {host}") from error
    addresses = list(dict.fromkeys((str(one[4][0]), port) for one in found))
    inside = next((address for address, _ in addresses if not is_public(address)), None)
    if inside is not None and not allow_private:
        at = "" if inside == host.strip("[]") else f", at {inside},"
        raise InputError(f"{host}{at} is not of the public internet; --allow-private lets a check ask for it")
    return addresses


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, what it carries inside of it included.

    >>> [is_public(one) for one in ("93.184.215.14", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    known = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(known, ipaddress.IPv6Address):
        inner = known.ipv4_mapped or known.sixtofour or (known.teredo[1] if known.teredo else None)
        if inner is None and known in _NAT64:
            inner = ipaddress.IPv4Address(int(known) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return known.is_global and not known.is_multicast and not known.is_reserved and not known.is_unspecified


def _body(answer: http.client.HTTPResponse, headers: Mapping[str, str], deadline: float, most: int) -> bytes:
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise FetchError("it answered with a packed body, which was not asked for")
    if not 200 <= answer.status < 300:
        answer.read(_SPENT)  # what an error looks like is nobody's document
        return b""
    said = headers.get("content-length", "").strip()
    if said.isdigit() and int(said) > most:
        raise FetchError(f"it announced {int(said):,} bytes, and {most:,} are read of such a page")
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read1(_CHUNK):
        size += len(piece)
        if size > most:
            raise FetchError(f"it sent more than the {most:,} bytes that are read of such a page")
        if time.monotonic() >= deadline:
            raise FetchError("its answer was not complete in time")
        pieces.append(piece)
    if time.monotonic() >= deadline:
        raise FetchError("its answer was not complete in time")  # a connection that was cut off reads like an end
    if said.isdigit() and size < int(said):
        raise FetchError(f"it announced {int(said):,} bytes and sent {size:,}")
    return b"".join(pieces)
