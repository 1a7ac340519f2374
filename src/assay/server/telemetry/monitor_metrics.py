"""The metrics of the monitor: error budgets and how fast they burn, control charts, the sampled share of outputs.

They cover all tenants and name none: each metric has the value of the tenant that is worst off. Charts of agents and
models appear only as the nearest one's distance to its alarm, because their names must not appear here.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from assay.monitor import BudgetSettings, Charts, MonitorSettings, Series, WatchSettings, chart_for
from assay.schema import Category
from assay.schema.verdict import Stakes
from assay.stats.drift import Direction, WindowTotals, burn_rate, burns_too_fast, error_budget, hours_left
from assay.store.db import Store
from assay.store.monitoring import drawn_outputs, read_state, window_sums
from assay.store.records import micros

if TYPE_CHECKING:
    from prometheus_client.core import GaugeMetricFamily, Metric

DESIGNING_S: Final = 2.0
"""Seconds of one scrape for designing charts that have no design yet; the rest follows at the next scrape."""
WINDOW_S: Final = 300.0
"""Seconds for which the sums over the whole window of a budget are reused."""
_SHOWN_NAMES: Final = frozenset({"", "check", "run", "gateway", *map(str, Category), *map(str, Stakes)})
"""Names of series that may be shown: those from closed sets."""
_HOUR: Final = 3_600_000_000
_DAY: Final = 24 * _HOUR
_CHART_LABELS: Final = ("metric", "dimension", "name", "direction")


class MonitorMetrics:
    """The metrics of the monitor over a store."""

    def __init__(
        self, store: Store, settings: MonitorSettings | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Over a store, with these settings of the monitor."""
        self._store, self._settings, self._clock = store, settings or MonitorSettings(), clock
        self._lock = threading.Lock()
        self._windows: dict[str, tuple[float, WindowTotals]] = {}

    def read(self, tenants: Sequence[str]) -> "Iterator[Metric]":
        """The metrics of these tenants.

        Raises:
            StoreError: the database cannot be read.
        """
        with self._lock:
            yield from self._budgets(tenants)
            yield from self._charts(tenants)

    # The budget

    def _budgets(self, tenants: Iterable[str]) -> "Iterator[Metric]":
        settings = self._settings.budget
        budgets = [one for tenant in tenants if (one := self._budget(tenant, settings)) is not None]
        left = [one.left_share for one in budgets if one.left_share is not None]
        yield _unlabelled(
            "assay_budget_left_ratio",
            "What is left of the error budget, of what was allowed; below 0 where "
            "it is overspent. Of the tenant that has least.",
            min(left, default=None),
        )
        yield _unlabelled(
            "assay_budget_hours_left",
            "Hours until an error budget is exhausted, going on as in the longest window; +Inf where none will be.",
            min([one.hours_left for one in budgets], default=math.inf),
        )
        yield _unlabelled(
            "assay_budget_exhausted", "Tenants whose error budget is spent.", sum(one.exhausted for one in budgets)
        )
        burns = _family(
            "assay_budget_burn_rate",
            "How many times faster than allowed an error budget is spent, by the "
            "window. Of the tenant that burns fastest.",
            ("window",),
        )
        for hours in _window_hours(settings):
            rates = [rate for one in budgets if (rate := one.rates.get(hours)) is not None]
            if rates:
                burns.add_metric((_window_label(hours),), max(rates))
        yield burns
        firing = _family(
            "assay_budget_burns_too_fast",
            "Tenants whose error budget burns faster than a factor, over the long and the short window of its rule.",
            ("factor",),
        )
        for number, rule in enumerate(settings.rules):
            firing.add_metric((f"{rule.factor:g}",), sum(one.fires[number] for one in budgets))
        yield firing

    def _budget(self, tenant: str, settings: BudgetSettings) -> "_Budget | None":
        """The error budget of a tenant; none where it has fewer outputs than `least_outputs`."""
        now = micros(self._store.now()) + 1
        hours = _window_hours(settings)
        with self._store.reading(tenant) as connection:
            kept = self._windows.get(tenant)
            if kept is None or self._clock() >= kept[0]:
                begin = now - round(settings.window_days * _DAY)
                (whole,) = window_sums(connection, tenant, settings.metric, [begin], now)
                kept = self._windows[tenant] = (self._clock() + WINDOW_S, WindowTotals(*whole))
            begins = [now - round(one * _HOUR) for one in hours]
            sums = window_sums(connection, tenant, settings.metric, begins, now) if hours else []
        if kept[1].outputs < settings.least_outputs:
            return None
        spent = {one: WindowTotals(*found) for one, found in zip(hours, sums, strict=True)}
        found = error_budget(settings.most, kept[1])
        longest = max((rule.long_hours for rule in settings.rules), default=None)
        until = None if longest is None else hours_left(found, spent[longest], longest)
        return _Budget(
            found.left_share,
            math.inf if until is None else until,
            found.exhausted,
            {one: burn_rate(settings.most, of) for one, of in spent.items()},
            tuple(
                burns_too_fast(rule, settings.most, spent[rule.long_hours], spent[rule.short_hours])
                for rule in settings.rules
            ),
        )

    # Charts

    def _charts(self, tenants: Iterable[str]) -> "Iterator[Metric]":
        now, nearest = (
            micros(self._store.now()) + 1,
            _NearestCharts(self._settings.watch, self._clock() + DESIGNING_S, self._clock),
        )
        drawn = outputs = 0
        until: int | None = None
        for tenant in tenants:
            with self._store.reading(tenant) as connection:
                one, of = drawn_outputs(connection, tenant, now - _DAY, now)
                state = read_state(connection, tenant)
            drawn, outputs = drawn + one, outputs + of
            if state is not None:
                until = state.until if until is None else min(until, state.until)
                nearest.take(Charts.of_wire(state.body))
        yield _unlabelled(
            "assay_monitor_sampled_ratio",
            "The part of the outputs of the last 24 hours that was drawn; what "
            "`assay monitor run` has not seen yet is not counted.",
            drawn / outputs if outputs else None,
        )
        yield _unlabelled(
            "assay_monitor_charts_age_seconds",
            "Seconds since the moment to which charts have moved on; of the tenant that is furthest behind.",
            None if until is None else max(0.0, (now - until) / 1e6),
        )
        yield from nearest.figures()


@dataclass(frozen=True, slots=True)
class _Budget:
    left_share: float | None
    hours_left: float
    exhausted: bool
    rates: dict[float, float | None]
    """The burn rate by the hours of the window."""
    fires: tuple[bool, ...]
    """For each rule, whether the budget burns too fast."""


@dataclass(slots=True)
class _NearestCharts:
    """Of all charts with the same labels, the one that is nearest to its alarm."""

    watch: WatchSettings
    until: float
    """The time of `clock` after which no more charts are designed."""
    clock: Callable[[], float]
    named: dict[tuple[str, ...], tuple[float, float, float]] = field(default_factory=dict)
    """By series and direction, how near, the statistic and the threshold."""
    near: dict[tuple[str, ...], float] = field(default_factory=dict)
    """By metric, dimension and direction, how near."""

    def take(self, charts: Charts) -> None:
        """Include the charts of a tenant."""
        for key in sorted(charts.series, key=lambda one: (Series.of_key(one).name not in _SHOWN_NAMES, one)):
            of, state = Series.of_key(key), charts.series[key]
            for direction in Direction:
                if self.clock() >= self.until or (found := chart_for(of, state, self.watch, direction)) is None:
                    continue
                total = (state.up if direction is Direction.UP else state.down).total
                near = total / found.chart.threshold
                kind = (of.metric, of.dimension, direction.value)
                self.near[kind] = max(self.near.get(kind, 0.0), near)
                label = (of.metric, of.dimension, of.name, direction.value)
                if (
                    of.dimension in _SHOWN_DIMENSIONS
                    and of.name in _SHOWN_NAMES
                    and near >= self.named.get(label, (0.0, 0, 0))[0]
                ):
                    self.named[label] = (near, total, found.chart.threshold)

    def figures(self) -> "Iterator[Metric]":
        """The metrics of the nearest charts."""
        statistic = _family(
            "assay_monitor_cusum_statistic",
            "The sum of a chart. Of several tenants the one that is nearest to its alarm.",
            _CHART_LABELS,
        )
        threshold = _family("assay_monitor_cusum_threshold", "Above it that chart raises an alarm.", _CHART_LABELS)
        for label, (_, total, limit) in sorted(self.named.items()):
            statistic.add_metric(label, total)
            threshold.add_metric(label, limit)
        near = _family(
            "assay_monitor_cusum_nearest_ratio",
            "The largest sum over its threshold, of all charts of a "
            "dimension; agents and models are in no other series.",
            ("metric", "dimension", "direction"),
        )
        for label, ratio in sorted(self.near.items()):
            near.add_metric(label, ratio)
        yield from (statistic, threshold, near)


_SHOWN_DIMENSIONS: Final = frozenset({"all", "route", "category", "stakes", "judge", "golden"})
"""Dimensions whose names come from closed sets, or that have none."""


def _window_hours(settings: BudgetSettings) -> list[float]:
    return sorted({hours for rule in settings.rules for hours in (rule.short_hours, rule.long_hours)})


def _window_label(hours: float) -> str:
    """The label of a window, in Prometheus's notation of durations.

    >>> _window_label(1 / 12), _window_label(0.5), _window_label(6), _window_label(72)
    ('5m', '30m', '6h', '3d')
    """
    minutes = round(hours * 60)
    if minutes % (24 * 60) == 0:
        return f"{minutes // (24 * 60)}d"
    return f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"


def _family(name: str, about: str, labels: tuple[str, ...]) -> "GaugeMetricFamily":
    from prometheus_client.core import GaugeMetricFamily

    return GaugeMetricFamily(name, about, labels=labels)


def _unlabelled(name: str, about: str, value: float | None) -> "GaugeMetricFamily":
    """A gauge without labels; without a value it has no sample."""
    from prometheus_client.core import GaugeMetricFamily

    return (
        GaugeMetricFamily(name, about, value=value) if value is not None else GaugeMetricFamily(name, about, labels=())
    )
