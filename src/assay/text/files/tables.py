"""A table in CSV as text: each row by itself, with the names of its columns."""

from __future__ import annotations

import csv
import io
from typing import Final

from assay.errors import InputError
from assay.text.files.marked import FileText

MOST_FIELD_CHARACTERS: Final = 5_000_000
"""Characters of one field."""


def read_table(text: str, delimiter: str) -> FileText:
    """Each row as lines of names and values, a blank line between rows."""
    csv.field_size_limit(MOST_FIELD_CHARACTERS)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise InputError(f"it is no table: {error}") from error
    if len(rows) < 2:
        return FileText(text)
    parameters = (
        "\n".join(f"{name.strip()}: {value.strip()}" for name, value in zip(rows[0], row, strict=False) if value)
        for row in rows[1:]
    )
    return FileText("\n\n".join(one for one in parameters if one))
