"""What a list of values comes to: its average, its median, its sum.

    values, then result    "scores of 10, 20 and 30 average 25", "10, 20 and 30, an average of 25"
    result after values    "the average of 10, 20 and 30 is 25"

Only values that are in one list count, joined by nothing but commas, "and" and a few words of their own; all are
named, or the statement is of other values and left alone.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.schema import Span
from assay.text.quantities import Quantity, mean, median, total
from assay.verify.arithmetic.figures import as_written, format_number, has_fraction, in_unit_of
from assay.verify.logic.findings import LogicFinding

_TAKEN: Final = r"averag|mean\b|median|total|sum\b|which\b|but\b|while\b"
_JOINT: Final = re.compile(
    rf"(?:\s(?!and\b|or\b|plus\b|to\b|of\b|is\b|was\b|were\b|are\b|than\b|{_TAKEN})[A-Za-z][\w'’-]*)"
    rf"{{0,4}}?(?:,(?:\sand)?|\sand|\splus|;)\s(?:(?!only\b|just\b|{_TAKEN})[A-Za-z][\w'’-]*\s)?",
)
"""What stands between two values of a list: "10 in May, 20 in June and 30 in July"."""
_KINDS: Final = r"(?P<kind>average|mean|arithmetic\smean|median|sum|total|combined\stotal)"
_OF_LIST: Final = re.compile(
    rf"(?<!weighted\s)(?<!moving\s)(?<!rolling\s)\b{_KINDS}\sof\s(?:the\s(?:\w+\s){{0,3}})?$", re.IGNORECASE
)
_RESULT: Final = re.compile(
    r"(?:\s[a-z][\w'’-]*){0,2}?,?\s(?:is|was|are|equals|makes|gives|comes\sto|works\sout\s(?:at|as|to)|=)\s"
    r"(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_APPOSED: Final = re.compile(
    rf"(?:\s[a-z][\w'’-]*){{0,4}}?(?:,\s(?:with\s|for\s|giving\s|making\s|which\s(?:is|gives|makes)\s|so\s|that\sis\s)?|"
    rf"\s\(|\s[–—-]\s|\s(?:with|for|giving)\s)(?:an?\s|the\s|their\s|its\s){_KINDS}\s(?:of|is|was)\s"
    r"(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_VERBAL: Final = re.compile(
    r"(?:\s[a-z][\w'’-]*){0,3}?(?:,?\swhich|,)?\s(?P<kind>averag(?:e|es|ed|ing)|total(?:s|l?ed|l?ing)?)\s"
    r"(?:out\s(?:at|to)\s|to\s)?(?:about\s|approximately\s|roughly\s|exactly\s)?",
    re.IGNORECASE,
)
_TOTAL_BEHIND: Final = re.compile(r"(?:\s[a-z]\w+)?\s(?:in\stotal|in\sall|altogether|combined)\b", re.IGNORECASE)
_ENDED: Final = re.compile(
    r"(?:\s(?!and\b|but\b|so\b|of\b|from\b|with\b|after\b|before\b|in\s(?!total\b|all\b)|at\b|for\b)[a-z][\w'’-]*){0,4}?"
    r"\s*(?:[.,;:)!?](?!\d)|$|\s(?:and|but|so)\b)"
)
"""What may follow a result: of "a total of 20 goals at home" the list before it may be another one."""
_WEIGHTED: Final = re.compile(
    r"\b(?:weight(?:ed|s|ing)?|moving|rolling|geometric|harmonic|trimmed|excluding|without|except|adjusted|per|other|"
    r"others|remaining|rest|at\sleast|including|includes?|among|such\sas|e\.g|for\sexample|overall|national|usual|"
    r"total\s(?:time|cost)s?\sof)\b",
    re.IGNORECASE,
)
"""Words of an average that is taken over other values or otherwise than those of the list."""
_NOT_SUMMED: Final = frozenset({"ordinal", "factor", "points"})
_NO_SUM: Final = frozenset({"share", "temperature", *_NOT_SUMMED})
_FEWEST: Final = 2
_ROUNDING: Final = Decimal("0.006")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.9


def aggregate_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """What one sentence averages or sums wrongly from values that it lists.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order; dates left out.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "The average of 10, 20 and 30 is 25."
    >>> [found.message for found in aggregate_findings(text, find_quantities(text))]
    ['The average of 10, 20, 30 is 20, not 25.']
    """
    if len(quantities) <= _FEWEST or _WEIGHTED.search(sentence) is not None:
        return
    for values, at in _lists(sentence, quantities):
        if at >= len(quantities):
            continue
        stated = quantities[at]
        kind = _kind(sentence, values, stated)
        before = [
            one
            for one in quantities
            if one.start < values[0].start and one.dimension == stated.dimension and one.value != len(values)
        ]
        if kind is None or before or not _fits(kind, values, stated) or _ENDED.match(sentence, stated.end) is None:
            continue
        wanted = _WORTH[kind]([one.low for one in values if one.low is not None])
        if not _near(stated, wanted, kind, values):
            yield _finding(sentence, values, stated, kind, wanted, offset)


def _lists(sentence: str, quantities: Sequence[Quantity]) -> Iterator[tuple[Sequence[Quantity], int]]:
    """The longest runs of values that are listed, each with the place of the quantity behind it."""
    begun = 0
    for at in range(1, len(quantities) + 1):
        listed = at < len(quantities) and _JOINT.fullmatch(sentence[quantities[at - 1].end : quantities[at].start])
        if listed:
            continue
        if at - begun >= _FEWEST:
            yield quantities[begun:at], at
        if at - begun > _FEWEST and _TOTAL_BEHIND.match(sentence, quantities[at - 1].end) is not None:
            yield quantities[begun : at - 1], at - 1  # "12 in May, 15 in June, 30 in total"
        begun = at


def _kind(sentence: str, values: Sequence[Quantity], stated: Quantity) -> str | None:
    """What the sentence says the stated value to be of those listed; none where it says nothing of the kind."""
    gap = sentence[values[-1].end : stated.start]
    led = _OF_LIST.search(sentence, max(0, values[0].start - 60), values[0].start)
    if led is not None:
        return _plain(led["kind"]) if _RESULT.fullmatch(gap) is not None else None
    for form in (_APPOSED, _VERBAL):
        match = form.fullmatch(gap)
        if match is not None:
            return _plain(match["kind"])
    if _JOINT.fullmatch(gap) is not None and _TOTAL_BEHIND.match(sentence, stated.end) is not None:
        return "sum"
    return None


def _plain(word: str) -> str:
    folded = word.lower()
    if folded.startswith("median"):
        return "median"
    return "sum" if folded.endswith("total") or folded.startswith(("sum", "total")) else "average"


def _fits(kind: str, values: Sequence[Quantity], stated: Quantity) -> bool:
    """Whether values and result are of one sort, so that one may be computed from the others."""
    if not stated.exact or any(not one.exact or one.dimension != stated.dimension for one in values):
        return False
    rates = "/" in stated.dimension
    return not rates and stated.dimension not in (_NO_SUM if kind == "sum" else _NOT_SUMMED)


_WORTH: Final[dict[str, Callable[[Sequence[Decimal]], Decimal]]] = {"average": mean, "median": median, "sum": total}


def _near(stated: Quantity, wanted: Decimal, kind: str, values: Sequence[Quantity]) -> bool:
    """Whether the stated value is what was computed; a quotient may be cut off or rounded at its last place."""
    if stated.low is None:
        return True
    apart = abs(stated.low - wanted)
    rounding = sum((one.step for one in values if one.rounded), Decimal(0))
    if kind != "sum":
        rounding = max((one.step for one in values if one.rounded), default=Decimal(0)) + 2 * stated.step
        if not has_fraction(wanted / (2 * stated.step or 1)) and not any(one.rounded for one in values):
            rounding = Decimal(0)
    elif stated.rounded:
        rounding += stated.step
    if stated.bound != "exact":
        return apart <= max(rounding, abs(wanted) * _LOOSE)
    return apart <= rounding or (stated.rounded and apart <= abs(wanted) * _ROUNDING)


def _finding(
    sentence: str, values: Sequence[Quantity], stated: Quantity, kind: str, wanted: Decimal, offset: int
) -> LogicFinding:
    shown = ", ".join(as_written(sentence, one) for one in values[:6]) + (", …" if len(values) > 6 else "")
    right = format_number(in_unit_of(stated, wanted), 2)
    message = f"The {kind} of {shown} is {right}, not {as_written(sentence, stated)}."
    place = Span(start=offset + stated.start, end=offset + stated.end)
    premises = tuple(Span(start=offset + one.start, end=offset + one.end) for one in values)
    return LogicFinding("logic.arithmetic", message, place, premises, _CONFIDENCE)
