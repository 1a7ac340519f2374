"""Weights of the signals of confidence, fitted on labelled outputs.

The confidence (docs/concepts.md#abstention) has weights w_1 ... w_4 that nobody knows beforehand. These are the most
likely ones given the labels, with a prior that holds them near those by judgement: a few dozen rows move them little,
thousands far. No weight is below 0, so more of a signal never lowers the confidence.
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
"""The standard deviation of the prior about the weights by judgement, which add up to 1."""
_FACTORS: Final = (0.0, 0.25, 0.5, 0.8, 1.25, 2.0, 4.0)
"""What a step multiplies one weight by; a weight of 0 starts again from `_SEED`."""
_SEED: Final = 0.05
_ROUNDS: Final = 12
_ENOUGH: Final = 1e-3
"""How much likelier, in the logarithm over all rows, a step has to make the labels."""

Matrix = NDArray[np.float64]


def fit_weights(
    rows: Sequence[Mapping[str, float | None]], right: Sequence[bool], judged: Mapping[str, float] = WEIGHTS
) -> dict[str, float]:
    """The weights that make the labels most likely, together with a prior about those by judgement.

    A signal that fewer than `LEAST_ROWS` outputs have, or that is the same in all of them, weighs 0: the curve that is
    fitted over the mean would say nothing of outputs that have it. Groundedness always weighs.

    Args:
        rows: the signals of labelled outputs; those without groundedness teach nothing and are passed over.
        right: for each whether it is free of hallucinations.
        judged: the weights that the prior is about; that of groundedness is above 0.

    Returns:
        A weight for each name of `SIGNALS`, 0 or more and adding up to 1, to four digits.

    Raises:
        InputError: the two differ in length, no output has groundedness, or it does not weigh by judgement.

    >>> rows = [{"groundedness": n / 100, "coverage": (n * 37 % 100) / 100} for n in range(100)]
    >>> found = fit_weights(rows, [n >= 50 for n in range(100)])
    >>> found["groundedness"] > 0.9, found["consistency"]
    (True, 0.0)
    """
    if len(rows) != len(right):
        raise InputError(f"expected a label for each output, got {len(rows)} outputs and {len(right)} labels")
    kept = [at for at, row in enumerate(rows) if row.get("groundedness") is not None]
    if not kept or not judged.get("groundedness", 0.0) > 0:
        raise InputError("expected outputs with groundedness and a weight for it above 0, got none")
    values = np.array([[_number(rows[at].get(name)) for name in SIGNALS] for at in kept])
    came = np.array([int(right[at]) for at in kept])
    there = ~np.isnan(values)
    varies = [len(np.unique(values[there[:, at], at])) > 1 for at in range(len(SIGNALS))]
    used = np.array(
        [
            name == "groundedness" or (int(there[:, at].sum()) >= LEAST_ROWS and varies[at])
            for at, name in enumerate(SIGNALS)
        ]
    )
    prior = _normalised(np.array([judged.get(name, 0.0) for name in SIGNALS]) * used)
    best, least = prior, _objective(prior, prior, values, there, came)
    for _ in range(_ROUNDS):
        before = least
        for at in np.flatnonzero(used):
            for tried in _steps(best, int(at)):
                loss = _objective(tried, prior, values, there, came)
                if loss < least - _ENOUGH:
                    best, least = tried, loss
        if least > before - _ENOUGH:
            break
    return {name: round(float(weight), 4) for name, weight in zip(SIGNALS, best, strict=True)}


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _normalised(weights: Matrix) -> Matrix:
    normalised: Matrix = weights / weights.sum()
    return normalised


def _steps(weights: Matrix, at: int) -> list[Matrix]:
    found = []
    for factor in _FACTORS:
        if factor == 0.0 and SIGNALS[at] == "groundedness":
            continue
        tried = weights.copy()
        tried[at] = max(tried[at], _SEED) * factor if factor > 1 else tried[at] * factor
        found.append(_normalised(tried))
    return found


def _objective(
    weights: Matrix, prior: Matrix, values: Matrix, there: NDArray[np.bool_], came: NDArray[np.int_]
) -> float:
    """Minus the logarithm of the labels' likelihood and the prior, up to a constant; infinite where the curve falls."""
    weighing = np.where(there, weights, 0.0)
    means = np.nansum(np.where(there, values, 0.0) * weighing, axis=1) / weighing.sum(axis=1)
    held = np.clip(means, FLOOR, 1 - FLOOR)
    logits = np.log(held / (1 - held))
    if len(np.unique(came)) < 2 or len(np.unique(logits)) < 2:
        return math.inf
    curve = fit_platt(logits, came)
    if curve.coefficients[0] <= 0:
        return math.inf
    likelihood = len(came) * log_loss(curve.predict(logits), came)
    return likelihood + float(((weights - prior) ** 2).sum()) / (2 * SPREAD**2)
