"""A percentage put on or taken off an amount, with the result: "$100 less 20% is $85", "20% off $100 is $85".

    base, share, result    in one clause, with a word that gives the share its sign and one that announces the result

The result is recomputed as base × (1 ± share). Words such as discount and tax name the share as well as what is left,
so there the share alone is a right result too: "a 20% discount on $100 is $20". The base may also be the only amount of
the sentence before: "The ticket is $100. With 20% off it costs $85".
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from assay.schema import Span
from assay.text.quantities import Quantity, find_quantities
from assay.verify.logic.findings import LogicFinding

_NOUNS: Final = r"(?:\s(?!and\b|or\b|but\b|than\b|of\b|to\b|from\b|per\b)[A-Za-z][\w'’-]*){0,3}?"
_DIRECT: Final = re.compile(
    rf"{_NOUNS},?\s(?:(?P<down>less|minus|(?:reduced|cut|lowered|decreased|discounted|marked\sdown)\sby|down(?:\sby)?|"
    r"with\s(?:a|an|its|the)?\s?|at|after|less\sa)|"
    r"(?P<up>plus|(?:increased|raised|marked\sup)\sby|up(?:\sby)?))(?:\s(?:a|an|its|the|another))?\s",
    re.IGNORECASE,
)
_DIRECT_UP: Final = re.compile(r"\s?\+\s?")
_DIRECT_DOWN: Final = re.compile(r"\s?[-−–]\s")
_OFF: Final = re.compile(
    r"[\s-](?:(?P<down>off|less\sthan|lower\sthan|below|cheaper\sthan|discount\s(?:on|off)|reduction\s(?:on|of|in)|"
    r"rebate\son)|(?P<up>more\sthan|higher\sthan|above|on\stop\sof|(?:tax|vat|tip|surcharge|markup|mark-up|fee|"
    r"interest)\son))(?:\s(?:a|an|the|its|their))?\s",
    re.IGNORECASE,
)
_WITH: Final = re.compile(
    r"[\s-](?:(?P<down>discount|reduction|rebate|off|price\scut)|(?P<up>surcharge|markup|mark-up|tax|vat|tip)),?\s"
    r"(?:a|an|the|its|our)\s",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(
    r"[\s-](?:(?P<down>discount|reduction|rebate|off|cheaper|less)|"
    r"(?P<up>tax|sales\stax|vat|tip|surcharge|markup|mark-up|service\scharge|service|interest|more|extra))\b",
    re.IGNORECASE,
)
_RESULT: Final = re.compile(
    r"(?:\s?[=≈]\s?|,?\s(?:is|are|makes?|gives?|leaves?|yields?|equals?|costs?|comes?\s(?:out\s)?(?:to|at)|"
    r"amounts?\sto|totals?|brings\s(?:it|this|the\s(?:price|total|sum))\s(?:down\s)?to|works\sout\s(?:at|as|to)|"
    r"will\s(?:be|cost|come\sto)|would\s(?:be|cost|come\sto))\s(?:a\stotal\sof\s|only\s|just\s|exactly\s|now\s)?)$",
    re.IGNORECASE,
)
_AFTERWARDS: Final = re.compile(
    r"\s(?:(?P<down>discount|reduction|rebate|off)|(?P<up>tax|vat|tip|surcharge|markup|sales\stax|service))?\s?"
    r"(?:\s(?:is|are)\s(?:taken\soff|applied|added|deducted))?\s?",
    re.IGNORECASE,
)
_COSTS: Final = re.compile(
    rf"{_NOUNS}\s(?:costs?|comes?\sto|is|will\s(?:cost|be)|drops?\sto|falls?\sto|rises?\sto)\s(?:only\s|just\s|now\s)?",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(r"\s(?:after|with|at|including|once)\s(?:a\s|an\s|the\s|its\s)?", re.IGNORECASE)
_ENDED: Final = re.compile(r"\s*(?:[.,;:)!?]|$)|\s(?:in\stotal|altogether|in\sall|overall|now|and|but|so|instead)\b")
_CLAUSE: Final = re.compile(r"[.;:!?]\s|\s(?:but|while|whereas)\s")
_LONGEST_BREAK: Final = 10
"""Characters of the longest of them."""
_OTHERS: Final = re.compile(r"\b(?:each|apiece|per|shipping|delivery|another|further|twice|then)\b", re.IGNORECASE)
"""Words of further figures or steps that take part in a result."""
_LED: Final = re.compile(
    r"(?:(?:so|but|and|now|then|thus)\b,?\s)?(?:with|after|at|less|minus|including)\s(?:a\s|an\s|the\s)?(?=\d)",
    re.IGNORECASE,
)
"""How a sentence begins that takes a share of what the one before it is about."""
_OF_IT: Final = re.compile(
    r"(?:[\s-](?:(?P<down>off|discount|reduction|rebate)|(?P<up>tax|sales\stax|vat|tip|surcharge|markup|mark-up)))"
    r"(?:\s(?:applied|added|deducted|taken\soff|included))?,?\s(?:it|this|that|the\s(?:price|total|amount|bill|cost))",
    re.IGNORECASE,
)
_ROUNDING: Final = Decimal("0.006")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.9


class _Stated(NamedTuple):
    """A base, a share with its sign, and a result."""

    base: Quantity
    share: Quantity
    result: Quantity
    up: bool
    share_alone: bool
    """Whether the result may also be the share of the base by itself."""


def share_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """What one sentence takes off or puts on in percent wrongly.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities import find_quantities
    >>> text = "$100 less 20% is $85."
    >>> [found.message for found in share_findings(text, find_quantities(text))]
    ['$100 less 20% is 80, not $85.']
    """
    for at, three in enumerate(zip(quantities, quantities[1:], quantities[2:], strict=False)):
        if not all(one.exact and one.low is not None for one in three) or _not_alone(sentence, quantities, at):
            continue
        stated = _read(sentence, *three)
        if stated is None or not _comparable(stated) or not _complete(sentence, stated):
            continue
        wanted = _wanted(stated)
        if wanted is not None:
            yield _finding(sentence, stated, wanted, offset)


def following_share_findings(text: str, before: int, start: int, end: int) -> Iterator[LogicFinding]:
    """What a sentence takes off or puts on the one amount of the sentence before it wrongly.

    Args:
        text: the whole text.
        before: where the sentence before begins.
        start: where the sentence begins.
        end: where it ends.

    >>> text = "The ticket is $100. With 20% off it costs $85."
    >>> [found.message for found in following_share_findings(text, 0, 20, len(text))]
    ['$100 less 20% is 80, not $85.']
    """
    if _LED.match(text, start, end) is None:
        return
    both = text[before:end]
    figures = find_quantities(both)
    if len(figures) != len(_Stated._fields) - 2 or not all(one.exact and one.low is not None for one in figures):
        return
    base, share, result = figures
    if not base.end <= start - before <= share.start or _OTHERS.search(both) is not None:
        return
    of_it = _OF_IT.match(both, share.end)
    if share.dimension != "share" or of_it is None or _RESULT.fullmatch(both, of_it.end(), result.start) is None:
        return
    stated = _Stated(base, share, result, of_it["up"] is not None, False)
    if "share" not in (base.dimension, result.dimension) and _comparable(stated) and _complete(both, stated):
        wanted = _wanted(stated)
        if wanted is not None:
            yield _finding(both, stated, wanted, before)


def _not_alone(sentence: str, quantities: Sequence[Quantity], at: int) -> bool:
    """Whether other figures of the same clause take part: "$50 plus $50 less 20%", "3 shirts at $20 less 10%"."""
    first, last = quantities[at], quantities[at + 2]
    if at:
        before = quantities[at - 1].start  # of those before, the one that may stand in the same clause
        breaks = _CLAUSE.finditer(sentence, max(0, before - _LONGEST_BREAK), first.start)
        if all(match.end() <= before for match in breaks):
            return True
    return _OTHERS.search(sentence[first.end : last.start]) is not None


def _complete(sentence: str, stated: _Stated) -> bool:
    """Whether nothing goes on behind the result that would make it another figure: "costs $90 with shipping"."""
    return stated.share.start > stated.result.start or _ENDED.match(sentence, stated.result.end) is not None


def _read(sentence: str, first: Quantity, second: Quantity, third: Quantity) -> _Stated | None:
    one, other = sentence[first.end : second.start], sentence[second.end : third.start]
    if second.dimension == "share" and third.dimension != "share" != first.dimension:
        return _base_first(one, other, (first, second, third))
    if first.dimension == "share" and third.dimension != "share" != second.dimension:
        return _share_first(one, other, (first, second, third))
    if third.dimension == "share" and first.dimension != "share" != second.dimension:
        return _share_last(one, other, sentence[third.end : third.end + 30], (first, second, third))
    return None


def _base_first(one: str, other: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """ "$100 less 20% is $85", "a $100 coat at 20% off costs $85", "$200 plus 10% tax comes to $230"."""
    base, share, result = figures
    announced = _RESULT.search(other)
    if announced is None:
        return None
    between = other[: announced.start()]
    if between and _AFTERWARDS.fullmatch(between) is None:
        return None
    named = _NAMED.match(between)
    if _DIRECT_UP.fullmatch(one) or _DIRECT_DOWN.fullmatch(one):
        return _Stated(base, share, result, _DIRECT_UP.fullmatch(one) is not None, False)
    joined = _DIRECT.fullmatch(one)
    if joined is None:
        return None
    word = (joined["down"] or "").strip().lower()
    if word.split(" ")[0] in {"with", "at", "after"}:  # which sign it has, the noun behind it says
        return None if named is None else _Stated(base, share, result, bool(named["up"]), False)
    if named is not None and bool(named["up"]) != bool(joined["up"]):
        return None
    return _Stated(base, share, result, bool(joined["up"]), False)


def _share_first(one: str, other: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """ "20% off $100 is $85", "with a 20% discount, the $100 ticket costs $85"."""
    share, base, result = figures
    announced = _RESULT.search(other)
    if announced is None or re.fullmatch(_NOUNS, other[: announced.start()]) is None:
        return None
    joined = _OFF.fullmatch(one)
    if joined is not None:
        than = "than" in one.lower()
        return _Stated(base, share, result, bool(joined["up"]), not than)
    joined = _WITH.fullmatch(one)
    return None if joined is None else _Stated(base, share, result, bool(joined["up"]), False)


def _share_last(one: str, other: str, behind: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """ "The $100 coat costs $85 after a 20% discount"."""
    base, result, share = figures
    named = _NAMED.match(behind)
    if named is None or _COSTS.fullmatch(one) is None or _AFTER.fullmatch(other) is None:
        return None
    if _ENDED.match(behind, named.end()) is None:
        return None
    return _Stated(base, share, result, bool(named["up"]), False)


def _comparable(stated: _Stated) -> bool:
    base, result = stated.base, stated.result
    if base.dimension == result.dimension:
        return base.dimension not in {"ordinal", "factor", "temperature", "points"} and "/" not in base.dimension
    return result.dimension == "count" and base.dimension.startswith("money:") and not result.nouns


def _wanted(stated: _Stated) -> Decimal | None:
    """What the result is, in the unit of the base, where it is not what is stated."""
    base, share = stated.base.low, stated.share.low
    result = stated.result.low
    if base is None or share is None or result is None or not base:
        return None
    right = base * (1 + share if stated.up else 1 - share)
    slack = stated.result.step + stated.share.step * base * (1 if stated.share.value % 1 else 0)
    slack += stated.base.step if stated.base.rounded else Decimal(0)
    slack = max(slack, right * (_LOOSE if stated.result.bound != "exact" else _ROUNDING))
    if abs(result - right) <= slack or (stated.share_alone and abs(result - base * share) <= slack):
        return None
    return right


def _finding(sentence: str, stated: _Stated, wanted: Decimal, offset: int) -> LogicFinding:
    figures = sorted((stated.base, stated.share), key=lambda one: one.start)
    size = stated.base.low / stated.base.value if stated.base.low is not None and stated.base.value else Decimal(1)
    said = _said(sentence, stated.result)
    sign = "plus" if stated.up else "less"
    calculation = f"{_said(sentence, stated.base)} {sign} {_said(sentence, stated.share)}"
    message = f"{calculation} is {round(wanted / size, 2).normalize():f}, not {said}."
    place = Span(start=offset + stated.result.start, end=offset + stated.result.end)
    premises = tuple(Span(start=offset + one.start, end=offset + one.end) for one in figures)
    return LogicFinding("logic.arithmetic", message[:1].upper() + message[1:], place, premises, _CONFIDENCE)


def _said(sentence: str, quantity: Quantity) -> str:
    return sentence[quantity.start : quantity.end]
