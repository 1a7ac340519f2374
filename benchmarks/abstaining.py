"""Whether the fitted decision to answer pays on documents that it was not fitted on.

    python -m benchmarks.abstaining DATA [--rows 300] [--results FILE] [--svg FILE]

DATA is the folder of labelled data. Rows of the development sets are checked as outputs, once, and kept in the file of
--results, which `benchmarks/calibration.py` shares. Twenty times the documents are split into halves at random: the
confidence is fitted on one half and counted on the other. --svg draws the curves, each row by a confidence that the
other half of the documents gave.

The sets have no questions; retrieval quality and coverage are measured with the claim in the question's place, as a
fact check asks whether the claim is so. Nor have they answers of a model: entropy and consistency cannot be measured.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.calibration import rows_of
from benchmarks.drawing import Panel, drawn

from assay.cli.calibrate import open_loosest
from assay.cli.evaluate import identity_of, progress_bar
from assay.evaluation.calibrate.abstention import CEILING, PREFIX
from assay.evaluation.calibrate.thresholds import calibration_key, judge_rows
from assay.evaluation.rows.atomic_files import write_file
from assay.evaluation.rows.reading import Row
from assay.evaluation.rows.results import Result, ResultLog
from assay.policy import preset
from assay.policy.calibration.strictness import block_grid_of, grid_of
from assay.rewrite.answers.confidence_signals import question_share
from assay.stats.calibration import adaptive_ece, adaptive_reliability, ece, log_loss
from assay.stats.classification import auroc
from assay.stats.confidence import SIGNALS, WEIGHTS, ConfidenceModel, fit_confidence
from assay.stats.confidence_weights import fit_weights
from assay.stats.costs import Costs, Outcome, answer_thresholds, cheapest, counted, weights_of
from assay.stats.risk import learn_then_test

SPLITS = 20
SEED = 29
ALPHA, DELTA = 0.1, 0.1
GRID = tuple(n / 100 for n in range(101))

Signals = Mapping[str, float | None]
Fitter = Callable[[Sequence[Signals], Sequence[bool]], ConfidenceModel]


@dataclass(frozen=True, slots=True)
class Known:
    """One row."""

    signals: Signals
    right: bool
    document: str
    most: int
    """What triggers, contradictions, caveats and groundedness leave: 0 given, 1 with a caveat, 2 held back."""
    gate: Outcome


def known_of(row: Row, result: Result, gate: Outcome) -> Known:
    """What a kept result says of a row, with the claim as its question."""
    signals: dict[str, float | None] = {name: result.signals.get(f"{PREFIX}{name}") for name in SIGNALS}
    shares = [question_share(row.text, [piece]) for piece in row.evidence]
    signals["retrieval_quality"] = max((share for share in shares if share is not None), default=None)
    signals["coverage"] = question_share(row.text, row.evidence)
    return Known(signals, not row.wrong, row.document, int(result.signals[CEILING]), gate)


def only(*names: str) -> Mapping[str, float]:
    """The weights by judgement of some signals."""
    return {name: WEIGHTS[name] if name in names else 0.0 for name in SIGNALS}


FITS: dict[str, Fitter] = {
    "groundedness as it is": lambda *_: ConfidenceModel(tuple(only("groundedness").items())),
    "signals, weights by judgement, no curve": lambda *_: ConfidenceModel(),
    "groundedness, curve fitted": lambda rows, right: fit_confidence(rows, right, only("groundedness")),
    "signals, weights by judgement, curve fitted": lambda rows, right: fit_confidence(rows, right, WEIGHTS),
    "signals, weights and curve fitted": lambda rows, right: fit_confidence(rows, right, fit_weights(rows, right)),
}
FITTED = "signals, weights and curve fitted"


def halves(known: Sequence[Known]) -> Iterator[tuple[list[Known], list[Known]]]:
    """Random halves of the documents."""
    generator = random.Random(SEED)
    names = sorted({row.document for row in known})
    for _ in range(SPLITS):
        first = set(generator.sample(names, len(names) // 2))
        yield [r for r in known if r.document in first], [r for r in known if r.document not in first]


def fitted(name: str, rows: Sequence[Known]) -> ConfidenceModel:
    """A model of some rows."""
    return FITS[name]([row.signals for row in rows], [row.right for row in rows])


def said(model: ConfidenceModel, rows: Sequence[Known]) -> list[float]:
    """The confidence of each row."""
    return [model.confidence(row.signals) or 0.0 for row in rows]


def confidences(known: Sequence[Known]) -> None:
    """Print how well each confidence does on the other half."""
    print("\n| confidence | ECE | adaptive ECE | log loss | AUROC |\n|---|---|---|---|---|")
    for name in FITS:
        figures = []
        for first, second in halves(known):
            values, right = said(fitted(name, first), second), [row.right for row in second]
            figures.append(
                (ece(values, right), adaptive_ece(values, right), log_loss(values, right), _area(right, values))
            )
        print(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in np.mean(figures, axis=0))} |", flush=True)
    weights = fitted(FITTED, known).weights
    print("\nweights, all rows: " + ", ".join(f"{name} {weight:g}" for name, weight in weights if weight))


def _area(right: Sequence[bool], values: Sequence[float]) -> float:
    found = auroc(right, values).value
    return float("nan") if found is None else found


def reached(values: Sequence[float], rows: Sequence[Known]) -> list[Outcome]:
    """How far each row gets by its confidence alone, within what no confidence can change."""
    return [
        Outcome(not row.right, value if row.most == 0 else -1.0, value if row.most < 2 else -1.0)
        for value, row in zip(values, rows, strict=True)
    ]


def decided(
    values: Sequence[float], rows: Sequence[Known], limits: tuple[float, float], gate: tuple[float, float]
) -> list[int]:
    """0 given, 1 with a caveat or neither, 2 held back, for each row: the stricter of confidence and gate."""
    made = []
    for value, row in zip(values, rows, strict=True):
        by_confidence = 0 if value >= limits[0] else 1 if value >= limits[1] else 2
        by_gate = 0 if row.gate.passes >= gate[0] else 2 if row.gate.blocked <= gate[1] else 1
        made.append(max(by_confidence, row.most, by_gate))
    return made


def figures_of(made: Sequence[int], rows: Sequence[Known], costs: Costs) -> tuple[float, ...]:
    """The loss, and the shares of right rows held back or caveated and of wrong ones given."""
    right = [n for n, row in zip(made, rows, strict=True) if row.right]
    wrong = [n for n, row in zip(made, rows, strict=True) if not row.right]
    of_right, of_wrong = weights_of(costs, len(right) / len(rows))
    price_right, price_wrong = (0.0, costs.abstention, costs.false_block), (costs.leak, costs.abstention, 0.0)
    loss = of_right * sum(price_right[n] for n in right) + of_wrong * sum(price_wrong[n] for n in wrong)
    return (
        loss / len(rows),
        wrong.count(0) / len(wrong),
        right.count(0) / len(right),
        right.count(1) / len(right),
        right.count(2) / len(right),
    )


def losses(known: Sequence[Known]) -> None:
    """Print what each way of deciding costs on the other half."""
    policy = preset("general")
    grid, blocks = grid_of(policy), block_grid_of(policy)
    base = policy.emit_threshold, policy.block_threshold
    opened = grid[0], 0.0
    everything = (0.0, 0.0)
    for costs in (Costs(), Costs(leak=5), Costs(leak=3, false_block=3), Costs(leak=3, false_block=3, rates=True)):
        table: dict[str, list[tuple[float, ...]]] = {}
        for first, second in halves(known):
            best = cheapest([row.gate for row in first], costs, grid, blocks)
            share = sum(row.right for row in first) / len(first)
            limits = answer_thresholds(costs, share)
            model = fitted(FITTED, first)
            by, ones = said(model, second), [1.0] * len(second)
            # Every pair of thresholds tried, in place of those that follow from the costs.
            tried = cheapest(reached(said(model, first), first), costs, GRID, GRID)
            ways = {
                "gate of the preset": (ones, everything, base),
                "gate, cheapest thresholds": (ones, everything, (best.threshold, best.block_threshold)),
                "preset's gate and confidence": (by, limits, base),
                "open gate and confidence": (by, limits, opened),
                "the same, thresholds tried out": (by, (tried.threshold, tried.block_threshold), opened),
            }
            for name, (values, at, gate) in ways.items():
                rows = [_free(row) for row in second] if values is ones else second
                table.setdefault(name, []).append(figures_of(decided(values, rows, at, gate), rows, costs))
        prices = f"leak {costs.leak:g}, false block {costs.false_block:g}, abstention {costs.abstention:g}"
        print(f"\nloss of {'rates' if costs.rates else 'rows'}: {prices}\n")
        print("| way | loss | wrong given | right given | right caveated | right held |\n|---|---|---|---|---|---|")
        for name, rows_ in table.items():
            print(f"| {name} | {' | '.join(f'{mean:.3f}' for mean in np.mean(rows_, axis=0))} |", flush=True)


def _free(row: Known) -> Known:
    """A row that the gate alone decides."""
    return Known(row.signals, row.right, row.document, 0, row.gate)


def guaranteed(known: Sequence[Known]) -> None:
    """Print what the decision to answer adds to a gate that promises a leak rate."""
    grid = grid_of(preset("general"))
    table: dict[str, list[tuple[float, ...]]] = {"gate alone": [], "gate and confidence": []}
    over = dict.fromkeys(table, 0)
    for first, second in halves(known):
        found = learn_then_test([r.gate.passes for r in first if not r.right], grid, ALPHA, DELTA).threshold
        if found is None:
            continue
        gate = found, 0.0
        limits = answer_thresholds(Costs(), sum(row.right for row in first) / len(first))
        values = said(fitted(FITTED, first), second)
        made = {
            "gate alone": decided([1.0] * len(second), [_free(row) for row in second], (0.0, 0.0), gate),
            "gate and confidence": decided(values, second, limits, gate),
        }
        for name, decisions in made.items():
            table[name].append(figures_of(decisions, second, Costs()))
            over[name] += table[name][-1][1] > ALPHA
    print(f"\ngate by learn then test, alpha {ALPHA}, delta {DELTA}\n")
    print("| way | loss | wrong given | right given | right caveated | right held | halves above alpha |")
    print("|---|---|---|---|---|---|---|")
    for name, rows in table.items():
        print(f"| {name} | {' | '.join(f'{m:.3f}' for m in np.mean(rows, axis=0))} | {over[name]} of {len(rows)} |")


def crossed(known: Sequence[Known], name: str) -> list[float]:
    """For each row the confidence by a model of the other half of the documents."""
    first, _ = next(halves(known))
    inside = {row.document for row in first}
    models = {
        True: fitted(name, [row for row in known if row.document not in inside]),
        False: fitted(name, first),
    }
    return [models[row.document in inside].confidence(row.signals) or 0.0 for row in known]


def traded(outcomes: Sequence[Outcome], grid: Sequence[float]) -> list[tuple[float, float]]:
    """Leak by false abstention."""
    wrong, right = sum(o.wrong for o in outcomes), sum(not o.wrong for o in outcomes)
    points = []
    for at in grid:
        choice = counted(outcomes, Costs(), at, 0.0)
        given = sum(not o.wrong and o.passes >= at for o in outcomes)
        points.append((1 - given / right, choice.leaks / wrong))
    return points


def pictures(known: Sequence[Known], path: Path) -> None:
    """Draw leak against false abstention, and reliability before and after."""
    right = [row.right for row in known]
    before, after = crossed(known, "signals, weights by judgement, no curve"), crossed(known, FITTED)
    panels = [
        Panel(
            "Leak against false abstention",
            "right outputs that are not given",
            "wrong outputs that are given",
            (
                ("gate, by its threshold", traded([row.gate for row in known], grid_of(preset("general")))),
                ("fitted confidence", traded(reached(after, known), GRID)),
            ),
        ),
        *(
            Panel(
                f"Reliability {when}, ECE {ece(values, right):.3f}",
                "said",
                "came true",
                (
                    (
                        f"confidence {when}",
                        [
                            (b.mean_probability, b.frequency)
                            for b in adaptive_reliability(values, right)
                            if b.mean_probability is not None and b.frequency is not None
                        ],
                    ),
                ),
                diagonal=True,
            )
            for when, values in (("before", before), ("after", after))
        ),
    ]
    write_file(path, drawn("Whether to answer: held-out halves of the development sets", panels))


def main() -> None:
    """Print the tables, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of labelled data")
    parser.add_argument("--rows", type=int, default=300, help="rows of each set")
    parser.add_argument("--results", type=Path, help="keep what was judged here")
    parser.add_argument("--svg", type=Path, help="draw the curves here")
    args = parser.parse_args()
    policy = preset("general")
    rows = rows_of(args.data, args.rows)
    guard = open_loosest(policy, None)
    with ResultLog(args.results, identity_of(guard)) as log, progress_bar("judging", len(rows)) as told:
        outcomes = judge_rows(guard, policy, rows, log, told)
        results = [log.results[calibration_key(row)] for row in rows]
    known = [known_of(row, result, gate) for row, result, gate in zip(rows, results, outcomes, strict=True)]
    known = [row for row in known if row.signals["groundedness"] is not None]
    right = sum(row.right for row in known)
    documents = len({row.document for row in known})
    print(f"{len(known)} rows, {right} right, {documents} documents; {SPLITS} splits of documents")
    confidences(known)
    losses(known)
    guaranteed(known)
    if args.svg is not None:
        pictures(known, args.svg)


if __name__ == "__main__":
    main()
