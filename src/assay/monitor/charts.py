"""The charts of all series, as one value that is a function of the observations alone.

**Order.** Observations count in the order of their moment, then of their id, whatever order they come in. The state
holds up to which moment all of them were added. One that comes later although it belongs before that moment is late:
the state goes back to the last snapshot before it, and all that follows is added again, so that every replica comes to
the same sums as if it had come in time. What is later than `late_days` is remembered and counts in every rate, and
moves no chart any more; it is counted as `too_late`.

**Baselines.** A series learns from its first observations, or has a baseline by configuration. From then on its two
charts look for a rise and a fall. How well the baseline is known goes into the run lengths that are stated.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.observations import DIMENSIONS, METRICS, Observation, Series, series_of
from assay.stats import wilson
from assay.stats.drift import AfterAlarm, Chart, Design, Direction, Sum, design_chart, weighted_rate

MOST_SERIES: Final = 500
"""Series of one tenant that have charts; names that turn up beyond them have none."""
LEAST_LEARNED: Final = 50
"""Observations from which a baseline may be learned at the least."""
_DIGITS: Final = 3
"""Digits to which a learned baseline is rounded: designs are worked out once for many series."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What is watched, and how closely.

    Raises:
        InputError: a number is out of range, or a metric or policy is unknown.
    """

    metrics: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {
            "bad": ("all", "agent", "route", "model", "category", "judge", "golden"),
            "score": ("all", "agent"),
            "unfactual": ("judge",),
            "misjudged": ("golden",),
        }
    )
    """The dimensions that have charts, by metric."""
    shift: float = 0.03
    """The change that is to be found soon."""
    false_alarm_every: float = 10_000
    """Observations of a series between two false alarms of one side, in the mean."""
    baseline_observations: int = 1_000
    """From how many observations a series learns its baseline."""
    baseline_of: Mapping[str, int] = field(default_factory=dict)
    """The same by dimension, where it is another number: such as `golden: 200` for a golden set of 200 rows, whose
    first run is the baseline then."""
    baselines: Mapping[str, float] = field(default_factory=dict)
    """Known baselines by the key of a series, or by a metric for all of its series."""
    after: AfterAlarm = AfterAlarm.RESET
    settle_s: float = 60.0
    """Seconds after which an observation is taken to be the last of its moment."""
    late_days: float = 7.0
    """Days for which late observations still move charts."""
    window_hours: float = 168.0
    """How far back changes are looked for, and means compared."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.metrics) - set(METRICS))
        if unknown:
            raise InputError(f"expected metrics among {', '.join(METRICS)}; got {', '.join(unknown)}")
        if (
            not 0 < self.shift < 1
            or not 2 <= self.false_alarm_every <= 1e9
            or self.baseline_observations < LEAST_LEARNED
        ):
            raise InputError(
                "expected a shift between 0 and 1, 2 or more observations between false alarms and "
                f"{LEAST_LEARNED} or more for a baseline; got {self.shift}, {self.false_alarm_every} and "
                f"{self.baseline_observations}"
            )
        known = set(self.baseline_of) <= set(DIMENSIONS)
        if not known or not all(isinstance(one, int) and one >= LEAST_LEARNED for one in self.baseline_of.values()):
            raise InputError(f"expected numbers of observations from {LEAST_LEARNED} up by dimension for `baseline_of`")
        if not all(0 < one < 1 for one in self.baselines.values()):
            raise InputError("expected baselines between 0 and 1")
        if not (self.settle_s >= 0 and self.late_days >= 0 and self.window_hours > 0):
            raise InputError("expected times of 0 or more")

    def learns_from(self, series: Series) -> int:
        """From how many observations a series learns its baseline."""
        return self.baseline_of.get(series.dimension, self.baseline_observations)

    def baseline(self, series: Series) -> float | None:
        """The baseline of a series, where it is known."""
        return self.baselines.get(series.key, self.baselines.get(series.metric))


@dataclass(frozen=True, slots=True)
class SeriesState:
    """Where one series stands."""

    seen: int = 0
    """Observations of it."""
    total: float = 0.0
    """The sum of those that the baseline was learned from."""
    squares: float = 0.0
    """And of their squares."""
    baseline: float | None = None
    """None while it is learned."""
    spread: float | None = None
    up: Sum = field(default_factory=Sum)
    down: Sum = field(default_factory=Sum)
    since_up: int | None = None
    """The moment of the first observation after the upward sum was last at nought: the shift began there, if any."""
    since_down: int | None = None
    alarms: int = 0
    """How many there were."""

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "seen": self.seen,
            "total": self.total,
            "squares": self.squares,
            "baseline": self.baseline,
            "spread": self.spread,
            "up": [self.up.total, self.up.seen, self.up.alarmed],
            "down": [self.down.total, self.down.seen, self.down.alarmed],
            "since_up": self.since_up,
            "since_down": self.since_down,
            "alarms": self.alarms,
        }

    @classmethod
    def of_wire(cls, told: Mapping[str, Any]) -> "SeriesState":
        """Out of a JSON value."""
        return cls(**{**told, "up": Sum(*told["up"]), "down": Sum(*told["down"])})


@dataclass(frozen=True, slots=True)
class Charts:
    """Where all series of a tenant stand."""

    until: int = 0
    """All observations before this moment were added, in microseconds since 1970."""
    observations: int = 0
    """How many there were."""
    unsampled: int = 0
    """How many of them were not drawn."""
    too_late: int = 0
    """Observations that came too late to move a chart."""
    series: Mapping[str, SeriesState] = field(default_factory=dict)
    """By key."""

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "until": self.until,
            "observations": self.observations,
            "unsampled": self.unsampled,
            "too_late": self.too_late,
            "series": {key: state.wire() for key, state in sorted(self.series.items())},
        }

    @classmethod
    def of_wire(cls, told: Mapping[str, Any]) -> "Charts":
        """Out of a JSON value."""
        series = {key: SeriesState.of_wire(state) for key, state in told["series"].items()}
        return cls(**{**told, "series": series})


@dataclass(frozen=True, slots=True)
class Raised:
    """An alarm as a chart raises it."""

    series: Series
    direction: Direction
    at: int
    """The moment of the observation that raised it."""
    observation: str
    """Its id."""
    since: int
    """When the shift most probably began."""
    chart: Chart
    statistic: float
    """The sum, above the threshold of the chart."""
    run: int
    """Observations since then."""
    arl0: float
    arl1: float
    arl0_range: tuple[float, float] | None


def advanced(
    state: Charts, observations: Iterable[Observation], until: int, how: Watching
) -> tuple[Charts, list[Raised]]:
    """The state after further observations, and the alarms that they raise.

    Args:
        state: where it stands.
        observations: those from `state.until` on and before `until`, in any order.
        until: the moment before which all observations are known now.
        how: what is watched.

    Raises:
        InputError: an observation is of another time.
    """
    series, raised = dict(state.series), list[Raised]()
    # A category is a rate among all outputs: those without it count as well, once it is known.
    categories: dict[str, list[Series]] = {metric: [] for metric in how.metrics}
    for of in map(Series.of_key, sorted(series)):
        if of.dimension == "category" and of.metric in categories:
            categories[of.metric].append(of)
    count = unsampled = 0
    for one in sorted(observations, key=lambda one: (one.at, one.id)):
        if not state.until <= one.at < until:
            raise InputError(f"expected observations from {state.until} on and before {until}, got one of {one.at}")
        count += 1
        if not one.sampled:
            unsampled += 1
            continue
        known = (of for each in categories.values() for of in each)
        for of in list(dict.fromkeys([*series_of(one, how.metrics), *known])):
            if of.key not in series:
                if len(series) >= MOST_SERIES:
                    continue
                if of.dimension == "category":
                    categories[of.metric].append(of)
            value = of.value(one)
            if value is not None:
                series[of.key], alarms = _added(of, series.get(of.key, SeriesState()), one, value, how)
                raised += alarms
    made = Charts(until, state.observations + count, state.unsampled + unsampled, state.too_late, series)
    return made, raised


def _added(
    of: Series, state: SeriesState, one: Observation, value: float, how: Watching
) -> tuple[SeriesState, list[Raised]]:
    baseline = state.baseline if state.baseline is not None else how.baseline(of)
    if baseline is None:
        state = replace(state, seen=state.seen + 1, total=state.total + value, squares=state.squares + value * value)
        return (_learned(state) if state.seen >= how.learns_from(of) else state), []
    state = replace(state, seen=state.seen + 1, baseline=baseline)
    raised, changes = list[Raised](), dict[str, Any]()
    for direction in Direction:
        found = chart_for(of, state, how, direction)
        if found is None:
            continue
        before: Sum = getattr(state, direction.value)
        since = getattr(state, f"since_{direction.value}")
        after, new = before.added(found.chart, value, how.after)
        begun = one.at if before.total == 0 else since
        if new:
            raised.append(
                Raised(
                    of,
                    direction,
                    one.at,
                    one.id,
                    one.at if begun is None else begun,
                    found.chart,
                    found.chart.step(before.total, value),
                    before.seen + 1,
                    found.arl0,
                    found.arl1,
                    found.arl0_range,
                )
            )
        changes |= {direction.value: after, f"since_{direction.value}": begun if after.total > 0 else None}
    return replace(state, **changes, alarms=state.alarms + len(raised)), raised


def _learned(state: SeriesState) -> SeriesState:
    """The state with its baseline: half an observation each of 0 and 1 keeps it off both ends."""
    mean = (state.total + 0.5) / (state.seen + 1)
    variance = max(0.0, state.squares / state.seen - (state.total / state.seen) ** 2)
    baseline = float(f"{mean:.{_DIGITS}g}")
    return replace(state, baseline=baseline, spread=float(f"{max(math.sqrt(variance), 0.01):.{_DIGITS - 1}g}"))


def chart_for(of: Series, state: SeriesState, how: Watching, direction: Direction) -> Design | None:
    """The chart of one side of a series; none while its baseline is learned, or where it cannot move by so much."""
    if state.baseline is None:
        return None
    shifted = state.baseline + (how.shift if direction is Direction.UP else -how.shift)
    if not 0 < shifted < 1:
        return None
    kind = "rate" if of.dimension == "category" else METRICS[of.metric]
    learned = how.baseline(of) is None
    spread = None
    if kind == "score":
        most = math.sqrt(state.baseline * (1 - state.baseline))
        spread = min(0.99 * most, 0.5 * most if state.spread is None else state.spread)
    return _designed(
        state.baseline,
        how.shift,
        how.false_alarm_every,
        kind,
        direction,
        spread,
        how.learns_from(of) if learned else 0,
    )


@lru_cache(maxsize=4_096)
def _designed(
    baseline: float, shift: float, every: float, kind: str, direction: Direction, spread: float | None, learned: int
) -> Design:
    interval = None
    if learned:
        if kind == "rate":
            interval = wilson(min(learned, round(baseline * learned)), learned)
        else:
            half = 1.959964 * (spread or 0.0) / math.sqrt(learned)
            interval = (max(1e-6, baseline - half), min(1 - 1e-6, baseline + half))
    return design_chart(
        baseline,
        shift,
        every,
        kind=kind,
        direction=direction,
        spread=spread,
        baseline_range=interval,
        curve=False,
    )


def rate_of(of: Series, observations: Iterable[Observation]) -> dict[str, Any]:
    """The rate of a series among all outputs, estimated from those that were drawn, as a JSON value."""
    pairs = [(value, one.probability) for one in observations if (value := of.value(one)) is not None]
    found = weighted_rate([value for value, _ in pairs], [chance for _, chance in pairs])
    return {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "sampled": found.sampled,
        "outputs": found.outputs,
    }
