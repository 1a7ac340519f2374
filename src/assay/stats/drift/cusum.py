"""The CUSUM chart: a running sum that drifts up when a mean has shifted, and raises an alarm at a threshold.

Page 1954, "Continuous inspection schemes", Biometrika 41. Upward S = max(0, S + x - baseline - slack), downward
S = max(0, S + baseline - slack - x); an alarm is raised where S exceeds the threshold. The state of each side is a
value and a step returns the next one, so that the result does not depend on where, or in how many batches,
observations are added.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from assay.errors import InputError


class Direction(StrEnum):
    """The direction of the shift that a chart detects."""

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
    """How far from the baseline an observation has to be to count as evidence of a shift, 0 or more."""
    threshold: float
    """The sum above which an alarm is raised, in units of observations."""
    direction: Direction = Direction.UP

    def __post_init__(self) -> None:
        if not 0 <= self.baseline <= 1 or not 0 <= self.slack <= 1 or not 0 < self.threshold < math.inf:
            raise InputError(
                "expected a baseline and a slack from 0 to 1 and a threshold above 0, got "
                f"{self.baseline}, {self.slack} and {self.threshold}"
            )

    @property
    def reference(self) -> float:
        """The observation that leaves the sum unchanged."""
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
        """Whether a sum is above the threshold."""
        return total > self.threshold


class AfterAlarm(StrEnum):
    """What happens to the sum at an alarm."""

    RESET = "reset"
    """It restarts from zero: each alarm is a new one."""
    HOLD = "hold"
    """It is kept: the alarm lasts until the sum falls below the threshold or somebody resets it."""


@dataclass(frozen=True, slots=True)
class Sum:
    """The state of one side of a chart."""

    total: float = 0.0
    """The sum."""
    seen: int = 0
    """The number of observations since it was last zero, when a shift most probably began."""
    alarmed: bool = False
    """Whether it is above the threshold after an alarm that holds."""

    def added(self, chart: Chart, observation: float, after: AfterAlarm = AfterAlarm.RESET) -> "tuple[Sum, bool]":
        """The state after an observation, and whether the observation raises a new alarm.

        Raises:
            InputError: the observation is outside [0, 1].
        """
        if not 0 <= observation <= 1:
            raise InputError(f"expected an observation from 0 to 1, got {observation}")
        total = chart.step(self.total, observation)
        exceeded = chart.exceeded(total)
        result = Sum(total, self.seen + 1 if total > 0 else 0, exceeded)
        if exceeded and after is AfterAlarm.RESET:
            result = replace(result, total=0.0, seen=0, alarmed=False)
        return result, exceeded and not self.alarmed


@dataclass(frozen=True, slots=True)
class Crossing:
    """A new alarm within a batch of observations."""

    index: int
    """The index of the observation that raised it."""
    begun: int | None
    """The index of the first observation after the sum was last zero; none where that was before the batch."""
    total: float
    """The sum, above the threshold."""
    run: int
    """The number of observations since then, including this one."""


@dataclass(frozen=True, slots=True)
class ChartRun:
    """The result of passing a batch of observations through one side of a chart."""

    after: Sum
    """The state after the batch."""
    begun: int | None
    """If the sum is not zero, the index of the first observation after it last was; none where that was before the
    batch."""
    crossings: tuple[Crossing, ...]
    """The alarms."""


def run_chart(
    chart: Chart, before: Sum, observations: Sequence[float], after: AfterAlarm = AfterAlarm.RESET
) -> ChartRun:
    """Passes a batch of observations through one side of a chart.

    The result equals that of `Sum.added` for each observation in turn, but one loop is much faster: a record of years
    has millions of observations.

    >>> run_chart(Chart(0.25, 0.25, 0.9), Sum(), [1.0, 1.0, 0.0]).crossings
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
    return ChartRun(Sum(total, seen, alarmed), begun, tuple(crossings))


def sums(chart: Chart, observations: Iterable[float], after: AfterAlarm = AfterAlarm.RESET) -> Iterator[float]:
    """The sum after each observation, before any reset.

    >>> list(sums(Chart(0.0, 0.5, 0.9), [1, 1, 0, 1]))
    [0.5, 1.0, 0.0, 0.5]
    """
    state = Sum()
    for one in observations:
        total = chart.step(state.total, one)
        state, _ = state.added(chart, one, after)
        yield total
