"""A percentage put on or taken off an amount, with the result: "$100 less 20% is $85", "20% off $100 is $85".

    base, phrase, result     "$100 less 20% is $85", "The ticket is $100. With a discount of 20% it costs $85"
    phrase, base, result     "20% off $100 is $85", "taking 20% off the $100 ticket leaves $85"
    base, result, phrase     "the $100 coat costs $85 after a discount of 20%"
    result, base, phrase     "$85 is $100 less 20%"

What a phrase is, says `percentages`. The result is recomputed as base × (1 ± share). A noun such as discount and tax
names the share as well as what is left, so there the share alone is a right result too: "a 20% discount on $100 is
$20"; and "saves" and "adds" announce the share alone. Base and result may be in two clauses or sentences, where the
base is the only figure of the first: "The ticket is $100. With 20% off it costs $85".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from assay.schema import Span
from assay.text.quantities import Quantity, find_quantities
from assay.verify.arithmetic.figures import as_written, format_number, has_fraction, in_unit_of
from assay.verify.logic.findings import LogicFinding
from assay.verify.logic.percentages import Percentage, read_percentage

_NOUNS: Final = r"(?:\s(?!and\b|or\b|but\b|than\b|of\b|to\b|from\b|per\b)[A-Za-z][\w'’-]*){0,3}?"
_THE: Final = r"(?:(?:a|an|the|its|their|our|your|his|her|this|that|another)\s)?"
_NOUNS_BEHIND: Final = re.compile(
    r"(?:\s(?!and\b|or\b|but\b|than\b|of\b|to\b|from\b|per\b)[A-Za-z][\w'’-]*){1,3}", re.IGNORECASE
)
_PREPOSITION: Final = r"(?:with|after|at|by|including|once|(?:if|when|once)\s(?:you|we|they|one|i))"
_WITHIN: Final = re.compile(
    rf"{_NOUNS}(?:,|\s[–—])?\s(?:(?:and|so|but|now|then)\s)?(?:{_PREPOSITION}\s)?{_THE}|\s?[-−–+]\s?",
    re.IGNORECASE,
)
"""What stands between a base and the phrase behind it in one clause: "a $100 coat at", "$100 after the"."""
_SIGN: Final = re.compile(r"\s?(?P<up>\+)\s?|\s?[-−–]\s")
_ACROSS: Final = re.compile(
    rf"{_NOUNS}(?:\.|;|:|,|\s[–—]|\s\()\s?(?:(?:so|but|and|now|then|thus|however|today)\b,?\s)?"
    rf"(?:(?:it|this|that|they)(?:\s(?:is|are|was)|[’']s)\s(?:now\s|currently\s)?)?"
    rf"(?:{_PREPOSITION}\s)?{_THE}",
    re.IGNORECASE,
)
"""The same over the end of a clause or a sentence, with what takes the base up."""
_ON_BASE: Final = re.compile(
    rf"(?:,|\s(?:on|off|from|to|than|against|in)|\sof(?=\s(?:the|its|our|your|their)\s))?\s{_THE}(?:(?:original\s|full\s|regular\s|list\s)?"
    r"(?:price|fee|bill|cost|total|rent|amount|value|sum|ticket)\sof\s)?",
    re.IGNORECASE,
)
_SUBJECT: Final = (
    r"(?:it(?:\s(?:all|now))?|this|that|these|they|you|we|i|one|the\s(?:new\s|final\s|reduced\s|resulting\s|discounted\s)?"
    r"(?:price|total|amount|bill|cost|result|sum|fee|rent|value|figure|ticket))"
)
_TOTAL: Final = re.compile(r"\bthe\s(?:\w+\s)?(?:total|amount|bill|sum|result)\b|\bit\sall\b", re.IGNORECASE)
"""What may stand for more than the amount before it."""
_LEFT: Final = (
    r"(?:costs?|drops?\sto|falls?\sto|rises?\sto|goes\s(?:up|down)\sto|stands\sat|sells?\sfor|leaves?(?:\s(?:you|us|me)(?:\swith)?)?|"
    r"pays?|(?:have|has)(?:\sto\spay)?|gets?|ends?\sup\s(?:at|with|paying)|(?:is|are)\sleft\swith|"
    r"(?:brings?|takes?|cuts?|lowers?|reduces?|raises?|lifts?|puts?)\s(?:it|this|that|the\s(?:price|total|sum|bill|cost|fee|rent))"
    r"\s(?:all\s)?(?:down\s|up\s)?(?:to|at)|makes?\s(?:it|this|that|the\s(?:price|total|bill|cost))|would\scost|will\scost)"
)
"""Verbs whose object is what is left, and never the share by itself."""
_EITHER: Final = (
    r"(?:is|are|was|were|makes?|gives?(?:\s(?:you|us))?|yields?|equals?|comes?\s(?:out\s)?(?:to|at)|came\sto|"
    r"amounts?\sto|totals?|works\sout\s(?:at|as|to)|means?|(?:will|would)\s(?:be|come\sto|make|give))"
)
_SAVED: Final = r"(?:saves?(?:\s(?:you|us|them|me))?|(?:is|are|means?|makes?)\sa\ssaving\sof)"
_ADDED: Final = r"(?:adds?|(?:is|are|means?|makes?)\s(?:an?\s)?(?:extra|additional|increase\sof))"
_FILLED: Final = r"\s(?:(?:a\stotal\sof|only|just|exactly|now|then|still)\s)?"
_SIDE: Final = r"(?:,?\s(?:and|so|then|thus|but|which|for\sa\stotal\sof)|,|:)?"
_RESULT: Final = re.compile(
    rf"\)?\s?[=≈→]\s?|\)?{_SIDE}(?:\s(?P<subject>{_SUBJECT}))?(?:\s(?:now|then|only|therefore))?"
    rf"\s(?:(?P<left>{_LEFT})|(?P<either>{_EITHER})|(?P<saved>{_SAVED})|(?P<added>{_ADDED})){_FILLED}|"
    rf"{_SIDE}\s(?:that|it|this)[’']s{_FILLED}|,\s(?:so|i\.e\.,?|that\sis,?|or\sin\sall)\s|"
    r",?\s(?P<gerund>leaving|making|giving|for)\s(?:you\s|us\s|it\s)?(?:a\s(?:total|price|new\sprice)\sof\s|with\s)?",
    re.IGNORECASE,
)
_COSTS: Final = re.compile(
    rf"{_NOUNS},?\s(?:costs?|comes?\sto|is|are|will\s(?:cost|be)|drops?\sto|falls?\sto|rises?\sto|sells?\sfor)"
    r"\s(?:only\s|just\s|now\s)?",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(rf",?\s(?:after|with|at|including|once)\s{_THE}", re.IGNORECASE)
_IS_BASE: Final = re.compile(r"(?:\s(?:is|are|equals|makes)|,|\s\(|\s?=|\s[–—])\s?", re.IGNORECASE)
_ENDED: Final = re.compile(
    r"\s*(?:[.,;:)!?](?!\d)|$)|\s(?:in\stotal|altogether|in\sall|overall|now|and|but|so|instead|left|to\spay|in\sthe\send)\b"
)
_CLAUSE: Final = re.compile(r"[.;:!?]\s|\s(?:but|while|whereas)\s")
_LONGEST_BREAK: Final = 10
"""Characters of the longest of them."""
_OTHERS: Final = re.compile(
    r"\b(?:each|apiece|per|shipping|delivery|postage|another|further|twice|then\sanother|members?\sget|up\sto)\b",
    re.IGNORECASE,
)
"""Words of further figures or steps that take part in a result."""
_NOT_GIVEN: Final = re.compile(
    r"\b(?:instead\sof|without|no|not|never|before|rather\sthan|excluding|except|unlike|neither|nor|n[’']t)\s(?:(?:a|an|the|any|its)\s)?$",
    re.IGNORECASE,
)
"""Words before a phrase with which nothing is put on or taken off."""
_PREPOSED: Final = re.compile(rf"\b{_PREPOSITION}\s{_THE}$", re.IGNORECASE)
_LESS_THAN: Final = re.compile(r"(?:less|more|lower|higher|cheaper)\sthan\s", re.IGNORECASE)
_NOT_TOTALLED: Final = frozenset({"ordinal", "factor", "temperature", "points"})
_ROUNDING: Final = Decimal("0.006")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.9
_Sort = Literal["left", "share", "either"]


class _Stated(NamedTuple):
    """A base, a percentage with its sign, and a result."""

    base: Quantity
    phrase: Percentage
    result: Quantity
    sort: _Sort
    """Whether the result is what is left, the share of the base by itself, or either of them."""


def share_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """What one sentence takes off or puts on in percent wrongly.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "$100 less 20% is $85."
    >>> [found.message for found in share_findings(text, find_quantities(text))]
    ['$100 less 20% is 80, not $85.']
    """
    for at, three in enumerate(zip(quantities, quantities[1:], quantities[2:], strict=False)):
        figures = _exact(sentence, three)
        if figures is None or _not_alone(sentence, quantities, at):
            continue
        stated = _read(sentence, figures)
        if stated is not None:
            yield from _judged(sentence, stated, offset)


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
    if "%" not in text[start:end] and "cent" not in text[start:end]:
        return
    both = text[before:end]
    quantities = find_quantities(both)
    if len(quantities) != len(_Stated._fields) - 1:
        return
    figures = _exact(both, (quantities[0], quantities[1], quantities[2]))
    if figures is None or not figures[0].end <= start - before <= figures[1].start or _OTHERS.search(both) is not None:
        return
    stated = _over_clauses(both, figures)
    if stated is None:
        return
    behind = both[stated.phrase.end : stated.result.start]
    if _TOTAL.search(behind) is not None and _figured(text, before, stated.base):
        return  # "Lunch is 40 euros. Drinks are 10 euros. With a 10% tip, the total comes to 55 euros."
    yield from _judged(both, stated, before)


def _figured(text: str, before: int, base: Quantity) -> bool:
    """Whether the sentences of the same paragraph before one have an amount of the sort of a base."""
    earlier = text[max(0, before - 400) : before].rpartition("\n\n")[2]
    return any(one.dimension == base.dimension for one in find_quantities(earlier))


def _exact(text: str, three: tuple[Quantity, Quantity, Quantity]) -> tuple[Quantity, Quantity, Quantity] | None:
    """Three quantities that are all exact; "20% less than $100" tells no bound of the $100."""
    first, second, third = three
    if first.dimension == "share" and not second.exact:
        than = _LESS_THAN.match(text, second.start, second.end)
        amount = second.high if second.low is None else second.low
        if than is None or amount is None:
            return None
        second = replace(second, start=than.end(), low=amount, high=amount, bound="exact")
    figures = (first, second, third)
    return figures if all(one.exact and one.low is not None for one in figures) else None


def _not_alone(sentence: str, quantities: Sequence[Quantity], at: int) -> bool:
    """Whether other figures of the same clause take part: "$50 plus $50 less 20%", "3 shirts at $20 less 10%"."""
    first, last = quantities[at], quantities[at + 2]
    if at:
        before = quantities[at - 1].start  # of those before, the one that may be in the same clause
        breaks = _CLAUSE.finditer(sentence, max(0, before - _LONGEST_BREAK), first.start)
        if all(match.end() <= before for match in breaks):
            return True
    return _OTHERS.search(sentence[first.end : last.start]) is not None


def _read(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """What three figures of one sentence state, in whichever order."""
    shares = [number for number, one in enumerate(figures) if one.dimension == "share"]
    if len(shares) != 1:
        return None
    if shares == [1]:
        return _base_first(text, figures) or _over_clauses(text, figures)
    phrase = _phrase(text, figures[shares[0]])
    if phrase is None:
        return None
    return _share_first(text, phrase, *figures[1:]) if shares == [0] else _share_last(text, phrase, *figures[:2])


def _phrase(text: str, share: Quantity) -> Percentage | None:
    phrase = read_percentage(text, share)
    if phrase is None or _NOT_GIVEN.search(text, max(0, phrase.start - 30), phrase.start) is not None:
        return None
    return phrase


def _base_first(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """ "$100 less 20% is $85", "a $100 coat at 20% off costs $85", "$100 − 20% = $85"."""
    base, share, result = figures
    sign = _SIGN.fullmatch(text, base.end, share.start)
    phrase = _phrase(text, share)
    if sign is not None:
        phrase = Percentage(share, share.start, share.end, sign["up"] is not None, False, False)
    elif phrase is None or phrase.start < base.end or _WITHIN.fullmatch(text, base.end, phrase.start) is None:
        return None
    elif phrase.may_be_change and "," in text[base.end : phrase.start]:
        return None  # "It was $100, up 20%": the $100 are the result
    return _with_result(text, base, phrase, result)


def _over_clauses(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _Stated | None:
    """ "The ticket is $100. With 20% off it costs $85", "It is $100, so with a discount of 20% you pay $85"."""
    base, share, result = figures
    phrase = _phrase(text, share)
    if phrase is None or phrase.start < base.end or _ACROSS.fullmatch(text, base.end, phrase.start) is None:
        return None
    if phrase.may_be_change and _PREPOSED.search(text, base.end, phrase.start) is None:
        return None
    return _with_result(text, base, phrase, result)


def _with_result(text: str, base: Quantity, phrase: Percentage, result: Quantity) -> _Stated | None:
    announced = _RESULT.fullmatch(text, phrase.end, result.start)
    return None if announced is None else _Stated(base, phrase, result, _sort(announced, phrase))


def _share_first(text: str, phrase: Percentage, base: Quantity, result: Quantity) -> _Stated | None:
    """ "20% off $100 is $85", "with a discount of 20%, the $100 ticket costs $85"."""
    if _ON_BASE.fullmatch(text, phrase.end, base.start) is None:
        return None
    nouns = _NOUNS_BEHIND.match(text, base.end, result.start)
    for at in (base.end, *(() if nouns is None else (base.end + edge for edge in _edges(nouns.group())))):
        announced = _RESULT.fullmatch(text, at, result.start)
        if announced is not None:
            return _Stated(base, phrase, result, _sort(announced, phrase))
    return None


def _edges(words: str) -> list[int]:
    return [match.end() for match in re.finditer(r"\s[\w'’-]+", words)]


def _share_last(text: str, phrase: Percentage, first: Quantity, second: Quantity) -> _Stated | None:
    """ "The $100 coat costs $85 after a 20% discount", "$85 is $100 less 20%"."""
    if _ENDED.match(text, phrase.end) is None or phrase.start < second.end:
        return None
    if _COSTS.fullmatch(text, first.end, second.start) and _AFTER.fullmatch(text, second.end, phrase.start):
        return _Stated(first, phrase, second, "left")
    signed = not phrase.named and phrase.start < phrase.share.start and text[second.end : phrase.start] == " "
    if signed and _IS_BASE.fullmatch(text, first.end, second.start) is not None:
        return _Stated(second, phrase, first, "left")
    return None


def _sort(announced: re.Match[str], phrase: Percentage) -> _Sort:
    """Of what the words before a result speak: of what is left, of the share by itself, or of either."""
    if announced["saved"] is not None or announced["added"] is not None:
        return "share"
    of_share = (announced["subject"] or "that").lower() in {"this", "that"} and announced["left"] is None
    return "either" if of_share and phrase.named and announced["gerund"] != "leaving" else "left"


def _judged(text: str, stated: _Stated, offset: int) -> Iterator[LogicFinding]:
    if not _comparable(stated) or not _complete(text, stated):
        return
    wanted = _wanted(stated)
    if wanted is not None:
        yield _finding(text, stated, wanted, offset)


def _complete(sentence: str, stated: _Stated) -> bool:
    """Whether nothing goes on behind the result that would make it another figure: "costs $90 with shipping"."""
    return stated.phrase.start > stated.result.start or _ENDED.match(sentence, stated.result.end) is not None


def _comparable(stated: _Stated) -> bool:
    base, result = stated.base, stated.result
    if "share" in (base.dimension, result.dimension):
        return False
    if base.dimension == result.dimension:
        return base.dimension not in _NOT_TOTALLED and "/" not in base.dimension
    return result.dimension == "count" and base.dimension.startswith("money:") and not result.nouns


def _wanted(stated: _Stated) -> Decimal | None:
    """What the result is, in the unit of the base, where it is not what is stated."""
    base, share, result = stated.base.low, stated.phrase.share.low, stated.result.low
    if base is None or share is None or result is None or not base:
        return None
    left = base * (1 + share if stated.phrase.up else 1 - share)
    right = base * share if stated.sort == "share" else left
    slack = stated.result.step + stated.phrase.share.step * base * (1 if has_fraction(stated.phrase.share.value) else 0)
    slack += stated.base.step if stated.base.rounded else Decimal(0)
    loose = stated.result.bound != "exact" or stated.phrase.share.bound != "exact"
    slack = max(slack, right * (_LOOSE if loose else _ROUNDING))
    if abs(result - right) <= slack or (stated.sort == "either" and abs(result - base * share) <= slack):
        return None
    return right


def _finding(sentence: str, stated: _Stated, wanted: Decimal, offset: int) -> LogicFinding:
    base, share = stated.base, stated.phrase.share
    figures = sorted((base, share), key=lambda one: one.start)
    said = as_written(sentence, stated.result)
    sign = "plus" if stated.phrase.up else "less"
    amount, part = as_written(sentence, base), as_written(sentence, share)
    calculation = f"{part} of {amount}" if stated.sort == "share" else f"{amount} {sign} {part}"
    message = f"{calculation} is {format_number(in_unit_of(base, wanted), 2)}, not {said}."
    place = Span(start=offset + stated.result.start, end=offset + stated.result.end)
    premises = tuple(Span(start=offset + one.start, end=offset + one.end) for one in figures)
    return LogicFinding("logic.arithmetic", message[:1].upper() + message[1:], place, premises, _CONFIDENCE)
