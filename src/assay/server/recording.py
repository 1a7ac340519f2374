"""What happens to the report of a check before it is released: it is recorded, then it may get a receipt.

1. The receipt is signed, and kept back. 2. The report, its entry in the audit log and that of the receipt are stored in
one transaction. 3. Both go out. A failure ends the request: what was not recorded is never released, nor is a receipt
for it. Where the receipt cannot be signed, the report is recorded alone. A server without a database omits step 2.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from assay.errors import AssayError, BusyError, InputError, ReceiptError, StoreError
from assay.guard import Guard, Ruling
from assay.guard.streams import Job
from assay.policy import Mode
from assay.receipt import Receipt, refusal, report_digest
from assay.schema import Evidence, HallucinationReport
from assay.server.caller import Caller
from assay.server.checks.repeats import ALONE, KeyedCheck
from assay.server.services import Services
from assay.server.telemetry.telemetry import ModelAnswer
from assay.store.records import CheckRecord, new_id
from assay.verify.tools import CallCheck
from assay.wire import Exchange, Json, Part, parts_of_answer, parts_of_job, unchecked_part

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.store.db import Act

GATEWAY: Final = "gateway"
"""The kind of the gateway's records."""

Signed = TypeVar("Signed", Receipt, Receipt | None)

_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """The record of a check."""

    id: str | None
    """Its id; none where the server has no database."""
    receipt: Receipt | None
    """Its receipt; none where the gate does not emit, or the guard has no keys."""


class Recorder:
    """Signs receipts and records checks."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server, where it has one."""
        self._store = services.kept
        self._checker = services.checker
        self._seconds = services.settings.limits.check_s
        self.telemetry = services.telemetry
        """Metrics and traces of the checks."""

    @property
    def keeps(self) -> bool:
        """Whether checks are recorded."""
        return self._store is not None

    async def check(
        self,
        guard: Guard,
        report: HallucinationReport,
        asked: Mapping[str, Any],
        evidence: Sequence[Evidence],
        caller: Caller,
        kind: str = "check",
        callback: str | None = None,
        step: KeyedCheck = ALONE,
    ) -> RecordedCheck:
        """Record a check, and sign a receipt where the gate emits and the guard has keys.

        Args:
            guard: the guard that decided.
            report: its report.
            asked: the options of the check, as they are recorded.
            evidence: its evidence.
            caller: the caller.
            kind: the kind of the record.
            callback: the operator's target that gets the decision of a reviewer.
            step: which check of a request with an idempotency key it is.

        Raises:
            BusyError: too much waits to be stored; nothing was stored.
            StoreError: it cannot be stored.
            InputError: no database could store something in it, such as a number that is not finite.
            CheckFailedError: it cannot be signed.
        """
        self.telemetry.checked(report, kind)
        part = Part(report, asked, tuple(evidence))
        first, signs = new_id(), _signs(guard, report)
        remember = partial(self.remember, guard, [part], caller, kind, first, callback=callback)
        try:
            receipt = await self.sign(lambda: guard.issue(report)) if signs else None
        except AssayError:
            await remember(act=step.recorded(first, settled=False))
            raise
        text = None if receipt is None else receipt.to_text()
        act = step.recorded(first, settled=True, receipt=text)
        ids = await remember(act=act, receipts=() if receipt is None else [receipt])
        step.settle()
        return RecordedCheck(ids[0] if ids else None, receipt)

    async def again(self, guard: Guard, report: HallucinationReport, step: KeyedCheck, caller: Caller) -> RecordedCheck:
        """The record of an earlier request with its receipt, which is signed now where that request did not get to it.

        Raises:
            CheckFailedError, StoreError: as `check` does.
        """
        known = step.known
        if known is None or known.settled or not _signs(guard, report):
            text = None if known is None else known.receipt
            return RecordedCheck(step.run, None if text is None else _receipt_of(report, text))
        receipt = await self.sign(lambda: guard.issue(report))
        if self._store is not None and known.run is not None:
            from assay.store.records import receipt_change

            beside = step.issued(known.run, receipt.to_text())
            await self._store.aapply(receipt_change(known.run, receipt, caller.tenant, beside=beside))
            step.settle()
        return RecordedCheck(step.run, receipt)

    async def remember(
        self,
        guard: Guard,
        parts: Sequence[Part],
        caller: Caller,
        kind: str,
        first: str,
        *,
        held: bool = True,
        callback: str | None = None,
        act: "Act | None" = None,
        receipts: Sequence[Receipt] = (),
    ) -> tuple[str, ...]:
        """Record parts of an answer and its receipts in one transaction: all of them or none.

        Args:
            guard: the guard whose policy decided.
            parts: the parts, each with its report.
            caller: the caller.
            kind: the kind of the records.
            first: the id of the first record; the others get new ones.
            held: whether what the gate escalates waits for a reviewer.
            callback: the operator's target that gets the reviewer's decision.
            act: what else is stored in the same transaction.
            receipts: receipts for the answer, which are logged as those of the first record.

        Returns:
            The id of each; empty where nothing is recorded.

        Raises:
            BusyError, StoreError, InputError: as `check` does.
        """
        if self._store is None or not parts:
            return ()
        from assay.store.records import receipt_entry

        records = [
            CheckRecord(
                part.report,
                part.asked,
                part.evidence,
                guard.policy,
                kind,
                caller.name,
                caller.tenant,
                held,
                callback,
                new_id() if number else first,
            )
            for number, part in enumerate(parts)
        ]
        try:
            async with asyncio.timeout(self._seconds):
                await self._store.arecord_all(records, act, [receipt_entry(first, receipt) for receipt in receipts])
        except TimeoutError as error:
            raise BusyError(f"it could not be recorded within {self._seconds:g} seconds; try again later") from error
        except ReceiptError as error:
            raise InputError(f"it cannot be recorded: {error}") from error
        return tuple(record.id for record in records)

    async def sign(self, issue: Callable[[], Signed]) -> Signed:
        """Sign a receipt off the event loop. It must not go out before it is recorded (`remember`).

        Args:
            issue: issues the receipt, or returns none where there is none to issue.

        Raises:
            CheckFailedError: it cannot be signed.
            BusyError: too much waits.
        """
        return await self._checker.run(issue, size=0, follows=True)


class AnswerRecorder:
    """Signs receipts for what may go out of one answer of the gateway, and records the decisions on it."""

    def __init__(self, records: Recorder, exchange: Exchange, caller: Caller, mode: Mode) -> None:
        """For one request in a mode."""
        self._records, self._exchange, self._caller, self._mode = records, exchange, caller, mode
        self._signs = exchange.guard.has_keys and mode is not Mode.SHADOW
        self._next_id = exchange.report_id
        self._calls: tuple[CallCheck, ...] = ()
        self._last_job: tuple[Job, Mapping[str, Ruling]] | None = None
        self.caller = caller
        """The caller."""
        self.answered = ModelAnswer()
        """The traced call of the model whose answer is checked."""
        self.kept = False
        """Whether something was recorded."""
        self.items: dict[str, str] = {}
        """The ids of its items in the review queue, by the text that waits."""

    async def whole(self, ruling: Ruling, answer: Json | None) -> Ruling:
        """Record the decision on a whole answer.

        Returns:
            The ruling with the receipts of what may go out.

        Raises:
            AssayError: it cannot be recorded or signed; then nothing of it may go out.
        """
        exchange = self._exchange
        self._count_reports(ruling)
        parts = [] if not self._records.keeps else parts_of_answer(exchange, ruling, answer)
        [signed] = await self._sign_and_remember(parts, [ruling], discloses=self._mode is Mode.ENFORCE)
        return signed

    async def part(self, job: Job, found: Mapping[str, Ruling]) -> dict[str, Ruling]:
        """Record the decision on a part of a stream: a text that has ended, calls, or what stops the stream.

        Returns:
            The rulings, those on texts that have ended with their receipts.

        Raises:
            AssayError: it cannot be recorded or signed; then nothing further may go out.
        """
        self._last_job = job, found
        if job.calls:
            self._calls += found[next(iter(job.calls))].calls
        stops = self._mode is Mode.ENFORCE
        keeps = self._records.keeps
        parts = parts_of_job(self._exchange, job, found, stops=stops, beside=self._calls) if keeps else []
        ended = [text.channel for text in job.texts if text.final]
        for channel in ended:
            self._count_reports(found[channel])
        signed = await self._sign_and_remember(parts, [found[channel] for channel in ended], discloses=stops)
        return {**found, **dict(zip(ended, signed, strict=True))}

    async def unread(self, ruling: Ruling) -> None:
        """Record that an answer could not be checked, unless something of it is on record already.

        A failure is only logged: nothing of such an answer goes out.
        """
        self._records.telemetry.unchecked(GATEWAY)
        if self.kept or not self._records.keeps:
            return
        try:
            await self._remember([unchecked_part(self._exchange, ruling)])
        except AssayError:
            _log.exception("it could not be recorded that an answer was not checked: %s", self._exchange.report_id)

    async def left(self) -> None:
        """Record what had been decided when the client disconnected in the middle of a stream; a failure is logged."""
        if self.kept or self._last_job is None or not self._records.keeps:
            return
        job, found = self._last_job
        shown = replace(job, texts=tuple(replace(text, final=True) for text in job.texts))
        try:
            await self._remember(parts_of_job(self._exchange, shown, found, stops=True))
        except AssayError:
            _log.exception("a stream whose client left could not be recorded: %s", self._exchange.report_id)

    def _count_reports(self, ruling: Ruling) -> None:
        for report in ruling.reports:
            self._records.telemetry.checked(report, GATEWAY, self.answered)

    async def _sign_and_remember(
        self, parts: Sequence[Part], rulings: Sequence[Ruling], *, discloses: bool
    ) -> list[Ruling]:
        """The rulings with receipts, after both are recorded; what cannot be signed is recorded all the same."""
        try:
            signed = [await self._receipts(ruling, discloses=discloses) for ruling in rulings]
        except AssayError:
            await self._remember(parts)
            raise
        await self._remember(parts, [receipt for receipts in signed for receipt in receipts])
        return [
            replace(ruling, receipts=tuple(receipt.to_text() for receipt in receipts))
            for ruling, receipts in zip(rulings, signed, strict=True)
        ]

    async def _receipts(self, ruling: Ruling, *, discloses: bool) -> list[Receipt]:
        if not self._signs or not ruling.passes:
            return []
        issued = [
            await self._records.sign(partial(self._exchange.receipt, report, discloses=discloses))
            for report in ruling.reports
        ]
        return [receipt for receipt in issued if receipt is not None]

    async def _remember(self, parts: Sequence[Part], receipts: Sequence[Receipt] = ()) -> None:
        if not parts:
            return
        first, guard = self._next_id, self._exchange.guard
        held = self._mode is Mode.ENFORCE
        ids = await self._records.remember(guard, parts, self._caller, GATEWAY, first, held=held, receipts=receipts)
        self.kept, self._next_id = True, new_id()
        self.items |= {
            part.report.output: id_ for part, id_ in zip(parts, ids, strict=False) if held and _waits_for_review(part)
        }


def _signs(guard: Guard, report: HallucinationReport) -> bool:
    return guard.has_keys and refusal(report) is None


def _receipt_of(report: HallucinationReport, text: str) -> Receipt:
    """The receipt stored under an idempotency key, checked against the report that is recorded under it.

    Raises:
        StoreError: it cannot be read, or is for another report.
    """
    try:
        receipt = Receipt.from_text(text)
    except ReceiptError as error:
        raise StoreError(f"the receipt that is kept under this key cannot be read: {error}") from error
    if receipt.statement.report != report_digest(report):
        raise StoreError("the receipt that is kept under this key is of another report; nothing is given again")
    return receipt


def _waits_for_review(part: Part) -> bool:
    return part.report.escalation is not None


def failed_to_keep(error: StoreError) -> str:
    """The reason for an answer that counts as unchecked because its check could not be recorded."""
    return f"the check could not be recorded: {error}"
