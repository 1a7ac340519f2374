"""From labelled data and the makers of rows to the rows that the network is trained on, with a report.

    python -m train.data --data ../shared/data --out .work/rows.jsonl.gz
    python -m train.data --data ../shared/data --edits .work/made.jsonl.gz --out .work/rows.jsonl.gz

Labelled rows are read, each pair once across all sets and none whose evidence stands in the development sets, and
split by document. Those for training are mixed by quota; beside them stand claims with evidence of other documents
and rows made of the evidence: single edits, and with `--governed N` and the like rows of the other makers of
`train.made`, or what `train.mining` chose (`--edits`). `train.network --rows FILE` trains on the file; without it
`train.network` makes the same rows in the same way. The digest that is printed stands in the record of a run.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from train.edits import EDITABLE, make_rows
from train.made import MAKERS, make
from train.provenance import commit_of, record_of_made, record_path
from train.rows import Part, Row, fold, load_training_sets, mix, part_of, read_rows, report, strangers
from train.written import digest_of, read_made, write_made

EDITS = 40_000
"""Rows of single edits beside the labelled ones."""
STRANGERS = 5_000
"""Claims beside the evidence of another document."""
STRANGER = "stranger"
"""What such a row has for its set."""
SEED = 7
PARTS: tuple[Part, ...] = ("train", "fit", "test", "shared")
REPOSITORY = Path(__file__).resolve().parents[1]


@dataclasses.dataclass(frozen=True)
class Counts:
    """Where the rows of `data/train` went."""

    read: int
    duplicates: int
    """Pairs that stood in a row before, in whichever set."""
    in_dev: int
    """Rows whose evidence stands in the development sets too, duplicates among them."""
    parts: dict[Part, int]
    """Rows that were kept by the side of the split that their document is on."""


def counts(data: Path, kept: Sequence[Row]) -> Counts:
    """Count what `load_training_sets` left out of a folder.

    Args:
        data: the folder of labelled data.
        kept: what `load_training_sets` gave of it.
    """
    held_out = {row.document for path in sorted((data / "dev").glob("*.jsonl.gz")) for row in read_rows(path)}
    read = in_dev = 0
    for path in sorted([*(data / "train").glob("*.jsonl.gz"), *(data / "train").glob("*.jsonl")]):
        for row in read_rows(path):
            read += 1
            in_dev += row.document in held_out
    sides = Counter(part_of(row) for row in kept)
    return Counts(read, read - in_dev - len(kept), in_dev, {part: sides[part] for part in PARTS if sides[part]})


def training_rows(
    rows: Sequence[Row],
    made: Sequence[Row] | None = None,
    *,
    edits: int = EDITS,
    of_strangers: int = STRANGERS,
    seed: int = SEED,
) -> list[Row]:
    """The mixture: people's labels by quota, claims beside evidence of other documents, rows made of evidence.

    Args:
        rows: labelled rows of every side of the split; only those for training are used.
        made: rows made of their evidence; without them single edits are made here.
        edits: how many of those.
        of_strangers: claims beside the evidence of another document.
        seed: of all choices; the same rows and seed give the same mixture.
    """
    train = for_training(rows)
    mixed = mix(train, seed)
    mixed += strangers(mixed, of_strangers, seed)
    if made is None:
        made = make_rows([row for row in train if row.source in EDITABLE], edits, seed)
    mixed += made
    random.Random(seed).shuffle(mixed)
    return mixed


def for_training(rows: Sequence[Row]) -> list[Row]:
    """Those whose documents are on the training side of the split."""
    return [row for row in rows if part_of(row) == "train"]


def words(text: str) -> int:
    """Words of a text, as its folded form counts them.

    >>> words("It costs $5.20, net.")
    5
    """
    return len(fold(text).split())


def lengths(rows: Sequence[Row]) -> str:
    """Words of claim and evidence by set (median, 90th percentile, longest) and the share of rows with spans."""
    sets: dict[str, list[tuple[int, int, bool]]] = {}
    for row in rows:
        sized = (words(row.claim), sum(words(piece) for piece in row.evidence), bool(row.spans))
        sets.setdefault(row.source, []).append(sized)
    everything = [one for found in sets.values() for one in found]
    lines = [f"{'words: median, 90%, longest':32}{'rows':>8}{'of the claim':>20}{'of the evidence':>20}{'spans':>8}"]
    for name, found in [*sorted(sets.items()), ("total", everything)]:
        claim, evidence, spans = zip(*found, strict=True) if found else ((), (), ())
        share = sum(spans) / len(found) if found else 0.0
        lines.append(f"{name:32}{len(found):8}{_spread(claim):>20}{_spread(evidence):>20}{share:8.3f}")
    return "\n".join(lines)


def _spread(values: Sequence[int]) -> str:
    """Median, 90th percentile and greatest of some counts, each one of the counts (nearest rank)."""
    if not values:
        return ""
    ordered = sorted(values)
    last = len(ordered) - 1
    return " ".join(f"{ordered[round(share * last)]:6}" for share in (0.5, 0.9, 1.0))


def full_report(counted: Counts, rows: Sequence[Row]) -> str:
    """What was read and left out, the labels by set, the lengths, and the digest of the rows."""
    lines = [
        f"{counted.read:,} rows read",
        f"{counted.in_dev:,} dropped, their evidence stands in the development sets",
        f"{counted.duplicates:,} dropped as duplicates",
        *(f"{number:,} rows of {part} documents" for part, number in counted.parts.items()),
        f"{len(rows):,} rows to train on, SHA-256 {digest_of(rows)}",
    ]
    return "\n".join([*lines, "", report(rows), "", lengths(rows)])


def main() -> None:
    """Read arguments, mix, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with train/ and dev/")
    parser.add_argument("--out", type=Path, help="a .jsonl.gz for the rows; without it they are only reported")
    parser.add_argument("--edits", type=Path, help="rows that train.mining wrote, in place of rows made here")
    parser.add_argument("--rows-of-edits", type=int, default=EDITS, help="single edits to make (%(default)s)")
    parser.add_argument("--rows-of-strangers", type=int, default=STRANGERS, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--wordnet", type=Path, help="a folder with WordNet's dictionary, for --lexical")
    others = [name for name in MAKERS if name != "edits"]
    for name in others:
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N", help=f"rows of {name} to make besides")
    arguments = parser.parse_args()
    wanted = {name: getattr(arguments, name) for name in others if getattr(arguments, name)}
    if arguments.edits and wanted:
        parser.error("what train.mining wrote has rows of every maker: --edits and " + ", ".join(wanted) + " exclude")
    if wanted.get("lexical") and (arguments.wordnet is None or not arguments.wordnet.is_dir()):
        parser.error("--lexical needs --wordnet, a folder with WordNet's dictionary")
    rows = load_training_sets(arguments.data)
    made = read_made(arguments.edits) if arguments.edits else None
    if wanted:
        train = for_training(rows)
        made = make("edits", train, arguments.rows_of_edits, arguments.seed)
        for name, count in wanted.items():
            made += make(name, train, count, arguments.seed, arguments.wordnet)
    mixed = training_rows(
        rows, made, edits=arguments.rows_of_edits, of_strangers=arguments.rows_of_strangers, seed=arguments.seed
    )
    counted = counts(arguments.data, rows)
    print(full_report(counted, mixed))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        write_made(arguments.out, mixed)
        record = {
            "counts": dataclasses.asdict(counted),
            "rows": len(mixed),
            "digest": digest_of(mixed),
            "settings": {
                "seed": arguments.seed,
                "rows_of_edits": arguments.rows_of_edits if not arguments.edits else None,
                "rows_of_strangers": arguments.rows_of_strangers,
                **wanted,
            },
            "edits": record_of_made(arguments.edits) if arguments.edits else None,
            "commit": commit_of(REPOSITORY),
        }
        record_path(arguments.out).write_text(json.dumps(record, indent=2) + "\n")
        print(f"written: {arguments.out}")


if __name__ == "__main__":
    main()
