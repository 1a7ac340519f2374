"""The memory of one, two and eight workers of `assay serve`, each page counted once (PSS).

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


def proportional_mb(pid: int) -> float:
    """Memory of a process and all below it; a page that several have counts once among them."""
    total = 0
    for one in processes(pid):
        lines = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="ascii").splitlines()
        total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


async def measured(workers: int, folder: Path, checks: int) -> tuple[float, int]:
    """Megabytes after so many checks, and the number of processes."""
    port = free_port()
    command = [sys.executable, "-m", "assay", "serve", "--port", str(port), "--workers", str(workers)]
    command += ["--database", str(folder / f"{workers}.db")]
    with subprocess.Popen(command, env={**os.environ, "ASSAY_CONFIG": ""}, stderr=subprocess.DEVNULL) as server:
        try:
            connector = aiohttp.TCPConnector(force_close=True, limit=16)
            async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300), connector=connector) as http:
                await _answered(http, port)

                async def one(number: int) -> int:
                    for _ in range(5):
                        async with http.post(f"http://127.0.0.1:{port}/v1/check", json=body(number)) as response:
                            if response.status != 503:  # the queue is full, or the machine is busy with others
                                break
                    return response.status

                statuses = await asyncio.gather(*(one(number) for number in range(checks)))
            if set(statuses) != {200}:
                raise SystemExit(f"checks failed: {statuses}")
            return proportional_mb(server.pid), len(processes(server.pid))
        finally:
            server.terminate()


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
    first = None
    with tempfile.TemporaryDirectory(prefix="assay-workers-") as name:
        for workers in given.workers:
            found, count = asyncio.run(measured(workers, Path(name), given.checks))
            first = first or found
            print(
                f"{workers} worker(s), {count} processes: {found:.0f} MB, {found / first:.2f} times the first",
                flush=True,
            )


if __name__ == "__main__":
    main()
