"""Traces a date or a time of day of an argument, in whatever form it is written there and in the sources.

A day is traced where a source states it in any form. It is derived where a source states it without the year and the
year is among those of the sources, where a source states it relative to a known day (`now`, or a day of a source), and
where it is within, or at the end of, a range or a period that a source states.
"""

import re
from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from assay.schema.report_parts import SourceKind
from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexicon import word_list
from assay.verify.tools.tracing.named_days import find_day_names, named_holidays
from assay.verify.tools.tracing.sources import SourcePlace, Sources, SourceText, day_of
from assay.verify.tools.tracing.trace import Trace, derived, traced

LONGEST_RANGE: Final = 366
"""The most days of a range of two stated days within which a day is derived."""

_ISO_IN_TEXT: Final = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_COMPACT: Final = re.compile(r"(?<!\d)((?:19|20)\d{2})(\d{2})(\d{2})(?:T\d{4,6}Z?)?(?!\d)")
_NUMBER: Final = r"(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few)"
_OFFSET: Final = re.compile(
    rf"\b(?:in|within|after|next|last|past|for|over|of|the|another)?\s*{_NUMBER}[\s-](day|night|week|fortnight|month|year)s?\b"
)
_COUNTS: Final = {
    word: n for n, word in enumerate(word_list("one two three four five six seven eight nine ten"), start=1)
}
_UNIT_DAYS: Final = {
    "day": (1, 1),
    "night": (1, 1),
    "week": (7, 7),
    "fortnight": (14, 14),
    "month": (28, 31),
    "year": (365, 366),
}
_DAY_OFFSETS: Final = (
    (r"today|tonight|now|current(?:ly)?|this (?:morning|afternoon|evening)|same day", 0),
    (r"tomorrow", 1),
    (r"day after tomorrow", 2),
    (r"yesterday|last night", -1),
    (r"day before yesterday", -2),
    (r"(?:next|following|after|later|subsequent)(?: one)? day|day (?:after|later)", 1),
    (r"(?:next|following) (?:morning|night)", 1),
    (r"(?:previous|prior) (?:day|night)|day (?:before|earlier)", -1),
    (r"(?:next|following) week|week (?:later|after)", 7),
    (r"last week|week (?:ago|earlier|before)", -7),
)
_PERIODS: Final = re.compile(r"\b(this|next|last|past|previous|coming|following)\s(week|weekend|month|year|quarter)\b")
_WEEKEND: Final = re.compile(r"\bweekend\b")
_LAST: Final = re.compile(r"\b(?:last|past|previous)\b")
_RANGE: Final = re.compile(r"[\s,]*(?:to|until|till|through|thru|up to|[-–—])(?:\s(?:the|on|about))?\s*")
_CLOCK_WORDS: Final = (
    (r"noon|midday|lunch\w*", 11 * 60, 13 * 60),
    (r"midnight", 0, 0),
    (r"morning|breakfast", 4 * 60, 12 * 60),
    (r"afternoon", 12 * 60, 18 * 60),
    (r"evening|dinner|tonight", 17 * 60, 24 * 60),
    (r"night", 18 * 60, 24 * 60),
)
_LAST_YEAR: Final = 9000
_MOST_BASES: Final = 400
"""The most known days that relative days are counted from."""
_MOST_NAMED: Final = 32
"""The most days without a year of one text among them."""
_COMMON_YEAR: Final = 2023
_WEEK: Final = 7 * 86_400
_DAY_ENDS: Final = frozenset({0, 23 * 60 + 59})


@dataclass(frozen=True, slots=True)
class CalendarEntity:
    """A date, a time of day or both, in an argument."""

    start: int
    end: int
    day: date | None
    """The day, where it is stated completely."""
    mention: DateMention | None
    """The mention, unless it was read as an ISO or compact date."""


def find_calendar_entities(text: str) -> tuple[CalendarEntity, ...]:
    """The dates and times of an argument, in reading order.

    >>> [(e.day.isoformat(), e.start, e.end) for e in find_calendar_entities("on 2024-05-20")]
    [('2024-05-20', 3, 13)]
    """
    entities: list[CalendarEntity] = []
    covered = bytearray(len(text))
    for pattern in (_ISO_IN_TEXT, _COMPACT):
        for match in pattern.finditer(text):
            day = day_of(int(match.group(1)), int(match.group(2)), int(match.group(3)))
            if day is not None and covered.find(1, *match.span()) < 0:
                covered[match.start() : match.end()] = b"\1" * (match.end() - match.start())
                entities.append(CalendarEntity(*match.span(), day, None))
    for mention in find_dates(text):
        if covered.find(1, mention.start, mention.end) >= 0:
            continue
        day = None
        if mention.year is not None and mention.month is not None and mention.day is not None:
            day = day_of(mention.year, mention.month, mention.day)
        entities.append(CalendarEntity(mention.start, mention.end, day, mention))
    return tuple(sorted(entities, key=lambda entity: entity.start))


def trace_calendar_entity(entity: CalendarEntity, sources: Sources) -> Trace | None:
    """The trace of a date or a time; none where it has no source."""
    if entity.day is not None:
        days = [entity.day]
        other = entity.mention.other if entity.mention else None
        if other is not None:
            days.extend(filter(None, [day_of(entity.day.year, *other)]))
        return next((trace for day in days if (trace := _trace_day(day, sources)) is not None), None)
    if entity.mention is None:
        return None
    if entity.mention.minute is not None:
        return _trace_clock(entity.mention.minute, sources)
    return _trace_partial(entity.mention, sources)


def _trace_day(day: date, sources: Sources) -> Trace | None:
    for text in sources:
        place = text.days.get(day)
        if place is not None:
            source_place = SourcePlace(text, *place)
            return traced(
                source_place,
                "the same day" if source_place.text == day.isoformat() else "the same day, written otherwise",
            )
    if sources.now == day:
        return derived("the day that the caller gave as now", source=SourceKind.CLOCK)
    return (
        _trace_without_year(day, sources)
        or _trace_named(day, sources)
        or _trace_relative(day, sources)
        or _trace_in_period(day, sources)
    )


def _trace_named(day: date, sources: Sources) -> Trace | None:
    """A day that a source names: a holiday, the last day of the month."""
    if sources.years and day.year not in sources.years:
        return None
    for text in sources:
        place = next(find_day_names(day, text.lowercase, sources.now), None) if text.has_prose else None
        if place is not None:
            return derived(f'"{text.text[slice(*place)]}"', SourcePlace(text, *place))
    return None


def _trace_without_year(day: date, sources: Sources) -> Trace | None:
    """A day that a source states without its year, or without its month too, where other sources have them."""
    if sources.years and day.year not in sources.years:
        return None
    for text in sources:
        for mention in text.date_mentions:
            if mention.year is None and (day.month, day.day) in {(mention.month, mention.day), mention.other}:
                return derived("the day without its year", SourcePlace(text, mention.start, mention.end))
        for informal_dates in text.informal_mentions:
            if informal_dates.year is not None or informal_dates.day != day.day:
                continue
            if informal_dates.month == day.month or (
                informal_dates.month is None and (day.year, day.month) in sources.months
            ):
                return derived(
                    "the day without its year or its month", SourcePlace(text, informal_dates.start, informal_dates.end)
                )
    return None


def _trace_relative(day: date, sources: Sources) -> Trace | None:
    """A day at a distance from a known day that a source states."""
    bases = _known_days(sources)
    distances = {(day - base).days for base in bases}
    for text in sources:
        if not text.has_prose or text.kind is SourceKind.SYSTEM:
            continue
        for start, end, least, most in _distances(text):
            if any(least <= distance <= most for distance in distances):
                return derived(f'"{text.text[start:end]}" from a day that is known', SourcePlace(text, start, end))
        for mention in text.date_mentions:
            if mention.weekday != day.weekday() or mention.day is not None:
                continue
            # Without a known day, only the day of the week can be compared with the text.
            least, most = (-7 * bool(_LAST.search(text.lowercase)), 7 + 7 * ("next" in text.lowercase))
            if not bases or any(least <= distance <= most for distance in distances):
                return derived("the day of the week", SourcePlace(text, mention.start, mention.end))
    return None


def _known_days(sources: Sources) -> list[date]:
    now = sources.now
    if now is None:
        return sorted(sources.days)[-_MOST_BASES:]
    named_days: set[date] = set()
    for text in sources:
        if text.has_prose and text.kind is SourceKind.USER:
            named_days.update(named_holidays(text.lowercase, now))
            named_days.update(
                _next_occurrence(mention, now)
                for mention in text.date_mentions[:_MOST_NAMED]
                if _is_yearly_day(mention)
            )
    return sorted(sources.days | {now} | named_days)[-_MOST_BASES:]


def _is_yearly_day(mention: DateMention) -> bool:
    """Whether a mention is a day and month, without a year, that exists in every year."""
    return (
        mention.year is None
        and mention.month is not None
        and mention.day is not None
        and mention.day <= monthrange(_COMMON_YEAR, mention.month)[1]
    )


def _next_occurrence(mention: DateMention, now: date) -> date:
    """The next occurrence, from `now` on, of a day without its year."""
    this = date(now.year, mention.month or 1, mention.day or 1)
    return this if this >= now else this.replace(year=now.year + 1)


def _distances(text: SourceText) -> Iterator[tuple[int, int, int, int]]:
    """The expressions of a distance between two days: start, end, and the least and most days that it may mean."""
    for pattern, days in _DAY_OFFSETS:
        for match in re.finditer(rf"\b(?:{pattern})\b", text.lowercase):
            yield *match.span(), days, days
    for match in _OFFSET.finditer(text.lowercase):
        word, unit = match.group(1), match.group(2)
        count = (
            int(word) if word.isdecimal() else _COUNTS.get(word, 3 if word == "few" else 2 if "couple" in word else 1)
        )
        least, most = _UNIT_DAYS[unit]
        for sign in (1, -1):
            ends = sorted((sign * count * least, sign * count * most))
            # "for a week from Monday" ends on the sixth day after it, or on the seventh.
            yield *match.span(), ends[0] - (sign > 0), ends[1] + (sign < 0)


def _trace_in_period(day: date, sources: Sources) -> Trace | None:
    """A day within, or at the ends of, a period that a source states."""
    for text in sources:
        for mention in text.date_mentions:
            if mention.day is None and mention.year is not None and _is_period_end(day, mention):
                return derived("the first or last day of a period", SourcePlace(text, mention.start, mention.end))
        by_place = sorted(text.days.items(), key=lambda item: item[1])
        for (first, place), (last, later) in pairwise(by_place):
            linked = _RANGE.fullmatch(text.lowercase[place[1] : later[0]]) if text.has_prose else None
            if linked and first < day < last and (last - first).days <= LONGEST_RANGE:
                return derived(f"between {first} and {last}", SourcePlace(text, place[0], later[1]))
        period_trace = _trace_named_period(day, text, sources.now)
        if period_trace is not None:
            return period_trace
    return None


def _is_period_end(day: date, mention: DateMention) -> bool:
    first_year, last_year = mention.year, mention.last_year or mention.year
    if first_year is None or last_year is None or last_year > _LAST_YEAR:
        return False
    if mention.month is None:
        return (day.month, day.day, day.year) in {(1, 1, first_year), (12, 31, last_year), (1, 1, last_year + 1)}
    last_month = mention.last_month or mention.month
    first = date(max(first_year, 1), mention.month, 1)
    end = date(max(first_year, 1), last_month, monthrange(max(first_year, 1), last_month)[1])
    return day in {first, end, end + timedelta(days=1)}


def _trace_named_period(day: date, text: SourceText, now: date | None) -> Trace | None:
    """Any day of a period such as "this week", "next month" or "the weekend"."""
    if now is None or not text.has_prose:
        return None
    for match in _PERIODS.finditer(text.lowercase):
        shift = {"this": 0, "coming": 1, "next": 1, "following": 1}.get(match.group(1), -1)
        first, last = _period(now, match.group(2), shift)
        if first <= day <= last:
            return derived(f'a day of "{match.group()}"', SourcePlace(text, *match.span()))
    weekend = _WEEKEND.search(text.lowercase)
    if weekend and day.weekday() >= 5 and 0 <= (day - now).days <= 14:
        return derived("a day of the weekend", SourcePlace(text, *weekend.span()))
    return None


def _period(now: date, unit: str, shift: int) -> tuple[date, date]:
    if unit in ("week", "weekend"):
        monday = now - timedelta(days=now.weekday()) + timedelta(weeks=shift)
        return monday, monday + timedelta(days=7)
    months = {"month": 1, "quarter": 3, "year": 12}[unit]
    index = (now.year * 12 + now.month - 1) // months * months + shift * months
    last = index + months - 1
    return (
        date(index // 12, index % 12 + 1, 1),
        date(last // 12, last % 12 + 1, monthrange(last // 12, last % 12 + 1)[1]),
    )


def _trace_clock(minute: int, sources: Sources) -> Trace | None:
    for text in sources:
        place = text.minutes.get(minute)
        if place is not None:
            return traced(SourcePlace(text, *place), "the same time of day")
        for pattern, low, high in _CLOCK_WORDS:
            match = re.search(rf"\b(?:{pattern})\b", text.lowercase) if text.has_prose else None
            if match and low <= minute <= high:
                return derived(f'a time of day for "{match.group()}"', SourcePlace(text, *match.span()))
    if minute in _DAY_ENDS and (sources.days or sources.now):
        return derived("the start or the end of a day")
    return _trace_relative_clock(minute, sources)


def _trace_relative_clock(minute: int, sources: Sources) -> Trace | None:
    """A time of day at a stated duration after or before a stated one."""
    for text in sources:
        if not text.has_prose:
            continue
        spans = {int(q.low // 60) for q in text.quantities if q.dimension == "time" and q.low and q.low < _WEEK}
        for stated, place in text.minutes.items():
            if {(minute - stated) % 1440, (stated - minute) % 1440} & spans:
                return derived("a stated duration from a stated time", SourcePlace(text, *place))
    return None


def _trace_partial(mention: DateMention, sources: Sources) -> Trace | None:
    """A month, a year or a weekday that a source states or that is part of one of its days."""
    for text in sources:
        for other in text.date_mentions:
            if relate_dates(mention, other) is DateRelation.SAME:
                return traced(SourcePlace(text, other.start, other.end), "the same date")
        for day, place in text.days.items():
            if _is_part_of(day, mention):
                return derived("part of a date", SourcePlace(text, *place))
    if sources.now is not None and _is_part_of(sources.now, mention):
        return derived("part of the day that the caller gave as now", source=SourceKind.CLOCK)
    return None


def _is_part_of(day: date, mention: DateMention) -> bool:
    stated = ((mention.year, day.year), (mention.month, day.month), (mention.weekday, day.weekday()))
    return mention.last_year is None and mention.last_month is None and all(m in (None, d) for m, d in stated)
