"""Pairs a number of a claim with numbers of the evidence, and measures how well the words around the two agree."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from assay.text.quantities import Quantity, Relation, relate
from assay.text.sentences import leans_from_english
from assay.verify.arithmetic.figures import in_base_unit, unit_size
from assay.verify.exact.index import Candidate, ExactIndex
from assay.verify.exact.mention_roles import is_negated
from assay.verify.exact.parsed_claim import Claim, Context

MOST_OPERANDS = 24
_OTHER_UNIT_FACTOR = 0.85
_WEAK_FACTOR = 0.5
NO_UNIT = frozenset({"ordinal", "factor", "count"})
"""Dimensions of numbers that have no unit."""
_DENIED_LIMIT = {"more": "at_most", "less": "at_least"}
"""The bound that a denied bound means."""
_INCLUDED_FACTOR = 0.7
_NO_NOUN_FACTOR = 0.75
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?![\d])")
_LONGEST_GROUPED = 16
_THOUSANDS_BEHIND = re.compile(r"[\s\u00a0]?(?:mil|mila|mille|tausend|tsd|k|m|mio|mrd)\b", re.IGNORECASE)
SAME_WORDS, SAME_WORDS_BESIDE = 0.9, 0.5
"""Agreement and closeness from which the words around two numbers count as the same."""


class Pair(NamedTuple):
    """A quantity of the evidence that can be compared with one of a claim, before the words around it are considered.

    A tuple, like `Option`, because every claim makes dozens: a frozen dataclass takes three times as long to make.
    """

    quantity: Quantity
    candidate: Candidate
    relation: Relation
    factor: float
    """What is left of the confidence after doubts about what the two count."""

    @property
    def place(self) -> tuple[int, int]:
        """The sentence of the evidence's quantity and where it begins."""
        return self.candidate.sentence, self.quantity.start


class Option(NamedTuple):
    """A quantity of the evidence that can be compared with one of a claim, and how well the words around them agree."""

    quantity: Quantity
    candidate: Candidate
    relation: Relation
    agreement: float
    closeness: float
    factor: float
    """What is left of the confidence after doubts about what the two count."""
    context: Context

    @property
    def place(self) -> tuple[int, int]:
        """The sentence of the evidence's quantity and where it begins."""
        return self.candidate.sentence, self.quantity.start

    @property
    def covered(self) -> float:
        """How much of the claim's subject is in the sentence or its heading."""
        return self.context.subject_coverage(self.candidate)


def pairs_of(claim: Claim, index: ExactIndex, quantity: Quantity) -> Iterator[Pair]:
    """The numbers of a claim's candidate sentences that can be compared with one of its own."""
    for candidate in claim.candidates:
        row = index.quantities.get(candidate.sentence, ())[:MOST_OPERANDS]
        for other in _with_elided_units(row):
            relation, factor = relate(quantity, other), 1.0
            if quantity.quiet != other.quiet and relation is not Relation.INCOMPARABLE:
                theirs = index.passages[index.sentences[candidate.sentence].passage].text
                texts = (claim.text, theirs) if other.quiet else (theirs, claim.text)
                digits, written = (quantity, other) if other.quiet else (other, quantity)
                relation = _relation_to_words(texts[0], digits, written, relation)
            elif relation is not Relation.SAME and _is_limit_denied(claim, quantity, other):
                relation = Relation.SAME
            elif relation is Relation.DIFFERENT and _may_be_grouped(claim.text, quantity, other):
                relation = Relation.INCOMPARABLE
            if relation is Relation.INCOMPARABLE:
                continue
            if relation is not Relation.SAME:
                factor = _kind_factor(quantity, other)
                if factor == 0:
                    continue
            elif quantity.bound != "exact" and _merely_includes(quantity, other):
                relation, factor = Relation.COMPATIBLE, _INCLUDED_FACTOR
            yield Pair(other, candidate, relation, factor)


def _relation_to_words(text: str, digits: Quantity, written: Quantity, relation: Relation) -> Relation:
    """The relation of digits to a number in words of another language, whose grouping of digits they may follow.

    "45.000" and "45 000" are 45,000 beside "quarantacinquemila", whatever the locale is. Other digits with a mark in
    them cannot be compared.
    """
    low, high = max(0, digits.number_start - _LONGEST_GROUPED), digits.number_end + _LONGEST_GROUPED
    for match in _GROUPED.finditer(text, low, high):
        if match.start() <= digits.number_start < match.end():
            if Decimal(re.sub(r"\D", "", match[0])) == written.value:
                return Relation.SAME
            return relation if match.start() == digits.number_start else Relation.INCOMPARABLE
    if _THOUSANDS_BEHIND.match(text, digits.number_end) and digits.unit != "m":
        return Relation.INCOMPARABLE  # "96 mila"
    marked = any(mark in text[digits.number_start : digits.number_end] for mark in ".,")
    return Relation.INCOMPARABLE if marked else relation


def _may_be_grouped(text: str, quantity: Quantity, other: Quantity) -> bool:
    """Whether a conversion of units depends on a mark with another meaning elsewhere ("1.500 metri", "1,5 km")."""
    converted = quantity.dimension in {"time", "length", "mass"} and quantity.unit != other.unit
    decimal = quantity.rounded or other.rounded or "," in text[quantity.number_start : quantity.number_end]
    return converted and decimal and leans_from_english(text)


def option_of(index: ExactIndex, quantity: Quantity, pair: Pair, context: Context) -> Option:
    """A pair with how well the words around its two numbers agree."""
    other, relation = pair.quantity, pair.relation
    around = index.surroundings(pair.candidate.sentence, other.start, other.end)
    agreement, closeness = context.agreement(pair.candidate, around), context.closeness(around)
    if relation is Relation.COMPATIBLE and _is_other_limit(quantity, other, agreement, closeness):
        relation = Relation.DIFFERENT
    return Option(other, pair.candidate, relation, agreement, closeness, pair.factor, context)


def _is_other_limit(quantity: Quantity, other: Quantity, agreement: float, closeness: float) -> bool:
    """Whether two limits of one kind have the same words around them and differ: "orders over $50 ship free"."""
    alike = agreement >= SAME_WORDS and closeness >= SAME_WORDS_BESIDE
    return (
        alike
        and quantity.bound == other.bound
        and quantity.bound in {"more", "less"}
        and ((quantity.low, quantity.high) != (other.low, other.high))
    )


def _merely_includes(quantity: Quantity, other: Quantity) -> bool:
    """Whether a number only satisfies a claim's limit, as many numbers of other things do.

    The 7 of another name satisfies "3.11 or later", and 2 weeks satisfy "within 6 months".
    """
    if quantity.bound in {"at_least", "at_most"} and other.exact:
        return other.low not in {quantity.low, quantity.high}
    unitless = quantity.dimension == other.dimension == "count" and not set(quantity.nouns) & set(other.nouns)
    return unitless and not quantity.exact and quantity.bound not in {other.bound, "about"}


def _kind_factor(quantity: Quantity, other: Quantity) -> float:
    """The factor for the doubt whether two different quantities of one dimension count the same sort of thing."""
    if quantity.dimension not in {"count", "ordinal"} or other.dimension != quantity.dimension:
        doubt = _OTHER_UNIT_FACTOR if quantity.unit != other.unit and quantity.dimension == "time" else 1.0
        return doubt if not (quantity.weak or other.weak) else _WEAK_FACTOR
    weak = _WEAK_FACTOR if quantity.weak or other.weak else 1.0
    if quantity.nouns and other.nouns:
        return 0.0 if set(quantity.nouns).isdisjoint(other.nouns) else weak
    return 0.0 if quantity.dimension == "ordinal" else weak * _NO_NOUN_FACTOR


def _with_elided_units(row: Sequence[Quantity]) -> Iterator[Quantity]:
    """The numbers of a sentence; one without a unit also in the unit of the one before it: "A costs 10 euros, B 20"."""
    last: Quantity | None = None
    for one in row:
        yield one
        if one.dimension != "count":
            last = one if one.exact and one.value and one.dimension not in NO_UNIT else None
        elif last is not None and last.low is not None and one.exact and not one.nouns and not one.weak:
            value, step = in_base_unit(last, one.value), one.step * unit_size(last)
            yield replace(one, low=value, high=value, step=step, dimension=last.dimension, unit=last.unit)


def _is_limit_denied(claim: Claim, quantity: Quantity, other: Quantity) -> bool:
    """Whether a limit is expressed by denying what is beyond it: "nobody may take more than 3" for "up to 3"."""
    if _DENIED_LIMIT.get(quantity.bound) != other.bound or quantity.dimension != other.dimension:
        return False
    ours, theirs = (q.low if q.low is not None else q.high for q in (quantity, other))
    return ours == theirs and is_negated(claim, quantity.start, quantity.end)
