"""The charts of all series, as one value that is a function of the observations alone.

**Order.** Observations count in the order of their moment, then of their id, in whatever order they arrive. The state
records the moment up to which all of them were added. An observation that arrives later but belongs before that moment
is late: the state goes back to the last snapshot before it and everything after that is added again, so that every
replica has the same sums as if it had arrived in time. An observation that is later than `late_days` counts in every
rate but moves no chart; it is counted as `too_late`.

**Baselines.** A series learns its baseline from its first observations, or has one by configuration. From then on its
two charts look for a rise and a fall. The uncertainty of a learned baseline is part of the stated run lengths. Where
another baseline is configured later, it counts from the next observation on, and both sums begin at zero.

**Cost.** Observations are first sorted into columns by series; each column then passes through its charts in one loop.
A chart is designed when its baseline becomes known and is kept in the state from then on.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.designs import DesignedChart, designed
from assay.monitor.observations import DIMENSIONS, METRICS, Observation, Series, series_of
from assay.monitor.sections import require_number
from assay.stats.drift import AfterAlarm, Chart, Direction, Sum, run_chart, weighted_rate

MOST_SERIES: Final = 500
"""The most series of one tenant that have charts; further names have none."""
LEAST_LEARNED: Final = 50
"""The least observations from which a baseline may be learned."""
_BASELINE_DIGITS: Final = 3
"""Significant digits of a learned baseline: rounding lets many series share one design."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Which series have charts, and how sensitive they are.

    Raises:
        InputError: a number is out of range, or a metric or dimension is unknown.
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
    """The change of the mean that the charts are designed to detect."""
    false_alarm_every: float = 10_000
    """The mean number of observations of a series between two false alarms of one side."""
    baseline_observations: int = 1_000
    """The number of observations from which a series learns its baseline."""
    baseline_of: Mapping[str, int] = field(default_factory=dict)
    """Other numbers of observations by dimension: such as `golden: 200` for a golden set of 200 rows, whose first run
    then is the baseline."""
    baselines: Mapping[str, float] = field(default_factory=dict)
    """Known baselines by the key of a series, or by a metric for all of its series."""
    after: AfterAlarm = AfterAlarm.RESET
    """What happens to a sum at an alarm."""
    settle_s: float = 60.0
    """Seconds after which no further observation of a moment is expected."""
    late_days: float = 7.0
    """Days for which late observations still move charts."""
    window_hours: float = 168.0
    """The length of the window in which changes are looked for and means are compared, in hours."""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.metrics) - set(METRICS))
        if unknown:
            raise InputError(f"expected metrics among {', '.join(METRICS)}; got {', '.join(unknown)}")
        self._require_numbers()
        known = set(self.baseline_of) <= set(DIMENSIONS)
        if not known or not all(isinstance(one, int) and one >= LEAST_LEARNED for one in self.baseline_of.values()):
            raise InputError(f"expected numbers of observations from {LEAST_LEARNED} up by dimension for `baseline_of`")
        if not all(0 < one < 1 for one in self.baselines.values()):
            raise InputError("expected baselines between 0 and 1")

    def _require_numbers(self) -> None:
        require_number("shift", self.shift, 0 < self.shift < 1, "a number above 0 and below 1", "0.03")
        every, learned = self.false_alarm_every, self.baseline_observations
        require_number("false_alarm_every", every, 2 <= every <= 1e9, "a number from 2 to 1,000,000,000", "10000")
        least = f"a finite number of {LEAST_LEARNED} or more"
        require_number("baseline_observations", learned, LEAST_LEARNED <= learned < math.inf, least, "1000")
        zero_or_more = "a finite number of 0 or more"
        require_number("settle_s", self.settle_s, 0 <= self.settle_s < math.inf, zero_or_more, "60")
        require_number("late_days", self.late_days, 0 <= self.late_days < math.inf, zero_or_more, "7")
        positive = "a finite number above 0"
        require_number("window_hours", self.window_hours, 0 < self.window_hours < math.inf, positive, "168")

    def learns_from(self, series: Series) -> int:
        """The number of observations from which a series learns its baseline."""
        return self.baseline_of.get(series.dimension, self.baseline_observations)

    def baseline(self, series: Series) -> float | None:
        """The configured baseline of a series; none if it has to be learned."""
        return self.baselines.get(series.key, self.baselines.get(series.metric))


@dataclass(frozen=True, slots=True)
class SeriesState:
    """The state of one series."""

    seen: int = 0
    """The number of its observations."""
    total: float = 0.0
    """The sum of the observations that the baseline was learned from."""
    squares: float = 0.0
    """The sum of their squares."""
    baseline: float | None = None
    """None while it is being learned."""
    spread: float | None = None
    """The standard deviation of the observations that the baseline was learned from; none where it was configured."""
    up: Sum = field(default_factory=Sum)
    down: Sum = field(default_factory=Sum)
    since_up: int | None = None
    """The moment of the first observation after the upward sum was last zero: a shift, if any, began there."""
    since_down: int | None = None
    """The same for the downward sum."""
    alarms: int = 0
    """The number of its alarms."""
    designs: Mapping[str, DesignedChart] = field(default_factory=dict)
    """Its charts by direction, as designed; none for a direction in which the mean cannot move by the shift."""

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
        designs = {name: DesignedChart.of_wire(one, Direction(name)) for name, one in wire.get("designs", {}).items()}
        return cls(**{**wire, "up": Sum(*wire["up"]), "down": Sum(*wire["down"]), "designs": designs})


@dataclass(frozen=True, slots=True)
class Charts:
    """The state of all series of a tenant."""

    until: int = 0
    """All observations before this moment were added, in microseconds since 1970."""
    observations: int = 0
    """The number of observations that were added."""
    unsampled: int = 0
    """How many of them were not sampled."""
    too_late: int = 0
    """Observations that arrived too late to move a chart."""
    series: Mapping[str, SeriesState] = field(default_factory=dict)
    """The state of each series, by its key."""

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
class RaisedAlarm:
    """An alarm as raised by a chart."""

    series: Series
    direction: Direction
    at: int
    """The moment of the observation that raised it."""
    observation: str
    """Its id."""
    since: int
    """The moment at which the shift most probably began."""
    chart: Chart
    statistic: float
    """The sum, above the threshold of the chart."""
    run: int
    """The number of observations since then."""
    arl0: float
    """The mean number of observations between false alarms."""
    arl1: float
    """The mean number of observations until the alarm if the shift were there from the start."""
    arl0_range: tuple[float, float] | None
    """The range of `arl0` over the interval of a learned baseline."""


def advanced(
    state: Charts, observations: Iterable[Observation], until: int, how: WatchSettings
) -> tuple[Charts, list[RaisedAlarm]]:
    """Advances the charts by further observations.

    Args:
        state: the state so far.
        observations: all observations from `state.until` on and before `until`, in any order.
        until: the moment before which all observations are known now, in microseconds since 1970.
        how: which series have charts.

    Returns:
        The new state and the alarms that were raised, in the order of their observations.

    Raises:
        InputError: an observation is outside of these moments.
    """
    ordered = sorted(observations, key=lambda one: (one.at, one.id))
    if ordered and not state.until <= ordered[0].at <= ordered[-1].at < until:
        wrong = ordered[0].at if ordered[0].at < state.until else ordered[-1].at
        raise InputError(f"expected observations from {state.until} on and before {until}, got one of {wrong}")
    sampled = [one for one in ordered if one.sampled]
    series, raised = dict(state.series), list[RaisedAlarm]()
    for column in _columns(state.series, sampled, how.metrics):
        key = column.series.key
        series[key], alarms = _advance_series(column, series.get(key, SeriesState()), how)
        raised += alarms
    raised.sort(key=lambda one: (one.at, one.observation, one.series.key))
    unsampled = state.unsampled + len(ordered) - len(sampled)
    return Charts(until, state.observations + len(ordered), unsampled, state.too_late, series), raised


@dataclass(frozen=True, slots=True)
class _Column:
    """The observations of one series, with their values in it."""

    series: Series
    observations: list[Observation] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


def _columns(
    known_series: Mapping[str, SeriesState], observations: Sequence[Observation], metrics: Mapping[str, tuple[str, ...]]
) -> list[_Column]:
    """Observations by series, in the order in which the series first occur."""
    columns = dict[str, _Column]()
    # A category is a rate among all outputs: once it is known, outputs without it count as 0.
    categories: dict[str, dict[str, _Column]] = {metric: {} for metric in metrics}
    for series in map(Series.of_key, sorted(known_series)):
        if series.dimension == "category" and series.metric in categories:
            categories[series.metric][series.name] = columns[series.key] = _Column(series)
    count = len(known_series)
    # Outputs with the same dimensions, categories and metrics belong to the same series.
    columns_by_kind = dict[tuple[Any, ...], list[_Column]]()
    for observation in observations:
        kind = (
            observation.cadence,
            *map(observation.belongs.get, _NAMED_DIMENSIONS),
            observation.categories,
            *observation.values,
        )
        matching = columns_by_kind.get(kind)
        if matching is None:
            matching = columns_by_kind[kind] = []
            for series in series_of(observation, metrics):
                if series.key not in columns:
                    if series.key not in known_series:
                        if count >= MOST_SERIES:
                            continue
                        count += 1
                    columns[series.key] = _Column(series)
                    if series.dimension == "category":
                        categories[series.metric][series.name] = columns[series.key]
                if series.dimension != "category":
                    matching.append(columns[series.key])
        values = observation.values
        for column in matching:
            column.observations.append(observation)
            column.values.append(values[column.series.metric])
        if not observation.cadence:
            for metric, by_name in categories.items():
                if metric in values:
                    for name, column in by_name.items():
                        column.observations.append(observation)
                        column.values.append(1.0 if name in observation.categories else 0.0)
    return list(columns.values())


_NAMED_DIMENSIONS: Final = tuple(name for name in DIMENSIONS if name not in ("all", "category"))


def _advance_series(
    column: _Column, state: SeriesState, watching: WatchSettings
) -> tuple[SeriesState, list[RaisedAlarm]]:
    """The state of a series after further observations, and the alarms that they raise."""
    series, values = column.series, column.values
    if values:
        state = _with_configured_baseline(state, watching.baseline(series))
    learned_until, baseline = 0, state.baseline
    while baseline is None and learned_until < len(values):
        value, learned_until = values[learned_until], learned_until + 1
        state = replace(state, seen=state.seen + 1, total=state.total + value, squares=state.squares + value * value)
        if state.seen >= watching.learns_from(series):
            state = _with_baseline(state)
            baseline = state.baseline
    if baseline is None or learned_until == len(values):
        return state, []
    designs = {one.value: found for one in Direction if (found := chart_for(series, state, watching, one)) is not None}
    observations, rest = column.observations[learned_until:], values[learned_until:]
    raised, changes = list[RaisedAlarm](), dict[str, Any]()
    for direction in Direction:
        design = designs.get(direction.value)
        if design is None:
            continue
        start: Sum = getattr(state, direction.value)
        since: int | None = getattr(state, f"since_{direction.value}")
        chart_run = run_chart(design.chart, start, rest, watching.after)
        for crossing in chart_run.crossings:
            observation = observations[crossing.index]
            began = since if crossing.begun is None else observations[crossing.begun].at
            raised.append(
                RaisedAlarm(
                    series,
                    direction,
                    observation.at,
                    observation.id,
                    observation.at if began is None else began,
                    design.chart,
                    crossing.total,
                    crossing.run,
                    design.arl0,
                    design.arl1,
                    design.arl0_range,
                )
            )
        if chart_run.after.total == 0:
            since = None
        elif chart_run.begun is not None:
            since = observations[chart_run.begun].at
        changes |= {direction.value: chart_run.after, f"since_{direction.value}": since}
    alarms = state.alarms + len(raised)
    return replace(state, **changes, seen=state.seen + len(rest), designs=designs, alarms=alarms), raised


def _with_configured_baseline(state: SeriesState, configured: float | None) -> SeriesState:
    """The state with the configured baseline, if there is one.

    Its sums are of distances from the baseline it had, so that those of another one begin at zero.
    """
    if configured is None or configured == state.baseline:
        return state
    return replace(
        state, baseline=configured, spread=None, up=Sum(), down=Sum(), since_up=None, since_down=None, designs={}
    )


def _with_baseline(state: SeriesState) -> SeriesState:
    """The state with its learned baseline. Half an observation each of 0 and 1 is added to keep it away from both."""
    mean = (state.total + 0.5) / (state.seen + 1)
    variance = max(0.0, state.squares / state.seen - (state.total / state.seen) ** 2)
    baseline = float(f"{mean:.{_BASELINE_DIGITS}g}")
    return replace(state, baseline=baseline, spread=float(f"{max(math.sqrt(variance), 0.01):.{_BASELINE_DIGITS - 1}g}"))


def chart_for(of: Series, state: SeriesState, how: WatchSettings, direction: Direction) -> DesignedChart | None:
    """The chart of one side of a series: taken from the state if it was designed for the current settings.

    Returns:
        None while the baseline is being learned, or where the mean cannot move by the shift.
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
    # A learned baseline has a spread. Until the next observation the chart is that of the baseline in the state.
    is_learned = state.spread is not None and how.baseline(of) != state.baseline
    learned = how.learns_from(of) if is_learned else 0
    key = (state.baseline, how.shift, how.false_alarm_every, kind, spread, learned)
    known = state.designs.get(direction.value)
    return known if known is not None and known.key == key else designed(key, direction)


def rate_of(of: Series, observations: Iterable[Observation]) -> dict[str, Any]:
    """The rate of a series among all outputs, estimated from the sampled ones, as a JSON value."""
    pairs = [(value, one.probability) for one in observations if (value := of.value(one)) is not None]
    return rate_json([value for value, _ in pairs], [chance for _, chance in pairs])


def rate_json(values: Sequence[float], probabilities: Sequence[float]) -> dict[str, Any]:
    """A rate among all outputs, estimated from sampled values and their sampling probabilities, as a JSON value."""
    rate = weighted_rate(values, probabilities)
    return {
        "estimate": rate.estimate,
        "low": rate.low,
        "high": rate.high,
        "sampled": rate.sampled,
        "outputs": rate.outputs,
    }
