"""Finds the clause of a sentence around a place."""

import re
from typing import Final

_WINDOW: Final = 400
"""Characters on each side of a place that are searched, so that many places in one long clause stay linear."""


def clause_around(sentence: str, start: int, end: int, breaks: re.Pattern[str]) -> str:
    """The text between two clause breaks around a place, at most 400 characters on each side.

    Args:
        sentence: the sentence.
        start: where the place begins.
        end: where it ends.
        breaks: what separates clauses, such as full stops and semicolons.

    >>> clause_around("It rose; it fell by 5 %; it rose.", 20, 23, re.compile(r"[.;]"))
    ' it fell by 5 %'
    """
    first, last = max(0, start - _WINDOW), min(len(sentence), end + _WINDOW)
    begun = max((match.end() for match in breaks.finditer(sentence, first, start)), default=first)
    stop = breaks.search(sentence, end, last)
    return sentence[begun : stop.start() if stop is not None else last]
