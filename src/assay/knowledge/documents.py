"""The files of a folder as documents: title, version and dates, and text pieces of a size that can be ranked."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.text.files import HTML_ENDINGS, TABLE_ENDINGS, TEXT_ENDINGS, read_fields, read_file_text, title_of_name

ENDINGS: Final = TEXT_ENDINGS | HTML_ENDINGS | TABLE_ENDINGS
"""The endings of files that are read."""
MAX_FILE_BYTES: Final = 5_000_000
"""Bytes; a larger file is left out."""
PIECE_LENGTH: Final = 600
"""Characters of a piece, about a paragraph, which is the unit that is ranked and shown."""

_HEADING: Final = re.compile(r"^#{1,6}\s+(?P<title>\S.*?)\s*#*\s*$")


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a file."""

    pieces: tuple[str, ...]
    title: str | None = None
    document_id: str | None = None
    version: str | None = None
    effective_date: date | None = None
    expiry_date: date | None = None


def read_document(path: Path) -> Document | None:
    """A file as a document; none where it is too large, not text in UTF-8, or not of the type that its ending names.

    Front matter between two lines of `---`, or the `meta` elements of a page, may give `title`, `version`,
    `effective_date`, `expiry_date` and `document_id`, in the spellings that docs/screen.md lists.

    Raises:
        OSError: it cannot be read.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        return None
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    try:
        return document_of(text, path.suffix.lower(), escaped_name(path.name))
    except InputError:
        return None


def escaped_name(name: str) -> str:
    r"""The name of a file as text that can be stored and sent: bytes that are not UTF-8 are escaped.

    >>> escaped_name(os.fsdecode(b"caf\xe9.md")), escaped_name("caf\u00e9.md")
    ('caf\\xe9.md', 'caf\xe9.md')
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def document_of(text: str, ending: str = ".md", name: str | None = None) -> Document:
    r"""A text as a document.

    >>> document_of("---\nversion: 3\neffective_date: 2025-01-01\n---\n# Leave\nTwo weeks.").version
    '3'

    Raises:
        InputError: it is not of the type that its ending names.
    """
    read = read_file_text(text, ending)
    fields = read_fields(read.fields)
    pieces = read.text.split("\n\n") if ending in TABLE_ENDINGS else _pieces(read.text)
    title = read.title or (title_of_name(name) if name else None)
    return Document(tuple(pieces), title, fields.document, fields.version, fields.effective_date, fields.expiry_date)


def _pieces(text: str) -> list[str]:
    """The paragraphs, short ones joined, each after the heading of its section."""
    pieces: list[str] = []
    heading, pending = "", ""
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        lines = block.strip("\n").split("\n")
        while lines and (found := _HEADING.match(lines[0])) is not None:
            if pending:
                pieces.append(_with_heading(heading, pending))
                pending = ""
            heading = found["title"]
            lines = lines[1:]
        body = "\n".join(lines).strip()
        for part in _split_paragraph(body):
            if pending and len(pending) + len(part) > PIECE_LENGTH:
                pieces.append(_with_heading(heading, pending))
                pending = ""
            pending = f"{pending}\n{part}" if pending else part
    if pending:
        pieces.append(_with_heading(heading, pending))
    return pieces


def _with_heading(heading: str, body: str) -> str:
    return f"{heading}\n{body}" if heading else body


def _split_paragraph(body: str) -> list[str]:
    """A paragraph in parts of about `PIECE_LENGTH` characters, cut between sentences; a long sentence is cut too."""
    if len(body) <= PIECE_LENGTH:
        return [body] if body else []
    from assay.text.sentences import split_sentences

    parts: list[str] = []
    pending = ""
    for one in split_sentences(body):
        sentence = body[one.start : one.end]
        while len(sentence) > 2 * PIECE_LENGTH:
            parts.append(sentence[: 2 * PIECE_LENGTH])
            sentence = sentence[2 * PIECE_LENGTH :]
        if pending and len(pending) + len(sentence) > PIECE_LENGTH:
            parts.append(pending)
            pending = ""
        pending = f"{pending} {sentence}" if pending else sentence
    return [*parts, pending] if pending else parts
