"""Which category a finding has and from where it can be seen (docs/concepts.md#categories).

    intrinsic(c)  <=>  not entailed(c, C)                              the evidence C does not support it
    extrinsic(c)  <=>  entailed(c, C) and not consistent(c, K)         it does, and the ground truth K says otherwise

K is what authoritative sources outside of the evidence say, and what can be recomputed: sums, units, the calendar.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from assay.schema import Category, Origin, OutsideWord, Verdict

LEAST_CONFIDENCE: Final = 0.5
"""How sure an outside source has to be for its word to count."""
_RECOMPUTED: Final = frozenset({"logic.arithmetic", "logic.unit", "logic.date", "logic.order"})
"""Faults against arithmetic, units and the calendar, which hold whatever the evidence says."""
_FAILS: Final = frozenset({Verdict.CONTRADICTED, Verdict.UNSUPPORTED})
_UNSUPPORTED: Final = frozenset({Category.CONTEXTUAL, Category.CONFABULATORY})
"""What a claim without support is where nothing more is known."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is known against one claim."""

    verdict: Verdict
    """What the evidence says of it."""
    read: Category | None = None
    """What comparing it with the evidence comes to, where the evidence does not support it."""
    fabricated: bool = False
    """Whether it cites a source that does not exist."""
    structural: bool = False
    """Whether it is a value that breaks the schema or a rule of its document."""
    faults: Collection[str] = ()
    """The codes of the faults of the output's own reasoning that are at it."""
    outside: Sequence[OutsideWord] = ()
    """What sources outside of the evidence say."""
    hidden: bool = False
    """Whether the evidence by itself does not show that it is wrong: it says so too, or nothing of it."""


def attribute(grounds: Grounds) -> tuple[Category | None, Origin | None]:
    """The category of a claim and where its fault is visible from; none of either where nothing is checked against it.

    Of several categories the one that says most counts: ground truth before the evidence, the evidence's denial before
    a fault of reasoning, that before a broken schema, and a broken schema before a mere lack of support.

    >>> known = OutsideWord(source="register", relation="denies", confidence=0.99, authoritative=True)
    >>> [one.value for one in attribute(Grounds(Verdict.SUPPORTED, outside=[known])) if one is not None]
    ['factual', 'extrinsic']
    """
    if grounds.verdict is Verdict.NOT_CHECKABLE:
        return None, None
    category = _category(grounds)
    return category, None if category is None else _origin(grounds)


def is_denied(outside: Sequence[OutsideWord]) -> bool:
    """Whether ground truth outside of the evidence contradicts a claim: one denial outweighs any number of others.

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
