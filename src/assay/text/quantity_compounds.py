"""Quantities told in two units, read as one: "1 hour and 45 minutes", "5 ft 11 in", "2 kg 300 g"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.text.quantity_values import Quantity

_GAP = re.compile(r"\s{0,2}(?:and\s{1,2})?")
_BETWEEN = re.compile(r"\b(?:between|from)\s{1,2}$", re.IGNORECASE)
_LONGEST_BETWEEN = 12
_DIMENSIONS = frozenset({"time", "length", "mass"})


def joined(text: str, quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """The quantities with each pair of which the second is a part of one unit of the first made one.

    A limit, "between" in front, a second part that is no less than one unit of the first, and calendar units,
    which have no one length, keep the two apart.

    >>> from assay.text.quantities import find_quantities
    >>> [(str(q.low), q.unit) for q in find_quantities("It lasts 1 hour and 45 minutes.")]
    [('6300', 'min')]
    """
    found: list[Quantity] = []
    for one in quantities:
        if found and (whole := _whole(text, found[-1], one)) is not None:
            found[-1] = whole
        else:
            found.append(one)
    return tuple(found)


def _whole(text: str, first: Quantity, second: Quantity) -> Quantity | None:
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
        second, start=first.start, number_start=first.number_start, low=low, high=low, bound=first.bound,
        value=second.value + first.low / (second.low / second.value), rounded=first.rounded or second.rounded,
    )  # fmt: skip
