"""How well the verifier judges claims by their language, each language by itself.

    python -m train.measure_languages --data DATA [--most 240]

Claims of scenarios on the held-out side (five languages beside English), and labelled rows in Indonesian, Persian,
Korean and Japanese of the `test` side. Printed are the AUROC of support with its interval and, of what the preset
`general` would call supported, the share that is not. A language counts as judged where the interval lies above 0.65
(`docs/limits.md`).
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay import Guard
from assay.schema import Evidence, Verdict
from assay.stats.classification import auroc
from assay.text.sentences import language
from train.rows import load_training_sets, part_of
from train.scenario_rows import batches, evidence_of, kept_claims

SETS = {"indonli": "Indonesian", "farstail": "Persian", "klue_nli": "Korean", "jnli": "Japanese"}
CALL = 64


def claims(data: Path) -> Iterator[tuple[str, str, list[Evidence], str | None, bool]]:
    """Language, claim, evidence, question and whether it is supported, of every claim."""
    for side in ("test", "fit"):
        for scenarios in batches(side).values():
            for scenario in scenarios:
                for _, claim in kept_claims(scenario):
                    told = language(claim["text"])
                    right = claim["label"] == "supported"
                    yield told, claim["text"], evidence_of(scenario), scenario["question"], right
    for row in load_training_sets(data):
        if row.source in SETS and part_of(row) == "test":
            texts = [Evidence(id=str(place + 1), text=text) for place, text in enumerate(row.evidence)]
            yield SETS[row.source], row.claim, texts, row.question, row.label == "supported"


def hanley_mcneil(area: float, right: int, wrong: int) -> tuple[float, float]:
    """The 95% interval of an AUROC (Hanley and McNeil 1982)."""
    one, two = area / (2 - area), 2 * area**2 / (1 + area)
    spread = area * (1 - area) + (right - 1) * (one - area**2) + (wrong - 1) * (two - area**2)
    error = 1.96 * math.sqrt(spread / (right * wrong))
    return max(0.0, area - error), min(1.0, area + error)


def main() -> None:
    """Judge the claims, print a line for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--most", type=int, default=240, help="claims of a language at most")
    given = parser.parse_args()
    found = defaultdict(list)
    for told, *rest in claims(given.data):
        found[told].append(rest)
    guard, rng = Guard("general"), np.random.default_rng(5)
    for told in sorted(found):
        rows = [found[told][place] for place in rng.permutation(len(found[told]))[: given.most]]
        if len(rows) < CALL // 2:
            continue
        reports = [
            report
            for start in range(0, len(rows), CALL)
            for report in guard.judge_claims([(text, ev, asked) for text, ev, asked, _ in rows[start : start + CALL]])
        ]
        right = np.array([row[3] for row in rows])
        score = np.array([report.score or 0.0 for report in reports])
        said = np.array([report.verdict is Verdict.SUPPORTED for report in reports])
        ranked = auroc(right, score).value
        low, high = hanley_mcneil(ranked, int(right.sum()), int((~right).sum()))
        wrong = (~right[said]).mean() if said.any() else float("nan")
        print(
            f"{told:14} {len(rows):4} claims, {right.sum():4} supported: AUROC {ranked:.3f} "
            f"({low:.3f} to {high:.3f}); called supported {said.sum()}, wrongly {wrong:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
