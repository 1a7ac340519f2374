"""A text file as its document: what it says, its title, and what its head says of it.

One reading for everything that reads evidence from files: the head between two lines of `---` is metadata and no
evidence; the title is the one that it names, else the heading, else the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from assay.text.files.fields import folded_name

_MOST_FIELDS: Final = 60
_HEADING: Final = re.compile(r"^#{1,2}\s+(?P<title>\S.{0,300}?)\s*#*\s*$")
_UNDERLINED: Final = re.compile(r"^(?P<title>\S.{0,200})\n[=~*]{3,}\s*$", re.MULTILINE)
_ALONE: Final = re.compile(r"\s*(?P<title>[^\W\d_][^\n]{2,98}[^\s.,;:!?|>=*-])[ \t]*\r?\n[ \t]*\r?\n(?=\s*\S)")
"""A first line that is no sentence and stands by itself."""
_TITLES: Final = ("title", "documenttitle", "doctitle")
_GENERIC: Final = frozenset({"index", "readme", "default", "home", "untitled", "document", "page", "main"})
"""Names of files that say nothing of what is in them."""


@dataclass(frozen=True, slots=True)
class FileText:
    """What a file says."""

    text: str
    title: str | None = None
    """Its own title, where it has one."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Its metadata as they are in it: front matter, `meta` elements, properties."""


def read_marked(text: str) -> FileText:
    r"""Markdown, reStructuredText or plain text: its front matter, its title, and the text.

    >>> read_marked("---\nversion: 2.1\n---\n# Leave\nTwo weeks.").fields
    {'version': '2.1'}
    """
    fields, body = front_matter(text)
    first = body.lstrip("\n")[:2_000]
    title = next((found["title"] for line in first.split("\n")[:20] if (found := _HEADING.match(line))), None)
    if title is None and (under := _UNDERLINED.search(first)) is not None and not first[: under.start()].strip():
        title = under["title"]
    if title is None and (alone := _ALONE.match(body)) is not None:
        title = alone["title"]
    named = next((value for name, value in fields.items() if folded_name(name) in _TITLES), None)
    return FileText(body, named or title, fields)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    r"""The fields of a head between two lines of dashes, and the text behind it; without such a head all of the text.

    >>> front_matter("---\nversion: 2.1\n---\nTwo weeks.")
    ({'version': '2.1'}, 'Two weeks.')
    >>> front_matter("Two weeks.\n---\nx: y\n---\n")[0]
    {}
    """
    lines = text.split("\n", _MOST_FIELDS)
    if lines[0].strip() != "---":
        return {}, text
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:_MOST_FIELDS], 1):
        if line.strip() == "---":
            return fields, "\n".join(lines[number + 1 :])
        name, colon, value = line.partition(":")
        if colon and name.strip() and not name[:1].isspace() and value.strip():
            fields[name.strip()[:100]] = value.strip().strip("\"'")[:1_000]
    return {}, text


def title_of_name(name: str) -> str:
    """The name of a file as a title, with its folder's where it says nothing by itself.

    >>> title_of_name("hr/leave_policy_v3.md"), title_of_name("hr/index.html")
    ('leave policy v3', 'hr index')
    """
    path = PurePath(name)
    stem = path.stem
    if stem.casefold() in _GENERIC and path.parent.name:
        stem = f"{path.parent.name} {stem}"
    return re.sub(r"[_\s]+", " ", stem).strip() or name
