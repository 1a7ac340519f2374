"""Tables as spreadsheets take them: CSV in which no text is a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

_FORMULA: Final = frozenset("=+-@\t\r\n")

Cell = str | int | float | None


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV (RFC 4180). A text that a spreadsheet would take for a formula has an apostrophe before it (OWASP,
    "CSV injection").

    >>> csv_text(["said"], [["=1+1"], ["2 weeks"]]).splitlines()
    ['said', "'=1+1", '2 weeks']
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip()[:1] in _FORMULA and cell[:1] else cell
