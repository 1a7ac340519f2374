"""Derives a number of an argument from numbers of the sources: as a sum, difference, product or quotient.

With many numbers nearly every number is the sum of two of them, so arithmetic counts only where a match is unlikely by
chance: the results within 5% of the target (at least 50 steps of its last place on either side) are counted, and the
derivation is accepted where their density among the values of that precision is at most `MOST_COINCIDENCE`.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, product
from typing import Final

import numpy as np

from assay.schema.report_parts import SourceKind
from assay.verify.tools.tracing.sources import SourcePlace, Sources
from assay.verify.tools.tracing.trace import Trace, derived, traced

MOST_COINCIDENCE: Final = 0.05
"""The highest share of the values near a number that arithmetic may reach by chance."""

MOST_OPERANDS: Final = 600
"""The most operands; those nearest to the end of the run count."""

_MOST_RELATED: Final = 40
"""The most numbers of records and messages of which sums of three are tried."""
_SHORT: Final = 600
"""Characters of a short message, and of a record on either side of its identifier."""
_PLACES: Final = 5
"""The most occurrences of an identifier in one source whose records are read."""
LARGEST: Final = Decimal(10) ** 12
_SAME_KIND: Final = 1e-9
"""Terms of a sum whose ratio is smaller than this are not of one kind."""
_MEMBER: Final = re.compile(r":\s?(\d{1,12}(?:\.\d{1,6})?)(?=\s?[,}\]])")

_ANOTHER: Final = re.compile(r"\b(?:another|further|additional|extra|plus)\s(\d{1,12}(?:\.\d{1,6})?)(?![\w.])")

_Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class NumberContext:
    """The context of a number that shows how it may have been derived."""

    name: str = ""
    """The argument's name."""
    lengths: frozenset[int] = frozenset()
    """The lengths of the lists among the call's arguments."""
    numbers: frozenset[Decimal] = frozenset()
    """The numbers among the call's arguments."""
    total: Decimal | None = None
    """Its sum with the same field of the other items of its list, such as the parts of a split payment."""
    anchors: tuple[str, ...] = ()
    """The identifiers among the call's arguments, in lower case."""


def same_number(target: Decimal, sources: Sources) -> Trace | None:
    """The trace of a number that a source has, regardless of its sign."""
    for text in sources:
        place = text.numbers.get(target)
        if place is not None:
            return traced(SourcePlace(text, *place), "the same number")
    return None


def first_place(sources: Sources, value: Decimal) -> SourcePlace | None:
    """The first place of a number in the sources, regardless of its sign."""
    trace = same_number(abs(value), sources)
    return trace.place if trace else None


def sum_with_another(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    """A sum that a text describes: "for 5 seconds, and for another 7"."""
    for text in sources:
        for match in _ANOTHER.finditer(text.lowercase) if text.has_prose else ():
            more = Decimal(match.group(1))
            if target > more and target - more in text.numbers and target - more not in text.date_numbers:
                how = f"{plain_digits(target - more)} + {plain_digits(more)}"
                return derived(how, SourcePlace(text, *match.span(1)))
    return None


def from_two_numbers(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    """The sum, difference, product or quotient of two numbers, where it is unlikely by chance."""
    numbers, date_numbers = _operands(sources)
    goal = float(target)
    if not math.isfinite(goal):
        return None  # a text of more than 308 digits; no operand is as large
    step = float(last_place(target))
    tried = [(reach, numbers) for reach in (_sum, _difference, _product, _quotient)]
    # Parts of dates and times have only a meaningful difference: from the 15th to the 17th.
    for reach, operands in (*tried, (_difference, date_numbers)):
        reached = reach(operands, goal, step) if operands.size and goal else None
        if reached is not None:
            first, how = reached
            return derived(how, first_place(sources, Decimal(repr(first)).normalize()))
    return None


def part_of_total(_: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    """A part of a known total, together with the other parts."""
    total = context.total
    if total is None or total <= 0:
        return None
    # That the parts add up to a known number is as unlikely by chance as to meet a given number itself.
    place = first_place(sources, total)
    if place is None:
        return None
    return derived(f"a part of {plain_digits(total)}, with the values beside it", place)


def from_records(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    """A sum or difference of up to three numbers of the call's records, or a multiple of it.

    These numbers are few, so that even more steps are unlikely by chance: those of short messages, and of the JSON
    objects that contain an identifier of the call.
    """
    records = _record_values(sources, context.anchors)
    related = sorted(records | _message_values(sources))[-_MOST_RELATED:] if records else []
    goal, step = float(target), float(last_place(target))
    if len(related) < 2 or goal == 0:
        return None
    times = [1, *sorted(length for length in context.lengths if 2 <= length <= 12)]
    sums = _sums_of_three(related)
    reach = max(abs(goal) * 0.05, 50 * step)
    for many in times:
        part = goal / many
        near = np.count_nonzero(np.abs(sums - part) <= reach / many)
        hit = np.abs(sums - part) < step / (2 * many)
        if hit.any() and len(times) * near * step / (2 * reach) <= MOST_COINCIDENCE:
            return derived(_spell_out(part, related, many), first_place(sources, related[0]))
    return None


def _sums_of_three(related: Sequence[Decimal]) -> _Numbers:
    """The sums of up to three of the numbers, each taken once, with either sign."""
    values = np.array([float(number) for number in related])
    sums_by_size = [values]
    for many in (2, 3):
        if len(related) >= many:
            chosen_ones = values[_choices(len(related), many)]
            sums_by_size.extend(
                chosen_ones @ np.array(signs, dtype=np.float64) for signs in product((1, -1), repeat=many)
            )
    sums: _Numbers = np.unique(np.round(np.concatenate(sums_by_size), 6))
    return sums


@lru_cache(maxsize=128)
def _choices(count: int, many: int) -> "np.ndarray[tuple[int, int], np.dtype[np.intp]]":
    return np.array(list(combinations(range(count), many)), dtype=np.intp)


def _spell_out(goal: float, related: Sequence[Decimal], many: int) -> str:
    """The sum written out; the first that matches, in a fixed order."""
    for size in (1, 2, 3):
        for numbers in combinations(map(float, related), size):
            for signs in product((1, -1), repeat=size):
                if abs(sum(n * sign for n, sign in zip(numbers, signs, strict=True)) - goal) < 1e-6:
                    signed = zip(numbers, signs, strict=True)
                    terms = " ".join(f"{'+' if sign > 0 else '-'} {n:g}" for n, sign in signed).removeprefix("+ ")
                    return f"{many} * ({terms})" if many > 1 else terms
    return "a sum of numbers of the call's records"


def _message_values(sources: Sources) -> set[Decimal]:
    """The numbers of short texts in prose, except those of the system prompt."""
    spoken = (text for text in sources if text.kind is not SourceKind.SYSTEM and text.has_prose)
    short = (text for text in spoken if len(text.text) <= _SHORT)
    return {number for text in short for number in text.numbers if 0 < number < LARGEST}


def _record_values(sources: Sources, anchors: tuple[str, ...]) -> set[Decimal]:
    """The numbers of the JSON objects that contain one of the call's identifiers."""
    numbers: set[Decimal] = set()
    for text in sources:
        for anchor in anchors if not text.has_prose else ():
            at = text.lowercase.find(anchor)
            for _ in range(_PLACES):
                if at < 0:
                    break
                numbers.update(_record_numbers(text.lowercase, at, at + len(anchor)))
                at = text.lowercase.find(anchor, at + 1)
    return numbers


def _record_numbers(lowercase: str, start: int, end: int) -> Iterator[Decimal]:
    """The numbers that are values in the JSON object around a place, read within `_SHORT` characters of it."""
    window = lowercase[max(0, start - _SHORT) : end + _SHORT]
    here = start - max(0, start - _SHORT)
    left, right = window.rfind("{", 0, here), window.find("}", here)
    if window.find("{", here, right) >= 0:
        right = window.find("}", right + 1)  # one level of nesting, as of prices by class
    for match in _MEMBER.finditer(window, max(left, 0), right if right > 0 else len(window)):
        number = Decimal(match.group(1))
        if 0 < number < LARGEST:
            yield number


def _operands(sources: Sources) -> tuple[_Numbers, _Numbers]:
    """The operands for any operation, and the numbers that are only parts of dates and times; each ascending."""
    kept: dict[Decimal, None] = {}
    date_numbers: set[Decimal] = set()
    for text in reversed(sources.texts):
        date_numbers |= text.date_numbers
        for number in text.numbers:
            if 0 < number < Decimal(10) ** 15 and number not in text.date_numbers:
                kept[number] = None
            if len(kept) >= MOST_OPERANDS:
                break
    parts = [number for number in date_numbers if number > 0 and number not in kept]
    return _ascending(kept), _ascending(parts)


def _ascending(numbers: Iterable[Decimal]) -> _Numbers:
    return np.array(sorted(float(number) for number in numbers), dtype=np.float64)


def _search(
    numbers: _Numbers,
    goal: float,
    step: float,
    wanted: Callable[[float, float], tuple[float, float]],
    sign: str,
    tries: int = 1,
    slack: float | None = None,
) -> tuple[float, str] | None:
    """A pair of operands with the goal as its result, if results around the goal are sparse enough.

    Args:
        numbers: the operands, ascending.
        goal: the result.
        step: the value of the last decimal place of the goal.
        wanted: of a first operand a and a distance x, the range of second operands whose result is within x of the
            goal.
        sign: the operation.
        tries: how many goals are tried in a row.
        slack: how far the pair's result may be from the goal; half a step where none.

    Returns:
        The first operand and the calculation as text.
    """
    reach = max(abs(goal) * 0.05, 50 * step)
    near_enough = step * 0.5 if slack is None else slack
    additive = sign in "+-"
    pair = None
    near = 0
    for a in numbers.tolist():
        low, high = wanted(a, near_enough)
        at = int(np.searchsorted(numbers, low))
        if pair is None and at < numbers.size and numbers[at] <= high and numbers[at] != a:
            b = float(numbers[at])
            # Nobody adds a billionth of a number to it: such operands are not of one kind.
            pair = (a, b) if not additive or min(a, b) > max(a, b) * _SAME_KIND else None
        low, high = wanted(a, reach)
        near += int(np.searchsorted(numbers, high, side="right") - np.searchsorted(numbers, low))
    if pair is None or tries * near * step / (2 * reach) > MOST_COINCIDENCE:
        return None
    return pair[0], f"{pair[0]:g} {sign} {pair[1]:g}"


def _sum(numbers: _Numbers, goal: float, step: float, tries: int = 1) -> tuple[float, str] | None:
    return _search(numbers, goal, step, lambda a, x: (goal - a - x, goal - a + x), "+", tries)


def _difference(numbers: _Numbers, goal: float, step: float) -> tuple[float, str] | None:
    return _search(numbers, goal, step, lambda a, x: (a - goal - x, a - goal + x), "-")


def _product(numbers: _Numbers, goal: float, step: float) -> tuple[float, str] | None:
    return _search(numbers, goal, step, lambda a, x: ((goal - x) / a, (goal + x) / a), "*")


def _quotient(numbers: _Numbers, goal: float, step: float) -> tuple[float, str] | None:
    # A whole quotient has to be exact; one with decimals may have been rounded.
    slack = goal * 1e-9 if goal == int(goal) else None
    return _search(numbers, goal, step, lambda a, x: (a / (goal + x), a / max(goal - x, 1e-12)), "/", slack=slack)


def last_place(value: Decimal) -> Decimal:
    """The value of the last decimal place of a number; 1 for whole numbers."""
    exponent = value.as_tuple().exponent
    return Decimal(1).scaleb(min(exponent, 0)) if isinstance(exponent, int) else Decimal(1)


def plain_digits(value: Decimal) -> str:
    """The digits of a number, without an exponent and without trailing zeros."""
    return f"{value.normalize():f}"
