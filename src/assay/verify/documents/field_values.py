"""Compares two field values regardless of their notation.

`1250`, `"1,250.00"` and `"EUR 1,250.00"` are the same sum, `"2025-03-01"` and `"1 March 2025"` the same day; `true`
equals `"yes"`, `null` equals `"none"`, and `PRO_ANNUAL` equals `"pro annual"`. Values in notations that cannot be
compared (a code and a word for it, two descriptions) are neither the same nor different.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, find_quantities

_YES, _NO = word_set("yes true"), word_set("no false")
_NOTHING_WORDS: Final = word_set("none null nil nothing nobody n/a unassigned empty") | {"", "-", "–", "—"}
LONGEST_READ: Final = 60
"""Characters of the longest text that is read as a number, a date or a word; a longer one is a description."""
_MOST_COMPARED_WORDS: Final = 5
"""The most words of texts that can be judged different; longer ones may mean the same in other words."""
_CODE: Final = re.compile(r"0\d+")
_BARE_YEAR: Final = re.compile(r"\d{4}")
_DATE_CONNECTIVE: Final = re.compile(r"[\s,;.]|\b(?:at|on|and|utc)\b|T|Z|[–-]", re.IGNORECASE)
_KEY_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+(?:[.,:]\d+)*|[^\W_]+")
_UNITLESS: Final = frozenset({"count", "ordinal"})


@dataclass(frozen=True, slots=True)
class _Value:
    """A text interpreted as a value."""

    truth: bool | None = None
    is_nothing: bool = False
    """Whether it means that there is no value: null, "none", "n/a"."""
    dates: tuple[DateMention, ...] = ()
    amount: Quantity | None = None
    words: tuple[str, ...] = ()
    code: bool = False
    """Whether it is a code of digits rather than a number ("007"), or too long to interpret."""


def same_value(first: Any, second: Any) -> bool | None:
    """Whether two values of JSON, or of table cells, are the same; none where they cannot be compared.

    >>> same_value("EUR 1,250.00", 1250), same_value("2 May 2025", "2025-05-02"), same_value("yes", True)
    (True, True, True)
    >>> same_value(2, ["photo", "receipt"]), same_value("none", None), same_value("14:35", "2:45 pm")
    (True, True, False)
    >>> same_value("007", "7"), same_value("enabled", True)
    (False, None)
    """
    if isinstance(first, list) or isinstance(second, list):
        return _same_list(first, second)
    first_read, second_read = _interpret(first), _interpret(second)
    if first_read.is_nothing or second_read.is_nothing:
        return first_read.is_nothing and second_read.is_nothing
    if first_read.truth is not None or second_read.truth is not None:
        return (
            first_read.truth is second_read.truth
            if first_read.truth is not None and second_read.truth is not None
            else None
        )
    if isinstance(first, str) and isinstance(second, str) and first.strip().casefold() == second.strip().casefold():
        return True
    if first_read.dates and second_read.dates:
        return _same_dates(first_read.dates, second_read.dates)
    if first_read.amount is not None and second_read.amount is not None:
        return _same_amount(first_read.amount, second_read.amount)
    if first_read.words and first_read.words == second_read.words and first_read.amount is second_read.amount:
        return True
    if first_read.code or second_read.code:
        return (
            False
            if first_read.code == second_read.code or first_read.amount is not None or second_read.amount is not None
            else None
        )
    if (
        first_read.amount is not None
        or second_read.amount is not None
        or bool(first_read.dates) != bool(second_read.dates)
    ):
        return None
    return _same_words(first_read.words, second_read.words)


def _same_list(first: Any, second: Any) -> bool | None:
    """Compare a list with a list, with its number of items, with "none", or with its items in a text."""
    if isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            return False
        same = [same_value(one, other) for one, other in zip(first, second, strict=True)]
        return None if None in same else all(same)
    listed, other = (first, second) if isinstance(first, list) else (second, first)
    other_read = _interpret(other)
    if other_read.is_nothing or other_read.truth is not None:
        return not listed if other_read.is_nothing else None
    if other_read.amount is not None and other_read.amount.dimension in _UNITLESS and not isinstance(other, bool):
        return other_read.amount.low == len(listed)
    if len(listed) > 1 and isinstance(other, str):
        parts = [part for part in re.split(r",\s*|\s+and\s+", other) if part]
        return True if len(parts) == len(listed) and _same_list(parts, listed) else None
    return same_value(listed[0], other) if len(listed) == 1 else None


def _interpret(value: Any) -> _Value:
    if isinstance(value, bool):
        return _Value(truth=value)
    if value is None:
        return _Value(is_nothing=True)
    return _interpret_text(str(value))


@lru_cache(maxsize=4096)
def _interpret_text(text: str) -> _Value:
    stripped = " ".join(text.split())
    folded = stripped.casefold().strip(".")
    if folded in _YES or folded in _NO:
        return _Value(truth=folded in _YES)
    if folded in _NOTHING_WORDS:
        return _Value(is_nothing=True)
    words = tuple(part.casefold() for part in _KEY_PART.findall(stripped))
    if len(stripped) > LONGEST_READ or _CODE.fullmatch(stripped):
        return _Value(words=words or (stripped.casefold(),), code=len(stripped) <= LONGEST_READ)
    amount = _whole_quantity(stripped)
    dates = () if amount is not None and _BARE_YEAR.fullmatch(stripped) else tuple(find_dates(stripped))
    if dates and _rest_without_dates(stripped, dates):
        dates = ()
    return _Value(dates=dates, amount=None if dates else amount, words=words or (stripped.casefold(),))


def _rest_without_dates(text: str, dates: Sequence[DateMention]) -> str:
    """The rest of a text without its dates and the words that connect them."""
    position, pieces = 0, []
    for date in dates:
        pieces.append(text[position : date.start])
        position = date.end
    return _DATE_CONNECTIVE.sub("", "".join([*pieces, text[position:]]))


def _whole_quantity(text: str) -> Quantity | None:
    """The quantity that a whole text is; none with any other sign or word."""
    quantities = find_quantities(text)
    if len(quantities) != 1 or not quantities[0].exact or quantities[0].bound not in {"exact", "about"}:
        return None
    quantity = quantities[0]
    rest = text[: quantity.start] + text[quantity.end :]
    return quantity if not rest.strip(" .~") else None


def _same_dates(first: Sequence[DateMention], second: Sequence[DateMention]) -> bool | None:
    """Whether all dates and times of one value match those of the other; one without a counterpart does not count."""
    same = []
    for date in first:
        related = [relate_dates(date, other) for other in second]
        compared = [date for date in related if date is not DateRelation.INCOMPARABLE]
        if compared:
            same.append(any(date in (DateRelation.SAME, DateRelation.COMPATIBLE) for date in compared))
    return all(same) if same else None


def _same_amount(first: Quantity, second: Quantity) -> bool | None:
    if first.dimension == second.dimension:
        return first.low == second.low
    if first.dimension in _UNITLESS or second.dimension in _UNITLESS:  # a number without a unit has that of the other
        return first.value == second.value or first.low == second.low
    return False if first.dimension.split(":")[0] == second.dimension.split(":")[0] else None


def _same_words(first: tuple[str, ...], second: tuple[str, ...]) -> bool | None:
    if "".join(first) == "".join(second):
        return True
    if not first or not second or max(len(first), len(second)) > _MOST_COMPARED_WORDS:
        return None
    return None if set(first) <= set(second) or set(second) <= set(first) else False


def key_stems(key: str) -> frozenset[str]:
    """The stems of the words of a key, in any notation.

    >>> sorted(key_stems("orderId")), sorted(key_stems("Order ID"))
    (['id', 'order'], ['id', 'order'])
    """
    words = " ".join(part.casefold() for part in _KEY_PART.findall(key))
    return frozenset(word.stem for word in find_words(words).lexemes)
