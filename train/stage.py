"""The rows of a further stage over answers: scenarios read several times, with less of everything that was learnt.

    python -m train.stage --data ../shared/data --out .work/stage.jsonl.gz --reads 3 --answers 6000 --old 6000

A network that goes on from the weights in the package knows the old mixture; what it lacks are claims of answers over
documents. Each scenario claim is read `--reads` times, each time with evidence assembled to a length drawn anew and,
a third of the time, with its question. Beside them stand sentences of models' answers and of summaries that people
labelled, with evidence assembled in the same way (`train.read`), a sample of the old mixture and rows made of it, so
that nothing learnt before is forgotten. With `--mistakes` those groups of scenario claims are read once more that a
network gets wrong (`train.mistakes`). ``train.network --rows`` trains on the file; beside it stands ``FILE.json``
with the counts and the digest.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.models.cross_encoder import OnnxCrossEncoder
from train.data import REPOSITORY, for_training, lengths
from train.made import make
from train.mistakes import misread, read_again
from train.parts import of_statements_beside
from train.provenance import commit_of, file_digest, record_path
from train.read import SUMMARIES, as_read
from train.rows import ANSWERS, Row, load_training_sets, mix, report, strangers
from train.scenario_rows import training_rows
from train.written import digest_of, write_made

SHARES = {"edits": 0.64, "governed": 0.12, "relations": 0.12, "derived": 0.12}
"""Of the rows that are made, the share of each maker."""


def of_answers(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows of the sets of models' answers that people labelled, alike many supported and not.

    Args:
        rows: labelled rows of the training side.
        count: rows wanted; fewer where the sets have fewer.
        seed: of the choice.
    """
    rng = random.Random(seed)
    found: dict[bool, list[Row]] = {True: [], False: []}
    for row in rows:
        if row.source in ANSWERS:
            found[row.label == "supported"].append(row)
    least = min(len(some) for some in found.values())
    return [row for some in found.values() for row in rng.sample(some, min(least, count // 2))]


def of_summaries(rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """About `count` rows of the sets of summaries, replies and web claims (`train.read.SUMMARIES`), by quota.

    Args:
        rows: labelled rows of the training side.
        count: rows wanted; fewer where the sets have fewer.
        seed: of the choice.
    """
    found = [row for row in mix(rows, seed) if row.source in SUMMARIES]
    return random.Random(seed).sample(found, min(len(found), count))


def reads_of(turn: int, reads: int, fresh: frozenset[str], fresh_reads: int) -> Callable[[str], bool]:
    """Whether a batch is read in a turn, counted from 0: a fresh one in `fresh_reads` of them, others in `reads`."""
    return lambda batch: turn < (fresh_reads if batch in fresh else reads)


def rehearsed(rows: Sequence[Row], fresh: frozenset[str], share: float, seed: int) -> list[Row]:
    """All rows of fresh batches, and of the others those of a share of the groups, each group as a whole.

    Args:
        rows: of scenarios.
        fresh: names of batches.
        share: in [0, 1].
        seed: of the choice.
    """
    others = sorted({row.group or "" for row in rows if row.source.split(":")[1] not in fresh})
    kept = frozenset(random.Random(seed).sample(others, round(share * len(others))))
    return [row for row in rows if row.source.split(":")[1] in fresh or (row.group or "") in kept]


def once_more(weights: Path, seed: int) -> list[Row]:
    """The rows of those groups of scenarios of which a network misreads a claim.

    Args:
        weights: a folder that `train.export` wrote.
        seed: of the lengths that evidence is assembled to.
    """
    rows = training_rows(seed=seed)
    return read_again(rows, misread(OnnxCrossEncoder.load(weights), rows))


def stage_rows(
    rows: Sequence[Row],
    scenarios: Sequence[Row],
    made: Sequence[Row],
    *,
    answers: int,
    summaries: int,
    old: int,
    seed: int,
) -> list[Row]:
    """All rows of the stage in a random order; those of answers and summaries beside evidence assembled as in use.

    Args:
        rows: labelled rows of the training side.
        scenarios: what `train.scenario_rows` gives, read as often as wanted.
        made: rows made of the labelled ones.
        answers: rows of models' answers wanted.
        summaries: rows of summaries, replies and web claims wanted.
        old: rows of the old mixture wanted, an eighth of them beside the evidence of another document.
        seed: of all choices.
    """
    rng = random.Random(seed)
    mixture = [row for row in mix(rows, seed) if row.source not in ANSWERS | SUMMARIES]
    beside = strangers(mixture, old // 8, seed)
    sampled = rng.sample(mixture, min(len(mixture), old - len(beside)))
    read = as_read([*of_answers(rows, answers, seed), *of_summaries(rows, summaries, seed)], seed=seed)
    found = [*scenarios, *read, *sampled, *beside, *made]
    rng.shuffle(found)
    return found


def main() -> None:
    """Read arguments, mix, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="a folder with train/ and dev/")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl.gz for the rows")
    parser.add_argument("--reads", type=int, default=3, help="of each scenario claim (%(default)s)")
    parser.add_argument("--fresh", default="", help="batches that no stage has read yet, as m,o,q")
    parser.add_argument("--fresh-reads", type=int, default=2, help="of a claim of those (%(default)s)")
    parser.add_argument(
        "--rehearse", type=float, default=1.0, help="share of the other batches' groups that are read (%(default)s)"
    )
    parser.add_argument("--contrasts", type=float, default=0.0, help="share of right claims to edit; 0: no contrasts")
    parser.add_argument("--answers", type=int, default=6_000, help="rows of models' answers (%(default)s)")
    parser.add_argument("--summaries", type=int, default=7_000, help="rows of summaries and replies (%(default)s)")
    parser.add_argument("--old", type=int, default=6_000, help="rows of the old mixture (%(default)s)")
    parser.add_argument("--beside", type=int, default=0, help="reads of each statement beside a document (%(default)s)")
    parser.add_argument("--made", type=int, default=9_000, help="rows made of labelled ones (%(default)s)")
    parser.add_argument("--mistakes", type=Path, help="weights of a network: groups that it misreads are read again")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    rows = for_training(load_training_sets(given.data))
    made = [row for name, share in SHARES.items() for row in make(name, rows, round(given.made * share), given.seed)]
    fresh = frozenset(given.fresh.split(",")) - {""}
    scenarios = [
        row
        for turn in range(max(given.reads, given.fresh_reads if fresh else 0))
        for row in training_rows(
            seed=given.seed + turn,
            only=reads_of(turn, given.reads, fresh, given.fresh_reads),
            edits=given.contrasts,
        )
    ]
    scenarios = rehearsed(scenarios, fresh, given.rehearse, given.seed)
    scenarios += of_statements_beside(given.data, given.beside, given.seed)
    if given.mistakes:
        scenarios += once_more(given.mistakes, given.seed + 1_000)
    found = stage_rows(
        rows, scenarios, made, answers=given.answers, summaries=given.summaries, old=given.old, seed=given.seed
    )
    given.out.parent.mkdir(parents=True, exist_ok=True)
    write_made(given.out, found)
    settings = {
        name: getattr(given, name)
        for name in (
            "reads",
            "fresh",
            "fresh_reads",
            "rehearse",
            "contrasts",
            "answers",
            "summaries",
            "old",
            "beside",
            "made",
            "seed",
        )
    }
    sources = dict(sorted(Counter(row.source for row in found).items()))
    if given.mistakes:
        settings["mistakes_of"] = file_digest(given.mistakes / "manifest.json")
    record = {**settings, "rows": len(found), "digest": digest_of(found), "sources": sources}
    record_path(given.out).write_text(json.dumps({**record, "commit": commit_of(REPOSITORY)}, indent=2) + "\n")
    print(report(found))
    print(lengths(found))
    print(f"{len(found):,} rows: {given.out}")


if __name__ == "__main__":
    main()
