"""How long a CUSUM chart runs until it alarms: exact mean run lengths.

The chart S = max(0, S + x - reference) over observations on a lattice is a Markov chain with finitely many states below
its threshold (Brook and Evans 1972, "An approach to the probability distribution of CUSUM run length", Biometrika 59).
The mean run lengths L from each state solve L = 1 + Q L, where Q holds the chances to go from state to state without an
alarm. For a rate whose reference is 1/m or (m - 1)/m one side of the walk moves by single steps and the equations are
solved by recursion, for all thresholds at once; else they are a system of banded blocks, solved from one end.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.lattice import Floats, Lattice

MOST_STATES: Final = 2_000_000
"""The most states of a chart: with more of them the threshold is so far that nothing would ever be found."""
_LEAST: Final = 1e-290
"""What is smaller than this stands for a run that outlasts every system."""
_DENSE: Final = 250
"""States up to which the system is solved as a whole."""


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
    jumps = of.steps - reference
    if not bool(np.any((jumps > 0) & (of.chances > 0))):
        return float("inf")
    rate = _rate_of(of)
    # With a drift towards the threshold the recursion downwards would take nearly equal numbers from each other.
    steady = rate is not None and (reference == of.unit - 1 or (reference == 1 and rate * of.unit <= 1))
    if rate is not None and of.unit >= 2 and steady:
        return float(rate_run_lengths(rate, of.unit, reference, states)[states])
    return float(_solved(of, reference, states)[0])


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


def _solved(of: Lattice, reference: int, states: int) -> Floats:
    """The mean run lengths from the lowest states."""
    jumps = [(int(step) - reference, float(chance)) for step, chance in zip(of.steps, of.chances, strict=True)]
    jumps = [(jump, chance) for jump, chance in jumps if chance > 0]
    width = max(1, *(abs(jump) for jump, _ in jumps))
    if states <= max(_DENSE, width):
        return np.asarray(np.linalg.solve(_rows(jumps, 0, states, 0, states, states), np.ones(states)))
    # Blocks as wide as the longest jump: each touches only its neighbours (the Thomas algorithm).
    begins = list(range(0, states, width))
    ends = [min(begin + width, states) for begin in begins]
    factors: list[tuple[Floats, Floats]] = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        own, right = _rows(jumps, begin, end, begin, end, states), np.ones(end - begin)
        if number:
            before = _rows(jumps, begin, end, begins[number - 1], ends[number - 1], states)
            own -= before @ factors[-1][0]
            right -= before @ factors[-1][1]
        following = ends[number + 1] - end if number + 1 < len(begins) else 0
        after = _rows(jumps, begin, end, end, end + following, states)
        both = np.linalg.solve(own, np.column_stack([after, right]))
        factors.append((np.asarray(both[:, :following]), np.asarray(both[:, following])))
    solved = factors[-1][1]
    for onward, fixed in reversed(factors[:-1]):
        solved = fixed - onward @ solved
    return np.asarray(solved)


def _rows(jumps: list[tuple[int, float]], begin: int, end: int, left: int, right: int, states: int) -> Floats:
    """The part of I - Q in some rows and columns."""
    part = np.zeros((end - begin, right - left))
    rows = np.arange(begin, end)
    for jump, chance in jumps:
        to = np.maximum(rows + jump, 0)
        here = (to >= left) & (to < right) & (to < states)
        np.subtract.at(part, (rows[here] - begin, to[here] - left), chance)
    same = rows[(rows >= left) & (rows < right)]
    part[same - begin, same - left] += 1
    return part
