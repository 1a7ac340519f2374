"""Runs checks on threads of their own, bounded in number and time: CPU work stays off the event loop.

Callers share the threads fairly. What waits, waits in a queue of its caller, and the next check is that of the caller
who had least of the server of late (`assay.models.fair_queue`); where the queues are full together, the longest one
gives way. A long check (`LARGE_BYTES`) waits for other long ones alone, never before a short one; where both ask the
network, the caller with the least service comes first, pair by pair.

Who asks one thing after the other has nothing waiting while it is served, and would find every thread busy each time it
comes back. So while such a caller is served and for a moment afterwards (`LINGER_S`), another who asks more at once
leaves one thread free, and begins one check every `PACE_S` seconds at most: what runs beside it, its answer and its
record take Python's lock and the disk from it.

A check that fails, takes too long or finds the queue full raises `CheckFailedError`; whoever asked must then treat the
output as unchecked. A thread cannot be stopped: one that overran its time gets no further turns at the network, and
goes on counting against the bound until it ends, so that a slow check can never pile up work without limit.
"""

import asyncio
import heapq
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from assay.errors import AssayError, InputError, VerifierError
from assay.models import FairQueue, Ticket, in_turns, usable_cpus
from assay.server.caller import called

T = TypeVar("T")
_log = logging.getLogger("assay.server")

LARGE_BYTES: Final = 32 * 1024
"""A check for which more was read is a long one: one long check runs at a time, beside the short ones."""
LINGER_S: Final = 0.3
"""For how long a caller counts as being served after its check ended: the check is recorded and answered, and who asks
one thing after the other asks again."""
PACE_S: Final = 0.1
"""The least time between the beginnings of two short checks of a caller while another who asks less is served."""


class CheckFailedError(VerifierError):
    """A check could not be made; what it was about is unchecked."""


class _Check:
    """A check that waits or runs."""

    __slots__ = ("done", "follows", "large", "ticket", "work")

    def __init__(
        self, work: Callable[[], Any], ticket: Ticket, done: "asyncio.Future[Any]", *, large: bool, follows: bool
    ) -> None:
        self.work, self.ticket, self.done, self.large, self.follows = work, ticket, done, large, follows


class Checker:
    """Bounded threads for checks, shared fairly by callers. Of one event loop."""

    def __init__(self, threads: int, queue: int, seconds: float, *, turns: FairQueue | None = None) -> None:
        """Make `threads` for short checks and one for long ones.

        Args:
            threads: short checks that run at once.
            queue: checks that wait or run, of all callers together.
            seconds: for each check, waiting included.
            turns: at the network; as many at once as there are CPUs by default.
        """
        self._pool = ThreadPoolExecutor(threads + 1, thread_name_prefix="assay-check")
        self._threads, self._most, self._seconds = threads, queue, seconds
        self._turns = turns or FairQueue(usable_cpus())
        self._waiting: dict[str, deque[_Check]] = {}
        self._running = {False: 0, True: 0}
        """Checks that run, short ones and long ones."""
        self._served: Counter[str] = Counter()
        """The short checks of each caller that run."""
        self._began: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        """When a check of a caller last began and ended, where it matters still."""
        self._pace: asyncio.TimerHandle | None = None
        self._open = 0

    @property
    def open(self) -> int:
        """Checks that wait or run."""
        return self._open

    @property
    def full(self) -> bool:
        """Whether one more has room only if another gives way."""
        return self._open >= self._most

    async def run(self, work: Callable[[], T], *, size: int | None = None, follows: bool = False) -> T:
        """What the work returns.

        Args:
            work: the check.
            size: how many bytes it is about; what was read for the request by default.
            follows: whether it ends a request whose check was made, as a signature does: then it comes before its
                caller's other checks, and is not paced.

        Raises:
            InputError: what was given cannot be checked; the work says why.
            CheckFailedError: the queue is full, the time is up, or the work failed.
        """
        asking = called()
        large = (asking.read if size is None else size) > LARGE_BYTES
        done = asyncio.get_running_loop().create_future()
        check = _Check(work, self._turns.ticket(asking.owner), done, large=large, follows=follows)
        self._make_room(asking.owner)
        self._open += 1
        queue = self._waiting.setdefault(asking.owner, deque())
        (queue.appendleft if follows else queue.append)(check)
        self._begin_some()
        try:
            async with asyncio.timeout(self._seconds):
                found: T = await check.done
                return found
        except TimeoutError as error:
            raise CheckFailedError(f"the check took longer than {self._seconds:g} seconds") from error
        except (InputError, CheckFailedError):
            raise
        except AssayError as error:
            raise CheckFailedError(f"the check failed: {error}") from error
        except Exception as error:
            _log.exception("a check failed")
            raise CheckFailedError(f"the check failed: {type(error).__name__}") from error
        finally:
            # Nobody waits for it any more, whatever became of it: what has not begun never runs, and what runs gets
            # no further turns.
            check.ticket.stop()
            self._drop(asking.owner, check)

    def _make_room(self, owner: str) -> None:
        """Ends the newest check that waits in the longest queue, where there is no room for another.

        Raises:
            CheckFailedError: no other caller has a longer queue, or everything runs.
        """
        if not self.full:
            return
        longest = max(self._waiting, key=lambda name: len(self._waiting[name]), default=None)
        own = len(self._waiting.get(owner, ()))
        if longest is None or len(self._waiting[longest]) <= own + 1:
            raise CheckFailedError(f"at most {self._most} checks may wait; try again later")
        last = self._waiting[longest][-1]
        self._drop(longest, last)
        if not last.done.done():
            last.done.set_exception(
                CheckFailedError(f"at most {self._most} checks may wait, and most of them were yours; try again later")
            )

    def _drop(self, owner: str, check: _Check) -> None:
        """Takes a check out of its queue, if it waits there still."""
        queue = self._waiting.get(owner)
        if queue is None or check not in queue:
            return
        queue.remove(check)
        if not queue:
            del self._waiting[owner]
        self._open -= 1

    def _begin_some(self) -> None:
        for large, most in ((False, self._threads), (True, 1)):
            while self._running[large] < most and (check := self._next(large=large)) is not None:
                self._begin(check)

    def _next(self, *, large: bool) -> _Check | None:
        """The first check of its kind of the caller who had least; taken out of its queue."""
        first = {
            owner: found
            for owner, queue in self._waiting.items()
            if (found := next((one for one in queue if one.large is large), None)) is not None
        }
        if not first:
            return None
        pauses = {} if large else self._pauses(first)
        free = [owner for owner in first if owner not in pauses]
        if not free:
            if self._pace is None:
                self._pace = asyncio.get_running_loop().call_later(min(pauses.values()), self._paced)
            return None
        owner = min(free, key=self._turns.attained)
        self._waiting[owner].remove(first[owner])
        if not self._waiting[owner]:
            del self._waiting[owner]
        return first[owner]

    def _pauses(self, first: Mapping[str, _Check]) -> dict[str, float]:
        """How long the first checks of some callers have to wait although a thread is free, in seconds."""
        now = time.monotonic()
        self._ended = {name: at for name, at in self._ended.items() if now - at < LINGER_S}
        asked = ((self._asked(owner), owner) for owner in {*self._served, *self._ended})
        fewest = heapq.nsmallest(2, asked)  # one of them may be the caller itself
        pauses = {}
        for owner, check in first.items():
            own = 0 if check.follows else self._asked(owner)
            least = next((count for count, name in fewest if name != owner), own)
            if own <= max(1, least):
                continue
            if self._served[owner] and self._running[False] + 1 >= self._threads:
                pauses[owner] = PACE_S  # or until the next check ends
            elif (pause := self._began.get(owner, 0.0) + PACE_S - now) > 0:
                pauses[owner] = pause
        return pauses

    def _asked(self, owner: str) -> int:
        """The short checks of a caller that wait or run."""
        return sum(not check.large for check in self._waiting.get(owner, ())) + self._served[owner]

    def _paced(self) -> None:
        self._pace = None
        self._begin_some()

    def _begin(self, check: _Check) -> None:
        loop = asyncio.get_running_loop()
        owner = check.ticket.owner
        self._running[check.large] += 1
        if not check.large:
            self._served[owner] += 1
            if not check.follows:
                now = time.monotonic()
                self._began = {name: at for name, at in self._began.items() if now - at < PACE_S} | {owner: now}

        def end(result: Any, error: BaseException | None) -> None:
            self._running[check.large] -= 1
            if not check.large:
                self._served[owner] -= 1
                if not self._served[owner]:
                    del self._served[owner]
                self._ended[owner] = time.monotonic()
            self._open -= 1
            if not check.done.done():
                check.done.set_exception(error) if error is not None else check.done.set_result(result)
            self._begin_some()

        def work() -> None:
            result: Any = None
            error: BaseException | None = None
            begun = time.thread_time()
            try:
                with in_turns(check.ticket):
                    result = check.work()
            except StopIteration as raised:  # which no future can hold
                error = RuntimeError(f"the work raised {raised!r}")
            except BaseException as raised:  # noqa: BLE001 the edge of a thread: whoever waits gets what was raised
                error = raised
            self._turns.add(check.ticket.owner, time.thread_time() - begun)
            if not loop.is_closed():
                loop.call_soon_threadsafe(end, result, error)

        self._pool.submit(work)

    def close(self) -> None:
        """Ends the threads; what waits is cancelled."""
        if self._pace is not None:
            self._pace.cancel()
        for queue in self._waiting.values():
            for check in queue:
                check.ticket.stop()
                check.done.cancel()
        self._pool.shutdown(wait=False, cancel_futures=True)
