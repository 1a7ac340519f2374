"""Confidence sequences: intervals of a mean that are valid at all times simultaneously, however often one looks.

An interval for a fixed number of observations eventually fails if one checks it after each observation and stops at
will. A confidence sequence does not: the probability that the mean is ever outside is at most alpha. These are the
predictable plug-in empirical Bernstein sequences of Waudby-Smith and Ramdas 2024, "Estimating means of bounded random
variables by betting", Journal of the Royal Statistical Society B 86, theorem 2. They assume no distribution, only that
observations are in [0, 1] and that each has the same mean given those before it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.lattice import Floats

_MOST_BET: Final = 0.5
"""The largest bet, the c of theorem 2."""


@dataclass(frozen=True, slots=True, eq=False)
class MeanSequence:
    """The bounds after each observation, intersected with all earlier ones."""

    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means, after minus before."""

    before: float
    """The mean of the observations before."""
    after: float
    """The mean of the observations after."""
    low: float
    """The lower bound of the difference, valid however often one looked."""
    high: float
    """The upper bound of the difference."""

    @property
    def estimate(self) -> float:
        """The difference of the observed means."""
        return self.after - self.before

    @property
    def differs(self) -> bool:
        """Whether zero is outside of the interval."""
        return self.low > 0 or self.high < 0


def mean_sequence(observations: Sequence[float], alpha: float = 0.05) -> MeanSequence:
    """The confidence sequence of a mean.

    Args:
        observations: the observations in their order, each in [0, 1].
        alpha: the probability that the mean is ever outside, above 0 and below 1.

    >>> bounds = mean_sequence([0.5] * 1000)
    >>> bool(0.4 < bounds.low[-1] < 0.5 < bounds.high[-1] < 0.6)
    True

    Raises:
        InputError: an observation or alpha is outside its range.
    """
    x = _bounded(observations)
    _level(alpha)
    if not x.size:
        return MeanSequence(np.empty(0), np.empty(0))
    count = np.arange(1, x.size + 1)
    means = (0.5 + np.cumsum(x)) / (count + 1)
    before = np.concatenate([[0.5], means[:-1]])
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (count + 1)
    variances_before = np.concatenate([[0.25], variances[:-1]])
    log_level = math.log(2 / alpha)
    bets = np.minimum(_MOST_BET, np.sqrt(2 * log_level / (variances_before * count * np.log1p(count))))
    weights = np.cumsum(bets)
    middle = np.cumsum(bets * x) / weights
    # The theorem has 4 (x - mean)^2 times psi(bet) / 4; the two factors of four cancel.
    half = (log_level + np.cumsum((x - before) ** 2 * (-np.log1p(-bets) - bets))) / weights
    return MeanSequence(
        np.maximum.accumulate(np.maximum(0.0, middle - half)), np.minimum.accumulate(np.minimum(1.0, middle + half))
    )


def difference(before: Sequence[float], after: Sequence[float], alpha: float = 0.05) -> Difference:
    """The difference of two means with its interval, after all these observations.

    The two sides are independent of each other and may be examined at any time and any number of times; each gets half
    of alpha. Where a side has no observations, the interval is [-1, 1].

    >>> difference([0.0] * 500, [1.0] * 500).low > 0.8
    True

    Raises:
        InputError: an observation or alpha is outside its range.
    """
    first, second = mean_sequence(before, alpha / 2), mean_sequence(after, alpha / 2)
    low, high = -1.0, 1.0
    if first.low.size and second.low.size:
        low, high = float(second.low[-1] - first.high[-1]), float(second.high[-1] - first.low[-1])
    means = [float(np.mean(side)) if len(side) else math.nan for side in (before, after)]
    return Difference(means[0], means[1], low, high)


def _bounded(observations: Sequence[float]) -> Floats:
    x = np.asarray(observations, dtype=np.float64)
    if x.ndim != 1 or not bool(np.all((x >= 0) & (x <= 1))):
        raise InputError("expected observations from 0 to 1")
    return x


def _level(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"expected an error rate between 0 and 1, got {alpha}")
