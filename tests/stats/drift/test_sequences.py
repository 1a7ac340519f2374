"""Intervals and tests that hold however often one looks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import difference, mean_sequence

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


def test_observations_and_levels_out_of_range_are_refused() -> None:
    for observations, alpha in (([0.5], 1.5), ([2.0], 0.05)):
        with pytest.raises(InputError):
            mean_sequence(observations, alpha)
