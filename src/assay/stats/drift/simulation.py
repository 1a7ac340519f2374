"""Run lengths by simulation, as a check of the exact ones."""

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.stats.drift.cusum import Chart, Direction
from assay.stats.drift.lattice import Lattice

_AT_ONCE = 64
"""Observations that each run draws at a time."""


def simulated_run_lengths(
    chart: Chart, lattice: Lattice, runs: int, rng: np.random.Generator, most: int = 100_000_000
) -> NDArray[np.int64]:
    """Simulates charts and returns the number of observations until the alarm of each.

    Args:
        chart: the chart, started at zero.
        lattice: the distribution of observations.
        runs: the number of charts.
        rng: the source of randomness.
        most: the length at which longer runs are cut off.

    Raises:
        InputError: there are no runs.
    """
    if runs < 1:
        raise InputError(f"expected at least one run, got {runs}")
    values, ends = lattice.values, np.cumsum(lattice.chances)
    sign = 1.0 if chart.direction is Direction.UP else -1.0
    gains = sign * (values - chart.reference)
    totals, lengths = np.zeros(runs), np.zeros(runs, dtype=np.int64)
    running = np.arange(runs)
    step = 0
    while running.size and step < most:
        drawn = np.minimum(np.searchsorted(ends, rng.random((_AT_ONCE, running.size)), side="right"), len(values) - 1)
        alive = np.ones(running.size, dtype=np.bool_)
        current = totals[running]
        for row in gains[drawn]:
            step += 1
            current = np.maximum(0.0, current + row)
            over = alive & (current > chart.threshold)
            if over.any():
                lengths[running[over]] = step
                alive &= ~over
        totals[running] = current
        running = running[alive]
    lengths[running] = most
    return lengths
