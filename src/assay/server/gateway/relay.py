"""Forwards a request to its upstream and lets the answer out as the route's mode allows.

1. The request is read within its limits, and its field `assay` is taken out. 2. It is forwarded, byte for byte.
3. An error of the upstream goes back as it came. 4. An answer is checked as a whole, or a stream sentence by sentence.
5. What passes goes out as it came; what does not is replaced in the format's own shape.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, Final

import aiohttp

from assay.errors import InputError, PolicyError, StoreError
from assay.guard import Guard, Ruling, unchecked
from assay.schema import Action
from assay.server.cadence.overlays import Overlays
from assay.server.cadence.passing import Passing
from assay.server.caller import called, caller_of
from assay.server.checking import Checker, CheckFailedError
from assay.server.gateway.asgi import (
    JSON,
    ClientGoneError,
    Receive,
    Reply,
    Scope,
    Send,
    UntilGone,
    header,
    other_encoding,
    read_body,
)
from assay.server.gateway.escalated_answers import People, released
from assay.server.gateway.relay_stream import StreamRelay
from assay.server.gateway.request_context import RequestContext
from assay.server.gateway.targets import target_of, wire_of
from assay.server.gateway.upstream import (
    UpstreamClient,
    UpstreamError,
    coding_of,
    request_headers,
    require_plain,
    response_headers,
)
from assay.server.http.permitted_options import require_permitted
from assay.server.recording import Keeping, Records, failed_to_keep
from assay.server.reviews.held_answers import Held
from assay.server.settings import Mode, Route, ServerSettings
from assay.server.telemetry.requests import LOGGED
from assay.server.telemetry.telemetry import Answered
from assay.store.records import new_id
from assay.wire import (
    FIELD,
    Ask,
    CallChecker,
    Exchange,
    Json,
    RequestOptions,
    Reviser,
    check_new_calls,
    encoded,
    has_answer,
    read_object,
    read_request_options,
    require_held,
    require_stakes,
    resettled,
    sends_back,
    settled,
    with_member,
    without_member,
)

_log = logging.getLogger("assay.server.access")
SMALL_ANSWER: Final = 256 * 1024
"""Bytes up to which an answer that is passed on is collected first."""
_OF_ONE_BODY: Final = frozenset({b"idempotency-key", b"content-digest", b"content-md5", b"digest"})
"""Headers that mention one body and of no other."""
_EVENTS: Final = "text/event-stream"
_ERROR: Final = 400
"""The least status of an error."""
_QUOTED_FIELD: Final = f'"{FIELD}"'.encode()


class RefusedError(Exception):
    """A request is not forwarded."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Gateway:
    """The gateway's routes as one ASGI application."""

    def __init__(
        self,
        settings: ServerSettings,
        guard_of: Callable[[str | None], Guard],
        checker: Checker,
        client: UpstreamClient,
        records: Records,
        check_calls: CallChecker = check_new_calls,
        held: Held | None = None,
        overlays: Overlays | None = None,
        passing: Passing | None = None,
    ) -> None:
        """A gateway over an upstream client and a pool of checks; `check_calls` judges the calls of tools.

        What is decided on an answer is on record before the answer goes out (`assay.server.recording`).
        """
        self._records = records
        self._held = held
        self._overlays = overlays or Overlays()
        self._passing = passing or Passing()
        self._settings = settings
        self._guard_of = guard_of
        self._checker = checker
        self._client = client
        self._check_calls = check_calls
        self._upstreams = {upstream.name: upstream for upstream in settings.upstreams}
        self._behind: set[asyncio.Task[None]] = set()

    async def handle(self, scope: Scope, receive: Receive, send: Send, own_key: bytes | None = None) -> None:
        """Answers one request; `own_key` is the API key of this server that it came with."""
        reply = Reply(send)
        wire = wire_of(scope["path"])
        try:
            await self._forward(scope, receive, reply, own_key)
        except ClientGoneError:
            return
        except (RefusedError, UpstreamError) as error:
            await self._fail(reply, wire.error(error.status, str(error)), error.status)

    async def _fail(self, reply: Reply, error: Json, status: int) -> None:
        if not reply.started:
            await reply.json(status, error, [(b"x-assay-action", b"none")])

    async def finish(self) -> None:
        """Waits for the checks that follow answers which have gone out already."""
        if self._behind:
            await asyncio.wait(self._behind, timeout=self._settings.limits.shutdown_s)

    async def _forward(self, scope: Scope, receive: Receive, reply: Reply, own_key: bytes | None) -> None:
        begun = time.perf_counter()
        passage = self._passage(scope, begun)
        body = await read_body(scope, receive)
        encoding = other_encoding(scope, body)
        if encoding is not None:
            raise RefusedError(415, encoding)
        async with UntilGone(receive):
            exchange, body = self._exchange(scope, body, passage)
            plain = exchange is not None
            headers = request_headers(scope["headers"], passage.upstream, plain=plain, own_key=own_key)
            query = scope.get("query_string", b"").decode("latin-1")
            target = f"{passage.target.path}?{query}" if query else passage.target.path
            asked = time.perf_counter()
            telemetry, model = self._records.telemetry, None if exchange is None else exchange.request.get("model")
            span = None
            if passage.target.checked:
                named = model if isinstance(model, str) else None
                span, headers = telemetry.ask(passage.target.route, named, passage.upstream.name, headers)
            try:
                response = await self._client.send(passage.upstream, scope["method"], target, headers, body)
            except BaseException:
                telemetry.answered(span, None)
                raise
            passage.upstream_s += time.perf_counter() - asked
            scope[LOGGED] = True
            again = self._asker(passage, scope["method"], target, headers)
            try:
                kept = None
                if exchange is not None:
                    kept = Keeping(self._records, exchange, caller_of(scope), passage.route.mode)
                    kept.answered = Answered(span)
                await self._answer(response, passage, exchange, kept, reply, again)
            finally:
                # A body that was not read to its end cannot be skipped: its connection is closed, and the upstream
                # sees that nobody wants the rest.
                response.release() if response.content.at_eof() else response.close()
                if kept is None or kept.answered.response_id is None:
                    telemetry.answered(span, response.status)
                self._write_log(passage, reply)

    def _asker(self, passage: RequestContext, method: str, target: str, headers: list[tuple[bytes, bytes]]) -> Ask:
        """Asks the same upstream with another body."""

        async def ask(request: Json) -> Json:
            # A key of idempotence would bring the first answer back.
            kept = [pair for pair in headers if pair[0].lower() not in _OF_ONE_BODY]
            begun = time.perf_counter()
            response = await self._client.send(passage.upstream, method, target, kept, encoded(request))
            passage.upstream_s += time.perf_counter() - begun
            try:
                if not 200 <= response.status < 300:
                    raise UpstreamError(502, f"the upstream answered {response.status} when it was asked again")
                require_plain(response)
                return passage.shown(read_object(await self._read(response, passage), "the upstream's answer"))
            finally:
                response.release() if response.content.at_eof() else response.close()

        return ask

    def _passage(self, scope: Scope, begun: float) -> RequestContext:
        target = target_of(scope["method"], scope["path"])
        if target is None:
            raise RefusedError(404, _no_route(scope))
        route = self._settings.route(target.route)
        name = target.upstream or header(scope, b"x-assay-upstream") or route.upstream
        if not self._upstreams:
            raise RefusedError(404, "this server has no upstream; start it with `assay serve --upstream URL`")
        if name is not None and name not in self._upstreams:
            raise RefusedError(404, f"there is no upstream {name!r}; there are: {', '.join(self._upstreams)}")
        upstream = self._upstreams[name] if name is not None else self._settings.upstreams[0]
        return RequestContext(target, route, upstream, new_id(), begun)

    def _exchange(self, scope: Scope, body: bytes, passage: RequestContext) -> tuple[Exchange | None, bytes]:
        """What is needed to check the answer, none where it is not checked, and the body to forward."""
        target, route = passage.target, passage.route
        checks = target.checked and route.mode is not Mode.OFF
        if not checks and not (target.checked and _QUOTED_FIELD in body):
            return None, body
        try:
            request = read_object(body, "the request", most_depth=self._settings.limits.depth)
            asked = read_request_options(
                request.get(FIELD), header(scope, b"x-assay-policy"), header(scope, b"x-assay-stakes")
            )
            forwarded = without_member(body, FIELD) if FIELD in request else body
            if not checks:
                return None, forwarded
            tenant = caller_of(scope).tenant
            guard = self._overlays.over(self._guard(asked, route), tenant).for_tenant(tenant)
        except (InputError, PolicyError) as error:
            raise RefusedError(400, str(error)) from error
        caller = caller_of(scope)
        # By the id: names of people are forgotten with them.
        self._passing.note(caller.tenant, target.route, caller.id or caller.name, request, len(body))
        why = target.wire.refused(request)
        if why is not None and route.mode is Mode.ENFORCE:
            raise RefusedError(400, why)
        exchange = Exchange(
            target.wire, request, asked, guard, passage.report_id, route.stakes, route.fail_on, self._check_calls
        )
        return exchange, forwarded

    def _guard(self, asked: RequestOptions, route: Route) -> Guard:
        own: Guard = self._guard_of(route.policy)
        guard: Guard = own if asked.policy is None else self._guard_of(asked.policy)
        if asked.policy is not None:
            require_permitted(guard.policy, own.policy, route.policies)
        require_held(asked.task, guard.policy, route.tasks)
        require_stakes(asked.stakes, route.stakes)
        return guard

    async def _answer(
        self,
        response: aiohttp.ClientResponse,
        passage: RequestContext,
        exchange: Exchange | None,
        kept: Keeping | None,
        reply: Reply,
        again: Ask,
    ) -> None:
        if exchange is not None and response.status >= _ERROR and passage.route.mode is Mode.ENFORCE:
            await self._error(response, passage, exchange, reply)
        elif exchange is None or kept is None or not 200 <= response.status < 300:
            action = "unchecked" if passage.target.checked and response.status < 300 else "none"
            await self._pass_on(response, passage, reply, action)
        elif response.content_type == _EVENTS and exchange.request.get("stream"):
            people = People(self._held, passage.route, kept)
            relay = StreamRelay(response, passage, exchange, kept, reply, self._checker, self._settings.limits, people)
            await relay.run(self._later)
        elif passage.route.mode is Mode.SHADOW:
            body = await self._pass_on(response, passage, reply, "unchecked", keep=True)
            self._later(self._note(exchange, kept, body, passage))
        else:
            await self._whole(response, passage, exchange, kept, reply, again)

    async def _error(
        self, response: aiohttp.ClientResponse, passage: RequestContext, exchange: Exchange, reply: Reply
    ) -> None:
        """Sends an error on as it came, unless it has an answer in it, which nobody has checked, or cannot be read."""
        body = await self._read(response, passage)
        made = body
        if coding_of(response) is not None or response.content_type == _EVENTS or has_answer(exchange.wire.name, body):
            made = encoded(exchange.wire.error(response.status, "the upstream's error was withheld: it has an answer"))
        headers = response_headers(response, changed=made is not body)
        if made is not body:
            of_body = (b"content-type", b"content-encoding")
            headers = [*(pair for pair in headers if pair[0].lower() not in of_body), JSON]
        await reply.whole(response.status, [*headers, *passage.headers("none")], made)

    async def _pass_on(
        self,
        response: aiohttp.ClientResponse,
        passage: RequestContext,
        reply: Reply,
        action: str,
        *,
        keep: bool = False,
    ) -> bytes:
        """Sends an answer on as it comes; returns it where it is to be kept, as far as the limit goes."""
        if response.content_length is not None and response.content_length <= SMALL_ANSWER:
            # One write instead of three.
            body = await self._read(response, passage)
            await reply.whole(
                response.status, [*response_headers(response, changed=False), *passage.headers(action)], body
            )
            return body
        await reply.start(response.status, [*response_headers(response, changed=False), *passage.headers(action)])
        kept = bytearray()
        try:
            async for piece in response.content.iter_any():
                await reply.write(piece)
                if keep and len(kept) <= self._settings.limits.answer_bytes:
                    kept += piece
        except (aiohttp.ClientError, TimeoutError) as error:
            raise UpstreamError(502, "the upstream broke off its answer") from error
        await reply.end()
        return bytes(kept)

    async def _whole(
        self,
        response: aiohttp.ClientResponse,
        passage: RequestContext,
        exchange: Exchange,
        kept: Keeping,
        reply: Reply,
        again: Ask,
    ) -> None:
        body = await self._read(response, passage)
        kept.answered = self._answered(kept.answered, response.status, body)
        changed, ruling = body, unchecked("the answer was not checked")
        try:
            require_plain(response)
            changed, ruling = await self._checker.run(
                lambda: settled(exchange, body, passage.route.mode, hides=passage.hides)
            )
            decided = read_object(body, "the upstream's answer") if ruling.calls else None
            if passage.route.mode is Mode.ENFORCE and sends_back(passage.route.revise, ruling):
                changed, ruling, decided = await self._revised(exchange, body, (changed, ruling), passage, again)
            ruling = await kept.whole(ruling, decided)
            changed, ruling = await self._reviewed(exchange, body, (changed, ruling), passage, kept)
        except (CheckFailedError, InputError, StoreError) as error:
            ruling = unchecked(failed_to_keep(error) if isinstance(error, StoreError) else str(error))
            await kept.unread(ruling)
            if passage.route.mode is Mode.ENFORCE:
                # What is in the answer is not known, so nothing of it can be kept.
                passage.ruling = ruling
                changed = await self._unread(exchange, body, ruling, reply, passage)
            elif body.rstrip().endswith(b"}") and "content-encoding" not in response.headers:
                changed = with_member(body, ruling.summary(exchange.report_id))
        passage.ruling = ruling
        if reply.started:
            return
        headers = response_headers(response, changed=changed is not body)
        enforces = passage.route.mode is Mode.ENFORCE
        if enforces or response.content_type == _EVENTS:
            # It was read as plain JSON in UTF-8, a stream that nobody asked for too, and is to be read as nothing else.
            of_body = {b"content-type", b"content-encoding"} if enforces else {b"content-type"}
            headers = [*(pair for pair in headers if pair[0] not in of_body), JSON]
        await reply.whole(response.status, [*headers, *passage.headers(ruling.action)], changed)

    def _answered(self, answered: Answered, status: int, body: bytes) -> Answered:
        """The model's call with the id of its answer, where calls are traced and the answer can be read."""
        if answered.asked is None:
            return answered
        try:
            return self._records.telemetry.answered(answered.asked, status, read_object(body, "the upstream's answer"))
        except InputError:
            return answered

    async def _reviewed(
        self, exchange: Exchange, body: bytes, withheld: tuple[bytes, Ruling], passage: RequestContext, kept: Keeping
    ) -> tuple[bytes, Ruling]:
        """What a person decides on an answer that the gate escalated, where the route has its requests wait for it."""
        people = People(self._held, passage.route, kept)
        waits = people.can_decide(withheld[1])
        # What is blocked may have to be looked at too; it is answered at once, because nobody can release it.
        ruling = await people.decide(withheld[1]) if waits else None
        if withheld[1].action == Action.BLOCK.value:
            people.find(withheld[1])
        if people.state != "none":
            passage.review, passage.review_id = people.state, people.id
            passage.extra["review"] = people.state
        made = None if ruling is None else await asyncio.to_thread(released, exchange, passage.shown_body(body), ruling)
        return withheld if ruling is None or made is None else (made, ruling)

    async def _revised(
        self, exchange: Exchange, body: bytes, withheld: tuple[bytes, Ruling], passage: RequestContext, again: Ask
    ) -> tuple[bytes, Ruling, Json]:
        """A better answer in place of one that did not pass; the one that was withheld where there is none."""
        reviser = Reviser(
            exchange,
            self._checker,
            again,
            attempts=exchange.guard.attempts(passage.route.attempts),
            seconds=self._settings.limits.revise_s,
        )
        first = passage.shown(read_object(body, "the upstream's answer"))
        answer, ruling = await reviser.run(first, withheld[1])
        if not reviser.cost.requests:
            return *withheld, first
        cost = reviser.cost.summary()
        passage.extra["revision"] = {**cost, "attempts": len(reviser.cost.attempts)}
        return resettled(exchange, answer, ruling, cost), ruling, answer

    async def _unread(
        self, exchange: Exchange, body: bytes, ruling: Ruling, reply: Reply, passage: RequestContext
    ) -> bytes:
        """An answer in place of one that could not be checked; an error where it cannot even be read."""
        try:
            answer = passage.shown(read_object(body, "the upstream's answer"))
            made = exchange.wire.withhold(answer, ruling.notice or "", ruling.summary(exchange.report_id))
        except InputError as error:
            refused = exchange.wire.error(502, f"the upstream's answer was withheld: {error}")
            await reply.json(502, refused, passage.headers(ruling.action))
            return b""
        return encoded(made)

    async def _read(self, response: aiohttp.ClientResponse, passage: RequestContext) -> bytes:
        """The whole body of an answer."""
        most = self._settings.limits.answer_bytes
        begun = time.perf_counter()
        body = bytearray()
        try:
            while piece := await response.content.readany():
                body += piece
                if len(body) > most:
                    raise UpstreamError(502, f"the upstream's answer has more than the {most:,} bytes that are checked")
        except TimeoutError as error:
            raise UpstreamError(504, "the upstream was silent for too long in the middle of its answer") from error
        except aiohttp.ClientError as error:
            raise UpstreamError(502, "the upstream broke off its answer") from error
        passage.upstream_s += time.perf_counter() - begun
        called().read += len(body)
        return bytes(body)

    async def _note(self, exchange: Exchange, kept: Keeping, body: bytes, passage: RequestContext) -> None:
        """Checks an answer that has gone out, for the log."""
        try:
            _, ruling = await self._checker.run(lambda: settled(exchange, body, Mode.SHADOW))
            passage.ruling = ruling
            await kept.whole(ruling, read_object(body, "the upstream's answer") if ruling.calls else None)
        except (CheckFailedError, InputError, StoreError) as error:
            passage.ruling = unchecked(failed_to_keep(error) if isinstance(error, StoreError) else str(error))
            await kept.unread(passage.ruling)
        self._write_log(passage, None)

    def _later(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)

    def _write_log(self, passage: RequestContext, reply: Reply | None) -> None:
        metrics = self._records.telemetry.metrics
        if metrics is not None and reply is not None:
            metrics.overhead.labels(passage.target.route).observe(passage.overhead_ms() / 1000)
            metrics.upstream.labels(passage.target.route).observe(passage.upstream_s)
        if not _log.isEnabledFor(logging.INFO):
            return
        ruling = passage.ruling
        line = {
            "event": "answer" if reply is not None else "shadow",
            "report_id": passage.report_id,
            "route": passage.target.route,
            "upstream": passage.upstream.name,
            "mode": passage.route.mode.value,
            "status": reply.status if reply is not None else None,
            "action": ruling.action if ruling is not None else None,
            "score": ruling.score if ruling is not None else None,
            "reasons": list(ruling.reasons) if ruling is not None else [],
            "ms": round((time.perf_counter() - passage.begun) * 1000, 2),
            "overhead_ms": round(passage.overhead_ms(), 2),
            **passage.extra,
        }
        _log.info("%s %s", line["event"], passage.report_id, extra={"line": line})


def _no_route(scope: Scope) -> str:
    return (
        f"{scope['method']} {scope['path']} is not forwarded, because what it answers could not be checked; there are "
        "POST /v1/chat/completions, /v1/responses and /v1/messages, GET /v1/models and POST /v1/embeddings"
    )
