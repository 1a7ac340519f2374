"""Draws errors to be read by a person, keeps what the reader called their causes, and counts these.

    assay eval ../shared/data/dev/*.jsonl.gz --out .work/eval
    python -m train.draw_errors --rows ../shared/data/dev/*.jsonl.gz --results .work/eval --out ../errors.jsonl
    # read ../errors.jsonl and fill in the empty `cause` fields, then:
    python -m train.draw_errors --rows ../shared/data/dev/*.jsonl.gz --results .work/eval --read ../errors.jsonl
    python -m train.draw_errors --rows ../shared/data/dev/*.jsonl.gz --results .work/eval --docs docs/errors.md dev

Two draws: the worst errors, sets in turn, and errors at random. The random draw takes those with the lowest keys, and a
key is a hash of the row, so that another network's draw has what is still wrong in common with this one's: only new
errors have to be read. Causes are kept by key in `train/error_causes.csv`, without any text of the sets.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.evaluation.figures.error_list import errors_of, worst_errors
from assay.evaluation.rows.domains import domain_of
from assay.evaluation.rows.reading import Row, read_rows
from assay.evaluation.rows.results import Result, read_results
from train.held_out import REPOSITORY

CAUSES_FILE = REPOSITORY / "train" / "error_causes.csv"
UNREAD = "not read yet"
MOST_COLUMNS = 10
"""Sets that a table has columns for; where there are more, their domains are the columns."""

CAUSES: Mapping[str, str] = {
    "label": "the label is wrong or another reader would give another",
    "lexical": "a synonym, a wider word or a paraphrase is not recognised",
    "denial": "a denial that follows is taken for a contradiction",
    "two_negations": "two negations, or a negated comparison, cancel each other",
    "numeric": "arithmetic, counting, ranges, calendar",
    "converse": "the same relation told from its other end",
    "world": "knowledge that the evidence does not state",
    "inference": "a conclusion that readers draw by common sense",
    "embedded": "what is asked, believed, supposed or denied counts as stated, or the reverse",
    "modality": "tense, possibility and condition",
    "moved": "a property, a value or a role belongs to another subject",
    "addition": "a plausible addition passes",
    "near": "a related or opposite word passes for the same",
    "logic": "quantifiers, or, and chains of rules",
    "whole": "a claim of several statements, judged as one, in which a small part decides",
    "chat": "a turn of a dialogue: an opinion or a question beside what its source says",
    "record": "tables, records and forms",
    "several": "only several sentences together decide",
    "selection": "the deciding sentence was not among those that were read",
    "figurative": "idiom, irony, rhetoric, headlines",
    "reference": "a pronoun or a name that the evidence resolves elsewhere",
    "question": "the claim means something only as an answer to its question",
    "malformed": "a fragment or a garbled sentence",
}
"""The causes that errors are sorted into; the first that applies, from the top."""


def key_of(set_name: str, identifier: str, claim: str) -> str:
    """Names a row by its content, whatever else is stored with it."""
    return hashlib.sha256(json.dumps([set_name, identifier, claim]).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Drawn:
    """One error that was drawn."""

    key: str
    worst: bool
    """Among the worst."""
    random: bool
    """Among those at random."""
    error: Mapping[str, Any]
    """As `assay.evaluation.figures.error_list.errors_of` gives it."""

    @property
    def missed(self) -> bool:
        """Whether a wrong claim passed; otherwise a right one was flagged."""
        return bool(self.error["kind"] == "missed")


def draw(rows: Sequence[Row], results: Sequence[Result], worst: int, random: int) -> list[Drawn]:
    """The worst errors and errors at random, each key once.

    Args:
        rows: the rows.
        results: one for each.
        worst: how many of the worst, sets in turn.
        random: how many at random.
    """
    by_key = {key_of(e["set"], e["id"], e["claim"]): e for e in errors_of(rows, results)}
    first = dict.fromkeys(key_of(e["set"], e["id"], e["claim"]) for e in worst_errors(rows, results, worst))
    any_ = sorted(by_key)[:random]
    return [Drawn(key, key in first, key in set(any_), by_key[key]) for key in dict.fromkeys([*first, *any_])]


def read_causes(path: Path) -> dict[str, str]:
    """The causes by key; empty where the file is missing.

    Raises:
        ValueError: a cause is not one of `CAUSES`.
    """
    if not path.exists():
        return {}
    with path.open(newline="") as stream:
        found = {row["key"]: row["cause"] for row in csv.DictReader(stream)}
    unknown = sorted(set(found.values()) - set(CAUSES))
    if unknown:
        raise ValueError(f"{path}: unknown cause {unknown[0]!r}; known are {', '.join(CAUSES)}")
    return found


def write_causes(path: Path, causes: Mapping[str, str]) -> None:
    """Writes the causes, sorted by key."""
    lines = ["key,cause", *(f"{key},{cause}" for key, cause in sorted(causes.items()))]
    path.write_text("\n".join(lines) + "\n")


def causes_table(drawn: Sequence[Drawn], causes: Mapping[str, str], still: Mapping[str, bool]) -> list[str]:
    """The causes in Markdown, commonest first: of both draws by direction, and what became of all that were ever read.

    Args:
        drawn: the errors.
        causes: the cause of each key that was read.
        still: for each key that was ever read and stands in these rows whether it is an error now.
    """
    counts: Counter[tuple[str, str, bool]] = Counter()
    for one in drawn:
        cause = causes.get(one.key, UNREAD)
        counts.update([(cause, name, one.missed) for name in ("worst", "random") if getattr(one, name)])
    lines = [
        "| cause | at random: missed | false alarms | worst: missed | false alarms | ever read | still wrong |",
        "|---|---|---|---|---|---|---|",
    ]
    ever = Counter(causes[key] for key in still)
    now = Counter(causes[key] for key, wrong in still.items() if wrong)
    names = [name for name in (*CAUSES, UNREAD) if ever[name] or any(key[0] == name for key in counts)]

    def at_random(name: str) -> int:
        return counts[name, "random", True] + counts[name, "random", False]

    for name in sorted(names, key=lambda name: (name == UNREAD, -at_random(name), -ever[name])):
        cells = [counts[name, which, missed] for which in ("random", "worst") for missed in (True, False)]
        tail = ["", ""] if name == UNREAD else [str(ever[name]), str(now[name])]
        lines.append(f"| {' | '.join([name.replace('_', ' '), *map(str, cells), *tail])} |")
    sums = [sum(n for k, n in counts.items() if k[1:] == (w, m)) for w in ("random", "worst") for m in (True, False)]
    lines.append(f"| {' | '.join(['all', *map(str, sums), str(ever.total()), str(now.total())])} |")
    return lines


def sets_table(drawn: Sequence[Drawn], causes: Mapping[str, str], column: Mapping[str, str]) -> list[str]:
    """The causes by set in Markdown, missed and false alarms of both draws together, such as `3+11`.

    Args:
        drawn: the errors.
        causes: the cause of each key that was read.
        column: for each set the column that it is counted in.
    """
    counts: Counter[tuple[str, str, bool]] = Counter(
        (causes.get(one.key, UNREAD), column[one.error["set"]], one.missed) for one in drawn
    )
    columns = sorted({place for _, place, _ in counts})
    lines = [f"| cause | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for name in (*CAUSES, UNREAD):
        cells = [(counts[name, place, True], counts[name, place, False]) for place in columns]
        if any(map(any, cells)):
            shown = [f"{missed}+{alarms}" if missed or alarms else "" for missed, alarms in cells]
            lines.append(f"| {' | '.join([name.replace('_', ' '), *shown])} |")
    return lines


def columns_of(rows: Iterable[Row]) -> dict[str, str]:
    """The column of each set: the set itself, or its domain where there are many sets."""
    domains = {row.set: domain_of(row) for row in rows}
    return domains if len(domains) > MOST_COLUMNS else {name: name for name in domains}


def replaced(text: str, name: str, lines: Sequence[str]) -> str:
    """The document with what stands between `<!-- NAME -->` and `<!-- end of NAME -->` replaced.

    Raises:
        ValueError: the document has no such place.
    """
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"expected {begin} and {end} in the document, found neither or one")
    return pattern.sub(lambda _: "\n".join([begin, *lines, end]), text)


def main() -> None:
    """Read arguments, draw, then write errors, take in what was read, or refresh the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, nargs="+", required=True)
    parser.add_argument("--results", type=Path, required=True, help="the folder that `assay eval --out` wrote")
    parser.add_argument("--worst", type=int, default=100)
    parser.add_argument("--random", type=int, default=110)
    parser.add_argument("--out", type=Path, help="write the drawn errors, with text, outside this repository")
    parser.add_argument("--read", type=Path, help="take in the causes from a file that --out wrote and a reader filled")
    parser.add_argument("--docs", nargs=2, metavar=("FILE", "NAME"), help="refresh the tables of this name in the file")
    arguments = parser.parse_args()
    judged = read_results(arguments.results / "results.jsonl")
    rows = [row for path in arguments.rows for row in read_rows(path) if row.digest in judged]
    results = [judged[row.digest] for row in rows]
    causes = read_causes(CAUSES_FILE)
    if arguments.read is not None:
        entries = map(json.loads, arguments.read.read_text().splitlines())
        causes |= {entry["key"]: entry["cause"] for entry in entries if entry["cause"]}
        write_causes(CAUSES_FILE, causes)
        causes = read_causes(CAUSES_FILE)
    drawn = draw(rows, results, arguments.worst, arguments.random)
    if arguments.out is not None:
        if REPOSITORY in arguments.out.resolve().parents:
            raise SystemExit(f"{arguments.out} lies in the repository, which holds no text of the labelled sets")
        lines = [
            json.dumps({"key": one.key, "cause": causes.get(one.key, ""), **one.error}, ensure_ascii=False) + "\n"
            for one in drawn
        ]
        arguments.out.write_text("".join(lines), encoding="utf-8")
    wrong = {key_of(e["set"], e["id"], e["claim"]) for e in errors_of(rows, results)}
    keys = {key_of(row.set, row.id, row.text) for row in rows}
    still = {key: key in wrong for key in causes if key in keys}
    first = causes_table(drawn, causes, still)
    second = sets_table(drawn, causes, columns_of(rows))
    total = Counter(e["kind"] for e in errors_of(rows, results))
    head = f"{len(rows):,} rows, {total['missed']:,} wrong claims missed, {total['false alarm']:,} false alarms."
    lines = [head, "", *first, "", *second]
    if arguments.docs is not None:
        path = Path(arguments.docs[0])
        path.write_text(replaced(path.read_text(), arguments.docs[1], lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
