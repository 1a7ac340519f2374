"""Whether scores still mean what they say: is what is scored 0.8 right eight times of ten?

A bettor who knows a score before its outcome bets on the difference of both. If scores are calibrated each bet is fair,
whatever scores come, and capital exceeds 1/alpha with a chance of at most alpha however often one looks (Arnold, Henzi
and Ziegel 2023, "Sequentially valid tests for forecast calibration", Annals of Applied Statistics 17). Capital is
spread over bets of several sizes on all scores alike and on high against low ones, in both directions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.errors import InputError

_SIZES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Sizes of bets, as shares of the capital that a wholly wrong score would win or lose."""


@dataclass(frozen=True, slots=True)
class CalibrationDrift:
    """How scores and outcomes compare."""

    count: int
    mean_score: float | None
    """None where there are no outcomes."""
    mean_outcome: float | None
    evidence: float
    """The logarithm (base 10) of the largest capital so far: 2 is a hundred to one against calibrated scores."""
    alarm: int | None
    """After how many outcomes it was sure that scores are off; none while it is not."""


def calibration_drift(scores: Sequence[float], outcomes: Sequence[float], alpha: float = 0.01) -> CalibrationDrift:
    """Hold scores against outcomes, in the order in which outcomes came to be known.

    Args:
        scores: the chance of being right that was stated, in [0, 1].
        outcomes: 1 where it was right, else 0; or between for parts.
        alpha: the chance of an alarm over calibrated scores, ever.

    >>> calibration_drift([0.9] * 60, [1.0] * 30 + [0.0] * 30).alarm
    48
    >>> calibration_drift([0.5] * 60, [1.0, 0.0] * 30).alarm is None
    True

    Raises:
        InputError: a value is outside its range, or their numbers differ.
    """
    s, y = np.asarray(scores, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    inside = bool(np.all((s >= 0) & (s <= 1)) and np.all((y >= 0) & (y <= 1)))
    if s.shape != y.shape or s.ndim != 1 or not inside or not 0 < alpha < 1:
        raise InputError("expected a score and an outcome from 0 to 1 each, and an error rate between 0 and 1")
    if not s.size:
        return CalibrationDrift(0, None, None, 0.0, None)
    off = y - s
    bets = [sign * size * weight for size in _SIZES for sign in (1.0, -1.0) for weight in (np.ones_like(s), 2 * s - 1)]
    logs = np.logaddexp.reduce(np.cumsum(np.log1p(np.array(bets) * off), axis=1), axis=0) - math.log(len(bets))
    above = np.flatnonzero(logs >= math.log(1 / alpha))
    return CalibrationDrift(
        int(s.size),
        float(s.mean()),
        float(y.mean()),
        max(0.0, float(logs.max())) / math.log(10),
        int(above[0]) + 1 if above.size else None,
    )
