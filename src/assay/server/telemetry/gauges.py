"""Metrics that are read from the database on request, and reused for a while."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, select

from assay.errors import AssayError
from assay.schema.report_parts import Tier
from assay.server.panels.calibration import METRICS, bins_of, calibration_error
from assay.server.panels.watched_metrics import METRIC_RULES
from assay.server.telemetry.monitor_metrics import MonitorMetrics
from assay.store.db import Store, alerts, outbox, review_items
from assay.store.records import micros
from assay.store.sketches import COMPOSITE, Sketch, TimeRange, read_measured, sum_sketches, uncounted_entries

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily, Metric

    from assay.monitor import MonitorSettings

REUSED_S: Final = 15.0
"""Seconds for which metrics are reused, so that frequent scrapes cost the database nothing."""
MOST_TENANTS: Final = 200
"""Tenants whose measurements are summed."""
_DAYS: Final = 28
_OPEN: Final = ("open", "evidence")
_MESSAGES: Final = ("waiting", "sent", "failed")
_log = logging.getLogger("assay.server")


class Gauges:
    """The metrics of a database, over all its tenants."""

    def __init__(
        self, store: Store, clock: Callable[[], float] = time.monotonic, settings: "MonitorSettings | None" = None
    ) -> None:
        """Over a store, whose monitor has these settings."""
        self._store, self._clock = store, clock
        self._watched = MonitorMetrics(store, settings, clock)
        self._lock = threading.Lock()
        self._reused_until = float("-inf")
        self._last_read: list[Metric] = []

    def __call__(self) -> "Iterable[Metric]":
        """The metrics; none while the database cannot be read, which `/readyz` reports."""
        with self._lock:
            if self._clock() >= self._reused_until:
                try:
                    self._last_read = list(self._read())
                except AssayError:
                    self._last_read = []
                    _log.exception("the figures of the database cannot be read")
                self._reused_until = self._clock() + REUSED_S
            return list(self._last_read)

    def _read(self) -> "Iterable[Metric]":
        now, items = self._store.now(), review_items.c
        with self._store.reading_across() as connection:
            reviews = connection.execute(
                select(
                    items.tier, func.count().label("number"), func.count().filter(items.due < micros(now)).label("late")
                )
                .where(items.state.in_(_OPEN))
                .group_by(items.tier)
            ).all()
            rows = connection.execute(
                select(outbox.c.state, func.count().label("number"))
                .where(outbox.c.target != "")
                .group_by(outbox.c.state)
            ).all()
            open_alerts = connection.execute(
                select(alerts.c.severity, func.count().label("number"))
                .where(alerts.c.state != "closed")
                .group_by(alerts.c.severity)
            ).all()
            lag = uncounted_entries(connection)
        yield _gauge(
            "assay_reviews_waiting",
            "Outputs that wait for a person.",
            "tier",
            {**dict.fromkeys(map(str, Tier), 0), **{row.tier: row.number for row in reviews}},
        )
        yield _unlabelled(
            "assay_reviews_overdue", "Outputs whose first deadline has passed.", sum(row.late for row in reviews)
        )
        yield _gauge(
            "assay_messages",
            "Messages to people and programs.",
            "state",
            {**dict.fromkeys(_MESSAGES, 0), **{row.state: row.number for row in rows}},
        )
        yield _gauge(
            "assay_alerts_open",
            "Alerts that hold.",
            "urgency",
            {
                **dict.fromkeys(("info", "warning", "critical"), 0),
                **{row.severity: row.number for row in open_alerts},
            },
        )
        yield _unlabelled(
            "assay_monitor_lag_entries", "Entries of the record that panels do not count yet.", sum(lag.values())
        )
        from assay.server.panels.worker import tenants

        first = tenants(self._store)[:MOST_TENANTS]
        yield from self._measured(first)
        yield from self._watched.read(first)

    def _measured(self, tenants: Sequence[str]) -> "Iterable[Metric]":
        now, names = self._store.now(), (*(rule.metric for rule in METRIC_RULES), COMPOSITE)
        last_day: dict[str, list[Sketch]] = {name: [] for name in names}
        by_judgement: dict[str, list[Sketch]] = {name: [] for name in METRICS}
        for tenant in tenants:
            with self._store.reading(tenant) as connection:
                day = read_measured(connection, tenant, names, TimeRange.until(now, 24, 1))
                weeks = read_measured(connection, tenant, METRICS, TimeRange.until(now, _DAYS, 24))
            for name in names:
                last_day[name].append(day.whole(name))
            for name in METRICS:
                by_judgement[name].append(weeks.whole(name))
        whole = {name: sum_sketches(sketches) for name, sketches in last_day.items()}
        yield _gauge(
            "assay_monitor_value",
            "Means over the outputs of the last 24 hours.",
            "metric",
            {name: one.mean for name, one in whole.items() if one.mean is not None},
        )
        yield _gauge(
            "assay_monitor_outputs",
            "Outputs of the last 24 hours that have the metric.",
            "metric",
            {name: one.count for name, one in whole.items()},
        )
        errors, counts = {}, {}
        for what in ("claim", "output"):
            bins = bins_of(sum_sketches(by_judgement[f"{what}.right"]), sum_sketches(by_judgement[f"{what}.wrong"]))
            counts[what] = sum(one.judged for one in bins)
            if (error := calibration_error(bins)) is not None:
                errors[what] = error
        yield _gauge(
            "assay_verifier_calibration_error",
            "Mean gap between the verifier's scores and what people said over 28 days.",
            "of",
            errors,
        )
        yield _gauge("assay_verifier_judged", "Scores that people judged in 28 days.", "of", counts)


def _gauge(name: str, about: str, label: str, values: Mapping[str, float]) -> "GaugeMetricFamily":
    from prometheus_client.core import GaugeMetricFamily

    made = GaugeMetricFamily(name, about, labels=(label,))
    for value, number in sorted(values.items()):
        made.add_metric((str(value),), number)
    return made


def _unlabelled(name: str, about: str, value: float) -> "GaugeMetricFamily":
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(name, about, value=value)
