"""A panel: figures of a stretch of time as a table, from which its chart, its JSON and its CSV are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from assay.server.http.spreadsheets import csv_text
from assay.server.panels.charts import Marker

Cell = str | int | float | datetime | None


@dataclass(frozen=True, slots=True)
class Line:
    """A curve over time with its interval."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn of a panel beside its table."""

    kind: str
    """`line` over time, `bars` of counts, `ranges` of a value with its interval for each row."""
    labels: Sequence[str] = ()
    lines: Sequence[Line] = ()
    counts: Sequence[int] = ()
    named: Sequence[tuple[str, float | None, float | None, float | None]] = ()
    """Name, value, low, high."""
    diagonal: Sequence[float] = ()
    """What each of `named` should be."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel."""

    name: str
    title: str
    about: str
    """What is measured, in a sentence or two."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    drawing: Drawing | None = None
    note: str | None = None
    """What must be known to read it."""
    markers: tuple[Marker, ...] = ()
    runs: Mapping[int, str] = field(default_factory=dict)
    """The run that a row leads to, by the place of the row."""

    def as_json(self) -> dict[str, Any]:
        """The panel as a program gets it."""
        return {
            "panel": self.name,
            "title": self.title,
            "about": self.about,
            "note": self.note,
            "columns": list(self.columns),
            "rows": [[_plain(cell) for cell in row] for row in self.rows],
            "changes": [{"at": _plain(marker.at), "kind": marker.kind, "ref": marker.ref} for marker in self.markers],
        }

    def as_csv(self) -> str:
        """The panel as a spreadsheet gets it (RFC 4180). A text that a spreadsheet would take for a formula is
        written with an apostrophe before it."""
        return csv_text(self.columns, ([_plain(cell) for cell in row] for row in self.rows))


def _plain(cell: Cell) -> str | int | float | None:
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return round(cell, 6) if isinstance(cell, float) else cell
