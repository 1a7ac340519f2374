"""Recognises days by their names: Christmas Eve, Easter Monday, the last day of the month, mid-December."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Final

from assay.text.dates import MONTH_NAMES
from assay.text.lexicon import word_list

_MONTHS: Final = {name: n for n, name in enumerate(MONTH_NAMES, start=1)}
_FIXED: Final = (
    (r"new year['’]?s day|neujahr|año nuevo|jour de l['’]an", 1, 1),
    (r"epiphany|three kings", 1, 6),
    (r"valentine['’]?s(?: day)?|valentinstag", 2, 14),
    (r"st\.? patrick['’]?s(?: day)?", 3, 17),
    (r"april fool['’]?s(?: day)?", 4, 1),
    (r"may day|tag der arbeit|labou?r day \(1 may\)", 5, 1),
    (r"bastille day", 7, 14),
    (r"independence day|fourth of july", 7, 4),
    (r"assumption(?: day)?", 8, 15),
    (r"hallowe['’]?en", 10, 31),
    (r"all saints(?:['’])?(?: day)?|allerheiligen|toussaint", 11, 1),
    (r"st\.? nicholas(?: day)?|nikolaus(?:tag)?", 12, 6),
    (r"christmas eve|heiligabend|heiliger abend|nochebuena|vigilia di natale|véspera de natal", 12, 24),
    (r"christmas(?: day)?(?! eve)|xmas|weihnachten|noël|navidad|natale|natal", 12, 25),
    (r"boxing day|st\.? stephen['’]?s(?: day)?", 12, 26),
    (r"new year['’]?s eve|silvester|nochevieja|saint-sylvestre", 12, 31),
)
_EASTER: Final = (
    (r"ash wednesday", -46),
    (r"palm sunday", -7),
    (r"good friday|karfreitag", -2),
    (r"easter saturday", -1),
    (r"easter(?: sunday)?(?! monday| saturday)|ostern|ostersonntag", 0),
    (r"easter monday|ostermontag", 1),
    (r"ascension(?: day)?|christi himmelfahrt", 39),
    (r"whit sunday|pentecost|pfingsten", 49),
    (r"whit monday|pfingstmontag", 50),
    (r"corpus christi|fronleichnam", 60),
)
_NTH: Final = (
    (r"thanksgiving(?: day)?", 11, 3, 4),
    (r"mother['’]?s day", 5, 6, 2),
    (r"father['’]?s day", 6, 6, 3),
    (r"martin luther king(?: jr\.?)? day|mlk day", 1, 0, 3),
)
"""Month, day of the week (0 is Monday), and its number within the month."""
_PERIOD_EDGE: Final = re.compile(
    r"\b(?P<edge>first|last|end|start|beginning|middle|mid)(?:\sday)?[\s-](?:of\s)?(?:the\s)?"
    rf"(?P<which>this\s|next\s|coming\s)?(?P<period>month|year|week|{'|'.join(_MONTHS)})\b"
)
_FROM_WEEKDAY: Final = re.compile(
    r"\b(?P<weeks>a|one|two|three|1|2|3)\sweeks?\s(?:from|after|on)\s(?:this\s|next\s)?"
    r"(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b"
    r"|\b(?P<only>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\sweek\b"
)
_ORDINALS: Final = {
    "first": 1,
    "1st": 1,
    "second": 2,
    "2nd": 2,
    "third": 3,
    "3rd": 3,
    "fourth": 4,
    "4th": 4,
    "last": 0,
}
_NTH_WEEKDAY: Final = re.compile(
    rf"\b(?P<nth>{'|'.join(_ORDINALS)})\s(?P<day>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\s"
    rf"(?:of|in)\s(?:the\s)?(?P<which>this\s|next\s|coming\s)?(?P<period>month|{'|'.join(_MONTHS)})\b"
)
_WEEKDAYS: Final = word_list("monday tuesday wednesday thursday friday saturday sunday")
_FIRST_DAYS, _MIDDLE = 5, (10, 20)
_EARLIEST, _LATEST = 1583, 4099
"""The range of years for which Easter is computed."""


def easter(year: int) -> date:
    """Easter Sunday of a year of the Gregorian calendar (the anonymous algorithm of 1876, in Meeus 1991, chapter 8).

    >>> easter(2026), easter(2027)
    (datetime.date(2026, 4, 5), datetime.date(2027, 3, 28))
    """
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (b - (b + 8) // 25 + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def find_day_names(day: date, lowercase: str, now: date | None) -> Iterator[tuple[int, int]]:
    """The spans of a lower-case text that name a day.

    >>> [low[a:b] for low in ["we arrive on christmas eve"] for a, b in find_day_names(date(2026, 12, 24), low, None)]
    ['christmas eve']
    """
    for pattern, is_day in _holiday_matches(day):
        if is_day:
            for match in re.finditer(rf"\b(?:{pattern})(?!\w)", lowercase):
                yield match.span()
    for match in _PERIOD_EDGE.finditer(lowercase):
        if _is_at_edge(day, match, now):
            yield match.span()
    for match in _NTH_WEEKDAY.finditer(lowercase):
        if _is_nth(day, match, now):
            yield match.span()
    for match in _FROM_WEEKDAY.finditer(lowercase) if now is not None else ():
        weeks = {"a": 1, "one": 1, "1": 1, "two": 2, "2": 2, "three": 3, "3": 3}.get(match["weeks"] or "a", 1)
        weekday = _WEEKDAYS.index(match["day"] or match["only"])
        # "A week from Friday" may count from this Friday or from the next.
        if now is not None and day in {_next_weekday(now, weekday) + timedelta(weeks=weeks + more) for more in (0, 1)}:
            yield match.span()


def _holiday_matches(day: date) -> Iterator[tuple[str, bool]]:
    for pattern, month, number in _FIXED:
        yield pattern, (day.month, day.day) == (month, number)
    if _EARLIEST <= day.year <= _LATEST:
        sunday = easter(day.year)
        for pattern, shift in _EASTER:
            yield pattern, day == sunday + timedelta(days=shift)
    for pattern, month, weekday, number in _NTH:
        yield pattern, day.month == month and day.weekday() == weekday and (day.day - 1) // 7 == number - 1


def named_holidays(lowercase: str, now: date) -> Iterator[date]:
    """The holidays that a lower-case text names, each at its next date from `now` on.

    >>> [str(day) for day in named_holidays("three nights from christmas day", date(2026, 11, 3))]
    ['2026-12-25']
    """
    for pattern, month, number in _FIXED:
        if re.search(rf"\b(?:{pattern})(?!\w)", lowercase):
            this_year = date(now.year, month, number)
            yield this_year if this_year >= now else date(now.year + 1, month, number)
    for pattern, shift in _EASTER if _EARLIEST <= now.year < _LATEST else ():
        if re.search(rf"\b(?:{pattern})(?!\w)", lowercase):
            this_year = easter(now.year) + timedelta(days=shift)
            yield this_year if this_year >= now else easter(now.year + 1) + timedelta(days=shift)


def _is_nth(day: date, match: re.Match[str], now: date | None) -> bool:
    """Whether a day is the named weekday of its month, such as the last Friday of the month."""
    if _WEEKDAYS.index(match["day"]) != day.weekday():
        return False
    if match["period"] in _MONTHS:
        if day.month != _MONTHS[match["period"]]:
            return False
    elif now is None or _month_of(day) != _month_from(now, int((match["which"] or "").strip() in {"next", "coming"})):
        return False
    number = _ORDINALS[match["nth"]]
    last = day.day + 7 > monthrange(day.year, day.month)[1]
    return last if number == 0 else (day.day - 1) // 7 == number - 1


def _next_weekday(now: date, weekday: int) -> date:
    return now + timedelta(days=(weekday - now.weekday()) % 7)


def _is_at_edge(day: date, match: re.Match[str], now: date | None) -> bool:
    """Whether a day is at the named end of a period, or in its middle."""
    period, edge = match["period"], match["edge"]
    if period in _MONTHS:
        first, last = _month_of(day) if day.month == _MONTHS[period] else (None, None)
    elif now is None:
        return False
    else:
        first, last = _PERIODS[period](now, 1 if (match["which"] or "").strip() in {"next", "coming"} else 0)
    if first is None or last is None or not first <= day <= last:
        return False
    length = (last - first).days + 1
    position = (day - first).days + 1
    if edge in {"middle", "mid"}:
        return length * _MIDDLE[0] <= position * 30 <= length * _MIDDLE[1]
    exact = "day" in match.group() or edge in {"first", "last"}
    tolerance = 1 if exact else min(_FIRST_DAYS, max(1, length // 4))
    return position <= tolerance if edge in {"first", "start", "beginning"} else length - position < tolerance


def _month_of(day: date) -> tuple[date, date]:
    return day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1])


def _month_from(now: date, shift: int) -> tuple[date, date]:
    index = now.year * 12 + now.month - 1 + shift
    return _month_of(date(index // 12, index % 12 + 1, 1))


def _year_from(now: date, shift: int) -> tuple[date, date]:
    return date(now.year + shift, 1, 1), date(now.year + shift, 12, 31)


def _week_from(now: date, shift: int) -> tuple[date, date]:
    monday = now - timedelta(days=now.weekday()) + timedelta(weeks=shift)
    return monday, monday + timedelta(days=6)


_PERIODS: Final[dict[str, Callable[[date, int], tuple[date, date]]]] = {
    "month": _month_from,
    "year": _year_from,
    "week": _week_from,
}
