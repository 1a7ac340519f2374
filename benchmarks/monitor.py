"""Whether the monitor keeps what it states: run lengths, delays, causes, the cost of a bisection, sampling.

    python -m benchmarks.monitor [run_lengths detection attribution bisection sampling] [--runs N] [--histories N]

Everything is simulated from stated rates with fixed seeds, so that what is right is known.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

from assay.monitor import Ask, Sampling, SearchOptions, SearchResult, SystemChange, attribute, search
from assay.stats.drift import (
    Design,
    Direction,
    bernoulli,
    beta,
    design_chart,
    fixed_size,
    simulated_run_lengths,
    tilted,
    weighted_rate,
)

Floats = NDArray[np.float64]
BASE, SHIFT = 0.05, 0.03
DAY = 2_000
"""Outputs a day in the comparison of detectors."""
CHANGE = 50_000
"""The observation at which the rate rises."""

DESIGNS: tuple[tuple[str, float, float, float, Direction, float | None], ...] = (
    ("rate", 0.01, 0.01, 2_000, Direction.UP, None),
    ("rate", 0.02, 0.02, 1_000, Direction.UP, None),
    ("rate", 0.05, 0.03, 1_000, Direction.UP, None),
    ("rate", 0.05, 0.03, 3_000, Direction.UP, None),
    ("rate", 0.05, 0.03, 1_000, Direction.DOWN, None),
    ("rate", 0.1, 0.05, 1_000, Direction.UP, None),
    ("rate", 0.1, 0.05, 1_000, Direction.DOWN, None),
    ("rate", 0.3, 0.1, 1_000, Direction.UP, None),
    ("rate", 0.5, 0.1, 1_000, Direction.UP, None),
    ("rate", 0.9, 0.05, 1_000, Direction.UP, None),
    ("score", 0.05, 0.03, 1_000, Direction.UP, None),
    ("score", 0.05, 0.02, 1_000, Direction.DOWN, None),
    ("score", 0.1, 0.05, 1_000, Direction.UP, None),
    ("score", 0.1, 0.05, 1_000, Direction.UP, 0.05),
    ("score", 0.2, 0.05, 1_000, Direction.UP, 0.1),
    ("score", 0.2, 0.05, 1_000, Direction.DOWN, 0.1),
    ("score", 0.3, 0.03, 1_000, Direction.UP, 0.15),
    ("score", 0.5, 0.1, 1_000, Direction.UP, 0.2),
    ("score", 0.5, 0.1, 1_000, Direction.DOWN, 0.3),
    ("score", 0.8, 0.1, 1_000, Direction.UP, 0.1),
)


def run_lengths(runs: int) -> None:
    """Simulated mean run lengths beside what designs state, and beside the textbook."""
    print(f"| design | ARL0 stated | simulated | Siegmund | ARL1 stated | simulated | h/(D-d) | ({runs:,} runs) |")
    print("|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for number, (kind, baseline, shift, every, direction, spread) in enumerate(DESIGNS):
        found = design_chart(baseline, shift, every, kind=kind, direction=direction, spread=spread, curve=False)
        of = bernoulli(baseline) if kind == "rate" else beta(baseline, _spread(baseline, spread), 2_000)
        shifted = tilted(of, baseline + (shift if direction is Direction.UP else -shift))
        rng = np.random.default_rng(number)
        zero = float(simulated_run_lengths(found.chart, of, runs, rng).mean())
        one = float(simulated_run_lengths(found.chart, shifted, runs, rng).mean())
        off = max(abs(zero / found.arl0 - 1), abs(one / found.arl1 - 1))
        worst = max(worst, off)
        textbook = found.approximation
        print(
            f"| {kind} {baseline:g} {direction.value} {shift:g} | {found.arl0:,.0f} | {zero:,.0f} | "
            f"{textbook.siegmund_arl0:,.0f} | {found.arl1:,.1f} | {one:,.1f} | "
            f"{0 if textbook.arl1 is None else textbook.arl1:,.0f} | {off:.1%} |",
            flush=True,
        )
    print(f"largest difference {worst:.1%}")


def _spread(baseline: float, spread: float | None) -> float:
    return 0.5 * math.sqrt(baseline * (1 - baseline)) if spread is None else spread


# Detection


def detection(histories: int) -> None:
    """Delay until a rise of three points is found, at the same rate of false alarms."""
    every = 100_000
    chart = design_chart(BASE, SHIFT, every, curve=False)
    rng = np.random.default_rng(1)
    quiet = rng.random((60, 300_000)) < BASE
    detectors: dict[str, Callable[[NDArray[np.bool_]], Floats]] = {
        "7-day rolling mean": _rolling, "two-proportion z-test, a day against the 7 before": _z_test,
    }  # fmt: skip
    cuts = {}
    for name, statistic in detectors.items():
        # The cut at which quiet streams alarm as often as the chart: one alarm in `every`, alarms being runs above it.
        low, high = 0.0, 10.0
        values = [statistic(row) for row in quiet]
        for _ in range(30):
            cut = (low + high) / 2
            alarms = sum(int(((one[1:] > cut) & (one[:-1] <= cut)).sum()) for one in values)
            low, high = (cut, high) if alarms > quiet.size / every else (low, cut)
        cuts[name] = high
    delays: dict[str, list[float]] = {name: [] for name in ("CUSUM", *detectors)}
    early = dict.fromkeys(delays, 0)
    for _ in range(histories):
        stream = np.concatenate([rng.random(CHANGE) < BASE, rng.random(60_000) < BASE + SHIFT])
        _note(delays, early, "CUSUM", _first_alarms(chart, stream.astype(np.float64)))
        for name, statistic in detectors.items():
            found = statistic(stream)
            step = len(stream) / len(found)
            above = np.flatnonzero((found > cuts[name])[1:] & (found <= cuts[name])[:-1]) + 1
            _note(delays, early, name, [round((at + 1) * step) for at in above])
    print(
        f"{histories} streams, a rise from {BASE:g} to {BASE + SHIFT:g} at {CHANGE:,}, {DAY:,} outputs a day, one "
        f"false alarm in {every:,} each. The worst mean delay of the chart is {chart.arl1:,.0f}: no detector with as "
        "few false alarms has a smaller one (Moustakides 1986)."
    )
    print("| detector | median delay | 90% | never | false alarms before, a stream |")
    print("|---|---|---|---|---|")
    for name, waited in delays.items():
        ordered = sorted(waited)
        never = sum(math.isinf(one) for one in waited)
        print(
            f"| {name} | {median(ordered):,.0f} | {ordered[int(0.9 * len(ordered))]:,.0f} | {never} | "
            f"{early[name] / histories:.2f} |"
        )


def _note(delays: dict[str, list[float]], early: dict[str, int], name: str, alarms: list[int]) -> None:
    early[name] += sum(at <= CHANGE for at in alarms)
    delays[name].append(next((float(at - CHANGE) for at in alarms if at > CHANGE), math.inf))


def _first_alarms(found: Design, values: Floats) -> list[int]:
    chart, total, alarms = found.chart, 0.0, []
    for number, gain in enumerate((values - chart.reference).tolist(), 1):
        total = max(0.0, total + gain)
        if total > chart.threshold:
            alarms.append(number)
            total = 0.0
    return alarms


def _rolling(stream: NDArray[np.bool_]) -> Floats:
    window = 7 * DAY
    sums = np.concatenate([[0], np.cumsum(stream)])
    ends = np.arange(1, len(stream) + 1)
    starts = np.maximum(0, ends - window)
    means = (sums[ends] - sums[starts]) / window
    return np.asarray(np.where(ends >= window, (means - BASE) * 100, 0.0))


def _z_test(stream: NDArray[np.bool_]) -> Floats:
    days = stream[: len(stream) // DAY * DAY].reshape(-1, DAY).sum(axis=1).astype(np.float64)
    found = np.zeros(len(days))
    for day in range(7, len(days)):
        before, now = days[day - 7 : day].sum() / (7 * DAY), days[day] / DAY
        pooled = (days[day - 7 : day + 1].sum()) / (8 * DAY)
        found[day] = (now - before) / math.sqrt(pooled * (1 - pooled) * (1 / DAY + 1 / (7 * DAY)))
    return found


# Attribution


def attribution(histories: int) -> None:
    """Of histories of 12 changes one raises the rate: how often it is the one that is named."""
    found = design_chart(BASE, SHIFT, 50_000, curve=False)
    for shift in (0.03, 0.05):
        rng, right, nearest, false_, none, sure = np.random.default_rng(2), 0, 0, 0, 0, 0
        chances = []
        for _ in range(histories):
            moments = np.sort(rng.choice(np.arange(1_000, 60_000), 12, replace=False))
            cause = int(rng.integers(12))
            rates = np.where(np.arange(80_000) < moments[cause], BASE, BASE + shift)
            values = (rng.random(80_000) < rates).astype(np.float64)
            alarms = _first_alarms(found, values)
            early = [at for at in alarms if at <= moments[cause]]
            false_ += bool(early)
            at = next((one for one in alarms if one > moments[cause]), None)
            if at is None:
                none += 1
                continue
            begin = early[-1] if early else 0
            window = list(values[begin:at])
            changes = [
                SystemChange("code", str(number), int(one)) for number, one in enumerate(moments) if one >= begin
            ]
            told = attribute(found.chart, list(range(begin, at)), window, changes, binary=True, shift=SHIFT)
            right += told.cause is not None and told.cause.change.ref == str(cause)
            chances.append(0.0 if told.cause is None else told.cause.probability)
            before = [number for number, one in enumerate(moments) if one <= at]
            nearest += bool(before) and before[-1] == cause
            sure += told.regression
        print(
            f"shift {shift:g}: named right {right} of {histories} ({right / histories:.1%}), mean stated probability "
            f"{np.mean(chances):.3f}; the change nearest before the alarm {nearest / histories:.1%}; missed {none}; "
            f"means differ for sure at the alarm {sure}; false alarms before {false_}"
        )
        gaps = [second - first for first, second in pairwise(moments)]
        print(f"  (changes {min(gaps):,} to {max(gaps):,} outputs apart in the last history)")


# Bisection


def bisection(histories: int) -> None:
    """Success, and evaluations beside a binary search that evaluates a fixed number in each state."""
    changes, options = 12, SearchOptions()
    share = options.alpha / (2 * (math.ceil(math.log2(changes)) + 1))
    each = fixed_size(BASE, BASE + SHIFT, share)
    steps = math.log2(changes)
    for name, known, causes, count in (
        ("both means known", True, 1, histories),
        ("both ends measured", False, 1, max(20, histories // 4)),
        ("two causes, both means known", True, 2, max(20, histories // 2)),
        ("nothing changed, both ends measured", False, 0, max(20, histories // 4)),
    ):
        rng, right, cost, began = np.random.default_rng(3), 0, list[int](), time.monotonic()
        for _ in range(count):
            at = set(rng.choice(changes, causes, replace=False).tolist())
            rates = [BASE + SHIFT * sum(state > one for one in at) for state in range(changes + 1)]
            good, bad = (rates[0], rates[-1]) if known else (None, None)
            result = _played(rates, SearchOptions(batch=25 if known else 100, good=good, bad=bad), rng)
            right += {one.change for one in result.causes} == at
            cost.append(result.evaluations)
        fixed = each * (steps + (0 if known else 2))
        beside = f", a fixed size {fixed:,.0f} ({np.mean(cost) / fixed:.2f})" if causes == 1 else ""
        print(
            f"{name}: right {right} of {count} ({right / count:.1%}), evaluations {np.mean(cost):,.0f}{beside} "
            f"[{time.monotonic() - began:.0f} s]",
            flush=True,
        )


def _played(rates: list[float], options: SearchOptions, rng: np.random.Generator) -> SearchResult:
    outcomes: dict[int, list[float]] = {}
    while isinstance(ask := search(len(rates) - 1, outcomes, options), Ask):
        drawn = rng.random(ask.count) < rates[ask.state]
        outcomes.setdefault(ask.state, []).extend(drawn.astype(np.float64).tolist())
    return ask


# Sampling


def sampling(days: int) -> None:
    """Estimates out of samples over so many days, by run ids as the monitor draws them."""
    drawing, rng = Sampling(), np.random.default_rng(4)
    names, share, rates = ("high", "medium", "low"), np.array([0.1, 0.3, 0.6]), np.array([0.2, 0.05, 0.01])
    truth = float(share @ rates)
    estimates, covered, drawn_share = [], 0, []
    for day in range(days):
        stakes = rng.choice(3, DAY, p=share)
        bad = rng.random(DAY) < rates[stakes]
        chances = np.array([drawing.probability(names[one]) for one in stakes])
        drawn = np.array([
            drawing.draws(f"{day:012x}{number:020x}", chance) for number, chance in enumerate(chances)
        ])  # fmt: skip
        found = weighted_rate(bad[drawn].astype(np.float64).tolist(), chances[drawn].tolist())
        covered += found.low <= truth <= found.high
        drawn_share.append(float(drawn.mean()))
        estimates.append(found.total / DAY)
    error = float(np.std(estimates)) / math.sqrt(days)
    print(
        f"{days:,} days of {DAY:,} outputs: true rate {truth:.4f}, mean of the estimates (Horvitz-Thompson) "
        f"{np.mean(estimates):.4f} (standard error {error:.5f}), intervals that hold it {covered / days:.1%}; sampled "
        f"{np.mean(drawn_share):.2%} of all, stated {float(share @ [1.0, 0.1, 0.01]):.2%}"
    )


def main() -> None:
    """Run the sections that are named, all by default."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sections: dict[str, Callable[[int], None]] = {
        "run_lengths": run_lengths, "detection": detection, "attribution": attribution, "bisection": bisection,
        "sampling": sampling,
    }  # fmt: skip
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="which ones")
    parser.add_argument("--runs", type=int, default=100_000, help="charts behind each simulated run length")
    parser.add_argument("--histories", type=int, default=200, help="simulated histories")
    parser.add_argument("--days", type=int, default=1_000, help="days of sampling")
    given = parser.parse_args()
    counts = {"run_lengths": given.runs, "sampling": given.days}
    for name in given.sections or sections:
        began = time.monotonic()
        print(f"\n## {name}")
        sections[name](counts.get(name, given.histories))
        print(f"({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
