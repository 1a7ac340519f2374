"""One amount said in two units: "2 km is 2500 m", "5 km (6 miles)", "an hour has 50 minutes", "20 °C = 80 °F".

Two amounts are read, then the words between them, which must say that they are the same; then both are brought into the
base unit and compared. What rounding of the written figures hides is allowed, and so is what people really mean by a
unit of several sizes: a gallon of either country, a gigabyte of 1000 or 1024 megabytes, a week of five working days.
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

_MEASURED: Final = frozenset(
    {"length", "mass", "volume", "area", "data", "energy", "power", "pressure", "time", "temperature", "length/time"}
)
_EXACT: Final = Decimal("0.001")
_ACROSS: Final = Decimal("0.02")
"""How far off an amount may be that was brought from one system of units into another: 1 mile is 1.6 km."""
_ASIDE: Final = Decimal("0.05")
"""The same for an amount in brackets or in passing, which is there for orientation."""
_LOOSE: Final = Decimal("0.1")
"""The same for one that is said to be approximate."""
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
_CLOCK: Final = frozenset(
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
"""Further sizes of units that are used for several: short, long and metric tons, imperial and US measures, the calorie
of food, powers of 1024."""
_CALENDAR: Final[dict[tuple[str, str], tuple[tuple[Decimal, Decimal], ...]]] = {
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
"""How many of the smaller make one of the larger where work, not the clock, is meant, or where months differ."""

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
"""What says of the amount behind it that it is the one before."""
_IN_PASSING: Final = re.compile(
    rf"{_EXTENT}(?:,|;|\s[–—])?\s\(?{_THAT_IS}\s{_ABOUT}",
    re.IGNORECASE,
)
_OF_A_THING: Final = re.compile(rf"{_EXTENT}(?:\s[a-z]\w+){{1,2}},?\s\(?{_THAT_IS}\s{_ABOUT}", re.IGNORECASE)
"""The same of a thing that has the amount: "a 2 km route, which is 2000 m"."""
_NEXT: Final = re.compile(
    rf"{_EXTENT}\.\s(?:(?:so|or)\s)?(?:in\s(?:\w+\s)?\w+,?\s(?:that|this|it)(?:\s(?:is|makes|equals|comes\sto|would\sbe)|[’']s)|"
    rf"(?:that|this)(?:\s(?:is|makes|equals|means|corresponds\sto|comes\sto|amounts\sto|works\sout\s(?:as|at))|[’']s)"
    rf"(?:\s(?:equal|equivalent)\sto|\sthe\ssame\sas)?)\s{_ABOUT}",
    re.IGNORECASE,
)
"""The same in a sentence of its own: "It is 2 km long. That is 2000 m"."""
_COMES_TO: Final = re.compile(r"\b(?:mak(?:es|ing)|comes\sto|amounts\sto|works\sout)\b", re.IGNORECASE)
_TIMES: Final = re.compile(
    r"\b(?:each|every|apiece|per|both|times|twice|daily|weekly|a\s(?:day|week|night|lap|month|year|side|round))\b",
    re.IGNORECASE,
)
"""Words with which an amount is taken several times: "Each lap is 400 m, which makes 4 km"."""
_TIMES_OF: Final = re.compile(r"(?:\s[a-z]\w+){0,3}\s(?:of|at|x|×|à|by)\s(?:the\s)?", re.IGNORECASE)
_NEAR: Final = 120
"""Characters before and behind that are looked at for them."""
_TAKEN_UP: Final = re.compile(r"(?:(?:so|or)\s)?(?:that|this|in)\b", re.IGNORECASE)
_STOPPED: Final = re.compile(r"\s*(?:[.;:!?)\]]|,(?!\d)|$)")
_STATED: Final = re.compile(
    rf"(?:\s?[=≈]\s?|\s(?:is|are|makes?|equals?|is\sequal\sto|are\sequal\sto|is\sthe\ssame\sas|are\sthe\ssame\sas|"
    rf"corresponds?\sto|converts?\sto|amounts?\sto|comes?\sto|works?\sout\s(?:as|at)|has|have|contains?)\s){_ABOUT}",
    re.IGNORECASE,
)
_WITHIN: Final = re.compile(r"\sin\s", re.IGNORECASE)
_THERE: Final = re.compile(r"\bthere\s(?:are|is)\s(?:about\s|exactly\s)?$", re.IGNORECASE)
_BEGUN: Final = re.compile(
    r"(?:^|[.;:,(—|>*•]\s?|\b(?:that|so|since|because|as|and|but|where|while|therefore|thus|hence|then|also)\s|"
    r"\b(?:distance|length|height|width|depth|journey|trip|route|walk|race|marathon|weight|mass|duration|period|area|"
    r"volume|capacity|temperature|time|wait|delay|notice|size|speed)\sof\s)(?:about\s|the\s|an?\s|its\s)?$",
    re.IGNORECASE,
)
"""What may stand before an amount that opens its clause: "leave after 2 hours is 30 minutes" is about no two hours."""
_ENDED: Final = re.compile(
    r"\s*(?:[.;:!?)\]|]|,(?!\d)|$)|\s(?:and|but|so|long|wide|high|tall|deep|away|altogether|in\stotal|exactly)\b",
    re.IGNORECASE,
)
_TIED: Final = frozenset("+*/×^-–=<>(⁄·%")
_OPEN: Final = re.compile(r"(?:between|from)\s(?:\S+\s){1,3}(?:and|to)\s$", re.IGNORECASE)
_UNIT: Final = re.compile(r"\b(?P<article>an?|one)\s(?P<unit>[a-z]{3,14})\b", re.IGNORECASE)
_PARTS: Final = re.compile(r"(?:\s|,\s|\sand\s|-)")


@dataclass(frozen=True, slots=True)
class _Measure:
    """One amount as it is written, and in the base unit."""

    base: Decimal
    step: Decimal
    """Half a unit of its last written place; 0 for "a mile"."""
    rounded: bool
    dimension: str
    unit: str
    start: int
    end: int
    size: Decimal
    """Base units to one of its own."""


def measure_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> list[LogicFinding]:
    """What one sentence brings into another unit wrongly.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "2 km is 2500 m."
    >>> [found.message for found in measure_findings(text, find_quantities(text))]
    ['2 km is 2000 m, not 2500 m.']
    """
    found = []
    measures = _measures(sentence, quantities)
    for before, (first, second) in zip((None, *measures), pairwise(measures), strict=False):
        if _several(sentence, before, first, second):
            continue
        form = _said_to_be_same(sentence, first, second)
        if form is None or first.dimension != second.dimension or first.unit == second.unit:
            continue
        if _same(sentence, first, second, form):
            continue
        turned = _WITHIN.fullmatch(sentence[first.end : second.start]) is not None  # "50 minutes in an hour"
        found.append(_finding(sentence, *((second, first) if turned else (first, second)), offset))
    return found


def following_measure_findings(text: str, before: int, start: int, end: int) -> list[LogicFinding]:
    """What a sentence brings into another unit wrongly of the amount that the sentence before it ends with.

    Args:
        text: the whole text.
        before: where the sentence before begins.
        start: where the sentence begins.
        end: where it ends.

    >>> text = "The bridge is 2 km long. That is 2500 m."
    >>> [found.message for found in following_measure_findings(text, 0, 25, len(text))]
    ['2 km is 2000 m, not 2500 m.']
    """
    if _TAKEN_UP.match(text, start, end) is None:
        return []
    both = text[before:end]
    measures = _measures(both, find_quantities(both, skip=[(d.start, d.end) for d in find_dates(both)]))
    earlier = [one for one in measures if one.end <= start - before]
    later = [one for one in measures if one.start >= start - before]
    if len(earlier) != 1 or not later:
        return []  # of several amounts it cannot be told which one is meant
    first, second = earlier[0], later[0]
    if _TIMES.search(both) is not None:
        return []  # "Each lap is 400 m. That is 4 km."
    if first.dimension != second.dimension or first.unit == second.unit or not first.dimension:
        return []
    said = _NEXT.fullmatch(both, first.end, second.start) is not None
    if not said or _STOPPED.match(both, second.end) is None or _same(both, first, second, _ACROSS):
        return []
    return [_finding(both, first, second, before)]


def _measures(sentence: str, quantities: Sequence[Quantity]) -> list[_Measure]:
    """The exact amounts of physical dimensions, amounts of two units ("6 feet 2 inches") as one, and "a mile"."""
    found: list[_Measure] = []
    for quantity in quantities:
        if quantity.dimension not in _MEASURED or not quantity.exact or quantity.low is None or not quantity.value:
            found.append(_nothing(quantity))
            continue
        size = Decimal(1) if quantity.dimension == "temperature" else quantity.low / quantity.value
        one = _Measure(
            quantity.low,
            quantity.step,
            quantity.rounded,
            quantity.dimension,
            quantity.unit,
            quantity.start,
            quantity.end,
            size,
        )
        before = found[-1] if found else None
        if before is not None and _continues(sentence, before, one):
            found[-1] = _Measure(
                before.base + one.base,
                one.step,
                one.rounded,
                one.dimension,
                f"{before.unit} {one.unit}",
                before.start,
                one.end,
                one.size,
            )
            continue
        found.append(one)
    taken = [(one.start, one.end) for one in found]
    for match in _UNIT.finditer(sentence):
        unit = UNIT_WORDS.get(match["unit"].lower())
        if unit is None or unit.dimension not in _MEASURED or unit.dimension == "temperature":
            continue
        if not any(start < match.end() and match.start() < end for start, end in taken):
            found.append(
                _Measure(unit.size, Decimal(0), False, unit.dimension, unit.name, match.start(), match.end(), unit.size)
            )
    return sorted(found, key=lambda one: one.start)


def _nothing(quantity: Quantity) -> _Measure:
    """What takes a quantity's place among the measures, so that those around it are not taken for neighbours."""
    return _Measure(Decimal(0), Decimal(0), False, "", "", quantity.start, quantity.end, Decimal(1))


def _continues(sentence: str, first: _Measure, second: _Measure) -> bool:
    smaller = first.dimension == second.dimension and first.dimension != "temperature" and second.size < first.size
    return smaller and second.base < first.size and _PARTS.fullmatch(sentence[first.end : second.start]) is not None


def _said_to_be_same(sentence: str, first: _Measure, second: _Measure) -> Decimal | None:
    """How far off the second may be where the words say that the two are one amount; none where they do not."""
    gap = sentence[first.end : second.start]
    before = sentence[: first.start].rstrip()[-1:]
    if before in _TIED and before:
        return None
    if sentence[second.end : second.end + 1] == ")" and _IN_BRACKETS.fullmatch(gap) is not None:
        return _ASIDE
    if _ENDED.match(sentence, second.end) is None:
        return None  # "2 m, which is 50 cm more than before"
    if _IN_PASSING.fullmatch(gap) is not None:
        return _ACROSS
    if _OF_A_THING.fullmatch(gap) is not None:
        return _ACROSS if _STOPPED.match(sentence, second.end) is not None else None
    lead = sentence[max(0, first.start - 60) : first.start]
    if _WITHIN.fullmatch(gap) is not None:
        return _ACROSS if _THERE.search(lead) is not None else None
    whole = _STATED.fullmatch(gap)
    if whole is None or _OPEN.search(lead) is not None:
        return None
    if whole.group().strip().lower() in {"has", "have", "contain", "contains"} and first.base != first.size:
        return None  # "2 hours have 30 minutes of ..." says nothing of units
    return _ACROSS if _BEGUN.search(lead) is not None or first.start == 0 else None


def _several(sentence: str, before: _Measure | None, first: _Measure, second: _Measure) -> bool:
    """Whether the second amount may be several times the first: "10 laps of 400 m, which is 4 km"."""
    if before is not None and _TIMES_OF.fullmatch(sentence, before.end, first.start) is not None:
        return True
    return (
        _COMES_TO.search(sentence, first.end, second.start) is not None
        and _TIMES.search(sentence, max(0, first.start - _NEAR), min(len(sentence), second.end + _NEAR)) is not None
    )


def _same(sentence: str, first: _Measure, second: _Measure, apart: Decimal) -> bool:
    if first.dimension == "temperature":
        return _same_degrees(first, second)
    exact = {first.unit, second.unit} <= _METRIC or {first.unit, second.unit} <= _CLOCK
    share = _EXACT if exact and apart != _ASIDE else apart
    before = sentence[max(0, second.start - 20) : second.start]
    stated = sentence[second.start : second.start + 12].split(" ", maxsplit=1)[0]
    if _ABOUT_WORD.search(before) is not None or _ABOUT_WORD.search(stated) is not None:
        share = _LOOSE
    for ours, theirs in product(_sizes(first), _sizes(second)):
        one, other = first.base / first.size * ours, second.base / second.size * theirs
        slack = second.step + (first.step if first.rounded or apart == _ASIDE else Decimal(0))
        if abs(one - other) <= max(one, other) * share + slack:
            return True
    return first.dimension == "time" and _same_calendar(first, second)


def _sizes(measure: _Measure) -> tuple[Decimal, ...]:
    return (measure.size, *_OTHER_SIZES.get(measure.unit, ()))


def _same_calendar(first: _Measure, second: _Measure) -> bool:
    large, small = (first, second) if first.size > second.size else (second, first)
    ranges = _CALENDAR.get((large.unit, small.unit), ())
    many, few = small.base / small.size, large.base / large.size
    slack = small.step / small.size
    return bool(few) and any(low * few - slack <= many <= high * few + slack for low, high in ranges)


def _same_degrees(first: _Measure, second: _Measure) -> bool:
    """As temperatures, or as differences of temperature: "a rise of 2 °C (3.6 °F)"."""
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
    said, stated = sentence[first.start : first.end], sentence[second.start : second.end]
    right = f"{said} and {stated} are not the same."
    if first.dimension != "temperature" and " " not in second.unit:
        value = first.base / second.size
        right = f"{said} is {format_number(value, 2 if abs(value) >= 1 else 4)} {second.unit}, not {stated}."
    place = Span(start=offset + second.start, end=offset + second.end)
    premise = Span(start=offset + first.start, end=offset + first.end)
    return LogicFinding("logic.unit", right[:1].upper() + right[1:], place, (premise,), 0.9)
