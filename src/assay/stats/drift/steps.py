"""Where a mean rises along a line of states: how probable each place is, given noisy evaluations of some states.

States are in order, and the mean is the same in all of them but where it rises. A hypothesis says at which places: a
shape that is 0 in the first state and 1 in the last, or nought everywhere where nothing rose. The mean of state s is
then `level + rise * shape[s]`. The level is whatever it is (a flat prior), the rise is one of a grid.

Evaluations of several states on the same rows are alike: what is hard in one is hard in the next. So observations are
taken as the sum of the mean, of a part of the row and of a part of their own (a linear model with a random intercept
for each row; Laird and Ware 1982, "Random-effects models for longitudinal data", Biometrics 38). With both variances
given, the second for each state, the logarithm of the likelihood of means m is `b.m - m.A.m / 2`, with the matrix A and
the vector b that `precision` works out; the level is integrated out, which leaves a parabola in the rise.

The ratio of two such likelihoods, one under "nothing rose", is a nonnegative martingale whatever the level is, as the
flat prior is the Haar measure of shifts (Perez-Ortiz, Lardy, de Heide and Gruenwald 2024, "E-statistics, group
invariance and anytime-valid testing", Annals of Statistics 52), however states are chosen and however often one looks:
for normal observations with known variances exactly, for others as far as sums of them are normal.
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
"""Points of the grid of rises."""
_SLACK: Final = 0.95
"""The grid begins a little below the rise that matters, so that this one is inside and not at the edge."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluations:
    """What was seen of each state, as sums."""

    counts: Floats
    """Evaluations of each state."""
    sums: Floats
    """The sum of their outcomes."""
    groups: tuple[tuple[NDArray[np.int64], int, Floats], ...]
    """Rows that were evaluated by the same states: those states, how many rows, and the sums of each state."""
    variance: float
    """The mean variance within states; 0 where there are fewer than two outcomes."""
    covariance: float
    """The mean covariance of two states on the same row, less its standard error: not more than there is."""
    binary: bool
    """Whether all outcomes are 0 or 1."""

    @property
    def mean(self) -> float:
        """The mean of all outcomes, drawn a little to one half as if one more had been seen."""
        return float((self.sums.sum() + 0.5) / (self.counts.sum() + 1))


def evaluations(outcomes: Mapping[int, Sequence[float]], states: Sequence[int]) -> Evaluations:
    """Sum up outcomes.

    Args:
        outcomes: by state, in [0, 1]; number k is of the same row in every state.
        states: the states, in their order; others are left out.

    Raises:
        InputError: an outcome is outside [0, 1].
    """
    seen = [np.asarray(outcomes.get(state, ()), dtype=np.float64) for state in states]
    if not all(bool(np.all((one >= 0) & (one <= 1))) for one in seen):
        raise InputError("expected outcomes from 0 to 1")
    counts, sums = np.array([float(one.size) for one in seen]), np.array([float(one.sum()) for one in seen])
    means = sums / np.maximum(counts, 1)
    groups, squares, products, pairs = [], 0.0, 0.0, 0.0
    lengths = sorted({one.size for one in seen if one.size})
    for begin, end in pairwise([0, *lengths]):
        members = np.flatnonzero(counts >= end)
        part = np.stack([seen[number][begin:end] for number in members])
        groups.append((members, end - begin, part.sum(axis=1)))
        rest = part - means[members, None]
        own = float((rest**2).sum())
        squares += own
        products += float((rest.sum(axis=0) ** 2).sum()) - own
        pairs += (end - begin) * members.size * (members.size - 1)
    free = float(counts.sum()) - len([one for one in seen if one.size])
    variance = squares / free if free > 0 else 0.0
    # The standard error of a covariance of independent values with this variance.
    covariance = (products / pairs - variance * (2 / pairs) ** 0.5) if pairs else 0.0
    flat = all(bool(np.all((one == 0) | (one == 1))) for one in seen)
    return Evaluations(counts, sums, tuple(groups), variance, max(0.0, covariance), flat)


def precision(of: Evaluations, own: Floats, shared: float) -> tuple[Floats, Floats]:
    """The matrix and the vector of the likelihood of the states' means.

    Args:
        of: what was seen.
        own: for each state, the variance of an observation given its row, above 0.
        shared: the variance of rows, 0 or more.
    """
    size = of.counts.size
    matrix, vector = np.zeros((size, size)), np.zeros(size)
    for members, rows, sums in of.groups:
        # Of a diagonal plus a constant (Sherman and Morrison 1950).
        weights = 1 / own[members]
        inverse = np.diag(weights) - np.outer(weights, weights) * (shared / (1 + shared * float(weights.sum())))
        matrix[np.ix_(members, members)] += rows * inverse
        vector[members] += inverse @ sums
    return matrix, vector


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Hypotheses about where the mean rises.

    Raises:
        InputError: the numbers of shapes, weights and least rises differ.
    """

    shapes: Floats
    """For each hypothesis, a row: the part of the whole rise that each state has, from 0 to 1."""
    weights: Floats
    """How probable each is beforehand; they sum to 1."""
    least: Floats
    """The smallest whole rise of each."""

    def __post_init__(self) -> None:
        if not self.shapes.shape[0] == self.weights.size == self.least.size:
            raise InputError("expected a weight and a least rise for each shape")


@dataclass(frozen=True, slots=True, eq=False)
class Believed:
    """What is believed of each hypothesis after what was seen."""

    likelihoods: Floats
    """By hypothesis and rise, the logarithm of the likelihood ratio to "nothing rose"; -inf below the least rise."""
    evidence: Floats
    """By hypothesis, the logarithm of the same with the rise averaged out."""
    weights: Floats
    """By hypothesis and rise, how probable it is; they sum to 1."""
    sizes: Floats
    """The rises."""
    level: float
    """The mean of the first state, were there no rise."""
    fall: Floats
    """By hypothesis, by how much the mean of the first state is lower for each unit of the rise."""
    level_variance: float
    """The variance of that mean, given hypothesis and rise."""


def sizes_of(shift: float) -> Floats:
    """The grid of rises: geometric, from the one that matters on, which is how small rises are told apart from none."""
    return np.geomspace(_SLACK * shift, 1.0, _SIZES)


def believed(matrix: Floats, vector: Floats, places: Places, sizes: Floats) -> Believed:
    """What is believed of each hypothesis.

    The prior of the rise falls as 1 / rise**2: what is large is found soon in any case.

    Args:
        matrix: of `precision`; at least one state must have been evaluated.
        vector: of `precision`.
        places: the hypotheses.
        sizes: the rises, geometrically spaced, or one that is known.
    """
    whole, first = float(matrix.sum()), float(vector.sum())
    cross = places.shapes @ matrix.sum(axis=1)
    slope = places.shapes @ vector - cross * first / whole
    bend = np.einsum("hs,st,ht->h", places.shapes, matrix, places.shapes) - cross**2 / whole
    inside = sizes[None, :] >= _SLACK * places.least[:, None] * (1 - 1e-9)
    found = np.where(inside, slope[:, None] * sizes - bend[:, None] * sizes**2 / 2, -np.inf)
    prior = np.where(inside, 1 / sizes, 0.0)
    totals = prior.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = found + np.log(prior / np.where(totals > 0, totals, 1))
        joint = logs + np.log(places.weights)[:, None]
        evidence = np.logaddexp.reduce(logs, axis=1)
    top = joint.max()
    weights = np.exp(joint - top)
    return Believed(found, evidence, weights / weights.sum(), sizes, first / whole, cross / whole, 1 / whole)


def gains(now: Believed, of: Evaluations, places: Places, own: Floats, shared: float, more: int) -> Floats:
    """How much so many more evaluations of each state are expected to tell about the hypotheses, in nats.

    By the variance of what hypotheses expect of the next observations, over the variance that each of them expects (an
    upper bound of the mutual information; Lindley 1956, "On a measure of the information provided by an experiment",
    Annals of Mathematical Statistics 27). Where the rows were evaluated in other states, what these had of the row is
    known.

    Args:
        now: what is believed.
        of: what was seen.
        places: the hypotheses.
        own: for each state, the variance of an observation given its row.
        shared: variance of rows.
        more: how many evaluations.
    """
    by_place = now.weights.sum(axis=1)
    share = now.weights / np.where(by_place > 0, by_place, 1)[:, None]
    size = share @ now.sizes
    size_variance = np.maximum(0.0, share @ now.sizes**2 - size**2)
    found = np.zeros(of.counts.size)
    for state in range(found.size):
        others = np.flatnonzero(of.counts > of.counts[state])
        weights = 1 / own[others]
        left = shared / (1 + shared * float(weights.sum()))  # of the row's variance, what the others leave open
        contrast = np.zeros(found.size)
        contrast[state] = 1
        contrast[others] -= left * weights
        total = float(contrast.sum())
        # Given a place the contrast is expected to be `total * level + rise * shape.contrast`, a line in the rise.
        line = places.shapes @ contrast - total * now.fall
        mean = line * size
        middle = float(by_place @ mean)
        between = float(by_place @ (mean - middle) ** 2)
        within = float(by_place @ (line**2 * size_variance)) + total**2 * now.level_variance
        within += (float(own[state]) + left) / more
        found[state] = 0.5 * np.log1p(between / within)
    return found
