"""The calendar days that a date mention may mean, and the mention that belongs to a verb."""

import calendar
import re
from collections.abc import Sequence
from datetime import date

from assay.text.dates import DateMention


def day_of(mention: DateMention) -> date | None:
    """The day that a mention states with year, month and day; none for any other, or where there is no such day."""
    if mention.year is None or mention.month is None or mention.day is None:
        return None
    if not 1 <= mention.year <= 9999 or mention.day > calendar.monthrange(mention.year, mention.month)[1]:
        return None
    return date(mention.year, mention.month, mention.day)


def bounds_of(mention: DateMention) -> tuple[date, date] | None:
    """The first and the last day that a mention with a year may mean; none without a year or with an impossible day."""
    last_year = mention.last_year or mention.year
    if mention.year is None or last_year is None or not 1 <= mention.year <= 9999 or last_year > 9999:
        return None
    if mention.month is None:
        return date(mention.year, 1, 1), date(last_year, 12, 31)
    if mention.day is not None:
        day = day_of(mention)
        return None if day is None else (day, day)
    month = mention.last_month or mention.month
    return date(mention.year, mention.month, 1), date(last_year, month, calendar.monthrange(last_year, month)[1])


def mention_after_verb(
    lowercase: str, verb: str, dates: Sequence[DateMention], reach: int, separator: re.Pattern[str]
) -> DateMention | None:
    """The first mention after the only occurrence of a verb, in the same clause.

    Args:
        lowercase: the sentence in lower case.
        verb: the verb, in lower case.
        dates: the mentions of the sentence, in order.
        reach: the most characters between the verb and the mention.
        separator: what ends a clause.
    """
    places = [match.end() for match in re.finditer(rf"\b{verb}\b", lowercase)]
    if len(places) != 1:
        return None
    mention = next((mention for mention in dates if mention.start >= places[0]), None)
    if mention is None:
        return None
    gap = lowercase[places[0] : mention.start]
    return mention if len(gap) <= reach and separator.search(gap) is None else None
