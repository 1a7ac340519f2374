"""A claim parsed for the exact tier, and the agreement of the words around its mentions with those of the evidence."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
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
from assay.text.quantities import Quantity, as_sterling, find_duration, find_quantities, share_of
from assay.verify.exact.index import Candidate, ExactIndex, IndexedPassage, IndexedSentence, leading_stems
from assay.verify.exact.index_builder import reads_day_first
from assay.verify.exact.surroundings import Surroundings, surroundings

_OF_WHOLE = re.compile(r"\s(?:out of|of every)\s")
_QUESTION_WEIGHT = 0.4
_FEW_WORDS = 4
_IN_SENTENCE, _IN_HEADING, _AROUND = 0.9, 0.85, 0.45
_OTHER_CLAUSE = 0.3
"""The weight, in the context of a mention, of the claim's words outside the mention's own clause."""

_BY_SYNONYM = 0.85
"""The weight of a word with a synonym in the clause."""
_BY_PRONOUN = 0.8
"""The weight of a name of the claim where the subject of the evidence is "it" or "the model"."""

_COMPLEMENT = 0.2
"""The factor on the weight of "of leave" in "2 weeks of leave" where the evidence has only "2 weeks"."""

LONG_SENTENCE, LONG_SENTENCE_FACTOR = 80, 0.8
"""A sentence from this many words on is likely a list or boilerplate, so the confidence in its numbers is
multiplied."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim's text with everything that the comparisons need."""

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
    """The content stems of names that are surely names."""

    @property
    def best(self) -> Candidate | None:
        """The evidence sentence with most of the claim's words."""
        return self.candidates[0] if self.candidates else None


def parse_claim(text: str, index: ExactIndex, question: str | None = None) -> Claim:
    """Parse a claim and find its candidate sentences.

    A claim with few content words ("4 weeks.") also uses those of the question, with less weight.
    """
    words = find_words(text)
    identifiers = tuple(i for i in find_identifiers(text) if find_duration(text, i.start) is None)
    pointers = find_pointers(text)
    skipped = [*((i.start, i.end) for i in identifiers), *pointers]
    day_first = reads_day_first(index.locale)
    dates = find_dates(text, words, skip=skipped, day_first=day_first)
    skipped += [(d.start, d.end) for d in dates]
    quantities = tuple(
        as_sterling(quantity) if _may_be_money(text, quantity, index) else quantity
        for quantity in _with_shares(text, find_quantities(text, words, locale=index.locale, skip=skipped), index)
    )
    weights: dict[str, float] = {}
    for word_start, lexeme in zip(words.starts, words.lexemes, strict=True):
        pointing = any(start <= word_start < end for start, end in pointers)
        if lexeme.weight and lexeme.stem not in weights and not pointing:
            weights[lexeme.stem] = lexeme.weight * index.weight(lexeme.stem)
    if question and len(weights) < _FEW_WORDS:
        for lexeme in find_words(question).lexemes:
            if lexeme.weight and lexeme.stem not in weights:
                weights[lexeme.stem] = _QUESTION_WEIGHT * lexeme.weight * index.weight(lexeme.stem)
    candidates = tuple(index.candidates(weights))
    skipped = [*((q.start, q.end) for q in quantities), *pointers]
    names = [n for n in find_names(text, words) if not any(start <= n.start and n.end <= end for start, end in skipped)]
    named = frozenset([w.stem for n in names if n.sure for w in words.lexemes[n.first : n.last] if w.weight])
    folds = frozenset([w.fold for w in words.lexemes])
    return Claim(text, words, weights, quantities, dates, identifiers, tuple(names), candidates, folds, named)


class Context:
    """The words of the claim around one of its mentions, to be compared with those around mentions of the evidence."""

    __slots__ = ("_subject", "claim", "index", "own_neighbours", "own_surroundings", "total", "weights")

    def __init__(self, claim: Claim, index: ExactIndex, start: int, end: int) -> None:
        self.claim = claim
        self.index = index
        self._subject: frozenset[str] | None = None
        words = claim.words
        first, last = bisect_left(words.starts, start), bisect_left(words.starts, end)
        inside = {w.stem for w in words.lexemes[first:last]}
        self.own_surroundings = surroundings(claim.text, words, start, end, 0, len(words))
        near = self.own_surroundings.clause
        self.own_neighbours = tuple([stem or None for stem in self.own_surroundings.neighbours])
        weights = {
            stem: weight if stem in near else weight * _OTHER_CLAUSE
            for stem, weight in claim.weights.items()
            if stem not in inside
        }
        if not LIGHT_VERBS.isdisjoint(weights) and not LIGHT_VERBS.issuperset(weights):
            weights = {stem: weight for stem, weight in weights.items() if stem not in LIGHT_VERBS}
        self.weights = weights
        self.total = sum(weights.values())

    def agreement(self, candidate: Candidate, evidence_surroundings: Surroundings) -> float:
        """The share of the context's weight around a mention of the evidence, 0 to 1.

        A word counts fully in the mention's clause, and less in its sentence, its heading and neighbouring sentences.
        """
        found_weight, total = 0.0, self.total
        if not total:
            return 0.0
        clause_stems, stems, heading, around = (
            evidence_surroundings.clause,
            candidate.stems,
            candidate.heading,
            candidate.around,
        )
        for stem, weight in self.weights.items():
            if stem in clause_stems:
                found_weight += weight
            elif stem in stems:
                found_weight += weight * _IN_SENTENCE
            elif stem in heading:
                found_weight += weight * _IN_HEADING
            elif stem in SYNONYMS and not clause_stems.isdisjoint(SYNONYMS[stem]):
                found_weight += weight * _BY_SYNONYM
            elif stem in self.claim.named and self._has_generic_subject(candidate):
                found_weight += weight * _BY_PRONOUN
            elif stem in around:
                found_weight += weight * _AROUND
            elif stem in self.own_surroundings.complement and not evidence_surroundings.complement:
                total -= weight * (1 - _COMPLEMENT)
        return found_weight / total

    def _has_generic_subject(self, candidate: Candidate) -> bool:
        here = self.index.sentences[candidate.sentence]
        return has_generic_subject(self.index.passages[here.passage], here)

    def subject_coverage(self, candidate: Candidate) -> float:
        """The share of the weight of the claim's subject that the evidence sentence and its heading have, 0 to 1."""
        if self._subject is None:
            self._subject = leading_stems(self.claim.words.lexemes) & self.weights.keys()
        subject, named = self._subject, self.claim.named
        total = sum(self.weights[stem] for stem in subject)
        if not total:
            return 0.0
        generic = bool(named & subject) and self._has_generic_subject(candidate)
        return (
            sum(
                self.weights[s]
                for s in subject
                if s in candidate.stems or s in candidate.heading or (generic and s in named)
            )
            / total
        )

    def closeness(self, evidence_surroundings: Surroundings) -> float:
        """The agreement of the three words on either side, with function words, which distinguish "from" and "to"."""
        shared = len(self.own_surroundings.beside & evidence_surroundings.beside)
        if not shared:
            return 0.0
        same: int = sum(map(eq, self.own_neighbours, evidence_surroundings.neighbours))
        return same / 6 + shared / 12


def has_generic_subject(passage: IndexedPassage, here: IndexedSentence) -> bool:
    """Whether the subject of a sentence refers to something named elsewhere: "it", "the model"."""
    if here.first >= here.last:
        return False
    lexemes = passage.words.lexemes
    first = lexemes[here.first].fold
    if first == "the" and here.first + 1 < here.last:
        return lexemes[here.first + 1].fold in GENERIC_NOUNS
    return first in PRONOUNS


def agreement_confidence(agreement: float) -> float:
    """The confidence that two mentions with this agreement of context are about the same thing.

    It is linear from 0 at 0.2 to 0.95 at 0.85; the combination of the tiers recalibrates it.

    >>> agreement_confidence(0.9), agreement_confidence(0.1)
    (0.95, 0.0)
    """
    return 0.95 * min(1.0, max(0.0, (agreement - 0.2) / 0.65))


def _with_shares(text: str, quantities: Sequence[Quantity], index: ExactIndex) -> Iterator[Quantity]:
    """The quantities, with "two out of three" as a share where the evidence has shares and neither of the counts."""
    pending: Quantity | None = None
    for quantity in quantities:
        if pending is not None and _OF_WHOLE.fullmatch(text, pending.end, quantity.start):
            share = share_of(pending, quantity)
            counted = any(("count", one.value) in index.values for one in (pending, quantity))
            if share is not None and not counted and any(dimension == "share" for dimension, _ in index.values):
                pending = share
                continue
        if pending is not None:
            yield pending
        pending = quantity
    if pending is not None:
        yield pending


def _may_be_money(text: str, quantity: Quantity, index: ExactIndex) -> bool:
    """Whether "pounds" is a currency here: the evidence has amounts of sterling and no masses."""
    spelled = quantity.unit == "lb" and text[: quantity.end].lower().endswith(("pound", "pounds"))
    if not spelled:
        return False
    dimensions = {quantity.dimension for row in index.quantities.values() for quantity in row}
    return "money:GBP" in dimensions and "mass" not in dimensions
