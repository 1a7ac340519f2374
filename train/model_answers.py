"""Answers of language models that people labelled, with their questions, as `assay eval` reads them.

    python -m train.model_answers --data ../shared/data --part test --out ../model-answers.jsonl.gz

What a gate is worth is measured on these: honest answers emitted, wrong ones stopped. The rows are those of
`train.rows.ANSWERS` on one side of the split by document; on the `test` side nothing was trained or fitted. A sentence
that people labelled by itself counts as an answer of one sentence. Its numbered marks (`[3]`) name sources of a list
that the sets do not carry, so that they are taken out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from train.held_out import write
from train.rows import ANSWERS, Part, Row, fold, load_training_sets, part_of

TRIPLETS = "refchecker_dolly_triplets"
"""Claims in three parts, no text that a model wrote: measured as claims and not as answers."""


_MARKS = re.compile(r"\s?\[\d+(?:,\s?\d+)*\]")


def records(data: Path, rows: Sequence[Row], part: Part) -> Iterator[dict[str, Any]]:
    """The rows of one side of the split with the question and the system that wrote them."""
    wanted = {
        (row.source, row.document, fold(row.claim)) for row in rows if row.source in ANSWERS and part_of(row) == part
    }
    for path in sorted((data / "train").glob("*.jsonl.gz")):
        if path.name.split(".")[0] not in ANSWERS - {TRIPLETS}:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for raw in map(json.loads, lines):
                text = raw["claim"] if "claim" in raw else raw["answer"]
                document = fold(" ".join(raw["evidence"]))
                if (raw["set"], document, fold(text)) not in wanted or not text.strip():
                    continue
                wanted.discard((raw["set"], document, fold(text)))
                yield {
                    "set": raw["set"],
                    "id": raw["id"],
                    "evidence": [piece for piece in raw["evidence"] if piece.strip()],
                    "question": raw.get("question"),
                    "answer": _MARKS.sub("", text),
                    "label": raw["label"],
                    "meta": {"model": (raw.get("meta") or {}).get("model")},
                }


def main() -> None:
    """Read arguments, choose, write, print the rows of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("test", "fit", "train"), default="test")
    given = parser.parse_args()
    counts = write(given.out, records(given.data, load_training_sets(given.data), given.part))
    for name, count in sorted(counts.items()):
        print(f"{name:28}{count:7}")
    print(f"{'all':28}{counts.total():7}")


if __name__ == "__main__":
    main()
