"""One stream on its way to its reader: text is held back until it has passed, or goes out and is corrected.

A flow does no I/O: pieces and rulings go in with their times, and what may go out comes out. A driver reads the source,
has the jobs checked while more is coming, and hands out what has been released; `assay.guard.streams.runner` does so
with threads and with an event loop.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from assay.guard.rulings import Ruling, joint_ruling, unchecked
from assay.guard.streams.holdback import Held, Holdback, Job, Split, StreamReader
from assay.schema import ClaimStatus

I = TypeVar("I")  # noqa: E741 what comes in
E = TypeVar("E")
O = TypeVar("O")  # noqa: E741 what goes out

STREAM: str = "stream"
"""The name of the ruling on the stream as a whole."""


@dataclass(frozen=True, slots=True)
class StreamTiming:
    """The delay by holding back, in milliseconds."""

    first_ms: float | None = None
    """How long the first sentence waited after it was complete; None if none went out."""
    total_ms: float | None = None
    """How much later the stream ended than its source; None if it was stopped before."""
    longest_ms: float = 0.0
    """The longest wait of anything that went out."""


class Flow(ABC, Generic[I, E, O]):
    """One stream. How its pieces are read and shown, and how it ends early, is up to its kind."""

    def __init__(self, reader: StreamReader[E], *, enforces: bool, split: Split[E] | None = None) -> None:
        """A stream that `reader` reads. If it does not enforce, everything except its end goes out at once."""
        self._reader = reader
        self._enforces = enforces
        self._holdback: Holdback[E] = Holdback(reader, loose=not enforces, split=split)
        self._arrived: deque[float] = deque()
        self._out: list[O] = []
        self._rulings: dict[str, Ruling] = {}
        self._named: set[str] = set()
        self._ended_at: float | None = None
        self._first: float | None = None
        self._total: float | None = None
        self._longest = 0.0
        self.stopped: Ruling | None = None
        """The ruling that stopped the stream."""
        self.finished = False
        """Whether nothing more comes out."""

    @abstractmethod
    def _events(self, piece: I) -> Iterable[tuple[E, Any]]:
        """The events that a piece completes, each with its content as JSON."""

    @abstractmethod
    def _shown(self, event: E, data: Any) -> O:
        """What is shown of an event; `data` is its content as JSON."""

    @abstractmethod
    def _ending(self, ruling: Ruling) -> Iterable[O]:
        """What is shown in place of everything that was not released."""

    @abstractmethod
    def _correction(self, ruling: Ruling) -> Iterable[O]:
        """What is shown after text that went out and did not pass."""

    def _last_events(self) -> Iterable[tuple[E, Any]]:
        """The events that the end of the source completes."""
        return ()

    def _disclosure(self, ruling: Ruling) -> Iterable[O]:  # noqa: ARG002 for kinds that can add something
        """The disclosure that is shown after a text, if it may be shown only with one."""
        return ()

    def take(self, piece: I, at: float) -> None:
        """Takes a piece that came at a time, in seconds of any clock."""
        self._take(self._events(piece), at)
        self._let_out(at)

    def end(self, at: float) -> None:
        """Takes note that the source has ended."""
        self._take(self._last_events(), at)
        self._holdback.end()
        self._ended_at = at if self._ended_at is None else self._ended_at
        self._let_out(at)

    def _take(self, events: Iterable[tuple[E, Any]], at: float) -> None:
        for event, data in events:
            if self.finished:
                return
            reading = self._holdback.take(event, data)
            self._arrived.append(at)
            if reading.ends and self._ended_at is None:
                self._ended_at = at
            if reading.unreadable is not None:
                self.fail(reading.unreadable)
            if reading.failed and self._enforces and not self.finished:
                self._break_off(event)

    def _break_off(self, event: E) -> None:
        """Ends a stream whose source says that it failed: what was held back was never complete."""
        self.stopped = unchecked("the source did not end its answer")
        self._out.append(self._shown(event, None))
        self.finished = True

    def fail(self, reason: str) -> None:
        """Takes note that the stream cannot be checked any further."""
        ruling = unchecked(reason)
        self._rulings[STREAM] = ruling
        if self._enforces:
            self._stop(ruling)

    def job(self) -> Job | None:
        """What is to be checked now; None if there is nothing."""
        return None if self.finished else self._holdback.job()

    def settle(self, job: Job, found: Mapping[str, Ruling], at: float) -> None:
        """Takes the rulings on a job, by channel and by call, and the time at which they were made."""
        if self.finished:
            return
        self._rulings |= found
        failed = [ruling for ruling in found.values() if not ruling.passes and not ruling.waits]
        if failed and self._enforces:
            self._stop(joint_ruling(failed))
            return
        self._holdback.settle(job, [name for name, ruling in found.items() if ruling.waits])
        if failed:
            self._correct(joint_ruling(failed))
        self._let_out(at)

    def close(self) -> None:
        """Takes note that the source has ended and that there is nothing left to check."""
        if self.finished:
            return
        if self._enforces and self._holdback.waiting:
            self._stop(unchecked("not all of the stream could be checked"))
            return
        found = self.ruling
        if found is not None and found.passes and found.notice is not None and self._enforces:
            self._out += self._disclosure(found)
        self.finished = True

    def out(self) -> list[O]:
        """Removes and returns what may go out now."""
        free, self._out = self._out, []
        return free

    @property
    def complete(self) -> bool:
        """Whether all of the stream was checked and went out: a reader who knows that it has ended may leave."""
        held = self._holdback
        return self.finished or (held.ended and held.all_passed and not held.waiting)

    @property
    def ruling(self) -> Ruling | None:
        """The ruling on all of the stream that was checked; None if nothing was."""
        if self.stopped is not None:
            return self.stopped
        return joint_ruling(self._rulings.values()) if self._rulings else None

    @property
    def timing(self) -> StreamTiming:
        """The delay by holding back so far."""
        return StreamTiming(_ms(self._first), _ms(self._total), round(self._longest * 1000, 3))

    def _stop(self, ruling: Ruling) -> None:
        self.stopped = ruling
        self._out += self._ending(ruling)
        self.finished = True

    def _correct(self, ruling: Ruling) -> None:
        """Shows a correction for claims that were not reported before."""
        wrong = {
            claim.text
            for report in ruling.reports
            for claim in report.claims
            if claim.status not in (ClaimStatus.PASS, ClaimStatus.NOT_CHECKABLE)
        }
        new = (wrong or set(ruling.reasons) or {ruling.action}) - self._named
        self._named |= new
        if new:
            self._out += self._correction(ruling)

    def _let_out(self, at: float) -> None:
        if self.finished:
            return
        free = self._holdback.release()
        waits = [at - (self._arrived[0] if held.part else self._arrived.popleft()) for held in free]
        self._note_times(free, waits, at)
        self._out += [self._shown(held.event, held.data) for held in free]

    def _note_times(self, free: list[Held[E]], waits: list[float], at: float) -> None:
        self._longest = max([self._longest, *waits])
        texts = [wait for held, wait in zip(free, waits, strict=True) if held.texts]
        if texts and self._first is None:
            # The last piece that goes out with the first ones is the end of the first sentence.
            self._first = texts[-1]
        if self._ended_at is not None and not self._holdback.waiting:
            self._total = at - self._ended_at


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(max(0.0, seconds) * 1000, 3)
