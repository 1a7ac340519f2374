"""Exact mean run lengths: how long a CUSUM chart runs until an alarm.

The chart S = max(0, S + x - reference) over observations on a lattice is a Markov chain with finitely many states below
its threshold (Brook and Evans 1972, "An approach to the probability distribution of CUSUM run length", Biometrika 59).
The mean run lengths L from each state solve L = 1 + Q L, where Q contains the probabilities of going from state to
state without an alarm. For a rate whose reference is 1/m or (m - 1)/m the walk moves by single steps in one direction
and the equations are solved by recursion; otherwise by elimination from the lowest state up. Either gives the run
lengths for all thresholds at once.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.lattice import Floats, Lattice, Whole

MOST_STATES: Final = 2_000_000
"""The most states of a chart: with more, the threshold is so high that no shift would ever be detected."""
_LEAST: Final = 1e-290
"""Pivots and rises up to this count as zero: the run length is then infinite for all practical purposes."""
_LONGEST: Final = 1e290
"""Run lengths above this count as infinite."""


def mean_run_length(lattice: Lattice, reference: int, states: int) -> float:
    """The mean number of observations from S = 0 until the alarm.

    Args:
        lattice: the distribution of observations, which are independent of each other.
        reference: the reference value, in units of the lattice.
        states: the number of units at which S raises the alarm.

    Returns:
        The mean, 1 or more; infinite where there can be no alarm.

    >>> from assay.stats.drift.lattice import bernoulli
    >>> mean_run_length(bernoulli(0.5, 2), 1, 2)  # two steps up from the floor: 2 + 4
    6.0

    Raises:
        InputError: the reference is not on the lattice, or there are no states or too many.
    """
    if not 0 <= reference <= lattice.unit + 1 or not 1 <= states <= MOST_STATES:
        raise InputError(f"expected a reference within the lattice and 1 to {MOST_STATES:,} states, got {states}")
    return float(run_lengths(lattice, reference, states)[states])


def run_lengths(lattice: Lattice, reference: int, most: int, wanted: float = float("inf")) -> Floats:
    """The mean run lengths of charts with one state, two, and so on.

    Args:
        lattice: the distribution of observations.
        reference: the reference value, in units of the lattice.
        most: the largest number of states.
        wanted: run lengths after the first one of at least this length may be left out.

    Returns:
        Ascending values: the one at n is that of a chart that raises the alarm at n units; the one at 0 is meaningless.
    """
    jumps = lattice.steps - reference
    if not bool(np.any((jumps > 0) & (lattice.chances > 0))):
        return np.concatenate([[np.nan], np.full(most, np.inf)])
    rate = _rate_of(lattice)
    # With a drift towards the threshold, the downward recursion would subtract nearly equal numbers.
    steady = rate is not None and (reference == lattice.unit - 1 or (reference == 1 and rate * lattice.unit <= 1))
    if rate is not None and lattice.unit >= 2 and steady:
        return rate_run_lengths(rate, lattice.unit, reference, most)
    return run_lengths_by_elimination(lattice, reference, most, wanted)


def rate_run_lengths(rate: float, unit: int, reference: int, most: int) -> Floats:
    """`run_lengths` for a rate whose reference is 1/unit or (unit - 1)/unit.

    Args:
        rate: the rate.
        unit: the unit of the lattice.
        reference: 1 or `unit - 1`.
        most: the largest number of states.
    """
    found = (_up_by_one if reference == unit - 1 else _down_by_one)(rate, unit, most)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=32)
def _down_by_one(rate: float, unit: int, most: int) -> Floats:
    # w(t) and v(t) by the distance t from the threshold: a run length is c * w(t) - v(t), where the one unknown c
    # follows from the floor. All terms have the same sign, so that nothing is lost to rounding.
    up, ratio = unit - 1, rate / (1 - rate)
    w, grown, v = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    w[0], v[0], total = 1.0, 0.0, 0.0
    for t in range(most):
        # The sum of the last `up` differences, and w(0) while a step up from here would pass the threshold.
        beyond = 1.0 if t < up else 0.0
        grown[t] = ratio * (float(grown[max(0, t - up) : t].sum()) + beyond)
        w[t + 1] = w[t] + grown[t]
        total += w[t]
        v[t + 1] = total / (1 - rate)
    lengths = np.full(most + 1, np.nan)
    for states in range(1, most + 1):
        top, low = states - 1, states - 1 - up
        w_low, v_low = (w[low], v[low]) if low >= 0 else (0.0, 0.0)
        rise = w[top] - w_low if low < 0 else float(grown[low:top].sum())
        lengths[states] = (1 / rate + v[top] - v_low) / rise * w[top] - v[top] if rise > _LEAST else np.inf
    return lengths


@lru_cache(maxsize=32)
def _up_by_one(rate: float, unit: int, most: int) -> Floats:
    # The mean time from each state to the one above it: after a fall the walk has to climb again.
    down = unit - 1
    climb_times = np.zeros(most + 1)
    for state in range(most):
        if climb_times[state] > _LONGEST:
            climb_times[state + 1 :] = np.inf
            break
        again = climb_times[state] - climb_times[max(0, state - down)]
        climb_times[state + 1] = climb_times[state] + (1 + (1 - rate) * again) / rate
    lengths = climb_times.copy()
    lengths[0] = np.nan
    return lengths


def _rate_of(lattice: Lattice) -> float | None:
    """The rate, if the distribution is that of a rate; none otherwise."""
    if (
        lattice.origin == 0
        and len(lattice.steps) == 2
        and lattice.steps[0] == 0
        and lattice.steps[1] == lattice.unit
        and 0 < lattice.chances[1] < 1
    ):
        return float(lattice.chances[1])
    return None


def run_lengths_by_elimination(lattice: Lattice, reference: int, most: int, wanted: float = float("inf")) -> Floats:
    """`run_lengths` for any distribution.

    The matrix I - Q of the chart with n states is the upper left corner of the infinite matrix of the chart without a
    threshold. One factorisation of it into lower and upper triangles L and U therefore serves all n: the run length is
    the sum over the first n states of z y, where L y = 1 and z U = (1, 0, 0, ...). Pivots are the sums of the
    probabilities of going higher (Grassmann, Taksar and Heyman 1985, "Regenerative analysis and steady state
    distributions for Markov chains", Operations Research 33), so that nothing is subtracted and full precision is kept
    however long a run is. The cost is proportional to states times steps up times steps down, in one thread.
    """
    possible = lattice.chances > 0
    jumps, chances = lattice.steps[possible] - reference, lattice.chances[possible]
    up, down = max(1, int(jumps.max())), max(1, int(-jumps.min()))
    jump_chances = np.zeros(up + down + 1)
    jump_chances[jumps + down] = chances
    floor_chances = np.concatenate([np.cumsum(jump_chances), [0.0]])
    rows = min(down + 1, most)
    # The window of the matrix that changes: `rows` down and `up` across, from the state that is eliminated.
    window = np.zeros((rows, up + 1))
    for row in range(rows):
        window[row] = _chances(jump_chances, down, np.arange(up + 1) - row)
        window[row, 0] = floor_chances[max(-1, down - row)]
    y, z, lengths, total = np.ones(rows), np.zeros(up + 1), np.full(most + 1, np.nan), 0.0
    z[0] = 1.0
    corner = np.arange(rows)
    for state in range(most):
        higher = window[0, 1:]
        pivot = float(higher.sum())
        if pivot <= _LEAST or total > _LONGEST:
            lengths[state + 1 :] = np.inf
            break
        share = window[1:, 0] / pivot
        visits = z[0] / pivot
        total += visits * y[0]
        lengths[state + 1] = total
        if total >= wanted:
            break
        y[:-1] = y[1:] + share * y[0]
        z[:-1] = z[1:] + visits * higher
        y[-1], z[-1] = 1.0, 0.0
        window[:-1, :-1] = window[1:, 1:] + share[:, None] * higher
        last = state + rows  # the row that enters; the column that enters is the one `up` above the next state
        window[-1, :-1] = _chances(jump_chances, down, np.arange(state + 1, state + 1 + up) - last)
        window[:, -1] = _chances(jump_chances, down, up - corner)
    return lengths


def _chances(jump_chances: Floats, down: int, jumps: Whole) -> Floats:
    """The probabilities of jumps, zero for impossible ones."""
    places = jumps + down
    inside = (places >= 0) & (places < jump_chances.size)
    return np.where(inside, jump_chances[np.where(inside, places, 0)], 0.0)
