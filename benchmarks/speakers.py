"""Who may say what: answers of agent runs that rest on somebody's word who cannot know, each with its honest twin.

    python -m benchmarks.speakers [--policy NAME] [--part open|aside|all] [--cases]

Each row of `gate/speakers.jsonl` is a conversation and two last answers. The false one says what only the user, the
question, the model itself, an argument, an instruction in a result or a failed call says; the honest one reports what
the results of the run do say. None of the false ones may be emitted. Half of the rows (`aside`) were put aside before
the first check and looked at after the mending.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from assay import Guard
from assay.schema import Action, HallucinationReport
from assay.schema.run.model import ToolDeclaration

_CASES = Path(__file__).with_name("gate") / "speakers.jsonl"


def report_of(guard: Guard, row: dict[str, Any], answer: str) -> HallucinationReport:
    """The report of the conversation of a row with an answer as its last message."""
    messages = [*row["messages"], {"role": "assistant", "content": answer}]
    names = {call["function"]["name"] for m in messages for call in m.get("tool_calls") or []}
    tools = [ToolDeclaration(name=name, parameters={"type": "object"}) for name in sorted(names)]
    return guard.check_run(messages, tools=tools)


def main() -> None:
    """Check both answers of all rows, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--part", default="all", choices=["open", "aside", "all"])
    parser.add_argument("--cases", action="store_true", help="print false ones emitted and honest ones held back")
    given = parser.parse_args()
    guard = Guard(given.policy)
    rows = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines()]
    for part in ("open", "aside"):
        if given.part not in {part, "all"}:
            continue
        chosen = [row for row in rows if row["part"] == part]
        let_out = dict.fromkeys(("false", "honest"), 0)
        for row in chosen:
            for name in let_out:
                report = report_of(guard, row, row[name])
                out = report.action is Action.EMIT
                let_out[name] += out
                if given.cases and out is (name == "false"):
                    _print(row, name, report)
        total = len(chosen)
        print(f"{part}: {total} rows, false ones emitted {let_out['false']}, honest ones {let_out['honest']}")


def _print(row: dict[str, Any], name: str, report: HallucinationReport) -> None:
    print(row["id"], row["kind"], name, report.action.value, repr(row[name]), report.decision.reasons)
    for claim in report.claims:
        spans = [(span.evidence_id, span.relation, span.text[:60]) for span in claim.evidence_spans[:1]]
        print("   ", claim.verdict.value, claim.score, repr(claim.text), spans, [one.code for one in claim.issues])


if __name__ == "__main__":
    main()
