"""The six metrics that are watched in production, each with the rule by which it raises an alert.

A rule asks for a change that matters and for one that is no accident. What is looked at again and again over windows
that overlap would cry wolf at 95%; rising trends are held to 99.9% (`Z_REPEATED`), and the drift of scores and rates
with stated run lengths is what control charts are for.
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
"""Days of the window."""
BASELINE: Final = 28
"""Days before it that are the baseline of the withhold rate."""
DROP: Final = 0.05
SPIKE: Final = 2.0
LEAST: Final = 30
"""Outputs on each side below which nothing is said."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One metric and when it raises an alert."""

    metric: str
    title: str
    kind: str
    """Of the alert."""
    words: str
    """The rule, for people."""
    holds: Callable[["Sixth"], bool]
    urgency: Urgency = Urgency.WARNING
    baseline: int = WEEK
    """Days before the window."""


@dataclass(frozen=True, slots=True)
class Sixth:
    """One metric as it is now."""

    rule: Rule
    now: Sketch
    before: Sketch
    today: Sketch
    """The last 24 hours."""

    @property
    def change(self) -> tuple[float, float, float] | None:
        """The mean now less that before, with its interval of 95%."""
        return difference(self.now, self.before)

    @property
    def enough(self) -> bool:
        """Whether there are enough outputs on both sides to compare."""
        return min(self.now.count, self.before.count) >= LEAST

    @property
    def state(self) -> str:
        """`alert`, `ok`, or `too few`."""
        if self.rule.holds(self):
            return "alert"
        return "ok" if self.enough or (self.rule.metric == FABRICATED and self.now.count) else "too few"

    @property
    def interval(self) -> tuple[float, float] | None:
        """Of the value now."""
        rate = self.rule.metric in RATES
        return self.now.rate_interval() if rate else self.now.mean_interval()

    def row(self) -> tuple[Cell, ...]:
        """As a row of the panel."""
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
            self.rule.words,
        )

    @property
    def key(self) -> str:
        """The key of its alert."""
        return f"metric:{self.rule.metric}"

    def alert(self) -> Alert:
        """What is raised while its rule holds."""
        now, before = self.now.mean, self.before.mean
        was = "" if before is None else f", {before:.3f} before"
        facts = {
            "metric": self.rule.metric,
            "outputs": self.now.count,
            "value": _rounded(now),
            "before": _rounded(before),
            "today": self.today.hits if self.rule.metric in RATES else _rounded(self.today.mean),
        }
        said = f"{self.rule.title}: {now or 0:.3f} over 7 days{was} ({self.rule.words})."
        return Alert(self.key, self.rule.kind, said, self.rule.urgency, facts)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _dropped(one: Sixth) -> bool:
    change = one.change
    return one.enough and change is not None and change[0] < -DROP and change[2] < 0


def _spiked(one: Sixth) -> bool:
    now, before = one.now.mean, one.before.mean
    if not one.enough or now is None or before is None or now <= SPIKE * before:
        return False
    low, _ = wilson(min(one.now.hits, one.now.count), one.now.count, Z_REPEATED)
    return low > before


def _happened(one: Sixth) -> bool:
    return one.today.hits > 0


def _rises(one: Sixth) -> bool:
    change = difference(one.now, one.before, Z_REPEATED)
    return one.enough and change is not None and change[1] > 0


RULES: Final = (
    Rule(FAITHFULNESS, "Faithfulness", "metric.drop", "alert at a drop of more than 0.05 in 7 days", _dropped),
    Rule(FACTSCORE, "FACTScore", "metric.drop", "alert at a drop of more than 0.05 in 7 days", _dropped),
    Rule(
        WITHHELD,
        "Withhold rate",
        "metric.withheld",
        "alert at more than twice the 28 days before",
        _spiked,
        baseline=BASELINE,
    ),
    Rule(
        FABRICATED,
        "Fabricated citation rate",
        "metric.fabricated_citations",
        "alert at any in 24 hours",
        _happened,
        Urgency.CRITICAL,
    ),
    Rule(RETRIEVAL_NULL, "Retrieval null rate", "metric.retrieval_null", "alert at a rising trend", _rises),
    Rule(CORRECTED, "User correction rate", "metric.corrections", "alert at a rising trend", _rises),
)
"""The six."""


def six_metrics(connection: Connection, tenant: str, now: datetime) -> list[Sixth]:
    """The six metrics of a tenant as they are now."""
    metrics = [rule.metric for rule in RULES]
    week = TimeRange.until(now, WEEK, 24)
    measured = read_measured(connection, tenant, metrics, week)
    past = read_measured(connection, tenant, metrics, TimeRange(week.first - BASELINE * 24, BASELINE, 24))
    today = read_measured(connection, tenant, metrics, TimeRange.until(now, 24, 1))
    found = []
    for rule in RULES:
        before = Sketch()
        for at in range(BASELINE - rule.baseline, BASELINE):
            before += past.part(rule.metric, at)
        found.append(Sixth(rule, measured.whole(rule.metric), before, today.whole(rule.metric)))
    return found
