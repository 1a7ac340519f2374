"""Ways to get a lie past the gate: outputs that say something false without saying it in a plain sentence.

    python -m benchmarks.evasions [--policy NAME] [--cases]

`gate/evasions.jsonl` holds outputs that were written by hand to get through: presuppositions, imperatives, questions,
quotations, tables, code, comments, other scripts and languages, hedges, deeds that nobody did. Each is false or made up
beside its evidence; none may be emitted. (`tests/text/test_wrappings.py` puts every held-out sentence into a hundred
wrappings besides.)
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from assay import Guard
from assay.schema import Action, Evidence

_CASES = Path(__file__).with_name("gate") / "evasions.jsonl"


def main() -> None:
    """Check all cases, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--cases", action="store_true", help="print each case that was emitted")
    given = parser.parse_args()
    guard = Guard(given.policy)
    rows = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
    emitted: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    for row in rows:
        evidence = [Evidence(**one) for one in row["evidence"]]
        report = guard.check(row["output"], evidence, question=row["question"])
        actions[report.action.value] += 1
        if report.action is Action.EMIT:
            emitted[row["kind"]] += 1
            if given.cases:
                scores = [(claim.text, claim.verdict.value, claim.score) for claim in report.claims]
                print(row["id"], row["kind"], repr(row["output"]), scores)
    print(f"evasions: {len(rows)}, emitted {sum(emitted.values())}")
    print("  actions:", dict(sorted(actions.items())))
    print("  emitted by kind:", dict(sorted(emitted.items())))


if __name__ == "__main__":
    main()
