"""The words around a mention: its clause, its neighbours, and what it is a quantity of.

What stands around a mention of the evidence is the same for every claim, so the index keeps it once it is worked out.
"""

from bisect import bisect_left
from dataclasses import dataclass
from operator import itemgetter

from assay.text.lexicon import Words, word_set

_CLAUSE_MARKS = frozenset(",;:()\n—–")
_CLAUSE_WORDS = word_set("and but while whereas although though or")
_LONGEST_CLAUSE = 24
"""A clause reaches at most this many words to either side of a mention."""

_REACH = 3
"""Words on either side of a mention that are its neighbours."""

_PADDING = ("",) * _REACH
_STEM = itemgetter(1)
"""The stem of a lexeme; in C, where an attribute of every word would be looked up in Python."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around a mention."""

    clause: frozenset[str]
    """The stems of its clause, its own among them."""
    neighbours: tuple[str, ...]
    """The stems of the three words on either side, empty where the text has none."""
    beside: frozenset[str]
    """The same as a set, without the empty ones."""
    complement: frozenset[str]
    """The stems of "of leave" right after it."""


def surroundings(text: str, words: Words, start: int, end: int, first: int, last: int) -> Surroundings:
    """What stands around the characters from start to end, its clause within the words from first to last."""
    low, high = clause(text, words, start, end, first, last)
    near = neighbours(words, start, end)
    return Surroundings(
        frozenset(map(_STEM, words.lexemes[low:high])), near, frozenset(near) - {""}, complement(words, end)
    )


def clause(text: str, words: Words, start: int, end: int, first: int, last: int) -> tuple[int, int]:
    """The words of the clause around the characters from start to end, within the words from first to last."""
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
    """The stems of the three words before the characters from start to end and of the three after them."""
    low, high = bisect_left(words.starts, start), bisect_left(words.starts, end)
    before = tuple(map(_STEM, words.lexemes[max(0, low - _REACH) : low]))
    after = tuple(map(_STEM, words.lexemes[high : high + _REACH]))
    if len(before) + len(after) == 2 * _REACH:
        return before + after
    return _PADDING[len(before) :] + before + after + _PADDING[len(after) :]


def complement(words: Words, end: int) -> frozenset[str]:
    """The stems of "of leave" right after a mention."""
    at = bisect_left(words.starts, end)
    if at >= len(words) or words.lexemes[at].fold != "of":
        return frozenset()
    return frozenset([w.stem for w in words.lexemes[at + 1 : at + 4] if w.weight])
