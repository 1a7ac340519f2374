"""Intervals of shares."""

from math import sqrt
from typing import Final

from assay.errors import InputError

Z_95: Final = 1.959963984540054
"""The 97.5% point of the standard normal distribution."""


def wilson(count: int, of: int, z: float = Z_95) -> tuple[float, float]:
    """The interval of a share that was counted (Wilson 1927, "Probable inference, the law of succession, and
    statistical inference", Journal of the American Statistical Association 22). Within [0, 1], also where all or none
    were counted.

    Args:
        count: how many were counted.
        of: of how many, 1 or more.
        z: the point of the normal distribution; that of 95% by default.

    Raises:
        InputError: the counts are no share.

    >>> [round(bound, 3) for bound in wilson(0, 20)]
    [0.0, 0.161]
    >>> [round(bound, 3) for bound in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not 0 <= count <= of or of < 1:
        raise InputError(f"expected a count from 0 to the number counted of, 1 or more; got {count} of {of}")
    share = count / of
    shrink = 1 + z * z / of
    middle = (share + z * z / (2 * of)) / shrink
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / shrink
    # At the ends the bound is the share itself; rounding must not put it beside.
    return (max(0.0, middle - half) if count else 0.0), (min(1.0, middle + half) if count < of else 1.0)
