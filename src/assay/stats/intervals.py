"""Confidence intervals of shares."""

from math import sqrt
from typing import Final

from assay.errors import InputError

Z_95: Final = 1.959963984540054
"""The 97.5% point of the standard normal distribution."""


def wilson(count: int, of: int, z: float = Z_95) -> tuple[float, float]:
    """Wilson's score interval of a share (Wilson 1927, "Probable inference, the law of succession, and statistical
    inference", Journal of the American Statistical Association 22). It is within [0, 1], even for none or all.

    Args:
        count: how many were counted.
        of: the number that they were counted among, 1 or more.
        z: the quantile of the normal distribution; by default that of 95%.

    Raises:
        InputError: the counts are not those of a share.

    >>> [round(bound, 3) for bound in wilson(0, 20)]
    [0.0, 0.161]
    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not 0 <= count <= of or of < 1:
        raise InputError(f"expected a count from 0 to the number counted of, 1 or more; got {count} of {of}")
    low, high = wilson_at(count / of, of, z)
    # For none and for all one bound is the share itself, which rounding must not move.
    return (low if count else 0.0), (high if count < of else 1.0)


def wilson_at(share: float, size: float, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval of a share at a sample size that need not be whole, such as an effective size.

    Args:
        share: the share, in [0, 1].
        size: the size of the sample, above 0.
        z: the quantile of the normal distribution; by default that of 95%.
    """
    shrink = 1 + z * z / size
    middle = (share + z * z / (2 * size)) / shrink
    half = z * sqrt(share * (1 - share) / size + z * z / (4 * size * size)) / shrink
    return max(0.0, middle - half), min(1.0, middle + half)
