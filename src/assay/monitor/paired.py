"""Whether a run is significantly worse than a reference run over the same rows.

Rows are compared one by one, so that the difficulty of a row counts for neither side. If nothing changed, as many of
the rows that differ should be worse as better: the exact sign test (Dixon and Mood 1946; for outcomes of 0 and 1 it is
McNemar's). As a set is checked repeatedly, the n-th comparison with a reference gets 6 / (pi n)^2 of the level, which
sums to the level over any number of comparisons.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError

LISTED: Final = 20
"""The most worse rows that are named."""
_SAME: Final = 1e-9
"""Differences up to this count as equal."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The comparison of a run with its reference in one metric."""

    rows: int
    """The number of rows with a value in both."""
    worse: tuple[int, ...]
    """The positions of rows that are worse now."""
    better: tuple[int, ...]
    before: float | None
    """The mean of the reference; none without rows."""
    after: float | None
    """The mean of the run; none without rows."""
    p: float
    """The probability of at least this number of worse rows if nothing changed."""
    level: float
    """The significance level of this comparison."""

    @property
    def regressed(self) -> bool:
        """Whether the run is significantly worse."""
        return self.p <= self.level

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "rows": self.rows,
            "worse": len(self.worse),
            "better": len(self.better),
            "before": self.before,
            "after": self.after,
            "p": self.p,
            "level": self.level,
            "regressed": self.regressed,
            "worse_rows": list(self.worse[:LISTED]),
        }


def sign_test(worse: int, better: int) -> float:
    """The one-sided p-value of the sign test.

    Args:
        worse: how many rows are worse.
        better: how many are better.

    >>> sign_test(0, 0), sign_test(5, 0), round(sign_test(8, 2), 5)
    (1.0, 0.03125, 0.05469)
    """
    count = worse + better
    if count == 0 or worse == 0:
        return 1.0
    logs = [
        math.lgamma(count + 1) - math.lgamma(one + 1) - math.lgamma(count - one + 1) - count * math.log(2)
        for one in range(worse, count + 1)
    ]
    top = max(logs)
    return min(1.0, math.exp(top) * math.fsum(math.exp(one - top) for one in logs))


def level_of(alpha: float, number: int) -> float:
    """The significance level of the n-th comparison with a reference, so that all of them together keep a level.

    Args:
        alpha: the level of all comparisons together.
        number: n, from 1.

    >>> round(level_of(0.05, 1), 5), round(sum(level_of(0.05, n) for n in range(1, 10_000)), 4)
    (0.0304, 0.05)

    Raises:
        InputError: the number is below 1, or the level is not between 0 and 1.
    """
    if number < 1 or not 0 < alpha < 1:
        raise InputError(f"expected a comparison from 1 up and a level between 0 and 1, got {number} and {alpha}")
    return alpha * 6 / (math.pi * number) ** 2


def compare_rows(
    before: Mapping[int, float | None], after: Mapping[int, float | None], alpha: float, number: int
) -> PairedComparison:
    """Compares two runs over the same rows; a larger value is worse.

    Args:
        before: the values of the reference, by the position of the row.
        after: the values of the run.
        alpha: the level of all comparisons with this reference together.
        number: the number of this comparison, from 1.
    """
    pairs = [
        (place, float(first), float(second))
        for place in sorted(set(before) & set(after))
        if (first := before[place]) is not None and (second := after[place]) is not None
    ]
    worse = tuple(place for place, first, second in pairs if second > first + _SAME)
    better = tuple(place for place, first, second in pairs if second < first - _SAME)
    count = len(pairs)
    return PairedComparison(
        count,
        worse,
        better,
        math.fsum(first for _, first, _ in pairs) / count if count else None,
        math.fsum(second for _, _, second in pairs) / count if count else None,
        sign_test(len(worse), len(better)),
        level_of(alpha, number),
    )
