"""Traces a number of an argument to the same number in a source, or through a derivation that honest callers use.

In order: the same number; a percentage in another form; a word, a headcount, a duration or a bound; another unit;
rounding; the length of a list; the parts of a date, the days between two dates and the time between two times of day; a
part of a known total; a sum, difference, product or quotient of two numbers, or a sum of up to three numbers of the
call's records (`calculations`); a constant.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import Final

from assay.schema.report_parts import SourceKind
from assay.text.quantities import KEY_UNITS, UNIT_SYMBOLS, UNIT_WORDS, Quantity, Unit
from assay.verify.tools.tracing.calculations import (
    LARGEST,
    NumberContext,
    first_place,
    from_records,
    from_two_numbers,
    last_place,
    part_of_total,
    plain_digits,
    same_number,
    sum_with_another,
)
from assay.verify.tools.tracing.sources import SourcePlace, Sources, SourceText
from assay.verify.tools.tracing.spoken_numbers import headcounts, spoken_durations
from assay.verify.tools.tracing.trace import Trace, chosen, derived

_MOST_PEOPLE: Final = 40
_PERCENT: Final = r"\s?(?:%|percent\b|per cent\b|pct\b)"
_SHORT_YEAR: Final = re.compile(r"['’](\d\d)\b")
_RATE_NAMES: Final = re.compile(
    r"rate|percent|pct|ratio|fraction|probab|discount|interest|tax|share|yield|growth|prob\b"
)
_IMPLYING_WORDS: Final = {
    Decimal(0): r"zero|none|no|nothing|never|rest|stationary|origin|free|without|empty|ground",
    Decimal("0.25"): r"quarter",
    Decimal("0.5"): r"half|halve",
    Decimal(1): r"once|single|one-way|an?|alone|solo|myself|first",
    Decimal(2): r"twice|double|both|couple|pair|second|every other|and (?:i|me|myself)|(?:me|myself) and",
    Decimal(3): r"thrice|triple|trio|third",
    Decimal(4): r"quadruple|quarterly|fourth|kings?|queens?|aces?|jacks?",
    Decimal(6): r"dice|die",
    Decimal(7): r"weekly|week",
    Decimal(10): r"decade",
    Decimal(12): r"(?<!half a )(?<!half-a-)dozen|monthly|annual\w*|year\w*",
    Decimal(13): r"hearts?|spades?|diamonds?|clubs?|suit",
    Decimal(14): r"fortnight|two weeks",
    Decimal(24): r"day|daily|hourly",
    Decimal(26): r"cards?",
    Decimal(30): r"month",
    Decimal(52): r"weekly|deck|cards",
    Decimal(60): r"minute|hour",
    Decimal(100): r"century|percent",
    Decimal(365): r"year|daily|annual\w*",
    Decimal(1000): r"an? (?:grand|thousand)",
    Decimal(1_000_000): r"an? million",
    Decimal(500): r"half a grand",
}
"""Well-known numbers that a word implies: of calendars, of common games, of frequency."""

_JOINED: Final = re.compile(r"[\s,]{0,3}(?:and\s)?")
_RARE: Final = frozenset({"quarter", "fortnight", "decade", "century"})
_UNITS_BY_DIMENSION: Final[dict[str, tuple[Unit, ...]]] = {
    dimension: tuple(
        {
            unit.name: unit
            for unit in [*UNIT_WORDS.values(), *UNIT_SYMBOLS.values(), *KEY_UNITS.values()]
            if unit.dimension == dimension and unit.name not in _RARE
        }.values()
    )
    for dimension in {unit.dimension for unit in [*UNIT_WORDS.values(), *UNIT_SYMBOLS.values()]}
}
_FEET: Final = re.compile(r"(\d)\s?(?:ft\.?|feet|foot|['’])\s?(?:and\s)?(\d{1,2})\s?(?:in\b|inch(?:es)?|[\"”]|'')?")
_INCH_SIZES: Final = (Decimal(1), 1 / Decimal(12), Decimal("2.54"), Decimal("0.0254"))
_PREFIXES: Final = {
    "p": Decimal("1e-12"),
    "n": Decimal("1e-9"),
    "µ": Decimal("1e-6"),
    "μ": Decimal("1e-6"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "c": Decimal("1e-2"),
    "k": Decimal("1e3"),
    "K": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
}
_PREFIXED: Final = re.compile(r"(?<![\w.])(\d{1,12}(?:\.\d{1,12})?)\s?([pnµμumckKMGT])[A-Za-zΩ]{1,3}\b")
_CONSTANTS: Final = tuple(
    Decimal(value)
    for value in (
        "3.14159265",
        "6.28318531",
        "1.57079633",
        "2.71828183",
        "1.41421356",
        "9.81",
        "9.8",
        "9.80665",
        "32.2",
        "1.6",
        "299792458",
        "3e8",
        "6.674e-11",
        "6.67430e-11",
        "6.626e-34",
        "1.381e-23",
        "6.022e23",
        "8.314",
        "0.0821",
        "8.9875e9",
        "8.99e9",
        "9e9",
        "8.854e-12",
        "1.2566e-6",
        "1.602e-19",
        "273.15",
        "343",
        "340",
        "101325",
        "1.225",
        "4.184",
        "4184",
        "5.67e-8",
        "1.609344",
        "0.45359237",
        "2.54",
        "3.28084",
        "180",
        "360",
    )
)
"""Well-known constants of mathematics and physics, and factors between units."""
_MONTHS: Final = Decimal(12)
_DAY_NAMES: Final = re.compile(r"day|date|month|when|time|start|end|from|until|since", re.IGNORECASE)
"""Names of arguments that may hold today's day or month: "3" guests are not the third of the month."""
_YEARS: Final = re.compile(r"(?:^|(?<!per)_)(?:years?|yrs?)$", re.IGNORECASE)
"""Names of arguments that count years; for these "annual" does not imply 12."""
_MONEY: Final = re.compile(r"amount|price|cost|payment|salary|budget|balance|fare", re.IGNORECASE)
"""Names of arguments that cannot hold a constant."""
_MOTION: Final = re.compile(r"(?:velocity|speed)$", re.IGNORECASE)
_SQUARED: Final = re.compile(r"\s?(?:\^\s?\d|[²³]|squared|cubed)")
"""The exponent after a unit, which makes it another unit: "9.8 m/s^2" is not a speed."""

_CONVERSION: Final = Decimal("0.005")
"""The relative error allowed for a conversion."""


def trace_number(value: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    """The trace of a number, regardless of its sign; none where it has no source."""
    target = abs(value)
    return same_number(target, sources) or next(
        (trace for derive in _DERIVATIONS if (trace := derive(target, sources, context)) is not None), None
    )


def _percentage(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    for other in (target * 100, target / 100):
        if other < LARGEST and (found := _find_percentage(other, sources)) is not None:
            return derived(f"{plain_digits(other)} as a percentage or a fraction", found)
        found = first_place(sources, other) if _RATE_NAMES.search(context.name.lower()) else None
        if found is not None:
            return derived(f"{plain_digits(other)} as a percentage or a fraction", found)
    return None


def _find_percentage(value: Decimal, sources: Sources) -> SourcePlace | None:
    pattern = rf"(?<![\d.]){re.escape(plain_digits(value))}(?:\.0+)?{_PERCENT}"
    for text in sources:
        match = re.search(pattern, text.lowercase)
        if match:
            return SourcePlace(text, *match.span())
    return None


def _headcount(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    """The number of people that a text lists: four for "me and three friends"."""
    if target != target.to_integral_value() or not 1 < target <= _MOST_PEOPLE:
        return None
    for text in sources:
        for start, end, count in headcounts(text.lowercase) if text.has_prose else ():
            if count == target:
                return derived(f'the people of "{text.text[start:end]}"', SourcePlace(text, start, end))
    return None


def _spoken_duration(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    """A duration that a text states with a half or a quarter, in any unit of time."""
    for text in sources:
        for start, end, seconds in spoken_durations(text.lowercase) if text.has_prose else ():
            for unit in _UNITS_BY_DIMENSION["time"]:
                if _is_close(seconds / unit.size, target):
                    return derived(f'"{text.text[start:end]}" in {unit.name}', SourcePlace(text, start, end))
    return None


def _within_bound(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    """The first whole number that a bound allows: 6 for "more than 5", 4 for "fewer than 5"."""
    for text in sources:
        for quantity in text.quantities if text.has_prose else ():
            step = {"more": 1, "less": -1}.get(quantity.bound)
            if step is not None and quantity.value + step == target:
                return derived("the first number within a bound", SourcePlace(text, quantity.start, quantity.end))
    return None


def _implied_by_word(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    pattern = _IMPLYING_WORDS.get(target)
    if pattern is None or (target == _MONTHS and _YEARS.search(context.name)):
        return None
    for text in sources:
        match = re.search(rf"\b(?:{pattern})\b", text.lowercase) if text.has_prose else None
        if match:
            return derived(f'the word "{match.group()}"', SourcePlace(text, *match.span()))
    return None


def _unit_conversion(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    motion = _MOTION.search(context.name) is not None
    years = _YEARS.search(context.name) is not None
    for text in sources:
        if not text.has_prose:
            continue
        for quantity, low, alone in _single_and_joined(text):
            found = SourcePlace(text, quantity.start, quantity.end)
            if _SQUARED.match(text.lowercase, quantity.end) or (motion and quantity.dimension == "length"):
                continue
            if quantity.dimension.startswith("money:") and _is_close(low * 100, target):
                return derived(f'"{found.text[:60]}" in hundredths', found)
            for unit in _UNITS_BY_DIMENSION.get(quantity.dimension, ()):
                other = (not alone or unit.name != quantity.unit) and (not years or unit.name == "year")
                if other and _is_close((low - unit.offset) / unit.size, target):
                    return derived(f'"{found.text[:60]}" in {unit.name}', found)
        for match in _FEET.finditer(text.lowercase):
            inches = Decimal(match.group(1)) * 12 + Decimal(match.group(2))
            if any(_is_close(inches * size, target) for size in _INCH_SIZES):
                return derived("feet and inches in one unit", SourcePlace(text, *match.span()))
        for match in _PREFIXED.finditer(text.text):
            if _is_close(Decimal(match.group(1)) * _PREFIXES[match.group(2)], target):
                return derived(f'"{match.group()}" without its prefix', SourcePlace(text, *match.span()))
    return None


def _single_and_joined(text: SourceText) -> Iterator[tuple[Quantity, Decimal, bool]]:
    """The quantities with their values in base units, and the sums of two adjacent ones ("2 hours 30 minutes").

    The third value is true for a single quantity and false for a sum.
    """
    previous: Quantity | None = None
    for quantity in text.quantities:
        if quantity.low is None:
            continue
        yield quantity, quantity.low, True
        side_by_side = previous is not None and _JOINED.fullmatch(text.text, previous.end, quantity.start)
        if side_by_side and previous and previous.low is not None and previous.dimension == quantity.dimension:
            yield quantity, previous.low + quantity.low, False
        previous = quantity


def _is_close(value: Decimal, target: Decimal) -> bool:
    return abs(value - target) <= max(abs(target) * _CONVERSION, Decimal("1e-9"))


def _rounded(target: Decimal, sources: Sources, _: NumberContext) -> Trace | None:
    if len(target.normalize().as_tuple().digits) < 3:
        return None
    step = last_place(target)
    for number in sources.numbers:
        try:
            near = abs(number - target) <= step / 2 and last_place(number) < step and number.quantize(step) == target
        except InvalidOperation:  # more digits than a decimal holds
            continue
        if near:
            return derived(f"{plain_digits(number)} rounded", first_place(sources, number))
    return None


def _list_length(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    if target != target.to_integral_value() or target > 100_000:
        return None
    if int(target) in context.lengths:
        return derived("how many items another argument has")
    for text in sources:
        if int(target) in text.list_lengths:
            return derived("how many items a list of the result has", SourcePlace(text, 0, len(text.text)))
    return None


def _constant(target: Decimal, _: Sources, context: NumberContext) -> Trace | None:
    """A constant, exactly, or to within 0.1% with at least three digits."""
    if _MONEY.search(context.name):
        return None
    digits = len(target.normalize().as_tuple().digits)
    if digits < 2 and target not in _CONSTANTS:
        return None
    known = any(target == value or (digits >= 3 and abs(target - value) <= value / 1000) for value in _CONSTANTS)
    return chosen("a constant that everyone knows") if known else None


def _calendar(target: Decimal, sources: Sources, context: NumberContext) -> Trace | None:
    if target != target.to_integral_value():
        return None
    number = int(target)
    for text in sources:
        for mention in text.date_mentions:
            minute = mention.minute
            clock = set() if minute is None else {minute, minute // 60, minute // 60 + 12 * (not mention.half_day)}
            if number in {mention.year, mention.month, mention.day, mention.last_year} | clock:
                return derived("part of a date or a time", SourcePlace(text, mention.start, mention.end))
        if (place := _short_year(text, number)) is not None:
            return derived("a year of two digits", SourcePlace(text, *place))
        if text.has_prose and len(text.minutes) > 1:
            apart = {abs(a - b) for a, b in combinations(list(text.minutes)[:20], 2)} - {0}
            if apart & {number, number // 60} or number * 60 in apart:
                return derived("the time between two times of day", SourcePlace(text, 0, len(text.text)))
    days = sorted(sources.days | ({sources.now} if sources.now else set()))[-200:]
    small = {sources.now.month, sources.now.day} if sources.now and _DAY_NAMES.search(context.name) else set()
    if sources.now and number in {sources.now.year} | small:
        return derived("part of today's date", source=SourceKind.CLOCK)
    if 0 < number <= 4000 and any(date.fromordinal(day.toordinal() + number) in days for day in days if _can_add(day)):
        return derived("the days between two dates")
    return _epoch_time(number, frozenset(days))


def _short_year(text: SourceText, year: int) -> tuple[int, int] | None:
    match = _SHORT_YEAR.search(text.text) if text.has_prose and 1900 <= year < 2100 else None
    return match.span() if match and int(match.group(1)) == year % 100 else None


def _can_add(day: date) -> bool:
    return day.year < 9900


def _epoch_time(number: int, days: frozenset[date]) -> Trace | None:
    """Seconds or milliseconds since 1970 that are on a day of the sources."""
    for seconds in (number, number // 1000):
        if 10**8 <= seconds < 10**10 and datetime.fromtimestamp(seconds, UTC).date() in days:
            return derived("a date in seconds since 1970")
    return None


_DERIVATIONS: Final = (
    _percentage,
    _implied_by_word,
    _headcount,
    _spoken_duration,
    _within_bound,
    _unit_conversion,
    _rounded,
    _list_length,
    _calendar,
    part_of_total,
    sum_with_another,
    from_two_numbers,
    from_records,
    _constant,
)
