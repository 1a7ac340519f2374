"""The values of structured evidence: cells, records, and groups of records with the same fields.

A record is a set of cells, each with the name of its field and its place in the text. Records with the same fields (the
items of an array, the rows of a table) are a group.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from assay.text.quantities import Quantity

Kind = Literal["text", "number", "yes", "no", "none", "array"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a record."""

    name: str
    """The name of its field in words: "release date"."""
    needed: frozenset[str]
    """The stems that a claim needs to name the field."""
    stems: frozenset[str]
    """All stems of the field's name, and of the fields that contain it."""
    text: str
    start: int
    """Start of its value in the evidence text."""
    end: int
    kind: Kind
    words: tuple[str, ...]
    """The value's folded words."""
    items: tuple[tuple[str, ...], ...]
    """The folded words of each item, where it is a list."""
    number: Decimal | None
    """The value, where the whole text is a number; for an array the number of its items."""
    naming: bool
    """Whether it names its record."""
    measure: Quantity | None = None
    """The value with its unit, where the whole text is one exact quantity: "12 km", "$9/mo"."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a group."""

    group: int
    """Index of its group."""
    cells: tuple[Cell, ...]
    parent: int | None
    """Index of the record that contains it, if any."""


@dataclass(frozen=True, slots=True)
class Group:
    """Records with the same fields."""

    passage: int
    """Index of its evidence."""
    title: frozenset[str]
    """Stems of the title of the evidence, of the caption, and of the names of the fields that contain it."""
    titled: tuple[str, ...]
    """Folded words of a title that names a single record; else empty."""
    caption: tuple[str, ...]
    """Folded words of the caption above it."""
    first: int
    """Index of its first record."""
    last: int
    """Index after its last record."""
    table: bool


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a check's evidence."""

    groups: tuple[Group, ...] = ()
    records: tuple[Record, ...] = ()
    postings: dict[str, list[int]] = field(default_factory=dict)
    """For each word the records with a value or an item that begins with it."""
    passages: frozenset[int] = frozenset()
    """Indices of the evidence that was read as records."""

    def __bool__(self) -> bool:
        return bool(self.records)
