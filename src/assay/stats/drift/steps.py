"""Where a mean rises along a sequence of states: the posterior of each place, given noisy evaluations of some states.

States are ordered, and the mean is constant along them except where it rises. A hypothesis says at which places: its
shape is 0 in the first state and 1 in the last, or 0 everywhere if nothing rose. The mean of state s is then
`level + rise * shape[s]`. The level has a flat prior, and the rise is one of a grid.

Evaluations of several states on the same rows are correlated: a row that is hard for one is hard for the next. So an
observation is modelled as the mean plus a term of its row plus a term of its own (a linear model with a random
intercept for each row; Laird and Ware 1982, "Random-effects models for longitudinal data", Biometrics 38). Given both
variances, the second for each state, the log-likelihood of means m is `b.m - m.A.m / 2`, with the matrix A and the
vector b that `precision` computes. The level is integrated out, which leaves a parabola in the rise.

The ratio of such a likelihood to that under "nothing rose" is a nonnegative martingale, whatever the level, since the
flat prior is the Haar measure of shifts (Perez-Ortiz, Lardy, de Heide and Gruenwald 2024, "E-statistics, group
invariance and anytime-valid testing", Annals of Statistics 52), however states are chosen and however often one looks.
This is exact for normal observations with known variances, and approximate as far as sums of observations are normal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.drift.lattice import Floats

_SIZES: Final = 48
"""The number of points of the grid of rises."""
_SLACK: Final = 0.95
"""The first point of the grid, relative to the rise that matters, so that this rise is not at the edge."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """The evaluations of each state, as sums."""

    counts: Floats
    """The number of evaluations of each state."""
    sums: Floats
    """The sum of their outcomes."""
    groups: tuple[tuple[NDArray[np.int64], int, Floats], ...]
    """Groups of rows that were evaluated in the same states: the states, the number of rows, and the sum of outcomes in
    each state."""
    variance: float
    """The mean variance within states; 0 with fewer than two outcomes."""
    covariance: float
    """The mean covariance of two states on the same row, less its standard error, so that it is not overestimated."""
    binary: bool
    """Whether all outcomes are 0 or 1."""

    @property
    def mean(self) -> float:
        """The mean of all outcomes, shrunk slightly towards one half as if there were one more."""
        return float((self.sums.sum() + 0.5) / (self.counts.sum() + 1))


def evaluations(outcomes: Mapping[int, Sequence[float]], states: Sequence[int]) -> Evaluations:
    """Sums up outcomes.

    Args:
        outcomes: the outcomes by state, in [0, 1]; outcome k is of the same row in every state.
        states: the states, in their order; others are ignored.

    Raises:
        InputError: an outcome is outside [0, 1].
    """
    by_state = [np.asarray(outcomes.get(state, ()), dtype=np.float64) for state in states]
    if not all(bool(np.all((one >= 0) & (one <= 1))) for one in by_state):
        raise InputError("expected outcomes from 0 to 1")
    counts, sums = np.array([float(one.size) for one in by_state]), np.array([float(one.sum()) for one in by_state])
    means = sums / np.maximum(counts, 1)
    groups, squares, products, pairs = [], 0.0, 0.0, 0.0
    lengths = sorted({one.size for one in by_state if one.size})
    for begin, end in pairwise([0, *lengths]):
        members = np.flatnonzero(counts >= end)
        part = np.stack([by_state[number][begin:end] for number in members])
        groups.append((members, end - begin, part.sum(axis=1)))
        rest = part - means[members, None]
        squares_of_part = float((rest**2).sum())
        squares += squares_of_part
        products += float((rest.sum(axis=0) ** 2).sum()) - squares_of_part
        pairs += (end - begin) * members.size * (members.size - 1)
    free = float(counts.sum()) - len([one for one in by_state if one.size])
    variance = squares / free if free > 0 else 0.0
    # The standard error of a covariance of independent values with this variance.
    covariance = (products / pairs - variance * (2 / pairs) ** 0.5) if pairs else 0.0
    binary = all(bool(np.all((one == 0) | (one == 1))) for one in by_state)
    return Evaluations(counts, sums, tuple(groups), variance, max(0.0, covariance), binary)


def precision(evaluated: Evaluations, variances: Floats, row_variance: float) -> tuple[Floats, Floats]:
    """The matrix and the vector of the likelihood of the states' means.

    Args:
        evaluated: the evaluations.
        variances: for each state, the variance of an observation given its row, above 0.
        row_variance: the variance of rows, 0 or more.
    """
    size = evaluated.counts.size
    matrix, vector = np.zeros((size, size)), np.zeros(size)
    for members, rows, sums in evaluated.groups:
        # The inverse of a diagonal matrix plus a constant (Sherman and Morrison 1950).
        weights = 1 / variances[members]
        inverse = np.diag(weights) - np.outer(weights, weights) * (
            row_variance / (1 + row_variance * float(weights.sum()))
        )
        matrix[np.ix_(members, members)] += rows * inverse
        vector[members] += inverse @ sums
    return matrix, vector


@dataclass(frozen=True, slots=True, eq=False)
class RiseHypotheses:
    """Hypotheses about where the mean rises.

    Raises:
        InputError: the numbers of shapes, weights and least rises differ.
    """

    shapes: Floats
    """A row for each hypothesis: the part of the whole rise up to each state, from 0 to 1."""
    weights: Floats
    """The prior probability of each hypothesis; they sum to 1."""
    least: Floats
    """The least whole rise under each hypothesis."""

    def __post_init__(self) -> None:
        if not self.shapes.shape[0] == self.weights.size == self.least.size:
            raise InputError("expected a weight and a least rise for each shape")


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The posterior of the hypotheses."""

    likelihoods: Floats
    """The log-likelihood ratio to "nothing rose", by hypothesis and rise; -inf below the least rise."""
    evidence: Floats
    """The same by hypothesis, averaged over the prior of the rise (the logarithm of the mean ratio)."""
    weights: Floats
    """The posterior probability by hypothesis and rise; they sum to 1."""
    sizes: Floats
    """The grid of rises."""
    level: float
    """The estimated mean of the first state if nothing rose."""
    fall: Floats
    """By hypothesis, how much lower that mean is for each unit of the rise."""
    level_variance: float
    """The variance of that mean, given the hypothesis and the rise."""


def sizes_of(shift: float) -> Floats:
    """The grid of rises: geometric, from slightly below the rise that matters to 1."""
    return np.geomspace(_SLACK * shift, 1.0, _SIZES)


def posterior(matrix: Floats, vector: Floats, places: RiseHypotheses, sizes: Floats) -> Posterior:
    """The posterior of hypotheses.

    The prior density of the rise falls as 1 / rise**2, since large rises are found soon in any case.

    Args:
        matrix: the matrix of `precision`; at least one state must have been evaluated.
        vector: the vector of `precision`.
        places: the hypotheses.
        sizes: the grid of rises, geometrically spaced, or the one rise that is known.
    """
    total_precision, weighted_sum = float(matrix.sum()), float(vector.sum())
    cross = places.shapes @ matrix.sum(axis=1)
    slope = places.shapes @ vector - cross * weighted_sum / total_precision
    bend = np.einsum("hs,st,ht->h", places.shapes, matrix, places.shapes) - cross**2 / total_precision
    allowed = sizes[None, :] >= _SLACK * places.least[:, None] * (1 - 1e-9)
    likelihoods = np.where(allowed, slope[:, None] * sizes - bend[:, None] * sizes**2 / 2, -np.inf)
    prior = np.where(allowed, 1 / sizes, 0.0)
    totals = prior.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = likelihoods + np.log(prior / np.where(totals > 0, totals, 1))
        joint = logs + np.log(places.weights)[:, None]
        evidence = np.logaddexp.reduce(logs, axis=1)
    top = joint.max()
    weights = np.exp(joint - top)
    return Posterior(
        likelihoods,
        evidence,
        weights / weights.sum(),
        sizes,
        weighted_sum / total_precision,
        cross / total_precision,
        1 / total_precision,
    )


def expected_information(
    beliefs: Posterior,
    evaluated: Evaluations,
    places: RiseHypotheses,
    variances: Floats,
    row_variance: float,
    count: int,
) -> Floats:
    """The information about the hypotheses that further evaluations of each state are expected to give, in nats.

    Computed from the variance between hypotheses of the expected observations, divided by the variance within each of
    them (an upper bound of the mutual information; Lindley 1956, "On a measure of the information provided by an
    experiment", Annals of Mathematical Statistics 27). Where the rows were evaluated in other states, part of the term
    of the row is known.

    Args:
        beliefs: the posterior so far.
        evaluated: the evaluations so far.
        places: the hypotheses.
        variances: for each state, the variance of an observation given its row.
        row_variance: the variance of rows.
        count: the number of further evaluations.
    """
    by_place = beliefs.weights.sum(axis=1)
    share = beliefs.weights / np.where(by_place > 0, by_place, 1)[:, None]
    size = share @ beliefs.sizes
    size_variance = np.maximum(0.0, share @ beliefs.sizes**2 - size**2)
    information = np.zeros(evaluated.counts.size)
    for state in range(information.size):
        others = np.flatnonzero(evaluated.counts > evaluated.counts[state])
        weights = 1 / variances[others]
        left = row_variance / (1 + row_variance * float(weights.sum()))  # the row's variance given the other states
        contrast = np.zeros(information.size)
        contrast[state] = 1
        contrast[others] -= left * weights
        total = float(contrast.sum())
        # Given a place, the expected contrast is `total * level + rise * shape.contrast`, which is linear in the rise.
        line = places.shapes @ contrast - total * beliefs.fall
        mean = line * size
        middle = float(by_place @ mean)
        between = float(by_place @ (mean - middle) ** 2)
        within = float(by_place @ (line**2 * size_variance)) + total**2 * beliefs.level_variance
        within += (float(variances[state]) + left) / count
        information[state] = 0.5 * np.log1p(between / within)
    return information
