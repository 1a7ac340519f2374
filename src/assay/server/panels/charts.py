"""Changes of the system, control charts and their alarms, as `assay monitor` stores them, for panels and alerts."""

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

ALARM_KIND: Final = "monitor.drift"
"""The kind of an alert about an alarm of a control chart."""
ALARM_KEY_PREFIX: Final = "alarm:"
"""The prefix of the keys of these alerts."""
_STANDING: Final = [AlarmState.OPEN.value, AlarmState.ACKNOWLEDGED.value]
_UNACKNOWLEDGED: Final = [AlarmState.OPEN.value]
MOST_ALARMS: Final = 100
"""Alarms that are read at most."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A change of the system that is marked in charts over time."""

    at: datetime
    kind: str
    """`prompt`, `model`, `index`, `tools`, `policy`, `verifier`, `code`."""
    ref: str
    """What it changed to, in the words of the person or program that reported it: foreign text."""


@dataclass(frozen=True, slots=True)
class ChartState:
    """The current state of one control chart."""

    series: str
    """The series that it follows: `all`, or a dimension and a name, such as `agent billing`: foreign text."""
    metric: str
    direction: str
    """`up` or `down`."""
    statistic: float
    threshold: float
    alarm: datetime | None = None
    """Since when an alarm is open or acknowledged; `None` where there is none."""


def read_markers(connection: Connection, tenant: str, since: datetime, until: datetime) -> tuple[Marker, ...]:
    """The changes of the system between two moments, the earliest first."""
    newest_first = read_changes(connection, tenant, micros(since), micros(until))
    return tuple(Marker(moment_at(row.at), row.kind, row.ref) for row in reversed(newest_first))


def read_charts(connection: Connection, tenant: str, settings: WatchSettings | None = None) -> tuple[ChartState, ...]:
    """The control charts of a tenant that have a baseline; empty before the first `assay monitor run`.

    Args:
        connection: one that sees a single state of the database.
        tenant: the tenant.
        settings: which metrics are watched, and how closely; the defaults of `WatchSettings` if left out.
    """
    state = read_state(connection, tenant)
    if state is None:
        return ()
    since = {
        (row.series, row.direction): moment_at(row.at)
        for row in read_alarms(connection, tenant, _STANDING, MOST_ALARMS)
    }
    charts = Charts.of_wire(state.body)
    return tuple(_states(charts, settings or WatchSettings(), since))


def _states(charts: Charts, settings: WatchSettings, since: dict[tuple[str, str], datetime]) -> Iterator[ChartState]:
    for key in sorted(charts.series):
        series, state = Series.of_key(key), charts.series[key]
        for direction in Direction:
            found = chart_for(series, state, settings, direction)
            if found is None:
                continue
            statistic = (state.up if direction is Direction.UP else state.down).total
            name = f"{series.dimension} {series.name}".strip()
            alarm = since.get((key, direction.value))
            yield ChartState(name, series.metric, direction.value, statistic, found.chart.threshold, alarm)


def alarm_alerts(connection: Connection, tenant: str) -> dict[str, Alert]:
    """The alerts to raise for alarms of control charts that nobody has acknowledged, by the key of the alert.

    Only the newest `MOST_ALARMS` alarms are read: of so many, there may be others.
    """
    return {_key(row): _alert(row) for row in read_alarms(connection, tenant, _UNACKNOWLEDGED, MOST_ALARMS)}


_METRICS: Final = {
    "bad": "The rate of wrong outputs",
    "score": "The hallucination score",
    "unfaithful": "Unfaithfulness",
    "unfactual": "The share of facts without support",
    "withheld": "The rate of withheld outputs",
    "fabricated": "The rate of fabricated citations",
    "unretrieved": "The rate of retrievals of nothing",
}
"""The metrics as messages of alerts call them."""


def _key(row: AlarmRow) -> str:
    return f"{ALARM_KEY_PREFIX}{row.id}"


def _alert(row: AlarmRow) -> Alert:
    series = Series.of_key(row.series)
    moved = "rose" if row.direction == Direction.UP.value else "fell"
    # The name of a series is foreign text, and alerts are sent to other systems: they name its dimension alone.
    of_what = "" if series.dimension == "all" else f" of one {series.dimension}"
    metric = _METRICS.get(series.metric, f"The metric {series.metric}")
    message = f"{metric}{of_what} {moved} beyond what the baseline explains."
    facts = {"alarm": row.id, "dimension": series.dimension, "metric": series.metric, "direction": row.direction}
    return Alert(_key(row), ALARM_KIND, message, Urgency.WARNING, facts)
