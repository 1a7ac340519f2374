"""A PDF file as text, by pypdf.

A small PDF file can require a lot of work. PDF files are therefore read in a separate process with limits on time and
memory (`assay.corpus.reader_pool`), and whatever goes wrong is an error of that one file.
"""

from __future__ import annotations

import io
import re
from typing import Any, Final

from assay.corpus.formats.files import MAX_CHARACTERS
from assay.errors import InputError, MissingPackageError
from assay.text.files import FileText

MAX_PAGES: Final = 5_000
_FIELDS: Final = {"/CreationDate": "created", "/ModDate": "moddate"}
_NO_TITLE: Final = re.compile(
    r"^(?:microsoft|untitled|layout \d|\(?anonymous)|\.(?:docx?|indd|pptx?|pdf|qxd|tex)$", re.IGNORECASE
)
"""Titles that programs insert by default."""


def read_pdf(data: bytes) -> FileText:
    """Read a PDF file, page by page.

    Raises:
        InputError: it is not a PDF file, needs a password, or contains too much.
        MissingPackageError: pypdf is not installed.
    """
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise MissingPackageError("reading PDF needs pypdf: pip install 'assay-ai[corpus]'") from error
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        pages = _pages(reader)
        title, fields = _title_and_fields(dict(reader.metadata or {}))
    except InputError:
        raise
    except Exception as error:  # any error of pypdf's code: the file is refused as damaged
        raise InputError(f"it is no PDF that can be read: {type(error).__name__}: {str(error)[:120]}") from error
    return FileText("\n\n".join(_without_hyphenation(one) for one in pages), title, fields)


def _pages(reader: Any) -> list[str]:
    if reader.is_encrypted and not reader.decrypt(""):
        raise InputError("it needs a password")
    if len(reader.pages) > MAX_PAGES:
        raise InputError(f"it has more than {MAX_PAGES:,} pages; split it")
    pages: list[str] = []
    size = 0
    for page in reader.pages:
        pages.append(page.extract_text() or "")
        size += len(pages[-1])
        if size > MAX_CHARACTERS:
            raise InputError(f"it has more than {MAX_CHARACTERS:,} characters; split it")
    return pages


def _title_and_fields(metadata: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    title = " ".join(str(metadata.get("/Title") or "").split())[:300]
    fields = {name: str(metadata[key])[:100] for key, name in _FIELDS.items() if metadata.get(key)}
    return (title if title and not _NO_TITLE.search(title) else None), fields


def _without_hyphenation(page: str) -> str:
    """Join words that are hyphenated at the ends of lines.

    >>> _without_hyphenation("The form is re-\\nturned within 14 days.")
    'The form is returned within 14 days.'
    """
    return re.sub(r"(?<=[a-zà-ÿ])-\n(?=[a-zà-ÿ])", "", page)
