"""The audit log and the store: speed beside plain inserts, tampering, crashes.

    python -m benchmarks.audit speed [--entries 1000000] [--database URL]
    python -m benchmarks.audit contents [--entries 20000] [--database URL]
    python -m benchmarks.audit tamper [--trials 10000]
    python -m benchmarks.audit crash [--kills 1000] [--database URL]

Figures of `speed` are taken in one run, turn by turn, so that other work on the machine falls on all alike; CPU seconds
stand beside the time, which is worth little on a shared machine.
"""

import argparse
import os
import random
import secrets
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, make_url, select
from tests.store.making import DAY, KEY, KEYS, RING, record_of

from assay.store.audit import standalone
from assay.store.audit.export import export_log
from assay.store.audit.log import Appender, Entry
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.merkle.proofs import prove_entry
from assay.store.audit.verification.incremental import VerificationState, verify_contents_since
from assay.store.audit.verification.log import verify_log
from assay.store.db import tables
from assay.store.db.engine import make_engine, writing
from assay.store.db.migrate import migrate
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.records.check_rows import change_of
from assay.store.records.erasure import erase_runs

RECORD_BYTES: Final = 1_700
"""About what one check and its entry take in the database."""
BATCH: Final = 100
PROOFS: Final = 200
LIVES: Final = 25
"""Kills over one database before a new one is begun, so that looking at it stays quick."""


@dataclass(slots=True)
class Spent:
    """What something took."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Adds what the block takes."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += time.process_time() - cpu

    def rate(self, count: int) -> str:
        """So many in this time."""
        return f"{count / self.wall:>9,.0f} a second, {count / self.cpu:>9,.0f} a CPU second"


def main(arguments: list[str] | None = None) -> int:
    """Run one of the benchmarks; 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["speed", "contents", "tamper", "crash"])
    parser.add_argument("--database", help="a PostgreSQL URL; a new file of SQLite by default")
    parser.add_argument("--entries", type=int, help="1,000,000 by default, 20,000 for `contents`")
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="assay-audit-") as name:
        folder = Path(name)
        if asked.what == "tamper":
            return tamper(folder, asked.trials, asked.seed)
        if asked.what == "crash":
            return crashes(folder, asked.kills, asked.seed, asked.database)
        if asked.what == "contents":
            return contents(asked.database or str(folder / "contents.db"), asked.entries or 20_000)
        return speed(folder, asked.entries or 1_000_000, asked.database)


# Speed


def speed(folder: Path, entries: int, database: str | None) -> int:
    """The figures of the log and of the store."""
    appends(folder)
    records(database or str(folder / "records.db"))
    at_size(database or str(folder / "large.db"), folder / "log.jsonl", entries)
    return 0


def appends(folder: Path, rounds: int = 60, batches: int = 10) -> None:
    """Durable appends beside plain inserts of the same bytes, batch by batch in turns."""
    plain = sqlite3.connect(folder / "plain.db", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        plain.execute(f"PRAGMA {pragma}")
    plain.execute("CREATE TABLE entries (idx INTEGER PRIMARY KEY, data BLOB NOT NULL)")
    engine = make_engine(str(folder / "log.db"))
    migrate(engine)
    engine = writing(engine)
    store = Store(str(folder / "group.db"))
    appender = Appender()
    spent = {name: Spent() for name in ("plain", "log", "group commit")}
    for number in range(rounds):
        parts = [[secrets.token_bytes(RECORD_BYTES) for _ in range(BATCH)] for _ in range(batches)]
        turns: list[tuple[str, Callable[[], None]]] = [
            ("plain", lambda parts=parts, number=number: _plain(plain, parts, number * BATCH * batches)),  # type: ignore[misc]
            ("log", lambda parts=parts: _log(engine, appender, parts)),  # type: ignore[misc]
            ("group commit", lambda parts=parts: _group(store, parts)),  # type: ignore[misc]
        ]
        random.Random(number).shuffle(turns)
        for name, run in turns:
            with spent[name].counting():
                run()
    count = rounds * batches * BATCH
    print("CPU seconds are those of this process; waiting for the disk is in the time alone")
    print(f"durable appends of {RECORD_BYTES:,} bytes, {BATCH} in a transaction, SQLite WAL with synchronous=FULL")
    for name, took in spent.items():
        print(f"  {name:<14}{took.rate(count)}   {spent['plain'].cpu / took.cpu:.2f} of plain")
    store.close()
    engine.dispose()
    plain.close()


def _plain(connection: sqlite3.Connection, parts: list[list[bytes]], first: int) -> None:
    for part in parts:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO entries VALUES (?, ?)", enumerate(part, first))
        connection.execute("COMMIT")
        first += len(part)


def _log(engine: Engine, appender: Appender, parts: list[list[bytes]]) -> None:
    for part in parts:
        with engine.begin() as connection:
            first = appender.lock(connection, "default")
            appender.append(connection, "default", [Entry("decision", data, "r") for data in part], first)


def _group(store: Store, parts: list[list[bytes]]) -> None:
    waiting = [
        store.submit(Change("default", entries=[Entry("decision", data, "r")])) for part in parts for data in part
    ]
    for one in waiting:
        one.result()


def records(url: str, count: int = 3_000) -> None:
    """Whole checks: report, claims, evidence, decision and entry, all in one transaction."""
    made = [record_of(f"Answer {number} of some length, as answers are.", tenant="bench") for number in range(count)]
    took, making = Spent(), Spent()
    with Store(url) as store:
        with making.counting():
            changes = [change_of(record, DAY) for record in made]
        with took.counting():
            for one in [store.submit(change) for change in changes]:
                one.result()
    print(f"whole checks, {count:,} in group commit: making {making.rate(count)}; storing {took.rate(count)}")


def at_size(url: str, bundle: Path, entries: int) -> None:
    """Building, verifying and proving at a size."""
    engine = make_engine(url)
    migrate(engine)
    appender, building, filler = Appender(), Spent(), "x" * 900
    with building.counting():
        for begin in range(0, entries, 2_000):
            part = [
                Entry("decision", f'{{"filler":"{filler}","number":{number}}}'.encode(), f"{number:032x}")
                for number in range(begin, min(begin + 2_000, entries))
            ]
            with writing(engine).begin() as connection:
                appender.append(connection, "default", part, appender.lock(connection, "default"))
    engine.dispose()
    print(f"{entries:,} entries of about 930 bytes\n  building   {building.rate(entries)}")
    with Store(url) as store:
        signing, verifying, exporting, alone = Spent(), Spent(), Spent(), Spent()
        with signing.counting():
            note = make_checkpoint(store, KEYS, "default")
        with store.reading("default") as connection:
            proofs = _proofs(connection, entries)
            with verifying.counting():
                found = verify_log(connection, "default", RING, [note])
            with exporting.counting(), bundle.open("w", encoding="utf-8") as file:
                file.writelines(export_log(connection, "default"))
        with alone.counting(), bundle.open(encoding="utf-8", newline="") as file:
            said = standalone.verify_bundle(file, [standalone.Key(None, KEY.public)], [note])
    print(f"  checkpoint {signing.wall * 1e3:.1f} ms")
    for name, at in (("wall", 0), ("CPU", 1)):
        took = sorted(one[at] * 1e3 for one in proofs)
        print(f"  proof      {name}: median {statistics.median(took):.2f} ms, 99% {took[-1 - len(took) // 100]:.2f} ms")
    held = "holds" if found.holds else str(found.findings)
    print(f"  verify     {verifying.wall:.1f} s, {verifying.cpu:.1f} CPU s: {held}")
    print(f"  export     {exporting.wall:.1f} s; stand-alone {alone.wall:.1f} s, {alone.cpu:.1f} CPU s: {said[:60]}")


def _proofs(connection: Connection, entries: int) -> list[tuple[float, float]]:
    draw, took = random.Random(1), []
    for _ in range(PROOFS):
        begun, cpu = time.perf_counter(), time.process_time()
        proof = prove_entry(connection, "default", draw.randrange(entries))
        took.append((time.perf_counter() - begun, time.process_time() - cpu))
        proof.verify(RING)
    return took


def contents(url: str, runs: int) -> int:
    """Verifying what is stored of runs: all of it, and from an earlier verification on."""
    with Store(url) as store:
        for begin in range(0, runs, 2_000):
            made = [record_of(f"Answer {number} of some length.") for number in range(begin, min(begin + 2_000, runs))]
            for one in [store.submit(change_of(record, DAY)) for record in made]:
                one.result()
        make_checkpoint(store, KEYS, "default")
        print(f"{runs:,} runs, each with a claim, a tool call and two passages")
        _verified(store, "log alone", None, log_only=True)
        _verified(store, "everything", None, leaves=False)
        state = _verified(store, "everything, leaving a state", None)
        state = _verified(store, "from it on, nothing new", state)
        for number in range(100):
            store.record(record_of(f"New answer {number}."))
        state = _verified(store, "from it on, 100 new runs", state)
        with store.reading("default") as connection:
            ids = connection.execute(select(tables.runs.c.id).order_by(tables.runs.c.id)).scalars().all()
        erase_runs(store, ids[:: max(1, len(ids) // 50)], "benchmark", "default")
        _verified(store, "from it on, 50 runs erased", state)
    return 0


def _verified(
    store: Store, what: str, since: VerificationState | None, *, leaves: bool = True, log_only: bool = False
) -> VerificationState | None:
    took = Spent()
    with store.reading("default") as connection, took.counting():
        found, left = verify_log(connection, "default", RING), None
        if not log_only:
            found, left = verify_contents_since(connection, "default", found, since, leaves=leaves)
    size = "" if left is None else f", a state of {len(left.to_text()):,} characters"
    held = "holds" if found.holds else f"DOES NOT HOLD: {found.findings[:2]}"
    print(f"  {what:<28} {took.cpu:6.2f} CPU s, {took.wall:6.2f} s: {held}, {found.runs:,} runs compared{size}")
    return left


# Promises


def tamper(folder: Path, trials: int, seed: int) -> int:
    """Every kind of edit, of the log and of the rows that it binds; detection has to be complete, and all verifiers of
    one mind."""
    from tests.store.bound import make_full, row_trials, state_of
    from tests.store.tampering import bundle_trials, make_log, run_trials

    total, missed = 0, list[str]()
    for number, size in enumerate((40, 80, 300)):
        place = folder / str(size)
        place.mkdir()
        log = make_log(place, size)
        share = trials // 3 + (trials % 3 if number == 0 else 0)
        for outcome in (run_trials(log, share, seed + number), bundle_trials(log, share, seed + number)):
            total += outcome.trials.total()
            missed += outcome.missed
            for name, count in sorted(outcome.trials.items()):
                print(f"  {size:>4} entries  {count:>6} x {name}")
        log.store.close()
    place = folder / "rows"
    place.mkdir()
    full = make_full(str(place / "full.db"), place)
    outcome = row_trials(full, trials, seed, state_of(full))
    total += outcome.trials.total()
    missed += outcome.missed
    columns = sum(1 for name in outcome.trials if "." in name)
    print(f"  {outcome.trials.total():,} changes of stored rows: {columns} columns, whole rows of all tables")
    full.store.close()
    print(f"{total:,} trials, {len(missed)} not noticed or judged differently")
    print("\n".join(missed[:20]))
    return 1 if missed else 0


def crashes(folder: Path, kills: int, seed: int, database: str | None) -> int:
    """Kill writers; nothing that was acknowledged may be lost."""
    from tests.store.crashing import crash

    done = acknowledged = stored = 0
    problems: list[str] = []
    while done < kills:
        url = _fresh(database) if database else str(folder / f"{done}.db")
        found = crash(url, min(LIVES, kills - done), seed + done)
        done, acknowledged, stored = done + found.kills, acknowledged + found.acknowledged, stored + found.stored
        problems += found.problems
        print(f"\r{done:,} kills, {acknowledged:,} acknowledged, {stored:,} stored, {len(problems)} problems", end="")
        sys.stdout.flush()
    print()
    print("\n".join(problems[:20]))
    return 1 if problems else 0


def _fresh(server: str) -> str:
    """A new database on a server."""
    import psycopg

    name = f"crash_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return make_url(server).set(database=name).render_as_string(hide_password=False)


if __name__ == "__main__":
    sys.exit(main())
