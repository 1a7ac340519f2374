"""Rewrites a statement in plain words: letters spelled one by one, sums instead of numbers, formula markup, double
negations.

What a reader understands at a glance is written as one would plainly say it, so that it can be compared with the
evidence: "2 + 2 weeks" is 4 weeks, "f o u r" is four, "it is not so that they get fewer than 4" says at least 4.
"""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from assay.text.lexicon.lexemes import find_words
from assay.text.quantities.detection import find_quantities
from assay.text.quantities.operations import OPERATIONS, calculate

_SPELLED_OUT: Final = re.compile(r"(?<![\w'’.-])[^\W\d_](?P<by>[ \-.·])(?:[a-z](?P=by)){1,24}[a-z](?![\w'’-])")
"""A word of three or more letters with a separator between any two of them."""
_SUM: Final = re.compile(
    r"(?<![\w.,+*/×÷=^(-])(?P<a>\d{1,6}(?:\.\d{1,3})?)[ ]?(?P<by>[+×*÷−]|plus|minus|times)[ ]?"
    r"(?P<b>\d{1,6}(?:\.\d{1,3})?)(?=[ ][^\W\d_])(?![ ](?:is|are|makes?|equals?|plus|minus|times|x)\b)"
)
_MULTIPLE: Final = re.compile(
    r"\b(?P<factor>twice|double|half|three times|four times|five times|ten times)\sas\s(?:long|much|many|large|big|"
    r"high|far|old|heavy|often)\sas\s",
    re.IGNORECASE,
)
_FACTORS: Final = {
    "twice": "2",
    "double": "2",
    "half": "0.5",
    "three times": "3",
    "four times": "4",
    "five times": "5",
    "ten times": "10",
}
_DIGITS: Final = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
}
_VALUES: Final = {**_DIGITS, "ten": "10"}
_DIGIT_BY_DIGIT: Final = re.compile(rf"\b(?:{'|'.join(_DIGITS)})(?:-(?:{'|'.join(_DIGITS)})){{1,5}}\b", re.IGNORECASE)
"""A number given digit by digit: "two-five"."""
_DENIED_BOUND: Final = re.compile(
    r"\bit(?:['’]s| is| was) not (?:so|true|the case|right|correct) that (?P<said>[^.;]{0,200}?)\b"
    r"(?P<bound>fewer|less|more) than\b",
    re.IGNORECASE,
)
_EMPHASIS: Final = (
    r"(?:in (?:actual )?fact|as a matter of fact|in reality|in truth|actually|really|indeed|of course|by the way|"
    r"to be (?:honest|precise|exact|fair|clear)|as it (?:happens|turns out)|needless to say|after all|frankly)"
)
_EMPHASISED: Final = re.compile(
    rf"(?<=[\w%)])(?:,\s{_EMPHASIS},(?=\s\w)|\s{_EMPHASIS}(?=\s\w)|,?\s{_EMPHASIS}(?=[.!]*$))",
    re.IGNORECASE,
)
"""Emphasizers, which stress that something is true without changing what is said (Quirk et al., A Comprehensive Grammar
of the English Language, 1985, 8.99 and 8.124)."""
_DENIED_DENIAL: Final = re.compile(
    r"(?:any(?:one|body)|whoever|those|people|they)\s(?:who\s)?(?:says?|claims?|thinks?|believes?|tells?\syou|insists?)\s(?:that\s)?"
    r"(?P<said>[^.;,]{3,160}?)\s(?P<verb>does|do|did|is|are|was|were|has|have|will|can)(?:\snot|n['’]t)\s(?P<more>[^.;,]{2,160}?)\s"
    r"(?:(?:is|are)\s(?:wrong|mistaken|misinformed|lying|incorrect)|errs?)(?=[.!]*$)",
    re.IGNORECASE,
)
_SELF_CORRECTION: Final = re.compile(
    r"(?P<first>(?<![\d.,])\d[\d.,]{0,20}|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)(?P<unit>\s[a-z]+)?,?\s"
    r"(?:or\srather|no,|i\smean,?|make\sthat|sorry,|scratch\sthat,|that\sis\sto\ssay)\s"
    r"(?P<second>\d[\d.,]{0,20}\d|\d|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b),?",
    re.IGNORECASE,
)
"""A number that is corrected, with its correction."""
_DIFFERENCE: Final = re.compile(
    r"(?P<first>\b\d{1,6}|\b(?:two|three|four|five|six|seven|eight|nine|ten))\s(?P<unit>[a-z]+?)s?\s"
    r"(?P<way>more|longer|later|higher|less|fewer|shorter|earlier|lower)\sthan\s(?:the\s)?"
    r"(?P<second>\d{1,6}|two|three|four|five|six|seven|eight|nine|ten)\s(?P=unit)s?\b",
    re.IGNORECASE,
)
"""An amount given by its difference from another: "three weeks more than six weeks"."""
_FORMULA: Final = (
    (re.compile(r"\\(?:text|textrm|textbf|textit|mathrm|mathbf|mathit|operatorname|mbox)\s?\{([^{}]{0,200})\}"), r"\1"),
    (re.compile(r"\\[dt]?frac\s?\{([^{}]{1,40})\}\s?\{([^{}]{1,40})\}"), r"\1 ÷ \2"),
    (re.compile(r"\\(?:times|cdot)\b"), "×"),
    (re.compile(r"\\(?:leq?|leqslant)\b"), "at most"),
    (re.compile(r"\\(?:geq?|geqslant)\b"), "at least"),
    (re.compile(r"\\(?:[ ,;:!]|quad\b|qquad\b|left\b|right\b|displaystyle\b)"), " "),
    (re.compile(r"_?\{([^{}]{1,80})\}"), r" \1"),
    (re.compile(r"\${1,2}|\\[()\[\]]"), ""),
)
_MAY_BE_FORMULA: Final = re.compile(r"\\[A-Za-z ,;:!(\[]")


def in_plain_words(text: str) -> str:
    """The statement in plain words; unchanged where it is plain already.

    >>> in_plain_words("Partners get 2 + 2 weeks."), in_plain_words("Partners get f o u r weeks.")
    ('Partners get 4 weeks.', 'Partners get four weeks.')
    >>> in_plain_words("The leave is twice as long as two weeks."), in_plain_words("2 + 2 is 4.")
    ('The leave is 4 weeks.', '2 + 2 is 4.')
    >>> in_plain_words("It in fact takes 9 weeks."), in_plain_words("It does not really take 9 weeks.")
    ('It takes 9 weeks.', 'It does not take 9 weeks.')
    >>> in_plain_words("It is not the case that partners get fewer than four weeks.")
    'partners get at least four weeks.'
    >>> in_plain_words(r"$t_{leave} = 4\\ \\text{weeks}$")
    't leave = 4 weeks'
    """
    if _MAY_BE_FORMULA.search(text) is not None:
        text = _without_formula_markup(text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return _with_multiple_computed(text)


def _without_formula_markup(text: str) -> str:
    for pattern, replacement in _FORMULA:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


def _without_separators(spelled: re.Match[str]) -> str:
    return spelled.group().replace(spelled["by"], "")


def _number_or_words(digits: re.Match[str]) -> str:
    """The number; the words unchanged where two consecutive digits may be a guess between them ("two-three days")."""
    values = [_DIGITS[word] for word in digits.group().lower().split("-")]
    guess = len(values) == 2 and int(values[1]) == int(values[0]) + 1
    return digits.group() if guess else "".join(values)


def _computed(terms: re.Match[str]) -> str:
    """The value of a calculation; the calculation unchanged where it has no value or a negative or long one."""
    value = calculate(Decimal(terms["a"]), OPERATIONS[terms["by"]], Decimal(terms["b"]))
    return _decimal_text(value) if value is not None and value >= 0 and value == round(value, 2) else terms.group()


def _decimal_text(value: Decimal) -> str:
    whole = value.to_integral_value()
    return str(whole) if value == whole else format(value.normalize(), "f")


def _amount_of_difference(found: re.Match[str]) -> str:
    first, second = (int(_VALUES.get(found[name].lower(), found[name])) for name in ("first", "second"))
    more = found["way"].lower() in {"more", "longer", "later", "higher"}
    return f"{second + first if more else second - first} {found['unit']}s"


def _opposite_bound(denied: re.Match[str]) -> str:
    return f"{denied['said']}{'at most' if denied['bound'].lower() == 'more' else 'at least'}"


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (_SPELLED_OUT, _without_separators),
    (_DIGIT_BY_DIGIT, _number_or_words),
    (_SUM, _computed),
    (_DENIED_BOUND, _opposite_bound),
    (_EMPHASISED, lambda _: ""),
    (_DENIED_DENIAL, lambda m: f"{m['said']} {m['verb']} {m['more']}"),
    (_SELF_CORRECTION, lambda m: m["second"] + (m["unit"] or "")),
    (_DIFFERENCE, _amount_of_difference),
)


def _with_multiple_computed(text: str) -> str:
    """The text with the multiple of an amount computed: "twice as long as two weeks"."""
    found = _MULTIPLE.search(text)
    if found is None:
        return text
    amount = next((q for q in find_quantities(text, find_words(text)) if q.number_start == found.end()), None)
    if amount is None or amount.dimension in {"ordinal", "factor", "share"}:
        return text
    value = _decimal_text(amount.value * Decimal(_FACTORS[found["factor"].lower()]))
    return text[: found.start()] + value + text[amount.number_end :]
