"""Evidence read once for the exact tier: sentences, an inverted index of stems, and every mention by sentence.

`index_builder` builds it; a claim then looks at a bounded number of postings and sentences.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import nsmallest
from itertools import compress, pairwise
from operator import itemgetter
from typing import TypeVar

from assay.schema import EvidenceSpan
from assay.text.dates import DateMention
from assay.text.lexicon import (
    POLARITY_CUES,
    Condition,
    Identifier,
    Lexeme,
    Negation,
    Words,
    find_conditions,
    find_negations,
    word_set,
)
from assay.text.quantities import Quantity
from assay.verify.exact.records import Records
from assay.verify.exact.surroundings import Surroundings, surroundings

_BULLET = re.compile(r"^(?:[*•>#–-]+\s|[*_]+(?=\S))+")

_MOST_POSTINGS = 3000
"""How many postings a claim may look at; rarer words come first, so what is left out are the commonest words."""

_MOST_CANDIDATES = 8
_MOST_SORTED = 200
"""Up to so many sentences, sorting all is faster than keeping the best."""

_POINTS = 1_000_000
"""Weights are summed as whole numbers, so that the order of summing changes no rank."""
_NEIGHBOURS = 2
_MOST_REMEMBERED = 1024
"""Sentences and mentions of which the index remembers what claims asked about them; then it begins again."""

_FOLD, STEM, WEIGHT = itemgetter(0), itemgetter(1), itemgetter(2)
"""The fields of a lexeme; in C, where attributes of all words of the evidence would be looked up in Python."""


Trigram = tuple[str, str, str]
"""Three words in a row, folded."""


@dataclass(frozen=True, slots=True)
class IndexedSentence:
    """A sentence of one evidence text."""

    passage: int
    """Index of its evidence."""
    start: int
    end: int
    first: int
    """Index of its first word in the words of its evidence."""
    last: int


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """One evidence text with its words."""

    evidence_id: str
    text: str
    words: Words
    heading: frozenset[str]
    """Stems of the title and of a short first line: what every sentence of the text is about."""
    first: int
    """Index of its first sentence."""
    last: int
    extra_dates: tuple[DateMention, ...]
    """Dates of the title and the effective date; having no place in the text, they support and never contradict."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An evidence sentence that shares words with a claim."""

    sentence: int
    recall: float
    """Share of the claim's weight in the sentence alone."""
    wide: float
    """The same with what surrounds it."""
    stems: frozenset[str]
    around: frozenset[str]
    """Stems of the neighbouring sentences."""
    heading: frozenset[str]


@dataclass(frozen=True, slots=True)
class Content:
    """The content words of a sentence."""

    stems: tuple[str, ...]
    """In reading order, repeated ones too."""
    pairs: frozenset[tuple[str, str]]
    """Those that follow each other."""


@dataclass(frozen=True, slots=True)
class SentencePolarity:
    """The words of a sentence with its polarity."""

    words: Words
    """At their places in the whole evidence text."""
    folds: frozenset[str]
    negations: tuple[Negation, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class ExactIndex:
    """The evidence of one check, parsed; built by `index_evidence`.

    It never changes, but for a bounded memory of what claims asked of its sentences, which changes no answer.
    """

    locale: str
    passages: tuple[IndexedPassage, ...]
    sentences: tuple[IndexedSentence, ...]
    stems: tuple[frozenset[str], ...]
    """The content stems of each sentence."""
    postings: Mapping[str, Sequence[int]]
    """For each stem the sentences that have it, in order."""
    heading_stems: frozenset[str]
    quantities: Mapping[int, Sequence[Quantity]]
    """By sentence; likewise the next two."""
    dates: Mapping[int, Sequence[DateMention]]
    identifiers: Mapping[int, Sequence[Identifier]]
    values: Mapping[tuple[str, Decimal], Sequence[tuple[int, Quantity]]]
    """Exact quantities by dimension and value in the base unit."""
    calendar: Mapping[tuple[int | None, int | None], Sequence[DateMention]]
    """Dates by year, and those without a year by month; some of each, enough to tell what is nowhere."""
    keys: Mapping[str, Sequence[tuple[int, Identifier]]]
    """Identifiers by normal form."""
    acronyms: Mapping[str, int]
    """Acronyms of the names in the evidence, with the sentence of the name."""
    whole: Mapping[str, int]
    """Sentences by their text with white space collapsed and the end mark off."""
    records: Records = field(default_factory=Records)
    """What of the evidence is records and not prose."""
    _mentions: dict[tuple[int, int, int], Surroundings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _contents: dict[int, Content] = field(default_factory=dict, init=False, repr=False, compare=False)
    _readings: dict[int, SentencePolarity] = field(default_factory=dict, init=False, repr=False, compare=False)
    _subjects: dict[int, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _trigrams: list[frozenset[Trigram]] = field(default_factory=list, init=False, repr=False, compare=False)

    def surroundings(self, sentence: int, start: int, end: int) -> Surroundings:
        """What stands around a mention within a sentence; its start and end are those in the evidence text."""
        key = sentence, start, end
        known = self._mentions.get(key)
        if known is None:
            here = self.sentences[sentence]
            passage = self.passages[here.passage]
            known = surroundings(passage.text, passage.words, start, end, here.first, here.last)
            _remember(self._mentions, key, known)
        return known

    def subject(self, sentence: int) -> frozenset[str]:
        """The stems of a sentence's words up to its first verb, as far as function words show where that is."""
        known = self._subjects.get(sentence)
        if known is None:
            here = self.sentences[sentence]
            known = leading_stems(self.passages[here.passage].words.lexemes[here.first : here.last])
            _remember(self._subjects, sentence, known)
        return known

    def trigrams(self) -> frozenset[Trigram]:
        """Every three words in a row of a passage, as they are folded."""
        if not self._trigrams:
            self._trigrams.append(
                frozenset(one for passage in self.passages for one in trigrams_of(passage.words.lexemes))
            )
        return self._trigrams[0]

    def content(self, sentence: int) -> Content:
        """The content words of a sentence."""
        known = self._contents.get(sentence)
        if known is None:
            here = self.sentences[sentence]
            stems = content_of(self.passages[here.passage].words.lexemes[here.first : here.last])
            known = Content(stems, frozenset(pairwise(stems)))
            _remember(self._contents, sentence, known)
        return known

    def reading(self, sentence: int) -> SentencePolarity:
        """The words of a sentence with its negations and conditions."""
        known = self._readings.get(sentence)
        if known is None:
            known = self._read(sentence)
            _remember(self._readings, sentence, known)
        return known

    def _read(self, sentence: int) -> SentencePolarity:
        here = self.sentences[sentence]
        passage = self.passages[here.passage]
        whole, part = passage.words, slice(here.first, here.last)
        words = Words(whole.starts[part], whole.ends[part], whole.lexemes[part])
        folds = frozenset(map(_FOLD, words.lexemes))
        if POLARITY_CUES.isdisjoint(folds):
            return SentencePolarity(words, folds, (), ())
        return SentencePolarity(words, folds, find_negations(passage.text, words), find_conditions(passage.text, words))

    def span(self, sentence: int, start: int, end: int, relation: str, score: float) -> EvidenceSpan:
        """Characters of the evidence that a sentence belongs to, as a value of the schema."""
        passage = self.passages[self.sentences[sentence].passage]
        return EvidenceSpan(
            evidence_id=passage.evidence_id,
            start=start,
            end=end,
            text=passage.text[start:end],
            relation=relation,
            score=min(1.0, max(0.0, score)),
        )

    def weight(self, stem: str) -> float:
        """How much a stem says: 1 for one in every sentence, more the rarer it is."""
        count = len(self.postings.get(stem, ()))
        return 1.0 + 0.5 * math.log((len(self.sentences) + 1) / (count + 1))

    def neighbours(self, sentence: int) -> range:
        """The sentence with up to two before and one after it in the same evidence."""
        passage = self.passages[self.sentences[sentence].passage]
        return range(max(passage.first, sentence - _NEIGHBOURS), min(passage.last, sentence + _NEIGHBOURS))

    def candidates(self, weights: Mapping[str, float]) -> list[Candidate]:
        """The sentences that hold most of the given weight of stems, best first, at most eight."""
        scores: dict[int, int] = {}
        budget = _MOST_POSTINGS
        known = [stem for stem in weights if stem in self.postings]
        for _, stem in sorted([(len(self.postings[stem]), stem) for stem in known]):
            points = round(weights[stem] * _POINTS)
            posted = self.postings[stem]
            for number in posted[:budget] if len(posted) > budget else posted:
                scores[number] = scores.get(number, 0) + points
            budget -= len(posted)
            if budget <= 0:
                break
        rows = [(-score, number) for number, score in scores.items()]
        few = len(rows) <= _MOST_SORTED
        best = sorted(rows)[:_MOST_CANDIDATES] if few else nsmallest(_MOST_CANDIDATES, rows)
        total = sum(weights.values()) or 1.0
        found = [self._candidate(number, weights, total) for _, number in best]
        return sorted(found, key=lambda c: (-round(c.recall, 9), -round(c.wide, 9), c.sentence))

    def candidate(self, number: int, weights: Mapping[str, float]) -> Candidate:
        """A sentence as a candidate for a claim with these weights, whether or not it shares a word with it."""
        return self._candidate(number, weights, sum(weights.values()) or 1.0)

    def _candidate(self, number: int, weights: Mapping[str, float], total: float) -> Candidate:
        stems = self.stems[number]
        passage = self.passages[self.sentences[number].passage]
        first, last = max(passage.first, number - _NEIGHBOURS), min(passage.last, number + _NEIGHBOURS)
        around: frozenset[str] = frozenset().union(*self.stems[first:number], *self.stems[number + 1 : last])
        heading = passage.heading
        recall = wide = 0.0
        for stem, weight in weights.items():
            if stem in stems:
                recall += weight
                wide += weight
            elif stem in around or stem in heading:
                wide += weight
        return Candidate(number, recall / total, wide / total, stems, around, heading)


_Key = TypeVar("_Key")
_Known = TypeVar("_Known")


def trigrams_of(lexemes: Sequence[Lexeme]) -> Iterator[Trigram]:
    """Three words in a row, from the first to the last."""
    folds = list(map(_FOLD, lexemes))
    return zip(folds, folds[1:], folds[2:], strict=False)


def _remember(memory: dict[_Key, _Known], key: _Key, value: _Known) -> None:
    """Keeps a value; a full memory is emptied first, which costs less than telling the old from the new."""
    if len(memory) >= _MOST_REMEMBERED:
        memory.clear()
    memory[key] = value


_SUBJECT_ENDS = word_set(
    """is are was were be been am has have had will would can could may might must shall should do does did get gets
    got receive receives received give given take takes need needs cannot for with from at by to in"""
)
_LONGEST_SUBJECT = 4
_SHORTEST_SUBJECT = 2


def leading_stems(lexemes: Sequence[Lexeme]) -> frozenset[str]:
    """The content stems of a sentence up to its verb, as far as function words show where that is.

    Without such a word the first two are taken.
    """
    stems: list[str] = []
    for at, lexeme in enumerate(lexemes):
        if lexeme.fold in _SUBJECT_ENDS and stems:
            return frozenset(stems)
        if lexeme.weight:
            stems.append(lexeme.stem)
        if len(stems) == _LONGEST_SUBJECT or at > 3 * _LONGEST_SUBJECT:
            break
    return frozenset(stems[:_SHORTEST_SUBJECT])


def content_of(lexemes: Sequence[Lexeme]) -> tuple[str, ...]:
    """The stems of the content words among some words, in order."""
    return tuple(compress(map(STEM, lexemes), map(WEIGHT, lexemes)))


def calendar_key(mention: DateMention) -> tuple[int | None, int | None]:
    """Where a date is in the index's calendar."""
    return mention.year, None if mention.year is not None else mention.month


def normal_sentence(text: str) -> str:
    """The text with white space collapsed and without end marks, bullets and emphasis, for whole-sentence equality.

    >>> normal_sentence(" It  is so. "), normal_sentence("- **It is so.**")
    ('It is so', 'It is so')
    """
    return _BULLET.sub("", " ".join(text.split())).rstrip(".!?;:。*_ ")
