"""Worker processes over one network: what they share, and what a killed one costs."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from benchmarks.workers_memory import memory_mb
from tests.server.test_chat_stream import LATE, TRUE, asked, shown
from tests.server.test_serve_command import serve
from tests.server.upstream_script import chat_completion, chat_stream

from assay.server.http.slow_clients import TimedHeads, timed_heads

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")

CLIENTS = 6
KILLS = 3


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def private_mb(pid: int) -> float:
    """Memory that a process shares with nobody, in MB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Dirty", "Private_Clean"))) / 1000


def test_a_process_that_has_loaded_the_network_has_one_thread_and_sends_nothing_to_anyone() -> None:
    code = (
        "import os\n"
        "from assay.cli.operations.serve import _SINGLE_THREADED\n"
        "os.environ.update(_SINGLE_THREADED)\n"
        "import assay.server.app\n"
        "from assay.server.guards import Guards\n"
        "from assay.server.workers import can_share\n"
        "Guards('general')\n"
        "print(can_share(), os.environ['ORT_DISABLE_TELEMETRY'])\n"
    )
    plain = {name: value for name, value in os.environ.items() if name not in ("ORT_DISABLE_TELEMETRY", "CI")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=plain)
    assert done.stdout.split() == ["True", "1"]


def test_workers_share_what_was_loaded_before_the_fork() -> None:
    with serve("--workers", "2") as (_, process):
        workers = children_of(process.pid)
        assert len(workers) == 2
        size = (Path(sys.modules["assay"].__file__ or "").parent / "models/weights/model.onnx").stat().st_size / 1e6
        # Each has far less of its own than the network alone would take.
        assert all(private_mb(worker) < 2 * size for worker in workers)
        assert all("assay" in Path(f"/proc/{worker}/cmdline").read_text() for worker in workers)


def test_a_worker_that_replaces_another_has_its_number(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, time\n"
        "from pathlib import Path\n"
        "from assay.server.workers import Workers\n"
        "def work(number):\n"
        "    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
        "    (Path(sys.argv[1]) / f'{number}-{os.getpid()}').touch()\n"
        "    time.sleep(300)\n"
        "raise SystemExit(Workers(3, work, shutdown_s=5).run())\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as supervisor:
        try:
            assert numbers_of(tmp_path, 3) == [0, 1, 2]
            os.kill(next(int(file.name.partition("-")[2]) for file in tmp_path.glob("1-*")), signal.SIGKILL)
            assert numbers_of(tmp_path, 4) == [0, 1, 1, 2]
        finally:
            supervisor.terminate()
    assert supervisor.returncode == 0


def numbers_of(folder: Path, count: int) -> list[int]:
    """The numbers of the workers that have begun, once there are so many."""
    for _ in range(600):
        found = sorted(int(file.name.partition("-")[0]) for file in folder.iterdir())
        if len(found) >= count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{count} workers were to begin; got {found}")


@pytest.mark.slow
def test_eight_workers_that_are_ready_take_at_most_1_6_times_the_memory_of_one(tmp_path: Path) -> None:
    found = []
    for workers in (1, 8):
        with serve("--workers", str(workers), "--database", str(tmp_path / f"{workers}.db")) as (_, process):
            while len(children_of(process.pid)) < (8 if workers == 8 else 0):
                time.sleep(0.1)  # the first one answers before the last one is there
            before, now = -1.0, 0.0
            while now - before > 0.5:  # until the last ones have started as well
                time.sleep(3)
                before, now = now, memory_mb(process.pid)
            found.append(now)
    assert found[1] <= 1.6 * found[0]


async def upstream_answer(request: web.Request) -> web.StreamResponse:
    """A true answer or one whose last sentence is false, as the request says."""
    body = await request.json()
    text = TRUE if body["model"].startswith("true") else LATE
    if not body.get("stream"):
        return web.json_response(chat_completion(text))
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    for chunk in chat_stream(text):
        await response.write(chunk)
        await asyncio.sleep(0)
    await response.write_eof()
    return response


def test_a_worker_that_is_killed_under_load_fails_its_requests_and_lets_nothing_out_that_did_not_pass() -> None:
    async def scene() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", upstream_answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        try:
            await asyncio.to_thread(run_served, f"http://127.0.0.1:{port}", asyncio.get_running_loop())
        finally:
            await runner.cleanup()

    asyncio.run(asyncio.wait_for(scene(), 300))


def run_served(upstream: str, loop: asyncio.AbstractEventLoop) -> None:
    with serve("--workers", "2", "--upstream", upstream) as (port, process):
        done = asyncio.run_coroutine_threadsafe(under_fire(f"http://127.0.0.1:{port}", process.pid), loop)
        answered, failed = done.result()
        assert answered >= KILLS
        assert answered + failed >= CLIENTS
        assert len(children_of(process.pid)) == 2


async def under_fire(url: str, supervisor: int) -> tuple[int, int]:
    """Clients ask all the time while workers are killed one after the other; how many were answered and how many
    failed. Every client comes to an end."""
    counts = {"answered": 0, "failed": 0}
    over = asyncio.Event()

    async def client(number: int, http: aiohttp.ClientSession) -> None:
        turn = number
        while not over.is_set():
            turn += 1
            body = {**asked(), "model": ("true", "late")[turn % 2], "stream": turn % 3 == 0}
            try:
                async with http.post(f"{url}/v1/chat/completions", json=body) as response:
                    answer = await response.read()
            except aiohttp.ClientError:
                counts["failed"] += 1
                continue
            counts["answered"] += 1
            check(body, answer)

    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=60)) as http:
        clients = [asyncio.create_task(client(number, http)) for number in range(CLIENTS)]
        for _ in range(KILLS):
            before = counts["answered"]
            while counts["answered"] < before + CLIENTS:
                await asyncio.sleep(0.01)
            victim = (await settled(supervisor))[0]
            os.kill(victim, signal.SIGKILL)
            while victim in children_of(supervisor):
                await asyncio.sleep(0.01)
        await settled(supervisor)
        over.set()
        await asyncio.gather(*clients)
    return counts["answered"], counts["failed"]


async def settled(supervisor: int) -> list[int]:
    while len(found := children_of(supervisor)) < 2:
        await asyncio.sleep(0.01)
    return found


def check(body: dict[str, Any], answer: bytes) -> None:
    """An answer that came to its end is the right one: the true text whole, and nothing of the false sentence."""
    if body["stream"]:
        text, ended = shown(answer), answer.rstrip().splitlines()[-1].startswith(b": assay ")
        assert ended
    else:
        text = json.loads(answer)["choices"][0]["message"]["content"]
    assert "4 weeks" not in text
    if body["model"] == "true":
        assert text == TRUE


def test_the_class_of_connections_goes_to_workers_that_load_for_themselves() -> None:
    made = timed_heads(3.0, 17)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 what was just written
    assert (again.head_s, again.heads._most) == (3.0, 17)
    assert pickle.loads(pickle.dumps(TimedHeads)) is TimedHeads  # noqa: S301
