"""The model of a deployment (`benchmarks.deployment`) beside real runs, and what it says of large rates.

    python -m benchmarks.simulation check            # beside real runs at 1, 2 and 4 replicas: some ten minutes
    python -m benchmarks.simulation plan             # 1,000 and 100,000 checks a second

Nothing is fitted to the runs that the model is held against. One figure is fitted to another run, of one replica under
four clients: how long Python's lock takes from one thread to another (`turn_ms`). For each deployment its costs are
measured right before and right after the real runs, so that both see the same machine:

- the speed that k pieces of work have together, by processes that check in a loop, one and several at a time;
- the network's part of a check, and what recording one and several takes, in one of these processes;
- the processor time of a signature, in such a process too;
- processor time of replicas, of their event loops, of the database, and of this process (clients and balancer), under
  one client alone, and how many of its checks were signed;
- what of that client's waiting is none of these: time in which nothing computes.
"""

import argparse
import asyncio
import itertools
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from statistics import mean, median, pvariance
from typing import Any

from benchmarks.cluster import Postgres
from benchmarks.deployment import Costs, Model, Site
from benchmarks.replicas import Load, body, cluster

# Measuring

ROUND_TRIPS = 3
"""Of a commit (ADR 124): to lock the log, to write, and to commit."""
FITTED = 4
"""Clients of the run to which `turn_ms` is fitted; none of the runs that the model is held against has as many."""


def _cpu_of(pid: int) -> float:
    """Seconds of processor time of a process and of those below it, ended ones too."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return 0.0
    return sum(int(one) for one in text[11:15]) / 100 + sum(_cpu_of(int(one)) for one in below)


def _loop_cpu(pid: int) -> float:
    """Seconds of processor time of a process's first thread, on which a replica has its event loop."""
    text = Path(f"/proc/{pid}/task/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return sum(int(one) for one in text[11:13]) / 100


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


class Checking:
    """A process that checks in a loop when it is told to (`spin`)."""

    def __init__(self, database: str, keys: str) -> None:
        """Starts it; it is ready when `ask` first answers."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.simulation", "spin", "--database", database, "--keys", keys],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("a process was started without its pipes")
        self._asking, self._answering = self._process.stdin, self._process.stdout

    def tell(self, what: str) -> None:
        """Gives it something to do."""
        self._asking.write(what + "\n")
        self._asking.flush()

    def answer(self) -> Any:
        """What came of it."""
        line = self._answering.readline()
        if not line:
            raise SystemExit("a process that checks has ended")
        return json.loads(line)

    def ask(self, what: str) -> Any:
        """Gives it something to do, and what came of it."""
        self.tell(what)
        return self.answer()

    def end(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait()
        self._asking.close()
        self._answering.close()


def spin(database: str, keys: str) -> None:
    """Checks, signs or records, as lines of the standard input say, and writes what it took."""
    from assay.config import Guard, scorer_of
    from assay.policy import preset
    from assay.schema import Action, Evidence
    from assay.store.db import Store
    from assay.store.records import CheckRecord

    scorer = _Timed(scorer_of(None, {}, threads=1))
    guard, policy = Guard("general", scorer=scorer, keys=keys, environ={}), preset("general")
    numbers = itertools.count(1_000_000)

    def once() -> CheckRecord:
        asked = body(next(numbers))
        evidence = [Evidence(**one) for one in asked["evidence"]]
        report = guard.check(asked["answer"], evidence, question=asked["question"])
        return CheckRecord(report, {"answer": asked["answer"]}, tuple(evidence), policy, tenant="spinning")

    for _ in range(10):
        once()
    said: dict[str, Any]
    with Store(database) as store:
        for line in sys.stdin:
            what, _, given = line.strip().partition(" ")
            if what == "check":
                count, used, before, begun = 0, time.process_time(), scorer.seconds, time.monotonic()
                while time.monotonic() < begun + float(given):
                    once()
                    count += 1
                lasted = time.monotonic() - begun
                said = {
                    "per_second": count / lasted,
                    "cpu_ms": 1000 * (time.process_time() - used) / count,
                    "network_ms": 1000 * (scorer.seconds - before) / count,
                }
            elif what == "sign":
                spans: list[float] = []
                while len(spans) < int(given):
                    report = once().report
                    if report.action is Action.EMIT:
                        used = time.thread_time()
                        guard.issue(report)
                        spans.append(1000 * (time.thread_time() - used))
                said = {"cpu_ms": median(spans)}
            else:
                together, took = int(given), []
                for _ in range(12):
                    records = [once() for _ in range(together)]
                    used, begun = time.process_time(), time.perf_counter()
                    asyncio.run(store.arecord_all(records))
                    took.append((1000 * (time.process_time() - used), 1000 * (time.perf_counter() - begun)))
                said = {"cpu_ms": median(one for one, _ in took), "clock_ms": [one for _, one in took]}
            sys.stdout.write(json.dumps(said) + "\n")
            sys.stdout.flush()


class _Timed:
    """A scorer, and the processor time of its network."""

    def __init__(self, scorer: Any) -> None:
        self._scorer, self.seconds = scorer, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """As the scorer, and timed."""
        begun = time.process_time()
        try:
            return self._scorer.score(pairs)
        finally:
            self.seconds += time.process_time() - begun

    def score_words(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """As the scorer, and timed."""
        begun = time.process_time()
        try:
            return self._scorer.score_words(pairs)
        finally:
            self.seconds += time.process_time() - begun


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured at one time."""

    costs: Costs
    speeds: tuple[float, ...]
    """The speed of 1, 2, ... pieces of work together, of which one alone has 1."""

    def share(self, pieces: int) -> float:
        """The speed that so many pieces have together; more than there are processors have no more.

        >>> Calibration(Costs(1.0), (1.0, 1.6)).share(5)
        1.6
        """
        return self.speeds[min(pieces, len(self.speeds)) - 1]


async def calibrated(
    url: str, spinning: Sequence[Checking], cpu: Callable[[], tuple[float, ...]], seconds: float
) -> Calibration:
    """What checks cost now.

    Args:
        url: of the deployment, which serves nobody else meanwhile.
        spinning: one process for each processor.
        cpu: seconds of processor time of replicas, their event loops, database, and clients with the balancer, so far.
        seconds: how long one client asks.
    """

    def together(count: int) -> list[dict[str, float]]:
        for one in spinning[:count]:
            one.tell("check 3")
        return [one.answer() for one in spinning[:count]]

    found = [await asyncio.to_thread(together, count + 1) for count in range(len(spinning))]
    rates = [sum(one["per_second"] for one in some) for some in found]
    speeds = tuple(max(1.0, *(rate / rates[0] for rate in rates[: count + 1])) for count in range(len(rates)))
    one, four = [await asyncio.to_thread(spinning[0].ask, f"record {many}") for many in (1, 4)]
    sign = (await asyncio.to_thread(spinning[0].ask, "sign 20"))["cpu_ms"]
    network = found[0][0]["network_ms"]
    before = cpu()
    load, _ = await _under(url, 1, seconds)
    inside, loop, database, client = (
        1000 * (now - then) / max(1, len(load.acked)) for then, now in zip(before, cpu(), strict=True)
    )
    write = min(one["cpu_ms"], max(0.0, inside - network))
    signed = mean(action == "emit" for _, action in load.acked.values())
    spans = [1000 * span for span in load.seconds]
    sync = [max(0.0, span - one["cpu_ms"] - database) for span in one["clock_ms"]]
    computed = inside + database + client
    idle = max(0.0, mean(spans) - computed - mean(sync))
    python = max(0.0, inside - network - write - loop - signed * sign)
    # What differs between checks of one client alone, and is not the sync's, is put down to what they compute.
    own = sqrt(max(0.0, 1 - pvariance(sync) / pvariance(spans)))
    factors = [max(0.1, 1 + own * (span - mean(spans)) / (network + python)) for span in spans]
    return Calibration(
        Costs(
            network_ms=network,
            python_ms=python,
            loop_ms=loop,
            sign_ms=sign,
            signed=signed,
            write_ms=write,
            more_ms=max(0.0, four["cpu_ms"] - one["cpu_ms"]) / 3,
            round_trips=ROUND_TRIPS,
            database_ms=database,
            client_ms=client,
            commit_ms=sync,
            idle_ms=idle,
            spread=[one / mean(factors) for one in factors],
        ),
        speeds,
    )


async def _turn_ms(folder: Path, seconds: float) -> float:
    """How long Python's lock takes from one thread of a replica to another that waits, in milliseconds: what makes the
    model of one replica under `FITTED` clients as fast as the replica."""
    async with _measured(folder, 1) as site:
        first = await site.calibrated(seconds)
        load, lasted = await _under(site.url, FITTED, 2 * seconds)
        costs = _between(first, await site.calibrated(seconds))
    per_second = len(load.acked) / lasted

    def modelled(turn_ms: float) -> float:
        fitted = replace(costs.costs, turn_ms=turn_ms)
        return Model(Site(1, costs.share), fitted, clients=FITTED, seconds=100).run().per_second

    least, most = 0.0, 4.0
    if modelled(least) <= per_second:
        return least
    for _ in range(8):
        middle = (least + most) / 2
        least, most = (middle, most) if modelled(middle) > per_second else (least, middle)
    return (least + most) / 2


def _between(first: Calibration, last: Calibration) -> Calibration:
    """The mean of what was measured before and after."""
    names = (
        *("network_ms", "python_ms", "loop_ms", "sign_ms", "signed"),
        *("write_ms", "more_ms", "database_ms", "client_ms", "idle_ms"),
    )
    halves = {name: (getattr(first.costs, name) + getattr(last.costs, name)) / 2 for name in names}
    return Calibration(
        Costs(
            **halves,
            round_trips=ROUND_TRIPS,
            commit_ms=[*first.costs.commit_ms, *last.costs.commit_ms],
            spread=[*first.costs.spread, *last.costs.spread],
        ),
        tuple((one + other) / 2 for one, other in zip(first.speeds, last.speeds, strict=True)),
    )


@dataclass(frozen=True, slots=True)
class Measured:
    """A deployment that runs, and what measures it."""

    url: str
    spinning: Sequence[Checking]
    cpu: Callable[[], tuple[float, ...]]

    async def calibrated(self, seconds: float) -> Calibration:
        """What checks cost now."""
        return await calibrated(self.url, self.spinning, self.cpu, seconds)


@asynccontextmanager
async def _measured(folder: Path, count: int) -> AsyncIterator[Measured]:
    """A deployment of so many replicas, warm."""
    from assay.models import usable_cpus

    folder.mkdir(parents=True)
    async with cluster(folder, count) as (postgres, keys, balancer, _):
        url = f"http://127.0.0.1:{balancer.port}"

        def cpu() -> tuple[float, ...]:
            inside = sum(one.cpu_s() for one in balancer.replicas)
            loops = sum(_loop_cpu(one.process.pid) for one in balancer.replicas)
            return inside, loops, _cpu_of(_postmaster(postgres)), time.process_time()

        spinning = [Checking(postgres.url, str(keys)) for _ in range(min(8, usable_cpus()))]
        try:
            for one in spinning:
                await asyncio.to_thread(one.ask, "check 0.5")
            await _under(url, 2 * count, 4 + 2 * count)
            yield Measured(url, spinning, cpu)
        finally:
            for one in spinning:
                one.end()


async def check(folder: Path, rounds: int, replicas: Sequence[int], clients: Sequence[int], seconds: float) -> None:
    """Real runs beside the model's."""
    rows: dict[tuple[int, int], list[tuple[float, float, float, float]]] = {}
    turn_ms = await _turn_ms(folder / "turns", seconds)
    print(f"from one thread to another in {turn_ms:.2f} ms", flush=True)
    for turn, count in itertools.product(range(rounds), replicas):
        async with _measured(folder / f"{turn}-{count}", count) as site:
            first = await site.calibrated(seconds)
            real = {many: await _under(site.url, many, seconds) for many in clients}
            last = await site.calibrated(seconds)
        told = _between(first, last)
        costs = replace(told.costs, turn_ms=turn_ms)
        speeds = " ".join(f"{one:.2f}" for one in told.speeds)
        sys.stdout.write(
            f"{count} replica(s): network {costs.network_ms:.1f} + Python {costs.python_ms:.1f} + loop "
            f"{costs.loop_ms:.1f} + signature {costs.signed:.0%} of {costs.sign_ms:.1f} + commit {costs.write_ms:.1f} "
            f"(+{costs.more_ms:.1f}) + database {costs.database_ms:.1f} + clients {costs.client_ms:.1f} CPU ms, sync "
            f"{mean(costs.commit_ms):.1f} and idle {costs.idle_ms:.1f} ms; speeds {speeds} (before "
            f"{first.speeds[-1]:.2f}, after {last.speeds[-1]:.2f})\n"
        )
        for many, (load, lasted) in real.items():
            said = Model(Site(count, told.share), costs, clients=many, seconds=200).run()
            speed, slow = len(load.acked) / lasted, 1000 * _quantile(load.seconds, 0.95)
            rows.setdefault((count, many), []).append((speed, said.per_second, slow, said.p95_ms))
            sys.stdout.write(
                f"  {many} client(s): {speed:.2f} a second (model {said.per_second:.2f}), p95 {slow:.0f} ms "
                f"(model {said.p95_ms:.0f})\n"
            )
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
        costs = Costs(cpu_ms, python_ms=2.0, commit_ms=COMMITS, spread=(0.5, 0.8, 1.0, 1.2, 1.5))
        cell = Site(CELL_CORES, lambda k: min(k, CELL_CORES), hits, threads=1)
        seconds = max(30.0, 200 * cpu_ms / 1000)
        found = Model(cell, costs, rate=rate / machines, seconds=seconds).run()
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
    parser.add_argument("what", choices=("check", "plan", "spin"))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--clients", type=int, nargs="+", default=[2, 6])
    parser.add_argument("--seconds", type=float, default=15.0, help="of each real run")
    parser.add_argument("--database", default="", help=argparse.SUPPRESS)
    parser.add_argument("--keys", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.what == "plan":
        plan()
        return
    if given.what == "spin":
        spin(given.database, given.keys)
        return
    with tempfile.TemporaryDirectory(prefix="assay-simulation-") as name:
        asyncio.run(check(Path(name), given.rounds, given.replicas, given.clients, given.seconds))


if __name__ == "__main__":
    main()
