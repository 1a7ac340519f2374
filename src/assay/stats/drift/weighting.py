"""Estimates the rate among all outputs from outputs that were sampled with unequal probabilities.

An output that is sampled with probability p represents 1/p outputs (Horvitz and Thompson 1952, "A generalization of
sampling without replacement from a finite universe", Journal of the American Statistical Association 47). Totals are
weighted sums; means are divided by the sum of the weights rather than the count (Hajek 1971), which varies less.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.drift.lattice import Floats
from assay.stats.intervals import Z_95, wilson_at

NEGLIGIBLE: Final = 1e-12
"""Variances below this, and means within this of 0 or 1, leave the effective size to Kish's formula."""
MOST_PARTS: Final = 8
"""The most parts into which outputs are divided by their probabilities."""


@dataclass(frozen=True, slots=True)
class WeightedRate:
    """The mean over all outputs, estimated from a sample."""

    estimate: float | None
    """The mean; none where nothing was sampled."""
    low: float
    """The lower bound of its 95% interval, 0 or more."""
    high: float
    """The upper bound of its 95% interval, at most 1."""
    total: float
    """The estimated sum over all outputs."""
    total_error: float
    """The standard error of that sum by sampling alone: zero where everything was sampled."""
    outputs: float
    """The estimated number of all outputs."""
    sampled: int
    """The number of sampled outputs."""
    effective: float
    """The effective size: that of a simple random sample of the same precision."""


def weighted_rate(values: Sequence[float], probabilities: Sequence[float], z: float = Z_95) -> WeightedRate:
    """Estimates the mean over all outputs.

    The interval is combined from those of the parts that were sampled with the same probability, each Wilson's at the
    effective size of the part: the squared distances of the bounds from the means are added (the method of variance
    estimates recovery; Zou and Donner 2008, "Construction of confidence intervals about effect measures: a general
    approach", Statistics in Medicine 27). A single variance would treat a part with a dozen sampled outputs, none of
    them bad, as free of bad outputs. The shares of the parts among all outputs are estimates as well and widen both
    sides. The interval is about the process that produces outputs, not only about the outputs that occurred; its
    coverage is measured in benchmarks/RESULTS.md.

    Args:
        values: the values of the sampled outputs, in [0, 1].
        probabilities: the probability with which each was sampled, above 0 and at most 1.
        z: the quantile of the normal distribution; by default that of 95%.

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
    effective = _effective_size(x, weights, mean)
    low, high = _interval(x, weights, mean, z)
    error = math.sqrt(float(((1 - p) * (x * weights) ** 2).sum()))
    return WeightedRate(mean, low, high, float(weights @ x), error, outputs, int(x.size), effective)


def _interval(x: Floats, weights: Floats, mean: float, z: float) -> tuple[float, float]:
    """The bounds of a mean, combined from those of its parts."""
    outputs, below, above = float(weights.sum()), 0.0, 0.0
    for part in _parts(weights):
        part_weights, values = weights[part], x[part]
        part_mean = min(1.0, max(0.0, float(part_weights @ values) / float(part_weights.sum())))
        low, high = wilson_at(part_mean, _effective_size(values, part_weights, part_mean), z)
        share = float(part_weights.sum()) / outputs
        # The variance of the shares of the parts, which depend on how many of each happened to be sampled.
        share_variance = z * z * float((part_weights**2).sum()) * (part_mean - mean) ** 2 / outputs**2
        below += (share * (part_mean - low)) ** 2 + share_variance
        above += (share * (high - part_mean)) ** 2 + share_variance
    return max(0.0, mean - math.sqrt(below)), min(1.0, mean + math.sqrt(above))


def _parts(weights: Floats) -> list[NDArray[np.int64]]:
    """The outputs of each weight; where there are many weights, outputs of similar weights are grouped."""
    _, number, counts = np.unique(weights, return_inverse=True, return_counts=True)
    if counts.size > MOST_PARTS:
        # By the rank of each weight among all outputs, so that the parts have about the same size.
        number = ((np.cumsum(counts) - counts) * MOST_PARTS // weights.size)[number]
    return [np.flatnonzero(number == one) for one in np.unique(number)]


def _effective_size(x: Floats, weights: Floats, mean: float) -> float:
    kish = float(weights.sum()) ** 2 / float((weights**2).sum())
    variance = float((weights**2 * (x - mean) ** 2).sum()) / float(weights.sum()) ** 2
    if variance < NEGLIGIBLE or not NEGLIGIBLE < mean < 1 - NEGLIGIBLE:
        return kish
    # Larger than Kish's size where values vary less than those of a rate; never more than the number of all outputs.
    return min(float(weights.sum()), mean * (1 - mean) / variance)
