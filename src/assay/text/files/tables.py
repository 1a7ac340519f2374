"""A CSV table as text: each row as a paragraph with the column names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Final

from assay.errors import InputError
from assay.text.files.markdown import FileText

MAX_FIELD_CHARACTERS: Final = 5_000_000
"""Characters in one field."""


def read_table(text: str, delimiter: str) -> FileText:
    """Each row as lines of `name: value`, with a blank line between rows; a table without rows is kept as written.

    Raises:
        InputError: it is not a table in CSV.
    """
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"it is no table: {error}") from error
    if len(rows) < 2:
        return FileText(text)
    paragraphs = ("\n".join(_lines(rows[0], row)) for row in rows[1:])
    return FileText("\n\n".join(paragraph for paragraph in paragraphs if paragraph))


def _lines(names: list[str], row: list[str]) -> Iterator[str]:
    """`name: value` for each cell that is not empty, and the value alone for cells beyond the last column name."""
    for name, value in zip(names, row, strict=False):
        if value:
            yield f"{name.strip()}: {value.strip()}"
    yield from (value.strip() for value in row[len(names) :] if value.strip())
