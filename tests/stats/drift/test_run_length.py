"""Run lengths: exact for small charts, agreed on by the recursion, the blocks and simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.stats.drift.cusum import Direction
from assay.stats.drift.design import both_sides, design_chart, siegmund
from assay.stats.drift.lattice import Lattice, bernoulli, best_reference, beta, empirical, tilted
from assay.stats.drift.run_length import mean_run_length, run_lengths, run_lengths_by_elimination
from assay.stats.drift.simulation import simulated_run_lengths

RUNS = 4_000
"""Enough for a mean run length to about 1.6% (its standard deviation is about the mean itself)."""
SIGMAS = 4.5


def test_a_chart_of_one_state_alarms_at_the_first_bad_output() -> None:
    assert mean_run_length(bernoulli(0.2, 10), 1, 1) == pytest.approx(5.0)


def test_the_run_length_of_a_run_of_ones_is_the_known_one() -> None:
    # With the reference (m - 1)/m and the threshold n/m it takes n ones in a row if m is large: the sum of p^-k.
    rate, ones = 0.4, 3
    known = sum(rate**-count for count in range(1, ones + 1))
    assert mean_run_length(bernoulli(rate, 50), 49, ones) == pytest.approx(known)


@given(
    rate=st.floats(0.01, 0.99),
    unit=st.integers(2, 30),
    states=st.integers(1, 400),
    above=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_recursion_and_the_elimination_agree_for_all_thresholds(
    rate: float, unit: int, states: int, above: bool
) -> None:
    of, reference = bernoulli(rate, unit), unit - 1 if above else 1
    found, other = run_lengths(of, reference, states)[1:], run_lengths_by_elimination(of, reference, states)[1:]
    finite = (other < 1e200) & np.isfinite(found[:states])
    assert found[:states][finite] == pytest.approx(other[finite], rel=1e-8)


def solved(of: Lattice, reference: int, states: int) -> float:
    """The run length out of the whole system of equations."""
    rows = np.zeros((states, states))
    for step, chance in zip(of.steps, of.chances, strict=True):
        to = np.maximum(np.arange(states) + step - reference, 0)
        np.add.at(rows, (np.arange(states)[to < states], to[to < states]), chance)
    return float(np.linalg.solve(np.eye(states) - rows, np.ones(states))[0])


@given(unit=st.integers(3, 40), states=st.integers(1, 300), seed=st.integers(0, 1000), place=st.floats(0, 1))
@settings(max_examples=25, deadline=None)
def test_elimination_solves_what_the_whole_system_solves(unit: int, states: int, seed: int, place: float) -> None:
    rng = np.random.default_rng(seed)
    of = Lattice(unit, np.arange(unit + 1), rng.dirichlet(np.ones(unit + 1)))
    reference = int(place * unit)
    whole = solved(of, reference, states)
    if reference < unit and 0 < whole < 1e9:  # beyond it the system itself loses digits
        assert run_lengths_by_elimination(of, reference, states)[states] == pytest.approx(whole, rel=1e-6)


def test_elimination_may_stop_where_a_run_length_is_long_enough() -> None:
    of = bernoulli(0.3, 16)
    whole, part = run_lengths_by_elimination(of, 5, 400), run_lengths_by_elimination(of, 5, 400, 500.0)
    known = np.flatnonzero(np.isfinite(part))
    assert part[known] == pytest.approx(whole[known], rel=1e-12)
    assert part[known[-1]] >= 500 > part[known[-2]]


@given(rate=st.floats(0.02, 0.4), unit=st.integers(3, 20), states=st.integers(1, 120))
@settings(max_examples=40, deadline=None)
def test_a_higher_threshold_is_reached_later_and_a_higher_rate_sooner(rate: float, unit: int, states: int) -> None:
    length = mean_run_length(bernoulli(rate, unit), 1, states)
    assert mean_run_length(bernoulli(rate, unit), 1, states + 1) >= length - 1e-9
    assert mean_run_length(bernoulli(min(0.9, rate * 1.5), unit), 1, states) <= length + 1e-9
    assert length >= 1


@pytest.mark.parametrize(
    ("baseline", "shift", "every", "direction", "kind"),
    [
        (0.05, 0.03, 2_000, Direction.UP, "rate"),
        (0.05, 0.03, 2_000, Direction.DOWN, "rate"),
        (0.3, 0.1, 1_000, Direction.UP, "rate"),
        (0.9, 0.05, 1_000, Direction.UP, "rate"),
        (0.05, 0.03, 2_000, Direction.UP, "score"),
        (0.3, 0.1, 1_000, Direction.DOWN, "score"),
    ],
)
def test_simulated_run_lengths_are_those_that_a_design_states(
    baseline: float, shift: float, every: float, direction: Direction, kind: str
) -> None:
    found = design_chart(baseline, shift, every, direction=direction, kind=kind)
    of = bernoulli(baseline) if kind == "rate" else beta(baseline, 0.5 * math.sqrt(baseline * (1 - baseline)), 1_000)
    shifted = tilted(of, baseline + shift if direction is Direction.UP else baseline - shift)
    for law, stated in ((of, found.arl0), (shifted, found.arl1)):
        runs = simulated_run_lengths(found.chart, law, RUNS, np.random.default_rng(7))
        error = float(runs.std()) / math.sqrt(RUNS)
        assert abs(float(runs.mean()) - stated) < SIGMAS * error + 0.01 * stated


def test_a_design_has_the_least_threshold_that_is_enough() -> None:
    found = design_chart(0.05, 0.03, 10_000)
    assert 10_000 <= found.arl0 < 10_600
    assert found.arl1 < 0.05 * found.arl0
    assert 0 < found.chart.slack < 0.03
    again = design_chart(0.05, 0.03, 10_000)
    assert again == found


def test_thresholds_lie_between_places_so_that_rounding_moves_no_alarm() -> None:
    chart = design_chart(0.05, 0.03, 10_000).chart
    unit = round(1 / chart.reference)
    assert chart.reference == pytest.approx(1 / unit)
    assert chart.threshold * unit % 1 == pytest.approx(0.5)


def test_the_run_lengths_at_the_ends_of_an_estimated_baseline_are_told() -> None:
    found = design_chart(0.05, 0.03, 10_000, baseline_range=(0.04, 0.06))
    assert found.arl0_range is not None
    low, high = found.arl0_range
    assert low < found.arl0 < high


def test_siegmund_is_near_what_is_tabulated_and_both_sides_share_their_alarms() -> None:
    assert siegmund(-0.5, 5.0) == pytest.approx(930, rel=0.02)
    assert siegmund(0.0, 4.0) == pytest.approx((4 + 1.166) ** 2)
    assert both_sides(100, 300) == pytest.approx(75)


def test_designs_that_no_chart_has_are_refused() -> None:
    for bad in ((0.0, 0.1, 100), (0.5, 0.6, 100), (0.5, -0.1, 100), (0.5, 0.1, 1), (0.5, 0.1, float("nan"))):
        with pytest.raises(InputError):
            design_chart(*bad)
    with pytest.raises(InputError, match="the kind rate or score"):
        design_chart(0.5, 0.1, 100, kind="other")
    with pytest.raises(InputError, match=r"standard deviation between 0 and 0\.5"):
        design_chart(0.5, 0.1, 100, kind="score", spread=0.6)
    with pytest.raises(InputError, match="within the lattice"):
        mean_run_length(bernoulli(0.5, 4), 9, 3)


@given(mean=st.floats(0.02, 0.98), part=st.floats(0.05, 0.95), unit=st.integers(20, 200), shift=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_a_lattice_keeps_the_mean_of_a_beta_distribution(mean: float, part: float, unit: int, shift: float) -> None:
    of = beta(mean, part * math.sqrt(mean * (1 - mean)), unit, -shift / unit)
    assert of.mean == pytest.approx(mean, abs=1e-9)
    assert float(of.chances.min()) >= 0


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=30), unit=st.integers(1, 60), shift=st.floats(0, 1))
def test_a_lattice_keeps_the_mean_of_what_was_seen(values: list[float], unit: int, shift: float) -> None:
    assert empirical(values, unit, -shift / unit).mean == pytest.approx(float(np.mean(values)), abs=1e-9)


@given(rate=st.floats(0.01, 0.9), more=st.floats(0.01, 0.09))
def test_the_tilt_of_a_rate_is_a_rate_and_the_reference_lies_between(rate: float, more: float) -> None:
    moved = tilted(bernoulli(rate), rate + more)
    assert moved.chances[1] == pytest.approx(rate + more, abs=1e-9)
    assert rate < best_reference(bernoulli(rate), rate + more) < rate + more


def test_what_is_no_distribution_is_refused() -> None:
    with pytest.raises(InputError):
        Lattice(4, np.array([0, 4]), np.array([0.5, 0.6]))
    with pytest.raises(InputError):
        Lattice(4, np.array([0, 9]), np.array([0.5, 0.5]))
    with pytest.raises(InputError):
        empirical([], 4)
    with pytest.raises(InputError, match="greatest value"):
        tilted(bernoulli(0.5), 1.0)
