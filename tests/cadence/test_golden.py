"""The golden set: checked row by row, counted when it is complete, compared with its reference."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.cadence.golden_set import SLOT, guard_of, write_rows

from assay.errors import InputError
from assay.monitor import GoldenSet, MonitorSettings, WatchSettings
from assay.policy import Policy
from assay.server.cadence.golden import run_golden, tell_golden
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.store.alerts import AlertState, list_alerts
from assay.store.db import Store
from assay.store.db import tables as _tables
from assay.store.monitoring import REGRESSED, accept_golden, read_golden_runs, read_state

TENANT = "default"
WATCH = WatchSettings(baseline_of={"golden": 50}, settle_s=0.0)


def observed(store: Store) -> list[Any]:
    """What the statistics have of golden runs, moments aside."""
    table = _tables.observations.c
    with store.reading(TENANT) as connection:
        rows = connection.execute(
            select(_tables.observations).where(table.cadence == "golden").order_by(table.at)
        ).all()
    return [(row.id, row.bad, row.score, row.withheld, row.misjudged) for row in rows]


def open_keys(store: Store) -> set[str]:
    with store.reading(TENANT) as connection:
        return {one.key for one in list_alerts(connection, TENANT, store.now(), (AlertState.OPEN,))}


def test_rows_become_observations_of_a_series_of_their_own(url: str, tmp_path: Path) -> None:
    golden = GoldenSet(write_rows(tmp_path / "g.jsonl", 60))
    with Store(url) as store:
        found = run_golden(store, golden, guard_of(), SLOT)
        assert (found.complete, found.checked) == (True, 60)
        assert found.body["means"]["misjudged"] == 0.0
        time.sleep(0.05)
        Monitor(store, MonitorSettings(WATCH)).run(TENANT)
        with store.reading(TENANT) as connection:
            state = read_state(connection, TENANT)
        assert state is not None
        # The whole run counts in the series of the golden set, and in no series of production.
        assert {key: one["seen"] for key, one in state.body["series"].items()} == {
            "bad|golden|": 60,
            "misjudged|golden|": 60,
        }
        told = Monitor(store, MonitorSettings(WATCH)).status(TENANT)
        assert told["rates"]["bad"]["sampled"] == 0
        assert told["cadences"]["golden"]["bad"]["estimate"] == pytest.approx(0.5)
        assert Budgeting(store).read(TENANT)["outputs"] == 0


def test_the_same_moment_of_the_plan_is_checked_once(url: str, tmp_path: Path) -> None:
    golden = GoldenSet(write_rows(tmp_path / "g.jsonl", 5))
    with Store(url) as store:
        run_golden(store, golden, guard_of(), SLOT)
        before = observed(store)
        again = run_golden(store, golden, guard_of(), SLOT)
        assert (again.checked, observed(store)) == (0, before)


def test_a_run_that_is_worse_row_by_row_is_a_regression_until_somebody_accepts_it(url: str, tmp_path: Path) -> None:
    golden = GoldenSet(write_rows(tmp_path / "g.jsonl", 40))
    strict = Policy.model_validate(
        {**guard_of().policy.model_dump(), "emit_threshold": 1.0, "require_relevant_evidence": True}
    )
    with Store(url) as store:
        run_golden(store, golden, guard_of(), SLOT)
        same = run_golden(store, golden, guard_of(), SLOT + 1)
        assert not any(one["regressed"] for one in same.body["against"].values())
        assert REGRESSED not in open_keys(store)
        worse = run_golden(store, golden, guard_of().under(strict), SLOT + 2)
        against = worse.body["against"]["misjudged"]
        assert (against["worse"], against["better"], against["regressed"]) == (20, 0, True)
        assert REGRESSED in open_keys(store)
        assert Budgeting(store).read(TENANT)["golden_regressed"]
        assert accept_golden(store, TENANT, worse.run.id, "dana")
        tell_golden(store, TENANT)
        assert REGRESSED not in open_keys(store)
        later = run_golden(store, golden, guard_of().under(strict), SLOT + 3)
        assert later.body["reference"] == worse.run.id
        assert not any(one["regressed"] for one in later.body["against"].values())
        assert not accept_golden(store, TENANT, "0" * 32, "dana")


def test_what_was_broken_off_goes_on_at_the_next_row(url: str, tmp_path: Path) -> None:
    golden, left = GoldenSet(write_rows(tmp_path / "g.jsonl", 20)), [7]

    def goes_on() -> bool:
        left[0] -= 1
        return left[0] >= 0

    with Store(url) as store:
        part = run_golden(store, golden, guard_of(), SLOT, goes_on=goes_on)
        assert (part.complete, part.checked, observed(store)) == (False, 7, [])
        # At a later moment of the plan the run that was broken off is finished first.
        rest = run_golden(store, golden, guard_of(), SLOT + 5)
        assert (rest.complete, rest.checked, rest.run.id) == (True, 13, part.run.id)
        assert len(observed(store)) == 20


def test_other_rows_or_another_policy_begin_a_run_of_their_own_and_the_old_one_counts_nowhere(
    url: str, tmp_path: Path
) -> None:
    golden, left = GoldenSet(write_rows(tmp_path / "g.jsonl", 20)), [7]

    def goes_on() -> bool:
        left[0] -= 1
        return left[0] >= 0

    with Store(url) as store:
        part = run_golden(store, golden, guard_of(), SLOT, goes_on=goes_on)
        other = run_golden(store, golden, guard_of("rag"), SLOT)
        assert other.run.id != part.run.id
        assert (other.complete, other.checked, len(observed(store))) == (True, 20, 20)
        with store.reading(TENANT) as connection:
            states = {run.id: run.state for run in read_golden_runs(connection, TENANT)}
        assert states == {part.run.id: "left", other.run.id: "done"}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_process_that_is_killed_in_a_run_changes_no_statistic(url: str, tmp_path: Path, seed: int) -> None:
    golden = GoldenSet(write_rows(tmp_path / "g.jsonl", 30))
    with Store(f"sqlite:///{tmp_path / 'whole.db'}") as store:
        run_golden(store, golden, guard_of(), SLOT)
        expected = observed(store)
    with Store(url):
        pass
    draw, kills = random.Random(seed), 0
    command = [sys.executable, "-m", "tests.cadence.golden_set", url, str(golden.rows), "0.02"]
    for _ in range(12):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        stops_at = draw.randrange(1, 12)
        for number, line in enumerate(process.stdout, 1):
            if line == "complete\n":
                break
            if number >= stops_at:
                time.sleep(draw.random() * 0.05)
                process.send_signal(signal.SIGKILL)
                break
        process.stdout.close()
        kills += process.wait() == -signal.SIGKILL
        with Store(url) as store:
            found = observed(store)
        # Nothing of it is seen before all of it is.
        assert found in ([], expected)
        if found:
            break
    assert found == expected
    assert kills >= 1
    with Store(url) as store, store.reading(TENANT) as connection:
        rows = connection.execute(select(func.count()).select_from(_tables.golden_results)).scalar()
    assert rows == 30


def test_a_set_that_cannot_be_read_is_refused_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "g.jsonl").write_text('{"id": "a", "evidence": [], "answer": "x"}\n{"id": 1\n')
    with Store(f"sqlite:///{tmp_path / 'x.db'}") as store, pytest.raises(InputError, match="line 2"):
        run_golden(store, GoldenSet(tmp_path / "g.jsonl"), guard_of(), SLOT)
