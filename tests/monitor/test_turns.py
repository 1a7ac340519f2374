"""The monitor over a record: turns that may be repeated, cut off, and overtaken by what comes late."""

import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, insert, select
from tests.monitor.recording import DAY, KEY, RING, TENANT, Clock, fill, plant, row_of
from tests.store.making import KEYS

from assay.monitor import MonitorSettings, Sampling, WatchSettings
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.column_values import micros
from assay.store.db.store import Store
from assay.store.monitoring import (
    ChangeRow,
    add_changes,
    detected_changes,
    each_observation,
    read_alarms,
    read_changes,
    read_observations,
    read_state,
    set_alarm,
)
from assay.store.monitoring.observations import mark_late

QUICK = WatchSettings(
    metrics={"bad": ("all", "agent", "category")},
    shift=0.1,
    false_alarm_every=5_000,
    baseline_observations=400,
    settle_s=0.0,
)
BEGIN = micros(DAY)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store(str(tmp_path / "x.db"), clock=clock) as made:
        yield made


def body_of(store: Store) -> Any:
    with store.reading(TENANT) as connection:
        state = read_state(connection, TENANT)
    assert state is not None
    return state.body


def test_outputs_are_observed_once_and_the_charts_moved_on(store: Store, clock: Clock) -> None:
    fill(store, clock, [False, True, False])
    clock.now += timedelta(seconds=1)
    monitor = Monitor(store, MonitorSettings(QUICK))
    turn = monitor.run(TENANT)
    assert (turn.observed, turn.added) == (3, 3)
    again = monitor.run(TENANT)
    assert (again.observed, again.added) == (0, 0)
    with store.reading(TENANT) as connection:
        rows = connection.execute(select(tables.observations).order_by(tables.observations.c.at)).all()
    assert [row.bad for row in rows] == [0.0, 1.0, 0.0]
    assert [row.withheld for row in rows] == [0.0, 1.0, 0.0]
    assert [round(row.score, 3) for row in rows] == [0.03, 0.9, 0.03]
    assert rows[1].categories == "contextual"
    assert rows[0].agent == "app"


def test_what_is_not_drawn_is_recorded_as_such_and_counts_in_no_chart(store: Store, clock: Clock) -> None:
    fill(store, clock, [False] * 40)
    clock.now += timedelta(seconds=1)
    sampling = Sampling(stakes={"high": 1.0, "medium": 0.3, "low": 0.01})
    Monitor(store, MonitorSettings(QUICK, sampling)).run(TENANT)
    with store.reading(TENANT) as connection:
        rows = connection.execute(select(tables.observations)).all()
    drawn = [row for row in rows if row.sampled]
    assert 0 < len(drawn) < 40
    assert all(row.bad is None for row in rows if not row.sampled)
    assert {row.probability for row in rows} == {0.3}
    assert body_of(store)["unsampled"] == 40 - len(drawn)


def test_a_rise_is_found_and_put_down_to_the_change_before_it(store: Store, clock: Clock) -> None:
    moments = plant(store, [(1_000, 0.05), (600, 0.25)], 3, BEGIN)
    changed = moments[1_000] - 1
    add_changes(
        store,
        TENANT,
        [
            ChangeRow("one", moments[100], "index", "v1"),
            ChangeRow("two", changed, "prompt", "greeting v7"),
            ChangeRow("three", moments[1_300], "code", "abc"),
        ],
    )
    clock.now = DAY + timedelta(seconds=2_000)
    turn = Monitor(store, MonitorSettings(QUICK)).run(TENANT)
    assert turn.alarms >= 1
    with store.reading(TENANT) as connection:
        found = [one for one in read_alarms(connection, TENANT) if one.series == "bad|all|"]
    first = min(found, key=lambda one: one.at)
    assert moments[1_000] < first.at < moments[1_300]
    assert first.body["cause"]["id"] == "two"
    assert first.body["cause"]["probability"] > 0.9
    assert [one["id"] for one in first.body["others"]] == ["one"]
    assert first.body["regression"]["after"] > first.body["regression"]["before"]
    assert 0.05 < first.body["rate"]["estimate"] < 0.5
    assert len(first.body["worst"]) == 5
    now = next(one for one in Monitor(store, MonitorSettings(QUICK)).status(TENANT)["alarms"] if one["id"] == first.id)
    assert now["regression_now"]["sure"]
    assert now["regression_now"]["low"] > 0
    assert first.body["statistic"] > first.body["threshold"]
    assert first.body["actions"]


def test_in_however_many_turns_the_charts_come_to_the_same(tmp_path: Path) -> None:
    states = []
    for number, cuts in enumerate(([], [700], [1, 2, 3, 450, 451, 1_100])):
        clock = Clock()
        with Store(str(tmp_path / f"{number}.db"), clock=clock) as store:
            plant(store, [(900, 0.05), (500, 0.2)], 5, BEGIN)
            monitor = Monitor(store, MonitorSettings(QUICK))
            for cut in (*cuts, 5_000):
                clock.now = DAY + timedelta(seconds=cut)
                monitor.run(TENANT)
            with store.reading(TENANT) as connection:
                alarms = sorted(one.id for one in read_alarms(connection, TENANT))
            states.append(({**body_of(store), "until": 0}, alarms))
    assert states[0] == states[1] == states[2]
    assert states[0][1]


def test_what_comes_late_moves_the_charts_as_if_it_had_come_in_time(tmp_path: Path) -> None:
    found = []
    for late in (False, True):
        clock = Clock()
        with Store(str(tmp_path / f"{late}.db"), clock=clock) as store:
            moments = plant(store, [(2_500, 0.06)], 8, BEGIN, every=60_000_000)
            extra = [row_of(f"f{number:031x}", moments[1_500 + number] + 1, 1.0) for number in range(30)]
            monitor = Monitor(store, MonitorSettings(QUICK))
            clock.now = DAY + timedelta(days=3)
            if late:
                first = monitor.run(TENANT)
                assert first.added == 2_500
            with store.engine.begin() as connection:
                connection.execute(insert(tables.observations), extra)
                mark_late(connection, TENANT, [int(str(row["at"])) for row in extra])
            again = monitor.run(TENANT)
            assert again.added < 2_500 or not late  # it went back to a snapshot, not to the beginning
            with store.reading(TENANT) as connection:
                found.append((body_of(store), sorted((one.id, one.state) for one in read_alarms(connection, TENANT))))
    assert found[0] == found[1]


def test_an_alarm_that_what_came_late_shows_to_be_none_is_withdrawn(store: Store, clock: Clock) -> None:
    moments = plant(store, [(800, 0.05), (60, 1.0)], 8, BEGIN)
    clock.now = DAY + timedelta(seconds=5_000)
    monitor = Monitor(store, MonitorSettings(QUICK))
    assert monitor.run(TENANT).alarms
    extra = [row_of(f"f{number:031x}", moments[800] + number + 1, 0.0) for number in range(3_000)]
    spread = [
        row_of(f"d{number:015x}{step:016x}", moment + 1 + step, 0.0)
        for number, moment in enumerate(moments[801:])
        for step in range(20)
    ]
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), extra + spread)
        mark_late(connection, TENANT, [int(str(row["at"])) for row in extra])
    monitor.run(TENANT)
    with store.reading(TENANT) as connection:
        states = {one.state for one in read_alarms(connection, TENANT) if one.direction == "up"}
    assert states == {"withdrawn"}


def test_what_is_far_too_late_moves_no_chart_and_is_counted(store: Store, clock: Clock) -> None:
    plant(store, [(500, 0.05)], 8, BEGIN)
    clock.now = DAY + timedelta(days=20)
    monitor = Monitor(store, MonitorSettings(QUICK))
    monitor.run(TENANT)
    before = body_of(store)
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), [row_of("f" * 32, BEGIN + 5, 1.0)])
        mark_late(connection, TENANT, [BEGIN + 5])
    monitor.run(TENANT)
    after = body_of(store)
    assert after["too_late"] == 1
    assert after["series"] == before["series"]


def test_changes_show_in_the_digests_of_what_passes_through(store: Store, clock: Clock) -> None:
    fill(store, clock, [False])
    with store.engine.begin() as connection:
        connection.execute(
            insert(tables.verifiers),
            {
                "tenant": TENANT,
                "digest": "e" * 64,
                "name": "next",
                "created": micros(clock.now) + 1,
            },
        )
    monitor = Monitor(store, MonitorSettings(QUICK))
    assert monitor.run(TENANT).changes == 1
    assert monitor.run(TENANT).changes == 0
    with store.reading(TENANT) as connection:
        (row,) = read_changes(connection, TENANT)
    assert (row.kind, row.ref, row.source) == ("verifier", "e" * 64, "seen")


def test_the_log_tells_of_changes_and_alarms_and_holds(store: Store, clock: Clock) -> None:
    plant(store, [(800, 0.05), (200, 0.5)], 8, BEGIN)
    add_changes(store, TENANT, [ChangeRow("one", BEGIN, "prompt", "v2", "a \x00 note")])
    clock.now = DAY + timedelta(seconds=5_000)
    Monitor(store, MonitorSettings(QUICK)).run(TENANT)
    with store.reading(TENANT) as connection:
        alarm = read_alarms(connection, TENANT)[0]
    assert set_alarm(store, TENANT, alarm.id, "acknowledged", "ann")
    assert not set_alarm(store, TENANT, "0" * 32, "acknowledged", "ann")
    make_checkpoint(store, KEYS, TENANT)
    with store.reading(TENANT) as connection:
        found = verify_contents(connection, TENANT, verify_log(connection, TENANT, RING))
        kinds = set(connection.execute(select(tables.audit_entries.c.kind)).scalars())
    assert found.holds, found.findings
    assert {"change", "alarm"} <= kinds
    assert KEY.key_id


CHILD = textwrap.dedent("""
    import sys
    from datetime import timedelta
    from tests.monitor.recording import DAY, TENANT, Clock
    from tests.monitor.test_turns import QUICK
    import assay.server.monitoring.service as service
    from assay.monitor import MonitorSettings
    from assay.store.db.store import Store
    import assay.store.monitoring as monitoring
    service.MOST_READ = 25
    clock = Clock(DAY + timedelta(seconds=9_000))
    with Store(sys.argv[1], clock=clock) as store:
        print("begun", flush=True)
        service.Monitor(store, MonitorSettings(QUICK)).run(TENANT)
        print("done", flush=True)
""")


def test_a_kill_at_any_moment_changes_no_statistic(url: str, tmp_path: Path) -> None:
    def made(where: str) -> str:
        with Store(where, clock=Clock()) as store:
            plant(store, [(1_200, 0.05), (500, 0.3)], 13, BEGIN)
        return where

    def outcome(where: str) -> Any:
        with Store(where, clock=Clock()) as store, store.reading(TENANT) as connection:
            alarms = sorted(one.id for one in read_alarms(connection, TENANT))
            entries = connection.execute(
                select(func.count()).select_from(tables.audit_entries).where(tables.audit_entries.c.kind == "alarm")
            ).scalar()
            return body_of(store), alarms, entries

    whole, cut = made(f"sqlite:///{tmp_path / 'whole.db'}"), made(url)
    command = [sys.executable, "-c", CHILD]
    subprocess.run([*command, whole], check=True, timeout=120)
    draw, kills = random.Random(1), 0
    for _ in range(3):
        running = subprocess.Popen([*command, cut], stdout=subprocess.PIPE, text=True)
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        time.sleep(draw.uniform(0.0, 0.4))
        running.send_signal(signal.SIGKILL)
        finished = "done" in running.stdout.read()
        running.wait(30)
        running.stdout.close()
        kills += not finished
        if finished:
            break
    assert kills
    subprocess.run([*command, cut], check=True, timeout=120)
    assert outcome(cut) == outcome(whole)


def test_no_more_is_read_at_once_however_many_outputs_and_models_there_are(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, clock, [False, True] * 6)
    clock.now += timedelta(seconds=1)
    monitor = Monitor(store, MonitorSettings(QUICK))
    monitor.run(TENANT)
    whole = Budgeting(store).read(TENANT)
    assert monitor.status(TENANT)["rates"]["bad"]["outputs"] == 12
    monkeypatch.setattr("assay.server.monitoring.service.MOST_COMPARED", 4)
    assert monitor.status(TENANT)["rates"]["bad"]["outputs"] == 4
    monkeypatch.setattr("assay.store.monitoring.charts.MOST_READ", 5)
    with store.reading(TENANT) as connection:
        parts = list(each_observation(connection, TENANT, 0, micros(clock.now)))
        assert parts == read_observations(connection, TENANT, 0, micros(clock.now))
        assert read_observations(connection, TENANT, 0, micros(clock.now), 3, latest=True) == parts[-3:]
    assert Budgeting(store).read(TENANT) == whole
    with store.engine.begin() as connection:
        for number, row in enumerate(parts):
            table = tables.observations
            connection.execute(table.update().where(table.c.id == row["id"]).values(model=f"m{number}"))
    monkeypatch.setattr("assay.store.monitoring.changes.MOST", 3)
    with store.reading(TENANT) as connection:
        assert [one.ref for one in detected_changes(connection, TENANT) if one.kind == "model"] == ["m9", "m10", "m11"]
