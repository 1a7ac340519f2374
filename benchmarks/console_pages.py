"""Pages and lists over a large store: how long the server takes for each at so many reports.

    python -m benchmarks.console_pages [--reports 100000] [--database URL] [--keep FILE] [--only PATH]
    python -m benchmarks.console_pages recording [--requests 300]

The first fills a database with made-up reports, which verify like recorded ones, and asks the application itself, over
no network, for each page and route. The second says what recording a check adds to it. CPU seconds are those of this
process, which is all of the work on SQLite; on a shared machine the time is worth little.
"""

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Table, text
from tests.store.making import KEYS, record_of, report_of

from assay.schema import Action, ClaimKind, ClaimReport, ClaimStatus, Decision, Span, Verdict
from assay.server.app import Application, create_app
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.store import tables
from assay.store.audit.log import Appender, Entry
from assay.store.audit.signing import make_checkpoint
from assay.store.engine import make_engine, writing
from assay.store.inserting import UNLESS_THERE, insert_rows, insert_tuples
from assay.store.interface import CheckRecord, new_id
from assay.store.migrate import migrate
from assay.store.recording import change_of, micros
from assay.store.store import Store
from assay.store.walls import act_as
from assay.store.writer import Change
from assay.testing import FakeScorer

TENANT: Final = "default"
POOL: Final = 400
"""Different checks, each of which is stored many times under ids of its own."""
BATCH: Final = 2_000
DAYS: Final = 90
SHARES: Final = {Action.EMIT: 0.745, Action.BLOCK: 0.15, Action.REVISE: 0.1, Action.ESCALATE: 0.005}
ROUTES: Final = {Action.EMIT: "serve", Action.BLOCK: "withhold_closest_sources", Action.REVISE: "revise",
                 Action.ESCALATE: "review"}  # fmt: skip
CALLERS: Final = ("desk", "shop", "intranet", "crm", "bot")
TIMES: Final = 15
WARM: Final = 3

_NAMED: Final = ("id", "run", "report", "record")
"""Columns that hold the id of a check."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill and ask, or measure the recording."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", default="pages", choices=["pages", "recording"])
    parser.add_argument("--database", help="a PostgreSQL URL; a new file of SQLite by default")
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
        if asked.database or not (asked.keep and asked.keep.exists()):
            fill(url, asked.reports)
        asyncio.run(pages(url, asked.only))
    return 0


# Filling


@dataclass(frozen=True, slots=True)
class Mould:
    """One check as it is stored: copies differ in id and time."""

    id: str
    change: Change
    tuples: dict[Table, list[tuple[Any, ...]]]
    places: dict[Table, list[int]]
    """Columns that hold the id."""
    created: dict[Table, int]
    """The column that holds the time."""


def fill(url: str, count: int, seed: int = 1) -> None:
    """Store so many reports, fast: the rows of a few checks under new ids, with their entries in the log."""
    draw = random.Random(seed)
    engine = make_engine(url)
    migrate(engine)
    moulds = [_mould(draw, number) for number in range(POOL)]
    weights = [_share(mould) for mould in moulds]
    begun, now = time.perf_counter(), datetime.now(UTC)
    appender, hours = Appender(), Counter[tuple[int, str, str]]()
    once(engine, moulds)
    for first in range(0, count, BATCH):
        chosen = draw.choices(moulds, weights, k=min(BATCH, count - first))
        together: dict[Table, list[tuple[Any, ...]]] = {}
        entries: list[Entry] = []
        for offset, mould in enumerate(chosen):
            at = micros(now - timedelta(days=DAYS) * (1 - (first + offset) / count))
            id_ = f"{at // 1000:012x}{draw.getrandbits(80):020x}"
            _copy(mould, id_, at, together)
            entries += [
                Entry(one.kind, one.data.replace(mould.id.encode(), id_.encode()), id_) for one in mould.change.entries
            ]
            for row in mould.change.rows[tables.hourly]:
                hours[at // 3_600_000_000, row["kind"], row["name"]] += row["count"]
        with writing(engine).begin() as connection:
            act_as(connection, TENANT)
            for table, rows in together.items():
                insert_tuples(connection, table, rows)
            appender.append(connection, TENANT, entries, appender.lock(connection, TENANT))
        if (first // BATCH) % 50 == 49:
            print(f"  {first + BATCH:>9,} stored in {time.perf_counter() - begun:,.0f} s", flush=True)
    with writing(engine).begin() as connection:
        act_as(connection, TENANT)
        insert_rows(connection, tables.hourly, [
            {"tenant": TENANT, "hour": hour, "kind": kind, "name": name, "count": number}
            for (hour, kind, name), number in sorted(hours.items())
        ])  # fmt: skip
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM ANALYZE"))
    engine.dispose()
    print(f"{count:,} reports stored in {time.perf_counter() - begun:,.0f} s")


def once(engine: Any, moulds: Sequence[Mould]) -> None:
    """What all copies share: policies, verifiers, evidence."""
    with writing(engine).begin() as connection:
        act_as(connection, TENANT)
        for mould in moulds:
            for table in (tables.policies, tables.verifiers, tables.evidence):
                insert_rows(connection, table, mould.change.rows[table], UNLESS_THERE)


def _share(mould: Mould) -> float:
    """How often a mould is taken: every action has as many of them."""
    return SHARES[Action(mould.change.rows[tables.reports][0]["action"])]


def _mould(draw: random.Random, number: int) -> Mould:
    record = _check(draw, number)
    change = change_of(record, datetime.now(UTC))
    shared = {tables.policies, tables.verifiers, tables.evidence, tables.hourly}
    own = {table: rows for table, rows in change.rows.items() if table not in shared and rows}
    return Mould(
        record.id, change,
        {table: [tuple(row[column.name] for column in table.columns) for row in rows] for table, rows in own.items()},
        {
            table: [place for place, column in enumerate(table.columns) if column.name in _NAMED]
            for table in own
        },
        {table: next((p for p, c in enumerate(table.columns) if c.name == "created"), -1) for table in own},
    )  # fmt: skip


def _copy(mould: Mould, id_: str, at: int, together: dict[Table, list[tuple[Any, ...]]]) -> None:
    for table, rows in mould.tuples.items():
        into = together.setdefault(table, [])
        for row in rows:
            made = list(row)
            for place in mould.places[table]:
                if isinstance(made[place], str):
                    made[place] = made[place].replace(mould.id, id_)
            if mould.created[table] >= 0:
                made[mould.created[table]] = at
            into.append(tuple(made))


def _check(draw: random.Random, number: int) -> CheckRecord:
    """A made-up check of three sentences; every tenth word of its own language is common."""
    action = list(SHARES)[number % len(SHARES)]
    sentences = [_sentence(draw) for _ in range(3)]
    sentences[1] += f" rare{number}."
    output = " ".join(sentences)
    claims, at = [], 0
    for place, sentence in enumerate(sentences):
        held = action is Action.EMIT or place != 1
        verdict = Verdict.SUPPORTED if held else (Verdict.CONTRADICTED if number % 3 else Verdict.UNSUPPORTED)
        begin = output.index(sentence, at)
        at = begin + len(sentence)
        claims.append(
            ClaimReport(
                text=sentence, span=Span(start=begin, end=at), kind=ClaimKind.FACTUAL, critical=place == 0,
                verdict=verdict, score=0.95 if held else draw.random() * 0.5, contradiction=None if held else 0.8,
                status=ClaimStatus.PASS if held else ClaimStatus.BLOCK,
            )
        )  # fmt: skip
    report = report_of(
        output, claims=tuple(claims), question=f"{_sentence(draw)}?", action=action, run_id=f"run-{number}",
        decision=Decision(action=action, route=ROUTES[action], reasons=("As it is.",)),
        overall_score=min(claim.score or 0.0 for claim in claims),
    )  # fmt: skip
    asked = {"answer": output, "question": report.question, "stakes": "medium", "task": "qa"}
    return record_of(output, report=report, asked=asked, caller=draw.choice(CALLERS), id=new_id())


def _sentence(draw: random.Random) -> str:
    words = [f"w{min(2_999, int(draw.paretovariate(0.6)))}" for _ in range(12)]
    return " ".join(["Partners", *words, f"{draw.randrange(1, 60)} weeks"]) + "."


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
        "type": "http", "method": "GET" if body is None else "POST", "path": where, "raw_path": where.encode(),
        "query_string": query.encode(), "http_version": "1.1", "scheme": "http", "root_path": "",
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
    }  # fmt: skip
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


async def pages(url: str, only: str) -> None:
    """Asks for each page some times, and prints the median and the slowest."""
    with Store(url) as store:
        make_checkpoint(store, KEYS, TENANT)
        id_, digest = _some(store)
        settings = ServerSettings()
        app = create_app(settings, guards=lambda: Guards("general", scorer=FakeScorer()), store=store, keys=KEYS)
        async with app.lifespan():
            cursor = json.loads((await ask(app, "/v1/reports?limit=50")).body)["next"]
            print(f"{'path':<62} status   size    median  slowest   CPU   (ms)")
            for path in _paths(id_, digest, cursor):
                if only in path:
                    print(await _timed(app, path), flush=True)


def _some(store: Store) -> tuple[str, str]:
    with store.reading(TENANT) as connection:
        return _blocked(connection), str(
            connection.execute(text("SELECT digest FROM policies LIMIT 1")).scalar_one()
        )  # fmt: skip


def _blocked(connection: Connection) -> str:
    found = connection.execute(text("SELECT id FROM reports WHERE action = 'block' ORDER BY created DESC LIMIT 1"))
    return str(found.scalar_one())


def _paths(id_: str, digest: str, cursor: str | None) -> list[str]:
    """Every page and route, with what is common, rare, and not there at all."""
    rare = "rare123"
    api = [
        "?limit=50", f"?limit=50&after={cursor}", "?action=block", "?action=escalate&verdict=contradicted",
        "?action=emit&verdict=contradicted", f"?policy={digest}", "?policy=general&caller=desk&max_score=0.1",
        "?run_id=run-7", "?since=2020-01-01T00:00:00Z&until=2020-02-01T00:00:00Z", "?q=partners", "?q=weeks+w7",
        f"?q={rare}", f"?q=partners+{rare}&action=emit", '?q="partners+w1"', "?q=nowhere", "?q=w29*",
        "?q=partners&verdict=unchecked",
    ]  # fmt: skip
    return [
        *(f"/v1/reports{query}" for query in api),
        *(f"/v1/reports/{id_}{part}" for part in ("", "/claims", "/evidence", "/tool-calls", "/receipts", "/entries")),
        "/v1/feedback", "/v1/policies", f"/v1/policies/{digest}", "/v1/audit", "/v1/audit/entries",
        "/v1/audit/checkpoints", f"/v1/audit/proof?report={id_}", "/v1/audit/consistency?old=1", "/v1/reviews",
        "/console", "/console/runs", f"/console/runs?before={id_}", "/console/runs?action=block",
        f"/console/runs?q={rare}", "/console/runs?q=partners", f"/console/runs/{id_}", "/console/review",
        "/console/gaps", "/console/policies", "/console/audit", "/console/users", "/console/playground",
    ]  # fmt: skip


async def _timed(app: Application, path: str) -> str:
    walls, cpus = [], []
    answer = Answer()
    for number in range(WARM + TIMES):
        wall, cpu = time.perf_counter(), time.process_time()
        answer = await ask(app, path)
        if number >= WARM:
            walls.append((time.perf_counter() - wall) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
        if sum(walls) > 20_000:
            break
    took = f"{statistics.median(walls):>8.1f} {max(walls):>8.1f} {statistics.median(cpus):>6.1f}"
    return f"{path[:62]:<62} {answer.status:>6} {len(answer.body):>7,} {took}"


# Recording


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
