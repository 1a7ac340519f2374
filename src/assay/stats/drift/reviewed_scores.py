"""Whether scores are still calibrated: are outputs with the score 0.8 right eight times out of ten?

A bettor who knows each score before its outcome bets on the difference between the two. If scores are calibrated, each
bet is fair, whatever the scores, and the capital ever exceeds 1/alpha with probability at most alpha, however often one
looks (Arnold, Henzi and Ziegel 2023, "Sequentially valid tests for forecast calibration", Annals of Applied Statistics
17). The capital is split among bets of several sizes on all scores alike and on high against low scores, in both
directions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from assay.errors import InputError

_SIZES: Final = (0.05, 0.1, 0.2, 0.4, 0.8)
"""The sizes of bets, as the share of the capital that a totally wrong score would win or lose."""


@dataclass(frozen=True, slots=True)
class CalibrationDrift:
    """The comparison of scores with outcomes."""

    count: int
    """The number of outcomes."""
    mean_score: float | None
    """None where there are no outcomes."""
    mean_outcome: float | None
    evidence: float
    """The logarithm, base 10, of the largest capital so far: 2 means odds of a hundred to one against calibration."""
    alarm: int | None
    """The number of outcomes after which miscalibration was significant; none if it is not."""


def calibration_drift(scores: Sequence[float], outcomes: Sequence[float], alpha: float = 0.01) -> CalibrationDrift:
    """Compares scores with outcomes, in the order in which the outcomes became known.

    Args:
        scores: the stated probabilities of being right, in [0, 1].
        outcomes: 1 where an output was right, 0 where it was wrong, or between for partly right.
        alpha: the probability of ever raising an alarm for calibrated scores.

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
