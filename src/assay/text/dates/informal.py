"""Dates as people type them to an agent: without capitals, spaces, a year or a month.

Only for arguments of tool calls. This reads more than `find_dates`, because a date that is misread only lets through a
call with a day that the user nearly wrote, while a date that is not read blocks an honest call.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from assay.text.dates.months import MONTHS

_MONTH: Final = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![a-z])"
)
_FORMS: Final = (
    re.compile(
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s{{0,3}}(?:day )?(?:of\s)?(?:this\s|next\s)?[-.]?"
        rf"(?P<month>{_MONTH})[.,?]{{0,2}}[\s-]{{0,3}}(?P<year>\d{{4}})?(?!\d)"
    ),
    re.compile(
        rf"(?<![a-z])(?P<month>{_MONTH})[.,]?[\s-]{{0,3}}(?:the\s)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"
        r"(?:[,.]?[\s-]{0,3}(?P<year>\d{4})(?!\d))?"
    ),
    re.compile(rf"(?<![a-z])(?P<month>{_MONTH})[.,]?[\s-]{{0,3}}(?:of\s)?(?P<year>\d{{4}})(?!\d)(?P<day>)"),
    re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)(?!\d)"),
    re.compile(r"(?<![\d.])(?P<year>(?:19|20)\d\d)[./](?P<month>\d{1,2})[./](?P<day>\d{1,2})(?![\d.]\d)"),
    re.compile(r"(?<![\w.])(?P<day>\d{1,2})(?:st|nd|rd|th)(?![a-z])(?P<month>)(?P<year>)"),
)
_NAMED: Final = re.compile(r"\b(?:noon|midday|midnight)\b")
_CLOCK: Final = re.compile(r"(?<!\d)(\d{1,2})[.:h]?(\d{2})?\s{0,2}([ap])\.?\s?m\b")


class InformalDate(NamedTuple):
    """A date with the fields that the text states."""

    start: int
    end: int
    year: int | None
    month: int | None
    day: int | None


def informal_dates(low: str) -> Iterator[InformalDate]:
    """The dates of a text in lower case, by form, the most complete form first; a date may be found in several.

    >>> [(d.year, d.month, d.day) for d in informal_dates("on the 10th of march 2023")][0]
    (2023, 3, 10)
    """
    for form in _FORMS:
        for match in form.finditer(low):
            year, month, day = (match.group(name) or "" for name in ("year", "month", "day"))
            number = int(month) if month.isdecimal() else MONTHS[month[:3]] if month else None
            yield InformalDate(*match.span(), int(year) if year else None, number, int(day) if day else None)


def informal_clocks(low: str) -> Iterator[tuple[int, int, int]]:
    """Times of day with a dot, an h or nothing between hours and minutes, as start, end and minutes since midnight.

    >>> [minute for _, _, minute in informal_clocks("from 11.00 a.m. to 3pm")]
    [660, 900]
    """
    for match in _CLOCK.finditer(low):
        hour, minute = int(match.group(1)), int(match.group(2) or 0)
        if hour <= 12 and minute < 60:
            yield *match.span(), (hour % 12 + 12 * (match.group(3) == "p")) * 60 + minute
    for match in _NAMED.finditer(low):
        yield *match.span(), 0 if match.group() == "midnight" else 720
