"""Numbers of a claim against the numbers of the same subject in the evidence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import NamedTuple

from assay.text.dates import DateRelation, relate_dates
from assay.text.lexemes import word_set
from assay.text.polarity import find_negations
from assay.text.quantities import Quantity, Relation, relate, roundness
from assay.verify.exact.claim import LONG_SENTENCE, LONG_SENTENCE_FACTOR, Claim, Context, confidence_of, is_generic
from assay.verify.exact.derivations import Derivation, derive
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex

_CLEAR_MARGIN = 0.08
"""A different number must fit its context better by this much than an equal one to count against the claim."""

_SURELY_SAME = 1 - 0.9 * _CLEAR_MARGIN
"""An equal number that agrees so well cannot be outdone by the clear margin, so the different ones need no look."""

_SPECIFIC_MARGIN = 0.4
"""The same for a number of three significant digits and more, which hardly turns up twice by chance."""

_SPECIFIC_DIGITS = 3
_SAME_WORDS, _SAME_WORDS_BESIDE = 0.9, 0.5
_COVERED = 0.8
_SUBJECT_MARGIN = 0.5
"""The same where the equal number's sentence has the claim's whole subject."""

_SUBJECT_LEAD = 0.3
"""From this lead in the claim's subject on, the sentence of another number is the one that the claim is about."""

_OTHER_UNIT_FACTOR = 0.85
_OTHER_YEAR_FACTOR = 0.8
_ROUNDED_OFF_FACTOR = 0.75
_NO_WORD_BESIDE_FACTOR = 0.85
_PRONOUN_FACTOR, _UNKNOWN_NAME_FACTOR = 0.95, 0.7
_ON_SUBJECT = 0.35
_WEAK_FACTOR = 0.5
_INCLUDED_FACTOR = 0.7
_NO_NOUN_FACTOR = 0.75
_AMBIGUOUS_FACTOR = 0.8
_OTHER_NAME_FACTOR = 0.6
_LEAST_CONFIDENCE = 0.2
_MOST_COMPARED = 64
"""Numbers of one claim beyond this are only looked up by value: they count as found, never as on their subject."""

_MOST_OPERANDS = 24
_TOTALS = word_set("total totals altogether together combined both overall all average averaged mean")
_AGE_WORDS = frozenset({"age", "aged", "old"})
_MOST_ELSEWHERE = 16
DERIVED = "number.derived"
"""The code of a note that a number follows from the evidence."""
_SPECIFIC, _UNSPECIFIC = 0.8, 0.5
_MOST_LOOKED_THROUGH = 512
"""Different values of the evidence that an approximate number is held against where no sentence near it has it."""


_PER_ONE = re.compile(
    r"\s?(?:/\s?(?=[^\W\d])|\b(?:per|for (?:each|every))\s)"
    r"(?!annum\b|years?\b|yr\b|months?\b|weeks?\b|days?\b|hours?\b|h\b|minutes?\b|min\b)|\s?\b(?:each|apiece|a head)\b",
    re.IGNORECASE,
)
"""After an amount that is of one of many; how long an amount is for is said or left out as one likes."""
_RATE_FACTOR = 0.5


class _Pair(NamedTuple):
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
        """How much of the claim's subject stands in the sentence or its heading."""
        return self.context.covered(self.candidate)


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of a claim's mentions the evidence has."""

    found: float
    on_subject: float
    computed: float = 0.0
    """Of those that the evidence does not state, the ones that follow from it."""


def compare_numbers(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], Shares]:
    """Findings about each number of the claim, and the shares found anywhere and on their subject."""
    if not claim.quantities:
        return [], Shares(1.0, 1.0)
    pairs = [list(_pairs(claim, index, q)) if n < _MOST_COMPARED else [] for n, q in enumerate(claim.quantities)]
    equal = {pair.place for row in pairs for pair in row if pair.relation is Relation.SAME}
    findings: list[ExactFinding] = []
    found = on_subject = 0
    for quantity, row in zip(claim.quantities, pairs, strict=True):
        finding, here, attached = _judge(claim, index, quantity, row, equal)
        found += here
        on_subject += attached
        if finding is not None:
            findings.append(finding)
    count = len(claim.quantities)
    computed = sum(f.confidence for f in findings if f.code == DERIVED)
    return findings, Shares(found / count, on_subject / count, computed / count)


def _pairs(claim: Claim, index: ExactIndex, quantity: Quantity) -> Iterator[_Pair]:
    for candidate in claim.candidates:
        for other in index.quantities.get(candidate.sentence, ())[:_MOST_OPERANDS]:
            relation, factor = relate(quantity, other), 1.0
            if relation is Relation.INCOMPARABLE:
                continue
            if relation is not Relation.SAME:
                factor = _noun_factor(quantity, other)
                if factor == 0:
                    continue
            elif quantity.bound != "exact" and _merely_includes(quantity, other):
                relation, factor = Relation.COMPATIBLE, _INCLUDED_FACTOR
            yield _Pair(other, candidate, relation, factor)


def _option(index: ExactIndex, quantity: Quantity, pair: _Pair, context: Context) -> Option:
    other, relation = pair.quantity, pair.relation
    around = index.surroundings(pair.candidate.sentence, other.start, other.end)
    agreement, closeness = context.agreement(pair.candidate, around), context.closeness(around)
    if relation is Relation.COMPATIBLE and _other_limit(quantity, other, agreement, closeness):
        relation = Relation.DIFFERENT
    return Option(other, pair.candidate, relation, agreement, closeness, pair.factor, context)


def _other_limit(quantity: Quantity, other: Quantity, agreement: float, closeness: float) -> bool:
    """Whether two limits of one kind stand in the same words with other values: "orders over $50 ship free"."""
    alike = agreement >= _SAME_WORDS and closeness >= _SAME_WORDS_BESIDE
    return alike and quantity.bound == other.bound and quantity.bound in {"more", "less"} and (
        (quantity.low, quantity.high) != (other.low, other.high)
    )  # fmt: skip


def _merely_includes(quantity: Quantity, other: Quantity) -> bool:
    """Whether a claim's limit is met by a number merely for being beyond it, which many numbers of other things are.

    So "3.11 or later" by the 7 of another name, and "within 6 months" by 2 weeks.
    """
    if quantity.bound in {"at_least", "at_most"} and other.exact:
        return other.low not in {quantity.low, quantity.high}
    bare = quantity.dimension == other.dimension == "count" and not set(quantity.nouns) & set(other.nouns)
    return bare and not quantity.exact and quantity.bound not in {other.bound, "about"}


def _noun_factor(quantity: Quantity, other: Quantity) -> float:
    """How surely two different quantities of one dimension count the same sort of thing."""
    if quantity.dimension not in {"count", "ordinal"} or other.dimension != quantity.dimension:
        doubt = _OTHER_UNIT_FACTOR if quantity.unit != other.unit and quantity.dimension == "time" else 1.0
        return doubt if not (quantity.weak or other.weak) else _WEAK_FACTOR
    weak = _WEAK_FACTOR if quantity.weak or other.weak else 1.0
    if quantity.nouns and other.nouns:
        return 0.0 if set(quantity.nouns).isdisjoint(other.nouns) else weak
    return 0.0 if quantity.dimension == "ordinal" else weak * _NO_NOUN_FACTOR


def _judge(
    claim: Claim, index: ExactIndex, quantity: Quantity, pairs: Sequence[_Pair], equal: set[tuple[int, int]]
) -> tuple[ExactFinding | None, bool, bool]:
    """The finding about one number, whether it was found at all, and whether on its subject."""
    if not pairs:
        return _unmatched(claim, index, quantity)
    context = Context(claim, index, quantity.start, quantity.end)
    equals: list[Option] = []
    for pair in pairs:
        if pair.relation is Relation.SAME:
            equals.append(_option(index, quantity, pair, context))
            if equals[-1].agreement >= _SURELY_SAME:
                return None, True, True
    same = max(equals, key=_rank, default=None)
    row = [_option(index, quantity, p, context) for p in pairs if p.relation is not Relation.SAME]
    different = [o for o in row if o.relation is Relation.DIFFERENT and o.place not in equal]
    worst = max(different, key=_rank, default=None)
    margin = _SPECIFIC_MARGIN if _significant(quantity) >= _SPECIFIC_DIGITS else _CLEAR_MARGIN
    if same is not None and worst is not None and worst.covered - same.covered >= _SUBJECT_LEAD:
        margin = _CLEAR_MARGIN
    if same is not None and (worst is None or same.agreement >= worst.agreement - margin):
        return None, True, same.agreement >= _ON_SUBJECT
    if same is not None and worst is not None and _on_same_subject(same, worst):
        return None, True, True
    elsewhere = same is not None or bool(_elsewhere(index, quantity))
    allowing = (o for o in row if o.relation is Relation.COMPATIBLE and (worst is None or o.place not in equal))
    compatible = max(allowing, key=_rank, default=None)
    if worst is not None and (compatible is None or _rank(compatible)[0] < _rank(worst)[0] - _CLEAR_MARGIN):
        confidence = _confidence(claim, index, quantity, worst, different)
        if confidence >= _LEAST_CONFIDENCE:
            derivation = _derivation(claim, index, quantity)
            likely = derivation is not None and derivation.suggested
            if derivation is not None and likely and not elsewhere:
                return _follows(claim, quantity, derivation), True, True
            if not likely and not _follows_otherwise(claim, index, quantity, worst):
                return _mismatch(claim, index, quantity, worst, confidence, elsewhere), elsewhere, False
            elsewhere = True  # what follows from the evidence is not missing there
    if compatible is not None:
        note = _finding(claim, index, quantity, compatible, "number.imprecise", "note", 0.5 * compatible.agreement,
                        "the evidence says {theirs}, which allows it but does not say it")  # fmt: skip
        return note, True, compatible.agreement >= _ON_SUBJECT
    return (None, True, False) if elsewhere else (_missing(claim, index, quantity), False, False)


def _unmatched(claim: Claim, index: ExactIndex, quantity: Quantity) -> tuple[ExactFinding | None, bool, bool]:
    """What `_judge` says of a number that no number near it can be compared with."""
    if _elsewhere(index, quantity):
        return None, True, False
    return _missing(claim, index, quantity), False, False


def _on_same_subject(same: Option, worst: Option) -> bool:
    """Whether an equal number stands on the claim's subject, though a different one has more of the other words."""
    return (
        same.candidate.sentence != worst.candidate.sentence
        and same.covered >= max(_COVERED, worst.covered)
        and same.agreement >= worst.agreement - _SUBJECT_MARGIN
    )


def _significant(quantity: Quantity) -> int:
    """The number of significant digits of a quantity, trailing zeros left out."""
    return len(quantity.value.normalize().as_tuple().digits)


def _rank(option: Option) -> tuple[float, float, int, int]:
    return (
        round(option.agreement * option.factor, 6), round(option.closeness, 6),
        -option.candidate.sentence, -option.quantity.start,
    )  # fmt: skip


def _rounded_off(quantity: Quantity, other: Quantity) -> bool:
    """Whether a claim's number looks like a careless rounding of the other: 23,000 of 23,768."""
    if quantity.low is None or other.low is None or not other.exact:
        return False
    coarse, fine = roundness(quantity.low), roundness(other.low)
    return coarse >= 100 * fine and abs(quantity.low - other.low) * 20 <= abs(other.low)


def _confidence(
    claim: Claim, index: ExactIndex, quantity: Quantity, worst: Option, different: Sequence[Option]
) -> float:
    confidence = confidence_of(worst.agreement) * worst.factor
    rivals = {
        o.quantity.low
        for o in different
        if o.agreement * o.factor >= worst.agreement * worst.factor - _CLEAR_MARGIN and o.closeness >= worst.closeness
    }
    if len(rivals) > 1:
        confidence *= _AMBIGUOUS_FACTOR
    if worst.quantity.dimension == "count" and worst.closeness == 0:
        confidence *= _NO_WORD_BESIDE_FACTOR
    if _rounded_off(quantity, worst.quantity):
        confidence *= _ROUNDED_OFF_FACTOR
    if _is_rate(index, worst) and not _PER_ONE.match(claim.text, quantity.end):
        confidence *= _RATE_FACTOR
    here = index.sentences[worst.candidate.sentence]
    if here.last - here.first >= LONG_SENTENCE:
        confidence *= LONG_SENTENCE_FACTOR
    if claim.dates and not _dated_alike(claim, index, worst):
        confidence *= _OTHER_YEAR_FACTOR
    return confidence * _name_factor(claim, index, worst)


def _is_rate(index: ExactIndex, option: Option) -> bool:
    """Whether the evidence gives a price or an amount for one of many: a total beside it need not be another one."""
    passage = index.passages[index.sentences[option.candidate.sentence].passage]
    return _PER_ONE.match(passage.text, option.quantity.end) is not None


def _name_factor(claim: Claim, index: ExactIndex, worst: Option) -> float:
    """Less than 1 where a name of the claim stands nowhere around the number."""
    around = worst.candidate.stems | worst.candidate.around | worst.candidate.heading
    absent = [n for n in claim.names if n.sure and not _named(claim, n.first, n.last, around)]
    if not absent:
        return 1.0
    here = index.sentences[worst.candidate.sentence]
    if not is_generic(index.passages[here.passage], here):
        return _OTHER_NAME_FACTOR
    known = all(any(k in index.postings for k in _stems(claim, n.first, n.last)) for n in absent)
    return _PRONOUN_FACTOR if known else _UNKNOWN_NAME_FACTOR


def _dated_alike(claim: Claim, index: ExactIndex, worst: Option) -> bool:
    """Whether the sentence of a number states one of the claim's dates."""
    theirs = index.dates.get(worst.candidate.sentence, ())[:_MOST_OPERANDS]
    fits = {DateRelation.SAME, DateRelation.COMPATIBLE}
    return any(relate_dates(ours, other) in fits for ours in claim.dates[:_MOST_OPERANDS] for other in theirs)


def _stems(claim: Claim, first: int, last: int) -> list[str]:
    return [w.stem for w in claim.words.lexemes[first:last] if w.weight]


def _named(claim: Claim, first: int, last: int, stems: frozenset[str]) -> bool:
    own = _stems(claim, first, last)
    return not own or any(stem in stems for stem in own)


def _elsewhere(index: ExactIndex, quantity: Quantity) -> Sequence[tuple[int, Quantity]]:
    if quantity.low is None or not quantity.exact:
        return ()
    if quantity.bound == "about" and (quantity.dimension, quantity.low) not in index.values:
        values = islice(index.values.items(), _MOST_LOOKED_THROUGH)
        near = (row for (dimension, _), row in values if dimension == quantity.dimension)
        return next((row[:1] for row in near if relate(quantity, row[0][1]) is Relation.SAME), ())
    return index.values.get((quantity.dimension, quantity.low), ())[:_MOST_ELSEWHERE]


def _operands(claim: Claim, index: ExactIndex) -> list[Quantity]:
    operands: list[Quantity] = []
    for candidate in claim.candidates:
        operands.extend(index.quantities.get(candidate.sentence, ()))
    return operands[:_MOST_OPERANDS]


def _derivation(claim: Claim, index: ExactIndex, quantity: Quantity) -> Derivation | None:
    """How a number follows from the sentences that fit the claim and from the claim's own numbers."""
    times = [d for c in claim.candidates for d in index.dates.get(c.sentence, ())[:_MOST_OPERANDS]]
    return derive(
        quantity,
        _operands(claim, index),
        claim.folds,
        own=[q for q in claim.quantities[:_MOST_OPERANDS] if q is not quantity],
        times=[*times[:_MOST_OPERANDS], *claim.dates[:_MOST_OPERANDS]],
    )


def _follows(claim: Claim, quantity: Quantity, derivation: Derivation) -> ExactFinding:
    ours = claim.text[quantity.start : quantity.end]
    message = f"The claim's {ours!r} follows from the evidence, {derivation.how}: {derivation.working}."
    return ExactFinding(
        DERIVED, message, quantity.number_start, quantity.number_end, None, "note",
        _SPECIFIC if derivation.specific else _UNSPECIFIC,
    )  # fmt: skip


def _follows_otherwise(claim: Claim, index: ExactIndex, quantity: Quantity, worst: Option) -> bool:
    if _sum_beside(index, quantity, worst) or _years_between(claim, index, quantity):
        return True
    if _rest(claim, index, quantity, worst):
        return True
    summed = not claim.folds.isdisjoint(_TOTALS)
    return summed and derive(quantity, _around(index, worst), claim.folds) is not None


def _rest(claim: Claim, index: ExactIndex, quantity: Quantity, worst: Option) -> bool:
    """Whether a share of a whole is what the evidence's share of it leaves, where one of the two is negated.

    75% were located in the north: the other 25% were not.
    """
    if quantity.dimension != "share" or worst.quantity.dimension != "share":
        return False
    ours, other = quantity.low, worst.quantity.low
    if ours is None or other is None or not quantity.exact or not worst.quantity.exact or ours + other != 1:
        return False
    theirs = index.reading(worst.candidate.sentence)
    return bool(find_negations(claim.text, claim.words)) != bool(theirs.negations)


def _around(index: ExactIndex, worst: Option) -> list[Quantity]:
    """The numbers of the sentence of a number and of those beside it in its passage, in their order."""
    here = index.sentences[worst.candidate.sentence]
    beside = range(max(0, worst.candidate.sentence - 1), min(len(index.sentences), worst.candidate.sentence + 2))
    some = [q for s in beside if index.sentences[s].passage == here.passage for q in index.quantities.get(s, ())]
    return some[:_MOST_OPERANDS]


def _sum_beside(index: ExactIndex, quantity: Quantity, worst: Option) -> bool:
    """Whether a count is the sum of two counts of the same things in one sentence: 12 players of 8 and 4."""
    if quantity.dimension != "count" or not quantity.exact:
        return False
    row = index.quantities.get(worst.candidate.sentence, ())[:_MOST_OPERANDS]
    nouns = set(quantity.nouns)
    parts = [q.low for q in row if q.low is not None and q.exact and q.dimension == "count" and nouns & set(q.nouns)]
    return any(a + b == quantity.low for a, b in combinations(parts, 2))


def _years_between(claim: Claim, index: ExactIndex, quantity: Quantity) -> bool:
    """Whether a number of years is the distance between two years that the evidence or the claim gives."""
    aged = quantity.dimension == "count" and not _AGE_WORDS.isdisjoint(claim.folds)
    if not aged and (quantity.dimension != "time" or quantity.unit not in {"yr", "decade"}):
        return False
    years = {d.year for d in claim.dates[:_MOST_OPERANDS] if d.year is not None}
    for candidate in claim.candidates:
        years |= {d.year for d in index.dates.get(candidate.sentence, ())[:_MOST_OPERANDS] if d.year is not None}
    number = quantity.value * (10 if quantity.unit == "decade" else 1)
    slack = 1 if aged else 2 if quantity.bound != "exact" else 0
    return any(abs(abs(a - b) - number) <= slack for a, b in combinations(sorted(years), 2))


def _mismatch(
    claim: Claim, index: ExactIndex, quantity: Quantity, worst: Option, confidence: float, elsewhere: bool
) -> ExactFinding:
    if elsewhere:
        return _finding(claim, index, quantity, worst, "number.wrong_subject", "contradicts", confidence * 0.95,
                        "the evidence gives {theirs} here, and this number for something else")  # fmt: skip
    return _finding(claim, index, quantity, worst, "number.mismatch", "contradicts", confidence,
                    "the evidence says {theirs}")  # fmt: skip


def _finding(
    claim: Claim,
    index: ExactIndex,
    quantity: Quantity,
    option: Option,
    code: str,
    effect: str,
    confidence: float,
    what: str,
) -> ExactFinding:
    other = option.quantity
    passage = index.passages[index.sentences[option.candidate.sentence].passage]
    same_unit = quantity.unit == other.unit
    start, end = (quantity.number_start, quantity.number_end) if same_unit else (quantity.start, quantity.end)
    theirs = passage.text[other.start : other.end]
    ours = claim.text[quantity.start : quantity.end]
    relation = "contradicts" if effect == "contradicts" else "related"
    return ExactFinding(
        code,
        f"The claim says {ours!r}; {what.format(theirs=repr(theirs).replace('{', '(').replace('}', ')'))}.",
        start, end, index.span(option.candidate.sentence, other.start, other.end, relation, confidence),
        "contradicts" if effect == "contradicts" else "note", round(confidence, 4),
    )  # fmt: skip


def _missing(claim: Claim, index: ExactIndex, quantity: Quantity) -> ExactFinding | None:
    ours = claim.text[quantity.start : quantity.end]
    span = (quantity.number_start, quantity.number_end)
    derivation = _derivation(claim, index, quantity)
    if derivation is None and _years_between(claim, index, quantity):
        message = f"The claim's {ours!r} follows from the evidence: the years between two dates."
        return ExactFinding(DERIVED, message, *span, None, "note", _UNSPECIFIC)
    if derivation is not None:
        return _follows(claim, quantity, derivation)
    other = _same_digits(claim, index, quantity)
    if other is not None:
        candidate, theirs = other
        passage = index.passages[index.sentences[candidate.sentence].passage]
        around = index.surroundings(candidate.sentence, theirs.start, theirs.end)
        agreement = Context(claim, index, quantity.start, quantity.end).agreement(candidate, around)
        confidence = 0.8 * confidence_of(agreement)
        if confidence >= _LEAST_CONFIDENCE:
            return ExactFinding(
                "number.unit",
                f"The claim says {ours!r}; the evidence says {passage.text[theirs.start : theirs.end]!r}: "
                "the digits agree, what they measure does not.",
                quantity.start, quantity.end,
                index.span(candidate.sentence, theirs.start, theirs.end, "contradicts", confidence),
                "contradicts", round(confidence, 4),
            )  # fmt: skip
    if quantity.dimension == "factor" and quantity.weak:
        return None
    confidence = 0.3 if quantity.weak or quantity.dimension == "factor" else 0.65
    return ExactFinding("number.missing", f"The claim says {ours!r}; the evidence gives no such number.",
                        *span, None, "missing", confidence)  # fmt: skip


def _same_digits(claim: Claim, index: ExactIndex, quantity: Quantity) -> tuple[Candidate, Quantity] | None:
    """A quantity with the same number and another unit or currency, in the sentences that fit the claim."""
    if quantity.dimension in {"count", "ordinal", "factor"}:
        return None
    for candidate in claim.candidates:
        for other in index.quantities.get(candidate.sentence, ()):
            if other.value == quantity.value and other.dimension != quantity.dimension and other.dimension not in {
                "count", "ordinal", "factor",
            }:  # fmt: skip
                return candidate, other
    return None
