"""How answers of several claims are judged as a whole, by each way of making one score of their claims' scores.

    python -m train.answers --data ../shared/data --part test --out ../answers.jsonl.gz
    python -m benchmarks.answers ../answers.jsonl.gz --cache .work/answers.jsonl

An answer is wrong if anything in it is wrong. Rows whose answer has fewer than two checkable claims are left out: all
ways agree on them. What the guard says of the claims is kept in the cache, one line for each answer, so that a run that
was stopped goes on and another way of scoring costs nothing. The cache belongs to one version of assay: remove it
after a change. `told` are answers put together from labelled claims (`train/answers.py`), `native` summaries and
replies that people labelled as a whole. Intervals resample whole documents.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from assay import Guard
from assay.evaluation.figures import bootstrap
from assay.evaluation.rows.reading import Row, read_rows
from assay.evaluation.runner import result_of_answer
from assay.schema import Verdict
from assay.stats.classification import auroc, balanced_accuracy, f1
from assay.stats.metrics import answer_support
from assay.text.claims.rule_extractor import RuleClaimExtractor

AT_ONCE: Final = 16
RESAMPLES: Final = 1000
SEED: Final = 28


@dataclass(frozen=True)
class Judged:
    """One answer, as the guard judged it."""

    row: Row
    scores: tuple[float, ...]
    """Of its checkable claims."""
    every: bool
    """Whether each of them is supported."""
    supported: bool
    """Whether the answer is, as `assay eval` counts it."""


def several(row: Row) -> bool:
    """Whether an answer has two checkable claims or more."""
    return sum(claim.checkable for claim in RuleClaimExtractor().extract(row.text, row.question)) > 1


def judged(rows: Sequence[Row], cache: Path) -> Iterator[Judged]:
    """What the guard says of the rows, from the cache where it has it; answers with an unchecked claim are left out."""
    known = {}
    if cache.exists():
        known = {line["digest"]: line for line in map(json.loads, cache.read_text(encoding="utf-8").splitlines())}
    missing = [row for row in rows if row.digest not in known]
    random.Random(SEED).shuffle(missing)  # a run that is stopped has judged a sample of all
    guard = Guard()
    cache.parent.mkdir(parents=True, exist_ok=True)
    with cache.open("a", encoding="utf-8") as out:
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            asked = [{"answer": row.text, "evidence": list(row.evidence), "question": row.question} for row in some]
            for row, report in zip(some, guard.check_many(asked), strict=True):
                claims = [claim for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE]
                known[row.digest] = {
                    "digest": row.digest,
                    "scores": [claim.score for claim in claims],
                    "every": all(claim.verdict is Verdict.SUPPORTED for claim in claims),
                    "supported": result_of_answer(row.digest, report, guard.policy.support_threshold).supported,
                }
                out.write(json.dumps(known[row.digest]) + "\n")
            out.flush()
            print(f"judged {min(start + AT_ONCE, len(missing))} of {len(missing)}", flush=True)
    for row in rows:
        line: dict[str, Any] = known[row.digest]
        if len(line["scores"]) > 1 and None not in line["scores"]:
            yield Judged(row, tuple(line["scores"]), line["every"], line["supported"])


def support(one: Judged) -> float:
    """`answer_support` of an answer with claims."""
    return answer_support(one.scores).value or 0.0


SCORES: Final[dict[str, Callable[[Judged], float]]] = {
    "least score": lambda one: min(one.scores),
    "product": lambda one: float(np.prod(one.scores)),
    "geometric mean": lambda one: float(np.prod(one.scores) ** (1 / len(one.scores))),
    "mean of the weakest two": lambda one: float(np.mean(sorted(one.scores)[:2])),
    "answer_support": support,
}
"""Ways of making one score of the claims' scores; higher is better supported."""
FLAGS: Final[dict[str, Callable[[Judged], bool]]] = {
    "any claim not supported": lambda one: not one.every,
    "as `assay eval` counts": lambda one: not one.supported,
    "always flagged": lambda _: True,
}
"""Ways of flagging an answer."""


def shown(name: str, rows: Sequence[Judged]) -> None:
    """Prints the figures of one group of answers."""
    wrong = np.array([one.row.wrong for one in rows], dtype=np.bool_)
    counts = [len(one.scores) for one in rows]
    print(f"\n{name}: {len(rows)} answers, {wrong.sum()} wrong, {np.mean(counts):.1f} claims each")
    for way, score in SCORES.items():
        value = auroc(wrong, np.array([-score(one) for one in rows])).value
        print(f"  {way:26} AUROC {'none' if value is None else f'{value:.3f}'}")
    flags = {way: np.array([flag(one) for one in rows], dtype=np.bool_) for way, flag in FLAGS.items()}
    for way, flagged in flags.items():
        accuracy, share = balanced_accuracy(wrong, flagged).value, f1(wrong, flagged).value
        told = "none" if accuracy is None else f"{accuracy:.3f}"
        print(f"  {way:26} balanced accuracy {told}  F1 {share or 0:.3f}  flagged {flagged.mean():.2f}")
    before, now = list(flags.values())[:2]
    documents = np.array([one.row.document for one in rows])
    for figure, (low, high) in gains(documents, wrong, before, now).items():
        print(f"  gain in {figure}: {low:+.3f} to {high:+.3f}")


def gains(
    documents: NDArray[np.str_], wrong: NDArray[np.bool_], before: NDArray[np.bool_], now: NDArray[np.bool_]
) -> dict[str, tuple[float, float]]:
    """The interval of 95% of what the second way of flagging gains over the first, over resampled documents."""
    drawn: dict[str, list[NDArray[np.float64]]] = {"balanced_accuracy": [], "f1": []}
    for weights in bootstrap.weights(documents, RESAMPLES, SEED):
        old, new = bootstrap.rates(weights, wrong, before), bootstrap.rates(weights, wrong, now)
        for figure, values in drawn.items():
            values.append(new[figure] - old[figure])
    bounds = {figure: np.nanquantile(np.concatenate(values), [0.025, 0.975]) for figure, values in drawn.items()}
    return {figure: (float(low), float(high)) for figure, (low, high) in bounds.items()}


def main() -> None:
    """Read arguments, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--most", type=int, help="answers to judge, drawn at random; all by default")
    arguments = parser.parse_args()
    rows = [row for row in read_rows(arguments.rows) if not row.whole and row.label is not None and several(row)]
    if arguments.most is not None:
        random.Random(SEED).shuffle(rows)
        rows = rows[: arguments.most]
    found = list(judged(rows, arguments.cache))
    told = [one for one in found if one.row.set.startswith("told_")]
    shown("told", told)
    for low, high in ((2, 4), (5, 6), (7, 99)):
        shown(f"told, {low} to {high} claims", [one for one in told if low <= len(one.scores) <= high])
    shown("native", [one for one in found if not one.row.set.startswith("told_")])


if __name__ == "__main__":
    main()
