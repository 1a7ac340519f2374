"""Pages and lists over a large store: how long the server takes for each at so many reports.

    python -m benchmarks.console_pages [--reports 100000] [--database URL] [--keep FILE] [--only PATH]
    python -m benchmarks.console_pages recording [--requests 300]

The first fills a database with made-up reports, which verify like recorded ones, and asks the application itself, over
no network, for each page and route. The second says what recording a check adds to it. CPU milliseconds are those of
this process, which is all of the work on SQLite, and beside them those of PostgreSQL's own processes where they run on
this machine; both are the median, and the least of all tries in the last column. On a shared machine the time is worth
little.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.filling import TENANT, fill
from sqlalchemy import Connection, Engine, text
from tests.store.making import KEYS

from assay.server.app import Application, create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.db.store import Store
from assay.testing import FakeScorer

TIMES: Final = 15
WARM: Final = 3
MOST_S: Final = 20
"""Seconds after which a path is not asked for again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill and ask, or measure the recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="pages", choices=["pages", "recording"])
    parser.add_argument(
        "--database", help="a PostgreSQL URL, used as it is where there are reports; a new file of SQLite by default"
    )
    parser.add_argument("--keep", type=Path, help="keep SQLite's file here, and use it as it is where it is there")
    parser.add_argument("--reports", type=int, default=100_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--only", default="", help="paths that contain this")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assay-pages-") as folder:
        url = asked.database or str(asked.keep or Path(folder) / "pages.db")
        if asked.what == "recording":
            asyncio.run(recording(Path(folder), asked.requests))
            return 0
        if not _is_filled(url):
            fill(url, asked.reports)
        asyncio.run(pages(url, asked.only))
    return 0


# Asking


@dataclass(slots=True)
class Answer:
    """What the application answered."""

    status: int = 0
    body: bytes = b""


async def ask(app: Application, path: str, body: Any = None) -> Answer:
    """One request to an application, over no network."""
    answer = Answer()
    sent = b"" if body is None else json.dumps(body).encode()
    where, _, query = path.partition("?")
    scope = {
        "type": "http",
        "method": "GET" if body is None else "POST",
        "path": where,
        "raw_path": where.encode(),
        "query_string": query.encode(),
        "http_version": "1.1",
        "scheme": "http",
        "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    parts: list[bytes] = []
    given = False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if given:
            await asyncio.Event().wait()
        given = True
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
        else:
            parts.append(message.get("body", b""))

    await app(scope, receive, send)
    answer.body = b"".join(parts)
    return answer


def _is_filled(url: str) -> bool:
    with Store(url) as store, store.reading(TENANT) as connection:
        return connection.execute(text("SELECT 1 FROM reports LIMIT 1")).first() is not None


class DatabaseTime:
    """How long the processes of PostgreSQL's server have run, where it is on this machine and asked by nobody else."""

    def __init__(self, engine: Engine) -> None:
        self._children: Path | None = None
        if engine.dialect.name == "postgresql":
            with engine.connect() as connection:
                own = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
            status = Path(f"/proc/{own}/stat")
            if status.exists():
                server = status.read_text().rpartition(")")[2].split()[1]
                self._children = Path(f"/proc/{server}/task/{server}/children")

    def spent(self) -> float:
        """Seconds so far, of the processes that are there; 0 for SQLite, which runs in this process."""
        if self._children is None:
            return 0.0
        schedules = (Path(f"/proc/{pid}/schedstat") for pid in self._children.read_text().split())
        return sum(int(one.read_text().split()[0]) for one in schedules if one.exists()) / 1e9


async def pages(url: str, only: str) -> None:
    """Asks for each page some times, and prints the median and the slowest."""
    with Store(url) as store:
        make_checkpoint(store, KEYS, TENANT)
        id_, digest = _some(store)
        settings = ServerSettings()
        app = create_app(settings, guards=lambda: Guards("general", scorer=FakeScorer()), store=store, keys=KEYS)
        async with app.lifespan():
            cursor = json.loads((await ask(app, "/v1/reports?limit=50")).body)["next"]
            database = DatabaseTime(store.engine)
            print(f"{'path':<62} status   size    median  slowest   CPU   database   least   (ms)")
            for path in _paths(id_, digest, cursor):
                if only in path:
                    print(await _timed(app, path, database), flush=True)


def _some(store: Store) -> tuple[str, str]:
    with store.reading(TENANT) as connection:
        return _blocked(connection), str(connection.execute(text("SELECT digest FROM policies LIMIT 1")).scalar_one())


def _blocked(connection: Connection) -> str:
    found = connection.execute(text("SELECT id FROM reports WHERE action = 'block' ORDER BY created DESC LIMIT 1"))
    return str(found.scalar_one())


def _paths(id_: str, digest: str, cursor: str | None) -> list[str]:
    """Every page and route, with what is common, rare, and not there at all."""
    rare = "rare123"
    api = [
        "?limit=50",
        f"?limit=50&after={cursor}",
        "?action=block",
        "?action=escalate&verdict=contradicted",
        "?action=emit&verdict=contradicted",
        f"?policy={digest}",
        "?policy=general&caller=desk&max_score=0.1",
        "?run_id=run-7",
        "?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z",
        "?q=partners",
        "?q=weeks+w7",
        f"?q={rare}",
        f"?q=partners+{rare}&action=emit",
        '?q="partners+w1"',
        "?q=nowhere",
        "?q=w29*",
        "?q=partners&verdict=unchecked",
    ]
    return [
        *(f"/v1/reports{query}" for query in api),
        *(f"/v1/reports/{id_}{part}" for part in ("", "/claims", "/evidence", "/tool-calls", "/receipts", "/entries")),
        "/v1/feedback",
        "/v1/policies",
        f"/v1/policies/{digest}",
        "/v1/audit",
        "/v1/audit/entries",
        "/v1/audit/checkpoints",
        f"/v1/audit/proof?report={id_}",
        "/v1/audit/consistency?old=1",
        "/v1/reviews",
        "/console",
        "/console/runs",
        f"/console/runs?after={cursor}",
        "/console/runs?action=block",
        "/console/runs?action=escalate&verdict=contradicted",
        "/console/runs?verdict=unchecked",
        "/console/runs?caller=desk&policy=general&min_score=0.1&max_score=0.2",
        f"/console/runs?q={rare}",
        "/console/runs?q=partners",
        "/console/runs?q=partners&action=escalate",
        f"/console/runs/{id_}",
        "/console/review",
        "/console/gaps",
        "/console/gaps?days=all",
        "/console/policies",
        f"/console/policies/{digest}",
        f"/console/policies/{digest}/what-if",
        f"/console/policies/{digest}/what-if?emit_threshold=0.95",
        f"/console/policies/{digest}/what-if?support_threshold=0.6",
        "/console/audit",
        "/console/users",
        "/console/playground",
    ]


async def _timed(app: Application, path: str, database: DatabaseTime) -> str:
    walls, cpus, theirs = [], [], []
    answer = Answer()
    for number in range(WARM + TIMES):
        wall, cpu, spent = time.perf_counter(), time.process_time(), database.spent()
        answer = await ask(app, path)
        if number >= WARM:
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
            theirs.append(database.spent() - spent)
        if sum(walls) > MOST_S:
            break
    middle, slowest, cpu, their = (
        1000 * one for one in (statistics.median(walls), max(walls), statistics.median(cpus), statistics.median(theirs))
    )
    least = 1000 * min(one + other for one, other in zip(cpus, theirs, strict=True))
    name = path if len(path) <= 60 else f"{path[:57]}..."
    return (
        f"{name:<62} {answer.status} {len(answer.body):>8,} {middle:>8.1f} {slowest:>8.1f} {cpu:>6.1f} {their:>8.1f} "
        f"{least:>8.1f}"
    )


async def recording(folder: Path, count: int) -> None:
    """What recording adds to a check: the same requests with and without a database, in turns."""
    spent: dict[str, list[tuple[float, float]]] = {"not recorded": [], "recorded": []}
    with Store(str(folder / "record.db")) as store:
        plain, kept = (
            create_app(guards=lambda: Guards("general", scorer=FakeScorer()), store=one, keys=KEYS)
            for one in (None, store)
        )
        async with plain.lifespan(), kept.lifespan():
            for number in range(count + 20):
                body = {
                    "answer": f"Partners are entitled to {number} weeks of leave. It is paid in full.",
                    "evidence": [f"Partners are entitled to {number} weeks of leave.", "Leave is paid in full."],
                    "question": "How long is partner leave?",
                }
                for name, app in (("not recorded", plain), ("recorded", kept)):
                    wall, cpu = time.perf_counter(), time.process_time()
                    answer = await ask(app, "/v1/check", body)
                    if answer.status != 200:
                        raise RuntimeError(answer.body.decode())
                    if number >= 20:
                        spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    for name, took in spent.items():
        wall, cpu = (statistics.median(one[at] for one in took) * 1000 for at in (0, 1))
        print(f"{name:<14} median {wall:.2f} ms, {cpu:.2f} CPU ms a check")


if __name__ == "__main__":
    raise SystemExit(main())
