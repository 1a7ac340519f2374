"""Checks a change that a claim states against the two numbers of the evidence that it leads from and to.

"Revenue rose by 50%" with the evidence "revenue rose from $2 million to $4 million". Only a sentence with exactly these
two numbers is used, and only where its words are those of the claim.
"""

from bisect import bisect_left
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from assay.text.lexicon import find_negations
from assay.text.quantities import Quantity
from assay.verify.arithmetic.changes import change_of
from assay.verify.arithmetic.derivations import is_close
from assay.verify.arithmetic.figures import format_number, in_unit_of
from assay.verify.arithmetic.operand_order import Place, clause_folds, order_of, stated_order
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim

_NOT_CHANGED = frozenset({"share", "points", "factor", "ordinal"})
"""Dimensions whose changes may be stated in per cent or in points."""


class RecomputedChange(NamedTuple):
    """A change that a claim states, whether it is right, and the working."""

    stated: Quantity
    holds: bool
    working: str
    """The calculation with the right result: "(4 − 2) ÷ 2 = 100%"."""
    sentence: int
    place: tuple[int, int]
    """Start of the first and end of the last number in their passage."""


def recompute_change(claim: Claim, index: ExactIndex) -> RecomputedChange | None:
    """The change that a claim states with its only number, recomputed; none where the evidence does not decide it."""
    if len(claim.quantities) != 1 or claim.best is None or find_negations(claim.text, claim.words):
        return None
    stated, sentence = claim.quantities[0], claim.best.sentence
    change = change_of(clause_folds(claim.text, claim.words, stated))
    exact = stated.exact and stated.bound in {"exact", "about"} and not stated.weak
    if not exact or not change.direction or not _is_size(claim, stated) or not _is_about(claim, index, sentence):
        return None
    row = index.quantities.get(sentence, ())
    order = order_of(index, Place(sentence, row[0]), Place(sentence, row[1])) if _are_comparable(stated, row) else 0
    if not order:
        return None
    old, new = (row[0], row[1]) if order < 0 else (row[1], row[0])
    before, after = old.low, new.low
    if before is None or after is None or not before or before == after:
        return None
    difference = after - before
    value = difference / abs(before) if stated.dimension == "share" else difference
    holds = difference * change.direction > 0 and is_close(stated, abs(value))
    if not holds and not stated_order(index, Place(sentence, row[0]), Place(sentence, row[1])):
        return None  # "80, whereas the peak was 100"
    return RecomputedChange(stated, holds, _working(stated, old, new, value), sentence, (row[0].start, row[1].end))


def _is_size(claim: Claim, stated: Quantity) -> bool:
    """Whether a number is how far something changed, and not what it changed to: "fell by 20%", "a rise of 20%"."""
    words = claim.words
    first, last = bisect_left(words.starts, stated.start), bisect_left(words.starts, stated.end)
    folds = [word.fold for word in words.lexemes[max(0, first - 2) : first]]
    before, behind = folds[::-1], [word.fold for word in words.lexemes[last : last + 1]]
    named = [before[1:] if before[:1] in (["by"], ["of"]) else before[:1]]
    named += [behind] if before[:1] in (["a"], ["an"], ["the"]) else []
    return any(change_of(frozenset(one)).in_time for one in named)


def _is_about(claim: Claim, index: ExactIndex, sentence: int) -> bool:
    """Whether a sentence has all words of a claim but those for the change and the number."""
    candidate = claim.best
    stated = claim.quantities[0]
    known = index.stems[sentence] | (candidate.heading if candidate is not None else frozenset())
    dates = {(d.year, d.month, d.day) for d in index.dates.get(sentence, ())}
    taken = [(stated.start, stated.end), *((d.start, d.end) for d in claim.dates)]
    return all((d.year, d.month, d.day) in dates for d in claim.dates) and all(
        word.stem in known or word.stem in stated.nouns or change_of(frozenset({word.fold})).in_time
        for at, word in zip(claim.words.starts, claim.words.lexemes, strict=True)
        if word.weight and not any(start <= at < end for start, end in taken)
    )


def _are_comparable(stated: Quantity, row: Sequence[Quantity]) -> bool:
    """Whether a sentence has two exact numbers of one kind and no others, whose change the claim may state."""
    if len(row) != len(("from", "to")) or not all(q.exact and q.bound == "exact" for q in row):
        return False
    dimension = row[0].dimension
    if dimension != row[1].dimension or dimension in _NOT_CHANGED or stated.dimension not in {dimension, "share"}:
        return False
    nouns = [set(q.nouns) for q in row if q.nouns]
    return dimension != "count" or len(nouns) < len(row) or bool(nouns[0] & nouns[1])


def _working(stated: Quantity, old: Quantity, new: Quantity, value: Decimal) -> str:
    before, after = (format_number(in_unit_of(old, q.low if q.low is not None else q.value)) for q in (old, new))
    if stated.dimension == "share":
        return f"({after} − {before}) ÷ {before} = {format_number(value * 100)}%"
    after, before = (format_number(in_unit_of(stated, q.low if q.low is not None else q.value)) for q in (new, old))
    return f"{after} − {before} = {format_number(in_unit_of(stated, value))}"
