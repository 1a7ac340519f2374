"""An upgrade under load: the server of the version before the last migration gives way to this one."""

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.server.test_api import BODY
from tests.store.making import KEYS, RING
from typer.testing import CliRunner

from assay.cli.app import app
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.engine import make_engine
from assay.store.db.migrate import HEAD, revision
from assay.store.db.store import Store

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.slow


def git(*words: str) -> bytes:
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no history of the sources here")
    return done.stdout


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The sources as they were before the last migration was added."""
    places = ("src/assay/store/migrate.py", "src/assay/store/db/migrate.py")
    told = ("log", "--full-history", "-m", "--format=%H", f'-SFinal = "{HEAD}"', "--", *places)
    commits = git(*told).decode().split()
    if not commits:
        pytest.skip("no history of the last migration here")
    (tmp_path / "old.tar").write_bytes(git("archive", f"{commits[-1]}^1", "src/assay"))
    with tarfile.open(tmp_path / "old.tar") as archive:
        archive.extractall(tmp_path / "old", filter="data")
    return tmp_path / "old" / "src"


def ask(port: int, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request(method, path, body and json.dumps(body), {"content-type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


class Server:
    """One server process on a database."""

    def __init__(self, sources: Path, database: str, log: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "assay", "serve", "--port", str(self.port), "--database", database],
                env={**os.environ, "PYTHONPATH": str(sources)},
                stderr=out,
            )
        for _ in range(1200):
            assert self.process.poll() is None, log.read_text(encoding="utf-8")
            try:
                if ask(self.port, "GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError("the server did not become ready")

    def stop(self) -> None:
        """As an operator does: what was accepted is answered."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=120)


class Load:
    """Clients that check one text after the other at the servers that are in rotation."""

    def __init__(self, clients: int) -> None:
        self.rotation: list[int] = []
        self.failed: list[str] = []
        self.answered: dict[int, int] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._open: dict[int, int] = {}
        self._threads = [threading.Thread(target=self._ask, args=(number,)) for number in range(clients)]

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def take_out(self, port: int) -> None:
        """As a load balancer does: nothing new goes there."""
        with self._lock:
            self.rotation.remove(port)

    def _ask(self, number: int) -> None:
        count = 0
        while not self._stopped.is_set():
            count += 1
            with self._lock:
                port = self.rotation[count % len(self.rotation)]
            try:
                status, _ = ask(port, "POST", "/v1/check", {**BODY, "answer": f"{BODY['answer']} {number} {count}."})
                with self._lock:
                    self.answered[port] = self.answered.get(port, 0) + (status == 200)
                    if status != 200:
                        self.failed.append(f"{port}: {status}")
            except (OSError, http.client.HTTPException, ValueError) as error:
                with self._lock:
                    self.failed.append(f"{port}: {error!r}")

    def wait_for(self, port: int, more: int) -> None:
        """Until so many more requests were answered by a server."""
        wanted = self.answered.get(port, 0) + more
        for _ in range(1200):
            if self.answered.get(port, 0) >= wanted or self.failed:
                return
            time.sleep(0.1)
        raise AssertionError(f"{port} answered {self.answered} only")


def version_of(url: str) -> str:
    engine = make_engine(url)
    try:
        return revision(engine) or ""
    finally:
        engine.dispose()


def runs_of(url: str, tmp_path: Path) -> int:
    """How many checks are recorded, when their log and their content hold."""
    if not url.startswith("sqlite"):
        with Store(url) as store:
            make_checkpoint(store, KEYS, "default")
            with store.reading("default") as connection:
                assert verify_contents(connection, "default", verify_log(connection, "default", RING)).holds
                return int(connection.execute(select(func.count()).select_from(tables.runs)).scalar_one())
    words = ["backup", "--database", url, "--out", str(tmp_path / "b.db"), "--format", "json"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.stderr
    told = json.loads(said.stdout)
    assert (told["revision"], told["verified"]) == (HEAD, True)
    with closing(sqlite3.connect(tmp_path / "b.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    return int(count)


def test_no_request_fails_while_the_tables_change_and_the_old_server_gives_way(
    before: Path, url: str, tmp_path: Path
) -> None:
    load, running = Load(3), []
    try:
        old = Server(before, url, tmp_path / "old.log")
        running.append(old)
        assert version_of(url) < HEAD  # the last but one, or an earlier one where two migrations came together
        load.rotation.append(old.port)
        load.begin()
        load.wait_for(old.port, 5)
        new = Server(ROOT / "src", url, tmp_path / "new.log")  # it migrates, while the old one writes
        running.append(new)
        load.rotation.append(new.port)
        load.wait_for(new.port, 5)
        load.wait_for(old.port, 5)  # the old one goes on over the new tables
        load.take_out(old.port)
        old.stop()
        load.wait_for(new.port, 5)
    finally:
        if load.rotation:
            load.end()
        for server in running:
            server.process.kill() if server.process.poll() is None and server is not running[-1] else server.stop()
    assert load.failed == []
    assert runs_of(url, tmp_path) == sum(load.answered.values())
    logged = (tmp_path / "old.log").read_text(encoding="utf-8") + (tmp_path / "new.log").read_text(encoding="utf-8")
    assert re.findall(r'"level": "(?:error|critical)"', logged) == []
