"""The six metrics that are watched in production, each with the rule by which it raises an alert.

A rule requires a change that is large enough to matter and significant. A test that is repeated over overlapping
windows would raise too many false alarms at a level of 95%, so rising trends are tested at 99.9% (`Z_REPEATED`).
Control charts, which have a stated run length, are the tool for slow drift of scores and rates.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from assay.server.panels.calibration import Z_REPEATED
from assay.server.panels.values import Cell
from assay.stats.intervals import wilson
from assay.store.alerts import Alert, Urgency
from assay.store.sketches import (
    CORRECTED,
    FABRICATED,
    FACTSCORE,
    FAITHFULNESS,
    RATES,
    RETRIEVAL_NULL,
    WITHHELD,
    Sketch,
    TimeRange,
    difference,
    read_measured,
)

WEEK: Final = 7
"""Days of the current window."""
BASELINE: Final = 28
"""Days before the window that are the baseline of the withhold rate."""
DROP: Final = 0.05
"""A mean that fell by more than this has dropped."""
SPIKE: Final = 2.0
"""A rate above this many times its baseline has spiked."""
LEAST: Final = 30
"""Outputs that the window and the baseline each need before they are compared."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A metric and the condition under which it raises an alert."""

    metric: str
    title: str
    kind: str
    """The kind of the alert."""
    description: str
    """The condition in words."""
    holds: Callable[["WatchedMetric"], bool]
    """The condition."""
    urgency: Urgency = Urgency.WARNING
    baseline: int = WEEK
    """Days before the window that it is compared with."""


@dataclass(frozen=True, slots=True)
class WatchedMetric:
    """One metric as it is now, with its rule."""

    rule: Rule
    now: Sketch
    """The window: the last 7 days."""
    before: Sketch
    """The baseline before the window."""
    today: Sketch
    """The last 24 hours."""

    @property
    def change(self) -> tuple[float, float, float] | None:
        """The mean now minus the mean before, and its 95% interval; `None` where it is undefined."""
        return difference(self.now, self.before)

    @property
    def enough(self) -> bool:
        """Whether the window and the baseline have enough outputs to be compared."""
        return min(self.now.count, self.before.count) >= LEAST

    @property
    def state(self) -> str:
        """`alert` where the rule holds, else `ok`, or `too few` where there are too few outputs to tell."""
        if self.rule.holds(self):
            return "alert"
        return "ok" if self.enough or (self.rule.metric == FABRICATED and self.now.count) else "too few"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the value now."""
        rate = self.rule.metric in RATES
        return self.now.rate_interval() if rate else self.now.mean_interval()

    def row(self) -> tuple[Cell, ...]:
        """A row of the panel `metrics`."""
        low, high = self.interval or (None, None)
        change = self.change or (None, None, None)
        return (
            self.rule.title,
            self.now.count,
            self.now.mean,
            low,
            high,
            self.before.mean,
            *change,
            self.state,
            self.rule.description,
        )

    @property
    def key(self) -> str:
        """The key of its alert."""
        return f"metric:{self.rule.metric}"

    def alert(self) -> Alert:
        """The alert that stays open while the rule holds."""
        now, before = self.now.mean, self.before.mean
        baseline = "" if before is None else f", {before:.3f} before"
        facts = {
            "metric": self.rule.metric,
            "outputs": self.now.count,
            "value": _rounded(now),
            "before": _rounded(before),
            "today": self.today.hits if self.rule.metric in RATES else _rounded(self.today.mean),
        }
        message = f"{self.rule.title}: {now or 0:.3f} over 7 days{baseline} ({self.rule.description})."
        return Alert(self.key, self.rule.kind, message, self.rule.urgency, facts)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _has_dropped(metric: WatchedMetric) -> bool:
    change = metric.change
    return metric.enough and change is not None and change[0] < -DROP and change[2] < 0


def _has_spiked(metric: WatchedMetric) -> bool:
    now, before = metric.now.mean, metric.before.mean
    if not metric.enough or now is None or before is None or now <= SPIKE * before:
        return False
    low, _ = wilson(min(metric.now.hits, metric.now.count), metric.now.count, Z_REPEATED)
    return low > before


def _occurred_today(metric: WatchedMetric) -> bool:
    return metric.today.hits > 0


def _is_rising(metric: WatchedMetric) -> bool:
    change = difference(metric.now, metric.before, Z_REPEATED)
    return metric.enough and change is not None and change[1] > 0


METRIC_RULES: Final = (
    Rule(FAITHFULNESS, "Faithfulness", "metric.drop", "alert at a drop of more than 0.05 in 7 days", _has_dropped),
    Rule(FACTSCORE, "FACTScore", "metric.drop", "alert at a drop of more than 0.05 in 7 days", _has_dropped),
    Rule(
        WITHHELD,
        "Withhold rate",
        "metric.withheld",
        "alert at more than twice the 28 days before",
        _has_spiked,
        baseline=BASELINE,
    ),
    Rule(
        FABRICATED,
        "Fabricated citation rate",
        "metric.fabricated_citations",
        "alert at any in 24 hours",
        _occurred_today,
        Urgency.CRITICAL,
    ),
    Rule(RETRIEVAL_NULL, "Retrieval null rate", "metric.retrieval_null", "alert at a rising trend", _is_rising),
    Rule(CORRECTED, "User correction rate", "metric.corrections", "alert at a rising trend", _is_rising),
)
"""The six metrics."""


def read_watched_metrics(connection: Connection, tenant: str, now: datetime) -> list[WatchedMetric]:
    """The state of the six metrics of a tenant, in the order of `METRIC_RULES`."""
    metrics = [rule.metric for rule in METRIC_RULES]
    week = TimeRange.until(now, WEEK, 24)
    current = read_measured(connection, tenant, metrics, week)
    past = read_measured(connection, tenant, metrics, TimeRange(week.first - BASELINE * 24, BASELINE, 24))
    today = read_measured(connection, tenant, metrics, TimeRange.until(now, 24, 1))
    watched = []
    for rule in METRIC_RULES:
        before = Sketch()
        for at in range(BASELINE - rule.baseline, BASELINE):
            before += past.part(rule.metric, at)
        watched.append(WatchedMetric(rule, current.whole(rule.metric), before, today.whole(rule.metric)))
    return watched
