"""What `independence` the presets should have, and what becomes of answers under it.

    python -m train.fit_answers --data ../shared/data

The probability that nothing in an answer is wrong is the product of its claims' probabilities, each to the power of
`independence` (`assay.stats.joint`): claims of one answer are right or wrong together, more than by chance. The value
is the one with the largest share of honest answers emitted plus that of wrong ones stopped, over answers of the `fit`
side: answers of models that people labelled, and those of written scenarios. Each kind weighs the same. What is printed
beside it are both rates for every value and kind.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.config import Guard
from assay.policy import Policy
from assay.schema import Action, HallucinationReport, Verdict
from assay.stats.joint import joint_support
from train.model_answers import records
from train.rows import Part, load_training_sets
from train.scenario_rows import Side, evaluation_answers

GRID = tuple(round(step / 20, 2) for step in range(1, 21))
_BLOCK = 32


@dataclass(frozen=True)
class Answer:
    """What the gate knows of one answer."""

    kind: str
    honest: bool
    scores: tuple[float, ...]
    """Of its claims, one for each statement."""
    barred: bool
    """Whether it is held back whatever the joint probability is: a claim without support, a conflict, a citation."""
    emitted: bool
    """Under the policy as it is."""


def answer_of(kind: str, honest: bool, report: HallucinationReport, policy: Policy) -> Answer:
    """The columns of one report."""
    statements: dict[Any, float] = {}
    for at, claim in enumerate(report.claims):
        if claim.verdict is Verdict.NOT_CHECKABLE:
            continue
        key = claim.part_of if claim.part_of is not None else ("alone", at)
        statements[key] = min(statements.get(key, 1.0), claim.score or 0.0)
    scores = tuple(statements.values())
    emitted = report.action is Action.EMIT
    reaches = bool(scores) and joint_support(scores, policy.independence) >= policy.emit_threshold
    supported = all(c.verdict in (Verdict.SUPPORTED, Verdict.NOT_CHECKABLE) for c in report.claims)
    barred = not supported or (reaches and not emitted)
    return Answer(kind, honest, scores, barred, emitted)


def of_side(data: Path, part: Part, side: Side, policy: str) -> list[Answer]:
    """All answers of one side, checked."""
    guard = Guard(policy)
    rows: list[tuple[str, Mapping[str, Any]]] = [
        *(("models", row) for row in records(data, load_training_sets(data), part)),
        *((row["set"].split("-")[0], row) for row in evaluation_answers(side)),
    ]
    found: list[Answer] = []
    for begin in range(0, len(rows), _BLOCK):
        some = rows[begin : begin + _BLOCK]
        asked = [{"answer": r["answer"], "evidence": list(r["evidence"]), "question": r["question"]} for _, r in some]
        for (kind, row), report in zip(some, guard.check_many(asked), strict=True):
            found.append(answer_of(kind, row["label"] == "supported", report, guard.policy))
        print(f"\r{len(found)} of {len(rows)} answers", end="", flush=True)
    print()
    return found


def rates(answers: Iterable[Answer], independence: float, threshold: float) -> tuple[float, float]:
    """Honest answers emitted and wrong ones stopped, as shares."""
    passed: dict[bool, list[bool]] = {True: [], False: []}
    for one in answers:
        joint = joint_support(one.scores, independence) if one.scores else 0.0
        let_out = (not one.barred and joint >= threshold) if one.scores else one.emitted
        passed[one.honest].append(let_out)
    return _share(passed[True]), 1 - _share(passed[False])


def _share(passed: Sequence[bool]) -> float:
    return sum(passed) / len(passed) if passed else 0.0


def table(answers: Sequence[Answer], threshold: float) -> Iterator[str]:
    """A line for each value."""
    both = {kind: {one.honest for one in answers if one.kind == kind} for kind in {one.kind for one in answers}}
    kinds = sorted(kind for kind, found in both.items() if len(found) == 2)
    yield "independence" + "".join(f"{kind:>18}" for kind in kinds) + "       sum"
    for value in GRID:
        found = [rates([one for one in answers if one.kind == kind], value, threshold) for kind in kinds]
        line = "".join(f"{honest:9.3f}{wrong:9.3f}" for honest, wrong in found)
        yield f"{value:12.2f}{line}{np.mean([sum(one) for one in found]):10.3f}"


def main() -> None:
    """Read arguments, check, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--policy", default="general")
    parser.add_argument("--part", choices=("fit", "test"), default="fit")
    parser.add_argument("--keep", type=Path, help="a .json for what was found of each answer")
    given = parser.parse_args()
    answers = of_side(given.data, given.part, given.part, given.policy)
    if given.keep:
        given.keep.write_text(json.dumps([vars(one) for one in answers]))
    for line in table(answers, Guard(given.policy).policy.emit_threshold):
        print(line)
    for kind in sorted({one.kind for one in answers}):
        some = [one for one in answers if one.kind == kind]
        honest = [one.emitted for one in some if one.honest]
        wrong = [not one.emitted for one in some if not one.honest]
        print(f"{kind}: as it is {_share(honest):.3f} of {len(honest)} emitted, {_share(wrong):.3f} of {len(wrong)}")


if __name__ == "__main__":
    main()
