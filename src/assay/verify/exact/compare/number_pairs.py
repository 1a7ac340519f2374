"""Pairs numbers of a claim and of the evidence: how well the words around them agree, how surely they contradict."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from typing import NamedTuple

from assay.text.dates import DateRelation, relate_dates
from assay.text.quantities import Quantity, Relation, relate, roundness
from assay.text.sentences import looks_foreign
from assay.verify.arithmetic.figures import in_base_unit, is_minor, unit_size
from assay.verify.exact.index import Candidate, ExactIndex
from assay.verify.exact.mention_roles import describes_case, is_negated
from assay.verify.exact.parsed_claim import (
    LONG_SENTENCE,
    LONG_SENTENCE_FACTOR,
    Claim,
    Context,
    agreement_confidence,
    has_generic_subject,
)

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
CLEAR_MARGIN = 0.08
"""A different number or date must fit its context better by this much than an equal one to count against the claim."""
SURELY_SAME = 1 - 0.9 * CLEAR_MARGIN
"""From this agreement on, no different mention can exceed an equal one by the margin, so none is compared."""
_OTHER_YEAR_FACTOR = 0.8
_ROUNDED_OFF_FACTOR = 0.75
_NO_WORD_BESIDE_FACTOR = 0.85
_PRONOUN_FACTOR, _UNKNOWN_NAME_FACTOR = 0.95, 0.7
_AMBIGUOUS_FACTOR = 0.8
_OTHER_NAME_FACTOR = 0.6
_MOST_ELSEWHERE = 16
_OTHER_WORDS_BESIDE_FACTOR, _ALL_WORDS = 0.9, 0.98
"""The factor where less than half of the words beside two numbers are the same, and the agreement from which it does
not apply: the numbers may be of different things."""
_MOST_LOOKED_THROUGH = 512
"""How many values of the evidence an approximate number is compared with where no candidate sentence has it."""
_PER_ONE = re.compile(
    r"\s?(?:/\s?(?=[^\W\d])|\b(?:per|for (?:each|every))\s)"
    r"(?!annum\b|years?\b|yr\b|months?\b|weeks?\b|days?\b|hours?\b|h\b|minutes?\b|min\b)|\s?\b(?:each|apiece|a head)\b",
    re.IGNORECASE,
)
"""The text after an amount for one of many; a unit of time is no such text, since it may be left out."""
_RATE_FACTOR = 0.5
_PER_CASE = re.compile(
    r"\b(?:per|each|every|apiece|monthly|weekly|daily|a (?:month|week|day|night|head))\b", re.IGNORECASE
)
"""Words for the unit or the period that a number is for."""
_OTHER_CASE_FACTOR = 0.75
_UNDECIDED = frozenset({Relation.INCOMPARABLE, Relation.COMPATIBLE})
_OTHER_KEY_UNIT, _TELLING_DIGITS, _SOME_AGREEMENT = 0.8, 2, 0.3
"""The least confidence where a claim gives the digits of a value another unit than its key, and when that holds."""


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
            if relation in _UNDECIDED and is_minor(other):
                relation = _relation_to_cents(quantity, other, relation)
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


def _relation_to_cents(quantity: Quantity, cents: Quantity, relation: Relation) -> Relation:
    """The relation of an amount per time to a number of cents: "$12.99 per month" beside "price_cents": 1299."""
    keyed = (cents.start, cents.end) == (cents.number_start, cents.number_end)
    signed = quantity.start < quantity.number_start  # "$12.99" is no number of cents
    if quantity.bound != "exact" or not quantity.exact or not keyed or not signed:
        return relation
    if quantity.dimension.split("/")[0] != cents.dimension:
        return relation
    amount = quantity.low if quantity.dimension == cents.dimension else quantity.value
    return Relation.SAME if amount == cents.low else Relation.DIFFERENT


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
    return converted and decimal and looks_foreign(text)


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


def _is_rounded_off(quantity: Quantity, other: Quantity) -> bool:
    """Whether a claim's number looks like a careless rounding of the other: 23,000 for 23,768."""
    if quantity.low is None or other.low is None or not other.exact:
        return False
    same_unit = quantity.unit == other.unit  # what is round is the number as it is written, not its seconds
    ours, theirs = (quantity.value, other.value) if same_unit else (quantity.low, other.low)
    return roundness(ours) >= 100 * roundness(theirs) and abs(ours - theirs) * 20 <= abs(theirs)


def mismatch_confidence(
    claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option, different: Sequence[Option]
) -> float:
    """The confidence that a number of a claim is contradicted by a different one.

    Args:
        claim: the claim.
        index: the evidence.
        quantity: the number of the claim.
        rival: the different number of the evidence that fits the claim best.
        different: all different numbers.
    """
    confidence = agreement_confidence(rival.agreement) * rival.factor
    as_near = {
        o.quantity.low
        for o in different
        if o.agreement * o.factor >= rival.agreement * rival.factor - CLEAR_MARGIN and o.closeness >= rival.closeness
    }
    if len(as_near) > 1:
        confidence *= _AMBIGUOUS_FACTOR
    if rival.closeness < SAME_WORDS_BESIDE and rival.agreement < _ALL_WORDS:
        confidence *= _OTHER_WORDS_BESIDE_FACTOR
    if rival.quantity.dimension == "count" and rival.closeness == 0:
        confidence *= _NO_WORD_BESIDE_FACTOR
    if _is_rounded_off(quantity, rival.quantity):
        confidence *= _ROUNDED_OFF_FACTOR
    if _is_rate(index, rival) and not _PER_ONE.match(claim.text, quantity.end):
        confidence *= _RATE_FACTOR
    here = index.sentences[rival.candidate.sentence]
    if here.last - here.first >= LONG_SENTENCE:
        confidence *= LONG_SENTENCE_FACTOR
    if claim.dates and not _has_same_date(claim, index, rival):
        confidence *= _OTHER_YEAR_FACTOR
    if not _has_same_words(rival) and _may_be_another_case(claim, index, quantity, rival):
        confidence *= _OTHER_CASE_FACTOR
    confidence *= _name_factor(claim, index, rival)
    return max(confidence, _OTHER_KEY_UNIT) if _differs_from_key_unit(quantity, rival) else confidence


def _differs_from_key_unit(quantity: Quantity, rival: Option) -> bool:
    """Whether a claim gives a value's very digits another unit than its key: "12 miles" for "distance_km": 12.

    The digits tell which number is meant, so few words need to agree.
    """
    other = rival.quantity
    keyed = (other.start, other.end) == (other.number_start, other.number_end) and other.dimension not in NO_UNIT
    digits = len(quantity.value.normalize().as_tuple().digits)
    return (
        keyed
        and quantity.value == other.value
        and quantity.low != other.low
        and digits >= _TELLING_DIGITS
        and rival.agreement >= _SOME_AGREEMENT
    )


def _has_same_words(option: Option) -> bool:
    """Whether the words on both sides of two numbers are the same, so that only the numbers differ."""
    return option.agreement >= SAME_WORDS and option.closeness >= SAME_WORDS_BESIDE


def _may_be_another_case(claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option) -> bool:
    """Whether a claim may well be about another case than the evidence's number.

    This is so where its number describes a case, where it describes a case with a number that the evidence lacks, where
    it denies its number, and where only the claim's number is for one of many.
    """
    start, end = quantity.start, quantity.end
    if describes_case(claim, start, end) or is_negated(claim, start, end):
        return True
    if _PER_CASE.search(claim.text) and not _PER_CASE.search(_sentence_of(index, rival)):
        return True
    own = (q for q in claim.quantities[:MOST_OPERANDS] if q is not quantity and not equal_elsewhere(index, q))
    return any(describes_case(claim, q.start, q.end) for q in own)


def _sentence_of(index: ExactIndex, option: Option) -> str:
    here = index.sentences[option.candidate.sentence]
    return index.passages[here.passage].text[here.start : here.end]


def _is_rate(index: ExactIndex, option: Option) -> bool:
    """Whether the evidence gives an amount for one of many, which a total in the claim need not contradict."""
    passage = index.passages[index.sentences[option.candidate.sentence].passage]
    return _PER_ONE.match(passage.text, option.quantity.end) is not None


def _name_factor(claim: Claim, index: ExactIndex, rival: Option) -> float:
    """The factor of the confidence: below 1 where a name of the claim is nowhere around the number."""
    around = rival.candidate.stems | rival.candidate.around | rival.candidate.heading
    absent = [n for n in claim.names if n.sure and not _is_named(claim, n.first, n.last, around)]
    if not absent:
        return 1.0
    here = index.sentences[rival.candidate.sentence]
    if not has_generic_subject(index.passages[here.passage], here):
        return _OTHER_NAME_FACTOR
    known = all(any(k in index.postings for k in _stems(claim, n.first, n.last)) for n in absent)
    return _PRONOUN_FACTOR if known else _UNKNOWN_NAME_FACTOR


def _has_same_date(claim: Claim, index: ExactIndex, rival: Option) -> bool:
    """Whether the sentence of a number states one of the claim's dates."""
    theirs = index.dates.get(rival.candidate.sentence, ())[:MOST_OPERANDS]
    fits = {DateRelation.SAME, DateRelation.COMPATIBLE}
    return any(relate_dates(ours, other) in fits for ours in claim.dates[:MOST_OPERANDS] for other in theirs)


def _stems(claim: Claim, first: int, last: int) -> list[str]:
    return [w.stem for w in claim.words.lexemes[first:last] if w.weight]


def _is_named(claim: Claim, first: int, last: int, stems: frozenset[str]) -> bool:
    own = _stems(claim, first, last)
    return not own or any(stem in stems for stem in own)


def equal_elsewhere(index: ExactIndex, quantity: Quantity) -> Sequence[tuple[int, Quantity]]:
    """The equal numbers anywhere in the evidence, each with its sentence."""
    if quantity.low is None or not quantity.exact:
        return ()
    if quantity.bound == "about" and (quantity.dimension, quantity.low) not in index.values:
        values = islice(index.values.items(), _MOST_LOOKED_THROUGH)
        near = (row for (dimension, _), row in values if dimension == quantity.dimension)
        return next((row[:1] for row in near if relate(quantity, row[0][1]) is Relation.SAME), ())
    return index.values.get((quantity.dimension, quantity.low), ())[:_MOST_ELSEWHERE]
