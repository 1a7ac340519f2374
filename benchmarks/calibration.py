"""Whether the guarantee holds on held-out halves, what it costs, and whether confidence means what it says.

    python benchmarks/calibration.py DATA [--rows 700] [--results FILE] [--page FILE]

DATA is the folder of labelled data. Rows of the development sets are checked as outputs, once; with --results what was
judged is kept, and a second run takes seconds. Then, 200 times, the rows are split into halves at random: thresholds
are fitted on one half and counted on the other. Rows are drawn one by one in the first table, rows of one document go
to the same half in the second, and in the third each document has one row.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.cli.calibrate import open_loosest
from assay.cli.evaluate import identity_of, progress_bar
from assay.evaluation.calibrate.report_page import calibration_page
from assay.evaluation.calibrate.thresholds import FitGoal, calibration_key, data_digest, fit, judge_rows, labelled_rows
from assay.evaluation.rows.atomic_files import write_file
from assay.evaluation.rows.reading import Row, read_rows
from assay.evaluation.rows.results import ResultLog
from assay.policy import preset
from assay.policy.calibration.strictness import block_grid_of, grid_of
from assay.stats.calibration import adaptive_ece, adaptive_reliability, ece, fit_isotonic
from assay.stats.confidence import fit_confidence
from assay.stats.costs import Costs, Outcome, cheapest, counted, trade_off
from assay.stats.risk import conformal_risk_control, learn_then_test

SPLITS = 200
SEED = 17
ALPHAS = (0.02, 0.05, 0.1, 0.2)
DELTA = 0.1


@dataclass(frozen=True, slots=True)
class Known:
    """One row, as far as the splits need it."""

    outcome: Outcome
    document: str
    score: float | None


def rows_of(data: Path, most: int) -> list[Row]:
    """Some rows of each development set, the same at every run."""
    found: list[Row] = []
    for path in sorted((data / "dev").glob("*.jsonl.gz")):
        rows = labelled_rows(read_rows(path), FitGoal())
        random.Random(1).shuffle(rows)
        found += rows[:most]
    return found


def halves(known: Sequence[Known], by_document: bool) -> Iterator[tuple[list[Known], list[Known]]]:
    """Random halves, of rows or of documents."""
    generator = random.Random(SEED)
    names = sorted({row.document for row in known})
    for _ in range(SPLITS):
        if by_document:
            first = set(generator.sample(names, len(names) // 2))
            yield [r for r in known if r.document in first], [r for r in known if r.document not in first]
        else:
            order = generator.sample(range(len(known)), len(known))
            yield [known[at] for at in order[: len(known) // 2]], [known[at] for at in order[len(known) // 2 :]]


def one_per_document(known: Sequence[Known]) -> list[Known]:
    """One row of each document, drawn by the seed."""
    shuffled = list(known)
    random.Random(SEED).shuffle(shuffled)
    return list({row.document: row for row in shuffled}.values())


def wrong_levels(rows: Sequence[Known]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The levels of the hallucinated rows."""
    return np.array([r.outcome.passes for r in rows if r.outcome.wrong])


def right_levels(rows: Sequence[Known]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The levels of the right rows."""
    return np.array([r.outcome.passes for r in rows if not r.outcome.wrong])


def guarantees(known: Sequence[Known], grid: Sequence[float], by_document: bool) -> None:
    """Print how often each guarantee holds, and at what price."""
    everything = wrong_levels(known)
    columns = (
        "alpha",
        "method",
        "no threshold",
        "splits: rate over all rows above alpha",
        "splits: held-out half above alpha",
        "held-out leak, mean",
        "right rows that pass, mean",
    )
    print(f"| {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|")
    for alpha in ALPHAS:
        for name in ("learn then test", "learn then test, horizon", "conformal risk control"):
            refused = above = held_above = 0
            leaks, served = [], []
            for first, second in halves(known, by_document):
                levels, held = wrong_levels(first).tolist(), wrong_levels(second)
                if name == "conformal risk control":
                    found = conformal_risk_control(levels, grid, alpha)
                else:
                    found = learn_then_test(levels, grid, alpha, DELTA, len(held) if "horizon" in name else None)
                if found.threshold is None:
                    refused += 1
                    continue
                leaks.append(float((held >= found.threshold).mean()))
                above += float((everything >= found.threshold).mean()) > alpha
                held_above += leaks[-1] > alpha
                served.append(float((right_levels(second) >= found.threshold).mean()))
            mean = [f"{np.mean(v):.3f}" if v else "–" for v in (leaks, served)]
            print(f"| {alpha} | {name} | {refused} | {above} | {held_above} | {mean[0]} | {mean[1]} |", flush=True)


def costs(known: Sequence[Known], grid: Sequence[float], block_grid: Sequence[float]) -> None:
    """Print what the cheapest thresholds of one half cost on the other, beside the preset's."""
    policy = preset("general")
    print("\n| a leak costs | preset, held-out loss | fitted, held-out loss | threshold, mean |\n|---|---|---|---|")
    for leak in (2.0, 5.0, 10.0, 30.0):
        priced = Costs(leak=leak)
        before, after, chosen = [], [], []
        for number, (first, second) in enumerate(halves(known, by_document=True)):
            if number == 20:
                break
            best = cheapest([r.outcome for r in first], priced, grid, block_grid)
            before.append(loss(second, priced, policy.emit_threshold, policy.block_threshold))
            after.append(loss(second, priced, best.threshold, best.block_threshold))
            chosen.append(best.threshold)
        print(f"| {leak:g} | {np.mean(before):.4f} | {np.mean(after):.4f} | {np.mean(chosen):.3f} |")


def loss(rows: Sequence[Known], priced: Costs, threshold: float, block: float) -> float:
    """The mean loss of rows."""
    return counted([r.outcome for r in rows], priced, threshold, block).loss


def confidence(known: Sequence[Known]) -> None:
    """Print reliability before and after a fit on the other half."""
    scored = [row for row in known if row.score is not None]
    first, second = next(halves(scored, by_document=True))
    said = [[row.score or 0.0 for row in half] for half in (first, second)]
    right = [[not row.outcome.wrong for row in half] for half in (first, second)]
    model = fit_confidence([{"groundedness": score} for score in said[0]], right[0])
    curve = fit_isotonic(said[0], right[0])
    columns = {
        "score as it is": said[1],
        "confidence fitted (logistic)": [model.confidence({"groundedness": score}) or 0.0 for score in said[1]],
        "confidence fitted (isotonic)": curve.predict(said[1]).tolist(),
    }
    print("\n| on the held-out half | ECE | adaptive ECE |\n|---|---|---|")
    for name, values in columns.items():
        print(f"| {name} | {ece(values, right[1]):.3f} | {adaptive_ece(values, right[1]):.3f} |")
    print("\n| said before | rows | came true | said after | rows | came true |\n|---|---|---|---|---|---|")
    for a, b in zip(
        adaptive_reliability(said[1], right[1]),
        adaptive_reliability(columns["confidence fitted (logistic)"], right[1]),
        strict=False,
    ):
        print(
            f"| {a.mean_probability:.2f} | {a.count} | {a.frequency:.2f} | {b.mean_probability:.2f} | {b.count} | "
            f"{b.frequency:.2f} |"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of labelled data")
    parser.add_argument("--rows", type=int, default=700, help="rows of each set")
    parser.add_argument("--results", type=Path, help="keep what was judged here")
    parser.add_argument("--page", type=Path, help="write the page of one fit over all rows here")
    args = parser.parse_args()
    policy = preset("general")
    rows = rows_of(args.data, args.rows)
    guard = open_loosest(policy, None)
    with ResultLog(args.results, identity_of(guard)) as log, progress_bar("judging", len(rows)) as told:
        outcomes = judge_rows(guard, policy, rows, log, told)
        scores = {key: result.score for key, result in log.results.items()}
    known = [Known(o, r.document, scores[calibration_key(r)]) for o, r in zip(outcomes, rows, strict=True)]
    wrong = sum(o.wrong for o in outcomes)
    print(
        f"{len(rows)} rows, {wrong} hallucinated, {len({r.document for r in rows})} documents; data "
        f"{data_digest(rows)[:12]}; {SPLITS} splits, delta {DELTA}\n"
    )
    grid = grid_of(policy)
    for by_document in (False, True):
        print(f"\nhalves of {'documents' if by_document else 'rows'}\n")
        guarantees(known, grid, by_document)
    print("\nhalves of rows, one of each document\n")
    guarantees(one_per_document(known), grid, by_document=False)
    costs(known, grid, block_grid_of(policy))
    confidence(known)
    print("\n| threshold | leak | false abstention |\n|---|---|---|")
    for point in trade_off(outcomes, grid):
        if math.isclose(point.threshold * 20 % 1, 0, abs_tol=1e-9) or point.threshold > 0.994:
            print(f"| {point.threshold:g} | {point.leak:.3f} | {point.false_abstention:.3f} |")
    if args.page is not None:
        made = fit(
            policy, rows, outcomes, FitGoal(alpha=0.05, delta=DELTA), (guard.verifier.name, guard.verifier.digest)
        )
        write_file(args.page, calibration_page(made))


if __name__ == "__main__":
    main()
