"""Derives the thresholds of the presets from labelled data and shows what they trade.

    python -m train.fit_thresholds --data ../shared/data --cache .work/signals --docs docs

The signals are those that `train.fit_combination` computed (the same cache, the same numbers of rows); after a new
network or a new combination run that first. For every threshold on a grid it counts, on the `fit` documents,

    leak rate          wrong claims whose probability of support reaches support_threshold
    false block rate   right claims whose probability of support does not
    missed             contradicted claims whose probability of contradiction does not reach contradiction_threshold
    false contradiction   other claims whose probability of contradiction does

with every set weighing as in the fit, and takes the threshold with the least

    leak weight * leak rate + false block rate,    missed + false contradiction weight * false contradiction rate

with the weights of each preset's criterion (`assay.policy.presets.CRITERIA`). What is reported comes from the `test`
documents, with intervals from resampled documents. `docs/thresholds.svg` and the tables between the markers of
`docs/thresholds.md` are written anew.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.config import Guard
from assay.evaluation.figures import bootstrap
from assay.policy import PRESETS
from assay.policy.presets import CRITERIA, Criterion
from assay.verify.network.combination import at_prior, load_combination
from train.draw_errors import replaced
from train.draw_thresholds import Line, Mark, panels
from train.fit_combination import SIDES, chosen_rows, signals_of, weights_by_set
from train.rows import Part, Row

Floats = NDArray[np.float64]

GRID = tuple(round(step / 20, 2) for step in range(1, 20))
"""The thresholds that are tried: finer ones would follow the noise of the rows, and people read them."""
FINE = tuple(round(step / 100, 2) for step in range(1, 100))
"""The thresholds of the drawing."""
WEIGHTS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""Weights of the criterion that the tables show."""
SLACK = 0.01
"""Thresholds whose loss is within this of the least are shown as about as good."""
RESAMPLES = 400
SEED = 7


@dataclass(frozen=True)
class Scores:
    """Rows of one side of the split, as columns."""

    label: NDArray[np.str_]
    support: Floats
    contradiction: Floats
    weight: Floats
    document: NDArray[np.str_]

    @property
    def wrong(self) -> NDArray[np.bool_]:
        """Whether the claim is anything but supported."""
        return np.not_equal(self.label, "supported")

    @property
    def told(self) -> NDArray[np.bool_]:
        """Whether the source tells contradiction from lack of support."""
        return np.not_equal(self.label, "not_supported")


def scores_of(rows: Sequence[Row], signals: Sequence[Mapping[str, float]]) -> Scores:
    """The columns of rows, with the probabilities of the combination that ships at the share of use of the presets."""
    combination, prior = load_combination(), PRESETS["general"].prior
    fitted = [combination.judge(one) for one in signals]
    judged = fitted if prior is None else [at_prior(one, combination.prior, prior) for one in fitted]
    return Scores(
        label=np.array([row.label for row in rows]),
        support=np.array([one.support for one in judged]),
        contradiction=np.array([one.contradiction for one in judged]),
        weight=weights_by_set([row.source for row in rows]),
        document=np.array([row.document for row in rows]),
    )


def share(event: NDArray[np.bool_], among: NDArray[np.bool_], weight: Floats) -> float:
    """The weighed share of the rows among which the event holds; NaN where there are none."""
    total = float(weight[among].sum())
    return float(weight[among & event].sum()) / total if total else float("nan")


def support_rates(data: Scores, threshold: float, weight: Floats | None = None) -> tuple[float, float]:
    """Leak rate and false block rate of a support threshold."""
    counted = data.weight if weight is None else weight
    passes = data.support >= threshold
    return share(passes, data.wrong, counted), share(~passes, ~data.wrong, counted)


def contradiction_rates(data: Scores, threshold: float, weight: Floats | None = None) -> tuple[float, float]:
    """The shares of contradictions missed and of other claims called contradicted."""
    counted = (data.weight if weight is None else weight) * data.told
    called, against = data.contradiction >= threshold, data.label == "contradicted"
    return share(~called, against, counted), share(called, ~against, counted)


Rates = Callable[[Scores, float], tuple[float, float]]


def losses(data: Scores, rates: Rates, first: float, second: float) -> dict[float, float]:
    """The loss of each threshold of the grid: both rates, weighed."""
    found = {threshold: rates(data, threshold) for threshold in GRID}
    return {threshold: first * one + second * other for threshold, (one, other) in found.items()}


def chosen(found: Mapping[float, float]) -> tuple[float, tuple[float, float]]:
    """The threshold with the least loss, the middle one of equals, and the range that is about as good."""
    least = min(found.values())
    best = [threshold for threshold, loss in found.items() if loss <= least + 1e-12]
    close = [threshold for threshold, loss in found.items() if loss <= least + SLACK]
    return best[len(best) // 2], (min(close), max(close))


At = TypeVar("At")


def intervals(data: Scores, rates: Callable[[Scores, At, Floats], tuple[float, float]], at: At) -> list[str]:
    """Both rates at a threshold, or a pair of them, with their intervals of 95%, over resampled documents."""
    drawn = [
        rates(data, at, data.weight * counts)
        for block in bootstrap.weights(data.document, RESAMPLES, SEED)
        for counts in block
    ]
    points = rates(data, at, data.weight)
    bounds = np.nanquantile(np.array(drawn), [0.025, 0.975], axis=0)
    return [f"{point:.3f} ({low:.3f} to {high:.3f})" for point, low, high in zip(points, *bounds, strict=True)]


def curve_table(data: Scores) -> list[str]:
    """All four rates over the grid, in Markdown."""
    lines = [
        "| threshold | leak rate | false block rate | contradictions missed | false contradictions |",
        "|---|---|---|---|---|",
    ]
    for threshold in GRID:
        cells = (*support_rates(data, threshold), *contradiction_rates(data, threshold))
        lines.append(f"| {threshold:.2f} | {' | '.join(f'{cell:.3f}' for cell in cells)} |")
    return lines


def weights_table(fit: Scores, test: Scores) -> list[str]:
    """What each weight chooses, and what that trades on the test documents, in Markdown."""
    lines = [
        "| weight of a leak | support_threshold | about as good | leak rate | false block rate |",
        "|---|---|---|---|---|",
    ]
    for weight in WEIGHTS:
        threshold, (low, high) = chosen(losses(fit, support_rates, weight, 1.0))
        leak, block = support_rates(test, threshold)
        lines.append(f"| {weight:g} | {threshold:.2f} | {low:.2f} to {high:.2f} | {leak:.3f} | {block:.3f} |")
    lines += [
        "",
        "| weight of a false contradiction | contradiction_threshold | about as good | missed | false contradictions |",
        "|---|---|---|---|---|",
    ]
    for weight in WEIGHTS:
        threshold, (low, high) = chosen(losses(fit, contradiction_rates, 1.0, weight))
        missed, false = contradiction_rates(test, threshold)
        lines.append(f"| {weight:g} | {threshold:.2f} | {low:.2f} to {high:.2f} | {missed:.3f} | {false:.3f} |")
    return lines


def presets_table(fit: Scores, test: Scores) -> list[str]:
    """What each preset's criterion chooses beside what the preset has, both on the test documents, in Markdown."""
    return [
        *_presets(fit, test, "support_threshold", ("weight of a leak", "leak rate", "false block rate")),
        "",
        *_presets(
            fit, test, "contradiction_threshold", ("weight of a false contradiction", "missed", "false contradictions")
        ),
        "",
        *_verdicts(fit, test),
    ]


def derived(fit: Scores, criterion: Criterion) -> tuple[float, float]:
    """The support and the contradiction threshold that a criterion chooses."""
    return (
        chosen(losses(fit, support_rates, criterion.leak, 1.0))[0],
        chosen(losses(fit, contradiction_rates, 1.0, criterion.false_contradiction))[0],
    )


def verdict_rates(
    data: Scores, support: float, contradiction: float, weight: Floats | None = None
) -> tuple[float, float]:
    """Leak and false block rate of the verdict, which needs support and no contradiction."""
    passes = (data.support >= support) & (data.contradiction < contradiction)
    counted = data.weight if weight is None else weight
    return share(passes, data.wrong, counted), share(~passes, ~data.wrong, counted)


def _verdicts(fit: Scores, test: Scores) -> list[str]:
    """What both thresholds together do, now and derived."""
    lines = [
        "| presets | thresholds now | leak rate | false block rate | derived | leak rate | false block rate |",
        "|---|---|---|---|---|---|---|",
    ]
    alike: dict[tuple[Criterion, float, float], list[str]] = {}
    for name, policy in PRESETS.items():
        key = (CRITERIA[name], policy.support_threshold, policy.contradiction_threshold)
        alike.setdefault(key, []).append(name)
    for (criterion, *now), names in alike.items():
        pairs = (now, derived(fit, criterion))
        cells = [
            cell
            for support, contradiction in pairs
            for cell in (
                f"{support:.2f} and {contradiction:.2f}",
                *intervals(test, lambda data, pair, w: verdict_rates(data, *pair, w), (support, contradiction)),
            )
        ]
        lines.append(f"| {' | '.join([', '.join(names), *cells])} |")
    return lines


def _presets(fit: Scores, test: Scores, field: str, words: tuple[str, str, str]) -> list[str]:
    """One row for the presets that share criterion and threshold."""
    of_support = field == "support_threshold"
    rates = support_rates if of_support else contradiction_rates
    alike: dict[tuple[float, float], list[str]] = {}
    for name, policy in PRESETS.items():
        weight = CRITERIA[name].leak if of_support else CRITERIA[name].false_contradiction
        alike.setdefault((weight, float(getattr(policy, field))), []).append(name)
    weight_name, first, second = words
    names_of = ("presets", weight_name, f"{field} now", first, second, "derived", "about as good", first, second)
    lines = [f"| {' | '.join(names_of)} |", "|---|---|---|---|---|---|---|---|---|"]
    for (weight, now), names in alike.items():
        weights = (weight, 1.0) if of_support else (1.0, weight)
        best, (low, high) = chosen(losses(fit, rates, *weights))
        cells = [
            ", ".join(names),
            f"{weight:g}",
            f"{now:.2f}",
            *intervals(test, rates, now),
            f"{best:.2f}",
            f"{low:.2f} to {high:.2f}",
            *intervals(test, rates, best),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def drawing(data: Scores) -> str:
    """Both trade-offs as one SVG: the rates over the threshold, with the presets' thresholds marked."""
    support = [support_rates(data, threshold) for threshold in FINE]
    against = [contradiction_rates(data, threshold) for threshold in FINE]
    marks = [
        [
            Mark(value, ", ".join(name for name, policy in PRESETS.items() if getattr(policy, field) == value))
            for value in sorted({float(getattr(policy, field)) for policy in PRESETS.values()})
        ]
        for field in ("support_threshold", "contradiction_threshold")
    ]
    return panels(
        (
            "support_threshold",
            [
                Line("wrong claims that pass (leak)", FINE, [leak for leak, _ in support], "bad"),
                Line("right claims flagged (false block)", FINE, [block for _, block in support], "plain"),
            ],
            marks[0],
        ),
        (
            "contradiction_threshold",
            [
                Line("contradictions missed", FINE, [missed for missed, _ in against], "bad"),
                Line("others called contradicted", FINE, [false for _, false in against], "plain"),
            ],
            marks[1],
        ),
    )


def main() -> None:
    """Read arguments and signals, derive, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True, help="the folder of signals of train.fit_combination")
    parser.add_argument("--fit-rows", type=int, default=200, help="as given to train.fit_combination")
    parser.add_argument("--test-rows", type=int, default=110, help="as given to train.fit_combination")
    parser.add_argument("--docs", type=Path, help="folder of thresholds.md and thresholds.svg")
    arguments = parser.parse_args()
    guard = Guard("general")
    sides: dict[Part, Scores] = {}
    for part in SIDES:
        rows = chosen_rows(arguments.data, part, arguments.fit_rows if part == "fit" else arguments.test_rows)
        sides[part] = scores_of(rows, signals_of(guard, rows, arguments.cache / f"{part}.json"))
    fit, test = sides["fit"], sides["test"]
    counts = (
        f"Chosen on {len(fit.label):,} rows of `fit` documents, rates of {len(test.label):,} rows of `test` documents."
    )
    tables = {
        "presets": [counts, "", *presets_table(fit, test)],
        "weights": weights_table(fit, test),
        "curve": curve_table(test),
    }
    for name, lines in tables.items():
        print(f"\n{name}\n", *lines, sep="\n")
    if arguments.docs is not None:
        page = arguments.docs / "thresholds.md"
        text = page.read_text()
        for name, lines in tables.items():
            text = replaced(text, name, lines)
        page.write_text(text)
        (arguments.docs / "thresholds.svg").write_text(drawing(test))


if __name__ == "__main__":
    main()
