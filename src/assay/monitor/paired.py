"""Whether a run over the same rows is worse than the one it is compared with, and whether that is more than chance.

Rows are compared one by one, so that what is hard in a set counts for neither side. Of the rows that differ, as many
should be worse as better where nothing changed: the exact sign test (Dixon and Mood 1946; for outcomes of 0 and 1 it is
McNemar's). A set is checked again every night; the n-th comparison with a reference is given 6 / (pi n)^2 of the level,
which sums to the level however long it goes on.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError

LISTED: Final = 20
"""Rows that are named."""
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """What a run came to beside its reference, in one metric."""

    rows: int
    """Rows with a value in both."""
    worse: tuple[int, ...]
    """The positions of rows that are worse now."""
    better: tuple[int, ...]
    before: float | None
    """The mean in the reference; none without rows."""
    after: float | None
    p: float
    """How probable at least so many worse rows are where nothing changed."""
    level: float
    """The share of the level that this comparison has."""

    @property
    def regressed(self) -> bool:
        """Whether it is worse for sure."""
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
    """The one-sided p-value of so many worse ones among those that differ.

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
    """The share of a level that the n-th comparison has, n from 1.

    >>> round(level_of(0.05, 1), 5), round(sum(level_of(0.05, n) for n in range(1, 10_000)), 4)
    (0.0304, 0.05)

    Raises:
        InputError: there is no such comparison.
    """
    if number < 1 or not 0 < alpha < 1:
        raise InputError(f"expected a comparison from 1 up and a level between 0 and 1, got {number} and {alpha}")
    return alpha * 6 / (math.pi * number) ** 2


def compare_rows(
    before: Mapping[int, float | None], after: Mapping[int, float | None], alpha: float, number: int
) -> PairedComparison:
    """Compare two runs over the same rows, by their positions; a larger value is worse.

    Args:
        before: the reference.
        after: the run.
        alpha: the level of all comparisons with this reference together.
        number: which one this is, from 1.
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
