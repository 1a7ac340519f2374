"""The share of supported claims, estimated without labels."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.prior import estimate_prior


def scores(share: float, count: int, seed: int, fitted: float = 0.4) -> list[float]:
    """Calibrated probabilities at the share `fitted` of claims of which another share is supported."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        supported = draw.random() < share
        ratio = 2.718281828 ** draw.gauss(2.0 if supported else -2.0, 2.0)  # log ratio of N(2, 4) against N(-2, 4)
        odds = ratio * fitted / (1 - fitted)
        made.append(odds / (1 + odds))
    return made


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.9, 0.97])
def test_the_estimate_is_near_the_share_that_the_scores_were_drawn_with(share: float) -> None:
    found = estimate_prior(scores(share, 4_000, seed=5), 0.4)
    assert found.low <= found.prior <= found.high
    assert found.prior == pytest.approx(share, abs=0.02)
    assert found.low - 0.01 <= share <= found.high + 0.01


def test_few_claims_leave_a_wide_interval() -> None:
    few, many = (estimate_prior(scores(0.9, count, seed=1), 0.4) for count in (30, 3_000))
    assert few.high - few.low > 2 * (many.high - many.low)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.floats(0.05, 0.95))
def test_an_estimate_is_a_share_within_its_interval(values: list[float], fitted: float) -> None:
    found = estimate_prior(values, fitted)
    assert 0 < found.low <= found.prior <= found.high < 1
    assert found.claims == len(values)


@pytest.mark.parametrize(("values", "fitted"), [([], 0.5), ([1.2], 0.5), ([0.5], 0.0), ([0.5], 1.0)])
def test_what_is_no_probability_is_refused(values: list[float], fitted: float) -> None:
    with pytest.raises(InputError):
        estimate_prior(values, fitted)
