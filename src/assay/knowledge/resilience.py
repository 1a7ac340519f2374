"""Protection of sources and budgets: a rate limiter, a circuit breaker and a cache of answers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from assay.knowledge.interface import SourceAnswer

Clock = Callable[[], float]


class RateLimiter:
    """A token bucket of questions per minute, which fills evenly and holds a tenth of them, at least one.

    >>> now = [0.0]
    >>> rate = RateLimiter(60, lambda: now[0])
    >>> [rate.wait() for _ in range(7)]
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    """

    def __init__(self, per_minute: int | None, clock: Clock = time.monotonic) -> None:
        """Limit to `per_minute` questions; none sets no limit."""
        self._rate = None if per_minute is None else per_minute / 60
        self._most = 1.0 if per_minute is None else max(1.0, per_minute / 10)
        self._clock = clock
        self._full, self._at = self._most, clock()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Take a token and return 0, or take none and return the seconds until there will be one."""
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


class CircuitBreaker:
    """A circuit breaker: opens after consecutive failures; after the rest, one question is let through as a test.

    >>> now = [0.0]
    >>> breaker = CircuitBreaker(2, 30.0, lambda: now[0])
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
        """Open after `failures` consecutive failures, for `rest_s` seconds."""
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
            self._until = now + self._rest  # one question is the test; the others wait for its outcome
            return True

    def failed(self) -> None:
        """Record that a question failed."""
        with self._lock:
            self._count += 1
            if self._count >= self._most:
                self._until = self._clock() + self._rest

    def worked(self) -> None:
        """Record that a question was answered."""
        with self._lock:
            self._count, self._until = 0, None


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An answer with its age in seconds."""

    found: SourceAnswer
    age_s: float


class AnswerCache:
    """A cache of answers by question; the oldest are dropped if they are too many or too large."""

    def __init__(self, most: int = 2_048, characters: int = 16_000_000, clock: Clock = time.monotonic) -> None:
        """Keep at most `most` answers with at most `characters` in total."""
        self._most, self._characters, self._clock = most, characters, clock
        self._kept: OrderedDict[str, tuple[float, int, SourceAnswer]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def get(self, key: str, good_for_s: float) -> CachedAnswer | None:
        """The answer to a question, if one is cached and not older than `good_for_s` seconds."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            at, _, found = kept
            age = self._clock() - at
            return CachedAnswer(found, age) if age <= good_for_s else None

    def put(self, key: str, found: SourceAnswer) -> None:
        """Cache an answer."""
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
