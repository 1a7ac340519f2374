"""The index of the exact tier: sentences of the evidence, an inverted index of stems, and mentions by sentence.

`index_builder` builds it; a claim then uses a bounded number of postings and sentences.
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
"""The most postings that a claim uses; rarer words come first, so only the commonest words are left out."""

_MOST_CANDIDATES = 8
_MOST_SORTED = 200
"""For at most so many sentences, sorting all of them is faster than keeping the best."""

_POINTS = 1_000_000
"""Weights are summed as integers in this unit, so that the order of summation does not change a rank."""
_NEIGHBOURS = 2
_CACHE_SIZE = 1024
"""The most entries of each cache of the index; a full one is emptied."""

_FOLD, STEM, WEIGHT = itemgetter(0), itemgetter(1), itemgetter(2)
"""Getters of the fields of a lexeme, which are faster than attribute access."""


Trigram = tuple[str, str, str]
"""Three consecutive words, case-folded."""


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
    """Index after its last word."""


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """One evidence text with its words."""

    evidence_id: str
    text: str
    words: Words
    heading: frozenset[str]
    """Stems of the title and of a short first line: the subject of the whole text."""
    first: int
    """Index of its first sentence."""
    last: int
    """Index after its last sentence."""
    extra_dates: tuple[DateMention, ...]
    """Dates of the title and the effective date; they are not in the text, so they only support and never
    contradict."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An evidence sentence that shares words with a claim."""

    sentence: int
    recall: float
    """The share of the claim's weight that the sentence alone has."""
    wide: float
    """The same together with its neighbours and heading."""
    stems: frozenset[str]
    around: frozenset[str]
    """Stems of the neighbouring sentences."""
    heading: frozenset[str]


@dataclass(frozen=True, slots=True)
class Content:
    """The content words of a sentence."""

    stems: tuple[str, ...]
    """In reading order, with repetitions."""
    pairs: frozenset[tuple[str, str]]
    """The pairs of consecutive stems."""


@dataclass(frozen=True, slots=True)
class SentencePolarity:
    """The words of a sentence with its polarity."""

    words: Words
    """With offsets into the whole evidence text."""
    folds: frozenset[str]
    negations: tuple[Negation, ...]
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class ExactIndex:
    """The parsed evidence of one check; built by `index_evidence`.

    It is immutable but for bounded caches, which do not change any result.
    """

    locale: str
    passages: tuple[IndexedPassage, ...]
    sentences: tuple[IndexedSentence, ...]
    stems: tuple[frozenset[str], ...]
    """The content stems of each sentence."""
    postings: Mapping[str, Sequence[int]]
    """For each stem the sentences that contain it, in order."""
    heading_stems: frozenset[str]
    quantities: Mapping[int, Sequence[Quantity]]
    """By sentence, like the next two."""
    dates: Mapping[int, Sequence[DateMention]]
    identifiers: Mapping[int, Sequence[Identifier]]
    values: Mapping[tuple[str, Decimal], Sequence[tuple[int, Quantity]]]
    """Exact quantities by dimension and value in the base unit."""
    calendar: Mapping[tuple[int | None, int | None], Sequence[DateMention]]
    """Dates by year, and dates without a year by month; at most 64 of each."""
    keys: Mapping[str, Sequence[tuple[int, Identifier]]]
    """Identifiers by normal form."""
    acronyms: Mapping[str, int]
    """Acronyms of the names in the evidence, with the sentence of the name."""
    whole: Mapping[str, int]
    """Sentences by their normalised text (`normal_sentence`)."""
    records: Records = field(default_factory=Records)
    """The records among the evidence."""
    _mentions: dict[tuple[int, int, int], Surroundings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _contents: dict[int, Content] = field(default_factory=dict, init=False, repr=False, compare=False)
    _readings: dict[int, SentencePolarity] = field(default_factory=dict, init=False, repr=False, compare=False)
    _subjects: dict[int, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _trigrams: list[frozenset[Trigram]] = field(default_factory=list, init=False, repr=False, compare=False)

    def surroundings(self, sentence: int, start: int, end: int) -> Surroundings:
        """The surroundings of a mention in a sentence; `start` and `end` are offsets into the evidence text."""
        key = sentence, start, end
        cached = self._mentions.get(key)
        if cached is None:
            here = self.sentences[sentence]
            passage = self.passages[here.passage]
            cached = surroundings(passage.text, passage.words, start, end, here.first, here.last)
            _cache(self._mentions, key, cached)
        return cached

    def subject(self, sentence: int) -> frozenset[str]:
        """The content stems of a sentence up to its first verb (`leading_stems`)."""
        cached = self._subjects.get(sentence)
        if cached is None:
            here = self.sentences[sentence]
            cached = leading_stems(self.passages[here.passage].words.lexemes[here.first : here.last])
            _cache(self._subjects, sentence, cached)
        return cached

    def trigrams(self) -> frozenset[Trigram]:
        """All trigrams of the passages."""
        if not self._trigrams:
            self._trigrams.append(
                frozenset(trigram for passage in self.passages for trigram in trigrams_of(passage.words.lexemes))
            )
        return self._trigrams[0]

    def content(self, sentence: int) -> Content:
        """The content words of a sentence."""
        cached = self._contents.get(sentence)
        if cached is None:
            here = self.sentences[sentence]
            stems = content_of(self.passages[here.passage].words.lexemes[here.first : here.last])
            cached = Content(stems, frozenset(pairwise(stems)))
            _cache(self._contents, sentence, cached)
        return cached

    def reading(self, sentence: int) -> SentencePolarity:
        """The words of a sentence with its negations and conditions."""
        cached = self._readings.get(sentence)
        if cached is None:
            cached = self._parse_polarity(sentence)
            _cache(self._readings, sentence, cached)
        return cached

    def _parse_polarity(self, sentence: int) -> SentencePolarity:
        here = self.sentences[sentence]
        passage = self.passages[here.passage]
        whole, part = passage.words, slice(here.first, here.last)
        words = Words(whole.starts[part], whole.ends[part], whole.lexemes[part])
        folds = frozenset(map(_FOLD, words.lexemes))
        if POLARITY_CUES.isdisjoint(folds):
            return SentencePolarity(words, folds, (), ())
        return SentencePolarity(words, folds, find_negations(passage.text, words), find_conditions(passage.text, words))

    def span(self, sentence: int, start: int, end: int, relation: str, score: float) -> EvidenceSpan:
        """A range of the evidence text of a sentence as an `EvidenceSpan`."""
        return self.passage_span(self.sentences[sentence].passage, start, end, relation, score)

    def passage_span(self, number: int, start: int, end: int, relation: str, score: float) -> EvidenceSpan:
        """A range of the text of a passage as an `EvidenceSpan`."""
        passage = self.passages[number]
        return EvidenceSpan(
            evidence_id=passage.evidence_id,
            start=start,
            end=end,
            text=passage.text[start:end],
            relation=relation,
            score=min(1.0, max(0.0, score)),
        )

    def weight(self, stem: str) -> float:
        """The inverse document frequency of a stem: 1 for one in every sentence, more for a rarer one."""
        count = len(self.postings.get(stem, ()))
        return 1.0 + 0.5 * math.log((len(self.sentences) + 1) / (count + 1))

    def neighbours(self, sentence: int) -> range:
        """The sentence with up to two before and one after it in the same evidence."""
        passage = self.passages[self.sentences[sentence].passage]
        return range(max(passage.first, sentence - _NEIGHBOURS), min(passage.last, sentence + _NEIGHBOURS))

    def candidates(self, weights: Mapping[str, float]) -> list[Candidate]:
        """The sentences with the largest share of the weights, best first, at most eight."""
        scores: dict[int, int] = {}
        budget = _MOST_POSTINGS
        known_stems = [stem for stem in weights if stem in self.postings]
        for _, stem in sorted([(len(self.postings[stem]), stem) for stem in known_stems]):
            points = round(weights[stem] * _POINTS)
            numbers = self.postings[stem]
            for number in numbers[:budget] if len(numbers) > budget else numbers:
                scores[number] = scores.get(number, 0) + points
            budget -= len(numbers)
            if budget <= 0:
                break
        rows = [(-score, number) for number, score in scores.items()]
        few = len(rows) <= _MOST_SORTED
        best = sorted(rows)[:_MOST_CANDIDATES] if few else nsmallest(_MOST_CANDIDATES, rows)
        total = sum(weights.values()) or 1.0
        candidates = [self._candidate(number, weights, total) for _, number in best]
        return sorted(candidates, key=lambda c: (-round(c.recall, 9), -round(c.wide, 9), c.sentence))

    def candidate(self, number: int, weights: Mapping[str, float]) -> Candidate:
        """A sentence as a candidate for a claim with these weights, even if they share no word."""
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
_Value = TypeVar("_Value")


def trigrams_of(lexemes: Sequence[Lexeme]) -> Iterator[Trigram]:
    """The trigrams of some words, in order."""
    folds = list(map(_FOLD, lexemes))
    return zip(folds, folds[1:], folds[2:], strict=False)


def _cache(memory: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    """Cache a value; a full cache is emptied first, which is cheaper than evicting single entries."""
    if len(memory) >= _CACHE_SIZE:
        memory.clear()
    memory[key] = value


_SUBJECT_ENDS = word_set(
    """is are was were be been am has have had will would can could may might must shall should do does did get gets
    got receive receives received give given take takes need needs cannot for with from at by to in"""
)
_LONGEST_SUBJECT = 4
_SHORTEST_SUBJECT = 2


def leading_stems(lexemes: Sequence[Lexeme]) -> frozenset[str]:
    """The content stems of a sentence up to its verb, which function words indicate; else the first two."""
    stems: list[str] = []
    for position, lexeme in enumerate(lexemes):
        if lexeme.fold in _SUBJECT_ENDS and stems:
            return frozenset(stems)
        if lexeme.weight:
            stems.append(lexeme.stem)
        if len(stems) == _LONGEST_SUBJECT or position > 3 * _LONGEST_SUBJECT:
            break
    return frozenset(stems[:_SHORTEST_SUBJECT])


def content_of(lexemes: Sequence[Lexeme]) -> tuple[str, ...]:
    """The stems of the content words, in order."""
    return tuple(compress(map(STEM, lexemes), map(WEIGHT, lexemes)))


def calendar_key(mention: DateMention) -> tuple[int | None, int | None]:
    """The key of a date in the index's calendar."""
    return mention.year, None if mention.year is not None else mention.month


def normal_sentence(text: str) -> str:
    """A sentence without end marks, bullets and emphasis and with single spaces, to compare whole sentences.

    >>> normal_sentence(" It  is so. "), normal_sentence("- **It is so.**")
    ('It is so', 'It is so')
    """
    return _BULLET.sub("", " ".join(text.split())).rstrip(".!?;:。*_ ")
