"""Neighbouring quantities that are read together.

"10 to 15 minutes" and "between 3 and 5" are one range and "one in five" is one share; in "from 10 to 15 minutes" two
quantities share a unit.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from assay.text.quantities.number_words import SCALES, SHORT_SCALES
from assay.text.quantities.units import UNIT_SYMBOLS, UNIT_WORDS
from assay.text.quantities.values import Quantity

_RANGE_GAP = re.compile(r"\s?[-–—]\s?|\s(?:to|through|until|or)\s(?:[$€£])?")
_TO_GAP = re.compile(r"\sto\s(?:(?:about|around|nearly|almost|some)\s)?")
_MAX_SIZE_RATIO = Decimal(20)
"""How many times as large as the other a number may be for the two to share a scale and a unit."""
_YEAR_DIGITS = 4
_NOT_SHARED = frozenset({"ordinal", "factor", "points", "temperature"})
_AND_GAP = re.compile(r"\sand\s(?:[$€£])?")
_MAX_SHARE_WHOLE, _MAX_SHARE_PART = 20, 9
"""The greatest numbers read as a share in "one in five"."""


def merge_pairs(text: str, quantities: Sequence[Quantity]) -> Iterator[Quantity]:
    """The quantities, with two neighbours read as one range or one share where the words between them make them one."""
    pending: Quantity | None = None
    for quantity in quantities:
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
    """Both as one range, where the words between and before them make them one."""
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
        # Not every unit can be looked up by its name (months cannot), so its size is derived from the second number.
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
    """The first quantity of "from 10 to 30 million euros" with the scale and unit that only the second one states.

    Only where the two numbers as written are of similar size: "from 100 to 2 million" may begin at a hundred.
    """
    before = text[max(0, first.start - 6) : first.start].lower().rstrip()
    gap = text[first.end : second.start]
    if not before.endswith("from") or _TO_GAP.fullmatch(gap) is None or not (first.exact and second.exact):
        return first
    unitless = first.dimension == "count" and not first.nouns
    if second.per is not None and first.per is None and first.dimension in {"count", second.dimension}:
        first = replace(first, per=second.per)
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
    if not 1 / _MAX_SIZE_RATIO <= abs(first.value / coefficient) <= _MAX_SIZE_RATIO:
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
    """ "One in five" as a fifth; a bound of the first number is one of the share: "fewer than 9 in 10"."""
    return share_of(first, second) if text[first.end : second.start] == " in " else None


def share_of(part: Quantity, whole: Quantity) -> Quantity | None:
    """The share that two counts state: a small part of a whole of at most twenty."""
    if not part.dimension == whole.dimension == "count" or not whole.exact or part.bound == "range":
        return None
    if not (0 < part.value < whole.value <= _MAX_SHARE_WHOLE and part.value <= _MAX_SHARE_PART):
        return None
    share = part.value / whole.value
    return replace(
        whole,
        start=part.start,
        number_start=part.number_start,
        value=share,
        low=None if part.low is None else share,
        high=None if part.high is None else share,
        step=Decimal("0.005"),
        dimension="share",
        unit="",
        bound="about" if part.bound == "exact" else part.bound,
        rounded=True,
        weak=False,
    )


def _trailing_scale(written: str) -> Decimal:
    match = re.search(r"([^\W\d_]+)$", written)
    if match is None:
        return Decimal(1)
    return SCALES.get(match.group(1).lower()) or SHORT_SCALES.get(match.group(1)) or Decimal(1)
