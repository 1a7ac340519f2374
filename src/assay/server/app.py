"""The server as one ASGI application: the REST routes, the gateway, and what holds for both."""

import gc
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI

from assay.errors import PolicyError
from assay.server.api import make_api
from assay.server.checking import Checker
from assay.server.gateway.asgi import Receive, Reply, Scope, Send, header
from assay.server.gateway.exchange import CallChecker, check_new_calls
from assay.server.gateway.relay import Gateway
from assay.server.gateway.targets import is_gateway, wire_of
from assay.server.gateway.upstream import UpstreamClient
from assay.server.guards import Guards
from assay.server.keys import PREFIX, KeyFile
from assay.server.problems import MEDIA_TYPE, encoded, problem
from assay.server.settings import ServerSettings, is_loopback

_log = logging.getLogger("assay.server")

_OPEN: Final = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""Paths that need no key."""


class Application:
    """The application: it admits a request, and hands it to the gateway or to the REST routes."""

    def __init__(self, settings: ServerSettings, guards: Callable[[], Guards], check_calls: CallChecker) -> None:
        """An application; `guards` is called when it starts, because loading the network takes a moment."""
        self._settings = settings
        self._keys = KeyFile(settings.keys) if settings.keys is not None else None
        limits = settings.limits
        self.checker = Checker(limits.check_threads, limits.check_queue, limits.check_s)
        self._client = UpstreamClient(limits)
        self._guards = guards
        self._ready: Guards | None = None
        self._in_flight = 0
        self.api = make_api(settings, self._guard_of, self.checker, self._is_ready, self._lifespan)
        self.gateway = Gateway(settings, self._guard_of, self.checker, self._client, check_calls)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or follows the server's life."""
        if scope["type"] == "lifespan":
            await self.api(scope, receive, send)
        elif scope["type"] == "http":
            await self._admit(scope, receive, send)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        refusal, key = self._refusal(scope)
        if refusal is not None:
            await _refuse(scope, send, *refusal)
            return
        self._in_flight += 1
        try:
            if is_gateway(path):
                await self.gateway.handle(scope, receive, send, key)
            else:
                await self.api(scope, receive, send)
        finally:
            self._in_flight -= 1

    def _refusal(self, scope: Scope) -> tuple[tuple[int, str] | None, bytes | None]:
        """Why a request is not admitted, and the API key of this server that it came with."""
        if scope["path"] in _OPEN:
            return None, None
        if self._in_flight >= self._settings.limits.in_flight:
            return (503, "the server handles as many requests as it may; try again in a moment"), None
        if self._keys is None:
            return _foreign(scope), None
        key = _key_of(scope)
        wanted = "gateway" if is_gateway(scope["path"]) else "check"
        if key is None:
            return (401, "expected an API key of this server in x-assay-key or as a bearer token; got none"), None
        try:
            allowed = self._keys.allows(key, wanted)
        except PolicyError:
            _log.exception("the file of API keys cannot be read")
            return (503, "API keys cannot be checked now; tell the operator of this server"), None
        if not allowed:
            return (401, f"the API key is unknown, has ended, or is not good for the scope {wanted!r}"), None
        return None, key.encode()

    def _guard_of(self, policy: str | None) -> Any:
        if self._ready is None:
            raise PolicyError("the server has not loaded its network yet; ask again in a moment")
        return self._ready.get(policy)

    def _is_ready(self) -> bool:
        return self._ready is not None and not self.checker.full

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self._ready = self._guards()
        await self._client.start()
        # What is loaded now stays: the collector need not walk through it again and again.
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            # Requests have ended by now; checks that follow their answers have not.
            await self.gateway.finish()
            await self._client.close()
            self.checker.close()
            gc.unfreeze()

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Starts the application and stops it again, for a program that serves it without an ASGI server."""
        return self._lifespan(self.api)


def create_app(
    settings: ServerSettings | None = None,
    *,
    guards: Callable[[], Guards] | None = None,
    check_calls: CallChecker = check_new_calls,
) -> Application:
    """The application that settings describe.

    Args:
        settings: what the server is told; the embedded default without an upstream where none are given.
        guards: makes the guards when the server starts; from the settings by default.
        check_calls: judges the calls of tools; stage 1 of the check by default.
    """
    told = settings or ServerSettings()
    return Application(told, guards or (lambda: Guards(told.policy, model=told.model)), check_calls)


def _key_of(scope: Scope) -> str | None:
    """The API key of this server in a request; keys of upstreams begin otherwise."""
    own = header(scope, b"x-assay-key")
    if own is not None:
        return own.strip()
    for name in (b"authorization", b"x-api-key"):
        value = (header(scope, name) or "").strip()
        value = value[7:].strip() if value[:7].lower() == "bearer " else value
        if value.startswith(PREFIX):
            return value
    return None


def _foreign(scope: Scope) -> tuple[int, str] | None:
    """Why a request without a key is refused: a page of a browser may reach a loopback address too."""
    for name in (b"host", b"origin"):
        value = header(scope, name)
        if value is None or (name == b"origin" and value == "null"):
            continue
        host = urlsplit(value if "//" in value else f"//{value}").hostname
        if host is None or not is_loopback(host):
            said = name.decode()
            return 403, f"without API keys only this machine is served; the header {said} names {value[:80]!r}"
    return None


async def _refuse(scope: Scope, send: Send, status: int, message: str) -> None:
    reply = Reply(send)
    path = scope["path"]
    headers = [(b"retry-after", b"1")] if status == 503 else []
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    if is_gateway(path):
        await reply.json(status, wire_of(path).error(status, message), headers)
        return
    document = problem(status, message, code={401: "key.needed", 403: "request.foreign"}.get(status, "server.busy"),
                       instance=path, todo=_TODO.get(status))  # fmt: skip
    await reply.whole(status, [(b"content-type", MEDIA_TYPE.encode()), *headers], encoded(document))


_TODO: Final = {
    401: "Send a key that `assay keys create` has made, with the scope that the route needs.",
    403: "Ask from this machine, or start the server with --keys.",
    503: "Try again; if it goes on, start more workers.",
}
