"""Whether two sources can disagree about a claim at all, or are about different things."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from assay._lru import LruCache
from assay.guard.conflicts.subjects import has_other_subject
from assay.schema import Evidence
from assay.text.lexicon import NUMBER_WORDS, find_names, find_words
from assay.text.quantities import CURRENCY_WORDS, UNIT_WORDS
from assay.text.sentences import split_sentences

ON_ONE_MATTER: Final = 0.55
"""The share of a sentence's content that the claim must have too for the sentence's value to be about the same."""
MOST_SOURCES: Final = 8
"""How many sources each claim is checked against one by one."""
MOST_SWAPS: Final = 4
"""How many exchanges of names are tried for a claim and a passage."""
_RECORD: Final = re.compile(r"\s*(?:[\[{|]|[\w.-]{1,40}\s*[:=][^\n]*\n\s*[\w.-]{1,40}\s*[:=])")
_MEMBER: Final = re.compile(r"\"\s*:\s*[\[{\"\d+-]|\"\s*:\s*(?:true|false|null)\b|[\]}]\s*,\s*[\[{\"]")
"""Marks of JSON, for passages that are cut out of the middle of it."""
_GAP: Final = r"\S(?:\t| {3,})\S"
_COLUMNS: Final = re.compile(rf"{_GAP}[^\n]*{_GAP}|{_GAP}[^\n]*\n[^\n]*{_GAP}")
"""Rows whose cells are set apart by spaces or tabs."""
_STROKES: Final = re.compile(r"[^|\n]\|[^|\n]+\|")
"""A cell between two strokes."""
_DENIED: Final = re.compile(r"[:=]\s*\"?(?:false|no|none|null|not\b[^\",\n]*)\"?\s*(?:[,}\]\n]|$)", re.IGNORECASE)
"""A field that says no: the literals of JSON and YAML for it, and texts that begin with "not"."""
LONGEST_REMEMBERED: Final = 20_000
"""The most characters of a source whose names are remembered."""


@dataclass(frozen=True, slots=True)
class _Named:
    """The names and words of a source."""

    names: frozenset[str]
    """The folded words of the names that it surely has."""
    words: frozenset[str]
    """All its words, folded."""


_UNITS: Final = frozenset(UNIT_WORDS) | frozenset(CURRENCY_WORDS)
_NAMED: Final = LruCache[_Named](64)
"""Remembered because every claim on which two sources seem to disagree needs them."""


def _named(text: str) -> _Named:
    def read() -> _Named:
        words = find_words(text)
        names = frozenset(key for name in find_names(text, words) if name.sure for key in name.keys)
        return _Named(names, frozenset(word.fold for word in words.lexemes))

    return _NAMED.get(text, read) if len(text) <= LONGEST_REMEMBERED else read()


def names_another_subject(claim: str, supporting: str, contradicting: str, passage: str) -> bool:
    """Whether a source that seems to contradict a claim names another subject than the claim does.

    It does if it lacks a name of the claim, has a name that the claim lacks, and says something else of it: the opening
    hours of the library in Bern do not conflict with those in Lindau. If only the name differs, the sources may
    disagree about the name; and a source without names may be about the same subject.

    Args:
        claim: the claim.
        supporting: the whole source that supports it, title included.
        contradicting: the whole source that seems to contradict it, title included.
        passage: the part of that source which seems to contradict it.
    """
    theirs = _named(contradicting)
    stated = find_names(claim)
    # The cheap test first: no name of the claim, sure or not, is missing there.
    if theirs.words.issuperset(key for name in stated for key in name.keys):
        return False
    known = _named(supporting).names
    own = {key for name in stated for key in name.keys if name.sure or key in known}
    if not own - theirs.words or not theirs.names - {word.fold for word in find_words(claim).lexemes}:
        return False
    worded = _stems_and_folds(claim)
    return bool({stem for stem, fold in worded if fold not in own} - {stem for stem, _ in _stems_and_folds(passage)})


def with_their_name(claim: str, passage: str) -> list[str]:
    """The claim with a name that the passage lacks replaced by a name of the passage, in all ways.

    If the passage supports such a claim, the sources disagree about the name: "The archive is kept in Bergen". If it
    does not, they are about two subjects: the source on the library of Bern does not say that it opens at 9.

    >>> with_their_name("The archive is kept in Trondheim.", "All boxes are stored at the Bergen site.")
    ['The archive is kept in Bergen.']
    """
    words = {word.fold for word in find_words(passage).lexemes}
    own = [name for name in find_names(claim) if words.isdisjoint(name.keys)]
    said = {word.fold for word in find_words(claim).lexemes}
    theirs = [passage[one.start : one.end] for one in find_names(passage) if one.sure and said.isdisjoint(one.keys)]
    return [claim[: one.start] + name + claim[one.end :] for one in own for name in dict.fromkeys(theirs)][:MOST_SWAPS]


def _stems_and_folds(text: str) -> set[tuple[str, str]]:
    """The content words and the numbers of a text, stemmed and folded."""
    return {(w.stem, w.fold) for w in find_words(text).lexemes if w.weight or w.fold[:1].isdigit()}


def on_one_matter(said: str, stated: str, passage: str, at: int) -> bool:
    """Whether the sentence of another source around a value is about what is claimed.

    "2 weeks of leave" and "30 days' notice of leave" are values of two things. Most of the sentence, by the weight of
    its content words, must be in the claim or in the passage that supports it.

    Args:
        said: the claim.
        stated: the passage that supports it.
        passage: the text of the other source.
        at: where the value stands in that text.
    """
    known = {word.stem for text in (said, stated) for word in find_words(text).lexemes if word.weight}
    around = next(
        (passage[one.start : one.end] for one in split_sentences(passage) if one.start <= at < one.end), passage
    )
    words = {word.stem: word.weight for word in find_words(around).lexemes if word.weight}
    return sum(weight for stem, weight in words.items() if stem in known) >= ON_ONE_MATTER * sum(words.values())


def claim_share_in_passage(hypothesis: str, passage: str, wrong: Sequence[tuple[int, int]]) -> float:
    """The share of a claim, by the weight of its content words and numbers, that a passage says too.

    A passage that contradicts a claim says the same except for one thing. If it shares nothing else with the claim, it
    is about something else, whatever the network says of it. The words that are wrong beside it do not count.

    Args:
        hypothesis: the claim as it was read.
        passage: the passage.
        wrong: start and end of the words of the claim that the network calls wrong beside the passage.

    >>> claim_share_in_passage("The bridge is open to cars.", "The bridge remains closed.", [(14, 18)])
    0.5
    """
    found = find_words(hypothesis)
    own: dict[str, float] = {}
    for word, start, end in zip(found.lexemes, found.starts, found.ends, strict=True):
        weight = word.weight or (1.0 if word.fold[:1].isdigit() else 0.0)
        if weight and not any(start < there and end > here for here, there in wrong):
            own[word.stem] = weight
    theirs = {word.stem for word in find_words(passage).lexemes}
    total = sum(own.values())
    return sum(weight for stem, weight in own.items() if stem in theirs) / total if total else 0.0


def clause_around(text: str, at: int) -> str:
    """The part of a text around a place, between line breaks, semicolons and the ends of sentences.

    >>> clause_around("Day pass: EUR 22.00; children half price.", 14)
    'Day pass: EUR 22.00'
    """
    start, end = next(
        ((one.start, one.end) for one in split_sentences(text) if one.start <= at < one.end), (0, len(text))
    )
    left = max(text.rfind(mark, start, at) + 1 for mark in ";\n")
    right = min(place if (place := text.find(mark, at, end)) >= 0 else end for mark in ";\n")
    return text[max(start, left) : right]


def passage_share_in_claim(claim: str, passage: str) -> float:
    """The share of a passage, by the weight of its content words, that a claim says too.

    Units do not count: "within a week" and "two weeks of leave" are about two things.

    >>> passage = "Without a ticket nobody may enter the garden."
    >>> passage_share_in_claim("No ticket is needed for the garden.", passage) > 0.4
    True
    """
    own = {word.stem for word in find_words(claim).lexemes if word.weight}
    words = (word for word in find_words(passage).lexemes if word.weight and word.fold not in _UNITS)
    theirs = {word.stem: word.weight for word in words}
    total = sum(theirs.values())
    return sum(weight for stem, weight in theirs.items() if stem in own) / total if total else 0.0


def is_record(passage: str) -> bool:
    """Whether a passage is data rather than prose: JSON, a row of a table, lines of keys and values.

    >>> is_record('{"id": 3}'), is_record("| Bag | 23 kg |"), is_record("user: ann\\nlocked: no"), is_record("It is.")
    (True, True, True, False)
    >>> is_record(',"sent":"2026-03-06"}'), is_record("BIO-1 Cells      ENROLLED\\nBIO-2 Cell lab   WAITLIST")
    (True, True)
    """
    if any(found(passage) is not None for found in (_RECORD.match, _MEMBER.search, _COLUMNS.search)):
        return True
    return _STROKES.search(passage, 0, passage.rfind("\n") + 1) is not None  # rows: the lines that end


def may_deny(claim: str, passage: str) -> bool:
    """Whether the network may be believed when it says that a passage denies a claim.

    For data it may only if a value differs or a field says no: the network has learnt from prose, and takes many rows
    that do not mention a claim for contradictions of it.

    >>> may_deny("The meter is tested for free.", '{"meter": 17}'), may_deny("The fee is 20 euros.", '{"fee": 25}')
    (False, True)
    >>> may_deny("The membership renews automatically.", '{"auto_renewal": false}')
    True
    """
    if not is_record(passage):
        return True
    return bool(values_of(claim, sure=True) - values_of(passage)) or _DENIED.search(passage) is not None


_DISAGREEING: Final = re.compile(
    r"\b(?:(?:dis)?agree\w*|differ\w*|contradict\w*|conflict\w*|inconsisten\w+|discrepan\w+|diverg\w+|at odds)\b",
    re.IGNORECASE,
)


def states_disagreement(claim: str, mine: str, theirs: str) -> bool:
    """Whether a claim says that two sources differ and follows neither: it reports both, or has the values of none.

    A claim about a difference that has the value of one source alone follows that source. A source is recognised by the
    values that only it has, or by its words if it has none.

    >>> mine, theirs = "Nine lifts are open, 9 of 11.", "Lifts open: 8."
    >>> states_disagreement("The reports differ on the lifts: 9 or 8.", mine, theirs)
    True
    >>> states_disagreement("Fees differ, and 9 lifts are open.", mine, theirs)
    False
    >>> mine, theirs = "Students ride for free.", "Students pay 2 euros for the ride."
    >>> states_disagreement("The sources disagree: students ride for free or pay 2 euros.", mine, theirs)
    True
    """
    if _DISAGREEING.search(claim) is None:
        return False
    stated = values_of(claim)
    own, other = _named(mine).words, _named(theirs).words
    if bool(stated & (own - other)) == bool(stated & (other - own)):
        return True
    said = {fold for _, fold in _stems_and_folds(claim)}
    ours, others = ({fold for _, fold in _stems_and_folds(text)} for text in (mine, theirs))
    return all(
        said & (values_of(text) - away or here - there)
        for text, away, here, there in (
            (mine, other, ours, others),
            (theirs, own, others, ours),
        )
    )


def values_of(text: str, *, sure: bool = False) -> set[str]:
    """The folded words of a text that are numbers, in digits or words, or parts of names (with `sure`, of sure names).

    >>> sorted(values_of("Ann Lee has two keys for room 12."))
    ['12', 'ann', 'lee', 'two']
    """
    words = find_words(text)
    named = {key for name in find_names(text, words) if name.sure or not sure for key in name.keys}
    numbers = {w.fold for w in words.lexemes if w.fold in NUMBER_WORDS or any(sign.isdigit() for sign in w.fold)}
    return named | numbers


def closest_sources(claim: str, evidence: Sequence[Evidence], most: int = MOST_SOURCES) -> list[Evidence]:
    """The sources that share most content words with the claim, best first."""
    own = {fold for _, fold in _stems_and_folds(claim)}
    shared = [(len(own & _named(f"{item.title or ''}\n{item.text}").words), item) for item in evidence]
    return [item for count, item in sorted(shared, key=lambda pair: (-pair[0], pair[1].id)) if count][:most]


def _heading(item: Evidence) -> frozenset[str]:
    """The content words of a source's title, or of the heading that it begins with."""
    first = item.text.lstrip().split("\n", 1)[0]
    title = item.title or (first if first.startswith("#") else "")
    return frozenset(word.stem for word in find_words(title[:200]).lexemes if word.weight)


def _is_on_other_heading(claim: set[str], mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """Whether a claim has a word that only one heading has, as "birth parents", and none that only the other has."""
    return bool(claim & (mine - theirs)) and bool(theirs - mine) and not claim & (theirs - mine)


def same_subject(
    claim: str, evidence: tuple[Evidence, ...], said: frozenset[str] = frozenset()
) -> Callable[[str, str, str], bool]:
    """A test for one claim: (id of the supporting source, id of the other, its passage) -> may they conflict?

    Args:
        claim: the claim.
        evidence: all sources.
        said: passages that are known to say the same of another name.
    """

    def whole(wanted: str) -> str:
        return "\n".join(f"{item.title or ''}\n{item.text}" for item in evidence if item.id == wanted)

    headings = {item.id: _heading(item) for item in evidence}
    own = {word.stem for word in find_words(claim).lexemes if word.weight}

    def may_conflict(supporting: str, contradicting: str, passage: str) -> bool:
        theirs = headings[contradicting]
        if any(
            _is_on_other_heading(own, heading, theirs) for name, heading in headings.items() if name != contradicting
        ):
            return False
        mine, other = whole(supporting), whole(contradicting)
        if has_other_subject(claim, mine, passage, other):
            return False
        return passage in said or not names_another_subject(claim, mine, other, passage)

    return may_conflict
