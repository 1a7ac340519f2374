"""Compares the cells of an answer's tables with fields of the evidence, and totals with the sums of their parts.

A row is an object whose fields are the heads of the columns; in a transposed table a column is an object whose fields
are the first cells of the rows. Either is compared like a JSON document. A row or a column that is named as a total
must be the sum of the cells before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.text.sentences import Table, TableCell, read_tables
from assay.verify.documents.fields import DocumentFields, FieldMatch

_TOTAL: Final = word_set("total totals sum overall altogether combined")
_TOTAL_WORDS: Final = _TOTAL | word_set("grand all in the of")
_ADDITIVE_DIMENSIONS: Final = ("count", "money:", "time", "mass", "length", "data", "volume", "area", "energy")
"""Dimensions of values that can be added; shares, rates and temperatures cannot."""
_FEWEST_PARTS: Final = 2
_MOST_SHOWN: Final = 8


class TableCells:
    """The cells of the tables of an answer."""

    def __init__(self, text: str, fields: DocumentFields) -> None:
        """Read the tables.

        Args:
            text: the answer.
            fields: the fields of the evidence.
        """
        self._fields = fields
        self._places: dict[tuple[int, int], tuple[Table, int, int]] = {}
        for table in read_tables(text):
            for row, cells in enumerate(table.rows):
                for column, cell in enumerate(cells):
                    self._places[cell.start, cell.end] = table, row, column

    def match(self, start: int, end: int) -> FieldMatch | None:
        """The comparison of the cell between two offsets of the answer; none where there is nothing to compare."""
        place = self._places.get((start, end))
        if place is None:
            return None
        table, row, column = place
        if column == 0:
            return None
        for document, path in _documents(table, row, column):
            match = self._fields.match(document, path)
            if match is not None:
                return match
        return compare_total(table, row, column)


def _documents(table: Table, row: int, column: int) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The row of a cell as an object, and its column as an object, each with the path of the cell in it."""
    head, cells = table.head, table.rows[row]
    if head[column]:
        rows: Mapping[str, str] = {name: cell.text for name, cell in zip(head, cells, strict=True) if name}
        yield rows, (head[column],)
    label = cells[0].text
    if label:
        column_values = {line[0].text: line[column].text for line in table.rows if line[0].text}
        name = head[column]
        yield ({name: column_values} if name else column_values), ((name, label) if name else (label,))


def compare_total(table: Table, row: int, column: int) -> FieldMatch | None:
    """The comparison of a total with the sum of its parts; none where the cell is no total or cannot be computed.

    >>> table = read_tables("| Item | Cost |\\n|---|---|\\n| Bed | 300 |\\n| Lamp | 40 |\\n| Total | 350 |")[0]
    >>> compare_total(table, 2, 1).expected
    '300 + 40 = 340'
    """
    cells = table.rows[row]
    parts: Sequence[TableCell] = ()
    if _is_total(cells[0].text):
        above = table.rows[:row]
        parts = [] if any(_is_total(line[0].text) for line in above) else [line[column] for line in above]
    elif _is_total(table.head[column]):
        parts = [cell for cell in cells[1:column] if _cell_quantity(cell.text) is not None]
    total, values = _cell_quantity(cells[column].text), [_cell_quantity(part.text) for part in parts]
    if total is None or len(values) < _FEWEST_PARTS or not all(_is_part(value, total) for value in values):
        return None
    summed = sum((value.low for value in values if value is not None and value.low is not None), Decimal(0))
    size = total.low / total.value if total.low and total.value else Decimal(1)
    shown = " + ".join(part.text for part in parts[:_MOST_SHOWN]) + (" + …" if len(parts) > _MOST_SHOWN else "")
    return FieldMatch(summed == total.low, None, f"{shown} = {(summed / size).normalize():f}")


def _is_total(name: str) -> bool:
    words = {word.fold for word in find_words(name).lexemes}
    return bool(words & _TOTAL) and words <= _TOTAL_WORDS


def _cell_quantity(text: str) -> Quantity | None:
    quantities = find_quantities(text)
    quantity = quantities[0] if len(quantities) == 1 else None
    return (
        quantity
        if quantity is not None and quantity.exact and not (text[: quantity.start] + text[quantity.end :]).strip(" *")
        else None
    )


def _is_part(value: Quantity | None, total: Quantity) -> bool:
    """Whether a value can be a part of a total."""
    return (
        value is not None
        and value.dimension == total.dimension
        and value.dimension.startswith(_ADDITIVE_DIMENSIONS)
        and ("/" not in value.dimension)
    )
