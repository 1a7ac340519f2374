"""Timed work: when its plan says so, by one of several processes, and caught up with after a gap."""

import asyncio
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.cadence.golden_set import guard_of, write_rows
from tests.monitor.recording import Clock, fill

from assay.errors import VerifierError
from assay.monitor import MonitorSettings, TimedStep, monitor_settings
from assay.server.app import Application, create_app
from assay.server.cadence.timer import LEASE_S, RETRY_S, Done, Timer
from assay.server.guards import Guards
from assay.server.settings import ServerSettings
from assay.store.db import Store
from assay.store.monitoring import count_results, read_golden_runs, read_timed_work
from assay.testing import FakeScorer

TENANT = "default"


class Ticks:
    """A clock of a process, that is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def timer_of(store: Store, settings: MonitorSettings, ticks: Ticks, holder: str) -> Timer:
    return Timer(store, settings, guard_of, holder, clock=ticks)


def steps_of(done: list[Done]) -> list[tuple[TimedStep, bool]]:
    return [(one.step, one.finished) for one in done]


def test_a_step_is_done_once_for_each_moment_of_its_plan_whoever_asks(url: str, clock: Clock) -> None:
    settings, ticks = monitor_settings({"schedule": {"turn": {"every": "1m"}, "budget": "off"}}), Ticks()
    with Store(url, clock=clock) as here, Store(url, clock=clock) as there:
        fill(here, clock, [True, False])
        one, two = timer_of(here, settings, ticks, "one"), timer_of(there, settings, ticks, "two")
        done = 0
        for _ in range(5):
            clock.now += timedelta(minutes=1)
            ticks.now += 60
            found = [*two.once(), *one.once(), *two.once()]
            assert steps_of(found) == [(TimedStep.TURN, True)]
            done += 1
        with here.reading(TENANT) as connection:
            work = read_timed_work(connection, TENANT)["turn"]
        assert done == 5
        assert work.done
        assert "seconds" in work.body


def test_one_leader_keeps_a_step_and_another_takes_it_when_the_leader_has_gone(url: str, clock: Clock) -> None:
    settings, ticks = monitor_settings({"schedule": {"turn": {"every": "10s"}, "budget": "off"}}), Ticks()
    with Store(url, clock=clock) as here, Store(url, clock=clock) as there:
        fill(here, clock, [False])
        one, two = timer_of(here, settings, ticks, "one"), timer_of(there, settings, ticks, "two")
        assert one.once()
        for _ in range(6):
            clock.now += timedelta(seconds=10)
            ticks.now += 10
            assert (len(two.once()), len(one.once())) == (0, 1)
        clock.now += timedelta(seconds=LEASE_S + 1)
        ticks.now += LEASE_S + 1
        assert len(two.once()) == 1


def test_moments_that_passed_while_nobody_ran_are_caught_up_with_once(tmp_path: Path, clock: Clock) -> None:
    settings, ticks = monitor_settings({"schedule": {"turn": "0 * * * *", "budget": "off"}}), Ticks()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        fill(store, clock, [False])
        assert len(timer_of(store, settings, ticks, "one").once()) == 1
        clock.now += timedelta(hours=7)
        later = timer_of(store, settings, ticks, "two")
        assert (len(later.once()), len(later.once())) == (1, 0)


def test_a_golden_run_whose_leader_is_gone_is_finished_by_another_at_the_next_row(
    url: str, tmp_path: Path, clock: Clock
) -> None:
    write_rows(tmp_path / "g.jsonl", 12)
    settings, ticks = monitor_settings({"golden": {"rows": "g.jsonl"}}, tmp_path), Ticks()
    with Store(url, clock=clock) as here, Store(url, clock=clock) as there:
        one, two = timer_of(here, settings, ticks, "one"), timer_of(there, settings, ticks, "two")
        rows = [0]

        def runs(work):  # type: ignore[no-untyped-def]
            rows[0] += 1
            if rows[0] == 5:
                raise VerifierError("the process is out of breath")
            return work()

        one.runs = runs
        assert one.once([TimedStep.GOLDEN]) == []
        assert two.once([TimedStep.GOLDEN]) == []  # the lease is not over yet
        clock.now += timedelta(seconds=LEASE_S + 1)
        ticks.now += max(LEASE_S, RETRY_S) + 1
        (done,) = two.once([TimedStep.GOLDEN])
        assert (done.finished, done.outcome["checked"]) == (True, 8)
        with here.reading(TENANT) as connection:
            (run,) = read_golden_runs(connection, TENANT)
            assert (run.state, count_results(connection, TENANT, run.id)) == ("done", 12)


def test_a_step_that_fails_keeps_no_other_from_its_turn(tmp_path: Path, clock: Clock) -> None:
    settings, ticks = monitor_settings({"golden": {"rows": "missing.jsonl"}}, tmp_path), Ticks()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        fill(store, clock, [False])
        timer = timer_of(store, settings, ticks, "one")
        assert [one.step for one in timer.once()] == [TimedStep.TURN, TimedStep.BUDGET]
        (tmp_path / "missing.jsonl").write_text(write_rows(tmp_path / "g.jsonl", 2).read_text())
        assert timer.once([TimedStep.GOLDEN]) == []
        ticks.now += RETRY_S + 1
        assert [one.finished for one in timer.once([TimedStep.GOLDEN])] == [True]


def test_a_step_that_takes_long_rests_nine_times_as_long(tmp_path: Path, clock: Clock) -> None:
    settings, ticks = monitor_settings({"schedule": {"turn": {"every": "1s"}, "budget": "off"}}), Ticks()
    with Store(str(tmp_path / "x.db"), clock=clock) as store:
        fill(store, clock, [False])
        timer = timer_of(store, settings, ticks, "one")
        real = timer._do

        def do(_: Timer, *given: Any) -> Any:
            ticks.now += 10
            return real(*given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Timer, "_do", do)
            assert len(timer.once()) == 1
            clock.now += timedelta(seconds=20)
            ticks.now += 20
            assert timer.once() == []
            clock.now += timedelta(seconds=80)
            ticks.now += 80
            assert len(timer.once()) == 1


@pytest.fixture
def two_servers(url: str, tmp_path: Path) -> Iterator[tuple[Application, Application, Store]]:
    write_rows(tmp_path / "g.jsonl", 10)
    monitor = monitor_settings(
        {"schedule": {"turn": {"every": "1s"}, "golden": "* * * * *"}, "golden": {"rows": "g.jsonl"}}, tmp_path
    )
    settings = ServerSettings(database=url, monitor=monitor)
    guards = Guards("general", scorer=FakeScorer(), environ={})
    with Store(url) as store:
        fill(store, Clock(), [False, True])
        yield (create_app(settings, guards=lambda: guards), create_app(settings, guards=lambda: guards), store)


def test_of_two_servers_over_one_database_one_does_each_piece_of_work(
    two_servers: tuple[Application, Application, Store],
) -> None:
    first, second, store = two_servers
    threads = threading.active_count()

    async def scene() -> None:
        async with first.lifespan(), second.lifespan():
            for _ in range(600):
                await asyncio.sleep(0.1)
                with store.reading(TENANT) as connection:
                    runs = read_golden_runs(connection, TENANT)
                    work = read_timed_work(connection, TENANT)
                if runs and runs[-1].state == "done" and "turn" in work and work["turn"].done:
                    return
            raise AssertionError("nothing was done within a minute")

    asyncio.run(asyncio.wait_for(scene(), 120))
    with store.reading(TENANT) as connection:
        runs = [run for run in read_golden_runs(connection, TENANT) if run.state == "done"]
        assert len({run.slot for run in runs}) == len(runs)
        assert all(count_results(connection, TENANT, run.id) == 10 for run in runs)
    assert threading.active_count() <= threads + 4
