"""Rate limits: token buckets, one for each caller, in bounded memory.

A bucket holds up to `burst` tokens and regains `rate` of them a second; a request takes one. Beyond the callers that
are remembered, the one that was away longest is forgotten and starts with a full bucket when it returns.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

MOST_KEPT: Final = 20_000
"""Callers that are remembered; they take some megabytes."""


class Buckets:
    """Token buckets by name; may be used from several threads."""

    def __init__(
        self, rate: float, burst: float, *, most: int = MOST_KEPT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Buckets of up to `burst` tokens, at least one, that get `rate` back in a second."""
        self._rate, self._burst, self._most, self._clock = rate, max(1.0, burst), most, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str) -> float:
        """Take a token.

        Returns:
            0 where there was one; else the seconds until there is one, and none was taken.
        """
        return self._refill_and_take(name, 1.0)

    def wait(self, name: str) -> float:
        """The seconds until there is a token; 0 where there is one. None is taken."""
        return self._refill_and_take(name, 0.0)

    def _refill_and_take(self, name: str, taken: float) -> float:
        now = self._clock()
        with self._lock:
            tokens, since = self._buckets.get(name, (self._burst, now))
            # A clock that was set back adds no tokens.
            tokens = min(self._burst, tokens + max(0.0, now - since) * self._rate)
            if tokens < 1.0:
                self._store(name, tokens, now)
                return (1.0 - tokens) / self._rate
            if taken:
                self._store(name, tokens - taken, now)
            return 0.0

    def _store(self, name: str, tokens: float, now: float) -> None:
        self._buckets[name] = (tokens, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > self._most:
            self._buckets.popitem(last=False)


def retry_after(seconds: float) -> bytes:
    """The value of the header that says when to come again: whole seconds, at least 1.

    >>> retry_after(0.02), retry_after(2.5)
    (b'1', b'3')
    """
    return str(max(1, math.ceil(seconds))).encode()
