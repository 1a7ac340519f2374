"""Distributions of bounded observations on a lattice, for which run lengths can be computed.

An observation is in [0, 1] and a multiple of 1/`unit`. A rate (an output is bad or not) has such a distribution by
itself; a score is distributed between its two neighbours on the lattice so that its mean is preserved.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROUNDS: Final = 300
"""The most steps of a continued fraction or a bisection, more than either ever needs."""


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """A distribution of observations on a lattice.

    Raises:
        InputError: it is not a distribution.
    """

    unit: int
    """Observations are multiples of 1/unit, plus the origin."""
    steps: Whole
    """The multiples, ascending, 0 or more."""
    chances: Floats
    """The probability of each; they sum to 1."""
    origin: float = 0.0
    """The value of the multiple 0. A lattice of scores is shifted so that it contains a given value."""

    def __post_init__(self) -> None:
        whole = self.unit >= 1 and len(self.steps) == len(self.chances) > 0
        if not whole or self.steps[0] < 0 or self.steps[-1] > self.unit + 1 or bool(np.any(self.chances < 0)):
            raise InputError("expected multiples of a unit from 0 to 1, each with its probability")
        if not math.isclose(float(self.chances.sum()), 1, abs_tol=1e-9):
            raise InputError(f"expected probabilities that sum to 1, got {float(self.chances.sum())}")

    @property
    def mean(self) -> float:
        """The mean of an observation."""
        return float(self.values @ self.chances)

    @property
    def values(self) -> Floats:
        """The possible values of an observation."""
        return self.origin + self.steps / self.unit

    @property
    def spread(self) -> float:
        """The standard deviation of an observation."""
        return float(np.sqrt(max(0.0, float((self.values - self.mean) ** 2 @ self.chances))))


def bernoulli(rate: float, unit: int = 1) -> Lattice:
    """The distribution of an observation that is 1 at a given rate and 0 otherwise.

    >>> bernoulli(0.25).mean
    0.25

    Raises:
        InputError: the rate is not between 0 and 1.
    """
    _require_share("a rate", rate)
    return Lattice(unit, np.array([0, unit]), np.array([1 - rate, rate]))


def beta(mean: float, spread: float, unit: int, origin: float = 0.0) -> Lattice:
    """A beta distribution, discretised on a lattice with its mean preserved.

    Args:
        mean: the mean, between 0 and 1.
        spread: the standard deviation, between 0 and that of a rate with this mean.
        unit: the number of steps of the lattice from 0 to 1.
        origin: the first point of the lattice, from -1/unit to 0.

    >>> round(beta(0.2, 0.1, 100).mean, 6), round(beta(0.2, 0.1, 100).spread, 3)
    (0.2, 0.1)

    Raises:
        InputError: no beta distribution has this mean and standard deviation.
    """
    _require_share("a mean", mean)
    most = math.sqrt(mean * (1 - mean))
    if not 0 < spread < most:
        raise InputError(f"expected a standard deviation between 0 and {most:.4g}, that of a rate; got {spread}")
    size = most**2 / spread**2 - 1
    first, second = mean * size, (1 - mean) * size
    grid = origin + np.arange(unit + 2) / unit
    mass = np.diff(incomplete_betas(first, second, grid))
    weight = mean * np.diff(incomplete_betas(first + 1, second, grid))
    # The mass of each cell is distributed to its two ends so that its mean is preserved.
    return _lattice_of_cells(mass, np.clip((weight - mass * grid[:-1]) * unit, 0, mass), unit, origin)


def empirical(values: Sequence[float], unit: int, origin: float = 0.0) -> Lattice:
    """The empirical distribution of values, discretised on a lattice with its mean preserved.

    >>> empirical([0.25, 0.5], 4).steps.tolist()
    [1, 2]

    Raises:
        InputError: there are none, or one is outside [0, 1].
    """
    seen = np.asarray(values, dtype=np.float64)
    if not seen.size or not bool(np.all((seen >= 0) & (seen <= 1))):
        raise InputError("expected at least one value, each between 0 and 1")
    places = (seen - origin) * unit
    low = np.clip(np.floor(places + 1e-12).astype(np.int64), 0, unit)
    mass, high = np.zeros(unit + 1), np.zeros(unit + 1)
    np.add.at(mass, low, 1 / seen.size)
    np.add.at(high, low, np.maximum(places - low, 0) / seen.size)
    return _lattice_of_cells(mass, high, unit, origin)


def _lattice_of_cells(mass: Floats, high: Floats, unit: int, origin: float) -> Lattice:
    """The lattice of cells with the given masses, of which the parts `high` go to the upper end."""
    chances = np.zeros(len(mass) + 1)
    chances[:-1] += mass - high
    chances[1:] += high
    (kept,) = np.nonzero(chances > 0)
    return Lattice(unit, kept, chances[kept] / chances.sum(), origin)


def tilted(lattice: Lattice, mean: float) -> Lattice:
    """The exponential tilt of a distribution: of those with another mean the nearest to it in relative entropy.

    Of all shifts by the same amount it is the hardest to distinguish from the baseline (Csiszar 1975, "I-divergence
    geometry of probability distributions", Annals of Probability 3). The tilt of a rate is a rate.

    >>> tilted(bernoulli(0.05), 0.08).chances.round(6).tolist()
    [0.92, 0.08]

    Raises:
        InputError: the mean is not between the least and the greatest value.
    """
    return _tilt(lattice, tilt_of(lattice, mean))


def tilt_of(lattice: Lattice, mean: float) -> float:
    """The exponent of `tilted`: observations x get the weight exp(exponent * x)."""
    kept = lattice.values[lattice.chances > 0]
    low, high = kept[0], kept[-1]
    if not low < mean < high:
        raise InputError(f"expected a mean between {low:g} and {high:g}, the least and the greatest value; got {mean}")
    below, above = -1.0, 1.0
    while _tilt(lattice, below).mean > mean:
        below *= 2
    while _tilt(lattice, above).mean < mean:
        above *= 2
    for _ in range(_ROUNDS):
        middle = (below + above) / 2
        below, above = (middle, above) if _tilt(lattice, middle).mean < mean else (below, middle)
        if above - below <= 1e-13 * max(1.0, abs(middle)):
            break
    return (below + above) / 2


def best_reference(lattice: Lattice, mean: float) -> float:
    """The reference value of the CUSUM chart that is optimal for a shift of the mean (Moustakides 1986, "Optimal
    stopping times for detecting changes in distributions", Annals of Statistics 14): the log-likelihood ratio of an
    observation is proportional to its distance from this value.

    >>> round(best_reference(bernoulli(0.05), 0.08), 4)
    0.0639
    """
    exponent = tilt_of(lattice, mean)
    top = float(np.max(exponent * lattice.values))
    return (top + math.log(float(lattice.chances @ np.exp(exponent * lattice.values - top)))) / exponent


def _tilt(lattice: Lattice, exponent: float) -> Lattice:
    powers = exponent * lattice.values
    weights = lattice.chances * np.exp(powers - powers.max())
    return Lattice(lattice.unit, lattice.steps, weights / weights.sum(), lattice.origin)


def incomplete_betas(first: float, second: float, at: Floats) -> Floats:
    """The regularised incomplete beta function at several points, by its continued fraction (DLMF 8.17.22), to about
    1e-12; 0 below 0 and 1 above 1.

    >>> incomplete_betas(2, 3, np.array([0.0, 0.4, 1.0])).round(6).tolist()
    [0.0, 0.5248, 1.0]
    """
    found = np.where(at >= 1, 1.0, 0.0)
    inside = (at > 0) & (at < 1)
    swapped = at > (first + 1) / (first + second + 2)  # the fraction converges fast below this point
    low, high = inside & ~swapped, inside & swapped
    found[low] = _beta_fraction(first, second, at[low])
    found[high] = 1 - _beta_fraction(second, first, 1 - at[high])
    return found


def _beta_fraction(first: float, second: float, at: Floats) -> Floats:
    log_front = (
        math.lgamma(first + second)
        - math.lgamma(first)
        - math.lgamma(second)
        + first * np.log(at)
        + second * np.log1p(-at)
    )
    # The modified Lentz method.
    tiny = 1e-300
    c, d = np.ones_like(at), 1 - (first + second) * at / (first + 1)
    d = 1 / np.where(np.abs(d) > tiny, d, tiny)
    value = d
    for m in range(1, _ROUNDS):
        for factor in (
            m * (second - m) / ((first + 2 * m - 1) * (first + 2 * m)),
            -(first + m) * (first + second + m) / ((first + 2 * m) * (first + 2 * m + 1)),
        ):
            term = factor * at
            d = 1 + term * d
            c = 1 + term / c
            d = 1 / np.where(np.abs(d) > tiny, d, tiny)
            c = np.where(np.abs(c) > tiny, c, tiny)
            value = value * (c * d)
        if bool(np.all(np.abs(c * d - 1) < 1e-14)):
            break
    return np.asarray(np.exp(log_front) * value / first)


def _require_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise InputError(f"expected {name} between 0 and 1, got {value}")
