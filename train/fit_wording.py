"""How far the expected share of supported claims depends on their wording, fitted on answers.

    python -m train.fit_wording --data ../shared/data --out src/assay/verify/network/combination.json

Models quote what they were given and paraphrase it, and where they paraphrase they err more often: among answers of
models that people labelled, trigram precision alone ranks about as well as the network, and with it better than
either. Among the sets of `train.fit_combination` it says next to nothing, and in written scenarios, whose right and
wrong claims share as many words, nothing at all. So it enters after the combination, as the share of supported claims
in use (`assay.verify.network.combination.Wording`): log odds of the policy's prior, plus `weight` for each unit of
precision above `centre`, as far as nothing speaks against the claim.

Both are chosen over answers of the `fit` side, of models and of written scenarios, each kind weighing the same: the
largest sum of honest answers emitted and wrong ones stopped, among the pairs under which no rate falls: wrong ones
stopped not at all, honest ones emitted by at most `HONEST_LOSS`. `--part test` prints the rates of what ships over
answers that nothing is fitted on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay.guard import Guard
from assay.models.load import load_scorer
from assay.models.manifest import EMBEDDED
from assay.policy import Policy
from assay.policy.presets import PRESETS
from assay.schema import HallucinationReport, Verdict
from assay.stats.joint import joint_support
from assay.verify.network.combination import Wording, load_combination, logit, sigmoid
from train.model_answers import records
from train.rows import Part, load_training_sets
from train.scenario_rows import Side, evaluation_answers

WEIGHTS = tuple(step / 2 for step in range(13))
CENTRES = tuple(round(step / 50, 2) for step in range(3, 19))
HONEST_LOSS = 0.03
"""What may be lost of honest answers of one kind where more is gained elsewhere."""
_BLOCK = 32


@dataclass(frozen=True)
class Statement:
    """What is known of one statement of an answer."""

    score: float
    """The probability of support at the policy's own share."""
    signals: Mapping[str, float]

    def under(self, wording: Wording) -> float:
        """The probability with the share by wording."""
        if not self.signals:
            return self.score
        shift = logit(wording.share(0.5, self.signals))
        return sigmoid(logit(self.score) + shift)


@dataclass(frozen=True)
class Answer:
    """A labelled answer with its statements."""

    kind: str
    honest: bool
    statements: tuple[Statement, ...]

    def emitted(self, wording: Wording, policy: Policy) -> bool:
        """Whether the gate emits it, citations and conflicts aside."""
        scores = [one.under(wording) for one in self.statements]
        if not scores:
            return True
        joint = joint_support(scores, policy.independence)
        return joint >= policy.emit_threshold and min(scores) >= policy.support_threshold


def statements_of(guard: Guard, report: HallucinationReport, row: Mapping[str, Any]) -> tuple[Statement, ...]:
    """The worst claim of each statement, with its signals."""
    claims = [one for one in report.claims if one.verdict is not Verdict.NOT_CHECKABLE]
    judged = guard.judge_claims([(one.text, list(row["evidence"]), row["question"]) for one in claims])
    found: dict[Any, Statement] = {}
    for at, (claim, alone) in enumerate(zip(claims, judged, strict=True)):
        key = claim.part_of if claim.part_of is not None else ("alone", at)
        here = Statement(claim.score or 0.0, alone.signals)
        if key not in found or here.score < found[key].score:
            found[key] = here
    return tuple(found.values())


def answers_of(data: Path, part: Part, side: Side, policy: str) -> list[Answer]:
    """All labelled answers of one side, judged without a share by wording."""
    guard = Guard(PRESETS[policy], scorer=load_scorer(EMBEDDED), combination=replace(load_combination(), wording=None))
    rows: list[tuple[str, Mapping[str, Any]]] = [
        *(("models", row) for row in records(data, load_training_sets(data), part)),
        *(("scenarios", row) for row in evaluation_answers(side)),
    ]
    found: list[Answer] = []
    for begin in range(0, len(rows), _BLOCK):
        some = rows[begin : begin + _BLOCK]
        asked = [{"answer": r["answer"], "evidence": list(r["evidence"]), "question": r["question"]} for _, r in some]
        for (kind, row), report in zip(some, guard.check_many(asked), strict=True):
            found.append(Answer(kind, row["label"] == "supported", statements_of(guard, report, row)))
        print(f"\r{len(found)} of {len(rows)} answers", end="", flush=True)
    print()
    return found


def rates(answers: Sequence[Answer], kind: str, wording: Wording, policy: Policy) -> tuple[float, float]:
    """Honest answers emitted and wrong ones stopped, as shares, of one kind."""
    out = {
        honest: [a.emitted(wording, policy) for a in answers if a.kind == kind and a.honest is honest]
        for honest in (True, False)
    }
    return sum(out[True]) / len(out[True]), 1 - sum(out[False]) / len(out[False])


def tried(answers: Sequence[Answer], policy: Policy) -> Iterator[tuple[Wording, tuple[float, ...]]]:
    """Each weight and centre with both rates of answers of models and of scenarios."""
    for weight in WEIGHTS:
        for centre in CENTRES if weight else CENTRES[:1]:
            wording = Wording(weight, centre)
            yield wording, (*rates(answers, "models", wording, policy), *rates(answers, "scenarios", wording, policy))


def best(found: Sequence[tuple[Wording, tuple[float, ...]]]) -> tuple[Wording, tuple[float, ...]]:
    """The largest sum of all four rates among those under which none falls, against no weight at all."""
    plain = next(four for wording, four in found if wording.weight == 0)
    least = (plain[0] - HONEST_LOSS, plain[1], plain[2] - HONEST_LOSS, plain[3])
    safe = [one for one in found if all(rate >= floor for rate, floor in zip(one[1], least, strict=True))]
    return max(safe, key=lambda one: (round(sum(one[1]), 9), -one[0].weight))


def main() -> None:
    """Read arguments, judge, choose, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="the combination to write both into; without it they are printed")
    parser.add_argument("--policy", default="general")
    parser.add_argument("--part", choices=("fit", "test"), default="fit")
    given = parser.parse_args()
    policy = PRESETS[given.policy]
    answers = answers_of(given.data, given.part, given.part, given.policy)
    found = list(tried(answers, policy))
    print("weight centre  models: emitted stopped  scenarios: emitted stopped   sum")
    for wording, four in sorted(found, key=lambda one: -sum(one[1]))[:25] + [one for one in found if not one[0].weight]:
        print(f"{wording.weight:6.1f} {wording.centre:6.2f}" + "".join(f"{one:10.3f}" for one in (*four, sum(four))))
    if given.part == "test":
        shipped = load_combination().wording or Wording(0, 0)
        four = (*rates(answers, "models", shipped, policy), *rates(answers, "scenarios", shipped, policy))
        print("as shipped   ", "".join(f"{one:10.3f}" for one in (*four, sum(four))))
        return
    chosen, four = best(found)
    print(f"chosen: weight {chosen.weight:g}, centre {chosen.centre:g}")
    if given.out:
        record = json.loads(given.out.read_text())
        record["wording"] = {
            "fitted_by": "python -m train.fit_wording",
            "weight": chosen.weight,
            "centre": chosen.centre,
            "rates": dict(
                zip(
                    ("models_emitted", "models_stopped", "scenarios_emitted", "scenarios_stopped"),
                    (round(one, 4) for one in four),
                    strict=True,
                )
            ),
        }
        given.out.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
