"""Tables as spreadsheets take them: CSV in which no text is a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

_BEGINS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""Signs that a formula begins with, of full width too."""
_FORMULA: Final = re.compile(
    rf"\A(?=[\s\"]{{0,64}}[{_BEGINS}])|\A(?=[\t\r\n])|(?<=[;\t\r\n])(?=[\s\"]{{0,64}}[{_BEGINS}])"
)
"""Where a formula would begin: at the beginning of a cell, and behind what ends a cell where a file is read with other
separators than it was written with, as spreadsheets do in countries that write 1,5."""

Cell = str | int | float | None


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV (RFC 4180). What a spreadsheet would take for a formula has an apostrophe before it (OWASP, "CSV
    injection"), in the middle of a text too.

    >>> csv_text(["said"], [["=1+1"], ["2 weeks"], ["a;=1+1"]]).splitlines()
    ['said', "'=1+1", '2 weeks', "a;'=1+1"]
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return out.getvalue()


def _harmless(cell: Cell) -> Cell:
    return _FORMULA.sub("'", cell) if isinstance(cell, str) else cell
