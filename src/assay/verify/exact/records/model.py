"""Records as they are compared: cells, the records they make, and the groups of records that share their fields.

A record is a set of cells, each with the name of its field and its place in the text. Records that share their fields
(the items of an array, the rows of a table) make a group.
"""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

Kind = Literal["text", "number", "yes", "no", "none", "array"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a record."""

    name: str
    """Its field as people would write it: "release date"."""
    needed: frozenset[str]
    """Stems that a claim has to have to name the field."""
    stems: frozenset[str]
    """All stems of the field's name, and of those it lies in."""
    text: str
    start: int
    """Its place in the evidence's text."""
    end: int
    kind: Kind
    words: tuple[str, ...]
    """The value's folded words."""
    items: tuple[tuple[str, ...], ...]
    """The folded words of what it lists, where it is a list."""
    number: Decimal | None
    """The value, where it is one number and nothing else; the number of items of an array."""
    naming: bool
    """Whether it names its record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record, alone or one of a group."""

    group: int
    cells: tuple[Cell, ...]
    parent: int | None
    """The record that it lies in."""


@dataclass(frozen=True, slots=True)
class Group:
    """Records that share their fields."""

    passage: int
    """Index of its evidence."""
    title: frozenset[str]
    """Stems of what stands above it: a title, a caption, the names of the fields that it lies in."""
    titled: tuple[str, ...]
    """Folded words of the title that names a single record; empty for none."""
    caption: tuple[str, ...]
    """Folded words of what stands above it, whatever it names."""
    first: int
    last: int
    """Its records, from the first to before the last."""
    table: bool


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a check's evidence."""

    groups: tuple[Group, ...] = ()
    records: tuple[Record, ...] = ()
    postings: dict[str, list[int]] = field(default_factory=dict)
    """The records that have a value or an item that begins with a word."""
    passages: frozenset[int] = frozenset()
    """Evidence that was read as records."""

    def __bool__(self) -> bool:
        return bool(self.records)
