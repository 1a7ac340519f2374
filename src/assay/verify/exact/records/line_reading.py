"""Splits lines into records: tables with pipes, tabs or commas, and "key: value" lines under a title."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from assay.verify.exact.records.cell_values import whole_number
from assay.verify.exact.records.drafts import GroupDraft, RawCell
from assay.verify.exact.records.field_names import LONGEST_NAME, split_name

FEWEST_FIELDS: Final = 2
"""The fewest fields of a record of lines; a single "key: value" line is a sentence with a colon."""

_LONGEST_EXAMINED_VALUE: Final = 400
"""Characters of a value that are examined to see whether it is a sentence."""

_MOST_KEY_WORDS: Final = 8
_KEYED_SHARE: Final = 0.8
"""The least share of "key: value" lines among the lines without the title."""

_LONGEST_RECORD_TITLE: Final = 200
_LONGEST_TABLE_TITLE: Final = 1000
_MOST_TITLE_LINES: Final = 3
_FEWEST_ROWS: Final = 2
"""The fewest rows of a table, including its head."""

_FEWEST_COMMA_ROWS: Final = 3
"""The same with commas as separators, which prose has too."""

_MOST_SENTENCES: Final = 0.4
"""The greatest share of values that are sentences; with more, "key: value" lines are a dialogue."""

KEY_LINE: Final = re.compile(
    r"^[ \t]*(?:[-*•]\s+)?(?:\*\*)?((?:[^\W\d_]|\d{4}(?!\d))[^:|=\n]{0,59}?)(?:\*\*)?\s*[:=](?:\*\*)?[ \t]+(\S.*)$"
)
_RULE: Final = re.compile(r"\|?[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?")
_SENTENCE: Final = re.compile(r"(?:\S+\s+){4,}\S+[.?!]$")


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with its offset in the evidence."""

    start: int
    text: str


def read_lines(text: str) -> Iterator[GroupDraft]:
    """The blocks of a text, each a table or a record with its title."""
    lines: list[_Line] = []
    at = 0
    for raw in text.split("\n"):
        if raw.strip():
            lines.append(_Line(at, raw.rstrip("\r")))
        elif lines:
            yield from _read_block(lines)
            lines = []
        at += len(raw) + 1
    if lines:
        yield from _read_block(lines)


def _read_block(lines: Sequence[_Line]) -> Iterator[GroupDraft]:
    """The table or record in consecutive lines without an empty line, if they are either."""
    # Values have commas too, so lines that may be both are "key: value" lines rather than comma-separated cells.
    draft = (
        _read_table(lines, _cut_pipes)
        or _read_table(lines, _cut_tabs)
        or _read_pairs(lines)
        or _read_table(lines, _cut_commas)
    )
    if draft is not None:
        yield draft


# Splits a line into the half-open ranges of its cells; none where the line is not a row.
_Cut = Callable[[str], list[tuple[int, int]] | None]


def _cut_pipes(line: str) -> list[tuple[int, int]] | None:
    if line.count("|") < 1:
        return None
    cells = _split(line, "|")
    stripped = line.strip()
    return cells[1:-1] if len(stripped) > 1 and stripped[0] == stripped[-1] == "|" else cells


def _cut_tabs(line: str) -> list[tuple[int, int]] | None:
    return _split(line, "\t") if "\t" in line else None


def _cut_commas(line: str) -> list[tuple[int, int]] | None:
    if ", " in line and '"' not in line:
        return None
    cells: list[tuple[int, int]] = []
    begin, quoted = 0, False
    for at, char in enumerate(line):
        if char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            cells.append((begin, at))
            begin = at + 1
    cells.append((begin, len(line)))
    return cells if len(cells) > 1 and not quoted else None


def _split(line: str, mark: str) -> list[tuple[int, int]]:
    cells: list[tuple[int, int]] = []
    begin = 0
    while True:
        at = line.find(mark, begin)
        if at < 0:
            cells.append((begin, len(line)))
            return cells
        cells.append((begin, at))
        begin = at + 1


def _read_table(lines: Sequence[_Line], cut: _Cut) -> GroupDraft | None:
    """The table at the end of a block; the lines above it are its title."""
    cuts = [cut(line.text) for line in lines]
    first = next((i for i, cells in enumerate(cuts) if cells is not None), None)
    if first is None or first > _MOST_TITLE_LINES:
        return None
    rows: list[tuple[_Line, list[tuple[int, int]]]] = []
    for line, cells in zip(lines[first:], cuts[first:], strict=True):
        if cells is None:
            return None
        if not _RULE.fullmatch(line.text.strip()):
            rows.append((line, cells))
    if len(rows) < (_FEWEST_ROWS if cut is not _cut_commas else _FEWEST_COMMA_ROWS):
        return None
    width = len(rows[0][1])
    if width < 2 or any(len(cells) != width for _, cells in rows):
        return None
    header = [_trim(rows[0][0].text, *place) for place in rows[0][1]]
    names = [rows[0][0].text[a:b] for a, b in header]
    named = [name for name in names if name]
    if len({n.lower() for n in named}) < len(named) or any(len(n) > LONGEST_NAME * 2 for n in named) or not named[1:]:
        return None
    if sum(whole_number(name, "en") is not None for name in named) > len(named) / 2:
        return None
    title = " ".join(line.text.strip() for line in lines[:first])[:_LONGEST_TABLE_TITLE]
    draft = GroupDraft(title, table=True, rows_are_lines=True)
    for line, cells in rows[1:]:
        row = []
        for number, (name, place) in enumerate(zip(names, cells, strict=True)):
            start, end = _trim(line.text, *place)
            value = line.text[start:end].strip("*")
            at = line.start + start
            row.append(RawCell(split_name(name), (), value, at, at + end - start, first=number == 0))
        draft.rows.append(row)
        draft.parents.append(None)
    return draft


def _trim(line: str, start: int, end: int) -> tuple[int, int]:
    """The range of a cell without the spaces and quotation marks around it."""
    part = line[start:end]
    left = len(part) - len(part.lstrip(' \t"'))
    right = len(part.rstrip(' \t"'))
    return start + left, max(start + left, start + right)


def _read_pairs(lines: Sequence[_Line]) -> GroupDraft | None:
    """The record of "key: value" lines, with an optional title above them."""
    matches = [KEY_LINE.match(line.text) for line in lines]
    title = "" if matches[0] else lines[0].text.strip()
    matched = [(line, m) for line, m in zip(lines, matches, strict=True) if m]
    rest = len(lines) - (not matches[0])
    if len(matched) < FEWEST_FIELDS or len(matched) < _KEYED_SHARE * rest or len(title) > _LONGEST_RECORD_TITLE:
        return None
    keys = [m[1].strip().lower() for _, m in matched]
    if len(set(keys)) < len(keys) or any(len(k.split()) > _MOST_KEY_WORDS for k in keys):
        return None
    sentences = sum(_SENTENCE.search(m[2][:_LONGEST_EXAMINED_VALUE]) is not None for _, m in matched)
    if sentences > _MOST_SENTENCES * len(matched):
        return None
    row = []
    for line, m in matched:
        value = m[2].rstrip()
        at = line.start + m.start(2)
        row.append(RawCell(split_name(m[1].strip()), (), value, at, at + len(value)))
    return GroupDraft(title, named=bool(title), rows=[row], parents=[None])
