"""Checks calculations that a sentence states in words: a number of items at a price each, a part of a whole.

    3 boxes at 4 euros each cost 13 euros          the product
    40 of 200 seats, which is 25%                  the share

Only forms that state a result are read; "or" may introduce an alternative instead.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from assay.schema import Span
from assay.text.quantities import Quantity
from assay.verify.arithmetic.figures import as_written, format_number, in_unit_of
from assay.verify.logic.findings import LogicFinding

_AT: Final = re.compile(r"(?:\s[\w-]+){0,3}\s(?:at|for)\s", re.IGNORECASE)
_RESULT: Final = (
    r"(?:cost|costs|come to|comes to|came to|make|makes|made|total|totals|is|are|amount to|amounts to|for a total of|"
    r"which (?:is|makes|comes to|amounts to)|making)(?:\sa total of|\sup to)?"
)
_EACH: Final = re.compile(rf"\s(?:each|apiece)(?:,|\s\w+ly)?\s{_RESULT}\s", re.IGNORECASE)
_END: Final = re.compile(r"\s*(?:[.,;:)!?]|$|(?:in total|altogether|in all|overall|together|and|but|so)\b)")
"""What may follow a total; "cost 2 euros to ship" is not the total of the items before it."""
_OF: Final = re.compile(r"\s(?:out\s)?of\s(?:the\s|all\s|its\s|their\s)?", re.IGNORECASE)
_THAT_IS: Final = r"(?:which is|which makes|which equals|that is,?|i\.e\.,?|equivalent to|equal to)"
_SHARE: Final = re.compile(rf"(?:\s[\w-]+){{0,4}},?\s\(?{_THAT_IS}\s", re.IGNORECASE)
_ABOUT: Final = re.compile(r"\b(?:about|approximately|roughly|around|nearly|almost|some|over|under|more|less)\b")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.85


def worded_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """The wrong results of calculations that one sentence states in words.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "3 boxes at 4 euros each cost 13 euros."
    >>> [found.message for found in worded_findings(text, find_quantities(text))]
    ['3 at 4 euros each are 12, not 13 euros.']
    """
    for first, second, third in zip(quantities, quantities[1:], quantities[2:], strict=False):
        yield from _product(sentence, first, second, third, offset)
        yield from _share(sentence, first, second, third, offset)


def _product(sentence: str, count: Quantity, price: Quantity, total: Quantity, offset: int) -> Iterator[LogicFinding]:
    if not (count.exact and price.exact and total.exact and count.dimension == "count"):
        return
    if price.dimension != total.dimension or price.dimension in {"ordinal", "share", "factor"}:
        return
    if not _AT.fullmatch(sentence[count.end : price.start]) or not _EACH.fullmatch(sentence[price.end : total.start]):
        return
    if price.low is None or total.low is None or count.low is None or not price.low:
        return
    if _END.match(sentence, total.end) is None:
        return
    product = count.low * price.low
    slack = total.step * (2 if total.rounded else 0) + count.low * (price.step if price.rounded else Decimal(0))
    if abs(product - total.low) <= max(slack, product * _tolerance(sentence, total, Decimal("0.001"))):
        return
    right = format_number(in_unit_of(total, product), 2)
    calculation = f"{format_number(count.value, None)} at {as_written(sentence, price)} each are {right}"
    message = f"{calculation}, not {as_written(sentence, total)}."
    yield _finding("logic.arithmetic", message, (count, price), total, offset)


def _share(sentence: str, part: Quantity, whole: Quantity, share: Quantity, offset: int) -> Iterator[LogicFinding]:
    if share.dimension != "share" or part.dimension != whole.dimension or not (part.exact and whole.exact):
        return
    if part.dimension in {"share", "ordinal", "factor"} or not share.exact:
        return
    if not _OF.fullmatch(sentence[part.end : whole.start]) or not _SHARE.fullmatch(sentence[whole.end : share.start]):
        return
    if part.low is None or whole.low is None or share.low is None or not whole.low:
        return
    expected = part.low / whole.low
    if abs(expected - share.low) <= max(2 * share.step, expected * _tolerance(sentence, share, Decimal("0.02"))):
        return
    calculation = (
        f"{as_written(sentence, part)} of {as_written(sentence, whole)} are {format_number(expected * 100, 2)}%"
    )
    yield _finding(
        "logic.arithmetic", f"{calculation}, not {as_written(sentence, share)}.", (part, whole), share, offset
    )


def _tolerance(sentence: str, stated: Quantity, exact: Decimal) -> Decimal:
    """The relative error allowed for a result: more where it is stated as approximate."""
    loose = stated.bound != "exact" or _ABOUT.search(sentence[max(0, stated.start - 16) : stated.start].lower())
    return max(exact, _LOOSE) if loose else exact


def _finding(code: str, message: str, operands: Sequence[Quantity], wrong: Quantity, offset: int) -> LogicFinding:
    premises = tuple(Span(start=offset + operand.start, end=offset + operand.end) for operand in operands)
    place = Span(start=offset + wrong.start, end=offset + wrong.end)
    return LogicFinding(code, message[:1].upper() + message[1:], place, premises, _CONFIDENCE)
