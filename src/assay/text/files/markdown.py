"""A Markdown or plain text file as a document: its text, its title and its front matter.

All that reads evidence from files does so here. Front matter between two lines of `---` is metadata and not evidence;
the title is the one in the front matter, or else the first heading, or else the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

from assay.text.files.fields import folded_name

_MAX_FIELDS: Final = 60
_HEADING: Final = re.compile(r"^#{1,2}\s+(?P<title>\S.{0,300}?)\s*#*\s*$")
_UNDERLINED: Final = re.compile(r"^(?P<title>\S.{0,200})\n[=~*]{3,}\s*$", re.MULTILINE)
_TITLE_LINE: Final = re.compile(r"\s*(?P<title>[^\W\d_][^\n]{2,98}[^\s.,;:!?|>=*-])[ \t]*\r?\n[ \t]*\r?\n(?=\s*\S)")
"""A first line that is not a sentence and has a blank line after it."""
_TITLE_NAMES: Final = ("title", "documenttitle", "doctitle")
_GENERIC_STEMS: Final = frozenset({"index", "readme", "default", "home", "untitled", "document", "page", "main"})
"""File names that say nothing about the content."""


@dataclass(frozen=True, slots=True)
class FileText:
    """The content of a file."""

    text: str
    title: str | None = None
    """The title that the file itself has, if any."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Its metadata as written: front matter, `meta` elements, document properties."""


def read_markdown(text: str) -> FileText:
    r"""The front matter, title and text of Markdown, reStructuredText or plain text.

    >>> read_markdown("---\nversion: 2.1\n---\n# Leave\nTwo weeks.").fields
    {'version': '2.1'}
    """
    fields, body = front_matter(text)
    first = body.lstrip("\n")[:2_000]
    title = next((found["title"] for line in first.split("\n")[:20] if (found := _HEADING.match(line))), None)
    if title is None and (under := _UNDERLINED.search(first)) is not None and not first[: under.start()].strip():
        title = under["title"]
    if title is None and (title_line := _TITLE_LINE.match(body)) is not None:
        title = title_line["title"]
    front_title = next((value for name, value in fields.items() if folded_name(name) in _TITLE_NAMES), None)
    return FileText(body, front_title or title, fields)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    r"""The fields between two opening lines of `---` and the text after them; without these, no fields and all text.

    >>> front_matter("---\nversion: 2.1\n---\nTwo weeks.")
    ({'version': '2.1'}, 'Two weeks.')
    >>> front_matter("Two weeks.\n---\nx: y\n---\n")[0]
    {}
    """
    lines = text.split("\n", _MAX_FIELDS)
    if lines[0].strip() != "---":
        return {}, text
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:_MAX_FIELDS], 1):
        if line.strip() == "---":
            return fields, "\n".join(lines[number + 1 :])
        name, colon, value = line.partition(":")
        if colon and name.strip() and not name[:1].isspace() and value.strip():
            fields[name.strip()[:100]] = value.strip().strip("\"'")[:1_000]
    return {}, text


def title_of_name(name: str) -> str:
    """The name of a file as a title, with its folder's name where the file's own says nothing.

    >>> title_of_name("hr/leave_policy_v3.md"), title_of_name("hr/index.html")
    ('leave policy v3', 'hr index')
    """
    path = PurePath(name)
    stem = path.stem
    if stem.casefold() in _GENERIC_STEMS and path.parent.name:
        stem = f"{path.parent.name} {stem}"
    return re.sub(r"[_\s]+", " ", stem).strip() or name
