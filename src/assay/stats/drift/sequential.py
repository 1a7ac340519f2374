"""Deciding between two means as soon as the observations allow: for each step of a bisection.

A pair of one-sided sequential tests. Against "the mean is at most `low`" a bettor's capital is multiplied by
1 + bet * (x - low); if that hypothesis holds, capital is a supermartingale and exceeds 1/alpha with a chance of at most
alpha, whenever one looks (Ville's inequality; Waudby-Smith and Ramdas 2024, section 4). The other side bets against
"the mean is at least `high`". For observations that are 0 or 1 the best bet makes each the likelihood ratio of Wald's
sequential probability ratio test (1945), which needs the fewest observations of all tests with its error rates; for
scores it holds all the same and needs a few more.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError

_MOST: Final = 0.95
"""The largest bet, as a share of the one at which capital could be lost whole."""
_GRID: Final = 12
"""Sizes of bets among which capital is spread."""


class Found(StrEnum):
    """What a test came to."""

    LOW = "low"
    """The mean is below `high`: as in the lower state."""
    HIGH = "high"
    """The mean is above `low`: as in the higher state."""
    OPEN = "open"
    """Not sure yet."""


@dataclass(frozen=True, slots=True)
class TwoMeans:
    """A test between two means, and where it stands.

    Raises:
        InputError: the means are not in order, or the error rate is none.
    """

    low: float
    """The lower mean, from 0 up."""
    high: float
    """The higher one, up to 1."""
    alpha: float
    """The chance of each error."""
    spread: float | None = None
    """The standard deviation of an observation; none where observations are 0 or 1."""
    against_low: float = 0.0
    """The logarithm of the capital that bets against the lower mean."""
    against_high: float = 0.0
    """And of the one against the higher mean."""
    seen: int = 0
    """Observations so far."""

    def __post_init__(self) -> None:
        if not 0 <= self.low < self.high <= 1 or not 0 < self.alpha < 1:
            raise InputError(
                f"expected two means from 0 to 1, the lower one first, and an error rate between 0 and 1; got "
                f"{self.low}, {self.high} and {self.alpha}"
            )

    @property
    def bets(self) -> tuple[float, float]:
        """What is bet against the lower mean, and against the higher one, for each unit of distance."""
        gap = self.high - self.low
        if self.spread is None:
            up, down = self.low * (1 - self.low), self.high * (1 - self.high)
        else:
            up = down = self.spread**2 + gap**2
        most_up = _MOST / self.low if self.low > 0 else math.inf
        most_down = _MOST / (1 - self.high) if self.high < 1 else math.inf
        # A mean of just 0 or 1 is refuted by one observation: any bet is right, a finite one is taken.
        return min(gap / up if up > 0 else 1e6, most_up), min(gap / down if down > 0 else 1e6, most_down)

    def added(self, observation: float) -> "TwoMeans":
        """The test after an observation in [0, 1].

        Raises:
            InputError: it is outside.
        """
        if not 0 <= observation <= 1:
            raise InputError(f"expected an observation from 0 to 1, got {observation}")
        up, down = self.bets
        return replace(
            self,
            against_low=self.against_low + math.log(max(1 + up * (observation - self.low), 1e-300)),
            against_high=self.against_high + math.log(max(1 - down * (observation - self.high), 1e-300)),
            seen=self.seen + 1,
        )

    @property
    def found(self) -> Found:
        """What is sure now; it does not change any more once it is."""
        needed = math.log(1 / self.alpha)
        if self.against_low >= needed:
            return Found.HIGH
        if self.against_high >= needed:
            return Found.LOW
        return Found.OPEN


@dataclass(frozen=True, slots=True)
class Decided:
    """What a test came to, and after how many observations: those after them are not looked at."""

    found: Found
    seen: int


def decide(test: TwoMeans, observations: Sequence[float]) -> Decided:
    """What a new test comes to over observations: as `TwoMeans.added` one after the other, all at once.

    >>> decide(TwoMeans(0.1, 0.5, 0.01), [1.0] * 10)
    Decided(found=<Found.HIGH: 'high'>, seen=3)

    Raises:
        InputError: an observation is outside [0, 1].
    """
    x = _bounded(observations)
    up, down = test.bets
    needed = math.log(1 / test.alpha)
    high = np.cumsum(np.log(np.maximum(1 + up * (x - test.low), 1e-300)))
    low = np.cumsum(np.log(np.maximum(1 - down * (x - test.high), 1e-300)))
    return _earliest([(Found.HIGH, high >= needed), (Found.LOW, low >= needed)], int(x.size))


def compare(before: Sequence[float], after: Sequence[float], shift: float, alpha: float) -> Decided:
    """Whether a mean has risen: two states on the same rows, row by row, looked at as often as one likes.

    Of each row what counts is the difference. Against "it has not risen" a bettor spreads capital evenly over bets of
    many sizes (the grid-Kelly capital of Waudby-Smith and Ramdas 2024, section 4), and another one bets against "it has
    risen by the shift or more". The chance that `HIGH` is said where nothing has risen, and that `LOW` is said where it
    has risen by so much, is at most alpha each.

    Args:
        before: of the first state, in [0, 1].
        after: of the second one, on the same rows in the same order; what is longer is cut.
        shift: the rise that matters, above 0.
        alpha: the chance of each error.

    >>> compare([0.0] * 20, [1.0] * 20, 0.03, 0.01).found
    <Found.HIGH: 'high'>

    Raises:
        InputError: an observation, the shift or alpha is out of range.
    """
    count = min(len(before), len(after))
    rise = _bounded(after[:count]) - _bounded(before[:count])
    if not 0 < shift < 1 or not 0 < alpha < 1:
        raise InputError(f"expected a shift and an error rate between 0 and 1, got {shift} and {alpha}")
    bets = np.geomspace(0.01, 0.95, _GRID)[:, None]
    needed = math.log(1 / alpha) + math.log(_GRID)
    risen = np.logaddexp.reduce(np.cumsum(np.log1p(bets * rise), axis=1), axis=0)
    # The furthest that a difference can be below the shift is 1 + shift.
    fallen = np.logaddexp.reduce(np.cumsum(np.log1p(bets * (shift - rise) / (1 + shift)), axis=1), axis=0)
    return _earliest([(Found.HIGH, risen >= needed), (Found.LOW, fallen >= needed)], count)


def _earliest(crossed: Sequence[tuple[Found, NDArray[np.bool_]]], count: int) -> Decided:
    at = [(int(np.argmax(where)), number) for number, (_, where) in enumerate(crossed) if where.any()]
    if not at:
        return Decided(Found.OPEN, count)
    first, number = min(at)
    return Decided(crossed[number][0], first + 1)


def _bounded(observations: Sequence[float]) -> NDArray[np.float64]:
    x = np.asarray(observations, dtype=np.float64)
    if x.ndim != 1 or not bool(np.all((x >= 0) & (x <= 1))):
        raise InputError("expected observations from 0 to 1")
    return x


def fixed_size(low: float, high: float, alpha: float) -> int:
    """How many observations a test of fixed size needs for the same: the mean is compared with a cut between both, with
    a chance of alpha for each error (normal approximation).

    >>> fixed_size(0.05, 0.08, 0.01)
    1440

    Raises:
        InputError: the means are not in order, or the error rate is none.
    """
    TwoMeans(low, high, alpha)
    spreads = math.sqrt(low * (1 - low)) + math.sqrt(high * (1 - high))
    return math.ceil((normal_point(1 - alpha) * spreads / (high - low)) ** 2)


def normal_point(chance: float) -> float:
    """The point of the standard normal distribution below which a value lies with a chance.

    >>> round(normal_point(0.975), 6)
    1.959964
    """
    from statistics import NormalDist

    return NormalDist().inv_cdf(chance)
