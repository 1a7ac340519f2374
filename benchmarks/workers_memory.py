"""The memory of one, two and eight workers of `assay serve`, each page counted once: ready, after checks.

python -m benchmarks.workers_memory
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import aiohttp
from benchmarks.cluster import free_port
from benchmarks.replicas import body


def processes(pid: int) -> list[int]:
    """A process and all below it."""
    try:
        below = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    except OSError:
        return []
    return [pid, *(one for child in below for one in processes(int(child)))]


def memory_mb(pid: int) -> float:
    """Memory of a process and all below it, each page counted once, whoever else uses the machine.

    Pages that were written are shared by nobody but those of one fork: their proportional sizes add up. Pages of files,
    such as libraries, may be shared with strangers; the process that has the most of them counts with all.
    """
    written, files = 0, 0
    for one in processes(pid):
        written += _kilobytes(Path(f"/proc/{one}/smaps_rollup"), "Pss_Anon:")
        files = max(files, _kilobytes(Path(f"/proc/{one}/status"), "RssFile:"))
    return (written + files) / 1024


def _kilobytes(path: Path, name: str) -> int:
    return next(int(line.split()[1]) for line in path.read_text(encoding="ascii").splitlines() if line.startswith(name))


async def measured(workers: int, folder: Path, checks: int) -> tuple[float, float, int]:
    """Megabytes when all workers are ready and after so many checks, and the number of processes."""
    port = free_port()
    command = [sys.executable, "-m", "assay", "serve", "--port", str(port), "--workers", str(workers)]
    command += ["--database", str(folder / f"{workers}.db")]
    with subprocess.Popen(command, env={**os.environ, "ASSAY_CONFIG": ""}, stderr=subprocess.DEVNULL) as server:
        try:
            connector = aiohttp.TCPConnector(force_close=True, limit=16)
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300), connector=connector) as http:
                await _answered(http, port)
                ready = await _settled(server.pid)

                async def one(number: int) -> int:
                    for _ in range(5):
                        async with http.post(f"http://127.0.0.1:{port}/v1/check", json=body(number)) as response:
                            if response.status != 503:  # the queue is full, or the machine is busy with others
                                break
                    return response.status

                statuses = await asyncio.gather(*(one(number) for number in range(checks)))
            if set(statuses) != {200}:
                raise SystemExit(f"checks failed: {statuses}")
            return ready, memory_mb(server.pid), len(processes(server.pid))
        finally:
            server.terminate()


async def _settled(pid: int) -> float:
    """Megabytes once they no longer grow: the first worker answers before the last one has started."""
    before, now = -1.0, 0.0
    while now - before > 0.5:
        await asyncio.sleep(2)
        before, now = now, memory_mb(pid)
    return now


async def _answered(http: aiohttp.ClientSession, port: int) -> None:
    for _ in range(600):
        try:
            async with http.get(f"http://127.0.0.1:{port}/readyz") as response:
                if response.status == 200:
                    return
        except aiohttp.ClientError:
            pass
        await asyncio.sleep(0.5)
    raise SystemExit("the server did not start")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 8])
    parser.add_argument("--checks", type=int, default=64)
    given = parser.parse_args()
    first: tuple[float, float] | None = None
    with tempfile.TemporaryDirectory(prefix="assay-workers-") as name:
        for workers in given.workers:
            ready, after, count = asyncio.run(measured(workers, Path(name), given.checks))
            first = first or (ready, after)
            print(
                f"{workers} worker(s), {count} processes: "
                f"ready {ready:.0f} MB, {ready / first[0]:.2f} times the first; "
                f"after {given.checks} checks {after:.0f} MB, {after / first[1]:.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
