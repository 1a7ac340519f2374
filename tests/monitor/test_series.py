"""The values of one series out of the database, and charts that are designed once."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert
from tests.monitor.recording import DAY, TENANT, Clock, plant, row_of
from tests.monitor.test_turns import BEGIN, QUICK

from assay.monitor import MonitorSettings, Series
from assay.monitor.designs import designed
from assay.server.monitoring.rows import observation_of
from assay.server.monitoring.service import Monitor
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.monitoring import read_observations, read_series

SERIES = (
    Series("all", "", "bad"),
    Series("agent", "app", "score"),
    Series("agent", "other", "bad"),
    Series("category", "contextual", "bad"),
    Series("stakes", "low", "withheld"),
    Series("golden", "", "bad"),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "x.db"), clock=Clock(DAY + timedelta(days=2))) as made:
        yield made


def planted(store: Store) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for number in range(300):
        row = row_of(f"{number:032x}", BEGIN + number // 3, float(rng.random() < 0.3))  # three at each moment
        row |= {
            "agent": ("app", "other", None)[int(rng.integers(3))],
            "stakes": ("low", "high")[int(rng.integers(2))],
            "cadence": "golden" if rng.random() < 0.1 else None,
            "categories": ("", "contextual", "contextual factual")[int(rng.integers(3))],
            "sampled": bool(rng.random() < 0.9),
            "probability": 0.5,
        }
        rows.append(row)
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), rows)


@pytest.mark.parametrize("of", SERIES, ids=lambda of: of.key)
def test_the_values_of_a_series_are_those_that_its_observations_have_in_it(store: Store, of: Series) -> None:
    planted(store)
    named, last = (of.metric, of.dimension, of.name), (BEGIN + 60, f"{181:032x}")
    with store.reading(TENANT) as connection:
        rows = [observation_of(row) for row in read_observations(connection, TENANT, BEGIN, BEGIN + 1_000)]
        found = read_series(connection, TENANT, named, BEGIN + 3, last)
        latest = read_series(connection, TENANT, named, BEGIN + 3, last, most=7, latest=True)
        after = read_series(connection, TENANT, named, BEGIN, last, after=(found[4].at, found[4].id))
    known = [
        (one.at, one.id, value)
        for one in rows
        if (value := of.value(one)) is not None and one.at >= BEGIN + 3 and (one.at, one.id) <= last
    ]
    assert [(one.at, one.id, one.value) for one in found] == known
    assert latest == found[-7:]
    assert after == found[5:]
    assert {one.probability for one in found} == {0.5}


def test_charts_are_designed_once_and_not_again_by_the_next_process(store: Store) -> None:
    plant(store, [(900, 0.05)], 3, BEGIN)
    designed.cache_clear()
    Monitor(store, MonitorSettings(QUICK)).run(TENANT, DAY + timedelta(seconds=940))
    assert designed.cache_info().misses > 0
    designed.cache_clear()  # as in a process that has just begun
    plant_more = [row_of(f"e{number:031x}", BEGIN + 950_000_000 + number, 0.0) for number in range(20)]
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), plant_more)
    assert Monitor(store, MonitorSettings(QUICK)).run(TENANT).added == 20
    assert Monitor(store, MonitorSettings(QUICK)).status(TENANT)["series"]
    assert designed.cache_info().misses == 0
