"""Numbers of the evidence that a number of a claim may be about, and how well the words around the two agree."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import NamedTuple

from assay.text.quantities import Quantity, Relation, relate
from assay.text.sentences import looks_foreign
from assay.verify.exact.index import Candidate, ExactIndex
from assay.verify.exact.mention_roles import is_negated
from assay.verify.exact.parsed_claim import Claim, Context

MOST_OPERANDS = 24
_OTHER_UNIT_FACTOR = 0.85
_WEAK_FACTOR = 0.5
_NO_UNIT = frozenset({"ordinal", "factor", "count"})
_DENIED_LIMIT = {"more": "at_most", "less": "at_least"}
"""What a bound says where it is denied."""
_INCLUDED_FACTOR = 0.7
_NO_NOUN_FACTOR = 0.75
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?![\d])")
_LONGEST_GROUPED = 16
_THOUSANDS_BEHIND = re.compile(r"[\s\u00a0]?(?:mil|mila|mille|tausend|tsd|k|m|mio|mrd)\b", re.IGNORECASE)
SAME_WORDS, SAME_WORDS_BESIDE = 0.9, 0.5
"""Agreement and closeness from which the words around two numbers are the same."""


class Pair(NamedTuple):
    """An evidence quantity that a claim's quantity may be about, before anybody looked at the words around it.

    A tuple, as the next one, since every claim makes dozens: a frozen dataclass takes three times as long to make.
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
    """An evidence quantity that a claim's quantity may be about, and how well the words around the two agree."""

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
        return self.context.covered(self.candidate)


def pairs_of(claim: Claim, index: ExactIndex, quantity: Quantity) -> Iterator[Pair]:
    """The numbers of a claim's candidate sentences that can be compared with one of its own."""
    for candidate in claim.candidates:
        row = index.quantities.get(candidate.sentence, ())[:MOST_OPERANDS]
        for other in _with_elided(row):
            relation, factor = relate(quantity, other), 1.0
            if quantity.quiet != other.quiet and relation is not Relation.INCOMPARABLE:
                theirs = index.passages[index.sentences[candidate.sentence].passage].text
                texts = (claim.text, theirs) if other.quiet else (theirs, claim.text)
                digits, written = (quantity, other) if other.quiet else (other, quantity)
                relation = _beside_words(texts[0], digits, written, relation)
            elif relation is not Relation.SAME and _same_limit_denied(claim, quantity, other):
                relation = Relation.SAME
            elif relation is Relation.DIFFERENT and _may_be_grouped(claim.text, quantity, other):
                relation = Relation.INCOMPARABLE
            if relation is Relation.INCOMPARABLE:
                continue
            if relation is not Relation.SAME:
                factor = _noun_factor(quantity, other)
                if factor == 0:
                    continue
            elif quantity.bound != "exact" and _merely_includes(quantity, other):
                relation, factor = Relation.COMPATIBLE, _INCLUDED_FACTOR
            yield Pair(other, candidate, relation, factor)


def _beside_words(text: str, digits: Quantity, written: Quantity, relation: Relation) -> Relation:
    """How digits stand to a number in words of another language, where they may be grouped as that language does.

    "45.000" and "45 000" are 45,000 beside "quarantacinquemila", whatever the locale says; of other digits with a
    mark in them nothing is said.
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
    """Whether a conversion of units rests on a mark that another language reads otherwise ("1.500 metri", "1,5 km")."""
    converted = quantity.dimension in {"time", "length", "mass"} and quantity.unit != other.unit
    decimal = quantity.rounded or other.rounded or "," in text[quantity.number_start : quantity.number_end]
    return converted and decimal and looks_foreign(text)


def option_of(index: ExactIndex, quantity: Quantity, pair: Pair, context: Context) -> Option:
    """A pair with how well the words around its two numbers agree."""
    other, relation = pair.quantity, pair.relation
    around = index.surroundings(pair.candidate.sentence, other.start, other.end)
    agreement, closeness = context.agreement(pair.candidate, around), context.closeness(around)
    if relation is Relation.COMPATIBLE and _other_limit(quantity, other, agreement, closeness):
        relation = Relation.DIFFERENT
    return Option(other, pair.candidate, relation, agreement, closeness, pair.factor, context)


def _other_limit(quantity: Quantity, other: Quantity, agreement: float, closeness: float) -> bool:
    """Whether two limits of one kind are in the same words with other values: "orders over $50 ship free"."""
    alike = agreement >= SAME_WORDS and closeness >= SAME_WORDS_BESIDE
    return (
        alike
        and quantity.bound == other.bound
        and quantity.bound in {"more", "less"}
        and ((quantity.low, quantity.high) != (other.low, other.high))
    )


def _merely_includes(quantity: Quantity, other: Quantity) -> bool:
    """Whether a claim's limit is met by a number merely for being beyond it, which many numbers of other things are.

    So "3.11 or later" by the 7 of another name, and "within 6 months" by 2 weeks.
    """
    if quantity.bound in {"at_least", "at_most"} and other.exact:
        return other.low not in {quantity.low, quantity.high}
    unitless = quantity.dimension == other.dimension == "count" and not set(quantity.nouns) & set(other.nouns)
    return unitless and not quantity.exact and quantity.bound not in {other.bound, "about"}


def _noun_factor(quantity: Quantity, other: Quantity) -> float:
    """How surely two different quantities of one dimension count the same sort of thing."""
    if quantity.dimension not in {"count", "ordinal"} or other.dimension != quantity.dimension:
        doubt = _OTHER_UNIT_FACTOR if quantity.unit != other.unit and quantity.dimension == "time" else 1.0
        return doubt if not (quantity.weak or other.weak) else _WEAK_FACTOR
    weak = _WEAK_FACTOR if quantity.weak or other.weak else 1.0
    if quantity.nouns and other.nouns:
        return 0.0 if set(quantity.nouns).isdisjoint(other.nouns) else weak
    return 0.0 if quantity.dimension == "ordinal" else weak * _NO_NOUN_FACTOR


def _with_elided(row: Sequence[Quantity]) -> Iterator[Quantity]:
    """The numbers of a sentence, those without a unit in that of an earlier one: "A costs 10 euros, B 20"."""
    last: Quantity | None = None
    for one in row:
        yield one
        if one.dimension != "count":
            last = one if one.exact and one.value and one.dimension not in _NO_UNIT else None
        elif last is not None and last.low is not None and one.exact and not one.nouns and not one.weak:
            size = last.low / last.value
            low = one.value * size
            yield replace(one, low=low, high=low, step=one.step * size, dimension=last.dimension, unit=last.unit)


def _same_limit_denied(claim: Claim, quantity: Quantity, other: Quantity) -> bool:
    """Whether a limit is told as the denial of what is beyond it: "nobody may take more than 3" of "up to 3"."""
    if _DENIED_LIMIT.get(quantity.bound) != other.bound or quantity.dimension != other.dimension:
        return False
    ours, theirs = (q.low if q.low is not None else q.high for q in (quantity, other))
    return ours == theirs and is_negated(claim, quantity.start, quantity.end)
