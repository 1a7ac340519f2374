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
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.drift.lattice import Floats
from assay.stats.intervals import Z_95

FEW: Final = 1e-12
PARTS: Final = 8
"""Into so many parts at most outputs are divided by their probabilities."""


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

    The interval is put together from those of the parts that were drawn with the same probability, each Wilson's at the
    effective size of the part: the distance of a bound from the mean is the root of the sum of the squares of theirs
    (the method of variance estimates recovery; Zou and Donner 2008, "Construction of confidence intervals about effect
    measures: a general approach", Statistics in Medicine 27). One variance for all would take a part of which a dozen
    outputs were drawn and none was bad for one without any bad ones. What shares the parts have of all outputs is an
    estimate, too, and adds to both sides. The interval is about the process that makes outputs, not only about those
    that happened to come; its coverage is measured in benchmarks/RESULTS.md.

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
    low, high = _interval(x, weights, mean, z)
    error = math.sqrt(float(((1 - p) * (x * weights) ** 2).sum()))
    return WeightedRate(mean, low, high, float(weights @ x), error, outputs, int(x.size), effective)


def _interval(x: Floats, weights: Floats, mean: float, z: float) -> tuple[float, float]:
    """The bounds of a mean, out of those of its parts."""
    outputs, below, above = float(weights.sum()), 0.0, 0.0
    for part in _parts(weights):
        own, values = weights[part], x[part]
        inside = min(1.0, max(0.0, float(own @ values) / float(own.sum())))
        low, high = _wilson(inside, _effective(values, own, inside), z)
        share = float(own.sum()) / outputs
        # The variance of the shares of the parts: how many of each happened to be drawn.
        drawn = z * z * float((own**2).sum()) * (inside - mean) ** 2 / outputs**2
        below += (share * (inside - low)) ** 2 + drawn
        above += (share * (high - inside)) ** 2 + drawn
    return max(0.0, mean - math.sqrt(below)), min(1.0, mean + math.sqrt(above))


def _parts(weights: Floats) -> list[NDArray[np.int64]]:
    """The outputs of each weight; where there are many weights, those of similar ones together."""
    _, number, counts = np.unique(weights, return_inverse=True, return_counts=True)
    if counts.size > PARTS:
        # By the place of each weight among all outputs, so that parts are of about one size.
        number = ((np.cumsum(counts) - counts) * PARTS // weights.size)[number]
    return [np.flatnonzero(number == one) for one in np.unique(number)]


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
