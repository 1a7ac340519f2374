"""A turn of the monitor: records new observations, detects changes, advances the charts, and explains alarms.

A turn may be interrupted at any time and started again, and several processes may take turns at the same time: the
state after each step is a function of the record, so that nothing is done twice or left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from assay.monitor import (
    CADENCES,
    METRICS,
    WORST,
    Alarm,
    AlarmState,
    Charts,
    MonitorSettings,
    Observation,
    RaisedAlarm,
    Sampling,
    Series,
    SystemChange,
    advanced,
    alarm_of,
    attribute,
    chart_for,
    number_or_none,
    rate_json,
    rate_of,
)
from assay.server.cadence.passing import notice
from assay.server.monitoring.budget import Budgeting
from assay.server.monitoring.rows import observation_of
from assay.server.monitoring.windows import Windows
from assay.stats import wilson
from assay.stats.drift import Direction, calibration_drift, difference
from assay.store.db import Store
from assay.store.monitoring import (
    MOST_READ,
    AlarmRow,
    ChangeRow,
    ChartsMovedError,
    StoredState,
    add_changes,
    advance_charts,
    corrected_outputs,
    detected_changes,
    judged_scores,
    observe,
    read_alarms,
    read_changes,
    read_observations,
    read_series,
    read_state,
    read_timed_work,
    rewind_charts,
)
from assay.store.records import micros
from assay.store.reviews import user_scores

MOST_COMPARED: Final = 50_000
"""The most observations of a series, the latest ones, from which the cause of an alarm is found."""
MOST_BESIDE: Final = 5_000
"""The most observations on each side of a cause for comparing the means now."""
_HOUR: Final = 3_600_000_000
_DAY: Final = 24 * _HOUR


@dataclass(frozen=True, slots=True)
class Turn:
    """The result of a turn."""

    observed: int
    """Outputs that were observed for the first time."""
    added: int
    """Observations that were added to the charts; those that were added again after late ones count again."""
    alarms: int
    """Alarms that were raised."""
    changes: int
    """Changes that were detected."""
    until: int
    """All observations before this moment are in the charts now, in microseconds since 1970."""


class Monitor:
    """The monitor of the tenants of a store."""

    def __init__(self, store: Store, settings: MonitorSettings | None = None) -> None:
        """Takes the store, and the settings or their defaults."""
        self._store = store
        self._settings = settings or MonitorSettings()

    def run(self, tenant: str, until: datetime | None = None, *, rebuild: bool = False) -> Turn:
        """Takes a turn for a tenant.

        Args:
            tenant: the tenant.
            until: the moment up to which observations are added, less the time to settle; by default now.
            rebuild: whether the whole record is searched for missing observations.

        Raises:
            StoreError: the database cannot be read or written; earlier steps of the turn remain done.
        """
        store, watch = self._store, self._settings.watch
        sampling = self._settings.sampling
        if sampling is not None:
            sampling = Budgeting(store, self._settings.budget).sampled(tenant, sampling)
        observed = observe(store, tenant, _sampler_of(sampling), rebuild=rebuild)
        with store.reading(tenant) as connection:
            seen = detected_changes(connection, tenant)
        changes = add_changes(store, tenant, seen) + notice(store, tenant)
        end = micros(until if until is not None else store.now()) - round(watch.settle_s * 1e6)
        added = alarms = 0
        windows = Windows(store, tenant, MOST_COMPARED)
        while True:
            with store.reading(tenant) as connection:
                state = read_state(connection, tenant)
            if state is not None and state.dirty is None and state.until >= end:
                return Turn(observed, added, alarms, changes, state.until)
            try:
                if state is not None and state.dirty is not None:
                    windows.forget()
                    self._take_in_late(tenant, state)
                    continue
                following, count, raised = self._step(tenant, state, end, windows)
                advance_charts(
                    store, tenant, state, following, [_alarm_row(alarm) for alarm in raised], end - self._late_limit()
                )
            except ChartsMovedError:
                windows.forget()
                continue  # another process took the step
            added += count
            alarms += len(raised)

    def _late_limit(self) -> int:
        return round(self._settings.watch.late_days * _DAY)

    def _take_in_late(self, tenant: str, state: StoredState) -> None:
        dirty = state.dirty or 0
        if dirty < state.until - self._late_limit():
            # Too late to move charts: it counts in rates and is counted here.
            with self._store.reading(tenant) as connection:
                late_rows = len(read_observations(connection, tenant, dirty, dirty + 1))
            body = {**state.body, "too_late": int(state.body.get("too_late", 0)) + max(1, late_rows)}
            advance_charts(self._store, tenant, state, StoredState(state.until, body), [], 0)
            return
        rewind_charts(self._store, tenant, state)

    def _step(
        self, tenant: str, state: StoredState | None, end: int, windows: Windows
    ) -> tuple[StoredState, int, list[Alarm]]:
        charts = Charts() if state is None else Charts.of_wire(state.body)
        with self._store.reading(tenant) as connection:
            rows = read_observations(connection, tenant, charts.until, end, MOST_READ)
        # Whole moments, and at most one day at a time, so that there is a snapshot of each day.
        reached = end if len(rows) < MOST_READ else max(rows[-1]["at"], rows[0]["at"] + 1)
        if rows:
            reached = min(reached, (rows[0]["at"] // _DAY + 1) * _DAY)
        if len(rows) == MOST_READ and reached <= rows[0]["at"] + 1:
            with self._store.reading(tenant) as connection:
                rows = read_observations(connection, tenant, charts.until, reached)
        observations = [observation_of(row) for row in rows if row["at"] < reached]
        advanced_charts, raised = advanced(charts, observations, reached, self._settings.watch)
        alarms = [self._explain(tenant, one, advanced_charts, windows) for one in raised]
        return StoredState(advanced_charts.until, advanced_charts.wire()), len(observations), alarms

    def _explain(self, tenant: str, raised: RaisedAlarm, charts: Charts, windows: Windows) -> Alarm:
        """The alarm with its rate, worst outputs and probable cause."""
        watch = self._settings.watch
        begin = min(raised.since, raised.at) - round(watch.window_hours * _HOUR)
        with self._store.reading(tenant) as connection:
            changes = read_changes(connection, tenant, begin, raised.at + 1)
        window = windows.until(raised, begin)
        since = window.since(raised.since)
        metric_kind = METRICS[raised.series.metric]
        state = charts.series[raised.series.key]
        attribution = attribute(
            raised.chart,
            window.at,
            window.values,
            [_system_change(row) for row in changes],
            binary=metric_kind == "rate" or raised.series.dimension == "category",
            shift=watch.shift,
            spread=state.spread,
        )
        worst = sorted(
            range(len(since.at)), key=lambda at: (-since.values[at], -since.scores[at], -since.at[at], since.ids[at])
        )
        rate = rate_json(since.values, since.probabilities)
        return alarm_of(raised, rate, tuple(since.ids[at] for at in worst[:WORST]), attribution)

    def status(self, tenant: str) -> dict[str, Any]:
        """The state of all charts, rates and alarms, as a JSON value."""
        watch = self._settings.watch
        with self._store.reading(tenant) as connection:
            state = read_state(connection, tenant)
            alarms = read_alarms(connection, tenant, [AlarmState.OPEN.value, AlarmState.ACKNOWLEDGED.value], 100)
            end = micros(self._store.now()) + 1
            begin = end - round(watch.window_hours * _HOUR)
            # Any reader may request this as often as they like: of a busy window only the latest outputs are read.
            rows = read_observations(connection, tenant, begin, end, MOST_COMPARED, latest=True)
            begin = rows[0]["at"] if len(rows) == MOST_COMPARED else begin
            judged, corrected = judged_scores(connection, tenant), corrected_outputs(connection, tenant, begin)
            users = user_scores(connection, tenant)
            timed = read_timed_work(connection, tenant)
        charts = Charts() if state is None else Charts.of_wire(state.body)
        recent = [observation_of(row) for row in rows]
        return {
            "tenant": tenant,
            "until": charts.until,
            "observations": charts.observations,
            "unsampled": charts.unsampled,
            "too_late": charts.too_late,
            "window_hours": watch.window_hours,
            "series": [self._series(Series.of_key(key), charts, recent) for key in sorted(charts.series)],
            "rates": {name: rate_of(Series("all", "", name), recent) for name in METRICS},
            "cadences": {
                cadence: {name: rate_of(Series(cadence, "", name), recent) for name in METRICS} for cadence in CADENCES
            },
            "corrected": _share(corrected, sum(row["withheld"] == 0 and row["cadence"] is None for row in rows)),
            "calibration": _calibration(judged),
            "calibration_of_users": _calibration(users),
            "timed": {
                name: {
                    "slot": one.slot,
                    "begun": one.begun,
                    "finished": one.finished,
                    "seconds": one.body.get("seconds"),
                }
                for name, one in sorted(timed.items())
            },
            "alarms": [{**alarm_json(row), "regression_now": self._regression(tenant, row, end)} for row in alarms],
        }

    def _regression(self, tenant: str, alarm: AlarmRow, end: int) -> dict[str, Any]:
        """The means before and after the cause of an alarm, from all observations until now.

        An alarm is raised long before the means differ significantly; the interval is valid however often this is read.
        """
        cause, window = alarm.body.get("cause"), round(self._settings.watch.window_hours * _HOUR)
        at = int(cause["at"] if cause else alarm.body.get("onset", alarm.at))
        series = Series.of_key(alarm.series)
        series_key, end_of_window = (series.metric, series.dimension, series.name), (min(end, at + window), "")
        with self._store.reading(tenant) as connection:
            # On each side the observations nearest to the cause.
            before = read_series(
                connection, tenant, series_key, at - window, (min(end, at), ""), most=MOST_BESIDE, latest=True
            )
            after = read_series(connection, tenant, series_key, at, end_of_window, most=MOST_BESIDE)
        means = difference([one.value for one in before], [one.value for one in after])
        return {
            "sure": means.differs,
            "before": number_or_none(means.before),
            "after": number_or_none(means.after),
            "low": means.low,
            "high": means.high,
        }

    def _series(self, series: Series, charts: Charts, recent: Sequence[Observation]) -> dict[str, Any]:
        state = charts.series[series.key]
        described: dict[str, Any] = {
            "metric": series.metric,
            "dimension": series.dimension,
            "name": series.name,
            "observations": state.seen,
            "baseline": state.baseline,
            "alarms": state.alarms,
            "rate": rate_of(series, recent),
        }
        for direction in Direction:
            designed = chart_for(series, state, self._settings.watch, direction)
            total = (state.up if direction is Direction.UP else state.down).total
            described[direction.value] = (
                None
                if designed is None
                else {
                    "statistic": total,
                    "threshold": designed.chart.threshold,
                    "slack": designed.chart.slack,
                    "arl0": designed.arl0,
                    "arl1": designed.arl1,
                    "arl0_range": None if designed.arl0_range is None else list(designed.arl0_range),
                }
            )
        return described


def _sampler_of(sampling: Sampling | None) -> Callable[[str, str, str | None, str | None], tuple[float, bool]]:
    def drawn(id_: str, stakes: str, severity: str | None, caller: str | None) -> tuple[float, bool]:
        if sampling is None:
            return 1.0, True
        probability = sampling.probability(stakes, severity, caller)
        return probability, sampling.draws(id_, probability)

    return drawn


def _share(count: int, of: int) -> dict[str, Any]:
    """A share with its interval, as a JSON value."""
    if of == 0:
        return {"estimate": None, "low": 0.0, "high": 1.0, "count": count, "outputs": 0}
    low, high = wilson(min(count, of), of)
    return {"estimate": min(1.0, count / of), "low": low, "high": high, "count": count, "outputs": of}


def _calibration(judged: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Whether the verifier's scores are still calibrated, as a JSON value.

    Args:
        judged: pairs of a score and whether the output was right.
    """
    drift = calibration_drift([score for score, _ in judged], [right for _, right in judged])
    return {
        "outputs": drift.count,
        "mean_score": drift.mean_score,
        "share_right": drift.mean_outcome,
        "evidence": drift.evidence,
        "alarm": drift.alarm is not None,
        "after": drift.alarm,
    }


def alarm_json(row: AlarmRow) -> dict[str, Any]:
    """An alarm with its state, as a JSON value."""
    return {**row.body, "state": row.state, "raised": row.raised, "changed": row.changed, "actor": row.actor}


def _alarm_row(alarm: Alarm) -> AlarmRow:
    raised = alarm.raised
    return AlarmRow(alarm.id, raised.series.key, raised.direction.value, raised.at, alarm.wire())


def _system_change(row: ChangeRow) -> SystemChange:
    return SystemChange(row.kind, row.ref, row.at, row.id, row.note, row.source)
