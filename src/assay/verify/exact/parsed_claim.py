"""A claim parsed for the exact tier, and how well the words around one of its mentions agree with the evidence."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from operator import eq

from assay.text.citations import find_pointers
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import (
    GENERIC_NOUNS,
    LIGHT_VERBS,
    PRONOUNS,
    SYNONYMS,
    Identifier,
    Name,
    Words,
    find_identifiers,
    find_names,
    find_words,
)
from assay.text.quantities import Quantity, as_sterling, find_quantities
from assay.verify.exact.index import Candidate, ExactIndex, IndexedPassage, IndexedSentence, leading_stems
from assay.verify.exact.index_builder import reads_day_first
from assay.verify.exact.surroundings import Surroundings, surroundings

_QUESTION_WEIGHT = 0.4
_FEW_WORDS = 4
_IN_SENTENCE, _IN_HEADING, _AROUND = 0.9, 0.85, 0.45
_OTHER_CLAUSE = 0.3
"""Weight, in a mention's context, of the claim's words outside of the mention's own clause."""

_BY_SYNONYM = 0.85
_BY_PRONOUN = 0.8
"""What a name of the claim counts where the evidence's subject is "it" or "the model"."""

_COMPLEMENT = 0.2
"""What is left of the weight of "of leave" in "2 weeks of leave" where the evidence says merely "2 weeks"."""

LONG_SENTENCE, LONG_SENTENCE_FACTOR = 80, 0.8
"""From this many words on a sentence is likely a list or a page's debris, and what its numbers are about less clear."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim's text with all that the comparisons need of it."""

    text: str
    words: Words
    weights: Mapping[str, float]
    """Content stems with their weight in this evidence."""
    quantities: tuple[Quantity, ...]
    dates: tuple[DateMention, ...]
    identifiers: tuple[Identifier, ...]
    names: tuple[Name, ...]
    candidates: tuple[Candidate, ...]
    folds: frozenset[str]
    """The folded words."""
    named: frozenset[str]
    """The content stems of the names that are sure to be names."""

    @property
    def best(self) -> Candidate | None:
        """The evidence sentence that has most of the claim's words."""
        return self.candidates[0] if self.candidates else None


def parse_claim(text: str, index: ExactIndex, question: str | None = None) -> Claim:
    """Parses a claim and finds its candidate sentences.

    A claim of few content words borrows those of the question, at less weight: "4 weeks." answers something.
    """
    words = find_words(text)
    identifiers = find_identifiers(text)
    pointers = find_pointers(text)
    taken = [*((i.start, i.end) for i in identifiers), *pointers]
    day_first = reads_day_first(index.locale)
    dates = find_dates(text, words, skip=taken, day_first=day_first)
    taken += [(d.start, d.end) for d in dates]
    quantities = tuple(
        as_sterling(one) if _may_be_money(text, one, index) else one
        for one in find_quantities(text, words, locale=index.locale, skip=taken)
    )
    weights: dict[str, float] = {}
    for at, lexeme in zip(words.starts, words.lexemes, strict=True):
        pointing = any(start <= at < end for start, end in pointers)
        if lexeme.weight and lexeme.stem not in weights and not pointing:
            weights[lexeme.stem] = lexeme.weight * index.weight(lexeme.stem)
    if question and len(weights) < _FEW_WORDS:
        for lexeme in find_words(question).lexemes:
            if lexeme.weight and lexeme.stem not in weights:
                weights[lexeme.stem] = _QUESTION_WEIGHT * lexeme.weight * index.weight(lexeme.stem)
    candidates = tuple(index.candidates(weights))
    taken = [*((q.start, q.end) for q in quantities), *pointers]
    names = [n for n in find_names(text, words) if not any(start <= n.start and n.end <= end for start, end in taken)]
    named = frozenset([w.stem for n in names if n.sure for w in words.lexemes[n.first : n.last] if w.weight])
    folds = frozenset([w.fold for w in words.lexemes])
    return Claim(text, words, weights, quantities, dates, identifiers, tuple(names), candidates, folds, named)


class Context:
    """The words of the claim around one of its mentions, against those around a mention in the evidence."""

    __slots__ = ("_subject", "claim", "index", "own", "sought", "total", "weights")

    def __init__(self, claim: Claim, index: ExactIndex, start: int, end: int) -> None:
        self.claim = claim
        self.index = index
        self._subject: frozenset[str] | None = None
        words = claim.words
        first, last = bisect_left(words.starts, start), bisect_left(words.starts, end)
        inside = {w.stem for w in words.lexemes[first:last]}
        self.own = surroundings(claim.text, words, start, end, 0, len(words))
        near = self.own.clause
        self.sought = tuple([stem or None for stem in self.own.neighbours])
        weights = {
            stem: weight if stem in near else weight * _OTHER_CLAUSE
            for stem, weight in claim.weights.items()
            if stem not in inside
        }
        if not LIGHT_VERBS.isdisjoint(weights) and not LIGHT_VERBS.issuperset(weights):
            weights = {stem: weight for stem, weight in weights.items() if stem not in LIGHT_VERBS}
        self.weights = weights
        self.total = sum(weights.values())

    def agreement(self, candidate: Candidate, theirs: Surroundings) -> float:
        """How much of the context's weight stands around a mention of the evidence, 0 to 1.

        A word counts whole in the mention's clause and less in its sentence, its heading and the sentences around.
        """
        found, total = 0.0, self.total
        if not total:
            return 0.0
        near, stems, heading, around = theirs.clause, candidate.stems, candidate.heading, candidate.around
        for stem, weight in self.weights.items():
            if stem in near:
                found += weight
            elif stem in stems:
                found += weight * _IN_SENTENCE
            elif stem in heading:
                found += weight * _IN_HEADING
            elif stem in SYNONYMS and not near.isdisjoint(SYNONYMS[stem]):
                found += weight * _BY_SYNONYM
            elif stem in self.claim.named and self._generic(candidate):
                found += weight * _BY_PRONOUN
            elif stem in around:
                found += weight * _AROUND
            elif stem in self.own.complement and not theirs.complement:
                total -= weight * (1 - _COMPLEMENT)
        return found / total

    def _generic(self, candidate: Candidate) -> bool:
        here = self.index.sentences[candidate.sentence]
        return is_generic(self.index.passages[here.passage], here)

    def covered(self, candidate: Candidate) -> float:
        """How much of the weight of the claim's subject the evidence's sentence and its heading have, 0 to 1."""
        if self._subject is None:
            self._subject = leading_stems(self.claim.words.lexemes) & self.weights.keys()
        subject, named = self._subject, self.claim.named
        total = sum(self.weights[stem] for stem in subject)
        if not total:
            return 0.0
        generic = bool(named & subject) and self._generic(candidate)
        return (
            sum(
                self.weights[s]
                for s in subject
                if s in candidate.stems or s in candidate.heading or (generic and s in named)
            )
            / total
        )

    def closeness(self, theirs: Surroundings) -> float:
        """Share of the three words on either side that agree, function words included: tells "from" from "to"."""
        both = len(self.own.beside & theirs.beside)
        if not both:
            return 0.0
        same: int = sum(map(eq, self.sought, theirs.neighbours))
        return same / 6 + both / 12


def is_generic(passage: IndexedPassage, here: IndexedSentence) -> bool:
    """Whether the sentence's subject stands for a name given elsewhere: "it", "the model"."""
    if here.first >= here.last:
        return False
    lexemes = passage.words.lexemes
    first = lexemes[here.first].fold
    if first == "the" and here.first + 1 < here.last:
        return lexemes[here.first + 1].fold in GENERIC_NOUNS
    return first in PRONOUNS


def confidence_of(agreement: float) -> float:
    """The confidence that two mentions with this agreement of context mention one thing, before any doubts.

    A straight line from 0 at 0.2 to 0.95 at 0.85; the combination of the tiers recalibrates it.

    >>> confidence_of(0.9), confidence_of(0.1)
    (0.95, 0.0)
    """
    return 0.95 * min(1.0, max(0.0, (agreement - 0.2) / 0.65))


def _may_be_money(text: str, quantity: Quantity, index: ExactIndex) -> bool:
    """Whether "pounds" is a currency here: the evidence has sterling and weighs nothing."""
    spelled = quantity.unit == "lb" and text[: quantity.end].lower().endswith(("pound", "pounds"))
    if not spelled:
        return False
    known = {one.dimension for row in index.quantities.values() for one in row}
    return "money:GBP" in known and "mass" not in known
