"""Evidence read once for the exact tier: sentences, an inverted index of stems, and every mention by sentence.

Building is linear in the evidence; a claim then looks at a bounded number of postings and sentences. Evidence is put
into the order of its ids, so the order in which it came changes nothing.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import nsmallest
from itertools import compress, pairwise
from operator import itemgetter
from typing import TypeVar

from assay.schema import Evidence, EvidenceSpan
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import (
    POLARITY_CUES,
    Condition,
    Identifier,
    Lexeme,
    Negation,
    Words,
    find_acronyms,
    find_conditions,
    find_identifiers,
    find_negations,
    find_words,
    word_set,
)
from assay.text.quantities import Quantity, find_quantities
from assay.verify.exact.records import RecordReader, Records
from assay.verify.exact.surroundings import Surroundings, surroundings

_MARK = re.compile(r"[.!?\n。！？]")
_AFTER_MARK = re.compile(r"[\"'”’)\]*_]*(?=\s+[\"'“‘(\[*_]*[^\W_a-z])")
_BULLET = re.compile(r"^(?:[*•>#–-]+\s|[*_]+(?=\S))+")
_SPACE = re.compile(r"\s*")
_ABBREVIATIONS = word_set(
    """mr mrs ms dr prof st sr jr vs etc e.g i.e cf no vol fig sec art ch approx inc ltd co corp dept est u.s u.k
    gen col lt sgt capt gov sen rep rev hon jan feb mar apr jun jul aug sep sept oct nov dec"""
)
_LONGEST_SENTENCE_WORDS = 120
"""A run of words without a boundary is cut after this many, so that one sentence is a bounded amount of work."""

_MOST_POSTINGS = 3000
"""How many postings a claim may look at; rarer words come first, so what is left out are the commonest words."""

_MOST_CANDIDATES = 8
_MOST_SORTED = 200
"""Up to so many sentences, sorting all is faster than keeping the best."""

_POINTS = 1_000_000
"""Weights are summed as whole numbers, so that the order of summing changes no rank."""

_HEADING_WORDS = 8
_MOST_BY_YEAR = 64
_NEIGHBOURS = 2
_MOST_REMEMBERED = 1024
"""Sentences and mentions of which the index remembers what claims asked about them; then it begins anew."""

_FOLD, _STEM, _WEIGHT = itemgetter(0), itemgetter(1), itemgetter(2)
"""The fields of a lexeme; in C, where attributes of all words of the evidence would be looked up in Python."""


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
    _mentions: dict[tuple[int, int, int], Surroundings] = field(default_factory=dict, init=False, repr=False,
                                                                compare=False)  # fmt: skip
    _contents: dict[int, Content] = field(default_factory=dict, init=False, repr=False, compare=False)
    _readings: dict[int, SentencePolarity] = field(default_factory=dict, init=False, repr=False, compare=False)
    _subjects: dict[int, frozenset[str]] = field(default_factory=dict, init=False, repr=False, compare=False)

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
    return tuple(compress(map(_STEM, lexemes), map(_WEIGHT, lexemes)))


def calendar_key(mention: DateMention) -> tuple[int | None, int | None]:
    """Where a date stands in the index's calendar."""
    return mention.year, None if mention.year is not None else mention.month


_MONTH_FIRST = frozenset({"en", "en-us", "en-ca", "en-ph"})


def reads_day_first(locale: str) -> bool:
    """Whether 3/4/2020 is the third of April where this locale is used.

    >>> reads_day_first("en"), reads_day_first("en-GB")
    (False, True)
    """
    return locale.lower().replace("_", "-") not in _MONTH_FIRST


def normal_sentence(text: str) -> str:
    """The text with white space collapsed and without end marks, bullets and emphasis, for whole-sentence equality.

    >>> normal_sentence(" It  is so. "), normal_sentence("- **It is so.**")
    ('It is so', 'It is so')
    """
    return _BULLET.sub("", " ".join(text.split())).rstrip(".!?;:。*_ ")


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Cuts at line ends, after CJK stops, and after stops that a capital or a digit follows.

    One character class finds the candidates, which is several times as fast here as one pattern for the whole rule.
    """
    start = 0
    for match in _MARK.finditer(text):
        at = match.start()
        if at < start:
            continue
        mark, end = text[at], at + 1
        if mark == "\n":
            end = at
        elif mark in ".!?":
            after = _AFTER_MARK.match(text, end)
            if after is None or (mark == "." and _abbreviated(text, start, at)):
                continue
            end = after.end()
        if text[start:end].strip():
            yield start, end
        space = _SPACE.match(text, end)
        start = space.end() if space else end
    if text[start:].strip():
        yield start, len(text)


def _abbreviated(text: str, start: int, stop: int) -> bool:
    """Whether the full stop at `stop` ends an abbreviation or an initial."""
    before = text[max(start, stop - 8) : stop].split()
    word = before[-1].lstrip("(\"'") if before else ""
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _sentences(number: int, text: str, words: Words) -> Iterator[IndexedSentence]:
    for begin, end in _sentence_spans(text):
        start = begin
        first, last = bisect_left(words.starts, start), bisect_left(words.starts, end)
        while last - first > _LONGEST_SENTENCE_WORDS:
            cut = words.starts[first + _LONGEST_SENTENCE_WORDS]
            yield IndexedSentence(number, start, cut, first, first + _LONGEST_SENTENCE_WORDS)
            start, first = cut, first + _LONGEST_SENTENCE_WORDS
        if last > first:
            yield IndexedSentence(number, start, end, first, last)


def _heading(evidence: Evidence, sentences: Sequence[IndexedSentence], words: Words) -> frozenset[str]:
    stems = {w.stem for w in find_words(evidence.title).lexemes if w.weight} if evidence.title else set()
    if len(sentences) > 1 and sentences[0].last - sentences[0].first <= _HEADING_WORDS:
        end = evidence.text[sentences[0].end - 1 : sentences[0].end]
        if end not in ".!?":
            stems |= {w.stem for w in words.lexemes[sentences[0].first : sentences[0].last] if w.weight}
    return frozenset(stems)


class _Builder:
    """Collects the parts of an index."""

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self.passages: list[IndexedPassage] = []
        self.sentences: list[IndexedSentence] = []
        self.stems: list[frozenset[str]] = []
        self.postings: dict[str, list[int]] = {}
        self.quantities: dict[int, list[Quantity]] = {}
        self.dates: dict[int, list[DateMention]] = {}
        self.identifiers: dict[int, list[Identifier]] = {}
        self.values: dict[tuple[str, Decimal], list[tuple[int, Quantity]]] = {}
        self.calendar: dict[tuple[int | None, int | None], list[DateMention]] = {}
        self.keys: dict[str, list[tuple[int, Identifier]]] = {}
        self.acronyms: dict[str, int] = {}
        self.whole: dict[str, int] = {}
        self.records = RecordReader(locale)

    def add(self, evidence: Evidence) -> None:
        text = evidence.text
        words = find_words(text)
        number, first = len(self.passages), len(self.sentences)
        own = list(_sentences(number, text, words))
        self.sentences.extend(own)
        extra = list(find_dates(evidence.title)) if evidence.title else []
        if evidence.effective_date is not None:
            day = evidence.effective_date
            extra.append(DateMention(0, 0, day.year, month=day.month, day=day.day))
        heading = _heading(evidence, own, words)
        self.passages.append(
            IndexedPassage(evidence.id, text, words, heading, first, len(self.sentences), tuple(extra))
        )
        self.records.add(number, text, evidence.title or "")
        self._post(own, first, words)
        self._mentions(text, words, own, first)
        for offset, sentence in enumerate(own):
            self.whole.setdefault(normal_sentence(text[sentence.start : sentence.end]), first + offset)

    def _post(self, own: Sequence[IndexedSentence], first: int, words: Words) -> None:
        postings = self.postings
        lexemes = words.lexemes
        for number, sentence in enumerate(own, start=first):
            part = lexemes[sentence.first : sentence.last]
            stems = frozenset(compress(map(_STEM, part), map(_WEIGHT, part)))
            self.stems.append(stems)
            for stem in stems:
                if stem in postings:
                    postings[stem].append(number)
                else:
                    postings[stem] = [number]

    def _mentions(self, text: str, words: Words, own: Sequence[IndexedSentence], first: int) -> None:
        starts = [s.start for s in own]
        if not starts:
            return

        def sentence_of(start: int) -> int:
            return first + max(0, bisect_left(starts, start + 1) - 1)

        day_first = reads_day_first(self.locale)
        identifiers = find_identifiers(text)
        taken = [(i.start, i.end) for i in identifiers]
        dates = find_dates(text, words, skip=taken, day_first=day_first)
        taken += [(d.start, d.end) for d in dates]
        for identifier in identifiers:
            number = sentence_of(identifier.start)
            self.identifiers.setdefault(number, []).append(identifier)
            self.keys.setdefault(identifier.key, []).append((number, identifier))
        for mention in dates:
            self.dates.setdefault(sentence_of(mention.start), []).append(mention)
            entry = self.calendar.setdefault(calendar_key(mention), [])
            if len(entry) < _MOST_BY_YEAR:
                entry.append(mention)
        for quantity in find_quantities(text, words, locale=self.locale, skip=taken):
            number = sentence_of(quantity.start)
            self.quantities.setdefault(number, []).append(quantity)
            if quantity.low is not None and quantity.exact:
                self.values.setdefault((quantity.dimension, quantity.low), []).append((number, quantity))
        for acronym, at in find_acronyms(text, words).items():
            self.acronyms.setdefault(acronym, sentence_of(words.starts[at]))

    def build(self) -> ExactIndex:
        headings: Iterable[frozenset[str]] = (p.heading for p in self.passages)
        return ExactIndex(
            self.locale, tuple(self.passages), tuple(self.sentences), tuple(self.stems), self.postings,
            frozenset().union(*headings), self.quantities, self.dates, self.identifiers, self.values, self.calendar,
            self.keys, self.acronyms, self.whole, self.records.build(),
        )  # fmt: skip


def index_evidence(evidence: Sequence[Evidence], locale: str = "en") -> ExactIndex:
    """Reads evidence for the exact tier; linear in its length.

    `locale` (a BCP 47 tag) decides how "1.200" and "3/4/2020" are read; forms that can be read in one way only are
    read in that way whatever it says.
    """
    builder = _Builder(locale)
    for item in sorted(evidence, key=lambda e: (e.id, e.text)):
        builder.add(item)
    return builder.build()
