"""Two quantities that stand together: one as in "10 to 15 minutes", "between 3 and 5" and "one in five", or two with
one unit as in "from 10 to 15 minutes"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from assay.text.quantities.number_words import SCALES, SHORT_SCALES
from assay.text.quantities.units import UNIT_SYMBOLS, UNIT_WORDS
from assay.text.quantities.values import Quantity

_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s(?:to|through|until|or)\s(?:[$€£])?")
_TO_GAP = re.compile(r"\sto\s(?:(?:about|around|nearly|almost|some)\s)?")
_ONE_SIZE = Decimal(20)
"""How many times as large as the other one a number may be that shares its scale and unit."""
_YEAR_DIGITS = 4
_NOT_SHARED = frozenset({"ordinal", "factor", "points", "temperature"})
_AND_GAP = re.compile(r"\sand\s(?:[$€£])?")
_MOST_IN, _MOST_OF = 20, 9
"""The greatest numbers read as a share in "one in five"."""


def merge_ranges(text: str, found: Sequence[Quantity]) -> Iterator[Quantity]:
    """The quantities with two read as one range or one share where the words between them say so."""
    pending: Quantity | None = None
    for quantity in found:
        if pending is None:
            pending = quantity
            continue
        merged = _as_range(text, pending, quantity) or _as_share(text, pending, quantity)
        if merged is not None:
            pending = merged
            continue
        yield _with_shared_unit(text, pending, quantity)
        pending = quantity
    if pending is not None:
        yield pending


def _as_range(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """Both as one range, where the words between them and before them say so."""
    gap = text[first.end : second.start]
    if len(gap) > 12 or first.bound == "range" or not second.exact:
        return None
    before = text[max(0, first.start - 10) : first.start].lower().rstrip()
    connected = bool(_RANGE_GAP.fullmatch(gap)) and not before.endswith("from")
    if gap.strip() == "or" and not before.endswith("either") and second.value != first.value + 1:
        connected = False
    if not connected and not (before.endswith("between") and _AND_GAP.fullmatch(gap)):
        return None
    factor = Decimal(1)
    if first.dimension == "count" and not first.nouns and first.dimension != second.dimension:
        unit = UNIT_SYMBOLS.get(second.unit) or UNIT_WORDS.get(second.unit)
        if unit is not None and unit.offset:
            return None
        # Not every unit can be looked up by its sign, months cannot: its size is that of the number which has it.
        factor = second.high / second.value if second.value and second.high is not None else Decimal(1)
    elif second.dimension == "count" and first.dimension.startswith("money"):
        second = replace(second, dimension=first.dimension, unit=first.unit)
    elif first.dimension != second.dimension:
        return None
    low = first.low if first.low is not None else first.high
    if low is None or second.high is None:
        return None
    low *= factor
    written = text[second.number_start : second.number_end]
    if second.rounded and first.value < second.value and not first.rounded and written[-1:].isalpha():
        scale = _trailing_scale(written)
        low *= scale
    if not low < second.high:
        return None
    return replace(
        second, start=first.start, number_start=first.number_start, value=first.value, low=low, bound="range"
    )


def _with_shared_unit(text: str, first: Quantity, second: Quantity) -> Quantity:
    """The first quantity of "from 10 to 30 million euros" with the scale and the unit that are written once.

    Only where the two numbers as written are of one size: "from 100 to 2 million" may begin at a hundred.
    """
    before = text[max(0, first.start - 6) : first.start].lower().rstrip()
    gap = text[first.end : second.start]
    if not before.endswith("from") or _TO_GAP.fullmatch(gap) is None or not (first.exact and second.exact):
        return first
    unitless = first.dimension == "count" and not first.nouns
    written = text[second.number_start : second.number_end]
    scaled = _trailing_scale(text[first.number_start : first.number_end]) != 1
    scale = Decimal(1) if scaled else _trailing_scale(written)
    if not (unitless or (first.dimension, first.unit) == (second.dimension, second.unit)) or first.low is None:
        return first
    if (scale == 1 and first.dimension == second.dimension) or second.dimension in _NOT_SHARED or second.low is None:
        return first
    coefficient = second.value / (_trailing_scale(written) if written[-1:].isalpha() else 1)
    if not first.value or not coefficient or _looks_like_a_year(first, text):
        return first
    if not 1 / _ONE_SIZE <= abs(first.value / coefficient) <= _ONE_SIZE:
        return first
    factor = scale * (second.low / second.value if unitless else Decimal(1))
    return replace(
        first,
        value=first.value * scale,
        low=first.low * factor,
        high=first.low * factor,
        step=first.step * factor,
        dimension=second.dimension,
        unit=second.unit,
        rounded=first.rounded or scale != 1,
        weak=False,
    )


def _looks_like_a_year(quantity: Quantity, text: str) -> bool:
    written = text[quantity.number_start : quantity.number_end]
    return len(written) == _YEAR_DIGITS and written.isdigit() and written[:2] in {"18", "19", "20"}


def _as_share(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """ "One in five" as a fifth."""
    if text[first.end : second.start] != " in " or not first.dimension == second.dimension == "count":
        return None
    if not (0 < first.value < second.value <= _MOST_IN and first.exact and second.exact and first.value <= _MOST_OF):
        return None
    share = first.value / second.value
    return replace(
        second,
        start=first.start,
        number_start=first.number_start,
        value=share,
        low=share,
        high=share,
        step=Decimal("0.005"),
        dimension="share",
        unit="",
        bound="about",
        rounded=True,
        weak=False,
    )


def _trailing_scale(written: str) -> Decimal:
    match = re.search(r"([^\W\d_]+)$", written)
    if match is None:
        return Decimal(1)
    return SCALES.get(match.group(1).lower()) or SHORT_SCALES.get(match.group(1)) or Decimal(1)
