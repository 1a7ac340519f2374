"""What keeps one source from costing more than it may: a rate, a rest after failures, a memory of answers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from assay.knowledge.interface import Found

Clock = Callable[[], float]


class Rate:
    """So many questions a minute, as a bucket that fills evenly and holds a tenth of them, at least one.

    >>> now = [0.0]
    >>> rate = Rate(60, lambda: now[0])
    >>> [rate.wait() for _ in range(7)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, per_minute: int | None, clock: Clock = time.monotonic) -> None:
        """No bound where there is no number."""
        self._rate = None if per_minute is None else per_minute / 60
        self._most = 1.0 if per_minute is None else max(1.0, per_minute / 10)
        self._clock = clock
        self._full, self._at = self._most, clock()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Take a place; 0, or else the seconds after which there would be one, and none was taken."""
        if self._rate is None:
            return 0.0
        with self._lock:
            now = self._clock()
            self._full = min(self._most, self._full + (now - self._at) * self._rate)
            self._at = now
            if self._full >= 1:
                self._full -= 1
                return 0.0
            return (1 - self._full) / self._rate


class Breaker:
    """Leaves a source alone after failures in a row; after the rest one question is let through to try.

    >>> now = [0.0]
    >>> breaker = Breaker(2, 30.0, lambda: now[0])
    >>> for _ in range(2):
    ...     breaker.failed()
    >>> breaker.closed()
    False
    >>> now[0] = 31.0
    >>> breaker.closed(), breaker.closed()
    (True, False)
    >>> breaker.worked()
    >>> breaker.closed()
    True
    """

    def __init__(self, failures: int, rest_s: float, clock: Clock = time.monotonic) -> None:
        """Open after so many failures, for so many seconds."""
        self._most, self._rest, self._clock = failures, rest_s, clock
        self._count = 0
        self._until: float | None = None
        self._lock = threading.Lock()

    def closed(self) -> bool:
        """Whether the source may be asked."""
        with self._lock:
            if self._until is None:
                return True
            now = self._clock()
            if now < self._until:
                return False
            self._until = now + self._rest  # one tries; others wait for what comes of it
            return True

    def failed(self) -> None:
        """A question was not answered."""
        with self._lock:
            self._count += 1
            if self._count >= self._most:
                self._until = self._clock() + self._rest

    def worked(self) -> None:
        """A question was answered."""
        with self._lock:
            self._count, self._until = 0, None


@dataclass(frozen=True, slots=True)
class Remembered:
    """An answer with its age."""

    found: Found
    age_s: float


class Memory:
    """Answers by their questions, each for a while; the oldest go first where they are too many or too large."""

    def __init__(self, most: int = 2_048, characters: int = 16_000_000, clock: Clock = time.monotonic) -> None:
        """Keep so many answers, of so many characters together."""
        self._most, self._characters, self._clock = most, characters, clock
        self._kept: OrderedDict[str, tuple[float, int, Found]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str, good_for_s: float) -> Remembered | None:
        """The answer to a question, if there is one that is still good."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            at, _, found = kept
            age = self._clock() - at
            return Remembered(found, age) if age <= good_for_s else None

    def put(self, key: str, found: Found) -> None:
        """Remember an answer."""
        size = sum(len(one.text) for one in found.passages) + 200
        with self._lock:
            self._drop(key)
            self._kept[key] = (self._clock(), size, found)
            self._size += size
            while len(self._kept) > self._most or self._size > self._characters:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        if (old := self._kept.pop(key, None)) is not None:
            self._size -= old[1]
