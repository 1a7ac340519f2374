"""Relays one stream: reads it, checks what is complete while more is coming, and lets out what has passed."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp

from assay.errors import InputError
from assay.server.checking import Checker, CheckFailedError
from assay.server.gateway.asgi import Reply
from assay.server.gateway.decide import Ruling, together, unchecked
from assay.server.gateway.exchange import Exchange
from assay.server.gateway.passage import Passage
from assay.server.gateway.sse import Event, SseReader, comment
from assay.server.gateway.stream import Holdback, Job
from assay.server.gateway.upstream import require_plain, response_headers
from assay.server.settings import Limits, Mode

Later = Callable[[Coroutine[Any, Any, None]], None]


class StreamRelay:
    """One stream on its way to a client."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        passage: Passage,
        exchange: Exchange,
        reply: Reply,
        checker: Checker,
        limits: Limits,
    ) -> None:
        """A relay of what `response` streams to what `reply` sends."""
        self._response, self._passage, self._exchange, self._reply = response, passage, exchange, reply
        self._checker, self._limits = checker, limits
        self._wire = exchange.wire
        self._stream = exchange.wire.stream()
        self._enforces = passage.route.mode is Mode.ENFORCE
        self._holdback = Holdback(self._stream, loose=not self._enforces)
        self._sse = SseReader(limits.event_bytes)
        self._shadows = passage.route.mode is Mode.SHADOW
        self._stopped: asyncio.Future[Ruling | str] = asyncio.get_running_loop().create_future()
        self._check: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self._rulings: dict[str, Ruling] = {}
        self._corrected = False
        self._bytes = 0
        self._first_ms: float | None = None
        self._added_s = 0.0
        self._held_since: float | None = None

    async def run(self, later: Later) -> None:
        """Relays the stream to its end; `later` runs work that outlives it."""
        try:
            require_plain(self._response)
        except InputError as error:
            self._fail(str(error))
        headers = response_headers(self._response, changed=not self._shadows)
        action = "unchecked" if self._shadows else "pending"
        await self._reply.start(self._response.status, [*headers, *self._passage.headers(action)])
        pump = asyncio.create_task(self._pump())
        try:
            waited: set[asyncio.Future[Any]] = {pump, self._stopped}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if pump.done() and not self._stopped.done():
                pump.result()
                await self._complete(later)
            if self._stopped.done():
                await self._end_early()
        finally:
            for task in (pump, self._check):
                if task is not None:
                    task.cancel()

    async def _pump(self) -> None:
        """Reads the upstream's bytes to their end."""
        try:
            async for chunk in self._response.content.iter_any():
                self._bytes += len(chunk)
                if self._shadows:
                    await self._reply.write(chunk)
                if self._bytes > self._limits.answer_bytes:
                    self._fail(f"the stream has more than the {self._limits.answer_bytes:,} bytes that are checked")
                    return
                self._take(self._sse.feed(chunk))
                await self._let_out()
                self._begin_check()
            self._take([event for event in (self._sse.end(),) if event is not None])
            self._holdback.end()
        except InputError as error:
            self._fail(str(error))
        except TimeoutError:
            self._break_off("the upstream was silent for too long in the middle of its answer")
        except aiohttp.ClientError:
            self._break_off("the upstream broke off its answer")

    def _take(self, events: list[Event]) -> None:
        for event in events:
            if self._stopped.done():
                return
            data, readable = _json_of(event)
            if not readable:
                self._fail("the upstream sent an event that cannot be read")
                self._holdback.pass_on(event)
                continue
            reading = self._holdback.take(event, data)
            if reading.unreadable is not None:
                self._fail(reading.unreadable)
            if reading.failed and self._enforces and not self._stopped.done():
                # The upstream's own error ends the stream: what was held back was never complete.
                self._stopped.set_result(event.raw.decode("utf-8", "replace"))
                return

    def _fail(self, reason: str) -> None:
        """What the stream shows cannot be checked any further."""
        if self._enforces:
            self._stop(unchecked(reason))
        else:
            self._rulings["stream"] = unchecked(reason)

    def _break_off(self, reason: str) -> None:
        if not self._stopped.done():
            self._stopped.set_result(self._wire.error_event(reason).decode())

    def _stop(self, ruling: Ruling) -> None:
        if not self._stopped.done():
            self._rulings["stream"] = ruling
            self._stopped.set_result(ruling)

    async def _let_out(self) -> None:
        """Sends what may go out now."""
        async with self._sending:
            free = self._holdback.release()
            self._note_waiting(bool(self._holdback.waiting))
            if not free:
                return
            if self._first_ms is None and any(held.texts for held in free):
                self._first_ms = (time.perf_counter() - self._passage.begun) * 1000
            if not self._stopped.done() and not self._shadows:
                await self._reply.write(b"".join(held.event.raw for held in free))

    def _note_waiting(self, waiting: bool) -> None:
        now = time.perf_counter()
        if self._held_since is not None and not waiting:
            self._added_s = max(self._added_s, now - self._held_since)
        self._held_since = (self._held_since or now) if waiting else None

    def _begin_check(self) -> None:
        """Starts the next check where none is running and there is something to check."""
        if self._shadows or self._stopped.done():
            return
        if self._check is None or self._check.done():
            job = self._holdback.job()
            if job is not None:
                self._check = asyncio.create_task(self._checked(job))

    async def _checked(self, job: Job | None) -> None:
        """Checks one job after the other while there are any."""
        while job is not None and not self._stopped.done():
            found = await self._rule(job)
            self._rulings |= found
            failed = [ruling for ruling in found.values() if not ruling.passes and not ruling.waits]
            if failed and self._enforces:
                self._stop(together(failed))
                return
            self._holdback.settle(job, [name for name, ruling in found.items() if ruling.waits])
            if failed and not self._corrected:
                await self._correct(together(failed))
            await self._let_out()
            job = self._holdback.job()

    async def _rule(self, job: Job) -> dict[str, Ruling]:
        try:
            return await self._checker.run(lambda: self._exchange.part(job))
        except (CheckFailedError, InputError) as error:
            names = [*(text.channel for text in job.texts), *job.calls]
            return dict.fromkeys(names, unchecked(str(error)))

    async def _correct(self, ruling: Ruling) -> None:
        """Says at once that something was wrong in what went out already."""
        self._corrected = True
        if self._shadows:
            return
        async with self._sending:
            if not self._reply.ended:
                await self._reply.write(self._stream.correct(ruling.summary(self._exchange.report_id)))

    async def _complete(self, later: Later) -> None:
        """The upstream's stream has ended: what is left is checked, whatever it is, and then goes out."""
        if self._shadows:
            await self._reply.end()
            later(self._after())
            return
        if self._check is not None:
            await self._check
        if not self._stopped.done():
            await self._checked(self._holdback.job())
        if self._stopped.done():
            return
        await self._let_out()
        if self._enforces and self._holdback.waiting:
            self._stop(unchecked("not all of the stream could be checked"))
            return
        self._passage.ruling = together(self._rulings.values()) if self._rulings else None
        async with self._sending:
            await self._reply.end(self._trailer())
        self._note_times()

    async def _after(self) -> None:
        """Checks a stream that has gone out, for the log."""
        await self._checked(self._holdback.job())
        self._passage.ruling = together(self._rulings.values())
        self._note_times()

    async def _end_early(self) -> None:
        """Ends the answer in the format's own shape; nothing that was held back goes out any more."""
        stopped = self._stopped.result()
        if isinstance(stopped, str):
            ending = stopped.encode()
            self._passage.ruling = unchecked("the upstream did not end its answer")
        else:
            summary = stopped.summary(self._exchange.report_id)
            ending = self._stream.withhold(stopped.notice or "", summary)
            self._passage.ruling = stopped
        self._response.close()
        async with self._sending:
            await self._reply.end(ending + self._trailer())
        self._note_times()

    def _trailer(self) -> bytes:
        """A comment with the decision: headers have gone out long before it was known."""
        ruling = self._passage.ruling
        said = {
            "report_id": self._exchange.report_id,
            "action": ruling.action if ruling is not None else "none",
            "score": ruling.score if ruling is not None else None,
            **self._times(),
        }
        return comment(f"assay {json.dumps(said)}")

    def _times(self) -> dict[str, float | None]:
        first = None if self._first_ms is None else round(self._first_ms, 2)
        return {"first_ms": first, "longest_wait_ms": round(self._added_s * 1000, 2)}

    def _note_times(self) -> None:
        self._passage.extra |= {"stream": True, **self._times()}


def _json_of(event: Event) -> tuple[Any, bool]:
    """The JSON of an event, and whether it can be read; an event without data says nothing and can be."""
    if event.broken:
        return None, False
    if event.data is None or event.data.strip() in ("", "[DONE]"):
        return None, True
    try:
        return json.loads(event.data), True
    except (ValueError, RecursionError):
        return None, False
