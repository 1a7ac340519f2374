"""What one record says of a statement, and how sure that is."""

from dataclasses import dataclass

from assay.verify.exact.records import Cell

SURE, LIKELY, DOUBTFUL = 0.9, 0.75, 0.55
"""Confidences, by how often what is decided so was right where it was measured (ADR 25)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one record says of a statement."""

    verdict: bool
    """Whether it states it; otherwise it says otherwise."""
    confidence: float
    cell: Cell
    passage: int
    first: int
    """The words of the claim that are right or wrong."""
    last: int
    naming: bool
    """Whether the record was found by what names it."""
    code: str = "record.mismatch"
    group: int = 0
    alike: int = 1
    """How many records of the group fit what the statement says right."""
    wrong: tuple[tuple[int, int], ...] = ()
    """The words that are wrong, from the first to before the last of each run; all of the others are right. Empty where
    it states the claim."""
    right: int = 0
    """How many values of the record the statement has right."""
    instead: str = ""
    """What the evidence has, where it is not the text of the cell: a title, a total."""
