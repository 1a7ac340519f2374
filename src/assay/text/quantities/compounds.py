"""Quantities written in two parts, read as one: "1 hour and 45 minutes", "2 kg 300 g", "half an hour"."""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from assay.text.quantities.units import UNIT_WORDS
from assay.text.quantities.values import Quantity

_GAP = re.compile(r"\s{0,2}(?:and\s{1,2})?")
_BETWEEN = re.compile(r"\b(?:between|from)\s{1,2}$", re.IGNORECASE)
_LONGEST_BETWEEN = 12
_HALF = Decimal("0.5")
_OF_UNIT = re.compile(r"\s{1,2}(?:of\s)?an?\s([a-z]{3,12})\b", re.IGNORECASE)
_AND_HALF = re.compile(r"\b(?:an?|one)\s([a-z]{3,12})\sand\s{1,2}$", re.IGNORECASE)
_LONGEST_UNIT = 24
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
    for quantity in (_halved_unit(text, q) if q.value == _HALF and q.dimension == "share" else q for q in quantities):
        if combined and (merged := _combined(text, combined[-1], quantity)) is not None:
            combined[-1] = merged
        else:
            combined.append(quantity)
    return tuple(combined)


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
