"""What one record says about a statement, and with what confidence."""

from dataclasses import dataclass

from assay.verify.exact.records import Cell

SURE, LIKELY, DOUBTFUL = 0.9, 0.75, 0.55
"""Confidences, by the measured share of such decisions that were right (ADR 25)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one record says about a statement."""

    agrees: bool
    """Whether the record supports the statement; otherwise it contradicts it."""
    confidence: float
    cell: Cell
    passage: int
    first: int
    """The statement's words that are right or wrong, up to before `last`."""
    last: int
    by_name: bool
    """Whether the statement names the record."""
    code: str = "record.mismatch"
    group: int = 0
    alike_count: int = 1
    """How many records of the group have the values that the statement has right."""
    wrong: tuple[tuple[int, int], ...] = ()
    """The ranges of wrong words; all others are right. Empty where the record agrees."""
    right_count: int = 0
    """How many values of the record the statement has right."""
    shown_instead: str = ""
    """What a message shows as the evidence's value where that is not the text of the cell: a title, a total."""
