"""Sources that disagree, and versions that replace each other: what the gate lets out of claims that follow one side.

    python -m benchmarks.conflicts [--policy NAME] [--cases]

`gate/conflicts.jsonl` has pairs of current sources that disagree on one thing, each with a claim that follows one of
them; nothing of it may be emitted without both passages being shown. `gate/superseded.jsonl` has pairs of which one
gives way to the other (an earlier version, a draft, replaced, not in force on the day that is asked about), each with
a claim that follows the one that holds and one that follows the other. `gate/conflicts_fresh.jsonl` has more pairs of
the first sort: the first part was read while the rules were mended and has, for each pair, an answer that discloses the
disagreement and a source that speaks of something else in the other's place (neither may be held back for a conflict);
of the second nothing but the counts was ever looked at; the third (`held`, of other domains) was written, and its first
counts taken, before what record 74 decided, and has answers that disclose and sources of something else too. The pairs
were written by hand for these files; none stands in the training data.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay import Guard
from assay.schema import Action, Evidence

_FOLDER = Path(__file__).with_name("gate")


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The cases of a file."""
    with (_FOLDER / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def fresh(guard: Guard, half: str) -> str:
    """Check the pairs of a half of the fresh ones; the counts as a line."""
    counts: Counter[str] = Counter()
    for row in rows("conflicts_fresh.jsonl"):
        if row["half"] != half:
            continue
        evidence = [Evidence(**one) for one in row["evidence"]]
        report = guard.check(row["claim"], evidence)
        counts["pairs"] += 1
        counts["both passages shown"] += bool(report.retrieval.conflicts)
        counts["emitted without"] += report.action is Action.EMIT and not report.retrieval.conflicts
        if "disclosed" in row:
            counts["disclosing answers emitted"] += guard.check(row["disclosed"], evidence).action is Action.EMIT
            own = next(one for one in evidence if one.id == row["follows"])
            report = guard.check(row["claim"], [own, Evidence(id="apart", text=row["apart"])])
            counts["a conflict beside something else"] += bool(report.retrieval.conflicts)
            counts["emitted beside something else"] += report.action is Action.EMIT
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def main() -> None:
    """Check all cases, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--cases", action="store_true", help="print each case that went wrong")
    given = parser.parse_args()
    guard = Guard(given.policy)
    leaked: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    shown = 0
    for row in rows("conflicts.jsonl"):
        report = guard.check(row["claim"], [Evidence(**one) for one in row["evidence"]])
        kinds[row["kind"]] += 1
        disclosed = bool(report.retrieval.conflicts)
        shown += disclosed
        if report.action is Action.EMIT and not disclosed:
            leaked[row["kind"]] += 1
            if given.cases:
                print("emitted", row["kind"], row["claim"], "|", *(one["text"] for one in row["evidence"]))
    print(f"conflicts: {sum(kinds.values())}, both passages shown {shown}, emitted without {sum(leaked.values())}")
    print("  emitted by kind:", dict(sorted(leaked.items())))
    for half in ("read", "untouched", "held"):
        print(f"fresh, {half}:", fresh(guard, half))
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for row in rows("superseded.jsonl"):
        evidence = [Evidence(**one) for one in row["evidence"]]
        day = row.get("as_of")
        followed, old = (guard.check(row[side], evidence, as_of=day) for side in ("right", "wrong"))
        held = followed.action is Action.EMIT and old.action is not Action.EMIT
        total[row["how"]] += 1
        right[row["how"]] += held
        if given.cases and not held:
            print(row["how"], followed.action.value, row["right"], "|", old.action.value, row["wrong"])
    print(f"superseded: {sum(total.values())}, current emitted and outdated not {sum(right.values())}")
    print("  by how:", {how: f"{right[how]} of {count}" for how, count in sorted(total.items())})


if __name__ == "__main__":
    main()
