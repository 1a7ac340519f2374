"""Charts as they were designed: worked out once, and kept with the state of their series."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.stats import wilson
from assay.stats.drift import Chart, Direction, design_chart

Asked = tuple[float, float, float, str, float | None, int]
"""What a chart is designed for: the baseline, the shift, the observations between false alarms, `rate` or `score`, the
standard deviation of a score, and from how many observations the baseline was learned (0 where it is known)."""
LONGEST: Final = 1e18
"""Observations; a run length beyond it is stated as this."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A chart, with what is stated about it."""

    asked: Asked
    chart: Chart
    arl0: float
    """Observations between false alarms, in the mean."""
    arl1: float
    """Observations until the alarm, were the shift there from the start."""
    arl0_range: tuple[float, float] | None
    """The interval of `arl0` where the baseline was learned."""

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "asked": list(self.asked),
            "slack": self.chart.slack,
            "threshold": self.chart.threshold,
            "arl0": self.arl0,
            "arl1": self.arl1,
            "arl0_range": None if self.arl0_range is None else list(self.arl0_range),
        }

    @classmethod
    def of_wire(cls, wire: Mapping[str, Any], direction: Direction) -> "Stated":
        """Out of a JSON value."""
        baseline, shift, every, kind, spread, learned = wire["asked"]
        ends = wire["arl0_range"]
        return cls(
            (baseline, shift, every, kind, spread, learned),
            Chart(baseline, wire["slack"], wire["threshold"], direction),
            wire["arl0"],
            wire["arl1"],
            None if ends is None else (ends[0], ends[1]),
        )


@lru_cache(maxsize=4_096)
def designed(asked: Asked, direction: Direction) -> Stated:
    """The chart for what is asked. It takes milliseconds for a rate and up to some tenths of a second for a score."""
    baseline, shift, every, kind, spread, learned = asked
    interval = None
    if learned:
        if kind == "rate":
            interval = wilson(min(learned, round(baseline * learned)), learned)
        else:
            half = 1.959964 * (spread or 0.0) / math.sqrt(learned)
            interval = (max(1e-6, baseline - half), min(1 - 1e-6, baseline + half))
    found = design_chart(
        baseline, shift, every, kind=kind, direction=direction, spread=spread, baseline_range=interval, curve=False
    )
    ends = found.arl0_range
    return Stated(
        asked,
        found.chart,
        min(found.arl0, LONGEST),
        min(found.arl1, LONGEST),
        None if ends is None else (min(ends[0], LONGEST), min(ends[1], LONGEST)),
    )
