"""How long a good caller waits while others attack the server, beside how long it takes alone.

    python -m benchmarks.availability                  # all of them: some minutes
    python -m benchmarks.availability --only heavy

The server is `assay serve` in a process of its own, with a database and API keys, on this machine's loopback; the
attackers are in another (`benchmarks.attackers`), bounded in number and time, and the good caller is here. It checks
short answers, one after the other, first alone and then beside each of: half-sent bodies at the pages where people
sign in, silent connections, requests with bad keys, one caller with six checks of 100 KB at once, three such callers,
and one caller with many small checks, with repeated ones, with screens of many passages, and with long lists. Printed
are the median time of a good request alone and beside the attack, their ratio, what share of one processor the
attackers took, and how much they opened or asked. Runs alone and under attack take
turns, so that a busy machine weighs on both; where fewer than three processors are free, the attackers' work
weighs on the ratio too. The good caller's requests are of new text each, so that nothing is remembered. Exit status 1
where a ratio is above `--most`, by default 2.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import aiohttp
from benchmarks.attackers import ATTACKS, LONGEST_S, Served


@dataclass
class Measured:
    """What was measured beside one attack."""

    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    seconds: float = 0.0
    """How long the attack stood."""
    cpu: float = 0.0
    opened: int = 0
    statuses: dict[str, int] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return median(self.beside) / median(self.alone)

    def line(self, said: str) -> str:
        """A row of the table."""
        told = ", ".join(f"{count:,} x {status}" for status, count in sorted(self.statuses.items()))
        share = self.cpu / self.seconds if self.seconds else 0.0
        return (
            f"{said:44} {1000 * median(self.alone):6.0f} ms {1000 * median(self.beside):6.0f} ms {self.ratio:6.2f} "
            f"{share:9.0%} {self.opened:8,}  {told}"
        )


HEAD = f"{'beside':44} {'alone':>9} {'then':>9} {'ratio':>6} {'attackers':>9} {'opened':>8}  answers"


@contextlib.asynccontextmanager
async def attacked(name: str, served: Served, found: Measured) -> AsyncIterator[None]:
    """An attack that stands while the block runs."""
    command = [sys.executable, "-m", "benchmarks.attackers", name, served.url, "--keys", ",".join(served.keys)]
    attack = await asyncio.create_subprocess_exec(
        *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    told, ends = attack.stdout, attack.stdin
    if told is None or ends is None:
        raise SystemExit("the attackers cannot be heard")
    try:
        async with asyncio.timeout(60):
            if (await told.readline()).strip() != b"standing":
                raise SystemExit(f"the attack {name!r} does not stand")
        begun = time.perf_counter()
        yield
        found.seconds += time.perf_counter() - begun
        if attack.returncode is not None:
            raise SystemExit(f"the attack {name!r} ended after {LONGEST_S:g} s, before the good caller did")
        ends.close()
        async with asyncio.timeout(60):
            came = json.loads(await told.readline())
        found.cpu += came["cpu_s"]
        found.opened += came["opened"]
        for status, count in came["statuses"].items():
            found.statuses[status] = found.statuses.get(status, 0) + count
    finally:
        if attack.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                attack.kill()
        await attack.wait()


async def good_times(served: Served, count: int) -> list[float]:
    """Seconds of requests of the good caller, one after the other."""
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        status = await served.check(served.keys[0], 1_500)
        times.append(time.perf_counter() - begun)
        if status != 200:
            raise SystemExit(f"a good caller got the status {status}")
    return times


async def measure(served: Served, only: set[str], rounds: int, count: int, most: float) -> int:
    """Prints a line for each attack; returns how many ratios are above the most."""
    await good_times(served, 10)
    print(HEAD)
    above = 0
    for name, (said, _) in ATTACKS.items():
        if only and name not in only:
            continue
        found = Measured()
        for _ in range(rounds):
            found.alone += await good_times(served, count)
            async with attacked(name, served, found):
                found.beside += await good_times(served, count)
            await asyncio.sleep(2.0)
        above += found.ratio > most
        print(found.line(said), flush=True)
    print(f"{rounds} rounds of {count} good requests each; {above} ratios above {most:g}")
    return above


def _made_keys(database: str, count: int) -> list[str]:
    from assay.schema.access import Permission
    from assay.store.access.api_keys import create_key
    from assay.store.db.store import Store

    with Store(database) as store:
        may = [Permission.CHECK, Permission.READ, Permission.AUDIT]
        return [create_key(store, f"caller {n}", may)[0] for n in range(count)]


def main(argv: list[str] | None = None) -> int:
    """Starts a server, has it attacked, and prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(ATTACKS), action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=15, help="good requests a round")
    parser.add_argument("--most", type=float, default=2.0, help="the highest ratio that is no failure")
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        database = str(Path(folder) / "assay.db")
        keys = _made_keys(database, 10)
        command = [sys.executable, "-m", "assay", "serve", "--port", str(port), "--database", database]
        server = subprocess.Popen(command, env={**os.environ, "ASSAY_CONFIG": ""}, stderr=subprocess.DEVNULL)
        try:
            return asyncio.run(_run(f"http://127.0.0.1:{port}", keys, given))
        finally:
            server.terminate()
            server.wait(90)


async def _run(url: str, keys: list[str], given: argparse.Namespace) -> int:
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as http:
        for _ in range(1_500):
            with contextlib.suppress(aiohttp.ClientError, json.JSONDecodeError):
                async with http.get(url + "/readyz") as response:
                    if response.status == 200:
                        break
            await asyncio.sleep(0.2)
        else:
            raise SystemExit("the server did not start")
        above = await measure(Served(url, keys, http), set(given.only), given.rounds, given.count, given.most)
        return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
