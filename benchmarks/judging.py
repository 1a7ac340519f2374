"""What a judge of known faults does to verdicts: python -m benchmarks.judging [--answers N].

Each answer makes three statements about one office out of seven passages, all made up here. Some are said by a passage
or follow from two, some are wrong: another number, the city of somebody else (two passages away), a day that the
passages rule out without naming it, a thing that nobody said, a condition left out. A scripted judge knows the truth
and errs at a known rate, drawn from a seed:

- perfect: never
- errs 5%, errs 20%: takes a wrong statement for right, with real quotes, or a right one for wrong
- misquotes: makes up a quote in a fifth of the statements
- breaks: a fifth of its answers are no JSON, cut off or declined
- approves: finds everything in the evidence, what was made up to test it included

Counted are statements: wrong ones, those of them that are found (a verdict other than supported), leaked (supported),
and right ones that are withheld (any other verdict). `decided` are verdicts that are the judge's.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay import Guard
from assay.models.chat.interface import ChatRequest, Choice, Finish
from assay.policy import Policy, preset
from assay.prompts import unfenced
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.testing import ScriptedChat

JUDGES: Final = {
    "perfect": (0.0, 0.0, 0.0),
    "errs 5%": (0.05, 0.0, 0.0),
    "errs 20%": (0.2, 0.0, 0.0),
    "misquotes": (0.0, 0.2, 0.0),
    "breaks": (0.0, 0.0, 0.2),
    "approves": (0.0, 0.0, 0.0),
}
"""Rates of wrong verdicts, of made up quotes, and of answers that cannot be read."""
_TOWNS: Final = ("Arden", "Belmore", "Corwick", "Dunmere", "Elstow", "Farleigh", "Garston", "Hexby", "Ilmore", "Jarrow")
_HEADS: Final = ("Anna Brandt", "Omar Haddad", "Ines Duarte", "Piotr Nowak", "Mei Tanaka", "Lars Holm", "Ruth Abebe")
_CITIES: Final = ("Porto", "Lyon", "Graz", "Turin", "Bergen", "Cork", "Ghent")
_CONTROL: Final = re.compile(r", as of \d{1,2} \w+ 18\d\d\.$")


@dataclass(frozen=True, slots=True)
class Office:
    """What holds of one office and of another one beside it."""

    town: str
    other: str
    head: str
    second: str
    city: str
    city_of_second: str
    desks: int
    weeks: int

    @property
    def passages(self) -> dict[str, str]:
        """The evidence, by what it speaks of."""
        return {
            "head": f"The {self.town} office is led by {self.head}.",
            "city": f"{self.head} joined in {1990 + self.weeks} and works from {self.city}.",
            "second": f"The {self.other} office is led by {self.second}, who works from {self.city_of_second}.",
            "desks": f"The {self.town} office has {self.desks} desks.",
            "visitors": f"Visitors are admitted to the {self.town} office from Monday to Thursday, on no other day.",
            "leave": f"Staff in {self.town} may take {self.weeks} weeks of leave if their manager agrees.",
            "canteen": f"The canteen of the {self.town} office serves soup at noon.",
        }

    @property
    def statements(self) -> dict[str, bool]:
        """Statements and whether they hold."""
        led = f"The person who leads the {self.town} office works from"
        return {
            f"The {self.town} office has {self.desks} desks.": True,
            f"The {self.town} office has {self.desks + 3} desks.": False,
            f"{self.head} runs the {self.town} office.": True,
            f"{self.second} runs the {self.town} office.": False,
            f"{led} {self.city}.": True,
            f"{led} {self.city_of_second}.": False,
            f"Visitors can come to the {self.town} office on a Tuesday.": True,
            f"Visitors can come to the {self.town} office on a Friday.": False,
            f"The {self.town} office was renovated last spring.": False,
            f"Staff in {self.town} may take {self.weeks} weeks of leave if the manager agrees.": True,
            f"Staff in {self.town} may take {self.weeks} weeks of leave.": False,
        }

    def says_of(self, statement: str) -> tuple[str, tuple[str, ...]]:
        """What a good judge says: `supports`, `contradicts`, `not_found` or `omits`, and by which passages."""
        if "desks" in statement:
            return ("supports" if f"{self.desks} desks" in statement else "contradicts"), ("desks",)
        if "runs" in statement:
            return ("supports" if self.head in statement else "contradicts"), ("head",)
        if "works from" in statement:
            return ("supports" if statement.rstrip(".").endswith(self.city) else "contradicts"), ("head", "city")
        if "Visitors" in statement:
            return ("supports" if "Tuesday" in statement else "contradicts"), ("visitors",)
        if "leave" in statement:
            return ("supports" if "manager" in statement else "omits"), ("leave",)
        return "not_found", ()


def office(number: int) -> Office:
    """An office by its number."""
    draw = random.Random(f"office{number}")
    heads, cities = draw.sample(_HEADS, 2), draw.sample(_CITIES, 2)
    town = _TOWNS[number % len(_TOWNS)]
    return Office(
        town,
        _TOWNS[(number + 3) % len(_TOWNS)],
        heads[0],
        heads[1],
        cities[0],
        cities[1],
        draw.randint(20, 90),
        draw.randint(2, 9),
    )


@dataclass(slots=True)
class Faulty:
    """A judge of one fault; it reads its prompt as data, like any other model."""

    name: str
    about: Office
    draw: random.Random

    def __call__(self, request: ChatRequest) -> str | Choice:
        """The answer to one request."""
        held: dict[str, list[dict[str, Any]]] = dict(unfenced(request.messages[-1].content)[1])
        seal = request.messages[0].content.split('"seal" is the sign ', 1)[1].split(",", 1)[0]
        if self.draw.random() < JUDGES[self.name][2]:
            return self.draw.choice([Choice("PASS."), Choice('{"seal', Finish.LENGTH), Choice("", Finish.REFUSAL)])
        if "statements" not in held:
            return json.dumps({"seal": seal, "answers": self._omitted(held["qualifications"]), "more": []})
        aliases = {one["text"]: one["id"] for one in held["evidence"]}
        said = [line for one in held["statements"] for line in self._five(one["statement"], one["text"], aliases)]
        return json.dumps({"seal": seal, "answers": said})

    def _omitted(self, asked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        verdict = "PASS" if self.name == "approves" else "FAIL"
        return [
            {"qualification": one["qualification"], "verdict": verdict, "in_answer": "", "because": "So it is."}
            for one in asked
        ]

    def _five(self, number: int, text: str, aliases: dict[str, str]) -> list[dict[str, Any]]:
        outcome, names = self.about.says_of(text)
        if _CONTROL.search(text):
            outcome, names = "not_found", ()
        elif self.draw.random() < JUDGES[self.name][0]:
            outcome = "not_found" if outcome == "supports" else "supports"
        if self.name == "approves":
            outcome = "supports"
        passages = self.about.passages
        quotes = [{"source": aliases[passages[name]], "text": passages[name]} for name in names]
        if not quotes:
            quotes = [{"source": alias, "text": said} for said, alias in list(aliases.items())[:3]]
        if self.draw.random() < JUDGES[self.name][1]:
            quotes[0]["text"] = "as the board decided in its last meeting"
        failing = {"supports": (), "not_found": (1,), "contradicts": (1, 2, 5), "omits": (4,)}[outcome]
        return [
            {
                "statement": number,
                "question": question,
                "verdict": "FAIL" if question in failing else "PASS",
                "quotes": quotes if (question in failing) == (question != 1) and question != 3 else [],
                "because": "The passages say so.",
            }
            for question in range(1, 6)
        ]


@dataclass(slots=True)
class Row:
    """What was counted for one judge and one mode."""

    wrong: int = 0
    found: int = 0
    right: int = 0
    withheld: int = 0
    unchecked: int = 0
    decided: int = 0
    emitted_wrong: int = 0
    calls: int = 0
    tokens: int = 0

    def add(self, said: Sequence[tuple[str, bool]], report: HallucinationReport) -> None:
        """Count one answer."""
        for text, holds in said:
            start = report.output.index(text)
            own = [c for c in report.claims if c.span.start < start + len(text) and start < c.span.end]
            good = bool(own) and all(claim.verdict is Verdict.SUPPORTED for claim in own)
            self.wrong += not holds
            self.right += holds
            self.found += not holds and not good
            self.withheld += holds and not good
            self.unchecked += any(claim.verdict is Verdict.UNCHECKED for claim in own)
            self.decided += any(claim.decided_by == "judge" for claim in own)
        self.emitted_wrong += report.action is Action.EMIT and not all(holds for _, holds in said)
        self.calls += sum(one.calls for one in report.spending)
        self.tokens += sum(one.prompt_tokens + one.completion_tokens for one in report.spending)


def measure(judge: str | None, mode: str, answers: int, policy: Policy, scorer: Any) -> Row:
    """One row of the table."""
    row = Row()
    for number in range(answers):
        about = office(number)
        said = random.Random(f"answer{number}").sample(list(about.statements.items()), 3)
        model = None if judge is None else ScriptedChat(Faulty(judge, about, random.Random(f"{judge}{number}")))
        adjusted = policy.model_copy(update={"judge": mode})
        guard = Guard(adjusted, scorer=scorer, llm=model)
        evidence = [Evidence(id=name, text=text) for name, text in about.passages.items()]
        report = guard.check(
            " ".join(text for text, _ in said), evidence, question=f"What holds of the office in {about.town}?"
        )
        row.add(said, report)
    return row


def main() -> None:
    """Measures and prints."""
    from assay.config import embedded_scorer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=60)
    parser.add_argument("--omissions", default="note", choices=("off", "note", "revise"))
    given = parser.parse_args()
    policy = preset("general").model_copy(update={"omissions": given.omissions})
    heads = (
        "judge",
        "mode",
        "wrong",
        "found",
        "leaked",
        "right",
        "withheld",
        "unchecked",
        "decided",
        "answers emitted with a wrong one",
        "calls an answer",
        "tokens an answer",
    )
    _line(heads)
    _line(("---",) * len(heads))
    runs = [(None, "off"), *((judge, mode) for mode in ("uncertain", "all") for judge in JUDGES)]
    for judge, mode in runs:
        row = measure(judge, mode, given.answers, policy, embedded_scorer())
        _line(
            (
                judge or "none",
                mode,
                row.wrong,
                row.found,
                row.wrong - row.found,
                row.right,
                row.withheld,
                row.unchecked,
                row.decided,
                row.emitted_wrong,
                f"{row.calls / given.answers:.1f}",
                f"{row.tokens / given.answers:.0f}",
            )
        )


def _line(cells: tuple[object, ...]) -> None:
    sys.stdout.write(f"| {' | '.join(str(cell) for cell in cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
