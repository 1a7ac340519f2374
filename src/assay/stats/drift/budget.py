"""The error budget: how much hallucination a window of time allows, how much of it is left, and how fast it burns.

The budget of outputs O in a window is `most` * |O| minus the sum of their scores: the allowed total minus the actual
total. The burn rate is how many times faster than allowed the budget is spent. An alert fires where it exceeds a factor
over both a long and a short window, so that it is reliable and ends soon after its cause (Beyer et al. 2018, "The Site
Reliability Workbook", chapter 5, "Multiwindow, Multi-Burn-Rate Alerts").
"""

import math
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError


@dataclass(frozen=True, slots=True)
class WindowTotals:
    """The outputs of a window and the sum of their scores, which is what they spend of the budget.

    Raises:
        InputError: the numbers are negative or not finite.
    """

    outputs: float
    """The number of outputs, or an estimate of it."""
    total: float
    """The sum of their scores, or an estimate of it."""

    def __post_init__(self) -> None:
        if not (0 <= self.outputs < math.inf and 0 <= self.total < math.inf):
            raise InputError(f"expected outputs and a total of 0 or more, got {self.outputs} and {self.total}")


@dataclass(frozen=True, slots=True)
class BurnRule:
    """A rule by which a burn rate is too fast: it exceeds a factor over both windows.

    Raises:
        InputError: a window or the factor is not above 0, or the short window is not shorter.
    """

    factor: float
    """The burn rate that has to be exceeded: how many times faster than allowed."""
    long_hours: float
    """The length of the long window, in hours."""
    short_hours: float
    """The length of the short window, in hours."""

    def __post_init__(self) -> None:
        if not (self.factor > 0 and 0 < self.short_hours < self.long_hours):
            raise InputError(
                "expected a factor above 0 and two windows, the longer one first; got "
                f"{self.factor}, {self.long_hours} and {self.short_hours} hours"
            )


WORKBOOK: Final = (BurnRule(14.4, 1, 1 / 12), BurnRule(6, 6, 0.5), BurnRule(1, 72, 6))
"""The three rules of the workbook (table 5-8), for a budget of 30 days: they fire at 2%, 5% and 10% of it spent."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a window."""

    most: float
    """The largest acceptable mean score."""
    allowed: float
    """The allowed sum of the scores."""
    spent: float
    """The actual sum of the scores."""

    @property
    def left(self) -> float:
        """The remaining budget; 0 or less where it is exhausted."""
        return self.allowed - self.spent

    @property
    def left_share(self) -> float | None:
        """The remaining budget as a share of the allowed sum; none without outputs."""
        return None if self.allowed == 0 else self.left / self.allowed

    @property
    def exhausted(self) -> bool:
        """Whether there were outputs and nothing is left."""
        return self.allowed > 0 and self.left <= 0


def error_budget(most: float, window: WindowTotals) -> Budget:
    """The budget of a window.

    >>> error_budget(0.05, WindowTotals(1000, 40)).left
    10.0

    Raises:
        InputError: `most` is not between 0 and 1.
    """
    if not 0 < most < 1:
        raise InputError(f"expected an acceptable mean score between 0 and 1, got {most}")
    return Budget(most, most * window.outputs, window.total)


def burn_rate(most: float, window: WindowTotals) -> float | None:
    """How many times faster than allowed the budget was spent; none without outputs.

    >>> burn_rate(0.05, WindowTotals(100, 10))
    2.0
    """
    return None if window.outputs == 0 else window.total / window.outputs / most


def burns_too_fast(rule: BurnRule, most: float, long: WindowTotals, short: WindowTotals) -> bool:
    """Whether a rule fires, that is whether the burn rate exceeds its factor over both windows."""
    rates = burn_rate(most, long), burn_rate(most, short)
    return all(rate is not None and rate > rule.factor for rate in rates)


def hours_left(found: Budget, recent: WindowTotals, hours: float) -> float | None:
    """The hours until the budget is exhausted if outputs continue as in a recent window.

    Each output adds its allowance and subtracts its score, so that the remaining budget changes by the difference.

    Args:
        found: the budget.
        recent: the outputs of the recent window.
        hours: the length of that window.

    Returns:
        The hours, 0 where it is exhausted already; none where it will not be exhausted.

    >>> hours_left(Budget(0.05, 100.0, 90.0), WindowTotals(100, 10), 1)
    2.0
    """
    if found.exhausted:
        return 0.0
    loss = (recent.total - found.most * recent.outputs) / hours
    return found.left / loss if loss > 0 and found.allowed > 0 else None
