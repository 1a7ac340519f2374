"""How long a CUSUM chart runs until it alarms: exact mean run lengths.

The chart S = max(0, S + x - reference) over observations on a lattice is a Markov chain with finitely many states below
its threshold (Brook and Evans 1972, "An approach to the probability distribution of CUSUM run length", Biometrika 59).
The mean run lengths L from each state solve L = 1 + Q L, where Q holds the chances to go from state to state without an
alarm. For a rate whose reference is 1/m or (m - 1)/m one side of the walk moves by single steps and the equations are
solved by recursion; else by elimination from the lowest state up. Either gives the run lengths for all thresholds at
once.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.lattice import Floats, Lattice, Whole

MOST_STATES: Final = 2_000_000
"""The most states of a chart: with more of them the threshold is so far that nothing would ever be found."""
_LEAST: Final = 1e-290
"""What is smaller than this stands for a run that outlasts every system."""
_LONGEST: Final = 1e290
"""And what is larger for an infinite one."""


def mean_run_length(of: Lattice, reference: int, states: int) -> float:
    """How many observations pass in the mean from S = 0 until the alarm.

    Args:
        of: how observations are distributed, independent of each other.
        reference: the reference value, in units of the lattice.
        states: the alarm is where S reaches so many units.

    Returns:
        The mean, 1 or more; infinite where the alarm cannot come.

    >>> from assay.stats.drift.lattice import bernoulli
    >>> mean_run_length(bernoulli(0.5, 2), 1, 2)  # two steps up from the floor: 2 + 4
    6.0

    Raises:
        InputError: the reference is no place on the lattice, or there are no states, or too many.
    """
    if not 0 <= reference <= of.unit + 1 or not 1 <= states <= MOST_STATES:
        raise InputError(f"expected a reference within the lattice and 1 to {MOST_STATES:,} states, got {states}")
    return float(run_lengths(of, reference, states)[states])


def run_lengths(of: Lattice, reference: int, most: int, wanted: float = float("inf")) -> Floats:
    """The mean run lengths of charts with one state, two, and so on: the value at n is that of a chart that alarms at n
    units; the value at 0 means nothing. They rise.

    Args:
        of: how observations are distributed.
        reference: the reference value, in units of the lattice.
        most: the last number of states.
        wanted: those after the first one that is so long may be left out.
    """
    jumps = of.steps - reference
    if not bool(np.any((jumps > 0) & (of.chances > 0))):
        return np.concatenate([[np.nan], np.full(most, np.inf)])
    rate = _rate_of(of)
    # With a drift towards the threshold the recursion downwards would take nearly equal numbers from each other.
    steady = rate is not None and (reference == of.unit - 1 or (reference == 1 and rate * of.unit <= 1))
    if rate is not None and of.unit >= 2 and steady:
        return rate_run_lengths(rate, of.unit, reference, most)
    return eliminated(of, reference, most, wanted)


def rate_run_lengths(rate: float, unit: int, reference: int, most: int) -> Floats:
    """The mean run lengths of a chart of a rate whose reference is 1/unit or (unit - 1)/unit, by the states that it has
    below its threshold: the value at n is that of a chart that alarms at n units; the value at 0 means nothing.

    Args:
        rate: the rate.
        unit: the lattice.
        reference: 1 or `unit - 1`.
        most: the last number of states.
    """
    found = (_up_by_one if reference == unit - 1 else _down_by_one)(rate, unit, most)
    found.flags.writeable = False
    return found


@lru_cache(maxsize=32)
def _down_by_one(rate: float, unit: int, most: int) -> Floats:
    # w(t) and v(t) by the distance t from the threshold: a run length is c * w(t) - v(t), the one unknown c is settled
    # at the floor. All terms are of one sign, so that nothing is lost to rounding.
    up, ratio = unit - 1, rate / (1 - rate)
    w, grown, v = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    w[0], v[0], total = 1.0, 0.0, 0.0
    for t in range(most):
        # The sum of the last `up` differences, and w(0) while a step up would go past the threshold from there.
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
    # The mean time from each state to the one above it: what falls back has to climb again.
    down = unit - 1
    climbed = np.zeros(most + 1)
    for state in range(most):
        if climbed[state] > _LONGEST:
            climbed[state + 1 :] = np.inf
            break
        again = climbed[state] - climbed[max(0, state - down)]
        climbed[state + 1] = climbed[state] + (1 + (1 - rate) * again) / rate
    lengths = climbed.copy()
    lengths[0] = np.nan
    return lengths


def _rate_of(of: Lattice) -> float | None:
    """The rate, where a distribution is that of one."""
    if of.origin == 0 and len(of.steps) == 2 and of.steps[0] == 0 and of.steps[1] == of.unit and 0 < of.chances[1] < 1:
        return float(of.chances[1])
    return None


def eliminated(of: Lattice, reference: int, most: int, wanted: float = float("inf")) -> Floats:
    """`run_lengths` for any distribution.

    The chart without a threshold has I - Q for its infinite matrix, and the chart with n states has the upper left
    corner of it. One factorisation of it into lower and upper triangles L and U therefore serves all n: the run length
    is the sum over the first n states of z y, where L y = 1 and z U = (1, 0, 0, ...). Pivots are the sums of the
    chances to go higher (Grassmann, Taksar and Heyman 1985, "Regenerative analysis and steady state distributions for
    Markov chains", Operations Research 33), so that nothing is subtracted and all digits are kept however long a run
    is. The cost is that of states times steps up times steps down; it is spent in plain loops of one thread.
    """
    kept = of.chances > 0
    jumps, chances = of.steps[kept] - reference, of.chances[kept]
    up, down = max(1, int(jumps.max())), max(1, int(-jumps.min()))
    by = np.zeros(up + down + 1)
    by[jumps + down] = chances
    to_floor = np.concatenate([np.cumsum(by), [0.0]])
    rows = min(down + 1, most)
    # The window of the matrix in which something changes: from the state that is eliminated `rows` down, `up` across.
    window = np.zeros((rows, up + 1))
    for row in range(rows):
        window[row] = _chances(by, down, np.arange(up + 1) - row)
        window[row, 0] = to_floor[max(-1, down - row)]
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
        last = state + rows  # the row that comes in; the column is the one `up` above the next state
        window[-1, :-1] = _chances(by, down, np.arange(state + 1, state + 1 + up) - last)
        window[:, -1] = _chances(by, down, up - corner)
    return lengths


def _chances(by: Floats, down: int, jumps: Whole) -> Floats:
    """The chances of jumps, nought of those that are too far."""
    places = jumps + down
    inside = (places >= 0) & (places < by.size)
    return np.where(inside, by[np.where(inside, places, 0)], 0.0)
