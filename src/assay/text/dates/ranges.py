"""Dates that belong together: the two ends of a range, and the members of a list."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.text.dates.values import DateMention

_RANGE_GAP = re.compile(
    r"\s*(?:[-\u2013\u2014]|(?:up\s)?to|through|thru|till|until)?\s*(?:and including\s)?(?:the\s)?"
    r"|\.?\s(?:bis(?:\s(?:zum|einschließlich))?|au|al|a|à|ao|até(?:\so)?|hasta(?:\sel)?)\s|\sall['’]|\.\s?[-\u2013]\s?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\b(?:between|zwischen|entre|tra|fra)\s(?:(?:the|dem|le|el|il|o)\s|l['’])?(?:dia\s|día\s)?$", re.IGNORECASE
)
_LIST_GAP = re.compile(
    r"\s*(?:,|,?\s?(?:and|or|as well as|&))\s*(?:on\s|in\s|at\s)?(?:the\s)?"
    r"|\.?\s(?:und|et|y|e|ou|oder|o|sowie)\s(?:(?:am|dem|den|le|el|il|o)\s|l['’])?|\.,\s",
    re.IGNORECASE,
)
_BETWEEN_GAP = re.compile(r"\s?and\s?|\.?\s(?:und|et|y|e)\s(?:(?:dem|le|el|il|o)\s|l['’])?", re.IGNORECASE)
_MERIDIEM = re.compile(r"[ap]\.?\s?m\b", re.IGNORECASE)
_HALF_DAY = 12 * 60
_FIRST_24_HOUR_TIME = 13 * 60
_MAX_GAP = 16
"""Characters between two dates of a range, and before a date in which "between the" is looked for."""


def find_date_ranges(text: str, dates: Sequence[DateMention]) -> Iterator[tuple[DateMention, DateMention]]:
    """The first and the last date of each range that a text states.

    Args:
        text: the text.
        dates: the dates of the text, in order.
    >>> from assay.text.dates.detection import find_dates
    >>> text = "open from Monday to Thursday and on Sunday"
    >>> [(text[a.start:a.end], text[b.start:b.end]) for a, b in find_date_ranges(text, find_dates(text))]
    [('Monday', 'Thursday')]
    """
    for first, last in pairwise(dates):
        between = text[first.end : last.start]
        if len(between) > _MAX_GAP:
            continue
        if _BETWEEN_GAP.fullmatch(between):
            if _BETWEEN.search(text[max(0, first.start - _MAX_GAP) : first.start]):
                yield first, last
        elif _RANGE_GAP.fullmatch(between) and (between.strip() or last.bound == "until"):
            yield first, last


def find_date_lists(text: str, dates: Sequence[DateMention]) -> Iterator[tuple[DateMention, ...]]:
    """The two or more dates of each list that a text states ("on Monday, Wednesday and Friday")."""
    group: list[DateMention] = []
    for date in dates:
        if group and not _LIST_GAP.fullmatch(text[group[-1].end : date.start][: 2 * _MAX_GAP]):
            if len(group) > 1:
                yield tuple(group)
            group = []
        group.append(date)
    if len(group) > 1:
        yield tuple(group)


def range_contains(text: str, first: DateMention, last: DateMention, date: DateMention) -> bool:
    """Whether a range of dates contains a date that states the same fields.

    Args:
        text: the text with the range.
        first: the first date of the range.
        last: its last date.
        date: the date that may be in the range, of any text.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "from Monday to Thursday; on Tuesday"
    >>> first, last, one = find_dates(text)
    >>> range_contains(text, first, last, one), range_contains(text, first, one, last)
    (True, False)
    """
    if date.bound not in ("exact", "about"):
        return False
    if date.weekday is not None and first.weekday is not None and last.weekday is not None:
        return (date.weekday - first.weekday) % 7 <= (last.weekday - first.weekday) % 7
    if date.minute is not None and first.minute is not None and last.minute is not None:
        is_24_hour = last.minute >= _FIRST_24_HOUR_TIME and not _MERIDIEM.search(text[last.start : last.end])
        return _range_contains_time(first, last, date, (first.minute, last.minute, date.minute), is_24_hour)
    fields = ("year", "month", "day")
    stated = [name for name in fields if getattr(last, name) is not None]
    if (
        not stated
        or [name for name in fields if getattr(date, name) is not None] != stated
        or date.last_year is not None
    ):
        return False
    # "from 3 May to 7 May 2024" states its year once.
    low = tuple(getattr(first, name) if getattr(first, name) is not None else getattr(last, name) for name in stated)
    high, here = (tuple(getattr(mention, name) for name in stated) for mention in (last, date))
    return low <= here <= high


def _range_contains_time(
    first: DateMention, last: DateMention, date: DateMention, minutes: tuple[int, int, int], is_24_hour: bool
) -> bool:
    """Whether a range of times contains another time; "10:00" without am or pm is read as written.

    False where that may be wrong: "1:00 to 5:00 pm" begins in the afternoon, and "9:00 to 11:00" compared with 10 am
    may be in the evening. A range that ends at "21:00" uses 24-hour times (`is_24_hour`), so its beginning is certain.
    """
    low, high, here = minutes
    if not is_24_hour and not first.half_day and last.half_day and low + _HALF_DAY <= high:
        return False
    if date.half_day and not last.half_day:
        return False
    return low <= here <= high
