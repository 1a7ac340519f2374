"""Whether a number that the evidence does not state follows from it."""

import re
from bisect import bisect_left
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

from assay.text.lexicon import LIGHT_VERBS, find_negations, word_set
from assay.text.quantities import Quantity
from assay.verify.arithmetic.derivations import Derivation, derive, is_close, lengths_between
from assay.verify.arithmetic.operand_order import Place, course_of, sign_of
from assay.verify.exact.compare.number_pairs import MOST_OPERANDS, Option
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex, leading_stems
from assay.verify.exact.parsed_claim import Claim

_TOTALS = word_set("total totals altogether together combined both overall all average averaged mean")
_LASTING = word_set("last lasts lasted lasting take takes took long duration run runs ran length")
_SPAN = re.compile(r"\s?(?:to|until|till|[-–—])\s?(?:the\s)?", re.IGNORECASE)
_THEN = re.compile(
    r"[^.;:]{0,40}?\band\s(?:then\s)?(?:arriv|land|end|clos|finish|return|stop|reach|conclud|ran\suntil|run\suntil)\w*"
    r"(?:\s(?:in|at)\s[A-Z]\w+)?(?:\s(?:at|on|by))?\s(?:the\s)?",
    re.IGNORECASE,
)
"""The text between a beginning and an end: "leaves at 22:40 and arrives at 06:10"."""
_OTHER_SPAN = 0.85
_AGE_WORDS = frozenset({"age", "aged", "old"})


def _operands(claim: Claim, index: ExactIndex) -> list[Quantity]:
    operands: list[Quantity] = []
    for candidate in claim.candidates:
        operands.extend(index.quantities.get(candidate.sentence, ()))
    return operands[:MOST_OPERANDS]


def derivation_of(claim: Claim, index: ExactIndex, quantity: Quantity) -> Derivation | None:
    """How a number follows from the sentences that fit the claim and from the claim's other numbers; none if not.

    Where the evidence has a share that is taken off or added for the claim's subject, the claim need not mention it:
    "members pay 170" beside "members get 15% off" and a price of 200.
    """
    share_words = [
        index.reading(c.sentence).folds for c in claim.candidates if _has_share_for(claim, index, quantity, c.sentence)
    ]
    times = [d for c in claim.candidates for d in index.dates.get(c.sentence, ())[:MOST_OPERANDS]]
    return derive(
        quantity,
        _operands(claim, index),
        claim.folds.union(*share_words),
        own=[q for q in claim.quantities[:MOST_OPERANDS] if q is not quantity],
        times=[*times[:MOST_OPERANDS], *claim.dates[:MOST_OPERANDS]],
        course=course_of(claim, index, quantity),
    )


def _has_share_for(claim: Claim, index: ExactIndex, quantity: Quantity, sentence: int) -> bool:
    """Whether a sentence has a share for what a claim is about.

    Where the sentence has the number that the share applies to in another clause, the words of that clause do not tell:
    of "the list price is $100; members get 5% off" the share is for the members, and the list price remains.
    """
    row = index.quantities.get(sentence, ())[:MOST_OPERANDS]
    found = [q for q in row if q.dimension == "share"]
    if not found:
        return False
    shares = [_clause_stems(index, sentence, q) for q in found]
    changing = [stems for q, stems in zip(found, shares, strict=True) if sign_of(index, Place(sentence, q))]
    subject = leading_stems(claim.words.lexemes)
    bases = [_clause_stems(index, sentence, q) for q in row if q.dimension == quantity.dimension]
    other: frozenset[str] = frozenset().union(*(stems for stems in bases if stems not in shares))
    if other:
        before = claim.words.lexemes[: bisect_left(claim.words.starts, quantity.start)][-1:]
        known = other | LIGHT_VERBS | {word.stem for word in before}  # "pay" in "members pay 80"
        subject = (subject - known) or frozenset(claim.weights) - known
    return not subject.isdisjoint(index.subject(sentence).union(*changing))


def _clause_stems(index: ExactIndex, sentence: int, quantity: Quantity) -> frozenset[str]:
    return index.surroundings(sentence, quantity.start, quantity.end).clause


def follows_otherwise(claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option) -> bool:
    """Whether a number that differs from one of the evidence follows from the numbers around that."""
    if _is_sum_beside(index, quantity, rival) or is_years_between(claim, index, quantity):
        return True
    if _is_rest(claim, index, quantity, rival):
        return True
    summed = not claim.folds.isdisjoint(_TOTALS)
    return summed and derive(quantity, _numbers_around(index, rival), claim.folds) is not None


def _is_rest(claim: Claim, index: ExactIndex, quantity: Quantity, rival: Option) -> bool:
    """Whether two shares add up to one whole and only one of their statements is negated.

    If 75% were in the north, the other 25% were not.
    """
    if quantity.dimension != "share" or rival.quantity.dimension != "share":
        return False
    ours, other = quantity.low, rival.quantity.low
    if ours is None or other is None or not quantity.exact or not rival.quantity.exact or ours + other != 1:
        return False
    theirs = index.reading(rival.candidate.sentence)
    return bool(find_negations(claim.text, claim.words)) != bool(theirs.negations)


def _numbers_around(index: ExactIndex, rival: Option) -> list[Quantity]:
    """The numbers of the sentence of a number and of the sentences before and after it in its passage, in order."""
    here = index.sentences[rival.candidate.sentence]
    beside = range(max(0, rival.candidate.sentence - 1), min(len(index.sentences), rival.candidate.sentence + 2))
    some = [q for s in beside if index.sentences[s].passage == here.passage for q in index.quantities.get(s, ())]
    return some[:MOST_OPERANDS]


def _is_sum_beside(index: ExactIndex, quantity: Quantity, rival: Option) -> bool:
    """Whether a count is the sum of two counts of the same things in one sentence: 12 players for 8 and 4."""
    if quantity.dimension != "count" or not quantity.exact:
        return False
    row = index.quantities.get(rival.candidate.sentence, ())[:MOST_OPERANDS]
    nouns = set(quantity.nouns)
    parts = [q.low for q in row if q.low is not None and q.exact and q.dimension == "count" and nouns & set(q.nouns)]
    return any(a + b == quantity.low for a, b in combinations(parts, 2))


def is_years_between(claim: Claim, index: ExactIndex, quantity: Quantity) -> bool:
    """Whether a number of years or an age is the difference of two years in the evidence or the claim."""
    aged = quantity.dimension == "count" and not _AGE_WORDS.isdisjoint(claim.folds)
    if not aged and (quantity.dimension != "time" or quantity.unit not in {"yr", "decade"}):
        return False
    years = {d.year for d in claim.dates[:MOST_OPERANDS] if d.year is not None}
    for candidate in claim.candidates:
        years |= {d.year for d in index.dates.get(candidate.sentence, ())[:MOST_OPERANDS] if d.year is not None}
    number = quantity.value * (10 if quantity.unit == "decade" else 1)
    slack = 1 if aged else 2 if quantity.bound != "exact" else 0
    return any(abs(abs(a - b) - number) <= slack for a, b in combinations(sorted(years), 2))


def find_other_length(claim: Claim, index: ExactIndex, quantity: Quantity) -> ExactFinding | None:
    """A finding that a duration in a claim differs from the one span of times or days in the best sentence.

    That sentence has to have the claim's subject, and the claim has to be about a duration.
    """
    if quantity.dimension != "time" or not quantity.exact or quantity.bound != "exact" or claim.best is None:
        return None
    if _LASTING.isdisjoint(claim.folds) or len(claim.quantities) != 1 or claim.dates:
        return None
    best = claim.best
    subject = leading_stems(claim.words.lexemes) - {w.stem for w in claim.words.lexemes if w.fold in _LASTING}
    dates = index.dates.get(best.sentence, ())
    if not subject or not subject <= index.subject(best.sentence) | best.heading or len(dates) != len(("from", "to")):
        return None
    text = index.passages[index.sentences[best.sentence].passage].text
    spanned = any(form.fullmatch(text, dates[0].end, dates[1].start) for form in (_SPAN, _THEN))
    length = lengths_between(*dates) if spanned else None
    if length is None:
        return None
    lengths, working = length
    if any(is_close(replace(quantity, step=Decimal(0)), Decimal(one)) for one in lengths):
        return None
    ours = claim.text[quantity.start : quantity.end]
    return ExactFinding(
        "number.mismatch",
        f"The claim says {ours!r}; by the evidence it is {working}.",
        quantity.start,
        quantity.end,
        index.span(best.sentence, dates[0].start, dates[1].end, "contradicts", _OTHER_SPAN),
        "contradicts",
        _OTHER_SPAN,
    )
