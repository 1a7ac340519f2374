"""The charts of all series, as one value that is a function of the observations alone.

**Order.** Observations count in the order of their moment, then of their id, whatever order they come in. The state
holds up to which moment all of them were added. One that comes later although it belongs before that moment is late:
the state goes back to the last snapshot before it, and all that follows is added again, so that every replica comes to
the same sums as if it had come in time. What is later than `late_days` is remembered and counts in every rate, and
moves no chart any more; it is counted as `too_late`.

**Baselines.** A series learns from its first observations, or has a baseline by configuration. From then on its two
charts look for a rise and a fall. How well the baseline is known goes into the run lengths that are stated.

**Cost.** Observations are sorted into columns of their series first; each column then passes its charts in one loop. A
chart is designed when its baseline becomes known and stands in the state from then on.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.designs import Stated, designed
from assay.monitor.observations import DIMENSIONS, METRICS, Observation, Series, series_of
from assay.stats.drift import AfterAlarm, Chart, Direction, Sum, passed, weighted_rate

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
    designs: Mapping[str, Stated] = field(default_factory=dict)
    """Its charts by direction, as they were designed; none where the mean cannot move by so much."""

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
            "designs": {direction: one.wire() for direction, one in sorted(self.designs.items())},
        }

    @classmethod
    def of_wire(cls, wire: Mapping[str, Any]) -> "SeriesState":
        """Out of a JSON value."""
        designs = {name: Stated.of_wire(one, Direction(name)) for name, one in wire.get("designs", {}).items()}
        return cls(**{**wire, "up": Sum(*wire["up"]), "down": Sum(*wire["down"]), "designs": designs})


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
    def of_wire(cls, wire: Mapping[str, Any]) -> "Charts":
        """Out of a JSON value."""
        series = {key: SeriesState.of_wire(state) for key, state in wire["series"].items()}
        return cls(**{**wire, "series": series})


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
    ordered = sorted(observations, key=lambda one: (one.at, one.id))
    if ordered and not state.until <= ordered[0].at <= ordered[-1].at < until:
        wrong = ordered[0].at if ordered[0].at < state.until else ordered[-1].at
        raise InputError(f"expected observations from {state.until} on and before {until}, got one of {wrong}")
    sampled = [one for one in ordered if one.sampled]
    series, raised = dict(state.series), list[Raised]()
    for column in _columns(state.series, sampled, how.metrics):
        key = column.of.key
        series[key], alarms = _moved(column, series.get(key, SeriesState()), how)
        raised += alarms
    raised.sort(key=lambda one: (one.at, one.observation, one.series.key))
    unsampled = state.unsampled + len(ordered) - len(sampled)
    return Charts(until, state.observations + len(ordered), unsampled, state.too_late, series), raised


@dataclass(frozen=True, slots=True)
class _Column:
    """The observations of one series, and what they say in it."""

    of: Series
    seen: list[Observation] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


def _columns(
    known: Mapping[str, SeriesState], observations: Sequence[Observation], metrics: Mapping[str, tuple[str, ...]]
) -> list[_Column]:
    """Observations by series, the series in the order in which they turn up."""
    columns = dict[str, _Column]()
    # A category is a rate among all outputs: those without it count as well, once it is known.
    categories: dict[str, dict[str, _Column]] = {metric: {} for metric in metrics}
    for of in map(Series.of_key, sorted(known)):
        if of.dimension == "category" and of.metric in categories:
            categories[of.metric][of.name] = columns[of.key] = _Column(of)
    count = len(known)
    # Outputs that belong to the same and have the same metrics are of the same series.
    alike = dict[tuple[Any, ...], list[_Column]]()
    for one in observations:
        kind = (one.cadence, *map(one.belongs.get, _NAMED), one.categories, *one.values)
        found = alike.get(kind)
        if found is None:
            found = alike[kind] = []
            for of in series_of(one, metrics):
                if of.key not in columns:
                    if of.key not in known:
                        if count >= MOST_SERIES:
                            continue
                        count += 1
                    columns[of.key] = _Column(of)
                    if of.dimension == "category":
                        categories[of.metric][of.name] = columns[of.key]
                if of.dimension != "category":
                    found.append(columns[of.key])
        values = one.values
        for column in found:
            column.seen.append(one)
            column.values.append(values[column.of.metric])
        if not one.cadence:
            for metric, by_name in categories.items():
                if metric in values:
                    for name, column in by_name.items():
                        column.seen.append(one)
                        column.values.append(1.0 if name in one.categories else 0.0)
    return list(columns.values())


_NAMED: Final = tuple(name for name in DIMENSIONS if name not in ("all", "category"))


def _moved(column: _Column, state: SeriesState, how: Watching) -> tuple[SeriesState, list[Raised]]:
    """The state of a series after further observations, and the alarms that they raise."""
    of, values = column.of, column.values
    begin, known = 0, state.baseline if state.baseline is not None else how.baseline(of)
    while known is None and begin < len(values):
        value, begin = values[begin], begin + 1
        state = replace(state, seen=state.seen + 1, total=state.total + value, squares=state.squares + value * value)
        if state.seen >= how.learns_from(of):
            state = _learned(state)
            known = state.baseline
    if known is None or begin == len(values):
        return state, []
    state = replace(state, baseline=known)
    designs = {one.value: found for one in Direction if (found := chart_for(of, state, how, one)) is not None}
    seen, rest = column.seen[begin:], values[begin:]
    raised, changes = list[Raised](), dict[str, Any]()
    for direction in Direction:
        design = designs.get(direction.value)
        if design is None:
            continue
        before: Sum = getattr(state, direction.value)
        since: int | None = getattr(state, f"since_{direction.value}")
        after = passed(design.chart, before, rest, how.after)
        for crossing in after.crossings:
            one = seen[crossing.index]
            begun = since if crossing.begun is None else seen[crossing.begun].at
            raised.append(
                Raised(
                    of,
                    direction,
                    one.at,
                    one.id,
                    one.at if begun is None else begun,
                    design.chart,
                    crossing.total,
                    crossing.run,
                    design.arl0,
                    design.arl1,
                    design.arl0_range,
                )
            )
        if after.after.total == 0:
            since = None
        elif after.begun is not None:
            since = seen[after.begun].at
        changes |= {direction.value: after.after, f"since_{direction.value}": since}
    alarms = state.alarms + len(raised)
    return replace(state, **changes, seen=state.seen + len(rest), designs=designs, alarms=alarms), raised


def _learned(state: SeriesState) -> SeriesState:
    """The state with its baseline: half an observation each of 0 and 1 keeps it off both ends."""
    mean = (state.total + 0.5) / (state.seen + 1)
    variance = max(0.0, state.squares / state.seen - (state.total / state.seen) ** 2)
    baseline = float(f"{mean:.{_DIGITS}g}")
    return replace(state, baseline=baseline, spread=float(f"{max(math.sqrt(variance), 0.01):.{_DIGITS - 1}g}"))


def chart_for(of: Series, state: SeriesState, how: Watching, direction: Direction) -> Stated | None:
    """The chart of one side of a series: as it stands in the state, where it was designed for what is watched now.

    None while its baseline is learned, or where it cannot move by so much.
    """
    if state.baseline is None:
        return None
    shifted = state.baseline + (how.shift if direction is Direction.UP else -how.shift)
    if not 0 < shifted < 1:
        return None
    kind = "rate" if of.dimension == "category" else METRICS[of.metric]
    spread = None
    if kind == "score":
        most = math.sqrt(state.baseline * (1 - state.baseline))
        spread = min(0.99 * most, 0.5 * most if state.spread is None else state.spread)
    learned = how.learns_from(of) if how.baseline(of) is None else 0
    asked = (state.baseline, how.shift, how.false_alarm_every, kind, spread, learned)
    there = state.designs.get(direction.value)
    return there if there is not None and there.asked == asked else designed(asked, direction)


def rate_of(of: Series, observations: Iterable[Observation]) -> dict[str, Any]:
    """The rate of a series among all outputs, estimated from those that were drawn, as a JSON value."""
    pairs = [(value, one.probability) for one in observations if (value := of.value(one)) is not None]
    return rate_json([value for value, _ in pairs], [chance for _, chance in pairs])


def rate_json(values: Sequence[float], probabilities: Sequence[float]) -> dict[str, Any]:
    """A rate among all outputs, estimated from values and the probabilities they were drawn with, as a JSON value."""
    found = weighted_rate(values, probabilities)
    return {
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "sampled": found.sampled,
        "outputs": found.outputs,
    }
