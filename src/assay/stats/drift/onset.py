"""When a shift began, and which of several moments is its most probable beginning.

If the sum of a chart is a log-likelihood ratio, the most likely beginning is where the sum was last zero (Page 1954;
Hinkley 1970, "Inference about the change-point in a sequence of random variables", Biometrika 57). The likelihood of a
given moment, such as that of a change, is that of the observations from it on.
"""

from collections.abc import Sequence

import numpy as np

from assay.errors import InputError
from assay.stats.drift.cusum import Chart, Direction
from assay.stats.drift.lattice import Floats


def weight_of(chart: Chart, mean: float, binary: bool, spread: float | None = None) -> float:
    """The units of log-likelihood in one unit of a chart's sum.

    Args:
        chart: the chart.
        mean: the shifted mean.
        binary: whether observations are 0 or 1.
        spread: the standard deviation of observations that are not binary.

    >>> round(weight_of(Chart(0.05, 0.0139, 5), 0.08, True), 3)
    0.502
    """
    before = chart.baseline
    if binary:
        odds = [min(max(one, 1e-9), 1 - 1e-9) for one in (before, mean)]
        return abs(float(np.log(odds[1] / (1 - odds[1])) - np.log(odds[0] / (1 - odds[0]))))
    return abs(mean - before) / (spread or 0.5) ** 2


def onset_index(chart: Chart, observations: Sequence[float]) -> int:
    """The index of the first observation after the sum was last zero: the most likely beginning of the shift."""
    # The sum is zero where the sum without a floor reaches its minimum so far.
    sums = np.cumsum(_gains(chart, observations))
    (lowest,) = np.nonzero(sums <= np.minimum(np.minimum.accumulate(sums), 0.0))
    return int(lowest[-1]) + 1 if lowest.size else 0


def onset_probabilities(
    chart: Chart, observations: Sequence[float], begins: Sequence[int], weight: float
) -> list[float]:
    """The posterior probability of each of several beginnings of a shift, if it began at one of them and they were
    equally probable beforehand.

    Args:
        chart: the chart.
        observations: the observations, in their order.
        begins: for each candidate, the index of the first observation after it.
        weight: the result of `weight_of` for the chart.

    >>> chances = onset_probabilities(Chart(0.1, 0.2, 5), [0] * 20 + [1] * 20, [5, 20, 35], 2.0)
    >>> [round(chance, 3) for chance in chances]
    [0.0, 1.0, 0.0]

    Raises:
        InputError: a beginning is outside the observations.
    """
    if any(not 0 <= begin <= len(observations) for begin in begins):
        raise InputError("expected beginnings within the observations")
    if not begins:
        return []
    after = np.concatenate([np.cumsum(_gains(chart, observations)[::-1])[::-1], [0.0]])
    logs = weight * after[np.asarray(begins, dtype=np.intp)]
    chances = np.exp(logs - logs.max())
    return [float(one) for one in chances / chances.sum()]


def _gains(chart: Chart, observations: Sequence[float]) -> Floats:
    away = np.asarray(observations, dtype=np.float64) - chart.reference
    return away if chart.direction is Direction.UP else -away
