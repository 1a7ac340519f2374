"""A claim taken apart into the sentences that are held against records."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from assay.text.dates import DateMention
from assay.text.lexemes import Lexeme
from assay.text.quantities import Quantity
from assay.verify.exact.claim import Claim

_LONGEST_ABBREVIATION: Final = 2
"""Letters of a word before a full stop that may end no sentence: "St. Olav"."""


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


def statements_of(claim: Claim) -> Iterator[Statement]:
    """The sentences of a claim."""
    words = claim.words
    starts = words.starts
    cuts = [0]
    for at in range(1, len(words)):
        gap = claim.text[words.ends[at - 1] : starts[at]]
        ended = gap.strip() and (gap[0] in "!?;" or (gap[0] == "." and len(gap) > 1))
        if ("\n" in gap or ended) and (gap[0] != "." or not _abbreviated(words.lexemes[at - 1], claim, at)):
            cuts.append(at)
    cuts.append(len(words))
    quantities = [(*_range(starts, q.start, q.end), q) for q in claim.quantities]
    dates = [(*_range(starts, d.start, d.end), d) for d in claim.dates]
    for first, last in pairwise(cuts):
        if first == last:
            continue
        yield Statement(
            claim.text, starts[first:last], words.ends[first:last], words.lexemes[first:last],
            tuple((a - first, b - first, q) for a, b, q in quantities if first <= a < b <= last),
            tuple((a - first, b - first, d) for a, b, d in dates if first <= a < b <= last),
        )  # fmt: skip


def _abbreviated(word: Lexeme, claim: Claim, at: int) -> bool:
    """Whether a full stop between a word and the one at `at` ends no sentence."""
    following = claim.words.lexemes[at]
    return len(word.fold) <= _LONGEST_ABBREVIATION or not (following.capital or following.digit)


def _range(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The words, from the first to before the last, that stand between two characters."""
    return bisect_left(starts, start), bisect_left(starts, end)
