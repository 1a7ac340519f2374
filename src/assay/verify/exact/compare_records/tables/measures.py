"""The values of the cells of a column, as bare numbers or in the base unit of one dimension."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from assay.text.quantities import Quantity
from assay.verify.arithmetic.figures import in_unit_of
from assay.verify.exact.compare_records.tables.row_words import format_sum
from assay.verify.exact.records import Cell

_PLAIN: Final = ""
"""The dimension of a column of bare numbers."""


def is_numeric(cell: Cell) -> bool:
    """Whether a cell is a number, with a unit or without one."""
    return (cell.kind == "number" and cell.number is not None) or cell.measure is not None


def value_of(cell: Cell) -> Decimal | None:
    """The number of a cell; one with a unit in the base unit."""
    return cell.measure.low if cell.measure is not None else cell.number


def column(rows: Sequence[Sequence[Cell]], stems: frozenset[str]) -> tuple[Cell, ...] | None:
    """The cells with these stems, one of each row; none where a row has no number there or one of another dimension."""
    cells = [next((c for c in row if c.stems == stems and value_of(c) is not None), None) for row in rows]
    found = tuple(c for c in cells if c is not None)
    return found if None not in cells and len({dimension_of(c) for c in found}) == 1 else None


def dimension_of(cell: Cell) -> str:
    """The dimension of a cell's number; empty for a bare number."""
    return cell.measure.dimension if cell.measure is not None else _PLAIN


def is_comparable(dimension: str, cell: Cell, *, computed: bool) -> bool:
    """Whether a number of this dimension may be compared with one of a column.

    Bare numbers are compared with any. A sum or a difference of temperatures is none in degrees from zero.
    """
    theirs = dimension_of(cell)
    return theirs == _PLAIN or (theirs == dimension and not (computed and theirs == "temperature"))


def written(value: Decimal, cell: Cell) -> str:
    """A computed value in the unit of a cell: "6 km"."""
    unit: Quantity | None = cell.measure
    return format_sum(value) if unit is None else f"{format_sum(in_unit_of(unit, value))} {unit.unit}"
