"""Counts conflicts that are reported on claims which several sources leave standing: false alarms, nearly all of them.

    python -m train.count_conflicts [--batches c p r qa ne] [--most N] [--cases]

Each claim of a scenario with several sources that two readers called supported is checked by itself under the preset
`general`. A conflict on such a claim is a false alarm but for the few claims that follow one of two sources that do
disagree, which a reader of `--cases` sees. Claims are taken evenly from each batch.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from assay import Guard
from assay.schema import Evidence
from train.scenario_rows import SCENARIOS, evidence_of, kept_claims
from train.scenario_text import read_scenarios


def right_claims(batch: str, most: int) -> Iterator[tuple[str, str, str, list[Evidence]]]:
    """Supported claims of a batch that stand beside several sources: scenario, question, claim, sources."""
    found: list[tuple[str, str, str, list[Evidence]]] = []
    for scenario in read_scenarios(SCENARIOS / f"{batch}.jsonl"):
        evidence = evidence_of(scenario) if all("text" in one for one in scenario["evidence"]) else []
        if len(evidence) > 1:
            claims: list[dict[str, Any]] = [one for _, one in kept_claims(scenario) if one["label"] == "supported"]
            found += [(scenario["id"], scenario["question"], one["text"], evidence) for one in claims]
    step = max(1, len(found) // most)
    yield from found[::step][:most]


def main() -> None:
    """Check the claims of each batch, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", nargs="+", default=["c", "p", "r", "qa", "ne"])
    parser.add_argument("--most", type=int, default=120, help="claims of a batch at most")
    parser.add_argument("--policy", default="general")
    parser.add_argument("--cases", action="store_true", help="print each claim with the two passages")
    given = parser.parse_args()
    guard = Guard(given.policy)
    totals = [0, 0, 0]
    for batch in given.batches:
        counts = [0, 0, 0]
        for scenario, question, claim, evidence in right_claims(batch, given.most):
            report = guard.check(claim, evidence, question=question)
            conflicts = report.retrieval.conflicts
            for at, one in enumerate((True, bool(conflicts), report.action.value == "emit")):
                counts[at] += one
            if given.cases and conflicts:
                first = conflicts[0]
                print(
                    f"{scenario} {claim}\n    {first.supporting.text[:160]!r}\n    {first.contradicting.text[:160]!r}"
                )
        print(f"{batch}: {counts[0]} right claims, a conflict on {counts[1]}, emitted {counts[2]}", flush=True)
        totals = [a + b for a, b in zip(totals, counts, strict=True)]
    share = totals[1] / max(1, totals[0])
    print(f"all: {totals[0]} right claims, a conflict on {totals[1]} ({share:.3f}), emitted {totals[2]}")


if __name__ == "__main__":
    main()
