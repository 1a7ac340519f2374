"""Streams of text: a claim that does not pass is never given out, or is corrected at once.

The text is held back one sentence at a time. A sentence is complete when the next one begins. It is checked together
with the text before it while the next is generated, and goes out as soon as it passes. When the source has ended, the
whole text is checked once more, in the same way as a text that was not streamed.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Final, Self

from assay.errors import InputError, WithheldError
from assay.guard.rulings import UNCHECKED, Ruling, ruling_on_part, ruling_on_report
from assay.guard.streams.flow import Flow, StreamTiming
from assay.guard.streams.holdback import Job, StreamDelta
from assay.guard.streams.runner import aclose_source, adrive, close_source, drive
from assay.policy import Mode
from assay.schema import HallucinationReport
from assay.schema.run import ModelTurn, Run, TextPart

_CHANNEL: Final = "text"
_ON_WITHHELD: Final = ("answer", "end", "raise")
_FAIL_ON: Final = ("revise", "block")
_WHOLE_TEXT_OPTIONS: Final = frozenset({"schema", "structure", "citations"})
"""The options of `check` that apply only to a whole text."""


class Notice(str):
    """Text of the policy and not of the source: why the rest is missing, or a disclosure."""

    __slots__ = ()


class Correction(str):
    """Follows text that went out and did not pass; its own text is for the reader."""

    __slots__ = ("reasons", "report")

    report: HallucinationReport | None
    """The report, with the claims that did not hold."""
    reasons: tuple[str, ...]
    """Why the gate would not have released the text."""

    def __new__(cls, words: str, report: HallucinationReport | None = None, reasons: tuple[str, ...] = ()) -> Self:
        """A correction in words for the reader, with its report and reasons."""
        made = super().__new__(cls, words)
        made.report = report
        made.reasons = reasons
        return made


@dataclass(frozen=True, slots=True)
class StreamOutcome:
    """How a stream ended."""

    finished: bool
    """Whether the stream has ended; until then nothing counts as passed."""
    action: str
    """The gate's action on the whole text, or `unchecked`."""
    passed: bool
    """Whether the whole text of the source may stand."""
    released: str
    """The text of the source that was given out."""
    notice: str | None = None
    """The policy's own text in place of the rest, or together with the text."""
    report: HallucinationReport | None = None
    """The report on the whole text, or on the part that stopped the stream; None if no check was made."""
    reasons: tuple[str, ...] = ()
    timing: StreamTiming = field(default_factory=StreamTiming)
    """The delay by holding back; also in `report.timing.stages_ms` as `stream_first` and `stream_total`."""


class _TextReader:
    """Reads pieces that are all text of one answer."""

    def read(self, event: str, data: Any) -> StreamDelta:  # noqa: ARG002 text carries no JSON
        return StreamDelta(texts=[(_CHANNEL, event)] if event else [])

    def end(self) -> StreamDelta:
        # Also if there was no text: an empty answer is an answer, and does not pass.
        return StreamDelta(ended_texts=[_CHANNEL])

    def sent(self, data: Any) -> None:
        """Nothing is to be noted."""


def _cut(event: str, back: int) -> tuple[str, str] | None:
    at = len(event) - back
    return (event[:at], event[at:]) if at > 0 else None


class _TextFlow(Flow[Any, str, str]):
    """A stream of text."""

    def __init__(self, read: Callable[[Any], str | None] | None, *, enforces: bool, shows_notice: bool) -> None:
        super().__init__(_TextReader(), enforces=enforces, split=_cut)
        self._read = read
        self._shows_notice = shows_notice
        self._given: list[str] = []

    @property
    def given(self) -> str:
        """The text that was released."""
        whole = "".join(self._given)
        self._given = [whole]
        return whole

    def _events(self, piece: Any) -> Iterable[tuple[str, Any]]:
        text = piece if self._read is None else self._read(piece)
        if text is not None and not isinstance(text, str):
            raise InputError(
                f"a stream gives text, got {type(text).__name__}; say with `read` how text is made of a piece"
            )
        return ((text, None),) if text else ()

    def _shown(self, event: str, data: Any) -> str:  # noqa: ARG002 text carries no JSON
        self._given.append(event)
        return event

    def _ending(self, ruling: Ruling) -> Iterable[str]:
        return self._disclosure(ruling) if self._shows_notice else ()

    def _disclosure(self, ruling: Ruling) -> Iterable[str]:
        if not ruling.notice:
            return ()
        return (Notice(f"\n\n{ruling.notice}" if self.given else ruling.notice),)

    def _correction(self, ruling: Ruling) -> Iterable[str]:
        report = ruling.reports[0] if ruling.reports else None
        return (Correction(f"\n\n[Correction] {_correction_text(ruling)}\n\n", report, ruling.reasons),)


def _correction_text(ruling: Ruling) -> str:
    """The notice to a reader about text that is already out."""
    wrong = [str(claim["text"]) for claim in ruling.summary("").get("claims", [])] if ruling.reports else []
    if not wrong:
        return "Not all of this could be checked."
    quoted = "; ".join(f"“{text}”" for text in wrong)
    return f"The available documents do not support this: {quoted}"


@dataclass(frozen=True)
class TextCheck:
    """What the text of a stream is checked against."""

    check: Callable[..., HallucinationReport]
    check_run: Callable[..., HallucinationReport]
    evidence: Any = None
    run: Any = None
    fail_on: str = "revise"
    claim_free: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _run(self) -> Run | None:
        if self.run is None or isinstance(self.run, Run):
            return self.run
        run = getattr(self.run, "run", None)
        if callable(run):  # a builder, or a watch
            made: Run = run()
            return made
        from assay.schema.traces import read_run

        return read_run(self.run)

    def rule(self, job: Job) -> dict[str, Ruling]:
        """The rulings on a job."""
        found = {}
        for text in job.texts:
            if text.final:
                report = self._report(text.text, claim_free=self.claim_free, options=self.options)
                found[text.channel] = ruling_on_report(report, self.fail_on)
            else:
                # Whether a text may be free of claims is decided at its end, like all that concerns the whole text.
                options = {name: value for name, value in self.options.items() if name not in _WHOLE_TEXT_OPTIONS}
                report = self._report(text.text, claim_free=True, options=options)
                found[text.channel] = ruling_on_part(report, self.fail_on, begun=text.begun)
        return found

    def _report(self, text: str, *, claim_free: bool, options: Mapping[str, Any]) -> HallucinationReport:
        run = self._run
        if run is None:
            return self.check(text, self.evidence, claim_free=claim_free, **options)
        grown = run.append(ModelTurn(content=(TextPart(text=text),)))
        return self.check_run(grown, evidence=self.evidence, claim_free=claim_free, **options)


class _Stream:
    """What both kinds of streams share."""

    def __init__(self, flow: _TextFlow, on_withheld: str) -> None:
        self._flow = flow
        self._on_withheld = on_withheld

    @property
    def outcome(self) -> StreamOutcome:
        """How the stream ended, or where it stands."""
        flow = self._flow
        ruling, given, timing = flow.ruling, flow.given, flow.timing
        if ruling is None:
            return StreamOutcome(flow.finished, UNCHECKED, False, given, timing=timing)
        report = _timed(ruling.reports[0], timing) if ruling.reports else None
        if not flow.finished:
            return StreamOutcome(False, UNCHECKED, False, given, report=report, timing=timing)
        return StreamOutcome(True, ruling.action, ruling.passes, given, ruling.notice, report, ruling.reasons, timing)

    @property
    def report(self) -> HallucinationReport | None:
        """The report of the whole text, or of the part that stopped the stream; none before anything was checked."""
        return self.outcome.report

    @property
    def text(self) -> str:
        """The text of the source that was given out so far, without notices and corrections."""
        return self._flow.given

    def _raise_withheld(self) -> None:
        stopped = self._flow.stopped
        if stopped is not None and self._on_withheld == "raise":
            raise WithheldError(stopped.notice or "", self.report)


def _timed(report: HallucinationReport, timing: StreamTiming) -> HallucinationReport:
    """The report with the delay of the stream in its timing, as far as it is known."""
    spent = {"stream_first": timing.first_ms, "stream_total": timing.total_ms}
    stages = {**report.timing.stages_ms, **{name: value for name, value in spent.items() if value is not None}}
    return report.model_copy(update={"timing": report.timing.model_copy(update={"stages_ms": stages})})


class TextStream(_Stream, Iterator[str]):
    """Yields the text that may be shown; made by `Guard.stream`. As a context manager it closes the source."""

    def __init__(self, source: Iterable[Any], flow: _TextFlow, check: TextCheck, on_withheld: str) -> None:
        super().__init__(flow, on_withheld)
        self._unread: Iterable[Any] | None = source
        self._pieces = self._run(source, check)

    def _run(self, source: Iterable[Any], check: TextCheck) -> Generator[str, None, None]:
        self._unread = None
        yield from drive(source, self._flow, check.rule)
        self._raise_withheld()

    def __next__(self) -> str:
        """The next text that may be shown."""
        return next(self._pieces)

    def close(self) -> None:
        """Leaves the stream; the source is closed where it can be."""
        self._pieces.close()
        # A generator that was never started closes nothing.
        unread, self._unread = self._unread, None
        if unread is not None:
            close_source(unread)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncTextStream(_Stream, AsyncIterator[str]):
    """As `TextStream`, for an asynchronous source."""

    def __init__(self, source: AsyncIterable[Any], flow: _TextFlow, check: TextCheck, on_withheld: str) -> None:
        super().__init__(flow, on_withheld)
        self._unread: AsyncIterable[Any] | None = source
        self._pieces = self._run(source, check)

    async def _run(self, source: AsyncIterable[Any], check: TextCheck) -> AsyncGenerator[str, None]:
        self._unread = None
        pieces = adrive(source, self._flow, check.rule)
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()
        self._raise_withheld()

    async def __anext__(self) -> str:
        """The next text that may be shown."""
        return await anext(self._pieces)

    async def aclose(self) -> None:
        """Leaves the stream; the source is closed where it can be."""
        await self._pieces.aclose()
        # A generator that was never started closes nothing.
        unread, self._unread = self._unread, None
        if unread is not None:
            await aclose_source(unread)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def open_stream(
    source: object,
    check: TextCheck,
    *,
    mode: Mode | str,
    on_withheld: str,
    read: Callable[[Any], str | None] | None,
) -> TextStream | AsyncTextStream:
    """A stream over a source; see `Guard.stream`.

    Raises:
        InputError: the source is no stream, or a setting is wrong.
    """
    if mode not in (Mode.ENFORCE, Mode.ANNOTATE):
        raise InputError(f"a stream's mode is 'enforce' or 'annotate', got {mode!r}")
    if on_withheld not in _ON_WITHHELD:
        raise InputError(f"on_withheld is one of {', '.join(_ON_WITHHELD)}; got {on_withheld!r}")
    if check.fail_on not in _FAIL_ON:
        raise InputError(f"fail_on is 'revise' or 'block', got {check.fail_on!r}")
    flow = _TextFlow(read, enforces=mode == Mode.ENFORCE, shows_notice=on_withheld == "answer")
    if isinstance(source, AsyncIterable):
        return AsyncTextStream(source, flow, check, on_withheld)
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        return TextStream(source, flow, check, on_withheld)
    raise InputError(f"a stream is an iterable of pieces, asynchronous or not; got {type(source).__name__}")
