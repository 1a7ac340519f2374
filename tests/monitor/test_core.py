"""The parts of the monitor that read and write nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.monitor import (
    Ask,
    BudgetSettings,
    Charts,
    Observation,
    Sampling,
    SearchOptions,
    SearchResult,
    Series,
    SystemChange,
    WatchSettings,
    advanced,
    attribute,
    chart_for,
    monitor_settings,
    place,
    search,
)
from assay.stats.drift import BurnRule, Chart, Direction, Sum

WATCH = WatchSettings(metrics={"bad": ("all", "category")}, shift=0.2, false_alarm_every=200, baselines={"bad": 0.1})


def seen(number: int, bad: float) -> Observation:
    return Observation(f"{number:032x}", number, {"bad": bad}, {}, ("factual",) if bad else ())


@given(run=st.text(max_size=40), low=st.floats(0.01, 1), high=st.floats(0.01, 1))
def test_what_is_drawn_at_a_rate_is_drawn_at_a_higher_one(run: str, low: float, high: float) -> None:
    sampling = Sampling()
    assert sampling.draws(run, min(low, high)) <= sampling.draws(run, max(low, high))
    assert sampling.draws(run, 0.3) == Sampling().draws(run, 0.3)
    assert 0 <= place(run) < 1


def test_shares_are_what_they_are_said_to_be_and_another_salt_draws_others() -> None:
    ids = [f"{number:032x}" for number in range(20_000)]
    drawn = {id_ for id_ in ids if Sampling().draws(id_, 0.1)}
    assert abs(len(drawn) - 2_000) < 5 * np.sqrt(1_800)
    other = {id_ for id_ in ids if Sampling(salt="b").draws(id_, 0.1)}
    assert len(drawn & other) < 400
    with pytest.raises(InputError):
        Sampling(stakes={"high": 1.0})
    with pytest.raises(InputError):
        Sampling().probability("extreme")
    assert Sampling(times=5).probability("medium") == 0.5
    assert Sampling(callers={"bank": 1.0}).probability("low", None, "bank") == 1.0


@given(flags=st.lists(st.booleans(), max_size=120), cut=st.integers(0, 120), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_charts_are_a_function_of_what_was_observed(flags: list[bool], cut: int, seed: int) -> None:
    all_ = [seen(number, float(flag)) for number, flag in enumerate(flags)]
    whole, alarms = advanced(Charts(), all_, 1_000, WATCH)
    shuffled = list(all_)
    np.random.default_rng(seed).shuffle(shuffled)
    assert advanced(Charts(), shuffled, 1_000, WATCH) == (whole, alarms)
    first, early = advanced(Charts(), [one for one in all_ if one.at < cut], cut, WATCH)
    second, late = advanced(Charts.of_wire(first.wire()), [one for one in all_ if one.at >= cut], 1_000, WATCH)
    assert second == whole
    assert early + late == alarms


LEARNING = WatchSettings(metrics={"bad": ("all",)}, baseline_observations=50)
CONFIGURED = replace(LEARNING, baselines={"bad": 0.2})
BAD = Series("all", "", "bad")


def one_in(every: int, begin: int, end: int) -> list[Observation]:
    return [seen(number, float(number % every == 0)) for number in range(begin, end)]


def test_a_baseline_that_is_configured_takes_the_place_of_a_learned_one() -> None:
    learned, _ = advanced(Charts(), [seen(number, 0.0) for number in range(50)], 50, LEARNING)
    assert learned.series[BAD.key].baseline == pytest.approx(0.00980)
    rest = one_in(5, 50, 550)
    moved, alarms = advanced(learned, rest, 550, CONFIGURED)
    fresh, fresh_alarms = advanced(Charts(until=50), rest, 550, CONFIGURED)
    assert alarms == fresh_alarms == []
    state, new = moved.series[BAD.key], fresh.series[BAD.key]
    assert (state.baseline, state.spread, state.up, state.down) == (0.2, None, new.up, new.down)
    assert (state.since_up, state.since_down, state.designs) == (new.since_up, new.since_down, new.designs)
    assert Charts.of_wire(moved.wire()) == moved


def test_a_configured_baseline_that_is_changed_is_the_one_that_counts() -> None:
    before, _ = advanced(Charts(), one_in(4, 0, 97), 100, CONFIGURED)
    assert before.series[BAD.key].up != Sum()
    changed = replace(LEARNING, baselines={"bad": 0.1})
    after, _ = advanced(before, one_in(10, 100, 200), 200, changed)
    fresh, _ = advanced(Charts(until=100), one_in(10, 100, 200), 200, changed)
    assert after.series[BAD.key].baseline == 0.1
    assert after.series[BAD.key].up == fresh.series[BAD.key].up
    assert {one.key[0] for one in after.series[BAD.key].designs.values()} == {0.1}


def test_a_configured_baseline_that_stays_the_same_keeps_the_sums() -> None:
    all_ = one_in(4, 0, 100)
    whole, _ = advanced(Charts(), all_, 100, CONFIGURED)
    first, _ = advanced(Charts(), all_[:60], 60, CONFIGURED)
    assert advanced(first, all_[60:], 100, CONFIGURED)[0] == whole


def test_run_lengths_have_a_range_where_the_baseline_of_the_chart_was_learned_and_only_there() -> None:
    def has_range(charts: Charts, watching: WatchSettings) -> bool:
        designed = chart_for(BAD, charts.series[BAD.key], watching, Direction.UP)
        assert designed is not None
        return designed.arl0_range is not None

    learned, _ = advanced(Charts(), one_in(10, 0, 100), 100, LEARNING)
    assert has_range(learned, LEARNING)
    # Until further observations come, the sums are those of the learned baseline.
    assert has_range(learned, CONFIGURED)
    configured, _ = advanced(learned, one_in(5, 100, 200), 200, CONFIGURED)
    assert not has_range(configured, CONFIGURED)
    # A baseline whose setting is gone stays, and nothing has been learned for it.
    assert not has_range(configured, LEARNING)
    assert advanced(configured, one_in(5, 200, 300), 300, LEARNING)[0].series[BAD.key].baseline == 0.2


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
@pytest.mark.parametrize(
    "name", ["least_outputs", "sampling_times", "most", "window_days", "tighten_by", "escalate_by"]
)
def test_a_number_of_the_budget_that_is_none_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"`{name}`.*expected .*, got {value}; "):
        monitor_settings({"budget": {name: value}})


@pytest.mark.parametrize("name", ["factor", "long_hours", "short_hours"])
def test_a_rule_of_the_budget_without_an_end_is_refused(name: str) -> None:
    rule = {"factor": 2.0, "long_hours": 6.0, "short_hours": 1.0, name: float("inf")}
    with pytest.raises(InputError):
        monitor_settings({"budget": {"rules": [rule]}})
    assert BudgetSettings(rules=(BurnRule(2, 6, 1),)).rules


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True])
@pytest.mark.parametrize(
    "name",
    ["shift", "false_alarm_every", "baseline_observations", "settle_s", "late_days", "window_hours"],
)
def test_a_number_of_the_charts_that_is_none_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InputError, match=rf"`{name}`.*expected .*, got {value}; "):
        monitor_settings({"watch": {name: value}})


def test_observations_of_another_time_are_refused() -> None:
    with pytest.raises(InputError):
        advanced(Charts(until=10), [seen(5, 0.0)], 20, WATCH)


def test_a_series_is_found_again_by_its_name() -> None:
    for series in (Series("all", "", "bad"), Series("agent", "a|b", "score")):
        assert Series.of_key(series.key) == series


def test_a_cause_is_the_change_that_makes_the_observations_likeliest() -> None:
    values = [0.0] * 50 + [1.0] * 20
    moments = list(range(70))
    changes = [
        SystemChange("prompt", "early", 10),
        SystemChange("model", "right", 50),
        SystemChange("code", "late", 65),
    ]
    found = attribute(Chart(0.05, 0.1, 3.0), moments, values, changes, binary=True, shift=0.3)
    assert found.cause is not None
    assert found.cause.change.ref == "right"
    assert {one.change.ref for one in found.others} == {"late", "early"}
    assert found.onset == 50
    assert found.means.low > 0
    alone = attribute(Chart(0.05, 0.1, 3.0), moments, values, [], binary=True, shift=0.3)
    assert alone.cause is None
    with pytest.raises(InputError):
        SystemChange("weather", "rain", 0)
    with pytest.raises(InputError):
        SystemChange("prompt", " ", 0)


def play(rates: list[float], options: SearchOptions, rng: np.random.Generator) -> SearchResult:
    outcomes: dict[int, list[float]] = {}
    while isinstance(found := search(len(rates) - 1, outcomes, options), Ask):
        drawn = rng.random(found.count) < rates[found.state]
        outcomes.setdefault(found.state, []).extend(drawn.astype(float).tolist())
    return found


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("causes", [{2}, {0}, {7}, {1, 5}])
def test_a_search_finds_its_causes(causes: set[int], known: bool) -> None:
    rates = [0.1 + 0.2 * sum(state > cause for cause in causes) for state in range(9)]
    good, bad = (rates[0], rates[-1]) if known else (None, None)
    options = SearchOptions(shift=0.2, alpha=0.02, good=good, bad=bad)
    found = play(rates, options, np.random.default_rng(6))
    assert {one.change for one in found.causes} == causes
    assert found.sure


def test_where_nothing_changed_no_cause_is_named() -> None:
    found = play([0.1] * 9, SearchOptions(shift=0.2), np.random.default_rng(4))
    assert (found.verdict, found.causes) == ("no_regression", ())


def test_a_search_that_may_not_evaluate_enough_says_so() -> None:
    found = play([0.1] * 4 + [0.13] * 4, SearchOptions(shift=0.03, most=50), np.random.default_rng(5))
    assert found.verdict == "unsure"
    assert not found.sure


def test_scores_are_searched_as_well() -> None:
    rng, outcomes = np.random.default_rng(1), dict[int, list[float]]()
    while isinstance(found := search(8, outcomes, SearchOptions(shift=0.1)), Ask):
        mean = 0.5 if found.state > 4 else 0.3
        outcomes.setdefault(found.state, []).extend(rng.beta(mean * 6, (1 - mean) * 6, found.count).tolist())
    assert [one.change for one in found.causes] == [4]
