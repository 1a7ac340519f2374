"""How long a good caller waits while others attack the server, beside how long it takes alone.

    python -m benchmarks.availability                  # all of them: some minutes
    python -m benchmarks.availability --only heavy

The server is `assay serve` in a process of its own, with a database and API keys, on this machine's loopback. A good
caller checks short answers, one after the other, first alone and then beside each of: half-sent bodies at the pages
where people sign in, silent connections, requests with bad keys, one caller with six checks of 100 KB at once, three
such callers, and one caller with many small checks. Printed is the median time of a good request, and its ratio to the
median alone; runs alone and under attack take turns, so that a busy machine weighs on both. The good caller's requests
are of new text each, so that nothing is remembered.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from statistics import median
from typing import Final

import aiohttp

HALF: Final = 1_050
SILENT: Final = 1_500
TALK: Final = """the order was shipped on monday to a customer in the north who asked for a refund of the price
as one part had been damaged on its way while the warranty covers repairs for two years and a manager approves it"""
WORDS: Final = TALK.split()
_number = itertools.count(1)

Attack = Callable[["Served"], contextlib.AbstractAsyncContextManager[None]]


class Served:
    """A server, its keys, and a client."""

    def __init__(self, url: str, keys: list[str], http: aiohttp.ClientSession) -> None:
        """The keys are of callers that know nothing of each other; the first one is the good one's."""
        self.url, self.keys, self.http = url, keys, http

    async def check(self, key: str, size: int) -> int:
        """One check of about so many bytes of new text; returns the status."""
        n = next(_number)
        drawn = random.Random(n)
        text: list[str] = []
        while sum(len(one) for one in text) < size:
            words = [drawn.choice(WORDS) for _ in range(12)]
            text.append(f"In case {n}.{len(text)}, {' '.join(words)}. ")
        evidence = "".join(text)
        body = {"answer": f"In case {n}, the warranty covers repairs for {n} years.", "evidence": [evidence]}
        if size > 5_000:
            body["answer"] = evidence[: size // 2]
        async with self.http.post(self.url + "/v1/check", json=body, headers={"x-assay-key": key}) as response:
            await response.read()
            return response.status


@contextlib.asynccontextmanager
async def half_bodies(served: Served) -> AsyncIterator[None]:
    """Bodies at the pages where people sign in that never end; what is closed is opened again."""
    rest = b' HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"name": '
    heads = (b"POST /v1/login" + rest, b"POST /console/login" + rest)
    async with _sockets(served, HALF, lambda n: heads[n % 2]):
        yield


@contextlib.asynccontextmanager
async def silent(served: Served) -> AsyncIterator[None]:
    """Connections that say nothing, or half a head."""
    async with _sockets(served, SILENT, lambda n: b"" if n % 2 else b"GET /healthz HTTP/1.1\r\nhost: "):
        yield


@contextlib.asynccontextmanager
async def _sockets(served: Served, count: int, said: Callable[[int], bytes]) -> AsyncIterator[None]:
    host, _, port = served.url.removeprefix("http://").partition(":")
    held: list[socket.socket] = []

    def opened(n: int) -> socket.socket:
        one = socket.create_connection((host, int(port)), timeout=5)
        one.sendall(said(n))
        one.setblocking(False)
        return one

    async def again() -> None:
        while True:
            for place, one in enumerate(held):
                with contextlib.suppress(BlockingIOError):
                    try:
                        ended = one.recv(4096) == b""
                    except ConnectionError:
                        ended = True
                    if ended:
                        one.close()
                        held[place] = opened(place)
                if place % 50 == 0:
                    await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)

    for n in range(count):
        held.append(opened(n))
        await asyncio.sleep(0)
    task = asyncio.create_task(again())
    try:
        yield
    finally:
        await _ended([task])
        for one in held:
            one.close()


def asking(*, callers: int, at_once: int, size: int, pause_s: float = 0.0, bad: bool = False) -> Attack:
    """Callers that each keep so many checks of a size going; with keys that are not good, where `bad`."""

    @contextlib.asynccontextmanager
    async def attack(served: Served) -> AsyncIterator[None]:
        async def go_on(key: str) -> None:
            while True:
                with contextlib.suppress(aiohttp.ClientError):
                    await served.check(key, size)
                await asyncio.sleep(pause_s)

        keys = [f"{served.keys[0][:-6]}wrong{n}" if bad else served.keys[1 + n] for n in range(callers)]
        tasks = [asyncio.create_task(go_on(key)) for key in keys for _ in range(at_once)]
        try:
            await asyncio.sleep(1.0)
            yield
        finally:
            await _ended(tasks)

    return attack


@contextlib.asynccontextmanager
async def nothing(_: Served) -> AsyncIterator[None]:
    """No attack: what chance does to the ratio."""
    yield


async def _ended(tasks: list["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


ATTACKS: Final[dict[str, tuple[str, Attack]]] = {
    "control": ("nothing", nothing),
    "half": (f"{HALF:,} half-sent bodies", half_bodies),
    "silent": (f"{SILENT:,} silent connections and half heads", silent),
    "bad": ("eight clients with bad keys", asking(callers=8, at_once=1, size=300, pause_s=0.01, bad=True)),
    "heavy": ("one caller, six checks of 100 KB", asking(callers=1, at_once=6, size=100_000)),
    "heavies": ("three callers, two checks of 100 KB each", asking(callers=3, at_once=2, size=100_000)),
    "many": ("one caller, 32 small checks at once", asking(callers=1, at_once=32, size=600)),
}


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


async def measure(served: Served, only: set[str], rounds: int, count: int) -> None:
    """Prints a line for each attack."""
    await good_times(served, 10)
    print(f"{'beside':45} {'alone':>9} {'then':>9} {'ratio':>6}")
    for name, (said, attack) in ATTACKS.items():
        if only and name not in only:
            continue
        alone: list[float] = []
        beside: list[float] = []
        for _ in range(rounds):
            alone += await good_times(served, count)
            async with attack(served):
                beside += await good_times(served, count)
            await asyncio.sleep(2.0)
        ratio = median(beside) / median(alone)
        print(f"{said:45} {1000 * median(alone):6.0f} ms {1000 * median(beside):6.0f} ms {ratio:6.2f}", flush=True)


def _made_keys(database: str, count: int) -> list[str]:
    from assay.schema.access import Permission
    from assay.store.access_keys import create_key
    from assay.store.store import Store

    with Store(database) as store:
        return [create_key(store, f"caller {n}", [Permission.CHECK])[0] for n in range(count)]


def main(argv: list[str] | None = None) -> int:
    """Starts a server, attacks it, and prints what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(ATTACKS), action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=15, help="good requests a round")
    given = parser.parse_args(argv)
    from assay.server.slow_heads import raise_descriptors

    raise_descriptors()
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        database = str(Path(folder) / "assay.db")
        keys = _made_keys(database, 10)
        command = [sys.executable, "-m", "assay", "serve", "--port", str(port), "--database", database]
        server = subprocess.Popen(command, env={**os.environ, "ASSAY_CONFIG": ""}, stderr=subprocess.DEVNULL)
        try:
            asyncio.run(_run(f"http://127.0.0.1:{port}", keys, set(given.only), given.rounds, given.count))
        finally:
            server.terminate()
            server.wait(90)
    return 0


async def _run(url: str, keys: list[str], only: set[str], rounds: int, count: int) -> None:
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as http:
        for _ in range(300):
            with contextlib.suppress(aiohttp.ClientError, json.JSONDecodeError):
                async with http.get(url + "/readyz") as response:
                    if response.status == 200:
                        break
            await asyncio.sleep(0.2)
        else:
            raise SystemExit("the server did not start")
        await measure(Served(url, keys, http), only, rounds, count)


if __name__ == "__main__":
    raise SystemExit(main())
