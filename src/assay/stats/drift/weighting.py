"""Rates of all outputs out of those that were sampled, each with another probability.

An output that is drawn with probability p stands for 1/p outputs (Horvitz and Thompson 1952, "A generalization of
sampling without replacement from a finite universe", Journal of the American Statistical Association 47). Totals are
those sums; means divide by the sum of the weights, not by the count (Hajek 1971), which varies less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.errors import InputError
from assay.stats.drift.lattice import Floats
from assay.stats.intervals import Z_95

FEW: Final = 1e-12


@dataclass(frozen=True, slots=True)
class WeightedRate:
    """A mean of all outputs, estimated from a sample."""

    estimate: float | None
    """The mean; none where nothing was sampled."""
    low: float
    high: float
    """Its 95% interval, within [0, 1]."""
    total: float
    """The sum over all outputs, estimated."""
    total_error: float
    """The standard error of that sum: of the sampling alone, nought where everything was sampled."""
    outputs: float
    """How many outputs there were, estimated."""
    sampled: int
    """How many were drawn."""
    effective: float
    """Of how many outputs a simple sample would be as exact."""


def weighted_rate(values: Sequence[float], probabilities: Sequence[float], z: float = Z_95) -> WeightedRate:
    """The mean of all outputs.

    The interval is Wilson's at the effective size of the sample, so that it stays within [0, 1] and does not shrink to
    a point where nothing bad was seen (Korn and Graubard 1998, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 24, do so with another interval).
    It is about the process that makes outputs, not only about those that happened to come.

    Args:
        values: of those that were drawn, in [0, 1].
        probabilities: with which each was drawn, above 0 up to 1.
        z: the point of the normal distribution; that of 95% by default.

    >>> found = weighted_rate([1, 0, 0], [1.0, 0.5, 0.5])
    >>> found.estimate, found.total, found.outputs
    (0.2, 1.0, 5.0)

    Raises:
        InputError: a value or a probability is outside its range, or their numbers differ.
    """
    x, p = np.asarray(values, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    if x.shape != p.shape or x.ndim != 1:
        raise InputError(f"expected a probability for each value, got {p.size} for {x.size}")
    if not bool(np.all((x >= 0) & (x <= 1))) or not bool(np.all((p > 0) & (p <= 1))):
        raise InputError("expected values from 0 to 1 and probabilities above 0 up to 1")
    if not x.size:
        return WeightedRate(None, 0.0, 1.0, 0.0, 0.0, 0.0, 0, 0.0)
    weights = 1 / p
    outputs = float(weights.sum())
    mean = min(1.0, max(0.0, float(weights @ x) / outputs))
    effective = _effective(x, weights, mean)
    low, high = _wilson(mean, effective, z)
    error = math.sqrt(float(((1 - p) * (x * weights) ** 2).sum()))
    return WeightedRate(mean, low, high, float(weights @ x), error, outputs, int(x.size), effective)


def _effective(x: Floats, weights: Floats, mean: float) -> float:
    kish = float(weights.sum()) ** 2 / float((weights**2).sum())
    variance = float((weights**2 * (x - mean) ** 2).sum()) / float(weights.sum()) ** 2
    if variance < FEW or not FEW < mean < 1 - FEW:
        return kish
    # At least Kish's where values vary less than a rate would; never more than all outputs.
    return min(float(weights.sum()), mean * (1 - mean) / variance)


def _wilson(share: float, of: float, z: float) -> tuple[float, float]:
    shrink = 1 + z * z / of
    middle = (share + z * z / (2 * of)) / shrink
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)
