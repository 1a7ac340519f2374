"""The monitor's figures in `/metrics`: the same as the monitor has, of the tenant that is worst off, without names."""

import math
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert
from tests.monitor.recording import DAY, TENANT, Clock, plant, row_of
from tests.server.gateway_site import play, site
from tests.server.telemetry.test_metrics import of, scraped

from assay.monitor import BudgetSettings, MonitorSettings, WatchSettings
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.service import Monitor
from assay.server.telemetry.monitor_metrics import MonitorMetrics
from assay.stats.drift import BurnRule
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records import micros

HOUR = 3_600_000_000
SETTINGS = MonitorSettings(
    WatchSettings(metrics={"bad": ("all", "agent", "category")}, shift=0.1, baselines={"bad": 0.1}, settle_s=0.0)
)
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store(str(tmp_path / "x.db"), clock=clock) as made:
        yield made


def figures(store: Store, settings: MonitorSettings = SETTINGS, *tenants: str) -> Samples:
    found: Samples = {}
    for family in MonitorMetrics(store, settings).read(tenants or (TENANT,)):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_the_budget_is_told_as_the_monitor_reads_it(store: Store, clock: Clock) -> None:
    moments = plant(store, [(3_000, 0.02), (600, 0.12)], 1, micros(DAY), every=HOUR // 60)
    clock.now = DAY + timedelta(microseconds=moments[-1] - micros(DAY) + 1)
    told, found = figures(store), Budgeting(store).reading(TENANT)
    assert of(told, "assay_budget_left_ratio") == pytest.approx(found.left_share)
    assert of(told, "assay_budget_hours_left") == pytest.approx(found.hours_left or math.inf)
    assert of(told, "assay_budget_exhausted") == found.exhausted
    for burn in found.burns:
        fires = told["assay_budget_burns_too_fast"][("factor", f"{burn.rule.factor:g}"),]
        assert fires == burn.fires
    rates = {dict(key)["window"]: value for key, value in told["assay_budget_burn_rate"].items()}
    assert set(rates) == {"5m", "30m", "1h", "6h", "3d"}
    assert rates["1h"] == pytest.approx(found.burns[0].long)
    assert rates["3d"] == pytest.approx(found.burns[2].long)


def test_the_sums_weigh_outputs_by_how_they_were_drawn(store: Store, clock: Clock) -> None:
    """What was drawn with a tenth counts ten times; what was not drawn is one of the day, not of the budget."""
    rows = [row_of(f"{number:032x}", micros(DAY) + number, float(number < 20)) for number in range(200)]
    for number, row in enumerate(rows):
        row["probability"], row["sampled"] = (0.1, True) if number < 100 else (1.0, number % 2 == 0)
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), rows)
    clock.now = DAY + timedelta(minutes=1)
    told = figures(store)
    outputs, bad = 100 * 10 + 50, 20 * 10
    assert of(told, "assay_budget_left_ratio") == pytest.approx(1 - bad / (0.05 * outputs))
    assert of(told, "assay_monitor_sampled_ratio") == pytest.approx(150 / 200)
    assert Budgeting(store).reading(TENANT).left_share == pytest.approx(1 - bad / (0.05 * outputs))


def test_the_golden_set_and_the_judge_spend_nothing_of_the_budget(store: Store, clock: Clock) -> None:
    """What they find wrong is no output that went out; the monitor leaves it out of the budget too."""
    rows = [row_of(f"{number:032x}", micros(DAY) + number, float(number < 4)) for number in range(200)]
    beside = [row_of(f"{number:032x}", micros(DAY) + number, 1.0) for number in range(200, 300)]
    for number, row in enumerate(beside):
        row["cadence"], row["sampled"] = ("golden", "judge")[number % 2], number % 4 < 2
    with store.engine.begin() as connection:
        connection.execute(insert(tables.observations), rows)
        connection.execute(insert(tables.observations), beside)
    clock.now = DAY + timedelta(minutes=1)
    told = figures(store)
    assert Budgeting(store).reading(TENANT).left_share == pytest.approx(1 - 4 / 10)
    assert of(told, "assay_budget_left_ratio") == pytest.approx(1 - 4 / 10)
    assert of(told, "assay_monitor_sampled_ratio") == 1


def test_of_several_tenants_the_worst_is_told(store: Store, clock: Clock) -> None:
    for tenant, bad in (("a", 2), ("b", 90)):
        rows = [row_of(f"{number:032x}", micros(DAY) + number, float(number < bad)) for number in range(200)]
        with store.engine.begin() as connection:
            connection.execute(insert(tables.observations), [{**row, "tenant": tenant} for row in rows])
    clock.now = DAY + timedelta(minutes=1)
    told = figures(store, SETTINGS, "a", "b", "c")
    assert of(told, "assay_budget_left_ratio") == pytest.approx(1 - 90 / 10)
    assert of(told, "assay_budget_exhausted") == 1
    assert of(told, "assay_budget_hours_left") == 0
    assert of(told, "assay_budget_burn_rate", window="1h") == pytest.approx(9)


def test_charts_are_told_as_the_monitor_has_them_and_names_of_agents_are_not(store: Store, clock: Clock) -> None:
    moments = plant(store, [(400, 0.1), (10, 0.9)], 3, micros(DAY))
    clock.now = DAY + timedelta(microseconds=moments[-1] - micros(DAY) + 1)
    monitor = Monitor(store, SETTINGS)
    monitor.run(TENANT)
    told, status = figures(store), monitor.status(TENANT)
    shown = {(one["dimension"], one["name"]): one for one in status["series"]}
    for dimension, name in (("all", ""), ("category", "contextual")):
        labels = {"metric": "bad", "dimension": dimension, "name": name}
        for direction in ("up", "down"):
            wanted = shown[dimension, name][direction]
            if wanted is None:  # the rate cannot fall by so much
                continue
            for figure in ("statistic", "threshold"):
                value = of(told, f"assay_monitor_cusum_{figure}", direction=direction, **labels)
                assert value == pytest.approx(wanted[figure]), (dimension, direction, figure)
    assert of(told, "assay_monitor_cusum_statistic", dimension="all", direction="up") > 0
    agent = shown["agent", "app"]["up"]
    nearest = of(told, "assay_monitor_cusum_nearest_ratio", metric="bad", dimension="agent", direction="up")
    assert nearest == pytest.approx(agent["statistic"] / agent["threshold"])
    assert "app" not in {value for samples in told.values() for key in samples for _, value in key}
    assert of(told, "assay_monitor_charts_age_seconds") == pytest.approx(0, abs=0.01)


def test_too_few_outputs_say_nothing_and_no_budget_ends(store: Store, clock: Clock) -> None:
    plant(store, [(50, 0.5)], 3, micros(DAY))
    clock.now = DAY + timedelta(minutes=2)
    told = figures(store)
    assert "assay_budget_left_ratio" not in told
    assert "assay_budget_burn_rate" not in told
    assert of(told, "assay_budget_hours_left") == math.inf
    assert set(told["assay_budget_burns_too_fast"].values()) == {0}
    assert "assay_monitor_charts_age_seconds" not in told  # no turn was taken


def test_rules_of_ones_own_are_told_by_their_windows(store: Store, clock: Clock) -> None:
    moments = plant(store, [(300, 0.5)], 3, micros(DAY))
    clock.now = DAY + timedelta(microseconds=moments[-1] - micros(DAY) + 1)
    settings = MonitorSettings(budget=BudgetSettings(most=0.2, rules=(BurnRule(2, 2, 0.25),)))
    told = figures(store, settings)
    assert {dict(key)["window"] for key in told["assay_budget_burn_rate"]} == {"15m", "2h"}
    assert of(told, "assay_budget_burns_too_fast", factor="2") == 1
    without = figures(store, MonitorSettings(budget=BudgetSettings(rules=())))
    assert of(without, "assay_budget_hours_left") == math.inf


def test_a_scrape_has_them(tmp_path: Path) -> None:
    watch = WatchSettings(metrics={"bad": ("all",)}, baselines={"bad": 0.05})
    with Store(str(tmp_path / "m.db")) as store:
        plant(store, [(300, 0.2)], 5, micros(store.now()) - HOUR // 2)
        Monitor(store, MonitorSettings(watch)).run(TENANT)

    async def scene() -> None:
        with Store(str(tmp_path / "m.db")) as store:
            async with site(store=store) as there:
                found = await scraped(there)
        assert of(found, "assay_budget_exhausted") == 1
        assert of(found, "assay_monitor_cusum_threshold", metric="bad", dimension="all", direction="up") > 0

    play(scene)
