"""What each way of generating does with models of known faults: python -m benchmarks.generation [--questions N].

Each question is about three passages with a number, a name and a condition, all made up here. A scripted model answers
with one statement a passage and makes its one fault at a known rate, drawn from a seed:

- invents: another number in a fifth of the statements, drawn anew for every answer
- stubborn: the same, and the same wrong numbers again whenever it is asked
- contradicts: a second statement in a fifth of the cases that denies the first
- omits: leaves out the condition in a fifth of the statements that have one
- refuses: declines a fifth of the requests

Asked a question of the chain it answers rightly, as a model does that has one passage before it and one thing to say.
Counted are statements: how many were wrong in the first answer, how many of the places where one was wrong have a right
statement in the end (repaired), how many wrong ones stand in an answer that the gate emitted (leaked), and how many
right ones of the first answer are missing from it (withheld).
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from assay import Guard
from assay.errors import ChatError
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.prompts import unfenced
from assay.schema import Action, Evidence, HallucinationReport
from assay.testing import ScriptedChat

RATE: Final = 0.2
FAULTS: Final = ("invents", "stubborn", "contradicts", "omits", "refuses")
WAYS: Final[dict[str, dict[str, Any]]] = {
    "check only": {"ungrounded": "flag", "attempts": 0},
    "remove": {"ungrounded": "remove", "attempts": 0},
    "regenerate": {"ungrounded": "regenerate", "attempts": 2},
    "regenerate, chain": {"ungrounded": "regenerate", "attempts": 2, "chain": True},
}
TOWNS: Final = ("Arden", "Belmore", "Corwick", "Dunmere", "Elstow", "Farleigh", "Garston", "Hexby", "Ilmore", "Jarrow")
_HEADS: Final = ("Anna Brandt", "Omar Haddad", "Ines Duarte", "Piotr Nowak", "Mei Tanaka", "Lars Holm", "Ruth Abebe")


@dataclass(frozen=True, slots=True)
class Fact:
    """One passage, the right statement of it, and the wrong ones."""

    evidence: Evidence
    right: str
    denied: str
    without_condition: str | None = None

    def with_number(self, number: int) -> str:
        """The statement with another number."""
        words = self.right.split(" ")
        place = next(i for i, word in enumerate(words) if word.isdigit())
        return " ".join((*words[:place], str(number), *words[place + 1 :]))


def facts(town: str, number: int, draw: random.Random) -> list[Fact]:
    """Three facts about one office."""
    desks, weeks, euros = draw.randint(20, 90), draw.randint(2, 9), draw.randint(2, 9) * 100
    leave, no_leave = f"Staff in {town} may take {weeks} weeks of leave", f"Staff in {town} may not take leave."
    refund = f"Expenses in {town} of up to {euros} euros are refunded within a month"
    office = f"The office in {town} has {desks} desks."
    led = f" It is led by {draw.choice(_HEADS)}."
    return [
        _fact(number, "desks", town, office, f"The office in {town} has no desks.", led),
        _fact(number, "leave", town, f"{leave} if their manager agrees.", no_leave, "", leave),
        _fact(
            number,
            "pay",
            town,
            f"{refund}, provided that receipts are enclosed.",
            f"Expenses in {town} are never refunded.",
            "",
            refund,
        ),
    ]


def _fact(number: int, kind: str, town: str, right: str, denied: str, more: str, bare: str | None = None) -> Fact:
    evidence = Evidence(id=f"o{number}-{kind}", title=f"{kind.capitalize()}, {town}", text=f"{right}{more}")
    return Fact(evidence, right, denied, None if bare is None else f"{bare}.")


def noise(draw: random.Random) -> list[Evidence]:
    """Passages about something else."""
    return [
        Evidence(
            id="n-bus", text=f"Bus {draw.randint(2, 60)} leaves the square every quarter of an hour until midnight."
        ),
        Evidence(id="n-tree", text=f"The oak behind the church was planted in {draw.randint(1700, 1900)}."),
        Evidence(id="n-chess", text="The chess club meets on Thursdays and welcomes beginners."),
    ]


@dataclass(slots=True)
class Faulty:
    """A model with one fault; it reads its prompt as data, like any other model."""

    fault: str
    about: list[Fact]
    draw: random.Random
    wrong: set[str] = field(default_factory=set)
    """Every wrong statement that it made."""
    first: list[tuple[Fact, list[str]]] = field(default_factory=list)
    """What it said of each fact in its first answer."""

    def __call__(self, request: ChatRequest) -> str | Choice:
        """The answer to one request."""
        held: dict[str, list[Any]] = dict(unfenced(request.messages[-1].content)[1])
        if self.fault == "refuses" and self.draw.random() < RATE:
            return Choice("", Finish.REFUSAL, "I will not.")
        if "claims" in held:
            asked = [{"claim": one["claim"], "question": self._question(one["text"])} for one in held["claims"]]
            return json.dumps({"questions": asked})
        if "questions" in held:
            said = [
                {"question": one["question"], "answer": self._answer(one["text"]), "sources": []}
                for one in held["questions"]
            ]
            return json.dumps({"answers": said})
        return self._draft(held["evidence"])

    def _draft(self, shown: list[dict[str, Any]]) -> str:
        aliases = {one["text"]: one["id"] for one in shown}
        told = (
            self.first if self.fault == "stubborn" and self.first else [(fact, self._said(fact)) for fact in self.about]
        )
        self.first = self.first or told
        lines = [{"text": text, "sources": [aliases[fact.evidence.text]]} for fact, texts in told for text in texts]
        return json.dumps({"statements": lines, "missing": ""})

    def _said(self, fact: Fact) -> list[str]:
        if self.draw.random() >= RATE:
            return [fact.right]
        if self.fault in ("invents", "stubborn"):
            number = next(int(word) for word in fact.right.split(" ") if word.isdigit())
            return [self._wrong(fact.with_number(number + self.draw.randint(1, number)))]
        if self.fault == "contradicts":
            return [fact.right, self._wrong(fact.denied)]
        if self.fault == "omits" and fact.without_condition is not None:
            return [self._wrong(fact.without_condition)]
        return [fact.right]

    def _wrong(self, text: str) -> str:
        self.wrong.add(text)
        return text

    def _question(self, claim: str) -> str:
        fact = self._fact(claim)
        return f"What holds in {_town(fact)} of {fact.evidence.id.split('-')[1]}?"

    def _answer(self, question: str) -> str:
        return next(
            (f.right for f in self.about if f.evidence.id.split("-")[1] in question and _town(f) in question), ""
        )

    def _fact(self, claim: str) -> Fact:
        kinds = {"desks": "desks", "leave": "leave", "Expenses": "pay"}
        kind = next(name for word, name in kinds.items() if word in claim)
        return next(fact for fact in self.about if fact.evidence.id.endswith(kind))


def _town(fact: Fact) -> str:
    return (fact.evidence.title or "").rsplit(" ", maxsplit=1)[-1]


@dataclass(slots=True)
class Row:
    """What was counted for one fault and one way."""

    stated: int = 0
    wrong: int = 0
    found: int = 0
    repaired: int = 0
    leaked: int = 0
    right: int = 0
    withheld: int = 0
    failed: int = 0
    emitted: int = 0
    calls: int = 0
    tokens: int = 0

    def add(self, model: Faulty, report: HallucinationReport | None) -> None:
        """Count one question."""
        said = [(fact, text) for fact, texts in model.first for text in texts]
        wrong = [(fact, text) for fact, text in said if text in model.wrong]
        right = [text for _, text in said if text not in model.wrong]
        self.stated += len(said)
        self.wrong += len(wrong)
        self.right += len(right)
        if report is None or report.generation is None:
            self.failed += 1
            self.withheld += len(right)
            return
        out = report.action is Action.EMIT
        kept = [one.text for one in report.generation.statements if one.outcome in ("kept", "flagged")] if out else []
        first = {one.text: one for one in report.generation.statements if one.attempt == 1}
        self.found += sum(
            first[text].outcome == "flagged" or bool(first[text].reasons) for _, text in wrong if text in first
        )
        self.repaired += sum(fact.right in kept and text not in kept for fact, text in wrong)
        self.leaked += sum(text in model.wrong for text in kept)
        self.withheld += sum(text not in kept for text in right)
        self.emitted += out
        self.calls += sum(one.calls for one in report.spending)
        self.tokens += sum(one.prompt_tokens + one.completion_tokens for one in report.spending)


def measure(fault: str, way: str, questions: int, guard: Guard, *, parallel: bool = False) -> Row:
    """One row of the table."""
    row = Row()
    draw = random.Random(7)
    for number in range(questions):
        town = TOWNS[number % len(TOWNS)]
        about = facts(town, number, draw)
        others = [fact.evidence for fact in facts(TOWNS[(number + 3) % len(TOWNS)], number + 1_000, draw)]
        model = Faulty(fault, about, random.Random(f"{fault}{number}"))
        evidence = [*(fact.evidence for fact in about), *(others if parallel else noise(draw))]
        question = f"What holds for desks, leave and expenses in {town}?"
        try:
            report = guard.generate(question, evidence, llm=ScriptedChat(model), **WAYS[way])
        except ChatError:
            report = None
        row.add(model, report)
    return row


def rows(questions: int, *, parallel: bool) -> Iterator[tuple[str, str, Row]]:
    """The whole table."""
    guard = Guard()
    for fault in FAULTS:
        for way in WAYS:
            yield fault, way, measure(fault, way, questions, guard, parallel=parallel)


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
        "no answer",
        "emitted",
        "calls a question",
        "tokens a question",
    )
    _line(heads)
    _line(("---",) * len(heads))
    for fault, way, row in rows(given.questions, parallel=given.parallel):
        _line(
            (
                fault,
                way,
                f"{row.wrong} of {row.stated}",
                row.found,
                row.repaired,
                row.leaked,
                f"{row.withheld} of {row.right}",
                row.failed,
                f"{row.emitted} of {given.questions}",
                f"{row.calls / given.questions:.1f}",
                f"{row.tokens / given.questions:.0f}",
            )
        )


def _line(cells: tuple[object, ...]) -> None:
    sys.stdout.write(f"| {' | '.join(str(cell) for cell in cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
