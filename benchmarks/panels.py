"""The monitor's panels over ten million outputs: how long each takes, and how fast the record is counted.

    python -m benchmarks.panels [--outputs 10000000] [--days 90] [--agents 50] [--database URL] [--records 4000]

The sketches are filled with what so many outputs add to them, drawn hour by hour from distributions (the counts of all
bins of an hour are multinomial, as those of single outputs would be), through the statements that the server adds with.
Then every panel is made for every period, as the page and the routes make it, and the whole page is rendered. Counting
is measured on real records: recorded first, then counted by `count_part`, entry by entry.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, func, select
from starlette.testclient import TestClient
from tests.console.site import app_over
from tests.store.making import record_of
from tests.store.test_sketches import made

from assay.store.audit.log import Entry
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.raw_statements import insert_tuples
from assay.store.db.store import Store
from assay.store.db.writer import Change
from assay.store.insights.hourly_increments import HOUR
from assay.store.sketches.metrics import ATTRIBUTION, CATEGORIES
from assay.store.sketches.updates import BATCH, DAY, STEPS, WORST, count_part
from assay.store.sketches.values import BINS, UNIT

SCORES: Final = {
    "composite": (1.5, 9.0),
    "faithfulness": (9.0, 1.5),
    "factscore": (8.0, 1.5),
    "score": (6.0, 1.5),
    "relevance": (5.0, 2.0),
    "by_relevance": (5.0, 2.0),
    **dict.fromkeys(ATTRIBUTION, (9.0, 1.0)),
}
"""The parameters of the beta distribution of each score."""
RATES: Final = {
    "withheld": 0.06,
    "fabricated": 0.001,
    "retrieval_null": 0.02,
    "corrected": 0.01,
    "unchecked": 0.003,
    **dict.fromkeys(CATEGORIES, 0.02),
}
JUDGED: Final = {"claim.right": 0.02, "claim.wrong": 0.004, "output.right": 0.02, "output.wrong": 0.005}
"""The share of outputs that people judge."""
OF_AGENTS: Final = ("composite", "faithfulness", "withheld", "corrected")
TENANT: Final = "default"
NOW: Final = datetime(2026, 3, 20, 12, 30, tzinfo=UTC)
TURNS: Final = 15

Tuples = list[tuple[Any, ...]]


class Filling:
    """Draws what outputs add to the sketches."""

    def __init__(self, agents: int, seed: int = 1) -> None:
        """With so many callers, of which some ask much more often than others."""
        self._draw = np.random.default_rng(seed)
        edges = np.linspace(0, 1, BINS + 1)
        sample = {name: self._draw.beta(*shape, size=40_000) for name, shape in SCORES.items()}
        self._shares = {name: np.histogram(values, edges)[0] / len(values) for name, values in sample.items()}
        weights = 1 / np.arange(1, agents + 1)
        self._agents = weights / weights.sum()

    def hour(self, hour: int, outputs: int) -> Tuples:
        """The rows that the outputs of one hour add."""
        found: Tuples = []
        for metric in (*SCORES, *RATES):
            found += self._rows(metric, "all", "", hour, outputs, STEPS)
        for metric, share in JUDGED.items():
            counts = self._draw.multinomial(self._draw.binomial(outputs, share), self._shares["score"])
            found += _tuples(metric, "all", "", hour, counts, STEPS)
        return found

    def day(self, hour: int, outputs: int) -> Tuples:
        """The rows that the outputs of one day add for single callers."""
        found: Tuples = []
        for number, count in enumerate(self._draw.multinomial(outputs, self._agents)):
            for metric in OF_AGENTS:
                found += self._rows(metric, "agent", f"agent-{number:03}", hour, int(count), (DAY,))
        return found

    def _rows(self, metric: str, kind: str, name: str, hour: int, outputs: int, steps: Sequence[int]) -> Tuples:
        if metric in RATES:
            counts = np.zeros(BINS, int)
            counts[BINS - 1] = self._draw.binomial(outputs, RATES[metric])
            counts[0] = outputs - counts[BINS - 1]
        else:
            counts = self._draw.multinomial(outputs, self._shares[metric])
        return _tuples(metric, kind, name, hour, counts, steps)


def _tuples(metric: str, kind: str, name: str, hour: int, counts: Any, steps: Sequence[int]) -> Tuples:
    rate = metric in RATES
    return [
        (
            TENANT,
            step,
            metric,
            kind,
            name,
            hour // step * step,
            at,
            int(count),
            int(count) * units,
            int(count) * units * units,
        )
        for step in steps
        for at, count in enumerate(counts)
        if count
        for units in ((UNIT if at else 0) if rate else int((at + 0.5) / BINS * UNIT),)
    ]


def _summed(rows: Tuples) -> Tuples:
    found: dict[tuple[Any, ...], tuple[int, ...]] = {}
    for row in rows:
        count, total, squares = found.get(row[:7], (0, 0, 0))
        found[row[:7]] = count + row[7], total + row[8], squares + row[9]
    return [(*place, *values) for place, values in sorted(found.items())]


def fill(store: Store, outputs: int, days: int, agents: int) -> None:
    """Fill the sketches of a store with what so many outputs over so many days add."""
    from assay.store.sketches import updates

    filling = Filling(agents)
    last = micros(NOW) // HOUR
    each = outputs // (days * DAY)
    for day in range(days):
        hours = range(last - (days - day) * DAY + 1, last - (days - day - 1) * DAY + 1)
        rows = [row for hour in hours for row in filling.hour(hour, each)]
        # A day is summed up in Python as one transaction of the server sums its part up.
        rows = _summed([*rows, *filling.day(hours[0], each * DAY)])
        worst = [(TENANT, hour, f"{hour:08}{at:024}", 0.01 * at) for hour in hours for at in range(WORST)]

        def act(connection: Connection, rows: Tuples = rows, worst: Tuples = worst) -> Sequence[Entry]:
            insert_tuples(connection, tables.sketches, rows, updates._ADD)  # noqa: SLF001 as the server adds
            insert_tuples(connection, tables.worst_outputs, worst, "ON CONFLICT DO NOTHING")
            return ()

        store.apply(Change(TENANT, act=act))


def panels(store: Store) -> None:
    """How long each panel takes, and the page."""
    from assay.server.panels.panels import PANELS, RANGES, make_panel

    print("milliseconds, least of", TURNS, "and median (median of CPU)")
    print(f"{'panel':14}", *(f"{range_:>25}" for range_ in RANGES))
    greatest = 0.0
    for name in PANELS:
        told = []
        for range_ in RANGES:
            times, cpu = [], []
            for _ in range(TURNS):
                begun, spent = time.perf_counter(), time.process_time()
                with store.reading(TENANT) as connection:
                    make_panel(connection, TENANT, name, range_, NOW)
                times.append((time.perf_counter() - begun) * 1000)
                cpu.append((time.process_time() - spent) * 1000)
            greatest = max(greatest, statistics.median(times))
            told.append(f"{min(times):7.1f} {statistics.median(times):8.1f} ({statistics.median(cpu):5.1f})")
        print(f"{name:14}", *(f"{one:>25}" for one in told))
    client = TestClient(app_over(store), base_url="http://127.0.0.1")
    told = []
    for range_ in RANGES:
        times, cpu = [], []
        for _ in range(TURNS // 3):
            begun, spent = time.perf_counter(), time.process_time()
            assert client.get("/console/monitor", params={"range": range_}).status_code == 200  # noqa: S101
            times.append((time.perf_counter() - begun) * 1000)
            cpu.append((time.process_time() - spent) * 1000)
        told.append(f"{min(times):7.1f} {statistics.median(times):8.1f} ({statistics.median(cpu):5.1f})")
    print(f"{'whole page':14}", *(f"{one:>25}" for one in told))
    print(f"the slowest panel takes {greatest:.1f} ms")


def counting(records: int, folder: Path) -> None:
    """How fast entries are counted."""
    with Store(f"sqlite:///{folder / 'counting.db'}", clock=lambda: NOW) as store:
        waiting = [store.submit(one) for one in (_change(store, at) for at in range(records))]
        for one in waiting:
            one.result()
        begun, cpu, done = time.perf_counter(), time.process_time(), 0
        while counted := count_part(store, TENANT, BATCH):
            done += counted
        spent, cpu = time.perf_counter() - begun, time.process_time() - cpu
        print(f"counted {done:,} entries: {done / spent:,.0f} a second ({done / cpu:,.0f} a second of CPU)")


def _change(store: Store, at: int) -> Change:
    from assay.store.records.check_rows import change_of

    score = (at * 37 % 1000) / 1000
    record = record_of(report=made(score, score), caller=f"agent-{at % 50}")
    return change_of(record, store.now() - timedelta(hours=at % 50))


def main() -> None:
    """Fill and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--outputs", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=90)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--records", type=int, default=4_000)
    parser.add_argument("--database", help="the URL of an empty database; a new SQLite file by default")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-panels-") as name:
        folder = Path(name)
        url = told.database or f"sqlite:///{folder / 'panels.db'}"
        with Store(url, clock=lambda: NOW) as store:
            begun = time.perf_counter()
            fill(store, told.outputs, told.days, told.agents)
            with store.reading(TENANT) as connection:
                rows = connection.execute(select(func.count()).select_from(tables.sketches)).scalar_one()
            print(
                f"{told.outputs:,} outputs over {told.days} days are {rows:,} rows of sketches "
                f"({time.perf_counter() - begun:.0f} s)"
            )
            if told.database is None:
                store.engine.dispose()
                print(f"{(folder / 'panels.db').stat().st_size / 1e6:.0f} MB on disk")
            panels(store)
        if told.records:
            counting(told.records, folder)


if __name__ == "__main__":
    main()
