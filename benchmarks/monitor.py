"""Whether the monitor keeps what it states: run lengths, delays, causes, the cost of a bisection, sampling.

    python -m benchmarks.monitor [SECTION ...] [--runs N] [--designs N ...] [--histories N]

Sections are run_lengths, detection, attribution, bisection, bisection_beyond and sampling; all by default.

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


def run_lengths(runs: int, only: tuple[int, ...] = ()) -> None:
    """Simulated mean run lengths beside what designs state, and beside the textbook; of the designs with these numbers,
    from 1, or of all."""
    print(f"| design | ARL0 stated | simulated | Siegmund | ARL1 stated | simulated | h/(D-d) | ({runs:,} runs) |")
    print("|---|---|---|---|---|---|---|---|")
    worst = 0.0
    for number, (kind, baseline, shift, every, direction, spread) in enumerate(DESIGNS):
        if only and number + 1 not in only:
            continue
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
        "7-day rolling mean": _rolling,
        "two-proportion z-test, a day against the 7 before": _z_test,
    }
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

CHANGES = 12
Evaluate = Callable[[int, int, int], Floats]
"""Outcomes of a state, from a row on, so many."""


def bisection(histories: int) -> None:
    """Success and evaluations where every evaluation is noise of its own, beside searches of a fixed size."""
    print(f"{CHANGES} changes, a rise from {BASE:g} to {BASE + SHIFT:g}")
    rng = np.random.default_rng(5)
    for known in (False, True):
        cost, ends, middle, right, level = _cheapest_fixed(known, rng)
        told = "both means known" if known else f"{ends:,} evaluations of each end"
        print(
            f"the cheapest search of a fixed size that is right in 95%, {told}, {middle:,} of each state between: "
            f"{cost:,.0f} evaluations, right {right:.1%}, false alarms where nothing changed {level:.1%}",
            flush=True,
        )
        _searches("both means known" if known else "both ends measured", histories, 1, cost, known=known)
    _searches("nothing changed, both ends measured", histories, 0)


def bisection_beyond(histories: int) -> None:
    """The same for two causes, for rows that answer alike in every state, and for a rise that is larger."""
    half = max(20, histories // 2)
    _searches("two causes, both ends measured", half, 2)
    _searches("two causes, both means known", half, 2, known=True)
    _searches("half of an outcome is its row's, both ends measured", half, 1, row=0.7)
    _searches("half of an outcome is its row's, nothing changed", half, 0, row=0.7)
    _searches("outcomes without noise, both ends measured", half, 1, row=1.0)
    _searches("outcomes without noise, nothing changed", half, 0, row=1.0)
    _searches("a rise of twice what matters, both ends measured", half, 1, times=2)


def _searches(
    name: str,
    count: int,
    causes: int,
    fixed: float | None = None,
    *,
    known: bool = False,
    row: float = 0.0,
    times: int = 1,
) -> None:
    """Search so many histories.

    Args:
        name: what is told.
        count: how many histories.
        causes: how many changes made it worse.
        fixed: evaluations of a search of a fixed size, if it is told beside.
        known: whether both means are known.
        row: the chance that an evaluation has the chance of its row in place of one of its own; two evaluations of one
            row then correlate by its square.
        times: how many times the shift that matters each cause is.
    """
    rng, right, cost, began = np.random.default_rng(3), 0, list[int](), time.monotonic()
    wrong = {"another": 0, "none": 0}
    for _ in range(count):
        at = set(rng.choice(CHANGES, causes, replace=False).tolist())
        rates = [BASE + times * SHIFT * sum(state > one for one in at) for state in range(CHANGES + 1)]
        good, bad = (rates[0], rates[-1]) if known else (None, None)
        options = SearchOptions(shift=SHIFT, good=good, bad=bad)
        result = _played(_noise(rates, row, rng), options)
        named = {one.change for one in result.causes}
        right += named == at
        wrong["another" if named else "none"] += named != at
        cost.append(result.evaluations)
    beside = "" if fixed is None else f", {np.mean(cost) / fixed:.2f} of the fixed size"
    print(
        f"{name}: right {right} of {count} ({right / count:.1%}; another named {wrong['another']}, none "
        f"{wrong['none']}), evaluations {np.mean(cost):,.0f}, median {np.median(cost):,.0f}{beside} "
        f"[{time.monotonic() - began:.0f} s]",
        flush=True,
    )


def _noise(rates: list[float], row: float, rng: np.random.Generator) -> Evaluate:
    own = rng.random(50_000)

    def evaluate(state: int, begin: int, count: int) -> Floats:
        chance = np.where(rng.random(count) < row, own[begin : begin + count], rng.random(count))
        return (chance < rates[state]).astype(np.float64)

    return evaluate


def _played(evaluate: Evaluate, options: SearchOptions) -> SearchResult:
    outcomes: dict[int, list[float]] = {}
    while isinstance(ask := search(CHANGES, outcomes, options), Ask):
        seen = outcomes.setdefault(ask.state, [])
        seen.extend(evaluate(ask.state, len(seen), ask.count).tolist())
    return ask


def _cheapest_fixed(known: bool, rng: np.random.Generator) -> tuple[float, int, int, float, float]:
    """The fixed sizes, of the ends and of the states between, that cost least and are right in 95% of histories: both
    ends are compared at 5% (where they are measured), then each state in the middle with the mean of both."""
    best: tuple[float, int, int, float, float] | None = None
    for middle in range(900, 2_600, 50):
        for share in (0.0,) if known else (0.6, 0.75, 0.9, 1.0, 1.1, 1.25, 1.5):
            found = _fixed(round(middle * share), middle, 20_000, rng)
            if found[1] >= 0.95 and (best is None or found[0] < best[0]):
                best = (found[0], round(middle * share), middle, *found[1:])
    assert best is not None  # noqa: S101 2,550 evaluations of each state are enough
    return best


def _fixed(ends: int, middle: int, count: int, rng: np.random.Generator) -> tuple[float, float, float]:
    """Mean evaluations, how often a search of fixed sizes is right, and how often it errs where nothing changed."""
    cause, high = rng.integers(CHANGES, size=count), BASE + SHIFT
    cut, found, level = np.full(count, (BASE + high) / 2), np.ones(count, np.bool_), 0.0
    if ends:
        needed = 1.645 * math.sqrt(2 * BASE * (1 - BASE) / ends)
        first, last, same = (rng.binomial(ends, rate, count) / ends for rate in (BASE, high, BASE))
        cut, found, level = (first + last) / 2, last - first > needed, float((same - first > needed).mean())
    lower, upper, cost = np.zeros(count, np.int64), np.full(count, CHANGES), np.full(count, 2.0 * ends)
    while (open_ := found & (upper - lower > 1)).any():
        state = (lower + upper) // 2
        worse = rng.binomial(middle, np.where(state > cause, high, BASE)) / middle > cut
        upper, lower = np.where(open_ & worse, state, upper), np.where(open_ & ~worse, state, lower)
        cost += open_ * middle
    return float(cost.mean()), float((found & (lower == cause)).mean()), level


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
        drawn = np.array([drawing.draws(f"{day:012x}{number:020x}", chance) for number, chance in enumerate(chances)])
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
        "run_lengths": lambda runs: run_lengths(runs, tuple(given.designs)),
        "detection": detection,
        "attribution": attribution,
        "bisection": bisection,
        "bisection_beyond": bisection_beyond,
        "sampling": sampling,
    }
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="which ones")
    parser.add_argument("--runs", type=int, default=100_000, help="charts behind each simulated run length")
    parser.add_argument("--designs", type=int, nargs="+", default=[], help="those of run_lengths, by number from 1")
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
