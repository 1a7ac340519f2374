"""Checks the dates and orders that a text states: weekdays, durations, before and after, more and less."""

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final

from assay.schema import Span
from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import word_set
from assay.text.quantities import Quantity, find_quantities
from assay.verify.arithmetic.expressions import Amount, ExpressionReader, UnitClash, Unreadable
from assay.verify.logic.chronology.date_bounds import bounds_of, day_of, mention_after_verb
from assay.verify.logic.chronology.periods import period_findings
from assay.verify.logic.findings import LogicFinding

_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MORE: Final = word_set("greater more larger higher bigger longer heavier older later faster taller warmer")
_LESS: Final = word_set("less fewer smaller lower shorter lighter younger earlier slower colder cooler")
_COMPARATIVE: Final = re.compile(
    rf"\s(?:is|are|was|were)\s(?:much\s|slightly\s|far\s|still\s)?({'|'.join(sorted(_MORE | _LESS))})\sthan\s",
    re.IGNORECASE,
)
_SIGNS: Final = re.compile(r"\s?([<>≤≥])\s?")
_FROM: Final = re.compile(r"\b(from|between)\s$", re.IGNORECASE)
_TO: Final = re.compile(r"\s(?:to|until|till|through|and)\s", re.IGNORECASE)
_LASTING: Final = re.compile(
    r"(?:,?\s(?:for|lasting|spanning|totalling|totaling|or|that is|which is)\s(?:a\s(?:total|period)\sof\s)?|\s\()$",
    re.IGNORECASE,
)
_RELATION_TO_DATE: Final = re.compile(r"\s(after|before|later than|from)\s$", re.IGNORECASE)
_RESULT: Final = re.compile(r",?\s(?:is|was|=|falls on|fell on|will be|gives)\s", re.IGNORECASE)
_BEGIN_AND_END: Final = (
    ("born", "died"),
    ("founded", "dissolved"),
    ("established", "dissolved"),
    ("opened", "closed"),
    ("began", "ended"),
    ("started", "finished"),
    ("launched", "discontinued"),
    ("departed", "arrived"),
)
_AGE: Final = re.compile(
    r"\b(?:at\s(?:the\s)?age\s(?:of\s)?|aged\s|at\s)(\d{1,3})\b(?!\s?[:%°]|\s(?:am|pm)\b)", re.IGNORECASE
)
_REACH: Final = 60
"""The most characters between a verb and its date."""
_SEPARATOR: Final = re.compile(r"[;.!?]")
_SIDE: Final = (
    r"((?:the\s)?[A-Z][\w'’-]{0,40}(?:\s[A-Z][\w'’-]{0,40}){0,3}|"
    r"[Tt]he\s[a-z][\w'’-]{0,40}(?:\s(?!is\b|was\b|are\b|were\b|and\b|or\b|than\b|of\b|in\b|on\b)[a-z][\w'’-]{0,40}){0,2})"
)
"""One side of an order: a name, or "the" with a noun and its adjectives."""
_DEGREE: Final = (
    r"(?:much\s|far\s|slightly\s|even\s|still\s|also\s|a\slittle\s|a\slot\s|clearly\s|somewhat\s|"
    r"(?:\d{1,6}(?:\.\d{1,3})?|one|two|three|four|five|six|seven|eight|nine|ten)\s[a-z]{1,12}\s){0,2}"
)
_ORDER: Final = re.compile(
    rf"{_SIDE}\s(?:(?P<verb>is|was|are|were)\s{_DEGREE}"
    r"(?:(?P<comparative>[a-z]{3,14}er)|(?P<much>more|less)\s(?P<quality>[a-z]{4,16}))\sthan|"
    r"(?:happened|came|occurred|took\splace|was\s(?:built|founded|published|released|opened|completed|born)|"
    rf"were\s(?:built|founded)|ended|began|opened)\s(?P<order>before|after))\s{_SIDE}"
    r"(?=[.,;!)]|\s(?:and|but|so|while)\b|$)"
)
_LEADING_WORD: Final = re.compile(
    r"(?:Therefore|Thus|Hence|So|Then|Consequently|Accordingly|Ergo|And|But|Also|Now|However|Moreover|Similarly|"
    r"Likewise|Finally|Clearly|Obviously|Plainly|Indeed|Yet|Because|Since|As|Given\sthat|It\sfollows\sthat|Conversely|"
    r"Overall|Still|Further|Furthermore|Additionally|First|Second|Third|Next|Step)\s+(?=\S)"
)
"""Capitalised words at the beginning of a sentence that are not a part of the name after them."""
_NOT_STATED: Final = re.compile(
    r"\b(?:if|whether|suppose|assume|assuming|imagine|unless|would|could|might|may|perhaps|not|no|never|nor|neither|"
    r"wrong|false|incorrect|claims?|claimed|says|said|thinks?|believes?|believed|according|per|once|used\sto|until|"
    r"when|while|sometimes|often|usually|in\s(?:terms|winter|summer|spring|autumn|some|many|most|january|february|march|"
    r"april|june|july|august|september|october|november|december)|at\s(?:first|times)|by\s(?:weight|volume)|then|"
    r"\d{4}|yesterday|today|tomorrow|last|next|previously|formerly|originally)\b|\?",
    re.IGNORECASE,
)
"""Words with which an order is not stated outright, or holds only at a time or in one respect."""
_PART_OF: Final = re.compile(
    r"(?:\b(?:of|in|on|for|with|at|from|to|by|between|both|either|neither|or|than|and|without|under|over|about|like)|[’']s)\s$",
    re.IGNORECASE,
)
"""Words before a name that make it a part of a longer subject: "the father of Ada is older than Ben"."""
_OPPOSITES: Final[Mapping[str, str]] = {
    "shorter": "taller",
    "smaller": "larger",
    "bigger": "larger",
    "younger": "older",
    "slower": "faster",
    "lighter": "heavier",
    "cheaper": "dearer",
    "later": "earlier",
    "lower": "higher",
    "weaker": "stronger",
    "colder": "warmer",
    "hotter": "warmer",
    "poorer": "richer",
    "farther": "nearer",
    "closer": "nearer",
}
_REVERSED: Final = frozenset(
    {
        "shorter",
        "smaller",
        "younger",
        "slower",
        "lighter",
        "cheaper",
        "later",
        "lower",
        "weaker",
        "colder",
        "poorer",
        "farther",
    }
)
"""Comparatives whose sides are exchanged when the word is replaced by its opposite."""
_ARTICLE: Final = re.compile(r"^[Tt]he\s")
_AND_THEN: Final = re.compile(r"[,;]\s(?:and|or)\s$|\sthan\s$|[^\W\d_]\sand\s$")
_SEARCHED_AROUND: Final = 200
"""Characters around a stated order that are searched for words of `_NOT_STATED`."""
MOST_RELATIONS: Final = 400
"""The most stated orders that are combined."""


def date_findings(text: str, start: int, end: int) -> list[LogicFinding]:
    """The impossible statements of one sentence about dates.

    >>> [found.message for found in date_findings("The board met on Monday, 5 March 2024.", 0, 38)]
    ['5 March 2024 is a Tuesday, not a Monday.']
    """
    sentence = text[start:end]
    mentions = find_dates(sentence)
    backwards = period_findings(sentence, mentions, start)
    dates = [d for d in mentions if d.minute is None]
    if not dates:
        return backwards
    times = [q for q in find_quantities(sentence) if q.dimension == "time" and q.exact]
    return [
        *backwards,
        *(_weekdays(sentence, start, dates)),
        *(_stated_durations(sentence, start, dates, times)),
        *(_shifted_dates(sentence, start, dates, times)),
        *(_lifetimes(sentence, start, dates)),
    ]


def _written(sentence: str, mention: DateMention) -> str:
    return sentence[mention.start : mention.end]


def _span(offset: int, start: int, end: int) -> Span:
    return Span(start=offset + start, end=offset + end)


def _weekdays(sentence: str, offset: int, dates: Sequence[DateMention]) -> Iterator[LogicFinding]:
    for previous, mention in zip((None, *dates), dates, strict=False):
        day = day_of(mention) if mention.other is None else None
        if day is None:
            continue
        weekday, start = mention.weekday, mention.start
        if weekday is None and previous is not None and previous.weekday is not None and previous.month is None:
            gap = sentence[previous.end : mention.start]
            weekday, start = (
                (previous.weekday, previous.start) if gap in {", ", " ", ", the ", " the "} else (None, start)
            )
        if weekday is not None and weekday != day.weekday():
            plain = f"{day.day} {calendar.month_name[day.month]} {day.year}"
            message = f"{plain} is a {_WEEKDAYS[day.weekday()]}, not a {_WEEKDAYS[weekday]}."
            yield LogicFinding("logic.date", message, _span(offset, start, mention.end))


def _stated_durations(
    sentence: str, offset: int, dates: Sequence[DateMention], times: Sequence[Quantity]
) -> Iterator[LogicFinding]:
    """Check "from 2010 to 2015, for seven years"."""
    for first, second in pairwise(dates):
        lead = _FROM.search(sentence[max(0, first.start - 12) : first.start])
        if lead is None or _TO.fullmatch(sentence[first.end : second.start]) is None:
            continue
        earliest, latest = _bounds(first), _bounds(second)
        if earliest is None or latest is None:
            continue
        for stated in times if latest[1] >= earliest[0] else ():  # `periods` reports a span that runs backwards
            if 0 <= stated.start - second.end <= 20 and _LASTING.fullmatch(sentence[second.end : stated.start]):
                yield from _check_duration(sentence, offset, (first, second), stated)


def _bounds(mention: DateMention) -> tuple[date, date] | None:
    """The first and the last day that a mention may mean; none unless it is exact."""
    return bounds_of(mention) if mention.bound == "exact" and mention.other is None else None


def _check_duration(
    sentence: str, offset: int, ends: tuple[DateMention, DateMention], stated: Quantity
) -> Iterator[LogicFinding]:
    first, second = _bounds(ends[0]), _bounds(ends[1])
    if first is None or second is None or stated.low is None:
        return
    least, most = (second[0] - first[1]).days, (second[1] - first[0]).days + 1
    days = stated.low / 86400
    slack = stated.step / 86400 + Decimal("0.02") * days
    if not least - slack <= days <= most + slack:
        stated_duration = sentence[stated.start : stated.end]
        span = f"{_written(sentence, ends[0])} to {_written(sentence, ends[1])}"
        message = f"The time from {span} is not {stated_duration}."
        yield LogicFinding("logic.date", message, _span(offset, stated.start, stated.end), (), 0.9)


def _shifted_dates(
    sentence: str, offset: int, dates: Sequence[DateMention], times: Sequence[Quantity]
) -> Iterator[LogicFinding]:
    """Check "30 days after 1 March 2024 is 31 March 2024"."""
    for first, second in pairwise(dates):
        start, stated = (day_of(one) if one.other is None else None for one in (first, second))
        if start is None or stated is None or _RESULT.fullmatch(sentence[first.end : second.start]) is None:
            continue
        for amount in times:
            joint = _RELATION_TO_DATE.fullmatch(sentence[amount.end : first.start])
            if joint is None or amount.low is None or amount.unit not in {"d", "wk", "mo", "yr"}:
                continue
            sign = -1 if joint.group(1).lower() == "before" else 1
            expected = _add_time(start, sign * int(amount.value), amount.unit)
            if expected is not None and abs((expected - stated).days) > 1:
                message = f"{sentence[amount.start : first.end]} is {expected.day} {expected:%B %Y}."
                yield LogicFinding("logic.date", message, _span(offset, second.start, second.end), (), 0.95)


def _add_time(day: date, number: int, unit: str) -> date | None:
    try:
        if unit in {"d", "wk"}:
            return day + timedelta(days=number * (7 if unit == "wk" else 1))
        months = day.year * 12 + day.month - 1 + number * (12 if unit == "yr" else 1)
        year, month = divmod(months, 12)
        return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
    except (OverflowError, ValueError, IndexError):
        return None


def _lifetimes(sentence: str, offset: int, dates: Sequence[DateMention]) -> Iterator[LogicFinding]:
    """Check "born in 1950 and died in 1940", and "born in 1950 ... died in 2001 aged 45"."""
    lower = sentence.lower()
    for begin, end in _BEGIN_AND_END:
        first, last = (mention_after_verb(lower, verb, dates, _REACH, _SEPARATOR) for verb in (begin, end))
        if first is None or last is None or first is last:
            continue
        earliest, latest = _bounds(first), _bounds(last)
        if earliest is None or latest is None:
            continue
        if begin == "departed" and (earliest[0] - latest[1]).days <= 1:
            continue  # across the date line one arrives on the day before
        if latest[1] < earliest[0]:
            message = f"What {begin} in {_written(sentence, first)} cannot have {end} in {_written(sentence, last)}."
            if begin in {"born", "founded", "established"}:
                stated_dates = (
                    f"{begin.capitalize()} in {_written(sentence, first)}, {end} in {_written(sentence, last)}"
                )
                message = f"{stated_dates}: the end is before the beginning."
            yield LogicFinding("logic.order", message, _span(offset, last.start, last.end), (), 0.95)
        elif begin == "born":
            yield from _check_age(sentence, offset, (earliest, latest), last)


def _check_age(
    sentence: str, offset: int, ends: tuple[tuple[date, date], tuple[date, date]], died: DateMention
) -> Iterator[LogicFinding]:
    match = _AGE.search(sentence, died.end, died.end + 30)
    if match is None:
        return
    age = int(match.group(1))
    born, dead = ends
    least, most = _age_on(born[1], dead[0]), _age_on(born[0], dead[1])
    if not least <= age <= most:
        span = f"{least}" if least == most else f"{least} or {most}" if most - least == 1 else f"{least} to {most}"
        message = f"By the dates that the sentence gives the age is {span}, not {age}."
        yield LogicFinding("logic.date", message, _span(offset, match.start(1), match.end(1)), (), 0.9)


def _age_on(born: date, day: date) -> int:
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def comparison_findings(text: str, start: int, end: int) -> list[LogicFinding]:
    """The wrong comparisons of two numbers.

    >>> [found.message for found in comparison_findings("Note that 9.11 is greater than 9.9.", 0, 35)]
    ['9.11 is not greater than 9.9.']
    """
    sentence = text[start:end]
    findings = []
    for match in (*_COMPARATIVE.finditer(sentence), *_SIGNS.finditer(sentence)):
        word = match.group(1).lower()
        left, right = _side_before(sentence, match.start()), _side_after(sentence, match.end())
        if left is None or right is None or left.dimension != right.dimension or left.dimension == "?":
            continue
        more = word in _MORE or word in ">≥"
        wrong = left.value < right.value if more else left.value > right.value
        if wrong or (left.value == right.value and word not in "≤≥" and left.unit == right.unit):
            comparison = sentence[left.start : right.end]
            message = f"{sentence[left.start : left.end]} is not {word} than {sentence[right.start : right.end]}."
            if word in "<>≤≥":
                message = f"{comparison} does not hold."
            findings.append(LogicFinding("logic.order", message, _span(start, left.start, right.end), (), 0.95))
    return findings


def _side_after(sentence: str, offset: int) -> Amount | None:
    """The number at an offset, unless something after it makes it a part of another expression."""
    tail = sentence[offset : offset + 60]
    reader = ExpressionReader(tail)
    try:
        amount, after = reader.expression(0)
    except (Unreadable, UnitClash):
        return None
    if (
        reader.kind(after) in {"operator", "percent", "number", "of"}
        or amount.start != 0
        or _counts_things(tail, amount)
    ):
        return None
    return _shift(amount, offset)


def _side_before(sentence: str, offset: int) -> Amount | None:
    start = max(0, offset - 60)
    head = sentence[start:offset]
    reader = ExpressionReader(head)
    for token in range(max(0, len(reader.tokens) - 4), len(reader.tokens)):
        if not reader.may_begin(token):
            continue
        try:
            amount, after = reader.expression(token)
        except (Unreadable, UnitClash):
            continue
        if after == len(reader.tokens) and not _counts_things(head, amount):
            return _shift(amount, start)
    return None


def _counts_things(text: str, amount: Amount) -> bool:
    """Whether a number without a unit counts something: "3 apples" and "2 pears" cannot be compared."""
    return amount.dimension == "count" and any(c.isalpha() for c in text[amount.start : amount.end])


def _shift(amount: Amount, by: int) -> Amount:
    return Amount(
        amount.value,
        amount.error,
        amount.dimension,
        amount.unit,
        amount.start + by,
        amount.end + by,
        amount.operators,
        amount.divided,
        amount.spaced,
    )


@dataclass(frozen=True, slots=True)
class _Relation:
    """One stated order: the first has more of a quality than the second, or came before it."""

    first: str
    second: str
    place: Span
    order: str
    """The comparative, such as `older`, or `before`."""
    tense: str
    """`past` or `present`; orders of different tenses are not combined."""


def order_findings(text: str) -> list[LogicFinding]:
    """The stated orders that form a cycle: A is taller than B, B than C, and C than A.

    >>> text = "Ada is taller than Ben. Ben is taller than Cleo. Cleo is taller than Ada."
    >>> [found.message for found in order_findings(text)]
    ['By the sentences before it, Ada is taller than Cleo, not the other way round.']
    """
    graphs: dict[tuple[str, str], list[_Relation]] = {}
    findings = []
    for stated in stated_orders(text):
        known = graphs.setdefault((stated.order, stated.tense), [])
        path = _path(known, stated.second, stated.first)
        if path:
            relation = "comes before" if stated.order == "before" else f"is {stated.order} than"
            if stated.order != "before" and stated.tense == "past":
                relation = f"was {stated.order} than"
            message = f"By the sentences before it, {stated.second} {relation} {stated.first}, not the other way round."
            others = tuple(step.place for step in path)
            findings.append(LogicFinding("logic.order", message, stated.place, others, 0.95))
        else:
            known.append(stated)
    return findings


def stated_orders(text: str) -> Iterator[_Relation]:
    """The orders that a text states outright, in reading order, each normalised to one direction.

    >>> [(one.first, one.second, one.order) for one in stated_orders("So Ada is younger than Ben.")]
    [('Ben', 'Ada', 'older')]
    """
    offset = 0
    for _ in range(MOST_RELATIONS):
        match = _ORDER.search(text, offset)
        if match is None:
            return
        offset = match.start(
            match.lastindex or 1
        )  # "A is taller than B and B is taller than C": B may begin the next one
        relation = _relation(text, match)
        if relation is not None:
            yield relation


def _relation(text: str, match: re.Match[str]) -> _Relation | None:
    first, second = match.group(1), match.group(match.lastindex or 1)
    start = match.start(1)
    lead = _LEADING_WORD.match(first)
    while lead is not None:
        first, start = first[lead.end() :], start + lead.end()
        lead = _LEADING_WORD.match(first)
    before = text[max(0, start - 16) : start]
    if not first or (_PART_OF.search(before) is not None and _AND_THEN.search(before) is None):
        return None
    if _NOT_STATED.search(_sentence_around(text, start, match.end())) is not None:
        return None
    first, second = (_ARTICLE.sub("", side) for side in (first, second))
    word = match.group("comparative") or match.group("order") or match.group("quality")
    base = _OPPOSITES.get(word, word)
    if (word in _REVERSED) != (match.group("much") == "less") or word == "after":
        first, second = second, first
    base = "before" if word in {"before", "after"} else base if match.group("comparative") else f"more {base}"
    tense = "past" if match.group("order") or match.group("verb") in {"was", "were"} else "present"
    return _Relation(first, second, Span(start=start, end=match.end()), base, tense)


def _sentence_around(text: str, start: int, end: int) -> str:
    """The sentence, or the part between semicolons, that contains a range."""
    sentence_start = max(text.rfind(mark, 0, start) for mark in (". ", "; ", "! ", "? ", "\n", ": "))
    stops = [at for mark in (". ", "; ", "! ", "?", "\n") if (at := text.find(mark, end)) >= 0]
    return text[max(sentence_start, start - _SEARCHED_AROUND) : min([*stops, end + _SEARCHED_AROUND, len(text)]) + 1]


def _path(relations: Sequence[_Relation], start: str, goal: str) -> list[_Relation]:
    """The stated orders that lead from one name to another; empty where there is no path."""
    reached: dict[str, list[_Relation]] = {start: []}
    waiting = [start]
    while waiting:
        name = waiting.pop(0)
        if name == goal and reached[name]:
            return reached[name]
        for relation in relations:
            if relation.first == name and relation.second not in reached:
                reached[relation.second] = [*reached[name], relation]
                waiting.append(relation.second)
    return []
