"""What the adapters of the official SDKs share: clients that are made when needed, and errors in one form."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import threading
import unicodedata
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from assay.errors import ChatError

DEFAULT_TIMEOUT_S: Final = 120.0
"""Seconds that one request may take by default."""
RETRYABLE: Final = frozenset({408, 409, 425, 429})
"""The statuses below 500 after which asking again may help."""
LONGEST_REASON: Final = 300
"""Characters of an endpoint's own words that are in an error."""

Sync = TypeVar("Sync")
Async = TypeVar("Async")


class Clients(Generic[Sync, Async]):
    """One synchronous client, and one for each event loop: connections belong to the loop that opened them."""

    def __init__(self, make: Callable[[], Sync], make_async: Callable[[], Async]) -> None:
        self._make = make
        self._make_async = make_async
        self._lock = threading.Lock()
        self._sync: Sync | None = None
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Async] = WeakKeyDictionary()

    @property
    def sync(self) -> Sync:
        """The synchronous client."""
        with self._lock:
            if self._sync is None:
                self._sync = self._make()
            return self._sync

    @property
    def here(self) -> Async:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._by_loop.get(loop)
            if client is None:
                client = self._by_loop[loop] = self._make_async()
            return client

    def take_sync(self) -> Sync | None:
        """The synchronous client, if there is one, to be closed; the next call makes another one."""
        with self._lock:
            client, self._sync = self._sync, None
            return client

    def take_here(self) -> Async | None:
        """The same for the client of the running event loop."""
        with self._lock:
            return self._by_loop.pop(asyncio.get_running_loop(), None)


class SdkChat:
    """What the chat models over an official SDK share: their connections, and how they are named in errors."""

    _model: str
    _clients: Clients[Any, Any]

    def close(self) -> None:
        """Close the synchronous connections."""
        client = self._clients.take_sync()
        if client is not None:
            client.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.take_here()
        if client is not None:
            await client.close()

    @property
    def _where(self) -> str:
        return f"model {self._model!r}"


def client_error(where: str, error: Exception) -> ChatError:
    """The error for a client that the SDK does not make."""
    return ChatError(f"{where}: the client cannot be made: {clean(str(error))}")


def client_errors(sdk: type[Exception]) -> tuple[type[Exception], ...]:
    """What a client's constructor raises: the error of its SDK, `ValueError`, and whatever the HTTP library below it
    raises for a base URL that it cannot read."""
    loaded = (sys.modules.get(name) for name in ("httpx", "httpx2"))
    return (sdk, ValueError, *(module.InvalidURL for module in loaded if module is not None))


def settings_digest(**settings: Any) -> str:
    """Identifies settings; no secret may be among them."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


def status_error(where: str, status: int, body: object, headers: Mapping[str, str]) -> ChatError:
    """The error for an HTTP error status; the message of the endpoint is cleaned, cut and quoted."""
    code, words = _said(body)
    exhausted = code in {"insufficient_quota", "billing_error"}
    retryable = (status in RETRYABLE or status >= 500) and not exhausted
    detail = f": {words}" if words else ""
    return ChatError(
        f"{where}: the endpoint answered with status {status}{detail}",
        retryable=retryable,
        wait=_wait(headers) if retryable else None,
        calls=1,
    )


def connection_error(where: str, error: Exception) -> ChatError:
    """The error for an endpoint that cannot be reached, or not in time."""
    cause = error.__cause__ or error
    return ChatError(
        f"{where}: the endpoint could not be reached ({type(cause).__name__}: {clean(str(cause))}); "
        "is it running, and is the base URL right?",
        retryable=True,
        calls=1,
    )


def unsendable_error(where: str, error: UnicodeError) -> ChatError:
    """The error for a request that cannot be encoded: half of a surrogate pair in a text, a key that is not ASCII, or a
    host in the base URL that is no name."""
    if isinstance(error, UnicodeEncodeError) and error.encoding != "idna":
        return ChatError(f"{where}: the request holds a character that cannot be sent ({error.reason})")
    return ChatError(f"{where}: the base URL cannot be read: {clean(str(error))}")


def refused_parameter(body: object, optional: Collection[str]) -> str | None:
    """The optional setting that an endpoint rejects by name; none where it names none."""
    error = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(error, Mapping):
        return None
    named = error.get("param")
    words = str(error.get("message", "")).lower()
    if isinstance(named, str):
        root = named.split(".")[0]
        return root if root in optional else None
    hint = any(
        word in words for word in ("not supported", "unsupported", "not permitted", "unrecognized", "deprecated")
    )
    # The longest first: "top_logprobs" has "logprobs" in it. Short names such as "n" are in too many sentences.
    long = sorted((name for name in optional if len(name) > 3), key=len, reverse=True)
    return next((name for name in long if hint and name in words), None)


def _said(body: object) -> tuple[str, str]:
    error = body.get("error", body) if isinstance(body, Mapping) else body
    if isinstance(error, Mapping):
        code = error.get("code") or error.get("type")
        return (code if isinstance(code, str) else ""), clean(str(error.get("message", "")))
    return "", clean(error) if isinstance(error, str) else ""


def clean(text: str) -> str:
    """Foreign text on one line, without control characters, cut to `LONGEST_REASON`."""
    kept = "".join(c if unicodedata.category(c)[0] not in "CZ" else " " for c in text[: 4 * LONGEST_REASON])
    words = " ".join(kept.split())
    return words if len(words) <= LONGEST_REASON else f"{words[: LONGEST_REASON - 1]}…"


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait; a date is not read, the back-off serves as well."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    return None
