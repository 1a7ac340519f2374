"""Files of a folder as documents: their text, what they say of their version, and pieces of a size to be ranked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.text.files import HTML_ENDINGS, TABLE_ENDINGS, TEXT_ENDINGS, read_fields, read_file_text, title_of_name

ENDINGS: Final = TEXT_ENDINGS | HTML_ENDINGS | TABLE_ENDINGS
"""What is read as text."""
MOST_BYTES: Final = 5_000_000
"""A larger file is left out."""
PIECE: Final = 600
"""Characters of a piece, about a paragraph; what is ranked and shown."""

_HEADING: Final = re.compile(r"^#{1,6}\s+(?P<title>\S.*?)\s*#*\s*$")


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says."""

    pieces: tuple[str, ...]
    title: str | None = None
    document_id: str | None = None
    version: str | None = None
    effective_date: date | None = None
    expiry_date: date | None = None


def read_document(path: Path) -> Document | None:
    """A file as a document; none where it is too large, no text in UTF-8, or nothing of what its name says.

    A head between two lines of `---`, or the `meta` elements of a page, may give `title`, `version`,
    `effective_date`, `expiry_date` and `document_id`, in the spellings of a screening (docs/screen.md).

    Raises:
        OSError: it cannot be read.
    """
    if path.stat().st_size > MOST_BYTES:
        return None
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    try:
        return document_of(text, path.suffix.lower(), path.name)
    except InputError:
        return None


def document_of(text: str, ending: str = ".md", name: str | None = None) -> Document:
    r"""A text as a document.

    >>> document_of("---\nversion: 3\neffective_date: 2025-01-01\n---\n# Leave\nTwo weeks.").version
    '3'

    Raises:
        InputError: it is nothing of the kind that its ending says.
    """
    read = read_file_text(text, ending)
    fields = read_fields(read.fields)
    pieces = read.text.split("\n\n") if ending in TABLE_ENDINGS else _pieces(read.text)
    title = read.title or (title_of_name(name) if name else None)
    return Document(tuple(pieces), title, fields.document, fields.version, fields.effective_date, fields.expiry_date)


def _pieces(text: str) -> list[str]:
    """Paragraphs, short ones joined, each under the heading that it stands under."""
    made: list[str] = []
    heading, open_ = "", ""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        lines = block.strip("\n").split("\n")
        while lines and (found := _HEADING.match(lines[0])) is not None:
            if open_:
                made.append(_under(heading, open_))
                open_ = ""
            heading = found["title"]
            lines = lines[1:]
        body = "\n".join(lines).strip()
        for part in _halved(body):
            if open_ and len(open_) + len(part) > PIECE:
                made.append(_under(heading, open_))
                open_ = ""
            open_ = f"{open_}\n{part}" if open_ else part
    if open_:
        made.append(_under(heading, open_))
    return made


def _under(heading: str, body: str) -> str:
    return f"{heading}\n{body}" if heading else body


def _halved(body: str) -> list[str]:
    """A paragraph in parts of at most `PIECE` characters, cut between sentences where there are any."""
    if len(body) <= PIECE:
        return [body] if body else []
    from assay.text.sentences import split_sentences

    parts: list[str] = []
    open_ = ""
    for one in split_sentences(body):
        said = body[one.start : one.end]
        while len(said) > 2 * PIECE:
            parts.append(said[: 2 * PIECE])
            said = said[2 * PIECE :]
        if open_ and len(open_) + len(said) > PIECE:
            parts.append(open_)
            open_ = ""
        open_ = f"{open_} {said}" if open_ else said
    return [*parts, open_] if open_ else parts
