"""Splits a claim into the sentences that are checked against records."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assay.text.dates import DateMention
from assay.text.lexicon import Lexeme
from assay.text.quantities import Quantity
from assay.verify.exact.compare_records.vocabulary import FRAME, NEGATIONS
from assay.verify.exact.parsed_claim import Claim

_LONGEST_ABBREVIATION: Final = 2
"""The most letters of a word whose full stop may be that of an abbreviation: "St. Olav"."""


_LONGEST_LEAD: Final = 2
"""The most words of an introduction that states nothing."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a claim."""

    text: str
    """The text of the whole claim."""
    starts: Sequence[int]
    ends: Sequence[int]
    lexemes: Sequence[Lexeme]
    quantities: tuple[tuple[int, int, Quantity], ...]
    """Each with the range of its words, from the first to before the last; likewise `dates`."""
    dates: tuple[tuple[int, int, DateMention], ...]

    def __len__(self) -> int:
        return len(self.starts)


def statements_of(claim: Claim, texts: Sequence[str]) -> Iterator[Statement]:
    """The sentences of a claim, without those that only introduce others.

    Args:
        claim: with its sentences.
        texts: the texts of the records; a mark between two words that occurs so in one of them belongs to a value
            ("1999; 2010 - present") and ends no sentence.
    """
    words = claim.words
    starts = words.starts
    cuts = [0]
    for at in range(1, len(words)):
        gap = claim.text[words.ends[at - 1] : starts[at]]
        if "\n" in gap:
            cuts.append(at)
        elif gap[:1] in tuple("!?;.") and gap[1:2].isspace() and not (gap[0] == "." and _is_abbreviation(claim, at)):
            around = claim.text[starts[at - 1] : words.ends[at]]
            if not any(around in text for text in texts):
                cuts.append(at)
    cuts.append(len(words))
    quantities = [(*_word_range(starts, q.start, q.end), q) for q in claim.quantities]
    dates = [(*_word_range(starts, d.start, d.end), d) for d in claim.dates]
    for first, last in pairwise(cuts):
        if last < len(words) and _says_nothing(words.lexemes[first:last]):
            continue
        yield Statement(
            claim.text,
            starts[first:last],
            words.ends[first:last],
            words.lexemes[first:last],
            tuple((a - first, b - first, q) for a, b, q in quantities if first <= a < b <= last),
            tuple((a - first, b - first, d) for a, b, d in dates if first <= a < b <= last),
        )


def _is_abbreviation(claim: Claim, at: int) -> bool:
    """Whether a full stop before the word at `at` ends no sentence: that of an abbreviation, or one within a date."""
    before, following, start = claim.words.lexemes[at - 1], claim.words.lexemes[at], claim.words.starts[at]
    if any(date.start < start < date.end for date in claim.dates):
        return True
    short = len(before.fold) <= _LONGEST_ABBREVIATION and not before.digit
    return short or not (following.capital or following.digit)


def _says_nothing(words: Sequence[Lexeme]) -> bool:
    """Whether words only introduce a sentence: "Sure!", "Yes.", the number of a list item."""
    if len(words) > _LONGEST_LEAD or (len(words) > 1 and any(word.digit for word in words)):
        return False
    return all(word.digit or ((not word.weight or word.stem in FRAME) and word.fold not in NEGATIONS) for word in words)


def _word_range(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The range of words, from the first to before the last, between two characters."""
    return bisect_left(starts, start), bisect_left(starts, end)
