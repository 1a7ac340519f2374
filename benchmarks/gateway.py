"""What the gateway costs: in one run beside the direct call, a plain pass-through and, where it is installed, LiteLLM.

    python -m benchmarks.gateway [--litellm PATH] [--seconds 3] [--requests 300] [--out FILE]

Every server runs in a process of its own on this machine and answers from a scripted upstream without delay. Beside
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
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import aiohttp

CHUNKS: Final = 200
CLIENTS: Final = 16
EVIDENCE: Final = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
ANSWER: Final = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
BODY: Final = {
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


def cpu_s(process: "subprocess.Popen[bytes] | None") -> float | None:
    """CPU seconds that a process has spent; none where the system does not say."""
    path = Path(f"/proc/{process.pid}/stat") if process is not None else None
    if path is None or not path.exists():
        return None
    fields = path.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mb(process: "subprocess.Popen[bytes] | None") -> float | None:
    """Resident memory of a process, in MB."""
    path = Path(f"/proc/{process.pid}/status") if process is not None else None
    if path is None or not path.exists():
        return None
    line = next(line for line in path.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


async def one(http: aiohttp.ClientSession, url: str, *, stream: bool) -> float:
    """Seconds that one request takes."""
    begun = time.perf_counter()
    async with http.post(f"{url}/v1/chat/completions", json={**BODY, "stream": stream}) as answer:
        body = await answer.read()
        if answer.status != 200 or (stream and body.count(b"data:") < CHUNKS):
            raise SystemExit(f"{url} answered {answer.status}: {body[:200]!r}")
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


async def doubling(url: str, seconds: float) -> AsyncIterator[tuple[int, float, float]]:
    """Clients, answers a second and the median time, from one client on until the median has doubled."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        alone = 0.0
        for clients in (1, 2, 3, 4, 6, 8, 12, 16):
            times: list[float] = []
            end = time.perf_counter() + seconds

            async def ask(end: float = end, times: list[float] = times) -> None:
                while time.perf_counter() < end:
                    times.append(await one(http, url, stream=False))

            begun = time.perf_counter()
            await asyncio.gather(*(ask() for _ in range(clients)))
            spent = median(times) * 1000
            yield clients, len(times) / (time.perf_counter() - begun), spent
            alone = alone or spent
            if spent >= 2 * alone:
                return


async def soak(url: str, requests: int, process: "subprocess.Popen[bytes]") -> None:
    """Prints the server's memory while it answers so many requests, streams among them."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        part = max(CLIENTS, requests // 10)
        for done in range(0, requests, part):
            left = iter(range(part))

            async def ask(left: Iterator[int] = left) -> None:
                for number in left:
                    await one(http, url, stream=number % 10 == 0)

            await asyncio.gather(*(ask() for _ in range(CLIENTS)))
            print(f"{done + part:>9,} requests: {memory_mb(process):.1f} MB", flush=True)


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


def litellm_command(program: str, port: int, url: str, folder: str) -> list[str]:
    """How LiteLLM's proxy is started in front of the upstream."""
    config = Path(folder) / "litellm.yaml"
    told = {"model": "openai/model-1", "api_base": f"{url}/v1", "api_key": "none"}
    config.write_text(json.dumps({"model_list": [{"model_name": "model-1", "litellm_params": told}]}))
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]


def main(arguments: list[str] | None = None) -> None:
    """Runs the benchmark, or one of its servers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--litellm", help="the program `litellm` of a virtual environment of its own")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--soak", type=int, default=0, help="requests over which the memory is watched")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    told = parser.parse_args(arguments)
    if told.serve:
        serve_part(told.serve[0], int(told.serve[1]), told.serve[2])
        return
    here = [sys.executable, "-m", "benchmarks.gateway", "--serve"]
    assay = [sys.executable, "-m", "assay", "serve"]
    with contextlib.ExitStack() as stack:
        ports = {name: free_port() for name in ("upstream", "pass", "off", "enforce", "litellm")}
        urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}

        def start(name: str, *command: str) -> tuple[str, "subprocess.Popen[bytes] | None"]:
            return urls[name], stack.enter_context(running(*command, port=ports[name]))

        def gateway(mode: str) -> tuple[str, "subprocess.Popen[bytes] | None"]:
            more = ("--port", str(ports[mode]), "--upstream", urls["upstream"], "--mode", mode)
            return start(mode, *assay, *more)

        start("upstream", *here, "upstream", str(ports["upstream"]), "-")
        ways: dict[str, tuple[str, subprocess.Popen[bytes] | None]] = {
            "direct": (urls["upstream"], None),
            "plain pass-through": start("pass", *here, "pass", str(ports["pass"]), urls["upstream"]),
            "assay, no check": gateway("off"),
            "assay, enforce": gateway("enforce"),
        }
        if told.litellm:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            ways["LiteLLM"] = start(
                "litellm", *litellm_command(told.litellm, ports["litellm"], urls["upstream"], folder)
            )
        found = asyncio.run(measure(ways, told.requests, told.seconds))
        print("\n".join(table(found)))
        asyncio.run(_doubling(urls["enforce"], told.seconds))
        watched = ways["assay, no check"][1]
        if told.soak and watched is not None:
            asyncio.run(soak(urls["off"], told.soak, watched))
    if told.out:
        told.out.write_text(json.dumps([asdict(one_) for one_ in found], indent=2) + "\n", encoding="utf-8")


async def _doubling(url: str, seconds: float) -> None:
    print("\nchecked answers, from one client until the median time has doubled:")
    async for clients, answers, spent in doubling(url, seconds):
        print(f"{clients:>4} clients {answers:>8.1f} a second, median {spent:.1f} ms")


if __name__ == "__main__":
    main()
