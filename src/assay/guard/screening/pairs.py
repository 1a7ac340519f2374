"""Pairs of sentences of different passages that may contradict each other.

Each sentence is compared with a limited number of sentences of other passages that have its rarest words, so that the
work grows with the number of passages and not of their pairs. A pair is kept if something differs that can contradict:
a value of one kind, a day, a negation, opposite words, a name, or what may or must be.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from assay.guard.conflicts.source_matching import is_record
from assay.retrieve import folded_words
from assay.schema import Evidence
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import MODAL, NEGATIONS, find_names, find_words, opposites
from assay.text.quantities import find_quantities
from assay.text.sentences import split_sentences

MOST_SENTENCES: Final = 40
"""How many sentences of a passage are compared: those closest to the question."""
LONGEST: Final = 600
"""The most characters of a sentence that is compared; a longer one is seldom about one thing."""
SHORTEST: Final = 2
"""The fewest content words and values of a sentence that is compared."""
FAMILY: Final = 6
"""How many first letters words of one family share, as "rehearsal" and "rehearse"."""
RAREST: Final = 8
"""How many words of a sentence are used to find others."""
POSTINGS: Final = 64
"""How many sentences are looked at for one word."""
PARTNERS: Final = 3
"""How many sentences of other passages are kept for one sentence."""
OF_ONE_MATTER: Final = 0.1
"""The lowest share, by weight, of the shorter sentence's content that the other one has too."""
OFTEN: Final = 3
"""How many sentences of a passage must have a name for the passage to be about it, if its title has no name."""
LEAST_READ: Final = 12
"""How many pairs are read if there are few passages."""
_DATA: Final = re.compile(r"[|{}\n\t]|\"\s*:")
"""Marks of data, which no sentence has."""
_CSV: Final = re.compile(r"(?<!\d),(?=\S)|,(?=[^\s\d])")
"""A comma between two fields of a row."""
MOST_FIELDS: Final = 2
"""The most commas without a space behind them that a sentence may have."""
_RECORD: Final = re.compile(r"\s*(\{[^{}\[\]]{2,598}\})\s*")
"""One JSON object of plain values."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a passage in the form in which it is compared."""

    passage: int
    start: int
    text: str
    stems: Mapping[str, float]
    """Its content stems and numbers, each with its weight."""
    values: frozenset[tuple[str, str]]
    """Its quantities and days, by kind and value."""
    kinds: frozenset[str]
    """The kinds of its values."""
    negated: bool
    names: frozenset[str]
    modals: frozenset[str] = frozenset()
    """Its modal verbs."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences that may contradict each other."""

    first: Statement
    second: Statement
    shared: float
    """The share of the shorter sentence's content that both have, in [0, 1]."""
    differs: str
    """What differs: `value`, `negation`, `opposite`, `name` or `words`."""


def statements_of(place: int, item: Evidence, question: frozenset[str]) -> list[Statement]:
    """The sentences of a passage that can be compared, at most `MOST_SENTENCES`.

    Rows of tables and fields of records do not count: their subject stands elsewhere, and two rows always differ. A
    passage that is a single record counts as one sentence.
    """
    if is_record(item.text):
        whole = _RECORD.fullmatch(item.text)
        return [statement(place, whole.start(1), whole[1])] if whole is not None else []
    found = []
    for span in split_sentences(item.text):
        text = item.text[span.start : span.end]
        if len(text) <= LONGEST and not _DATA.search(text) and len(_CSV.findall(text)) <= MOST_FIELDS:
            one = statement(place, span.start, text)
            if len(one.stems) >= SHORTEST:
                found.append(one)
    if len(found) > MOST_SENTENCES:
        near = sorted(found, key=lambda one: (-len(question & set(one.stems)), one.start))[:MOST_SENTENCES]
        found = sorted(near, key=lambda one: one.start)
    return found


def _date_values(day: DateMention) -> set[tuple[str, str]]:
    """The parts of a date that a text states, each with its kind."""
    parts = (
        ("year", day.year),
        ("month", day.month),
        ("day", day.day),
        ("weekday", day.weekday),
        ("clock", day.minute),
    )
    return {(f"date:{name}", str(part)) for name, part in parts if part is not None}


def statement(place: int, start: int, text: str) -> Statement:
    """A sentence in the form in which it is compared."""
    words = find_words(text)
    dates = find_dates(text, words)
    quantities = find_quantities(text, words, skip=[(one.start, one.end) for one in dates])
    values = {(one.dimension, str(one.low if one.exact else (one.low, one.high))) for one in quantities if not one.weak}
    for day in dates:
        values |= _date_values(day)
    stems = {word.stem[:FAMILY]: (word.weight or 0.5) for word in words.lexemes if word.weight or word.digit}
    return Statement(
        place,
        start,
        text,
        stems,
        frozenset(values),
        frozenset(kind for kind, _ in values),
        any(word.fold in NEGATIONS for word in words.lexemes),
        frozenset(key for name in find_names(text, words) if name.sure for key in name.keys),
        frozenset(word.fold for word in words.lexemes if word.fold in MODAL),
    )


def candidates(
    statements: Sequence[Statement],
    question: frozenset[str],
    most: int,
    cannot_disagree: Callable[[int, int], bool] = lambda _one, _other: False,
) -> list[Pair]:
    """The most promising pairs, in an order that does not depend on the order of the passages.

    Args:
        statements: the statements of all passages.
        question: the stems of the question; pairs that have them come first among equals.
        most: how many pairs at most.
        cannot_disagree: whether two passages, by their places, are about different things; they give no pairs.
    """
    postings: dict[str, list[int]] = defaultdict(list)
    for at, one in enumerate(statements):
        for stem in one.stems:
            postings[stem].append(at)
    rarity = {stem: math.log1p(len(statements) / len(found)) for stem, found in postings.items()}
    weights = [sum(value * rarity[stem] for stem, value in one.stems.items()) for one in statements]
    pairs: dict[tuple[int, int], Pair] = {}
    for at, one in enumerate(statements):
        shared: dict[int, float] = defaultdict(float)
        common = [stem for stem in one.stems if len(postings[stem]) > 1]
        for stem in sorted(common, key=lambda s: (len(postings[s]), s))[:RAREST]:
            for other in _near(postings[stem], at):
                if statements[other].passage != one.passage:
                    shared[other] += 1.0
        near = sorted(shared, key=lambda other: (-shared[other], statements[other].text))
        fitting = (other for other in near if not cannot_disagree(one.passage, statements[other].passage))
        measured = []
        for other in islice(fitting, 4 * PARTNERS):
            theirs = statements[other].stems
            both = sum(value * rarity[stem] for stem, value in one.stems.items() if stem in theirs)
            measured.append((both / (min(weights[at], weights[other]) or 1.0), other))
        for share, other in sorted(measured, key=lambda found: (-found[0], statements[found[1]].text))[:PARTNERS]:
            key = (min(at, other), max(at, other))
            if share >= OF_ONE_MATTER and key not in pairs:
                differs = what_differs(one, statements[other])
                if differs is not None:
                    pairs[key] = Pair(statements[key[0]], statements[key[1]], min(1.0, share), differs)
    found = sorted(pairs.values(), key=lambda pair: (-_promise(pair, question), pair.first.text, pair.second.text))
    missing = min(most, LEAST_READ) - len(found)
    return [*found[:most], *_of_two_wordings(statements, found, question, missing, cannot_disagree)]


def _of_two_wordings(
    statements: Sequence[Statement],
    found: Sequence[Pair],
    question: frozenset[str],
    most: int,
    cannot_disagree: Callable[[int, int], bool],
) -> list[Pair]:
    """Pairs of passages that have one sentence each and no pair yet, even if they share no word.

    Passages that were retrieved for one question may answer it in different words ("The seat is in Graz", "Registered
    office: Linz"). In a passage of several sentences nobody knows which of them would be the answer.
    """
    if most <= 0:
        return []
    counts = Counter(one.passage for one in statements)
    alone = sorted(
        (one for one in statements if counts[one.passage] == 1),
        key=lambda one: (-len(question & set(one.stems)), one.text),
    )[: 2 * LEAST_READ]
    known = {(pair.first.passage, pair.second.passage) for pair in found}
    made = []
    for number, one in enumerate(alone):
        for other in alone[number + 1 :]:
            first, second = (one, other) if one.passage < other.passage else (other, one)
            differs = what_differs(one, other)
            if (
                differs is not None
                and (first.passage, second.passage) not in known
                and not cannot_disagree(first.passage, second.passage)
            ):
                made.append(Pair(first, second, 0.0, differs))
    return made[:most]


def _near(places: Sequence[int], at: int) -> Sequence[int]:
    """A sample of the places if there are too many, different for each `at`, so that later ones are seen too."""
    if len(places) <= POSTINGS:
        return places
    step = len(places) / POSTINGS
    return [places[int(i * step + at) % len(places)] for i in range(POSTINGS)]


_PROMISE: Final = {"value": 0.5, "opposite": 0.35, "negation": 0.3, "name": 0.2, "words": 0.0}


def _promise(pair: Pair, question: frozenset[str]) -> float:
    asked = question & set(pair.first.stems) & set(pair.second.stems)
    return pair.shared + _PROMISE[pair.differs] + (0.5 * len(asked) / len(question) if question else 0.0)


def what_differs(one: Statement, other: Statement) -> str | None:
    """What differs between two sentences and can contradict; None if one only repeats a part of the other.

    >>> first, second = (statement(0, 0, text) for text in ("Leave is 2 weeks.", "Leave is 4 weeks."))
    >>> what_differs(first, second)
    'value'
    >>> first, second = (statement(0, 0, f"Gloves {text} in the lab.") for text in ("must be worn", "are optional"))
    >>> what_differs(first, second)
    'words'
    """
    for kind in one.kinds & other.kinds:
        mine = {value for name, value in one.values if name == kind}
        theirs = {value for name, value in other.values if name == kind}
        if mine != theirs and not (mine & theirs and (mine <= theirs or theirs <= mine)):
            return "value"
    if one.negated != other.negated:
        return "negation"
    mine_only, theirs_only = set(one.stems) - set(other.stems), set(other.stems) - set(one.stems)
    if any({word[:FAMILY] for word in opposites(stem)} & theirs_only for stem in mine_only):
        return "opposite"
    if one.names - other.names and other.names - one.names:
        return "name"
    if (mine_only and theirs_only) or (one.modals != other.modals and (mine_only or theirs_only)):
        return "words"
    return None


class PassageSubjects:
    """The subjects of passages, by the names in their titles: two offices, products or banks cannot disagree."""

    def __init__(self, statements: Sequence[Statement], items: Sequence[Evidence]) -> None:
        self._named: dict[int, Counter[str]] = defaultdict(Counter)
        for one in statements:
            self._named[one.passage].update(one.names)
        self._items = items
        self._about = lru_cache(maxsize=None)(self._names)
        self._words = lru_cache(maxsize=None)(self._all_words)

    def differ(self, one: int, other: int) -> bool:
        """Whether each of two passages is about a name that the other one never mentions."""
        return bool(self._about(one) - self._words(other)) and bool(self._about(other) - self._words(one))

    def _names(self, place: int) -> frozenset[str]:
        """The names in a passage's title, or else the name that it mentions most often."""
        named = self._named[place]
        often = frozenset(name for name, count in named.most_common(1) if count >= OFTEN)
        return frozenset(folded_words(self._items[place].title or "")) & named.keys() or often

    def _all_words(self, place: int) -> frozenset[str]:
        item = self._items[place]
        return frozenset(folded_words(f"{item.title or ''}\n{item.text}"))
