"""Designs a CUSUM chart: slack and threshold for a given interval between false alarms and a given shift.

The reference value is the optimal one for the shift (`lattice.best_reference`), moved to the nearest point of a lattice
on which run lengths are exact. The threshold is the least one whose mean run length without a shift is as long as
required. Thresholds lie midway between two points of the lattice, so that rounding of sums changes no alarm.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.cusum import Chart, Direction
from assay.stats.drift.lattice import Lattice, bernoulli, best_reference, beta, empirical, tilted
from assay.stats.drift.run_length import MOST_STATES, mean_run_length, run_lengths

NEAR: Final = 0.15
"""The largest distance of the reference from the best one, in shifts, if run lengths then follow from a recursion."""
NEARER: Final = 0.1
"""The largest such distance otherwise."""
FINE: Final = 0.05
"""The approximate largest step of the log run length from one threshold to the next."""
CELLS: Final = 18
"""Cells of a lattice of scores per standard deviation: rounding then adds 0.05% to the variance."""
COARSEST: Final = 40
FINEST: Final = 2_000
"""The coarsest and the finest lattice of scores."""
SPREAD: Final = 0.5
"""The default standard deviation of a score, as a share of that of a rate with the same mean."""
_FIRST_STATES: Final = 8
"""The logarithm, base 2, of the number of states that is tried first."""
_CURVE: Final = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""The shifts of the curve of run lengths, as multiples of the shift that the chart is designed for."""


@dataclass(frozen=True, slots=True)
class Approximation:
    """Textbook approximations of the run lengths."""

    arl1: float | None
    """h / (D - d) with the threshold h, the shift D and the slack d; none where the slack is not below the shift."""
    siegmund_arl0: float
    """Siegmund 1985, "Sequential Analysis", section 2.6: (exp(-2 m b) + 2 m b - 1) / (2 m^2) for the drift m of a sum
    in standard deviations and b = h in standard deviations + 1.166, without a shift."""
    siegmund_arl1: float
    """As above, with the shift."""


@dataclass(frozen=True, slots=True)
class Design:
    """A designed chart with its run lengths, in observations."""

    kind: str
    """`rate` or `score`."""
    chart: Chart
    shift: float
    """The change of the mean that it is designed for, positive in either direction."""
    false_alarm_every: float
    """The required mean number of observations between false alarms."""
    spread: float
    """The standard deviation of an observation without a shift."""
    arl0: float
    """The mean run length until a false alarm: exact for a rate; for a score exact on its lattice."""
    arl1: float
    """The mean run length until the alarm if the shift is there from the start."""
    approximation: Approximation
    curve: tuple[tuple[float, float], ...]
    """Means, each with the mean run length."""
    arl0_range: tuple[float, float] | None = None
    """The mean run length until a false alarm at the two ends of the interval of the baseline, shortest first."""
    baseline_range: tuple[float, float] | None = None
    """The interval of the baseline that `arl0_range` refers to."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A distribution on a lattice that contains the reference; mirrored for a falling mean, so that it always rises."""

    lattice: Lattice
    reference: int
    mirrored: bool

    def run_length(self, mean: float, states: int) -> float:
        own = 1 - mean if self.mirrored else mean
        return mean_run_length(tilted(self.lattice, own), self.reference, states)


def design_chart(
    baseline: float,
    shift: float,
    false_alarm_every: float,
    *,
    kind: str = "rate",
    direction: Direction = Direction.UP,
    spread: float | None = None,
    sample: tuple[float, ...] | None = None,
    baseline_range: tuple[float, float] | None = None,
    curve: bool = True,
) -> Design:
    """Designs the chart for a shift of the mean.

    Args:
        baseline: the mean while nothing has changed, between 0 and 1.
        shift: the change of the mean to be detected, above 0.
        false_alarm_every: the least mean number of observations between false alarms.
        kind: `rate` for observations that are 0 or 1, `score` for observations in [0, 1].
        direction: whether a rise or a fall is to be detected.
        spread: the standard deviation of a score, which then has a beta distribution. By default `SPREAD` times that of
            a rate with the same mean.
        sample: observed scores, instead of a beta distribution; their distribution is tilted to the baseline.
        baseline_range: the interval of an estimated baseline: the run lengths at its ends are computed as well.
        curve: whether the run lengths at other means are computed as well.

    Raises:
        InputError: an argument is out of range, or no chart meets the requirements.

    >>> found = design_chart(0.05, 0.03, 10_000)
    >>> found.arl0 >= 10_000, round(found.arl1)
    (True, 417)
    """
    shifted = baseline + shift if direction is Direction.UP else baseline - shift
    if not 0 < baseline < 1 or not shift > 0 or not 0 < shifted < 1:
        raise InputError(
            f"expected a baseline and a shifted mean between 0 and 1, and a shift above 0; got {baseline} and {shifted}"
        )
    if not 2 <= false_alarm_every <= 1e9:
        raise InputError(f"expected 2 to 1,000,000,000 observations between false alarms, got {false_alarm_every}")
    if kind == "rate":
        placed = _place_rate(baseline, shifted, direction)
    elif kind == "score":
        placed = _place_score(baseline, shifted, direction, spread, sample)
    else:
        raise InputError(f"expected the kind rate or score, got {ascii(kind)[:40]}")
    states = _least_states(placed, baseline, false_alarm_every)
    chart = _chart(placed, baseline, states, direction)
    means = sorted({baseline + (shifted - baseline) * times for times in _CURVE}) if curve else []
    return Design(
        kind,
        chart,
        shift,
        false_alarm_every,
        placed.lattice.spread,
        placed.run_length(baseline, states),
        placed.run_length(shifted, states),
        _approximation(chart, shift, placed.lattice.spread),
        tuple((mean, placed.run_length(mean, states)) for mean in means if _is_attainable(placed, mean)),
        None if baseline_range is None else _run_length_range(placed, baseline_range, states),
        baseline_range,
    )


def _approximation(chart: Chart, shift: float, deviation: float) -> Approximation:
    drift0, drift1, height = -chart.slack, shift - chart.slack, chart.threshold
    return Approximation(
        None if drift1 <= 0 else height / drift1,
        siegmund(drift0 / deviation, height / deviation),
        siegmund(drift1 / deviation, height / deviation),
    )


def _run_length_range(placed: _Placed, means: tuple[float, float], states: int) -> tuple[float, float] | None:
    """The run lengths at two means, the shorter one first; none where neither mean is attainable."""
    ends = [placed.run_length(mean, states) for mean in means if _is_attainable(placed, mean)]
    return (min(ends), max(ends)) if ends else None


def siegmund(drift: float, threshold: float) -> float:
    """Siegmund's approximation of the mean run length of a one-sided CUSUM of normal observations.

    Args:
        drift: the mean increment of the sum by an observation, in standard deviations.
        threshold: the threshold, in standard deviations.

    >>> round(siegmund(-0.5, 4.0)), round(siegmund(0.5, 4.0), 1)  # tabulated: 336 and 8.4 (Montgomery)
    (338, 8.3)
    """
    b = threshold + 1.166
    if abs(drift) < 1e-9:
        return b * b
    return (math.exp(-2 * drift * b) + 2 * drift * b - 1) / (2 * drift * drift)


def both_sides(first: float, second: float) -> float:
    """The mean run length of two one-sided charts together, until one of them raises an alarm: 1/L = 1/L1 + 1/L2 (Van
    Dobben de Bruyn 1968, "Cumulative Sum Tests"), exact if at an alarm of one the sum of the other is zero.

    >>> both_sides(10_000, 10_000)
    5000.0
    """
    return 1 / (1 / first + 1 / second)


def _is_attainable(placed: _Placed, mean: float) -> bool:
    own = 1 - mean if placed.mirrored else mean
    kept = placed.lattice.values[placed.lattice.chances > 0]
    return bool(max(0.0, kept[0]) + 1e-9 < own < min(1.0, kept[-1]) - 1e-9)


def _chart(placed: _Placed, baseline: float, states: int, direction: Direction) -> Chart:
    unit = placed.lattice.unit
    value = placed.lattice.origin + placed.reference / unit
    slack = (1 - value if placed.mirrored else value) - baseline
    return Chart(baseline, slack if direction is Direction.UP else -slack, (states - 0.5) / unit, direction)


def _place_rate(baseline: float, shifted: float, direction: Direction) -> _Placed:
    mirrored = direction is Direction.DOWN
    low, high = (1 - baseline, 1 - shifted) if mirrored else (baseline, shifted)
    shift = high - low
    best = best_reference(bernoulli(low), high)
    steepness = math.log(high * (1 - low) / (low * (1 - high)))
    least = math.ceil(steepness / FINE)
    unit = max(2, round(1 / min(best, 1 - best)))
    reference = 1 if best <= 0.5 else unit - 1
    if unit < least or abs(reference / unit - best) > NEAR * shift or not low < reference / unit < high:
        unit, reference = _fraction(best, NEARER * shift, max(least, 2))
    return _Placed(bernoulli(low, unit), reference, mirrored)


def _fraction(value: float, tolerance: float, least: int) -> tuple[int, int]:
    """The smallest denominator, at least `least`, of a fraction near a value, and its numerator."""
    for unit in range(least, MOST_STATES):
        reference = round(value * unit)
        if abs(reference / unit - value) <= tolerance and math.gcd(unit, reference) == 1 and 0 < reference < unit:
            return unit, reference
    raise InputError(f"expected a shift that a lattice can tell, got one with the reference {value}")


def _place_score(
    baseline: float, shifted: float, direction: Direction, spread: float | None, sample: tuple[float, ...] | None
) -> _Placed:
    mirrored = direction is Direction.DOWN
    low, high = (1 - baseline, 1 - shifted) if mirrored else (baseline, shifted)
    most = math.sqrt(low * (1 - low))

    def score_lattice(unit: int, origin: float) -> Lattice:
        if sample is None:
            return beta(low, SPREAD * most if spread is None else spread, unit, origin)
        return tilted(empirical([1 - one for one in sample] if mirrored else sample, unit, origin), low)

    rough = score_lattice(FINEST, 0.0)
    unit = max(COARSEST, min(FINEST, math.ceil(CELLS / rough.spread)))
    best = best_reference(rough, high)
    reference = math.ceil(best * unit)
    return _Placed(score_lattice(unit, best - reference / unit), reference, mirrored)


def _least_states(placed: _Placed, baseline: float, wanted: float) -> int:
    """The least number of states whose mean run length is as long as required. All numbers up to a power of two are
    computed together."""
    tilted_lattice = tilted(placed.lattice, 1 - baseline if placed.mirrored else baseline)
    most = 1 << _FIRST_STATES
    while most <= MOST_STATES:
        lengths = run_lengths(tilted_lattice, placed.reference, most, wanted)[1:]
        enough = np.flatnonzero(lengths >= wanted)
        if enough.size:
            return int(enough[0]) + 1
        most *= 4
    raise InputError("expected fewer observations between false alarms, or a larger shift: no chart has these")
