"""Relays one stream: reads it, checks what is complete while more is coming, and releases what has passed."""

import asyncio
import json
import logging
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final

import aiohttp

from assay.errors import InputError, StoreError
from assay.guard import Ruling, unchecked
from assay.guard.streams import Job
from assay.schema import Action
from assay.server.checking import Checker, CheckFailedError
from assay.server.gateway.asgi import Reply
from assay.server.gateway.escalated_answers import People
from assay.server.gateway.request_context import RequestContext
from assay.server.gateway.upstream import require_plain, response_headers
from assay.server.recording import Keeping, failed_to_keep
from assay.server.settings import Limits, Mode
from assay.wire import Exchange, WireFlow, comment

_EVENTS: Final = b"text/event-stream"
BEAT_S: Final = 15.0
"""Seconds between two comments while a stream waits for a person: well below the minute after which proxies give up."""

_log = logging.getLogger("assay.server")

Later = Callable[[Coroutine[Any, Any, None]], None]


class StreamRelay:
    """One stream on its way to a client."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        passage: RequestContext,
        exchange: Exchange,
        kept: Keeping,
        reply: Reply,
        checker: Checker,
        limits: Limits,
        people: People,
    ) -> None:
        """A relay of what `response` streams to what `reply` sends; `people` decide on what the gate escalates."""
        self._people = people
        self._holds: set[str] = set()
        self._read = asyncio.Event()
        self._response, self._passage, self._exchange, self._reply = response, passage, exchange, reply
        self._checker, self._limits, self._kept = checker, limits, kept
        self._enforces = passage.route.mode is Mode.ENFORCE
        self._shadows = passage.route.mode is Mode.SHADOW
        self._flow = WireFlow(
            exchange.wire,
            exchange.report_id,
            enforces=self._enforces,
            most=limits.event_bytes,
            hides=passage.hides,
            request=exchange.request,
        )
        self._stopped = asyncio.Event()
        self._broken: str | None = None
        self._check: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self._bytes = 0
        self._first_ms: float | None = None
        self._ended: float | None = None

    async def run(self, later: Later) -> None:
        """Relays the stream to its end; `later` runs work that outlives it."""
        try:
            require_plain(self._response)
        except InputError as error:
            self._flow.fail(str(error))
        headers = response_headers(self._response, changed=not self._shadows)
        if not self._shadows:
            # It was read as plain UTF-8, whatever the upstream calls it.
            headers = [pair for pair in headers if pair[0] not in (b"content-type", b"content-encoding")]
            headers.append((b"content-type", _EVENTS))
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
            self._ended = time.perf_counter()
            self._flow.end(self._ended)
            self._read.set()
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
            if found is None:
                # People decide on all of an answer, once: what is left of it is read first.
                await self._read.wait()
                job = self._flow.job()
                continue
            asked = {name: ruling for name, ruling in found.items() if self._may_ask(ruling)}
            if asked and all(ruling.passes or name in asked for name, ruling in found.items()):
                found |= await self._decided(asked)
            self._flow.settle(job, found, time.perf_counter())
            await self._let_out()
            job = self._flow.job()

    def _may_ask(self, ruling: Ruling) -> bool:
        return self._people.waits and not ruling.waits and self._people.can_decide(ruling)

    def _held_back(self, job: Job, found: dict[str, Ruling]) -> dict[str, Ruling]:
        """The rulings as they are where people decide: a sentence that a person has to look at, and all behind it,
        waits for the end of the text, unless something that no person releases stops the stream."""
        for text in job.texts:
            ruling = found[text.channel]
            if not text.final and self._may_ask(ruling):
                self._holds.add(text.channel)
            if not text.final and text.channel in self._holds and (ruling.passes or self._may_ask(ruling)):
                found[text.channel] = replace(ruling, passes=False, waits=True)
        return found

    async def _decided(self, asked: Mapping[str, Ruling]) -> dict[str, Ruling]:
        """What people decide on texts that have ended; a stream that they reword has ended with their words."""
        found: dict[str, Ruling] = {}
        for name, ruling in asked.items():
            made = await self._kept_alive(ruling)
            if made is None:
                continue
            if made.passes and made.reports[0].output != ruling.reports[0].output:
                if self._flow.reword(made, made.reports[0].output):
                    return {}
                continue
            found[name] = made
        return found

    async def _kept_alive(self, ruling: Ruling) -> Ruling | None:
        """What a person decides, while comments tell the client and all between that the stream goes on."""
        if not self._people.find(ruling):
            return None
        waiting = asyncio.create_task(self._people.decide(ruling))
        try:
            while not waiting.done():
                await self._comment("assay-review", {"review": self._people.id, "state": self._people.state})
                await asyncio.wait({waiting}, timeout=BEAT_S)
            return waiting.result()
        except StoreError:
            # The gate's own ruling stands, which withholds the text; the item stays in the queue.
            _log.exception("the decision of a person could not be read: %s", self._exchange.report_id)
            return None
        finally:
            waiting.cancel()

    async def _comment(self, name: str, said: Mapping[str, Any]) -> None:
        async with self._sending:
            if not self._reply.ended:
                await self._reply.write(comment(f"{name} {json.dumps(said)}"))

    async def _rule(self, job: Job) -> dict[str, Ruling] | None:
        """The rulings on a job, on record; none where people have to decide and the answer goes on."""
        try:
            found = self._held_back(job, await self._checker.run(lambda: self._exchange.part(job)))
            ended = any(text.final and self._may_ask(found[text.channel]) for text in job.texts)
            if ended and not self._read.is_set():
                return None
            found |= {text.channel: self._timed(found[text.channel]) for text in job.texts if text.final}
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
        if self._people.id is None and self._flow.stopped is not None and self._people.can_decide(self._flow.stopped):
            self._people.find(self._flow.stopped)
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
        if ruling is not None and ruling.action == Action.BLOCK.value and self._people.id is None:
            self._people.find(ruling)
        if self._people.id is not None:
            said |= {"review": self._people.id, "review_state": self._people.state}
        if ruling is not None and ruling.untold:
            said["untold"] = list(ruling.untold)
        if ruling is not None and ruling.receipts:
            said["receipts"] = list(ruling.receipts)
        return comment(f"assay {json.dumps(said)}")

    def _timed(self, ruling: Ruling) -> Ruling:
        """The ruling on a text that has ended, its report with what holding the stream back has cost until now."""
        first = self._flow.timing.first_ms
        total = None if self._ended is None else (time.perf_counter() - self._ended) * 1000
        spent = {
            name: round(ms, 3) for name, ms in (("stream_first", first), ("stream_total", total)) if ms is not None
        }
        reports = []
        for report in ruling.reports:
            timing = report.timing.model_copy(update={"stages_ms": {**report.timing.stages_ms, **spent}})
            reports.append(report.model_copy(update={"timing": timing}))
        return replace(ruling, reports=tuple(reports))

    def _times(self) -> dict[str, float | None]:
        """Milliseconds: from the request to the first text, how long that waited here, how much later the stream ended
        than the upstream's, and the longest that anything waited."""
        timing = self._flow.timing
        said = {
            "first_ms": self._first_ms,
            "added_first_ms": timing.first_ms,
            "added_total_ms": timing.total_ms,
            "longest_wait_ms": timing.longest_ms,
        }
        return {name: None if ms is None else round(ms, 2) for name, ms in said.items()}

    def _note_times(self) -> None:
        reviewed = {} if self._people.id is None else {"review": self._people.state}
        self._passage.extra |= {"stream": True, **reviewed, **self._times()}
