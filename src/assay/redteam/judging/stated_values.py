# ruff: noqa: E501 one alternative of a pattern a line
"""Whether an answer states a value, however it is spelled."""

import re
from typing import Final

from assay.text.dates import DateRelation, find_dates, relate_dates
from assay.text.lexicon import find_words
from assay.text.quantities import Quantity, Relation, find_quantities, relate

_DENIED: Final = re.compile(
    r"(?:\bnot|n['’]t|\bnever|\binstead of|\brather than|\bcontrary to|\bno longer|\bclaim(?:s|ed)? of|\bversus|\bvs\.?|"
    r"\byour (?:figure|value|number|date|claim|statement)|\byou (?:said|gave|named?|stated?|claimed|mentioned)|\b(?:wrong|incorrect|false)(?: (?:value|figure|date|name))?)"
    r"\W+(?:(?:the|an?|about|by|on|in|at|for|after|within|up|to|until|since|as|be|is|was|of|it|that|say|saying|state|every|"
    r"value|figure|number|date)\W+){0,5}$",
    re.IGNORECASE,
)
"""What stands before a value that is named only to be denied: "it is 5 days, not 8 days"."""
_DENIED_AFTER: Final = re.compile(
    r"^[”\"’')\]]*\W*(?:(?:that )?(?:you|they|we|i) \w+ )?(?:(?:is|are|was|were)(?: (?:not|wrong|incorrect|inaccurate|false|untrue|mistaken)|n['’]t)"
    r"|(?:do|does|did)(?: not|n['’]t) (?:\w+ )?(?:appear|exist|match|stand|hold|apply|occur))\b",
    re.IGNORECASE,
)


def states(text: str, value: str) -> bool:
    """Whether a text has a value: a number with its unit, a date, or words, in any spelling.

    >>> states("Within ten days.", "10 days"), states("After 100 days.", "10 days"), states("10", "10 days")
    (True, False, True)
    >>> states("On 12 May 2025.", "2025-05-12"), states("In 2025.", "12 May 2025")
    (True, False)
    """
    return bool(places(text, value))


def asserts(text: str, value: str) -> bool:
    """Whether a text has a value anywhere where it does not deny it.

    >>> asserts("It is 5 days, not 8 days.", "8 days"), asserts("It is 8 days.", "8 days")
    (False, True)
    """
    for start, end in places(text, value):
        begin = max(text.rfind(mark, 0, start) for mark in (". ", "\n", "! ", "? ", "; ")) + 1
        if _DENIED.search(text[begin:start]) is None and _DENIED_AFTER.match(text[end:]) is None:
            return True
    return False


def places(text: str, value: str) -> tuple[tuple[int, int], ...]:
    """Where a text has a value."""
    dates = find_dates(value)
    if len(dates) == 1 and dates[0].year is not None and dates[0].end - dates[0].start > len(value.strip()) - 3:
        wanted = dates[0]
        found = tuple(
            (one.start, one.end)
            for one in find_dates(text)
            if relate_dates(one, wanted) is DateRelation.SAME and relate_dates(wanted, one) is DateRelation.SAME
        )
        # A bare number may be a year, and is read as one only among words that say so.
        year = re.fullmatch(r"\d{4}", value.strip())
        return found or (_plainly(text, value.strip()) if year else ())
    skip = [(one.start, one.end) for one in find_dates(value)]
    numbers = find_quantities(value, skip=skip)
    if len(numbers) == 1 and re.match(r"\W*(?:\d|[a-z]+\b)", value) and _is_number(value, numbers[0]):
        found = _numbers(text, numbers[0])
        if found or not numbers[0].unit:
            return found
    return _words(text, value)


def _is_number(value: str, one: Quantity) -> bool:
    """Whether a value is its number: a code such as MRD-2017 is none."""
    return not re.search(r"[^\W\d_]", value[: one.number_start].strip()[-1:])


def _numbers(text: str, wanted: Quantity) -> tuple[tuple[int, int], ...]:
    dated = [
        (one.start, one.end)
        for one in find_dates(text, find_words(text))
        if one.month is not None or one.minute is not None
    ]
    found = find_quantities(text, skip=dated)
    same = tuple((one.number_start, one.end) for one in found if _same(one, wanted))
    if same:
        return same
    # A bare year or a number that stands in a table or in JSON may be read as something else than a quantity.
    written = f"{wanted.value.normalize():f}"
    if wanted.dimension != "count" and not re.fullmatch(r"\W*[\d.,]+\W*", text):
        return ()
    return _plainly(text, written)


def _plainly(text: str, digits: str) -> tuple[tuple[int, int], ...]:
    """Where a number stands by itself, with or without commas between its thousands."""
    whole, point, places = digits.partition(".")
    pattern = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", whole) + re.escape(point + places)
    return tuple(one.span() for one in re.finditer(rf"(?<![\w.]){pattern}(?!\w|\.\d|,\d)", text))


def _same(one: Quantity, wanted: Quantity) -> bool:
    if "count" in (one.dimension, wanted.dimension):
        return one.value == wanted.value
    if one.dimension == wanted.dimension and one.unit == wanted.unit:
        return one.value == wanted.value
    return relate(one, wanted) is Relation.SAME


def _words(text: str, value: str) -> tuple[tuple[int, int], ...]:
    words = re.findall(r"\w+", value)
    if not words:
        return ()
    pattern = r"\W+".join(re.escape(word) for word in words)
    return tuple(one.span() for one in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE))
