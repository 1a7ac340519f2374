"""What an edit may draw on besides the claim itself: its document, and phrases of other documents."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from train.edits.document import Document, parse
from train.edits.kinds import Edit
from train.edits.names import PLACES

_PHRASE = re.compile(r" ((?:in|at|on|during|after|for|with|near|alongside|through) [^,;:()\"]{6,60})\.$")
_TRAILER = re.compile(r", ((?:making|becoming|leading|marking|using|helping|allowing|despite) [^,;:()\"]{12,80})\.$")
_NO_REFERENCE = re.compile(
    r"\b(?:his|her|its|their|this|that|these|those|he|she|it|they|which|who|and|was|were|is|are|had|has)\b",
    re.IGNORECASE,
)
_MOST = 6_000


@dataclass
class Bank:
    """Names, phrases and values of many documents, from which additions and replacements are drawn."""

    names: dict[str, list[str]] = field(default_factory=dict)
    """Names by class."""
    phrases: list[str] = field(default_factory=list)
    """Adverbial phrases that ended a sentence."""
    trailers: list[str] = field(default_factory=list)
    """Participial phrases that ended a sentence after a comma."""
    values: dict[str, list[str]] = field(default_factory=dict)
    """Values of key-value records by their key."""

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Bank:
        """Collects from documents in their order, up to a limit of each kind."""
        names: dict[str, Counter[str]] = {}
        bank = cls()
        for document in documents:
            for fact in document.record.facts if document.record is not None and not document.record.table else ():
                bank.values.setdefault(fact.key, []).append(fact.value)
            for i in document.usable:
                sentence = document.pieces[i]
                for name in parse(sentence).names:
                    if name.sure and (name.group != "person" or " " in name.text):
                        names.setdefault(name.group, Counter())[name.text] += 1
                for pattern, target in ((_PHRASE, bank.phrases), (_TRAILER, bank.trailers)):
                    found = pattern.search(sentence)
                    phrase = found.group(1) if found and len(target) < _MOST else ""
                    if 3 <= len(phrase.split()) <= 10 and not _NO_REFERENCE.search(phrase):
                        target.append(phrase)
        if "place" in names:  # one that was only once taken for a place may be none
            names["place"] = Counter({n: c for n, c in names["place"].items() if c > 1 or n in PLACES})
        bank.names = {group: list(some)[:_MOST] for group, some in names.items()}
        return bank


@dataclass
class Context:
    """Where a claim stands: its document, the pieces it came from and the bank."""

    document: Document
    bank: Bank
    sources: tuple[int, ...]

    def others(self) -> list[int]:
        """Indices of the pieces that the claim did not come from."""
        return [i for i in range(len(self.document.pieces)) if i not in self.sources]


Maker = Callable[[str, Context, random.Random], Edit | None]
"""Makes a true claim wrong in one place, or returns nothing where the claim offers no such place."""
