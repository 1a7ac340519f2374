"""The probability that nothing in an answer is wrong, and intervals of shares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.intervals import wilson
from assay.stats.joint import joint_support

scores = st.lists(st.floats(0, 1), min_size=1, max_size=12)
exponents = st.floats(0.05, 1)


@given(scores, exponents, st.data())
def test_it_never_rises_where_a_score_falls(values: list[float], exponent: float, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(values) - 1))
    lower = data.draw(st.floats(0, values[place]))
    worse = [*values[:place], lower, *values[place + 1 :]]
    assert joint_support(worse, exponent) <= joint_support(values, exponent) + 1e-9


@given(scores, exponents, st.floats(0, 1))
def test_it_never_rises_where_a_claim_is_added(values: list[float], exponent: float, more: float) -> None:
    assert joint_support([*values, more], exponent) <= joint_support(values, exponent) + 1e-9


@given(scores, exponents)
def test_it_is_a_probability_and_never_above_the_weakest_claim(values: list[float], exponent: float) -> None:
    assert 0 <= joint_support(values, exponent) <= min(values)


@pytest.mark.parametrize("bad", [[], [1.2], [float("nan")], [-0.1]])
def test_what_is_no_list_of_probabilities_is_refused(bad: list[float]) -> None:
    with pytest.raises(InputError, match="probability"):
        joint_support(bad)


def test_an_exponent_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="independence"):
        joint_support([0.5, 0.5], 0.0)


@given(st.integers(1, 10_000), st.data())
def test_an_interval_holds_its_share_and_stays_within_the_bounds(of: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, of))
    low, high = wilson(count, of)
    assert 0 <= low <= count / of + 1e-9
    assert count / of - 1e-9 <= high <= 1


def test_no_share_has_no_interval() -> None:
    for count, of in ((1, 0), (-1, 5), (6, 5)):
        with pytest.raises(InputError, match="count"):
            wilson(count, of)
