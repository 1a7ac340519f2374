"""What `assay monitor` keeps, as panels and alerts show it: changes of the system, control charts and their alarms."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.monitor import AlarmState, Charts, Series, WatchSettings, chart_for
from assay.stats.drift import Direction
from assay.store.alerts import Alert, Urgency
from assay.store.monitoring import AlarmRow, read_alarms, read_changes, read_state
from assay.store.records import micros, moment_at

KIND: Final = "monitor.drift"
"""The kind of an alert about an alarm of a chart."""
_HOLDING: Final = [AlarmState.OPEN.value, AlarmState.ACKNOWLEDGED.value]
_UNSEEN: Final = [AlarmState.OPEN.value]
_MOST: Final = 100
"""Alarms that are looked at."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A change of the system that is marked in charts over time."""

    at: datetime
    kind: str
    """`prompt`, `model`, `index`, `tools`, `policy`, `verifier`, `code`."""
    ref: str
    """What it changed to, as whoever told of it calls it: foreign text."""


@dataclass(frozen=True, slots=True)
class ChartState:
    """Where one control chart stands."""

    series: str
    """Of what: `all`, or a kind and a name: foreign text."""
    metric: str
    direction: str
    """`up` or `down`."""
    statistic: float
    threshold: float
    alarm: datetime | None = None
    """Since when there is an alarm, where there is one that was not withdrawn."""


def read_markers(connection: Connection, tenant: str, since: datetime, until: datetime) -> tuple[Marker, ...]:
    """The changes of a stretch of time, in order."""
    found = read_changes(connection, tenant, micros(since), micros(until))
    return tuple(Marker(moment_at(row.at), row.kind, row.ref) for row in reversed(found))


def read_charts(connection: Connection, tenant: str, watch: WatchSettings | None = None) -> tuple[ChartState, ...]:
    """The charts of a tenant that know their baseline; none before the first turn of `assay monitor run`.

    Args:
        connection: one that sees one state of the database.
        tenant: whose.
        watch: how closely the turns watch; as by default.
    """
    state = read_state(connection, tenant)
    if state is None:
        return ()
    since = {(row.series, row.direction): moment_at(row.at) for row in read_alarms(connection, tenant, _HOLDING, _MOST)}
    charts = Charts.of_wire(state.body)
    return tuple(_states(charts, watch or WatchSettings(), since))


def _states(charts: Charts, watch: WatchSettings, since: dict[tuple[str, str], datetime]) -> Iterator[ChartState]:
    for key in sorted(charts.series):
        of, state = Series.of_key(key), charts.series[key]
        for direction in Direction:
            found = chart_for(of, state, watch, direction)
            if found is None:
                continue
            total = (state.up if direction is Direction.UP else state.down).total
            name = f"{of.dimension} {of.name}".strip()
            alarm = since.get((key, direction.value))
            yield ChartState(name, of.metric, direction.value, total, found.chart.threshold, alarm)


def alarm_alerts(connection: Connection, tenant: str) -> dict[str, Alert]:
    """The alerts that alarms of charts call for, by key: those that nobody has acknowledged."""
    return {_key(row): _alert(row) for row in read_alarms(connection, tenant, _UNSEEN, _MOST)}


_METRICS: Final = {
    "bad": "The rate of wrong outputs",
    "score": "The hallucination score",
    "unfaithful": "Unfaithfulness",
    "unfactual": "The share of facts without support",
    "withheld": "The rate of withheld outputs",
    "fabricated": "The rate of fabricated citations",
    "unretrieved": "The rate of retrievals of nothing",
}
"""What people read in place of the name of a metric."""
PREFIX: Final = "alarm:"
"""What the keys of these alerts begin with."""


def _key(row: AlarmRow) -> str:
    return f"{PREFIX}{row.id}"


def _alert(row: AlarmRow) -> Alert:
    of = Series.of_key(row.series)
    way = "rose" if row.direction == Direction.UP.value else "fell"
    # The name of a series is foreign text and alerts leave the house: its kind is told, and the page has the rest.
    whose = "" if of.dimension == "all" else f" of one {of.dimension}"
    what = _METRICS.get(of.metric, f"The metric {of.metric}")
    message = f"{what}{whose} {way} beyond what the baseline explains."
    facts = {"alarm": row.id, "dimension": of.dimension, "metric": of.metric, "direction": row.direction}
    return Alert(_key(row), KIND, message, Urgency.WARNING, facts)
