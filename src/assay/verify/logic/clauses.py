"""Which clause of a sentence a place is in."""

import re
from typing import Final

_WINDOW: Final = 400
"""Characters to each side of a place that are looked at, so that a text of one clause costs no square of its length."""


def clause_around(sentence: str, start: int, end: int, breaks: re.Pattern[str]) -> str:
    """The stretch between two breaks that holds a place, cut off at 400 characters to each side.

    Args:
        sentence: the sentence.
        start: where the place begins.
        end: where it ends.
        breaks: what parts clauses, such as full stops and semicolons.

    >>> clause_around("It rose; it fell by 5 %; it rose.", 20, 23, re.compile(r"[.;]"))
    ' it fell by 5 %'
    """
    first, last = max(0, start - _WINDOW), min(len(sentence), end + _WINDOW)
    begun = max((match.end() for match in breaks.finditer(sentence, first, start)), default=first)
    stop = breaks.search(sentence, end, last)
    return sentence[begun : stop.start() if stop is not None else last]
