"""A claim that is itself a record: "Status: shipped", or the cells of a row under their heads ("Plan: Team; Seats: 3").

Nothing in it has to be understood as a sentence. Each label is looked up among the fields of the evidence's records,
and its value compared with theirs; a row is resolved by what names it and by the head of the column.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.text.dates import DateMention, find_dates
from assay.text.lexicon import find_words, lexeme, word_set
from assay.text.quantities import Quantity, find_quantities
from assay.verify.exact.compare_records.outcome import LIKELY, SURE
from assay.verify.exact.compare_records.value_relation import CellValues, relation_of
from assay.verify.exact.compare_records.vocabulary import NEGATIONS
from assay.verify.exact.findings import ExactFinding
from assay.verify.exact.index import ExactIndex
from assay.verify.exact.parsed_claim import Claim
from assay.verify.exact.records import Cell, Record, Records
from assay.verify.exact.records.cell_values import cell_kind
from assay.verify.exact.records.field_names import key_stems
from assay.verify.exact.records.model import Group, Kind

_MOST_PAIRS: Final = 12
"""The most labels of a claim; a text with more is not read as a record."""
_MOST_LOOKED_AT: Final = 2_000
"""The most records of a group that are compared."""
_LONGEST_LABEL: Final = 5
"""The most words of a label; anything longer is a sentence before a colon."""
_LONGEST_VALUE: Final = 12
_SHORT: Final = 4
"""Words of two texts that can be told to differ: "shipped" and "open", not two descriptions."""
_NOTHING: Final = word_set("nothing nobody empty unassigned unknown nil unset missing")
"""Words of a value that say that there is none, besides negations."""
_PAIR: Final = re.compile(r"\s*(?:[-*•]\s+)?(?P<name>[^:;\n]{1,60}?)\s*:\s+(?P<value>[^;\n]+?)\s*(?:;|\n|$)")
_MARKS: Final = " \t`\"'“”*_"


@dataclass(frozen=True, slots=True)
class _Pair:
    """A label of the claim and its value."""

    needed: frozenset[str]
    stems: frozenset[str]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """What the records say about a claim that is itself a record."""

    support: float
    cells: tuple[tuple[int, Cell], ...]
    """The cells that support it, each with the number of its passage."""
    findings: tuple[ExactFinding, ...]


_Meant = tuple[int, Record, list[tuple[_Pair, Cell, bool | None]]]
"""A passage, a record in it, and each label with its field and whether that field has the label's value."""


def judge_labelled(claim: Claim, index: ExactIndex) -> Labelled | None:
    """Compares the labels of a claim with the records; none where the claim is no record or no record is meant.

    A record is meant if the claim names it or if no other has such fields. A label whose value differs from that of the
    record's field is contradicted; a claim whose values the record has all is supported.
    """
    pairs = _pairs_of(claim.text)
    if not pairs:
        return None
    records, values = index.records, CellValues()
    meant: list[tuple[int, Record, list[tuple[_Pair, Cell, bool | None]]]] = []
    for group in records.groups:
        for number in range(group.first, min(group.last, group.first + _MOST_LOOKED_AT)):
            record = records.records[number]
            found = [one for pair in pairs for one in _look_up(pair, record, records, values)]
            if found and _is_meant(found, group, pairs):
                meant.append((group.passage, record, found))
    return _decide(claim, index, pairs, meant or _match_transposed(pairs, records, values))


def _match_transposed(pairs: Sequence[_Pair], records: Records, values: CellValues) -> list[_Meant]:
    """The cells of a table whose rows and columns are exchanged in the claim: "Quarter: Q1; North: 98".

    One value of the claim names a field, and each other label names a row.
    """
    found: list[_Meant] = []
    for group in records.groups:
        rows = records.records[group.first : min(group.last, group.first + _MOST_LOOKED_AT)]
        if not group.table or not rows:
            continue
        fields = {
            pair: cell.stems
            for pair in pairs
            for cell in rows[0].cells
            if not cell.naming and key_stems(pair.text)[1] == cell.stems
        }
        if len(fields) != 1 or len(pairs) == 1:
            continue
        ((heading, stems),) = fields.items()
        compared: list[tuple[_Pair, Cell, bool | None]] = []
        for pair in pairs:
            named = [row for row in rows if any(c.naming and _is_name(pair, c) for c in row.cells)]
            cell = next((c for c in named[0].cells if c.stems == stems), None) if len(named) == 1 else None
            if pair is not heading and cell is not None:
                compared.append((pair, cell, _has_value(pair.text, cell, named[0], records, values)))
        if compared and len(compared) == len(pairs) - 1:
            found.append((group.passage, rows[0], [(heading, compared[0][1], True), *compared]))
    return found


def _is_name(pair: _Pair, cell: Cell) -> bool:
    return bool(cell.words) and pair.stems == frozenset(lexeme(word).stem for word in cell.words)


def _pairs_of(text: str) -> list[_Pair]:
    """The labels with their values; empty where any part of the text is something else."""
    found: list[_Pair] = []
    at = 0
    while at < len(text.rstrip()):
        match = _PAIR.match(text, at)
        if match is None or len(found) == _MOST_PAIRS:
            return []
        start, end = match.span("value")
        while start < end and text[start] in _MARKS:
            start += 1
        while end > start and text[end - 1] in _MARKS + ".":
            end -= 1
        name = match["name"].strip(_MARKS)
        if not name or len(name.split()) > _LONGEST_LABEL or len(text[start:end].split()) > _LONGEST_VALUE:
            return []
        if not any(c.isalpha() for c in name) or start == end:
            return []
        found.append(_Pair(*key_stems(name), text[start:end], start, end))
        at = match.end()
    return found


def _look_up(
    pair: _Pair, record: Record, records: Records, values: CellValues
) -> Iterator[tuple[_Pair, Cell, bool | None]]:
    """The field of a record that a label names, with whether it has the label's value."""
    own = [cell for cell in record.cells if pair.needed <= cell.stems and cell.needed <= pair.stems]
    if len(own) == 1:
        yield pair, own[0], _has_value(pair.text, own[0], record, records, values)


def _is_meant(found: Sequence[tuple[_Pair, Cell, bool | None]], group: Group, pairs: Sequence[_Pair]) -> bool:
    """Whether a claim is about a record: it names it, or no other record has such fields.

    A single label is only about a record without siblings. Of several labels all but one have to be right where the
    record has siblings.
    """
    if any(cell.naming and same for _, cell, same in found):
        return True
    if any(cell.naming and same is False for _, cell, same in found):
        return False
    if group.last - group.first == 1:
        return True
    right = sum(bool(same) for _, _, same in found)
    return len(pairs) > 1 and right >= 1 and right >= len(found) - 1


def _decide(claim: Claim, index: ExactIndex, pairs: Sequence[_Pair], meant: Sequence[_Meant]) -> Labelled | None:
    agreeing = [one for one in meant if len(one[2]) == len(pairs) and all(same for _, _, same in one[2])]
    differing = [one for one in meant if any(same is False for _, _, same in one[2])]
    if agreeing and not differing:
        passage, _, found = agreeing[0]
        return Labelled(SURE, tuple((passage, cell) for _, cell, _ in found), ())
    if agreeing or not differing:
        return None
    # Several records that all say otherwise: none of them supports it, but which is meant is not known as surely.
    confidence = SURE if len(differing) == 1 else LIKELY
    passage, _, found = max(differing, key=lambda one: sum(bool(same) for _, _, same in one[2]))
    return Labelled(
        0.0, (), tuple(_finding(claim, index, passage, *one[:2], confidence) for one in found if one[2] is False)
    )


def _finding(claim: Claim, index: ExactIndex, passage: int, pair: _Pair, cell: Cell, confidence: float) -> ExactFinding:
    span = index.passage_span(passage, cell.start, cell.end, "contradicts", confidence)
    shown = "empty" if cell.kind == "none" else f'"{cell.text[:80]}"'
    message = f'The claim says "{claim.text[pair.start : pair.end]}", but the record\'s "{cell.name}" is {shown}.'
    return ExactFinding("record.mismatch", message, pair.start, pair.end, span, "contradicts", confidence)


def _has_value(text: str, cell: Cell, record: Record, records: Records, values: CellValues) -> bool | None:
    """Whether a field has the value that a claim gives; none where the two cannot be compared."""
    kind, number = cell_kind(text, "en")
    if cell.kind == "none" or (cell.kind == "array" and cell.number == 0):
        return _is_nothing(text, kind)
    if kind == "none":
        return False
    if cell.kind in ("yes", "no"):
        return cell.kind == kind if kind in ("yes", "no") else None
    if cell.kind == "array":
        return number == cell.number if number is not None else None
    ours = " ".join(word.fold for word in find_words(text).lexemes)
    if ours == " ".join(cell.words):
        return True
    if cell.number is not None and number is not None:
        return number == cell.number
    compared = [
        relation_of(value, cell, values, alone=False, record=record, records=records) for value in _typed_values(text)
    ]
    if compared:
        return None if None in compared else all(compared)
    differs = kind == cell.kind == "text" and _have_no_common_word(set(ours.split()), set(cell.words))
    return False if differs else None


def _have_no_common_word(words: set[str], others: set[str]) -> bool:
    """Whether two short texts surely say different things."""
    return bool(words and others) and words.isdisjoint(others) and max(len(words), len(others)) <= _SHORT


def _is_nothing(text: str, kind: Kind) -> bool | None:
    """Whether the value of a label means that there is nothing; none where it is a word that may mean that.

    A number, a name and a "yes" do not mean it, whatever the language.
    """
    words = find_words(text).lexemes
    if kind == "none" or (words and words[0].fold in NEGATIONS | _NOTHING):
        return True
    other = kind in ("number", "yes") or any(word.digit or word.capital for word in words)
    return False if other else None


def _typed_values(text: str) -> list[DateMention | Quantity]:
    dates = list(find_dates(text))
    taken = [(date.start, date.end) for date in dates]
    return [*dates, *find_quantities(text, skip=taken)]
