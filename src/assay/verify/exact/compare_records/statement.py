"""A claim taken apart into the sentences that are checked against records."""

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
"""Letters of a word before a full stop that may end no sentence: "St. Olav"."""


_LONGEST_LEAD: Final = 2
"""Words of what may stand before a sentence and say nothing."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a claim."""

    text: str
    """Of the whole claim."""
    starts: Sequence[int]
    ends: Sequence[int]
    lexemes: Sequence[Lexeme]
    quantities: tuple[tuple[int, int, Quantity], ...]
    """With their words, from the first to before the last; likewise the next."""
    dates: tuple[tuple[int, int, DateMention], ...]

    def __len__(self) -> int:
        return len(self.starts)


def statements_of(claim: Claim, texts: Sequence[str]) -> Iterator[Statement]:
    """The sentences of a claim that say anything.

    Args:
        claim: with its sentences.
        texts: of the records; marks between two words that stand so in one of them end no sentence but are a value's
            own ("1999; 2010 - present").
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
    """Whether words before a sentence only lead to it: "Sure!", "Yes.", the number of an item of a list."""
    if len(words) > _LONGEST_LEAD or (len(words) > 1 and any(word.digit for word in words)):
        return False
    return all(word.digit or ((not word.weight or word.stem in FRAME) and word.fold not in NEGATIONS) for word in words)


def _word_range(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The words, from the first to before the last, that stand between two characters."""
    return bisect_left(starts, start), bisect_left(starts, end)
