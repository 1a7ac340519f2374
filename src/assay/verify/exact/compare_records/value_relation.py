"""How a number or a date of a claim relates to the value of a cell."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexicon import lexeme, word_set
from assay.text.quantities import CURRENCY_CODES, Quantity, Relation, find_quantities, relate
from assay.verify.exact.records import Cell, Record, Records
from assay.verify.exact.records.field_names import name_stems

_LISTED: Final = frozenset(lexeme(word).stem for word in word_set("entry item value name"))
"""Stems of nouns that count the members of any list."""

_MONEY: Final = frozenset(
    lexeme(word).stem
    for word in word_set("price cost fee fare amount total balance budget salary revenue paid payment")
)
"""Stems of names of fields whose numbers without a currency are sums of money."""

_CURRENCY: Final = frozenset(lexeme(word).stem for word in word_set("currency ccy"))
_ENDS: Final = frozenset(
    lexeme(word).stem for word in word_set("until till end ends ended expiry expires expiration deadline due")
)
_BEGINS: Final = frozenset(lexeme(word).stem for word in word_set("since from start starts started begin begins"))
"""Stems of the names of fields whose dates are the end or the beginning of something."""
_DEEPEST: Final = 4
"""How many records around a value are searched for its currency."""
_SCALES: Final = {"billion": 10**9, "million": 10**6, "thousand": 1000}
"""The factors of stems in the names of fields."""


class CellValues:
    """The numbers and dates of cells, each cell parsed once for a claim."""

    def __init__(self) -> None:
        self._quantities: dict[tuple[str, str], Sequence[Quantity]] = {}
        self._dates: dict[str, Sequence[DateMention]] = {}

    def quantities(self, cell: Cell) -> Sequence[Quantity]:
        """The numbers of a cell, parsed with the name of its field before the text; positions include the name."""
        key = (cell.name, cell.text)
        if key not in self._quantities:
            self._quantities[key] = find_quantities(f"{cell.name}: {cell.text}")
        return self._quantities[key]

    def dates(self, cell: Cell) -> Sequence[DateMention]:
        """The dates of a cell; a bare year is one too."""
        if cell.text not in self._dates:
            self._dates[cell.text] = find_dates(cell.text) or find_dates(f"in {cell.text}")
        return self._dates[cell.text]


def relation_of(
    value: DateMention | Quantity,
    cell: Cell,
    values: CellValues,
    *,
    alone: bool,
    record: Record | None = None,
    records: Records | None = None,
) -> bool | None:
    """Whether a cell has a number or a date of a claim; none where the two cannot be compared.

    A cell is parsed with the name of its field, which may contain its unit: "eta days: 3".

    Args:
        value: the number or date of the claim.
        cell: a cell of the record.
        values: the parsed cells.
        alone: whether the record is no row of a table, so that "two children" counts the items of a cell.
        record: the record of the cell, which may state the currency of its sums of money.
        records: all records, for those around it.
    """
    if cell.kind == "array":
        if isinstance(value, Quantity) and value.dimension == "count" and value.exact and cell.number is not None:
            return value.value == cell.number
        return None
    if cell.kind not in ("text", "number"):
        return None
    if isinstance(value, DateMention):
        if cell.number is not None and value.month is None and value.last_year is None and value.year is not None:
            return value.year == cell.number if value.bound == "exact" else None
        dates = values.dates(cell)
        found = [_relate_date(value, other, cell) for other in dates]
        relations = [one for one in found if one is not DateRelation.INCOMPARABLE]  # the time beside a day
        if DateRelation.SAME in relations:
            return True
        return False if relations and all(r is DateRelation.DIFFERENT for r in relations) else None
    quantities = values.quantities(cell)
    quantities_of_value = [q for q in quantities if q.start >= len(cell.name)]
    quantity_relations = [relate(value, other) for other in quantities_of_value]
    if Relation.SAME in quantity_relations:
        if value.bound == "range" and len(quantities_of_value) > 1:
            return None
        return (
            True
            if len(quantities_of_value) == 1
            or any(
                r is Relation.SAME and o.value == value.value and o.bound == value.bound
                for o, r in zip(quantities_of_value, quantity_relations, strict=True)
            )
            else None
        )
    plain = cell.number
    if plain is not None and record is not None and _is_in_other_currency(value, cell, record, records):
        return False
    if plain is not None and value.exact:
        if value.value in (plain, plain * _scale_of(cell)):
            return True
        money = value.dimension.startswith("money") and not _MONEY.isdisjoint(cell.stems)
        return False if value.dimension == "count" or money else None
    if cell.kind == "text" and value.dimension == "count" and value.exact:
        same = value.value == max(1, len(cell.items))
        if not _LISTED.isdisjoint(value.nouns):
            return same
        if not alone:
            return None
        if not cell.stems.isdisjoint(value.nouns):
            return same or None
    if len(quantities_of_value) == 1 and quantity_relations[0] is Relation.DIFFERENT:
        return False
    return None


def _relate_date(value: DateMention, other: DateMention, cell: Cell) -> DateRelation:
    """The relation of a date of a claim to that of a cell, which may itself be the end or the beginning of something.

    "Until 2028" contradicts a field "until" with 2027, although 2027 is before 2028. Of a field with another name it is
    not known whether its date is an end.
    """
    if value.bound not in {"until", "since"} or other.bound != "exact":
        return relate_dates(value, other)
    plain = relate_dates(replace(value, bound="exact"), other)
    if plain is not DateRelation.DIFFERENT or not (_ENDS if value.bound == "until" else _BEGINS).isdisjoint(cell.stems):
        return plain
    return DateRelation.COMPATIBLE


def _is_in_other_currency(value: Quantity, cell: Cell, record: Record, records: Records | None) -> bool:
    """Whether a sum of money has another currency than a field of its record, or of a record around it, states."""
    code = value.dimension.removeprefix("money:")
    if code == value.dimension:
        return False
    above: Record | None = record
    for _ in range(_DEEPEST):
        if above is None:
            break
        stated = {c.text.strip().upper() for c in above.cells if not _CURRENCY.isdisjoint(c.stems) and c is not cell}
        codes = {one for one in stated if one in CURRENCY_CODES}
        if codes:
            return code not in codes and code in CURRENCY_CODES
        above = records.records[above.parent] if records is not None and above.parent is not None else None
    return False


def _scale_of(cell: Cell) -> int:
    """The factor in the name of a cell's field: "viewers (millions)", not "millionaires"; 1 without one."""
    stems = frozenset(name_stems(cell.name))  # without those of the fields that contain it
    return next((scale for stem, scale in _SCALES.items() if stem in stems), 1)


def is_as_written(value: DateMention | Quantity, cell: Cell, values: CellValues) -> bool:
    """Whether a value that fits a cell is exactly the cell's, and not only within its bounds or rounded."""
    if isinstance(value, DateMention):
        return value.bound == "exact"
    if value.bound != "exact":
        return False
    if cell.number is not None:
        return value.value in (cell.number, cell.number * _scale_of(cell))
    others = [q for q in values.quantities(cell) if q.dimension == value.dimension]
    return not others or any(value.low == other.low for other in others)


def states_one_value(value: DateMention | Quantity) -> bool:
    """Whether a value is exact, so that only the field it is meant for is likely to have it."""
    return value.exact if isinstance(value, Quantity) else value.day is not None or value.bound == "exact"
