"""Quantities written in two parts, read as one: "1 hour and 45 minutes", "2 kg 300 g", "half an hour"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from assay.text.quantities.units import UNIT_WORDS
from assay.text.quantities.values import Quantity
from assay.text.sentences.languages import looks_foreign

_GAP = re.compile(r"\s{0,2}(?:and\s{1,2})?")
_BETWEEN = re.compile(r"\b(?:between|from)\s{1,2}$", re.IGNORECASE)
_LONGEST_BETWEEN = 12
_HALF = Decimal("0.5")
_OF_UNIT = re.compile(r"\s{1,2}(?:of\s)?an?\s([a-z]{3,12})\b", re.IGNORECASE)
_AND_HALF = re.compile(r"\b(?:an?|one)\s([a-z]{3,12})\sand\s{1,2}$", re.IGNORECASE)
_LONGEST_UNIT = 24
_DURATION = re.compile(r"(\d{1,3})h([0-5]\d)(m(?:in)?)?(?![\w–—-])")
_CLOCK_BEFORE = re.compile(
    r"(?:\b(?:at|by|from|until|till|before|after|since|between|and|to)\s|[-–—/@:]\s?)$", re.IGNORECASE
)
"""The text before a time of day such as 9h30, which alone could be nine and a half hours."""

_LETTER_MINUTES = UNIT_WORDS["minute"]
_BESIDE = frozenset({"", " "})
_APART = frozenset({" h", " s"})
"""Letters with a space before them, as data sheets write them, beside which an "m" is metres: "5 m 20 s"."""

_DIMENSIONS = frozenset({"time", "length", "mass"})


def join_compounds(text: str, quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """The quantities, with two joined into one where the second is a fraction of one unit of the first.

    They stay apart where either has a bound, where "between" or "from" precedes them, where the second is one unit of
    the first or more, and where the first is in months or years, which have no fixed length.

    >>> from assay.text.quantities.detection import find_quantities
    >>> [(str(q.low), q.unit) for q in find_quantities("It lasts 1 hour and 45 minutes.")]
    [('6300', 'min')]
    """
    combined: list[Quantity] = []
    quantities = [
        _as_minutes(text, quantity, quantities[at - 1 : at], quantities[at + 1 : at + 2])
        for at, quantity in enumerate(quantities)
    ]
    for quantity in (_halved_unit(text, q) if q.value == _HALF and q.dimension == "share" else q for q in quantities):
        if combined and (merged := _combined(text, combined[-1], quantity)) is not None:
            combined[-1] = merged
        else:
            combined.append(quantity)
    return tuple(combined)


def find_duration(text: str, start: int) -> tuple[Decimal, int] | None:
    """The minutes of a duration such as "2h30m" or "2h30" that begins at `start`, and the index after it.

    Without the last letter it may be a time of day: it is not read after words that precede one, with two digits of
    hours, at a full hour, and where the language is not English, in which 9h30 is a usual time.

    >>> find_duration("2h30m", 0), find_duration("at 9h30", 3)
    ((Decimal('150'), 5), None)
    """
    match = _DURATION.match(text, start)
    if match is None:
        return None
    hours, minutes, letter = match.groups()
    if letter is None and (
        len(hours) > 1
        or minutes == "00"
        or _CLOCK_BEFORE.search(text[max(0, start - _LONGEST_BETWEEN) : start])
        or looks_foreign(text)
    ):
        return None
    return Decimal(int(hours) * 60 + int(minutes)), match.end()


def _as_minutes(text: str, quantity: Quantity, before: Sequence[Quantity], after: Sequence[Quantity]) -> Quantity:
    """A number with an "m" right behind it as minutes beside hours or seconds written so too: "11h 40m", "5m 20s"."""
    if quantity.unit != "m" or quantity.low is None or not quantity.exact:
        return quantity
    if text[quantity.number_end : quantity.end] != "m":
        return quantity
    before, after = ([one for one in near if text[one.number_end : one.end] not in _APART] for near in (before, after))
    of_hours = any(one.unit == "h" and text[one.end : quantity.start] in _BESIDE for one in before)
    if not of_hours and not any(one.unit == "s" and text[quantity.end : one.start] in _BESIDE for one in after):
        return quantity
    low, step = quantity.low * _LETTER_MINUTES.size, quantity.step * _LETTER_MINUTES.size
    return replace(quantity, low=low, high=low, step=step, dimension="time", unit=_LETTER_MINUTES.name)


def _halved_unit(text: str, half: Quantity) -> Quantity:
    """ "Half an hour" and "an hour and a half" as quantities with a unit; any other half unchanged."""
    after = _OF_UNIT.match(text, half.end)
    before = _AND_HALF.search(text[max(0, half.start - _LONGEST_UNIT) : half.start])
    named = after or before
    unit = UNIT_WORDS.get(named[1].lower()) if named is not None else None
    if named is None or unit is None or unit.dimension not in _DIMENSIONS:
        return half
    value = _HALF if after is not None else _HALF + 1
    start = half.start if before is None or after is not None else half.start - len(before[0])
    low = value * unit.size
    return replace(
        half,
        start=start,
        end=after.end() if after is not None else half.end,
        value=value,
        low=low,
        high=low,
        step=unit.size / 20,
        dimension=unit.dimension,
        unit=unit.name,
        rounded=False,
    )


def _combined(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """Two adjacent quantities as one; none where they are two."""
    if first.value == _HALF and first.dimension == "share" and second.dimension == "count" and second.exact:
        if text[first.end : second.start] == " " and text[second.start : second.start + 2].lower() == "a ":
            half = second.value / 2  # "half a dozen"
            return replace(
                second,
                start=first.start,
                number_start=first.number_start,
                value=half,
                low=half,
                high=half,
                step=half / 20,
            )
        return None
    if second.value == _HALF and second.dimension == "share" and text[first.end : second.start] == " and ":
        if first.dimension in _DIMENSIONS and first.exact and first.value and first.low is not None:
            low = first.low + first.low / first.value * _HALF  # "two hours and a half"
            return replace(first, end=second.end, value=first.value + _HALF, low=low, high=low)
        return None
    if first.dimension not in _DIMENSIONS or first.dimension != second.dimension or first.unit == second.unit:
        return None
    if first.low is None or second.low is None or not first.exact or not second.exact:
        return None
    if second.bound != "exact" or first.value != first.value.to_integral_value() or first.unit in {"mo", "yr"}:
        return None
    if not first.value or not second.value:
        return None
    size = first.low / first.value
    if (
        not 0 < second.low < size
        or size % (second.low / second.value)
        or not _GAP.fullmatch(text, first.end, second.start)
    ):
        return None
    if _BETWEEN.search(text[max(0, first.start - _LONGEST_BETWEEN) : first.start]):
        return None
    low = first.low + second.low
    return replace(
        second,
        start=first.start,
        number_start=first.number_start,
        low=low,
        high=low,
        bound=first.bound,
        value=second.value + first.low / (second.low / second.value),
        rounded=first.rounded or second.rounded,
    )
