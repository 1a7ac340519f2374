"""The error budget of a tenant: how much of it is spent, and which consequences follow.

Five consequences may follow. Each is enabled by configuration and lifted automatically when its reason is gone:
deployments freeze, more outputs are sampled, the worst output goes to the review queue, thresholds are tightened, and
more outputs are escalated to people.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.observations import METRICS, Observation
from assay.monitor.sections import require_number
from assay.stats.drift import (
    WORKBOOK,
    BurnRule,
    WindowTotals,
    burn_rate,
    burns_too_fast,
    error_budget,
    hours_left,
    weighted_rate,
)

_HOUR: Final = 3_600_000_000


class Consequence(StrEnum):
    """A consequence of a spent budget."""

    FREEZE = "deployment_freeze"
    """`assay budget check` exits with status 1, so that pipelines that call it do not deploy."""
    SAMPLING = "more_sampling"
    """More outputs are sampled."""
    INVESTIGATION = "investigation"
    """An item is opened in the review queue for the worst output."""
    TIGHTENING = "tighter_thresholds"
    """The thresholds of the policy rise, so that it emits less."""
    ESCALATION = "more_escalation"
    """More outputs wait for a person."""


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """The acceptable level of the metric, and the consequences of exceeding it.

    Raises:
        InputError: a number is out of range, or a name is unknown.
    """

    most: float = 0.05
    """The largest acceptable mean of the metric."""
    metric: str = "bad"
    """One of `METRICS`."""
    window_days: float = 30.0
    """The length of the window, in days."""
    rules: tuple[BurnRule, ...] = WORKBOOK
    """The rules by which the budget burns too fast."""
    consequences: Mapping[str, bool] = field(default_factory=lambda: {Consequence.FREEZE.value: True})
    """Which consequences are enabled; the others never come into force."""
    least_outputs: int = 100
    """The least outputs in the window for consequences: one bad answer among the first ten must not have any."""
    sampling_times: float = 5.0
    """The factor by which sampling rates are multiplied."""
    tighten_by: float = 0.05
    """The amount by which thresholds rise."""
    escalate_by: float = 0.2
    """The fraction by which the risk threshold of escalation is lowered."""

    def __post_init__(self) -> None:
        self._require_numbers()
        if self.metric not in METRICS:
            raise InputError(f"expected a metric among {', '.join(METRICS)}; got {ascii(self.metric)[:40]}")
        switches = self.consequences.values() if isinstance(self.consequences, Mapping) else [None]
        if not all(isinstance(one, bool) for one in switches):
            raise InputError(
                f"expected consequences as a mapping of names to true or false, got {ascii(self.consequences)[:100]}"
            )
        unknown = sorted(set(self.consequences) - {one.value for one in Consequence})
        if unknown:
            raise InputError(f"expected consequences among {', '.join(Consequence)}; got {', '.join(unknown)}")

    def _require_numbers(self) -> None:
        share, more = "a number above 0 and below 1", "a finite number of 1 or more"
        require_number("most", self.most, 0 < self.most < 1, share, "0.05")
        days = "a number of days above 0 and up to 366"
        require_number("window_days", self.window_days, 0 < self.window_days <= 366, days, "30")
        require_number("least_outputs", self.least_outputs, 1 <= self.least_outputs < math.inf, more, "100")
        require_number("sampling_times", self.sampling_times, 1 <= self.sampling_times < math.inf, more, "5")
        require_number("tighten_by", self.tighten_by, 0 < self.tighten_by < 1, share, "0.05")
        require_number("escalate_by", self.escalate_by, 0 < self.escalate_by < 1, share, "0.2")
        for rule in self.rules:
            hours = "a finite number of hours"
            require_number("factor", rule.factor, rule.factor < math.inf, "a finite number above 0", "14.4")
            require_number("long_hours", rule.long_hours, rule.long_hours < math.inf, hours, "6")


@dataclass(frozen=True, slots=True)
class BurnReading:
    """The current state of one burn rule."""

    rule: BurnRule
    long: float | None
    """The burn rate over the long window; none without outputs."""
    short: float | None
    """The burn rate over the short window; none without outputs."""
    fires: bool


@dataclass(frozen=True, slots=True)
class BudgetReading:
    """The current state of the budget."""

    outputs: float
    """The estimated number of outputs in the window."""
    allowed: float
    spent: float
    left: float
    left_share: float | None
    exhausted: bool
    rate: float | None
    """The mean of the metric; none without outputs."""
    low: float
    high: float
    """The upper bound of its 95% interval, of which `low` is the lower."""
    burns: tuple[BurnReading, ...]
    hours_left: float | None
    """Hours until it is exhausted at the rate of the longest window of a rule; none where it will not be."""
    enough: bool
    """Whether there are enough outputs to act on."""
    attacks: float = 0.0
    """How much of it was spent by successful attacks of scheduled red team runs."""

    @property
    def broken(self) -> bool:
        """Whether consequences follow."""
        return self.enough and (self.exhausted or any(one.fires for one in self.burns))

    def wanted(self, settings: BudgetSettings) -> dict[str, bool]:
        """Which consequences should be in force."""
        return {one.value: self.broken and settings.consequences.get(one.value, False) for one in Consequence}

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "outputs": self.outputs,
            "allowed": self.allowed,
            "spent": self.spent,
            "left": self.left,
            "left_share": self.left_share,
            "exhausted": self.exhausted,
            "rate": {"estimate": self.rate, "low": self.low, "high": self.high},
            "burns": [
                {
                    "factor": one.rule.factor,
                    "long_hours": one.rule.long_hours,
                    "short_hours": one.rule.short_hours,
                    "long": one.long,
                    "short": one.short,
                    "fires": one.fires,
                }
                for one in self.burns
            ],
            "attacks": self.attacks,
            "hours_left": self.hours_left,
            "enough": self.enough,
            "broken": self.broken,
        }


def read_budget(
    observations: Iterable[Observation],
    now: int,
    settings: BudgetSettings,
    attacks: Sequence[tuple[int, float]] = (),
) -> BudgetReading:
    """Computes the budget from the observations of its window.

    Args:
        observations: the observations; those outside of the window are ignored.
        now: the end of the window, in microseconds since 1970.
        settings: the settings of the budget.
        attacks: successful attacks as moments and the number of wrong outputs that each counts for. They add to what
            is spent but not to the outputs, so that they do not change the rate of wrong outputs.
    """
    begin = now - round(settings.window_days * 24 * _HOUR)
    values = [
        (one.at, value, one.probability)
        for one in observations
        if begin <= one.at <= now and (value := one.value(settings.metric)) is not None
    ]

    def spent(hours: float) -> WindowTotals:
        since = now - round(hours * _HOUR)
        recent = [(value, chance) for at, value, chance in values if at >= since]
        from_attacks = sum(weight for at, weight in attacks if since <= at <= now)
        return WindowTotals(
            sum(1 / chance for _, chance in recent), sum(value / chance for value, chance in recent) + from_attacks
        )

    window = spent(settings.window_days * 24)
    budget, rate = (
        error_budget(settings.most, window),
        weighted_rate([x for _, x, _ in values], [p for _, _, p in values]),
    )
    burns = tuple(_burn_reading(rule, settings.most, spent) for rule in settings.rules)
    longest = max((rule.long_hours for rule in settings.rules), default=settings.window_days * 24)
    return BudgetReading(
        window.outputs,
        budget.allowed,
        budget.spent,
        budget.left,
        budget.left_share,
        budget.exhausted,
        rate.estimate,
        rate.low,
        rate.high,
        burns,
        hours_left(budget, spent(longest), longest),
        window.outputs >= settings.least_outputs,
        sum(weight for at, weight in attacks if begin <= at <= now),
    )


def _burn_reading(rule: BurnRule, most: float, spent: Callable[[float], WindowTotals]) -> BurnReading:
    long, short = spent(rule.long_hours), spent(rule.short_hours)
    return BurnReading(rule, burn_rate(most, long), burn_rate(most, short), burns_too_fast(rule, most, long, short))
