"""Calibration against scikit-learn's figures, closed forms and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats import calibration as cal


def column(rows: int, seed: int) -> list[float]:
    numbers = []
    for _ in range(rows):
        seed = (1103515245 * seed + 12345) % 2**31
        numbers.append(seed / 2**31)
    return numbers


FIRST, SECOND = column(60, 7), column(60, 11)
SCORES = [round(number, 1) for number in FIRST]
OUTCOMES = [int(second < 0.2 + 0.6 * first) for first, second in zip(FIRST, SECOND, strict=True)]

rows = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


def test_brier_and_log_loss_equal_those_of_scikit_learn() -> None:
    assert cal.brier(FIRST, OUTCOMES) == pytest.approx(0.20381006256444748, abs=1e-12)
    assert cal.log_loss(FIRST, OUTCOMES) == pytest.approx(0.6290955884195036, abs=1e-12)


def test_a_certain_error_has_a_finite_loss() -> None:
    assert 30 < cal.log_loss([1.0], [0]) < 40


@given(rows=rows, bins=st.integers(1, 15))
def test_bins_hold_every_row_once_whatever_their_kind(rows: list[tuple[float, int]], bins: int) -> None:
    said, came = [p for p, _ in rows], [y for _, y in rows]
    for diagram in (cal.reliability(said, came, bins), cal.adaptive_reliability(said, came, bins)):
        assert sum(entry.count for entry in diagram) == len(rows)
        assert len(diagram) <= bins
        for entry in diagram:
            if entry.mean_probability is not None:
                assert entry.low - 1e-9 <= entry.mean_probability <= entry.high + 1e-9


@given(rows=rows)
def test_calibration_errors_are_within_bounds_and_free_of_order(rows: list[tuple[float, int]]) -> None:
    said, came = [p for p, _ in rows], [y for _, y in rows]
    for figure in (cal.ece, cal.adaptive_ece, cal.brier):
        assert 0 <= figure(said, came) <= 1
        assert figure(said, came) == pytest.approx(figure(said[::-1], came[::-1]))


def test_probabilities_that_mean_what_they_say_have_no_error() -> None:
    assert cal.ece([0.5, 0.5, 1.0, 0.0], [1, 0, 1, 0]) == 0


def test_logistic_coefficients_equal_those_of_scikit_learn() -> None:
    model = cal.fit_logistic(np.column_stack([FIRST, SECOND[::-1]]), OUTCOMES, l2=0.5)
    assert model.converged
    assert model.coefficients == pytest.approx((2.373716482363399, 0.3971953397092826), abs=1e-6)
    assert model.intercept == pytest.approx(-1.1911495512577903, abs=1e-6)


def test_a_weight_counts_like_repeating_the_row() -> None:
    once = cal.fit_logistic([0.0, 1.0, 2.0], [0, 1, 0], weights=[1, 3, 2])
    repeated = cal.fit_logistic([0.0, 1.0, 1.0, 1.0, 2.0, 2.0], [0, 1, 1, 1, 0, 0])
    assert once.coefficients == pytest.approx(repeated.coefficients)
    assert once.intercept == pytest.approx(repeated.intercept)


def test_without_any_signal_the_fit_is_the_base_rate() -> None:
    model = cal.fit_logistic(np.zeros((4, 2)), [1, 1, 1, 0])
    assert model.predict([[0.0, 0.0]])[0] == pytest.approx(0.75)


def test_separable_rows_converge_under_a_penalty() -> None:
    model = cal.fit_logistic([-1e6, -1e6, 1e6, 1e6], [0, 0, 1, 1], l2=1e-3)
    assert model.converged
    assert model.predict([-1e6, 1e6]).tolist() == pytest.approx([0, 1], abs=1e-6)


@given(
    features=st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=2, max_size=30),
    seed=st.integers(0, 2**20),
)
def test_a_penalised_fit_always_converges_to_a_flat_gradient(features: list[tuple[float, float]], seed: int) -> None:
    outcomes = [int(number < 0.5) for number in column(len(features), seed)]
    outcomes[0], outcomes[-1] = 0, 1
    matrix = np.array(features)
    model = cal.fit_logistic(matrix, outcomes, l2=1.0)
    assert model.converged
    gap = model.predict(matrix) - outcomes
    assert float(np.sum(gap)) == pytest.approx(0, abs=1e-3)
    assert (matrix.T @ gap + np.array(model.coefficients)).tolist() == pytest.approx([0, 0], abs=1e-2)


@pytest.mark.parametrize("outcomes", [[0, 0], [1, 1]])
def test_a_fit_on_one_outcome_is_an_error(outcomes: list[int]) -> None:
    with pytest.raises(InputError, match="both outcomes"):
        cal.fit_logistic([0.0, 1.0], outcomes)


@pytest.mark.parametrize("l2", [-1.0, float("nan")])
def test_a_penalty_must_be_a_number_that_holds_back(l2: float) -> None:
    with pytest.raises(InputError, match="l2"):
        cal.fit_logistic([0.0, 1.0], [0, 1], l2=l2)


def test_features_of_another_width_are_an_error() -> None:
    model = cal.fit_logistic([0.0, 1.0], [0, 1])
    with pytest.raises(InputError, match="shape"):
        model.predict([[1.0, 2.0]])


def test_platt_scaling_of_separable_scores_is_finite_and_rising() -> None:
    model = cal.fit_platt([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1])
    low, high = model.predict([0.1, 0.9])
    assert 0 < low < 0.5 < high < 1


def test_a_temperature_cools_overconfidence_and_leaves_the_truth() -> None:
    honest = [float(np.log(3))] * 4
    assert cal.fit_temperature(honest, [1, 1, 1, 0]) == pytest.approx(1, abs=1e-4)
    assert cal.fit_temperature([5 * logit for logit in honest], [1, 1, 1, 0]) == pytest.approx(5, abs=1e-3)


def test_a_temperature_over_classes_equals_that_over_odds() -> None:
    odds, outcomes = [2.0, 2.0, 2.0, -2.0], [1, 1, 0, 0]
    assert cal.fit_temperature([[0.0, odd] for odd in odds], outcomes) == cal.fit_temperature(odds, outcomes)


def test_a_class_without_a_column_is_an_error() -> None:
    with pytest.raises(InputError, match="columns"):
        cal.fit_temperature([[0.0, 1.0]], [2])


def test_isotonic_regression_equals_that_of_scikit_learn() -> None:
    tenths = [0.1, 0.1] + [0.4090909090909091] * 4 + [0.7692307692307693] * 2 + [0.8] * 3
    model = cal.fit_isotonic(SCORES, OUTCOMES)
    assert model.predict(np.linspace(0, 1, 11)).tolist() == pytest.approx(tenths)


@given(rows=rows)
def test_an_isotonic_fit_rises_keeps_the_mean_and_is_no_worse_than_it(rows: list[tuple[float, int]]) -> None:
    scores, came = [score for score, _ in rows], [outcome for _, outcome in rows]
    model = cal.fit_isotonic(scores, came)
    assert list(model.probabilities) == sorted(model.probabilities)
    assert list(model.scores) == sorted(set(model.scores))
    fitted = model.predict(scores)
    assert float(fitted.mean()) == pytest.approx(float(np.mean(came)))
    assert cal.brier(np.clip(fitted, 0, 1), came) <= cal.brier([float(np.mean(came))] * len(came), came) + 1e-9


@pytest.mark.parametrize(("said", "came"), [([], []), ([1.1], [1]), ([float("nan")], [1]), ([0.5], [2]), ([0.5], [])])
def test_columns_that_make_no_sense_are_errors(said: list[float], came: list[int]) -> None:
    with pytest.raises(InputError):
        cal.ece(said, came)


def test_scores_that_are_no_numbers_are_errors() -> None:
    with pytest.raises(InputError, match="finite"):
        cal.fit_isotonic([float("nan")], [1])
    with pytest.raises(InputError, match="finite"):
        cal.fit_isotonic([0.1], [1]).predict([float("inf")])
    with pytest.raises(InputError, match="finite"):
        cal.fit_logistic([float("inf"), 0.0], [0, 1])
