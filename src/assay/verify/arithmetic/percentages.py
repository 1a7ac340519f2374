"""Checks the result of a percentage added to or taken off an amount: "$100 less 20% is $85", "20% off $100 is $85".

    base, phrase, result     "$100 less 20% is $85", "The ticket is $100. With a discount of 20% it costs $85"
    phrase, base, result     "20% off $100 is $85", "taking 20% off the $100 ticket leaves $85"
    base, result, phrase     "the $100 coat costs $85 after a discount of 20%"
    result, base, phrase     "$85 is $100 less 20%"

`assay.verify.arithmetic.percentage_phrases` reads the phrase. The result is recomputed as base × (1 ± share). A noun
such as discount or tax refers to the share as well as to the remaining amount, so there the share alone is a right
result too: "a 20% discount on $100 is $20". After "saves" and "adds" only the share is. Base and result may be in two
clauses or sentences if the base is the only figure of the first: "The ticket is $100. With 20% off it costs $85".
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from assay.schema import Span
from assay.text.quantities import Quantity, find_quantities
from assay.verify.arithmetic.figures import as_written, format_number, has_fraction, in_unit_of
from assay.verify.arithmetic.percentage_phrases import Percentage, read_percentage
from assay.verify.logic.findings import LogicFinding

_NOUNS: Final = r"(?:\s(?!and\b|or\b|but\b|than\b|of\b|to\b|from\b|per\b)[A-Za-z][\w'’-]*){0,3}?"
_DETERMINER: Final = r"(?:(?:a|an|the|its|their|our|your|his|her|this|that|another)\s)?"
_NOUNS_AFTER: Final = re.compile(
    r"(?:\s(?!and\b|or\b|but\b|than\b|of\b|to\b|from\b|per\b)[A-Za-z][\w'’-]*){1,3}", re.IGNORECASE
)
_PREPOSITION: Final = r"(?:with|after|at|by|including|once|(?:if|when|once)\s(?:you|we|they|one|i))"
_GAP_IN_CLAUSE: Final = re.compile(
    rf"{_NOUNS}(?:,|\s[–—])?\s(?:(?:and|so|but|now|then)\s)?(?:{_PREPOSITION}\s)?{_DETERMINER}|\s?[-−–+]\s?",
    re.IGNORECASE,
)
"""The text between a base and the phrase after it in one clause: "a $100 coat at", "$100 after the"."""
_SIGN: Final = re.compile(r"\s?(?P<up>\+)\s?|\s?[-−–]\s")
_GAP_ACROSS_CLAUSES: Final = re.compile(
    rf"{_NOUNS}(?:\.|;|:|,|\s[–—]|\s\()\s?(?:(?:so|but|and|now|then|thus|however|today)\b,?\s)?"
    rf"(?:(?:it|this|that|they)(?:\s(?:is|are|was)|[’']s)\s(?:now\s|currently\s)?)?"
    rf"(?:{_PREPOSITION}\s)?{_DETERMINER}",
    re.IGNORECASE,
)
"""The same across the end of a clause or a sentence, with a pronoun that refers back to the base."""
_ON_BASE: Final = re.compile(
    rf"(?:,|\s(?:on|off|from|to|than|against|in)|\sof(?=\s(?:the|its|our|your|their)\s))?\s{_DETERMINER}(?:(?:original\s|full\s|regular\s|list\s)?"
    r"(?:price|fee|bill|cost|total|rent|amount|value|sum|ticket)\sof\s)?",
    re.IGNORECASE,
)
_SUBJECT: Final = (
    r"(?:it(?:\s(?:all|now))?|this|that|these|they|you|we|i|one|the\s(?:new\s|final\s|reduced\s|resulting\s|discounted\s)?"
    r"(?:price|total|amount|bill|cost|result|sum|fee|rent|value|figure|ticket))"
)
_TOTAL: Final = re.compile(r"\bthe\s(?:\w+\s)?(?:total|amount|bill|sum|result)\b|\bit\sall\b", re.IGNORECASE)
"""Words that may refer to more than the amount before them."""
_REMAINING_VERBS: Final = (
    r"(?:costs?|drops?\sto|falls?\sto|rises?\sto|goes\s(?:up|down)\sto|stands\sat|sells?\sfor|leaves?(?:\s(?:you|us|me)(?:\swith)?)?|"
    r"pays?|(?:have|has)(?:\sto\spay)?|gets?|ends?\sup\s(?:at|with|paying)|(?:is|are)\sleft\swith|"
    r"(?:brings?|takes?|cuts?|lowers?|reduces?|raises?|lifts?|puts?)\s(?:it|this|that|the\s(?:price|total|sum|bill|cost|fee|rent))"
    r"\s(?:all\s)?(?:down\s|up\s)?(?:to|at)|makes?\s(?:it|this|that|the\s(?:price|total|bill|cost))|would\scost|will\scost)"
)
"""Verbs whose object is the remaining amount, never the share by itself."""
_EQUAL_VERBS: Final = (
    r"(?:is|are|was|were|makes?|gives?(?:\s(?:you|us))?|yields?|equals?|comes?\s(?:out\s)?(?:to|at)|came\sto|"
    r"amounts?\sto|totals?|works\sout\s(?:at|as|to)|means?|(?:will|would)\s(?:be|come\sto|make|give))"
)
_SAVING_VERBS: Final = r"(?:saves?(?:\s(?:you|us|them|me))?|(?:is|are|means?|makes?)\sa\ssaving\sof)"
_ADDING_VERBS: Final = r"(?:adds?|(?:is|are|means?|makes?)\s(?:an?\s)?(?:extra|additional|increase\sof))"
_FILLER: Final = r"\s(?:(?:a\stotal\sof|only|just|exactly|now|then|still)\s)?"
_CONNECTIVE: Final = r"(?:,?\s(?:and|so|then|thus|but|which|for\sa\stotal\sof)|,|:)?"
_RESULT: Final = re.compile(
    rf"\)?\s?[=≈→]\s?|\)?{_CONNECTIVE}(?:\s(?P<subject>{_SUBJECT}))?(?:\s(?:now|then|only|therefore))?"
    rf"\s(?:(?P<left>{_REMAINING_VERBS})|(?P<either>{_EQUAL_VERBS})|(?P<saved>{_SAVING_VERBS})|(?P<added>{_ADDING_VERBS})){_FILLER}|"
    rf"{_CONNECTIVE}\s(?:that|it|this)[’']s{_FILLER}|,\s(?:so|i\.e\.,?|that\sis,?|or\sin\sall)\s|"
    r",?\s(?P<gerund>leaving|making|giving|for)\s(?:you\s|us\s|it\s)?(?:a\s(?:total|price|new\sprice)\sof\s|with\s)?",
    re.IGNORECASE,
)
_COSTS: Final = re.compile(
    rf"{_NOUNS},?\s(?:costs?|comes?\sto|is|are|will\s(?:cost|be)|drops?\sto|falls?\sto|rises?\sto|sells?\sfor)"
    r"\s(?:only\s|just\s|now\s)?",
    re.IGNORECASE,
)
_BEFORE_PHRASE: Final = re.compile(rf",?\s(?:after|with|at|including|once)\s{_DETERMINER}", re.IGNORECASE)
_IS_BASE: Final = re.compile(r"(?:\s(?:is|are|equals|makes)|,|\s\(|\s?=|\s[–—])\s?", re.IGNORECASE)
_END: Final = re.compile(
    r"\s*(?:[.,;:)!?](?!\d)|$)|\s(?:in\stotal|altogether|in\sall|overall|now|and|but|so|instead|left|to\spay|in\sthe\send)\b"
)
_CLAUSE: Final = re.compile(r"[.;:!?]\s|\s(?:but|while|whereas)\s")
_LONGEST_BREAK: Final = 10
"""The most characters that `_CLAUSE` matches."""
_OTHER_FIGURES: Final = re.compile(
    r"\b(?:each|apiece|per|shipping|delivery|postage|another|further|twice|then\sanother|members?\sget|up\sto)\b",
    re.IGNORECASE,
)
"""Words of further figures or steps that enter a result."""
_NEGATION_BEFORE: Final = re.compile(
    r"\b(?:instead\sof|without|no|not|never|before|rather\sthan|excluding|except|unlike|neither|nor|n[’']t)\s(?:(?:a|an|the|any|its)\s)?$",
    re.IGNORECASE,
)
"""Words before a phrase that negate it."""
_PREPOSITION_BEFORE: Final = re.compile(rf"\b{_PREPOSITION}\s{_DETERMINER}$", re.IGNORECASE)
_LESS_THAN: Final = re.compile(r"(?:less|more|lower|higher|cheaper)\sthan\s", re.IGNORECASE)
_NOT_TOTALLED: Final = frozenset({"ordinal", "factor", "temperature", "points"})
_ROUNDING: Final = Decimal("0.006")
_LOOSE: Final = Decimal("0.1")
_CONFIDENCE: Final = 0.9
_Sort = Literal["left", "share", "either"]


class _StatedPercentage(NamedTuple):
    """A base, a percentage with its sign, and a stated result."""

    base: Quantity
    phrase: Percentage
    result: Quantity
    sort: _Sort
    """Whether the result is the remaining amount (`left`), the share of the base by itself, or either of them."""


def share_findings(sentence: str, quantities: Sequence[Quantity], offset: int = 0) -> Iterator[LogicFinding]:
    """The wrong results of percentages that one sentence adds or takes off.

    Args:
        sentence: the sentence.
        quantities: its quantities, in order.
        offset: where the sentence begins in the text.

    >>> from assay.text.quantities.detection import find_quantities
    >>> text = "$100 less 20% is $85."
    >>> [found.message for found in share_findings(text, find_quantities(text))]
    ['$100 less 20% is 80, not $85.']
    """
    for index, three in enumerate(zip(quantities, quantities[1:], quantities[2:], strict=False)):
        figures = _exact(sentence, three)
        if figures is None or _has_other_figures(sentence, quantities, index):
            continue
        stated = _read(sentence, figures)
        if stated is not None:
            yield from _check(sentence, stated, offset)


def following_share_findings(text: str, before: int, start: int, end: int) -> Iterator[LogicFinding]:
    """The wrong result of a percentage that a sentence adds to or takes off the only amount of the sentence before it.

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
    if len(quantities) != len(_StatedPercentage._fields) - 1:
        return
    figures = _exact(both, (quantities[0], quantities[1], quantities[2]))
    if (
        figures is None
        or not figures[0].end <= start - before <= figures[1].start
        or _OTHER_FIGURES.search(both) is not None
    ):
        return
    stated = _across_clauses(both, figures)
    if stated is None:
        return
    gap = both[stated.phrase.end : stated.result.start]
    if _TOTAL.search(gap) is not None and _has_amount_like(text, before, stated.base):
        return  # "Lunch is 40 euros. Drinks are 10 euros. With a 10% tip, the total comes to 55 euros."
    yield from _check(both, stated, before)


def _has_amount_like(text: str, before: int, base: Quantity) -> bool:
    """Whether earlier sentences of the same paragraph have an amount of the dimension of a base."""
    earlier = text[max(0, before - 400) : before].rpartition("\n\n")[2]
    return any(quantity.dimension == base.dimension for quantity in find_quantities(earlier))


def _exact(text: str, three: tuple[Quantity, Quantity, Quantity]) -> tuple[Quantity, Quantity, Quantity] | None:
    """Three quantities, if all are exact; in "20% less than $100" the $100 are an exact amount, not a bound."""
    first, second, third = three
    if first.dimension == "share" and not second.exact:
        than = _LESS_THAN.match(text, second.start, second.end)
        amount = second.high if second.low is None else second.low
        if than is None or amount is None:
            return None
        second = replace(second, start=than.end(), low=amount, high=amount, bound="exact")
    figures = (first, second, third)
    return figures if all(quantity.exact and quantity.low is not None for quantity in figures) else None


def _has_other_figures(sentence: str, quantities: Sequence[Quantity], index: int) -> bool:
    """Whether other figures of the clause enter the result: "$50 plus $50 less 20%", "3 shirts at $20 less 10%"."""
    first, last = quantities[index], quantities[index + 2]
    if index:
        before = quantities[index - 1].start  # the last figure before, which may be in the same clause
        breaks = _CLAUSE.finditer(sentence, max(0, before - _LONGEST_BREAK), first.start)
        if all(match.end() <= before for match in breaks):
            return True
    return _OTHER_FIGURES.search(sentence[first.end : last.start]) is not None


def _read(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _StatedPercentage | None:
    """The base, percentage and result among three figures of one sentence, in any order."""
    shares = [index for index, quantity in enumerate(figures) if quantity.dimension == "share"]
    if len(shares) != 1:
        return None
    if shares == [1]:
        return _base_first(text, figures) or _across_clauses(text, figures)
    phrase = _phrase(text, figures[shares[0]])
    if phrase is None:
        return None
    return _share_first(text, phrase, *figures[1:]) if shares == [0] else _share_last(text, phrase, *figures[:2])


def _phrase(text: str, share: Quantity) -> Percentage | None:
    phrase = read_percentage(text, share)
    if phrase is None or _NEGATION_BEFORE.search(text, max(0, phrase.start - 30), phrase.start) is not None:
        return None
    return phrase


def _base_first(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _StatedPercentage | None:
    """Read "$100 less 20% is $85", "a $100 coat at 20% off costs $85", "$100 − 20% = $85"."""
    base, share, result = figures
    sign = _SIGN.fullmatch(text, base.end, share.start)
    phrase = _phrase(text, share)
    if sign is not None:
        phrase = Percentage(share, share.start, share.end, sign["up"] is not None, False, False)
    elif phrase is None or phrase.start < base.end or _GAP_IN_CLAUSE.fullmatch(text, base.end, phrase.start) is None:
        return None
    elif phrase.may_be_change and "," in text[base.end : phrase.start]:
        return None  # "It was $100, up 20%": the $100 are the result
    return _with_result(text, base, phrase, result)


def _across_clauses(text: str, figures: tuple[Quantity, Quantity, Quantity]) -> _StatedPercentage | None:
    """Read "The ticket is $100. With 20% off it costs $85", "It is $100, so with a discount of 20% you pay $85"."""
    base, share, result = figures
    phrase = _phrase(text, share)
    if phrase is None or phrase.start < base.end or _GAP_ACROSS_CLAUSES.fullmatch(text, base.end, phrase.start) is None:
        return None
    if phrase.may_be_change and _PREPOSITION_BEFORE.search(text, base.end, phrase.start) is None:
        return None
    return _with_result(text, base, phrase, result)


def _with_result(text: str, base: Quantity, phrase: Percentage, result: Quantity) -> _StatedPercentage | None:
    announced = _RESULT.fullmatch(text, phrase.end, result.start)
    return None if announced is None else _StatedPercentage(base, phrase, result, _result_sort(announced, phrase))


def _share_first(text: str, phrase: Percentage, base: Quantity, result: Quantity) -> _StatedPercentage | None:
    """Read "20% off $100 is $85", "with a discount of 20%, the $100 ticket costs $85"."""
    if _ON_BASE.fullmatch(text, phrase.end, base.start) is None:
        return None
    nouns = _NOUNS_AFTER.match(text, base.end, result.start)
    for start in (
        base.end,
        *(() if nouns is None else (base.end + word_end for word_end in _word_ends(nouns.group()))),
    ):
        announced = _RESULT.fullmatch(text, start, result.start)
        if announced is not None:
            return _StatedPercentage(base, phrase, result, _result_sort(announced, phrase))
    return None


def _word_ends(words: str) -> list[int]:
    return [match.end() for match in re.finditer(r"\s[\w'’-]+", words)]


def _share_last(text: str, phrase: Percentage, first: Quantity, second: Quantity) -> _StatedPercentage | None:
    """Read "The $100 coat costs $85 after a 20% discount", "$85 is $100 less 20%"."""
    if _END.match(text, phrase.end) is None or phrase.start < second.end:
        return None
    if _COSTS.fullmatch(text, first.end, second.start) and _BEFORE_PHRASE.fullmatch(text, second.end, phrase.start):
        return _StatedPercentage(first, phrase, second, "left")
    signed = not phrase.named and phrase.start < phrase.share.start and text[second.end : phrase.start] == " "
    if signed and _IS_BASE.fullmatch(text, first.end, second.start) is not None:
        return _StatedPercentage(second, phrase, first, "left")
    return None


def _result_sort(announced: re.Match[str], phrase: Percentage) -> _Sort:
    """What the words before a result announce: the remaining amount, the share by itself, or either."""
    if announced["saved"] is not None or announced["added"] is not None:
        return "share"
    of_share = (announced["subject"] or "that").lower() in {"this", "that"} and announced["left"] is None
    return "either" if of_share and phrase.named and announced["gerund"] != "leaving" else "left"


def _check(text: str, stated: _StatedPercentage, offset: int) -> Iterator[LogicFinding]:
    if not _is_comparable(stated) or not _is_complete(text, stated):
        return
    expected = _corrected_result(stated)
    if expected is not None:
        yield _finding(text, stated, expected, offset)


def _is_complete(sentence: str, stated: _StatedPercentage) -> bool:
    """Whether nothing after the result makes it another figure, as in "costs $90 with shipping"."""
    return stated.phrase.start > stated.result.start or _END.match(sentence, stated.result.end) is not None


def _is_comparable(stated: _StatedPercentage) -> bool:
    base, result = stated.base, stated.result
    if "share" in (base.dimension, result.dimension):
        return False
    if base.dimension == result.dimension:
        return base.dimension not in _NOT_TOTALLED and "/" not in base.dimension
    return result.dimension == "count" and base.dimension.startswith("money:") and not result.nouns


def _corrected_result(stated: _StatedPercentage) -> Decimal | None:
    """The right result in base units; none where the stated one is right."""
    base, share, result = stated.base.low, stated.phrase.share.low, stated.result.low
    if base is None or share is None or result is None or not base:
        return None
    remaining = base * (1 + share if stated.phrase.up else 1 - share)
    expected = base * share if stated.sort == "share" else remaining
    slack = stated.result.step + stated.phrase.share.step * base * (1 if has_fraction(stated.phrase.share.value) else 0)
    slack += stated.base.step if stated.base.rounded else Decimal(0)
    loose = stated.result.bound != "exact" or stated.phrase.share.bound != "exact"
    slack = max(slack, expected * (_LOOSE if loose else _ROUNDING))
    if abs(result - expected) <= slack or (stated.sort == "either" and abs(result - base * share) <= slack):
        return None
    return expected


def _finding(sentence: str, stated: _StatedPercentage, expected: Decimal, offset: int) -> LogicFinding:
    base, share = stated.base, stated.phrase.share
    figures = sorted((base, share), key=lambda figure: figure.start)
    stated_result = as_written(sentence, stated.result)
    sign = "plus" if stated.phrase.up else "less"
    amount, part = as_written(sentence, base), as_written(sentence, share)
    calculation = f"{part} of {amount}" if stated.sort == "share" else f"{amount} {sign} {part}"
    message = f"{calculation} is {format_number(in_unit_of(base, expected), 2)}, not {stated_result}."
    place = Span(start=offset + stated.result.start, end=offset + stated.result.end)
    premises = tuple(Span(start=offset + figure.start, end=offset + figure.end) for figure in figures)
    return LogicFinding("logic.arithmetic", message[:1].upper() + message[1:], place, premises, _CONFIDENCE)
