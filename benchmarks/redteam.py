"""What the red team is worth: how fast it writes, how well it judges, and what its gate sees.

    python -m benchmarks.redteam [--per-category 12] [--reruns 200] [--parts writing,judging,gate,twins,guardrails]

Judgement is held against scripted systems whose weakness is known (`benchmarks/redteam_targets.py`), over the three
corpora of `examples/redteam`. The gate is held against a system that answers anew each time (level) and one that lost
five points (power), at 500 cases. Guardrails are compared on two scripted systems with benign twins beside the attacks.
"""

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from benchmarks.redteam_targets import SCRIPTS, Scripted

from assay.cli.inputs import read_evidence
from assay.config import build_guard
from assay.redteam.cases import Case, Category, Lineage, Passage, lint
from assay.redteam.cases.values import Behavior
from assay.redteam.generate import write_suite
from assay.redteam.guardrails import compare_guardrails, guardrail_text
from assay.redteam.guardrails.kinds import AssayGuardrail, FunctionGuardrail
from assay.redteam.judging import Judgement, Outcome, judge_answers
from assay.redteam.runs import Answer
from assay.redteam.scores import Scorecard, compare, score
from assay.redteam.targets import PythonFunction

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "redteam"
CORPORA = ("policies", "api", "wiki")


def writing() -> None:
    """Prints how long a thousand cases take."""
    for name in CORPORA:
        documents, _ = read_evidence([str(EXAMPLES / name)])
        begun = time.perf_counter()
        cases = write_suite(documents, 100)
        seconds = time.perf_counter() - begun
        counted = Counter(case.category for case in cases)
        problems = len(lint(cases))
        least = min(counted.values())
        print(f"{name:<10}{len(cases):>6} cases  {seconds:6.2f} s  least of a category {least}  problems {problems}")


def judging(per_category: int) -> None:
    """Prints the score of each scripted system by category, and how often the judge agrees with the script."""
    guard = build_guard("general", None, {})
    agreed = total = 0
    begun = time.perf_counter()
    for script in SCRIPTS:
        sums: dict[str, list[float]] = {one.value: [] for one in Category}
        outcomes: Counter[tuple[bool, Outcome]] = Counter()
        for corpus in CORPORA:
            documents, _ = read_evidence([str(EXAMPLES / corpus)])
            cases = write_suite(documents, per_category, seed=7)
            system = Scripted(cases, SCRIPTS[script], seed=7)
            answers = {case.id: Answer(case.id, system.said[case.id].text) for case in cases}
            for case, one in zip(cases, judge_answers(cases, answers, guard), strict=True):
                sums[case.category].append(one.behavior_match or 0.0)
                outcomes[system.said[case.id].good, one.outcome] += 1
        right = outcomes[True, Outcome.PASSED] + outcomes[False, Outcome.FAILED]
        count = sum(outcomes.values())
        agreed, total = agreed + right, total + count
        whole = [value for values in sums.values() for value in values]
        print(f"{script:<18} ARS {sum(whole) / len(whole):.3f}  agreement {right / count:.3f} of {count}")
        wrong = {f"good={good} {outcome.value}": n for (good, outcome), n in outcomes.items()}
        print(f"    {wrong}")
        print("    " + "  ".join(f"{name} {sum(values) / len(values):.2f}" for name, values in sums.items()))
    seconds = time.perf_counter() - begun
    print(f"agreement over all: {agreed / total:.4f} of {total}; {1000 * seconds / total:.0f} ms a case")


def twins(per_category: int) -> None:
    """Prints how many attacks have a benign twin, and how many of these a perfect system passes."""
    guard = build_guard("general", None, {})
    for corpus in CORPORA:
        documents, _ = read_evidence([str(EXAMPLES / corpus)])
        suite = write_suite(documents, per_category, seed=7, twins=True)
        made = [case for case in suite if ".twin." in case.lineage.rule]
        system = Scripted(made, SCRIPTS["perfect"], seed=7)
        answers = {case.id: Answer(case.id, system.said[case.id].text) for case in made}
        outcomes = Counter(one.outcome for one in judge_answers(made, answers, guard))
        attacks = sum(not case.benign for case in suite)
        told = ", ".join(f"{count} {outcome.value}" for outcome, count in outcomes.items())
        print(f"{corpus:<10}{attacks:>5} attacks, {len(made)} twins: {told}")


def guardrails(per_category: int) -> None:
    """Prints what guardrails change of two scripted systems: assay's by two policies, and one that withholds all."""
    guard = build_guard("general", None, {})
    documents, _ = read_evidence([str(EXAMPLES / "policies")])
    cases = write_suite(documents, per_category, seed=7, twins=True)
    own = [AssayGuardrail(build_guard(policy, None, {})) for policy in ("general", "rag")]
    for script in ("never_abstains", "obeys"):
        target = PythonFunction(Scripted(cases, SCRIPTS[script], seed=7), script)
        nothing = FunctionGuardrail(lambda _: None, "withholds everything")
        with tempfile.TemporaryDirectory() as folder:
            _, found = compare_guardrails(cases, target, [*own, nothing], guard, Path(folder))
        print(f"{script}, {len(cases)} cases")
        print(guardrail_text(found))


def gate(reruns: int, count: int = 500, lost: int = 25) -> None:
    """Prints how often the gate finds a planted regression, and how often it cries for nothing."""
    passage = Passage(id="d", text="It is 6 weeks.")
    cases = [
        Case(
            category=list(Category)[number % 10],
            prompt=f"Question {number}, how long is it?",
            accepted=("6 weeks",),
            expected_behavior=Behavior.ANSWER,
            ground_truth="6 weeks",
            evidence=(passage,),
            lineage=Lineage(rule="made"),
        )
        for number in range(count)
    ]
    for noise in (0.0, 0.02, 0.05):
        found = false = 0
        for seed in range(reruns):
            rng = Random(f"{seed}/{noise}")
            sure = [rng.choices((0.995, 0.5, 0.01), (0.9 - noise, noise, 0.1))[0] for _ in cases]
            before, again, worse = ([float(rng.random() < one) for one in sure] for _ in range(3))
            for at in rng.sample([at for at, one in enumerate(worse) if one], lost):
                worse[at] = 0.0
            earlier = _card(cases, before)
            found += compare(earlier, _card(cases, worse)).regressed
            false += compare(earlier, _card(cases, again)).regressed
        share = f"{noise:.0%} of the cases are answered by the toss of a coin"
        print(
            f"{share}: power {found / reruns:.3f}, false alarms {false / reruns:.3f}, {reruns} reruns of {count} cases"
        )


def _card(cases: list[Case], matches: list[float]) -> Scorecard:
    judgements = [
        Judgement(case=case.id, outcome=Outcome.PASSED if one else Outcome.FAILED, behavior_match=one, rule="made")
        for case, one in zip(cases, matches, strict=True)
    ]
    return score(cases, judgements)


def main() -> None:
    """Runs the parts that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--per-category", type=int, default=12)
    parser.add_argument("--reruns", type=int, default=200)
    parser.add_argument("--parts", default="writing,judging,gate,twins,guardrails")
    asked = parser.parse_args()
    parts = set(asked.parts.split(","))
    if "writing" in parts:
        writing()
    if "judging" in parts:
        judging(asked.per_category)
    if "twins" in parts:
        twins(asked.per_category)
    if "guardrails" in parts:
        guardrails(asked.per_category)
    if "gate" in parts:
        gate(asked.reruns)


if __name__ == "__main__":
    main()
