"""Compares numbers of a claim with the numbers of the same subject in the evidence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from assay.text.dates import DateRelation, relate_dates
from assay.text.quantities import Quantity, Relation, relate, roundness
from assay.verify.arithmetic.derivations import Derivation
from assay.verify.exact.alignment import align
from assay.verify.exact.compare.derived_numbers import (
    derivation_of,
    find_other_length,
    follows_otherwise,
    is_years_between,
)
from assay.verify.exact.compare.number_pairs import (
    MOST_OPERANDS,
    NO_UNIT,
    SAME_WORDS,
    SAME_WORDS_BESIDE,
    Option,
    Pair,
    option_of,
    pairs_of,
)
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, leading_stems
from assay.verify.exact.mention_roles import describes_case, is_negated
from assay.verify.exact.parsed_claim import (
    LONG_SENTENCE,
    LONG_SENTENCE_FACTOR,
    Claim,
    Context,
    agreement_confidence,
    has_generic_subject,
)

_CLEAR_MARGIN = 0.08
"""A different number must fit its context better by this much than an equal one to count against the claim."""

_SURELY_SAME = 1 - 0.9 * _CLEAR_MARGIN
"""From this agreement on, no different number can exceed an equal one by the margin, so none is compared."""

_SPECIFIC_MARGIN = 0.4
"""The same for a number of three or more significant digits, which hardly occurs twice by chance."""

_SPECIFIC_DIGITS = 3
_COVERED = 0.8
_SUBJECT_MARGIN = 0.5
"""The same where the sentence of the equal number has the claim's whole subject."""

_SUBJECT_LEAD = 0.3
"""From this lead in the share of the claim's subject on, the claim is about the sentence of the other number."""

_OTHER_YEAR_FACTOR = 0.8
_ROUNDED_OFF_FACTOR = 0.75
_NO_WORD_BESIDE_FACTOR = 0.85
_PRONOUN_FACTOR, _UNKNOWN_NAME_FACTOR = 0.95, 0.7
_ON_SUBJECT = 0.35
_AMBIGUOUS_FACTOR = 0.8
_OTHER_NAME_FACTOR = 0.6
_LEAST_CONFIDENCE = 0.2
_MOST_COMPARED = 64
"""Numbers of one claim beyond this many are only looked up by value and never count as on their subject."""

_MOST_ELSEWHERE = 16
DERIVED = "number.derived"
"""The code of a note that a number follows from the evidence."""
_SPECIFIC, _UNSPECIFIC = 0.8, 0.5
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


_ROW = re.compile(r"[^:;]{1,60}: [^:;]{1,60}; [^:;]{1,60}: [^:;]{1,60}[.]?")
"""A statement of two cells of a table: the one that names the row, and another."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of a claim's numbers that the evidence has."""

    found: float
    on_subject: float
    computed: float = 0.0
    """The share of those that the evidence does not state and that follow from it, weighted by confidence."""
    counted: bool = True
    """Whether any number of the claim counts: numbers in words of other languages do only where they are compared."""


class _Comparison(NamedTuple):
    """What the evidence says of one number of a claim."""

    finding: ExactFinding | None = None
    found: bool = True
    """Whether the evidence has it at all."""
    on_subject: bool = True


def compare_numbers(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], Shares]:
    """Findings about each number of the claim, and the shares of numbers found anywhere and on their subject."""
    if not claim.quantities:
        return [], Shares(1.0, 1.0)
    pairs = [list(pairs_of(claim, index, q)) if n < _MOST_COMPARED else [] for n, q in enumerate(claim.quantities)]
    equal = {pair.place for row in pairs for pair in row if pair.relation is Relation.SAME}
    findings: list[ExactFinding] = []
    found = on_subject = count = 0
    for quantity, row in zip(claim.quantities, pairs, strict=True):
        compared = _compare_number(claim, index, quantity, row, equal)
        finding = compared.finding
        if quantity.quiet and not compared.found and (finding is None or finding.effect != "contradicts"):
            continue
        count += 1
        found += compared.found
        on_subject += compared.on_subject
        if finding is not None:
            findings.append(finding)
    if not count:
        return findings, Shares(1.0, 1.0, counted=False)
    computed = sum(f.confidence for f in findings if f.code == DERIVED)
    return findings, Shares(found / count, on_subject / count, computed / count)


def _compare_number(
    claim: Claim, index: ExactIndex, quantity: Quantity, pairs: Sequence[Pair], equal: set[tuple[int, int]]
) -> _Comparison:
    """What the evidence says of one number; `equal` has the places of the numbers that equal any of the claim's."""
    if not pairs:
        return _compare_unmatched(claim, index, quantity)
    context = Context(claim, index, quantity.start, quantity.end)
    equals: list[Option] = []
    with_rivals = {p.candidate.sentence for p in pairs if p.relation is Relation.DIFFERENT}
    for pair in pairs:
        if pair.relation is Relation.SAME:
            equals.append(option_of(index, quantity, pair, context))
            if equals[-1].agreement >= _SURELY_SAME and pair.candidate.sentence not in with_rivals:
                return _Comparison()
    same = max(equals, key=_rank, default=None)
    row = [option_of(index, quantity, p, context) for p in pairs if p.relation is not Relation.SAME]
    restated = {q.value for q in claim.quantities if q is not quantity and _is_restated(claim, q)}
    different = [o for o in row if o.relation is Relation.DIFFERENT and o.place not in equal]
    different = [o for o in different if o.quantity.dimension == "count" or o.quantity.value not in restated]
    if quantity.dimension.startswith("money:") and index.values.get(("count", quantity.value)):
        different = [
            o for o in different if o.quantity.dimension != "count"
        ]  # a bare figure of the evidence is the sum
    rival = max(different, key=_rank, default=None)
    margin = _SPECIFIC_MARGIN if _significant_digits(quantity) >= _SPECIFIC_DIGITS else _CLEAR_MARGIN
    if same is not None and rival is not None and rival.covered - same.covered >= _SUBJECT_LEAD:
        margin = _CLEAR_MARGIN
    in_clause = _option_of_clause(index, context, same, rival)
    if in_clause is same and same is not None:
        return _Comparison()
    if (
        same is not None
        and rival is not None
        and (in_clause is rival or _is_of_other_clause(claim, index, quantity, same, rival))
    ):
        confidence = _confidence(claim, index, quantity, rival, different)
        finding = _mismatch(claim, index, quantity, rival, confidence, elsewhere=True)
        return _Comparison(finding, on_subject=False)
    if same is not None and (rival is None or same.agreement >= rival.agreement - margin):
        return _Comparison(on_subject=same.agreement >= _ON_SUBJECT)
    if same is not None and rival is not None and _is_on_same_subject(same, rival):
        return _Comparison()
    elsewhere = same is not None or bool(_equal_elsewhere(index, quantity))
    allowing = (o for o in row if o.relation is Relation.COMPATIBLE and (rival is None or o.place not in equal))
    compatible = max(allowing, key=_rank, default=None)
    if rival is not None and (compatible is None or _rank(compatible)[0] < _rank(rival)[0] - _CLEAR_MARGIN):
        confidence = _confidence(claim, index, quantity, rival, different)
        if confidence >= _LEAST_CONFIDENCE:
            derivation = derivation_of(claim, index, quantity)
            likely = derivation is not None and derivation.suggested
            if derivation is not None and likely and not elsewhere:
                return _Comparison(_derived_note(claim, quantity, derivation))
            if not likely and not follows_otherwise(claim, index, quantity, rival):
                finding = _mismatch(claim, index, quantity, rival, confidence, elsewhere)
                return _Comparison(finding, found=elsewhere, on_subject=False)
            elsewhere = True  # what follows from the evidence is not missing there
    if compatible is not None:
        note = _finding(
            claim,
            index,
            quantity,
            compatible,
            "number.imprecise",
            "note",
            0.5 * compatible.agreement,
            "the evidence says {theirs}, which allows it but does not say it",
        )
        return _Comparison(note, on_subject=compatible.agreement >= _ON_SUBJECT)
    if elsewhere:
        return _Comparison(on_subject=False)
    return _Comparison(_missing(claim, index, quantity), found=False, on_subject=False)


def _compare_unmatched(claim: Claim, index: ExactIndex, quantity: Quantity) -> _Comparison:
    """What the evidence says of a number that can be compared with no number of the candidate sentences."""
    if _equal_elsewhere(index, quantity):
        return _Comparison(on_subject=False)
    return _Comparison(_missing(claim, index, quantity), found=False, on_subject=False)


def _is_on_same_subject(same: Option, rival: Option) -> bool:
    """Whether an equal number is on the claim's subject although a different one has more of the other words."""
    return (
        same.candidate.sentence != rival.candidate.sentence
        and same.covered >= max(_COVERED, rival.covered)
        and same.agreement >= rival.agreement - _SUBJECT_MARGIN
    )


def _is_restated(claim: Claim, quantity: Quantity) -> bool:
    """Whether a claim states a bare number besides the one in question: "110 Mbit/s is below the minimum of 150"."""
    return quantity.dimension == "count" and not is_negated(claim, quantity.start, quantity.end)


def _is_of_other_clause(claim: Claim, index: ExactIndex, quantity: Quantity, same: Option, rival: Option) -> bool:
    """Whether an equal number is in another clause of the sentence than the claim's subject.

    "The north wing has 40 beds, the south wing 55" says that the north wing has 40.
    """
    if same.candidate.sentence != rival.candidate.sentence or rival.quantity.bound != quantity.bound:
        return False
    place = quantity.start, quantity.end
    ours, other = (align(claim, index, place, o.candidate, (o.quantity.start, o.quantity.end)) for o in (same, rival))
    subject = leading_stems(claim.words.lexemes)
    unshared = subject & ours.missing
    return bool(unshared) and unshared <= other.clause and subject.isdisjoint(other.missing)


def _option_of_clause(index: ExactIndex, context: Context, same: Option | None, rival: Option | None) -> Option | None:
    """Of an equal and another number in a sentence, the one whose clause has more words of the claim's clause.

    "Adults pay 9 euros, students 5" says that it is 5 for students, although their clause omits the rest. None where
    each clause has words of the claim that the other lacks. The other number is only returned for a row of a table,
    since adjuncts ("after probation") may be in another clause.
    """
    if same is None or rival is None or same.candidate.sentence != rival.candidate.sentence:
        return None
    if rival.quantity.bound != same.quantity.bound:
        return None
    row = _ROW.fullmatch(context.claim.text) is not None
    sought = context.weights.keys() if row else context.own_surroundings.clause & context.weights.keys()
    ours, other = (
        sought & index.surroundings(o.candidate.sentence, o.quantity.start, o.quantity.end).clause
        for o in (same, rival)
    )
    return same if ours > other else rival if row and other > ours else None


def _significant_digits(quantity: Quantity) -> int:
    """The number of significant digits of a quantity without trailing zeros."""
    return len(quantity.value.normalize().as_tuple().digits)


def _rank(option: Option) -> tuple[float, float, int, int]:
    return (
        round(option.agreement * option.factor, 6),
        round(option.closeness, 6),
        -option.candidate.sentence,
        -option.quantity.start,
    )


def _is_rounded_off(quantity: Quantity, other: Quantity) -> bool:
    """Whether a claim's number looks like a careless rounding of the other: 23,000 for 23,768."""
    if quantity.low is None or other.low is None or not other.exact:
        return False
    same_unit = quantity.unit == other.unit  # what is round is the number as it is written, not its seconds
    ours, theirs = (quantity.value, other.value) if same_unit else (quantity.low, other.low)
    return roundness(ours) >= 100 * roundness(theirs) and abs(ours - theirs) * 20 <= abs(theirs)


def _confidence(
    claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option, different: Sequence[Option]
) -> float:
    confidence = agreement_confidence(rival.agreement) * rival.factor
    as_near = {
        o.quantity.low
        for o in different
        if o.agreement * o.factor >= rival.agreement * rival.factor - _CLEAR_MARGIN and o.closeness >= rival.closeness
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
    return confidence * _name_factor(claim, index, rival)


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
    own = (q for q in claim.quantities[:MOST_OPERANDS] if q is not quantity and not _equal_elsewhere(index, q))
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


def _equal_elsewhere(index: ExactIndex, quantity: Quantity) -> Sequence[tuple[int, Quantity]]:
    """The equal numbers anywhere in the evidence, each with its sentence."""
    if quantity.low is None or not quantity.exact:
        return ()
    if quantity.bound == "about" and (quantity.dimension, quantity.low) not in index.values:
        values = islice(index.values.items(), _MOST_LOOKED_THROUGH)
        near = (row for (dimension, _), row in values if dimension == quantity.dimension)
        return next((row[:1] for row in near if relate(quantity, row[0][1]) is Relation.SAME), ())
    return index.values.get((quantity.dimension, quantity.low), ())[:_MOST_ELSEWHERE]


def _derived_note(claim: Claim, quantity: Quantity, derivation: Derivation) -> ExactFinding:
    ours = claim.text[quantity.start : quantity.end]
    message = f"The claim's {ours!r} follows from the evidence, {derivation.how}: {derivation.working}."
    return ExactFinding(
        DERIVED,
        message,
        quantity.number_start,
        quantity.number_end,
        None,
        "note",
        _SPECIFIC if derivation.specific else _UNSPECIFIC,
    )


def _mismatch(
    claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option, confidence: float, elsewhere: bool
) -> ExactFinding:
    if elsewhere:
        return _finding(
            claim,
            index,
            quantity,
            rival,
            "number.wrong_subject",
            "contradicts",
            confidence * 0.95,
            "the evidence gives {theirs} here, and this number for something else",
        )
    return _finding(
        claim, index, quantity, rival, "number.mismatch", "contradicts", confidence, "the evidence says {theirs}"
    )


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
        start,
        end,
        index.span(option.candidate.sentence, other.start, other.end, relation, confidence),
        "contradicts" if effect == "contradicts" else "note",
        round(confidence, 4),
    )


def _missing(claim: Claim, index: ExactIndex, quantity: Quantity) -> ExactFinding | None:
    """The finding about a number that the evidence does not have: it follows from it, has another unit, or is
    missing."""
    ours = claim.text[quantity.start : quantity.end]
    span = (quantity.number_start, quantity.number_end)
    derivation = derivation_of(claim, index, quantity)
    if derivation is None and is_years_between(claim, index, quantity):
        message = f"The claim's {ours!r} follows from the evidence: the years between two dates."
        return ExactFinding(DERIVED, message, *span, None, "note", _UNSPECIFIC)
    if derivation is not None:
        return _derived_note(claim, quantity, derivation)
    instead = find_other_length(claim, index, quantity)
    if instead is not None:
        return instead
    other = _same_digits(claim, index, quantity)
    if other is not None:
        candidate, theirs = other
        passage = index.passages[index.sentences[candidate.sentence].passage]
        around = index.surroundings(candidate.sentence, theirs.start, theirs.end)
        agreement = Context(claim, index, quantity.start, quantity.end).agreement(candidate, around)
        confidence = 0.8 * agreement_confidence(agreement)
        if confidence >= _LEAST_CONFIDENCE:
            return ExactFinding(
                "number.unit",
                f"The claim says {ours!r}; the evidence says {passage.text[theirs.start : theirs.end]!r}: "
                "the digits agree, what they measure does not.",
                quantity.start,
                quantity.end,
                index.span(candidate.sentence, theirs.start, theirs.end, "contradicts", confidence),
                "contradicts",
                round(confidence, 4),
            )
    if quantity.dimension == "factor" and quantity.weak:
        return None
    confidence = 0.3 if quantity.weak or quantity.dimension == "factor" else 0.65
    return ExactFinding(
        "number.missing",
        f"The claim says {ours!r}; the evidence gives no such number.",
        *span,
        None,
        "missing",
        confidence,
    )


def _same_digits(claim: Claim, index: ExactIndex, quantity: Quantity) -> tuple[Candidate, Quantity] | None:
    """A quantity with the same number and another unit or currency in the candidate sentences."""
    if quantity.dimension in NO_UNIT:
        return None
    for candidate in claim.candidates:
        for other in index.quantities.get(candidate.sentence, ()):
            if other.value == quantity.value and other.dimension not in {quantity.dimension, *NO_UNIT}:
                return candidate, other
    return None
