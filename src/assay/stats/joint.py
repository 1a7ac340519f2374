"""The probability that nothing in an answer is wrong."""

import math
from collections.abc import Sequence

from assay.errors import InputError


def joint_support(scores: Sequence[float], independence: float = 1.0) -> float:
    """The probability that every claim of an answer holds.

    P = product over j of s_j ^ g

    At g = 1 claims are right or wrong independently of each other. Those of one answer are not: a passage that was
    misread takes several with it, and a verifier that doubts one sentence of a writer doubts the next. A smaller g says
    so. P never rises where a score falls, nor where a claim is added, and never lies above the weakest claim.

    Args:
        scores: for each claim its probability of support, at the share of supported claims in use; at least one.
        independence: g, in (0, 1].

    Returns:
        A value in [0, 1], of a single claim its own score.

    Raises:
        InputError: there is no score, one is no probability, or the exponent is not in (0, 1].

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
