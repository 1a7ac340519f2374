"""The unit, currency or scale right after a number, and the unit that an amount is per: "kg", "/month"."""

import re
from decimal import Decimal
from typing import NamedTuple

from assay.text.lexicon.lexemes import word_set
from assay.text.quantities.after_numbers import read_speed
from assay.text.quantities.draft import Draft
from assay.text.quantities.number_words import SCALES
from assay.text.quantities.units import (
    CURRENCY_CODES,
    CURRENCY_SYMBOLS,
    CURRENCY_WORDS,
    ENGLISH_HOMOGRAPHS,
    MINOR_CURRENCY_WORDS,
    OTHER_SCALES,
    OTHER_UNIT_WORDS,
    TWO_WORD_HEADS,
    UNIT_SYMBOLS,
    UNIT_WORDS,
    Unit,
    unit_stands_alone,
)
from assay.text.sentences.languages import looks_foreign

NEXT_WORD = re.compile(
    r"[\s\u00a0\u202f-]?(?:((?:km|cm|mm|m|ft)[23]\b|[^\W\d_]+[²³]?|%|％|٪|‰|°\s?[CF]\b|°|℃|℉)|([$€£¥₹₩₽₺]))"
)
"""The word or the sign of a unit after a number, and the sign of a currency."""

_PER = re.compile(r"\s?(/|\bper\s|\ban?\s|\bevery\s|\beach\s)\s?((?:km|cm|mm|m|ft)[23]\b|[^\W\d_]+)")
_NOT_PER = re.compile(r"\s(?:ago|earlier|before|later|prior|previous|previously|after|and a half)\b")
"""After "$3 million a year", words with which the year is a point in time rather than what the amount is for."""

_PER_ONLY = {"mo": UNIT_WORDS["month"]}
"""Abbreviations that are units only behind "/" and "per"."""

_PER_DIMENSIONS = frozenset({"time", "length", "mass", "volume", "area"})
_UNIT_ADJECTIVES = word_set(
    """business working calendar unused full whole additional extra consecutive further more paid unpaid straight
    school trading banking nautical"""
)
"""Words that may stand between a number and a unit of time: "5 business days"."""

_LONE_LETTERS = "msghldBKAJWVLxX"
_SCALE = Unit("scale", Decimal(1), "")


class UnitAfter(NamedTuple):
    """What a number is followed by."""

    unit: Unit
    """Its dimension is `scale` for a word such as "million"."""
    word: str
    """Its last word as written; empty for the sign of a currency."""
    end: int
    spelled: bool
    """Whether it is written as a word, which other words may be spelled like, rather than as a symbol or a code."""


def currency(name: str, size: Decimal = Decimal(1)) -> Unit:
    """A currency as a unit; `size` is a hundredth for its minor unit."""
    return Unit(f"money:{name}", size, name)


def find_unit(text: str, word: str, end: int, *, glued: bool) -> tuple[Unit, int] | None:
    """The unit or currency that a word right after a number names, and the index after it.

    Args:
        text: the text.
        word: the word.
        end: the index after the word; a unit may go on with the next one, as in "square metres".
        glued: whether the word follows the number without a space.

    >>> find_unit("5 business days", "business", 10, glued=False)[0].name
    'd'
    """
    lowered = word.lower()
    unit: Unit | None = None
    if lowered in TWO_WORD_HEADS or lowered in {"us", "pounds", "swiss", "canadian", "australian"}:
        second = NEXT_WORD.match(text, end)
        if second and second.group(1):
            pair = f"{lowered} {second.group(1).lower()}"
            unit = UNIT_WORDS.get(pair) or (currency(CURRENCY_WORDS[pair]) if pair in CURRENCY_WORDS else None)
            if unit is not None:
                return unit, second.end()
    if lowered in _UNIT_ADJECTIVES:
        second = NEXT_WORD.match(text, end)
        timed = UNIT_WORDS.get(second.group(1).lower()) if second and second.group(1) else None
        if second and timed is not None and timed.dimension == "time":
            return timed, second.end()
    unit = UNIT_SYMBOLS.get(word.replace(" ", "")) or UNIT_WORDS.get(lowered)
    elided = len(word) == 1 and text[end : end + 1] in {"'", "’"}
    if elided or (lowered in ENGLISH_HOMOGRAPHS and not looks_foreign(text)):
        unit = None  # "3 metro lines", "2 d'entre eux"
    if len(word) == 1 and word in _LONE_LETTERS and not glued and not unit_stands_alone(text, end):
        unit = None
    if unit is None and (word in CURRENCY_CODES or lowered in CURRENCY_WORDS):
        unit = currency(CURRENCY_WORDS.get(lowered, word))
    if unit is None and lowered in MINOR_CURRENCY_WORDS:
        unit = currency(MINOR_CURRENCY_WORDS[lowered], Decimal("0.01"))
    return None if unit is None else (unit, end)


def unit_after(text: str, end: int) -> UnitAfter | None:
    """What shows that the number before `end` is an amount: a unit, a currency or a scale on the same line.

    A currency that a number follows belongs to that number, as in "In 2019 EUR 5 million was paid".

    >>> unit_after("Weight: 1500 kg", 12).unit.name, unit_after("in 2019 USD 3 million", 7)
    ('kg', None)
    """
    match = NEXT_WORD.match(text, end)
    if match is None or text[end] == "\n":
        return None
    word, sign = match.groups()
    before_number = text[match.end() : match.end() + 2].lstrip(" \u00a0")[:1].isdigit()
    if sign:
        return None if before_number else UnitAfter(currency(CURRENCY_SYMBOLS[sign]), "", match.end(), False)
    if len(word) > 1 and (word.lower() in SCALES or word.lower() in OTHER_SCALES):
        return UnitAfter(_SCALE, word, match.end(), True)
    found = find_unit(text, word, match.end(), glued=match.start(1) == end)
    if found is None or (before_number and (word in CURRENCY_CODES or word in {"x", "X"})):
        return None
    if found[0].name.startswith("µ") and word.startswith("u") and match.start(1) > end:
        return None  # "2027 um 10 % teurer", "the 2020 us exports"
    if found[1] != match.end():
        return UnitAfter(found[0], text[match.end() : found[1]].strip(), found[1], True)
    symbol = word.replace(" ", "") in UNIT_SYMBOLS or word in CURRENCY_CODES
    return UnitAfter(found[0], word, found[1], not symbol)


def read_per(text: str, draft: Draft) -> None:
    """Makes an amount with a unit one per another unit where the words after it say so: "5 km per hour"."""
    if read_speed(text, draft):
        return
    found = find_per(text, draft.end)
    if found is None or "/" in draft.unit.dimension or draft.unit.dimension in {"share", "points", "factor"}:
        return
    top, (below, draft.end) = draft.unit, found
    draft.unit = Unit(f"{top.dimension}/{below.dimension}", top.size / below.size, f"{top.name}/{below.name}")


def find_per(text: str, end: int) -> tuple[Unit, int] | None:
    """The unit that an amount is per, and the index after it.

    >>> find_per("$29/mo", 3)[0].name, find_per("$3 million a year ago", 10)
    ('mo', None)
    """
    match = _PER.match(text, end)
    if match is None or match[2].lower() in OTHER_UNIT_WORDS:
        return None
    below = UNIT_SYMBOLS.get(match[2]) or UNIT_WORDS.get(match[2].lower())
    if match[1].startswith(("/", "per")):
        below = below or _PER_ONLY.get(match[2])
    elif _NOT_PER.match(text, match.end()) or (text[end - 1 : end].isdigit() and _is_ordinal(text, match)):
        return None
    return (below, match.end()) if below is not None and below.dimension in _PER_DIMENSIONS else None


def _is_ordinal(text: str, match: re.Match[str]) -> bool:
    """Whether "a second" is followed by what it counts: "paid $5 a second time"."""
    return match[2].lower() == "second" and text[match.end() : match.end() + 2].strip(" ")[:1].isalpha()
