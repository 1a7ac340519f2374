"""A PDF file as text, by pypdf.

PDF is a language in which a small file can ask for a lot of work. It is therefore read in a process of its own, with
bounds of time and memory (`assay.corpus.reader_pool`), and whatever goes wrong in it is an error of this one file.
"""

from __future__ import annotations

import io
import re
from typing import Any, Final

from assay.corpus.formats.files import MOST_CHARACTERS
from assay.errors import InputError, MissingPackageError
from assay.text.files import FileText

MOST_PAGES: Final = 5_000
_FIELDS: Final = {"/CreationDate": "created", "/ModDate": "moddate"}
_NO_TITLE: Final = re.compile(
    r"^(?:microsoft|untitled|layout \d|\(?anonymous)|\.(?:docx?|indd|pptx?|pdf|qxd|tex)$", re.IGNORECASE
)
"""Titles that a program wrote and nobody gave."""


def read_pdf(data: bytes) -> FileText:
    """A PDF as text, page by page.

    Raises:
        InputError: it is none, needs a password, or has too much in it.
        MissingPackageError: pypdf is not installed.
    """
    try:
        from pypdf import PdfReader
    except ImportError as error:
        raise MissingPackageError("reading PDF needs pypdf: pip install 'assay-ai[corpus]'") from error
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        pages = _pages(reader)
        title, fields = _described(dict(reader.metadata or {}))
    except InputError:
        raise
    except Exception as error:  # a seam: what a broken file makes of another's parser is a fact on it
        raise InputError(f"it is no PDF that can be read: {type(error).__name__}: {str(error)[:120]}") from error
    return FileText("\n\n".join(_joined(one) for one in pages), title, fields)


def _pages(reader: Any) -> list[str]:
    if reader.is_encrypted and not reader.decrypt(""):
        raise InputError("it needs a password")
    if len(reader.pages) > MOST_PAGES:
        raise InputError(f"it has more than {MOST_PAGES:,} pages; split it")
    pages: list[str] = []
    size = 0
    for sheet in reader.pages:
        pages.append(sheet.extract_text() or "")
        size += len(pages[-1])
        if size > MOST_CHARACTERS:
            raise InputError(f"it has more than {MOST_CHARACTERS:,} characters; split it")
    return pages


def _described(metadata: dict[str, Any]) -> tuple[str | None, dict[str, str]]:
    title = " ".join(str(metadata.get("/Title") or "").split())[:300]
    fields = {name: str(metadata[key])[:100] for key, name in _FIELDS.items() if metadata.get(key)}
    return (title if title and not _NO_TITLE.search(title) else None), fields


def _joined(page: str) -> str:
    """A page whose words are not divided at the ends of lines.

    >>> _joined("The form is re-\\nturned within 14 days.")
    'The form is returned within 14 days.'
    """
    return re.sub(r"(?<=[a-zà-ÿ])-\n(?=[a-zà-ÿ])", "", page)
