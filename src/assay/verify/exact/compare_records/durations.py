"""Checks a statement of how long something takes against a record that has its beginning and its end.

"The late shift lasts eight and a half hours" beside `{"shift": "late", "start": "14:15", "end": "22:45"}`. Times of day
may pass midnight; days count with the last one or without it.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from assay.text.dates import find_dates
from assay.text.lexicon import lexeme, word_set
from assay.verify.arithmetic.derivations import format_minutes, is_close, lengths_between
from assay.verify.exact.compare_records.outcome import SURE, Outcome
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.tables.row_words import LINKING, stem_set
from assay.verify.exact.compare_records.vocabulary import BLOCKERS, FRAME, NEGATIONS
from assay.verify.exact.records import Cell, Group, Record, Records

_LASTING: Final = word_set("last lasts lasted lasting take takes took long run runs ran duration")
_PAIRS: Final = tuple(
    (stem_set(first), stem_set(last))
    for first, last in (
        ("start starts begin begins started", "end ends finish ended stop"),
        ("departure departs depart leaves", "arrival arrives arrive"),
        ("from", "to until till"),
        ("open opens opening opened", "close closes closing closed"),
        ("in", "out"),
    )
)
"""Words of the names of two fields that hold the beginning and the end of one thing."""
_MOST_RECORDS: Final = 200
_DAY_MINUTES: Final = 1_440


def judge_span(statement: Statement, records: Records) -> Outcome | None:
    """The outcome of a statement of a duration; none for other statements or where several records fit."""
    folds = {word.fold for word in statement.lexemes}
    given = [(a, b, q) for a, b, q in statement.quantities if not q.weak]
    if folds.isdisjoint(_LASTING) or not folds.isdisjoint(NEGATIONS) or len(given) != 1:
        return None
    first, last, quantity = given[0]
    if quantity.dimension != "time" or not quantity.exact or quantity.bound != "exact":
        return None
    found = []
    for group in records.groups:
        for record in records.records[group.first : min(group.last, group.first + _MOST_RECORDS)]:
            ends = _ends_of(record)
            if ends is not None and _is_explained(statement, record, ends, group, range(first, last)):
                found.append((group, record, ends))
    if len(found) != 1:
        return None
    group, record, (begin, end) = found[0]
    length = _length_between(begin.text, end.text)
    if length is None:
        return None
    seconds, working = length
    exact = replace(quantity, step=Decimal(0))
    holds = any(is_close(exact, Decimal(one)) for one in seconds)
    wrong = () if holds else ((first, last),)
    return Outcome(
        holds,
        SURE,
        begin,
        group.passage,
        first,
        last,
        True,
        "record.span",
        record.group,
        wrong=wrong,
        shown_instead=working,
    )


def _ends_of(record: Record) -> tuple[Cell, Cell] | None:
    """The two fields of a record that hold a beginning and an end; none where it has several such pairs."""
    pairs = [
        (one, other)
        for begins, ends in _PAIRS
        for one in record.cells
        for other in record.cells
        if one.stems & begins and other.stems & ends and one.stems - begins == other.stems - ends
    ]
    return pairs[0] if len(pairs) == 1 else None


def _length_between(begin: str, end: str) -> tuple[frozenset[int], str] | None:
    """The seconds between two times, two days, or two days with their times, and the working."""
    first, last = find_dates(begin), find_dates(end)
    days = [next((one for one in dates if one.day is not None), None) for dates in (first, last)]
    clocks = [next((one for one in dates if one.minute is not None), None) for dates in (first, last)]
    if days[0] is not None and days[1] is not None:
        if clocks[0] is None or clocks[1] is None:
            return lengths_between(days[0], days[1])
        same = (days[0].year, days[0].month, days[0].day) == (days[1].year, days[1].month, days[1].day)
        whole = None if same else lengths_between(days[0], days[1])
        minutes_between_days = 0 if same else min(whole[0]) // 60 if whole is not None else None
        if minutes_between_days is None:
            return None
        minutes = minutes_between_days + (clocks[1].minute or 0) - (clocks[0].minute or 0)
        return (frozenset({minutes * 60}), f"{begin} to {end}: {format_minutes(minutes)}") if minutes > 0 else None
    if clocks[0] is not None and clocks[1] is not None:
        return lengths_between(clocks[0], clocks[1])
    return None


def _is_explained(
    statement: Statement, record: Record, ends: Sequence[Cell], group: Group, number: Sequence[int]
) -> bool:
    """Whether every word of content is a value or a field's name of the record, its title, or says how long."""
    known = {lexeme(word).stem for cell in record.cells for word in cell.words}
    known |= {s for cell in (*ends, *(c for c in record.cells if c.naming)) for s in cell.stems}
    named = {lexeme(word).stem for cell in record.cells if cell.naming for word in cell.words} | group.title
    stems = {word.stem for word in statement.lexemes}
    if group.table and not (named & stems):
        return False
    for at, word in enumerate(statement.lexemes):
        if at in number or word.fold in _LASTING or word.fold in LINKING or word.stem in known | group.title:
            continue
        if word.fold in BLOCKERS or ((word.weight or word.digit) and word.stem not in FRAME):
            return False
    return True
