"""The parts of the monitor that read and write nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.monitor import (
    Ask,
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
    place,
    search,
)
from assay.stats.drift import Chart

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
