"""Rows made here that a network still gets wrong, for it to be trained on again.

    python -m train.mining --data ../shared/data --weights src/assay/models/weights --out .work/edits.jsonl.gz

Most edits are easy: a network that has seen thirty thousand of them judges nine new ones in ten rightly, and these
teach it little. More edits are made than are wanted; all that the network gives the wrong label are kept, with others
at random beside them, since a network that sees its mistakes alone forgets what it knew and doubts everything. Rows
of the other makers (`train.made`) are kept as they come. `train.network --edits FILE` reads the file in place of
making rows. Beside it stands `FILE.json`: how it was made, how much of each sort it has, and the digest of its rows.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.interface import PairScorer
from train.made import MAKERS, make
from train.premises import premise
from train.provenance import commit_of, file_digest, record_path
from train.rows import Row, detokenise, load_training_sets, part_of
from train.written import digest_of, write_made

COLUMNS = {"supported": (0,), "unsupported": (1,), "contradicted": (2,), "not_supported": (1, 2)}
"""Columns of a scorer's output that a label allows."""
PREMISE_WORDS = 100
_SPECIAL_TOKENS = 3
_BLOCK = 2_000
REPOSITORY = Path(__file__).resolve().parents[1]


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
    """Entailment, neutral and contradiction for each row beside the best part of its evidence."""
    return score_pairs(
        scorer, [(detokenise(premise(row.evidence, row.claim, PREMISE_WORDS)), detokenise(row.claim)) for row in rows]
    )


def score_pairs(scorer: PairScorer, pairs: Sequence[tuple[str, str]]) -> list[NDArray[np.float32] | None]:
    """Entailment, neutral and contradiction for each pair, with progress, since this takes minutes.

    Nothing for pairs that are too long to be read at once.
    """
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


def record_of(arguments: argparse.Namespace, kept: Sequence[Row], made: int, hard: int) -> dict[str, object]:
    """What is written beside the rows: how they were made, without the paths of one machine.

    Args:
        arguments: of the command.
        kept: the rows that were written.
        made: edits that were made.
        hard: those of them that the network judged wrongly.
    """
    return {
        "seed": arguments.seed,
        "keep": arguments.keep,
        "makers": {name: getattr(arguments, name) for name in MAKERS},
        "network": file_digest(arguments.weights / "manifest.json"),
        "edits_made": made,
        "edits_judged_wrongly": hard,
        "rows": len(kept),
        "digest": digest_of(kept),
        "commit": commit_of(REPOSITORY),
    }


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
    if arguments.lexical and (arguments.wordnet is None or not arguments.wordnet.is_dir()):
        parser.error(
            "rows of exchanged words need --wordnet, a folder with WordNet's dictionary; or ask for --lexical 0"
        )
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
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_made(arguments.out, kept)
    record = record_of(arguments, kept, len(edits), sum(wrong.values()))
    record_path(arguments.out).write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
