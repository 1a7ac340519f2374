"""Intervals and tests that hold however often one looks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import Found, TwoMeans, difference, fixed_size, mean_sequence

TRIALS = 400


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=80), alpha=st.floats(0.001, 0.5))
def test_bounds_only_close_in_and_stay_within_the_range(values: list[float], alpha: float) -> None:
    bounds = mean_sequence(values, alpha)
    assert bool(np.all(np.diff(bounds.low) >= 0))
    assert bool(np.all(np.diff(bounds.high) <= 0))
    assert bounds.low.min() >= 0
    assert bounds.high.max() <= 1


@pytest.mark.parametrize("rate", [0.02, 0.5])
def test_the_mean_is_hardly_ever_outside_at_any_moment(rate: float) -> None:
    rng, outside = np.random.default_rng(3), 0
    for _ in range(TRIALS):
        bounds = mean_sequence((rng.random(600) < rate).astype(float).tolist(), 0.1)
        outside += bool(np.any((bounds.low > rate) | (bounds.high < rate)))
    assert outside <= 0.1 * TRIALS


def test_a_difference_of_three_points_is_seen_and_none_is_not_invented() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.random(12_000) < 0.05, rng.random(12_000) < 0.08
    found = difference(before.astype(float).tolist(), after.astype(float).tolist())
    assert found.differs
    assert found.low < 0.03 < found.high
    assert not difference(before[:6_000].astype(float).tolist(), before[6_000:].astype(float).tolist()).differs
    assert (difference([], [1.0]).low, difference([], [1.0]).high) == (-1.0, 1.0)


def _run(test: TwoMeans, rate: float, rng: np.random.Generator, most: int = 20_000) -> TwoMeans:
    while test.found is Found.OPEN and test.seen < most:
        test = test.added(float(rng.random() < rate))
    return test


@pytest.mark.parametrize(("rate", "right"), [(0.1, Found.LOW), (0.25, Found.HIGH), (0.05, Found.LOW)])
def test_errors_are_as_rare_as_asked_and_it_takes_half_of_a_fixed_size(rate: float, right: Found) -> None:
    rng = np.random.default_rng(11)
    tests = [_run(TwoMeans(0.1, 0.25, 0.05), rate, rng) for _ in range(TRIALS)]
    assert sum(test.found is not right for test in tests) <= 0.05 * TRIALS
    assert np.mean([test.seen for test in tests]) <= 0.7 * fixed_size(0.1, 0.25, 0.05)


def test_it_holds_for_scores_too() -> None:
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(100):
        test = TwoMeans(0.3, 0.4, 0.05, spread=0.2)
        while test.found is Found.OPEN:
            test = test.added(float(rng.beta(0.3 * 4, 0.7 * 4)))
        wrong += test.found is Found.HIGH
    assert wrong <= 5


@given(
    low=st.floats(0, 0.9), gap=st.floats(0.01, 0.5), values=st.lists(st.floats(0, 1), max_size=40),
    spread=st.none() | st.floats(0.01, 0.5),
)  # fmt: skip
@settings(deadline=None)
def test_capital_is_never_lost_whole(low: float, gap: float, values: list[float], spread: float | None) -> None:
    test = TwoMeans(low, min(1.0, low + gap), 0.01, spread)
    for one in values:
        test = test.added(one)
    assert np.isfinite(test.against_low)
    assert np.isfinite(test.against_high)


def test_means_out_of_order_are_refused() -> None:
    for bad in ((0.5, 0.4, 0.1), (0.1, 0.2, 0.0), (-0.1, 0.2, 0.1)):
        with pytest.raises(InputError):
            TwoMeans(*bad)
    with pytest.raises(InputError):
        TwoMeans(0.1, 0.2, 0.1).added(2)
    with pytest.raises(InputError):
        mean_sequence([0.5], 1.5)
