"""Combines several signals of confidence into one calibrated probability, and computes entropy from probabilities.

docs/concepts.md#abstention:  conf = w_1 G + w_2 (1 - H) + w_3 SC + w_4 retrieval_quality , extended by coverage and
hedging. A weighted mean of signals is not a probability; a curve fitted on labelled outputs turns it into one. A
missing signal is left out and the other weights are scaled up: it is never replaced by a number such as 0.5.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError
from assay.stats.calibration import LogisticModel, fit_platt

SIGNALS: Final = ("groundedness", "certainty", "consistency", "retrieval_quality", "coverage", "directness")
"""The names of the signals, each in [0, 1], more is better: how far the evidence supports the output, one minus the
normalised entropy, how consistent the model is with itself, how well the best passage fits the question, how much of
the question all passages cover, and one minus how much the wording hedges."""
WEIGHTS: Final[Mapping[str, float]] = {
    "groundedness": 0.45,
    "certainty": 0.1,
    "consistency": 0.2,
    "retrieval_quality": 0.1,
    "coverage": 0.1,
    "directness": 0.05,
}
"""The weights before any fit, by judgement; `assay calibrate` fits others to labelled outputs."""
LEAST_ROWS: Final = 50
"""The least labelled outputs of a fit, with at least ten right and ten wrong ones."""
_LEAST_OF_A_SORT: Final = 10
"""The least right outputs, and the least wrong outputs, of a fit."""
FLOOR: Final = 0.01
"""The least distance of the weighted mean from 0 and 1 when its logit is taken."""


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """The weights of the signals, and the curve that turns their weighted mean into a probability.

    Raises:
        InputError: a weight is unknown, negative or not finite, all are 0, or the curve falls.
    """

    weights: tuple[tuple[str, float], ...] = tuple(WEIGHTS.items())
    slope: float | None = None
    """The slope of the logistic curve over the logit of the mean; none where nothing was fitted."""
    intercept: float = 0.0
    rows: int = 0
    """The number of labelled outputs that the curve was fitted on."""

    def __post_init__(self) -> None:
        values = [weight for _, weight in self.weights]
        if not {name for name, _ in self.weights} <= set(SIGNALS) or not all(w >= 0 for w in values) or not any(values):
            raise InputError(f"expected weights of 0 or more for {', '.join(SIGNALS)}, got {dict(self.weights)}")
        if not all(math.isfinite(value) for value in (*values, self.intercept, self.slope or 0.0)):
            raise InputError("expected finite weights, slope and intercept")
        if self.slope is not None and self.slope <= 0:
            raise InputError(f"expected a slope above 0, got {self.slope}: more support never means less confidence")

    @property
    def calibrated(self) -> bool:
        """Whether it gives probabilities rather than plain means."""
        return self.slope is not None

    def raw(self, signals: Mapping[str, float | None]) -> float | None:
        """The weighted mean of the present signals, in [0, 1]; none where no signal with a weight is present.

        >>> ConfidenceModel().raw({"groundedness": 0.9, "consistency": None})
        0.9
        """
        for name, value in signals.items():
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"expected the signal {name} in [0, 1], got {value}")
        present = [(w, v) for name, w in self.weights if (v := signals.get(name)) is not None and w > 0]
        total = math.fsum(weight for weight, _ in present)
        if not total:
            return None
        # Equal signals give exactly their common value, whatever the rounding of the weights.
        mean = math.fsum(weight * value for weight, value in present) / total
        return min(max(mean, min(value for _, value in present)), max(value for _, value in present))

    def confidence(self, signals: Mapping[str, float | None]) -> float | None:
        """The confidence, in [0, 1]: a probability where the model is fitted, else the mean itself.

        More of any one signal never lowers it.
        """
        mean = self.raw(signals)
        if mean is None or self.slope is None:
            return mean
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.intercept + self.slope * _logit(mean)))))


def fit_confidence(
    rows: Sequence[Mapping[str, float | None]], right: Sequence[bool], weights: Mapping[str, float] = WEIGHTS
) -> ConfidenceModel:
    """Fits the curve that turns the weighted mean into a probability of being right (Platt scaling over its logit).

    Args:
        rows: the signals of labelled outputs.
        right: for each output whether it is free of hallucinations.
        weights: the weights of the signals.

    Raises:
        InputError: there are too few rows, too few right or too few wrong ones, an output has no signal with a weight,
            or the share of right outputs falls where the signals rise.

    >>> rows = [{"groundedness": n / 100} for n in range(100)]
    >>> model = fit_confidence(rows, [n >= 50 for n in range(100)])
    >>> (model.confidence({"groundedness": 0.9}) or 0) > 0.95
    True
    """
    if len(rows) != len(right) or len(rows) < LEAST_ROWS or min(sum(right), len(right) - sum(right)) < _LEAST_OF_A_SORT:
        raise InputError(
            f"expected at least {LEAST_ROWS} labelled outputs, {_LEAST_OF_A_SORT} right and {_LEAST_OF_A_SORT} wrong, "
            f"got {len(rows)} with {sum(right)} right"
        )
    unfitted = ConfidenceModel(tuple(weights.items()))
    means = [unfitted.raw(row) for row in rows]
    logits = [_logit(mean) for mean in means if mean is not None]
    if len(logits) < len(rows):
        raise InputError(f"{len(rows) - len(logits)} of {len(rows)} outputs have none of the signals that weigh")
    curve: LogisticModel = fit_platt(logits, [int(one) for one in right])
    if not curve.converged or curve.coefficients[0] <= 0:
        raise InputError("more of the signals goes with fewer right outputs: they say nothing of these labels")
    return ConfidenceModel(unfitted.weights, float(curve.coefficients[0]), float(curve.intercept), len(rows))


def normalised_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """The mean entropy of an answer's tokens, each divided by the largest that it could be, in [0, 1].

    H(token) = -sum of p ln p over the likeliest tokens at its position and one more outcome with the remaining
    probability, divided by ln(number of outcomes). Where only the probability of the token itself is known, the
    outcomes are the token and all others, and the entropy is underestimated rather than overestimated.

    Args:
        tokens: for each token the probabilities of the likeliest tokens at its position.

    Returns:
        None for an answer without tokens.

    Raises:
        InputError: a probability is not in [0, 1], or those of a position sum to more than 1.

    >>> normalised_entropy([[1.0], [0.5]])
    0.5
    """
    if not tokens:
        return None
    return math.fsum(_entropy(place) for place in tokens) / len(tokens)


def _entropy(place: Sequence[float]) -> float:
    total = math.fsum(place)
    if not place or not all(0 <= p <= 1 for p in place) or total > 1 + 1e-3:
        raise InputError(f"expected the probabilities of the likeliest tokens at a place, got {list(place)[:5]}")
    outcomes = [*place, max(0.0, 1 - total)]
    return min(1.0, -math.fsum(p * math.log(p) for p in outcomes if p > 0) / math.log(len(outcomes)))


def _logit(value: float) -> float:
    clipped = min(max(value, FLOOR), 1 - FLOOR)
    return math.log(clipped / (1 - clipped))
