"""A web page as text: its visible content, its title, its `meta` elements and its language."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, Final

from assay.errors import InputError
from assay.text.files.markdown import FileText

_META_NAME_ATTRIBUTES: Final = ("name", "property", "itemprop", "http-equiv")
_MAX_FIELDS: Final = 60


class _PageReader(HTMLParser):
    """Collects the visible text of a page, with blank lines between blocks, and its head; skips menus and scripts."""

    _SKIPPED: Final = frozenset({"script", "style", "template", "noscript", "head", "nav", "svg", "select", "iframe"})
    _BLOCKS: Final = frozenset(
        {
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
        }
    )

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title: list[str] = []
        self.fields: dict[str, Any] = {}
        self._hidden_depth = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._SKIPPED:
            self._hidden_depth += 1
        if tag == "body":
            self._hidden_depth = 0  # the end tag of a head is optional
        if tag in self._BLOCKS:
            heading = not self._hidden_depth and re.fullmatch(r"h[1-6]", tag) is not None
            self.parts.append("\n\n" + ("#" * int(tag[1]) + " " if heading else ""))
        elif tag in {"td", "th"} and not self._hidden_depth:
            self.parts.append(" | ")
        self._read_head(tag, dict(attrs))

    def _read_head(self, tag: str, attributes: dict[str, str | None]) -> None:
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "meta" and len(self.fields) < _MAX_FIELDS:
            name = next((attributes[key] for key in _META_NAME_ATTRIBUTES if attributes.get(key)), None)
            value = attributes.get("content")
            if name and value and name.lower() not in {"viewport", "content-type"}:
                self.fields.setdefault(re.split(r"[:.]", name)[-1][:100], value[:1_000])
        elif tag == "html" and attributes.get("lang"):
            self.fields["lang"] = attributes["lang"]

    def handle_endtag(self, tag: str) -> None:
        if tag in self._SKIPPED and self._hidden_depth:
            self._hidden_depth -= 1
        if tag in self._BLOCKS:
            self.parts.append("\n\n")
        if tag in {"title", "head"}:
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        elif not self._hidden_depth:
            self.parts.append(re.sub(r"\s+", " ", data))


def read_html(page: str) -> FileText:
    """A web page as text, with a blank line between its blocks.

    Raises:
        InputError: it is too deeply nested or too broken to be parsed.
    """
    reader = _PageReader()
    try:
        reader.feed(page)
        reader.close()
    except (AssertionError, RecursionError, ValueError) as error:
        raise InputError(f"it is no HTML that can be read: {type(error).__name__}") from error
    text = re.sub(r"\n(?:[ \t]*\n)+", "\n\n", "".join(reader.parts)).strip()
    text = re.sub(r"(?m)^[ \t]+", "", text)
    heading = re.search(r"(?m)^#[ \t]+(\S.{0,300})$", text)
    title = " ".join("".join(reader.title).split())[:300] or (heading[1].strip() if heading else None)
    return FileText(text, title, reader.fields)
