"""Several signals of confidence as one calibrated probability, and entropy from log-probabilities.

docs/concepts.md#abstention:  conf = w_1 G + w_2 (1 - H) + w_3 SC + w_4 retrieval_quality , to which coverage and
hedging are added. A weighted mean of signals is no probability; a curve that was fitted on labelled outputs turns it
into one. A signal that is missing is left out and the other weights are scaled up: it never counts as a number, such as
0.5.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError
from assay.stats.calibration import LogisticModel, fit_platt

SIGNALS: Final = ("groundedness", "certainty", "consistency", "retrieval_quality", "coverage", "directness")
"""The signals by name, each in [0, 1], more is better: how far the evidence supports the output, one minus the
normalised entropy, how far the model agrees with itself, how well the best passage fits the question, how much of the
question all passages cover, and one minus how much the wording holds back."""
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
"""Labelled outputs that a fit takes at least, with ten of each sort."""
_LEAST_OF_A_SORT: Final = 10
FLOOR: Final = 0.01
"""How near to 0 or 1 the weighted mean may come before its logit is taken."""


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """Weights, and the curve that makes their mean a probability.

    Raises:
        InputError: a weight is unknown, negative or not finite, all are 0, or the curve falls.
    """

    weights: tuple[tuple[str, float], ...] = tuple(WEIGHTS.items())
    slope: float | None = None
    """Of the logistic curve over the logit of the mean; none where nothing was fitted."""
    intercept: float = 0.0
    rows: int = 0
    """Labelled outputs that the curve was fitted on."""

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
        """Whether it gives probabilities rather than a mean."""
        return self.slope is not None

    def raw(self, signals: Mapping[str, float | None]) -> float | None:
        """The weighted mean of the signals that are there, in [0, 1]; none where none that weighs is.

        >>> ConfidenceModel().raw({"groundedness": 0.9, "consistency": None})
        0.9
        """
        for name, value in signals.items():
            if value is not None and not 0 <= value <= 1:
                raise InputError(f"expected the signal {name} in [0, 1], got {value}")
        there = [(w, v) for name, w in self.weights if (v := signals.get(name)) is not None and w > 0]
        total = math.fsum(weight for weight, _ in there)
        if not total:
            return None
        # Equal signals give exactly their value, whatever the weights lose in their last bit.
        mean = math.fsum(weight * value for weight, value in there) / total
        return min(max(mean, min(value for _, value in there)), max(value for _, value in there))

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
    """The curve that makes the weighted mean a probability of being right (Platt scaling over its logit).

    Args:
        rows: the signals of labelled outputs.
        right: for each whether it is free of hallucinations.
        weights: of the signals.

    Raises:
        InputError: there are too few rows or too few of a sort, an output has no signal, or more of the signals goes
            with fewer right outputs.

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
    plain = ConfidenceModel(tuple(weights.items()))
    means = [plain.raw(row) for row in rows]
    known = [_logit(mean) for mean in means if mean is not None]
    if len(known) < len(rows):
        raise InputError(f"{len(rows) - len(known)} of {len(rows)} outputs have none of the signals that weigh")
    curve: LogisticModel = fit_platt(known, [int(one) for one in right])
    if not curve.converged or curve.coefficients[0] <= 0:
        raise InputError("more of the signals goes with fewer right outputs: they say nothing of these labels")
    return ConfidenceModel(plain.weights, float(curve.coefficients[0]), float(curve.intercept), len(rows))


def normalised_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """The mean entropy of an answer's tokens, each divided by the largest that it could be, in [0, 1].

    H(token) = -sum of p ln p over the likeliest tokens at its place and one more outcome that has the rest, over
    ln(number of outcomes). Where only the token's own probability is known, the outcomes are it and all others, and
    the entropy is too low rather than too high.

    Args:
        tokens: for each token the probabilities of the likeliest tokens at its place.

    Returns:
        None for an answer without tokens.

    Raises:
        InputError: a probability is not in [0, 1], or a place's add up to more than 1.

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
    held = min(max(value, FLOOR), 1 - FLOOR)
    return math.log(held / (1 - held))
