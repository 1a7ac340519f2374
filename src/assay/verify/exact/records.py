"""Evidence that is no prose, read into records: JSON, "key: value" lines, and tables of cells.

A record is a set of cells, each with the name of its field and its place in the text. Records that share their fields
(the items of an array, the rows of a table) make a group. What cannot be read safely is not read at all: broken or
ambiguous JSON, rows of unequal length, and whatever exceeds the bounds below, so that nothing is said of a record that
was seen in part.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal

from assay.text.lexemes import find_words, lexeme, word_set
from assay.text.numerals import decode_number
from assay.verify.json_text import JsonTextError, Parsed, Path, Place, parse, walk

MOST_CHARACTERS: Final = 300_000
"""Longer evidence is not read as records: a megabyte of JSON is data for a query, not for a claim."""

MOST_CELLS: Final = 12_000
"""Cells of all evidence of a check; evidence that would exceed it is not read as records."""

LONGEST_CELL: Final = 400
"""Characters; a longer cell is a text, which the other comparisons read."""

LONGEST_POSTED: Final = 12
"""Words of a value that a record can be found by."""

_LONGEST_KEY: Final = 60
_LONGEST_NUMBER: Final = 40
_MOST_KEY_WORDS: Final = 8
_FEWEST_FIELDS: Final = 2
_MOST_SENTENCES: Final = 0.4
"""The share of values that may be sentences, before "key: value" lines are taken for a dialogue."""

_KEY_LINE: Final = re.compile(
    r"^[ \t]*(?:[-*•]\s+)?(?:\*\*)?([^\W\d_][^:|=\n]{0,59}?)(?:\*\*)?\s*[:=](?:\*\*)?[ \t]+(\S.*)$"
)
_RULE: Final = re.compile(r"\|?[ \t]*+:?-{2,}+:?[ \t]*+(?:\|[ \t]*+:?-{2,}+:?[ \t]*+)*+\|?")
_HUMP: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+")
_BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_NUMBER: Final = re.compile(r"([-−–+]?)\s?(?:[$€£¥]\s?)?(\d[\d.,  ]*\d|\d)\s?%?")
_ITEM_END: Final = re.compile(r"[,;/\n]|\s(?:and|&)\s")
_SENTENCE: Final = re.compile(r"(?:\S+\s+){4,}\S+[.?!]$")
_CSV_COMMA: Final = re.compile(r",(?! )")

GENERIC: Final = frozenset(
    lexeme(word).stem for word in word_set("date name number no nr id ids code type value the of s at on by in is and")
)
"""Words of a field's name that a claim may leave out where others remain: "released" for "release date"."""

_LONG_FORMS: Final = {
    short: lexeme(long).stem
    for short, long in {
        "dob": "born", "birthdate": "born", "birthday": "born", "birth": "born",
        "qty": "quantity", "amt": "amount", "addr": "address",
        "dest": "destination", "dept": "department", "tel": "phone", "desc": "description", "pct": "percent",
        "msg": "message", "avg": "average", "temp": "temperature",
    }.items()
}  # fmt: skip
"""What the short names of fields stand for."""

_NAMING: Final = word_set("name title id key label code sku number")
"""Last words of the names of fields that name their record."""

Kind = Literal["text", "number", "yes", "no", "none", "array"]

_YES, _NO, _NONE = word_set("yes true"), word_set("no false"), frozenset({"none", "null", "n/a", "-", "–", "—", ""})


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a record."""

    name: str
    """Its field as people would write it: "release date"."""
    needed: frozenset[str]
    """Stems that a claim has to have to name the field."""
    stems: frozenset[str]
    """All stems of the field's name, and of those it lies in."""
    text: str
    start: int
    """Its place in the evidence's text."""
    end: int
    kind: Kind
    words: tuple[str, ...]
    """The value's folded words."""
    items: tuple[tuple[str, ...], ...]
    """The folded words of what it lists, where it is a list."""
    number: Decimal | None
    """The value, where it is one number and nothing else; the number of items of an array."""
    naming: bool
    """Whether it names its record."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record, alone or one of a group."""

    group: int
    cells: tuple[Cell, ...]
    parent: int | None
    """The record that it lies in."""


@dataclass(frozen=True, slots=True)
class Group:
    """Records that share their fields."""

    passage: int
    """Index of its evidence."""
    title: frozenset[str]
    """Stems of what stands above it: a title, a caption, the names of the fields that it lies in."""
    titled: tuple[str, ...]
    """Folded words of the title that names a single record; empty for none."""
    first: int
    last: int
    """Its records, from the first to before the last."""
    table: bool


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a check's evidence."""

    groups: tuple[Group, ...] = ()
    records: tuple[Record, ...] = ()
    postings: dict[str, list[int]] = field(default_factory=dict)
    """The records that have a value or an item that begins with a word."""
    passages: frozenset[int] = frozenset()
    """Evidence that was read as records."""

    def __bool__(self) -> bool:
        return bool(self.records)


class RecordReader:
    """Collects the records of several pieces of evidence."""

    def __init__(self, locale: str = "en") -> None:
        self._locale = locale
        self._groups: list[Group] = []
        self._records: list[Record] = []
        self._postings: dict[str, list[int]] = {}
        self._passages: set[int] = set()
        self._cells = 0

    def add(self, passage: int, text: str, about: str = "") -> None:
        """Read one piece of evidence, if it is records; `about` is what is known of it beside its text."""
        shape = shape_of(text)
        if shape is None or len(text) > MOST_CHARACTERS:
            return
        stems = frozenset(stems_of(about))
        drafts = list(_read_json(text) if shape == "json" else _read_lines(text))
        count = sum(len(cells) for draft in drafts for cells in draft.rows)
        if not count or self._cells + count > MOST_CELLS:
            return
        self._cells += count
        self._passages.add(passage)
        base = len(self._records)
        for draft in drafts:
            self._take(draft, passage, stems, base)

    def _take(self, draft: "_Draft", passage: int, stems: frozenset[str], base: int) -> None:
        first, number = len(self._records), len(self._groups)
        for row, parent in zip(draft.rows, draft.parents, strict=True):
            named = not draft.rows_are_lines and any(_names_record(raw) for raw in row)
            cells = tuple(self._cell(raw, named) for raw in row)
            at = len(self._records)
            self._records.append(Record(number, cells, None if parent is None else base + parent))
            for head in {words[0] for cell in cells for words in (cell.words, *cell.items) if words}:
                self._postings.setdefault(head, []).append(at)
        title = stems | frozenset(stems_of(draft.title))
        words = tuple(w.fold for w in find_words(draft.title).lexemes) if not draft.table and draft.named else ()
        self._groups.append(Group(passage, title, words, first, len(self._records), draft.table))

    def _cell(self, raw: "_Raw", named: bool) -> Cell:
        text = raw.text
        words = tuple(w.fold for w in find_words(text).lexemes) if len(text) <= LONGEST_CELL else ()
        items: tuple[tuple[str, ...], ...] = ()
        kind: Kind = raw.kind
        number = raw.count
        if kind == "text":
            low = text.strip().lower()
            if low in _YES:
                kind = "yes"
            elif low in _NO:
                kind = "no"
            elif low in _NONE:
                kind = "none"
            else:
                number = whole_number(text, self._locale)
                kind = "text" if number is None else "number"
        if kind in ("text", "array") and len(words) > 1:
            parts = _ITEM_END.split(_BRACKETS.sub(" ", text))
            listed = [tuple(w.fold for w in find_words(part).lexemes) for part in parts]
            worded = [part for part in listed if any(not w[0].isdigit() for w in part)]
            items = tuple(part for part in worded if part != words)
        needed, stems = key_stems(raw.name)
        stems |= frozenset(stems_of(" ".join(raw.path)))
        return Cell(raw.name, needed, stems, text, raw.start, raw.end, kind, words[: LONGEST_CELL], items, number,
                    _names_record(raw) or (raw.first and not named))  # fmt: skip

    def build(self) -> Records:
        """What was read."""
        return Records(tuple(self._groups), tuple(self._records), self._postings, frozenset(self._passages))


def whole_number(text: str, locale: str) -> Decimal | None:
    """The number that a cell is, sign included; none where it is anything else.

    >>> whole_number("- 41", "en"), whole_number("$1,200.50", "en"), whole_number("9 May", "en")
    (Decimal('-41'), Decimal('1200.50'), None)
    """
    bare = text.strip()
    if len(bare) > _LONGEST_NUMBER:
        return None
    match = _NUMBER.fullmatch(bare) if bare[:1] in "-−–+$€£¥0123456789" else None
    if match is None:
        return None
    read = decode_number(match[2].replace(" , ", ",").strip(), locale)
    if read is None:
        return None
    return -read[0] if match[1] in ("-", "−", "–") else read[0]


def split_name(name: str) -> str:
    """A field's name as words: camelCase and snake_case taken apart.

    >>> split_name("releaseDate"), split_name("zip_code"), split_name("HTTPStatus")
    ('release Date', 'zip code', 'HTTP Status')
    """
    if "_" in name or (" " not in name and _HUMP.search(name)):
        return " ".join(piece for word in re.split(r"[\s_]+", name) for piece in _PART.findall(word))
    return name


def stems_of(text: str) -> Iterator[str]:
    """The stems of the words of a name or a title, function words too."""
    for word in find_words(split_name(text)).lexemes:
        yield _LONG_FORMS.get(word.stem, word.stem)


def key_stems(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that name a field, and all of its name.

    >>> sorted(key_stems("Number of employees (2019)")[0])
    ['employee']
    """
    every = frozenset(stems_of(name))
    outer = frozenset(stems_of(_BRACKETS.sub(" ", name))) or every
    needed = outer - GENERIC
    return (needed or outer - {"of", "the", "by", "s"} or outer), every


@dataclass(frozen=True, slots=True)
class _Raw:
    """A cell as it stands."""

    name: str
    path: tuple[str, ...]
    text: str
    start: int
    end: int
    kind: Kind = "text"
    count: Decimal | None = None
    first: bool = False
    """Whether it is the first cell of a row, or the first text of an object."""


def _names_record(raw: _Raw) -> bool:
    """Whether the name of a cell's field says that it names its record."""
    return raw.name.lower().rpartition(" ")[2] in _NAMING


@dataclass(slots=True)
class _Draft:
    """A group while it is being read."""

    title: str = ""
    named: bool = False
    """Whether the title names the one record."""
    table: bool = False
    rows_are_lines: bool = False
    """Whether it is a table of lines, whose first column names the rows whatever it is called."""
    rows: list[list[_Raw]] = field(default_factory=list)
    parents: list[int | None] = field(default_factory=list)


def shape_of(text: str) -> Literal["json", "lines"] | None:
    """What evidence may be records, by its first lines; none for prose, at next to no cost.

    >>> shape_of('{"a": 1}'), shape_of("Town: Arn\\nPeople: 300"), shape_of("The mill burned down in 1900.")
    ('json', 'lines', None)
    """
    head = text[:600].lstrip("\ufeff \t\r\n")
    if head[:1] in ("{", "["):
        return "json"
    if "\n" not in head:
        return "json" if head.startswith("```") else None
    if "```json" in head or "\n{" in head or "\n[" in head:
        return "json"
    if head.count("|") >= 3 or head.count("\t") >= 2:
        return "lines"
    lines = [line for line in head.split("\n")[:8] if line.strip()]
    keyed = sum(_KEY_LINE.match(line) is not None for line in lines)
    if keyed >= _FEWEST_FIELDS and keyed >= 0.6 * (len(lines) - 1):
        return "lines"
    commas = [len(_CSV_COMMA.findall(line)) for line in lines[:3]]
    return "lines" if len(commas) == 3 and commas[0] and len(set(commas)) == 1 else None


def _read_json(text: str) -> Iterator[_Draft]:
    body, offset, title = _json_in(text)
    try:
        parsed = parse(body)
    except (JsonTextError, RecursionError, ValueError):
        return
    if parsed.suspect:
        return
    yield from _JsonReader(parsed, offset, title).drafts()


def _json_in(text: str) -> tuple[str, int, str]:
    """The JSON of a text, where it begins, and what stands above it."""
    bare = text.lstrip("\ufeff \t\r\n")
    if bare[:1] in ("{", "[") or "```" in text:
        return text, 0, ""
    at = min((i for i in (text.find("\n{"), text.find("\n[")) if i >= 0), default=-1) + 1
    return text[at:], at, text[:at].strip()[:200]


class _JsonReader:
    """Takes objects apart into records: an object in an array is a record of its own."""

    def __init__(self, parsed: Parsed, offset: int, title: str) -> None:
        self.parsed = parsed
        self.offset = offset
        self.title = title
        self.records: list[list[_Raw]] = []
        self.parents: list[int | None] = []
        self.paths: list[tuple[str, ...]] = []

    def drafts(self) -> Iterator[_Draft]:
        places = dict(walk(self.parsed))
        self._value(self.parsed.value, (), (), None, places)
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, path in enumerate(self.paths):
            groups.setdefault(path, []).append(number)
        # Groups are written one behind the other, so records change their numbers.
        order = {number: at for at, number in enumerate(n for numbers in groups.values() for n in numbers)}
        for path, numbers in groups.items():
            draft = _Draft(" ".join((self.title, *path)), table=len(numbers) > 1)
            for number in numbers:
                parent = self.parents[number]
                draft.rows.append(self.records[number])
                draft.parents.append(None if parent is None else order[parent])
            yield draft

    def _value(self, value: object, path: Path, names: tuple[str, ...], parent: int | None,
               places: dict[Path, Place]) -> None:  # fmt: skip
        if isinstance(value, list):
            for number, item in enumerate(value):
                if isinstance(item, dict | list):
                    self._value(item, (*path, number), names, parent, places)
            return
        if not isinstance(value, dict):
            return
        own = len(self.records)
        cells: list[_Raw] = []
        self.records.append(cells)
        self.parents.append(parent)
        self.paths.append(names)
        self._members(value, path, names, (), own, cells, places)

    def _members(self, value: dict[str, object], path: Path, names: tuple[str, ...],
                 inner: tuple[str, ...], own: int, cells: list[_Raw],
                 places: dict[Path, Place]) -> None:  # fmt: skip
        keyed_alike = _keyed_alike(value)
        for key, item in value.items():
            here = (*path, key)
            name = split_name(key)[:_LONGEST_KEY]
            if isinstance(item, dict):
                if keyed_alike:
                    self._value(item, here, (*names, *inner), own, places)
                else:
                    self._members(item, here, names, (*inner, name), own, cells, places)
            elif isinstance(item, list) and any(isinstance(part, dict | list) for part in item):
                cells.append(self._raw(name, inner, len(item), "array", places[here], cells))
                self._value(item, here, (*names, *inner, name), own, places)
            elif isinstance(item, list):
                cells.append(self._raw(name, inner, item, "text", places[here], cells))
            else:
                cells.append(self._raw(name, inner, item, "text", places[here], cells))

    def _raw(self, name: str, inner: tuple[str, ...], item: object, kind: Kind, place: Place,
             cells: Sequence[_Raw]) -> _Raw:  # fmt: skip
        start, end = place.start + self.offset, place.end + self.offset
        if kind == "array" and isinstance(item, int):
            return _Raw(name, inner, "", start, end, "array", Decimal(item))
        if isinstance(item, bool):
            return _Raw(name, inner, "yes" if item else "no", start, end, "yes" if item else "no")
        if item is None:
            return _Raw(name, inner, "", start, end, "none")
        if isinstance(item, list):
            listed = ", ".join(str(part) for part in item if part is not None)
            return _Raw(name, inner, listed, start, end, "array", Decimal(len(item)))
        if isinstance(item, str):
            quoted = self.parsed.text[place.start - self.parsed.start] == '"'
            first = not any(raw.first for raw in cells)
            return _Raw(name, inner, item, start + quoted, end - quoted, first=first)
        literal = self.parsed.text[place.start - self.parsed.start : place.end - self.parsed.start]
        return _Raw(name, inner, literal, start, end)


def _keyed_alike(value: dict[str, object]) -> bool:
    """Whether an object is a map from names to records: its members are all objects with the same fields."""
    members = list(value.values())
    if len(members) < 2 or not all(isinstance(member, dict) and member for member in members):
        return False
    first = members[0]
    return isinstance(first, dict) and all(set(member) == set(first) for member in members if isinstance(member, dict))


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str


def _read_lines(text: str) -> Iterator[_Draft]:
    """The blocks of a text of lines, each a table or a record under its title."""
    lines: list[_Line] = []
    at = 0
    for raw in text.split("\n"):
        if raw.strip():
            lines.append(_Line(at, raw.rstrip("\r")))
        elif lines:
            yield from _block(lines)
            lines = []
        at += len(raw) + 1
    if lines:
        yield from _block(lines)


def _block(lines: Sequence[_Line]) -> Iterator[_Draft]:
    for cut in (_cut_pipes, _cut_tabs, _cut_commas):
        draft = _table(lines, cut)
        if draft is not None:
            yield draft
            return
    draft = _pairs(lines)
    if draft is not None:
        yield draft


def _cut_pipes(line: str) -> list[tuple[int, int]] | None:
    if line.count("|") < 1:
        return None
    cells = _split(line, "|")
    bare = line.strip()
    return cells[1:-1] if len(bare) > 1 and bare[0] == bare[-1] == "|" else cells


def _cut_tabs(line: str) -> list[tuple[int, int]] | None:
    return _split(line, "\t") if "\t" in line else None


def _cut_commas(line: str) -> list[tuple[int, int]] | None:
    if ", " in line and '"' not in line:
        return None
    cells: list[tuple[int, int]] = []
    begin, quoted = 0, False
    for at, char in enumerate(line):
        if char == '"':
            quoted = not quoted
        elif char == "," and not quoted:
            cells.append((begin, at))
            begin = at + 1
    cells.append((begin, len(line)))
    return cells if len(cells) > 1 and not quoted else None


def _split(line: str, mark: str) -> list[tuple[int, int]]:
    cells: list[tuple[int, int]] = []
    begin = 0
    while True:
        at = line.find(mark, begin)
        if at < 0:
            cells.append((begin, len(line)))
            return cells
        cells.append((begin, at))
        begin = at + 1


_Cut = Callable[[str], list[tuple[int, int]] | None]


def _table(lines: Sequence[_Line], cut: _Cut) -> _Draft | None:
    """The table that ends the block; lines above it are its title."""
    cuts = [cut(line.text) for line in lines]
    first = next((i for i, cells in enumerate(cuts) if cells is not None), None)
    if first is None or first > 3:
        return None
    rows: list[tuple[_Line, list[tuple[int, int]]]] = []
    for line, cells in zip(lines[first:], cuts[first:], strict=True):
        if cells is None:
            return None
        if not _RULE.fullmatch(line.text.strip()):
            rows.append((line, cells))
    if len(rows) < (2 if cut is not _cut_commas else 3):
        return None
    width = len(rows[0][1])
    if width < 2 or any(len(cells) != width for _, cells in rows):
        return None
    header = [_trim(rows[0][0].text, *place) for place in rows[0][1]]
    names = [rows[0][0].text[a:b] for a, b in header]
    named = [name for name in names if name]
    if len({n.lower() for n in named}) < len(named) or any(len(n) > _LONGEST_KEY * 2 for n in named) or not named[1:]:
        return None
    if sum(whole_number(name, "en") is not None for name in named) > len(named) / 2:
        return None
    draft = _Draft(" ".join(line.text.strip() for line in lines[:first])[:1000], table=True, rows_are_lines=True)
    for line, cells in rows[1:]:
        row = []
        for number, (name, place) in enumerate(zip(names, cells, strict=True)):
            start, end = _trim(line.text, *place)
            value = line.text[start:end].strip("*")
            at = line.start + start
            row.append(_Raw(split_name(name), (), value, at, at + end - start, first=number == 0))
        draft.rows.append(row)
        draft.parents.append(None)
    return draft


def _trim(line: str, start: int, end: int) -> tuple[int, int]:
    part = line[start:end]
    left = len(part) - len(part.lstrip(' \t"'))
    right = len(part.rstrip(' \t"'))
    return start + left, max(start + left, start + right)


def _pairs(lines: Sequence[_Line]) -> _Draft | None:
    found = [_KEY_LINE.match(line.text) for line in lines]
    title = "" if found[0] else lines[0].text.strip()
    matched = [(line, m) for line, m in zip(lines, found, strict=True) if m]
    rest = len(lines) - (not found[0])
    if len(matched) < _FEWEST_FIELDS or len(matched) < 0.8 * rest or len(title) > 200:
        return None
    keys = [m[1].strip().lower() for _, m in matched]
    if len(set(keys)) < len(keys) or any(len(k.split()) > _MOST_KEY_WORDS for k in keys):
        return None
    if sum(_SENTENCE.search(m[2][:LONGEST_CELL]) is not None for _, m in matched) > _MOST_SENTENCES * len(matched):
        return None
    row = []
    for line, m in matched:
        value = m[2].rstrip()
        at = line.start + m.start(2)
        row.append(_Raw(split_name(m[1].strip()), (), value, at, at + len(value)))
    return _Draft(title, named=bool(title), rows=[row], parents=[None])
