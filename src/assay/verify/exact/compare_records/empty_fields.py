"""Checks a statement that something exists, or does not, against empty fields and empty lists of records.

"There are no errors" beside `"errors": []`, "no next visit has been scheduled" beside `"next_visit": null`. Only where
the statement says nothing else: every other word names the record or says that something exists.
"""

from typing import Final

from assay.text.lexicon import word_set
from assay.verify.exact.compare_records.outcome import SURE, Outcome
from assay.verify.exact.compare_records.statement import Statement
from assay.verify.exact.compare_records.tables.row_words import LINKING, TELLING, stem_set
from assay.verify.exact.compare_records.vocabulary import BLOCKERS, FRAME, NEGATIONS
from assay.verify.exact.records import Cell, Records

_DENYING: Final = NEGATIONS | word_set("without nobody nothing")
_BEING_THERE: Final = stem_set(
    """set given known recorded listed reported scheduled found assigned attached available provided exist exists made
    planned named entered noted stored"""
)
"""Stems of words that say of something only that it exists."""
_SOME: Final = word_set("any some several a an been far so yet currently")
_LONGEST: Final = 14


def judge_absence(statement: Statement, records: Records) -> Outcome | None:
    """The outcome by empty fields; none where the statement says anything else or several fields are meant."""
    if len(statement) > _LONGEST or statement.quantities or statement.dates:
        return None
    denying = [at for at, word in enumerate(statement.lexemes) if word.fold in _DENYING]
    if len(denying) > 1:
        return None
    found = [
        (group.passage, record.group, cell, at)
        for group in records.groups
        if group.last - group.first == 1
        for record in records.records[group.first : group.last]
        for cell in record.cells
        if _is_empty(cell)
        and (at := _name_place(statement, cell)) is not None
        and _says_no_more(
            statement, cell, frozenset(s for c in record.cells if c.naming for s in c.stems) | group.title
        )
    ]
    if len(found) != 1 or _has_some(statement, records):
        return None
    passage, group_number, cell, at = found[0]
    denied = bool(denying)
    wrong = () if denied else ((at, at + 1),)
    return Outcome(denied, SURE, cell, passage, at, at + 1, True, "record.mismatch", group_number, wrong=wrong)


def _has_some(statement: Statement, records: Records) -> bool:
    """Whether another field with the name that the statement gives is not empty."""
    stems = {word.stem for word in statement.lexemes}
    return any(
        cell.needed and cell.needed <= stems and not _is_empty(cell) and not cell.naming
        for record in records.records
        for cell in record.cells
    )


def _is_empty(cell: Cell) -> bool:
    return cell.kind == "none" or (cell.kind == "array" and cell.number == 0)


def _name_place(statement: Statement, cell: Cell) -> int | None:
    """The index of the last word that names a field; none where its name is not complete in the statement."""
    stems = [word.stem for word in statement.lexemes]
    if not cell.needed or not cell.needed <= set(stems):
        return None
    return max(at for at, one in enumerate(stems) if one in cell.needed)


def _says_no_more(statement: Statement, cell: Cell, named: frozenset[str]) -> bool:
    """Whether every content word names the field or the record, or says that something exists or does not."""
    known = cell.stems | named | _BEING_THERE | TELLING | FRAME
    return all(
        word.stem in known
        or word.fold in _DENYING | _SOME | LINKING
        or not (word.fold in BLOCKERS or word.weight or word.digit)
        for word in statement.lexemes
    )
