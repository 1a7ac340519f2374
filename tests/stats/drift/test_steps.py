"""Where a mean rises along a line of states: likelihoods against the textbook, and what follows from symmetry."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift import RiseHypotheses, evaluations, expected_information, posterior, precision, sizes_of

SINGLES = RiseHypotheses(
    np.array([[0, 0, 0.0], [0, 1, 1], [0, 0, 1]]), np.array([0.5, 0.25, 0.25]), np.array([0, 0.1, 0.1])
)


@st.composite
def outcomes(draw: st.DrawFn) -> dict[int, list[float]]:
    values = st.floats(0, 1).map(lambda one: round(one, 3))
    return {state: draw(st.lists(values, min_size=2, max_size=12)) for state in range(3)}


@given(seen=outcomes(), owns=st.lists(st.floats(0.01, 1), min_size=3, max_size=3), shared=st.floats(0, 1))
@settings(deadline=None)
def test_the_likelihood_is_that_of_a_normal_distribution_row_by_row(
    seen: dict[int, list[float]], owns: list[float], shared: float
) -> None:
    own = np.array(owns)
    matrix, vector = precision(evaluations(seen, [0, 1, 2]), own, shared)
    one, two = np.array([0.2, 0.3, 0.5]), np.array([0.4, 0.4, 0.1])

    def direct(means: np.ndarray) -> float:
        total = 0.0
        for row in range(max(map(len, seen.values()))):
            there = [state for state in range(3) if row < len(seen[state])]
            rest = np.array([seen[state][row] for state in there]) - means[there]
            total -= float(rest @ np.linalg.inv(np.diag(own[there]) + shared) @ rest) / 2
        return total

    def summed(means: np.ndarray) -> float:
        return float(vector @ means - means @ matrix @ means / 2)

    assert summed(one) - summed(two) == pytest.approx(direct(one) - direct(two), rel=1e-6, abs=1e-6)


@given(seen=outcomes(), by=st.floats(-0.5, 0.5))
@settings(deadline=None)
def test_what_is_believed_does_not_depend_on_the_level(seen: dict[int, list[float]], by: float) -> None:
    """The level is unknown: all outcomes moved by the same leave every ratio as it is."""
    matrix, vector = precision(evaluations(seen, [0, 1, 2]), np.full(3, 0.1), 0.05)
    first = posterior(matrix, vector, SINGLES, sizes_of(0.1))
    moved = posterior(matrix, vector + by * matrix.sum(axis=1), SINGLES, sizes_of(0.1))
    assert moved.evidence == pytest.approx(first.evidence, rel=1e-6, abs=1e-6)
    assert moved.level == pytest.approx(first.level + by, abs=1e-9)
    assert float(first.weights.sum()) == pytest.approx(1)


def test_where_nothing_rose_it_is_hardly_ever_refuted_however_often_one_looks() -> None:
    rng, refuted = np.random.default_rng(4), 0
    for _ in range(300):
        seen: dict[int, list[float]] = {state: [] for state in range(3)}
        for _ in range(25):
            for values in seen.values():
                values.extend((rng.random(20) < 0.2).astype(float).tolist())
            matrix, vector = precision(evaluations(seen, [0, 1, 2]), np.full(3, 0.2 * 0.8), 0.0)
            now = posterior(matrix, vector, SINGLES, sizes_of(0.1))
            if np.logaddexp(now.evidence[1], now.evidence[2]) - np.log(2) >= np.log(1 / 0.1):
                refuted += 1
                break
    assert refuted <= 30


def test_rows_that_answer_alike_make_a_rise_surer() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(200)
    seen = {state: (hard < rate).astype(float).tolist() for state, rate in enumerate((0.2, 0.25, 0.25))}
    found = evaluations(seen, [0, 1, 2])
    assert found.covariance > 0.1
    ratios = []
    for shared in (0.0, found.covariance):
        now = posterior(*precision(found, np.full(3, found.variance - shared), shared), SINGLES, np.array([0.095, 0.1]))
        ratios.append(float(now.evidence[1] - now.evidence[2]))
    assert ratios[1] > 2 * ratios[0] > 0


def test_most_is_learned_from_the_state_on_whose_side_nobody_agrees() -> None:
    seen = {0: [0.0, 0.1] * 100, 1: [0.0, 0.5], 2: [0.4, 0.6] * 100}
    found = evaluations(seen, [0, 1, 2])
    now = posterior(*precision(found, np.full(3, 0.05), 0.0), SINGLES, sizes_of(0.1))
    told = expected_information(now, found, SINGLES, np.full(3, 0.05), 0.0, 50)
    assert int(told.argmax()) == 1
    assert bool(np.all(told >= 0))


def test_variances_of_nothing_and_of_equal_outcomes_are_nought() -> None:
    assert evaluations({}, [0, 1]).variance == 0
    assert evaluations({0: [0.5, 0.5]}, [0, 1]).variance == 0
    assert not evaluations({0: [0.5]}, [0, 1]).binary
    with pytest.raises(InputError):
        evaluations({0: [1.5]}, [0])
    with pytest.raises(InputError):
        RiseHypotheses(np.zeros((2, 3)), np.ones(1), np.zeros(2))
