"""The words around a mention: its clause, its neighbours, and its complement ("of leave").

The surroundings of a mention of the evidence are the same for every claim, so the index caches them.
"""

from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter

from assay.text.lexicon import Words, word_set

_CLAUSE_MARKS = frozenset(",;:()\n—–")
_CLAUSE_WORDS = word_set("and but while whereas although though or")
_LONGEST_CLAUSE = 24
"""The most words of a clause on either side of a mention."""

_REACH = 3
"""The number of neighbours on either side of a mention."""

_PADDING = ("",) * _REACH
_STEM = itemgetter(1)
"""A getter of the stem of a lexeme, which is faster than attribute access."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The words around a mention."""

    clause: frozenset[str]
    """The stems of its clause, including its own."""
    neighbours: tuple[str, ...]
    """The stems of the three words on either side; an empty string where there is no word."""
    beside: frozenset[str]
    """The neighbours as a set, without the empty string."""
    complement: frozenset[str]
    """The content stems after an "of" right after it: "of leave"."""


def surroundings(text: str, words: Words, start: int, end: int, first: int, last: int) -> Surroundings:
    """The surroundings of the range from start to end, with its clause within the words from first to last."""
    low, high = clause(text, words, start, end, first, last)
    around = neighbours(words, start, end)
    return Surroundings(
        frozenset(map(_STEM, words.lexemes[low:high])), around, frozenset(around) - {""}, complement(words, end)
    )


def clause(text: str, words: Words, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """The word indices of the clause around the range from start to end, within the words from first to last."""
    starts, ends, lexemes = words.starts, words.ends, words.lexemes
    low = bisect_left(starts, start)
    high = max(bisect_left(starts, end), low)
    if first < low < len(starts) and ":" in text[ends[low - 1] : starts[low]]:
        low -= 1
    first, last = max(first, low - _LONGEST_CLAUSE), min(last, high + _LONGEST_CLAUSE)
    while low > first:
        gap = text[ends[low - 1] : starts[low]] if low < len(starts) else " "
        if lexemes[low - 1][0] in _CLAUSE_WORDS or (gap != " " and not _CLAUSE_MARKS.isdisjoint(gap)):
            break
        low -= 1
    while high < last:
        gap = text[ends[high - 1] : starts[high]] if high else ""
        if lexemes[high][0] in _CLAUSE_WORDS or (gap != " " and not _CLAUSE_MARKS.isdisjoint(gap)):
            break
        high += 1
    return low, high


def neighbours(words: Words, start: int, end: int) -> tuple[str, ...]:
    """The stems of the three words before the range from start to end, and of the three after it."""
    low, high = bisect_left(words.starts, start), bisect_left(words.starts, end)
    before = tuple(map(_STEM, words.lexemes[max(0, low - _REACH) : low]))
    after = tuple(map(_STEM, words.lexemes[high : high + _REACH]))
    if len(before) + len(after) == 2 * _REACH:
        return before + after
    return _PADDING[len(before) :] + before + after + _PADDING[len(after) :]


def complement(words: Words, end: int) -> frozenset[str]:
    """The content stems of a complement such as "of leave" right after a mention."""
    index = bisect_left(words.starts, end)
    if index >= len(words) or words.lexemes[index].fold != "of":
        return frozenset()
    return frozenset([w.stem for w in words.lexemes[index + 1 : index + 4] if w.weight])
