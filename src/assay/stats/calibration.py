"""Measures of calibration, and models that calibrate scores.

A probability is calibrated if, of all claims that get it, that share is true. An outcome is true or 1 where the event
occurred. All fits are deterministic: the same numbers give the same coefficients. `InputError` is raised for empty
columns, columns of different lengths, probabilities outside [0, 1] and numbers that are not finite.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import InputError

Floats = NDArray[np.float64]

LOG_LOSS_FLOOR = 1e-15
"""The least distance of a probability from 0 and 1 in the log loss, which would be infinite for a certain error."""
MAX_STEPS = 100
"""The most Newton steps of a fit; ten are typical."""
STEP_TOLERANCE = 1e-9
"""A fit has converged when no coefficient changes by more than this."""


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability diagram."""

    low: float
    """The lower end, which belongs to the bin."""
    high: float
    """The upper end, which belongs to the next bin, except for the last one."""
    count: int
    mean_probability: float | None
    """The mean predicted probability; none where the bin is empty."""
    frequency: float | None
    """The share of events that occurred; none where the bin is empty."""


@dataclass(frozen=True, slots=True)
class LogisticModel:
    """p = 1 / (1 + exp(-(intercept + coefficients . x)))."""

    coefficients: tuple[float, ...]
    intercept: float
    converged: bool
    """Whether the last step was below the tolerance. A fit that did not converge must not be used."""
    steps: int

    def predict(self, features: ArrayLike) -> Floats:
        """Probabilities for rows of features, of shape (rows, coefficients) or (rows,) for one coefficient.

        Raises:
            InputError: the features have another number of columns.
        """
        return sigmoid(_matrix(features, len(self.coefficients)) @ np.array(self.coefficients) + self.intercept)


@dataclass(frozen=True, slots=True)
class IsotonicModel:
    """A nondecreasing, piecewise linear function from scores to probabilities."""

    scores: tuple[float, ...]
    """The scores of its corners, ascending."""
    probabilities: tuple[float, ...]
    """The probabilities of its corners, never decreasing."""

    def predict(self, scores: ArrayLike) -> Floats:
        """Probabilities by interpolation; constant beyond the corners."""
        values = np.asarray(scores, dtype=np.float64).reshape(-1)
        if not np.isfinite(values).all():
            raise InputError("expected finite scores, got NaN or infinity")
        return np.interp(values, self.scores, self.probabilities)


def sigmoid(values: ArrayLike) -> Floats:
    """1 / (1 + exp(-x)) without overflow.

    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    small = np.exp(-np.abs(numbers))
    return np.where(numbers >= 0, 1.0, small) / (1.0 + small)


def reliability(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> tuple[Bin, ...]:
    """The reliability diagram with bins of equal width.

    >>> [(bin.count, bin.frequency) for bin in reliability([0.1, 0.2, 0.9], [0, 0, 1], bins=2)]
    [(2, 0.0), (1, 1.0)]
    """
    predicted, observed = _columns(probabilities, outcomes)
    _require_positive("bins", bins)
    edges = np.linspace(0, 1, bins + 1)
    index = np.minimum(np.searchsorted(edges, predicted, side="right") - 1, bins - 1)
    return tuple(
        _bin(float(edges[number]), float(edges[number + 1]), predicted[index == number], observed[index == number])
        for number in range(bins)
    )


def adaptive_reliability(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> tuple[Bin, ...]:
    """The reliability diagram with at most `bins` bins, each with as nearly the same number of rows as ties allow.

    Rows of the same probability share a bin, so that the order of rows does not matter.

    >>> [bin.count for bin in adaptive_reliability([0.1, 0.1, 0.8, 0.9], [0, 0, 1, 1], bins=2)]
    [2, 2]
    """
    predicted, observed = _columns(probabilities, outcomes)
    _require_positive("bins", bins)
    order = np.argsort(predicted, kind="stable")
    predicted, observed = predicted[order], observed[order]
    # Each cut moves down to the first row of the same probability.
    starts = np.searchsorted(predicted, predicted[np.arange(1, bins) * len(predicted) // bins], side="left")
    cuts = [0, *np.unique(starts[starts > 0]).tolist(), len(predicted)]
    return tuple(
        _bin(float(predicted[start]), float(predicted[end - 1]), predicted[start:end], observed[start:end])
        for start, end in itertools.pairwise(cuts)
    )


def ece(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> float:
    """The expected calibration error over bins of equal width, in [0, 1].

    ECE = sum over bins of (n_b / n) * |frequency_b - mean probability_b| (Naeini et al. 2015)

    >>> round(ece([0.9, 0.9, 0.9, 0.9], [1, 1, 1, 0]), 3)
    0.15
    """
    return _weighted_gap(reliability(probabilities, outcomes, bins))


def adaptive_ece(probabilities: ArrayLike, outcomes: ArrayLike, bins: int = 10) -> float:
    """The expected calibration error over bins of equal count, in [0, 1] (Nixon et al. 2019).

    It is meaningful even where nearly all probabilities fall into one bin of equal width.

    >>> round(adaptive_ece([0.9, 0.9, 0.1, 0.1], [1, 1, 0, 0], bins=2), 3)
    0.1
    """
    return _weighted_gap(adaptive_reliability(probabilities, outcomes, bins))


def brier(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """The mean of (p - y)^2, in [0, 1]; 0 is best (Brier 1950).

    >>> brier([0.5, 1.0], [1, 1])
    0.125
    """
    predicted, observed = _columns(probabilities, outcomes)
    return float(np.mean((predicted - observed) ** 2))


def log_loss(probabilities: ArrayLike, outcomes: ArrayLike) -> float:
    """The mean of -log of the probability of the outcome that occurred, 0 or more; `LOG_LOSS_FLOOR` keeps it finite.

    >>> round(log_loss([0.5, 0.5], [1, 0]), 4)
    0.6931
    """
    predicted, observed = _columns(probabilities, outcomes)
    predicted = np.clip(predicted, LOG_LOSS_FLOOR, 1 - LOG_LOSS_FLOOR)
    return float(-np.mean(observed * np.log(predicted) + (1 - observed) * np.log1p(-predicted)))


def fit_logistic(
    features: ArrayLike, outcomes: ArrayLike, l2: float = 1.0, weights: ArrayLike | None = None
) -> LogisticModel:
    """Logistic regression by Newton's method (iteratively reweighted least squares).

    It minimises  sum of w_i * log loss_i + l2 / 2 * |coefficients|^2 ; the intercept is not penalised. Steps that do
    not lower this are halved. Features should be of similar scale, so that `l2` penalises them alike.

    Args:
        features: of shape (rows, columns), or (rows,) for one column.
        outcomes: 0 or 1, or any target between, for each row.
        l2: the strength of the penalty, 0 or more. At 0, separable rows have no finite solution.
        weights: the weight of each row, 0 or more; equal by default.

    Raises:
        InputError: also where only one outcome occurs, since there is no finite intercept then.

    >>> model = fit_logistic([[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1])
    >>> model.converged, round(model.intercept, 6), round(model.coefficients[0], 3)
    (True, 0.0, 1.007)
    """
    matrix, targets = _matrix(features, None), _unit_interval("outcomes", outcomes)
    rows = len(targets)
    counts = np.ones(rows) if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    _same_length(matrix, targets)
    _same_length(matrix, counts)
    if not np.isfinite(counts).all() or (counts < 0).any() or not l2 >= 0:
        raise InputError("expected weights and l2 to be finite and 0 or more")
    total = float(counts.sum())
    share = float(counts @ targets) / total if total else 0.0
    if not 0 < share < 1:
        raise InputError("expected rows of both outcomes, got only one")
    design = np.column_stack([np.ones(rows), matrix])
    penalty = np.full(design.shape[1], float(l2))
    penalty[0] = 0.0
    start = np.zeros(design.shape[1])
    start[0] = np.log(share / (1 - share))
    solution, converged, steps = _newton(design, targets, counts, penalty, start)
    return LogisticModel(tuple(float(number) for number in solution[1:]), float(solution[0]), converged, steps)


def fit_platt(scores: ArrayLike, outcomes: ArrayLike) -> LogisticModel:
    """Platt scaling: a logistic curve over one score, with Platt's targets against overconfidence (Platt 1999).

    The target of positives is (P + 1) / (P + 2) and that of negatives 1 / (N + 2), so that even separable rows have a
    finite solution.

    >>> fit_platt([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).coefficients[0] > 0
    True
    """
    observed = _outcomes(outcomes)
    positives = float(observed.sum())
    negatives = len(observed) - positives
    targets = np.where(observed == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    return fit_logistic(np.asarray(scores, dtype=np.float64).reshape(-1), targets, l2=0.0)


def fit_temperature(logits: ArrayLike, outcomes: ArrayLike) -> float:
    """The temperature T > 0 for which softmax(logits / T) has the least log loss (Guo et al. 2017).

    Args:
        logits: of shape (rows, classes), or (rows,) for the log odds of one event.
        outcomes: for each row the number of the true class, or whether the event occurred.

    Returns:
        T in [0.01, 100], found by golden section over log T to six digits; 1 where the logits are right already.

    >>> round(fit_temperature([2.0, 2.0, 2.0, -2.0], [1, 1, 0, 0]), 2)
    1.82
    """
    rows = np.asarray(logits, dtype=np.float64)
    if rows.ndim == 1:
        rows = np.column_stack([np.zeros(len(rows)), rows])
    truth = np.asarray(outcomes).reshape(-1).astype(np.intp)
    _same_length(rows, truth)
    if rows.ndim != 2 or not np.isfinite(rows).all() or truth.min() < 0 or truth.max() >= rows.shape[1]:
        raise InputError("expected finite logits and for each row the number of one of their columns")

    def loss(log_temperature: float) -> float:
        scaled = rows / np.exp(log_temperature)
        top = scaled.max(axis=1)
        total = np.log(np.exp(scaled - top[:, None]).sum(axis=1)) + top
        return float(np.mean(total - scaled[np.arange(len(rows)), truth]))

    return float(np.exp(_golden_section(loss, np.log(0.01), np.log(100.0))))


def fit_isotonic(scores: ArrayLike, outcomes: ArrayLike) -> IsotonicModel:
    """Isotonic regression by pooling adjacent violators: the nondecreasing function with the least squared error.

    Rows of the same score count as one with their mean. O(n log n). It needs a few hundred rows to be useful.

    >>> fit_isotonic([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1]).probabilities
    (0.0, 0.5, 0.5, 1.0)
    """
    values, observed = np.asarray(scores, dtype=np.float64).reshape(-1), _outcomes(outcomes)
    _same_length(values, observed)
    if not np.isfinite(values).all():
        raise InputError("expected finite scores, got NaN or infinity")
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    sums = np.bincount(inverse.reshape(-1), weights=observed)
    # Each block has its sum of outcomes, its number of rows, and the first and last index of its scores.
    blocks: list[tuple[float, int, int, int]] = []
    for index in range(len(distinct)):
        block = (float(sums[index]), int(counts[index]), index, index)
        while blocks and blocks[-1][0] * block[1] >= block[0] * blocks[-1][1]:
            before = blocks.pop()
            block = (before[0] + block[0], before[1] + block[1], before[2], index)
        blocks.append(block)
    corners: dict[float, float] = {}
    for total, rows, first, last in blocks:
        corners[float(distinct[first])] = corners[float(distinct[last])] = total / rows
    return IsotonicModel(tuple(corners), tuple(corners.values()))


def _newton(
    design: Floats, targets: Floats, counts: Floats, penalty: Floats, start: Floats
) -> tuple[Floats, bool, int]:
    def objective(point: Floats) -> float:
        odds = design @ point
        # log(1 + exp(odds)) - target * odds, without overflow.
        losses = np.logaddexp(0, odds) - targets * odds
        return float(counts @ losses + 0.5 * (penalty @ point**2))

    point, value = start, objective(start)
    for step in range(1, MAX_STEPS + 1):
        chance = sigmoid(design @ point)
        gradient = design.T @ (counts * (chance - targets)) + penalty * point
        curvature = counts * chance * (1 - chance)
        hessian = (design * curvature[:, None]).T @ design + np.diag(penalty)
        # Least squares rather than solving: for a constant column without a penalty the solution is not unique.
        direction = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        size = 1.0
        while objective(point - size * direction) > value and size > STEP_TOLERANCE:
            size /= 2
        if size <= STEP_TOLERANCE:
            # No step along the Newton direction lowers the objective: the minimum, to numerical precision.
            return point, bool(np.abs(gradient).max() < 1e-4 * max(1.0, float(counts.sum()))), step
        point = point - size * direction
        value = objective(point)
        if float(np.abs(size * direction).max()) <= STEP_TOLERANCE:
            return point, True, step
    return point, False, MAX_STEPS


def _golden_section(loss: Callable[[float], float], low: float, high: float) -> float:
    ratio = (5**0.5 - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    left_loss, right_loss = loss(left), loss(right)
    while high - low > 1e-7:
        if left_loss <= right_loss:
            high, right, right_loss = right, left, left_loss
            left = high - ratio * (high - low)
            left_loss = loss(left)
        else:
            low, left, left_loss = left, right, right_loss
            right = low + ratio * (high - low)
            right_loss = loss(right)
    return (low + high) / 2


def _bin(low: float, high: float, predicted: Floats, observed: Floats) -> Bin:
    if not len(predicted):
        return Bin(low, high, 0, None, None)
    return Bin(low, high, len(predicted), float(predicted.mean()), float(observed.mean()))


def _weighted_gap(bins: tuple[Bin, ...]) -> float:
    total = sum(bin_.count for bin_ in bins)
    gaps = (
        bin_.count * abs(bin_.frequency - bin_.mean_probability)
        for bin_ in bins
        if bin_.frequency is not None and bin_.mean_probability is not None
    )
    return sum(gaps) / total


def _columns(probabilities: ArrayLike, outcomes: ArrayLike) -> tuple[Floats, Floats]:
    predicted, observed = _unit_interval("probabilities", probabilities), _outcomes(outcomes)
    _same_length(predicted, observed)
    return predicted, observed


def _outcomes(outcomes: ArrayLike) -> Floats:
    observed = _unit_interval("outcomes", outcomes)
    if not np.isin(observed, (0, 1)).all():
        raise InputError("expected outcomes of 0 and 1, got others")
    return observed


def _unit_interval(name: str, values: ArrayLike) -> Floats:
    numbers = np.asarray(values, dtype=np.float64).reshape(-1)
    if not len(numbers):
        raise InputError(f"expected {name}, got none")
    if not ((numbers >= 0) & (numbers <= 1)).all():
        raise InputError(f"expected {name} from 0 to 1, got others")
    return numbers


def _matrix(features: ArrayLike, columns: int | None) -> Floats:
    matrix = np.asarray(features, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = matrix.reshape(-1, 1)
    if matrix.ndim != 2 or (columns is not None and matrix.shape[1] != columns):
        raise InputError(f"expected features of shape (rows, {columns or 'columns'}), got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError("expected finite features, got NaN or infinity")
    return matrix


def _same_length(first: NDArray[np.generic], second: NDArray[np.generic]) -> None:
    if len(first) != len(second) or not len(first):
        raise InputError(f"expected columns of one length above 0, got {len(first)} and {len(second)}")


def _require_positive(name: str, number: int) -> None:
    if number < 1:
        raise InputError(f"expected {name} of at least 1, got {number}")
