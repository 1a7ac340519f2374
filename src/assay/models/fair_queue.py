"""Turns at the network: whoever has had least of it lately comes first.

A network is asked a pair at a time, and a pair takes milliseconds. Where several checks run at once, each of them asks
for a turn before each pair. A turn goes to the owner that attained the least service of late (least attained service,
Nuyens and Wierman, "The Foreground-Background queue: a survey", Performance Evaluation 65, 2008): who asks rarely
waits for one pair at most and not for somebody's long check. What was attained is forgotten by half every
`HALF_LIFE_S`, so that nobody pays for long for having asked much.

Where every pair is already known, a check asks the network nothing and is Python alone, of which a process runs one
piece at a time. Such a check gives way instead (`give_way`): it pauses while a check of an owner with less service
computes, for `PATIENCE_S` at most, since that one may be waiting for a chat model.

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
PATIENCE_S: Final = 0.05
"""Seconds that a check pauses at most each time it gives way."""
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

    def give_way(self) -> None:
        """Pauses while a check of an owner who attained less computes, for `PATIENCE_S` at most."""
        self._turns.give_way(self)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """The check computes inside of the block: checks of owners who attained more give way to it."""
        self._turns.begin(self)
        try:
            yield
        finally:
            self._turns.end(self)


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
        self._computing: dict[Ticket, float] = {}
        """Checks that compute, and the processor time of their thread when they began or last gave way."""
        self._ended = threading.Condition(self._lock)

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

    def begin(self, ticket: Ticket) -> None:
        """A check computes from now on, in this thread."""
        with self._lock:
            self._computing[ticket] = time.thread_time()

    def end(self, ticket: Ticket) -> None:
        """A check that began in this thread has ended; its processor time counts for its owner."""
        with self._lock:
            self._count(ticket.owner, time.thread_time() - self._computing.pop(ticket))
            self._ended.notify_all()

    def give_way(self, ticket: Ticket) -> None:
        """Pauses a check, in the thread in which it began, while a check of an owner who attained less computes.

        A ticket that does not compute waits for nothing.
        """
        with self._lock:
            begun = self._computing.get(ticket)
            if begun is None:
                return
            now = time.thread_time()
            self._count(ticket.owner, now - begun)
            self._computing[ticket] = now
            self._ended.wait_for(lambda: not self._goes_first(ticket), PATIENCE_S)

    def _goes_first(self, ticket: Ticket) -> bool:
        """Whether another owner who attained less computes."""
        others = {one.owner for one in self._computing} - {ticket.owner}
        return bool(others) and min(map(self._counts, others)) < self._counts(ticket.owner)

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
    """Networks that are asked inside of the block are asked in turns; the block is work of the ticket's owner."""
    token = _ticket.set(ticket)
    try:
        with ticket.computing():
            yield
    finally:
        _ticket.reset(token)
