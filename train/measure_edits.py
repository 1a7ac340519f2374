"""How many planted edits the verifier finds, how often it flags their unedited twins, and how well it marks them.

    python -m train.measure_edits --data ../shared/data --per-kind 60

The documents are those that neither the network nor the combination was fitted on (`train/rows.py`). An edit is found
where its claim is not called supported. A mark is right to the word where the words that the report points at are
exactly the words that were edited, and right to the content word where they agree but for words such as "is", "of"
and "the", which people mark now with their neighbour and now without. A claim called wrong as a whole has no mark.
"""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path

from assay.config import Guard
from assay.schema import ClaimReport, Verdict
from train.edits import EDITABLE, planted
from train.edits.generate import Pair
from train.rows import load_training_sets, part_of

_WORD = re.compile(r"[$£€¥]?\w+(?:[.,'’-]\w+)*")
_EMPTY = frozenset(
    re.findall(
        "[a-z]+",
        "a an the is are was were be been being do does did have has had of to that and in at on for by with from it "
        "its as or",
    )
)


def words_in(claim: str, spans: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Where the words begin that the spans touch."""
    return frozenset(
        m.start() for m in _WORD.finditer(claim) if any(start < m.end() and m.start() < end for start, end in spans)
    )


def content(claim: str, words: frozenset[int]) -> frozenset[int]:
    """Those of the words that carry meaning by themselves; all of them where none does."""
    kept = frozenset(i for i in words if (m := _WORD.match(claim, i)) and m.group().lower() not in _EMPTY)
    return kept or words


def marks(report: ClaimReport) -> list[tuple[int, int]]:
    """The words that the report calls wrong; none where it calls the claim wrong as a whole."""
    return [(span.start, span.end) for span in report.wrong_spans]


@dataclasses.dataclass
class Counts:
    """What was counted over some pairs."""

    pairs: int = 0
    found: int = 0
    alarms: int = 0
    marked: int = 0
    exact: int = 0
    content: int = 0
    touched: int = 0
    overlap: float = 0.0

    def add(self, pair: Pair, report: ClaimReport, twin: ClaimReport) -> None:
        """Count one pair: the report of the edited claim and that of its twin."""
        self.pairs += 1
        self.alarms += twin.verdict is not Verdict.SUPPORTED
        if report.verdict is Verdict.SUPPORTED:
            return
        claim = pair.wrong.claim
        got, asked = (words_in(claim, spans) for spans in (marks(report), pair.wrong.spans))
        self.found += 1
        self.marked += bool(got)
        self.exact += got == asked
        self.content += content(claim, got) == content(claim, asked)
        self.touched += bool(got & asked)
        self.overlap += 2 * len(got & asked) / max(len(got) + len(asked), 1)

    def line(self, name: str) -> str:
        """The counts as shares: of the pairs, and for marks of what was found."""
        shares = (self.marked, self.exact, self.content, self.touched, self.overlap)
        return (
            f"{name:14}{self.pairs:6}{self.found / max(self.pairs, 1):8.3f}{self.alarms / max(self.pairs, 1):14.3f}"
            + "".join(f"{share / max(self.found, 1):9.3f}" for share in shares)
        )


HEAD = f"{'kind':14}{'pairs':>6}{'found':>8}{'false alarms':>14}" + "".join(
    f"{name:>9}" for name in ("marked", "exact", "content", "touched", "F1")
)


def main() -> None:
    """Read arguments, plant, judge, print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--per-kind", type=int, default=60)
    parser.add_argument("--seed", type=int, default=47)
    parser.add_argument("--policy", default="general")
    arguments = parser.parse_args()
    unseen = [r for r in load_training_sets(arguments.data) if part_of(r) == "test" and r.source in EDITABLE]
    guard = Guard(arguments.policy)
    prose, records = Counts(), Counts()
    print(HEAD)
    for kind, pairs in planted(unseen, arguments.per_kind, arguments.seed).items():
        counts = Counts()
        rows = [row for pair in pairs for row in (pair.wrong, pair.twin)]
        reports = guard.judge_claims([(row.claim, list(row.evidence), row.question) for row in rows])
        for pair, report, twin in zip(pairs, reports[::2], reports[1::2], strict=True):
            counts.add(pair, report, twin)
            (records if is_record(pair) else prose).add(pair, report, twin)
        if pairs:
            print(counts.line(kind), flush=True)
    print(prose.line("prose"))
    print(records.line("records"))


def is_record(pair: Pair) -> bool:
    """Whether the claim was made from a record or a table rather than from prose."""
    return pair.twin.source.endswith((".record", ".total")) or pair.wrong.source == "edit:wrong_value"


if __name__ == "__main__":
    main()
