"""Interprets the text of a cell: a number, yes, no, nothing, or a text with the items that it lists."""

import re
from dataclasses import replace
from decimal import Decimal
from typing import Final

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, decode_number, find_quantities
from assay.verify.exact.records.field_names import BRACKETS
from assay.verify.exact.records.model import Kind

_LONGEST_NUMBER: Final = 40
"""Characters; room for any sum of money with its sign and spaces."""

_LONGEST_SIGN: Final = 5
"""Characters before the first figure: "US$ 9"."""
_PER_ONE: Final = re.compile(r"\s?(?:/\s?|per\s|an?\s|each\s|every\s)([^\W\d_]+)", re.IGNORECASE)
"""What the amount of a cell is for: "/mo", "per night". Such cells compare with each other."""
_WITHOUT_UNIT: Final = frozenset({"count", "ordinal", "factor"})

_NUMBER: Final = re.compile(r"([-−–+]?)\s?(?:[$€£¥]\s?)?(\d[\d.,  ]*\d|\d)\s?%?")
_ITEM_END: Final = re.compile(r"[,;/\n]|\s(?:and|&)\s")

_YES, _NO, _NONE = word_set("yes true"), word_set("no false"), frozenset({"none", "null", "n/a", "-", "–", "—", ""})


def whole_number(text: str, locale: str) -> Decimal | None:
    """The number that is the whole text of a cell, with its sign; none for anything else.

    >>> whole_number("- 41", "en"), whole_number("$1,200.50", "en"), whole_number("9 May", "en")
    (Decimal('-41'), Decimal('1200.50'), None)
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST_NUMBER:
        return None
    match = _NUMBER.fullmatch(stripped) if stripped[:1] in "-−–+$€£¥0123456789" else None
    if match is None:
        return None
    decoded = decode_number(match[2].replace(" , ", ",").strip(), locale)
    if decoded is None:
        return None
    return -decoded[0] if match[1] in ("-", "−", "–") else decoded[0]


def cell_kind(text: str, locale: str) -> tuple[Kind, Decimal | None]:
    """The kind of value of a text, and the number if it is one.

    >>> cell_kind("Yes", "en"), cell_kind("n/a", "en"), cell_kind("12", "en")
    (('yes', None), ('none', None), ('number', Decimal('12')))
    """
    folded = text.strip().lower()
    if folded in _YES:
        return "yes", None
    if folded in _NO:
        return "no", None
    if folded in _NONE:
        return "none", None
    number = whole_number(text, locale)
    return ("text" if number is None else "number"), number


def whole_measure(text: str, locale: str) -> Quantity | None:
    """The one exact quantity with a unit that is the whole text of a cell; none for anything else.

    >>> whole_measure("12 km", "en").unit, whole_measure("12 km in the rain", "en"), whole_measure("12", "en")
    ('km', None, None)
    """
    stripped = text.strip()
    if len(stripped) > _LONGEST_NUMBER or not any(c.isdigit() for c in stripped[:_LONGEST_SIGN]):
        return None
    found = find_quantities(stripped, locale=locale)
    if len(found) != 1 or found[0].start or found[0].dimension in _WITHOUT_UNIT:
        return None
    whole = found[0]
    if not whole.exact or whole.bound != "exact":
        return None
    per = _PER_ONE.fullmatch(stripped, whole.end)
    if per is not None:
        return replace(whole, end=len(stripped), dimension=f"{whole.dimension}/{per[1].lower()}")
    return whole if whole.end == len(stripped) else None


def list_items(text: str, words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The folded words of each item that a text lists, without items of figures alone; empty where it is not a list.

    >>> list_items("red, green and blue", ("red", "green", "and", "blue"))
    (('red',), ('green',), ('blue',))
    """
    listed = [
        tuple(word.fold for word in find_words(part).lexemes) for part in _ITEM_END.split(BRACKETS.sub(" ", text))
    ]
    with_words = [part for part in listed if any(not word[0].isdigit() for word in part)]
    return tuple(part for part in with_words if part != words)
