"""Finds periods whose end is before their start: "open from 15:00 to 14:00", "from 12 May to 3 May 2024".

A period over midnight or over the end of a year is valid: "22:00 to 06:00" is a night, "from 12 December to 3 January
2025" a winter. So is a change: "moved from 15:00 to 14:00" gives an old time and a new one. The words around the two
dates show whether they are a period; where that is not clear, nothing is reported.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from assay.schema import Span
from assay.text.dates import DateMention
from assay.verify.logic.chronology.date_bounds import bounds_of, mention_after_verb
from assay.verify.logic.clauses import clause_around
from assay.verify.logic.findings import LogicFinding

_FROM: Final = re.compile(r"\b(from|between)\s(?:about\s|the\s)?$", re.IGNORECASE)
_TO: Final = re.compile(
    r"\s(?:to|until|till|through|and)\s(?:about\s|the\s)?|\s?[–—]\s?|\s?-\s?|\s->\s|\s→\s", re.IGNORECASE
)
_DASH: Final = re.compile(r"\s?[-–—]\s?")
_CHANGE: Final = re.compile(
    r"\b(?:mov\w+|chang\w+|shift\w+|brought|bring\w*|push\w*|put|postpon\w+|reschedul\w+|advanc\w+|delay\w+|adjust\w+|"
    r"correct\w+|extend\w+|shorten\w+|cut|reduc\w+|slip\w*|switch\w*|edit\w*|updat\w+|amend\w*|revis\w+|set\sback|"
    r"go(?:es)?\sback|went\sback|turn\w*\sback|back\sfrom|earlier|later|instead|rather|not|compar\w+|versus|vs|fell|falls?|rose|"
    r"dropp?\w*|improv\w+|down|up|swap\w*|transfer\w*|replac\w+|convert\w*|relocat\w+|promot\w+|wrong\w*|invalid|"
    r"error|mistak\w+|typo|flights?|fly|flies|flew|flying|depart\w*|arriv\w*|lands?|landed|time\szones?|local|"
    r"backwards?|count\w*|revert\w*|roll\w*|renam\w+|migrat\w+|downgrad\w+|upgrad\w+|rank\w*|order\w*)\b",
    re.IGNORECASE,
)
"""Words with which "from A to B" is a change, a journey or a comparison rather than a period."""
_ZONE: Final = re.compile(r"\s?(?:UTC|GMT|[CEMPWK]?E?[SD]T|CET|CEST|BST|JST|IST|Z)\b")
_ZONED: Final = re.compile(rf"{_ZONE.pattern}|[+-]\d{{2}}:?\d{{2}}\b")
_PERIOD: Final = re.compile(
    r"\b(?:open\w*|clos\w+|run|runs|ran|running|last\w*|hours?|available|valid|tak\w+\splace|took\splace|held|is|are|was|"
    r"were|be|operat\w*|work\w*|serv\w*|book\w*|reserv\w*|block\w*|schedul\w*|staffed|session|shift|daily|every|"
    r"weekdays?|weekends?|mon\w*|tue\w*|wed\w*|thu\w*|fri\w*|sat\w*|sun\w*|takes|stays?|meets?|starts?|trades?|"
    r"lunch|dinner|breakfast|lecture|class|course|meeting|appointment|slot|window|check-in|parking|free|allowed|"
    r"permitted|forbidden|quiet|reception|desk|office|shop|store|library|museum|lessons?|training|workshop)\b",
    re.IGNORECASE,
)
"""Words with which "from A to B" is a period."""
_INTO_NEXT_DAY: Final = re.compile(
    r"\b(?:next|following|overnight|round\sthe\sclock|24\shours|day\safter|nights?|nightly|midnight|tomorrow|later|"
    r"previous|same\stime|\+1)\b|\+1",
    re.IGNORECASE,
)
"""Words with which a period continues into another day."""
_NOON: Final = 720
_ONE_PM: Final = 780
_BEGIN_AND_END: Final = (
    ("opens", "closes"),
    ("starts", "ends"),
    ("begins", "ends"),
    ("starts", "finishes"),
    ("start", "end"),
    ("begin", "end"),
    ("commences", "ends"),
    ("started", "ended"),
    ("began", "finished"),
    ("opened", "ended"),
    ("check-in", "check-out"),
    ("hired", "dismissed"),
    ("takes effect", "expires"),
    ("issued", "expired"),
    ("valid from", "valid until"),
    ("valid from", "expires"),
    ("took office", "left office"),
)
"""Verbs of beginning and of ending, in addition to those of `ordering`."""
_REACH: Final = 40
"""The most characters between a verb and its date."""
_SEPARATOR: Final = re.compile(r"[;!?]|\.\s")
_SEVERAL_PERIODS: Final = re.compile(
    r"\b(?:next|following|again|reopen\w*|each|every|another|second|other|previous|last|old|new|former|either|or)\b",
    re.IGNORECASE,
)


def period_findings(sentence: str, dates: Sequence[DateMention], offset: int = 0) -> list[LogicFinding]:
    """The periods of one sentence that end before they start.

    Args:
        sentence: the sentence.
        dates: its dates and times of day, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.dates.detection import find_dates
    >>> text = "The shop is open from 15:00 to 14:00."
    >>> [found.message for found in period_findings(text, find_dates(text))]
    ['14:00 is before 15:00.']
    """
    findings = [*_from_to(sentence, dates, offset), *_begin_and_end(sentence, dates, offset)]
    return list({(finding.span.start, finding.span.end): finding for finding in findings}.values())


def _from_to(sentence: str, dates: Sequence[DateMention], offset: int) -> Iterator[LogicFinding]:
    for first, second in pairwise(dates):
        gap = sentence[first.end : second.start]
        if _TO.fullmatch(gap) is None:
            continue
        has_from = _FROM.search(sentence[max(0, first.start - 16) : first.start]) is not None
        if not has_from and (_DASH.fullmatch(gap) is None or _is_year_alone(first) or _is_year_alone(second)):
            continue  # "2026-1184" is a number of something
        clause = _clause(sentence, first.start, second.end)
        if _CHANGE.search(clause) is not None:
            continue
        if _runs_backwards(first, second, sentence, clause):
            yield _finding(sentence, first, second, (first.start, second.end), offset)


def _is_year_alone(mention: DateMention) -> bool:
    return mention.minute is None and mention.month is None


def _runs_backwards(first: DateMention, second: DateMention, sentence: str, around: str) -> bool:
    """Whether a period from the first to the second ends before it starts, by the clock or by the calendar."""
    if first.minute is not None and second.minute is not None:
        zoned = _ZONED.match(sentence, second.end) or _ZONE.match(sentence, first.end)
        return zoned is None and _PERIOD.search(around) is not None and _clock_backwards(first, second, around)
    if first.minute is not None or second.minute is not None:
        return False
    return _days_backwards(first, second)


def _clock_backwards(first: DateMention, second: DateMention, around: str) -> bool:
    """Whether the second time is before the first and both are on the same side of noon, unlike those of a night."""
    if first.minute is None or second.minute is None or not first.half_day:
        return False
    if not second.half_day and (first.minute < _ONE_PM or first.end - first.start != len("15:00")):
        return False  # "from 10:00 to 9:00" may be on a 12-hour clock; after 15:00 it is not
    if second.minute == 0 or _INTO_NEXT_DAY.search(around) is not None:  # midnight ends a day as well as it begins one
        return False
    return second.minute < first.minute and (first.minute < _NOON) == (second.minute < _NOON)


def _days_backwards(first: DateMention, second: DateMention) -> bool:
    """Whether the second date is before the first: both have a year, or both are days of the same month."""
    if any(mention.other is not None or mention.bound not in {"exact", "until"} for mention in (first, second)):
        return False
    if first.year is not None and second.year is not None:
        first_bounds, second_bounds = bounds_of(first), bounds_of(second)
        return first_bounds is not None and second_bounds is not None and second_bounds[1] < first_bounds[0]
    if first.month is None or first.month != second.month or first.day is None or second.day is None:
        return False
    return first.weekday is None and second.weekday is None and second.day < first.day


def _begin_and_end(sentence: str, dates: Sequence[DateMention], offset: int) -> Iterator[LogicFinding]:
    """Check "opens at 15:00 and closes at 14:00", "starts on 12 May 2024 and ends on 3 May 2024"."""
    lower = sentence.lower()
    if _SEVERAL_PERIODS.search(lower) is not None:
        return
    for begin, end in _BEGIN_AND_END:
        first, second = (mention_after_verb(lower, verb, dates, _REACH, _SEPARATOR) for verb in (begin, end))
        if first is None or second is None or first is second:
            continue
        clocks = first.minute is not None and second.minute is not None
        days = first.minute is None and second.minute is None and first.year is not None and second.year is not None
        if clocks:
            backwards = begin != "check-in" and _clock_backwards(first, second, sentence)
        else:
            backwards = days and lower.find(begin) < first.start and _days_backwards(first, second)
        if backwards:
            yield _finding(sentence, first, second, (second.start, second.end), offset)


def _clause(sentence: str, start: int, end: int) -> str:
    """The text between full stops and semicolons around a range."""
    return clause_around(sentence, start, end, _SEPARATOR)


def _finding(
    sentence: str, first: DateMention, second: DateMention, place: tuple[int, int], offset: int
) -> LogicFinding:
    message = f"{sentence[second.start : second.end]} is before {sentence[first.start : first.end]}."
    span = Span(start=offset + place[0], end=offset + place[1])
    premise = () if place[0] == first.start else (Span(start=offset + first.start, end=offset + first.end),)
    return LogicFinding("logic.order", message[:1].upper() + message[1:], span, premise, 0.9)
