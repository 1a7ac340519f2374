"""Bounds on what a target may take: seconds of a call in this process, bytes and seconds of an exchange over HTTP."""

import http.client
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from assay.errors import InputError
from assay.redteam.targets.interface import TargetError

MOST_BYTES: Final = 8_000_000
"""Bytes of a response that are read; a longer one is a failure of the target."""
RETRIED: Final = frozenset({429, 500, 502, 503, 504})
"""Statuses after which a request is made again."""
_ATTEMPTS: Final = 3
_LONGEST_WAIT_S: Final = 30.0
_CHUNK: Final = 65_536


def in_time(call: Callable[[], Any], timeout_s: float, name: str) -> Any:
    """What a call gives; Python cannot stop a thread, so that a call that hangs keeps one until the process ends.

    Raises:
        TargetError: it raised, or took too long.
    """
    said: list[Any] = []
    failed: list[BaseException] = []

    def called() -> None:
        try:
            said.append(call())
        except BaseException as error:  # noqa: BLE001 whatever the code of a target does, the run goes on
            failed.append(error)

    thread = threading.Thread(target=called, daemon=True, name=name)
    thread.start()
    thread.join(timeout_s)
    if thread.is_alive():
        raise TargetError(f"{name}: no answer within {timeout_s:g} seconds")
    if failed:
        raise TargetError(f"{name}: {type(failed[0]).__name__}: {failed[0]}") from failed[0]
    return said[0]


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests go; redirects are not followed, since keys go along, and no proxy is asked."""

    secure: bool
    host: str
    port: int | None
    path: str
    """With its query."""

    @classmethod
    def of(cls, url: str) -> "Address":
        """Reads an address.

        Raises:
            InputError: it is none of HTTP, or has a password in it.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"expected the address of an endpoint such as http://localhost:8080/v1, got {url}")
        if parts.username or parts.password:
            raise InputError("an address with a password in it would stand in records: name a variable instead")
        try:
            port = parts.port
        except ValueError as error:
            raise InputError(f"{url}: {error}") from error
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        return cls(parts.scheme == "https", parts.hostname, port, path)

    def send(
        self, method: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float, name: str
    ) -> tuple[int, bytes]:
        """Sends a request, and again where the other side is busy.

        Args:
            method: of HTTP.
            body: what is sent.
            headers: those of the request.
            timeout_s: seconds that one exchange may take, to its last byte.
            name: what the target is called in messages.

        Returns:
            The status and the body of the last response.

        Raises:
            TargetError: it cannot be reached, sends too much or takes too long.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            status, wait, data = self._exchanged(method, body, headers, timeout_s, name)
            if status not in RETRIED or attempt == _ATTEMPTS:
                break
            time.sleep(min(_LONGEST_WAIT_S, wait if wait is not None else 0.5 * 2**attempt))
        return status, data

    def _exchanged(
        self, method: str, body: bytes | None, headers: Mapping[str, str], timeout_s: float, name: str
    ) -> tuple[int, float | None, bytes]:
        until = time.monotonic() + timeout_s
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        connection = kind(self.host, self.port, timeout=timeout_s)
        try:
            connection.request(method, self.path, body, dict(headers))
            response = connection.getresponse()
            data = bytearray()
            while chunk := response.read1(_CHUNK):
                data += chunk
                if len(data) > MOST_BYTES:
                    raise TargetError(f"{name}: sent more than {MOST_BYTES:,} bytes")
                left = until - time.monotonic()
                if left <= 0:
                    raise TargetError(f"{name}: no whole answer within {timeout_s:g} seconds")
                if connection.sock is not None:
                    connection.sock.settimeout(left)
            if response.length:  # what `read1` does not tell: the connection ended before the body did
                raise TargetError(f"{name}: the response broke off, {response.length:,} bytes before its end")
            after = response.headers.get("retry-after", "")
            return response.status, float(after) if after.isdecimal() else None, bytes(data)
        except TimeoutError as error:
            raise TargetError(f"{name}: cannot be reached: no answer within {timeout_s:g} seconds") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise TargetError(f"{name}: cannot be reached: {error or type(error).__name__}") from error
        finally:
            connection.close()
