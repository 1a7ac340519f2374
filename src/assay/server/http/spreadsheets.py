"""Tables as CSV for spreadsheets, in which no text is read as a formula."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Final

_FORMULA_SIGNS: Final = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""Characters that a formula begins with, full-width ones included."""
_FORMULA: Final = re.compile(
    rf"\A(?=[\s\"]{{0,64}}[{_FORMULA_SIGNS}])|\A(?=[\t\r\n])|(?<=[;\t\r\n])(?=[\s\"]{{0,64}}[{_FORMULA_SIGNS}])"
)
"""Where a formula may begin: at the start of a cell, and after a character that ends a cell for a program that reads
the file with other separators, as spreadsheets do in countries that write 1,5."""

Cell = str | int | float | None


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table as CSV (RFC 4180), with an apostrophe before whatever a spreadsheet might read as a formula, also in the
    middle of a text (OWASP, "CSV injection").

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
