"""The corpus as the rules that write attacks see it: passages, values with questions for them, tables and names."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import Passage
from assay.redteam.generate.facts import Fact, facts_of
from assay.schema import Evidence
from assay.text.dates import find_dates
from assay.text.lexicon import find_names, find_words

LONGEST_PASSAGE: Final = 1_600
"""The most characters of one passage; documents are cut at paragraphs."""
MOST_CHARACTERS: Final = 20_000_000
"""The most characters of a corpus."""
_VERSION_LINE: Final = re.compile(
    r"^(?:version|revision|owner|status|author|date|effective|released?)\b.{0,200}$", re.IGNORECASE | re.MULTILINE
)
"""A line of metadata at the head of a document."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document, cut into passages."""

    id: str
    title: str
    passages: tuple[Passage, ...]
    version: str | None
    """The version that the document states."""
    day: tuple[int, int, int] | None
    """Year, month and day of its effective date, or else of the first date in its metadata."""


class Corpus:
    """A corpus as the rules see it; whatever is expensive to compute is computed on first use."""

    def __init__(self, evidence: Sequence[Evidence]) -> None:
        """Reads the documents.

        Raises:
            InputError: no document has any text, or they have too much.
        """
        if sum(len(item.text) for item in evidence) > MOST_CHARACTERS:
            raise InputError(f"expected a corpus of at most {MOST_CHARACTERS:,} characters; name a part of it")
        documents = [document_of(item) for item in evidence if item.text.strip()]
        if not documents:
            raise InputError("expected documents with text in them to write attacks from, got none")
        self.documents = tuple(sorted(documents, key=lambda one: one.id))

    @cached_property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(passage.text for document in self.documents for passage in document.passages)

    @cached_property
    def folded(self) -> str:
        """The whole text in case-folded words with one space between them, for looking up phrases."""
        return " " + " ".join(re.findall(r"[\w.\-]*\w", self.text.casefold())) + " "

    def has(self, phrase: str) -> bool:
        """Whether the corpus contains a phrase, ignoring case and punctuation."""
        return " " + " ".join(re.findall(r"[\w.\-]*\w", phrase.casefold())) + " " in self.folded

    @cached_property
    def _lower_words(self) -> frozenset[str]:
        return frozenset(re.findall(r"(?<![\w-])[a-zà-ÿ][\w’'-]*", self.text))

    @cached_property
    def _inner_capitals(self) -> frozenset[str]:
        """Capitalised words within a sentence."""
        return frozenset(re.findall(r"(?<=[\w,] )[A-ZÀ-Þ][\w’'-]*", self.text))

    def decapitalised(self, text: str) -> str:
        """A sentence as it is written within another one: without its initial capital, unless that begins a name."""
        head = re.match(r"[\w’'-]+", text)
        if head is None or not text[:1].isupper() or head[0][1:] != head[0][1:].lower():
            return text
        word = head[0]
        keeps = word in self._inner_capitals and word.lower() not in self._lower_words
        return text if keeps else text[:1].lower() + text[1:]

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of the document of each passage, by the id of the passage."""
        return {passage.id: document.title for document in self.documents for passage in document.passages}

    @cached_property
    def years(self) -> frozenset[int]:
        """The years that it mentions."""
        return frozenset(one.year for one in find_dates(self.text) if one.year is not None)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """The values that can be asked for, except those for which documents of the same title differ."""
        return tuple(fact for fact in self._all_facts if fact.key not in self._disputed)

    @cached_property
    def _all_facts(self) -> tuple[Fact, ...]:
        found = [
            fact
            for document in self.documents
            for passage in document.passages
            for fact in facts_of(passage, document.title, self.decapitalised)
        ]
        return tuple({(fact.passage.id, fact.question, fact.value): fact for fact in found}.values())

    @cached_property
    def _disputed(self) -> frozenset[str]:
        values: dict[str, set[str]] = {}
        for fact in self._all_facts:
            values.setdefault(fact.key, set()).add(fact.value)
        return frozenset(key for key, found in values.items() if len(found) > 1)

    @cached_property
    def superseded(self) -> tuple[tuple[Fact, Fact], ...]:
        """Pairs of one fact in an older and a newer version of a document, with different values."""
        day_of = {passage.id: one.day for one in self.documents for passage in one.passages}
        by_key: dict[str, list[Fact]] = {}
        for fact in self._all_facts:
            by_key.setdefault(fact.key, []).append(fact)
        pairs = []
        for versions in by_key.values():
            dated = sorted(
                (one for one in versions if day_of[one.passage.id] is not None),
                key=lambda one: day_of[one.passage.id] or (),
            )
            pairs += [(a, b) for a, b in pairwise(dated) if a.value != b.value and a.passage.id != b.passage.id]
        return tuple(pairs)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names that are never common words as well, in order of their first appearance."""
        counted = self._name_counts
        return tuple(counted)

    @cached_property
    def _name_counts(self) -> Counter[str]:
        counts: Counter[str] = Counter()
        for document in self.documents:
            for passage in document.passages:
                text = passage.text
                for name in find_names(text, find_words(text)):
                    written = text[name.start : name.end]
                    if (
                        name.sure
                        and not name.acronym
                        and re.fullmatch(r"[^\W\d_]+(?:[ .]+[^\W\d_]+)*", written)
                        and self._is_name(written)
                    ):
                        counts[written] += 1
        return counts

    def _is_name(self, written: str) -> bool:
        words = written.split()
        is_inner = written in self.text.replace(". " + written, "").replace("\n" + written, "").replace(
            "# " + written, ""
        )
        return is_inner and all(len(word) > 1 and word.lower() not in self._lower_words for word in words)

    @cached_property
    def long_tail(self) -> tuple[str, ...]:
        """The names that occur once."""
        return tuple(name for name in self.names if self.text.count(name) == 1)

    def passages(self) -> Iterator[Passage]:
        """All passages, in order."""
        for document in self.documents:
            yield from document.passages

    def with_word(self, phrase: str, most: int = 3) -> tuple[Passage, ...]:
        """The first passages that contain a phrase, at most `most`."""
        return tuple(one for one in self.passages() if phrase in one.text)[:most]

    def near(self, words: str, most: int = 3) -> tuple[Passage, ...]:
        """The passages that share most words with a text, best first; rare words count more."""
        query_words = set(re.findall(r"\w{3,}", words.casefold()))
        weights = self._weights
        scored = sorted(
            (
                (-sum(weights.get(word, 0.0) for word in query_words & passage_words), at)
                for at, passage_words in enumerate(self._word_sets)
            ),
        )
        passages = tuple(self.passages())
        return tuple(passages[at] for _, at in scored[:most])

    @cached_property
    def _word_sets(self) -> tuple[frozenset[str], ...]:
        return tuple(frozenset(re.findall(r"\w{3,}", one.text.casefold())) for one in self.passages())

    @cached_property
    def _weights(self) -> dict[str, float]:
        counts = Counter(word for own in self._word_sets for word in own)
        return {word: 1.0 / count for word, count in counts.items()}


def document_of(item: Evidence) -> Document:
    """Cuts one piece of evidence into a document of passages."""
    text = item.text.strip()
    heading = re.match(r"#{1,6}[ \t]+(.+)", text)
    title = item.title or (heading[1].strip(" #") if heading else item.id.rsplit("/", 1)[-1].replace("-", " "))
    parts = list(_passage_texts(text))
    passages = tuple(
        Passage(id=item.id if len(parts) == 1 else f"{item.id}#{number}", text=part, source=item.source or item.id)
        for number, part in enumerate(parts, 1)
    )
    head = text[:600]
    version_line = _VERSION_LINE.search(head)
    dates = [d for d in find_dates(version_line[0]) if d.year is not None] if version_line else []
    day: tuple[int, int, int] | None = None
    if item.effective_date is not None:
        day = (item.effective_date.year, item.effective_date.month, item.effective_date.day)
    elif dates:
        day = (dates[0].year or 0, dates[0].month or 1, dates[0].day or 1)
    version = re.search(r"\bversion\s+(\d[\w.]*\w|\d)", version_line[0], re.IGNORECASE) if version_line else None
    return Document(item.id, title, passages, item.version or (version[1] if version else None), day)


def _passage_texts(text: str) -> Iterator[str]:
    """A text in pieces of whole paragraphs, each short enough for a passage; longer paragraphs are cut at lines."""
    piece = ""
    for section in re.split(r"\n\s*\n", text):
        for paragraph in (section,) if len(section) <= LONGEST_PASSAGE else _line_blocks(section):
            if piece and len(piece) + len(paragraph) > LONGEST_PASSAGE:
                yield piece
                piece = ""
            piece = f"{piece}\n\n{paragraph}" if piece else paragraph
    if piece.strip():
        yield piece


def _line_blocks(section: str) -> Iterator[str]:
    piece = ""
    for line in re.split(r"(?<=[.!?])\s+|\n", section):
        for at in range(0, max(1, len(line)), LONGEST_PASSAGE):
            chunk = line[at : at + LONGEST_PASSAGE]
            if piece and len(piece) + len(chunk) > LONGEST_PASSAGE:
                yield piece
                piece = ""
            piece = f"{piece} {chunk}" if piece else chunk
    if piece:
        yield piece
