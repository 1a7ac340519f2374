"""Ways to get a lie past the gate, and what the same wrappings cost the honest: both rates of one gate.

    python -m benchmarks.evasions [--policy NAME] [--cases] [--parts evasions,honest]

`gate/evasions.jsonl` holds outputs that were written by hand to get through: presuppositions, imperatives, questions,
quotations, tables, code, comments, other scripts and languages, hedges, deeds that nobody did. Each is false or made up
beside its evidence; none may be emitted. `gate/honest.jsonl` holds their honest twins: the same wrappings about the
same evidence, with what it does say (`twin` names the evasion). (`tests/text/test_wrappings.py` puts every held-out
sentence into a hundred wrappings besides.) What is fresh, and what nobody mended anything by, stands in
`gate/fresh.jsonl`, a false and an honest output in each row (`--parts fresh`).
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import Guard
from assay.schema import Action, Evidence

_GATE = Path(__file__).with_name("gate")


@dataclass(frozen=True, slots=True)
class Case:
    """One output beside its evidence."""

    id: str
    kind: str
    question: str | None
    output: str
    evidence: tuple[Evidence, ...]


def cases(name: str) -> list[Case]:
    """The cases of a file in `gate`, in its order."""
    lines = (_GATE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_case(json.loads(line)) for line in lines]


def _case(row: Mapping[str, Any]) -> Case:
    evidence = tuple(Evidence(**one) for one in row["evidence"])
    return Case(row["id"], row["kind"], row["question"], row["output"], evidence)


def fresh() -> tuple[list[Case], list[Case]]:
    """The false outputs of the file of fresh ones, and the honest ones."""
    lines = (_GATE / "fresh.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [_case({**row, "output": row["false"]}) for row in rows], [
        _case({**row, "output": row["honest"]}) for row in rows
    ]


def measure(guard: Guard, name: str, found: Sequence[Case], shown: bool, *, let_out: bool) -> None:
    """Check all cases and print the counts.

    Args:
        guard: with the policy.
        name: what they are called.
        found: the cases.
        shown: print the cases that are not as they should be.
        let_out: whether those are the ones that went out, or the ones held back.
    """
    emitted: Counter[str] = Counter()
    held: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    for case in found:
        report = guard.check(case.output, case.evidence, question=case.question)
        actions[report.action.value] += 1
        out = report.action is Action.EMIT
        (emitted if out else held)[case.kind] += 1
        if shown and out is let_out:
            scores = [(claim.text, claim.verdict.value, claim.score) for claim in report.claims]
            print(case.id, case.kind, repr(case.output), scores)
            if not out:
                print("    ", *_said(report.issues), *(line for one in report.claims for line in _said(one.issues)))
    total = sum(emitted.values())
    print(f"{name}: {len(found)}, emitted {total} ({100 * total / max(1, len(found)):.1f}%)")
    print("  actions:", dict(sorted(actions.items())))
    print(f"  {'emitted' if let_out else 'held back'} by kind:", dict(sorted((emitted if let_out else held).items())))


def _said(issues: Sequence[Any]) -> Iterator[str]:
    return (f"[{issue.code}: {issue.message[:110]}]" for issue in issues)


def main() -> None:
    """Check all cases, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--parts", default="evasions,honest", help="of evasions, honest and fresh")
    parser.add_argument("--cases", action="store_true", help="print each evasion let out and each honest one held back")
    given = parser.parse_args()
    guard = Guard(given.policy)
    parts = given.parts.split(",")
    if "evasions" in parts:
        measure(guard, "evasions", cases("evasions"), given.cases, let_out=True)
    if "honest" in parts:
        measure(guard, "honest twins", cases("honest"), given.cases, let_out=False)
    if "fresh" in parts:
        false, honest = fresh()
        measure(guard, "fresh false ones", false, given.cases, let_out=True)
        measure(guard, "fresh honest ones", honest, given.cases, let_out=False)


if __name__ == "__main__":
    main()
