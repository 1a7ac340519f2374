"""The parts of a long run: all rows there are, each kind in a file of its own, for `train.pack` to encode.

    python -m train.parts --data ../shared/data --out .work/parts --reads 4 --seed 41
    python -m train.pack rows --tokenizer .work/shipped/model --out .work/rows.npz.xz \\
        $(for f in .work/parts/*.jsonl.gz; do echo --part $(basename $f .jsonl.gz)=$f; done)

`train.stage` samples a mixture that a processor reads once; an accelerator reads everything several times, and what
it reads of each part is a share that `train.accelerated --shares` gives. Parts to train on: ``scenarios`` (read
`--reads` times, evidence assembled to a length drawn anew each time, with contrasts), ``beside`` (statements beside
documents of the labelled data, in the same way), ``answers`` (twice), ``summaries``, ``old`` (the old mixture and
claims beside the evidence of other documents) and ``made``. Parts to measure on, from the fit side: ``fit``
(scenarios), ``fit_sets``, ``fit_answers`` and ``fit_edits``. Batches named by `--apart` go to ``apart`` and, as they
were written, to ``apart_claims``: a run that leaves ``apart`` out is measured on claims that it has not read.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.models.cross_encoder import OnnxCrossEncoder
from train.data import REPOSITORY, for_training
from train.document_pairs import rows_beside
from train.made import make
from train.provenance import commit_of
from train.read import SUMMARIES, as_read
from train.rows import ANSWERS, Row, load_training_sets, mix, part_of, strangers
from train.scenario_rows import WEIGHTS, batches, rows_of, training_rows
from train.written import digest_of, write_made

MADE = {"edits": 40_000, "governed": 8_000, "relations": 8_000, "derived": 8_000}
STRANGERS = 6_000
MEASURED = {"fit_sets": 2_400, "fit_edits": 1_200}
CONTRASTS = (0.35, 0.25)
"""Share of right claims that get a wrong twin, in turns."""


def of_scenarios(reads: int, seed: int, apart: frozenset[str]) -> Iterator[tuple[str, list[Row]]]:
    """Scenario claims of the training side, and of the batches that stand apart."""
    read = [
        row for turn in range(reads) for row in training_rows(seed=seed + turn, edits=CONTRASTS[turn % len(CONTRASTS)])
    ]
    yield "scenarios", [row for row in read if row.source.split(":")[1] not in apart]
    if apart:
        kept = [row for row in read if row.source.split(":")[1] in apart]
        yield "apart", kept
        first = [row for row in kept if row.source.count(":") == 1 and (row.group or "").endswith(f"/{seed}")]
        yield "apart_claims", [dataclasses.replace(row, group=None) for row in first]


def of_statements_beside(data: Path, reads: int, seed: int) -> list[Row]:
    """The statements beside documents of the labelled data, read several times, each time in groups of their own."""
    rows = rows_beside(data)
    return [
        dataclasses.replace(row, group=f"{row.group}/{seed + turn}")
        for turn in range(reads)
        for row in as_read(rows, seed=seed + turn)
    ]


def of_fit(seed: int) -> list[Row]:
    """Scenario claims of the fit side, evidence assembled to 384 tokens."""
    scorer, rng = OnnxCrossEncoder.load(WEIGHTS), random.Random(seed)
    found = batches("fit").items()
    return [row for name, some in found for row, _ in rows_of(some, name, scorer.count_tokens, (384,), rng)]


def of_sets(rows: Sequence[Row], seed: int) -> Iterator[tuple[str, list[Row]]]:
    """Rows of the labelled sets and what is made of them, by part."""
    train, held = for_training(rows), [row for row in rows if part_of(row) == "fit"]
    answers = [row for row in train if row.source in ANSWERS]
    yield "answers", [row for turn in (1, 2) for row in as_read(answers, seed=seed + turn)]
    mixed = mix(train, seed)
    yield "summaries", as_read([row for row in mixed if row.source in SUMMARIES], seed=seed)
    old = [row for row in mixed if row.source not in ANSWERS | SUMMARIES]
    yield "old", old + strangers(old, STRANGERS, seed)
    yield "made", [row for name, count in MADE.items() for row in make(name, train, count, seed)]
    yield "fit_sets", mix(held, seed)[: MEASURED["fit_sets"]]
    yield "fit_answers", as_read([row for row in held if row.source in ANSWERS], seed=seed)
    yield "fit_edits", make("edits", held, MEASURED["fit_edits"], seed)


def main() -> None:
    """Read arguments, make every part, write them with a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with train/ and dev/")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the parts")
    parser.add_argument("--reads", type=int, default=4, help="of each scenario claim (%(default)s)")
    parser.add_argument("--apart", default="", help="batches to keep apart, as na,nb")
    parser.add_argument("--seed", type=int, default=41)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    apart = frozenset(given.apart.split(",")) - {""}
    counts = {}

    def write(name: str, rows: Sequence[Row]) -> None:
        write_made(given.out / f"{name}.jsonl.gz", rows)
        counts[name] = {"rows": len(rows), "digest": digest_of(rows)}
        print(f"{name}: {len(rows):,} rows", flush=True)

    for name, rows in of_scenarios(given.reads, given.seed, apart):
        write(name, rows)
    write("beside", of_statements_beside(given.data, given.reads, given.seed))
    write("fit", of_fit(given.seed))
    for name, rows in of_sets(load_training_sets(given.data), given.seed):
        write(name, rows)
    record = {"reads": given.reads, "apart": sorted(apart), "seed": given.seed, "parts": counts}
    (given.out / "parts.json").write_text(json.dumps({**record, "commit": commit_of(REPOSITORY)}, indent=2) + "\n")


if __name__ == "__main__":
    main()
