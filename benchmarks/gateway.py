"""What the gateway costs: beside a direct call, a pass-through that does nothing else, and LiteLLM's proxy.

    python -m benchmarks.gateway --litellm /path/to/litellm            # compare, ramp and workers: some minutes
    python -m benchmarks.gateway --sections soak --requests 100000     # the memory over so many requests
    python -m benchmarks.gateway --sections ramp --workers 2           # checked requests on two cores

Sections: `compare` (milliseconds added at the median with one client, requests a second with 16 clients, streams of
200 chunks a second), `ramp` (checked answers a second, with more and more clients until the median time has doubled;
once with texts that were checked before and once with new ones), `workers` (memory that 1, 2 and 4 worker processes
take together), `soak` (the memory while `--requests` requests are answered, a tenth of them streams, half of them
checked).

Every part runs in a process of its own on this machine and answers from a scripted upstream without delay. Beside
times it prints the CPU time that each server spent on a request, which a busy machine does not change. `--litellm`
names the program in a virtual environment of its own; nothing of it is imported here.
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
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import aiohttp

CHUNKS: Final = 200
CLIENTS: Final = 16
MOST_REMEMBERED: Final = 1_100
"""So many checks of new evidence fill what a server remembers of checks (`assay.guard.check.evidence_index`); its
indices of evidence, bounded as well, have all that comes later by then."""
FIRST_FRESH: Final = 10_000_000
"""Numbers of evidence from here on are used for nothing else."""
EVIDENCE: Final = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
ANSWER: Final = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
BODY: Final[dict[str, Any]] = {
    "model": "model-1",
    "messages": [{"role": "system", "content": EVIDENCE}, {"role": "user", "content": "How long is partner leave?"}],
}
TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass
class Figures:
    """What was measured of one way to the upstream."""

    name: str
    p50_ms: float
    p99_ms: float
    requests_s: float
    streams_s: float
    cpu_ms: float | None
    """CPU milliseconds of the server in between, a request."""
    stream_cpu_ms: float | None
    """The same for a stream."""
    memory_mb: float | None


def upstream_app() -> Any:
    """The scripted upstream."""
    from aiohttp import web

    message = {"role": "assistant", "content": ANSWER}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    head = {"id": "c", "created": 1, "model": "model-1"}
    whole = json.dumps({**head, "object": "chat.completion", "choices": [choice]}).encode()
    words = ANSWER.split(" ")
    chunk = {**head, "object": "chat.completion.chunk"}
    pieces = [f"{' ' if n else ''}{words[n]}" if n < len(words) else "" for n in range(CHUNKS)]
    chunks = [
        {**chunk, "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]} for piece in pieces
    ]
    last = {**chunks[0], "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    events = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in [*chunks, last]] + [b"data: [DONE]\n\n"]

    async def answer(request: web.Request) -> web.StreamResponse:
        if not (await request.json()).get("stream"):
            return web.Response(body=whole, content_type="application/json")
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for event in events:
            await response.write(event)
        await response.write_eof()
        return response

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", answer)
    return app


def pass_through(url: str) -> Any:
    """A bare ASGI application that forwards and does nothing else: what any gateway in this language costs."""
    session: aiohttp.ClientSession | None = None

    async def app(scope: Any, receive: Any, send: Any) -> None:
        nonlocal session
        if scope["type"] != "http":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": message["type"] + ".complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        session = session or aiohttp.ClientSession(auto_decompress=False, connector=aiohttp.TCPConnector(limit=0))
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message.get("more_body"):
                break
        async with session.post(url + scope["path"], data=body, headers={"content-type": "application/json"}) as answer:
            kept = [(b"content-type", answer.headers["content-type"].encode())]
            await send({"type": "http.response.start", "status": answer.status, "headers": kept})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

    return app


def serve_part(part: str, port: int, url: str) -> None:
    """Runs one of the servers of this file."""
    if part == "upstream":
        from aiohttp import web

        web.run_app(upstream_app(), host="127.0.0.1", port=port, access_log=None, print=None)
        return
    import uvicorn

    uvicorn.run(pass_through(url), host="127.0.0.1", port=port, log_level="error", access_log=False)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*command: str, port: int) -> Iterator["subprocess.Popen[bytes]"]:
    """A server in a process of its own, until it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            if process.poll() is not None:
                raise SystemExit(f"{command[0]} {' '.join(command[1:4])} ended before it listened")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.1)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for one_ in found:
        path = Path(f"/proc/{one_}/task/{one_}/children")
        found += [int(child) for child in path.read_text().split()] if path.exists() else []
    return found


def cpu_s(process: "subprocess.Popen[bytes] | None") -> float | None:
    """CPU seconds that a server's processes have spent; none where the system does not say."""
    if process is None or not Path("/proc/self/stat").exists():
        return None
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in family(process.pid)]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / TICKS


def shared_mb(pid: int) -> float:
    """Proportional set size of a process in MB: what it shares is counted in equal parts."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1000


def memory_mb(process: "subprocess.Popen[bytes] | None") -> float | None:
    """Memory of a server's processes together, in MB."""
    if process is None or not Path("/proc/self/smaps_rollup").exists():
        return None
    return sum(map(shared_mb, family(process.pid)))


def fresh_body(number: int) -> dict[str, Any]:
    """A request whose evidence nobody has seen before, so that nothing of its check is remembered."""
    told = f"Office {number} of {number % 97} is open. {EVIDENCE} Room {number} is free."
    return {**BODY, "messages": [{"role": "system", "content": told}, BODY["messages"][1]]}


async def one(http: aiohttp.ClientSession, url: str, *, stream: bool, asked: dict[str, Any] | None = None) -> float:
    """Seconds that one request takes."""
    begun = time.perf_counter()
    async with http.post(f"{url}/v1/chat/completions", json={**(asked or BODY), "stream": stream}) as answer:
        body = await answer.read()
        # LiteLLM joins chunks, about eleven in one; the gateway adds an event of its own behind the end.
        whole = not stream or (b'"stop"' in body and b"data: [DONE]" in body[-600:])
        if answer.status != 200 or not whole:
            told = f"{answer.status}, {body.count(b'data:')} events"
            raise SystemExit(f"{url} answered {told}: {body[:200]!r} ... {body[-100:]!r}")
    return time.perf_counter() - begun


async def rate(
    http: aiohttp.ClientSession, url: str, seconds: float, clients: int, *, stream: bool
) -> tuple[float, int]:
    """Answers a second with so many clients, and how many there were."""
    end = time.perf_counter() + seconds
    done = 0

    async def ask() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await one(http, url, stream=stream)
            done += 1

    begun = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(clients)))
    return done / (time.perf_counter() - begun), done


async def measure(
    ways: dict[str, tuple[str, "subprocess.Popen[bytes] | None"]], requests: int, seconds: float
) -> list[Figures]:
    """The figures of each way; single requests go round and round, so that a busy moment meets all of them."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(requests + 20):
            for name, (url, _) in ways.items():
                spent = await one(http, url, stream=False)
                if number >= 20:
                    times[name].append(spent * 1000)
        found = []
        for name, (url, process) in ways.items():
            before = cpu_s(process)
            requests_s, answers = await rate(http, url, seconds, CLIENTS, stream=False)
            between = cpu_s(process)
            streams_s, streams = await rate(http, url, seconds, CLIENTS, stream=True)
            after = cpu_s(process)
            cpu = (between - before) / answers * 1000 if between is not None and before is not None else None
            stream_cpu = (after - between) / streams * 1000 if after is not None and between is not None else None
            p99 = quantiles(times[name], n=100)[98]
            found.append(
                Figures(name, median(times[name]), p99, requests_s, streams_s, cpu, stream_cpu, memory_mb(process))
            )
        return found


async def doubling(url: str, seconds: float, *, fresh: bool) -> AsyncIterator[tuple[int, float, float]]:
    """Clients, answers a second and the median time, from one client on until the median has doubled."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        alone = 0.0
        numbers = count()
        for clients in (1, 2, 3, 4, 6, 8, 12, 16):
            times: list[float] = []
            end = time.perf_counter() + seconds

            async def ask(end: float = end, times: list[float] = times) -> None:
                while time.perf_counter() < end:
                    asked = fresh_body(next(numbers)) if fresh else None
                    times.append(await one(http, url, stream=False, asked=asked))

            begun = time.perf_counter()
            await asyncio.gather(*(ask() for _ in range(clients)))
            spent = median(times) * 1000
            yield clients, len(times) / (time.perf_counter() - begun), spent
            alone = alone or spent
            if spent >= 2 * alone:
                return


async def soak(
    checked: tuple[str, "subprocess.Popen[bytes]"], unchecked: tuple[str, "subprocess.Popen[bytes]"], requests: int
) -> None:
    """Prints the servers' memory while they answer so many requests: every second one checked, every tenth a stream,
    and a hundredth of the checked ones with evidence that comes seldom. What is remembered of checks is full before."""
    await _warm(checked[0], MOST_REMEMBERED, FIRST_FRESH)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        part = max(CLIENTS, requests // 20)
        for done in range(0, requests, part):
            left = iter(range(done, done + part))

            async def ask(left: Iterator[int] = left) -> None:
                for number in left:
                    url = (checked if number % 2 else unchecked)[0]
                    seldom = fresh_body(FIRST_FRESH + number // 200 % MOST_REMEMBERED)
                    asked = seldom if number % 200 == 1 else None
                    await one(http, url, stream=number % 20 < 2, asked=asked)

            await asyncio.gather(*(ask() for _ in range(CLIENTS)))
            held = memory_mb(checked[1]), memory_mb(unchecked[1])
            print(f"{done + part:>9,} requests: {held[0]:.1f} MB checking, {held[1]:.1f} MB passing on", flush=True)


def workers_memory(start: Callable[..., Any], upstream: str) -> None:
    """Prints what one, two and four worker processes take together after some checks."""
    print("\nproportional set size of the whole server:")
    for number in (1, 2, 4):
        port = free_port()
        command = start("--port", str(port), "--upstream", upstream, "--workers", str(number))
        with running(*command, port=port) as process:
            asyncio.run(_warm(f"http://127.0.0.1:{port}", 20 * number))
            each = [shared_mb(pid) for pid in family(process.pid)]
            listed = ", ".join(f"{mb:.0f}" for mb in each)
            print(f"{number:>4} workers {sum(each):>8.0f} MB ({listed})", flush=True)


async def _warm(url: str, requests: int, first: int = 0) -> None:
    """Sends requests with new evidence, as many at once as there are clients."""
    left = iter(range(first, first + requests))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, force_close=True)) as http:

        async def ask() -> None:
            for number in left:
                await one(http, url, stream=False, asked=fresh_body(number))

        await asyncio.gather(*(ask() for _ in range(CLIENTS)))


def table(found: list[Figures]) -> Iterator[str]:
    """The figures as lines."""
    direct = found[0].p50_ms
    heads = (("p50 ms", 8), ("added", 8), ("p99 ms", 8), ("req/s", 9), ("streams/s", 11), ("CPU ms", 8))
    yield " " * 24 + "".join(f"{head:>{wide}}" for head, wide in (*heads, ("a stream", 10), ("MB", 7)))
    for one_ in found:
        cpu = f"{one_.cpu_ms:.2f}" if one_.cpu_ms is not None else ""
        stream = f"{one_.stream_cpu_ms:.2f}" if one_.stream_cpu_ms is not None else ""
        memory = f"{one_.memory_mb:.0f}" if one_.memory_mb is not None else ""
        yield (
            f"{one_.name:<24}{one_.p50_ms:>8.2f}{one_.p50_ms - direct:>8.2f}{one_.p99_ms:>8.2f}{one_.requests_s:>9.0f}"
            f"{one_.streams_s:>11.0f}{cpu:>8}{stream:>10}{memory:>7}"
        )


def litellm_command(program: str, url: str, folder: str) -> list[str]:
    """How LiteLLM's proxy is started in front of the upstream."""
    config = Path(folder) / "litellm.yaml"
    told = {"model": "openai/model-1", "api_base": f"{url}/v1", "api_key": "none"}
    models = [{"model_name": "model-1", "litellm_params": told}]
    # On loopback only, as the other ways are: without this it asks for a key of its own.
    settings = {"dangerously_permit_weak_or_unset_master_key": True}
    config.write_text(json.dumps({"model_list": models, "general_settings": settings}))
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", "PORT"]


SECTIONS: Final = ("compare", "ramp", "workers", "soak")


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", default="compare,ramp,workers", help=f"any of {','.join(SECTIONS)}")
    parser.add_argument("--litellm", help="the program `litellm` of a virtual environment of its own")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each rate is measured")
    parser.add_argument("--singles", type=int, default=300, help="requests of one client whose times are compared")
    parser.add_argument("--requests", type=int, default=100_000, help="requests of the soak")
    parser.add_argument("--workers", type=int, default=1, help="processes of the gateway that checks")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    told.sections = told.sections.split(",")
    if set(told.sections) - set(SECTIONS):
        parser.error(f"the sections are {', '.join(SECTIONS)}")
    return told


def main(arguments: list[str] | None = None) -> None:
    """Runs the benchmark, or one of its servers."""
    told = read_arguments(arguments)
    if told.serve:
        serve_part(told.serve[0], int(told.serve[1]), told.serve[2])
        return
    here = [sys.executable, "-m", "benchmarks.gateway", "--serve"]
    with contextlib.ExitStack() as stack:

        def start(*command: str) -> tuple[str, "subprocess.Popen[bytes]"]:
            """A server whose command ends with where it listens."""
            port = free_port()
            made = [part.replace("PORT", str(port)) for part in command]
            return f"http://127.0.0.1:{port}", stack.enter_context(running(*made, port=port))

        upstream, _ = start(*here, "upstream", "PORT", "-")
        many = ("--workers", str(told.workers))
        unchecked = start(*ASSAY, "--port", "PORT", "--upstream", upstream, "--mode", "off")
        checked = start(*ASSAY, "--port", "PORT", "--upstream", upstream, "--mode", "enforce", *many)
        if "compare" in told.sections:
            ways: dict[str, tuple[str, subprocess.Popen[bytes] | None]] = {
                "direct": (upstream, None),
                "plain pass-through": start(*here, "pass", "PORT", upstream),
                "assay, no check": unchecked,
                "assay, enforce": checked,
            }
            if told.litellm:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
                ways["LiteLLM"] = start(*litellm_command(told.litellm, upstream, folder))
            found = asyncio.run(measure(ways, told.singles, told.seconds))
            print("\n".join(table(found)), flush=True)
            if told.out:
                told.out.write_text(json.dumps([asdict(one_) for one_ in found], indent=2) + "\n", encoding="utf-8")
        if "ramp" in told.sections:
            asyncio.run(_doubling(checked[0], told.seconds, told.workers))
        if "workers" in told.sections:
            workers_memory(lambda *more: [*ASSAY, *more], upstream)
        if "soak" in told.sections:
            asyncio.run(soak(checked, unchecked, told.requests))


ASSAY: Final = (sys.executable, "-m", "assay", "serve")


async def _doubling(url: str, seconds: float, workers: int) -> None:
    for fresh, texts in ((False, "texts that were checked before"), (True, "texts that are new")):
        print(f"\nchecked answers over {texts}, {workers} worker(s), until the median time has doubled:")
        async for clients, answers, spent in doubling(url, seconds, fresh=fresh):
            print(f"{clients:>4} clients {answers:>8.1f} a second, median {spent:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
