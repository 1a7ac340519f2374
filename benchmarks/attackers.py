"""Who attacks a server in `benchmarks.availability`, in a process of their own.

    python -m benchmarks.attackers NAME URL --keys KEY,KEY,... [--seconds 120]

What an attack costs is then the attacker's own: neither the caller whose time is taken nor the server shares an
interpreter with it. It says `standing` on its standard output when all of it stands, goes on until its standard input
ends, and at most for the seconds that are named; then it says what it came to, as a line of JSON. Each attack is
bounded in how much it has open at once, and in how much it sends or opens anew in a second.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import os
import random
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import aiohttp

HALF: Final = 1_050
SILENT: Final = 1_500
REOPENED: Final = 500
"""Connections that the server closed and that are opened anew in a second, at most."""
REQUESTS: Final = 200
"""Requests that all clients of an attack send in a second, at most."""
LONGEST_S: Final = 120.0
TALK: Final = """the order was shipped on monday to a customer in the north who asked for a refund of the price
as one part had been damaged on its way while the warranty covers repairs for two years and a manager approves it"""
WORDS: Final = TALK.split()


@dataclass
class Served:
    """A server, its keys, and a client."""

    url: str
    keys: list[str]
    """Of callers that know nothing of each other; the first one is the good one's."""
    http: aiohttp.ClientSession
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(os.getpid() * 1_000_000))

    async def check(self, key: str, size: int) -> int:
        """One check of about so many bytes of new text; returns the status."""
        n = next(self.numbers)
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

    async def repeat(self, key: str, size: int) -> int:
        """One check of one text of about so many bytes, under an idempotency key of its own, sent twice."""
        body = {"answer": "The warranty covers repairs for 2 years.", "evidence": [TALK * (1 + size // len(TALK))]}
        headers = {"x-assay-key": key, "idempotency-key": f"k-{next(self.numbers)}"}
        for _ in range(2):
            async with self.http.post(self.url + "/v1/check", json=body, headers=headers) as response:
                await response.read()
        return response.status

    async def screen(self, key: str, size: int) -> int:
        """One screening of so many new passages."""
        n = next(self.numbers)
        passages = [f"In case {n}.{place}, the warranty covers repairs for {place} years." for place in range(size)]
        body = {"question": "How long does the warranty cover repairs?", "passages": passages}
        async with self.http.post(self.url + "/v1/screen", json=body, headers={"x-assay-key": key}) as response:
            await response.read()
            return response.status

    async def read(self, key: str, size: int) -> int:
        """One list of so many reports, and one of so many entries of the log."""
        for path in ("/v1/reports", "/v1/audit/entries"):
            async with self.http.get(f"{self.url}{path}?limit={size}", headers={"x-assay-key": key}) as response:
                await response.read()
        return response.status


Asks = Callable[[Served, str, int], Awaitable[int]]
"""One request of a caller, by its key, of a size; gives the status."""


@dataclass
class Came:
    """What an attack came to."""

    opened: int = 0
    """Connections that were opened, or requests that were begun."""
    statuses: dict[str, int] = field(default_factory=dict)
    """The answers to its requests."""

    def note(self, status: object) -> None:
        """Counts an answer."""
        self.statuses[str(status)] = self.statuses.get(str(status), 0) + 1


Attack = Callable[[Served, Came, asyncio.Event], Awaitable[None]]
"""Attacks until it is ended, and says when it stands."""


def connections(count: int, said: Callable[[int], bytes]) -> Attack:
    """So many connections that say something and then nothing; what the server closes is opened again."""

    async def attack(served: Served, came: Came, standing: asyncio.Event) -> None:
        host, _, port = served.url.removeprefix("http://").partition(":")
        held: list[socket.socket] = []

        def opened(n: int) -> socket.socket:
            one = socket.create_connection((host, int(port)), timeout=5)
            one.sendall(said(n))
            one.setblocking(False)
            came.opened += 1
            return one

        try:
            held += map(opened, range(count))
            standing.set()
            while True:
                begun, anew = time.monotonic(), 0
                for place, one in enumerate(held):
                    if anew < REOPENED and _ended(one):
                        one.close()
                        held[place] = opened(place)
                        anew += 1
                await asyncio.sleep(max(0.05, 1.0 - (time.monotonic() - begun)))
        finally:
            for one in held:
                one.close()

    return attack


def _ended(one: socket.socket) -> bool:
    try:
        return one.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def asking(*, callers: int, at_once: int, size: int, bad: bool = False, asks: Asks = Served.check) -> Attack:
    """Callers that each keep so many requests of a size going; with keys that are not good, where `bad`."""

    async def attack(served: Served, came: Came, standing: asyncio.Event) -> None:
        keys = [f"{served.keys[0][:-6]}wrong{n}" if bad else served.keys[1 + n] for n in range(callers)]
        pause = callers * at_once / REQUESTS

        async def go_on(key: str) -> None:
            while True:
                begun = time.monotonic()
                came.opened += 1
                try:
                    came.note(await asks(served, key, size))
                except (aiohttp.ClientError, TimeoutError) as error:
                    came.note(type(error).__name__)
                await asyncio.sleep(max(0.0, pause - (time.monotonic() - begun)))

        tasks = [asyncio.create_task(go_on(key)) for key in keys for _ in range(at_once)]
        try:
            await asyncio.sleep(1.0)
            standing.set()
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    return attack


def _half_body(n: int) -> bytes:
    path = b"/console/login" if n % 2 else b"/v1/login"
    head = b" HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n"
    return b"POST " + path + head + b'{"name": '


async def _nothing(_: Served, __: Came, standing: asyncio.Event) -> None:
    standing.set()
    await asyncio.Event().wait()


ATTACKS: Final[dict[str, tuple[str, Attack]]] = {
    "control": ("nothing", _nothing),
    "half": (f"{HALF:,} half-sent bodies", connections(HALF, _half_body)),
    "silent": (
        f"{SILENT:,} silent connections and half heads",
        connections(SILENT, lambda n: b"" if n % 2 else b"GET /healthz HTTP/1.1\r\nhost: "),
    ),
    "bad": ("eight clients with bad keys", asking(callers=8, at_once=1, size=300, bad=True)),
    "heavy": ("one caller, six checks of 100 KB", asking(callers=1, at_once=6, size=100_000)),
    "heavies": ("three callers, two checks of 100 KB each", asking(callers=3, at_once=2, size=100_000)),
    "many": ("one caller, 32 small checks at once", asking(callers=1, at_once=32, size=600)),
    "repeats": ("one caller, 32 repeated checks at once", asking(callers=1, at_once=32, size=600, asks=Served.repeat)),
    "screens": ("one caller, six screens of 500 passages", asking(callers=1, at_once=6, size=500, asks=Served.screen)),
    "reads": (
        "one caller, 60 long lists at once",
        asking(callers=1, at_once=60, size=100, asks=Served.read),
    ),
}


async def _run(name: str, url: str, keys: list[str], seconds: float) -> Came:
    came, standing = Came(), asyncio.Event()
    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(limit=0)) as http:
        attack = asyncio.create_task(_as_task(ATTACKS[name][1](Served(url, keys, http), came, standing)))
        stands = asyncio.create_task(standing.wait())
        over = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        await asyncio.wait({attack, stands}, return_when=asyncio.FIRST_COMPLETED)
        if standing.is_set():
            print("standing", flush=True)
            await asyncio.wait({attack, over}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        attack.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await attack
    return came


async def _as_task(work: Awaitable[None]) -> None:
    await work


def main(argv: list[str] | None = None) -> int:
    """Attacks until its standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=sorted(ATTACKS))
    parser.add_argument("url")
    parser.add_argument("--keys", required=True)
    parser.add_argument("--seconds", type=float, default=LONGEST_S)
    given = parser.parse_args(argv)
    from assay.server.http.slow_clients import raise_descriptors

    raise_descriptors()
    came = asyncio.run(_run(given.name, given.url, given.keys.split(","), min(given.seconds, LONGEST_S)))
    print(json.dumps({"opened": came.opened, "statuses": came.statuses, "cpu_s": time.process_time()}), flush=True)
    os._exit(0)  # the thread that waits for the end of the standard input may wait for ever


if __name__ == "__main__":
    sys.exit(main())
