"""What asking several times buys, and what it costs: python -m benchmarks.asking [--questions N].

The facts and faults are those of `benchmarks.generation`: a scripted model that is wrong in a fifth of its statements,
drawn anew for every answer, but for `stubborn`, which says the same wrong thing whenever it is asked. One answer,
three, five, and three with two more only where they differ; plain answers by `sample_consensus`, with the embedded
network to put claims together, and documents of three numbers by `document_consensus`.

Counted are statements of the text or fields of the document that comes of it: wrong ones, right ones that are missing
(of documents: fields without a majority), and the answers that were asked for.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from benchmarks.generation import RATE, TOWNS, Fact, facts

from assay.config import embedded_scorer
from assay.models.chat.interface import ChatRequest, Message
from assay.rewrite.probes.document_fields import document_consensus
from assay.rewrite.probes.sampling import sample_consensus
from assay.testing import ScriptedChat

FAULTS: Final = ("invents", "contradicts", "omits", "stubborn")
WAYS: Final = {"one": (1, None), "three": (3, None), "five": (5, None), "three to five": (3, 5)}
NAMES: Final = ("desks", "weeks", "euros")
SCHEMA: Final = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in NAMES},
    "required": list(NAMES),
    "additionalProperties": False,
}
ASKED: Final = ChatRequest((Message("user", "Tell me about the office."),), temperature=0.8, seed=1)
FORM: Final = ChatRequest(ASKED.messages, schema=SCHEMA, temperature=0.8, seed=1)


def number_of(fact: Fact) -> int:
    """The number that a fact is about."""
    return next(int(word) for word in fact.right.split(" ") if word.isdigit())


@dataclass(slots=True)
class Model:
    """A model with one fault."""

    fault: str
    about: list[Fact]
    draw: random.Random
    stuck: dict[str, list[str]] = field(default_factory=dict)
    """What the stubborn model says of each fact."""

    def said(self, fact: Fact) -> list[str]:
        """What it says of a fact in one answer."""
        if self.fault == "stubborn":
            return self.stuck.setdefault(fact.right, self._drawn(fact))
        return self._drawn(fact)

    def _drawn(self, fact: Fact) -> list[str]:
        if self.draw.random() >= RATE:
            return [fact.right]
        if self.fault == "contradicts":
            return [fact.right, fact.denied]
        if self.fault == "omits":
            return [fact.without_condition or fact.right]
        return [fact.with_number(number_of(fact) + self.draw.randint(1, number_of(fact)))]

    def text(self, _: ChatRequest) -> str:
        """A plain answer."""
        return " ".join(text for fact in self.about for text in self.said(fact))

    def document(self, _: ChatRequest) -> str:
        """A document; a denial or a missing condition is no number, so only wrong numbers show in it."""
        found = (next((int(w) for w in self.said(fact)[0].split(" ") if w.isdigit()), 0) for fact in self.about)
        return json.dumps(dict(zip(NAMES, found, strict=True)))


def texts(model: Model, samples: int, most: int | None) -> Counter[str]:
    """The consensus of plain answers, counted."""
    chat = ScriptedChat(model.text)
    made = sample_consensus(chat, ASKED, embedded_scorer(), samples, most=most, concurrency=1)
    right = [fact.right for fact in model.about]
    left = made.text
    for statement in right:
        left = left.replace(statement, "", 1)
    wrong = sum(bool(part.strip()) for part in left.replace("!", ".").split("."))
    missing = sum(statement not in made.text for statement in right)
    return Counter(stated=len(right), wrong=wrong, missing=missing, asked=made.asked)


def documents(model: Model, samples: int, most: int | None) -> Counter[str]:
    """The consensus of documents, counted; a field without a majority is flagged, and neither right nor wrong."""
    made = document_consensus(ScriptedChat(model.document), FORM, samples, most=most, concurrency=1)
    truth = dict(zip(NAMES, map(number_of, model.about), strict=True))
    flagged = {path.removeprefix("/") for path in made.undecided}
    wrong = sum(made.document[name] != truth[name] for name in NAMES if name not in flagged)
    return Counter(stated=len(NAMES), wrong=wrong, missing=len(flagged), asked=made.asked)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=40)
    args = parser.parse_args()
    print("| model | answers | wrong in the text | right missing | asked | wrong fields | flagged fields | asked |")
    print("|---|---|---|---|---|---|---|---|")
    for fault in FAULTS:
        for name, (samples, most) in WAYS.items():
            cells = []
            counting: tuple[Callable[[Model, int, int | None], Counter[str]], ...] = (texts, documents)
            for count in counting:
                if count is documents and fault in ("contradicts", "omits"):
                    cells += ["", "", ""]
                    continue
                total: Counter[str] = Counter()
                for number in range(args.questions):
                    draw = random.Random(number)
                    about = facts(TOWNS[number % len(TOWNS)], number, draw)
                    total += count(Model(fault, about, draw), samples, most)
                cells += [
                    f"{total['wrong']} of {total['stated']}",
                    str(total["missing"]),
                    f"{total['asked'] / args.questions:.1f}",
                ]
            print(f"| {fault} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
