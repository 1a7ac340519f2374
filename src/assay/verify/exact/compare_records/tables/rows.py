"""Checks statements about the rows of a table or the items of a list: their number, the extremes, how two compare.

Parsed are a number of rows ("the table covers three regions"), an extreme ("room B is the cheapest", "the highest flow
is 1,200"), a comparison of two rows ("the lamp is cheaper than the chair") and the change of a row from one field to
another ("South fell by 7 from Q1 to Q2"). As in statements about one row, every content word has to be explained, or
nothing is decided. A wrong value is reported with the right one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final, NamedTuple

from assay.text.lexicon import lexeme, word_set
from assay.verify.exact.compare_records.outcome import SURE, Outcome
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.tables.conditions import is_partial
from assay.verify.exact.compare_records.tables.measures import (
    column,
    dimension_of,
    is_comparable,
    is_numeric,
    value_of,
    written,
)
from assay.verify.exact.compare_records.tables.row_words import (
    FIELDS_OF_VERBS,
    LENGTHS,
    PRICES,
    ROWS,
    TOGETHER,
    is_explained,
)
from assay.verify.exact.compare_records.vocabulary import NEGATIONS
from assay.verify.exact.records import Cell, Group, Record, Records

_MOST_ROWS: Final = 500
_FEWEST_ROWS: Final = 2
_ANY_FIELD: Final[frozenset[str]] = frozenset()
_DEGREES: Final = {
    "high": _ANY_FIELD,
    "low": _ANY_FIELD,
    "large": _ANY_FIELD,
    "small": _ANY_FIELD,
    "great": _ANY_FIELD,
    "big": _ANY_FIELD,
    "more": _ANY_FIELD,
    "less": _ANY_FIELD,
    "few": _ANY_FIELD,
    "cheap": PRICES,
    "dear": PRICES,
    "long": LENGTHS,
    "short": LENGTHS,
}
"""Words of degree, each with the fields that it implies; `_ANY_FIELD` where the statement has to name the field."""
_DOWNWARD: Final = frozenset({"low", "small", "less", "few", "cheap", "short"})
_FORMS: Final = {
    "highest": "high",
    "higher": "high",
    "lowest": "low",
    "lower": "low",
    "largest": "large",
    "larger": "large",
    "smallest": "small",
    "smaller": "small",
    "greatest": "great",
    "greater": "great",
    "biggest": "big",
    "bigger": "big",
    "most": "more",
    "more": "more",
    "least": "less",
    "less": "less",
    "fewest": "few",
    "fewer": "few",
    "cheapest": "cheap",
    "cheaper": "cheap",
    "dearest": "dear",
    "dearer": "dear",
    "longest": "long",
    "longer": "long",
    "shortest": "short",
    "shorter": "short",
}
_SUPERLATIVES: Final = word_set(
    "highest lowest largest smallest greatest biggest most least fewest cheapest dearest longest shortest"
)
_RISES: Final = word_set("rose grew increased gained climbed rises grows increases gains climbs")
_FALLS: Final = word_set("fell dropped decreased declined lost sank falls drops decreases declines loses")
_MOST_SHOWN: Final = 6
"""The most values of a sum in a message."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """A group with its rows and the stems that explain words of a statement about it."""

    group: Group
    rows: tuple[Record, ...]
    explained: frozenset[str]

    def field(self, stems: frozenset[str]) -> tuple[Cell, ...] | None:
        """The cells of the numeric field with these stems, one of each row; none where a row has none."""
        for cell in self.rows[0].cells:
            if cell.stems == stems:
                return column([row.cells for row in self.rows], stems)
        return None


class _Stated(NamedTuple):
    """A number of a statement with the range of its words."""

    first: int
    last: int
    value: Decimal
    """In the base unit."""
    dimension: str


class _Named(NamedTuple):
    """A row that a statement names, with the range of the words that name it."""

    row: int
    first: int
    last: int
    cell: Cell


def judge_rows(statement: Statement, records: Records) -> Outcome | None:
    """The outcome of a statement about the rows of a group; none for other statements and where several groups fit."""
    folds = [word.fold for word in statement.lexemes]
    if not NEGATIONS.isdisjoint(folds):
        return None
    found = [
        outcome
        for rows in _groups(records)
        if (outcome := _judge(statement, folds, rows)) is not None and not is_partial(records, rows.group)
    ]
    return found[0] if len(found) == 1 else None


def _groups(records: Records) -> Iterator[_Rows]:
    for group in records.groups:
        size = group.last - group.first
        if not _FEWEST_ROWS <= size <= _MOST_ROWS:
            continue
        rows = records.records[group.first : group.last]
        names = {
            s
            for one in records.groups
            if one.passage == group.passage
            for cell in records.records[one.first].cells
            for s in cell.stems
        }
        yield _Rows(group, tuple(rows), frozenset(names | group.title))


def _judge(statement: Statement, folds: Sequence[str], rows: _Rows) -> Outcome | None:
    named = _named_rows(statement, rows)
    naming = {at for one in named for at in range(one.first, one.last)}
    given = [(a, b, q) for a, b, q in statement.quantities if not naming.issuperset(range(a, b))]
    plain = [(a, b, q) for a, b, q in given if q.exact and q.bound == "exact"]
    numbers = [_Stated(a, b, q.low if q.low is not None else q.value, q.dimension) for a, b, q in plain]
    if len(numbers) != len(given) or len(numbers) > 1:
        return None
    degree = next((at for at, fold in enumerate(folds) if fold in _FORMS), None)
    change = next((at for at, fold in enumerate(folds) if fold in _RISES | _FALLS), None)
    used = {at for one in named for at in range(one.first, one.last)}
    used |= {at for one in numbers for at in range(one.first, one.last)}
    if degree is not None:
        used.add(degree)
        if _degree_of(folds, degree) != _FORMS[folds[degree]]:
            used.add(degree + 1)
        if not is_explained(statement, used, rows.explained):
            return None
        if folds[degree] in _SUPERLATIVES:
            return _judge_extreme(statement, folds, rows, named, numbers, degree)
        return _judge_compared(statement, folds, rows, named, numbers, degree)
    if change is not None:
        return (
            _judge_changed(statement, folds, rows, named, numbers, change)
            if is_explained(statement, used | {change}, rows.explained)
            else None
        )
    if _is_total(folds):
        return _judge_summed(statement, rows, named, numbers, used)
    return _judge_counted(statement, rows, named, numbers, used)


def _is_total(folds: Sequence[str]) -> bool:
    """Whether a statement is about all rows together."""
    return not TOGETHER.isdisjoint(folds) or any(pair == ("in", "all") for pair in pairwise(folds))


def _judge_summed(
    statement: Statement,
    rows: _Rows,
    named: Sequence[_Named],
    numbers: Sequence[_Stated],
    used: set[int],
) -> Outcome | None:
    """The outcome of "in total, 361 units were sold in Q1": a field summed over all rows, none of which is a total."""
    if named or len(numbers) != 1:
        return None
    first, last, number, dimension = numbers[0]
    noun = {last} if last < len(statement) else set()
    stems = {word.stem for word in statement.lexemes}
    summing = {at for at, word in enumerate(statement.lexemes) if word.fold in TOGETHER}
    cells = _field_of(statement, rows, frozenset())
    if cells is None or not cells[0].needed <= stems or not is_comparable(dimension, cells[0], computed=True):
        return None
    if not is_explained(statement, used | noun | summing, rows.explained):
        return None
    if any(not TOGETHER.isdisjoint(cell.words) for row in rows.rows for cell in row.cells if cell.naming):
        return None
    value = sum(_values(cells), Decimal(0))
    working = f"{' + '.join(cell.text for cell in cells[:_MOST_SHOWN])} = {written(value, cells[0])}"
    instead = working if len(cells) <= _MOST_SHOWN else written(value, cells[0])
    return _outcome(rows, number == value, cells[0], first, last, "record.total", instead)


def _values(cells: Sequence[Cell]) -> list[Decimal]:
    """The numbers of the cells of a column, in the base unit."""
    return [value for cell in cells if (value := value_of(cell)) is not None]


def _named_rows(statement: Statement, rows: _Rows) -> list[_Named]:
    """The rows that a statement names, in the order of the statement, each by its first name."""
    stems = [word.stem for word in statement.lexemes]
    found: dict[int, _Named] = {}
    for number, row in enumerate(rows.rows):
        for cell in row.cells:
            size = len(cell.words)
            if not cell.naming or not size or number in found:
                continue
            words = [lexeme(word).stem for word in cell.words]
            at = next((i for i in range(len(stems) - size + 1) if stems[i : i + size] == words), None)
            if at is not None:
                found[number] = _Named(number, at, at + size, cell)
    return sorted(found.values(), key=lambda one: one.first)


def _field_of(statement: Statement, rows: _Rows, kinds: frozenset[str]) -> tuple[Cell, ...] | None:
    """The cells of the field that a statement names, or of the one that its word of degree implies."""
    stems = {word.stem for word in statement.lexemes}
    numeric = [c for c in rows.rows[0].cells if is_numeric(c) and not c.naming]
    named = [c for c in numeric if c.needed and c.needed <= stems]
    most = max((len(c.stems & stems) for c in named), default=0)
    best = [c for c in named if len(c.stems & stems) == most] or [c for c in numeric if c.stems & kinds]
    if not best and not kinds:
        implied = {kind for word in statement.lexemes for kind in FIELDS_OF_VERBS.get(word.fold, ())}
        best = [c for c in numeric if c.stems & implied] or (numeric if len(numeric) == 1 else [])
    return rows.field(best[0].stems) if len(best) == 1 else None


def _degree_of(folds: Sequence[str], degree: int) -> str:
    """The word of degree at an index, together with an adjective behind it: "most expensive"."""
    word = _FORMS[folds[degree]]
    if word in {"more", "less"} and folds[degree + 1 : degree + 2] == ["expensive"]:
        return "dear" if word == "more" else "cheap"
    return word


def _judge_extreme(
    statement: Statement,
    folds: Sequence[str],
    rows: _Rows,
    named: Sequence[_Named],
    numbers: Sequence[_Stated],
    degree: int,
) -> Outcome | None:
    """The outcome of "room B is the cheapest", "the highest flow is 1,200", "East has the highest Q2 with 150"."""
    word = _degree_of(folds, degree)
    cells = _field_of(statement, rows, _DEGREES[word])
    if cells is None or len(named) > 1 or not (named or numbers):
        return None
    if numbers and not is_comparable(numbers[0].dimension, cells[0], computed=False):
        return None
    values = _values(cells)
    best = min(values) if word in _DOWNWARD else max(values)
    where = values.index(best)
    title = _title(rows.rows[where])
    instead = f"{cells[where].text}{f' ({title})' if title else ''}"
    if named and values[named[0].row] != best:
        return _outcome(rows, False, cells[where], named[0].first, named[0].last, "record.extreme", instead)
    if numbers and numbers[0].value != best:
        return _outcome(rows, False, cells[where], *numbers[0][:2], "record.extreme", instead)
    first, last = (named[0].first, named[0].last) if named else numbers[0][:2]
    return _outcome(rows, True, cells[where], first, last, "record.extreme", instead)


def _judge_compared(
    statement: Statement,
    folds: Sequence[str],
    rows: _Rows,
    named: Sequence[_Named],
    numbers: Sequence[_Stated],
    degree: int,
) -> Outcome | None:
    """The outcome of "the lamp is cheaper than the chair", "East has 45 more than South in Q1"."""
    if len(named) != len((0, 1)) or folds.count("than") != 1 or named[1].first < folds.index("than") < degree:
        return None
    if not named[0].last <= degree < folds.index("than") < named[1].first + 1:
        return None
    word = _degree_of(folds, degree)
    cells = _field_of(statement, rows, _DEGREES[word])
    if cells is None:
        return None
    if numbers and not is_comparable(numbers[0].dimension, cells[0], computed=True):
        return None
    one, other = (value_of(cells[n.row]) or Decimal(0) for n in named)
    apart = other - one if word in _DOWNWARD else one - other
    texts = " and ".join(cells[n.row].text for n in named)
    if apart <= 0:
        return _outcome(rows, False, cells[named[0].row], degree, degree + 1, "record.compared", texts)
    if numbers and numbers[0].value != apart:
        working = f"{written(apart, cells[0])} ({texts})"
        return _outcome(rows, False, cells[named[0].row], *numbers[0][:2], "record.compared", working)
    return _outcome(rows, True, cells[named[0].row], degree, degree + 1, "record.compared", texts)


def _judge_changed(
    statement: Statement,
    folds: Sequence[str],
    rows: _Rows,
    named: Sequence[_Named],
    numbers: Sequence[_Stated],
    change: int,
) -> Outcome | None:
    """The outcome of "South fell by 7 from Q1 to Q2": one row, two numeric fields in the order of the words."""
    if len(named) != 1:
        return None
    numeric = [c for c in rows.rows[named[0].row].cells if is_numeric(c) and not c.naming]
    places = {at: c for c in numeric for at, w in enumerate(statement.lexemes) if c.needed == {w.stem}}
    ordered = [places[at] for at in sorted(places)]
    if len(ordered) != len(("from", "to")) or "from" not in folds or "to" not in folds:
        return None
    if dimension_of(ordered[0]) != dimension_of(ordered[1]):
        return None
    if numbers and not is_comparable(numbers[0].dimension, ordered[0], computed=True):
        return None
    before, after = (value_of(cell) or Decimal(0) for cell in ordered)
    apart = after - before if folds[change] in _RISES else before - after
    working = f"{ordered[0].text} and {ordered[1].text}"
    if apart <= 0:
        return _outcome(rows, False, ordered[1], change, change + 1, "record.change", working)
    if numbers and numbers[0].value != apart:
        instead = f"{written(apart, ordered[0])} ({working})"
        return _outcome(rows, False, ordered[1], *numbers[0][:2], "record.change", instead)
    return _outcome(rows, True, ordered[1], change, change + 1, "record.change", working)


def _judge_counted(
    statement: Statement,
    rows: _Rows,
    named: Sequence[_Named],
    numbers: Sequence[_Stated],
    used: set[int],
) -> Outcome | None:
    """The outcome of "the table covers three regions": a number of rows, and nothing about any single one."""
    if named or len(numbers) != 1 or not is_explained(statement, used, rows.explained):
        return None
    first, last, number, _ = numbers[0]
    naming = {s for cell in rows.rows[0].cells if cell.naming for s in cell.stems}
    kind = naming | rows.group.title | ROWS
    if kind.isdisjoint(word.stem for word in statement.lexemes[last - 1 : last + 1]):
        return None
    fields = {s for cell in rows.rows[0].cells if not cell.naming for s in cell.stems}
    if any(word.stem in fields - rows.group.title - naming for word in statement.lexemes):
        return None
    size = len(rows.rows)
    return _outcome(rows, number == size, rows.rows[0].cells[0], first, last, "record.rows", str(size))


def _title(row: Record) -> str:
    return next((cell.text for cell in row.cells if cell.naming and cell.words), "")


def _outcome(rows: _Rows, agrees: bool, cell: Cell, first: int, last: int, code: str, instead: str) -> Outcome:
    wrong = () if agrees else ((first, last),)
    return Outcome(
        agrees,
        SURE,
        cell,
        rows.group.passage,
        first,
        last,
        True,
        code,
        rows.rows[0].group,
        wrong=wrong,
        shown_instead=instead,
    )
