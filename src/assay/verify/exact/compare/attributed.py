"""Compares a measure that a claim gives of a thing in passing with what the evidence says about that thing.

"The 9-week approval costs 40 euros", "9 weeks of approval", "the approval (9 weeks)" and "the approval, which takes 9
weeks" all say how long the approval takes, whatever else the sentence is about. Such a number is therefore compared by
its thing alone and not by the words of the whole claim; the evidence's number has to be attached to the same thing in
one of these ways or as its predicate ("the approval takes 6 weeks"). Ranges are compared likewise: where the evidence
gives one number of a thing, a range with only one end in the evidence claims more than it says.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from assay.text.claims import find_verb, subject_of
from assay.text.lexicon import Token, find_words, tokenise
from assay.text.quantities import UNIT_WORDS, Quantity, Relation, relate
from assay.verify.exact.compare.derived_numbers import derivation_of
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_CONFIDENCE: Final = 0.85
_MOST_QUANTITIES: Final = 12
"""The most numbers of a claim, and of a sentence of the evidence, that are compared."""
_MOST_WORDS: Final = 3
"""The most words of the name of a thing."""
_AROUND: Final = 160
"""How many characters on either side of a number are searched for its thing."""
_NOT_MEASURES: Final = frozenset({"count", "ordinal", "factor", "share"})
_RELATIVE: Final = re.compile(r",?\s(?:which|that)\s[^\W\d_]+\s$")
_CLAUSE: Final = re.compile(r"[.;,:(]\s|\n")
_OPENS: Final = frozenset({"between", "from"})
"""Words that may be between a verb and a range."""
_VERBS: Final = frozenset({"V", "VA", "VN", "VG"})
_OF: Final = re.compile(r"\sof\s$")
_PART: Final = re.compile(r"\s(?:of|into)\s")
_ANY: Final = re.compile(r"\b(?:an?|any|some|each|every|no)\s$", re.IGNORECASE)
_MOVED: Final = re.compile(
    r"\s*(?:ago|later?|earlier|early|before|after|from|more|less|than|per|each|an?|every|or)\b|\s?/"
)
"""What follows a number that is a distance from something, a rate, or otherwise no measure of the thing itself."""


@dataclass(frozen=True, slots=True)
class Thing:
    """The thing that a number measures."""

    head: str
    """The stem of its noun."""
    stems: frozenset[str]
    """The stems of all words of its name."""
    any: bool = False
    """Whether it is any one of its kind: "a bag of 26 kg" is one case and not what bags weigh."""
    predicate: bool = False
    """Whether a verb connects it with the number."""


def with_attributed(claim: Claim, index: ExactIndex, findings: Sequence[ExactFinding]) -> list[ExactFinding]:
    """The findings about numbers, with those about a contradicted number in passing replaced by that contradiction."""
    found = list(findings)
    for quantity in islice(claim.quantities, _MOST_QUANTITIES):
        finding = _contradiction(claim, index, quantity)
        if finding is not None:
            found = [one for one in found if one.claim_end <= quantity.start or quantity.end <= one.claim_start]
            found.append(finding)
    return found


def thing_of(text: str, quantity: Quantity) -> Thing | None:
    """The thing that a number of a sentence measures, by its noun phrase, an apposition or its predicate.

    Args:
        text: a sentence.
        quantity: one of its quantities.
    """
    before, after = text[max(0, quantity.start - _AROUND) : quantity.start], text[quantity.end :][:_AROUND]
    own = text[quantity.start : quantity.end]
    if _MOVED.match(after):
        return None
    if "-" in own and own[-1].isalpha() and quantity.bound == "exact":
        return _thing_at_start(tokenise(after), any_of=_ANY.search(before) is not None)
    if before.endswith("(") and after.startswith(")"):
        return _thing_at_end(tokenise(before[:-1]))
    of = _PART.match(after)
    if of is not None:
        # "40 g of salt" is a part of something, "9 weeks of approval" is all of it.
        return _thing_at_start(tokenise(after[of.end() :])) if quantity.dimension == "time" else None
    for pattern in (_OF, _RELATIVE):
        found = pattern.search(before)
        if found is not None:
            return _thing_at_end(tokenise(before[: found.start()]))
    return _of_predicate(text, quantity)


def _of_predicate(text: str, quantity: Quantity) -> Thing | None:
    """The subject of a clause whose verb is directly before the number."""
    start = max((one.end() for one in _CLAUSE.finditer(text, 0, quantity.start)), default=0)
    tokens = tokenise(text[start : quantity.start])
    ahead = tokenise(text[quantity.end :][:40])
    if ahead and ahead[0].tag in {"W", "ADV", "NUM"}:
        return None
    verb = find_verb([*tokens, *tokenise("it.")])
    if verb <= 0 or any(one.tag != "ADV" and one.text not in _OPENS for one in tokens[verb + 1 :]):
        return None
    words = subject_of(tokens, verb)
    if any(one.tag in {"PRON", "SUB", "AND", ","} for one in words) or (words and words[0].tag == "PREP"):
        return None
    end = next((at for at, one in enumerate(words) if at and one.tag == "PREP"), len(words))
    thing = _thing_at_end(words[:end])
    return replace(thing, predicate=True) if thing is not None else None


def _thing_at_start(tokens: Sequence[Token], *, any_of: bool = False) -> Thing | None:
    first = next((at for at, one in enumerate(tokens) if one.tag != "DET"), len(tokens))
    verbs = [one.text for one in tokens[first : first + 1] if one.tag in _VERBS]  # "paid leave"
    nouns = _noun_words(tokens[first + len(verbs) :])
    return _thing([*verbs, *nouns] if nouns else [], any_of or _is_any(tokens[:first]))


def _thing_at_end(tokens: Sequence[Token]) -> Thing | None:
    words = _noun_words(tokens[::-1])[::-1]
    before = tokens[: len(tokens) - len(words)][-_MOST_WORDS:]
    return _thing(words, _is_any([one for one in before if one.tag == "DET"][-1:]))


def _is_any(determiners: Sequence[Token]) -> bool:
    return any(_ANY.search(one.text + " ") is not None for one in determiners)


def _noun_words(tokens: Sequence[Token]) -> list[str]:
    found: list[str] = []
    for one in tokens:
        if one.tag != "W" or len(found) == _MOST_WORDS:
            break
        found.append(one.text)
    return found


def _thing(words: Sequence[str], any_of: bool) -> Thing | None:
    stems = [one.stem for word in words for one in find_words(word).lexemes if one.weight]
    return Thing(stems[-1], frozenset(stems), any_of) if stems and words[-1].lower() not in UNIT_WORDS else None


def _contradiction(claim: Claim, index: ExactIndex, quantity: Quantity) -> ExactFinding | None:
    """A finding that the evidence gives another number of a claim's thing, and the claim's number nowhere."""
    ranged = quantity.bound == "range"
    if quantity.dimension in _NOT_MEASURES or quantity.weak or not (ranged or quantity.bound == "exact"):
        return None
    if quantity.low is None or _is_stated(index, quantity):
        return None
    thing = thing_of(claim.text, quantity)
    if thing is None or thing.any or thing.predicate != ranged:
        return None
    others: dict[object, tuple[int, Quantity]] = {}
    for sentence, other in _measures(claim, index, quantity, thing):
        relation = relate(quantity, other)
        if not other.exact or other.bound != "exact" or (relation is Relation.SAME and not ranged):
            return None
        if relation is Relation.DIFFERENT or ranged:
            others.setdefault(other.low, (sentence, other))
    if len(others) != 1 or (not ranged and derivation_of(claim, index, quantity) is not None):
        return None
    ((sentence, other),) = others.values()
    passage = index.passages[index.sentences[sentence].passage]
    ours, theirs = claim.text[quantity.start : quantity.end], passage.text[other.start : other.end]
    span = index.span(sentence, other.start, other.end, "contradicts", _CONFIDENCE)
    message = f"The claim says {ours!r}; the evidence says {theirs!r}."
    return ExactFinding("number.mismatch", message, quantity.start, quantity.end, span, "contradicts", _CONFIDENCE)


def _is_stated(index: ExactIndex, quantity: Quantity) -> bool:
    """Whether the evidence has a number anywhere; of a range both ends."""
    return all(end is None or (quantity.dimension, end) in index.values for end in (quantity.low, quantity.high))


def _measures(claim: Claim, index: ExactIndex, quantity: Quantity, thing: Thing) -> Iterator[tuple[int, Quantity]]:
    """The numbers of the evidence with the same dimension that measure the same thing, each with its sentence."""
    for candidate in claim.candidates:
        here = index.sentences[candidate.sentence]
        passage = index.passages[here.passage]
        for other in index.quantities.get(candidate.sentence, ())[:_MOST_QUANTITIES]:
            if other.dimension != quantity.dimension or not here.start <= other.start < here.end:
                continue
            placed = replace(other, start=other.start - here.start, end=other.end - here.start)
            theirs = thing_of(passage.text[here.start : here.end], placed)
            if theirs is not None and theirs.head == thing.head and thing.stems <= theirs.stems:
                yield candidate.sentence, other
