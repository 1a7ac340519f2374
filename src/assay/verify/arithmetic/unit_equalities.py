"""Checks an amount stated in two units: "2 km is 2500 m", "5 km (6 miles)", "an hour has 50 minutes", "20 °C = 80 °F".

The words between two amounts must state that they are equal; both are then converted to the base unit and compared. The
rounding of the written figures is allowed for, as are the several sizes of a unit: a gallon of either country, a
gigabyte of 1000 or 1024 megabytes, a week of five working days.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, product
from typing import Final

from assay.schema import Span
from assay.text.dates import find_dates
from assay.text.quantities import UNIT_WORDS, Quantity, find_quantities
from assay.verify.arithmetic.figures import format_number
from assay.verify.logic.findings import LogicFinding

_MEASURED_DIMENSIONS: Final = frozenset(
    {"length", "mass", "volume", "area", "data", "energy", "power", "pressure", "time", "temperature", "length/time"}
)
_EXACT: Final = Decimal("0.001")
_CONVERSION: Final = Decimal("0.02")
"""The relative error allowed for an amount converted between two systems of units: 1 mile is 1.6 km."""
_ASIDE: Final = Decimal("0.05")
"""The same for an amount in brackets, which is given for orientation."""
_LOOSE: Final = Decimal("0.1")
"""The same for an amount that is stated as approximate."""
_DEGREES: Final = Decimal("1.5")

_METRIC: Final = frozenset(
    {
        "m",
        "cm",
        "mm",
        "µm",
        "nm",
        "km",
        "kg",
        "g",
        "mg",
        "µg",
        "t",
        "l",
        "ml",
        "cl",
        "m³",
        "m²",
        "km²",
        "ha",
        "J",
        "kJ",
        "kWh",
        "MWh",
        "GWh",
        "TWh",
        "W",
        "kW",
        "MW",
        "GW",
        "Pa",
        "kPa",
        "hPa",
        "bar",
        "B",
        "kB",
        "MB",
        "GB",
        "TB",
        "PB",
    }
)
_TIME_UNITS: Final = frozenset(
    {"s", "ms", "µs", "ns", "min", "h", "d", "wk", "fortnight", "mo", "yr", "quarter", "decade", "century"}
)
_OTHER_SIZES: Final[dict[str, tuple[Decimal, ...]]] = {
    "t": (Decimal("907184.74"), Decimal("1016046.9088")),
    "ton": (Decimal(1000000), Decimal("1016046.9088")),
    "gal": (Decimal("4.54609"),),
    "qt": (Decimal("1.1365225"),),
    "pt": (Decimal("0.56826125"),),
    "oz": (Decimal("31.1034768"),),
    "lb": (Decimal(500),),
    "cal": (Decimal(4184),),
    "mi": (Decimal(1852),),
    "hp": (Decimal("735.49875"),),
    "bbl": (Decimal("163.65924"), Decimal("117.347765")),
    "kB": (Decimal(1024),),
    "MB": (Decimal(1024) ** 2,),
    "GB": (Decimal(1024) ** 3,),
    "TB": (Decimal(1024) ** 4,),
    "PB": (Decimal(1024) ** 5,),
}
"""Further sizes of units with several: short, long and metric tons, imperial and US measures, the food calorie, powers
of 1024."""
_CALENDAR_RANGES: Final[dict[tuple[str, str], tuple[tuple[Decimal, Decimal], ...]]] = {
    ("d", "h"): ((Decimal(6), Decimal(12)),),
    ("d", "min"): ((Decimal(360), Decimal(720)),),
    ("wk", "h"): ((Decimal(30), Decimal(60)),),
    ("wk", "d"): ((Decimal(5), Decimal(6)),),
    ("mo", "wk"): ((Decimal(4), Decimal("4.5")),),
    ("mo", "d"): ((Decimal(20), Decimal(23)), (Decimal(28), Decimal(31))),
    ("yr", "d"): ((Decimal(220), Decimal(262)), (Decimal(360), Decimal(366))),
    ("yr", "wk"): ((Decimal(44), Decimal(48)), (Decimal(52), Decimal(53))),
    ("quarter", "wk"): ((Decimal(12), Decimal(14)),),
    ("quarter", "d"): ((Decimal(60), Decimal(66)), (Decimal(89), Decimal(92))),
    ("yr", "h"): ((Decimal(1500), Decimal(2200)), (Decimal(8640), Decimal(8784))),
    ("mo", "h"): ((Decimal(120), Decimal(200)), (Decimal(672), Decimal(744))),
}
"""How many of the smaller unit make one of the larger in working time, or where months and years differ in length."""

_ABOUT: Final = (
    r"(?:(?:about|approximately|roughly|around|nearly|almost|some|just\s(?:over|under)|exactly|approx\.?)\s|[~≈]\s?)?"
)
_ABOUT_WORD: Final = re.compile(
    r"(?:about|approximately|roughly|around|nearly|almost|some|over|under|more|less|approx\.?|~|≈|or so)\s*\S{0,3}$",
    re.IGNORECASE,
)
_EXTENT: Final = r"(?:\s(?:long|wide|high|tall|deep|thick|away|apart|across|in\s(?:length|width|height)))?"
"""What may follow the first amount: "2 km long, which is 2000 m"."""
_IN_BRACKETS: Final = re.compile(rf"{_EXTENT}\s?\((?:or\s|i\.e\.,?\s|=\s?)?{_ABOUT}", re.IGNORECASE)
_THAT_IS: Final = (
    r"(?:which\s(?:is|makes|equals|means|corresponds\sto|comes\sto|amounts\sto|is\sthe\ssame\sas|works\sout\s(?:as|at))"
    r"(?:\sequal\sto)?|(?:that|this)\s(?:is|makes|equals|means|comes\sto|corresponds\sto)(?:\sto\ssay)?,?|(?:that|this)[’']s|i\.e\.,?|"
    r"equivalent\sto|equal\sto|equalling|the\ssame\sas|corresponding\sto|(?:or,?\s)?in\sother\swords,?|"
    r"(?:or\s)?(?:put|said)\sdifferently,?|or\srather|meaning|making)"
)
"""Words which state that the amount after them equals the one before."""
_IN_PASSING: Final = re.compile(
    rf"{_EXTENT}(?:,|;|\s[–—])?\s\(?{_THAT_IS}\s{_ABOUT}",
    re.IGNORECASE,
)
_AFTER_NOUN: Final = re.compile(rf"{_EXTENT}(?:\s[a-z]\w+){{1,2}},?\s\(?{_THAT_IS}\s{_ABOUT}", re.IGNORECASE)
"""The same after the thing that has the first amount: "a 2 km route, which is 2000 m"."""
_NEXT_SENTENCE: Final = re.compile(
    rf"{_EXTENT}\.\s(?:(?:so|or)\s)?(?:in\s(?:\w+\s)?\w+,?\s(?:that|this|it)(?:\s(?:is|makes|equals|comes\sto|would\sbe)|[’']s)|"
    rf"(?:that|this)(?:\s(?:is|makes|equals|means|corresponds\sto|comes\sto|amounts\sto|works\sout\s(?:as|at))|[’']s)"
    rf"(?:\s(?:equal|equivalent)\sto|\sthe\ssame\sas)?)\s{_ABOUT}",
    re.IGNORECASE,
)
"""The same in a sentence of its own: "It is 2 km long. That is 2000 m"."""
_COMES_TO: Final = re.compile(r"\b(?:mak(?:es|ing)|comes\sto|amounts\sto|works\sout)\b", re.IGNORECASE)
_REPETITION: Final = re.compile(
    r"\b(?:each|every|apiece|per|both|times|twice|daily|weekly|a\s(?:day|week|night|lap|month|year|side|round))\b",
    re.IGNORECASE,
)
"""Words of repetition, with which an amount counts several times: "Each lap is 400 m, which makes 4 km"."""
_MULTIPLE_OF: Final = re.compile(r"(?:\s[a-z]\w+){0,3}\s(?:of|at|x|×|à|by)\s(?:the\s)?", re.IGNORECASE)
_SEARCHED_AROUND: Final = 120
"""Characters before and after two amounts that are searched for `_TIMES`."""
_REFERS_BACK: Final = re.compile(r"(?:(?:so|or)\s)?(?:that|this|in)\b", re.IGNORECASE)
_STOP: Final = re.compile(r"\s*(?:[.;:!?)\]]|,(?!\d)|$)")
_EQUALS: Final = re.compile(
    rf"(?:\s?[=≈]\s?|\s(?:is|are|makes?|equals?|is\sequal\sto|are\sequal\sto|is\sthe\ssame\sas|are\sthe\ssame\sas|"
    rf"corresponds?\sto|converts?\sto|amounts?\sto|comes?\sto|works?\sout\s(?:as|at)|has|have|contains?)\s){_ABOUT}",
    re.IGNORECASE,
)
_IN: Final = re.compile(r"\sin\s", re.IGNORECASE)
_THERE_IS: Final = re.compile(r"\bthere\s(?:are|is)\s(?:about\s|exactly\s)?$", re.IGNORECASE)
_CLAUSE_START: Final = re.compile(
    r"(?:^|[.;:,(—|>*•]\s?|\b(?:that|so|since|because|as|and|but|where|while|therefore|thus|hence|then|also)\s|"
    r"\b(?:distance|length|height|width|depth|journey|trip|route|walk|race|marathon|weight|mass|duration|period|area|"
    r"volume|capacity|temperature|time|wait|delay|notice|size|speed)\sof\s)(?:about\s|the\s|an?\s|its\s)?$",
    re.IGNORECASE,
)
"""What may come before an amount at the start of its clause; "leave after 2 hours is 30 minutes" equates nothing."""
_END: Final = re.compile(
    r"\s*(?:[.;:!?)\]|]|,(?!\d)|$)|\s(?:and|but|so|long|wide|high|tall|deep|away|altogether|in\stotal|exactly)\b",
    re.IGNORECASE,
)
_BINDING_SIGNS: Final = frozenset("+*/×^-–=<>(⁄·%")
_RANGE_START: Final = re.compile(r"(?:between|from)\s(?:\S+\s){1,3}(?:and|to)\s$", re.IGNORECASE)
_ONE_UNIT: Final = re.compile(r"\b(?P<article>an?|one)\s(?P<unit>[a-z]{3,14})\b", re.IGNORECASE)
_COMPOUND_GAP: Final = re.compile(r"(?:\s|,\s|\sand\s|-)")


@dataclass(frozen=True, slots=True)
class _Measure:
    """One amount as it is written, and in the base unit."""

    base: Decimal
    """Its value in the base unit of its dimension."""
    step: Decimal
    """Half a unit of its last written place, in the base unit; 0 for "a mile"."""
    rounded: bool
    dimension: str
    """Empty for a quantity that is not measured: it only separates its neighbours."""
    unit: str
    start: int
    end: int
    size: Decimal
    """How many base units its own unit has."""


def measure_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> list[LogicFinding]:
    """The wrong unit conversions of one sentence.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "2 km is 2500 m."
    >>> [found.message for found in measure_findings(text, find_quantities(text))]
    ['2 km is 2000 m, not 2500 m.']
    """
    findings = []
    measures = _measures(sentence, quantities)
    for before, (first, second) in zip((None, *measures), pairwise(measures), strict=False):
        if _is_multiple(sentence, before, first, second):
            continue
        tolerance = _stated_tolerance(sentence, first, second)
        if tolerance is None or first.dimension != second.dimension or first.unit == second.unit:
            continue
        if _are_equal(sentence, first, second, tolerance):
            continue
        reversed_ = _IN.fullmatch(sentence[first.end : second.start]) is not None  # "50 minutes in an hour"
        findings.append(_finding(sentence, *((second, first) if reversed_ else (first, second)), offset))
    return findings


def following_measure_findings(text: str, before: int, start: int, end: int) -> list[LogicFinding]:
    """The wrong conversion, in a sentence, of the only amount of the sentence before it.

    Args:
        text: the whole text.
        before: where the sentence before begins.
        start: where the sentence begins.
        end: where it ends.

    >>> text = "The bridge is 2 km long. That is 2500 m."
    >>> [found.message for found in following_measure_findings(text, 0, 25, len(text))]
    ['2 km is 2000 m, not 2500 m.']
    """
    if _REFERS_BACK.match(text, start, end) is None:
        return []
    both = text[before:end]
    measures = _measures(both, find_quantities(both, skip=[(d.start, d.end) for d in find_dates(both)]))
    earlier = [measure for measure in measures if measure.end <= start - before]
    later = [measure for measure in measures if measure.start >= start - before]
    if len(earlier) != 1 or not later:
        return []  # it is not clear which of several amounts is meant
    first, second = earlier[0], later[0]
    if _REPETITION.search(both) is not None:
        return []  # "Each lap is 400 m. That is 4 km."
    if first.dimension != second.dimension or first.unit == second.unit or not first.dimension:
        return []
    stated_equal = _NEXT_SENTENCE.fullmatch(both, first.end, second.start) is not None
    if not stated_equal or _STOP.match(both, second.end) is None or _are_equal(both, first, second, _CONVERSION):
        return []
    return [_finding(both, first, second, before)]


def _measures(sentence: str, quantities: Sequence[Quantity]) -> list[_Measure]:
    """The exact amounts of physical dimensions, with "6 feet 2 inches" as one amount, and amounts such as "a mile"."""
    measures: list[_Measure] = []
    for quantity in quantities:
        if (
            quantity.dimension not in _MEASURED_DIMENSIONS
            or not quantity.exact
            or quantity.low is None
            or not quantity.value
        ):
            measures.append(_placeholder(quantity))
            continue
        size = Decimal(1) if quantity.dimension == "temperature" else quantity.low / quantity.value
        measure = _Measure(
            quantity.low,
            quantity.step,
            quantity.rounded,
            quantity.dimension,
            quantity.unit,
            quantity.start,
            quantity.end,
            size,
        )
        before = measures[-1] if measures else None
        if before is not None and _continues(sentence, before, measure):
            measures[-1] = _Measure(
                before.base + measure.base,
                measure.step,
                measure.rounded,
                measure.dimension,
                f"{before.unit} {measure.unit}",
                before.start,
                measure.end,
                measure.size,
            )
            continue
        measures.append(measure)
    spans = [(measure.start, measure.end) for measure in measures]
    for match in _ONE_UNIT.finditer(sentence):
        unit = UNIT_WORDS.get(match["unit"].lower())
        if unit is None or unit.dimension not in _MEASURED_DIMENSIONS or unit.dimension == "temperature":
            continue
        if not any(start < match.end() and match.start() < end for start, end in spans):
            measures.append(
                _Measure(unit.size, Decimal(0), False, unit.dimension, unit.name, match.start(), match.end(), unit.size)
            )
    return sorted(measures, key=lambda measure: measure.start)


def _placeholder(quantity: Quantity) -> _Measure:
    """A placeholder for a quantity that is not measured, so that the measures around it do not become neighbours."""
    return _Measure(Decimal(0), Decimal(0), False, "", "", quantity.start, quantity.end, Decimal(1))


def _continues(sentence: str, first: _Measure, second: _Measure) -> bool:
    smaller = first.dimension == second.dimension and first.dimension != "temperature" and second.size < first.size
    return (
        smaller and second.base < first.size and _COMPOUND_GAP.fullmatch(sentence[first.end : second.start]) is not None
    )


def _stated_tolerance(sentence: str, first: _Measure, second: _Measure) -> Decimal | None:
    """The relative error allowed where the words state that the two are equal; none where they do not state that."""
    gap = sentence[first.end : second.start]
    before = sentence[: first.start].rstrip()[-1:]
    if before in _BINDING_SIGNS and before:
        return None
    if sentence[second.end : second.end + 1] == ")" and _IN_BRACKETS.fullmatch(gap) is not None:
        return _ASIDE
    if _END.match(sentence, second.end) is None:
        return None  # "2 m, which is 50 cm more than before"
    if _IN_PASSING.fullmatch(gap) is not None:
        return _CONVERSION
    if _AFTER_NOUN.fullmatch(gap) is not None:
        return _CONVERSION if _STOP.match(sentence, second.end) is not None else None
    lead = sentence[max(0, first.start - 60) : first.start]
    if _IN.fullmatch(gap) is not None:
        return _CONVERSION if _THERE_IS.search(lead) is not None else None
    equality = _EQUALS.fullmatch(gap)
    if equality is None or _RANGE_START.search(lead) is not None:
        return None
    if equality.group().strip().lower() in {"has", "have", "contain", "contains"} and first.base != first.size:
        return None  # "2 hours have 30 minutes of ..." does not equate units
    return _CONVERSION if _CLAUSE_START.search(lead) is not None or first.start == 0 else None


def _is_multiple(sentence: str, before: _Measure | None, first: _Measure, second: _Measure) -> bool:
    """Whether the second amount may be several times the first: "10 laps of 400 m, which is 4 km"."""
    if before is not None and _MULTIPLE_OF.fullmatch(sentence, before.end, first.start) is not None:
        return True
    return (
        _COMES_TO.search(sentence, first.end, second.start) is not None
        and _REPETITION.search(
            sentence, max(0, first.start - _SEARCHED_AROUND), min(len(sentence), second.end + _SEARCHED_AROUND)
        )
        is not None
    )


def _are_equal(sentence: str, first: _Measure, second: _Measure, tolerance: Decimal) -> bool:
    if first.dimension == "temperature":
        return _equal_degrees(first, second)
    exact = {first.unit, second.unit} <= _METRIC or {first.unit, second.unit} <= _TIME_UNITS
    share = _EXACT if exact and tolerance != _ASIDE else tolerance
    before = sentence[max(0, second.start - 20) : second.start]
    stated = sentence[second.start : second.start + 12].split(" ", maxsplit=1)[0]
    if _ABOUT_WORD.search(before) is not None or _ABOUT_WORD.search(stated) is not None:
        share = _LOOSE
    for first_size, second_size in product(_sizes(first), _sizes(second)):
        first_value, second_value = first.base / first.size * first_size, second.base / second.size * second_size
        slack = second.step + (first.step if first.rounded or tolerance == _ASIDE else Decimal(0))
        if abs(first_value - second_value) <= max(first_value, second_value) * share + slack:
            return True
    return first.dimension == "time" and _equal_in_calendar(first, second)


def _sizes(measure: _Measure) -> tuple[Decimal, ...]:
    return (measure.size, *_OTHER_SIZES.get(measure.unit, ()))


def _equal_in_calendar(first: _Measure, second: _Measure) -> bool:
    large, small = (first, second) if first.size > second.size else (second, first)
    ranges = _CALENDAR_RANGES.get((large.unit, small.unit), ())
    many, few = small.base / small.size, large.base / large.size
    slack = small.step / small.size
    return bool(few) and any(low * few - slack <= many <= high * few + slack for low, high in ranges)


def _equal_degrees(first: _Measure, second: _Measure) -> bool:
    """Whether two amounts are equal as temperatures, or as differences of temperatures: "a rise of 2 °C (3.6 °F)"."""
    if abs(first.base - second.base) <= _DEGREES + first.step + second.step:
        return True
    rise = _degrees(first), _degrees(second)
    return abs(rise[0] - rise[1]) <= Decimal("0.6") + first.step + second.step


def _degrees(measure: _Measure) -> Decimal:
    """The number of degrees, as a difference in kelvins."""
    if measure.unit == "°F":
        return measure.base - Decimal("459.67") * 5 / 9
    return measure.base - Decimal("273.15") if measure.unit == "°C" else measure.base


def _finding(sentence: str, first: _Measure, second: _Measure, offset: int) -> LogicFinding:
    written, stated = sentence[first.start : first.end], sentence[second.start : second.end]
    message = f"{written} and {stated} are not the same."
    if first.dimension != "temperature" and " " not in second.unit:
        value = first.base / second.size
        message = f"{written} is {format_number(value, 2 if abs(value) >= 1 else 4)} {second.unit}, not {stated}."
    place = Span(start=offset + second.start, end=offset + second.end)
    premise = Span(start=offset + first.start, end=offset + first.end)
    return LogicFinding("logic.unit", message[:1].upper() + message[1:], place, (premise,), 0.9)
