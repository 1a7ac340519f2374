"""Cells of a Markdown table row."""

from dataclasses import dataclass

from assay.text.blocks import is_rule
from assay.text.cleaning import clean


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one row, cleaned, with their places in the row's own text."""

    cells: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    is_head: bool
    """Whether the rule that follows a head came with it."""


def read_row(raw: str) -> Row:
    """The cells of a row; an escaped bar does not part cells.

    >>> read_row("| Plan | Price |").cells
    ('Plan', 'Price')
    """
    lines = raw.splitlines() or [raw]
    line = lines[0]
    cells: list[str] = []
    spans: list[tuple[int, int]] = []
    begin = 0
    for i in range(len(line) + 1):
        if i < len(line) and (line[i] != "|" or (i > 0 and line[i - 1] == "\\")):
            continue
        part = line[begin:i]
        bare = part.strip()
        outside = not bare and (begin == 0 or i == len(line))
        if not outside:
            start = begin + len(part) - len(part.lstrip())
            spans.append((start, start + len(bare)) if bare else (begin, begin))
            cells.append(clean(bare).text)
        begin = i + 1
    return Row(tuple(cells), tuple(spans), len(lines) > 1 and is_rule(lines[1]))
