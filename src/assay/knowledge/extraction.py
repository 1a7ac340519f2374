"""Extracts passages from a JSON answer by pointers that the operator wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from assay.errors import PolicyError
from assay.knowledge.interface import Passage
from assay.knowledge.kinds.templates import Pointer, fields_in, render_row


@dataclass(frozen=True, slots=True)
class Extraction:
    """Where the passages are in an answer and how they are worded."""

    items: str = ""
    """Pointer to the items of the answer; by default the whole answer is one item."""
    fields: tuple[tuple[str, str], ...] = ()
    """Names with pointers into an item; by default all members of the item."""
    passage: str | None = None
    """The wording, with field names in braces; by default lines of names and values."""
    title: str | None = None
    link: str | None = None
    effective_date: str | None = None

    def check(self) -> None:
        """Validate the pointers and the wording.

        Raises:
            PolicyError: a pointer is malformed, or the wording has a placeholder without a field.
        """
        for text in (self.items, *(pointer for _, pointer in self.fields), self.title, self.link, self.effective_date):
            if text is not None:
                Pointer(text)
        if self.passage is not None and self.fields:
            known = {name for name, _ in self.fields}
            unknown = [name for name in fields_in(self.passage) if name not in known]
            if unknown:
                raise PolicyError(f"the passage has {{{unknown[0]}}}, and the fields are {', '.join(sorted(known))}")

    def passages(self, answer: Any, origin: str) -> list[Passage]:
        """The passages of an answer; an item without any of the fields gives none.

        Args:
            answer: the JSON value.
            origin: the prefix of the passages' ids.
        """
        found = []
        for number, item in enumerate(_items(answer, self.items), start=1):
            row = self._row(item)
            if not any(value not in (None, "") for value in row.values()):
                continue
            link = _text(Pointer(self.link).first(item)) if self.link is not None else None
            found.append(
                Passage(
                    id=f"{origin}#{number}",
                    text=render_row(self.passage, row),
                    title=_text(Pointer(self.title).first(item)) if self.title is not None else None,
                    link=link if link is not None and _is_web_address(link) else None,
                    effective_date=_day(Pointer(self.effective_date).first(item)) if self.effective_date else None,
                )
            )
        return found

    def _row(self, item: Any) -> dict[str, object]:
        if self.fields:
            return {name: Pointer(pointer).first(item) for name, pointer in self.fields}
        if isinstance(item, Mapping):
            return dict(item)
        return {"value": item}


def _is_web_address(link: str) -> bool:
    try:
        return urlsplit(link).scheme in {"http", "https"}
    except ValueError:  # such as an IPv6 address that does not end; an answer is foreign text
        return False


def _items(answer: Any, pointer: str) -> list[Any]:
    found = Pointer(pointer).all(answer)
    return list(found[0]) if len(found) == 1 and isinstance(found[0], list) else found


def _text(value: object) -> str | None:
    return value[:1_000] if isinstance(value, str) and value.strip() else None


def _day(value: object) -> date | None:
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None
