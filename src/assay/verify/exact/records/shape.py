"""What evidence may be records, seen by its first lines."""

import re
from typing import Final, Literal

from assay.verify.exact.records.line_reading import FEWEST_FIELDS, KEY_LINE

_LOOKED_AT: Final = 600
"""Characters at the beginning: a few lines tell prose from records, and prose should pay for no more."""

_LINES_LOOKED_AT: Final = 8
_FEWEST_PIPES: Final = 3
_FEWEST_TABS: Final = 2
_KEYED_SHARE: Final = 0.6
"""Of the lines but a title that have to be "key: value"."""

_ROWS_OF_COMMAS: Final = 3
"""Lines with equally many commas before they are taken for a table; two may be so by chance."""

_CSV_COMMA: Final = re.compile(r",(?! )")


def shape_of(text: str) -> Literal["json", "lines"] | None:
    """What evidence may be records, by its first lines; none for prose, at next to no cost.

    >>> shape_of('{"a": 1}'), shape_of("Town: Arn\\nPeople: 300"), shape_of("The mill burned down in 1900.")
    ('json', 'lines', None)
    """
    head = text[:_LOOKED_AT].lstrip("\ufeff \t\r\n")
    if head[:1] in ("{", "["):
        return "json"
    if "\n" not in head:
        return "json" if head.startswith("```") else None
    if "```json" in head or "\n{" in head or "\n[" in head:
        return "json"
    if head.count("|") >= _FEWEST_PIPES or head.count("\t") >= _FEWEST_TABS:
        return "lines"
    lines = [line for line in head.split("\n")[:_LINES_LOOKED_AT] if line.strip()]
    keyed = sum(KEY_LINE.match(line) is not None for line in lines)
    if keyed >= FEWEST_FIELDS and keyed >= _KEYED_SHARE * (len(lines) - 1):
        return "lines"
    commas = [len(_CSV_COMMA.findall(line)) for line in lines[:_ROWS_OF_COMMAS]]
    return "lines" if len(commas) == _ROWS_OF_COMMAS and commas[0] and len(set(commas)) == 1 else None
