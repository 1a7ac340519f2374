"""The server as one ASGI application: the REST routes, the gateway, and what holds for both."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI

from assay.config import read_settings
from assay.errors import AssayError, MissingPackageError, PolicyError
from assay.receipt import Keys, open_keys
from assay.server.access.addresses import address_of, is_encrypted
from assay.server.access.key_file import KeyFile
from assay.server.access.middleware import SAFE_METHODS, AccessMiddleware, with_headers
from assay.server.access.refusals import RefusalCounter
from assay.server.api import make_api
from assay.server.background import Background
from assay.server.cadence.overlays import Overlays
from assay.server.cadence.passing import Passing, new_source
from assay.server.caller import SCOPE_KEY, ActiveRequest, Caller, answering, owner_of
from assay.server.checking import Checker
from assay.server.gateway.asgi import (
    ClientGoneError,
    Message,
    Receive,
    Reply,
    Scope,
    Send,
    SlowBodyError,
    TooLargeError,
    replay_body,
)
from assay.server.gateway.relay import Gateway
from assay.server.gateway.targets import is_gateway, wire_of
from assay.server.gateway.upstream import UpstreamClient
from assay.server.guards import Guards, require_model
from assay.server.http.admission import NOBODY, OPEN_PATHS, Access, KeyFileAccess, Refusal, key_of
from assay.server.http.bodies import STRANGER_BYTES, Bodies, NoRoomError, Room, Shares, has_body
from assay.server.http.head_requests import CLIENT_GONE_ERRORS, AsGet
from assay.server.http.permitted_options import unknown_headers, unread_headers
from assay.server.http.problems import MEDIA_TYPE, problem
from assay.server.http.turns import Turns, takes_turn
from assay.server.logs.request_ids import current_id, request_id_of, with_request_id
from assay.server.recording import Recorder
from assay.server.reviews.held_answers import HeldAnswers
from assay.server.services import Services
from assay.server.settings import ServerSettings
from assay.server.telemetry.requests import CLIENT_METHOD, ObservedRequest
from assay.server.telemetry.telemetry import Telemetry, telemetry_of
from assay.server.verdicts import VerdictCache
from assay.wire import CallChecker, check_new_calls, encoded

if TYPE_CHECKING:
    from assay.store.db import Store

REFUSING_STATUSES: Final = frozenset({401, 403, 429})
"""Statuses of refusals that are counted for the audit log."""
SWITCH_S: Final = 0.001
"""How long a thread of a server's own process may keep the others from Python; 5 ms by default."""
_CLOSE_CONNECTION: Final = ((b"connection", b"close"),)
"""Closes the connection where the rest of a body is not read: the next request could not be told from it."""
_PASSWORD_PATHS: Final = frozenset({"/v1/me/password", "/console/password"})
_REFUSAL_KEY: Final = "assay.refusal"
"""The key of a request's `Refusal` in its ASGI scope."""

_log = logging.getLogger("assay.server")


class Application:
    """The application: it admits a request, and hands it to the gateway or to the REST routes."""

    def __init__(
        self,
        settings: ServerSettings,
        guards: Callable[[], Guards],
        check_calls: CallChecker,
        *,
        store: "Store | None" = None,
        access: Access | None = None,
        keys: Keys | None = None,
        owns_process: bool = False,
        telemetry: Telemetry | None = None,
    ) -> None:
        """An application; `guards` is called when it starts, because loading the network takes a moment.

        Raises:
            StoreError: the database that the settings name cannot be opened.
            ReceiptError: the keys that the environment names cannot be opened.
        """
        self._settings = settings
        self._owns_process = owns_process
        limits = settings.limits
        self.checker = Checker(limits.check_threads, limits.check_queue, limits.check_s)
        self._client = UpstreamClient(limits)
        self._guards = guards
        self._ready: Guards | None = None
        self._in_flight = Shares(limits.in_flight)
        self._bodies = Bodies(limits)
        self._turns = Turns(limits.answers)
        self._own_store = open_store(settings) if store is None else None
        kept = store or self._own_store
        self._access = access or _access_of(settings, kept)
        self._refusals = None if kept is None else RefusalCounter(kept.now)
        self.services = Services(
            settings,
            self._guard_of,
            self.checker,
            self._access,
            kept,
            keys or _keys_of(os.environ),
            self._refusals,
            telemetry or telemetry_of(os.environ),
            Overlays(settings.monitor.budget if settings.monitor is not None and kept is not None else None),
            Passing(on=settings.monitor is not None and kept is not None),
        )
        self._telemetry = self.services.telemetry
        self._telemetry.follow(self.checker, limits.check_queue, kept)
        self._background = Background(self.services)
        held = HeldAnswers(self.services)
        self._verdicts = VerdictCache(self.checker, kept, settings.cache, self._telemetry)
        self.api = make_api(self.services, self._is_ready, self._lifespan, held, self._verdicts)
        self._access_middleware = AccessMiddleware(self.api, settings.access, _refuse)
        self.gateway = Gateway(
            settings,
            self._guard_of,
            self.checker,
            self._client,
            Recorder(self.services),
            check_calls,
            held,
            self.services.overlays,
            self.services.passing,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request, or follows the server's life; lines of the log say which request they are about."""
        if scope["type"] != "http":
            await self._serve(scope, receive, send)
            return
        id_ = request_id_of(scope)
        token = current_id.set(id_)
        try:
            await self._serve(scope, receive, with_request_id(send, id_))
        finally:
            current_id.reset(token)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.api(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "HEAD":
            head = AsGet(receive, send)
            try:
                await self({**head.scope(scope), CLIENT_METHOD: "HEAD"}, head.receive, head.send)
            except CLIENT_GONE_ERRORS:
                if not head.ended:
                    raise
        elif scope["type"] == "http":
            forwards = is_gateway(scope["path"])
            if not forwards:
                send = with_headers(send, encrypted=is_encrypted(scope, self._settings.access))
            observed = ObservedRequest(self._telemetry, scope, send)
            try:
                await self._admit(scope, receive, observed.send, forwards=forwards)
            finally:
                observed.end()

    async def _admit(self, scope: Scope, receive: Receive, send: Send, *, forwards: bool) -> None:
        caller = await self._caller(scope)
        if isinstance(caller, Refusal):
            self._count_refusal(scope, caller.status, caller)
            await _refuse(scope, send, caller)
            return
        headers, path = scope["headers"], scope["path"]
        fault = unknown_headers(headers) or unread_headers(path, headers, gateway=is_gateway(path))
        if fault is not None:
            await _refuse(scope, send, Refusal(400, fault, code="request.headers"))
            return
        scope[SCOPE_KEY] = caller
        if not forwards:
            send = self._counting_refusals(scope, send)
        address = address_of(scope, self._settings.access)
        active = ActiveRequest(owner_of(caller, address))
        if scope["path"] not in OPEN_PATHS and not self._in_flight.take(active.owner):
            await _refuse(scope, send, Refusal(503, "you have as many requests open as one caller may; end some first"))
            return
        try:
            with self._bodies.room(active.owner) as room:
                body = await self._body(scope, receive, room, address, caller)
                if isinstance(body, Refusal):
                    await _refuse(scope, send, body)
                    return
                active.read = len(body)
                receive = replay_body(body, receive)
                with answering(active):
                    await self._answer(scope, receive, send, active.owner, forwards=forwards)
        except ClientGoneError:
            return
        finally:
            if scope["path"] not in OPEN_PATHS:
                self._in_flight.give_back(active.owner)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, owner: str, *, forwards: bool) -> None:
        if forwards:
            api_key = key_of(scope)
            await self.gateway.handle(scope, receive, send, None if api_key is None else api_key.encode())
        elif takes_turn(scope):
            async with self._turns.turn(owner, send) as sending:
                await self._access_middleware(scope, receive, sending)
        else:
            await self._access_middleware(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive, room: Room, address: str, caller: Caller) -> bytes | Refusal:
        """The whole body of a request, or why it is refused.

        Raises:
            ClientGoneError: the client closed its connection before the end.
        """
        if scope["method"] in SAFE_METHODS and not has_body(scope):
            return b""
        stranger = caller.kind == NOBODY.kind
        try:
            if stranger:
                return await self._bodies.read_of_stranger(scope, receive, room, address)
            return await self._bodies.read(scope, receive, room)
        except TooLargeError:
            most = self._settings.limits.body_bytes
            most = min(STRANGER_BYTES, most) if stranger else most
            return Refusal(413, f"a request has at most {most:,} bytes; this one has more", _CLOSE_CONNECTION)
        except SlowBodyError as error:
            return Refusal(408, str(error), _CLOSE_CONNECTION)
        except NoRoomError:
            return Refusal(
                503, "the server holds as much of requests as it may; try again in a moment", _CLOSE_CONNECTION
            )

    def _counting_refusals(self, scope: Scope, send: Send) -> Send:
        """A `send` that counts answers that refuse, whichever route or middleware gives them."""

        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in REFUSING_STATUSES:
                self._count_refusal(scope, message["status"], scope.get(_REFUSAL_KEY))
            await send(message)

        return send_and_count

    def _count_refusal(self, scope: Scope, status: int, refusal: Refusal | None) -> None:
        """Count a refusal for the audit log.

        Wrong passwords are counted by the sign-in, which knows whose they were; a request without credentials that is
        asked for some was not refused.
        """
        counted_elsewhere = refusal is None and (status == 401 or scope["path"] in _PASSWORD_PATHS)
        without_key = status == 401 and key_of(scope) is None
        if self._refusals is None or status not in REFUSING_STATUSES or counted_elsewhere or without_key:
            return
        caller = scope.get(SCOPE_KEY) if refusal is None or refusal.caller is None else refusal.caller
        route = getattr(scope.get("route"), "path", None) or "another"
        address = address_of(scope, self._settings.access)
        self._refusals.note_request(refusal, status, caller, address, f"{scope['method']} {route}")

    async def _caller(self, scope: Scope) -> Caller | Refusal:
        """Who a request comes from, or why it is not admitted."""
        if scope["path"] in OPEN_PATHS:
            return NOBODY
        if self._in_flight.total >= self._settings.limits.in_flight:
            return Refusal(503, "the server handles as many requests as it may; try again in a moment")
        try:
            return await self._access.caller(scope)
        except AssayError:
            _log.exception("it cannot be decided who a request comes from")
            return Refusal(503, "callers cannot be distinguished now; tell the operator of this server")

    def _guard_of(self, policy: str | None) -> Any:
        if self._ready is None:
            raise PolicyError("the server has not loaded its network yet; ask again in a moment")
        return self._ready.get(policy)

    def _is_ready(self) -> bool:
        return self._ready is not None and not self.checker.full

    def before_fork(self) -> None:
        """Release what processes must not share: database connections, and the files of the metrics.

        For an application that was created and not started: none of its threads runs yet.
        """
        if self._own_store is not None:
            self._own_store.release()
        self._telemetry.release()

    def after_fork(self, *, first: bool) -> None:
        """Give a new process an identity of its own.

        Args:
            first: whether this worker runs the tasks of the database (`assay.server.background`).
        """
        if not first:
            self._background.leave_turns()
        self.services.passing.source = new_source()
        self._telemetry.follow(self.checker, self._settings.limits.check_queue, self.services.kept)

    @asynccontextmanager
    async def _lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self._ready = self._guards()
        await self._client.start()
        if self.services.overlays.on:
            # Read before the first request, so that none is answered under a looser policy than the one in force.
            await asyncio.to_thread(self.services.overlays.read, self.services.store)
        self._background.start()
        if self._owns_process:
            # What is loaded now stays: the collector need not walk through it again and again.
            gc.collect()
            gc.freeze()
            # Threads that check give way to the loop sooner: requests that need no check wait less.
            sys.setswitchinterval(SWITCH_S)
        try:
            yield
        finally:
            # Requests have ended by now; checks that follow their answers have not.
            await self.gateway.finish()
            await self._client.close()
            await self._background.stop()
            self.checker.close()
            self._verdicts.close()
            self._ready.close()
            await asyncio.to_thread(self._telemetry.close)
            if self._own_store is not None:
                self._own_store.close()

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Starts the application and stops it again, for a program that serves it without an ASGI server."""
        return self._lifespan(self.api)


def create_app(
    settings: ServerSettings | None = None,
    *,
    guards: Callable[[], Guards] | None = None,
    check_calls: CallChecker = check_new_calls,
    store: "Store | None" = None,
    access: Access | None = None,
    keys: Keys | None = None,
    owns_process: bool = False,
    telemetry: Telemetry | None = None,
) -> Application:
    """The application that settings describe.

    Args:
        settings: the settings; those of a loopback server without an upstream by default.
        guards: creates the guards when the server starts; from the settings by default.
        check_calls: checks tool calls; stage 1 of the check by default.
        store: a store that its owner closes; the one that the settings name by default.
        access: authenticates callers; by the database or the file of API keys that the settings name by default.
        keys: the keys that sign checkpoints and receipts; those that `ASSAY_RECEIPT_KEYS` names by default.
        owns_process: whether the process serves nothing else, so that its objects may be frozen out of garbage
            collection after the start.
        telemetry: metrics and traces; by default metrics, and traces where `OTEL_*` asks for them.

    Raises:
        StoreError: the database that the settings name cannot be opened.
        PolicyError: a policy requires a chat model, and none is configured.
    """
    chosen = settings or ServerSettings()
    if guards is None:
        require_model(chosen)
    made = guards or (lambda: Guards(chosen.policy, model=chosen.model, judge=chosen.judge, database=chosen.database))
    return Application(
        chosen, made, check_calls, store=store, access=access, keys=keys, owns_process=owns_process, telemetry=telemetry
    )


def _keys_of(environ: Mapping[str, str]) -> Keys | None:
    found = read_settings(environ).receipt_keys
    return None if found is None else open_keys(found)


def _access_of(settings: ServerSettings, store: "Store | None") -> Access:
    """Access by the database where there is one, beside the file of keys; else by the file alone."""
    if store is None:
        return KeyFileAccess(KeyFile(settings.keys) if settings.keys is not None else None)
    from assay.server.access.authentication import StoreAccess

    return StoreAccess(store, settings)


def open_store(settings: ServerSettings) -> "Store | None":
    """The store that the settings name; none where they name none.

    Raises:
        StoreError: it cannot be opened.
        MissingPackageError: the packages of the store are not installed.
    """
    if settings.database is None:
        return None
    try:
        from assay.store.db import Store
    except ImportError as error:
        raise MissingPackageError("--database needs SQLAlchemy and Alembic: pip install 'assay-ai[store]'") from error
    return Store(settings.database)


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    scope[_REFUSAL_KEY] = refusal
    reply = Reply(send)
    status, path = refusal.status, scope["path"]
    headers = list(refusal.headers)
    headers += [(b"retry-after", b"1")] if status == 503 else []
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    if is_gateway(path):
        await reply.json(status, wire_of(path).error(status, refusal.message), headers)
        return
    code = refusal.code or _PROBLEM_CODES.get(status, "server.busy")
    document = problem(
        status, refusal.message, code=code, instance=path, todo=None if refusal.code else _PROBLEM_ADVICE.get(status)
    )
    await reply.whole(status, [(b"content-type", MEDIA_TYPE.encode()), *headers], encoded(document))


_PROBLEM_CODES: Final = {
    401: "key.needed",
    403: "request.foreign",
    408: "request.slow",
    413: "request.too_large",
    429: "rate.exceeded",
}
_PROBLEM_ADVICE: Final = {
    408: "Send the body at once after the head.",
    413: "Send it in parts.",
    401: "Send a key that `assay keys create` has made, with the scope that the route needs.",
    403: "Ask from this machine, or start the server with --keys.",
    503: "Try again; if it goes on, start more workers.",
}
