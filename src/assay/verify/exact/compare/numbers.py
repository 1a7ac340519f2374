"""Compares numbers of a claim with the numbers of the same subject in the evidence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.text.quantities import Quantity, Relation, find_per
from assay.verify.arithmetic.derivations import Derivation
from assay.verify.exact.alignment import align
from assay.verify.exact.compare.derived_numbers import (
    derivation_of,
    find_other_length,
    follows_otherwise,
    is_years_between,
)
from assay.verify.exact.compare.number_pairs import (
    CLEAR_MARGIN,
    NO_UNIT,
    SURELY_SAME,
    Option,
    Pair,
    equal_elsewhere,
    mismatch_confidence,
    option_of,
    pairs_of,
)
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex, leading_stems
from assay.verify.exact.mention_roles import is_negated
from assay.verify.exact.parsed_claim import Claim, Context, agreement_confidence

_SPECIFIC_MARGIN = 0.4
"""The margin for a number of three or more significant digits, which hardly occurs twice by chance."""

_SPECIFIC_DIGITS = 3
_COVERED = 0.8
_SUBJECT_MARGIN = 0.5
"""The margin where the sentence of the equal number has the claim's whole subject."""

_SUBJECT_LEAD = 0.3
"""From this lead in the share of the claim's subject on, the claim is about the sentence of the other number."""

_ON_SUBJECT = 0.35
_LEAST_CONFIDENCE = 0.2
_MOST_COMPARED = 64
"""Numbers of one claim beyond this many are only looked up by value and never count as on their subject."""

DERIVED = "number.derived"
"""The code of a note that a number follows from the evidence."""
_SPECIFIC, _UNSPECIFIC = 0.8, 0.5


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
            if equals[-1].agreement >= SURELY_SAME and pair.candidate.sentence not in with_rivals:
                return _Comparison()
    same = max(equals, key=_rank, default=None)
    row = [option_of(index, quantity, p, context) for p in pairs if p.relation is not Relation.SAME]
    different = _different_options(claim, index, quantity, row, equal)
    rival = max(different, key=_rank, default=None)
    margin = _SPECIFIC_MARGIN if _significant_digits(quantity) >= _SPECIFIC_DIGITS else CLEAR_MARGIN
    if same is not None and rival is not None and rival.covered - same.covered >= _SUBJECT_LEAD:
        margin = CLEAR_MARGIN
    in_clause = _option_of_clause(index, context, same, rival)
    if in_clause is same and same is not None:
        return _Comparison()
    if (
        same is not None
        and rival is not None
        and (in_clause is rival or _is_of_other_clause(claim, index, quantity, same, rival))
    ):
        confidence = mismatch_confidence(claim, index, quantity, rival, different)
        finding = _mismatch(claim, index, quantity, rival, confidence, elsewhere=True)
        return _Comparison(finding, on_subject=False)
    if same is not None and (rival is None or same.agreement >= rival.agreement - margin):
        return _Comparison(on_subject=same.agreement >= _ON_SUBJECT)
    if same is not None and rival is not None and _is_on_same_subject(same, rival):
        return _Comparison()
    elsewhere = same is not None or bool(equal_elsewhere(index, quantity))
    allowing = (o for o in row if o.relation is Relation.COMPATIBLE and (rival is None or o.place not in equal))
    compatible = max(allowing, key=_rank, default=None)
    if rival is not None and (compatible is None or _rank(compatible)[0] < _rank(rival)[0] - CLEAR_MARGIN):
        confidence = mismatch_confidence(claim, index, quantity, rival, different)
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


def _different_options(
    claim: Claim, index: ExactIndex, quantity: Quantity, row: Sequence[Option], equal: set[tuple[int, int]]
) -> list[Option]:
    """The options whose number differs and that no other number of the claim explains."""
    restated = {q.value for q in claim.quantities if q is not quantity and _is_restated(claim, q)}
    different = [o for o in row if o.relation is Relation.DIFFERENT and o.place not in equal]
    different = [o for o in different if o.quantity.dimension == "count" or o.quantity.value not in restated]
    if quantity.dimension.startswith("money:") and index.values.get(("count", quantity.value)):
        return [o for o in different if o.quantity.dimension != "count"]  # a bare figure of the evidence is the sum
    return different


def _compare_unmatched(claim: Claim, index: ExactIndex, quantity: Quantity) -> _Comparison:
    """What the evidence says of a number that can be compared with no number of the candidate sentences."""
    if equal_elsewhere(index, quantity):
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
    their_end, our_end = _end_of_rate(passage.text, other), _end_of_rate(claim.text, quantity)
    if same_unit and quantity.low == other.low and quantity.per != other.per and our_end > quantity.end:
        start, end = quantity.end, our_end  # the amount is right, what it is for is not
    theirs = passage.text[other.start : their_end]
    ours = claim.text[quantity.start : our_end]
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


def _end_of_rate(text: str, quantity: Quantity) -> int:
    """Where an amount ends, with what it is per: "$29/mo"."""
    found = find_per(text, quantity.end) if quantity.per is not None else None
    return quantity.end if found is None else found[1]


def _missing(claim: Claim, index: ExactIndex, quantity: Quantity) -> ExactFinding | None:
    """The finding about a number that is not in the evidence: it follows from it, has another unit, or is missing."""
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
            degrees = {other.dimension, quantity.dimension} == {"angle", "temperature"}  # "21 degrees" are 21 °C
            if other.value == quantity.value and other.dimension not in {quantity.dimension, *NO_UNIT} and not degrees:
                return candidate, other
    return None
