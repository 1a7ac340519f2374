"""Dates that stand together: the two ends of a span, and the members of a list."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assay.text.dates.values import DateMention

_TO = re.compile(
    r"\s*(?:[-\u2013\u2014]|(?:up\s)?to|through|thru|till|until)?\s*(?:and including\s)?(?:the\s)?"
    r"|\.?\s(?:bis(?:\s(?:zum|einschließlich))?|au|al|a|à|ao|até(?:\so)?|hasta(?:\sel)?)\s|\sall['’]|\.\s?[-\u2013]\s?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\b(?:between|zwischen|entre|tra|fra)\s(?:(?:the|dem|le|el|il|o)\s|l['’])?(?:dia\s|día\s)?$", re.IGNORECASE
)
_AND = re.compile(
    r"\s*(?:,|,?\s?(?:and|or|as well as|&))\s*(?:on\s|in\s|at\s)?(?:the\s)?"
    r"|\.?\s(?:und|et|y|e|ou|oder|o|sowie)\s(?:(?:am|dem|den|le|el|il|o)\s|l['’])?|\.,\s",
    re.IGNORECASE,
)
_BETWEEN_ENDS = re.compile(r"\s?and\s?|\.?\s(?:und|et|y|e)\s(?:(?:dem|le|el|il|o)\s|l['’])?", re.IGNORECASE)
_HALF = re.compile(r"[ap]\.?\s?m\b", re.IGNORECASE)
_HALF_DAY = 12 * 60
_THIRTEEN = 13 * 60
_BEFORE = 16
"""Characters in front of a date that may hold "between the"."""


def find_date_ranges(text: str, dates: Sequence[DateMention]) -> Iterator[tuple[DateMention, DateMention]]:
    """The first and the last date of each span that a text states.

    Args:
        text: the text.
        dates: its dates, in their order.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "open from Monday to Thursday and on Sunday"
    >>> [(text[a.start:a.end], text[b.start:b.end]) for a, b in find_date_ranges(text, find_dates(text))]
    [('Monday', 'Thursday')]
    """
    for first, last in pairwise(dates):
        between = text[first.end : last.start]
        if len(between) > _BEFORE:
            continue
        if _BETWEEN_ENDS.fullmatch(between):
            if _BETWEEN.search(text[max(0, first.start - _BEFORE) : first.start]):
                yield first, last
        elif _TO.fullmatch(between) and (between.strip() or last.bound == "until"):
            yield first, last


def find_date_lists(text: str, dates: Sequence[DateMention]) -> Iterator[tuple[DateMention, ...]]:
    """The dates of each list that a text states ("on Monday, Wednesday and Friday"), two or more of them."""
    group: list[DateMention] = []
    for one in dates:
        if group and not _AND.fullmatch(text[group[-1].end : one.start][: 2 * _BEFORE]):
            if len(group) > 1:
                yield tuple(group)
            group = []
        group.append(one)
    if len(group) > 1:
        yield tuple(group)


def range_contains(text: str, first: DateMention, last: DateMention, one: DateMention) -> bool:
    """Whether a span of dates holds one that states the same fields.

    Args:
        text: where the span stands.
        first: the date that the span begins with.
        last: the date that it ends with.
        one: the date that may lie in it, of any text.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "from Monday to Thursday; on Tuesday"
    >>> first, last, one = find_dates(text)
    >>> range_contains(text, first, last, one), range_contains(text, first, one, last)
    (True, False)
    """
    if one.bound not in ("exact", "about"):
        return False
    if one.weekday is not None and first.weekday is not None and last.weekday is not None:
        return (one.weekday - first.weekday) % 7 <= (last.weekday - first.weekday) % 7
    if one.minute is not None and first.minute is not None and last.minute is not None:
        of_day = last.minute >= _THIRTEEN and not _HALF.search(text[last.start : last.end])
        return _holds_time(first, last, one, (first.minute, last.minute, one.minute), of_day)
    fields = ("year", "month", "day")
    stated = [name for name in fields if getattr(last, name) is not None]
    if not stated or [name for name in fields if getattr(one, name) is not None] != stated or one.last_year is not None:
        return False
    # "from 3 May to 7 May 2024" states its year once.
    low = tuple(getattr(first, name) if getattr(first, name) is not None else getattr(last, name) for name in stated)
    high, here = (tuple(getattr(date, name) for name in stated) for date in (last, one))
    return low <= here <= high


def _holds_time(
    first: DateMention, last: DateMention, one: DateMention, minutes: tuple[int, int, int], of_day: bool
) -> bool:
    """Whether a span of times holds another one; "10:00" without am or pm is read as it is written.

    Not where that may be wrong: "1:00 to 5:00 pm" begins in the afternoon, and "9:00 to 11:00" beside 10 am may be in
    the evening. A span that ends at "21:00" counts the hours of the whole day (`of_day`), so it begins where it says.
    """
    low, high, here = minutes
    if not of_day and not first.half_day and last.half_day and low + _HALF_DAY <= high:
        return False
    if one.half_day and not last.half_day:
        return False
    return low <= here <= high
