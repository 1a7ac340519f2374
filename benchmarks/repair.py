"""What asking again, abstaining and repairing do: python -m benchmarks.repair [--questions N] [--parallel].

The answers, the passages and the faults are those of `benchmarks.generation`: three statements, each wrong with a
probability of a fifth (a model that refuses writes answers like one that invents, and declines a fifth of the requests
to correct them). The model that wrote an answer is asked to correct it and has the same fault at the same rate then;
`stubborn` says the same wrong sentence again. Ways:

- check: nothing is repaired and nobody asked
- check, probes: the model is asked again on critical claims that the evidence supports (`consistency_probes`)
- check, abstention: the decision whether to answer is a part of the gate's, with weights and thresholds unfitted
- evidence: no model; the evidence's own values are put in
- evidence, remove: besides, what still fails is taken out
- model, model, remove: the same with the model as the author

Counted are sentences: wrong ones in the first answers, those that the check finds, those in whose place the right one
stands in an emitted answer (repaired), wrong ones in an emitted answer (leaked), right ones of the first answers that
are missing from an emitted one, or whose answer is not emitted (withheld). Converged is the share of the answers that
failed and that pass in the end (docs/concepts.md#revision).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any, Final

from benchmarks.generation import FAULTS, RATE, TOWNS, Fact, Faulty, facts, noise

from assay import Guard
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.policy import Policy, preset
from assay.prompts import unfenced
from assay.rewrite.revise.convergence import Convergence, convergence_of
from assay.schema import Action, ClaimStatus, HallucinationReport
from assay.testing import ScriptedChat

WAYS: Final = (
    "check",
    "check, probes",
    "check, abstention",
    "evidence",
    "evidence, remove",
    "model",
    "model, remove",
)
_FAILING: Final = (ClaimStatus.REVISE, ClaimStatus.BLOCK, ClaimStatus.UNCHECKED)


@dataclass(slots=True)
class Author(Faulty):
    """The model that wrote the answer and is asked to correct it."""

    said: list[tuple[Fact, str]] = field(default_factory=list)
    """The sentences of the first answer."""

    def write(self) -> str:
        """The first answer."""
        kind, self.fault = self.fault, "invents" if self.fault == "refuses" else self.fault
        self.said = [(fact, text) for fact in self.about for text in self._said(fact)]
        self.fault = kind
        return " ".join(text for _, text in self.said)

    def __call__(self, request: ChatRequest) -> str | Choice:
        """Corrections of the sentences that it is asked for."""
        held: dict[str, list[Any]] = dict(unfenced(request.messages[-1].content)[1])
        if self.fault == "refuses" and self.draw.random() < RATE:
            return Choice("", Finish.REFUSAL, "I will not.")
        if "corrections" not in held:  # a probe: it answers the question once more
            return " ".join(text for fact in self.about for text in self._said(fact)[:1])
        aliases = {one["text"]: one["id"] for one in held["evidence"]}
        made = []
        for asked in held["corrections"]:
            fact = self._fact(asked["sentence"])
            text = asked["sentence"] if self.fault == "stubborn" else self._said(fact)[-1]
            made.append({"number": asked["number"], "text": text, "sources": [aliases[fact.evidence.text]]})
        return json.dumps({"corrections": made})


@dataclass(slots=True)
class Row:
    """What was counted for one fault and one way."""

    wrong: int = 0
    right: int = 0
    found: int = 0
    repaired: int = 0
    leaked: int = 0
    withheld: int = 0
    emitted: int = 0
    calls: int = 0
    tokens: int = 0
    reports: list[HallucinationReport] = field(default_factory=list)

    def add(self, author: Author, first: HallucinationReport, report: HallucinationReport) -> None:
        """Count one answer: as it was checked first, and as it is now."""
        out = report.output if report.action is Action.EMIT else ""
        at = 0
        for fact, text in author.said:
            start = first.output.index(text, at)
            at = start + len(text)
            if text in author.wrong:
                self.wrong += 1
                self.found += any(
                    c.status in _FAILING and c.span.start < at and start < c.span.end for c in first.claims
                )
                self.repaired += fact.right in out and text not in out
            else:
                self.right += 1
                self.withheld += text not in out
        self.leaked += sum(text in out for text in author.wrong)
        self.emitted += report.action is Action.EMIT
        self.calls += sum(one.calls for one in report.spending)
        self.tokens += sum(one.prompt_tokens + one.completion_tokens for one in report.spending)
        self.reports.append(report)

    @property
    def convergence(self) -> Convergence:
        """How well repairing went."""
        return convergence_of(self.reports)


def policy_of(way: str) -> Policy:
    """The policy of a way: the preset `general` with one switch on."""
    changed: dict[str, Any] = {"check, probes": {"consistency_probes": True}, "check, abstention": {"abstention": {}}}
    return Policy.model_validate({**preset("general").model_dump(), **changed.get(way, {})})


def measure(fault: str, way: str, questions: int, *, parallel: bool = False) -> Row:
    """One row of the table."""
    plain, policy = Guard(), policy_of(way)
    row, draw = Row(), random.Random(11)
    for number in range(questions):
        town = TOWNS[number % len(TOWNS)]
        about = facts(town, number, draw)
        author = Author(fault, about, random.Random(f"{fault}{number}"))
        answer = author.write()
        others = [fact.evidence for fact in facts(TOWNS[(number + 3) % len(TOWNS)], number + 1_000, draw)]
        evidence = [*(fact.evidence for fact in about), *(others if parallel else noise(draw))]
        question = f"What holds for desks, leave and expenses in {town}?"
        first = report = plain.check(answer, evidence, question=question)
        if way.startswith("check, "):
            report = Guard(policy, llm=ScriptedChat(author)).check(answer, evidence, question=question)
        elif way != "check":
            llm = ScriptedChat(author) if way.startswith("model") else None
            report = plain.repair(answer, evidence, question=question, llm=llm, remove=way.endswith("remove"))
        row.add(author, first, report)
    return row


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--parallel", action="store_true", help="beside passages that say the same of another town")
    given = parser.parse_args()
    heads = (
        "model",
        "way",
        "wrong",
        "found",
        "repaired",
        "leaked",
        "right withheld",
        "emitted",
        "converged",
        "attempts",
        "rolled back",
        "calls an answer",
        "tokens an answer",
    )
    _line(heads)
    _line(("---",) * len(heads))
    for fault in FAULTS:
        for way in WAYS:
            row = measure(fault, way, given.questions, parallel=given.parallel)
            made = row.convergence
            tried = not way.startswith("check") and made.revised
            _line(
                (
                    fault,
                    way,
                    f"{row.wrong} of {row.wrong + row.right}",
                    row.found,
                    row.repaired,
                    row.leaked,
                    f"{row.withheld} of {row.right}",
                    f"{row.emitted} of {given.questions}",
                    f"{made.converged} of {made.revised}" if tried else "",
                    f"{made.mean_attempts:.1f}" if tried else "",
                    made.rolled_back if tried else "",
                    f"{row.calls / given.questions:.1f}",
                    f"{row.tokens / given.questions:.0f}",
                )
            )


def _line(cells: tuple[object, ...]) -> None:
    sys.stdout.write(f"| {' | '.join(str(cell) for cell in cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
