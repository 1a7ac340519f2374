"""How a number or a date of a claim relates to the value of a cell."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from assay.text.dates import DateMention, DateRelation, find_dates, relate_dates
from assay.text.lexicon import lexeme, word_set
from assay.text.quantities import CURRENCY_CODES, Quantity, Relation, find_quantities, relate
from assay.verify.arithmetic.figures import is_minor
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


_WITHOUT_UNIT: Final = frozenset({"count", "ordinal", "share", "points", "factor", "angle"})
"""Dimensions of numbers that may stand for a number in another unit: "5 degrees" are 5 °C."""


class CellValues:
    """The numbers and dates of cells, each cell parsed once for a claim."""

    def __init__(self) -> None:
        self._quantities: dict[tuple[str, str], Sequence[Quantity]] = {}
        self._dates: dict[str, Sequence[DateMention]] = {}

    def quantities(self, cell: Cell) -> Sequence[Quantity]:
        """The numbers of a cell, parsed with the name of its field before the text; positions include the name."""
        key = (cell.name, cell.text)
        if key not in self._quantities:
            # A name in lower case is a key, whose parts `split_name` has set apart: "timeout_s".
            name = cell.name.replace(" ", "_") if cell.name[:1].islower() else cell.name
            self._quantities[key] = find_quantities(f"{name}: {cell.text}")
        return self._quantities[key]

    def measured(self, cell: Cell) -> Quantity | None:
        """The number of a cell of figures alone in the unit that the name of its field states; none where it has none.

        >>> from decimal import Decimal
        >>> from assay.verify.exact.records.model import Cell
        >>> cell = Cell("timeout s", frozenset(), frozenset(), "90", 0, 2, "number", ("90",), (), Decimal(90), False)
        >>> CellValues().measured(cell).unit
        's'
        """
        if cell.kind != "number":
            return None
        found = [q for q in self.quantities(cell) if q.start >= len(cell.name)]
        return found[0] if len(found) == 1 and found[0].exact and found[0].dimension not in _WITHOUT_UNIT else None

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
        return _date_relation(value, cell, values)
    quantities_of_value = [q for q in values.quantities(cell) if q.start >= len(cell.name)]
    measured = values.measured(cell)
    if measured is not None and is_minor(measured):
        measured = _in_currency_of(value, measured, cell, record, records)
        quantities_of_value = [measured]
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
    if measured is not None and (agreeing := _agrees_in_unit(value, measured)) is not None:
        return agreeing
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


def _date_relation(value: DateMention, cell: Cell, values: CellValues) -> bool | None:
    """Whether a cell has a date of a claim; none where the two cannot be compared."""
    if cell.number is not None and value.month is None and value.last_year is None and value.year is not None:
        return value.year == cell.number if value.bound == "exact" else None
    dates = values.dates(cell)
    found = [_relate_date(value, other, cell) for other in dates]
    relations = [one for one in found if one is not DateRelation.INCOMPARABLE]  # the time beside a day
    if DateRelation.SAME in relations:
        return True
    return False if relations and all(r is DateRelation.DIFFERENT for r in relations) else None


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
    codes = _currencies(cell, record, records) if code != value.dimension else frozenset()
    return bool(codes) and code not in codes and code in CURRENCY_CODES


def _currencies(cell: Cell, record: Record | None, records: Records | None) -> frozenset[str]:
    """The currencies that a field of a cell's record, or else of the nearest record around it, states."""
    above = record
    for _ in range(_DEEPEST):
        if above is None:
            break
        stated = {c.text.strip().upper() for c in above.cells if not _CURRENCY.isdisjoint(c.stems) and c is not cell}
        codes = frozenset(one for one in stated if one in CURRENCY_CODES)
        if codes:
            return codes
        above = records.records[above.parent] if records is not None and above.parent is not None else None
    return frozenset()


def _in_currency_of(
    value: Quantity, minor: Quantity, cell: Cell, record: Record | None, records: Records | None
) -> Quantity:
    """A number of cents in the currency that its record states, else in the claim's: many currencies have cents."""
    codes = _currencies(cell, record, records)
    code = value.dimension.removeprefix("money:").split("/")[0]
    if code == value.dimension or (codes and code not in codes):
        code = min(codes, default=minor.unit)
    return replace(minor, dimension=f"money:{code}", unit=code)


def _agrees_in_unit(value: Quantity, measured: Quantity) -> bool | None:
    """Whether a value equals a measured number in its unit; none where a unit is missing or of another kind."""
    if is_minor(measured) and value.exact and value.bound == "exact":
        if value.dimension == measured.dimension:
            return value.low == measured.low
        signed = value.start < value.number_start and value.dimension.startswith(f"{measured.dimension}/")
        if value.dimension == "count" or signed:
            return value.value == measured.low  # "$12.99 per month" beside 1299 cents
    if value.dimension in _WITHOUT_UNIT or not value.exact or value.dimension != measured.dimension:
        return None
    relation = relate(value, measured)
    return relation is Relation.SAME if relation in (Relation.SAME, Relation.DIFFERENT) else None


def differs_in_unit(value: Quantity, cell: Cell, values: CellValues) -> bool:
    """Whether the digits of a value and of a cell stand for different amounts, since their units differ."""
    measured = values.measured(cell)
    if measured is not None and is_minor(measured) and value.dimension.startswith("money:"):
        measured = _in_currency_of(value, measured, cell, None, None)
    return measured is not None and _agrees_in_unit(value, measured) is False


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
    measured = values.measured(cell)
    if measured is not None and value.dimension not in _WITHOUT_UNIT and value.low == measured.low:
        return True
    if cell.number is not None:
        return value.value in (cell.number, cell.number * _scale_of(cell))
    others = [q for q in values.quantities(cell) if q.dimension == value.dimension]
    return not others or any(value.low == other.low for other in others)


def states_one_value(value: DateMention | Quantity) -> bool:
    """Whether a value is exact, so that only the field it is meant for is likely to have it."""
    return value.exact if isinstance(value, Quantity) else value.day is not None or value.bound == "exact"
