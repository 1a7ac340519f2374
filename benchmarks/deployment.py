"""A discrete-event model of a deployment: what throughput and latency come of replicas, caches and commits.

A request goes to a replica, whose event loop reads it. Where its verdict is kept (`hits`), it costs a look into the
database; else it waits for one of the replica's check threads and is judged there. An answer that may go out is signed,
for which it waits for a check thread again, before the checks that wait. Then it is committed: what waits of a replica
is committed together, and commits of one tenant are one after the other, whichever replica makes them (ADR 14). In the
end the event loop answers.

What computes are four kinds of work. The network runs outside of Python's lock, as often at once as there are check
threads. Everything else of a replica is Python, of which one process runs one piece at a time, in turns of some
milliseconds; a commit is a dialogue with the database, and asks for such a turn after each answer. Where a turn goes to
a thread that waits for it, some time passes (`turn_ms`) until that thread runs. Clients and balancer are Python too,
where they are one process on the same machine. The database computes beside them. All that is to run shares the
processors evenly: with k pieces each runs at share(k) / k of the speed that one has alone, and share(k) is measured,
since two processors may be two threads of one core, and others may use them.
"""

import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

THREADS = 2
"""Check threads of a replica (`limits.check_threads`)."""
SLICE_MS = 2.0
"""Milliseconds that a thread keeps Python's lock when others wait for it, about."""

Then = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Costs:
    """What one check costs, in milliseconds of a processor unless it says otherwise."""

    network_ms: float
    """Of the network, outside of Python's lock."""
    python_ms: float = 0.0
    """Of everything else on the replica's check threads but signatures."""
    loop_ms: float = 0.0
    """Of the replica's event loop, half before the check and half after the commit; one piece at a time."""
    sign_ms: float = 0.0
    """Of a signature, on a check thread."""
    signed: float = 0.0
    """The share of requests that are signed."""
    write_ms: float = 0.0
    """Of Python in the replica for a commit, while it holds the tenant's lock."""
    more_ms: float = 0.0
    """As `write_ms`, for each further record of the same commit."""
    round_trips: int = 1
    """Questions to the database of which a commit consists, each with its part of `write_ms` and `database_ms`; after
    each answer the writer waits for Python's lock again."""
    database_ms: float = 0.0
    """Of the database, for each record."""
    client_ms: float = 0.0
    """Of clients and balancer on the same processors."""
    commit_ms: Sequence[float] = (0.0,)
    """On the clock: what of a commit nothing computes for, such as the sync to disk; drawn at random."""
    idle_ms: float = 0.0
    """On the clock: all other time in which nothing computes for the request."""
    turn_ms: float = 0.0
    """On the clock: what passes while a turn of Python goes from one thread to another that waits."""
    look_ms: float = 1.0
    """On the clock: a look into the cache of verdicts."""
    spread: Sequence[float] = (1.0,)
    """What checks differ by: factors of `network_ms` and `python_ms`, 1 on average; drawn at random."""


@dataclass(frozen=True, slots=True)
class Site:
    """A deployment, or the cell of one that shares processors and a tenant."""

    replicas: int
    share: Callable[[int], float]
    """How many times the speed of one piece of work k pieces have together."""
    hits: float = 0.0
    """The share of requests whose verdict is kept."""
    threads: int = THREADS


@dataclass(frozen=True, slots=True)
class Found:
    """What the model says."""

    per_second: float
    p50_ms: float
    p95_ms: float
    busy: float
    """Processors that computed, on average."""


class _Serial:
    """A process whose pieces of work take turns."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[float, Then]] = deque()
        self.busy = False


@dataclass
class _Replica:
    free: int
    python: _Serial = field(default_factory=_Serial)
    loop: deque[Then] = field(default_factory=deque)
    """What its event loop has to do, the first of which it does."""
    waiting: deque[int] = field(default_factory=deque)
    judged: deque[int] = field(default_factory=deque)
    """What waits to be signed."""
    uncommitted: list[int] = field(default_factory=list)
    asked: bool = False
    """Whether it waits for the tenant's lock, or commits."""


class Model:
    """One run of the model. Arrivals are a closed loop of clients, or a Poisson stream.

    >>> own = Site(1, lambda k: min(k, 2))
    >>> found = Model(own, Costs(100.0, commit_ms=[10.0]), clients=1, seconds=100).run()
    >>> round(found.per_second, 1), round(found.p95_ms)
    (9.1, 110)
    >>> found = Model(own, Costs(100.0), clients=4, seconds=100).run()
    >>> round(found.per_second), round(found.p95_ms)
    (20, 200)

    What is Python's runs on one processor at a time, whatever there are:

    >>> found = Model(own, Costs(0.0, python_ms=100.0), clients=4, seconds=100).run()
    >>> round(found.per_second)
    10
    >>> round(Model(Site(2, own.share), Costs(0.0, python_ms=100.0), clients=4, seconds=100).run().per_second)
    20

    So does its event loop; and a check thread signs what it has judged before it takes a further check, so that an
    answer waits for the checks that were there before it at most:

    >>> found = Model(own, Costs(0.0, loop_ms=100.0), clients=4, seconds=100).run()
    >>> round(found.per_second)
    10
    >>> alone = Site(1, own.share, threads=1)
    >>> found = Model(alone, Costs(100.0, sign_ms=50.0, signed=0.5), clients=4, seconds=400).run()
    >>> round(found.per_second), round(found.p95_ms)
    (8, 600)

    Of 2 ms each turn takes 2 ms more where another thread waits:

    >>> found = Model(own, Costs(0.0, python_ms=100.0, turn_ms=2.0), clients=4, seconds=100).run()
    >>> round(found.per_second)
    5
    """

    def __init__(
        self, site: Site, costs: Costs, *, clients: int = 0, rate: float = 0.0, seconds: float = 60.0, seed: int = 1
    ) -> None:
        """Of a site under `clients` that ask again as soon as they are answered, or `rate` requests a second."""
        self._site, self._costs, self._clients, self._rate, self._seconds = site, costs, clients, rate, seconds
        self._rng = random.Random(seed)
        self._now = 0.0
        self._events: list[tuple[float, int, Then]] = []
        self._order = itertools.count()
        self._replicas = [_Replica(site.threads) for _ in range(site.replicas)]
        self._outside = _Serial()
        self._begun: dict[int, float] = {}
        self._names = itertools.count()
        self._turn = itertools.count()
        self._done: list[tuple[float, float]] = []
        # Processor sharing: `_virtual` is the work that each computing piece has been given.
        self._virtual, self._touched, self._epoch, self._busy = 0.0, 0.0, 0, 0.0
        self._computing: list[tuple[float, int, Then]] = []
        self._lock: deque[_Replica] = deque()
        self._locked = False

    def run(self) -> Found:
        """The figures, without the first tenth of the time."""
        for _ in range(self._clients):
            self._arrive()
        if self._rate:
            self._later(self._rng.expovariate(self._rate), self._stream)
        while self._events:
            at, _, act = heapq.heappop(self._events)
            if at > self._seconds:
                break
            self._now = at
            act()
        self._spread()
        warm = self._seconds / 10
        spans = sorted(end - begun for begun, end in self._done if begun >= warm)
        if not spans:
            return Found(0.0, float("inf"), float("inf"), 0.0)
        ended = sum(end >= warm for _, end in self._done)
        return Found(
            ended / (self._seconds - warm),
            1000 * spans[len(spans) // 2],
            1000 * spans[int(0.95 * len(spans))],
            self._busy / self._seconds,
        )

    def _later(self, seconds: float, act: Then) -> None:
        heapq.heappush(self._events, (self._now + seconds, next(self._order), act))

    # The way of a request

    def _stream(self) -> None:
        self._arrive()
        self._later(self._rng.expovariate(self._rate), self._stream)

    def _arrive(self) -> None:
        name = next(self._names)
        self._begun[name] = self._now
        replica = self._replicas[next(self._turn) % len(self._replicas)]
        self._in_turns(self._outside, self._costs.client_ms / 2, lambda: self._came(replica, name))

    def _came(self, replica: _Replica, name: int) -> None:
        def read() -> None:
            if self._rng.random() < self._site.hits:
                self._later(self._costs.look_ms / 1000, lambda: self._put(replica, name))
                return
            replica.waiting.append(name)
            self._judge(replica)

        self._on_loop(replica, read)

    def _on_loop(self, replica: _Replica, then: Then) -> None:
        """Half of what the event loop does for a request, after what it has to do already."""

        def did() -> None:
            replica.loop.popleft()
            if replica.loop:
                replica.loop[0]()
            then()

        def do() -> None:
            self._in_turns(replica.python, self._costs.loop_ms / 2, did)

        replica.loop.append(do)
        if len(replica.loop) == 1:
            do()

    def _judge(self, replica: _Replica) -> None:
        while replica.free and (replica.judged or replica.waiting):
            if replica.judged:
                self._sign(replica, replica.judged.popleft())
                continue
            replica.free -= 1
            name, factor = replica.waiting.popleft(), self._rng.choice(self._costs.spread)
            python = factor * self._costs.python_ms

            def judged(name: int = name, python: float = python) -> None:
                self._in_turns(replica.python, python / 2, lambda: self._judged(replica, name))

            def network(judged: Then = judged, factor: float = factor) -> None:
                self._compute(factor * self._costs.network_ms, judged)

            self._in_turns(replica.python, python / 2, network)

    def _judged(self, replica: _Replica, name: int) -> None:
        replica.free += 1
        if self._costs.signed and self._rng.random() < self._costs.signed:
            replica.judged.append(name)
        else:
            self._later(self._costs.idle_ms / 1000, lambda: self._put(replica, name))
        self._judge(replica)

    def _sign(self, replica: _Replica, name: int) -> None:
        replica.free -= 1

        def signed() -> None:
            replica.free += 1
            self._judge(replica)
            self._later(self._costs.idle_ms / 1000, lambda: self._put(replica, name))

        self._in_turns(replica.python, self._costs.sign_ms, signed)

    def _put(self, replica: _Replica, name: int) -> None:
        replica.uncommitted.append(name)
        if not replica.asked:
            replica.asked = True
            self._lock.append(replica)
            self._commit()

    def _commit(self) -> None:
        if self._locked or not self._lock:
            return
        self._locked, replica = True, self._lock.popleft()
        group, replica.uncommitted = replica.uncommitted, []
        costs = self._costs

        def committed() -> None:
            self._locked = False
            for name in group:
                self._on_loop(replica, lambda name=name: self._answer(name))  # type: ignore[misc]
            replica.asked = bool(replica.uncommitted)
            if replica.asked:
                self._lock.append(replica)
            self._commit()

        def synced() -> None:
            self._later(self._rng.choice(costs.commit_ms) / 1000, committed)

        write = (costs.write_ms + (len(group) - 1) * costs.more_ms) / costs.round_trips
        database = len(group) * costs.database_ms / costs.round_trips

        def asked(left: int) -> None:
            then = synced if left == 1 else lambda: asked(left - 1)
            self._in_turns(replica.python, write, lambda: self._compute(database, then))

        asked(costs.round_trips)

    def _answer(self, name: int) -> None:
        self._in_turns(self._outside, self._costs.client_ms / 2, lambda: self._answered(name))

    def _answered(self, name: int) -> None:
        self._done.append((self._begun.pop(name), self._now))
        if self._clients:
            self._arrive()

    # The processors

    def _in_turns(self, process: _Serial, ms: float, then: Then) -> None:
        """Work of a process in which one piece runs at a time."""
        if ms <= 0:
            then()
            return
        process.waiting.append((ms, then))
        self._next(process, 0.0)

    def _next(self, process: _Serial, turn_ms: float) -> None:
        if process.busy or not process.waiting:
            return
        process.busy = True
        ms, then = process.waiting.popleft()
        # Alone it runs to its end or to the next that comes; how long that is is not known, so it is cut in any case.
        now = min(ms, SLICE_MS)

        def ran() -> None:
            turn_ms, ended = self._costs.turn_ms if process.waiting else 0.0, ms - now <= 1e-9
            process.busy = False
            if not ended:
                process.waiting.append((ms - now, then))
            self._next(process, turn_ms)  # it waits for its turn already when what follows from this one begins
            if ended:
                then()

        if turn_ms > 0:
            self._later(turn_ms / 1000, lambda: self._compute(now, ran))
        else:
            self._compute(now, ran)

    def _spread(self) -> None:
        """Gives everything that computes what it got since this was last done."""
        count = len(self._computing)
        if count:
            speed = self._site.share(count)
            self._virtual += (self._now - self._touched) * speed / count
            self._busy += (self._now - self._touched) * speed
        self._touched = self._now

    def _compute(self, ms: float, then: Then) -> None:
        self._spread()
        heapq.heappush(self._computing, (self._virtual + ms / 1000, next(self._order), then))
        self._plan()

    def _plan(self) -> None:
        self._epoch += 1
        if self._computing:
            epoch, count = self._epoch, len(self._computing)
            left = max(0.0, self._computing[0][0] - self._virtual)
            self._later(left * count / self._site.share(count), lambda: self._computed(epoch))

    def _computed(self, epoch: int) -> None:
        if epoch != self._epoch:
            return  # something began or ended meanwhile
        self._spread()
        _, _, then = heapq.heappop(self._computing)
        self._plan()
        then()
