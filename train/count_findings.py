"""How often what the exact tier finds speaks against wrong claims and how often against right ones, over scenarios.

    python -m train.count_findings [--batches a,b,c] [--show 0.8]

Counted are the findings of each code by how sure they are, over the claims of all batches that may be trained or fitted
on (`train.scenario_rows`). A finding on a right claim is a false alarm; one on a wrong claim need not name what is
wrong in it. `--show` prints what speaks against right claims from a confidence on, to be read by a person.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator

from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.findings import ExactFinding
from train.documents import with_documents
from train.scenario_rows import HELD_OUT, SCENARIOS, evidence_of, kept_claims
from train.scenario_text import read_scenarios

BINS = ((0.8, "sure"), (0.5, "likely"), (0.0, "doubtful"))
"""Least confidences, the highest first, with what they are called."""


def findings(batches: frozenset[str]) -> Iterator[tuple[bool, str, tuple[ExactFinding, ...]]]:
    """Each claim of the batches: whether it is right, its text and what was found of it; of all batches where none is
    named, and never of those that are held out."""
    for path in sorted(SCENARIOS.glob("*.jsonl")):
        if path.stem in HELD_OUT or (batches and path.stem not in batches):
            continue
        for scenario in with_documents(read_scenarios(path)):
            index = index_evidence(evidence_of(scenario))
            for _, claim in kept_claims(scenario):
                result = check_exact(claim["text"], index, question=scenario["question"])
                yield claim["label"] == "supported", claim["text"], result.findings


def bin_of(confidence: float) -> str:
    """What a confidence is called."""
    return next(name for least, name in BINS if confidence >= least)


def main() -> None:
    """Read arguments, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batches", default="", help="names of batches, with commas between them; all by default")
    parser.add_argument("--show", type=float, help="print what speaks against right claims from this confidence on")
    given = parser.parse_args()
    counted: dict[tuple[str, str, str], list[int]] = defaultdict(lambda: [0, 0])
    against: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    claims = [0, 0]
    for right, text, found in findings(frozenset(filter(None, given.batches.split(",")))):
        claims[right] += 1
        for one in found:
            counted[one.code, one.effect, bin_of(one.confidence)][right] += 1
            if given.show is not None and right and one.effect == "contradicts" and one.confidence >= given.show:
                print(f"{one.code} {one.confidence}: {text} | {one.message}")
        strongest = max((one.confidence for one in found if one.effect == "contradicts"), default=0.0)
        for least, name in BINS[:2]:
            against[name][right] += strongest >= least
    print(f"claims: {claims[0]} wrong, {claims[1]} right")
    print(f"{'code':24}{'effect':14}{'':10}{'wrong':>7}{'right':>7}")
    for (code, effect, name), (wrong, right_ones) in sorted(counted.items()):
        print(f"{code:24}{effect:14}{name:10}{wrong:7d}{right_ones:7d}")
    for name, (wrong, right_ones) in against.items():
        print(f"claims that something speaks against, {name} or surer: {wrong} wrong, {right_ones} right")


if __name__ == "__main__":
    main()
