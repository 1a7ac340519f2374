"""Sketches: what was measured in a stretch of time, as counts in bins with exact sums, so that any two can be added.

A value in [0, 1] is kept in ten-thousandths. Of each bin of a twentieth a sketch has the number of values, their sum
and the sum of their squares: whole numbers all, so that the order of adding changes nothing and what was added can be
taken away again. Mean and variance are exact to the rounding, quantiles to the width of a bin.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, Self

from assay.stats.intervals import Z_95, wilson

BINS: Final = 20
"""Bins of [0, 1], of equal width; 1 is in the last one."""
UNIT: Final = 10_000
"""Parts of 1 that values are kept in."""


def bin_of(value: float) -> int:
    """The bin of a value in [0, 1].

    >>> bin_of(0), bin_of(0.049), bin_of(0.05), bin_of(1)
    (0, 0, 1, 19)
    """
    return min(BINS - 1, max(0, in_units(value) * BINS // UNIT))


def in_units(value: float) -> int:
    """A value as it is kept.

    >>> in_units(0.87654)
    8765
    """
    return round(value * UNIT)


@dataclass(frozen=True, slots=True)
class Cell:
    """One bin: how many values, their sum and the sum of their squares, in units."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total, self.squares + other.squares)


@dataclass(frozen=True, slots=True)
class Sketch:
    """What was measured of one thing."""

    cells: Mapping[int, Cell] = field(default_factory=dict)
    """By the number of the bin."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The sketch of some values in [0, 1].

        >>> Sketch.of([0.2, 0.4]).mean
        0.3
        """
        cells: dict[int, Cell] = {}
        for value in values:
            units, at = in_units(value), bin_of(value)
            cells[at] = cells.get(at, Cell()) + Cell(1, units, units * units)
        return cls(cells)

    def __add__(self, other: Self) -> Self:
        bins = self.cells.keys() | other.cells.keys()
        return type(self)({at: self.cells.get(at, Cell()) + other.cells.get(at, Cell()) for at in sorted(bins)})

    @property
    def count(self) -> int:
        """How many values."""
        return sum(cell.count for cell in self.cells.values())

    @property
    def mean(self) -> float | None:
        """Their mean; none of no values."""
        count = self.count
        return None if count <= 0 else sum(cell.total for cell in self.cells.values()) / UNIT / count

    @property
    def hits(self) -> int:
        """Their sum in whole ones: of a rate, how often it happened."""
        return round(sum(cell.total for cell in self.cells.values()) / UNIT)

    @property
    def variance(self) -> float | None:
        """The variance of the values, with n - 1 in its denominator; none of fewer than two."""
        count, mean = self.count, self.mean
        if count < 2 or mean is None:
            return None
        squares = sum(cell.squares for cell in self.cells.values()) / UNIT**2
        return max(0.0, (squares - count * mean * mean) / (count - 1))

    def histogram(self) -> tuple[int, ...]:
        """The counts of all bins."""
        return tuple(self.cells.get(at, Cell()).count for at in range(BINS))

    def rate_interval(self, z: float = Z_95) -> tuple[float, float] | None:
        """Wilson's interval of the share of ones among values that are 0 or 1; none of no values."""
        return None if self.count <= 0 else wilson(min(max(self.hits, 0), self.count), self.count, z)

    def mean_interval(self, z: float = Z_95) -> tuple[float, float] | None:
        """An interval of the mean: z standard errors to each side, within [0, 1]; none of fewer than two values.

        Values of [0, 1] that are all alike have no variance to tell of; then the interval is that of a rate with as
        many values, which is wider than nothing.
        """
        mean, variance, count = self.mean, self.variance, self.count
        if mean is None or variance is None:
            return None
        if variance == 0.0:
            low, high = wilson(round(mean * count), count, z)
            return min(low, mean), max(high, mean)
        wide = z * sqrt(variance / count)
        return max(0.0, mean - wide), min(1.0, mean + wide)


def difference(later: Sketch, earlier: Sketch, z: float = Z_95) -> tuple[float, float, float] | None:
    """The difference of two means with its interval (Welch): later less earlier, low, high.

    None where one of the two has fewer than two values. A side without variance is given that of one value more at the
    other end (the rule of succession), so that a handful of equal values never looks certain.

    >>> low_high = difference(Sketch.of([0.9] * 50), Sketch.of([0.5, 0.6] * 25))
    >>> low_high is not None and low_high[1] > 0.2
    True
    """
    means = (later.mean, earlier.mean)
    if min(later.count, earlier.count) < 2 or means[0] is None or means[1] is None:
        return None
    gap = means[0] - means[1]
    wide = z * sqrt(_of_mean(later) + _of_mean(earlier))
    return gap, gap - wide, gap + wide


def _of_mean(sketch: Sketch) -> float:
    """The variance of a mean."""
    count, mean = sketch.count, sketch.mean or 0.0
    held = (mean * count + 0.5) / (count + 1)
    return max(sketch.variance or 0.0, held * (1 - held) / (count + 1)) / count
