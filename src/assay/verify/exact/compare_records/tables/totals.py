"""Checks a statement of the sum of a field over several named rows of a table."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from assay.text.lexicon import word_set
from assay.verify.exact.compare_records.outcome import SURE, Outcome
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.tables.measures import column, is_comparable, is_numeric, value_of, written
from assay.verify.exact.compare_records.vocabulary import BLOCKERS, FRAME, PLAIN_NEGATIONS, negating_words
from assay.verify.exact.records import Cell, Group, Records

_TOGETHER: Final = word_set("together combined altogether total totals sum sums totalling")
"""Words for a sum of values."""

_MOST_ROWS: Final = 500
_FEWEST_SUMMED: Final = 2


def judge_total(statement: Statement, records: Records) -> Outcome | None:
    """The outcome of a statement such as "P-1 and P-2 together have a flow of 2150"; none for other statements.

    The rows are those that the statement names, at least two. Every other content word has to be explained, as in
    statements about one row.
    """
    folds = tuple(word.fold for word in statement.lexemes)
    if _TOGETHER.isdisjoint(folds):
        return None
    found = [_judge_group(statement, folds, group, records) for group in records.groups if group.table]
    said = [outcome for outcome in found if outcome is not None]
    return said[0] if len(said) == 1 else None


def _judge_group(statement: Statement, folds: tuple[str, ...], group: Group, records: Records) -> Outcome | None:
    rows = records.records[group.first : min(group.last, group.first + _MOST_ROWS)]
    used = [False] * len(folds)
    summed: list[tuple[Cell, ...]] = []
    names = [(cell, row.cells) for row in rows for cell in row.cells if cell.naming and cell.words]
    for cell, cells in sorted(names, key=lambda pair: -len(pair[0].words)):
        place = _place_of(cell, statement, folds, used)
        if place is not None:
            used[place[0] : place[1]] = [True] * (place[1] - place[0])
            if cells not in summed:
                summed.append(cells)
    field = _field_of(statement, summed, used)
    if len(summed) < _FEWEST_SUMMED or field is None:
        return None
    explained = {stem for cell in field for stem in cell.stems} | group.title
    named = [used[at] or word.stem in explained for at, word in enumerate(statement.lexemes)]
    numbers = [one for one in _numbers(statement) if not any(named[one[0] : one[1]])]
    negated = [at for at, fold in enumerate(folds) if fold in PLAIN_NEGATIONS]
    if len(numbers) != 1 or len(negated) > 1:
        return None
    first, last, low, high, dimension = numbers[0]
    if not is_comparable(dimension, field[0], computed=True):
        return None
    for at, word in enumerate(statement.lexemes):
        known = named[at] or first <= at < last or word.fold in _TOGETHER or at in negated
        if not known and (word.fold in BLOCKERS or ((word.weight or word.digit) and word.stem not in FRAME)):
            return None
    total = sum((value for cell in field if (value := value_of(cell)) is not None), Decimal(0))
    holds = (low is None or low <= total) and (high is None or total <= high)
    agrees = holds is not bool(negated)
    at = negated[0] if negated else first
    wrong = () if agrees else (negating_words(folds, at),) if negated else ((first, last),)
    return Outcome(
        agrees,
        SURE,
        field[0],
        group.passage,
        min(at, first),
        last,
        True,
        "record.total",
        records.records[group.first].group,
        wrong=wrong,
        shown_instead=written(total, field[0]),
    )


def _numbers(statement: Statement) -> list[tuple[int, int, Decimal | None, Decimal | None, str]]:
    """The range of words of each number, its bounds and its dimension; a bare figure that may be a year is one too."""
    found = [(first, last, one.low, one.high, one.dimension) for first, last, one in statement.quantities]
    for first, last, date in statement.dates:
        if last - first == 1 and date.year is not None and date.month is None and date.bound == "exact":
            found.append((first, last, Decimal(date.year), Decimal(date.year), "count"))
    return found


def _place_of(cell: Cell, statement: Statement, folds: tuple[str, ...], used: Sequence[bool]) -> tuple[int, int] | None:
    """The range at which a statement names a row; a figure names one only behind the name of its field: "week 8"."""
    words = cell.words
    for at in range(len(folds) - len(words) + 1):
        if folds[at : at + len(words)] != words or any(used[at : at + len(words)]) or _TOGETHER.issuperset(words):
            continue
        if not words[0][0].isdigit():
            return at, at + len(words)
        if at and statement.lexemes[at - 1].stem in cell.stems:
            return at - 1, at + len(words)
    return None


def _field_of(
    statement: Statement, summed: Sequence[tuple[Cell, ...]], used: Sequence[bool]
) -> tuple[Cell, ...] | None:
    """The cells of the one numeric field that the statement names, one of each row; none where that is unclear."""
    if not summed:
        return None
    left = [word for at, word in enumerate(statement.lexemes) if not used[at]]
    stems = {word.stem for word in left}
    plain = {word.stem for word in left if word.fold not in _TOGETHER}
    named = [c for c in summed[0] if is_numeric(c) and c.needed and c.needed <= stems]
    named = [cell for cell in named if cell.needed & plain] or named
    most = max((len(cell.stems & stems) for cell in named), default=0)
    best = [cell for cell in named if len(cell.stems & stems) == most]
    if len(best) != 1:
        return None
    return column(summed, best[0].stems)
