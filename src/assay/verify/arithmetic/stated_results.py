"""Checks results that a claim states together with their operands: changes, equations and totals."""

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from assay.text.lexicon import word_set
from assay.text.quantities import OPERATIONS, Quantity, calculate, total
from assay.verify.arithmetic.derivations import is_close
from assay.verify.arithmetic.figures import format_number, in_unit_of, unit_size
from assay.verify.exact.findings import ExactFinding

_CHANGE_UP = word_set(
    """increase increased increases increasing rise rose risen grew grown growth gain gained up jump jumped climbed"""
)
_CHANGE_DOWN = word_set(
    """decrease decreased decreases fell fall fallen drop dropped decline declined down reduced reduction cut
    shrank"""
)
CHANGE_WORDS = _CHANGE_UP | _CHANGE_DOWN
"""Words of change; without one of them "from A to B" is a range."""
_TOLERANCE = Decimal("0.006")

_CHANGE_REACH = 28
_FEWEST_OPERANDS = 2


def _is_additive(quantity: Quantity) -> bool:
    return quantity.exact and quantity.dimension not in {"ordinal", "factor", "temperature"}


def check_arithmetic(
    text: str, quantities: Sequence[Quantity], cues: frozenset[str], *, totals: bool = True
) -> list[ExactFinding]:
    """The wrong results that a claim computes from operands that it states itself.

    These are a change "from A to B" with a factor or a percentage, equations such as "A + B = C", and, with `totals`, a
    total with its parts; which numbers of a sentence are the parts of a total is a guess.

    Args:
        text: the claim.
        quantities: its quantities, in order.
        cues: its words, case-folded.
        totals: whether totals are checked.
    """
    if len(quantities) < _FEWEST_OPERANDS:
        return []
    findings = [*_stated_change(text, quantities, cues), *_equations(text, quantities)]
    return findings or (_stated_total(text, quantities, cues) if totals else [])


def _wrong_result(
    text: str, stated: Quantity, value: Decimal, how: str, confidence: float, places: int | None = None
) -> ExactFinding:
    shown = format_number(value, places)
    return ExactFinding(
        "arithmetic.wrong",
        f"The claim says {text[stated.start : stated.end]!r}; from the numbers it states itself {how} is {shown}.",
        stated.number_start,
        stated.number_end,
        None,
        "contradicts",
        confidence,
    )


def _change_operands(text: str, quantities: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """The A and B of "from A to B"."""
    for first, second in pairwise(quantities):
        before = text[max(0, first.start - 8) : first.start].lower().split()
        between = text[first.end : second.start].lower().split()
        framed = before[-1:] == ["from"] and between[-1:] == ["to"] and len(between) <= 4
        comparable = first.dimension in {second.dimension, "count"} and first.exact and second.exact
        if framed and comparable:
            return first, second
    return None


def _stated_change(text: str, quantities: Sequence[Quantity], cues: frozenset[str]) -> list[ExactFinding]:
    operands = _change_operands(text, quantities)
    if operands is None:
        return []
    first, second = operands
    a, b = (first.low, second.low) if first.dimension == second.dimension else (first.value, second.value)
    if not a or not b:
        return []
    findings: list[ExactFinding] = []
    lead = text[max(0, first.start - _CHANGE_REACH) : first.start].lower()
    lead_words = set(re.findall(r"[a-z]+", re.split(r"[,;.]\s", lead)[-1]))
    start, end = _scale_values(first, second, a, b) or (None, None)
    for stated in quantities:
        if start is None or end is None:
            break
        if stated in (first, second) or not stated.exact or not _is_adjacent(text, stated, first, second):
            continue
        if stated.dimension == "factor":
            ratio = end / start if (stated.value >= 1 and end >= start) or stated.value < 1 else start / end
            if not is_close(stated, ratio):
                findings.append(_wrong_result(text, stated, ratio, "the factor", 0.85, 4))
        elif stated.dimension == "share" and first.dimension != "share" and cues & CHANGE_WORDS:
            change = abs(end - start) / abs(start)
            if not is_close(stated, change) and abs(change - stated.value * Decimal("0.01")) > Decimal("0.01"):
                findings.append(_wrong_result(text, stated, change * 100, "the change in percent", 0.85, 2))
    if (b > a and lead_words & _CHANGE_DOWN and not lead_words & _CHANGE_UP) or (
        b < a and lead_words & _CHANGE_UP and not lead_words & _CHANGE_DOWN
    ):
        change = (b - a) / unit_size(second) if first.dimension == second.dimension else b - a
        findings.append(_wrong_result(text, second, change, "the change", 0.8))
    return findings


def _scale_values(first: Quantity, second: Quantity, a: Decimal, b: Decimal) -> tuple[Decimal, Decimal] | None:
    """The values that a factor or a percentage of a change refers to; none where it has no meaning.

    For temperatures these are the degrees as written ("doubled from 10 °C to 20 °C"), as long as both are above zero
    and in one unit; the values `a` and `b` in kelvins have another ratio.
    """
    if first.dimension != "temperature":
        return a, b
    positive = first.unit == second.unit and min(first.value, second.value) > 0
    return (first.value, second.value) if positive else None


def _is_adjacent(text: str, stated: Quantity, first: Quantity, second: Quantity) -> bool:
    """Whether a factor or percentage is close enough to "from A to B" to refer to that change."""
    gap = text[stated.end : first.start] if stated.end <= first.start else text[second.end : stated.start]
    if len(gap) > _CHANGE_REACH or any(c in ".;" for c in gap):
        return False
    return not set(gap.lower().replace(",", " ").split()) & {"and", "while", "with", "but", "to"}


_RESULTS = {"+": "sum", "-": "difference", "*": "product", "/": "ratio"}
_OPERATION_WORDS = frozenset({"+", "plus", "-", "−", "minus", "×", "x", "*", "times", "/", "÷"})
"""The words and signs of an operation between two quantities that are read here."""
_EQUALS = frozenset({"=", "equals", "is", "makes", "gives", "≈"})


def _equations(text: str, quantities: Sequence[Quantity]) -> list[ExactFinding]:
    findings: list[ExactFinding] = []
    for first, second, third in zip(quantities, quantities[1:], quantities[2:], strict=False):
        between = text[first.number_end : second.start].split()
        sign = OPERATIONS[between[-1]] if between and between[-1] in _OPERATION_WORDS else ""
        operator = _RESULTS.get(sign)
        equals = text[second.end : third.start].split()
        unspaced = not any(c.isspace() for c in text[first.number_end : second.start])
        if unspaced and operator in {"difference", "ratio"}:
            continue
        if operator is None or not equals or equals[-1] not in _EQUALS or not (first.exact and second.exact):
            continue
        if operator in {"sum", "difference"} and first.dimension == second.dimension:
            if first.dimension == "temperature":
                continue  # "20 °C minus 5 °C": the second may be a temperature or a difference of two
            if first.low is not None and second.low is not None:
                value = calculate(first.low, sign, second.low)
                if value is not None and third.dimension == first.dimension and not is_close(third, value):
                    findings.append(_wrong_result(text, third, in_unit_of(third, value), f"the {operator}", 0.9))
                continue
        value = calculate(first.value, sign, second.value) if operator in {"product", "ratio"} else None
        if value is None:
            continue
        if operator == "product" and abs(third.value - value) > abs(value) * _TOLERANCE:
            findings.append(_wrong_result(text, third, value, "the product", 0.85))
        elif operator == "ratio" and abs(third.value - value) > max(third.step, abs(value) * _TOLERANCE):
            findings.append(_wrong_result(text, third, value, "the ratio", 0.85, 4))
    return findings


def _stated_total(text: str, quantities: Sequence[Quantity], cues: frozenset[str]) -> list[ExactFinding]:
    """Check a total stated with its parts: "12 in the north and 15 in the south, 30 in total"."""
    exact = [q for q in quantities if _is_additive(q) and not q.weak and q.dimension != "share"]
    if len(exact) < 3 or not cues & {"total", "totaling", "totalling", "altogether", "sum", "combined"}:
        return []
    if len({q.dimension for q in exact}) > 1:
        return []
    totals = [q for q in exact if _is_total(text, q)]
    if len(totals) != 1:
        return []
    parts = [q.low for q in exact if q is not totals[0] and q.low is not None]
    value = total(parts)
    if is_close(totals[0], value):
        return []
    return [_wrong_result(text, totals[0], in_unit_of(totals[0], value), "the sum of the parts", 0.75)]


def _is_total(text: str, quantity: Quantity) -> bool:
    before = text[max(0, quantity.start - 24) : quantity.start].lower()
    after = text[quantity.end : quantity.end + 24].lower()
    return bool(
        re.search(r"\b(?:total(?:l?ing|s| of| is| was)?|sum of|combined|altogether)\W*(?:of |is |was )?$", before)
    ) or bool(re.match(r"(?:\s\w+)?\s(?:in total|in all|altogether|combined|overall)\b", after))
