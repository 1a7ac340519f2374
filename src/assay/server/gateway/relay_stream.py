"""Relays one stream: reads it, checks complete parts while more arrives, and releases what has passed."""

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
from assay.server.gateway.escalated_answers import ReviewWait
from assay.server.gateway.request_context import RequestContext
from assay.server.gateway.upstream import require_plain, response_headers
from assay.server.recording import AnswerRecorder, failed_to_keep
from assay.server.settings import Limits, Mode
from assay.wire import Exchange, WireFlow, comment

_EVENTS: Final = b"text/event-stream"
HEARTBEAT_S: Final = 15.0
"""Seconds between two comments while a stream waits for a reviewer: proxies close a silent stream after a minute."""

_log = logging.getLogger("assay.server")

Later = Callable[[Coroutine[Any, Any, None]], None]


class StreamRelay:
    """One stream on its way to a client."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        context: RequestContext,
        exchange: Exchange,
        kept: AnswerRecorder,
        reply: Reply,
        checker: Checker,
        limits: Limits,
        people: ReviewWait,
    ) -> None:
        """A relay from `response` to `reply`; `people` waits for reviewers of what the gate escalates."""
        self._people = people
        self._held_channels: set[str] = set()
        self._upstream_ended = asyncio.Event()
        self._response, self._context, self._exchange, self._reply = response, context, exchange, reply
        self._checker, self._limits, self._kept = checker, limits, kept
        self._enforces = context.route.mode is Mode.ENFORCE
        self._is_shadow = context.route.mode is Mode.SHADOW
        self._flow = WireFlow(
            exchange.wire,
            exchange.report_id,
            enforces=self._enforces,
            most=limits.event_bytes,
            hides=context.hides,
            request=exchange.request,
        )
        self._stopped = asyncio.Event()
        self._failure: str | None = None
        self._check_task: asyncio.Task[None] | None = None
        self._sending = asyncio.Lock()
        self._bytes = 0
        self._first_ms: float | None = None
        self._ended_at: float | None = None

    async def run(self, later: Later) -> None:
        """Relays the stream to its end; `later` starts work that outlives the request."""
        try:
            require_plain(self._response)
        except InputError as error:
            self._flow.fail(str(error))
        headers = response_headers(self._response, changed=not self._is_shadow)
        if not self._is_shadow:
            # It was read as plain UTF-8, whatever the upstream's headers say.
            headers = [pair for pair in headers if pair[0] not in (b"content-type", b"content-encoding")]
            headers.append((b"content-type", _EVENTS))
        action = "unchecked" if self._is_shadow else "pending"
        await self._reply.start(self._response.status, [*headers, *self._context.headers(action)])
        pump, stopped = asyncio.create_task(self._pump()), asyncio.create_task(self._stopped.wait())
        try:
            await asyncio.wait({pump, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if pump.done():
                pump.result()
            if self._is_shadow:
                await self._reply.end()
                later(self._check_in_shadow())
                return
            if not self._stopped.is_set() and self._failure is None:
                await self._check_rest()
            await self._end()
        except asyncio.CancelledError:
            if not self._is_shadow:
                later(self._kept.left())
            raise
        finally:
            for task in (pump, stopped, self._check_task):
                if task is not None:
                    task.cancel()

    async def _pump(self) -> None:
        """Reads the upstream's bytes to their end."""
        try:
            async for chunk in self._response.content.iter_any():
                self._bytes += len(chunk)
                if self._is_shadow:
                    await self._reply.write(chunk)
                if self._bytes > self._limits.answer_bytes:
                    self._flow.fail(
                        f"the stream has more than the {self._limits.answer_bytes:,} bytes that are checked"
                    )
                else:
                    self._flow.take(chunk, time.perf_counter())
                await self._release()
                if self._stopped.is_set() or self._bytes > self._limits.answer_bytes:
                    return
                self._begin_check()
            self._ended_at = time.perf_counter()
            self._flow.end(self._ended_at)
            self._upstream_ended.set()
            await self._release()
        except TimeoutError:
            self._failure = "the upstream was silent for too long in the middle of its answer"
        except aiohttp.ClientError:
            self._failure = "the upstream broke off its answer"

    async def _release(self) -> None:
        """Sends what may go out now."""
        async with self._sending:
            free = self._flow.out()
            if self._first_ms is None and self._flow.timing.first_ms is not None:
                self._first_ms = (time.perf_counter() - self._context.begun) * 1000
            if free and not self._is_shadow and not self._reply.ended:
                await self._reply.write(b"".join(free))
        if self._flow.finished:
            self._stopped.set()

    def _begin_check(self) -> None:
        """Starts a check if none is running and there is something to check."""
        if not self._is_shadow and (self._check_task is None or self._check_task.done()):
            job = self._flow.job()
            if job is not None:
                self._check_task = asyncio.create_task(self._check_all(job))

    async def _check_all(self, job: Job | None) -> None:
        """Checks one job after another while there are any."""
        while job is not None:
            rulings = await self._rulings_on(job)
            if rulings is None:
                # A reviewer decides once, on the whole answer: the rest of it is read first.
                await self._upstream_ended.wait()
                job = self._flow.job()
                continue
            undecided = {name: ruling for name, ruling in rulings.items() if self._may_ask(ruling)}
            if undecided and all(ruling.passes or name in undecided for name, ruling in rulings.items()):
                rulings |= await self._decide(undecided)
            self._flow.settle(job, rulings, time.perf_counter())
            await self._release()
            job = self._flow.job()

    def _may_ask(self, ruling: Ruling) -> bool:
        return self._people.waits and not ruling.waits and self._people.can_decide(ruling)

    def _held_back(self, job: Job, rulings: dict[str, Ruling]) -> dict[str, Ruling]:
        """The rulings where the route waits for reviewers: an escalated sentence, and all after it, waits for the end
        of the text, unless something that no reviewer can release stops the stream."""
        for text in job.texts:
            ruling = rulings[text.channel]
            if not text.final and self._may_ask(ruling):
                self._held_channels.add(text.channel)
            if not text.final and text.channel in self._held_channels and (ruling.passes or self._may_ask(ruling)):
                rulings[text.channel] = replace(ruling, passes=False, waits=True)
        return rulings

    async def _decide(self, undecided: Mapping[str, Ruling]) -> dict[str, Ruling]:
        """Reviewers' rulings on texts that have ended; empty where an edited text has already ended the stream."""
        decisions: dict[str, Ruling] = {}
        for name, ruling in undecided.items():
            decision = await self._wait_for_decision(ruling)
            if decision is None:
                continue
            if decision.passes and decision.reports[0].output != ruling.reports[0].output:
                if self._flow.reword(decision, decision.reports[0].output):
                    return {}
                continue
            decisions[name] = decision
        return decisions

    async def _wait_for_decision(self, ruling: Ruling) -> Ruling | None:
        """A reviewer's ruling, none without one; comments keep the connection alive meanwhile."""
        if not self._people.find(ruling):
            return None
        waiting = asyncio.create_task(self._people.decide(ruling))
        try:
            while not waiting.done():
                await self._comment("assay-review", {"review": self._people.id, "state": self._people.state})
                await asyncio.wait({waiting}, timeout=HEARTBEAT_S)
            return waiting.result()
        except StoreError:
            # The gate's own ruling stands, which withholds the text; the item stays in the queue.
            _log.exception("the decision of a reviewer could not be read: %s", self._exchange.report_id)
            return None
        finally:
            waiting.cancel()

    async def _comment(self, name: str, fields: Mapping[str, Any]) -> None:
        async with self._sending:
            if not self._reply.ended:
                await self._reply.write(comment(f"{name} {json.dumps(fields)}"))

    async def _rulings_on(self, job: Job) -> dict[str, Ruling] | None:
        """The recorded rulings on a job; none where a reviewer has to decide and the answer has not ended."""
        try:
            rulings = self._held_back(job, await self._checker.run(lambda: self._exchange.part(job)))
            needs_person = any(text.final and self._may_ask(rulings[text.channel]) for text in job.texts)
            if needs_person and not self._upstream_ended.is_set():
                return None
            rulings |= {text.channel: self._with_times(rulings[text.channel]) for text in job.texts if text.final}
            # Recorded before anything of it goes out; what cannot be recorded counts as unchecked.
            return await self._kept.part(job, rulings)
        except (CheckFailedError, InputError, StoreError) as error:
            names = [*(text.channel for text in job.texts), *job.calls]
            reason = failed_to_keep(error) if isinstance(error, StoreError) else str(error)
            return dict.fromkeys(names, unchecked(reason))

    async def _check_rest(self) -> None:
        """Checks and releases the rest after the end of the upstream's stream."""
        if self._check_task is not None:
            await self._check_task
        await self._check_all(self._flow.job())
        self._flow.close()
        await self._release()

    async def _check_in_shadow(self) -> None:
        """Checks a stream that has already gone out, for the record and the log."""
        await self._check_all(self._flow.job())
        self._context.ruling = self._flow.ruling
        if self._context.ruling is not None:
            await self._kept.unread(self._context.ruling)
        self._note_times()

    async def _end(self) -> None:
        """Ends the answer; what is still held back never goes out."""
        ending = b""
        self._context.ruling = self._flow.ruling
        if self._failure is not None:
            ending = self._exchange.wire.error_event(self._failure)
            self._context.ruling = unchecked("the upstream did not end its answer")
        if self._failure is not None or self._flow.stopped is not None:
            self._response.close()
        if self._context.ruling is not None:
            await self._kept.unread(self._context.ruling)
        if self._people.id is None and self._flow.stopped is not None and self._people.can_decide(self._flow.stopped):
            self._people.find(self._flow.stopped)
        async with self._sending:
            await self._reply.end(ending + self._trailer())
        self._note_times()

    def _trailer(self) -> bytes:
        """A comment with the decision, which was not known when the headers were sent."""
        ruling = self._context.ruling
        fields: dict[str, Any] = {
            "report_id": self._exchange.report_id,
            "action": ruling.action if ruling is not None else "none",
            "score": ruling.score if ruling is not None else None,
            **self._times(),
        }
        if ruling is not None and ruling.action == Action.BLOCK.value and self._people.id is None:
            self._people.find(ruling)
        if self._people.id is not None:
            fields |= {"review": self._people.id, "review_state": self._people.state}
        if ruling is not None and ruling.untold:
            fields["untold"] = list(ruling.untold)
        if ruling is not None and ruling.receipts:
            fields["receipts"] = list(ruling.receipts)
        return comment(f"assay {json.dumps(fields)}")

    def _with_times(self, ruling: Ruling) -> Ruling:
        """The ruling on a text that has ended, its report with the time that holding the stream back has cost."""
        first = self._flow.timing.first_ms
        total = None if self._ended_at is None else (time.perf_counter() - self._ended_at) * 1000
        spent = {
            name: round(ms, 3) for name, ms in (("stream_first", first), ("stream_total", total)) if ms is not None
        }
        reports = []
        for report in ruling.reports:
            timing = report.timing.model_copy(update={"stages_ms": {**report.timing.stages_ms, **spent}})
            reports.append(report.model_copy(update={"timing": timing}))
        return replace(ruling, reports=tuple(reports))

    def _times(self) -> dict[str, float | None]:
        """Milliseconds from the request to the first text, that this text waited here, by which the stream ended later
        than the upstream's, and the longest that anything waited."""
        timing = self._flow.timing
        times = {
            "first_ms": self._first_ms,
            "added_first_ms": timing.first_ms,
            "added_total_ms": timing.total_ms,
            "longest_wait_ms": timing.longest_ms,
        }
        return {name: None if ms is None else round(ms, 2) for name, ms in times.items()}

    def _note_times(self) -> None:
        reviewed = {} if self._people.id is None else {"review": self._people.state}
        self._context.extra |= {"stream": True, **reviewed, **self._times()}
