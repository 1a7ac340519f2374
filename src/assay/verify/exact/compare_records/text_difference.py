"""Whether words of a claim mean another text than the one in a cell."""

from typing import Final

from assay.text.lexicon import SYNONYMS, lexeme, word_set
from assay.verify.exact.compare_records.matching import Match
from assay.verify.exact.compare_records.outcome import DOUBTFUL, SURE
from assay.verify.exact.records import Cell

_ENUMERATED: Final = 2
"""The most words of a state or a kind: "in production"."""

_LONGEST_TEXT: Final = 8
"""The most words that may be another value of a field; longer ranges are statements of their own."""

_MOST_ROWS_OF_COLUMN: Final = 500
"""The most rows in which a value of the same column is looked for."""

_SHORTEST_NAME: Final = 4
"""The fewest letters of a word that has to be capitalised in a name; "von" and "of" need not be."""

_PEOPLE: Final = frozenset(
    lexeme(word).stem
    for word in word_set(
        """by director directed producer produced writer written author artist composer actor starring parent parents
        spouse spouses child children owner founder founded ceo captain coach manager passenger driver winner incumbent
        editor edited designer chairman president player leader name mayor father mother"""
    )
)
"""Stems of the names of fields whose values are people or firms, which are known by one name."""


def overlaps(match: Match, cell: Cell, first: int, last: int) -> bool:
    """Whether words of the claim share a word with a cell or include a synonym of one of its words."""
    joined = "".join(match.folds[first:last])
    if joined in "".join(cell.words) or "".join(cell.words) in joined:
        return True
    words = {w.fold for w in match.statement.lexemes[first:last] if w.weight or w.digit}
    stems = {lexeme(w).stem for w in cell.words}
    return bool(words & set(cell.words)) or any(
        word.stem in stems or not stems.isdisjoint(SYNONYMS.get(word.stem, ()))
        for word in match.statement.lexemes[first:last]
        if word.weight
    )


def text_differs(match: Match, cell: Cell, number: int, first: int, last: int) -> float:
    """The confidence that the words are another value of the field; 0 where they may mean the same."""
    if cell.kind != "text":
        return 0.0
    folds = match.folds[first:last]
    if match.group.table and number < match.own_count and _in_column(match, folds, number):
        return SURE
    lexemes = match.statement.lexemes[first:last]
    code = len(folds) == 1 and _is_code(folds[0])
    if code and len(cell.words) == 1 and _is_code(cell.words[0]):
        return SURE
    ours = all(w.capital for w in lexemes if w.weight)
    theirs = all(part[:1].isupper() for part in cell.text.split() if part[:1].isalpha() and len(part) >= _SHORTEST_NAME)
    said = match.statement.text[match.statement.starts[first] : match.statement.ends[last - 1]]
    if said.isupper() and cell.text.isupper() and len(said) == len(cell.text) and len(folds) == 1:
        return SURE
    if len(folds) > _LONGEST_TEXT or any(c.isdigit() for c in cell.text):
        return 0.0
    if ours and theirs:
        return SURE if is_person(cell) else DOUBTFUL
    short = len(cell.words) <= _ENUMERATED and len(folds) <= _ENUMERATED
    return DOUBTFUL if match.group.table or cell.items or short else 0.0


def _in_column(match: Match, folds: tuple[str, ...], number: int) -> bool:
    """Whether a row of the table has the words as its value of the column."""
    group, column = match.group, match.cells[number].stems
    for record in match.records.records[group.first : min(group.last, group.first + _MOST_ROWS_OF_COLUMN)]:
        for cell in record.cells:
            if cell.stems == column and cell.words == folds:
                return True
    return False


def _is_code(word: str) -> bool:
    """Whether a word has digits and letters, such as "qx71bd"."""
    return any(c.isdigit() for c in word) and any(c.isalpha() for c in word)


def is_person(cell: Cell) -> bool:
    """Whether the value of a cell is a person or a firm, by the name of its field."""
    return not _PEOPLE.isdisjoint(cell.stems)
