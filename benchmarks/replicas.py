"""Three replicas over one PostgreSQL under load, while replicas are killed, the database crashes and the network stops.

    python -m benchmarks.replicas failures               # some minutes
    python -m benchmarks.replicas upgrade --from REV     # from the sources of a commit to these
    python -m benchmarks.replicas cache                  # what the shared cache of verdicts saves

Clients check short answers, each under a run id of its own, and ask again until they are answered. A check counts as
acknowledged when its client has read 200 and the id of its report. In the end the database is asked: every id that was
acknowledged has to have its report and one decision in the audit log, which has to verify; checks that were asked for
again may be recorded more than once, and must then have come to the same. Whose turn it is to sign the log is read
from the table of turns twenty times a second: a new holder while the time of the one before is not over would be two
leaders.
"""

import argparse
import asyncio
import contextlib
import io
import itertools
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from benchmarks.cluster import Balancer, Postgres, Replica

WHO = ("Partners", "Students", "Members", "Guests", "Tenants", "Suppliers", "Nurses", "Drivers")
WAIT_S = 20.0
"""Seconds after which a client gives up on a request and asks again."""


def body(number: int) -> dict[str, Any]:
    """A short check; every second one is wrong."""
    who, weeks = WHO[number % len(WHO)], number % 40 + 2
    said = weeks + number % 2
    return {
        "answer": f"{who} of team {number} get {said} weeks of leave.",
        "question": "How long is the leave?",
        "evidence": [{"id": "hr", "text": f"{who} of team {number} are entitled to {weeks} weeks of leave."}],
        "run_id": f"r{number}",
    }


_NUMBERS = itertools.count(1)
"""Of checks. No two loads have the same: a replica keeps what its network judged, and so does the cache of verdicts."""


@dataclass
class Load:
    """Clients, and what they were told."""

    url: str
    clients: int
    acked: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By run id: the id of the report, and the action."""
    failed: Counter[str] = field(default_factory=Counter)
    """Tries that were not answered with 200, by what came."""
    moments: list[float] = field(default_factory=list)
    """When checks were acknowledged."""
    seconds: list[float] = field(default_factory=list)
    """From a try to its answer."""
    _stop: bool = False

    async def run(self, repeat: int | None = None) -> None:
        """Until `end`; with `repeat`, over and over the same so many checks."""
        connector = aiohttp.TCPConnector(force_close=True, limit=0)
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=WAIT_S), connector=connector) as http:
            await asyncio.gather(*(self._client(http, repeat) for _ in range(self.clients)))

    def end(self) -> None:
        """Clients end when they are answered."""
        self._stop = True

    async def _client(self, http: aiohttp.ClientSession, repeat: int | None) -> None:
        while not self._stop:
            number = next(_NUMBERS)
            asked = body(number if repeat is None else number % repeat)
            name = f"{asked['run_id']}/{number}"
            while True:
                begun = time.monotonic()
                said = await self._once(http, name, asked)
                if said is None:
                    self.moments.append(time.monotonic())
                    self.seconds.append(time.monotonic() - begun)
                    break
                self.failed[said] += 1
                await asyncio.sleep(0.1)

    async def _once(self, http: aiohttp.ClientSession, name: str, asked: dict[str, Any]) -> str | None:
        try:
            async with http.post(f"{self.url}/v1/check", json=asked) as response:
                text = await response.read()
                if response.status != 200:
                    return str(response.status)
                self.acked[name] = (response.headers["x-assay-report-id"], json.loads(text)["action"])
                return None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return type(error).__name__

    def gap_after(self, moment: float) -> float:
        """Seconds from a moment to the next acknowledged check."""
        return min((one - moment for one in self.moments if one >= moment), default=float("inf"))

    def longest_gap(self, begin: float, end: float) -> float:
        """The longest time without an acknowledged check."""
        seen = [begin, *(one for one in self.moments if begin <= one <= end), end]
        return max(second - first for first, second in itertools.pairwise(seen))


class Turns:
    """Whose turn it was, as the table says."""

    def __init__(self, url: str) -> None:
        """Of a database."""
        self._url, self._stop = url, False
        self.holders: dict[tuple[str, str], list[tuple[str, int]]] = {}
        self.overlaps: list[str] = []
        self.looks = 0

    async def run(self) -> None:
        """Until `end`."""
        import psycopg

        while not self._stop:
            try:
                async with await psycopg.AsyncConnection.connect(self._url, autocommit=True, connect_timeout=2) as one:
                    while not self._stop:
                        await self._look(one)
                        await asyncio.sleep(0.05)
            except psycopg.Error:
                await asyncio.sleep(0.2)

    async def _look(self, connection: Any) -> None:
        found = await connection.execute("SELECT tenant, name, holder, until FROM turns")
        now = time.time_ns() // 1_000
        self.looks += 1
        for tenant, name, holder, until in await found.fetchall():
            seen = self.holders.setdefault((tenant, name), [])
            if not seen or seen[-1][0] != holder:
                if seen and seen[-1][1] > now + 100_000:
                    self.overlaps.append(
                        f"{name}: {holder} while {seen[-1][0]} had {(seen[-1][1] - now) / 1e6:.2f} s left"
                    )
                seen.append((holder, until))
            else:
                seen[-1] = (holder, until)

    def end(self) -> None:
        """Stops looking."""
        self._stop = True

    @property
    def handed_over(self) -> int:
        """How often a turn went to another process."""
        return sum(len(one) - 1 for one in self.holders.values())


def judged(url: str, acked: dict[str, tuple[str, str]]) -> dict[str, int]:
    """What the database says of the checks that were acknowledged."""
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SELECT set_config('assay.tenant', '*', false)")
        rows = connection.execute(
            "SELECT r.id, n.run_id, r.action FROM reports r JOIN runs n ON n.id = r.run"
        ).fetchall()
        entries = connection.execute(
            "SELECT record, count(*) FROM audit_entries WHERE kind = 'decision' GROUP BY record"
        ).fetchall()
    reports = {row[0]: row[2] for row in rows}
    decisions: dict[Any, Any] = dict(entries)
    by_run: dict[str, set[str]] = {}
    for _, run, action in rows:
        by_run.setdefault(run, set()).add(action)
    return {
        "acknowledged": len(acked),
        "recorded": len(rows),
        "acknowledged and not recorded": sum(one not in reports for one, _ in acked.values()),
        "acknowledged as another action": sum(reports.get(one, action) != action for one, action in acked.values()),
        "records with no decision or several": sum(decisions.get(one, 0) != 1 for one in reports),
        "decisions without a record": sum(one not in reports for one in decisions),
        "checks decided two ways": sum(len(actions) > 1 for actions in by_run.values()),
    }


def verified(url: str, keys: Path) -> str:
    """What `assay audit verify` says at the end."""
    command = [sys.executable, "-m", "assay", "audit", "verify", "--database", url, "--ring", str(keys / "ring.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f"status {done.returncode}: " + " ".join((done.stdout or done.stderr).split())[:160]


def _made_keys(folder: Path) -> Path:
    keys = folder / "keys"
    command = [sys.executable, "-m", "assay", "receipt", "create-key", "--keys", str(keys)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return keys


def _gateway(folder: Path, cache: bool = False) -> Path:
    path = folder / "gateway.yaml"
    told = "version: 1\naudit:\n  checkpoint_minutes: 0.03\n"
    path.write_text(told + ("cache:\n  key_env: ASSAY_CACHE_KEY\n" if cache else ""), encoding="utf-8")
    return path


@contextlib.asynccontextmanager
async def cluster(folder: Path, count: int, *, cache: bool = False, sources: Path | None = None) -> Any:
    """A database, replicas that are ready, and a balancer in front."""
    postgres, keys = Postgres(folder), _made_keys(folder)
    environ = {"ASSAY_RECEIPT_KEYS": str(keys), "ASSAY_CACHE_KEY": "benchmark " * 4}
    gateway = _gateway(folder, cache)
    replicas = [Replica(folder, f"replica-{n}", postgres.url, sources, gateway, environ) for n in range(count)]
    balancer = Balancer(replicas)
    try:
        replicas[0].start()
        await balancer.start()
        await balancer.until(lambda: balancer.ready.get("replica-0", False))
        for one in replicas[1:]:
            one.start()
        await balancer.all_ready()
        yield postgres, keys, balancer, environ
    finally:
        await balancer.close()
        for one in balancer.replicas:
            if one.runs:
                one.kill()
        postgres.crash()


async def failures(folder: Path, clients: int, kills: int, seed: int) -> int:
    """Kills of replicas, of the database, and a pause of the network, under load."""
    rng = random.Random(seed)
    async with cluster(folder, 3) as (postgres, keys, balancer, _):
        load, turns = Load(f"http://127.0.0.1:{balancer.port}", clients), Turns(postgres.url)
        running = [asyncio.create_task(load.run()), asyncio.create_task(turns.run())]
        await asyncio.sleep(8)
        gaps: list[float] = []
        backs: list[float] = []
        for _ in range(kills):
            victim = rng.choice(balancer.replicas)
            moment = time.monotonic()
            victim.kill()
            balancer.ready[victim.name] = False
            victim.start()  # as an orchestrator would
            backs.append(await balancer.until(lambda name=victim.name: balancer.ready.get(name, False)))
            gaps.append(load.longest_gap(moment, time.monotonic()))
            await asyncio.sleep(rng.uniform(0.5, 2))
        print(
            f"kill -9 of a replica, {kills} times: longest time without an answer {max(gaps):.1f} s; "
            f"a killed replica was ready again after {min(backs):.1f} to {max(backs):.1f} s",
            flush=True,
        )
        for how in ("crash", "crash", "stop"):
            await asyncio.to_thread(getattr(postgres, how))
            await asyncio.sleep(4)
            await asyncio.to_thread(postgres.start)
            moment = time.monotonic()
            ready = await balancer.all_ready()
            await balancer.until(lambda moment=moment: load.gap_after(moment) < float("inf"))
            await asyncio.sleep(2)
            print(
                f"PostgreSQL, {how}, away for 4 s: first answer {load.gap_after(moment):.1f} s after it was back, "
                f"all replicas ready after {ready:.1f} s",
                flush=True,
            )
        for seconds in (5, WAIT_S + 5):
            balancer.pause()
            await asyncio.sleep(seconds)
            moment = time.monotonic()
            balancer.resume()
            await balancer.until(lambda moment=moment: load.gap_after(moment) < float("inf"))
            await asyncio.sleep(2)
            print(f"network paused for {seconds:g} s: first answer {load.gap_after(moment):.1f} s after it", flush=True)
        load.end()
        await asyncio.wait_for(running[0], 60)
        turns.end()
        await running[1]
        for one in balancer.replicas:
            one.terminate()
        counts = judged(postgres.url, load.acked)
        for name, count in counts.items():
            print(f"{name}: {count:,}")
        print(f"tries that failed and were made again: {sum(load.failed.values()):,} {dict(load.failed)}")
        print(f"turns: {turns.looks:,} looks, {turns.handed_over} handed over, two leaders {len(turns.overlaps)} times")
        for one in turns.overlaps[:5]:
            print(f"  {one}")
        log = verified(postgres.url, keys)
        print(f"audit log: {log}")
        wrong = sum(count for name, count in counts.items() if name not in {"acknowledged", "recorded"})
        return int(bool(wrong or turns.overlaps or not log.startswith("status 0")))


def _old_sources(folder: Path, revision: str) -> Path:
    archive = subprocess.run(["git", "archive", revision, "src/assay"], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder / "old", filter="data")
    return folder / "old" / "src"


async def upgrade(folder: Path, clients: int, revision: str) -> int:
    """Replicas of an older commit give way to those of these sources, one after the other."""
    here = Path(__file__).resolve().parent.parent / "src"
    async with cluster(folder, 3, sources=_old_sources(folder, revision)) as (postgres, keys, balancer, environ):
        load = Load(f"http://127.0.0.1:{balancer.port}", clients)
        running = asyncio.create_task(load.run())
        await asyncio.sleep(5)
        for number, old in enumerate(list(balancer.replicas)):
            new = Replica(folder, f"new-{number}", postgres.url, here, _gateway(folder), environ)
            balancer.replicas.append(new)
            new.start()  # the first one migrates while the others write
            took = await balancer.until(lambda name=new.name: balancer.ready.get(name, False))
            balancer.out.add(old.name)
            balancer.replicas.remove(old)
            status = await asyncio.to_thread(old.terminate)
            print(
                f"{new.name} ready after {took:.1f} s, {old.name} ended with status {status}; "
                f"{len(load.acked):,} answered, {sum(load.failed.values())} failed",
                flush=True,
            )
            await asyncio.sleep(2)
        load.end()
        await asyncio.wait_for(running, 60)
        for one in balancer.replicas:
            one.terminate()
        counts = judged(postgres.url, load.acked)
        print(", ".join(f"{name}: {count:,}" for name, count in counts.items()))
        print(f"failed requests: {sum(load.failed.values())} {dict(load.failed)}")
        log = verified(postgres.url, keys)
        print(f"audit log: {log}")
        wrong = sum(count for name, count in counts.items() if name not in {"acknowledged", "recorded"})
        return int(bool(wrong or load.failed or not log.startswith("status 0")))


async def cache(folder: Path, clients: int) -> int:
    """The same hundred checks at two replicas, with and without the shared cache."""
    for kept in (False, True):
        (folder / f"{kept}").mkdir()
        async with cluster(folder / f"{kept}", 2, cache=kept) as (_, _, balancer, _):
            load = Load(f"http://127.0.0.1:{balancer.port}", clients)
            running = asyncio.create_task(load.run(repeat=2_000))
            await asyncio.sleep(20)
            load.end()
            await running
            used = sum(one.cpu_s() for one in balancer.replicas)
            print(
                f"cache {kept}: {len(load.acked):,} checks in 20 s, {_of(load.seconds, 0.5):.0f} ms median, "
                f"{_of(load.seconds, 0.95):.0f} ms p95, {1000 * used / len(load.acked):.0f} CPU ms a check, "
                f"start of the replicas included",
                flush=True,
            )
    return 0


def _of(seconds: Iterable[float], share: float) -> float:
    """A quantile in milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> int:
    """Reads arguments, runs, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("failures", "upgrade", "cache"))
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--kills", type=int, default=8, help="kills of replicas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--from", dest="revision", default="HEAD", help="the commit that is upgraded from")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-replicas-") as name:
        folder = Path(name)
        if given.what == "upgrade":
            return asyncio.run(upgrade(folder, given.clients, given.revision))
        if given.what == "cache":
            return asyncio.run(cache(folder, given.clients))
        return asyncio.run(failures(folder, given.clients, given.kills, given.seed))


if __name__ == "__main__":
    raise SystemExit(main())
