"""Rates out of samples, and the error budget."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import (
    WORKBOOK,
    Budget,
    BurnRule,
    WindowTotals,
    burn_rate,
    burns_too_fast,
    error_budget,
    weighted_rate,
)
from assay.stats.drift.budget import hours_left
from assay.stats.intervals import wilson

pairs = st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=1, max_size=50)


@given(drawn=pairs)
def test_an_estimate_lies_in_its_interval_and_both_in_the_unit_interval(drawn: list[tuple[float, float]]) -> None:
    found = weighted_rate([x for x, _ in drawn], [p for _, p in drawn])
    assert found.estimate is not None
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= 1
    assert found.outputs >= len(drawn)


@given(flags=st.lists(st.booleans(), min_size=1, max_size=60))
def test_where_all_are_sampled_it_is_the_interval_of_a_count(flags: list[bool]) -> None:
    found = weighted_rate([float(one) for one in flags], [1.0] * len(flags))
    assert (found.low, found.high) == pytest.approx(wilson(sum(flags), len(flags)))
    assert found.total_error == 0


LOW = [(0.2, 0.05, 0.01), (0.05, 0.05, 0.05), (0.02, 0.01, 0.001)]


@pytest.mark.parametrize("rates", LOW)
@pytest.mark.parametrize("outputs", [2_000, 20_000])
def test_a_thousand_days_of_sampling_are_right_in_the_mean_and_in_their_intervals(
    rates: tuple[float, ...], outputs: int
) -> None:
    rng, estimates, covered = np.random.default_rng(9), [], 0
    of, share = np.array(rates), np.array([1.0, 0.1, 0.01])
    truth = float(of @ [0.1, 0.3, 0.6])
    for _ in range(1_000):
        stakes = rng.choice(3, outputs, p=[0.1, 0.3, 0.6])
        bad, drawn = rng.random(outputs) < of[stakes], rng.random(outputs) < share[stakes]
        found = weighted_rate(bad[drawn].astype(float).tolist(), share[stakes][drawn].tolist())
        estimates.append(found.estimate)
        covered += found.low <= truth <= found.high
    mean, error = float(np.mean(np.array(estimates))), float(np.std(np.array(estimates))) / math.sqrt(1_000)
    assert mean == pytest.approx(truth, abs=3 * error + 5e-4)  # a ratio of sums: biased in the third digit at most
    # Of 12 outputs of the rarest part most days none is bad; rates of a thousandth are covered a little more often.
    assert 930 <= covered <= 990


def test_a_part_of_which_few_were_drawn_and_none_was_bad_leaves_room_for_bad_ones() -> None:
    found = weighted_rate([1.0] * 5 + [0.0] * 95 + [0.0] * 10, [1.0] * 100 + [0.1] * 10)
    alone = weighted_rate([0.0] * 10, [0.1] * 10)
    assert found.estimate == pytest.approx(0.025)
    # Half of all outputs are of the part, whose own interval reaches to `alone.high`.
    assert found.high > 0.025 + 0.5 * alone.high
    assert found.low < 0.025


@given(drawn=st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=30, max_size=60))
def test_many_probabilities_are_put_together_and_a_mean_stays_in_its_interval(drawn: list[tuple[float, float]]) -> None:
    values, chances = [x for x, _ in drawn], [p for _, p in drawn]
    found = weighted_rate(values, chances)
    assert found.estimate is not None
    assert found.low - 1e-9 <= found.estimate <= found.high + 1e-9
    order = np.random.default_rng(1).permutation(len(drawn))
    again = weighted_rate([values[one] for one in order], [chances[one] for one in order])
    assert (again.low, again.high) == pytest.approx((found.low, found.high))


def test_nothing_sampled_says_nothing() -> None:
    found = weighted_rate([], [])
    assert (found.estimate, found.low, found.high) == (None, 0.0, 1.0)


def test_values_without_their_probabilities_are_refused() -> None:
    for values, chances in (([1.0], []), ([2.0], [1.0]), ([1.0], [0.0]), ([1.0], [1.5])):
        with pytest.raises(InputError):
            weighted_rate(values, chances)


@given(outputs=st.integers(1, 10_000), mean=st.floats(0, 1), most=st.floats(0.001, 0.5))
def test_a_budget_is_exhausted_where_it_burned_at_one_or_more(outputs: int, mean: float, most: float) -> None:
    window = WindowTotals(outputs, outputs * mean)
    rate = burn_rate(most, window)
    assert rate is not None
    found = error_budget(most, window)
    if abs(rate - 1) > 1e-9:
        assert found.exhausted == (rate > 1)


def test_a_rule_fires_where_both_windows_burn() -> None:
    fast, slow = WindowTotals(100, 100 * 0.05 * 15), WindowTotals(100, 5)
    assert burns_too_fast(WORKBOOK[0], 0.05, fast, fast)
    assert not burns_too_fast(WORKBOOK[0], 0.05, fast, slow)
    assert not burns_too_fast(WORKBOOK[0], 0.05, WindowTotals(0, 0), fast)


def test_the_time_that_is_left_is_how_long_until_nothing_is() -> None:
    found = error_budget(0.1, WindowTotals(1_000, 60))
    recent = WindowTotals(100, 30)
    hours = hours_left(found, recent, 2)
    assert hours is not None
    later = error_budget(0.1, WindowTotals(1_000 + 50 * hours, 60 + 15 * hours))
    assert later.left == pytest.approx(0)
    assert hours_left(found, WindowTotals(100, 10), 2) is None
    assert hours_left(error_budget(0.1, WindowTotals(10, 5)), recent, 2) == 0.0


def test_no_output_is_no_exhausted_budget() -> None:
    assert not error_budget(0.1, WindowTotals(0, 0)).exhausted
    assert Budget(0.1, 0.0, 0.0).left_share is None


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(InputError):
        WindowTotals(-1, 0)
    with pytest.raises(InputError):
        BurnRule(1, 1, 2)
    with pytest.raises(InputError):
        error_budget(0, WindowTotals(1, 1))
