"""The category of a finding and its origin: what the fault is visible from (docs/concepts.md#categories).

    intrinsic(c)  <=>  not entailed(c, C)                              the evidence C does not support it
    extrinsic(c)  <=>  entailed(c, C) and not consistent(c, K)         it does, and the ground truth K says otherwise

K is what authoritative sources outside the evidence say, and what can be recomputed: sums, units, the calendar.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Category, Origin, OutsideWord, Verdict

LEAST_CONFIDENCE: Final = 0.5
"""The least confidence with which an outside source counts."""
_RECOMPUTED: Final = frozenset({"logic.arithmetic", "logic.unit", "logic.date", "logic.order"})
"""Faults of arithmetic, units and the calendar, which are faults whatever the evidence says."""
_FAILS: Final = frozenset({Verdict.CONTRADICTED, Verdict.UNSUPPORTED})
_UNSUPPORTED: Final = frozenset({Category.CONTEXTUAL, Category.CONFABULATORY})
"""The categories of an unsupported claim about which nothing more is known."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is known against one claim."""

    verdict: Verdict
    """The verdict of the evidence."""
    read: Category | None = None
    """The category that the comparison with the evidence gives, where the evidence does not support it."""
    fabricated: bool = False
    """Whether it cites a source that does not exist."""
    structural: bool = False
    """Whether it is a value that violates the schema or a rule of its document."""
    faults: Collection[str] = ()
    """The codes of the faults of the output's own reasoning in this claim."""
    outside: Sequence[OutsideWord] = ()
    """What sources outside the evidence say."""
    hidden: bool = False
    """Whether the evidence alone does not show that it is wrong: it makes the same claim, or says nothing about it."""


def attribute(grounds: Grounds) -> tuple[Category | None, Origin | None]:
    """The category and the origin of a claim's fault; both are none where the claim has no fault.

    Of several categories the most informative one counts: ground truth before the evidence, a contradiction by the
    evidence before a fault of reasoning, that before a violated schema, and a violated schema before a mere lack of
    support.

    >>> known = OutsideWord(source="register", relation="denies", confidence=0.99, authoritative=True)
    >>> [one.value for one in attribute(Grounds(Verdict.SUPPORTED, outside=[known])) if one is not None]
    ['factual', 'extrinsic']
    """
    if grounds.verdict is Verdict.NOT_CHECKABLE:
        return None, None
    category = _category(grounds)
    return category, None if category is None else _origin(grounds)


def is_denied(outside: Sequence[OutsideWord]) -> bool:
    """Whether ground truth outside the evidence contradicts a claim; one denial outweighs any number of other sources.

    >>> is_denied([OutsideWord(source="a blog", relation="denies", confidence=0.99)])
    False
    """
    return any(
        word.authoritative
        and word.confidence >= LEAST_CONFIDENCE
        and (word.relation == "denies" or (word.complete and word.relation == "silent"))
        for word in outside
    )


def _category(grounds: Grounds) -> Category | None:
    if is_denied(grounds.outside):
        return Category.FACTUAL
    if grounds.verdict is Verdict.SUPPORTED and grounds.fabricated:
        return Category.ATTRIBUTION
    if grounds.verdict in _FAILS:
        if grounds.verdict is Verdict.CONTRADICTED or grounds.read not in _UNSUPPORTED:
            return grounds.read
        if grounds.faults:
            return Category.LOGICAL
        return Category.STRUCTURAL if grounds.structural else grounds.read
    if grounds.faults:
        return Category.LOGICAL
    return Category.STRUCTURAL if grounds.structural else None


def _origin(grounds: Grounds) -> Origin:
    if grounds.hidden and is_denied(grounds.outside):
        return Origin.EXTRINSIC
    if grounds.verdict in _FAILS:
        return Origin.INTRINSIC
    known = is_denied(grounds.outside) or not _RECOMPUTED.isdisjoint(grounds.faults)
    return Origin.EXTRINSIC if known else Origin.INTRINSIC
