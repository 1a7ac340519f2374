"""Reads pieces of evidence into the records of a check, within limits."""

from typing import Final

from assay.text.lexicon import find_words
from assay.verify.exact.records.cell_values import cell_kind, list_items, whole_measure
from assay.verify.exact.records.drafts import GroupDraft, RawCell
from assay.verify.exact.records.field_names import is_naming_field, key_stems, name_stems
from assay.verify.exact.records.json_reading import read_json
from assay.verify.exact.records.line_reading import read_lines
from assay.verify.exact.records.model import Cell, Group, Record, Records
from assay.verify.exact.records.shape import guess_shape

MOST_CHARACTERS: Final = 300_000
"""Characters of the longest evidence that is read as records: a megabyte of JSON is data for a query, not for a
claim."""

MOST_CELLS: Final = 12_000
"""The most cells of all evidence of a check; evidence that would exceed it is not read as records."""

MOST_NAME_CHARACTERS: Final = 1_000_000
"""The most characters of the names that contain the cells and groups of one piece of evidence, counted for each of
them; evidence that would exceed it is not read as records. Each cell has the stems of all these names, so long names
around many cells would take a thousand times the memory of their text."""

LONGEST_CELL: Final = 400
"""Characters of the longest cell whose words are compared; a longer one is prose for the other comparisons."""


class RecordReader:
    """Collects the records of several pieces of evidence."""

    def __init__(self, locale: str = "en") -> None:
        self._locale = locale
        self._groups: list[Group] = []
        self._records: list[Record] = []
        self._postings: dict[str, list[int]] = {}
        self._passages: set[int] = set()
        self._cells = 0
        self._paths: dict[tuple[str, ...], frozenset[str]] = {}

    def add(self, passage: int, text: str, title: str = "") -> None:
        """Read one piece of evidence, if it is structured; `title` is its title."""
        shape = guess_shape(text)
        if shape is None or len(text) > MOST_CHARACTERS:
            return
        stems = frozenset(name_stems(title))
        drafts: list[GroupDraft] = []
        count = names = 0
        for draft in read_json(text) if shape == "json" else read_lines(text):
            drafts.append(draft)
            count += sum(map(len, draft.rows))
            names += len(draft.title) + sum(len(name) for row in draft.rows for cell in row for name in cell.path)
            if self._cells + count > MOST_CELLS or names > MOST_NAME_CHARACTERS:
                return
        if not count:
            return
        self._cells += count
        self._passages.add(passage)
        base = len(self._records)
        for draft in drafts:
            self._add_group(draft, passage, stems, base)

    def _add_group(self, draft: GroupDraft, passage: int, stems: frozenset[str], base: int) -> None:
        first, number = len(self._records), len(self._groups)
        for row, parent in zip(draft.rows, draft.parents, strict=True):
            named = not draft.rows_are_lines and any(is_naming_field(raw.name) for raw in row)
            cells = tuple(self._cell(raw, named) for raw in row)
            at = len(self._records)
            self._records.append(Record(number, cells, None if parent is None else base + parent))
            for head in {words[0] for cell in cells for words in (cell.words, *cell.items) if words}:
                self._postings.setdefault(head, []).append(at)
        title = stems | frozenset(name_stems(draft.title))
        caption = tuple(w.fold for w in find_words(draft.title).lexemes)
        titled = caption if not draft.table and draft.named else ()
        self._groups.append(Group(passage, title, titled, caption, first, len(self._records), draft.table))

    def _cell(self, raw: RawCell, named: bool) -> Cell:
        """Interpret one cell; `named` is whether its row has a field that names the record."""
        text = raw.text
        words = tuple(word.fold for word in find_words(text).lexemes) if len(text) <= LONGEST_CELL else ()
        kind, number = cell_kind(text, self._locale) if raw.kind == "text" else (raw.kind, raw.count)
        measure = whole_measure(text, self._locale) if kind == "text" else None
        items = list_items(text, words) if kind in ("text", "array") and len(words) > 1 else ()
        needed, stems = key_stems(raw.name)
        naming = is_naming_field(raw.name) or (raw.first and not named)
        stems |= self._path_stems(raw.path)
        return Cell(raw.name, needed, stems, text, raw.start, raw.end, kind, words, items, number, naming, measure)

    def _path_stems(self, path: tuple[str, ...]) -> frozenset[str]:
        """The stems of the fields that contain a cell; cached, since a long path may contain many cells."""
        if path not in self._paths:
            self._paths[path] = frozenset(name_stems(" ".join(path)))
        return self._paths[path]

    def build(self) -> Records:
        """The records that were read."""
        return Records(tuple(self._groups), tuple(self._records), self._postings, frozenset(self._passages))
