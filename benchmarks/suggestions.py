"""How often the value that a report suggests is the right one: python -m benchmarks.suggestions --data DATA.

Single values of claims are changed by `train.edits`, in documents that nothing was fitted on. A suggestion restores a
claim where applying it gives the claim as it was before the edit, word for word; it is another where it changes
something else or writes the value in another way. Suggestions for the unedited twins are false alarms.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from train.edits import EDITABLE, planted
from train.rows import load_training_sets, part_of

from assay import Guard
from assay.schema import ClaimReport

KINDS: Final = ("number", "number_word", "unit", "date", "name", "wrong_subject", "wrong_value")


def applied(report: ClaimReport) -> str:
    """The claim with every suggestion in it, from the last to the first."""
    text = report.text
    for one in sorted(report.suggestions, key=lambda one: -one.span.start):
        text = text[: one.span.start] + one.after + text[one.span.end :]
    return text


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--per-kind", type=int, default=25)
    parser.add_argument("--seed", type=int, default=47)
    given = parser.parse_args()
    unseen = [r for r in load_training_sets(given.data) if part_of(r) == "test" and r.source in EDITABLE]
    guard = Guard()
    sys.stdout.write(
        "| kind | pairs | suggested | restored | other | for unedited twins |\n|---|---|---|---|---|---|\n"
    )
    for kind, pairs in planted(unseen, given.per_kind, given.seed).items():
        if kind not in KINDS:
            continue
        rows = [row for pair in pairs for row in (pair.wrong, pair.twin)]
        reports = guard.judge_claims([(row.claim, list(row.evidence), row.question) for row in rows])
        wrong = [(pair, report) for pair, report in zip(pairs, reports[::2], strict=True) if report.suggestions]
        restored = sum(applied(report) == pair.twin.claim for pair, report in wrong)
        false = sum(bool(report.suggestions) for report in reports[1::2])
        cells = (kind, len(pairs), len(wrong), restored, len(wrong) - restored, false)
        sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
