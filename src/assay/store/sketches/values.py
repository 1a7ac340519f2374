"""Sketches: histograms with exact sums, so that any two can be added.

A value in [0, 1] is stored in units of a ten-thousandth. For each of 20 bins, a sketch has the number of values, their
sum and the sum of their squares: all integers, so that the order of additions does not matter and values can be removed
again. Mean and variance are exact except for rounding to units, quantiles to the width of a bin.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Final, Self

from assay.stats.intervals import Z_95, wilson

BINS: Final = 20
"""The number of equal bins of [0, 1]; 1 is in the last one."""
UNIT: Final = 10_000
"""The number of units in 1."""


def bin_of(value: float) -> int:
    """The number of the bin of a value in [0, 1].

    >>> bin_of(0), bin_of(0.049), bin_of(0.05), bin_of(1)
    (0, 0, 1, 19)
    """
    return min(BINS - 1, max(0, in_units(value) * BINS // UNIT))


def in_units(value: float) -> int:
    """A value in units.

    >>> in_units(0.87654)
    8765
    """
    return round(value * UNIT)


@dataclass(frozen=True, slots=True)
class Cell:
    """The content of one bin: the number of values, their sum and the sum of their squares, in units."""

    count: int = 0
    total: int = 0
    squares: int = 0

    def __add__(self, other: Self) -> Self:
        return type(self)(self.count + other.count, self.total + other.total, self.squares + other.squares)


@dataclass(frozen=True, slots=True)
class Sketch:
    """A histogram of values in [0, 1]."""

    cells: Mapping[int, Cell] = field(default_factory=dict)
    """The content of each bin, by its number; empty bins are left out."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The sketch of some values in [0, 1].

        >>> Sketch.of([0.2, 0.4]).mean
        0.3
        """
        cells: dict[int, Cell] = {}
        for value in values:
            units, bin_ = in_units(value), bin_of(value)
            cells[bin_] = cells.get(bin_, Cell()) + Cell(1, units, units * units)
        return cls(cells)

    def __add__(self, other: Self) -> Self:
        bins = self.cells.keys() | other.cells.keys()
        return type(self)({at: self.cells.get(at, Cell()) + other.cells.get(at, Cell()) for at in sorted(bins)})

    @property
    def count(self) -> int:
        """The number of values."""
        return sum(cell.count for cell in self.cells.values())

    @property
    def mean(self) -> float | None:
        """The mean of the values; None without values."""
        count = self.count
        return None if count <= 0 else sum(cell.total for cell in self.cells.values()) / UNIT / count

    @property
    def hits(self) -> int:
        """The sum of the values, rounded: for values that are 0 or 1, the number of ones."""
        return round(sum(cell.total for cell in self.cells.values()) / UNIT)

    @property
    def variance(self) -> float | None:
        """The sample variance of the values, with denominator n - 1; None for fewer than two values."""
        count, mean = self.count, self.mean
        if count < 2 or mean is None:
            return None
        squares = sum(cell.squares for cell in self.cells.values()) / UNIT**2
        return max(0.0, (squares - count * mean * mean) / (count - 1))

    def histogram(self) -> tuple[int, ...]:
        """The number of values in each bin."""
        return tuple(self.cells.get(at, Cell()).count for at in range(BINS))

    def rate_interval(self, z: float = Z_95) -> tuple[float, float] | None:
        """Wilson's interval for the share of ones among values that are 0 or 1; None without values."""
        return None if self.count <= 0 else wilson(min(max(self.hits, 0), self.count), self.count, z)

    def mean_interval(self, z: float = Z_95) -> tuple[float, float] | None:
        """An interval for the mean: z standard errors to each side, within [0, 1]; None for fewer than two values.

        If all values are equal, their variance of 0 would give an interval without width; then Wilson's interval for
        a rate with as many values is used.
        """
        mean, variance, count = self.mean, self.variance, self.count
        if mean is None or variance is None:
            return None
        if variance == 0.0:
            low, high = wilson(round(mean * count), count, z)
            return min(low, mean), max(high, mean)
        margin = z * sqrt(variance / count)
        return max(0.0, mean - margin), min(1.0, mean + margin)


def difference(later: Sketch, earlier: Sketch, z: float = Z_95) -> tuple[float, float, float] | None:
    """The difference of two means with its interval (Welch): later minus earlier, low, high.

    None if one of the two has fewer than two values. The variance of each side is at least that of one more value at
    the other end (the rule of succession), so that a handful of equal values never looks certain.

    >>> low_high = difference(Sketch.of([0.9] * 50), Sketch.of([0.5, 0.6] * 25))
    >>> low_high is not None and low_high[1] > 0.2
    True
    """
    means = (later.mean, earlier.mean)
    if min(later.count, earlier.count) < 2 or means[0] is None or means[1] is None:
        return None
    change = means[0] - means[1]
    margin = z * sqrt(_variance_of_mean(later) + _variance_of_mean(earlier))
    return change, change - margin, change + margin


def _variance_of_mean(sketch: Sketch) -> float:
    """The variance of the mean of a sketch, never less than by the rule of succession."""
    count, mean = sketch.count, sketch.mean or 0.0
    smoothed = (mean * count + 0.5) / (count + 1)
    return max(sketch.variance or 0.0, smoothed * (1 - smoothed) / (count + 1)) / count
