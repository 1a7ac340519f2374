"""Fits the weights of the signals of confidence on labelled outputs.

The weights of the confidence (docs/concepts.md#abstention) are not known in advance. The fitted ones are the most
likely given the labels, with a prior around the default weights: a few dozen rows move them little, thousands a lot. No
weight is below 0, so that a larger signal never lowers the confidence.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.calibration import fit_platt, log_loss
from assay.stats.confidence import FLOOR, LEAST_ROWS, SIGNALS, WEIGHTS

SPREAD: Final = 0.2
"""The standard deviation of the prior around the default weights, which sum to 1."""
_FACTORS: Final = (0.0, 0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
"""The factors by which a step multiplies one weight; a weight of 0 restarts from `_RESTART`."""
_RESTART: Final = 0.05
_ROUNDS: Final = 12
_LEAST_GAIN: Final = 1e-3
"""The least improvement of the log-likelihood over all rows for which a step is taken."""

Matrix = NDArray[np.float64]


def fit_weights(
    rows: Sequence[Mapping[str, float | None]], right: Sequence[bool], judged: Mapping[str, float] = WEIGHTS
) -> dict[str, float]:
    """The most likely weights given the labels and a prior around the default weights.

    A signal that fewer than `LEAST_ROWS` outputs have, or that is constant, gets the weight 0: the curve fitted over
    the mean would say nothing about outputs that have it. Groundedness always has a weight.

    Args:
        rows: the signals of labelled outputs; those without groundedness are ignored.
        right: for each output whether it is free of hallucinations.
        judged: the centre of the prior; its weight of groundedness has to be above 0.

    Returns:
        A weight for each name of `SIGNALS`, 0 or more, summing to 1, to four decimal places.

    Raises:
        InputError: the two differ in length, no output has groundedness, or its prior weight is not above 0.

    >>> rows = [{"groundedness": n / 100, "coverage": (n * 37 % 100) / 100} for n in range(100)]
    >>> found = fit_weights(rows, [n >= 50 for n in range(100)])
    >>> found["groundedness"] > 0.9, found["consistency"]
    (True, 0.0)
    """
    if len(rows) != len(right):
        raise InputError(f"expected a label for each output, got {len(rows)} outputs and {len(right)} labels")
    used_rows = [at for at, row in enumerate(rows) if row.get("groundedness") is not None]
    if not used_rows or not judged.get("groundedness", 0.0) > 0:
        raise InputError("expected outputs with groundedness and a weight for it above 0, got none")
    values = np.array([[_number(rows[at].get(name)) for name in SIGNALS] for at in used_rows])
    labels = np.array([int(right[at]) for at in used_rows])
    present = ~np.isnan(values)
    varies = [len(np.unique(values[present[:, at], at])) > 1 for at in range(len(SIGNALS))]
    used_signals = np.array(
        [
            name == "groundedness" or (int(present[:, at].sum()) >= LEAST_ROWS and varies[at])
            for at, name in enumerate(SIGNALS)
        ]
    )
    prior = _normalised(np.array([judged.get(name, 0.0) for name in SIGNALS]) * used_signals)
    best, least_loss = prior, _objective(prior, prior, values, present, labels)
    for _ in range(_ROUNDS):
        previous_loss = least_loss
        for at in np.flatnonzero(used_signals):
            for candidate in _steps(best, int(at)):
                loss = _objective(candidate, prior, values, present, labels)
                if loss < least_loss - _LEAST_GAIN:
                    best, least_loss = candidate, loss
        if least_loss > previous_loss - _LEAST_GAIN:
            break
    return {name: round(float(weight), 4) for name, weight in zip(SIGNALS, best, strict=True)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _normalised(weights: Matrix) -> Matrix:
    normalised: Matrix = weights / weights.sum()
    return normalised


def _steps(weights: Matrix, at: int) -> list[Matrix]:
    candidates = []
    for factor in _FACTORS:
        if factor == 0.0 and SIGNALS[at] == "groundedness":
            continue
        candidate = weights.copy()
        candidate[at] = max(candidate[at], _RESTART) * factor if factor > 1 else candidate[at] * factor
        candidates.append(_normalised(candidate))
    return candidates


def _objective(
    weights: Matrix, prior: Matrix, values: Matrix, present: NDArray[np.bool_], labels: NDArray[np.int_]
) -> float:
    """The negative log-posterior, up to a constant; infinite where the fitted curve falls."""
    present_weights = np.where(present, weights, 0.0)
    means = np.nansum(np.where(present, values, 0.0) * present_weights, axis=1) / present_weights.sum(axis=1)
    clipped = np.clip(means, FLOOR, 1 - FLOOR)
    logits = np.log(clipped / (1 - clipped))
    if len(np.unique(labels)) < 2 or len(np.unique(logits)) < 2:
        return math.inf
    curve = fit_platt(logits, labels)
    if curve.coefficients[0] <= 0:
        return math.inf
    likelihood = len(labels) * log_loss(curve.predict(logits), labels)
    return likelihood + float(((weights - prior) ** 2).sum()) / (2 * SPREAD**2)
