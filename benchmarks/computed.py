"""Claims whose value has to be computed from the evidence: whether right ones are emitted and wrong ones stopped.

    python -m benchmarks.computed [--policy NAME] [--part seen|held|all] [--cases]

`gate/computed.jsonl` has evidence in prose, tables and JSON, each with a claim that follows from it by a calculation
(sums, products, shares, averages, extremes, counts, spans of time, unit changes, empty lists and truth values), and
with one that gives another result. Every second case (`"held": true`) was put aside before any result was looked at;
nothing was mended by those.

Printed are the share of right claims that are emitted, of wrong ones that are not, of wrong ones that are called
contradicted, and of wrong ones whose finding tells the right result; and how many right claims are called contradicted.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.documents import evidence_of

from assay import Guard
from assay.schema import Action, HallucinationReport, Verdict

_CASES = Path(__file__).with_name("gate") / "computed.jsonl"


def cases(part: str) -> Iterator[dict[str, Any]]:
    """The cases of a part: `seen`, `held` or `all`."""
    with _CASES.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if part == "all" or case["held"] is (part == "held"):
                yield case


def contradicted(report: HallucinationReport) -> bool:
    """Whether a claim of the report is called contradicted."""
    return any(claim.verdict is Verdict.CONTRADICTED for claim in report.claims)


def told(report: HallucinationReport, result: str) -> bool:
    """Whether a finding of the report tells the result, with or without marks between its digits."""
    said = " ".join(issue.message for claim in report.claims for issue in claim.issues)
    return result.lower() in said.lower().replace(",", "")


def main() -> None:
    """Check all cases, print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--part", choices=("seen", "held", "all"), default="seen")
    parser.add_argument("--cases", action="store_true", help="print each case that went wrong")
    given = parser.parse_args()
    guard = Guard(given.policy)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    names = ("right emitted", "wrong stopped", "wrong contradicted", "result told", "right contradicted")
    for case in cases(given.part):
        evidence = evidence_of(case)
        right, wrong = (guard.check(case[side], evidence, question=case.get("question")) for side in ("right", "wrong"))
        found = dict(
            zip(
                names,
                (
                    right.action is Action.EMIT,
                    wrong.action is not Action.EMIT,
                    contradicted(wrong),
                    told(wrong, case["result"]),
                    contradicted(right),
                ),
                strict=True,
            )
        )
        for group in (case["kind"].split("/")[0], "all"):
            counts[group]["cases"] += 1
            counts[group].update(name for name, holds in found.items() if holds)
        if given.cases and not (all(found[name] for name in names[:-1]) and not found[names[-1]]):
            _print(case, found, right, wrong)
    for group, counted in counts.items():
        print(f"{group}: {counted['cases']} cases, {', '.join(f'{name} {counted[name]}' for name in names)}")


def _print(
    case: Mapping[str, Any], found: Mapping[str, bool], right: HallucinationReport, wrong: HallucinationReport
) -> None:
    print(case["id"], case["kind"], dict(found))
    for name, report in (("right", right), ("wrong", wrong)):
        for claim in report.claims:
            said = " / ".join(issue.message for issue in claim.issues)
            score = claim.score if claim.score is None else round(claim.score, 3)
            print(f"  {name} {report.action.value}: {claim.verdict.value} {score} {claim.text!r} {said}")


if __name__ == "__main__":
    main()
