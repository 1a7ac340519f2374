"""The error budget of a tenant: what it came to, and what follows from that.

Five consequences may follow, each of which is switched by configuration and goes out of force by itself when its reason
has: deployments freeze, more outputs are sampled, somebody investigates the worst outputs, thresholds are tightened,
more outputs go to people.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from assay.errors import InputError
from assay.monitor.observations import METRICS, Observation
from assay.stats.drift import (
    WORKBOOK,
    BurnRule,
    Spent,
    burn_rate,
    burns_too_fast,
    error_budget,
    hours_left,
    weighted_rate,
)

_HOUR: Final = 3_600_000_000


class Consequence(StrEnum):
    """What may follow from a spent budget."""

    FREEZE = "deployment_freeze"
    """`assay budget check` exits 1, so that a pipeline that asks it deploys nothing."""
    SAMPLING = "more_sampling"
    """More outputs are looked at closely."""
    INVESTIGATION = "investigation"
    """An item is opened in the review queue for the worst output."""
    TIGHTENING = "tighter_thresholds"
    """The policy emits less."""
    ESCALATION = "more_escalation"
    """More outputs wait for a person."""


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What is acceptable, and what follows when it is not kept to.

    Raises:
        InputError: a number is out of range, or a name is unknown.
    """

    most: float = 0.05
    """The largest mean of the metric that is acceptable."""
    metric: str = "bad"
    window_days: float = 30.0
    rules: tuple[BurnRule, ...] = WORKBOOK
    """When it burns too fast."""
    consequences: Mapping[str, bool] = field(default_factory=lambda: {Consequence.FREEZE.value: True})
    """Which consequences are switched on; the others never come into force."""
    least_outputs: int = 100
    """Of fewer outputs in the window nothing follows: one bad answer in the first ten spends no budget of a month."""
    sampling_times: float = 5.0
    """By what rates of sampling are multiplied."""
    tighten_by: float = 0.05
    """By what thresholds rise."""
    escalate_by: float = 0.2
    """By what share of itself the risk falls at which an output goes to a person."""

    def __post_init__(self) -> None:
        if not 0 < self.most < 1 or self.metric not in METRICS or not 0 < self.window_days <= 366:
            raise InputError(
                f"expected an acceptable mean between 0 and 1, a metric among {', '.join(METRICS)} and a window of up "
                f"to 366 days; got {self.most}, {ascii(self.metric)[:40]} and {self.window_days}"
            )
        unknown = sorted(set(self.consequences) - {one.value for one in Consequence})
        if unknown:
            raise InputError(f"expected consequences among {', '.join(Consequence)}; got {', '.join(unknown)}")
        inside = 0 < self.tighten_by < 1 and 0 < self.escalate_by < 1
        if not inside or not self.sampling_times >= 1 or self.least_outputs < 1:
            raise InputError("expected shares between 0 and 1, and sampling that grows")


@dataclass(frozen=True, slots=True)
class BurnReading:
    """One rule of burn rates, as it stands."""

    rule: BurnRule
    long: float | None
    """The burn rate over the long window; none where nothing came."""
    short: float | None
    fires: bool


@dataclass(frozen=True, slots=True)
class BudgetReading:
    """The budget as it stands."""

    outputs: float
    """In the window, estimated."""
    allowed: float
    spent: float
    left: float
    left_share: float | None
    exhausted: bool
    rate: float | None
    """The mean of the metric."""
    low: float
    high: float
    """Its interval."""
    burns: tuple[BurnReading, ...]
    hours_left: float | None
    """Until it is exhausted, going on as in the longest window of a rule; none where it will not be."""
    enough: bool
    """Whether there are enough outputs to act on."""
    attacks: float = 0.0
    """How much of what was spent are attacks of scheduled runs of the red team that succeeded."""

    @property
    def broken(self) -> bool:
        """Whether consequences follow."""
        return self.enough and (self.exhausted or any(one.fires for one in self.burns))

    def wanted(self, settings: BudgetSettings) -> dict[str, bool]:
        """Which consequences are to be in force."""
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
    """The budget out of the observations of its window.

    Args:
        observations: those of the window; older ones are passed over.
        now: the end of the window, in microseconds since 1970.
        settings: what is acceptable.
        attacks: what attacks that succeeded spend beside: moment, and how many wrong outputs they count for. They add
            to what is spent, not to the outputs, so that the rate of wrong outputs stays what it is.
    """
    begin = now - round(settings.window_days * 24 * _HOUR)
    known = [
        (one.at, value, one.probability)
        for one in observations
        if begin <= one.at <= now and (value := one.value(settings.metric)) is not None
    ]

    def spent(hours: float) -> Spent:
        since = now - round(hours * _HOUR)
        part = [(value, chance) for at, value, chance in known if at >= since]
        beside = sum(weight for at, weight in attacks if since <= at <= now)
        return Spent(sum(1 / chance for _, chance in part), sum(value / chance for value, chance in part) + beside)

    whole = spent(settings.window_days * 24)
    found, rate = error_budget(settings.most, whole), weighted_rate([x for _, x, _ in known], [p for _, _, p in known])
    burns = tuple(_burning(rule, settings.most, spent) for rule in settings.rules)
    longest = max((rule.long_hours for rule in settings.rules), default=settings.window_days * 24)
    return BudgetReading(
        whole.outputs,
        found.allowed,
        found.spent,
        found.left,
        found.left_share,
        found.exhausted,
        rate.estimate,
        rate.low,
        rate.high,
        burns,
        hours_left(found, spent(longest), longest),
        whole.outputs >= settings.least_outputs,
        sum(weight for at, weight in attacks if begin <= at <= now),
    )


def _burning(rule: BurnRule, most: float, spent: Callable[[float], Spent]) -> BurnReading:
    long, short = spent(rule.long_hours), spent(rule.short_hours)
    return BurnReading(rule, burn_rate(most, long), burn_rate(most, short), burns_too_fast(rule, most, long, short))
