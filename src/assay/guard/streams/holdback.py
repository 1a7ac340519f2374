"""Holding back a stream until it has passed: sentence by sentence, or call by call.

Nothing here waits, checks or sends: events go in, and those that may go out come out. The events of a stream form a
queue in which each event names what must have passed before it may go out: the text up to its last character, a call,
or everything. An event goes out as it came, byte for byte, or not at all, so that what has gone out is always a
beginning of what the upstream sent.

A sentence is complete when the next one begins. It is checked together with the text before it, because a claim is read
in its context; the last sentence is checked with the whole text when the text has ended.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Generic, Protocol, TypeVar

from assay.text.sentences import split_sentences

E = TypeVar("E")
"""The type of a stream's events."""
E_contra = TypeVar("E_contra", contravariant=True)

WINDOW: Final = 6_000
"""The most characters of text before a sentence that are checked with it, so that a sentence of a long stream costs no
more than one of a short stream. The whole text is checked once more when it has ended."""

_MAY_END: Final = re.compile(r"[.!?:;…\n\r\x0b\x0c\x85\u2028\u2029。！？｡．।॥۔։።؟]")
_OPEN_MARK: Final = re.compile(r"\s*+(?:\[[^\[\]\n]{0,60}+\]?+\s*+|[⁰¹²³⁴-⁹]++\s*+)*+\Z")
"""The beginning of a text that may still be a citation of the sentence before. Nothing in it is tried a second time,
since signs that can be divided into marks in many ways would take time without end."""


@dataclass(slots=True)
class StreamDelta:
    """What one event adds to a stream."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    """Pieces of text with their channels, in order."""
    calls: list[str] = field(default_factory=list)
    """The calls of which the event shows a part."""
    ended_calls: dict[str, Any] = field(default_factory=dict)
    """Calls that are complete now, each as an answer of the format that contains it."""
    ended_texts: list[str] = field(default_factory=list)
    """Channels that get no more text."""
    needs_texts: list[str] = field(default_factory=list)
    """Channels that must have passed as a whole before this event may go out."""
    needs_all: bool = False
    """Whether everything must have passed before this event may go out."""
    ends: bool = False
    """Whether the answer is complete."""
    unreadable: str | None = None
    """What in the event cannot be checked."""
    failed: bool = False
    """Whether the event says that the upstream failed."""


class StreamReader(Protocol[E_contra]):
    """Reads what the events of a stream add."""

    def read(self, event: E_contra, data: Any) -> StreamDelta:
        """What an event adds; `data` is its content as JSON, or None if it has none."""
        ...

    def end(self) -> StreamDelta:
        """What is complete because the stream has ended."""
        ...

    def sent(self, data: Any) -> None:
        """Takes note of an event that went out."""
        ...


@dataclass(slots=True)
class _Channel:
    """One text of a stream, as far as it has come."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    tail: list[str] = field(default_factory=list)
    """The pieces of the text after the last complete sentence."""
    may_end: bool = False
    """Whether the tail contains a character that may end a sentence."""
    looked: int = 0
    """How long the tail was when sentences were last looked for."""
    cuts: list[int] = field(default_factory=list)
    """The ends of complete sentences."""
    checked: int = 0
    passed: int = 0
    ended: bool = False
    done: bool = False
    """Whether the whole text has passed."""

    @property
    def cut(self) -> int:
        return self.cuts[-1] if self.cuts else 0

    def text(self) -> str:
        whole = "".join(self.pieces)
        self.pieces = [whole]
        return whole

    def grow(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)
        self.tail.append(piece)
        self.done = False
        # Only the piece is searched, and the tail is joined only to be split: a stream has as many pieces as words.
        self.may_end = self.may_end or _MAY_END.search(piece) is not None
        length = self.length - self.cut
        # A long tail without an end is looked at again only when it has grown by a 64th.
        if self.may_end and length - self.looked > length // 64:
            self._find_cut()

    def _find_cut(self) -> None:
        tail = "".join(self.tail)
        self.tail, self.looked = [tail], len(tail)
        sentences = split_sentences(tail)
        if len(sentences) < 2 or _OPEN_MARK.match(tail, sentences[-1].start):
            return
        start = sentences[-1].start
        self.cuts.append(self.cut + start)
        self.tail, self.looked = [tail[start:]], 0
        self.may_end = _MAY_END.search(tail, start) is not None


@dataclass(frozen=True, slots=True)
class JobText:
    """A text to be checked."""

    channel: str
    text: str
    end: int
    """How far into the channel's text it reaches."""
    final: bool
    """Whether it is the whole text, with nothing to follow."""
    begun: bool
    """Whether something of the channel has gone out."""


@dataclass(frozen=True, slots=True)
class Job:
    """The texts and calls to be checked next."""

    texts: tuple[JobText, ...]
    calls: Mapping[str, Any]
    """Complete calls, each as an answer of the format that contains it."""
    with_calls: bool
    """Whether the answer has calls beside its text."""


@dataclass(frozen=True, slots=True)
class Held(Generic[E]):
    """An event that waits."""

    event: E
    data: Any
    texts: tuple[tuple[str, int], ...]
    whole_texts: tuple[str, ...]
    calls: tuple[str, ...]
    everything: bool
    part: bool = False
    """Whether the rest of the event still waits."""


Split = Callable[[E, int], tuple[E, E] | None]
"""Cuts an event of text before so many of its last characters; None if nothing would stand before the cut."""


class Holdback(Generic[E]):
    """The queue of one stream."""

    def __init__(self, stream: StreamReader[E], *, loose: bool = False, split: Split[E] | None = None) -> None:
        """An empty queue for the events that `stream` reads.

        With `loose` everything is released at once except the end of the answer, which waits until all of it has been
        checked. With `split` an event of text may go out in two parts: first what has passed, later the rest.
        """
        self._stream = stream
        self._loose = loose
        self._split = split
        self._channels: dict[str, _Channel] = {}
        self._calls: dict[str, Any] = {}
        self._passed_calls: set[str] = set()
        self._queue: deque[Held[E]] = deque()
        self._some_calls = False
        self._out: dict[str, int] = {}
        self._taken = 0
        """How many events were ever put into the queue; this numbers them."""
        self._last: dict[str, int] = {}
        """The number of the last event that shows a part of a call, by call."""
        self._cleared = 0
        """How many events at the head of the queue may go out together."""
        self._looked = 0
        """How many events at the head were found free, so that none is examined again while a later one is not free."""
        self._reach = 0
        """The place in the queue up to which these must go out together, as far as is known."""
        self.ended = False
        """Whether the answer is complete."""

    def take(self, event: E, data: Any) -> StreamDelta:
        """Puts an event at the end of the queue."""
        reading = self._stream.read(event, data)
        self._note(reading)
        needed = {channel: self._channels[channel].length for channel, _ in reading.texts}
        whole = tuple(channel for channel in reading.needs_texts if channel in self._channels)
        held = Held(event, data, tuple(needed.items()), whole, tuple(set(reading.calls)), reading.needs_all)
        self._queue.append(held)
        self._last |= dict.fromkeys(held.calls, self._taken)
        self._taken += 1
        return reading

    def end(self) -> StreamDelta:
        """Takes note of the end of the stream: every text that has begun is complete."""
        reading = self._stream.end()
        self._note(reading)
        for channel in self._channels.values():
            channel.ended = True
        self.ended = True
        return reading

    def _note(self, reading: StreamDelta) -> None:
        for name, piece in reading.texts:
            self._channels.setdefault(name, _Channel()).grow(piece)
        for name in reading.ended_texts:
            self._channels.setdefault(name, _Channel()).ended = True
        self._calls |= reading.ended_calls
        self._some_calls = self._some_calls or bool(reading.calls or reading.ended_calls)
        self.ended = self.ended or reading.ends

    def job(self) -> Job | None:
        """What is to be checked now; None if everything complete has been checked."""
        texts = []
        for name, channel in self._channels.items():
            if channel.ended and not channel.done:
                texts.append(JobText(name, channel.text(), channel.length, True, channel.passed > 0))
            elif not channel.ended and channel.cut > channel.checked:
                start = self._window(channel)
                part = channel.text()[start : channel.cut]
                texts.append(JobText(name, part, channel.cut, False, channel.passed > 0))
        calls = {key: answer for key, answer in self._calls.items() if key not in self._passed_calls}
        if not texts and not calls:
            return None
        return Job(tuple(texts), calls, self._some_calls)

    @staticmethod
    def _window(channel: _Channel) -> int:
        first = channel.cut - WINDOW
        return 0 if first <= 0 else next((cut for cut in channel.cuts if cut >= first), 0)

    def settle(self, job: Job, waits: Iterable[str] = ()) -> None:
        """Takes note that everything in a job passed, except the texts that wait for a claim to follow."""
        kept = set(waits)
        for text in job.texts:
            channel = self._channels[text.channel]
            channel.checked = max(channel.checked, text.end)
            if text.channel not in kept:
                channel.passed = max(channel.passed, text.end)
                channel.done = channel.done or (text.final and text.end == channel.length)
        self._passed_calls |= set(job.calls)

    def release(self) -> list[Held[E]]:
        """Takes the events that may go out off the queue, in order."""
        free: list[Held[E]] = []
        while self._queue and self._head_may_go():
            held = self._queue.popleft()
            self._cleared = max(0, self._cleared - 1)
            self._stream.sent(held.data)
            self._out |= dict(held.texts)
            free.append(held)
        if self._split is not None and not self._loose and self._queue:
            free += self._first_part(self._queue[0], self._split)
        return free

    def _head_may_go(self) -> bool:
        """Whether the next event may go out, and with it all events up to the end of a call that it shows.

        A call goes out whole or not at all: if an event between its pieces never passed, a client would be left with
        arguments that break off.
        """
        if self._cleared or self._loose or not self._queue[0].calls:
            return self._may_go(self._queue[0])
        begin = self._taken - len(self._queue)
        reach = self._reach
        while self._looked <= reach:
            held = self._queue[self._looked]
            if not self._may_go(held):
                self._reach = reach
                return False
            reach = max(reach, *(self._last[key] - begin for key in held.calls), 0)
            self._looked += 1
        # A text that has passed as a whole may have grown since its event was looked at.
        free = all(self._may_go(held) for held in islice(self._queue, reach + 1))
        self._cleared, self._looked, self._reach = (reach + 1 if free else 0), 0, 0
        return free

    def _first_part(self, held: Held[E], split: Split[E]) -> list[Held[E]]:
        """The part of the next event that has passed; the rest takes its place in the queue."""
        for name, end in held.texts:
            passed = self._channels[name].passed
            cut = split(held.event, end - passed) if passed < end else None
            if cut is not None:
                self._queue[0] = replace(held, event=cut[1])
                return [Held(cut[0], None, ((name, passed),), (), (), everything=False, part=True)]
        return []

    def _may_go(self, held: Held[E]) -> bool:
        if self._loose:
            return not held.everything or self.all_passed
        if any(self._channels[name].passed < end for name, end in held.texts):
            return False
        if any(not self._channels[name].done for name in held.whole_texts):
            return False
        if any(key not in self._passed_calls for key in held.calls):
            return False
        return not held.everything or self.all_passed

    @property
    def all_passed(self) -> bool:
        """Whether every text and every call has passed as a whole."""
        texts = all(channel.done for channel in self._channels.values())
        return texts and set(self._calls) <= self._passed_calls

    def shown(self) -> dict[str, str]:
        """The part of each text that has gone out, in whole events."""
        return {name: channel.text()[: self._out.get(name, 0)] for name, channel in self._channels.items()}

    @property
    def waiting(self) -> int:
        """How many events wait in the queue."""
        return len(self._queue)
