"""Writes the labelled rows that nothing was trained or fitted on, in the form that `assay eval` reads.

    python -m train.held_out --data ../shared/data --out ../held-out.jsonl.gz
    python -m train.held_out --data ../shared/data --part fit --most 60 --out ../fit.jsonl.gz
    assay eval ../held-out.jsonl.gz --baselines --fit ../fit.jsonl.gz --out .work/held-out

The rows are those of `data/train` whose document is on the `test` side of the split (`train/rows.py`): every set at
once, each pair once, evidence of the development sets left out. Thresholds of the baselines should come from the `fit`
side. `--part shared` gives the rows that are on no side, since their documents share text with those of training: what
the verifier reaches there says nothing of unseen documents. The files hold other people's text: `--out` must not lie in
this repository.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from train.rows import Part, Row, detokenise, fold, load_training_sets, part_of

REPOSITORY = Path(__file__).resolve().parents[1]


def chosen(rows: Iterable[Row], part: Part, most: int | None = None) -> list[Row]:
    """The rows of one side of the split, of each set whole documents until there are `most` rows.

    Documents come in the order of a hash of their text, so that a smaller choice is a part of a larger one, and rows of
    one document stay together.

    Args:
        rows: all rows.
        part: the side of the split.
        most: rows of a set after which no further document of it is taken; none takes all.
    """
    pools: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if part_of(row) == part:
            pools.setdefault(row.source, {}).setdefault(row.document, []).append(row)
    found: list[Row] = []
    for _, documents in sorted(pools.items()):
        taken = 0
        for _, members in sorted(documents.items(), key=lambda item: _name(item[0])):
            if most is not None and taken >= most:
                break
            found.extend(members)
            taken += len(members)
    return found


def _name(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def records(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The rows as `assay eval` reads them, detokenised as in training.

    A set that marks wrong characters in any of its rows marks none in those that are supported. Where a wrong row has
    no marks nobody knows them, and where taking out the spaces of tokenised text would move marks, the text stays.
    """
    marked = {row.source for row in rows if row.spans}
    for row in rows:
        claim = row.claim if row.spans else detokenise(row.claim)
        evidence = [detokenise(piece) for piece in row.evidence if piece.strip()]
        record: dict[str, Any] = {
            "set": row.source,
            "id": _name(f"{row.document}\0{fold(row.claim)}\0{row.label}"),
            "evidence": evidence,
            "claim": claim,
            "label": row.label,
        }
        if row.question is not None:
            record["question"] = row.question
        if row.spans or (row.source in marked and row.label == "supported"):
            record["spans"] = [list(span) for span in row.spans]
        if evidence and claim.strip():
            yield record


def write(path: Path, found: Iterable[dict[str, Any]]) -> Counter[str]:
    """Writes the records as gzipped JSON Lines, the same bytes for the same records; returns the rows of each set.

    Raises:
        ValueError: the path lies in this repository or does not end in `.jsonl.gz`.
    """
    if REPOSITORY in path.resolve().parents and ".work" not in path.resolve().relative_to(REPOSITORY).parts:
        raise ValueError(f"{path} lies in the repository, which holds no text of the labelled sets; name another place")
    if not path.name.endswith(".jsonl.gz"):
        raise ValueError(f"{path} should end in .jsonl.gz, which is how `assay eval` knows what it is")
    counts: Counter[str] = Counter()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as stream:
        for record in found:
            stream.write(json.dumps(record, ensure_ascii=True).encode() + b"\n")
            counts[record["set"]] += 1
    return counts


def main() -> None:
    """Read arguments, choose, write, print the rows of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("test", "fit", "shared"), default="test")
    parser.add_argument("--most", type=int, help="rows of each set, up to the end of a document; all by default")
    arguments = parser.parse_args()
    found = chosen(load_training_sets(arguments.data), arguments.part, arguments.most)
    counts = write(arguments.out, records(found))
    for name, count in sorted(counts.items()):
        print(f"{name:28}{count:7}")
    print(f"{'all':28}{counts.total():7}")


if __name__ == "__main__":
    main()
