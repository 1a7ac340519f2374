"""Raw cells and groups of records, before their words are analysed."""

from dataclasses import dataclass, field
from decimal import Decimal

from assay.verify.exact.records.model import Kind


@dataclass(frozen=True, slots=True)
class RawCell:
    """A cell as it is written."""

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
    """Whether the title names the only record."""
    table: bool = False
    rows_are_lines: bool = False
    """Whether it is a table of text lines, whose first column names the rows regardless of its head."""
    rows: list[list[RawCell]] = field(default_factory=list)
    parents: list[int | None] = field(default_factory=list)
