"""Parses and evaluates the arithmetic of a sentence: numbers with units, operators and equals signs.

    expression = term { ("+" | "-") term }
    term       = factor { ("×" | "/") factor }
    factor     = "(" expression ")" | [ "-" ] number [ "%" ] [ scale | unit | noun ] [ "of" factor ]

Values are decimals and carry the error that the rounding of the written numbers may hide. Anything that is not plainly
a number (a variable, a function, a power) makes the expression unreadable: only complete expressions are evaluated.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from assay.text.lexicon import word_set
from assay.text.quantities import CURRENCY_SYMBOLS, OPERATIONS, UNIT_SYMBOLS, UNIT_WORDS, calculate

MAX_DEPTH: Final = 20
"""The deepest nesting of brackets."""
MAX_DIGITS: Final = 24
"""The most characters of a number."""
_UNITLESS: Final = "count"

_SCALES: Final = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "hundred": 2, "bn": 9, "mn": 6}
_EQUALS: Final = frozenset(
    {"=", "≈", "equals", "equal", "is equal to", "makes", "make", "gives", "give", "comes to", "is", "yields"}
)
_TOKEN: Final = re.compile(
    r"""(?P<number>(?:\d{1,3}(?:,\d{3})++|\d++)(?:\.\d++)?+(?![.,]?\d))
    |(?P<currency>[$€£¥₹₩])
    |(?P<equals>=|≈|\b(?:is\sequal\sto|comes\sto|equals?|makes?|gives?|yields|is)\b)
    |(?P<operator>\\times|\\cdot|\\div|\b(?:multiplied\sby|divided\sby|plus|minus|times)\b|[+×✕*·⋅/÷−–-]|\bx(?=\s?[\d($€£¥]))
    |(?P<percent>%)
    |(?P<open>\()|(?P<close>\))
    |(?P<of>\bof\b)
    |(?P<word>[^\W\d_]+[²³]?)
    |(?P<space>\s+)
    |(?P<other>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_BINDING_SIGNS: Final = frozenset("^!²³√_|\\#&~<>")
"""Signs that change the meaning of a number that they touch."""
_LEAD_WORDS: Final = word_set(
    """of by over per to from square root cube log ln sqrt sin cos tan mod modulo and or power between than with without
    above below about section chapter version step figure table page no"""
)
"""Words before an expression that make it a part of a longer one, or show that it is not arithmetic."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a sentence."""

    kind: str
    """The name of the group of `_TOKEN` that matched: number, currency, equals, operator, percent, open, close, ..."""
    text: str
    """In lower case."""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Amount:
    """The value of an expression in the base unit of its dimension, with its error of rounding."""

    value: Decimal
    error: Decimal
    """How far the true value may be from it; 0 for whole numbers."""
    dimension: str
    """`count` for a number without a unit; `?` for a product or quotient of units, which cannot be compared."""
    unit: str
    start: int
    end: int
    operators: int = 0
    """The number of operators in the expression."""
    divided: bool = False
    """Whether it has a quotient or a percentage, whose digits are seldom written out in full."""
    spaced: bool = True
    """Whether every minus and slash has spaces around it: "3-5" may be a range and "3/5" a date or a score."""


class Unreadable(Exception):  # noqa: N818 not an error: a signal that stays within this package
    """The text is not arithmetic that can be evaluated."""


class UnitClash(Exception):  # noqa: N818 not an error: a signal that stays within this package
    """A sum of two different dimensions."""

    def __init__(self, first: Amount, second: Amount) -> None:
        super().__init__()
        self.first = first
        self.second = second

    def is_range(self, text: str) -> bool:
        """Whether only a hyphen without spaces separates the two: "£30-50m" is a range."""
        return text[self.first.end : self.second.start] in {"-", "–", "−"}


def tokens(text: str) -> list[Token]:
    """The tokens of a sentence without white space; linear in its length.

    >>> [token.text for token in tokens("12 × $4 is 48.")]
    ['12', '×', '$', '4', 'is', '48', '.']
    """
    return [
        Token(str(match.lastgroup), match.group().lower(), match.start(), match.end())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "space"
    ]


class ExpressionReader:
    """A recursive-descent parser over one sentence, which evaluates as it reads."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)

    def kind(self, at: int) -> str:
        """The kind of a token; empty beyond the end."""
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def may_begin(self, at: int) -> bool:
        """Whether an expression may begin at a token: a number, a currency sign or a bracket that nothing before it
        makes the end of a longer expression."""
        if self.kind(at) not in {"number", "currency", "open"}:
            return False
        start = self.tokens[at].start
        touching = self.text[start - 1 : start]
        if touching and (touching.isalnum() or touching in _BINDING_SIGNS or touching in ".,'’"):
            return False
        if at == 0:
            return True
        before = self.tokens[at - 1]
        if before.kind in {"operator", "percent", "number", "of", "close"} or before.text in _BINDING_SIGNS:
            return False
        if before.text == "and" and self.text[: before.start].rstrip()[-1:] in {",", ";"}:
            return True  # a new clause rather than "the sum of 3 and 4"
        return not (before.kind == "word" and before.text in _LEAD_WORDS)

    def expression(self, at: int, depth: int = 0) -> tuple[Amount, int]:
        """The value of the expression at a token, and the index of the token after it.

        Raises:
            Unreadable: it cannot be evaluated.
            UnitClash: it adds two different dimensions.
        """
        value, at = self._term(at, depth)
        while self._operator(at) in {"+", "-"}:
            sign, spaced = self._operator(at), self._spaced(at)
            other, at = self._term(at + 1, depth)
            value = _add(value, other, sign, spaced)
        return value, at

    def _term(self, at: int, depth: int) -> tuple[Amount, int]:
        value, at = self._factor(at, depth)
        while self._operator(at) in {"*", "/"}:
            sign, spaced = self._operator(at), self._spaced(at)
            other, at = self._factor(at + 1, depth)
            value = _multiply(value, other, sign, spaced)
        return value, at

    def _factor(self, at: int, depth: int) -> tuple[Amount, int]:
        if depth > MAX_DEPTH:
            raise Unreadable
        if self.kind(at) == "open":
            start = self.tokens[at].start
            value, after = self.expression(at + 1, depth + 1)
            if self.kind(after) != "close":
                raise Unreadable
            value = Amount(
                value.value,
                value.error,
                value.dimension,
                value.unit,
                start,
                self.tokens[after].end,
                value.operators,
                value.divided,
                value.spaced,
            )
            return value, after + 1
        return self._number(at, depth)

    def _number(self, at: int, depth: int) -> tuple[Amount, int]:
        first = at
        currency = ""
        if self.kind(at) == "currency":
            currency = CURRENCY_SYMBOLS[self.tokens[at].text]
            at += 1
        if self.kind(at) != "number" or len(self.tokens[at].text) > MAX_DIGITS:
            raise Unreadable
        number = self.tokens[at]
        value = Decimal(number.text.replace(",", ""))
        error = Decimal(0) if "." not in number.text else Decimal(5).scaleb(-len(number.text.partition(".")[2]) - 1)
        at += 1
        if self.kind(at) == "percent":
            return self._share(Amount(value, error, "share", "%", number.start, self.tokens[at].end), at + 1, depth)
        value, error, dimension, unit, at = self._suffix(at, value, error)
        if currency:
            dimension, unit = f"money:{currency}", currency
        end = self.tokens[at - 1].end
        self._require_free_end(end)
        amount = Amount(value, error, dimension, unit, self.tokens[first].start, end)
        return self._share(amount, at, depth) if dimension == "share" else (amount, at)

    def _share(self, amount: Amount, at: int, depth: int) -> tuple[Amount, int]:
        """A percentage by itself, or of a factor, which is a product."""
        fraction = Amount(
            amount.value / 100, amount.error / 100, "share", "%", amount.start, amount.end, 0, divided=True
        )
        if self.kind(at) != "of":
            return fraction, at
        other, at = self._factor(at + 1, depth + 1)
        factor = Amount(fraction.value, fraction.error, _UNITLESS, "", amount.start, amount.end, 0, divided=True)
        return _multiply(factor, other, "*", True), at

    def _suffix(self, at: int, value: Decimal, error: Decimal) -> tuple[Decimal, Decimal, str, str, int]:
        """The value with its scale, error, dimension and unit: a number may have a scale, then a unit or nouns."""
        if self.kind(at) == "word" and self.tokens[at].text in _SCALES:
            power = _SCALES[self.tokens[at].text]
            value, error = value.scaleb(power), (error or Decimal("0.5")).scaleb(power)
            at += 1
        if self.kind(at) != "word":
            return value, error, _UNITLESS, "", at
        written = self.text[self.tokens[at].start : self.tokens[at].end]
        unit = UNIT_SYMBOLS.get(written) or UNIT_WORDS.get(written.lower())
        if unit is not None and unit.offset == 0 and unit.dimension != "factor":
            if unit.dimension == "share":
                return value, error, "share", unit.name, at + 1
            return value * unit.size, error * unit.size, unit.dimension, unit.name, at + 1
        if unit is not None or len(written) == 1:
            raise Unreadable  # a temperature, a factor, or a variable
        taken = 0
        while taken < 2 and self.kind(at) == "word" and len(self.tokens[at].text) > 1:
            at, taken = at + 1, taken + 1
        return value, error, _UNITLESS, "", at

    def _require_free_end(self, end: int) -> None:
        if self.text[end : end + 1] in _BINDING_SIGNS and self.text[end : end + 1]:
            raise Unreadable

    def _operator(self, at: int) -> str:
        return OPERATIONS[self.tokens[at].text] if self.kind(at) == "operator" else ""

    def _spaced(self, at: int) -> bool:
        token = self.tokens[at]
        if token.text not in {"-", "–", "/"}:
            return True
        return self.text[token.start - 1 : token.start].isspace() and self.text[token.end : token.end + 1].isspace()


def is_equals(token: Token) -> bool:
    """Whether a token is an equals sign or a word of equality."""
    return token.kind == "equals" and token.text in _EQUALS


def _calculate(first: Amount, sign: str, second: Amount) -> Decimal:
    value = calculate(first.value, sign, second.value)
    if value is None:
        raise Unreadable
    return value


def _add(first: Amount, second: Amount, sign: str, spaced: bool) -> Amount:
    dimension, unit = first.dimension, first.unit
    if first.dimension != second.dimension:
        if "?" in {first.dimension, second.dimension} or "share" in {first.dimension, second.dimension}:
            raise Unreadable
        if _UNITLESS not in {first.dimension, second.dimension}:
            raise UnitClash(first, second)
        known = first if first.dimension != _UNITLESS else second
        if not known.dimension.startswith("money:"):
            raise Unreadable  # "5 + 3 km": that the 5 are kilometres too would be a guess
        dimension, unit = known.dimension, known.unit
    value = _calculate(first, sign, second)
    return _combine(first, second, value, first.error + second.error, dimension, unit, spaced, divided=False)


def _multiply(first: Amount, second: Amount, sign: str, spaced: bool) -> Amount:
    value = _calculate(first, sign, second)
    relative = sum((amount.error / abs(amount.value) for amount in (first, second) if amount.value), start=Decimal(0))
    unitless = {_UNITLESS, "share"}
    if second.dimension in unitless:
        dimension, unit = first.dimension, first.unit
    elif first.dimension in unitless and sign == "*":
        dimension, unit = second.dimension, second.unit
    elif first.dimension == second.dimension and sign == "/":
        dimension, unit = _UNITLESS, ""
    else:
        dimension, unit = "?", ""
    if dimension == "share":
        dimension, unit = _UNITLESS, ""
    return _combine(first, second, value, abs(value) * relative, dimension, unit, spaced, divided=sign == "/")


def _combine(
    first: Amount,
    second: Amount,
    value: Decimal,
    error: Decimal,
    dimension: str,
    unit: str,
    spaced: bool,
    *,
    divided: bool,
) -> Amount:
    return Amount(
        value,
        error,
        dimension,
        unit,
        first.start,
        second.end,
        first.operators + second.operators + 1,
        divided or first.divided or second.divided,
        spaced and first.spaced and second.spaced,
    )
