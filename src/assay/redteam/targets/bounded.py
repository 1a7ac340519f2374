"""Bounds on targets: the seconds of a call in this process, and the bytes and seconds of an exchange over HTTP."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import InputError
from assay.redteam.targets.interface import TargetError

MOST_BYTES: Final = 8_000_000
"""The most bytes of a response; a longer one is a failure of the target."""
RETRIED: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses after which a request is repeated."""
_ATTEMPTS: Final = 3
_LONGEST_WAIT_S: Final = 30.0
_CHUNK: Final = 65_536


def call_within(call: Callable[[], Any], timeout_s: float, name: str) -> Any:
    """Calls a function in a thread and returns its result, if it comes in time.

    Python cannot stop a thread: a call that hangs occupies one until the process ends.

    Args:
        call: the function, which is code of the user.
        timeout_s: the most seconds that it may take.
        name: the name of the target, for messages.

    Raises:
        TargetError: it raised or took too long.
    """
    results: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # noqa: BLE001 the user's code may raise anything: raised below as a TargetError
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name=name)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise TargetError(f"{name}: no answer within {timeout_s:g} seconds")
    if errors:
        raise TargetError(f"{name}: {type(errors[0]).__name__}: {errors[0]}") from errors[0]
    return results[0]


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an HTTP service. Redirects are not followed, since requests carry keys, and no proxy is used."""

    secure: bool
    host: str
    port: int | None
    path: str
    """With its query."""

    @classmethod
    def of(cls, url: str) -> "Address":
        """Parses an address.

        Raises:
            InputError: it is not an HTTP address, or contains a user name or password.
        """
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:  # its text quotes parts of the address, and with them possibly a password
            raise InputError(
                "the address of an endpoint cannot be parsed; expected one such as http://localhost:8080/v1"
            ) from None
        if parts.username or parts.password:
            raise InputError("an address with a password in it would stand in records: name a variable instead")
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"expected the address of an endpoint such as http://localhost:8080/v1, got {url}")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme == "https", parts.hostname, port, path)

    def send(
        self, method: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float, name: str
    ) -> tuple[int, bytes]:
        """Sends a request, up to three times while the server is busy.

        Args:
            method: the HTTP method.
            body: the body of the request.
            headers: the headers of the request.
            timeout_s: the most seconds of one exchange, to its last byte.
            name: the name of the target, for messages.

        Returns:
            The status and the body of the last response.

        Raises:
            TargetError: it cannot be reached, sends too much or takes too long.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            status, wait, data = self._exchange(method, body, headers, timeout_s, name)
            if status not in RETRIED or attempt == _ATTEMPTS:
                break
            time.sleep(min(_LONGEST_WAIT_S, wait if wait is not None else 0.5 * 2**attempt))
        return status, data

    def _exchange(
        self, method: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float, name: str
    ) -> tuple[int, float | None, bytes]:
        deadline = time.monotonic() + timeout_s
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=timeout_s)
        try:
            connection.connect()
            with _cut_off_at(deadline, connection.sock):
                connection.request(method, self.path, body, dict(headers))
                response = connection.getresponse()
                data = _read_body(response, name)
            if time.monotonic() >= deadline:  # a connection that was cut off looks like one that has ended
                raise TimeoutError
            if response.length:  # `read1` does not report that the connection ended before the body did
                raise TargetError(f"{name}: the response broke off, {response.length:,} bytes before its end")
            retry_after = response.headers.get("retry-after", "")
            return response.status, float(retry_after) if retry_after.isdecimal() else None, data
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(error, TimeoutError) or time.monotonic() >= deadline:
                raise TargetError(f"{name}: no whole answer within {timeout_s:g} seconds") from error
            raise TargetError(f"{name}: cannot be reached: {error or type(error).__name__}") from error
        finally:
            connection.close()


@contextmanager
def _cut_off_at(deadline: float, sock: socket.socket) -> Iterator[None]:
    """Ends whatever waits for a socket once a deadline has passed.

    The timeout of a socket bounds each read: a server that sends a byte now and then would never hit it.
    """

    def cut_off() -> None:
        # Of the socket below TLS: to end the session itself would disturb the thread that reads from it.
        with suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), cut_off)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _read_body(response: http.client.HTTPResponse, name: str) -> bytes:
    data = bytearray()
    while chunk := response.read1(_CHUNK):
        data += chunk
        if len(data) > MOST_BYTES:
            raise TargetError(f"{name}: sent more than {MOST_BYTES:,} bytes")
    return bytes(data)
