"""Files of a folder as documents: their text, what they say of their version, and pieces of a size to be ranked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

ENDINGS: Final = frozenset({".md", ".markdown", ".txt", ".rst", ".html", ".htm", ".csv"})
"""What is read as text."""
MOST_BYTES: Final = 5_000_000
"""A larger file is left out."""
PIECE: Final = 600
"""Characters of a piece, about a paragraph; what is ranked and shown."""

_FRONT: Final = re.compile(r"\A---[ \t]*\n(?P<head>.{0,4000}?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_LINE: Final = re.compile(r"^(?P<key>[A-Za-z][\w -]{0,40}?)\s*:\s*(?P<value>\S.*?)\s*$")
_HEADING: Final = re.compile(r"^#{1,6}\s+(?P<title>\S.*?)\s*#*\s*$")
_SPELLINGS: Final = {
    "title": "title", "version": "version", "document_version": "version", "rev": "version", "revision": "version",
    "effective_date": "effective", "effective": "effective", "effective_from": "effective", "valid_from": "effective",
    "expiry_date": "expiry", "expires": "expiry", "expiry": "expiry", "valid_until": "expiry", "valid_to": "expiry",
    "document_id": "id", "doc_id": "id", "id": "id",
}  # fmt: skip


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
    """A file as a document; none where it is too large, or no text in UTF-8.

    A head between two lines of `---` may give `title`, `version`, `effective_date`, `expiry_date` and `document_id`.

    Raises:
        OSError: it cannot be read.
    """
    if path.stat().st_size > MOST_BYTES:
        return None
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    if path.suffix.lower() in {".html", ".htm"}:
        text = _plain(text)
    return document_of(text, path.suffix.lower())


def document_of(text: str, ending: str = ".md") -> Document:
    r"""A text as a document.

    >>> document_of("---\nversion: 3\neffective_date: 2025-01-01\n---\n# Leave\nTwo weeks.").version
    '3'
    """
    head: dict[str, str] = {}
    if (front := _FRONT.match(text)) is not None:
        for line in front["head"].splitlines():
            if (found := _LINE.match(line)) is not None:
                name = _SPELLINGS.get(found["key"].lower().replace(" ", "_").replace("-", "_"))
                if name is not None:
                    head.setdefault(name, found["value"].strip("'\""))
        text = text[front.end() :]
    title = head.get("title") or next(
        (found["title"] for line in text.splitlines()[:20] if (found := _HEADING.match(line))), None
    )
    pieces = _table(text) if ending == ".csv" else _pieces(text)
    return Document(
        tuple(pieces), title, head.get("id"), head.get("version"), _day(head.get("effective")), _day(head.get("expiry"))
    )


def _day(text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text[:10])
    except ValueError:
        return None


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


def _table(text: str) -> list[str]:
    """Each row of a table in CSV as lines of names and values."""
    import csv
    import io

    try:
        rows = list(csv.reader(io.StringIO(text)))
    except csv.Error:
        return _pieces(text)
    if len(rows) < 2:
        return _pieces(text)
    return [
        "\n".join(f"{name}: {value}" for name, value in zip(rows[0], row, strict=False) if value) for row in rows[1:]
    ]


class PageText(HTMLParser):
    """The text of a page, with a blank line between blocks."""

    SKIPPED = frozenset({"script", "style", "template", "noscript", "head"})
    _BLOCKS: Final = frozenset(
        [
            "p",
            "div",
            "section",
            "article",
            "li",
            "tr",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "table",
            "ul",
            "ol",
            "br",
            "blockquote",
            "pre",
        ]
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As the parser asks."""
        del attrs
        if tag in self.SKIPPED:
            self._hidden += 1
        if tag == "body":
            self._hidden = 0  # the end of a head may be left out
        if tag in self._BLOCKS:
            self.parts.append("\n\n" + ("#" * int(tag[1]) + " " if re.fullmatch(r"h[1-6]", tag) else ""))

    def handle_endtag(self, tag: str) -> None:
        """As the parser asks."""
        if tag in self.SKIPPED and self._hidden:
            self._hidden -= 1
        if tag in self._BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        """As the parser asks."""
        if not self._hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def _plain(page: str) -> str:
    reader = PageText()
    reader.feed(page)
    reader.close()
    return "".join(reader.parts)
