"""A discrete-event model of a deployment: what throughput, latency and cost come of replicas, caches and commits.

    python -m benchmarks.simulation check            # beside real runs at one and two replicas: some minutes
    python -m benchmarks.simulation plan             # 1,000 and 100,000 checks a second

The model. A request goes to a replica. Where the verdict is kept (`hits`), it costs a look into the database; else it
waits for one of the replica's check threads and is judged there. Then it is committed: what waits of a replica is
committed together, and commits of one tenant are one after the other, whichever replica makes them (ADR 14). Judging
and all else that computes shares the processors evenly; with k requests that compute, each runs at share(k) / k of a
core's speed. On a machine of one's own share(k) is the smaller of k and the number of cores; on one that is shared with
many others, times on the clock of one client alone hold what the others take, and share(k) is the smaller of k and the
cores that would make of them.
Nothing is fitted to the runs that the model is held against: times and their spread come from one client alone at the
same replicas, before and after the runs, and commits from a table of their own.
"""

import argparse
import asyncio
import heapq
import itertools
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.cluster import Postgres
from benchmarks.replicas import Load, cluster

THREADS = 2
"""Check threads of a replica (`limits.check_threads`)."""


# The model


@dataclass(frozen=True, slots=True)
class Costs:
    """What one check costs."""

    check_ms: Sequence[float]
    """Processor time of a check within a replica, drawn at random."""
    rest_ms: float
    """Processor time of everything else on the same processors, such as the database and the clients."""
    commit_ms: Sequence[float]
    """Time on the clock of one commit of several records, drawn at random."""
    look_ms: float = 1.0
    """Time on the clock of a look into the cache of verdicts."""


@dataclass(frozen=True, slots=True)
class Site:
    """A deployment, or the cell of one that shares processors and a tenant."""

    replicas: int
    share: Callable[[int], float]
    """Cores that k computing requests get together."""
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
    """Cores that computed, on average."""


@dataclass
class _Replica:
    free: int
    waiting: deque[int] = field(default_factory=deque)
    uncommitted: list[int] = field(default_factory=list)
    asked: bool = False
    """Whether it waits for the tenant's lock, or commits."""


class Model:
    """One run of the model. Arrivals are a closed loop of clients, or a Poisson stream.

    >>> own = Site(1, lambda k: min(k, 2))
    >>> found = Model(own, Costs([100.0], 0.0, [10.0]), clients=1, seconds=100).run()
    >>> round(found.per_second, 1), round(found.p95_ms)
    (9.1, 110)
    >>> found = Model(own, Costs([100.0], 0.0, [0.0]), clients=4, seconds=100).run()
    >>> round(found.per_second), round(found.p95_ms)
    (20, 200)
    """

    def __init__(
        self, site: Site, costs: Costs, *, clients: int = 0, rate: float = 0.0, seconds: float = 60.0, seed: int = 1
    ) -> None:
        """Of a site under `clients` that ask again as soon as they are answered, or `rate` requests a second."""
        self._site, self._costs, self._clients, self._rate, self._seconds = site, costs, clients, rate, seconds
        self._rng = random.Random(seed)
        self._now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._replicas = [_Replica(site.threads) for _ in range(site.replicas)]
        self._begun: dict[int, float] = {}
        self._names = itertools.count()
        self._turn = itertools.count()
        self._done: list[tuple[float, float]] = []
        # Processor sharing: `_virtual` is the work that each computing request has been given.
        self._virtual, self._touched, self._epoch, self._busy = 0.0, 0.0, 0, 0.0
        self._computing: list[tuple[float, int, Callable[[], None]]] = []
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

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now + seconds, next(self._order), act))

    def _stream(self) -> None:
        self._arrive()
        self._later(self._rng.expovariate(self._rate), self._stream)

    def _arrive(self) -> None:
        name = next(self._names)
        self._begun[name] = self._now
        replica = self._replicas[next(self._turn) % len(self._replicas)]
        if self._rng.random() < self._site.hits:
            self._later(
                self._costs.look_ms / 1000, lambda: self._compute(self._costs.rest_ms, lambda: self._put(replica, name))
            )
            return
        replica.waiting.append(name)
        self._judge(replica)

    def _judge(self, replica: _Replica) -> None:
        while replica.free and replica.waiting:
            replica.free -= 1
            name = replica.waiting.popleft()
            self._compute(self._rng.choice(self._costs.check_ms), lambda name=name: self._judged(replica, name))  # type: ignore[misc]

    def _judged(self, replica: _Replica, name: int) -> None:
        replica.free += 1
        self._judge(replica)
        self._compute(self._costs.rest_ms, lambda: self._put(replica, name))

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

        def committed() -> None:
            self._locked = False
            for name in group:
                self._done.append((self._begun.pop(name), self._now))
                if self._clients:
                    self._arrive()
            replica.asked = bool(replica.uncommitted)
            if replica.asked:
                self._lock.append(replica)
            self._commit()

        self._later(self._rng.choice(self._costs.commit_ms) / 1000, committed)

    # The processors

    def _spread(self) -> None:
        """Gives everything that computes what it got since this was last done."""
        count = len(self._computing)
        if count:
            cores = self._site.share(count)
            self._virtual += (self._now - self._touched) * cores / count
            self._busy += (self._now - self._touched) * cores
        self._touched = self._now

    def _compute(self, ms: float, then: Callable[[], None]) -> None:
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


# Measuring


def _cpu_of(pid: int) -> float:
    """Seconds of processor time of a process and of those below it, ended ones too."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return sum(int(one) for one in text[11:15]) / 100 + sum(_cpu_of(int(one)) for one in below)


def _postmaster(postgres: Postgres) -> int:
    return int((postgres.folder / "postmaster.pid").read_text(encoding="ascii").split()[0])


async def _under(url: str, clients: int, seconds: float) -> tuple[Load, float]:
    load = Load(url, clients)
    begun = time.monotonic()
    running = asyncio.create_task(load.run())
    await asyncio.sleep(seconds)
    load.end()
    await running
    return load, time.monotonic() - begun


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def commits(url: str, count: int) -> list[float]:
    """Milliseconds for which a commit of some KB holds a lock of the database: an update, an insert, a sync to disk."""
    import psycopg

    found = []
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS benchmark (one int, body bytea)")
        connection.execute("INSERT INTO benchmark VALUES (0, '')")
        connection.commit()
        for _ in range(count):
            begun = time.perf_counter()
            connection.execute("UPDATE benchmark SET one = one + 1 WHERE body = ''")
            connection.execute("INSERT INTO benchmark VALUES (1, %s)", (bytes(7_000),))
            connection.commit()
            found.append(1000 * (time.perf_counter() - begun))
    return found


async def _alone(url: str, cluster_cpu: Callable[[], tuple[float, float]], database: str, seconds: float) -> Costs:
    """What a check costs when one client asks alone; `check_ms` is on the clock, as far as it is not the commit."""
    took = await asyncio.to_thread(commits, database, 30)
    before = cluster_cpu()
    load, _ = await _under(url, 1, seconds)
    check_cpu, rest_cpu = (
        1000 * (now - then) / len(load.acked) for then, now in zip(before, cluster_cpu(), strict=True)
    )
    commit = median(took)
    spans = [max(check_cpu + rest_cpu, 1000 * one - commit) for one in load.seconds]
    share = check_cpu / (check_cpu + rest_cpu)
    return Costs([share * one for one in spans], (1 - share) * mean(spans), took)


async def check(folder: Path, rounds: int, clients: Sequence[int], seconds: float) -> None:
    """Real runs beside the model's."""
    from assay.models import usable_cpus

    rows: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    for turn, count in itertools.product(range(rounds), (1, 2)):
        place = folder / f"{turn}-{count}"
        place.mkdir(parents=True)
        async with cluster(place, count) as (postgres, _, balancer, _):
            url = f"http://127.0.0.1:{balancer.port}"

            def cpu(balancer: Any = balancer, postgres: Postgres = postgres) -> tuple[float, float]:
                inside = sum(one.cpu_s() for one in balancer.replicas)
                return inside, _cpu_of(_postmaster(postgres)) + time.process_time()

            await _under(url, 1, 4)
            used = cpu()
            first = await _alone(url, cpu, postgres.url, seconds)
            real = {many: await _under(url, many, seconds) for many in clients}
            checks = sum(len(load.acked) for load, _ in real.values())
            per_check = 1000 * (sum(cpu()) - sum(used)) / max(1, checks)
            last = await _alone(url, cpu, postgres.url, seconds)
            costs = Costs(
                [*first.check_ms, *last.check_ms],
                (first.rest_ms + last.rest_ms) / 2,
                [*first.commit_ms, *last.commit_ms],
            )
            # Times on the clock hold what others take: of a core a request has the rest, until those are used up.
            least = usable_cpus() * max(1.0, (mean(costs.check_ms) + costs.rest_ms) / per_check)
            site = Site(count, lambda k, least=least: min(k, least))  # type: ignore[misc]
            for many, (load, lasted) in real.items():
                said = Model(site, costs, clients=many, seconds=300).run()
                speed, slow = len(load.acked) / lasted, 1000 * _quantile(load.seconds, 0.95)
                rows.setdefault((count, many), []).append((speed, said.per_second, slow, said.p95_ms))
                words = (
                    f"{count} replica(s), {many} clients: {speed:.2f} a second (model {said.per_second:.2f}), p95 "
                    f"{slow:.0f} ms (model {said.p95_ms:.0f}); a check alone {mean(costs.check_ms):.0f} + "
                    f"{costs.rest_ms:.0f} ms and a commit of {median(costs.commit_ms):.0f} ms; {per_check:.0f} CPU ms"
                )
                sys.stdout.write(words + "\n")
                sys.stdout.flush()
    print("\n| replicas | clients | a second | model | off by | p95 ms | model | off by |")
    print("|---|---|---|---|---|---|---|---|")
    for (count, many), found in sorted(rows.items()):
        rate, rate_said, slow, slow_said = (mean(one[place] for one in found) for place in range(4))
        both = f"{rate:.2f} | {rate_said:.2f} | {rate_said / rate - 1:+.0%}"
        print(f"| {count} | {many} | {both} | {slow:.0f} | {slow_said:.0f} | {slow_said / slow - 1:+.0%} |")


# Planning

PRICE = 0.04
"""Dollars for a core and hour; what large providers ask for general machines, on demand, in 2026. An assumption."""
CELL_CORES = 16
"""Cores of a machine, and replicas on it; machines are alike and independent but for the database."""
TABLE = ((1, 92.0, 7), (6, 716.0, 12), (24, 2_824.0, 44))
"""Claims, CPU ms and KB of the record, from docs/capacity.md (two virtual cores of an AMD EPYC, measured here)."""
COMMITS = (4.0, 5.0, 6.0, 8.0, 15.0)
"""Milliseconds of a commit of a group to a database on the network; an assumption, with a sync of 2 to 4 ms within."""
GROUP_KB_S = 50_000
"""KB of records a second that one PostgreSQL takes for long (with its log twice as much on disk). An assumption."""


def plan_rows() -> Iterator[str]:
    """The table of the plan."""
    names = (
        "checks a second",
        "claims",
        "kept",
        "cores",
        "machines",
        "databases",
        "p50 ms",
        "p95 ms",
        "$ an hour",
        "$ a million",
    )
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for rate, (claims, cpu_ms, record_kb), hits in itertools.product((1_000, 100_000), TABLE, (0.0, 0.3)):
        cores = rate * (1 - hits) * cpu_ms / 1000 / 0.7
        machines = max(1, round(cores / CELL_CORES + 0.5))
        spread = [cpu_ms * one for one in (0.5, 0.8, 1.0, 1.2, 1.5)]
        cell = Site(CELL_CORES, lambda k: min(k, CELL_CORES), hits, threads=1)
        seconds = max(30.0, 200 * cpu_ms / 1000)
        found = Model(cell, Costs(spread, 2.0, COMMITS), rate=rate / machines, seconds=seconds).run()
        bases = max(1, round(rate * record_kb / GROUP_KB_S + 0.5))
        hour = (machines * CELL_CORES + bases * 32) * PRICE
        cells = (
            f"{rate:,}",
            f"{claims}",
            f"{hits:.0%}",
            f"{machines * CELL_CORES:,}",
            f"{machines:,}",
            f"{bases:,}",
            f"{found.p50_ms:,.0f}",
            f"{found.p95_ms:,.0f}",
            f"{hour:,.0f}",
            f"{hour / rate / 3600 * 1e6:,.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def plan() -> None:
    """Prints what large rates cost, and what is assumed."""
    sys.stdout.writelines(f"{row}\n" for row in plan_rows())
    print(
        f"\nAssumed: {PRICE} dollars for a core and hour; machines of {CELL_CORES} cores with a replica for each and "
        "one check thread, 70% busy; processor time as in docs/capacity.md, from half to one and a half of it; "
        f"Poisson arrivals; a commit of {COMMITS[0]:g} to {COMMITS[-1]:g} ms; a database (32 cores) for each "
        f"{GROUP_KB_S / 1000:g} MB of records a second, tenants divided among them, those of a machine sharing one; "
        "of the requests 30% equal to an earlier one where it says so. Not in it: networks, storage, chat models, "
        "people."
    )


def main() -> None:
    """Reads arguments, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("check", "plan"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--clients", type=int, nargs="+", default=[2, 6])
    parser.add_argument("--seconds", type=float, default=20.0, help="of each real run")
    given = parser.parse_args()
    if given.what == "plan":
        plan()
        return
    with tempfile.TemporaryDirectory(prefix="assay-simulation-") as name:
        asyncio.run(check(Path(name), given.rounds, given.clients, given.seconds))


if __name__ == "__main__":
    main()
