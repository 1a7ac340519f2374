"""What follows a number: the nouns that it counts and, in languages other than English, its currency or a speed."""

import re
from bisect import bisect_left
from decimal import Decimal

from assay.text.lexicon.lexemes import Words, word_set
from assay.text.quantities.draft import Draft
from assay.text.quantities.units import CURRENCY_WORDS, OTHER_UNIT_WORDS, Unit

_NOUN_BREAK = word_set(
    """of in on at to for from with by and or per as than that which who is are was were be been the a an between
    through until into after before since while when if but not can will may must has have had do does did more
    less fewer"""
)
_MAX_NOUNS = 3
_MAX_WORDS = 12
"""Words after a number in which its nouns are looked for: words without weight are passed over, however many follow."""
_SPEED = re.compile(
    r"\s(?:(?:pro|par|por|per|in\sder)\s|all['’]|à\sl['’])(stunde|heure|hora|ora|sekunde|seconde|segundo|secondo)\b",
    re.IGNORECASE,
)
_CURRENCY_AFTER = re.compile(r"\s(?:di\s|de\s|d['’])([^\W\d_]+)", re.IGNORECASE)


def nouns_after(text: str, words: Words, end: int) -> tuple[str, ...]:
    """The stems of the words right after a number, at most three: what it counts."""
    at = bisect_left(words.starts, end)
    nouns: list[str] = []
    previous = end
    last = min(len(words), at + _MAX_WORDS)
    while at < last and len(nouns) < _MAX_NOUNS:
        gap = text[previous : words.starts[at]]
        lexeme = words.lexemes[at]
        if len(gap) > 1 or gap not in {" ", "-", ""} or lexeme.fold in _NOUN_BREAK or lexeme.fold[:1].isdigit():
            break
        if lexeme.weight:
            nouns.append(lexeme.stem)
        previous = words.ends[at]
        at += 1
    return tuple(nouns)


def read_currency(text: str, draft: Draft) -> None:
    """Gives a number without a unit the currency after it, as in "2 milioni di euro" and "2 millions d'euros"."""
    match = _CURRENCY_AFTER.match(text, draft.end)
    name = CURRENCY_WORDS.get(match.group(1).lower()) if match else None
    if match and name and draft.unit.dimension == "count":
        draft.unit, draft.end = Unit(f"money:{name}", Decimal(1), name), match.end()


def read_speed(text: str, draft: Draft) -> bool:
    """Makes a length that is followed by "par heure" or the like a speed; returns whether it was one."""
    match = _SPEED.match(text, draft.end) if draft.unit.dimension == "length" else None
    if match is None:
        return False
    time, length = OTHER_UNIT_WORDS.get(match.group(1).lower(), OTHER_UNIT_WORDS["stunde"]), draft.unit
    draft.unit = Unit("length/time", length.size / time.size, f"{length.name}/{time.name}")
    draft.end = match.end()
    return True
