"""What a server does with a check that was made: first it is remembered, then it may get a receipt, then it goes out.

1. The report is on disk with its entry in the audit log. 2. The receipt is signed. 3. The log has the receipt. Whatever
fails ends the request: what was not recorded is never released, and a receipt is never issued for it. A server without
a database has step 2 alone.
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
from assay.server.checks.repeats import ALONE, Step
from assay.server.services import Services
from assay.server.telemetry.telemetry import Answered
from assay.store.records import CheckRecord, new_id
from assay.verify.tools import CallCheck
from assay.wire import Exchange, Json, Part, parts_of_answer, parts_of_job, unchecked_part

if TYPE_CHECKING:  # SQLAlchemy is loaded only where there is a database
    from assay.store.db import Act

GATEWAY: Final = "gateway"
"""The kind of a record that the gateway made."""

Signed = TypeVar("Signed", Receipt, Receipt | None)

_log = logging.getLogger("assay.server")


@dataclass(frozen=True, slots=True)
class Kept:
    """What became of a check that was made."""

    id: str | None
    """The id under which it is remembered; none where the server remembers nothing."""
    receipt: Receipt | None


class Records:
    """Remembers checks and signs receipts, in this order."""

    def __init__(self, services: Services) -> None:
        """Over the store of a server, where it has one."""
        self._store = services.kept
        self._checker = services.checker
        self._seconds = services.settings.limits.check_s
        self.telemetry = services.telemetry
        """What the server tells of the checks."""

    @property
    def keeps(self) -> bool:
        """Whether checks are remembered."""
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
        step: Step = ALONE,
    ) -> Kept:
        """Remember a check, and sign a receipt where the gate emits and the guard has keys.

        `step` is which check it is of a request that came under a key.

        Raises:
            BusyError: too much waits to be stored; nothing was stored.
            StoreError: it cannot be stored.
            InputError: something in it cannot be stored, whatever the database: such as a number that is not finite.
            CheckFailedError: it cannot be signed.
        """
        self.telemetry.checked(report, kind)
        part = Part(report, asked, tuple(evidence))
        first, signs = new_id(), _signs(guard, report)
        act = step.recorded(first, settled=not signs)
        ids = await self.remember(guard, [part], caller, kind, first, callback=callback, act=act)
        id_ = ids[0] if ids else None
        receipt = await self.sign(lambda: guard.issue(report), id_, caller, step) if signs else None
        return Kept(id_, receipt)

    async def again(self, guard: Guard, report: HallucinationReport, step: Step, caller: Caller) -> Kept:
        """What was remembered of an earlier request, with its receipt; signed now where that did not come to it.

        Raises:
            CheckFailedError, StoreError: as `check` does.
        """
        known = step.known
        if known is None or known.settled or not _signs(guard, report):
            text = None if known is None else known.receipt
            return Kept(step.run, None if text is None else _receipt_of(report, text))
        return Kept(step.run, await self.sign(lambda: guard.issue(report), step.run, caller, step))

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
    ) -> tuple[str, ...]:
        """Remember parts in one transaction: all of them or none.

        Args:
            guard: whose policy decided.
            parts: what was decided on.
            caller: who asked.
            kind: of the records.
            first: the id of the first record; the others get new ones.
            held: whether what the gate escalates is held back until a person decides.
            callback: which of the operator's targets hears of that decision.
            act: what else is stored in the same transaction.

        Returns:
            The id of each; empty where nothing is remembered.

        Raises:
            BusyError, StoreError, InputError: as `check` does.
        """
        if self._store is None or not parts:
            return ()
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
                await self._store.arecord_all(records, act)
        except TimeoutError as error:
            raise BusyError(f"it could not be recorded within {self._seconds:g} seconds; try again later") from error
        except ReceiptError as error:
            raise InputError(f"it cannot be recorded: {error}") from error
        return tuple(record.id for record in records)

    async def sign(self, issue: Callable[[], Signed], id_: str | None, caller: Caller, step: Step = ALONE) -> Signed:
        """A receipt, off the event loop, and told to the log before it may go out.

        Args:
            issue: makes the receipt; none where there is to be none.
            id_: the record that it is for; none where the server remembers nothing.
            caller: who asked.
            step: which check it is of a request that came under a key.

        Raises:
            CheckFailedError: it cannot be signed.
            BusyError, StoreError: it cannot be stored; then the receipt must not go out.
        """
        receipt = await self._checker.run(issue, size=0)
        if receipt is not None and self._store is not None and id_ is not None:
            from assay.store.records import receipt_change

            change = receipt_change(id_, receipt, caller.tenant, beside=step.issued(id_, receipt.to_text()))
            await self._store.aapply(change)
        return receipt


class Keeping:
    """Remembers what is decided on one answer of the gateway, and signs what may go out of it."""

    def __init__(self, records: Records, exchange: Exchange, caller: Caller, mode: Mode) -> None:
        """For one request in a mode."""
        self._records, self._exchange, self._caller, self._mode = records, exchange, caller, mode
        self._signs = exchange.guard.has_keys and mode is not Mode.SHADOW
        self._next = exchange.report_id
        self._calls: tuple[CallCheck, ...] = ()
        self._last: tuple[Job, Mapping[str, Ruling]] | None = None
        self.caller = caller
        """Who asked."""
        self.answered = Answered()
        """The model's call that is being checked."""
        self.kept = False
        """Whether something was remembered."""
        self.items: dict[str, str] = {}
        """The items of the review queue that it led to, by the text that waits."""

    async def whole(self, ruling: Ruling, answer: Json | None) -> Ruling:
        """Remember what was decided on a whole answer.

        Returns:
            The ruling with the receipts of what may go out.

        Raises:
            AssayError: it cannot be remembered or signed; then nothing of it may go out.
        """
        exchange = self._exchange
        self._tell(ruling)
        parts = [] if not self._records.keeps else parts_of_answer(exchange, ruling, answer)
        first = await self._remember(parts)
        return await self._signed(ruling, first, discloses=self._mode is Mode.ENFORCE)

    async def part(self, job: Job, found: Mapping[str, Ruling]) -> dict[str, Ruling]:
        """Remember what was decided on a part of a stream, where it is more than a look in between.

        Returns:
            The rulings, those on texts that have ended with their receipts.

        Raises:
            AssayError: it cannot be remembered or signed; then nothing further may go out.
        """
        self._last = job, found
        if job.calls:
            self._calls += found[next(iter(job.calls))].calls
        stops = self._mode is Mode.ENFORCE
        keeps = self._records.keeps
        parts = parts_of_job(self._exchange, job, found, stops=stops, beside=self._calls) if keeps else []
        first = await self._remember(parts)
        made = dict(found)
        for text in job.texts:
            if text.final:
                self._tell(found[text.channel])
                made[text.channel] = await self._signed(found[text.channel], first, discloses=stops)
        return made

    async def unread(self, ruling: Ruling) -> None:
        """Remember that an answer could not be checked, unless something of it was remembered already.

        A failure is told to the operator only: nothing of such an answer goes out.
        """
        self._records.telemetry.unchecked(GATEWAY)
        if self.kept or not self._records.keeps:
            return
        try:
            await self._remember([unchecked_part(self._exchange, ruling)])
        except AssayError:
            _log.exception("it could not be recorded that an answer was not checked: %s", self._exchange.report_id)

    async def left(self) -> None:
        """Remember what had been decided when the client went away in the middle of a stream."""
        if self.kept or self._last is None or not self._records.keeps:
            return
        job, found = self._last
        shown = replace(job, texts=tuple(replace(text, final=True) for text in job.texts))
        try:
            await self._remember(parts_of_job(self._exchange, shown, found, stops=True))
        except AssayError:
            _log.exception("a stream whose client left could not be recorded: %s", self._exchange.report_id)

    def _tell(self, ruling: Ruling) -> None:
        for report in ruling.reports:
            self._records.telemetry.checked(report, GATEWAY, self.answered)

    async def _remember(self, parts: Sequence[Part]) -> str | None:
        if not parts:
            return None
        first = self._next
        held = self._mode is Mode.ENFORCE
        ids = await self._records.remember(self._exchange.guard, parts, self._caller, GATEWAY, first, held=held)
        self.kept, self._next = True, new_id()
        waiting = [(part.report.output, id_) for part, id_ in zip(parts, ids, strict=False) if held and _waits(part)]
        self.items |= dict(waiting)
        return ids[0] if ids else None

    async def _signed(self, ruling: Ruling, first: str | None, *, discloses: bool) -> Ruling:
        if not self._signs or not ruling.passes:
            return ruling
        made: list[str] = []
        for report in ruling.reports:
            issue = partial(self._exchange.receipt, report, discloses=discloses)
            receipt = await self._records.sign(issue, first, self._caller)
            if receipt is not None:
                made.append(receipt.to_text())
        return replace(ruling, receipts=tuple(made))


def _signs(guard: Guard, report: HallucinationReport) -> bool:
    return guard.has_keys and refusal(report) is None


def _receipt_of(report: HallucinationReport, text: str) -> Receipt:
    """The receipt that is kept under a key, if it is of the report that is recorded under it.

    Raises:
        StoreError: it is none, or one of another report.
    """
    try:
        found = Receipt.from_text(text)
    except ReceiptError as error:
        raise StoreError(f"the receipt that is kept under this key cannot be read: {error}") from error
    if found.statement.report != report_digest(report):
        raise StoreError("the receipt that is kept under this key is of another report; nothing is given again")
    return found


def _waits(part: Part) -> bool:
    return part.report.escalation is not None


def failed_to_keep(error: StoreError) -> str:
    """Why an answer counts as unchecked that was checked and could not be recorded."""
    return f"the check could not be recorded: {error}"
