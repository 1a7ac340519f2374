"""Sketches are what the record says, however they were counted: in any parts, by several at once, through any death."""

import os
import random
import signal
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update
from tests.store.making import record_of, report_of

from assay.schema import Category, Identity, Labels, Metric
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records import erase_runs, give_feedback
from assay.store.sketches import (
    Sketch,
    TimeRange,
    count_part,
    difference,
    read_measured,
    read_worst,
    recount,
    uncounted_entries,
)
from assay.store.sketches.metrics import CORRECTED, FAITHFULNESS, WITHHELD
from assay.store.sketches.output_state import OutputState
from assay.store.sketches.queries import counted_until, read_agents

NOON = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(VALUES, VALUES)
def test_sketches_that_are_added_are_the_sketch_of_all_values(first: list[float], second: list[float]) -> None:
    assert Sketch.of(first) + Sketch.of(second) == Sketch.of([*first, *second])
    assert Sketch.of(first) + Sketch.of(second) == Sketch.of(second) + Sketch.of(first)


@given(VALUES)
def test_the_mean_is_that_of_the_values_and_lies_in_its_interval(values: list[float]) -> None:
    sketch = Sketch.of(values)
    assert sketch.mean == pytest.approx(sum(values) / len(values), abs=1e-4)
    assert sum(sketch.histogram()) == sketch.count == len(values)
    interval = sketch.mean_interval()
    if len(values) < 2:
        assert interval is None
    else:
        assert interval is not None
        assert sketch.mean is not None
        assert 0 <= interval[0] <= sketch.mean + 1e-9
        assert sketch.mean - 1e-9 <= interval[1] <= 1


def test_an_interval_of_the_mean_covers_it_as_often_as_it_says() -> None:
    draw = random.Random(7)
    covered = 0
    for _ in range(2_000):
        interval = Sketch.of([draw.betavariate(6, 2) for _ in range(60)]).mean_interval()
        assert interval is not None
        covered += interval[0] <= 0.75 <= interval[1]
    assert 0.93 <= covered / 2_000 <= 0.97


def test_a_few_equal_values_are_never_a_certain_difference() -> None:
    found = difference(Sketch.of([0.0, 0.0]), Sketch.of([1.0, 1.0]))
    assert found is not None
    assert found[1] < -1 < found[2]
    assert difference(Sketch.of([1.0]), Sketch.of([0.0] * 50)) is None


def made(score: float, faithfulness: float | None, **more: Any) -> Any:
    """A report with these metrics."""
    metric = Metric(undefined="nothing was checked") if faithfulness is None else Metric(value=faithfulness)
    labels = Labels(
        verdict="FAIL", abstention="ABSTAIN", routing="WITHHOLD" if score < 0.4 else "SERVE", escalation="block"
    )
    composite = Metric(value=1 - score)
    metrics = {"faithfulness": metric, "composite_hallucination_score": composite}
    return report_of(overall_score=score, metrics=metrics, labels=labels, **more)


def fill(store: Store, number: int, seed: int = 1) -> list[str]:
    """Records with metrics and feedback, at the store's clock."""
    draw = random.Random(seed)
    ids = []
    for at in range(number):
        score = round(draw.random(), 3)
        categories = (Category.FACTUAL,) if score < 0.5 else ()
        record = record_of(
            report=made(score, None if at % 7 == 3 else score, categories=categories), caller=f"agent-{at % 3}"
        )
        store.record(record)
        ids.append(record.id)
        if at % 5 == 0:
            give_feedback(store, record.id, "wrong" if at % 2 else "right", claim=0)
        if at % 4 == 0:
            give_feedback(store, draw.choice(ids), "wrong")
    return ids


def content(store: Store) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """All rows of the sketches."""
    with store.reading("default") as connection:
        cells = connection.execute(select(tables.sketches)).all()
        worst = connection.execute(select(tables.worst_outputs)).all()
    kept = [tuple(row) for row in cells if any(row[-3:])]
    return sorted(kept), sorted(tuple(row) for row in worst)


def counted(store: Store, parts: Sequence[int] = (400,)) -> None:
    """Count everything in parts of these sizes."""
    at = 0
    while count_part(store, "default", parts[at % len(parts)]):
        at += 1


def test_sketches_are_those_of_the_reports(url: str) -> None:
    moments = iter([NOON - timedelta(hours=hours) for hours in (0, 0, 1, 30)] + [NOON] * 9)
    with Store(url, clock=lambda: next(moments)) as store:
        for score in (0.9, 0.3, 0.5, 0.7):
            store.record(record_of(report=made(score, score), caller="bot"))
        counted(store)
        with store.reading("default") as connection:
            day = read_measured(connection, "default", [FAITHFULNESS, WITHHELD], TimeRange.until(NOON, 24, 1))
            days = read_measured(connection, "default", [FAITHFULNESS], TimeRange.until(NOON, 3, 24))
            other = read_measured(connection, "other", [FAITHFULNESS], TimeRange.until(NOON, 24, 1))
            agents = read_agents(connection, "default", [FAITHFULNESS], TimeRange.until(NOON, 2, 24))
            worst = read_worst(connection, "default", TimeRange.until(NOON, 24, 1), 2)
    assert day.whole(FAITHFULNESS) == Sketch.of([0.9, 0.3, 0.5])
    assert day.part(FAITHFULNESS, 23) == Sketch.of([0.9, 0.3])
    assert day.whole(WITHHELD).hits == 1
    assert days.whole(FAITHFULNESS) == Sketch.of([0.9, 0.3, 0.5, 0.7])
    assert days.stretch.step == 24
    assert other.whole(FAITHFULNESS).count == 0
    assert agents["bot"][FAITHFULNESS].count == 4
    assert [one.score for one in worst] == [0.3, 0.5]


def test_any_parts_give_the_same_sketches(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'a.db'}", clock=lambda: NOON) as store:
        fill(store, 40)
        counted(store)
        whole = content(store)
        for seed in range(4):
            draw = random.Random(seed)
            with store.engine.begin() as connection:
                for name in ("sketches", "sketch_cursors", "worst_outputs"):
                    connection.exec_driver_sql(f"DELETE FROM {name}")  # noqa: S608 names of this test
            counted(store, [draw.randrange(1, 12) for _ in range(9)])
            assert content(store) == whole
        recount(store, "default")
        assert content(store) == whole
        with store.reading_across() as connection:
            assert uncounted_entries(connection) == {}


def test_what_is_counted_while_more_is_recorded_is_what_a_recount_gives(url: str) -> None:
    with Store(url, clock=lambda: NOON) as store:
        ended = threading.Event()

        def count() -> None:
            while not ended.is_set():
                count_part(store, "default", 7)

        threads = [threading.Thread(target=count) for _ in range(2)]
        for thread in threads:
            thread.start()
        fill(store, 60, seed=3)
        ended.set()
        for thread in threads:
            thread.join()
        counted(store)
        once = content(store)
        recount(store, "default")
        assert content(store) == once


def test_a_kill_at_any_moment_changes_no_sketch(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    with Store(f"sqlite:///{path}", clock=lambda: NOON) as store:
        fill(store, 80, seed=5)
    draw = random.Random(11)
    for _ in range(12):
        child = os.fork()
        if child == 0:
            try:
                with Store(f"sqlite:///{path}") as store:
                    counted(store, [draw.randrange(1, 6)])
            finally:
                os._exit(0)
        threading.Event().wait(draw.random() * 0.15)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with Store(f"sqlite:///{path}") as store:
        counted(store)
        through = content(store)
        recount(store, "default")
        assert content(store) == through


def test_feedback_counts_once_for_an_output_and_can_be_taken_back(url: str) -> None:
    with Store(url, clock=lambda: NOON) as store:
        record = record_of(report=made(0.9, 0.9))
        store.record(record)
        stretch = TimeRange.until(NOON, 1, 1)

        def corrected() -> tuple[int, int]:
            counted(store)
            with store.reading("default") as connection:
                found = read_measured(connection, "default", [CORRECTED], stretch).whole(CORRECTED)
            return found.hits, found.count

        assert corrected() == (0, 1)
        for _ in range(3):
            give_feedback(store, record.id, "wrong")
        assert corrected() == (1, 1)
        give_feedback(store, record.id, "wrong", claim=0)
        give_feedback(store, record.id, "right")
        assert corrected() == (1, 1)
        give_feedback(store, record.id, "right", claim=0)
        assert corrected() == (0, 1)


def test_what_people_say_of_claims_is_set_against_the_verifiers_score(url: str) -> None:
    with Store(url, clock=lambda: NOON) as store:
        record = record_of(report=made(0.9, 0.9))
        store.record(record)
        give_feedback(store, record.id, "wrong", claim=0)
        give_feedback(store, record.id, "right")
        counted(store)
        with store.reading("default") as connection:
            found = read_measured(
                connection, "default", ["claim.right", "claim.wrong", "output.right"], TimeRange.until(NOON, 1, 1)
            )
    assert found.whole("claim.right").count == 0
    assert found.whole("claim.wrong") == Sketch.of([0.97])
    assert found.whole("output.right") == Sketch.of([0.9])


def test_an_output_that_was_erased_before_it_was_counted_counts_by_its_entry(url: str) -> None:
    with Store(url, clock=lambda: NOON) as store:
        record = record_of(report=made(0.2, 0.2), caller="bot")
        store.record(record)
        erase_runs(store, [record.id], "asked for", "default")
        counted(store)
        with store.reading("default") as connection:
            found = read_measured(connection, "default", [WITHHELD, FAITHFULNESS], TimeRange.until(NOON, 1, 1))
            agents = read_agents(connection, "default", [WITHHELD], TimeRange.until(NOON, 1, 24))
    assert found.whole(WITHHELD).count == 1
    assert found.whole(FAITHFULNESS).count == 0
    assert agents == {}


def test_an_hour_keeps_its_worst_outputs_and_no_more(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'w.db'}", clock=lambda: NOON) as store:
        for score in (0.9, 0.5, 0.1, 0.7, 0.3, 0.2, 0.6, 0.2):
            store.record(record_of(report=made(score, score, verifier=Identity(name="v", digest="c" * 64))))
        counted(store, [2])
        with store.reading("default") as connection:
            found = read_worst(connection, "default", TimeRange.until(NOON, 1, 1), 10)
    assert [one.score for one in found] == [0.1, 0.2, 0.2, 0.3, 0.5]


def test_a_label_of_what_is_no_position_counts_for_nothing() -> None:
    labels = {"\u00b2": "supported", "x": "supported", "1": "contradicted"}
    assert OutputState().after({"kind": "review", "act": "approve", "labels": labels}).reviewers == {
        None: True,
        1: False,
    }


def test_entries_count_as_counted_under_the_definition_of_now_alone(tmp_path: Path) -> None:
    with Store(str(tmp_path / "x.db")) as store:
        store.record(record_of())
        while count_part(store, "default"):
            pass
        with store.reading("default") as connection:
            assert counted_until(connection, "default") == (1, 1)
        with store.engine.begin() as connection:
            connection.execute(update(tables.sketch_cursors).values(version=0))
        with store.reading("default") as connection:
            assert counted_until(connection, "default") == (0, 1)
