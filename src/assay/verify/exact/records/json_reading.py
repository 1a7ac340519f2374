"""Splits JSON into records: an object with its nested objects is one, and each object in an array is one of its own."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from assay.verify.documents.json_text import JsonTextError, Parsed, Path, Place, parse, walk
from assay.verify.exact.records.drafts import GroupDraft, RawCell
from assay.verify.exact.records.field_names import LONGEST_NAME, split_name
from assay.verify.exact.records.model import Kind

_LONGEST_TITLE: Final = 200
"""The most characters above the JSON that are its title."""


def read_json(text: str) -> Iterator[GroupDraft]:
    """The groups of the JSON in a text; none where it is broken or has a duplicate key."""
    body, offset, title = _extract_json(text)
    try:
        parsed = parse(body)
    except (JsonTextError, RecursionError, ValueError):
        return
    if parsed.suspect:
        return
    yield from _JsonReader(parsed, offset, title).drafts()


def _extract_json(text: str) -> tuple[str, int, str]:
    """The JSON of a text, its offset, and the title above it."""
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped[:1] in ("{", "[") or "```" in text:
        return text, 0, ""
    at = min((i for i in (text.find("\n{"), text.find("\n[")) if i >= 0), default=-1) + 1
    return text[at:], at, text[:at].strip()[:_LONGEST_TITLE]


class _JsonReader:
    """Splits objects into records; an object in an array is a record of its own."""

    def __init__(self, parsed: Parsed, offset: int, title: str) -> None:
        self.parsed = parsed
        self.offset = offset
        self.title = title
        self.records: list[list[RawCell]] = []
        self.parents: list[int | None] = []
        self.paths: list[tuple[str, ...]] = []
        self.with_text: set[int] = set()
        """The records that already have a text cell; the first text may name the record."""

    def drafts(self) -> Iterator[GroupDraft]:
        places = dict(walk(self.parsed))
        self._add_value(self.parsed.value, (), (), None, places)
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, path in enumerate(self.paths):
            groups.setdefault(path, []).append(number)
        # The groups are output one after the other, so the records are renumbered.
        order = {number: at for at, number in enumerate(n for numbers in groups.values() for n in numbers)}
        for path, numbers in groups.items():
            draft = GroupDraft(" ".join((self.title, *path)), table=len(numbers) > 1)
            for number in numbers:
                parent = self.parents[number]
                draft.rows.append(self.records[number])
                draft.parents.append(None if parent is None else order[parent])
            yield draft

    def _add_value(
        self, value: object, path: Path, names: tuple[str, ...], parent: int | None, places: dict[Path, Place]
    ) -> None:
        if isinstance(value, list):
            for number, item in enumerate(value):
                if isinstance(item, dict | list):
                    self._add_value(item, (*path, number), names, parent, places)
            return
        if not isinstance(value, dict):
            return
        record = len(self.records)
        cells: list[RawCell] = []
        self.records.append(cells)
        self.parents.append(parent)
        self.paths.append(names)
        self._add_members(value, path, names, (), record, cells, places)

    def _add_members(
        self,
        value: dict[str, object],
        path: Path,
        names: tuple[str, ...],
        inner: tuple[str, ...],
        record: int,
        cells: list[RawCell],
        places: dict[Path, Place],
    ) -> None:
        is_record_map = _is_record_map(value)
        for key, item in value.items():
            member_path = (*path, key)
            name = split_name(key)[:LONGEST_NAME]
            if isinstance(item, dict):
                if is_record_map:
                    self._add_value(item, member_path, (*names, *inner), record, places)
                else:
                    self._add_members(item, member_path, names, (*inner, name), record, cells, places)
            elif isinstance(item, list) and any(isinstance(part, dict | list) for part in item):
                cells.append(self._raw_cell(name, inner, len(item), "array", places[member_path], record))
                self._add_value(item, member_path, (*names, *inner, name), record, places)
            else:
                cells.append(self._raw_cell(name, inner, item, "text", places[member_path], record))

    def _raw_cell(
        self, name: str, inner: tuple[str, ...], item: object, kind: Kind, place: Place, record: int
    ) -> RawCell:
        start, end = place.start + self.offset, place.end + self.offset
        if kind == "array" and isinstance(item, int):
            return RawCell(name, inner, "", start, end, "array", Decimal(item))
        if isinstance(item, bool):
            return RawCell(name, inner, "yes" if item else "no", start, end, "yes" if item else "no")
        if item is None:
            return RawCell(name, inner, "", start, end, "none")
        if isinstance(item, list):
            listed = ", ".join(str(part) for part in item if part is not None)
            return RawCell(name, inner, listed, start, end, "array", Decimal(len(item)))
        if isinstance(item, str):
            quoted = self.parsed.text[place.start - self.parsed.start] == '"'
            first = record not in self.with_text
            self.with_text.add(record)
            return RawCell(name, inner, item, start + quoted, end - quoted, first=first)
        literal = self.parsed.text[place.start - self.parsed.start : place.end - self.parsed.start]
        return RawCell(name, inner, literal, start, end)


def _is_record_map(value: dict[str, object]) -> bool:
    """Whether an object maps names to records: all of its members are objects with the same fields."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    first = members[0]
    return isinstance(first, dict) and all(set(member) == set(first) for member in members if isinstance(member, dict))
