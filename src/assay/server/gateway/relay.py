"""Forwards a request to its upstream and releases the answer as the route's mode allows.

1. The request is read within its limits, and its field `assay` is removed. 2. It is forwarded, byte for byte.
3. An upstream's error is returned as it came, unless it holds an answer. 4. An answer is checked as a whole, a stream
sentence by sentence. 5. What passes is released as it came; what does not is replaced in the format's own shape.
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
from assay.server.gateway.escalated_answers import ReviewWait, released
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
from assay.server.recording import AnswerRecorder, Recorder, failed_to_keep
from assay.server.reviews.held_answers import HeldAnswers
from assay.server.settings import Mode, Route, ServerSettings
from assay.server.telemetry.requests import LINE_WRITTEN
from assay.server.telemetry.telemetry import ModelAnswer
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
"""The largest answer, in bytes, that is passed on in one write."""
_BODY_SPECIFIC_HEADERS: Final = frozenset({b"idempotency-key", b"content-digest", b"content-md5", b"digest"})
"""Request headers that belong to one body and to no other."""
_EVENTS: Final = "text/event-stream"
_LEAST_ERROR: Final = 400
"""The lowest status of an error."""
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
        records: Recorder,
        check_calls: CallChecker = check_new_calls,
        held: HeldAnswers | None = None,
        overlays: Overlays | None = None,
        passing: Passing | None = None,
    ) -> None:
        """A gateway over an upstream client and a pool of checks; `check_calls` checks tool calls.

        Decisions are recorded before the answer goes out (`assay.server.recording`).
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
        self._following: set[asyncio.Task[None]] = set()

    async def handle(self, scope: Scope, receive: Receive, send: Send, own_key: bytes | None = None) -> None:
        """Answers one request; `own_key` is the API key of this server that it carries."""
        reply = Reply(send)
        wire = wire_of(scope["path"])
        try:
            await self._forward(scope, receive, reply, own_key)
        except ClientGoneError:
            return
        except (RefusedError, UpstreamError) as error:
            await self._send_error(reply, wire.error(error.status, str(error)), error.status)

    async def _send_error(self, reply: Reply, error: Json, status: int) -> None:
        if not reply.started:
            await reply.json(status, error, [(b"x-assay-action", b"none")])

    async def finish(self) -> None:
        """Waits for the checks of answers that have already gone out (mode `shadow`)."""
        if self._following:
            await asyncio.wait(self._following, timeout=self._settings.limits.shutdown_s)

    async def _forward(self, scope: Scope, receive: Receive, reply: Reply, own_key: bytes | None) -> None:
        begun = time.perf_counter()
        context = self._context(scope, begun)
        body = await read_body(scope, receive)
        encoding = other_encoding(scope, body)
        if encoding is not None:
            raise RefusedError(415, encoding)
        async with UntilGone(receive):
            exchange, body = self._exchange(scope, body, context)
            reads_answer = exchange is not None
            headers = request_headers(scope["headers"], context.upstream, plain=reads_answer, own_key=own_key)
            query = scope.get("query_string", b"").decode("latin-1")
            target = f"{context.target.path}?{query}" if query else context.target.path
            sent_at = time.perf_counter()
            telemetry, model = self._records.telemetry, None if exchange is None else exchange.request.get("model")
            span = None
            if context.target.checked:
                model_name = model if isinstance(model, str) else None
                span, headers = telemetry.ask(context.target.route, model_name, context.upstream.name, headers)
            try:
                response = await self._client.send(context.upstream, scope["method"], target, headers, body)
            except BaseException:  # also a cancellation: the span of the call ends in any case
                telemetry.answered(span, None)
                raise
            context.upstream_s += time.perf_counter() - sent_at
            scope[LINE_WRITTEN] = True
            ask_again = self._ask_again(context, scope["method"], target, headers)
            try:
                kept = None
                if exchange is not None:
                    kept = AnswerRecorder(self._records, exchange, caller_of(scope), context.route.mode)
                    kept.answered = ModelAnswer(span)
                await self._answer(response, context, exchange, kept, reply, ask_again)
            finally:
                # The rest of a body that was not read to its end cannot be skipped: closing the connection also tells
                # the upstream to stop.
                response.release() if response.content.at_eof() else response.close()
                if kept is None or kept.answered.response_id is None:
                    telemetry.answered(span, response.status)
                self._write_log(context, reply)

    def _ask_again(self, context: RequestContext, method: str, target: str, headers: list[tuple[bytes, bytes]]) -> Ask:
        """A function that sends the same upstream another body and returns its answer."""

        async def ask(request: Json) -> Json:
            # An idempotency key would return the first answer.
            kept = [pair for pair in headers if pair[0].lower() not in _BODY_SPECIFIC_HEADERS]
            begun = time.perf_counter()
            response = await self._client.send(context.upstream, method, target, kept, encoded(request))
            context.upstream_s += time.perf_counter() - begun
            try:
                if not 200 <= response.status < 300:
                    raise UpstreamError(502, f"the upstream answered {response.status} when it was asked again")
                require_plain(response)
                return context.shown(read_object(await self._read_body(response, context), "the upstream's answer"))
            finally:
                response.release() if response.content.at_eof() else response.close()

        return ask

    def _context(self, scope: Scope, begun: float) -> RequestContext:
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

    def _exchange(self, scope: Scope, body: bytes, context: RequestContext) -> tuple[Exchange | None, bytes]:
        """The exchange with which the answer is checked, none where it is not, and the body to forward.

        Raises:
            RefusedError: the request is invalid, asks for looser options than the operator set, or for an answer that
                could not be checked.
        """
        target, route = context.target, context.route
        checks = target.checked and route.mode is not Mode.OFF
        if not checks and not (target.checked and _QUOTED_FIELD in body):
            return None, body
        try:
            request = read_object(body, "the request", most_depth=self._settings.limits.depth)
            options = read_request_options(
                request.get(FIELD), header(scope, b"x-assay-policy"), header(scope, b"x-assay-stakes")
            )
            forwarded = without_member(body, FIELD) if FIELD in request else body
            if not checks:
                return None, forwarded
            tenant = caller_of(scope).tenant
            guard = self._overlays.over(self._guard_for(options, route), tenant).for_tenant(tenant)
        except (InputError, PolicyError) as error:
            raise RefusedError(400, str(error)) from error
        caller = caller_of(scope)
        # Counted by the caller's id: a person's name is erased with the person.
        self._passing.note(caller.tenant, target.route, caller.id or caller.name, request, len(body))
        refusal = target.wire.refused(request)
        if refusal is not None and route.mode is Mode.ENFORCE:
            raise RefusedError(400, refusal)
        exchange = Exchange(
            target.wire, request, options, guard, context.report_id, route.stakes, route.fail_on, self._check_calls
        )
        return exchange, forwarded

    def _guard_for(self, options: RequestOptions, route: Route) -> Guard:
        own: Guard = self._guard_of(route.policy)
        guard: Guard = own if options.policy is None else self._guard_of(options.policy)
        if options.policy is not None:
            require_permitted(guard.policy, own.policy, route.policies)
        require_held(options.task, guard.policy, route.tasks)
        require_stakes(options.stakes, route.stakes)
        return guard

    async def _answer(
        self,
        response: aiohttp.ClientResponse,
        context: RequestContext,
        exchange: Exchange | None,
        kept: AnswerRecorder | None,
        reply: Reply,
        ask_again: Ask,
    ) -> None:
        if exchange is not None and response.status >= _LEAST_ERROR and context.route.mode is Mode.ENFORCE:
            await self._relay_error(response, context, exchange, reply)
        elif exchange is None or kept is None or not 200 <= response.status < 300:
            action = "unchecked" if context.target.checked and response.status < 300 else "none"
            await self._pass_on(response, context, reply, action)
        elif response.content_type == _EVENTS and exchange.request.get("stream"):
            people = ReviewWait(self._held, context.route, kept)
            relay = StreamRelay(response, context, exchange, kept, reply, self._checker, self._settings.limits, people)
            await relay.run(self._run_later)
        elif context.route.mode is Mode.SHADOW:
            body = await self._pass_on(response, context, reply, "unchecked", keep=True)
            self._run_later(self._check_in_shadow(exchange, kept, body, context))
        else:
            await self._relay_whole(response, context, exchange, kept, reply, ask_again)

    async def _relay_error(
        self, response: aiohttp.ClientResponse, context: RequestContext, exchange: Exchange, reply: Reply
    ) -> None:
        """Sends an upstream's error on as it came, unless it is compressed, a stream, or holds an unchecked answer."""
        body = await self._read_body(response, context)
        outgoing = body
        if coding_of(response) is not None or response.content_type == _EVENTS or has_answer(exchange.wire.name, body):
            outgoing = encoded(
                exchange.wire.error(response.status, "the upstream's error was withheld: it has an answer")
            )
        headers = response_headers(response, changed=outgoing is not body)
        if outgoing is not body:
            body_headers = (b"content-type", b"content-encoding")
            headers = [*(pair for pair in headers if pair[0].lower() not in body_headers), JSON]
        await reply.whole(response.status, [*headers, *context.headers("none")], outgoing)

    async def _pass_on(
        self,
        response: aiohttp.ClientResponse,
        context: RequestContext,
        reply: Reply,
        action: str,
        *,
        keep: bool = False,
    ) -> bytes:
        """Sends an answer on as it arrives; with `keep`, returns it up to `limits.answer_bytes`."""
        if response.content_length is not None and response.content_length <= SMALL_ANSWER:
            # One write instead of three.
            body = await self._read_body(response, context)
            await reply.whole(
                response.status, [*response_headers(response, changed=False), *context.headers(action)], body
            )
            return body
        await reply.start(response.status, [*response_headers(response, changed=False), *context.headers(action)])
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

    async def _relay_whole(
        self,
        response: aiohttp.ClientResponse,
        context: RequestContext,
        exchange: Exchange,
        kept: AnswerRecorder,
        reply: Reply,
        ask_again: Ask,
    ) -> None:
        body = await self._read_body(response, context)
        kept.answered = self._with_response_id(kept.answered, response.status, body)
        outgoing, ruling = body, unchecked("the answer was not checked")
        try:
            require_plain(response)
            outgoing, ruling = await self._checker.run(
                lambda: settled(exchange, body, context.route.mode, hides=context.hides)
            )
            answer = read_object(body, "the upstream's answer") if ruling.calls else None
            if context.route.mode is Mode.ENFORCE and sends_back(context.route.revise, ruling):
                outgoing, ruling, answer = await self._after_revision(
                    exchange, body, (outgoing, ruling), context, ask_again
                )
            ruling = await kept.whole(ruling, answer)
            outgoing, ruling = await self._after_review(exchange, body, (outgoing, ruling), context, kept)
        except (CheckFailedError, InputError, StoreError) as error:
            ruling = unchecked(failed_to_keep(error) if isinstance(error, StoreError) else str(error))
            await kept.unread(ruling)
            if context.route.mode is Mode.ENFORCE:
                # Its content is unknown, so nothing of it may go out.
                context.ruling = ruling
                outgoing = await self._withheld_unchecked(exchange, body, ruling, reply, context)
            elif body.rstrip().endswith(b"}") and "content-encoding" not in response.headers:
                outgoing = with_member(body, ruling.summary(exchange.report_id))
        context.ruling = ruling
        if reply.started:
            return
        headers = response_headers(response, changed=outgoing is not body)
        enforces = context.route.mode is Mode.ENFORCE
        if enforces or response.content_type == _EVENTS:
            # It was read as plain JSON in UTF-8, also where the upstream called it a stream that was not asked for, and
            # the client must not read it as anything else.
            body_headers = {b"content-type", b"content-encoding"} if enforces else {b"content-type"}
            headers = [*(pair for pair in headers if pair[0] not in body_headers), JSON]
        await reply.whole(response.status, [*headers, *context.headers(ruling.action)], outgoing)

    def _with_response_id(self, answered: ModelAnswer, status: int, body: bytes) -> ModelAnswer:
        """The traced call with the id of the model's answer; unchanged without tracing or a readable answer."""
        if answered.asked is None:
            return answered
        try:
            return self._records.telemetry.answered(answered.asked, status, read_object(body, "the upstream's answer"))
        except InputError:
            return answered

    async def _after_review(
        self,
        exchange: Exchange,
        body: bytes,
        withheld: tuple[bytes, Ruling],
        context: RequestContext,
        kept: AnswerRecorder,
    ) -> tuple[bytes, Ruling]:
        """The answer as a reviewer decided, where the route waits for reviewers; else the withheld one."""
        people = ReviewWait(self._held, context.route, kept)
        waits = people.can_decide(withheld[1])
        # A blocked answer may have a review item too; it is not waited for, because no reviewer can release it.
        ruling = await people.decide(withheld[1]) if waits else None
        if withheld[1].action == Action.BLOCK.value:
            people.find(withheld[1])
        if people.state != "none":
            context.review, context.review_id = people.state, people.id
            context.extra["review"] = people.state
        decided = (
            None if ruling is None else await asyncio.to_thread(released, exchange, context.shown_body(body), ruling)
        )
        return withheld if ruling is None or decided is None else (decided, ruling)

    async def _after_revision(
        self, exchange: Exchange, body: bytes, withheld: tuple[bytes, Ruling], context: RequestContext, ask_again: Ask
    ) -> tuple[bytes, Ruling, Json]:
        """A revised answer in place of one that did not pass; the withheld one where there is none."""
        reviser = Reviser(
            exchange,
            self._checker,
            ask_again,
            attempts=exchange.guard.attempts(context.route.attempts),
            seconds=self._settings.limits.revise_s,
        )
        first = context.shown(read_object(body, "the upstream's answer"))
        answer, ruling = await reviser.run(first, withheld[1])
        if not reviser.cost.requests:
            return *withheld, first
        cost = reviser.cost.summary()
        context.extra["revision"] = {**cost, "attempts": len(reviser.cost.attempts)}
        return resettled(exchange, answer, ruling, cost), ruling, answer

    async def _withheld_unchecked(
        self, exchange: Exchange, body: bytes, ruling: Ruling, reply: Reply, context: RequestContext
    ) -> bytes:
        """The withheld form of an answer that could not be checked; where it cannot be read, an error is sent."""
        try:
            answer = context.shown(read_object(body, "the upstream's answer"))
            made = exchange.wire.withhold(answer, ruling.notice or "", ruling.summary(exchange.report_id))
        except InputError as error:
            refused = exchange.wire.error(502, f"the upstream's answer was withheld: {error}")
            await reply.json(502, refused, context.headers(ruling.action))
            return b""
        return encoded(made)

    async def _read_body(self, response: aiohttp.ClientResponse, context: RequestContext) -> bytes:
        """The whole body of an answer.

        Raises:
            UpstreamError: it exceeds `limits.answer_bytes`, or the upstream was silent for too long or broke off.
        """
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
        context.upstream_s += time.perf_counter() - begun
        called().read += len(body)
        return bytes(body)

    async def _check_in_shadow(
        self, exchange: Exchange, kept: AnswerRecorder, body: bytes, context: RequestContext
    ) -> None:
        """Checks an answer that has already gone out, for the record and the log."""
        try:
            _, ruling = await self._checker.run(lambda: settled(exchange, body, Mode.SHADOW))
            context.ruling = ruling
            await kept.whole(ruling, read_object(body, "the upstream's answer") if ruling.calls else None)
        except (CheckFailedError, InputError, StoreError) as error:
            context.ruling = unchecked(failed_to_keep(error) if isinstance(error, StoreError) else str(error))
            await kept.unread(context.ruling)
        self._write_log(context, None)

    def _run_later(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    def _write_log(self, context: RequestContext, reply: Reply | None) -> None:
        metrics = self._records.telemetry.metrics
        if metrics is not None and reply is not None:
            metrics.overhead.labels(context.target.route).observe(context.overhead_ms() / 1000)
            metrics.upstream.labels(context.target.route).observe(context.upstream_s)
        if not _log.isEnabledFor(logging.INFO):
            return
        line = context.log_line(None if reply is None else reply.status)
        _log.info("%s %s", line["event"], context.report_id, extra={"line": line})


def _no_route(scope: Scope) -> str:
    return (
        f"{scope['method']} {scope['path']} is not forwarded, because what it answers could not be checked; there are "
        "POST /v1/chat/completions, /v1/responses and /v1/messages, GET /v1/models and POST /v1/embeddings"
    )
