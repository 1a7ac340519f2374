"""Estimates the share of supported claims without labels, from the scores of a calibrated verifier."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.errors import InputError

_MOST_ROUNDS = 2_000
_SETTLED = 1e-7
_LEAST = 1e-3
"""The least distance of the estimate from 0 and 1, where the prior would rule out right or wrong claims."""
_CHI_SQUARED_95 = 3.841458820694124
"""The 95th percentile of the chi-squared distribution with one degree of freedom."""


@dataclass(frozen=True, slots=True)
class PriorEstimate:
    """The estimated share of supported claims, with its likelihood interval."""

    prior: float
    """The estimated share."""
    low: float
    """The lower end of the 95% interval."""
    high: float
    """The upper end of the 95% interval."""
    claims: int
    """The number of scores."""
    rounds: int
    """The rounds of expectation and maximisation until convergence."""


def estimate_prior(scores: Sequence[float], fitted: float) -> PriorEstimate:
    """The share of supported claims under which the scores are most likely.

    Expectation and maximisation on the probabilities of a classifier that was fitted at another share: each round
    corrects them to the last estimate and takes their mean (Saerens, Latinne and Decaestecker 2002, "Adjusting the
    outputs of a classifier to new a priori probabilities", Neural Computation 14, algorithm 1). The interval is that of
    the likelihood ratio. It is valid if supported and other claims score in use as they did in training.

    Args:
        scores: the probability of support of each claim, at the share `fitted`; at least one.
        fitted: the share of supported claims among the rows that the verifier was fitted on, in (0, 1).

    Raises:
        InputError: there is no score, or a value is out of range.

    >>> round(estimate_prior([0.95] * 90 + [0.05] * 10, 0.5).prior, 2)
    0.94
    """
    if not scores or not all(0 <= score <= 1 for score in scores):
        raise InputError(f"expected one score in [0, 1] or more, got {len(scores)} scores")
    if not 0 < fitted < 1:
        raise InputError(f"expected the share of the fitted rows in (0, 1), got {fitted:g}")
    # The relative likelihoods of each score under supported and under other claims.
    pairs = [(score / fitted, (1 - score) / (1 - fitted)) for score in scores]
    prior, rounds = fitted, 0
    for rounds in range(1, _MOST_ROUNDS + 1):  # noqa: B007 the number of the last round is reported
        last = prior
        prior = math.fsum(a * last / (a * last + b * (1 - last)) for a, b in pairs) / len(pairs)
        prior = min(1 - _LEAST, max(_LEAST, prior))
        if abs(prior - last) < _SETTLED:
            break

    def likelihood(share: float) -> float:
        return math.fsum(math.log(max(a * share + b * (1 - share), 1e-300)) for a, b in pairs)

    best = likelihood(prior)

    def edge(outside: float) -> float:
        """The share between the estimate and `outside` where the likelihood, which is concave, leaves the interval."""
        if 2 * (best - likelihood(outside)) <= _CHI_SQUARED_95:
            return outside
        inside = prior
        for _ in range(40):
            middle = (inside + outside) / 2
            if 2 * (best - likelihood(middle)) <= _CHI_SQUARED_95:
                inside = middle
            else:
                outside = middle
        return inside

    return PriorEstimate(prior, edge(_LEAST), edge(1 - _LEAST), len(scores), rounds)
