"""A Word document (ECMA-376, WordprocessingML) as text.

It is a ZIP file of XML. Only the parts with text and properties are opened, each is decompressed piece by piece and
parsed by expat as it comes, so that a part that decompresses to gigabytes costs a few kilobytes and ends with an error.
A document type declaration, which no Word document has and which could define entities, is refused.

The text is what a reader sees: tracked insertions are included and tracked deletions are not. Headers and footers are
left out.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Final
from xml.parsers import expat

from assay.corpus.formats.files import MAX_CHARACTERS
from assay.errors import InputError
from assay.text.files import FileText

MAX_PART_BYTES: Final = 60_000_000
"""Decompressed bytes of one part at most."""
MAX_PARTS: Final = 5_000
_CHUNK: Final = 65_536
_WORD: Final = frozenset(
    {"http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main"}
)
_FALLBACK: Final = "Fallback"
"""The element for readers without support for newer drawings: it repeats the same text."""
_DELETED: Final = frozenset({"del", "moveFrom"})
_PROPERTIES: Final = {
    "title": "title",
    "created": "created",
    "modified": "modified",
    "version": "version",
    "language": "language",
    "identifier": "document_id",
}
"""Core properties and the metadata fields they become. `revision` counts saves and is not a version."""

Start = Callable[[str, str, Mapping[str, str]], None]
End = Callable[[str, str], None]
Text = Callable[[str], None]


def read_docx(data: bytes) -> FileText:
    """Read a Word document.

    Raises:
        InputError: it is not a Word document, is encrypted, or decompresses to too much.
    """
    try:
        body, fields = _read_package(data)
    except InputError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        KeyError,
        ValueError,
        OSError,
    ) as error:
        old = " (an old or encrypted Word format)" if data.startswith(b"\xd0\xcf\x11\xe0") else ""
        raise InputError(f"it is no Word document that can be read{old}: {type(error).__name__}") from error
    title = fields.pop("title", "").strip() or body.title
    return FileText("\n\n".join(body.blocks), title or None, fields)


def _read_package(data: bytes) -> tuple[_Body, dict[str, str]]:
    """Read the body and the properties of a document."""
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        names = {info.filename: info for info in package.infolist()}
        if len(names) > MAX_PARTS:
            raise InputError(f"it has more than {MAX_PARTS:,} parts")
        main = _main_part(package, names)
        folder = main.rpartition("/")[0]
        styles = _styles(package, names, f"{folder}/styles.xml" if folder else "styles.xml")
        body = _Body(styles)
        _parse(package, names[main], body.start, body.end, body.text)
        for notes in ("footnotes.xml", "endnotes.xml"):
            part = f"{folder}/{notes}" if folder else notes
            if part in names:
                _parse(package, names[part], body.start, body.end, body.text)
        return body, _core(package, names) | _custom(package, names)


def _parse(package: zipfile.ZipFile, info: zipfile.ZipInfo, start: Start, end: End, text: Text) -> None:
    """Parse one part while it is decompressed.

    Raises:
        InputError: it is not XML, has a document type declaration, or decompresses to too much.
    """
    reader = expat.ParserCreate(namespace_separator=" ")
    reader.buffer_text = True

    def refuse(*_: object) -> None:
        raise InputError("a part of it declares a document type, which no Word document does")

    def started(name: str, attributes: Mapping[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        start(space, local, {key.rpartition(" ")[2]: value for key, value in attributes.items()})

    def ended(name: str) -> None:
        space, _, local = name.rpartition(" ")
        end(space, local)

    reader.StartDoctypeDeclHandler = refuse
    reader.StartElementHandler = started
    reader.EndElementHandler = ended
    reader.CharacterDataHandler = text
    seen = 0
    with package.open(info) as part:
        try:
            while chunk := part.read(_CHUNK):
                seen += len(chunk)
                if seen > MAX_PART_BYTES:
                    raise InputError(f"a part of it unpacks to more than {MAX_PART_BYTES:,} bytes")
                reader.Parse(chunk, False)
            reader.Parse(b"", True)
        except expat.ExpatError as error:
            raise InputError(f"a part of it is no XML: {error}") from error


def _main_part(package: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo]) -> str:
    found: list[str] = []

    def start(_: str, local: str, attributes: Mapping[str, str]) -> None:
        if local == "Relationship" and attributes.get("Type", "").endswith("/officeDocument"):
            found.append(attributes.get("Target", "").lstrip("/"))

    if "_rels/.rels" in names:
        _parse(package, names["_rels/.rels"], start, _ignore, _ignore)
    main = next((name for name in (*found, "word/document.xml") if name in names), None)
    if main is None:
        raise InputError("it is a ZIP file without a Word document in it")
    return main


def _ignore(*_: object) -> None:
    return None


def _styles(package: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo], part: str) -> dict[str, str]:
    """The names of styles by their ids: ids depend on the language of Word, names do not."""
    found: dict[str, str] = {}
    current = ""

    def start(space: str, local: str, attributes: Mapping[str, str]) -> None:
        nonlocal current
        if space not in _WORD:
            return
        if local == "style":
            current = attributes.get("styleId", "")
        elif local == "name" and current and len(found) < 10_000:
            found.setdefault(current, attributes.get("val", "").lower())

    if part in names:
        _parse(package, names[part], start, _ignore, _ignore)
    return found


def _core(package: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo]) -> dict[str, str]:
    found: dict[str, str] = {}
    current: str | None = None

    def start(_: str, local: str, __: Mapping[str, str]) -> None:
        nonlocal current
        current = _PROPERTIES.get(local)

    def end(*_: str) -> None:
        nonlocal current
        current = None

    def text(data: str) -> None:
        if current is not None:
            found[current] = (found.get(current, "") + data)[:1_000]

    if "docProps/core.xml" in names:
        _parse(package, names["docProps/core.xml"], start, end, text)
    return {name: value.strip() for name, value in found.items() if value.strip()}


def _custom(package: zipfile.ZipFile, names: Mapping[str, zipfile.ZipInfo]) -> dict[str, str]:
    """The custom properties, such as "Version", "Effective date", "Document ID"."""
    found: dict[str, str] = {}
    current: str | None = None

    def start(_: str, local: str, attributes: Mapping[str, str]) -> None:
        nonlocal current
        if local == "property":
            current = attributes.get("name")

    def text(data: str) -> None:
        if current is not None and len(found) < 100:
            found[current[:100]] = (found.get(current[:100], "") + data)[:1_000]

    if "docProps/custom.xml" in names:
        _parse(package, names["docProps/custom.xml"], start, _ignore, text)
    return {name: value.strip() for name, value in found.items() if value.strip()}


class _Body:
    """Collects the paragraphs and table rows of a document in order."""

    def __init__(self, styles: Mapping[str, str]) -> None:
        self.blocks: list[str] = []
        self.title: str | None = None
        self._styles = styles
        self._open: list[list[str]] = []
        """The texts of the open paragraphs: one in a text box is nested inside another."""
        self._style: list[str] = []
        self._rows: list[list[str]] = []
        self._skipped = 0
        self._reads = False
        self._size = 0

    def start(self, space: str, local: str, attributes: Mapping[str, str]) -> None:
        if self._skipped or local == _FALLBACK or (space in _WORD and local in _DELETED):
            self._skipped += 1
        elif space in _WORD:
            self._start(local, attributes)

    def _start(self, local: str, attributes: Mapping[str, str]) -> None:
        if local == "p":
            self._open.append([])
            self._style.append("")
        elif local == "pStyle" and self._style:
            self._style[-1] = self._styles.get(attributes.get("val", ""), attributes.get("val", "").lower())
        elif local == "t":
            self._reads = True
        elif local in {"tab", "br", "cr", "noBreakHyphen"} and self._open:
            self._open[-1].append({"tab": " ", "noBreakHyphen": "-"}.get(local, "\n"))
        elif local == "tr":
            self._rows.append([])
        elif local == "tc" and self._rows:
            self._rows[-1].append("")

    def end(self, space: str, local: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif space in _WORD and local == "t":
            self._reads = False
        elif space in _WORD and local == "p" and self._open:
            self._close("".join(self._open.pop()).strip(), self._style.pop())
        elif space in _WORD and local == "tr" and self._rows:
            cells = self._rows.pop()
            if any(cells):
                self._keep("| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |")

    def _close(self, paragraph: str, style: str) -> None:
        if not paragraph:
            return
        if self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {paragraph}".strip()
            return
        level = re.fullmatch(r"heading ?([1-6])", style)
        if self.title is None and (style == "title" or (level is not None and level[1] == "1")):
            self.title = " ".join(paragraph.split())[:300]
        mark = "# " if style == "title" else f"{'#' * int(level[1])} " if level is not None else ""
        self._keep(mark + paragraph)

    def _keep(self, block: str) -> None:
        self._size += len(block) + 2
        if self._size > MAX_CHARACTERS:
            raise InputError(f"it has more than {MAX_CHARACTERS:,} characters; split it")
        self.blocks.append(block)

    def text(self, data: str) -> None:
        if self._reads and not self._skipped and self._open:
            self._size += len(data)
            if self._size > 2 * MAX_CHARACTERS:
                raise InputError(f"it has more than {MAX_CHARACTERS:,} characters; split it")
            self._open[-1].append(data)
