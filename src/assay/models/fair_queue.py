"""Turns at the network: whoever has had least of it lately comes first.

A network is asked a pair at a time, and a pair takes milliseconds. Where several checks run at once, each of them asks
for a turn before each pair. A turn goes to the owner that attained the least service of late (least attained service,
Nuyens and Wierman, "The Foreground-Background queue: a survey", Performance Evaluation 65, 2008): who asks rarely
waits for one pair at most and not for somebody's long check. What was attained is forgotten by half every
`HALF_LIFE_S`, so that nobody pays for long for having asked much.

Outside of `in_turns` nothing is waited for: a program that checks for itself alone needs no turns.
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
"""Seconds after which half of what was attained counts no more."""
MOST_OWNERS: Final = 10_000
"""Owners whose service is remembered; the one that was served least recently is forgotten first."""


class StoppedError(VerifierError):
    """Nobody waits for this check any more, so that it gets no further turns."""


class Ticket:
    """The right of one check to turns, under the name of its owner."""

    __slots__ = ("_stopped", "_turns", "owner")

    def __init__(self, turns: "FairQueue", owner: str) -> None:
        """A ticket of `owner`."""
        self._turns, self.owner = turns, owner
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether it was stopped."""
        return self._stopped

    def stop(self) -> None:
        """Ends it: who waits with it, and who comes with it later, gets `StoppedError`."""
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
    __slots__ = ("called", "ticket")

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.called = threading.Event()


class FairQueue:
    """A number of turns that may be held at once; may be used from any thread."""

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
        """The seconds of service that count for an owner now."""
        with self._lock:
            return self._counts(owner)

    def add(self, owner: str, seconds: float) -> None:
        """Counts service that an owner had outside of its turns."""
        with self._lock:
            self._count(owner, seconds)

    def take(self, ticket: Ticket) -> None:
        """Waits for a turn. Every turn that was taken has to be given back.

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
            if waiter in self._waiting:  # woken because its ticket was stopped, and no turn was given to it
                self._waiting.remove(waiter)
                raise StoppedError("the check was stopped: its time was up or nobody waits for it")

    def give_back(self, owner: str, seconds: float) -> None:
        """Ends a turn that took so long, and calls who comes next."""
        with self._lock:
            self._count(owner, seconds)
            wanting = [one for one in self._waiting if not one.called.is_set()]
            if not wanting:
                self._free += 1
                return
            # Equal ones in the order in which they came: `min` gives the first.
            chosen = min(wanting, key=lambda one: self._counts(one.ticket.owner))
            self._waiting.remove(chosen)
            chosen.called.set()

    def wake(self, ticket: Ticket) -> None:
        """Wakes who waits with a ticket that was stopped."""
        with self._lock:
            for one in self._waiting:
                if one.ticket is ticket:
                    one.called.set()

    def _counts(self, owner: str) -> float:
        seconds, since = self._attained.get(owner, (0.0, 0.0))
        return seconds * math.exp2(-max(0.0, self._clock() - since) / HALF_LIFE_S)

    def _count(self, owner: str, seconds: float) -> None:
        self._attained[owner] = (self._counts(owner) + seconds, self._clock())
        self._attained.move_to_end(owner)
        while len(self._attained) > MOST_OWNERS:
            self._attained.popitem(last=False)


_ticket: ContextVar[Ticket | None] = ContextVar("assay.models.fair_queue", default=None)


def current_ticket() -> Ticket | None:
    """The ticket under which this thread checks; none where nobody asked for turns."""
    return _ticket.get()


def turn_of(ticket: Ticket | None) -> AbstractContextManager[None]:
    """A turn with a ticket; without one, a block that waits for nothing.

    Raises:
        StoppedError: as the block begins, where the ticket was stopped.
    """
    return nullcontext() if ticket is None else ticket.turn()


@contextmanager
def in_turns(ticket: Ticket) -> Iterator[None]:
    """Networks that are asked inside of the block are asked in turns."""
    token = _ticket.set(ticket)
    try:
        yield
    finally:
        _ticket.reset(token)
