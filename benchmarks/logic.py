"""How often the logic audit speaks without cause, and what it finds.

    python benchmarks/logic.py DATA [--rows 100] [--model DIR]

DATA is the folder of labelled data. Of each development set some rows are drawn, and the audit reads

    the claims alone, supported ones, as ordinary prose: whatever it says is a false alarm;
    the evidence's first sentences with a supported claim behind them: so is any contradiction;
    the same with a contradicted claim: a contradiction found is a hit;
    chains out of `train/folio`, premises and "Therefore, conclusion": the verdict of the step beside the label.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assay.config import embedded_scorer
from assay.evaluation.rows.reading import Row, read_rows
from assay.models.interface import PairScorer
from assay.models.load import load_scorer
from assay.text.sentences.splitting import split_sentences
from assay.verify.logic import LogicAudit, audit_logic

SEED = 5
SENTENCES = 4
"""Sentences of evidence that a text is made of."""
THRESHOLDS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)


def drawn(path: Path, label: str, most: int) -> list[Row]:
    """Some rows of a set with a label, the same at every run."""
    rows = [row for row in read_rows(path) if row.label == label]
    random.Random(SEED).shuffle(rows)
    return rows[:most]


def prose(row: Row) -> str:
    """The first sentences of the evidence, then the claim."""
    text = " ".join(piece.text for piece in row.evidence)
    sentences = [text[s.start : s.end] for s in split_sentences(text[:4000])][:SENTENCES]
    return " ".join(s if s[-1] in ".!?" else f"{s}." for s in (*sentences, row.text))


def sharpest(audit: LogicAudit) -> float:
    """The confidence of the surest contradiction; 0 without one."""
    return max((f.confidence for f in audit.findings if f.code == "logic.contradiction"), default=0.0)


def shares(values: Sequence[float]) -> str:
    """The share of texts with a contradiction at each threshold, as cells of a table."""
    return " | ".join(f"{sum(v >= t for v in values) / max(1, len(values)):.3f}" for t in THRESHOLDS)


def contradictions(sets: Sequence[Path], most: int, scorer: PairScorer) -> Counter[str]:
    """Print the share of texts with a contradiction by set; return what else was said of right texts."""
    from assay.verify.logic import LogicLimits

    limits = LogicLimits(contradiction=min(THRESHOLDS))
    others: Counter[str] = Counter()
    print("| set | label | texts | " + " | ".join(f"≥ {t}" for t in THRESHOLDS) + " |")
    print("|---|---|---|" + "---|" * len(THRESHOLDS))
    pooled: dict[str, list[float]] = {"supported": [], "contradicted": []}
    for path in sets:
        for label, known in pooled.items():
            rows = drawn(path, label, most)
            audits = [audit_logic(prose(row), scorer, limits=limits) for row in rows]
            found = [sharpest(audit) for audit in audits]
            known.extend(found)
            if label == "supported":
                others.update(f.code for a in audits for f in a.findings if f.code != "logic.contradiction")
                others["texts"] += len(rows)
            print(f"| {path.name.split('.')[0]} | {label} | {len(rows)} | {shares(found)} |", flush=True)
    for label, values in pooled.items():
        print(f"| all | {label} | {len(values)} | {shares(values)} |")
    return others


def chains(path: Path, most: int, scorer: PairScorer) -> None:
    """Print how the verdict of a step stands to the label of its conclusion."""
    counts: Counter[tuple[str, str, bool]] = Counter()
    for label in ("supported", "contradicted", "unsupported"):
        for row in drawn(path, label, most):
            premises = " ".join(piece.text for piece in row.evidence)
            text = f"{premises} Therefore, {row.text[:1].lower()}{row.text[1:]}"
            audit = audit_logic(text, scorer)
            step = audit.steps[-1] if audit.steps else None
            if step is None:
                continue
            said = any(f.code == "logic.unsupported_step" for f in audit.findings)
            counts[label, step.verdict.value, said] += 1
    print("\n| conclusion | verdict of the step | said | steps |\n|---|---|---|---|")
    for (label, verdict, said), number in sorted(counts.items()):
        print(f"| {label} | {verdict} | {'yes' if said else 'no'} | {number} |")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder of labelled data")
    parser.add_argument("--rows", type=int, default=100, help="rows of each set and label")
    parser.add_argument("--model", type=Path, help="the folder of another cross-encoder")
    args = parser.parse_args()
    scorer = embedded_scorer() if args.model is None else load_scorer(args.model)
    sets = sorted((args.data / "dev").glob("*.jsonl.gz"))
    alone: Counter[str] = Counter()
    for path in sets:
        for row in drawn(path, "supported", 20 * args.rows):
            alone["texts"] += 1
            alone.update(finding.code for finding in audit_logic(row.text).findings)
    print(f"findings in supported claims alone, recomputed parts: {dict(alone)}\n")
    others = contradictions(sets, args.rows, scorer)
    print(f"\nother findings beside the contradictions in texts with a supported claim: {dict(others)}")
    chains(args.data / "train" / "folio.train.jsonl.gz", args.rows, scorer)


if __name__ == "__main__":
    main()
