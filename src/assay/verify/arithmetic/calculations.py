"""Recomputes the arithmetic and the conversions of units that a text states."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.schema import Span
from assay.text.dates import find_dates
from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.verify.arithmetic.aggregates import aggregate_findings
from assay.verify.arithmetic.expressions import Amount, Reader, Spoiled, UnitClash, is_equals
from assay.verify.arithmetic.figures import UNITS, format_number
from assay.verify.arithmetic.percentages import share_findings
from assay.verify.arithmetic.stated_results import CHANGE_WORDS, check_arithmetic
from assay.verify.arithmetic.unit_equalities import measure_findings
from assay.verify.arithmetic.worded_calculations import worded_findings
from assay.verify.logic.clause_of_place import clause_around
from assay.verify.logic.findings import LogicFinding

ABOUT: Final = Decimal("0.05")
"""How far off a result may be that is said to be approximate."""
CONVERSION: Final = Decimal("0.02")
"""How far off a conversion may be that names no more digits: 1 mile is 1.6 km."""
_WORDED: Final = frozenset({"is", "make", "makes", "give", "gives"})
"""Words of equality that also mean other things: sides joined by them need an operator that is no range."""
_ABOUT_WORDS: Final = re.compile(
    r"(?:about|approximately|roughly|around|nearly|almost|some|circa|ca\.?|~|≈)\s*$", re.IGNORECASE
)
_RECORD: Final = re.compile(r'"\s*:\s*["\d\[{tfn-]')
"""A member of a JSON object: the numbers of one are next to each other without a word of how they belong together."""
_STOPS: Final = re.compile(r"[.;!?]\s")
_RANGE: Final = re.compile(r"\bfrom\s.{1,40}?\sto\s", re.IGNORECASE | re.DOTALL)
_GROUP: Final = re.compile(r"\b(?:top|bottom|upper|lower|lowest|highest|richest|poorest|first|last)\s$", re.IGNORECASE)
"""Words before a percentage that names a part of the people: "for the top 1 percent it rose"."""
_FACTORS: Final = word_set(
    "double doubled doubles doubling triple tripled triples tripling quadruple quadrupled halve halved halves fold "
    "times factor change changed"
)
_LEAST_CONFIDENCE: Final = 0.75
"""What the exact tier's own arithmetic must be sure of to be shown here."""


def calculation_findings(text: str, start: int, end: int) -> list[LogicFinding]:
    """What one sentence computes or converts wrongly.

    Args:
        text: the whole text.
        start: where the sentence begins.
        end: where it ends.

    >>> [found.message for found in calculation_findings("Four crates of 12 are 4 × 12 = 46 bottles.", 0, 42)]
    ['The text says 4 × 12 = 46 bottles; 4 × 12 is 48.']
    """
    sentence = text[start:end]
    if _RECORD.search(sentence) is not None:
        return []
    dates = [(d.start, d.end) for d in find_dates(sentence) if d.minute is None]
    found = list(_equations(sentence, start, dates))
    quantities = find_quantities(sentence, skip=dates)
    if "=" not in sentence:
        found += _changes(sentence, start, quantities, found)
    for worded in (measure_findings, share_findings, aggregate_findings, worded_findings):
        found += [one for one in worded(sentence, quantities, start) if not _touched(one.span, found)]
    return found


def _changes(
    sentence: str, offset: int, quantities: Sequence[Quantity], known: Sequence[LogicFinding]
) -> Iterator[LogicFinding]:
    """What the exact tier recomputes: "A + B is C", and changes from A to B where their own clause mentions one."""
    words = frozenset(word.fold for word in find_words(sentence).lexemes)
    if any(q.dimension == "ordinal" for q in quantities):
        return  # "up from fourth to second" is a smaller number and no fall
    for finding in check_arithmetic(sentence, quantities, words, totals=False):
        place = Span(start=offset + finding.claim_start, end=offset + finding.claim_end)
        if finding.confidence < _LEAST_CONFIDENCE or _touched(place, known):
            continue
        if _GROUP.search(sentence[: finding.claim_start][-12:]) is not None:
            continue
        clause = _clause_at(sentence, finding.claim_start)
        if _RANGE.search(clause) is None or _worded_change(clause):
            yield LogicFinding("logic.arithmetic", finding.message, place, (), finding.confidence)


def _clause_at(sentence: str, at: int) -> str:
    """The stretch between full stops and semicolons around a place."""
    return clause_around(sentence, at, at, _STOPS)


def _worded_change(clause: str) -> bool:
    """Whether a clause says that something went up or down, or by which factor; "up to 5" says neither."""
    folded = re.sub(r"\b(?:up|down)\sto\b", "", clause.lower())
    found = {word.fold for word in find_words(folded).lexemes}
    return bool(found & (CHANGE_WORDS | _FACTORS))


def _touched(place: Span, found: Sequence[LogicFinding]) -> bool:
    return any(place.start < other.span.end and other.span.start < place.end for other in found)


def _equations(sentence: str, offset: int, dates: Sequence[tuple[int, int]]) -> Iterator[LogicFinding]:
    reader = Reader(sentence)
    at = 0
    while at < len(reader.tokens):
        if not reader.begins(at):
            at += 1
            continue
        try:
            left, after = reader.expression(at)
        except Spoiled:
            at += 1
            continue
        except UnitClash as clash:
            if not clash.ranged(sentence):
                yield _clash(clash, sentence, offset)
            at += 1
            continue
        at = after if after > at else at + 1
        while at < len(reader.tokens) and is_equals(reader.tokens[at]):
            word = reader.tokens[at].text
            try:
                right, after = reader.expression(at + 1)
            except (Spoiled, UnitClash):
                break
            if reader.kind(after) in {"operator", "percent", "of"} or not _ended(sentence, right.end):
                break
            finding = _compared(left, right, word, sentence, offset)
            dated = any(start < right.end and left.start < end for start, end in dates)
            if finding is not None and not (dated and not left.spaced):
                yield finding
            left, at = right, after


def _ended(sentence: str, end: int) -> bool:
    """Whether a side really ends where it was read to: no power, factorial, second decimal point or letter follows."""
    follower, second = sentence[end : end + 1], sentence[end + 1 : end + 2]
    if not follower or follower.isspace():
        return True
    return follower in ".,;:)]\"'”’!?" and not second.isdigit()


def _compared(left: Amount, right: Amount, word: str, sentence: str, offset: int) -> LogicFinding | None:
    """What is wrong with "left = right"; nothing where it holds or cannot be judged."""
    operators = left.operators + right.operators
    worded = word in _WORDED
    if worded and (not left.operators or right.operators or not (left.spaced and right.spaced)):
        return None
    if not worded and not left.spaced and left.operators == 1 and left.value < 0:
        return None  # "8-10 = 3 points": a range in a legend
    plain = {"count", "share"}
    if left.dimension != right.dimension and not ({left.dimension, right.dimension} <= plain):
        if "count" not in {left.dimension, right.dimension} or not operators:
            return None
        if not any(side.dimension.startswith("money:") for side in (left, right)):
            return None  # "3 × 20 min = 60": which unit the 60 has is a guess
    if "?" in {left.dimension, right.dimension}:
        return None
    if not operators:
        return None  # one amount in two units: `unit_equalities`
    if _holds(left, right, word, sentence, converted=left.unit != right.unit):
        return None
    stated = sentence[left.start : right.end]
    shown = sentence[left.start : left.end]
    place = Span(start=offset + right.start, end=offset + right.end)
    message = f"The text says {stated}; {shown} is {_written(left, right)}."
    return LogicFinding("logic.arithmetic", message, place, (Span(start=offset + left.start, end=offset + left.end),))


def _holds(left: Amount, right: Amount, word: str, sentence: str, *, converted: bool) -> bool:
    apart = abs(left.value - right.value)
    largest = max(abs(left.value), abs(right.value))
    slack = left.error + right.error
    whole = slack == 0
    if left.divided or right.divided or converted:
        # Half a unit of the last place of what is written: "10 / 3 = 3" is a rounding.
        slack += right.error or _last_place(right, sentence) / 2
    if converted:
        slack += CONVERSION * largest
    about = word == "≈" or _ABOUT_WORDS.search(sentence[max(0, right.start - 20) : right.start]) is not None
    if about:
        slack += ABOUT * largest
    if not whole:
        slack += largest * Decimal("0.001")
    return apart <= slack


def _last_place(amount: Amount, sentence: str) -> Decimal:
    """One unit of the last written place of a whole number, in the base unit."""
    digits = re.search(r"\d[\d,]*", sentence[amount.start : amount.end])
    if digits is None or not amount.value:
        return Decimal(0)
    return abs(amount.value) / (Decimal(digits.group().replace(",", "")) or Decimal(1))


def _written(left: Amount, right: Amount) -> str:
    """The value of the left side as a reader would write it, in the unit of the right side."""
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
