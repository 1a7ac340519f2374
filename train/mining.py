"""Rows made here that a network still gets wrong, for it to be trained on again.

    python -m train.mining --data ../shared/data --weights src/assay/models/weights --out .work/edits.jsonl.gz

Most edits are easy: a network that has seen thirty thousand of them judges nine new ones in ten rightly, and these
teach it little. More edits are made than are wanted; all that the network gives the wrong label are kept, with others
at random beside them, since a network that sees its mistakes alone forgets what it knew and doubts everything. Rows
of the other makers (`train.made`) are kept as they come. `train.network --edits FILE` reads the file in place of
making rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.interface import PairScorer
from train.made import MAKERS, make
from train.premises import premise
from train.rows import Row, detokenise, load_training_sets, part_of

COLUMNS = {"supported": (0,), "unsupported": (1,), "contradicted": (2,), "not_supported": (1, 2)}
"""Columns of a scorer's output that a label allows."""
PREMISE_WORDS = 100
_SPECIAL_TOKENS = 3
_BLOCK = 2_000


def right_probability(row: Row, score: NDArray[np.float32] | None) -> float:
    """The probability that a scorer gave to what the row's label allows, in [0, 1]; 1 for a row that it did not read.

    score: entailment, neutral and contradiction.
    """
    return 1.0 if score is None else float(sum(score[column] for column in COLUMNS[row.label]))


def hardest(rows: Sequence[Row], right: Sequence[float], keep: int, seed: int) -> list[Row]:
    """`keep` of the rows: those whose right label has less than half of the probability, the others at random.

    Where more than `keep` are hard, a random choice of them. The order is that of `rows`.

    Args:
        rows: what was scored.
        right: the probability of the right label of each row, in [0, 1].
        keep: rows wanted.
        seed: of the random choice.
    """
    rng = random.Random(seed)
    hard = [i for i, p in enumerate(right) if p < 0.5]
    easy = [i for i, p in enumerate(right) if p >= 0.5]
    chosen = rng.sample(hard, min(keep, len(hard)))
    chosen += rng.sample(easy, min(keep - len(chosen), len(easy)))
    return [rows[i] for i in sorted(chosen)]


def score(scorer: PairScorer, rows: Sequence[Row]) -> list[NDArray[np.float32] | None]:
    """Entailment, neutral and contradiction for each row, with progress, since this takes minutes.

    Nothing for rows that are too long to be read at once.
    """
    pairs = [(detokenise(premise(row.evidence, row.claim, PREMISE_WORDS)), detokenise(row.claim)) for row in rows]
    most = scorer.max_pair_tokens - _SPECIAL_TOKENS
    begun = time.monotonic()
    found: list[NDArray[np.float32] | None] = []
    for begin in range(0, len(pairs), _BLOCK):
        some = pairs[begin : begin + _BLOCK]
        sizes = [a + b for a, b in zip(*(scorer.count_tokens(texts) for texts in zip(*some, strict=True)), strict=True)]
        scores = iter(scorer.score([pair for pair, size in zip(some, sizes, strict=True) if size <= most]))
        found += [next(scores) if size <= most else None for size in sizes]
        speed = len(found) / (time.monotonic() - begun)
        print(f"{len(found):,} of {len(pairs):,} rows, {speed:.0f} a second", flush=True)
    return found


def write_made(path: Path, rows: Iterable[Row]) -> None:
    """Write rows as gzipped JSON Lines that `read_made` gives back as they were."""
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for row in rows:
            out.write(json.dumps(dataclasses.asdict(row), ensure_ascii=False) + "\n")


def read_made(path: Path) -> list[Row]:
    """Rows that `write_made` wrote."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [
            Row(
                source=raw["source"],
                evidence=tuple(raw["evidence"]),
                claim=raw["claim"],
                label=raw["label"],
                question=raw["question"],
                spans=tuple((start, end) for start, end in raw["spans"]),
            )
            for raw in map(json.loads, lines)
        ]


def main() -> None:
    """Make rows, score the edits among them, keep the hard ones and others, write all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="the network whose mistakes are looked for")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, help="a folder with WordNet's dictionary, for rows of exchanged words")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--keep", type=int, default=22_000, help="edits kept of those made (%(default)s)")
    for name, count in MAKERS.items():
        parser.add_argument(f"--{name}", type=int, default=count, help=f"rows of {name} to make (%(default)s)")
    arguments = parser.parse_args()
    train = [row for row in load_training_sets(arguments.data) if part_of(row) == "train"]
    made = {
        name: make(name, train, getattr(arguments, name), arguments.seed, arguments.wordnet)
        for name in MAKERS
        if getattr(arguments, name)
    }
    edits = made.pop("edits", [])
    scorer = OnnxCrossEncoder.load(arguments.weights)
    right = [right_probability(row, scores) for row, scores in zip(edits, score(scorer, edits), strict=True)]
    kinds = Counter(row.source for row in edits)
    wrong = Counter(row.source for row, p in zip(edits, right, strict=True) if p < 0.5)
    for kind, count in sorted(kinds.items()):
        print(f"{kind:28}{count:7}{wrong[kind] / count:8.3f} wrong")
    kept = hardest(edits, right, arguments.keep, arguments.seed)
    print(f"{len(kept):,} of {len(edits):,} edits kept, {sum(wrong.values()):,} of them hard")
    for name, rows in made.items():
        print(f"{len(rows):,} rows of {name}")
        kept += rows
    write_made(arguments.out, kept)


if __name__ == "__main__":
    main()
