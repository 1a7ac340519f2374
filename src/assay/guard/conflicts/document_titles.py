"""What sources call themselves and each other: names, versions, drafts, and documents that they say they replace.

Each source is compared only with those whose title it may name (`Titles`), so that the work grows with their number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from assay.schema import Evidence
from assay.text.dates import find_dates
from assay.text.lexicon import find_words

VERSION: Final = re.compile(
    r"(?<![^\W_])(?:v|ver|version|rev|revision|edition|release)\.?\s?(\d+(?:\.\d+)*)(?![^\W_])", re.IGNORECASE
)
_TITLE_VERSION: Final = re.compile(
    rf"{VERSION.pattern}|(?<![^\W_])(?:r|rev)\.?\s?(\d+(?:\.\d+)*)(?![^\W_])|(?<![\d.])(\d+(?:\.\d+)+)(?![\d.])",
    re.IGNORECASE,
)
"""A version in a title, which takes fewer words: "Backup plan r5", "Installation guide 1.4", "handbook_v3.pdf"."""
OUT_OF_USE: Final = (
    r"(?:superseded|replaced|repealed|revoked|rescinded|withdrawn|retired|deprecated|outdated|out of date|out of use|"
    r"archived|obsolete|expired|cancell?ed|no longer (?:valid|in force|current|in use|maintained|applicable|apply|"
    r"applies))"
)
"""Words for something that is out of use."""
OLD: Final = re.compile(r"^\s*(?:old|former|previous)\s+", re.IGNORECASE)
"""The beginning of a title that calls its document old."""
DRAFT: Final = re.compile(r"\b(?:draft|provisional|preliminary|proposed|proposal)\b", re.IGNORECASE)
"""Words of a title that calls its document a draft."""
_REPLACES: Final = re.compile(
    r"\b(?:replac(?:es|ing)|supersed(?:es|ing)|repeals?|takes the place of)\b\s(?P<what>[^.;:()\n]{3,120})",
    re.IGNORECASE,
)
_IS_OUT: Final = re.compile(
    rf"(?:^|[.;\n]\s*)(?P<what>[^.;\n]{{3,80}}?)\s(?:is|are|has been|have been)\s(?:hereby\s|now\s)?{OUT_OF_USE}\b",
    re.IGNORECASE,
)
_ITSELF: Final = re.compile(r"\s*(?:this|these|it)\b", re.IGNORECASE)
OPENING: Final = 400
"""The characters at the beginning of a source in which it says that it is out of use, or from when it is in force."""
LONGEST_NUMBER: Final = 18
"""The most digits of one part of a version that are read."""
_LONGEST: Final = 20_000
"""The most characters of a source that are compared word by word."""
_ALIKE: Final = 0.34
"""The lowest share of the shorter text's content words that two versions of a document have in common."""


def document_name(item: Evidence) -> str:
    """The name of the document without version and date."""
    return " ".join(re.findall(r"[^\W\d_]+", _undated(item.title or item.source or "").casefold()))


def version_of(item: Evidence) -> tuple[int, ...]:
    """The version of a source, by its metadata or its title; empty if neither names one.

    >>> version_of(Evidence(id="a", text="x", title="Leave policy v3.1")), version_of(Evidence(id="b", text="x"))
    ((3, 1), ())
    """
    found = _TITLE_VERSION.search(f"{item.version or ''} {item.title or item.source or ''}")
    number = next((group for group in (found.groups() if found else ()) if group), None)
    number = number or (item.version if item.version and re.fullmatch(r"\d+(?:\.\d+)*", item.version) else None)
    return tuple(int(part[:LONGEST_NUMBER]) for part in number.split(".")[:6]) if number else ()


def _undated(name: str) -> str:
    """A name without version and date."""
    name = _TITLE_VERSION.sub(" ", name)
    kept = list(name)
    for mention in find_dates(name, find_words(name)):
        kept[mention.start : mention.end] = " " * (mention.end - mention.start)
    return "".join(kept)


def says_that_it_replaces(other: Evidence, item: Evidence) -> bool:
    """Whether a source says that it replaces another, which it names by its title."""
    return bool(Titles([other, item]).replaced_by(0))


def names_of_replaced(item: Evidence) -> list[frozenset[str]]:
    """The names of the documents that a source says it replaces, or that are out of use, each as a set of words."""
    opening = f"{item.title or ''}\n{item.text[:OPENING]}"
    found = (match["what"] for match in (*_REPLACES.finditer(opening), *_IS_OUT.finditer(opening)))
    return [words for what in found if not _ITSELF.match(what) and (words := _name_words(what))]


def _name_words(text: str) -> frozenset[str]:
    """The words of a title that tell it from others: content words and numbers outside of brackets."""
    words = find_words(re.sub(r"[(\[][^)\]]*[)\]]", " ", text))
    return frozenset(w.stem for w in words.lexemes if w.weight or w.fold[:1].isdigit())


def content_words(text: str) -> frozenset[str]:
    """The stems of the content words of a text, or of its first `_LONGEST` characters."""
    return frozenset(word.stem for word in find_words(text[:_LONGEST]).lexemes if word.weight)


def are_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether texts with these content words may be versions of one: they share a third of the shorter one's."""
    smaller = min(len(first), len(second))
    return smaller > 0 and len(first & second) >= _ALIKE * smaller


def says_alike(one: str, other: str) -> bool:
    """Whether two texts may be versions of one: they share a third of the shorter one's content words."""
    return are_alike(content_words(one), content_words(other))


class Titles:
    """Sources by the words of their titles.

    >>> titles = ["Leave rules", "Draft travel rules", "Travel rules", "Old leave rules"]
    >>> texts = ["This replaces the old leave rules.", "Fly.", "Fly.", "Stay."]
    >>> found = Titles([Evidence(id=t, title=t, text=text) for t, text in zip(titles, texts)])
    >>> found.replaced_by(0), found.finals_of(1), found.currents_of(3)
    ([3], [2], [0])

    Args:
        items: the sources; the methods name them by their places.
    """

    def __init__(self, items: Sequence[Evidence]) -> None:
        self._items = items
        self._texts: dict[int, frozenset[str]] = {}

    def replaced_by(self, place: int) -> list[int]:
        """The sources that one says it replaces, which it names by their titles."""
        named = names_of_replaced(self._items[place])
        if not named:
            return []
        own = self._names.words[place]
        found: set[int] = set()
        for words in named:
            found.update(self._names.within(words))
            if len(words) > 1 and any(any(sign.isdigit() for sign in word) for word in words):
                found.update(self._names.around(words))
        return sorted(other for other in found if other != place and self._names.words[other] != own)

    def finals_of(self, place: int) -> list[int]:
        """The sources that have the same name as one that is called a draft, without being called so."""
        title = self._items[place].title
        if not title or not DRAFT.search(title):
            return []
        draft = frozenset(word.stem for word in find_words(_undated(title)).lexemes if word.weight)
        return sorted(other for other in self._finals.within(draft) if other != place and self.are_alike(place, other))

    def currents_of(self, place: int) -> list[int]:
        """The sources whose title is that of one with "old" before it, without that."""
        title = self._items[place].title or ""
        plain_title = OLD.sub("", title)
        if plain_title == title:
            return []
        return [other for other in self._plain.get(plain_title.strip().casefold(), ()) if other != place]

    def are_alike(self, one: int, other: int) -> bool:
        """Whether the texts of two sources may be versions of one."""
        return are_alike(self._content(one), self._content(other))

    def _content(self, place: int) -> frozenset[str]:
        if place not in self._texts:
            self._texts[place] = content_words(self._items[place].text)
        return self._texts[place]

    @cached_property
    def _names(self) -> _WordIndex:
        return _WordIndex([_name_words(item.title or "") for item in self._items])

    @cached_property
    def _finals(self) -> _WordIndex:
        return _WordIndex([_final_words(item.title or "") for item in self._items])

    @cached_property
    def _plain(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, item in enumerate(self._items):
            found[(item.title or "").strip().casefold()].append(place)
        return found


def _final_words(title: str) -> frozenset[str]:
    """The words of a title of which a draft has the same; none of a title that calls its document a draft."""
    if DRAFT.search(title):
        return frozenset()
    words = find_words(_undated(title)).lexemes
    return frozenset(word.stem for word in words if word.weight) - {"final", "approv"}


class _WordIndex:
    """Sets of words, found by words that they share with another set; empty sets are never found."""

    def __init__(self, words: Sequence[frozenset[str]]) -> None:
        self.words = words
        self._having: dict[str, list[int]] = defaultdict(list)
        for place, own in enumerate(words):
            for word in own:
                self._having[word].append(place)
        self._by_rarest: dict[str, list[int]] = defaultdict(list)
        for place, own in enumerate(words):
            if own:
                self._by_rarest[min(own, key=lambda word: (len(self._having[word]), word))].append(place)

    def within(self, words: frozenset[str]) -> list[int]:
        """The sets all of whose words are among those given."""
        return [place for word in words for place in self._by_rarest.get(word, ()) if self.words[place] <= words]

    def around(self, words: frozenset[str]) -> list[int]:
        """The sets that have all the words given."""
        rarest = min(words, key=lambda word: (len(self._having.get(word, ())), word))
        return [place for place in self._having.get(rarest, ()) if words <= self.words[place]]
