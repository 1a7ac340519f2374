"""Recomputes the arithmetic and the unit conversions that a text states."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.schema import Span
from assay.text.dates import find_dates
from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.verify.arithmetic.aggregates import aggregate_findings
from assay.verify.arithmetic.expressions import Amount, ExpressionReader, UnitClash, Unreadable, is_equals
from assay.verify.arithmetic.figures import UNITS, format_number
from assay.verify.arithmetic.percentages import share_findings
from assay.verify.arithmetic.stated_results import CHANGE_WORDS, check_arithmetic
from assay.verify.arithmetic.unit_equalities import measure_findings
from assay.verify.arithmetic.worded_calculations import worded_findings
from assay.verify.logic.clauses import clause_around
from assay.verify.logic.findings import LogicFinding

ABOUT: Final = Decimal("0.05")
"""The relative error allowed for a result that is stated as approximate."""
CONVERSION: Final = Decimal("0.02")
"""The relative error allowed for a conversion with few digits: 1 mile is 1.6 km."""
_AMBIGUOUS_EQUALS: Final = frozenset({"is", "make", "makes", "give", "gives"})
"""Words of equality with other meanings: the left side needs an operator with spaces around it, the right side none."""
_ABOUT_WORDS: Final = re.compile(
    r"(?:about|approximately|roughly|around|nearly|almost|some|circa|ca\.?|~|≈)\s*$", re.IGNORECASE
)
_JSON_MEMBER: Final = re.compile(r'"\s*:\s*["\d\[{tfn-]')
"""A member of a JSON object, whose numbers are next to each other without being operands."""
_STOPS: Final = re.compile(r"[.;!?]\s")
_RANGE: Final = re.compile(r"\bfrom\s.{1,40}?\sto\s", re.IGNORECASE | re.DOTALL)
_GROUP: Final = re.compile(r"\b(?:top|bottom|upper|lower|lowest|highest|richest|poorest|first|last)\s$", re.IGNORECASE)
"""Words before a percentage that names a group of people: "for the top 1 percent it rose"."""
_FACTORS: Final = word_set(
    "double doubled doubles doubling triple tripled triples tripling quadruple quadrupled halve halved halves fold "
    "times factor change changed"
)
_LEAST_CONFIDENCE: Final = 0.75
"""The least confidence of a finding of `check_arithmetic` that is reported here."""


def calculation_findings(text: str, start: int, end: int) -> list[LogicFinding]:
    """The wrong calculations and unit conversions of one sentence.

    Args:
        text: the whole text.
        start: where the sentence begins.
        end: where it ends.

    >>> [found.message for found in calculation_findings("Four crates of 12 are 4 × 12 = 46 bottles.", 0, 42)]
    ['The text says 4 × 12 = 46 bottles; 4 × 12 is 48.']
    """
    sentence = text[start:end]
    if _JSON_MEMBER.search(sentence) is not None:
        return []
    dates = [(d.start, d.end) for d in find_dates(sentence) if d.minute is None]
    findings = list(_equations(sentence, start, dates))
    quantities = find_quantities(sentence, skip=dates)
    if "=" not in sentence:
        findings += _changes(sentence, start, quantities, findings)
    for check in (measure_findings, share_findings, aggregate_findings, worded_findings):
        findings += [
            finding for finding in check(sentence, quantities, start) if not _overlaps_any(finding.span, findings)
        ]
    return findings


def _changes(
    sentence: str, offset: int, quantities: Sequence[Quantity], known: Sequence[LogicFinding]
) -> Iterator[LogicFinding]:
    """Findings of `check_arithmetic`: "A + B is C", and changes from A to B in a clause that mentions a change."""
    words = frozenset(word.fold for word in find_words(sentence).lexemes)
    if any(q.dimension == "ordinal" for q in quantities):
        return  # "up from fourth to second": the number falls, the rank rises
    for finding in check_arithmetic(sentence, quantities, words, totals=False):
        place = Span(start=offset + finding.claim_start, end=offset + finding.claim_end)
        if finding.confidence < _LEAST_CONFIDENCE or _overlaps_any(place, known):
            continue
        if _GROUP.search(sentence[: finding.claim_start][-12:]) is not None:
            continue
        clause = _clause_at(sentence, finding.claim_start)
        if _RANGE.search(clause) is None or _mentions_change(clause):
            yield LogicFinding("logic.arithmetic", finding.message, place, (), finding.confidence)


def _clause_at(sentence: str, at: int) -> str:
    """The text between full stops and semicolons around an offset."""
    return clause_around(sentence, at, at, _STOPS)


def _mentions_change(clause: str) -> bool:
    """Whether a clause mentions a rise, a fall or a factor; "up to 5" is none of them."""
    folded = re.sub(r"\b(?:up|down)\sto\b", "", clause.lower())
    words = {word.fold for word in find_words(folded).lexemes}
    return bool(words & (CHANGE_WORDS | _FACTORS))


def _overlaps_any(place: Span, findings: Sequence[LogicFinding]) -> bool:
    return any(place.start < other.span.end and other.span.start < place.end for other in findings)


def _equations(sentence: str, offset: int, dates: Sequence[tuple[int, int]]) -> Iterator[LogicFinding]:
    reader = ExpressionReader(sentence)
    index = 0
    while index < len(reader.tokens):
        if not reader.may_begin(index):
            index += 1
            continue
        try:
            left, after = reader.expression(index)
        except Unreadable:
            index += 1
            continue
        except UnitClash as clash:
            if not clash.is_range(sentence):
                yield _clash(clash, sentence, offset)
            index += 1
            continue
        index = after if after > index else index + 1
        while index < len(reader.tokens) and is_equals(reader.tokens[index]):
            word = reader.tokens[index].text
            try:
                right, after = reader.expression(index + 1)
            except (Unreadable, UnitClash):
                break
            if reader.kind(after) in {"operator", "percent", "of"} or not _ends_at(sentence, right.end):
                break
            finding = _compare_sides(left, right, word, sentence, offset)
            dated = any(start < right.end and left.start < end for start, end in dates)
            if finding is not None and not (dated and not left.spaced):
                yield finding
            left, index = right, after


def _ends_at(sentence: str, end: int) -> bool:
    """Whether no power, factorial, second decimal point or letter follows the end of a side."""
    follower, second = sentence[end : end + 1], sentence[end + 1 : end + 2]
    if not follower or follower.isspace():
        return True
    return follower in ".,;:)]\"'”’!?" and not second.isdigit()


def _compare_sides(left: Amount, right: Amount, word: str, sentence: str, offset: int) -> LogicFinding | None:
    """The finding of a wrong "left = right"; none where it holds or cannot be judged."""
    operators = left.operators + right.operators
    ambiguous = word in _AMBIGUOUS_EQUALS
    if ambiguous and (not left.operators or right.operators or not (left.spaced and right.spaced)):
        return None
    if not ambiguous and not left.spaced and left.operators == 1 and left.value < 0:
        return None  # "8-10 = 3 points": a range in a legend
    unitless = {"count", "share"}
    if left.dimension != right.dimension and not ({left.dimension, right.dimension} <= unitless):
        if "count" not in {left.dimension, right.dimension} or not operators:
            return None
        if not any(side.dimension.startswith("money:") for side in (left, right)):
            return None  # "3 × 20 min = 60": the unit of the 60 would be a guess
    if "?" in {left.dimension, right.dimension}:
        return None
    if not operators:
        return None  # one amount in two units: `unit_equalities`
    if _holds(left, right, word, sentence, converted=left.unit != right.unit):
        return None
    stated = sentence[left.start : right.end]
    shown = sentence[left.start : left.end]
    place = Span(start=offset + right.start, end=offset + right.end)
    message = f"The text says {stated}; {shown} is {_left_value(left, right)}."
    return LogicFinding("logic.arithmetic", message, place, (Span(start=offset + left.start, end=offset + left.end),))


def _holds(left: Amount, right: Amount, word: str, sentence: str, *, converted: bool) -> bool:
    difference = abs(left.value - right.value)
    largest = max(abs(left.value), abs(right.value))
    slack = left.error + right.error
    whole = slack == 0
    if left.divided or right.divided or converted:
        # Half a unit of the last written place: "10 / 3 = 3" is rounded.
        slack += right.error or _last_place(right, sentence) / 2
    if converted:
        slack += CONVERSION * largest
    about = word == "≈" or _ABOUT_WORDS.search(sentence[max(0, right.start - 20) : right.start]) is not None
    if about:
        slack += ABOUT * largest
    if not whole:
        slack += largest * Decimal("0.001")
    return difference <= slack


def _last_place(amount: Amount, sentence: str) -> Decimal:
    """One unit of the last written place of a whole number, in the base unit."""
    digits = re.search(r"\d[\d,]*", sentence[amount.start : amount.end])
    if digits is None or not amount.value:
        return Decimal(0)
    return abs(amount.value) / (Decimal(digits.group().replace(",", "")) or Decimal(1))


def _left_value(left: Amount, right: Amount) -> str:
    """The value of the left side in the unit of the right side, for the message."""
    value = left.value
    if right.value and right.dimension == left.dimension and left.dimension not in {"count", "share"}:
        unit = UNITS.get(right.unit)
        if unit is not None:
            return f"{format_number(value / unit.size)} {right.unit}"
    if "share" in {left.dimension, right.dimension} and right.dimension == "share":
        return f"{format_number(value * 100)}%"
    return format_number(value)


def _clash(clash: UnitClash, sentence: str, offset: int) -> LogicFinding:
    first, second = clash.first, clash.second
    message = (
        f"{sentence[first.start : first.end]} and {sentence[second.start : second.end]} cannot be added: "
        f"one is a {first.dimension.split(':')[0]} and the other a {second.dimension.split(':')[0]}."
    )
    if first.dimension.startswith("money:") and second.dimension.startswith("money:"):
        message = (
            f"{sentence[first.start : first.end]} and {sentence[second.start : second.end]} are different currencies "
            "and cannot be added as they stand."
        )
    place = Span(start=offset + first.start, end=offset + second.end)
    return LogicFinding("logic.unit", message, place, (), 0.9)
