"""Compares opposite words and directions of a claim with the aligned clauses of the evidence."""

from collections.abc import Iterator, Sequence

from assay.text.dates import DateRelation, relate_dates
from assay.text.lexicon import (
    CONVERSES,
    DIRECTIONS,
    OPPOSITES,
    PARTICIPLE,
    Lexeme,
    Negation,
    Words,
    opposites,
    word_set,
)
from assay.text.lexicon import stem as stem_of
from assay.text.quantities import NUMBER_WORDS
from assay.verify.exact.alignment import LEAST_ALIGNED, align, has_other_subject, stem_ranges
from assay.verify.exact.compare.polarity_evidence import (
    LEAST_CONFIDENCE,
    Side,
    confidence_of,
    difference_finding,
    negated_stems,
    place_of,
    recall_without,
)
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_ANTONYM = 0.9
_DIRECTION = 0.9
_OTHER_SLOT_FACTOR = 0.6
"""The factor for opposites that are not next to the same word: they may have other senses or be about other things."""
_PARTS_OF_WHOLE = frozenset({"half", "third", "quarter"})
_MEASURED = word_set(
    "year years month months week weeks day days metre metres meter meters m cm mm km feet foot inch inches"
)
_MOST_DATES = 16
_COMPARED_TO = frozenset({"with", "to"})
_EVENT_STEMS = frozenset(
    {"open", "clos", "start", "end", "begin", "finish", "arriv", "depart", "enter", "leav", "stop"}
)
"""Stems of events at the beginning and the end of one thing: "open until 9" is "closes at 9"."""


def find_opposites(
    claim: Claim, index: ExactIndex, negations: Sequence[Negation], side: Side
) -> Iterator[ExactFinding]:
    """Findings about words of a claim whose opposites are in the aligned clause of a sentence."""
    negated = negated_stems(claim.words, negations)
    theirs_negated = negated_stems(side.words, side.negations)
    seen: set[str] = set()
    for at, lexeme in enumerate(claim.words.lexemes):
        stem = lexeme.stem
        if stem in seen or stem in side.candidate.stems or opposites(stem).isdisjoint(side.candidate.stems):
            continue
        if any(c.isdigit() for c in stem):
            continue
        seen.add(stem)
        found = _find_opposite(stem, side)
        if found is None:
            continue
        other, code, most_confidence = found
        if stem in _EVENT_STEMS and claim.dates and not _has_same_dates(claim, index, side):
            continue
        if any(date.start <= claim.words.starts[at] < date.end for date in claim.dates):
            continue  # a day of the week or a month: dates are compared as such
        if (stem in negated) != (other in theirs_negated):
            continue
        if other in claim.weights or any(w.stem == other for w in claim.words.lexemes):
            continue
        if other in CONVERSES.get(stem, ()) and _is_converse(claim, at, side, other):
            continue
        if (
            other in CONVERSES.get(stem, ())
            and _is_done_to(claim.words, at)
            and any(_is_done_to(side.words, place) for place in _places(side.words, other))
        ):
            continue  # what is lent is borrowed
        if _is_measure(claim.words, at) or _is_always_measure(side.words, other):
            continue
        recall = recall_without(claim, side.candidate, {stem})
        confidence = confidence_of(
            max(recall, (recall + _shared_neighbours(claim, at, side, other)) / 2), most_confidence
        )
        if code == "antonym.clash" and _may_be_of_other_sense(claim.words, at, side, other, index):
            their_time = any(_is_time(side.words, place) for place in _places(side.words, other))
            if stem in _TIMES and _is_time(claim.words, at) != their_time:
                continue  # "by day" is when, "night trains" are what
            confidence *= _OTHER_SLOT_FACTOR
        ours = (claim.words.starts[at], claim.words.ends[at])
        if confidence >= LEAST_CONFIDENCE and _is_aligned(claim, index, ours, side, other, stem):
            yield difference_finding(
                claim, index, side, code, ours, place_of(side.words, other), confidence, "the opposite"
            )


def _is_measure(words: Words, at: int) -> bool:
    """Whether a word says what a number or a fraction measures, so that it has no opposite.

    "Seventeen years old" is young, what is 2 m high is not the opposite of low, and half full is half empty.
    """
    before = [words.lexemes[i] for i in range(max(0, at - 2), at)]
    if not before:
        return False
    part = before[-1].fold in _PARTS_OF_WHOLE or before[-1].stem in _PARTS_OF_WHOLE
    return part or (before[-1].fold in _MEASURED and (len(before) == 1 or _is_number(before[0])))


def _is_number(lexeme: Lexeme) -> bool:
    return lexeme.fold[:1].isdigit() or lexeme.fold in NUMBER_WORDS


def _is_always_measure(words: Words, stem: str) -> bool:
    """Whether every word with a stem says what a number measures."""
    return all(_is_measure(words, at) for at in _places(words, stem))


def _places(words: Words, stem: str) -> list[int]:
    """The indices of the words with a stem."""
    return [at for at, word in enumerate(words.lexemes) if word.stem == stem]


def _may_be_of_other_sense(words: Words, at: int, side: Side, other: str, index: ExactIndex) -> bool:
    """Whether two words may be used in senses that are not opposite: they have no neighbouring word in common.

    Words that are opposite in one sense have others: "the right" to something and what one may "leave", "by day" and
    "night trains". Their neighbours decide. Participles have one sense, and values of a record have no neighbours.
    """
    if index.sentences[side.candidate.sentence].passage in index.records.passages:
        return False
    places = _places(side.words, other)
    if _is_participle(words.lexemes[at]) and any(_is_participle(side.words.lexemes[place]) for place in places):
        return False
    ours = _neighbours(words, at)
    return not any(
        mine is not None and mine == theirs
        for place in places
        for mine, theirs in zip(ours, _neighbours(side.words, place), strict=True)
    )


_BEING = frozenset({"is", "are", "was", "were", "be", "been", "being"})


def _is_done_to(words: Words, at: int) -> bool:
    """Whether a word is a passive participle: "is lent", "can be borrowed"."""
    return words.lexemes[at].fold in PARTICIPLE and any(
        words.lexemes[i].fold in _BEING for i in range(max(0, at - 2), at)
    )


_WHEN = frozenset({"by", "at", "in", "during"})
_TIMES = frozenset(stem_of(word) for word in ("day", "night", "morning", "evening", "summer", "winter"))


def _is_time(words: Words, at: int) -> bool:
    """Whether a word is part of an adverbial of time: "by day", "in the winter"."""
    before = [words.lexemes[i].fold for i in range(max(0, at - 2), at)]
    return bool(before) and (before[-1] in _WHEN or (before[-1] == "the" and before[0] in _WHEN))


def _is_participle(lexeme: Lexeme) -> bool:
    return lexeme.fold.endswith("ed")


def _neighbours(words: Words, at: int) -> tuple[str | None, str | None]:
    before = words.lexemes[at - 1].stem if at else None
    after = words.lexemes[at + 1].stem if at + 1 < len(words) else None
    return before, after


def _is_aligned(claim: Claim, index: ExactIndex, ours: tuple[int, int], side: Side, other: str, own: str) -> bool:
    """Whether a clause with the stem `other` is about the same as the claim's clause.

    It is not if it shares little with it, has another subject, or if a clause with the claim's own word, of stem
    `own`, fits the claim as well.
    """
    alignment = max(
        (align(claim, index, ours, side.candidate, at) for at in stem_ranges(index, side.candidate.sentence, other)),
        key=lambda one: one.share,
        default=None,
    )
    if (
        alignment is None
        or alignment.share < LEAST_ALIGNED
        or has_other_subject(claim, index, side.candidate, alignment)
    ):
        return False
    return not any(
        align(claim, index, ours, candidate, at).share >= alignment.share
        for candidate in claim.candidates
        if own in candidate.stems
        for at in stem_ranges(index, candidate.sentence, own)
    )


def _is_converse(claim: Claim, at: int, side: Side, other: str) -> bool:
    """Whether a sentence relates the same two things in reverse order, so that the opposite word means the same.

    "A is wider than B" and "B is narrower than A", "A bought it from B" and "B sold it to A".
    """
    before, after = _related(claim.words, at)
    for place in _places(side.words, other):
        first, second = _related(side.words, place)
        crossed, there = (before & second) - first - after, (after & first) - second - before
        stayed = (before & first) | (after & second)
        if crossed and there and len(crossed) + len(there) >= len(stayed):
            return True
    return False


def _related(words: Words, at: int) -> tuple[set[str], set[str]]:
    """The content stems before and after a relating word.

    "Compared with B, A is wider" counts as "A is wider than B": the words up to the comma are moved behind it.
    """
    lexemes = words.lexemes
    before, after = lexemes[:at], lexemes[at + 1 :]
    lead = next(
        (i for i in range(at - 1) if lexemes[i].fold == "compared" and lexemes[i + 1].fold in _COMPARED_TO), None
    )
    if lead is not None:
        comma = next((i for i in range(lead + 2, at) if words.starts[i] - words.ends[i - 1] > 1), None)
        if comma is not None:
            before, after = lexemes[comma:at], (*lexemes[lead + 2 : comma], *after)
    return {w.stem for w in before if w.weight}, {w.stem for w in after if w.weight}


def _has_same_dates(claim: Claim, index: ExactIndex, side: Side) -> bool:
    """Whether a sentence states every date of the claim, so that opening and closing are on the same date.

    False for times of day, which may be the end of one thing and the beginning of another, and for dates with a bound.
    """
    if any(date.minute is not None or date.bound != "exact" for date in claim.dates):
        return False
    theirs = index.dates.get(side.candidate.sentence, ())[:_MOST_DATES]
    return all(any(relate_dates(d, other) is DateRelation.SAME for other in theirs) for d in claim.dates[:_MOST_DATES])


def _shared_neighbours(claim: Claim, at: int, side: Side, other: str) -> float:
    """The share of the content words within two of a claim's word that are within three of the evidence's word."""
    ours = _near_stems(claim.words, at, 2)
    place = next((i for i, w in enumerate(side.words.lexemes) if w.stem == other), None)
    if place is None or not ours:
        return 0.0
    return len(ours & _near_stems(side.words, place, 3)) / len(ours)


def _near_stems(words: Words, at: int, reach: int) -> set[str]:
    near = [*words.lexemes[max(0, at - reach) : at], *words.lexemes[at + 1 : at + 1 + reach]]
    return {w.stem for w in near if w.weight}


def _find_opposite(stem: str, side: Side) -> tuple[str, str, float] | None:
    """The opposite of `stem` in the sentence, the finding's code and the highest confidence; none without one."""
    stems = side.candidate.stems
    for table, code, most_confidence in (
        (DIRECTIONS, "comparative.reversed", _DIRECTION),
        (OPPOSITES, "antonym.clash", _ANTONYM),
    ):
        others = table.get(stem)
        if others and not others.isdisjoint(stems):
            return min(others & stems), code, most_confidence
    return None
