"""The CUSUM chart: a running sum that drifts up when a mean has shifted, and alarms at a threshold.

Page 1954, "Continuous inspection schemes", Biometrika 41. Upwards S = max(0, S + x - baseline - slack), downwards
S = max(0, S + baseline - slack - x); the alarm is where S exceeds the threshold. Each side is a value; a step gives the
next one, so that a chart is the same wherever and in how many pieces its observations are added.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.errors import InputError


class Direction(StrEnum):
    """Which shift a chart looks for."""

    UP = "up"
    """The mean rises."""
    DOWN = "down"
    """The mean falls."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One side of a CUSUM chart for observations in [0, 1].

    Raises:
        InputError: the baseline is outside [0, 1], the slack negative or the threshold not positive.
    """

    baseline: float
    """The mean while nothing has changed, in [0, 1]."""
    slack: float
    """How far from the baseline an observation has to be before it counts for a shift, 0 or more."""
    threshold: float
    """The alarm is where the sum is above it, in the unit of observations."""
    direction: Direction = Direction.UP

    def __post_init__(self) -> None:
        if not 0 <= self.baseline <= 1 or not 0 <= self.slack <= 1 or not 0 < self.threshold < math.inf:
            raise InputError(
                "expected a baseline and a slack from 0 to 1 and a threshold above 0, got "
                f"{self.baseline}, {self.slack} and {self.threshold}"
            )

    @property
    def reference(self) -> float:
        """The value that leaves the sum as it is."""
        return self.baseline + self.slack if self.direction is Direction.UP else self.baseline - self.slack

    def step(self, total: float, observation: float) -> float:
        """The sum after an observation.

        >>> chart = Chart(0.25, 0.25, 2.0)
        >>> chart.step(0.0, 1.0), chart.step(0.25, 0.0)
        (0.5, 0.0)
        """
        gain = observation - self.reference
        return max(0.0, total + (gain if self.direction is Direction.UP else -gain))

    def exceeded(self, total: float) -> bool:
        """Whether a sum is an alarm."""
        return total > self.threshold


class AfterAlarm(StrEnum):
    """What becomes of the sum at an alarm."""

    RESET = "reset"
    """It starts again from nought: each alarm is a new one."""
    HOLD = "hold"
    """It stays: the alarm lasts until the sum is back below the threshold or somebody resets it."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Where one side of a chart stands."""

    total: float = 0.0
    """The sum."""
    seen: int = 0
    """Observations since it was last at nought: since then the shift is most probably there."""
    alarmed: bool = False
    """Whether it is above the threshold after an alarm that holds."""

    def added(self, chart: Chart, observation: float, after: AfterAlarm = AfterAlarm.RESET) -> "tuple[Sum, bool]":
        """The sum after an observation, and whether a new alarm is raised by it.

        Raises:
            InputError: the observation is outside [0, 1].
        """
        if not 0 <= observation <= 1:
            raise InputError(f"expected an observation from 0 to 1, got {observation}")
        total = chart.step(self.total, observation)
        over = chart.exceeded(total)
        made = Sum(total, self.seen + 1 if total > 0 else 0, over)
        if over and after is AfterAlarm.RESET:
            made = replace(made, total=0.0, seen=0, alarmed=False)
        return made, over and not self.alarmed


@dataclass(frozen=True, slots=True)
class Crossing:
    """A new alarm within a stretch of observations."""

    index: int
    """Of the observation that raised it."""
    begun: int | None
    """Of the first observation after the sum was last at nought; none where that is before the stretch."""
    total: float
    """The sum, above the threshold."""
    run: int
    """Observations since then, this one among them."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """What became of one side of a chart over a stretch of observations."""

    after: Sum
    begun: int | None
    """Where the sum is not at nought, the index of the first observation after it last was; none where that is before
    the stretch."""
    crossings: tuple[Crossing, ...]


def passed(chart: Chart, before: Sum, observations: Sequence[float], after: AfterAlarm = AfterAlarm.RESET) -> Stretch:
    """The same as `Sum.added` for each observation in turn, in one loop: a record of years has millions of them.

    >>> passed(Chart(0.25, 0.25, 0.9), Sum(), [1.0, 1.0, 0.0]).crossings
    (Crossing(index=1, begun=0, total=1.0, run=2),)

    Raises:
        InputError: an observation is outside [0, 1].
    """
    if not all(0 <= one <= 1 for one in observations):
        raise InputError("expected observations from 0 to 1")
    total, seen, alarmed, begun = before.total, before.seen, before.alarmed, None
    reference, sign = chart.reference, 1.0 if chart.direction is Direction.UP else -1.0
    threshold, resets, crossings = chart.threshold, after is AfterAlarm.RESET, list[Crossing]()
    for index, observation in enumerate(observations):
        if total == 0.0:
            begun = index
        total += sign * (observation - reference)
        if total > 0.0:
            seen += 1
            over = total > threshold
            if over and not alarmed:
                crossings.append(Crossing(index, begun, total, seen))
            alarmed = over
            if over and resets:
                total, seen, alarmed, begun = 0.0, 0, False, None
        else:
            total, seen, alarmed, begun = 0.0, 0, False, None
    return Stretch(Sum(total, seen, alarmed), begun, tuple(crossings))


def sums(chart: Chart, observations: Iterable[float], after: AfterAlarm = AfterAlarm.RESET) -> Iterator[float]:
    """The sum after each observation, as it stood before a reset.

    >>> list(sums(Chart(0.0, 0.5, 0.9), [1, 1, 0, 1]))
    [0.5, 1.0, 0.0, 0.5]
    """
    state = Sum()
    for one in observations:
        total = chart.step(state.total, one)
        state, _ = state.added(chart, one, after)
        yield total
