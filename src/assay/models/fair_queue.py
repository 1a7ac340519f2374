"""Turns at the network: the owner that has recently used it least comes first.

The network judges one pair at a time, which takes milliseconds. Where several checks run at once, each of them takes
a turn before each pair. A turn goes to the owner that recently attained the least service (least attained service,
Nuyens and Wierman, "The Foreground-Background queue: a survey", Performance Evaluation 65, 2008): an owner that checks
rarely waits for one pair at most, and not for the long check of another owner. Attained service is halved every
`HALF_LIFE_S`, so that heavy use is soon forgotten.

Outside of `in_turns` nothing waits: a program that runs its own checks alone needs no turns.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final

from assay.errors import VerifierError

HALF_LIFE_S: Final = 5.0
"""Seconds in which the attained service of an owner is halved."""
MOST_OWNERS: Final = 10_000
"""Owners whose attained service is remembered; the one served longest ago is forgotten first."""


class StoppedError(VerifierError):
    """The check gets no further turns: its time is up, or its caller has gone."""


class Ticket:
    """The right of one check to turns, under the name of its owner."""

    __slots__ = ("_stopped", "_turns", "owner")

    def __init__(self, turns: "FairQueue", owner: str) -> None:
        """A ticket of `owner`."""
        self._turns, self.owner = turns, owner
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def stop(self) -> None:
        """End the ticket: every thread that waits with it, or takes a turn with it later, gets `StoppedError`."""
        self._stopped = True
        self._turns.wake(self)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for a turn, and holds it for as long as the block takes.

        Raises:
            StoppedError: the ticket was stopped before its turn came.
        """
        self._turns.take(self)
        begun = time.monotonic()
        try:
            yield
        finally:
            self._turns.give_back(self.owner, time.monotonic() - begun)


class _Waiter:
    """A thread that waits for a turn with a ticket."""

    __slots__ = ("called", "ticket")

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.called = threading.Event()


class FairQueue:
    """Hands out turns, a fixed number of them at once. Safe to use from several threads."""

    def __init__(self, slots: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        """As many turns at once as `slots`, at least 1."""
        self._free, self._clock = max(1, slots), clock
        self._waiting: list[_Waiter] = []
        self._attained: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def ticket(self, owner: str) -> Ticket:
        """A ticket for one check of an owner."""
        return Ticket(self, owner)

    def attained(self, owner: str) -> float:
        """The attained service of an owner, in seconds, after decay."""
        with self._lock:
            return self._attained_by(owner)

    def add(self, owner: str, seconds: float) -> None:
        """Adds service that an owner had outside of its turns, in seconds."""
        with self._lock:
            self._count(owner, seconds)

    def take(self, ticket: Ticket) -> None:
        """Waits for a turn, which has to be given back (`give_back`).

        Raises:
            StoppedError: the ticket was stopped.
        """
        with self._lock:
            if ticket.stopped:
                raise StoppedError("the check was stopped: its time was up or nobody waits for it")
            if self._free > 0:
                self._free -= 1
                return
            waiter = _Waiter(ticket)
            self._waiting.append(waiter)
        waiter.called.wait()
        with self._lock:
            if waiter in self._waiting:  # woken by `wake`, without a turn
                self._waiting.remove(waiter)
                raise StoppedError("the check was stopped: its time was up or nobody waits for it")

    def give_back(self, owner: str, seconds: float) -> None:
        """Ends a turn that took `seconds`, and gives it to the waiting owner with the least attained service."""
        with self._lock:
            self._count(owner, seconds)
            candidates = [waiter for waiter in self._waiting if not waiter.called.is_set()]
            if not candidates:
                self._free += 1
                return
            # Among equal owners the first to come: `min` returns the first of equal values.
            chosen = min(candidates, key=lambda waiter: self._attained_by(waiter.ticket.owner))
            self._waiting.remove(chosen)
            chosen.called.set()

    def wake(self, ticket: Ticket) -> None:
        """Wakes the threads that wait with a ticket that was stopped."""
        with self._lock:
            for waiter in self._waiting:
                if waiter.ticket is ticket:
                    waiter.called.set()

    def _attained_by(self, owner: str) -> float:
        seconds, since = self._attained.get(owner, (0.0, 0.0))
        return seconds * math.exp2(-max(0.0, self._clock() - since) / HALF_LIFE_S)

    def _count(self, owner: str, seconds: float) -> None:
        self._attained[owner] = (self._attained_by(owner) + seconds, self._clock())
        self._attained.move_to_end(owner)
        while len(self._attained) > MOST_OWNERS:
            self._attained.popitem(last=False)


_ticket: ContextVar[Ticket | None] = ContextVar("assay.models.fair_queue", default=None)


def current_ticket() -> Ticket | None:
    """The ticket of the check that runs in this thread; none outside of `in_turns`."""
    return _ticket.get()


def turn_of(ticket: Ticket | None) -> AbstractContextManager[None]:
    """A turn with a ticket; without one, a block that waits for nothing.

    Raises:
        StoppedError: as the block begins, where the ticket was stopped.
    """
    return nullcontext() if ticket is None else ticket.turn()


@contextmanager
def in_turns(ticket: Ticket) -> Iterator[None]:
    """Inside of the block networks are asked in turns, and its processor time counts for the ticket's owner."""
    token = _ticket.set(ticket)
    try:
        yield
    finally:
        _ticket.reset(token)
