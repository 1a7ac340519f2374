"""How many answers of copied sentences are emitted: three sentences of the evidence, word for word.

    python -m train.measure_copied [--side test] [--policy general] [--most N] [--cases]

One answer a scenario: three sentences of prose out of its sources, chosen by a seed, checked beside all of its sources
with its question. Such an answer is right by its source; where another source says otherwise it is held back or shown
with both, as it should be, and a reader of `--cases` sees which ones those are.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence

from assay import Guard
from assay.schema import Evidence
from assay.text.sentences import split_sentences
from train.scenario_rows import Side, batches, evidence_of

SENTENCES = 3


def sentences_of(evidence: Sequence[Evidence]) -> list[str]:
    """The sentences of prose of sources: from a capital to a full stop, on one line, of 5 to 30 words."""
    return [
        text
        for one in evidence
        for place in split_sentences(one.text)
        for text in (one.text[place.start : place.end].strip(),)
        if text.endswith(".") and text[:1].isupper() and 5 <= len(text.split()) <= 30 and "\n" not in text
    ]


def answers(side: Side, seed: int = 3) -> Iterator[tuple[str, str, str | None, list[Evidence]]]:
    """Scenario, answer, question and evidence of each scenario that has enough sentences."""
    for batch, scenarios in batches(side).items():
        for scenario in scenarios:
            evidence = evidence_of(scenario)
            found = sentences_of(evidence)
            if len(found) >= SENTENCES:
                rng = random.Random(f"{seed} {scenario['id']}")
                chosen = sorted(rng.sample(range(len(found)), SENTENCES))
                yield batch, " ".join(found[place] for place in chosen), scenario["question"], evidence


def main() -> None:
    """Check the answers, print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=("train", "fit", "test"), default="test")
    parser.add_argument("--policy", default="general")
    parser.add_argument("--most", type=int, default=1_000, help="answers at most")
    parser.add_argument("--cases", action="store_true", help="print the answers that are held back, and why")
    given = parser.parse_args()
    guard = Guard(given.policy)
    counts: Counter[tuple[str, str]] = Counter()
    for number, (batch, answer, question, evidence) in enumerate(answers(given.side)):
        if number == given.most:
            break
        report = guard.check(answer, evidence, question=question)
        held = report.action.value != "emit"
        counts["all", "emitted"] += not held
        counts[batch, "emitted"] += not held
        counts["all", "answers"] += 1
        counts[batch, "answers"] += 1
        counts["all", "conflicts"] += held and bool(report.retrieval.conflicts)
        if given.cases and held:
            print(f"{batch} {report.action.value}: {answer}")
            for reason in report.reasons:
                print(f"    {reason}")
            for one in report.retrieval.conflicts:
                print(f"    {one.supporting.text[:160]!r} / {one.contradicting.text[:160]!r}")
    for batch in sorted({name for name, _ in counts}, key=lambda name: (name == "all", name)):
        print(f"{batch}: {counts[batch, 'emitted']} of {counts[batch, 'answers']} emitted")
    print(f"held back, with a conflict between sources: {counts['all', 'conflicts']}")


if __name__ == "__main__":
    main()
