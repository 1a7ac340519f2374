"""Relays one stream: reads it, checks what is complete while more is coming, and lets out what has passed."""

import asyncio
import json
import time
from collections.abc import Callable, Coroutine
from typing import Any

import aiohttp

from assay.errors import InputError, StoreError
from assay.guard.holdback import Job
from assay.guard.rulings import Ruling, unchecked
from assay.server.checking import Checker, CheckFailedError
from assay.server.gateway.asgi import Reply
from assay.server.gateway.passage import Passage
from assay.server.gateway.upstream import require_plain, response_headers
from assay.server.recording import Keeping, failed_to_keep
from assay.server.settings import Limits, Mode
from assay.wire.exchange import Exchange
from assay.wire.flow import WireFlow
from assay.wire.sse import comment

Later = Callable[[Coroutine[Any, Any, None]], None]


class StreamRelay:
    """One stream on its way to a client."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        passage: Passage,
        exchange: Exchange,
        kept: Keeping,
        reply: Reply,
        checker: Checker,
        limits: Limits,
    ) -> None:
        """A relay of what `response` streams to what `reply` sends."""
        self._response, self._passage, self._exchange, self._reply = response, passage, exchange, reply
        self._checker, self._limits, self._kept = checker, limits, kept
        self._enforces = passage.route.mode is Mode.ENFORCE
        self._shadows = passage.route.mode is Mode.SHADOW
        self._flow = WireFlow(
            exchange.wire, exchange.report_id, enforces=self._enforces, most=limits.event_bytes,
            hides=passage.hides,
        )  # fmt: skip
        self._stopped = asyncio.Event()
        self._broken: str | None = None
        self._check: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self._bytes = 0
        self._first_ms: float | None = None

    async def run(self, later: Later) -> None:
        """Relays the stream to its end; `later` runs work that outlives it."""
        try:
            require_plain(self._response)
        except InputError as error:
            self._flow.fail(str(error))
        headers = response_headers(self._response, changed=not self._shadows)
        action = "unchecked" if self._shadows else "pending"
        await self._reply.start(self._response.status, [*headers, *self._passage.headers(action)])
        pump, stopped = asyncio.create_task(self._pump()), asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({pump, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if pump.done():
                pump.result()
            if self._shadows:
                await self._reply.end()
                later(self._after())
                return
            if not self._stopped.is_set() and self._broken is None:
                await self._complete()
            await self._end()
        except asyncio.CancelledError:
            if not self._shadows:
                later(self._kept.left())
            raise
        finally:
            for task in (pump, stopped, self._check):
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
                    self._flow.fail(
                        f"the stream has more than the {self._limits.answer_bytes:,} bytes that are checked"
                    )
                else:
                    self._flow.take(chunk, time.perf_counter())
                await self._let_out()
                if self._stopped.is_set() or self._bytes > self._limits.answer_bytes:
                    return
                self._begin_check()
            self._flow.end(time.perf_counter())
            await self._let_out()
        except TimeoutError:
            self._broken = "the upstream was silent for too long in the middle of its answer"
        except aiohttp.ClientError:
            self._broken = "the upstream broke off its answer"

    async def _let_out(self) -> None:
        """Sends what may go out now."""
        async with self._sending:
            free = self._flow.out()
            if self._first_ms is None and self._flow.timing.first_ms is not None:
                self._first_ms = (time.perf_counter() - self._passage.begun) * 1000
            if free and not self._shadows and not self._reply.ended:
                await self._reply.write(b"".join(free))
        if self._flow.finished:
            self._stopped.set()

    def _begin_check(self) -> None:
        """Starts the next check where none is running and there is something to check."""
        if not self._shadows and (self._check is None or self._check.done()):
            job = self._flow.job()
            if job is not None:
                self._check = asyncio.create_task(self._checked(job))

    async def _checked(self, job: Job | None) -> None:
        """Checks one job after the other while there are any."""
        while job is not None:
            found = await self._rule(job)
            self._flow.settle(job, found, time.perf_counter())
            await self._let_out()
            job = self._flow.job()

    async def _rule(self, job: Job) -> dict[str, Ruling]:
        try:
            found = await self._checker.run(lambda: self._exchange.part(job))
            # On record before anything of it goes out; what cannot be recorded counts as unchecked.
            return await self._kept.part(job, found)
        except (CheckFailedError, InputError, StoreError) as error:
            names = [*(text.channel for text in job.texts), *job.calls]
            why = failed_to_keep(error) if isinstance(error, StoreError) else str(error)
            return dict.fromkeys(names, unchecked(why))

    async def _complete(self) -> None:
        """The upstream's stream has ended: what is left is checked, whatever it is, and then goes out."""
        if self._check is not None:
            await self._check
        await self._checked(self._flow.job())
        self._flow.close()
        await self._let_out()

    async def _after(self) -> None:
        """Checks a stream that has gone out, for the log."""
        await self._checked(self._flow.job())
        self._passage.ruling = self._flow.ruling
        if self._passage.ruling is not None:
            await self._kept.unread(self._passage.ruling)
        self._note_times()

    async def _end(self) -> None:
        """Ends the answer; nothing that was held back goes out any more."""
        ending = b""
        self._passage.ruling = self._flow.ruling
        if self._broken is not None:
            ending = self._exchange.wire.error_event(self._broken)
            self._passage.ruling = unchecked("the upstream did not end its answer")
        if self._broken is not None or self._flow.stopped is not None:
            self._response.close()
        if self._passage.ruling is not None:
            await self._kept.unread(self._passage.ruling)
        async with self._sending:
            await self._reply.end(ending + self._trailer())
        self._note_times()

    def _trailer(self) -> bytes:
        """A comment with the decision: headers have gone out long before it was known."""
        ruling = self._passage.ruling
        said: dict[str, Any] = {
            "report_id": self._exchange.report_id,
            "action": ruling.action if ruling is not None else "none",
            "score": ruling.score if ruling is not None else None,
            **self._times(),
        }
        if ruling is not None and ruling.receipts:
            said["receipts"] = list(ruling.receipts)
        return comment(f"assay {json.dumps(said)}")

    def _times(self) -> dict[str, float | None]:
        first = None if self._first_ms is None else round(self._first_ms, 2)
        return {"first_ms": first, "longest_wait_ms": round(self._flow.timing.longest_ms, 2)}

    def _note_times(self) -> None:
        self._passage.extra |= {"stream": True, **self._times()}
