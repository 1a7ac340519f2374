# ruff: noqa: E501 one alternative of a pattern a line
"""Whether an answer states a value, in any spelling."""

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
"""Words before a value that is mentioned only to deny it: "it is 5 days, not 8 days"."""
_DENIED_AFTER: Final = re.compile(
    r"[”\"’')\]]*\W*(?:(?:that )?(?:you|they|we|i) \w+ )?(?:(?:is|are|was|were)(?: (?:not|wrong|incorrect|inaccurate|false|untrue|mistaken)|n['’]t)"
    r"|(?:do|does|did)(?: not|n['’]t) (?:\w+ )?(?:appear|exist|match|stand|hold|apply|occur))\b",
    re.IGNORECASE,
)

_NEAR: Final = 200
"""The most characters before or after a value that are searched for a denial: an answer is hostile and may name a value
thousands of times in one sentence without an end."""


def states(text: str, value: str) -> bool:
    """Whether a text contains a value: a number with its unit, a date, or words, in any spelling.

    >>> states("Within ten days.", "10 days"), states("After 100 days.", "10 days"), states("10", "10 days")
    (True, False, True)
    >>> states("On 12 May 2025.", "2025-05-12"), states("In 2025.", "12 May 2025")
    (True, False)
    """
    return bool(spans_of(text, value))


def asserts(text: str, value: str) -> bool:
    """Whether a text contains a value somewhere without denying it.

    >>> asserts("It is 5 days, not 8 days.", "8 days"), asserts("It is 8 days.", "8 days")
    (False, True)
    """
    return any(not _is_denied(text, start, end) for start, end in spans_of(text, value))


def _is_denied(text: str, start: int, end: int) -> bool:
    """Whether the sentence around a value denies it."""
    near = max(0, start - _NEAR)
    begin = max(near, max(text.rfind(mark, near, start) for mark in (". ", "\n", "! ", "? ", "; ")) + 1)
    # With a place to begin rather than a slice, a word that the limit cuts is still seen as one: no "not" in "cannot".
    if _DENIED.search(text, begin, start) is not None:
        return True
    after = _DENIED_AFTER.match(text, end, end + _NEAR)
    return after is not None and after.end() < end + _NEAR  # what ends at the limit may be half a word


def spans_of(text: str, value: str) -> tuple[tuple[int, int], ...]:
    """The spans of a text that state a value, as start and end."""
    dates = find_dates(value)
    if len(dates) == 1 and dates[0].year is not None and dates[0].end - dates[0].start > len(value.strip()) - 3:
        wanted = dates[0]
        spans = tuple(
            (date.start, date.end)
            for date in find_dates(text)
            if relate_dates(date, wanted) is DateRelation.SAME and relate_dates(wanted, date) is DateRelation.SAME
        )
        # A bare number may be a year, but is read as a date only among words that say so.
        year = re.fullmatch(r"\d{4}", value.strip())
        return spans or (_digit_spans(text, value.strip()) if year else ())
    skip = [(date.start, date.end) for date in find_dates(value)]
    numbers = find_quantities(value, skip=skip)
    if len(numbers) == 1 and re.match(r"\W*(?:\d|[a-z]+\b)", value) and _is_number(value, numbers[0]):
        spans = _quantity_spans(text, numbers[0])
        if spans or not numbers[0].unit:
            return spans
    return _word_spans(text, value)


def _is_number(value: str, quantity: Quantity) -> bool:
    """Whether a value is a number rather than a code such as MRD-2017."""
    return not re.search(r"[^\W\d_]", value[: quantity.number_start].strip()[-1:])


def _quantity_spans(text: str, wanted: Quantity) -> tuple[tuple[int, int], ...]:
    dated = [
        (one.start, one.end)
        for one in find_dates(text, find_words(text))
        if one.month is not None or one.minute is not None
    ]
    quantities = find_quantities(text, skip=dated)
    matching = tuple((one.number_start, one.end) for one in quantities if _same(one, wanted))
    if matching:
        return matching
    # A bare year, or a number in a table or in JSON, may be read as something other than a quantity.
    digits = f"{wanted.value.normalize():f}"
    if wanted.dimension != "count" and not _is_bare_number(text):
        return ()
    return _digit_spans(text, digits)


def _is_bare_number(text: str) -> bool:
    """Whether a text is one number in digits, whatever punctuation and space stand around it."""
    first, last = re.search(r"\w", text), re.search(r"\w", text[::-1])
    if first is None or last is None:
        return "." in text or "," in text
    return re.fullmatch(r"[\d.,]+", text[first.start() : len(text) - last.start()]) is not None


def _digit_spans(text: str, digits: str) -> tuple[tuple[int, int], ...]:
    """The spans of a number that stands by itself, with or without thousands separators."""
    whole, point, decimals = digits.partition(".")
    pattern = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", whole) + re.escape(point + decimals)
    return tuple(one.span() for one in re.finditer(rf"(?<![\w.]){pattern}(?!\w|\.\d|,\d)", text))


def _same(quantity: Quantity, wanted: Quantity) -> bool:
    if "count" in (quantity.dimension, wanted.dimension):
        return quantity.value == wanted.value
    if quantity.dimension == wanted.dimension and quantity.unit == wanted.unit:
        return quantity.value == wanted.value
    return relate(quantity, wanted) is Relation.SAME


def _word_spans(text: str, value: str) -> tuple[tuple[int, int], ...]:
    words = re.findall(r"\w+", value)
    if not words:
        return ()
    pattern = r"\W+".join(re.escape(word) for word in words)
    return tuple(one.span() for one in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE))
