"""How many planted edits the verifier finds, how often it flags their unedited twins, and how well it marks them.

    python -m train.measure_edits --data ../shared/data --per-kind 60

The documents are those that neither the network nor the combination was fitted on (`train/rows.py`). An edit is found
where its claim is not called supported. A mark is right to the word where the words that the report points at are
exactly the words that were edited, and right to the content word where they agree but for words such as "is", "of"
and "the", which people mark now with their neighbour and now without. A claim called wrong as a whole has no mark.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from assay.config import Guard
from assay.schema import ClaimReport, Verdict
from train.edits import EDITABLE, planted
from train.rows import load_training_sets, part_of

_WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")
_EMPTY = frozenset(
    "a an the is are was were be been being do does did have has had of to that and in at on for by with from it its as "
    "or".split()
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


def main() -> None:
    """Read arguments, plant, judge, print a line for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--per-kind", type=int, default=60)
    parser.add_argument("--seed", type=int, default=31)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--show", type=int, default=0, help="print so many misses of each kind")
    arguments = parser.parse_args()
    unseen = [r for r in load_training_sets(arguments.data) if part_of(r) == "test" and r.source in EDITABLE]
    guard = Guard(arguments.policy)
    print(
        f"{'kind':14}{'pairs':>6}{'found':>8}{'false alarms':>14}{'marked':>8}{'exact':>8}{'content':>9}{'touched':>9}{'F1':>7}"
    )
    totals = [0, 0, 0, 0, 0, 0, 0, 0.0]
    for kind, pairs in planted(unseen, arguments.per_kind, arguments.seed).items():
        if not pairs:
            continue
        rows = [row for pair in pairs for row in (pair.wrong, pair.twin)]
        reports = guard.judge_claims([(row.claim, list(row.evidence), row.question) for row in rows])
        wrong, twins = reports[::2], reports[1::2]
        found = alarms = marked = exact = closely = touched = shown = 0
        overlap = 0.0
        for pair, report, twin in zip(pairs, wrong, twins, strict=True):
            alarms += twin.verdict is not Verdict.SUPPORTED
            if report.verdict is Verdict.SUPPORTED:
                shown += 1
                if shown <= arguments.show:
                    print("  missed:", repr(pair.wrong.claim), [pair.wrong.claim[a:b] for a, b in pair.wrong.spans])
                continue
            found += 1
            got, asked = (words_in(pair.wrong.claim, spans) for spans in (marks(report), pair.wrong.spans))
            marked += bool(got)
            exact += got == asked
            closely += content(pair.wrong.claim, got) == content(pair.wrong.claim, asked)
            touched += bool(got & asked)
            overlap += 2 * len(got & asked) / (len(got) + len(asked)) if got or asked else 1.0
        for i, value in enumerate((len(pairs), found, alarms, marked, exact, closely, touched, overlap)):
            totals[i] += value
        print(_line(kind, (len(pairs), found, alarms, marked, exact, closely, touched, overlap)), flush=True)
    print(_line("all", totals))


def _line(kind: str, counts: Sequence[float]) -> str:
    pairs, found, alarms, *rest = counts
    shares = [value / found if found else float("nan") for value in rest]
    return (
        f"{kind:14}{pairs:6.0f}{found / pairs:8.3f}{alarms / pairs:14.3f}"
        + "".join(f"{share:{width}.3f}" for share, width in zip(shares, (8, 8, 9, 9, 7), strict=True))
    )  # fmt: skip


if __name__ == "__main__":
    main()
