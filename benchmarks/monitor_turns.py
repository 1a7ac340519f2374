"""What a turn of the monitor costs: the first one over a long record, those after it, drawing, and the status.

    python -m benchmarks.monitor_turns [--observations N] [--reports N] [--database URL]

Seconds of the processor, which other work on the machine hardly changes, are told beside those of the clock. The
observations are of 8 agents, 2 models and 3 categories over 20 days, and worse from 70% on; each is of up to nine
series. `--database` names an empty database; by default a file of SQLite in a temporary folder.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert

from assay.monitor import MonitorSettings
from assay.monitor.designs import designed
from assay.server.monitoring.service import Monitor
from assay.store.db import Store, tables
from assay.store.db.writer import Change
from assay.store.records import micros

TENANT = "default"
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
DAYS = 20
PART = 10_000


@dataclass(slots=True)
class Clock:
    """A clock that is set."""

    now: datetime = BEGIN + timedelta(days=DAYS + 1)

    def __call__(self) -> datetime:
        """The moment that it was set to."""
        return self.now


@contextmanager
def timed(name: str, count: int) -> Iterator[None]:
    """Tell what the block took."""
    cpu, wall = time.process_time(), time.perf_counter()
    yield
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    each = f", {cpu / count * 1e6:,.0f} us each, {count / cpu:,.0f} a second of the processor" if count else ""
    print(f"{name}: {cpu:.2f} s of the processor, {wall:.2f} s by the clock{each}", flush=True)


def rows(count: int) -> Iterator[list[dict[str, Any]]]:
    """Observations in parts."""
    rng, every = np.random.default_rng(1), round(DAYS * 86_400e6 / count)
    begin = micros(BEGIN)
    for first in range(0, count, PART):
        part = []
        for number in range(first, min(first + PART, count)):
            bad = float(rng.random() < (0.05 if number < 0.7 * count else 0.08))
            part.append(
                {
                    "tenant": TENANT,
                    "id": f"{number:032x}",
                    "at": begin + number * every,
                    "added": begin + number * every,
                    "stakes": "medium",
                    "agent": f"agent{number % 8}",
                    "route": "check",
                    "model": f"model{number % 2}",
                    "categories": ("contextual", "factual", "numeric")[number % 3] if bad else "",
                    "probability": 1.0,
                    "sampled": True,
                    "bad": bad,
                    "score": float(min(1.0, rng.beta(0.5, 6) + 0.5 * bad)),
                    "unfaithful": None,
                    "unfactual": None,
                    "withheld": bad,
                    "fabricated": 0.0,
                    "unretrieved": 0.0,
                    "cadence": None,
                    "misjudged": None,
                }
            )
        yield part


def _added(part: list[dict[str, Any]], connection: Connection) -> tuple[()]:
    connection.execute(insert(tables.observations), part)
    return ()


def turns(url: str, count: int) -> None:
    """The first turn over a long record, one more after a restart, and the status."""
    with Store(url, clock=Clock()) as store:
        with timed("observations into the table", count):
            for part in rows(count):
                store.apply(Change(TENANT, act=partial(_added, part)))
        with timed("the first turn", count):
            turn = Monitor(store, MonitorSettings()).run(TENANT)
        print(f"  {turn.added:,} observations added, {turn.alarms} alarms, {designed.cache_info().misses} designs")
        designed.cache_clear()
    with Store(url, clock=Clock(BEGIN + timedelta(days=DAYS + 1, minutes=1))) as store:
        with timed("a turn of a process that has just begun", 0):
            Monitor(store, MonitorSettings()).run(TENANT)
        print(f"  {designed.cache_info().misses} designs")
        with timed("the status", 0):
            told = Monitor(store, MonitorSettings()).status(TENANT)
        print(f"  {len(told['series'])} series, {len(told['alarms'])} alarms that are open")


def drawing(url: str, count: int, record: Callable[[Store, int], None]) -> None:
    """Observations drawn out of reports."""
    clock = Clock()
    with Store(url, clock=clock) as store:
        with timed("checks recorded", count):
            record(store, count)
        clock.now += timedelta(hours=1)
        with timed("observations drawn out of reports, and charts moved on", count):
            turn = Monitor(store, MonitorSettings()).run(TENANT)
        print(f"  {turn.observed:,} drawn, {turn.added:,} added")


def recorded(store: Store, count: int) -> None:
    """Record checks of one claim each, one in ten of them wrong."""
    from tests.monitor.recording import bad_record, good_record

    for number in range(count):
        store.record(bad_record() if number % 10 == 0 else good_record())


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--observations", type=int, default=100_000)
    parser.add_argument("--reports", type=int, default=2_000)
    parser.add_argument("--database", help="an empty database; by default SQLite in a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        turns(given.database or str(Path(folder) / "turns.db"), given.observations)
        if given.reports and given.database is None:
            drawing(str(Path(folder) / "drawn.db"), given.reports, recorded)


if __name__ == "__main__":
    main()
