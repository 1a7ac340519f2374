"""Whether two values of fields say the same, however each is written.

`1250`, `"1,250.00"` and `"EUR 1,250.00"` are one sum, `"2025-03-01"` and `"1 March 2025"` one day, `true` and `"yes"`,
`null` and `"none"`, `PRO_ANNUAL` and `"pro annual"` the same. What is written in forms that cannot be compared (a code
and a word for it, two descriptions) is neither the same nor different.
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
_NOTHING: Final = word_set("none null nil nothing nobody n/a unassigned empty") | {"", "-", "–", "—"}
LONGEST_READ: Final = 60
"""Characters of a text that is read as a number, a date or a word; a longer one is a description."""
_LONGEST_NAME: Final = 5
"""Words of two texts that can be told to differ; longer ones may say the same in other words."""
_CODE: Final = re.compile(r"0\d+")
_BARE_YEAR: Final = re.compile(r"\d{4}")
_BESIDE_DATES: Final = re.compile(r"[\s,;.]|\b(?:at|on|and|utc)\b|T|Z|[–-]", re.IGNORECASE)
_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+(?:[.,:]\d+)*|[^\W_]+")
_PLAIN: Final = frozenset({"count", "ordinal"})


@dataclass(frozen=True, slots=True)
class _Read:
    """A text as the value that it writes."""

    truth: bool | None = None
    nothing: bool = False
    dates: tuple[DateMention, ...] = ()
    amount: Quantity | None = None
    words: tuple[str, ...] = ()
    code: bool = False
    """Whether it is digits that are no number: "007"."""


def same_value(ours: Any, theirs: Any) -> bool | None:
    """Whether two values of JSON, or of cells of a table, say the same; none where they cannot be compared.

    >>> same_value("EUR 1,250.00", 1250), same_value("2 May 2025", "2025-05-02"), same_value("yes", True)
    (True, True, True)
    >>> same_value(2, ["photo", "receipt"]), same_value("none", None), same_value("14:35", "2:45 pm")
    (True, True, False)
    >>> same_value("007", "7"), same_value("enabled", True)
    (False, None)
    """
    if isinstance(ours, list) or isinstance(theirs, list):
        return _same_list(ours, theirs)
    one, other = _read(ours), _read(theirs)
    if one.nothing or other.nothing:
        return one.nothing and other.nothing
    if one.truth is not None or other.truth is not None:
        return one.truth is other.truth if one.truth is not None and other.truth is not None else None
    if isinstance(ours, str) and isinstance(theirs, str) and ours.strip().casefold() == theirs.strip().casefold():
        return True
    if one.dates and other.dates:
        return _same_dates(one.dates, other.dates)
    if one.amount is not None and other.amount is not None:
        return _same_amount(one.amount, other.amount)
    if one.words and one.words == other.words and one.amount is other.amount:
        return True
    if one.code or other.code:
        return False if one.code == other.code or one.amount is not None or other.amount is not None else None
    if one.amount is not None or other.amount is not None or bool(one.dates) != bool(other.dates):
        return None
    return _same_words(one.words, other.words)


def _same_list(ours: Any, theirs: Any) -> bool | None:
    """A list beside a list, how many it has, or that it has none."""
    if isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            return False
        same = [same_value(one, other) for one, other in zip(ours, theirs, strict=True)]
        return None if None in same else all(same)
    listed, other = (ours, theirs) if isinstance(ours, list) else (theirs, ours)
    read = _read(other)
    if read.nothing or read.truth is not None:
        return not listed if read.nothing else None
    if read.amount is not None and read.amount.dimension in _PLAIN and not isinstance(other, bool):
        return read.amount.low == len(listed)
    if len(listed) > 1 and isinstance(other, str):
        parts = [part for part in re.split(r",\s*|\s+and\s+", other) if part]
        return True if len(parts) == len(listed) and _same_list(parts, listed) else None
    return same_value(listed[0], other) if len(listed) == 1 else None


def _read(value: Any) -> _Read:
    if isinstance(value, bool):
        return _Read(truth=value)
    if value is None:
        return _Read(nothing=True)
    return _read_text(str(value))


@lru_cache(maxsize=4096)
def _read_text(text: str) -> _Read:
    stripped = " ".join(text.split())
    low = stripped.casefold().strip(".")
    if low in _YES or low in _NO:
        return _Read(truth=low in _YES)
    if low in _NOTHING:
        return _Read(nothing=True)
    words = tuple(part.casefold() for part in _PARTS.findall(stripped))
    if len(stripped) > LONGEST_READ or _CODE.fullmatch(stripped):
        return _Read(words=words or (stripped.casefold(),), code=len(stripped) <= LONGEST_READ)
    amount = _amount_of(stripped)
    dates = () if amount is not None and _BARE_YEAR.fullmatch(stripped) else tuple(find_dates(stripped))
    if dates and _left_of(stripped, dates):
        dates = ()
    return _Read(dates=dates, amount=None if dates else amount, words=words or (stripped.casefold(),))


def _left_of(text: str, dates: Sequence[DateMention]) -> str:
    """What a text has beside its dates."""
    at, left = 0, []
    for date in dates:
        left.append(text[at : date.start])
        at = date.end
    return _BESIDE_DATES.sub("", "".join([*left, text[at:]]))


def _amount_of(text: str) -> Quantity | None:
    """The one quantity that a text is; a sign or a word beside it makes it something else."""
    found = find_quantities(text)
    if len(found) != 1 or not found[0].exact or found[0].bound not in {"exact", "about"}:
        return None
    one = found[0]
    left = text[: one.start] + text[one.end :]
    return one if not left.strip(" .~") else None


def _same_dates(ours: Sequence[DateMention], theirs: Sequence[DateMention]) -> bool | None:
    """Whether all dates and times of one value are those of the other; what only one of them states is left open."""
    same = []
    for one in ours:
        related = [relate_dates(one, other) for other in theirs]
        compared = [one for one in related if one is not DateRelation.INCOMPARABLE]
        if compared:
            same.append(any(one in (DateRelation.SAME, DateRelation.COMPATIBLE) for one in compared))
    return all(same) if same else None


def _same_amount(ours: Quantity, theirs: Quantity) -> bool | None:
    if ours.dimension == theirs.dimension:
        return ours.low == theirs.low
    if ours.dimension in _PLAIN or theirs.dimension in _PLAIN:  # a bare figure in the unit of the other
        return ours.value == theirs.value or ours.low == theirs.low
    return False if ours.dimension.split(":")[0] == theirs.dimension.split(":")[0] else None


def _same_words(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool | None:
    if "".join(ours) == "".join(theirs):
        return True
    if not ours or not theirs or max(len(ours), len(theirs)) > _LONGEST_NAME:
        return None
    return None if set(ours) <= set(theirs) or set(theirs) <= set(ours) else False


def names_of(key: str) -> frozenset[str]:
    """The stems of the words of a key, however it is written.

    >>> sorted(names_of("orderId")), sorted(names_of("Order ID"))
    (['id', 'order'], ['id', 'order'])
    """
    words = " ".join(part.casefold() for part in _PARTS.findall(key))
    return frozenset(word.stem for word in find_words(words).lexemes)
