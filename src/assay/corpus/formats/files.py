"""Reads one file as text with its metadata; a file that cannot be read is refused with the reason.

Encodings are not guessed: text is UTF-8, or UTF-16 or UTF-32 with a byte order mark, or what an HTML page declares.
Only regular files are opened, never through a link, and never more bytes than the limit of the file type.
"""

from __future__ import annotations

import codecs
import os
import re
import stat
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from assay.errors import InputError
from assay.text.files import HTML_ENDINGS, TABLE_ENDINGS, TEXT_ENDINGS, FileText, read_file_text

ENDINGS: Final = TEXT_ENDINGS | HTML_ENDINGS | TABLE_ENDINGS | {".docx", ".pdf"}
"""The file endings that are read."""
MAX_TEXT_BYTES: Final = 5_000_000
"""Bytes of a text file at most."""
MAX_PACKED_BYTES: Final = 50_000_000
"""Bytes of a PDF or DOCX file at most."""
MAX_CHARACTERS: Final = 2_000_000
"""Characters of a document at most, about a thousand pages."""
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def needs_package(ending: str) -> str | None:
    """A message naming the package that is missing for files with an ending; None if none is missing."""
    if ending == ".pdf" and find_spec("pypdf") is None:
        return "reading PDF needs pypdf: pip install 'assay-ai[corpus]', or leave PDF files out with --exclude '*.pdf'"
    return None


def read_file(path: Path) -> FileText:
    """Read a file.

    Raises:
        InputError: it cannot be read; the message says why, without naming the file.
    """
    ending = path.suffix.lower()
    packed = ending in {".docx", ".pdf"}
    data = _read_bytes(path, MAX_PACKED_BYTES if packed else MAX_TEXT_BYTES)
    if ending == ".docx":
        from assay.corpus.formats.docx import read_docx

        read = read_docx(data)
    elif ending == ".pdf":
        from assay.corpus.formats.pdf import read_pdf

        read = read_pdf(data)
    else:
        read = read_file_text(_decoded(data, _declared_encoding(data) if ending in HTML_ENDINGS else "utf-8"), ending)
    text = _CONTROL.sub(" ", read.text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"it has more than {MAX_CHARACTERS:,} characters; split it")
    if not text.strip():
        scanned = "; a scanned PDF has pictures only and needs OCR" if ending == ".pdf" else ""
        raise InputError(f"it holds no text{scanned}")
    return FileText(text, read.title, read.fields)


def _read_bytes(path: Path, max_bytes: int) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
        with os.fdopen(handle, "rb") as opened:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise InputError("it is no regular file")
            if status.st_size > max_bytes:
                raise InputError(
                    f"it has {status.st_size:,} bytes, more than the {max_bytes:,} that are read of such a file"
                )
            data = opened.read(status.st_size + 1)
    except OSError as error:
        raise InputError(f"it cannot be opened: {error.strerror or error}") from error
    if len(data) > status.st_size:
        raise InputError("it grew while it was read; check again")
    return data


def _declared_encoding(data: bytes) -> str:
    found = _CHARSET.search(data[:2_048])
    try:
        return codecs.lookup(found[1].decode("ascii")).name if found else "utf-8"
    except LookupError:
        return "utf-8"


def _decoded(data: bytes, encoding: str = "utf-8") -> str:
    for mark, bom_encoding in _BOMS:
        if data.startswith(mark):
            data, encoding = data[len(mark) :], bom_encoding
            break
    else:
        if b"\0" in data:
            raise InputError(f"it is binary data: a zero byte at offset {data.index(0)}; expected text")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"it is not {encoding.upper()}: byte 0x{data[error.start]:02x} at offset {error.start}; convert it to UTF-8"
        ) from error
    except (LookupError, UnicodeError) as error:
        raise InputError(f"it declares the encoding {encoding!r}, which is not one of text; convert it") from error
