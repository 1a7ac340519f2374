"""Runs by a schedule: made once, by one process, gone on with by any, compared, told and paid for."""

import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.redteam.scripted_bot import CALLS, CASES, STOP, WRONG, answer, reset
from tests.server.attacks import recorded
from tests.store.conftest import empty_postgres, postgres, url  # noqa: F401 fixtures
from tests.store.reviewing import Clock

from assay.config import Guard
from assay.errors import InputError, PolicyError
from assay.monitor import BudgetSettings, Every
from assay.redteam.cases import suite_text
from assay.server.monitoring.budget import Budgeting
from assay.server.redteam import due_runs
from assay.server.redteam.due_runs import StoppedError, run_due, run_id_of
from assay.server.redteam.proposals import decide_on
from assay.server.redteam.rows import card_of
from assay.server.redteam.schedules import Schedule, read_schedules, schedules_of
from assay.server.redteam.tasks import schedules_of_server
from assay.store.alerts import list_alerts
from assay.store.db import Store, tables, take_lease
from assay.store.records import micros
from assay.store.redteam import kept_answers, list_proposals, list_runs, read_cases
from assay.testing import FakeScorer

GUARD = Guard("general", scorer=FakeScorer(), environ={})
DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _fresh() -> None:
    reset()


@pytest.fixture
def clock() -> Clock:
    return Clock(DAY)


@pytest.fixture
def store(url: str, clock: Clock) -> Any:  # noqa: F811
    with Store(url, clock=clock) as made:
        yield made


@pytest.fixture
def schedule(tmp_path: Path) -> Schedule:
    (tmp_path / "static.jsonl").write_text(suite_text(CASES), encoding="utf-8")
    return made(tmp_path)


def made(folder: Path, **more: Any) -> Schedule:
    given = {
        "name": "nightly",
        "suite": "static.jsonl",
        "target": "python:tests.redteam.scripted_bot:answer",
        "every": "1d",
        "concurrency": 1,
        **more,
    }
    (found,) = schedules_of({"schedules": [given]}, folder)
    return found


def due(store: Store, *schedules: Schedule, holder: str = "one", stopping: threading.Event | None = None) -> Any:
    return run_due(store.now(), store, schedules, lambda: GUARD, holder, {}, stopping)


def runs(store: Store) -> Any:
    with store.reading("default") as connection:
        return list_runs(connection, "default")


def alerts(store: Store) -> list[tuple[str, str, str]]:
    with store.reading("default") as connection:
        found = list_alerts(connection, "default", store.now())
    return sorted((one.key, one.state.value, one.urgency.value) for one in found)


def test_what_is_due_is_run_once_whoever_asks(store: Store, schedule: Schedule, clock: Clock) -> None:
    (first,) = due(store, schedule)
    assert (first.run.cases, first.run.passed, first.run.regressed) == (40, 40, None)
    assert (first.run.schedule, first.run.id) == ("nightly", run_id_of(schedule, first.run.due))
    for holder in ("one", "two"):
        assert due(store, schedule, holder=holder) == []
    clock.go(hours=11)
    assert due(store, schedule) == []
    clock.go(hours=2)
    (second,) = due(store, schedule, holder="two")
    assert second.run.regressed is False
    assert set(CALLS.values()) == {2}
    assert len(runs(store)) == 2


def test_another_process_does_nothing_while_one_has_the_turn(store: Store, schedule: Schedule) -> None:
    assert take_lease(store, "default", "redteam:nightly", "another", 60)
    assert due(store, schedule) == []
    assert (CALLS.total(), runs(store)) == (0, [])


def test_of_many_processes_at_once_one_runs_it(store: Store, schedule: Schedule) -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda name=name: found.extend(due(store, schedule, holder=name)))
        for name in ("a", "b", "c", "d")
    ]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 1
    assert set(CALLS.values()) == {1}
    assert len(runs(store)) == 1


def test_a_run_that_was_stopped_is_gone_on_with_by_another_process(store: Store, schedule: Schedule) -> None:
    STOP.append(threading.Event())
    with pytest.raises(StoppedError):
        due(store, schedule, stopping=STOP[0])
    with store.reading("default") as connection:
        kept = kept_answers(connection, "default", run_id_of(schedule, micros(schedule.when.last(DAY))))
    # What was under way when it was stopped was waited for, and is kept too.
    assert len(kept) == CALLS.total()
    assert 12 <= len(kept) < 40
    assert runs(store) == []
    asked = Counter(CALLS)
    assert due(store, schedule, holder="two") == []  # the first one's turn is not over yet
    STOP.clear()
    (found,) = due(store, schedule, holder="one")
    assert (found.run.cases, found.run.unjudged) == (40, 0)
    assert set(CALLS.values()) == {1}
    assert asked.total() < 40
    with store.reading("default") as connection:
        assert kept_answers(connection, "default", found.run.id) == []


def test_a_regression_is_an_alert_that_names_no_text_and_is_over_when_it_is_mended(
    store: Store, schedule: Schedule, clock: Clock
) -> None:
    due(store, schedule)
    clock.go(hours=24)
    WRONG.update(one.id for one in CASES[:16])
    (found,) = due(store, schedule)
    assert found.run.regressed
    assert alerts(store) == [("redteam:nightly", "open", "critical")]
    with store.reading("default") as connection:
        (alert,) = list_alerts(connection, "default", store.now())
        outbox = connection.execute(tables.outbox.select()).all()
    assert alert.kind == "redteam.regression"
    assert alert.facts["run"] == found.run.id
    assert "16 broke" in alert.summary
    assert [row.event for row in outbox] == ["alert.opened"]
    assert outbox[0].body["runbook"] == "docs/runbooks.md#redteam-regression"
    assert "90 weeks" not in str(outbox[0].body)
    # It is told once while it holds, though a run that regressed is no baseline.
    clock.go(hours=24)
    (again,) = due(store, schedule)
    assert again.run.regressed
    WRONG.clear()
    clock.go(hours=24)
    (mended,) = due(store, schedule)
    assert mended.run.regressed is False
    assert alerts(store) == [("redteam:nightly", "closed", "critical")]


def test_a_slow_decline_is_found_against_the_first_run(store: Store, schedule: Schedule, clock: Clock) -> None:
    found = []
    for step in range(8):
        WRONG.update(one.id for one in CASES[:step])
        found += due(store, schedule)
        clock.go(hours=24)
    # One case in forty from day to day is within what a gate lets pass; three of them against the first day are not.
    assert [one.run.regressed for one in found[:2]] == [None, False]
    assert all(one.run.regressed for one in found[3:])


def test_what_cannot_be_judged_is_told_and_no_pass(store: Store, tmp_path: Path, schedule: Schedule) -> None:
    (found,) = due(store, made(tmp_path, target="command:/nowhere/at-all"))
    assert (found.run.passed, found.run.unjudged, found.run.ars) == (0, 40, None)
    assert alerts(store) == [("redteam:nightly/unjudged", "open", "warning")]


def test_what_cannot_be_run_is_told_and_tried_again_later(
    store: Store, tmp_path: Path, schedule: Schedule, clock: Clock
) -> None:
    lost = made(tmp_path, suite="gone.jsonl")
    (found,) = due(store, lost)
    assert found.run is None
    assert alerts(store) == [("redteam:nightly/failed", "open", "warning")]
    with store.reading("default") as connection:
        (alert,) = list_alerts(connection, "default", store.now())
    assert str(tmp_path) not in alert.summary + str(alert.facts)
    assert due(store, lost) == []
    clock.go(minutes=11)
    (found,) = due(store, schedule)
    assert found.run is not None
    assert alerts(store) == [("redteam:nightly/failed", "closed", "warning")]


def test_categories_are_a_scope_and_failures_are_proposed(store: Store, tmp_path: Path, schedule: Schedule) -> None:
    WRONG.add(CASES[0].id)
    (found,) = due(store, made(tmp_path, categories=["knowledge_boundary", "scale_stress"], propose=True))
    with store.reading("default") as connection:
        cases = read_cases(connection, "default", found.run.id)
        proposals = list_proposals(connection, "default")
    assert {one.category for one in cases} == {"knowledge_boundary", "scale_stress"}
    assert [(one.id, one.run) for one in proposals] == [(CASES[0].id, found.run.id)]


def test_the_suite_that_people_approved_is_run_as_it_stands_then(store: Store, tmp_path: Path) -> None:
    approved = made(tmp_path, suite="approved")
    (found,) = due(store, approved)
    assert "no case" in found.error
    recorded(store, 1, failing=(0,), cases=CASES, proposes=True)
    decide_on(store, "default", CASES[0].id, "approve", "ann", "user:ann", "It happens.")
    other = made(tmp_path, suite="approved", name="other")
    (found,) = due(store, other)
    assert (found.run.cases, found.run.suite_name) == (1, "approved")


def test_failures_spend_the_budget_as_the_schedule_says(store: Store, tmp_path: Path, schedule: Schedule) -> None:
    WRONG.update(one.id for one in CASES[:10])
    desk = Budgeting(store, BudgetSettings(most=0.05))
    before = desk.reading("default")
    due(store, made(tmp_path, name="free"))
    assert desk.reading("default").spent == before.spent
    due(store, made(tmp_path, name="dear", budget=0.5))
    found = desk.reading("default")
    assert (found.spent - before.spent, found.attacks, found.outputs) == (5.0, 5.0, before.outputs)
    assert Budgeting(store, BudgetSettings(metric="score")).reading("default").attacks == 0
    assert desk.read("globex")["attacks"] == 0


def test_tenants_have_schedules_of_their_own(store: Store, tmp_path: Path, schedule: Schedule) -> None:
    due(store, schedule, made(tmp_path, tenant="globex"))
    with store.reading("globex") as connection:
        (theirs,) = list_runs(connection, "globex")
    assert len(runs(store)) == 1
    assert theirs.id != runs(store)[0].id


def test_a_run_is_bounded_by_tokens_and_money_and_each_category_has_its_share(store: Store, tmp_path: Path) -> None:
    (tmp_path / "static.jsonl").write_text(suite_text(CASES), encoding="utf-8")
    due(store, made(tmp_path, name="tokens", most_tokens=400))
    due(store, made(tmp_path, name="money", most_cost=0.004, price_in=10, price_out=10))
    for run in runs(store):
        judged = [group.cases - group.unjudged for group in card_of(store, "default", run).categories.values()]
        assert 0 < sum(judged) < len(CASES), run.schedule
        assert max(judged) - min(judged) <= 1, run.schedule


YAML = """
version: 1
policy: rag
redteam:
  schedules:
    - name: nightly
      suite: suites/static.jsonl
      target: http://localhost:8080/v1
      target_model: llama
      cron: "30 2 * * 1-5"
      categories: [scale_stress]
      budget: 0.1
      since: "2026-03-01"
    - {name: hourly, suite: approved, target: "python:bot.py:answer", every: 1h, tenant: globex}
"""


def test_schedules_stand_in_assay_yaml_beside_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "assay.yaml"
    path.write_text(YAML, encoding="utf-8")
    nightly, hourly = read_schedules(path)
    assert nightly.suite == str(tmp_path / "suites/static.jsonl")
    assert nightly.when.last(DAY).isoformat() == "2026-02-27T02:30:00+00:00"
    assert nightly.begins == micros(datetime(2026, 3, 1, tzinfo=UTC))
    assert (hourly.when, hourly.suite, hourly.tenant) == (Every(3600), "approved", "globex")
    assert hourly.target == f"python:{tmp_path / 'bot.py'}:answer"
    assert schedules_of_server(str(path), {}) == (nightly, hourly)
    assert schedules_of_server("rag", {"ASSAY_CONFIG": str(path)}) == (nightly, hourly)
    assert schedules_of_server("rag", {}) == ()
    with pytest.raises(PolicyError):
        read_schedules(tmp_path / "gone.yaml")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"every": "1d", "cron": "* * * * *"}, "one of every and cron"),
        ({"cron": "99 * * * *"}, "minute"),
        ({"every": "1d", "name": "Nightly run"}, "name of a schedule"),
        ({"every": "1d", "categories": ["weather"]}, "categories among"),
        ({"every": "1d", "concurrency": 0}, "above 0"),
        ({"every": "1d", "concurrency": "4"}, "concurrency"),
        ({"every": "1d", "budget": 2}, "budget"),
        ({"every": "1d", "since": "yesterday"}, "a day"),
        ({"every": "1d", "propose": 1}, "propose"),
        ({"every": "1d", "more": 1}, "more"),
        ({"every": "1d", "most_tokens": 0}, "above 0"),
        ({"every": "1d", "most_cost": 1.5}, "both prices"),
        ({"every": "1d", "price_in": -1}, "prices"),
        ({"every": "1d", "rate": float("nan")}, "above 0"),
        ({"every": "1d", "name": None}, "name"),
        ({"every": "1d", "suite": None}, "suite"),
        ({"every": "1d", "target": None}, "target"),
        ({"every": "1d", "tenant": None}, "tenant"),
    ],
)
def test_a_schedule_that_is_none_is_refused_with_what_is_wrong(change: dict[str, Any], says: str) -> None:
    given = {"name": "nightly", "suite": "a.jsonl", "target": "python:a:b", **change}
    with pytest.raises(InputError, match=says):
        schedules_of({"schedules": [given]}, Path())


def test_a_turn_that_is_lost_ends_the_run_and_keeps_what_was_answered(
    store: Store, schedule: Schedule, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due_runs, "BEAT_S", 0.01)
    cases = iter(range(100))

    class Slow:
        """Lets another process take the turn in the middle of the run."""

        name = "slow"

        def ask(self, request: dict[str, Any]) -> str:
            if next(cases) == 5:
                # The one who has it renews it meanwhile: the other is faster sooner or later.
                taken = False
                while not taken:
                    clock.go(minutes=5)
                    taken = take_lease(store, "default", "redteam:nightly", "another", 60)
                threading.Event().wait(0.3)
            return answer(request)

    monkeypatch.setattr("assay.server.redteam.due_runs.load_target", lambda *_: Slow())
    assert due(store, schedule) == []
    assert runs(store) == []
    assert CALLS.total() < 40
