"""A panel: figures of a stretch of time as a table, from which the chart, the JSON and the CSV are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from assay.server.http.spreadsheets import csv_text
from assay.server.panels.charts import Marker

Cell = str | int | float | datetime | None


@dataclass(frozen=True, slots=True)
class Line:
    """A curve over time with its interval: a value of each sequence per part of the stretch, `None` where unknown."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None]
    high: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The figures that the chart of a panel draws; which fields are used depends on the kind."""

    kind: str
    """`line`: curves over time; `bars`: a histogram of counts; `ranges`: a value with its interval for each row."""
    labels: Sequence[str] = ()
    lines: Sequence[Line] = ()
    counts: Sequence[int] = ()
    ranges: Sequence[tuple[str, float | None, float | None, float | None]] = ()
    """Name, value, and the bounds of its interval."""
    expected: Sequence[float] = ()
    """The value that each of `ranges` should have, marked beside it; empty where nothing is expected."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of the monitor."""

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
    """The id of the run that a row links to, by the index of the row."""

    def as_json(self) -> dict[str, Any]:
        """The panel as the REST API returns it, moments in RFC 3339 and UTC."""
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
        """The panel as CSV (RFC 4180); a text that a spreadsheet would take for a formula gets an apostrophe before
        it."""
        return csv_text(self.columns, ([_plain(cell) for cell in row] for row in self.rows))


def _plain(cell: Cell) -> str | int | float | None:
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return round(cell, 6) if isinstance(cell, float) else cell
