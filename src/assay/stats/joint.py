"""The probability that nothing in an answer is wrong."""

import math
from collections.abc import Sequence

from assay.errors import InputError


def joint_support(scores: Sequence[float], independence: float = 1.0) -> float:
    """The probability that every claim of an answer holds.

    P = product over j of s_j ^ g

    At g = 1 the claims are independent of each other. Those of one answer are not: one misread passage makes several
    claims wrong, and a verifier that doubts one sentence of an author also doubts the next. A smaller g models this. P
    never rises when a score falls or a claim is added, and never exceeds the score of the weakest claim.

    Args:
        scores: the probability of support of each claim, at the prior share of supported claims; at least one.
        independence: g, in (0, 1].

    Returns:
        A value in [0, 1]; for a single claim its own score.

    Raises:
        InputError: there is no score, a score is not a probability, or the exponent is not in (0, 1].

    >>> joint_support([0.9, 0.8])
    0.72
    >>> joint_support([0.9])
    0.9
    """
    if not scores or not all(0 <= score <= 1 for score in scores):
        raise InputError(f"expected one probability in [0, 1] or more, got {list(scores)}")
    if not 0 < independence <= 1:
        raise InputError(f"expected an independence in (0, 1], got {independence:g}")
    if len(scores) == 1:
        return scores[0]
    product: float = math.prod(math.pow(score, independence) for score in scores)
    return min(*scores, round(product, 12))
