"""Guarantees: exact tails, known cases, and whether they hold when the truth is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.risk import (
    binomial_cdf,
    conformal_risk_control,
    hypergeometric_cdf,
    learn_then_test,
    least_rows,
    upper_bound,
)

GRID = tuple(n / 200 for n in range(1, 201))
SPLITS = 200


@given(trials=st.integers(0, 40), successes=st.integers(-1, 41), chance=st.floats(0, 1))
def test_the_tail_is_that_of_counting(trials: int, successes: int, chance: float) -> None:
    counted = sum(
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(min(successes, trials) + 1)
    )
    assert binomial_cdf(successes, trials, chance) == pytest.approx(counted, abs=1e-9)


def test_the_tail_holds_for_many_rows() -> None:
    # P{ Bin(1,000,000, 1/2) <= 500,000 } = 1/2 + half the central term.
    central = math.exp(math.lgamma(1_000_001) - 2 * math.lgamma(500_001) - 1_000_000 * math.log(2))
    assert binomial_cdf(500_000, 1_000_000, 0.5) == pytest.approx(0.5 + central / 2, rel=1e-7)


def test_the_upper_bound_is_the_chance_whose_tail_is_delta() -> None:
    bound = upper_bound(3, 80, 0.1)
    assert binomial_cdf(3, 80, bound) == pytest.approx(0.1, abs=1e-9)
    assert upper_bound(5, 5, 0.1) == 1.0


@given(alpha=st.floats(0.01, 0.5), delta=st.floats(0.01, 0.5))
def test_the_least_number_of_rows_is_the_least(alpha: float, delta: float) -> None:
    rows = least_rows(alpha, delta)
    assert binomial_cdf(0, rows, alpha) <= delta
    assert rows == 1 or binomial_cdf(0, rows - 1, alpha) > delta


def test_too_few_rows_and_rows_that_nothing_holds_back_are_refused_with_the_reason() -> None:
    few = learn_then_test([0.1] * 10, GRID, 0.05, 0.1)
    assert (few.threshold, few.least_rows) == (None, 45)
    assert few.refused == "it takes at least 45 hallucinated rows, and there are 10"
    sure = learn_then_test([1.0] * 100, GRID, 0.05, 0.1)
    assert not sure.holds
    assert "100 of 100 hallucinated rows pass even the strictest" in (sure.refused or "")
    assert "at least 19" in (conformal_risk_control([], GRID, 0.05).refused or "")


def test_rows_that_pass_at_no_threshold_never_leak() -> None:
    found = learn_then_test([-math.inf] * 45, GRID, 0.05, 0.1)
    assert (found.threshold, found.passed) == (GRID[0], 0)
    assert found.upper_bound == pytest.approx(0.05, abs=1e-3)


@given(levels=st.lists(st.sampled_from(GRID), min_size=1, max_size=60), alpha=st.floats(0.02, 0.6))
def test_a_smaller_share_or_more_confidence_never_loosens(levels: list[float], alpha: float) -> None:
    def threshold(alpha: float, delta: float) -> float:
        found = learn_then_test(levels, GRID, alpha, delta).threshold
        return math.inf if found is None else found

    assert threshold(alpha, 0.1) <= threshold(alpha / 2, 0.1)
    assert threshold(alpha, 0.1) <= threshold(alpha, 0.02)


def test_levels_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="NaN"):
        learn_then_test([math.nan], GRID, 0.1, 0.1)
    with pytest.raises(InputError, match="alpha"):
        learn_then_test([0.5], GRID, 1.0, 0.1)
    with pytest.raises(InputError, match="threshold"):
        conformal_risk_control([0.5], [], 0.1)


def exceeded(method: str, rows: int, alpha: float, delta: float, seed: int) -> tuple[int, float]:
    """How often the true risk exceeds alpha over splits of simulated rows, and its mean.

    The scores of hallucinated outputs are uniform, so that the true risk of a threshold t on the grid is 1 - t + step.
    """
    generator = np.random.default_rng(seed)
    risks = []
    for _ in range(SPLITS):
        levels = (np.ceil(generator.random(rows) * 200) / 200).tolist()
        found = (
            learn_then_test(levels, GRID, alpha, delta)
            if method == "ltt"
            else conformal_risk_control(levels, GRID, alpha)
        )
        risks.append(0.0 if found.threshold is None else 1 - found.threshold + 1 / 200)
    return sum(risk > alpha + 1e-12 for risk in risks), float(np.mean(risks))


@pytest.mark.parametrize(("rows", "alpha", "delta"), [(60, 0.1, 0.1), (200, 0.05, 0.1), (150, 0.2, 0.05)])
def test_learn_then_test_holds_in_all_but_delta_of_simulated_samples(rows: int, alpha: float, delta: float) -> None:
    failures, _ = exceeded("ltt", rows, alpha, delta, seed=20)
    # Of 200 samples at most a share delta fails in the mean; three standard deviations of room for chance.
    assert failures <= SPLITS * delta + 3 * math.sqrt(SPLITS * delta * (1 - delta))
    assert failures <= 200 * delta


@given(population=st.integers(0, 25), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)), successes=st.integers(-1, 26))
def test_drawing_without_replacement_is_that_of_counting(
    population: int, shares: tuple[float, float], successes: int
) -> None:
    marked, drawn = (round(share * population) for share in shares)
    ways = sum(
        math.comb(marked, k) * math.comb(population - marked, drawn - k) for k in range(min(successes, drawn) + 1)
    )
    expected = ways / math.comb(population, drawn)
    assert hypergeometric_cdf(successes, population, marked, drawn) == pytest.approx(expected, abs=1e-9)


def test_a_horizon_is_kept_by_the_very_rows_to_come() -> None:
    generator = np.random.default_rng(5)
    rows, alpha, delta, horizon = 150, 0.1, 0.1, 150
    broken = {True: 0, False: 0}
    for _ in range(SPLITS):
        levels, to_come = (np.ceil(generator.random(n) * 200) / 200 for n in (rows, horizon))
        for counted in broken:
            found = learn_then_test(levels.tolist(), GRID, alpha, delta, horizon if counted else None)
            broken[counted] += found.threshold is not None and (to_come >= found.threshold).sum() > alpha * horizon
    assert broken[True] <= SPLITS * delta
    assert broken[False] > broken[True]  # a rate that holds does not hold for every lot of 150


def test_a_long_horizon_is_a_rate() -> None:
    levels = [n / 200 for n in range(150)]
    far, rate = learn_then_test(levels, GRID, 0.1, 0.1, 10**6), learn_then_test(levels, GRID, 0.1, 0.1)
    assert far.threshold == rate.threshold
    with pytest.raises(InputError, match="horizon"):
        learn_then_test(levels, GRID, 0.1, 0.1, 0)
    few = learn_then_test([0.1] * 5, GRID, 0.1, 0.1, 50)
    assert few.least_rows > least_rows(0.1, 0.1)


def test_conformal_risk_control_holds_in_the_mean_and_not_for_each_sample() -> None:
    failures, mean = exceeded("crc", 150, 0.1, 0.1, seed=20)
    assert mean <= 0.1
    assert failures > SPLITS * 0.2
