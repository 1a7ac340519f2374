"""Checks statements about the rows that meet a condition: their number, sum, average or cost.

"The two orders from Lyon together amount to 208.00", "three orders have an amount above 80", "two tasks are not done",
"the average salary is 55,125", "the four chairs cost 180 in all". A condition is a value of a column, a truth value by
the name of its column, or a limit for a column of numbers. As for other statements about records, every content word
has to be explained, and a wrong value is reported with the computation. Lists that are said to continue decide nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Final

from assay.text.lexicon import lexeme, word_set
from assay.text.quantities import Quantity, find_quantities, mean, total
from assay.verify.arithmetic.figures import format_number, has_fraction
from assay.verify.exact.compare_records.outcome import SURE, Outcome
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.tables.row_words import (
    AVERAGE,
    CONTAINERS,
    FIELDS_OF_VERBS,
    PER_ONE,
    PRICES,
    QUANTITIES,
    ROWS,
    TELLING,
    TOGETHER,
    WHOLE,
    is_explained,
    stem_set,
)
from assay.verify.exact.compare_records.vocabulary import BLOCKERS, NEGATIONS
from assay.verify.exact.records import Cell, Group, Record, Records

_MOST_ROWS: Final = 500
_FEWEST_ROWS: Final = 2
_MOST_SHOWN: Final = 6
_LIMITS: Final = frozenset({"more", "less", "at_least", "at_most"})
_NAMES: Final = stem_set("name title id ids key label code sku number no nr")
"""Stems of columns that identify a row and do not say what it is."""
_COUNTED: Final = stem_set("total count number size")
_SUMMED: Final = stem_set("total sum")
_GOING_ON: Final = stem_set("more next truncated remaining cursor")
_ANSWERING: Final = word_set("is are was were be been does do did has have had")


@dataclass(slots=True)
class _Query:
    """A statement about the rows of a group, while it is being parsed."""

    statement: Statement
    group: Group
    rows: Sequence[Record]
    stems: Sequence[str]
    """The stems of the statement's words."""
    folds: list[str]
    """The statement's words, folded."""
    used: set[int] = field(default_factory=set)
    """The indices of the words that are parsed."""
    tests: list[Callable[[Record], bool]] = field(default_factory=list)

    @property
    def naming(self) -> frozenset[str]:
        """The stems of the column that names the rows."""
        return frozenset(s for cell in self.rows[0].cells if cell.naming for s in cell.stems)

    def kept(self) -> list[Record]:
        """The rows that meet all conditions."""
        return [row for row in self.rows if all(test(row) for test in self.tests)]


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of a statement with the range of its words."""

    first: int
    last: int
    quantity: Quantity

    @property
    def value(self) -> Decimal:
        """In the base unit."""
        return self.quantity.low if self.quantity.low is not None else self.quantity.value


def judge_query(statement: Statement, records: Records) -> Outcome | None:
    """The outcome of a statement about rows of a group; none for other statements and where several groups fit."""
    if not any(one.quantity.exact for one in _numbers(statement)):
        return None
    stems = [word.stem for word in statement.lexemes]
    folds = [word.fold for word in statement.lexemes]
    found = []
    for group in records.groups:
        if _FEWEST_ROWS <= group.last - group.first <= _MOST_ROWS:
            rows = records.records[group.first : group.last]
            outcome = _judge(_Query(statement, group, rows, stems, folds), records)
            if outcome is not None and not is_partial(records, group):
                found.append(outcome)
    return found[0] if len(found) == 1 else None


def is_partial(records: Records, group: Group) -> bool:
    """Whether the evidence says that a list is incomplete: a larger total number, a next page, a remaining count."""
    priced = any(cell.stems & PRICES for cell in records.records[group.first].cells)
    return any(
        says_partial(record, group.last - group.first, priced=priced)
        for other in records.groups
        if other.passage == group.passage and other is not group
        for record in records.records[other.first : other.last]
    )


def says_partial(record: Record, size: int, *, priced: bool = False) -> bool:
    """Whether a record says that its list of a given size is incomplete; `priced` if the members have prices."""
    counted = _COUNTED - _SUMMED if priced else _COUNTED  # the total of an invoice is no number of lines
    for cell in record.cells:
        number = cell.number if cell.kind == "number" and cell.stems & counted else None
        if number is not None and number > size and not cell.stems & PRICES and "." not in cell.text:
            return True
        if cell.stems & _GOING_ON and cell.kind in ("yes", "text", "number") and cell.text != "0":
            return True
    return False


def _numbers(statement: Statement) -> list[_Number]:
    """The numbers of a statement; a bare figure that may be a year is one too."""
    found = [_Number(a, b, q) for a, b, q in statement.quantities]
    for first, last, date in statement.dates:
        if last - first == 1 and date.year is not None and date.month is None and date.bound == "exact":
            found += [_Number(first, last, one) for one in find_quantities(statement.lexemes[first].fold)]
    return sorted(found, key=lambda one: one.first)


def _judge(query: _Query, records: Records) -> Outcome | None:
    priced = _judge_priced(query, records)
    if priced is not None:
        return priced
    if _is_row_named(query):
        return None
    if not _parse_conditions(query):
        return None
    numbers = [one for one in _numbers(query.statement) if not _is_used(query, one.first, one.last)]
    limits = [one for one in numbers if one.quantity.bound in _LIMITS]
    exact = [one for one in numbers if one.quantity.exact and one.quantity.bound == "exact"]
    if len(limits) > 1 or len(limits) + len(exact) != len(numbers) or not exact:
        return None
    counts, all_of = _row_counts(query, exact)
    stated = [one for one in exact if one not in (*counts, *all_of)]
    for limit in limits:
        if not _parse_limit(query, limit):
            return None
    return _decide(query, counts, all_of, stated)


def _decide(
    query: _Query, counts: Sequence[_Number], all_of: Sequence[_Number], stated: Sequence[_Number]
) -> Outcome | None:
    folds = query.folds
    together = {at for at, fold in enumerate(folds) if fold in TOGETHER or fold in AVERAGE}
    together |= {at for at, pair in enumerate(pairwise(folds)) if pair in _PHRASES}
    together |= {at + 1 for at, pair in enumerate(pairwise(folds)) if pair in _PHRASES}
    if len(counts) > 1 or len(all_of) > 1 or len(stated) > 1:
        return None
    for one in (*counts, *all_of, *stated):
        query.used.update(range(one.first, one.last))
    query.used |= together
    cells = None
    if stated:
        kept = query.kept()
        cells = _field_of(query, kept) if kept and together else None
        if cells is None:
            return None
    if not _is_explained(query):
        return None
    kept = query.kept()
    if all_of and all_of[0].value != len(query.rows):
        return _outcome(query, False, query.rows[0].cells[0], all_of[0], "record.rows", str(len(query.rows)))
    if counts and (query.tests or stated or all_of):
        one = counts[0]
        if one.value != len(kept):
            return _outcome(query, False, _shown_cell(query, kept), one, "record.rows", _rows_named(kept))
        if not stated:
            return _outcome(query, True, _shown_cell(query, kept), one, "record.rows", _rows_named(kept))
    if not stated or cells is None:
        return None
    return _judge_computed(query, cells, stated[0], average=not AVERAGE.isdisjoint(folds))


_PHRASES: Final = frozenset(
    {("in", "all"), ("add", "up"), ("adds", "up"), ("added", "up"), ("come", "to"), ("comes", "to")}
)


def _judge_computed(query: _Query, cells: Sequence[Cell], stated: _Number, *, average: bool) -> Outcome | None:
    values = [cell.number for cell in cells if cell.number is not None]
    if len(values) != len(cells) or len(values) < _FEWEST_ROWS:
        return None
    parts = " + ".join(cell.text for cell in cells[:_MOST_SHOWN]) + (" + …" if len(cells) > _MOST_SHOWN else "")
    value = mean(values) if average else total(values)
    if average:
        holds = abs(stated.quantity.value - value) <= (stated.quantity.step if has_fraction(value) else Decimal(0))
        return _outcome(
            query, holds, cells[0], stated, "record.total", f"({parts}) ÷ {len(values)} = {format_number(value)}"
        )
    return _outcome(
        query, stated.quantity.value == value, cells[0], stated, "record.total", f"{parts} = {format_number(value)}"
    )


def _is_row_named(query: _Query) -> bool:
    """Whether the statement names a row."""
    return any(_place(query, cell.words) is not None for row in query.rows for cell in row.cells if cell.naming)


def _place(query: _Query, words: Sequence[str]) -> tuple[int, int] | None:
    """The first range of a statement whose words have the stems of the given ones, so that "chairs" is "Chair"."""
    if not words:
        return None
    stems, size = query.stems, len(words)
    if lexeme(words[0]).stem not in stems:
        return None
    wanted = [lexeme(word).stem for word in words]
    return next(((at, at + size) for at in range(len(stems) - size + 1) if stems[at : at + size] == wanted), None)


def _parse_conditions(query: _Query) -> bool:
    """Parses the conditions of a statement; false where their meaning is unclear."""
    negated = [at for at, fold in enumerate(query.folds) if fold in NEGATIONS]
    if len(negated) > 1:
        return False
    found: dict[int, int] = {}
    columns = len(query.rows[0].cells)
    for column in range(columns):
        cells = [row.cells[column] for row in query.rows if len(row.cells) == columns]
        if len(cells) != len(query.rows) or cells[0].naming:
            continue
        if all(cell.kind in ("yes", "no") for cell in cells):
            if not _parse_truth(query, column, cells[0], negated):
                return False
            continue
        values = {
            cell.words for cell in cells if cell.kind == "text" and cell.words and len(cell.words) <= len(query.folds)
        }
        for words in sorted(values, key=lambda one: (-len(one), one)):
            place = _place(query, words)
            if place is None or _is_used(query, *place):
                continue
            if column in found or any(word in BLOCKERS for word in words):
                return False
            found[column] = place[0]
            query.used.update(range(*place))
            query.tests.append(lambda row, at=column, of=words: row.cells[at].words == of)  # type: ignore[misc]
    return not negated or negated[0] in query.used


def _parse_truth(query: _Query, column: int, cell: Cell, negated: Sequence[int]) -> bool:
    """Parses the condition that a truth value holds, or does not, where the statement names its column.

    False where the meaning of a negation is unclear.
    """
    stems = query.stems
    named = [at for at, one in enumerate(stems) if one in cell.needed]
    if not cell.needed or not cell.needed <= set(stems):
        return True
    holds = True
    if negated:
        between = query.folds[negated[0] + 1 : named[0]]
        if negated[0] > named[0] or any(word not in _ANSWERING for word in between):
            return False
        holds = False
        query.used.add(negated[0])
    query.used.update(named)
    query.tests.append(lambda row: (row.cells[column].kind == "yes") is holds)
    return True


def _parse_limit(query: _Query, limit: _Number) -> bool:
    """Parses the condition that a column of numbers keeps to a limit; false where the column is unclear."""
    cells = _field_of(query, query.rows)
    if cells is None:
        return False
    stems = cells[0].stems
    low, high = limit.quantity.low, limit.quantity.high
    bound = limit.quantity.bound
    edge = limit.quantity.value

    def test(row: Record) -> bool:
        number = next((cell.number for cell in row.cells if cell.stems == stems), None)
        if number is None:
            return False
        return {"more": number > edge, "less": number < edge, "at_least": number >= edge, "at_most": number <= edge}[
            bound
        ]

    if low is None and high is None:
        return False
    query.tests.append(test)
    query.used.update(range(limit.first, limit.last))
    return True


def _row_counts(query: _Query, exact: Sequence[_Number]) -> tuple[list[_Number], list[_Number]]:
    """The numbers that count rows that meet the conditions, and those that count all: "two of the four employees"."""
    counts: list[_Number] = []
    all_of: list[_Number] = []
    for one in exact:
        if one.quantity.dimension != "count" or one.value != one.value.to_integral_value():
            continue
        behind = query.folds[one.last : one.last + 1]
        before = query.folds[max(0, one.first - 2) : one.first]
        if behind and _is_row_noun(query, one.last):
            (all_of if before[-2:] == ["of", "the"] else counts).append(one)
            query.used.add(one.last)
        elif behind == ["of"] and one.last + 3 <= len(query.folds):
            counts.append(one)
    return counts, all_of


def _is_row_noun(query: _Query, at: int) -> bool:
    """Whether a word may be the noun for the rows: the title, the column that names them, or else any noun.

    Rows that are identified by a name alone may be called anything ("people", "employees") that is no column's name.
    """
    word = query.statement.lexemes[at]
    kinds = query.naming - _NAMES
    if word.stem in {s for cell in query.rows[0].cells if not cell.naming for s in cell.stems} - query.naming:
        return False
    if word.stem in kinds | query.group.title | ROWS:
        return True
    columns = {s for cell in query.rows[0].cells for s in cell.stems}
    if kinds or query.group.title or not word.weight or word.digit or word.stem in columns | TELLING:
        return False
    names = [cell.words for row in query.rows for cell in row.cells if cell.naming]
    return len(set(names)) == len(names) >= len(query.rows)


def _field_of(query: _Query, rows: Sequence[Record]) -> tuple[Cell, ...] | None:
    """The cells of the column of numbers that a statement names, or of the only one; none where that is unclear."""
    stems = set(query.stems)
    numeric = [c for c in query.rows[0].cells if c.number is not None and c.kind == "number" and not c.naming]
    named = [c for c in numeric if c.needed and c.needed <= stems]
    most = max((len(c.stems & stems) for c in named), default=0)
    best = [c for c in named if len(c.stems & stems) == most]
    if not best:
        kinds = {kind for word in query.folds for kind in FIELDS_OF_VERBS.get(word, ())}
        best = [c for c in numeric if c.stems & kinds] or (numeric if len(numeric) == 1 else [])
    if len(best) != 1:
        return None
    cells = [next((c for c in row.cells if c.stems == best[0].stems and c.number is not None), None) for row in rows]
    return tuple(c for c in cells if c is not None) if None not in cells else None


def _is_used(query: _Query, first: int, last: int) -> bool:
    return any(at in query.used for at in range(first, last))


def _is_explained(query: _Query, more: frozenset[str] = frozenset()) -> bool:
    """Whether every content word is parsed, a column's name, a title, or a word that only joins."""
    columns = {stem for cell in query.rows[0].cells for stem in cell.stems}
    return is_explained(query.statement, query.used, columns | query.group.title | more)


def _judge_priced(query: _Query, records: Records) -> Outcome | None:
    """The outcome of what a row, or all rows, cost: the sum of quantity times unit price.

    "The four chairs cost 180 in all", "the whole order comes to 616.50".
    """
    columns = list(query.rows[0].cells)
    many = [c for c in columns if c.stems & QUANTITIES and c.kind == "number" and not c.naming]
    price = [c for c in columns if c.stems & PRICES and c.kind == "number" and not c.naming]
    if len(many) != 1 or len(price) != 1 or not price[0].stems & PER_ONE:
        return None
    exact = [_Number(a, b, q) for a, b, q in query.statement.quantities if q.exact and q.bound == "exact"]
    named = [row for row in query.rows for cell in row.cells if cell.naming and _place(query, cell.words) is not None]
    if len(exact) != len(query.statement.quantities) or not exact or len(named) > 1 or not _says_total(query):
        return None
    rows = named or list(query.rows)
    subject: frozenset[str] = frozenset()
    if named:
        place = next(p for c in named[0].cells if c.naming and (p := _place(query, c.words)) is not None)
        query.used.update(range(*place))
    else:
        if query.stems and not any(word in CONTAINERS | WHOLE for word in query.stems):
            return None
        subject = CONTAINERS | WHOLE
        if _has_other_sums(query, records):
            return None
    pairs = [_priced_cells(row, many[0], price[0]) for row in rows]
    if None in pairs:
        return None
    priced = [pair for pair in pairs if pair is not None]
    *counts, stated = exact
    if len(counts) > 1 or (counts and (not named or counts[0].value != priced[0][0].number)):
        return None
    for one in exact:
        query.used.update(range(one.first, one.last))
    query.used.update(at for at, fold in enumerate(query.folds) if fold in TOGETHER)
    query.used.update(at + i for at, pair in enumerate(pairwise(query.folds)) if pair in _PHRASES for i in (0, 1))
    if not _is_explained(query, subject):
        return None
    total = sum(((a.number or Decimal(0)) * (b.number or Decimal(0)) for a, b in priced), Decimal(0))
    parts = " + ".join(f"{a.text} × {b.text}" for a, b in priced[:_MOST_SHOWN]) + (
        " + …" if len(priced) > _MOST_SHOWN else ""
    )
    return _outcome(
        query, stated.quantity.value == total, priced[0][1], stated, "record.total", f"{parts} = {format_number(total)}"
    )


def _says_total(query: _Query) -> bool:
    folds = query.folds
    summed = not TOGETHER.isdisjoint(folds) or any(pair in _PHRASES for pair in pairwise(folds))
    return summed or not WHOLE.isdisjoint(query.stems)


def _priced_cells(row: Record, many: Cell, price: Cell) -> tuple[Cell, Cell] | None:
    found = [next((c for c in row.cells if c.stems == of.stems and c.number is not None), None) for of in (many, price)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _has_other_sums(query: _Query, records: Records) -> bool:
    """Whether the evidence has amounts besides those of the rows: a fee, a tax, a stated total."""
    return any(
        cell.kind == "number" and cell.stems & PRICES | cell.stems & _COUNTED
        for group in records.groups
        if group is not query.group
        for record in records.records[group.first : group.last]
        for cell in record.cells
    )


def _shown_cell(query: _Query, kept: Sequence[Record]) -> Cell:
    return (kept or query.rows)[0].cells[0]


def _rows_named(kept: Sequence[Record]) -> str:
    """The number of rows with their names, for a message."""
    names = [next((cell.text for cell in row.cells if cell.naming and cell.text), "") for row in kept]
    listed = ", ".join(name for name in names[:_MOST_SHOWN] if name)
    more = ", …" if len(names) > _MOST_SHOWN else ""
    return f"{len(kept)}{f' ({listed}{more})' if listed else ''}"


def _outcome(query: _Query, agrees: bool, cell: Cell, number: _Number, code: str, instead: str) -> Outcome:
    wrong = () if agrees else ((number.first, number.last),)
    return Outcome(
        agrees,
        SURE,
        cell,
        query.group.passage,
        number.first,
        number.last,
        True,
        code,
        query.rows[0].group,
        wrong=wrong,
        shown_instead=instead,
    )
