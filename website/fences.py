"""The examples of docstrings as blocks of code."""

from __future__ import annotations

import re

_EXAMPLE = re.compile(r"(?:^[ \t]*>>> .*\n(?:[ \t]*\S.*(?:\n|\Z))*)+", re.MULTILINE)


def fenced(text: str) -> str:
    """A docstring with its examples in fences.

    >>> print(fenced("Adds.\\n\\n>>> 1 + 1\\n2\\n"))
    Adds.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    <BLANKLINE>
    """

    def fence(match: re.Match[str]) -> str:
        indent = re.match(r"[ \t]*", match.group())
        before = indent.group() if indent else ""
        return f"{before}```pycon\n{match.group().rstrip()}\n{before}```\n"

    return _EXAMPLE.sub(fence, text if text.endswith("\n") else f"{text}\n")
