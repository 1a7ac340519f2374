"""The tables of a text, in Markdown and HTML, with their rows and cells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay.text.sentences.line_structure import Block, blocks, is_rule
from assay.text.sentences.markup import clean


@dataclass(frozen=True, slots=True)
class Row:
    """The cleaned cells of one row, with their places in the row's own text."""

    cells: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    is_head: bool
    """Whether the row is the head of its table."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell with its place in the whole text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a head, and in every row a cell for each column."""

    head: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]


_HTML_ROW = re.compile(r"\s*(?:<(?!tr\b)[^<>]*>\s*)*<tr\b[^<>]*>(?P<cells>.*)</tr\s*>", re.IGNORECASE | re.DOTALL)
_HTML_CELL = re.compile(
    r"<(?P<kind>t[hd])\b[^<>]*>(?P<text>.*?)(?:</(?P=kind)\s*>|(?=<t[hd]\b)|\Z)", re.IGNORECASE | re.DOTALL
)


def opens_table(raw: str) -> bool:
    """Whether a row is the first of an HTML table."""
    return re.match(r"\s*<table\b", raw, re.IGNORECASE) is not None


def _read_html(match: re.Match[str]) -> Row:
    cells: list[str] = []
    spans: list[tuple[int, int]] = []
    heads = 0
    for cell in _HTML_CELL.finditer(match["cells"]):
        text = cell["text"]
        start = match.start("cells") + cell.start("text") + len(text) - len(text.lstrip())
        spans.append((start, start + len(text.strip())))
        cells.append(clean(text.strip()).text)
        heads += cell["kind"].lower() == "th"
    return Row(tuple(cells), tuple(spans), bool(cells) and heads == len(cells))


def read_tables(text: str) -> list[Table]:
    """The tables of a text in order, without those that have no head or rows of unequal length.

    >>> [(table.head, len(table.rows)) for table in read_tables("| Plan | Seats |\\n|---|---|\\n| Team | 10 |")]
    [(('Plan', 'Seats'), 1)]
    """
    found: list[Table] = []
    for rows in _tables_of_rows(text):
        head, *body = [(block, read_row(text[block.start : block.end])) for block in rows]
        width = len(head[1].cells)
        if not body or width < 2 or not head[1].is_head or any(len(row.cells) != width for _, row in body):
            continue
        found.append(Table(head[1].cells, tuple(_table_cells(block, row) for block, row in body)))
    return found


def _tables_of_rows(text: str) -> Iterator[list[Block]]:
    """The rows of each table: consecutive rows, split where another head begins."""
    run: list[Block] = []
    for block in blocks(text):
        raw = text[block.start : block.end]
        row = block.kind == "table_row"
        if run and (not row or opens_table(raw) or (_HTML_ROW.match(raw) is None and read_row(raw).is_head)):
            yield run
            run = []
        if row:
            run.append(block)
    if run:
        yield run


def _table_cells(block: Block, row: Row) -> tuple[TableCell, ...]:
    places = zip(row.cells, row.spans, strict=True)
    return tuple(TableCell(text, block.start + start, block.start + end) for text, (start, end) in places)


def read_row(raw: str) -> Row:
    """The cells of a row; an escaped bar does not separate cells.

    >>> read_row("| Plan | Price |").cells
    ('Plan', 'Price')
    """
    html = _HTML_ROW.match(raw) if "<" in raw else None
    if html is not None:
        return _read_html(html)
    lines = raw.splitlines() or [raw]
    line = lines[0]
    cells: list[str] = []
    spans: list[tuple[int, int]] = []
    begin = 0
    for i in range(len(line) + 1):
        if i < len(line) and (line[i] != "|" or (i > 0 and line[i - 1] == "\\")):
            continue
        part = line[begin:i]
        stripped = part.strip()
        outside = not stripped and (begin == 0 or i == len(line))
        if not outside:
            start = begin + len(part) - len(part.lstrip())
            spans.append((start, start + len(stripped)) if stripped else (begin, begin))
            cells.append(clean(stripped).text)
        begin = i + 1
    return Row(tuple(cells), tuple(spans), len(lines) > 1 and is_rule(lines[1]))
