"""A transport between a client of the official SDKs and its HTTP client that checks the answers.

The client above keeps its own types, helpers and retries, since it gets what a server would send; the HTTP client below
keeps its connections, proxies and hooks. Both `httpx` and `httpx2` are served, whichever the client was made with.
"""

import asyncio
import socket
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import lru_cache
from typing import Any, Final

from assay.errors import InputError, VerifierError
from assay.guard.streams import adrive, drive
from assay.integrations.clients.calls import ClientGate
from assay.integrations.clients.gatekeeper import OF_BODY, OF_REQUEST, Gatekeeper, Plan
from assay.integrations.clients.paths import Paths
from assay.policy import Mode
from assay.wire import Json, encoded, read_object

KEY: Final = "assay"
"""The name under which a response's `extensions` have its call."""
_LATER: set[asyncio.Task[None]] = set()
"""Checks of answers that have gone out already; asyncio may drop a task to which nobody holds a reference."""


def http_module(client: object) -> Any:
    """The module, `httpx` or `httpx2`, that an HTTP client belongs to.

    Raises:
        InputError: it belongs to neither.
    """
    for kind in type(client).__mro__:
        name = kind.__module__.partition(".")[0]
        if name in ("httpx", "httpx2"):
            return sys.modules[name]
    raise InputError(f"expected a client of httpx or httpx2, got {type(client).__name__}")


def gated_http(client: Any, gate: ClientGate, paths: Paths) -> Any:
    """An HTTP client over another one whose answers are checked; closing it closes the other."""
    module = http_module(client)
    waits = isinstance(client, module.AsyncClient)
    kind = _kind(module, _Awaiting, "AsyncBaseTransport") if waits else _kind(module, _Waiting, "BaseTransport")
    return (module.AsyncClient if waits else module.Client)(
        transport=kind(module, client, Gatekeeper(gate, paths)),
        auth=client.auth,
        headers=client.headers,
        cookies=client.cookies,
        params=client.params,
        timeout=client.timeout,
        base_url=client.base_url,
        follow_redirects=client.follow_redirects,
        max_redirects=client.max_redirects,
        trust_env=False,
    )


@lru_cache(maxsize=16)
def _kind(module: Any, ours: type, theirs: str) -> Callable[..., Any]:
    """A class of ours that is one of the module's as well."""
    return type(ours.__name__.lstrip("_"), (ours, getattr(module, theirs)), {})


class _Transport:
    """Shared by the synchronous and the asynchronous transport."""

    def __init__(self, module: Any, inner: Any, keeper: Gatekeeper) -> None:
        self._module, self._inner, self._keeper = module, inner, keeper

    def _to_send(self, request: Any, plan: Plan) -> Any:
        """The request with another body, where it has one."""
        if plan.body is None:
            return request
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
        return self._request(request, headers, plan.body)

    def _to_ask_again(self, request: Any, body: Json) -> Any:
        headers = [(name, value) for name, value in request.headers.raw if name.lower() not in OF_REQUEST]
        return self._request(request, headers, encoded(body))

    def _request(self, request: Any, headers: Any, body: bytes) -> Any:
        return self._module.Request(
            request.method, request.url, headers=headers, content=body, extensions=request.extensions
        )

    @staticmethod
    def _said(response: Any) -> Json:
        """The answer of a model that was asked again."""
        if not 200 <= response.status_code < 300:
            raise VerifierError(f"the model answered {response.status_code} when it was asked again")
        return read_object(response.content, "the model's answer")

    def _refusal(self, plan: Plan) -> Any:
        """An error response that no client retries; the error to raise is in the call."""
        error = self._keeper.paths.shape(plan.wire).error(400, plan.refused or "")
        return self._module.Response(400, json=error, extensions={KEY: plan.call})

    def _passed_on(self, response: Any, plan: Plan) -> Any:
        """The response as it came."""
        extensions = {**response.extensions, KEY: plan.call}
        status = response.status_code
        if response.is_stream_consumed:
            kept = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in OF_BODY]
            return self._module.Response(status, headers=kept, content=response.content, extensions=extensions)
        return self._module.Response(status, headers=response.headers, stream=response.stream, extensions=extensions)

    def _made(self, plan: Plan, response: Any, **body: Any) -> Any:
        """The response with another body."""
        headers = self._keeper.headers(plan, response.headers)
        extensions = {**response.extensions, KEY: plan.call}
        return self._module.Response(response.status_code, headers=headers, extensions=extensions, **body)

    def _raise_stopped(self, plan: Plan) -> None:
        """Raises where a stream was stopped and errors were asked for."""
        gate = self._keeper.gate
        if gate.enforces and gate.on_withheld == "raise" and plan.call.outcome is not None:
            plan.call.outcome.raise_withheld()


def _is_checked(plan: Plan, response: Any) -> bool:
    return plan.exchange is not None and 200 <= response.status_code < 300


def _is_stream(plan: Plan, response: Any) -> bool:
    """Whether an answer is the stream that the request asked for; one that it did not ask for is read as a whole."""
    kind = response.headers.get("content-type", "").partition(";")[0]
    return bool(kind.strip().lower() == "text/event-stream" and plan.checked.request.get("stream"))


class _Waiting(_Transport):
    """Sends what a client asks for by another one, and checks what comes back."""

    def handle_request(self, request: Any) -> Any:
        plan = self._keeper.plan(request.method, request.url.path)
        if plan.wire is not None and plan.refused is None:
            plan = self._keeper.read(plan, request.read())
        if plan.refused is not None:
            return self._refusal(plan)
        response = self._inner.send(self._to_send(request, plan), stream=True, auth=None, follow_redirects=False)
        if not _is_checked(plan, response):
            return self._passed_on(response, plan)
        if not _is_stream(plan, response):
            return self._whole(plan, request, response)
        pieces = self._shadowed if self._keeper.gate.mode is Mode.SHADOW else self._streamed
        kind = _kind(self._module, _Pieces, "SyncByteStream")
        return self._made(plan, response, stream=kind(pieces(plan, response), response.close))

    def _whole(self, plan: Plan, request: Any, response: Any) -> Any:
        body = response.read()
        keeper = self._keeper
        if keeper.gate.mode is Mode.SHADOW:
            _beside(keeper.look, plan, body, streamed=False)
            return self._made(plan, response, content=body)
        found = keeper.settle(plan, body)
        if keeper.goes_back(found):
            # The loop of asking again is asynchronous; on a thread of its own it disturbs no loop of the caller.
            with ThreadPoolExecutor(1) as pool:
                work = keeper.again(
                    plan, body, found, lambda body_again: asyncio.to_thread(self._ask, request, body_again)
                )
                found = pool.submit(copy_context().run, asyncio.run, work).result()
        return self._made(plan, response, content=keeper.take(plan, found))

    def _ask(self, request: Any, body: Json) -> Json:
        try:
            return self._said(self._inner.send(self._to_ask_again(request, body), auth=None, follow_redirects=False))
        except self._module.HTTPError as error:
            raise VerifierError(f"the model could not be asked again: {error}") from error

    def _streamed(self, plan: Plan, response: Any) -> Generator[bytes, None, None]:
        flow = self._keeper.flow(plan)
        check = self._keeper.check(plan)
        held = response.stream = _kind(self._module, _HeldStream, "SyncByteStream")(response.stream)
        try:
            yield from drive(_bytes_of(response), flow, check, cancel=lambda: held.while_held(lambda: _wake(response)))
        finally:
            self._keeper.finish(plan, flow)
        self._raise_stopped(plan)

    def _shadowed(self, plan: Plan, response: Any) -> Generator[bytes, None, None]:
        kept: list[bytes] = []
        try:
            for piece in response.iter_bytes():
                kept.append(piece)
                yield piece
        finally:
            response.close()
            _beside(self._keeper.look, plan, b"".join(kept), streamed=True)

    def close(self) -> None:
        self._inner.close()


class _Pieces:
    """Bytes out of a generator that cleans up behind itself."""

    def __init__(self, pieces: Generator[bytes, None, None], unread: Callable[[], object]) -> None:
        self._pieces, self._unread = pieces, unread
        self._begun = False

    def __iter__(self) -> Iterator[bytes]:
        self._begun = True
        return self._pieces

    def close(self) -> None:
        if not self._begun:
            self._unread()
        self._pieces.close()


class _HeldStream:
    """The stream of a response, which knows whether its connection was given back: then it may be another request's."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._held, self._lock = stream, True, threading.Lock()

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        with self._lock:
            self._held = False
        self._stream.close()

    def while_held(self, act: Callable[[], None]) -> None:
        """Acts, unless the connection was given back; it is not given back meanwhile."""
        with self._lock:
            if self._held:
                act()


def _bytes_of(response: Any) -> Generator[bytes, None, None]:
    try:
        yield from response.iter_bytes()
    finally:
        response.close()


def _wake(response: Any) -> None:
    """Wakes a thread that waits for more of a response that is no longer needed."""
    stream = response.extensions.get("network_stream")
    line = stream.get_extra_info("socket") if stream is not None else None
    if line is not None and response.http_version.startswith("HTTP/1"):
        with suppress(OSError):  # the socket is closed already, so that nobody waits
            line.shutdown(socket.SHUT_RDWR)


def _beside(work: Callable[..., None], *args: Any, **named: Any) -> None:
    threading.Thread(target=work, args=args, kwargs=named, name="assay-shadow", daemon=True).start()


class _Awaiting(_Transport):
    """As `_Waiting`, for an event loop."""

    async def handle_async_request(self, request: Any) -> Any:
        plan = self._keeper.plan(request.method, request.url.path)
        if plan.wire is not None and plan.refused is None:
            plan = self._keeper.read(plan, await request.aread())
        if plan.refused is not None:
            return self._refusal(plan)
        response = await self._inner.send(self._to_send(request, plan), stream=True, auth=None, follow_redirects=False)
        if not _is_checked(plan, response):
            return self._passed_on(response, plan)
        if not _is_stream(plan, response):
            return await self._whole(plan, request, response)
        pieces = self._shadowed if self._keeper.gate.mode is Mode.SHADOW else self._streamed
        kind = _kind(self._module, _AsyncPieces, "AsyncByteStream")
        return self._made(plan, response, stream=kind(pieces(plan, response), response.aclose))

    async def _whole(self, plan: Plan, request: Any, response: Any) -> Any:
        body = await response.aread()
        keeper = self._keeper
        if keeper.gate.mode is Mode.SHADOW:
            _later(keeper.look, plan, body, streamed=False)
            return self._made(plan, response, content=body)
        found = await asyncio.to_thread(keeper.settle, plan, body)
        if keeper.goes_back(found):
            found = await keeper.again(plan, body, found, lambda body_again: self._ask(request, body_again))
        return self._made(plan, response, content=keeper.take(plan, found))

    async def _ask(self, request: Any, body: Json) -> Json:
        again = self._to_ask_again(request, body)
        try:
            return self._said(await self._inner.send(again, auth=None, follow_redirects=False))
        except self._module.HTTPError as error:
            raise VerifierError(f"the model could not be asked again: {error}") from error

    async def _streamed(self, plan: Plan, response: Any) -> AsyncGenerator[bytes, None]:
        flow = self._keeper.flow(plan)
        pieces = adrive(_abytes_of(response), flow, self._keeper.check(plan))
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()
            self._keeper.finish(plan, flow)
        self._raise_stopped(plan)

    async def _shadowed(self, plan: Plan, response: Any) -> AsyncGenerator[bytes, None]:
        kept: list[bytes] = []
        try:
            async for piece in response.aiter_bytes():
                kept.append(piece)
                yield piece
        finally:
            await response.aclose()
            _later(self._keeper.look, plan, b"".join(kept), streamed=True)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _AsyncPieces:
    """Bytes out of a generator that cleans up behind itself."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], unread: Callable[[], Any]) -> None:
        self._pieces, self._unread = pieces, unread
        self._begun = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        self._begun = True
        return self._pieces

    async def aclose(self) -> None:
        if not self._begun:
            await self._unread()
        await self._pieces.aclose()


async def _abytes_of(response: Any) -> AsyncGenerator[bytes, None]:
    try:
        async for piece in response.aiter_bytes():
            yield piece
    finally:
        await response.aclose()


def _later(work: Callable[..., None], *args: Any, **named: Any) -> None:
    task = asyncio.get_running_loop().create_task(asyncio.to_thread(work, *args, **named))
    _LATER.add(task)
    task.add_done_callback(_LATER.discard)
