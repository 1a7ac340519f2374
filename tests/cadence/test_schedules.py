"""Plans of timed work, and the settings that hold them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.test_serve_command import options

from assay.cli.monitoring.monitor_run import read_settings
from assay.cli.operations.serve import startable_settings
from assay.errors import InputError, PolicyError
from assay.monitor import Cron, Every, TimedStep, level_of, monitor_settings, read_when, sign_test

MOMENTS = st.integers(946_684_800, 4_102_444_800).map(lambda stamp: datetime.fromtimestamp(stamp, UTC))


@pytest.mark.parametrize(
    ("text", "now", "last"),
    [
        ("0 2 * * *", "2026-03-01T12:00", "2026-03-01T02:00"),
        ("0 2 * * *", "2026-03-01T01:59", "2026-02-28T02:00"),
        ("*/15 9-17 * * 1-5", "2026-03-01T12:00", "2026-02-27T17:45"),
        ("5,35 0/12 * * *", "2026-03-01T12:34", "2026-03-01T12:05"),
        ("0 0 1 1 *", "2026-03-01T12:00", "2026-01-01T00:00"),
        ("0 0 29 2 *", "2026-03-01T12:00", "2024-02-29T00:00"),
        ("0 0 13 * 5", "2026-03-01T12:00", "2026-02-27T00:00"),
        ("0 0 * * 7", "2026-03-04T12:00", "2026-03-01T00:00"),
    ],
)
def test_a_cron_expression_names_its_latest_moment(text: str, now: str, last: str) -> None:
    found = read_when(text, "golden").last(datetime.fromisoformat(now).replace(tzinfo=UTC))
    assert found == datetime.fromisoformat(last).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "* * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "@daily",
        "0 2 * * MON",
        "0 2 30 2 *",
        "١ * * * *",
        "-1 * * * *",
        7,
        None,
        {"every": "0s"},
        {"every": "5 weeks"},
        {"every": "32d"},
        {"every": -1},
        {"every": True},
        {"every": "5m", "more": 1},
        ["0 2 * * *"],
    ],
)
def test_what_is_no_plan_is_refused(bad: object) -> None:
    with pytest.raises(InputError):
        read_when(bad, "turn")


@given(MOMENTS, st.integers(1, 31 * 86_400))
def test_an_interval_is_due_at_whole_multiples_for_every_replica(now: datetime, seconds: int) -> None:
    last = Every(seconds).last(now)
    assert last <= now < last + timedelta(seconds=seconds + 1)
    assert int(last.timestamp()) % seconds == 0


@given(MOMENTS, st.integers(0, 59), st.integers(0, 23))
def test_the_latest_moment_of_a_daily_plan_is_within_a_day(now: datetime, minute: int, hour: int) -> None:
    plan = read_when(f"{minute} {hour} * * *", "golden")
    assert isinstance(plan, Cron)
    last = plan.last(now)
    assert (last.minute, last.hour) == (minute, hour)
    assert timedelta(0) <= now - last < timedelta(days=1)
    assert plan.last(last) == last


def test_steps_have_plans_by_default_and_can_be_switched_off() -> None:
    assert monitor_settings({}).cadences.steps == (TimedStep.TURN, TimedStep.BUDGET)
    told = {"schedule": {"budget": False, "golden": "30 3 * * *"}, "golden": {"rows": "g.jsonl"}, "judge": {}}
    found = monitor_settings(told, Path("/there")).cadences
    assert found.steps == (TimedStep.TURN, TimedStep.JUDGE, TimedStep.GOLDEN)
    assert found.golden is not None
    assert found.golden.rows == Path("/there/g.jsonl")


@pytest.mark.parametrize(
    "bad",
    [
        {"schedule": {"golden": "0 2 * * *"}},
        {"schedule": {"judge": {"every": "1m"}}},
        {"schedule": {"tea": "1 * * * *"}},
        {"schedule": "daily"},
        {"golden": {}},
        {"golden": {"rows": ""}},
        {"golden": {"rows": "g", "alpha": 1}},
        {"golden": {"rows": "g", "alpha": "x"}},
        {"golden": {"rows": "g", "more": 1}},
        {"judge": {"fraction": 0}},
        {"judge": {"most": 0}},
        {"judge": {"within": "soon"}},
        {"judge": {"flagged": True, "times": 2}},
        {"watch": {"baseline_of": {"golden": 10}}},
        {"watch": {"baseline_of": {"moon": 100}}},
        {"clock": {}},
    ],
)
def test_settings_that_cannot_be_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InputError):
        monitor_settings(bad)


@pytest.mark.parametrize(
    "mistyped",
    [
        {"budget": {"consequences": ["deployment_freeze"]}},
        {"budget": {"consequences": {"deployment_freeze": "no"}}},
        {"budget": {"rules": [{"factor": "much"}]}},
        {"watch": {"baselines": [0.1]}},
        {"watch": {"baseline_of": ["golden"]}},
        {"sampling": {"callers": 3}},
        {"sampling": {"stakes": ["low", "medium", "high"]}},
        {"judge": {"flagged": "no"}},
    ],
)
def test_a_setting_of_another_type_is_refused_when_it_is_read_and_not_when_it_is_first_used(
    mistyped: dict[str, object],
) -> None:
    with pytest.raises(InputError):
        monitor_settings(mistyped)


def test_the_section_of_assay_yaml_reaches_the_server_and_the_command(tmp_path: Path) -> None:
    file = tmp_path / "assay.yaml"
    file.write_text(
        "version: 1\npolicy: rag\nmonitor:\n  watch: {metrics: {bad: [all]}}\n  schedule: {turn: {every: 5m}}\n"
        "  golden: {rows: g.jsonl}\n  budget: {rules: [{factor: 2, long_hours: 1, short_hours: 0.1}]}\n"
    )
    for found in (
        startable_settings(options(policy=str(file)), {}).monitor,
        startable_settings(options(), {"ASSAY_CONFIG": str(file)}).monitor,
        read_settings(file),
    ):
        assert found is not None
        assert found.cadences.schedule[TimedStep.TURN] == Every(300)
        assert found.cadences.golden is not None
        assert found.cadences.golden.rows == tmp_path.resolve() / "g.jsonl"
        assert found.watch.metrics == {"bad": ("all",)}
    assert startable_settings(options(), {}).monitor is None
    file.write_text("version: 1\npolicy: rag\nmonitor: {schedule: {turn: never}}\n")
    with pytest.raises(PolicyError, match=r"assay\.yaml: monitor: expected schedule\.turn"):
        startable_settings(options(policy=str(file)), {})


def test_a_judge_of_the_monitor_needs_a_chat_model(tmp_path: Path) -> None:
    file = tmp_path / "assay.yaml"
    file.write_text("version: 1\npolicy: rag\nmonitor: {judge: {fraction: 0.1}}\n")
    with pytest.raises(PolicyError, match="--llm"):
        startable_settings(options(policy=str(file)), {})
    assert (
        startable_settings(options(policy=str(file), llm="m", base_url="http://127.0.0.1:9/v1"), {}).monitor is not None
    )


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_exact_and_grows_with_the_better(worse: int, better: int) -> None:
    from math import comb

    count = worse + better
    exact = sum(comb(count, one) for one in range(worse, count + 1)) / 2**count
    assert sign_test(worse, better) == pytest.approx(exact, rel=1e-9)
    assert sign_test(worse, better + 1) >= sign_test(worse, better) - 1e-12


def test_a_level_is_kept_over_all_nights_together() -> None:
    import random

    draw, told = random.Random(5), 0
    for _ in range(400):
        for night in range(1, 60):
            differ = draw.randrange(0, 12)
            worse = sum(draw.random() < 0.5 for _ in range(differ))
            if sign_test(worse, differ - worse) <= level_of(0.05, night):
                told += 1
                break
    assert told / 400 <= 0.05
