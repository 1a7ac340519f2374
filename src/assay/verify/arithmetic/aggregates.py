"""Checks the average, the median or the sum that a sentence states of a list of values.

    values, then result          "scores of 10, 20 and 30 average 25", "10, 20 and 30, an average of 25"
    kind, values, then result    "the average of 10, 20 and 30 is 25"

The values must be one list, joined only by commas, "and" and a few words of their own. A statement about other values
than those of the list is ignored.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.schema import Span
from assay.text.quantities import Quantity, mean, median, total
from assay.verify.arithmetic.figures import as_written, format_number, has_fraction, in_unit_of
from assay.verify.logic.findings import LogicFinding

_KIND_WORDS: Final = r"averag|mean\b|median|total|sum\b|which\b|but\b|while\b"
_JOINT: Final = re.compile(
    rf"(?:\s(?!and\b|or\b|plus\b|to\b|of\b|is\b|was\b|were\b|are\b|than\b|{_KIND_WORDS})[A-Za-z][\w'’-]*)"
    rf"{{0,4}}?(?:,(?:\sand)?|\sand|\splus|;)\s(?:(?!only\b|just\b|{_KIND_WORDS})[A-Za-z][\w'’-]*\s)?",
)
"""The text between two values of a list: "10 in May, 20 in June and 30 in July"."""
_KINDS: Final = r"(?P<kind>average|mean|arithmetic\smean|median|sum|total|combined\stotal)"
_KIND_BEFORE: Final = re.compile(
    rf"(?<!weighted\s)(?<!moving\s)(?<!rolling\s)\b{_KINDS}\sof\s(?:the\s(?:\w+\s){{0,3}})?$", re.IGNORECASE
)
_RESULT: Final = re.compile(
    r"(?:\s[a-z][\w'’-]*){0,2}?,?\s(?:is|was|are|equals|makes|gives|comes\sto|works\sout\s(?:at|as|to)|=)\s"
    r"(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_KIND_AFTER: Final = re.compile(
    rf"(?:\s[a-z][\w'’-]*){{0,4}}?(?:,\s(?:with\s|for\s|giving\s|making\s|which\s(?:is|gives|makes)\s|so\s|that\sis\s)?|"
    rf"\s\(|\s[–—-]\s|\s(?:with|for|giving)\s)(?:an?\s|the\s|their\s|its\s){_KINDS}\s(?:of|is|was)\s"
    r"(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_KIND_VERB: Final = re.compile(
    r"(?:\s[a-z][\w'’-]*){0,3}?(?:,?\swhich|,)?\s(?P<kind>averag(?:e|es|ed|ing)|total(?:s|l?ed|l?ing)?)\s"
    r"(?:out\s(?:at|to)\s|to\s)?(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_IN_TOTAL: Final = re.compile(r"(?:\s[a-z]\w+)?\s(?:in\stotal|in\sall|altogether|combined)\b", re.IGNORECASE)
_END: Final = re.compile(
    r"(?:\s(?!and\b|but\b|so\b|of\b|from\b|with\b|after\b|before\b|in\s(?!total\b|all\b)|at\b|for\b)[a-z][\w'’-]*){0,4}?"
    r"\s*(?:[.,;:)!?](?!\d)|$|\s(?:and|but|so)\b)"
)
"""What may follow a result; "a total of 20 goals at home" need not be the total of the list before it."""
_OTHER_AVERAGE: Final = re.compile(
    r"\b(?:weight(?:ed|s|ing)?|moving|rolling|geometric|harmonic|trimmed|excluding|without|except|adjusted|per|other|"
    r"others|remaining|rest|at\sleast|including|includes?|among|such\sas|e\.g|for\sexample|overall|national|usual|"
    r"total\s(?:time|cost)s?\sof)\b",
    re.IGNORECASE,
)
"""Words of an average over other values than those of the list, or of another kind of average."""
_NOT_SUMMED: Final = frozenset({"ordinal", "factor", "points"})
_NO_SUM: Final = frozenset({"share", "temperature", *_NOT_SUMMED})
_FEWEST: Final = 2
_ROUNDING: Final = Decimal("0.006")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.9


def aggregate_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """The wrong averages, medians and sums of the values that one sentence lists.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order; dates left out.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "The average of 10, 20 and 30 is 25."
    >>> [found.message for found in aggregate_findings(text, find_quantities(text))]
    ['The average of 10, 20, 30 is 20, not 25.']
    """
    if len(quantities) <= _FEWEST or _OTHER_AVERAGE.search(sentence) is not None:
        return
    for values, index in _lists(sentence, quantities):
        if index >= len(quantities):
            continue
        stated = quantities[index]
        kind = _kind(sentence, values, stated)
        before = [
            quantity
            for quantity in quantities
            if quantity.start < values[0].start
            and quantity.dimension == stated.dimension
            and quantity.value != len(values)
        ]
        if kind is None or before or not _fits(kind, values, stated) or _END.match(sentence, stated.end) is None:
            continue
        expected = _AGGREGATES[kind]([quantity.low for quantity in values if quantity.low is not None])
        if not _is_close(stated, expected, kind, values):
            yield _finding(sentence, values, stated, kind, expected, offset)


def _lists(sentence: str, quantities: Sequence[Quantity]) -> Iterator[tuple[Sequence[Quantity], int]]:
    """The longest runs of listed values, each with the index of the quantity after it."""
    first = 0
    for index in range(1, len(quantities) + 1):
        listed = index < len(quantities) and _JOINT.fullmatch(
            sentence[quantities[index - 1].end : quantities[index].start]
        )
        if listed:
            continue
        if index - first >= _FEWEST:
            yield quantities[first:index], index
        if index - first > _FEWEST and _IN_TOTAL.match(sentence, quantities[index - 1].end) is not None:
            yield quantities[first : index - 1], index - 1  # "12 in May, 15 in June, 30 in total"
        first = index


def _kind(sentence: str, values: Sequence[Quantity], stated: Quantity) -> str | None:
    """Whether the stated value is the average, the median or the sum of those listed; none where it is none of them."""
    gap = sentence[values[-1].end : stated.start]
    lead = _KIND_BEFORE.search(sentence, max(0, values[0].start - 60), values[0].start)
    if lead is not None:
        return _normalised_kind(lead["kind"]) if _RESULT.fullmatch(gap) is not None else None
    for form in (_KIND_AFTER, _KIND_VERB):
        match = form.fullmatch(gap)
        if match is not None:
            return _normalised_kind(match["kind"])
    if _JOINT.fullmatch(gap) is not None and _IN_TOTAL.match(sentence, stated.end) is not None:
        return "sum"
    return None


def _normalised_kind(word: str) -> str:
    folded = word.lower()
    if folded.startswith("median"):
        return "median"
    return "sum" if folded.endswith("total") or folded.startswith(("sum", "total")) else "average"


def _fits(kind: str, values: Sequence[Quantity], stated: Quantity) -> bool:
    """Whether the values and the result have one dimension for which the kind of aggregate has a meaning."""
    if not stated.exact or any(not value.exact or value.dimension != stated.dimension for value in values):
        return False
    rates = "/" in stated.dimension
    return not rates and stated.dimension not in (_NO_SUM if kind == "sum" else _NOT_SUMMED)


_AGGREGATES: Final[dict[str, Callable[[Sequence[Decimal]], Decimal]]] = {
    "average": mean,
    "median": median,
    "sum": total,
}


def _is_close(stated: Quantity, expected: Decimal, kind: str, values: Sequence[Quantity]) -> bool:
    """Whether the stated value equals the computed one; a quotient may be truncated or rounded at its last place."""
    if stated.low is None:
        return True
    difference = abs(stated.low - expected)
    rounding = sum((value.step for value in values if value.rounded), Decimal(0))
    if kind != "sum":
        rounding = max((value.step for value in values if value.rounded), default=Decimal(0)) + 2 * stated.step
        if not has_fraction(expected / (2 * stated.step or 1)) and not any(value.rounded for value in values):
            rounding = Decimal(0)
    elif stated.rounded:
        rounding += stated.step
    if stated.bound != "exact":
        return difference <= max(rounding, abs(expected) * _LOOSE)
    return difference <= rounding or (stated.rounded and difference <= abs(expected) * _ROUNDING)


def _finding(
    sentence: str, values: Sequence[Quantity], stated: Quantity, kind: str, expected: Decimal, offset: int
) -> LogicFinding:
    shown = ", ".join(as_written(sentence, value) for value in values[:6]) + (", …" if len(values) > 6 else "")
    right = format_number(in_unit_of(stated, expected), 2)
    message = f"The {kind} of {shown} is {right}, not {as_written(sentence, stated)}."
    place = Span(start=offset + stated.start, end=offset + stated.end)
    premises = tuple(Span(start=offset + value.start, end=offset + value.end) for value in values)
    return LogicFinding("logic.arithmetic", message, place, premises, _CONFIDENCE)
