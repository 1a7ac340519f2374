"""Answers that are documents or tables: whether the right ones are emitted and the wrong field or cell is named.

    python -m benchmarks.documents [--policy NAME] [--part seen|held|all] [--cases]

`gate/documents.jsonl` has answers (JSON, Markdown and HTML tables) with evidence in another form, each right, and one
exchange that makes one field or one cell of it wrong. Every second case (`"held": true`) was put aside before any
result was looked at; nothing was mended by those.

Printed are the share of right answers that are emitted, of wrong ones that are not, and of wrong ones whose wrong
place is named: for JSON by an issue on a claim with the JSON Pointer of the field, for tables by an issue within the
cell that names the row and the column.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay import Guard
from assay.schema import Action, Evidence, HallucinationReport, Verdict

_CASES = Path(__file__).with_name("gate") / "documents.jsonl"


def cases(part: str) -> Iterator[dict[str, Any]]:
    """The cases of a part: `seen`, `held` or `all`."""
    with _CASES.open(encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            if part == "all" or case["held"] is (part == "held"):
                yield case


def evidence_of(case: Mapping[str, Any]) -> list[Evidence]:
    """The evidence of a case, numbered."""
    return [Evidence(id=f"e{number}", text=text) for number, text in enumerate(case["evidence"], 1)]


def wrong_of(case: Mapping[str, Any]) -> tuple[str, int, int]:
    """The wrong answer, and from where to where it differs."""
    wrong = case["wrong"]
    at = case["answer"].index(wrong["from"])
    return case["answer"].replace(wrong["from"], wrong["to"], 1), at, at + len(wrong["to"])


def named(report: HallucinationReport, where: str | list[str], start: int, end: int) -> bool:
    """Whether a finding of the report stands at the wrong place and says which place it is."""
    for claim in report.claims:
        if claim.verdict is Verdict.SUPPORTED or not (claim.span.start < end and start < claim.span.end):
            continue
        if isinstance(where, str):
            if claim.path == where:
                return True
        elif any(
            issue.span is not None
            and issue.span.start < end
            and start < issue.span.end
            and all(name.lower() in issue.message.lower() for name in where)
            for issue in claim.issues
        ):
            return True
    return False


def main() -> None:
    """Check all cases, print the rates."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--part", choices=("seen", "held", "all"), default="seen")
    parser.add_argument("--cases", action="store_true", help="print each case that went wrong")
    given = parser.parse_args()
    guard = Guard(given.policy)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for case in cases(given.part):
        evidence = evidence_of(case)
        right = guard.check(case["answer"], evidence, question=case.get("question"))
        text, start, end = wrong_of(case)
        wrong = guard.check(text, evidence, question=case.get("question"))
        found = {
            "all": True,
            "right emitted": right.action is Action.EMIT,
            "wrong stopped": wrong.action is not Action.EMIT,
            "wrong place named": named(wrong, case["wrong"]["at"], start, end),
        }
        for group in (case["kind"].split("/")[0], "all"):
            counts[group].update(name for name, holds in found.items() if holds)
        if given.cases and not all(found.values()):
            _print(case, found, right, wrong)
    for group, counted in counts.items():
        figures = ", ".join(f"{name} {counted[name]}" for name in found if name != "all")
        print(f"{group}: {counted['all']} cases, {figures}")


def _print(
    case: Mapping[str, Any], found: Mapping[str, bool], right: HallucinationReport, wrong: HallucinationReport
) -> None:
    print(case["id"], case["kind"], *(name for name, holds in found.items() if not holds), sep=" | ")
    for name, report in (("right", right), ("wrong", wrong)):
        if name == "right" and found["right emitted"]:
            continue
        print(f"  {name}: {report.action.value}; {'; '.join(report.decision.reasons)[:200]}")
        for claim in report.claims:
            if name == "wrong" or claim.verdict is not Verdict.SUPPORTED or (claim.score or 0) < 0.9:
                place = claim.path or f"{claim.span.start}-{claim.span.end}"
                said = " / ".join(issue.message for issue in claim.issues)
                score = claim.score if claim.score is None else round(claim.score, 3)
                print(f"    {claim.verdict.value} {score} [{place}] {claim.text!r} {said}")


if __name__ == "__main__":
    main()
