"""Cells and groups while they are being read, before their words are."""

from dataclasses import dataclass, field
from decimal import Decimal

from assay.verify.exact.records.model import Kind


@dataclass(frozen=True, slots=True)
class RawCell:
    """A cell as it stands."""

    name: str
    path: tuple[str, ...]
    text: str
    start: int
    end: int
    kind: Kind = "text"
    count: Decimal | None = None
    first: bool = False
    """Whether it is the first cell of a row, or the first text of an object."""


@dataclass(slots=True)
class GroupDraft:
    """A group while it is being read."""

    title: str = ""
    named: bool = False
    """Whether the title names the one record."""
    table: bool = False
    rows_are_lines: bool = False
    """Whether it is a table of lines, whose first column names the rows whatever it is called."""
    rows: list[list[RawCell]] = field(default_factory=list)
    parents: list[int | None] = field(default_factory=list)
