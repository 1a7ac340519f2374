"""Recognises evidence that may be records by its first lines."""

import re
from typing import Final, Literal

from assay.verify.exact.records.line_reading import FEWEST_FIELDS, KEY_LINE

_EXAMINED_CHARACTERS: Final = 600
"""Characters at the beginning that are examined; a few lines distinguish prose from records at little cost."""

_EXAMINED_LINES: Final = 8
_FEWEST_PIPES: Final = 3
_FEWEST_TABS: Final = 2
_KEYED_SHARE: Final = 0.6
"""The least share of "key: value" lines among the lines without a title."""

_ROWS_OF_COMMAS: Final = 3
"""The fewest lines with equally many commas that make a table; two may be so by chance."""

_CSV_COMMA: Final = re.compile(r",(?! )")


def guess_shape(text: str) -> Literal["json", "lines"] | None:
    """The structure that evidence seems to have, judged by its first lines at little cost; none for prose.

    >>> guess_shape('{"a": 1}'), guess_shape("Town: Arn\\nPeople: 300"), guess_shape("The mill burned down in 1900.")
    ('json', 'lines', None)
    """
    head = text[:_EXAMINED_CHARACTERS].lstrip("\ufeff \t\r\n")
    if head[:1] in ("{", "["):
        return "json"
    if "\n" not in head:
        return "json" if head.startswith("```") else None
    if "```json" in head or "\n{" in head or "\n[" in head:
        return "json"
    if head.count("|") >= _FEWEST_PIPES or head.count("\t") >= _FEWEST_TABS:
        return "lines"
    lines = [line for line in head.split("\n")[:_EXAMINED_LINES] if line.strip()]
    keyed = sum(KEY_LINE.match(line) is not None for line in lines)
    if keyed >= FEWEST_FIELDS and keyed >= _KEYED_SHARE * (len(lines) - 1):
        return "lines"
    commas = [len(_CSV_COMMA.findall(line)) for line in lines[:_ROWS_OF_COMMAS]]
    return "lines" if len(commas) == _ROWS_OF_COMMAS and commas[0] and len(set(commas)) == 1 else None
