"""Numbers of a claim that the evidence does not state but that follow from it in one step, with the working.

Sums, differences, products, quotients, shares and changes in percent of numbers of the evidence, and of these with the
claim's own ("for a group of three" beside "11 a person"); the minutes between two times of day and the days between two
dates. A number of one significant digit is met by chance so often that the claim's words have to suggest the step.
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
_TOLERANCE = Decimal("0.006")
_FACTOR_TOLERANCE = Decimal("0.08")
_OVER = Decimal("0.2")
"""How far beyond "more than" or "less than" a value may lie, as a share, for it to be what was meant."""
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
    """A few words: "a sum"."""
    working: str
    """The calculation with its result: "11 × 3 = 33"."""
    specific: bool
    """Whether the number has several digits that matter, so that it is hardly met by chance."""
    suggested: bool
    """Whether the claim's words name the step, or the claim gives one of the numbers itself."""


def near(stated: Quantity, value: Decimal) -> bool:
    """Whether a computed value is what was stated, rounding of the stated form allowed."""
    if stated.low is None or stated.high is None:
        limit = stated.low if stated.low is not None else stated.high
        if limit is None:
            return False
        inside = value >= limit if stated.low is not None else value <= limit
        return inside and abs(value - limit) <= _OVER * abs(limit)
    if stated.dimension == "factor" and not stated.rounded:
        return abs(stated.value - value) <= _FACTOR_TOLERANCE * abs(stated.value)
    slack = max(stated.step, abs(value) * (Decimal("0.05") if stated.bound == "about" else _TOLERANCE))
    return stated.low - slack <= value <= stated.high + slack


_OF_TIME = frozenset({"the time between", "the days between"})


def _equal(stated: Quantity, value: Decimal) -> bool:
    """Whether a sum or a difference is what was stated: only a stated form that rounds may differ from it."""
    if not near(stated, value):
        return False
    if stated.bound != "exact" or stated.rounded or stated.low is None:
        return True
    slack = stated.step if has_fraction(stated.value) else Decimal(0)
    slack = stated.step if has_fraction(stated.value) else Decimal(0)
    return abs(value - stated.low) <= max(abs(value) * _EXACT, slack)


def _of_one_kind(quantities: Sequence[Quantity]) -> bool:
    """Whether numbers count the same sort of thing as far as their nouns tell."""
    if quantities[0].dimension != "count":
        return True
    named = [set(q.nouns) for q in quantities if q.nouns]
    return len(named) < 2 or all(one & named[0] for one in named[1:])


def derive(
    stated: Quantity,
    operands: Sequence[Quantity],
    cues: frozenset[str],
    *,
    own: Sequence[Quantity] = (),
    times: Sequence[DateMention] = (),
) -> Derivation | None:
    """The first step that leads to a stated number; none if no step does.

    Args:
        stated: the claim's number.
        operands: numbers of the evidence in their order.
        cues: the claim's words, folded.
        own: the claim's other numbers.
        times: dates and times of day of the evidence and of the claim.

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
    for how, working, suggested in _steps(stated, usable, others, times, cues):
        if suggested:
            return Derivation(how, working, specific or how in _OF_TIME, True)
        if specific and best is None:
            best = Derivation(how, working, True, False)
    return best


def _usable(quantity: Quantity) -> bool:
    return quantity.exact and quantity.dimension not in {"ordinal", "factor", "temperature"}


def _specific(stated: Quantity) -> bool:
    return len(stated.value.normalize().as_tuple().digits) >= _SPECIFIC_DIGITS


_Step = tuple[str, str, bool]
"""What kind of step it is, its working, and whether the claim's words suggest it."""


def _steps(
    stated: Quantity,
    usable: Sequence[Quantity],
    own: Sequence[Quantity],
    times: Sequence[DateMention],
    cues: frozenset[str],
) -> Iterator[_Step]:
    if stated.dimension in {"share", "factor"}:
        yield from _shares(stated, [*usable, *own], cues)
        return
    if stated.dimension == "time":
        yield from _spans(stated, times)
    same = [q for q in usable if q.dimension == stated.dimension]
    mine = [q for q in own if q.dimension == stated.dimension]
    yield from _differences(stated, same, mine, cues)
    yield from _sums(stated, same, mine, cues)
    yield from _parts_of(stated, same, usable, own, cues)
    yield from _products(stated, same, usable, own, cues)


def _low(quantity: Quantity) -> Decimal:
    """The value in base units of a number that `_usable` kept."""
    return quantity.low if quantity.low is not None else quantity.value


def _shown(quantity: Quantity) -> str:
    return format_number(quantity.value)


def _worked(parts: Sequence[Quantity], sign: str, stated: Quantity) -> str:
    return f"{f' {sign} '.join(map(_shown, parts))} = {_shown(stated)}"


def _differences(
    stated: Quantity, same: Sequence[Quantity], own: Sequence[Quantity], cues: frozenset[str]
) -> Iterator[_Step]:
    specific = _specific(stated)
    for a, b in _pairs(same, own):
        first, second = (a, b) if _low(a) > _low(b) else (b, a)
        if _low(first) != _low(second) and _equal(stated, _low(first) - _low(second)) and _of_one_kind((first, second)):
            yield (
                "a difference",
                _worked((first, second), "−", stated),
                bool(cues & _DIFFERENCE) or (specific and b in own),
            )


def _pairs(same: Sequence[Quantity], own: Sequence[Quantity]) -> Iterator[tuple[Quantity, Quantity]]:
    """Two numbers of which one at least is the evidence's."""
    yield from combinations(same, 2)
    for a in same:
        for b in own:
            yield a, b


def _sums(stated: Quantity, same: Sequence[Quantity], own: Sequence[Quantity], cues: frozenset[str]) -> Iterator[_Step]:
    suggested = bool(cues & _SUM)
    for size in range(min(_MOST_SUMMED, len(same)), 1, -1):
        for at in range(len(same) - size + 1):
            some = same[at : at + size]
            if _equal(stated, sum(map(_low, some), Decimal(0))) and _of_one_kind(some):
                yield "a sum", _worked(some, "+", stated), suggested
    for a, b in _pairs(same, own):
        if _equal(stated, _low(a) + _low(b)) and _of_one_kind((a, b)):
            yield "a sum", _worked((a, b), "+", stated), suggested


def _parts_of(
    stated: Quantity,
    same: Sequence[Quantity],
    usable: Sequence[Quantity],
    own: Sequence[Quantity],
    cues: frozenset[str],
) -> Iterator[_Step]:
    """A share of a number, and a number with a share added or taken off."""
    shares = [q for q in (*usable, *own) if q.dimension == "share" and _low(q) > 0]
    for a in same:
        for share in shares:
            part = _low(a) * _low(share)
            said = f"{format_number(share.low * 100 if share.low is not None else share.value)}%"
            if near(stated, part):
                yield "a share", f"{said} of {_shown(a)} = {_shown(stated)}", bool(cues & _SHARE)
            for sign, value in (("+", _low(a) + part), ("−", _low(a) - part)):
                if near(stated, value):
                    yield "a change", f"{_shown(a)} {sign} {said} = {_shown(stated)}", bool(cues & (_CHANGE | _SHARE))


def _products(
    stated: Quantity,
    same: Sequence[Quantity],
    usable: Sequence[Quantity],
    own: Sequence[Quantity],
    cues: frozenset[str],
) -> Iterator[_Step]:
    """So many times a value, and a value parted among so many."""
    specific = _specific(stated)
    counts = [q for q in (*own, *usable) if q.dimension in {"count", "time"} and q.value > 1]
    for rate in usable:
        of = rate.dimension.removeprefix(f"{stated.dimension}/")
        for n in (*own, *usable) if of != rate.dimension else ():
            if n.dimension == of and near(stated, _low(rate) * _low(n)):
                yield "a product", f"{_shown(rate)} × {_shown(n)} = {_shown(stated)}", True
    for a in same:
        for n in counts:
            if n is a:
                continue
            given = n in own
            if _equal(stated, _low(a) * n.value):
                yield "a product", _worked((a, n), "×", stated), bool(cues & _PRODUCT) or (specific and given)
            if near(stated, _low(a) / n.value):
                yield "a part", _worked((a, n), "÷", stated), bool(cues & _QUOTIENT)
    for n in own:
        for b in usable:
            if n.dimension != b.dimension or not _low(b) or _low(n) == _low(b):
                continue
            ratio = _low(n) / _low(b)
            for a in same:
                if a is not b and _equal(stated, _low(a) * ratio):
                    working = f"{_shown(a)} × {_shown(n)} ÷ {_shown(b)} = {format_number(a.value * ratio)}"
                    yield "a proportion", working, specific or (a.dimension != n.dimension and ratio > 1)
    if cues & _QUOTIENT and len(same) > 1:
        for size in range(2, min(_MOST_SUMMED, len(same)) + 1):
            for at in range(len(same) - size + 1):
                some = same[at : at + size]
                beside = [*same[max(0, at - 1) : at], *same[at + size : at + size + 1]]
                if any(_of_one_kind((*some, one)) for one in beside):
                    continue  # an average leaves out none of what it is of
                if near(stated, sum(map(_low, some), Decimal(0)) / size):
                    parts = " + ".join(map(_shown, some))
                    yield "an average", f"({parts}) ÷ {size} = {_shown(stated)}", True


def _shares(stated: Quantity, operands: Sequence[Quantity], cues: frozenset[str]) -> Iterator[_Step]:
    """A factor between two numbers, a share that one is of another, a change in percent, what a share leaves."""
    suggested = bool(cues & _SHARE)
    for first, second in combinations(operands, 2):
        if first.dimension != second.dimension or not _low(first) or not _low(second):
            continue
        for a, b in ((first, second), (second, first)):
            ratio = _low(a) / _low(b)
            working = f"{_shown(a)} ÷ {_shown(b)} = {format_number(ratio)}"
            if stated.dimension == "factor":
                if (ratio > 1) == (stated.value >= 1) and near(stated, ratio):
                    yield "a ratio", working, suggested
            elif cues & _CHANGE and near(stated, abs(_low(b) - _low(a)) / abs(_low(b))):
                change = f"({_shown(a)} − {_shown(b)}) ÷ {_shown(b)} = {format_number((ratio - 1) * 100)}%"
                yield "a change in percent", change, suggested
            elif ratio < 1 and not cues & _CHANGE and near(stated, ratio):
                yield "a ratio", working, suggested
    if stated.dimension == "share":
        for one in operands:
            if one.dimension == "share" and near(stated, 1 - _low(one)):
                left = f"100% − {format_number(_low(one) * 100)}% = {format_number((1 - _low(one)) * 100)}%"
                yield "the rest", left, bool(cues & _DIFFERENCE)


def _spans(stated: Quantity, times: Sequence[DateMention]) -> Iterator[_Step]:
    if stated.exact and stated.bound == "exact" and not stated.rounded:
        stated = replace(stated, step=Decimal(0))  # "two hours" is not an hour and a half
    clocks = [t for t in times if t.minute is not None][:_MOST_TIMES]
    for a, b in combinations(clocks, 2):
        between = abs((a.minute or 0) - (b.minute or 0))
        lengths = {between, _DAY - between}
        if not (a.half_day and b.half_day):
            lengths |= {between % _HALF_DAY, _HALF_DAY - between % _HALF_DAY}
        for minutes in sorted(lengths - {0}):
            if near(stated, Decimal(minutes * _MINUTE_SECONDS)):
                yield "the time between", f"{_clock(a)} to {_clock(b)}: {minutes} minutes", True
    days = [(d, found) for d in times if (found := _day(d)) is not None][:_MOST_TIMES]
    for (_, first), (_, last) in combinations(days, 2):
        count = abs((first - last).days)
        for both in (count, count + 1):  # with the last day or without it
            if count and near(stated, Decimal(both * _DAY_SECONDS)):
                early, late = sorted((first, last))
                yield "the days between", f"{early:%-d %B} to {late:%-d %B}: {both} days", True


def length_of(first: DateMention, last: DateMention) -> tuple[frozenset[int], str] | None:
    """The lengths in seconds that two times of day or two days may be apart, and the working; none for other pairs."""
    if first.minute is not None and last.minute is not None and first.half_day and last.half_day:
        minutes = (last.minute - first.minute) % _DAY
        return frozenset({minutes * _MINUTE_SECONDS}), f"{_clock(first)} to {_clock(last)}: {in_hours(minutes)}"
    days = _day(first), _day(last)
    if first.minute is None and last.minute is None and days[0] is not None and days[1] is not None:
        count = (days[1] - days[0]).days
        if count > 0 and (first.year is None) is (last.year is None):
            lengths = frozenset({count * _DAY_SECONDS, (count + 1) * _DAY_SECONDS})
            form = "%-d %B %Y" if first.year is not None else "%-d %B"
            return lengths, f"{days[0]:{form}} to {days[1]:{form}}: {count + 1} days with the last one"
    return None


def in_hours(minutes: int) -> str:
    """A length of time for people.

    >>> in_hours(50), in_hours(450)
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
