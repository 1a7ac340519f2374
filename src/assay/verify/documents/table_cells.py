"""Cells of an answer's tables, resolved by row and column: beside fields of the evidence, and beside their own sums.

A row is an object whose fields are the heads of the columns; in a table with rows and columns exchanged a column is
one, whose fields are the first cells of the rows. Either is compared as a JSON document is. A row or a column that says
that it is a total is the sum of what stands before it.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from assay.text.lexicon import find_words, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.text.sentences import Table, TableCell, read_tables
from assay.verify.documents.fields import DocumentFields, FieldMatch

_TOTAL: Final = word_set("total totals sum overall altogether combined")
_BESIDE_TOTAL: Final = _TOTAL | word_set("grand all in the of")
_SUMMED: Final = ("count", "money:", "time", "mass", "length", "data", "volume", "area", "energy")
"""Dimensions of values that add up; shares, rates and temperatures do not."""
_FEWEST: Final = 2
_MOST_SHOWN: Final = 8


class TableCells:
    """The cells of the tables of an answer."""

    def __init__(self, text: str, known: DocumentFields) -> None:
        """Read the tables.

        Args:
            text: the answer.
            known: the fields of the evidence.
        """
        self._known = known
        self._places: dict[tuple[int, int], tuple[Table, int, int]] = {}
        for table in read_tables(text):
            for row, cells in enumerate(table.rows):
                for column, cell in enumerate(cells):
                    self._places[cell.start, cell.end] = table, row, column

    def match(self, start: int, end: int) -> FieldMatch | None:
        """What the cell between two characters of the answer is compared with; none where there is nothing."""
        place = self._places.get((start, end))
        if place is None:
            return None
        table, row, column = place
        if column == 0:
            return None
        for document, path in _documents(table, row, column):
            match = self._known.match(document, path)
            if match is not None:
                return match
        return sum_of(table, row, column)


def _documents(table: Table, row: int, column: int) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """The object that the row of a cell is, and the one that its column is, with the path of the cell in either."""
    head, cells = table.head, table.rows[row]
    if head[column]:
        rows: Mapping[str, str] = {name: cell.text for name, cell in zip(head, cells, strict=True) if name}
        yield rows, (head[column],)
    label = cells[0].text
    if label:
        own = {line[0].text: line[column].text for line in table.rows if line[0].text}
        name = head[column]
        yield ({name: own} if name else own), ((name, label) if name else (label,))


def sum_of(table: Table, row: int, column: int) -> FieldMatch | None:
    """What the total of a row or a column comes to; none where a cell is no total or its parts do not add up.

    >>> table = read_tables("| Item | Cost |\\n|---|---|\\n| Bed | 300 |\\n| Lamp | 40 |\\n| Total | 350 |")[0]
    >>> sum_of(table, 2, 1).expected
    '300 + 40 = 340'
    """
    cells = table.rows[row]
    parts: Sequence[TableCell] = ()
    if _is_total(cells[0].text):
        above = table.rows[:row]
        parts = [] if any(_is_total(line[0].text) for line in above) else [line[column] for line in above]
    elif _is_total(table.head[column]):
        parts = [cell for cell in cells[1:column] if _value(cell.text) is not None]
    total, values = _value(cells[column].text), [_value(part.text) for part in parts]
    if total is None or len(values) < _FEWEST or not all(_adds(value, total) for value in values):
        return None
    summed = sum((value.low for value in values if value is not None and value.low is not None), Decimal(0))
    size = total.low / total.value if total.low and total.value else Decimal(1)
    shown = " + ".join(part.text for part in parts[:_MOST_SHOWN]) + (" + …" if len(parts) > _MOST_SHOWN else "")
    return FieldMatch(summed == total.low, None, f"{shown} = {(summed / size).normalize():f}")


def _is_total(name: str) -> bool:
    words = {word.fold for word in find_words(name).lexemes}
    return bool(words & _TOTAL) and words <= _BESIDE_TOTAL


def _value(text: str) -> Quantity | None:
    found = find_quantities(text)
    one = found[0] if len(found) == 1 else None
    return one if one is not None and one.exact and not (text[: one.start] + text[one.end :]).strip(" *") else None


def _adds(value: Quantity | None, total: Quantity) -> bool:
    """Whether a value is one of the sort that a total is of."""
    return (
        value is not None
        and value.dimension == total.dimension
        and value.dimension.startswith(_SUMMED)
        and ("/" not in value.dimension)
    )
