"""A web page as text: what it shows, its title, its `meta` elements and its language."""

from __future__ import annotations

import re
from typing import Any, Final

from assay.corpus.formats.files import FileText
from assay.errors import InputError
from assay.knowledge import PageText

_NAMES: Final = ("name", "property", "itemprop", "http-equiv")
_MOST_FIELDS: Final = 60


class _Page(PageText):
    """What a page shows, and what its head says. Menus are no text of the document."""

    SKIPPED = PageText.SKIPPED | {"nav", "svg", "select", "iframe"}

    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self.fields: dict[str, Any] = {}
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_starttag(tag, attrs)
        told = dict(attrs)
        if tag == "title" and not self.title:
            self._in_title = True
        elif tag == "meta" and len(self.fields) < _MOST_FIELDS:
            name = next((told[key] for key in _NAMES if told.get(key)), None)
            value = told.get("content")
            if name and value and name.lower() not in {"viewport", "content-type"}:
                self.fields.setdefault(re.split(r"[:.]", name)[-1][:100], value[:1_000])
        elif tag == "html" and told.get("lang"):
            self.fields["lang"] = told["lang"]
        elif tag in {"td", "th"} and not self._hidden:
            self.parts.append(" | ")

    def handle_endtag(self, tag: str) -> None:
        super().handle_endtag(tag)
        if tag in {"title", "head"}:
            self._in_title = False

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title.append(data)
        else:
            super().handle_data(data)


def read_html(page: str) -> FileText:
    """A page as text, a blank line between its blocks.

    Raises:
        InputError: it is nested or broken beyond reading.
    """
    reader = _Page()
    try:
        reader.feed(page)
        reader.close()
    except (AssertionError, RecursionError, ValueError) as error:
        raise InputError(f"it is no HTML that can be read: {type(error).__name__}") from error
    text = re.sub(r"\n(?:[ \t]*\n)+", "\n\n", "".join(reader.parts)).strip()
    text = re.sub(r"(?m)^[ \t]+", "", text)
    heading = re.search(r"(?m)^#\s+(\S.{0,300})$", text)
    title = " ".join("".join(reader.title).split())[:300] or (heading[1].strip() if heading else None)
    return FileText(text, title, reader.fields)
