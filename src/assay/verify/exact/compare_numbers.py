"""Numbers of a claim against the numbers of the same subject in the evidence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.text.quantities import Quantity, Relation, relate
from assay.verify.exact.arithmetic import derive
from assay.verify.exact.claim import Claim, Context, confidence_of
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import Candidate, ExactIndex

_CLEAR_MARGIN = 0.08
"""A different number must fit its context better by this much than an equal one to count against the claim."""

_SPECIFIC_MARGIN = 0.4
"""The same for a number of three significant digits and more, which hardly turns up twice by chance."""

_SPECIFIC_DIGITS = 3
_ON_SUBJECT = 0.35
_WEAK_FACTOR = 0.5
_NO_NOUN_FACTOR = 0.75
_AMBIGUOUS_FACTOR = 0.8
_OTHER_NAME_FACTOR = 0.6
_LEAST_CONFIDENCE = 0.2
_MOST_COMPARED = 64
"""Numbers of one claim beyond this are only looked up by value: they count as found, never as on their subject."""

_MOST_OPERANDS = 24
_MOST_ELSEWHERE = 16


@dataclass(frozen=True, slots=True)
class Option:
    """An evidence quantity that a claim's quantity may be about."""

    quantity: Quantity
    candidate: Candidate
    relation: Relation
    agreement: float
    closeness: float
    factor: float
    """What is left of the confidence after doubts about what the two count."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of a claim's mentions the evidence has."""

    found: float
    on_subject: float


def compare_numbers(claim: Claim, index: ExactIndex) -> tuple[list[ExactFinding], Shares]:
    """Findings about each number of the claim, and the shares found anywhere and on their subject."""
    if not claim.quantities:
        return [], Shares(1.0, 1.0)
    options = [list(_options(claim, index, q)) if n < _MOST_COMPARED else [] for n, q in enumerate(claim.quantities)]
    equal = {_place(o) for row in options for o in row if o.relation is Relation.SAME}
    findings: list[ExactFinding] = []
    found = on_subject = 0
    for quantity, row in zip(claim.quantities, options, strict=True):
        finding, here, attached = _judge(claim, index, quantity, row, equal)
        found += here
        on_subject += attached
        if finding is not None:
            findings.append(finding)
    count = len(claim.quantities)
    return findings, Shares(found / count, on_subject / count)


def _place(option: Option) -> tuple[int, int]:
    return option.candidate.sentence, option.quantity.start


def _options(claim: Claim, index: ExactIndex, quantity: Quantity) -> Iterator[Option]:
    context: Context | None = None
    for candidate in claim.candidates:
        for other in index.quantities.get(candidate.sentence, ())[:_MOST_OPERANDS]:
            relation = relate(quantity, other)
            if relation is Relation.INCOMPARABLE:
                continue
            factor = _noun_factor(quantity, other, relation)
            if factor == 0:
                continue
            context = context or Context(claim, index, quantity.start, quantity.end)
            yield Option(
                other, candidate, relation, context.agreement(candidate, other.start, other.end),
                context.closeness(candidate, other.start, other.end), factor,
            )  # fmt: skip


def _noun_factor(quantity: Quantity, other: Quantity, relation: Relation) -> float:
    """How surely two quantities of one dimension count the same sort of thing."""
    if relation is Relation.SAME:
        return 1.0
    if quantity.dimension not in {"count", "ordinal"}:
        return 1.0 if not (quantity.weak or other.weak) else _WEAK_FACTOR
    weak = _WEAK_FACTOR if quantity.weak or other.weak else 1.0
    if set(quantity.nouns) & set(other.nouns):
        return weak
    if quantity.nouns and other.nouns:
        return 0.0
    return 0.0 if quantity.dimension == "ordinal" else weak * _NO_NOUN_FACTOR


def _judge(
    claim: Claim, index: ExactIndex, quantity: Quantity, row: Sequence[Option], equal: set[tuple[int, int]]
) -> tuple[ExactFinding | None, bool, bool]:
    """The finding about one number, whether it was found at all, and whether on its subject."""
    same = max((o for o in row if o.relation is Relation.SAME), key=_rank, default=None)
    different = [o for o in row if o.relation is Relation.DIFFERENT and _place(o) not in equal]
    worst = max(different, key=_rank, default=None)
    margin = _SPECIFIC_MARGIN if _significant(quantity) >= _SPECIFIC_DIGITS else _CLEAR_MARGIN
    if same is not None and (worst is None or same.agreement >= worst.agreement - margin):
        return None, True, same.agreement >= _ON_SUBJECT
    elsewhere = same is not None or bool(_elsewhere(index, quantity))
    compatible = max((o for o in row if o.relation is Relation.COMPATIBLE), key=_rank, default=None)
    if worst is not None and (compatible is None or compatible.agreement < worst.agreement - _CLEAR_MARGIN):
        confidence = _confidence(claim, worst, different)
        if confidence >= _LEAST_CONFIDENCE and not _derived(claim, index, quantity):
            return _mismatch(claim, index, quantity, worst, confidence, elsewhere), elsewhere, False
    if compatible is not None:
        note = _finding(claim, index, quantity, compatible, "number.imprecise", "note", 0.5 * compatible.agreement,
                        "the evidence says {theirs}, which allows it but does not say it")  # fmt: skip
        return note, True, compatible.agreement >= _ON_SUBJECT
    if elsewhere:
        return None, True, False
    return _missing(claim, index, quantity), False, False


def _significant(quantity: Quantity) -> int:
    """The number of significant digits of a quantity, trailing zeros left out."""
    return len(quantity.value.normalize().as_tuple().digits)


def _rank(option: Option) -> tuple[float, float, int, int]:
    return (
        round(option.agreement * option.factor, 6), round(option.closeness, 6),
        -option.candidate.sentence, -option.quantity.start,
    )  # fmt: skip


def _confidence(claim: Claim, worst: Option, different: Sequence[Option]) -> float:
    confidence = confidence_of(worst.agreement) * worst.factor
    rivals = {
        o.quantity.low
        for o in different
        if o.agreement * o.factor >= worst.agreement * worst.factor - _CLEAR_MARGIN and o.closeness >= worst.closeness
    }
    if len(rivals) > 1:
        confidence *= _AMBIGUOUS_FACTOR
    named = [n for n in claim.names if n.sure]
    around = worst.candidate.stems | worst.candidate.around | worst.candidate.heading
    if any(not _named(claim, n.first, n.last, around) for n in named):
        confidence *= _OTHER_NAME_FACTOR
    return confidence


def _named(claim: Claim, first: int, last: int, stems: frozenset[str]) -> bool:
    own = [w.stem for w in claim.words.lexemes[first:last] if w.weight]
    return not own or any(stem in stems for stem in own)


def _elsewhere(index: ExactIndex, quantity: Quantity) -> Sequence[tuple[int, Quantity]]:
    if quantity.low is None or not quantity.exact:
        return ()
    return index.values.get((quantity.dimension, quantity.low), ())[:_MOST_ELSEWHERE]


def _operands(claim: Claim, index: ExactIndex) -> list[Quantity]:
    operands: list[Quantity] = []
    for candidate in claim.candidates:
        operands.extend(index.quantities.get(candidate.sentence, ()))
    return operands[:_MOST_OPERANDS]


def _derived(claim: Claim, index: ExactIndex, quantity: Quantity) -> bool:
    return derive(quantity, _operands(claim, index), {w.fold for w in claim.words.lexemes}) is not None


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
    derivation = derive(quantity, _operands(claim, index), {w.fold for w in claim.words.lexemes})
    if derivation is not None:
        return ExactFinding("number.derived", f"The claim's {ours!r} follows from the evidence: {derivation}.",
                            *span, None, "note", 0.6)  # fmt: skip
    other = _same_digits(claim, index, quantity)
    if other is not None:
        candidate, theirs = other
        passage = index.passages[index.sentences[candidate.sentence].passage]
        agreement = Context(claim, index, quantity.start, quantity.end).agreement(candidate, theirs.start, theirs.end)
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
