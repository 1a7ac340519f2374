"""The noisy-or of causes, their shares, and the attention in a long context."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.stats.causes import effective_attention, noisy_or, shares

CHANCE = st.floats(0, 1)
CAUSES = st.lists(st.tuples(CHANCE, CHANCE), max_size=7)


@given(CAUSES)
def test_the_estimate_is_a_probability_and_at_least_that_of_each_cause(causes: list[tuple[float, float]]) -> None:
    estimate = noisy_or(causes)
    assert 0 <= estimate <= 1
    assert all(estimate >= presence * effect - 1e-9 for presence, effect in causes)


@given(CAUSES, st.tuples(CHANCE, CHANCE))
def test_a_further_cause_never_lowers_it(causes: list[tuple[float, float]], more: tuple[float, float]) -> None:
    assert noisy_or([*causes, more]) >= noisy_or(causes) - 1e-12


@given(CAUSES)
def test_shares_add_up_to_one_and_follow_the_products(causes: list[tuple[float, float]]) -> None:
    parts = shares(causes)
    products = [presence * effect for presence, effect in causes]
    assert all(0 <= part <= 1 for part in parts)
    assert sum(parts) == pytest.approx(1 if any(product > 0 for product in products) else 0)
    ranked = sorted(zip(products, parts, strict=True))
    assert all(a[1] <= b[1] + 1e-9 for a, b in pairwise(ranked))


@given(st.permutations([(0.2, 0.5), (0.9, 0.3), (1.0, 0.7), (0.0, 0.4)]))
def test_the_order_of_causes_changes_nothing(causes: list[tuple[float, float]]) -> None:
    by_cause = dict(zip(causes, shares(causes), strict=True))
    assert by_cause == pytest.approx(dict(zip(sorted(causes), shares(sorted(causes)), strict=True)))


def test_no_causes_make_nothing() -> None:
    assert noisy_or([]) == 0
    assert shares([]) == []


@pytest.mark.parametrize("causes", [[(1.1, 0.5)], [(0.5, -0.1)], [(float("nan"), 0.5)]])
def test_what_is_no_probability_is_refused(causes: list[tuple[float, float]]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        noisy_or(causes)


@given(st.floats(0, 1), st.floats(1, 1e6))
def test_attention_is_a_part_and_no_place_beats_both_ends(place: float, length: float) -> None:
    at = effective_attention(place * length, length)
    assert 0 <= at <= 1
    assert max(effective_attention(0, length), effective_attention(length, length)) == pytest.approx(1)


def test_a_place_outside_of_the_context_is_refused() -> None:
    with pytest.raises(ValueError, match="position"):
        effective_attention(11, 10)
