"""Derives a number of a claim that the evidence does not state from numbers of the evidence in one step.

The steps are sums, differences, products, quotients, shares and percentage changes of numbers of the evidence, also
together with other numbers of the claim ("for a group of three" with the evidence "11 a person"), the minutes between
two times of day, and the days between two dates. A number with one significant digit often results by chance, so the
claim's words have to suggest the step.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from assay.text.dates import DateMention
from assay.text.lexicon import word_set
from assay.text.quantities import Quantity
from assay.verify.arithmetic.changes import NO_COURSE, Course
from assay.verify.arithmetic.figures import format_number, has_fraction

_SUM = word_set(
    """total totaling totalling totals totaled totalled sum combined altogether together overall all plus both comes
    come amounts"""
)
_DIFFERENCE = word_set(
    """difference differ more less fewer higher lower increase increased decrease decreased gain gained loss lost
    fell rose dropped drop grew added reduced cut remaining left older younger longer shorter later earlier than
    margin without save saves saved cheaper dearer faster slower ahead behind over short after before beyond
    rest other others still empty"""
)
_PRODUCT = word_set("times each per total product multiplied every altogether comes come amounts")
_QUOTIENT = word_set("each per average averages averaged averaging mean typically apiece every half third quarter")
_SHARE = word_set(
    """percent per share proportion rate fraction ratio increase increased increases increasing rise rose risen grew
    grown growth gain gained jump jumped climbed decrease decreased decreases fell fall fallen drop dropped decline
    declined reduced reduction cut shrank times tripled doubled half quarter off discount third"""
)
_CHANGE = word_set(
    """increase increased increases increasing rise rose risen grew grown growth gain gained jump jumped climbed
    decrease decreased decreases fell fall fallen drop dropped decline declined reduced reduction cut shrank more
    less higher lower dearer cheaper"""
)
_CHANGED_BY = _CHANGE | _SHARE | word_set("added adds add plus surcharge deducted minus rebate")
_TOLERANCE = Decimal("0.006")
_FACTOR_TOLERANCE = Decimal("0.08")
_BOUND_TOLERANCE = Decimal("0.2")
"""How far beyond the limit of "more than" or "less than" a value may be, as a share of the limit."""
_EXACT = Decimal("0.001")
_MOST_SUMMED = 8
_MOST_TIMES = 8
_SPECIFIC_DIGITS = 2
_DAY_SECONDS, _MINUTE_SECONDS = 86_400, 60
_HALF_DAY, _DAY = 720, 1_440
_ANY_LEAP_YEAR = 2024


class Derivation(NamedTuple):
    """How a number follows from others."""

    how: str
    """The kind of step in a few words: "a sum"."""
    working: str
    """The calculation with its result: "11 × 3 = 33"."""
    specific: bool
    """Whether the number has several significant digits, so that it hardly results by chance."""
    suggested: bool
    """Whether the claim's words name the step, or the claim states one of the operands itself."""


def is_close(stated: Quantity, value: Decimal) -> bool:
    """Whether a computed value equals the stated one, up to the rounding of the stated form."""
    if stated.low is None or stated.high is None:
        limit = stated.low if stated.low is not None else stated.high
        if limit is None:
            return False
        inside = value >= limit if stated.low is not None else value <= limit
        return inside and abs(value - limit) <= _BOUND_TOLERANCE * abs(limit)
    if stated.dimension == "factor" and not stated.rounded:
        return abs(stated.value - value) <= _FACTOR_TOLERANCE * abs(stated.value)
    slack = max(stated.step, abs(value) * (Decimal("0.05") if stated.bound == "about" else _TOLERANCE))
    return stated.low - slack <= value <= stated.high + slack


_TIME_STEPS = frozenset({"the time between", "the days between"})


def _equals(stated: Quantity, value: Decimal) -> bool:
    """Whether a sum or a difference equals the stated value; it may differ only where the stated form is rounded."""
    if not is_close(stated, value):
        return False
    if stated.bound != "exact" or stated.rounded or stated.low is None:
        return True
    slack = stated.step if has_fraction(stated.value) else Decimal(0)
    return abs(value - stated.low) <= max(abs(value) * _EXACT, slack)


def _same_kind(quantities: Sequence[Quantity]) -> bool:
    """Whether numbers count the same kind of thing, judged by their nouns."""
    if quantities[0].dimension != "count":
        return True
    nouns = [set(q.nouns) for q in quantities if q.nouns]
    return len(nouns) < 2 or all(others & nouns[0] for others in nouns[1:])


def derive(
    stated: Quantity,
    operands: Sequence[Quantity],
    cues: frozenset[str],
    *,
    own: Sequence[Quantity] = (),
    times: Sequence[DateMention] = (),
    course: Course = NO_COURSE,
) -> Derivation | None:
    """The first suggested step that results in a stated number, else the first specific one; none if no step does.

    Args:
        stated: the claim's number.
        operands: numbers of the evidence in their order.
        cues: the claim's words, case-folded.
        own: the claim's other numbers.
        times: dates and times of day of the evidence and of the claim.
        course: the direction of the claim's change and the order of the operands; what goes the other way is no step.

    >>> from assay.text.quantities.detection import find_quantities
    >>> per_head, own, total = find_quantities("€11 and 3 persons and €33")
    >>> derive(total, [per_head], frozenset({"for"}), own=[own]).working
    '11 × 3 = 33'
    """
    if stated.bound in {"at_least", "at_most"} or stated.dimension == "ordinal":
        return None
    specific = _specific(stated)
    usable = [q for q in operands if _usable(q)]
    others = [q for q in own if _usable(q)]
    best: Derivation | None = None
    for how, working, suggested in _steps(stated, usable, others, times, cues, course):
        if suggested:
            return Derivation(how, working, specific or how in _TIME_STEPS, True)
        if specific and best is None:
            best = Derivation(how, working, True, False)
    return best


def _usable(quantity: Quantity) -> bool:
    return quantity.exact and quantity.dimension not in {"ordinal", "factor", "temperature"}


def _specific(stated: Quantity) -> bool:
    return len(stated.value.normalize().as_tuple().digits) >= _SPECIFIC_DIGITS


_Step = tuple[str, str, bool]
"""The kind of step, its working, and whether the claim's words suggest it."""


def _steps(
    stated: Quantity,
    usable: Sequence[Quantity],
    own: Sequence[Quantity],
    times: Sequence[DateMention],
    cues: frozenset[str],
    course: Course,
) -> Iterator[_Step]:
    if stated.dimension in {"share", "factor"}:
        yield from _shares(stated, [*usable, *own], cues, course)
        return
    if stated.dimension == "time":
        yield from _times_between(stated, times)
    same_dimension = [q for q in usable if q.dimension == stated.dimension]
    own_same_dimension = [q for q in own if q.dimension == stated.dimension]
    yield from _differences(stated, same_dimension, own_same_dimension, cues, course)
    yield from _sums(stated, same_dimension, own_same_dimension, cues)
    yield from _share_results(stated, same_dimension, [*usable, *own], cues, course)
    yield from _products(stated, same_dimension, usable, own, cues)


def _base(quantity: Quantity) -> Decimal:
    """The value in base units of a number that passed `_usable`."""
    return quantity.low if quantity.low is not None else quantity.value


def _written(quantity: Quantity) -> str:
    return format_number(quantity.value)


def _working(parts: Sequence[Quantity], sign: str, stated: Quantity) -> str:
    return f"{f' {sign} '.join(map(_written, parts))} = {_written(stated)}"


def _differences(
    stated: Quantity, same: Sequence[Quantity], own: Sequence[Quantity], cues: frozenset[str], course: Course
) -> Iterator[_Step]:
    specific = _specific(stated)
    for a, b in _pairs(same, own):
        first, second = (a, b) if _base(a) > _base(b) else (b, a)
        if (
            _base(first) != _base(second)
            and _equals(stated, _base(first) - _base(second))
            and _same_kind((first, second))
            and any(course.leads(old, new, _base(new) - _base(old)) for old, new in ((a, b), (b, a)))
        ):
            yield (
                "a difference",
                _working((first, second), "−", stated),
                bool(cues & _DIFFERENCE) or (specific and b in own),
            )


def _pairs(same: Sequence[Quantity], own: Sequence[Quantity]) -> Iterator[tuple[Quantity, Quantity]]:
    """The pairs of numbers of which at least one is from the evidence."""
    yield from combinations(same, 2)
    for a in same:
        for b in own:
            yield a, b


def _sums(stated: Quantity, same: Sequence[Quantity], own: Sequence[Quantity], cues: frozenset[str]) -> Iterator[_Step]:
    suggested = bool(cues & _SUM)
    for size in range(min(_MOST_SUMMED, len(same)), 1, -1):
        for first in range(len(same) - size + 1):
            run = same[first : first + size]
            if _equals(stated, sum(map(_base, run), Decimal(0))) and _same_kind(run):
                yield "a sum", _working(run, "+", stated), suggested
    for a, b in _pairs(same, own):
        if _equals(stated, _base(a) + _base(b)) and _same_kind((a, b)):
            yield "a sum", _working((a, b), "+", stated), suggested


def _share_results(
    stated: Quantity,
    same: Sequence[Quantity],
    operands: Sequence[Quantity],
    cues: frozenset[str],
    course: Course,
) -> Iterator[_Step]:
    """A share of a number, and a number increased or decreased by a share."""
    shares = [q for q in operands if q.dimension == "share" and _base(q) > 0]
    for a in same:
        for share in shares:
            part = _base(a) * _base(share)
            percentage = f"{format_number(share.low * 100 if share.low is not None else share.value)}%"
            if is_close(stated, part):
                yield "a share", f"{percentage} of {_written(a)} = {_written(stated)}", bool(cues & _SHARE)
            known = course.sign(share)
            for sign, value, other in (("+", _base(a) + part, -1), ("−", _base(a) - part, 1)):
                if known != other and is_close(stated, value):
                    yield (
                        "a change",
                        f"{_written(a)} {sign} {percentage} = {_written(stated)}",
                        bool(cues & _CHANGED_BY),
                    )


def _products(
    stated: Quantity,
    same: Sequence[Quantity],
    usable: Sequence[Quantity],
    own: Sequence[Quantity],
    cues: frozenset[str],
) -> Iterator[_Step]:
    """A value multiplied or divided by a count, a proportion, and an average."""
    specific = _specific(stated)
    counts = [q for q in (*own, *usable) if q.dimension in {"count", "time"} and q.value > 1]
    for rate in usable:
        counted = rate.dimension.removeprefix(f"{stated.dimension}/")
        for n in (*own, *usable) if counted != rate.dimension else ():
            if n.dimension == counted and is_close(stated, _base(rate) * _base(n)):
                yield (
                    "a product",
                    f"{_written(rate)} × {_written(n)} = {_written(stated)}",
                    True,
                )
    for a in same:
        for n in counts:
            if n is a:
                continue
            is_own = n in own
            if _equals(stated, _base(a) * n.value):
                yield "a product", _working((a, n), "×", stated), bool(cues & _PRODUCT) or (specific and is_own)
            if is_close(stated, _base(a) / n.value):
                yield "a part", _working((a, n), "÷", stated), bool(cues & _QUOTIENT)
    for n in own:
        for b in usable:
            if n.dimension != b.dimension or not _base(b) or _base(n) == _base(b):
                continue
            ratio = _base(n) / _base(b)
            for a in same:
                if a is not b and _equals(stated, _base(a) * ratio):
                    working = f"{_written(a)} × {_written(n)} ÷ {_written(b)} = {format_number(a.value * ratio)}"
                    yield "a proportion", working, specific or (a.dimension != n.dimension and ratio > 1)
    if cues & _QUOTIENT and len(same) > 1:
        for size in range(2, min(_MOST_SUMMED, len(same)) + 1):
            for first in range(len(same) - size + 1):
                run = same[first : first + size]
                neighbours = [*same[max(0, first - 1) : first], *same[first + size : first + size + 1]]
                if any(_same_kind((*run, neighbour)) for neighbour in neighbours):
                    continue  # an average is over all neighbouring values of its kind
                if is_close(stated, sum(map(_base, run), Decimal(0)) / size):
                    parts = " + ".join(map(_written, run))
                    yield "an average", f"({parts}) ÷ {size} = {_written(stated)}", True


def _shares(stated: Quantity, operands: Sequence[Quantity], cues: frozenset[str], course: Course) -> Iterator[_Step]:
    """The ratio of two numbers, one number's share of another, a percentage change, and the rest of a share."""
    suggested = bool(cues & _SHARE)
    for first, second in combinations(operands, 2):
        if first.dimension != second.dimension or not _base(first) or not _base(second):
            continue
        for a, b in ((first, second), (second, first)):
            ratio = _base(a) / _base(b)
            working = f"{_written(a)} ÷ {_written(b)} = {format_number(ratio)}"
            if stated.dimension == "factor":
                if (ratio > 1) == (stated.value >= 1) and is_close(stated, ratio):
                    yield "a ratio", working, suggested
            elif cues & _CHANGE and is_close(stated, abs(_base(b) - _base(a)) / abs(_base(b))):
                if not course.leads(b, a, _base(a) - _base(b)):
                    continue
                change = f"({_written(a)} − {_written(b)}) ÷ {_written(b)} = {format_number((ratio - 1) * 100)}%"
                yield "a change in percent", change, suggested
            elif ratio < 1 and not cues & _CHANGE and is_close(stated, ratio):
                yield "a ratio", working, suggested
    if stated.dimension == "share":
        for operand in operands:
            if operand.dimension == "share" and is_close(stated, 1 - _base(operand)):
                working_left = (
                    f"100% − {format_number(_base(operand) * 100)}% = {format_number((1 - _base(operand)) * 100)}%"
                )
                yield "the rest", working_left, bool(cues & _DIFFERENCE)


def _times_between(stated: Quantity, times: Sequence[DateMention]) -> Iterator[_Step]:
    if stated.exact and stated.bound == "exact" and not stated.rounded:
        stated = replace(stated, step=Decimal(0))  # "two hours" is not an hour and a half
    clocks = [t for t in times if t.minute is not None][:_MOST_TIMES]
    for a, b in combinations(clocks, 2):
        minutes_between = abs((a.minute or 0) - (b.minute or 0))
        lengths = {minutes_between, _DAY - minutes_between}
        if not (a.half_day and b.half_day):
            lengths |= {minutes_between % _HALF_DAY, _HALF_DAY - minutes_between % _HALF_DAY}
        for minutes in sorted(lengths - {0}):
            if is_close(stated, Decimal(minutes * _MINUTE_SECONDS)):
                yield "the time between", f"{_clock(a)} to {_clock(b)}: {minutes} minutes", True
    days = [(d, day) for d in times if (day := _day(d)) is not None][:_MOST_TIMES]
    for (_, first), (_, last) in combinations(days, 2):
        count = abs((first - last).days)
        for days_between in (count, count + 1):  # with the last day or without it
            if count and is_close(stated, Decimal(days_between * _DAY_SECONDS)):
                early, late = sorted((first, last))
                yield "the days between", f"{early:%-d %B} to {late:%-d %B}: {days_between} days", True


def lengths_between(first: DateMention, last: DateMention) -> tuple[frozenset[int], str] | None:
    """The possible lengths of time in seconds between two times of day or two days, and the working.

    None for other pairs. Days may be counted with the last one or without it.
    """
    if first.minute is not None and last.minute is not None and first.half_day and last.half_day:
        minutes = (last.minute - first.minute) % _DAY
        return frozenset({minutes * _MINUTE_SECONDS}), f"{_clock(first)} to {_clock(last)}: {format_minutes(minutes)}"
    days = _day(first), _day(last)
    if first.minute is None and last.minute is None and days[0] is not None and days[1] is not None:
        count = (days[1] - days[0]).days
        if count > 0 and (first.year is None) is (last.year is None):
            lengths = frozenset({count * _DAY_SECONDS, (count + 1) * _DAY_SECONDS})
            form = "%-d %B %Y" if first.year is not None else "%-d %B"
            return lengths, f"{days[0]:{form}} to {days[1]:{form}}: {count + 1} days with the last one"
    return None


def format_minutes(minutes: int) -> str:
    """A length of time in minutes, and from an hour on also in hours.

    >>> format_minutes(50), format_minutes(450)
    ('50 minutes', '450 minutes (7 h 30 min)')
    """
    hours, rest = divmod(minutes, 60)
    long = f" ({hours} h{f' {rest} min' if rest else ''})" if hours else ""
    return f"{minutes} minutes{long}"


def _clock(time: DateMention) -> str:
    hour, minute = divmod(time.minute or 0, 60)
    return f"{hour}:{minute:02d}"


def _day(mention: DateMention) -> dt.date | None:
    if mention.day is None or mention.month is None:
        return None
    try:
        return dt.date(mention.year or _ANY_LEAP_YEAR, mention.month, mention.day)
    except ValueError:
        return None
