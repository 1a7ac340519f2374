"""Designed charts with their run lengths: computed once, and kept with the state of their series."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.stats import wilson
from assay.stats.drift import Chart, Direction, design_chart

DesignKey = tuple[float, float, float, str, float | None, int]
"""The inputs of a design: the baseline, the shift, the observations between false alarms, `rate` or `score`, the
standard deviation of a score, and the number of observations that the baseline was learned from (0 if it is known)."""
LONGEST: Final = 1e18
"""The longest stated run length, in observations; longer ones are stated as this."""


@dataclass(frozen=True, slots=True)
class DesignedChart:
    """A designed chart with its run lengths."""

    key: DesignKey
    """The inputs of its design."""
    chart: Chart
    arl0: float
    """The mean number of observations between false alarms."""
    arl1: float
    """The mean number of observations until the alarm if the shift were there from the start."""
    arl0_range: tuple[float, float] | None
    """The range of `arl0` over the interval of a learned baseline."""

    def wire(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "asked": list(self.key),
            "slack": self.chart.slack,
            "threshold": self.chart.threshold,
            "arl0": self.arl0,
            "arl1": self.arl1,
            "arl0_range": None if self.arl0_range is None else list(self.arl0_range),
        }

    @classmethod
    def of_wire(cls, wire: Mapping[str, Any], direction: Direction) -> "DesignedChart":
        """Out of a JSON value."""
        baseline, shift, false_alarm_every, kind, spread, learned = wire["asked"]
        arl0_range = wire["arl0_range"]
        return cls(
            (baseline, shift, false_alarm_every, kind, spread, learned),
            Chart(baseline, wire["slack"], wire["threshold"], direction),
            wire["arl0"],
            wire["arl1"],
            None if arl0_range is None else (arl0_range[0], arl0_range[1]),
        )


@lru_cache(maxsize=4_096)
def designed(key: DesignKey, direction: Direction) -> DesignedChart:
    """Designs a chart. It takes milliseconds for a rate and up to some tenths of a second for a score."""
    baseline, shift, false_alarm_every, kind, spread, learned = key
    interval = None
    if learned:
        if kind == "rate":
            interval = wilson(min(learned, round(baseline * learned)), learned)
        else:
            half = 1.959964 * (spread or 0.0) / math.sqrt(learned)
            interval = (max(1e-6, baseline - half), min(1 - 1e-6, baseline + half))
    design = design_chart(
        baseline,
        shift,
        false_alarm_every,
        kind=kind,
        direction=direction,
        spread=spread,
        baseline_range=interval,
        curve=False,
    )
    arl0_range = design.arl0_range
    return DesignedChart(
        key,
        design.chart,
        min(design.arl0, LONGEST),
        min(design.arl1, LONGEST),
        None if arl0_range is None else (min(arl0_range[0], LONGEST), min(arl0_range[1], LONGEST)),
    )
