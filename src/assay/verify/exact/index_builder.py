"""Builds the index of the exact tier from evidence.

Building is linear in the evidence. Evidence is sorted by id, so the order of the input does not matter.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import compress

from assay.schema import Evidence
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import (
    Identifier,
    Words,
    find_acronyms,
    find_identifiers,
    find_words,
    word_set,
)
from assay.text.quantities import Quantity, find_duration, find_quantities
from assay.text.sentences import looks_foreign
from assay.verify.exact.index import (
    STEM,
    WEIGHT,
    ExactIndex,
    IndexedPassage,
    IndexedSentence,
    calendar_key,
    normal_sentence,
)
from assay.verify.exact.records import RecordReader

_MARK = re.compile(r"[.!?\n。！？]")
_AFTER_MARK = re.compile(r"[\"'”’)\]*_]*(?=\s+[\"'“‘(\[*_]*[^\W_a-z])")
_SPACE = re.compile(r"\s*")
_ABBREVIATIONS = word_set(
    """mr mrs ms dr prof st sr jr vs etc e.g i.e cf no vol fig sec art ch approx inc ltd co corp dept est u.s u.k
    gen col lt sgt capt gov sen rep rev hon jan feb mar apr jun jul aug sep sept oct nov dec mio mrd"""
)
_LONGEST_SENTENCE_WORDS = 120
"""A longer run of words without a boundary is split, so that the work for one sentence is bounded."""

_HEADING_WORDS = 8
_MOST_BY_YEAR = 64

_MONTH_FIRST = frozenset({"en", "en-us", "en-ca", "en-ph"})


def reads_day_first(locale: str) -> bool:
    """Whether 3/4/2020 is the third of April where this locale is used.

    >>> reads_day_first("en"), reads_day_first("en-GB")
    (False, True)
    """
    return locale.lower().replace("_", "-") not in _MONTH_FIRST


_DAY_POINT = re.compile(
    r"(?:.?\s|^)?(?<!\d)\d{1,2}\.\s(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|"
    r"Dezember)\b"
)


def _is_day(text: str, at: int) -> bool:
    """Whether a full stop is between a day and a German month: "am 28. April"."""
    return text[at - 1 : at].isdigit() and _DAY_POINT.match(text, max(0, at - 3)) is not None and looks_foreign(text)


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Split at line ends, after CJK stops, and after stops that a capital or a digit follows.

    A single character class finds the candidates, which is several times faster than one pattern for the whole rule.
    """
    start = 0
    for match in _MARK.finditer(text):
        offset = match.start()
        if offset < start:
            continue
        mark, end = text[offset], offset + 1
        if mark == "\n":
            end = offset
        elif mark in ".!?":
            after = _AFTER_MARK.match(text, end)
            if after is None or (mark == "." and (_is_abbreviation(text, start, offset) or _is_day(text, offset))):
                continue
            end = after.end()
        if text[start:end].strip():
            yield start, end
        space = _SPACE.match(text, end)
        start = space.end() if space else end
    if text[start:].strip():
        yield start, len(text)


def _is_abbreviation(text: str, start: int, stop: int) -> bool:
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
    """Collects the parts of an index from one piece of evidence after another."""

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
        sentences = list(_sentences(number, text, words))
        self.sentences.extend(sentences)
        extra = list(find_dates(evidence.title)) if evidence.title else []
        if evidence.effective_date is not None:
            day = evidence.effective_date
            extra.append(DateMention(0, 0, day.year, month=day.month, day=day.day))
        heading = _heading(evidence, sentences, words)
        self.passages.append(
            IndexedPassage(evidence.id, text, words, heading, first, len(self.sentences), tuple(extra))
        )
        self.records.add(number, text, evidence.title or "")
        self._post(sentences, first, words)
        self._mentions(text, words, sentences, first)
        for offset, sentence in enumerate(sentences):
            self.whole.setdefault(normal_sentence(text[sentence.start : sentence.end]), first + offset)

    def _post(self, sentences: Sequence[IndexedSentence], first: int, words: Words) -> None:
        postings = self.postings
        lexemes = words.lexemes
        for number, sentence in enumerate(sentences, start=first):
            part = lexemes[sentence.first : sentence.last]
            stems = frozenset(compress(map(STEM, part), map(WEIGHT, part)))
            self.stems.append(stems)
            for stem in stems:
                if stem in postings:
                    postings[stem].append(number)
                else:
                    postings[stem] = [number]

    def _mentions(self, text: str, words: Words, sentences: Sequence[IndexedSentence], first: int) -> None:
        starts = [s.start for s in sentences]
        if not starts:
            return

        def sentence_of(start: int) -> int:
            return first + max(0, bisect_left(starts, start + 1) - 1)

        day_first = reads_day_first(self.locale)
        identifiers = find_identifiers(text)
        # "2h30" is a duration for a claim that says so and stays an identifier for one that names a time.
        skipped = [(i.start, i.end) for i in identifiers if find_duration(text, i.start) is None]
        dates = find_dates(text, words, skip=skipped, day_first=day_first)
        skipped += [(d.start, d.end) for d in dates]
        for identifier in identifiers:
            number = sentence_of(identifier.start)
            self.identifiers.setdefault(number, []).append(identifier)
            self.keys.setdefault(identifier.key, []).append((number, identifier))
        for mention in dates:
            self.dates.setdefault(sentence_of(mention.start), []).append(mention)
            entry = self.calendar.setdefault(calendar_key(mention), [])
            if len(entry) < _MOST_BY_YEAR:
                entry.append(mention)
        for quantity in find_quantities(text, words, locale=self.locale, skip=skipped):
            number = sentence_of(quantity.start)
            self.quantities.setdefault(number, []).append(quantity)
            if quantity.low is not None and quantity.exact:
                self.values.setdefault((quantity.dimension, quantity.low), []).append((number, quantity))
        for acronym, at in find_acronyms(text, words).items():
            self.acronyms.setdefault(acronym, sentence_of(words.starts[at]))

    def build(self) -> ExactIndex:
        headings: Iterable[frozenset[str]] = (p.heading for p in self.passages)
        return ExactIndex(
            self.locale,
            tuple(self.passages),
            tuple(self.sentences),
            tuple(self.stems),
            self.postings,
            frozenset().union(*headings),
            self.quantities,
            self.dates,
            self.identifiers,
            self.values,
            self.calendar,
            self.keys,
            self.acronyms,
            self.whole,
            self.records.build(),
        )


def index_evidence(evidence: Sequence[Evidence], locale: str = "en") -> ExactIndex:
    """Index evidence for the exact tier; linear in its length.

    `locale` (a BCP 47 tag) decides how "1.200" and "3/4/2020" are read; unambiguous forms do not depend on it.
    """
    builder = _Builder(locale)
    for item in sorted(evidence, key=lambda e: (e.id, e.text)):
        builder.add(item)
    return builder.build()
