"""A value of a document beside documents: the field of the same name, in the object of the same name, is compared.

Prose about a record is read by the record tier and the network; a document beside JSON, a table or "key: value" lines
needs neither. A field is found by its path without the places in lists, then by its own name, then by the words of its
name and of the objects around it ("customer_name" for `customer.name`, "weight" for `weight_kg`). Where several objects
of the evidence have it, those count whose naming value (`id`, `sku`, `name`) is that of the value's own object; where
none names it, the object that agrees in most fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.schema import Evidence, EvidenceSpan
from assay.text.lexicon import lexeme, word_set
from assay.text.quantities import UNIT_WORDS
from assay.verify.documents.field_values import names_of, same_value
from assay.verify.documents.json_text import JsonTextError, Parsed, Path, parse, walk
from assay.verify.exact.records import Cell, Records

MOST_JSON: Final = 200_000
"""Characters of a source that are read as JSON."""
MOST_LEAVES: Final = 5_000
NAMING: Final = ("id", "sku", "code", "key", "name", "title", "label", "number")
"""Keys whose value names the object that they are in."""
EQUAL: Final = 0.999
"""The support of a value that equals the field of its name. Many make one document, and their chances multiply."""
SURE: Final = 0.98
"""The probability that two fields of one name that differ contradict each other."""
_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_GENERIC: Final = frozenset(
    lexeme(word).stem
    for word in word_set("amount value id ids name number no nr code type date total of the in by at is has per as")
)
"""Words of a key that another key may lack where others remain."""
_UNITS: Final = frozenset(lexeme(word).stem for word in UNIT_WORDS if word.isalpha()) | frozenset(
    word_set("pct percent usd eur gbp chf jpy m2 m3 mmhg")
)


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """The field of the evidence that a value is compared with, or the calculation that it is the result of."""

    equal: bool
    span: EvidenceSpan | None
    """Its place in the evidence; none where the value is computed from the document's own."""
    expected: str = ""
    """What the value would have to be, for people; that of the place where it is empty."""


@dataclass(frozen=True, slots=True)
class _Leaf:
    path: Path
    value: Any
    holder: Mapping[str, Any]
    source: str
    start: int
    end: int
    text: str

    @property
    def names(self) -> "_Names":
        return _Names.of(self.path)


@dataclass(frozen=True, slots=True)
class _Names:
    """The stems of a field's own name without its unit, and of all names that lead to it."""

    own: frozenset[str]
    all: frozenset[str]

    @classmethod
    def of(cls, path: Path) -> "_Names":
        keys = [names_of(part) for part in path if isinstance(part, str)]
        own = _without_units(keys[-1]) if keys else frozenset()
        return cls(own, own.union(*keys[:-1]))

    def meets(self, other: "_Names") -> bool:
        """Whether two fields may be one: the words of either name are in the other or around it."""
        if self.own == other.own:
            return True
        if self.own - _GENERIC == other.own - _GENERIC and self.own - _GENERIC:
            return True
        return self.named_within(other) or other.named_within(self)

    def named_within(self, other: "_Names") -> bool:
        """Whether this name is made of the other's own name and of names around that."""
        return bool(self.own - _GENERIC) and other.own - _GENERIC <= self.own <= other.all | _GENERIC


def _without_units(stems: frozenset[str]) -> frozenset[str]:
    return stems - _UNITS or stems


class DocumentFields:
    """The fields of the evidence that is JSON, a table, or lines of keys and values."""

    def __init__(
        self, evidence: tuple[Evidence, ...], records: Records | None = None, sources: tuple[str, ...] = ()
    ) -> None:
        """Read the sources that are JSON, and take what was read of the others as records.

        Args:
            evidence: the sources.
            records: the records of an index of them.
            sources: the ids of the index's passages in their order.
        """
        self._leaves: list[_Leaf] = []
        read = set()
        for item in evidence:
            before = len(self._leaves)
            self._leaves += _leaves(item)
            if len(self._leaves) > before:
                read.add(item.id)
        if records is not None:
            self._leaves += _of_records(records, sources, read)
        self._by_key: dict[str, list[_Leaf]] = {}
        self._named: list[tuple[_Names, _Leaf]] | None = None
        for leaf in self._leaves:
            self._by_key.setdefault(_key(leaf.path), []).append(leaf)

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def match(self, document: Any, path: Path) -> FieldMatch | None:
        """The field that a value of a document is to be compared with; none where the evidence has none, or several.

        Args:
            document: the whole document.
            path: where the value is in it.
        """
        value, holder = _value_at(document, path), _value_at(document, path[:-1]) if path else None
        known = self._by_key.get(_key(path), [])
        alike = [leaf for leaf in known if _names(leaf.path) == _names(path)] or known or self._related(path)
        if not isinstance(holder, Mapping):  # a list of plain values: whatever it holds there
            same = [leaf for leaf in alike if same_value(value, leaf.value)]
            return _found(same[0], equal=True) if same else None
        candidates = _of_one_object(alike, document, path)
        if not candidates or any(not same_value(leaf.value, candidates[0].value) for leaf in candidates):
            return None
        equal = same_value(value, candidates[0].value)
        return None if equal is None else _found(candidates[0], equal=equal)

    def _related(self, path: Path) -> list[_Leaf]:
        """The leaves whose names share their words with a path; those with most of them."""
        if self._named is None:
            self._named = [(leaf.names, leaf) for leaf in self._leaves]
        ours = _Names.of(path)
        found = [(len(ours.all & names.all), leaf) for names, leaf in self._named if ours.meets(names)]
        most = max((shared for shared, _ in found), default=0)
        return [leaf for shared, leaf in found if shared == most]


def _of_one_object(leaves: list[_Leaf], document: Any, path: Path) -> list[_Leaf]:
    """The leaves that are in the object that a value is in."""
    holder = _value_at(document, path[:-1])
    for key in sorted((key for key in holder if _is_naming(str(key))), key=lambda one: _rank(str(one))):
        if key == path[-1]:  # it names its object: whichever has the name is meant
            same = [leaf for leaf in leaves if same_value(holder[key], leaf.value)]
            if same:
                return same
            continue
        names = _names_of_key(str(key))
        found = [(leaf, [v for k, v in leaf.holder.items() if names.meets(_names_of_key(str(k)))]) for leaf in leaves]
        named = [leaf for leaf, theirs in found if any(same_value(holder[key], one) for one in theirs)]
        # The one object there is may be meant though the document names it wrongly: by its key that is told.
        if named or (any(theirs for _, theirs in found) and (key in NAMING or len(leaves) > 1)):
            return named
    if len(leaves) <= 1:
        return leaves
    shared = [_agreeing(leaf, holder, path) for leaf in leaves]
    best = max(shared)
    return [leaf for leaf, count in zip(leaves, shared, strict=True) if count == best] if best else leaves


def _is_naming(key: str) -> bool:
    return _rank(key) < len(NAMING)


def _rank(key: str) -> int:
    """How well a key names its object: by its last word."""
    last = _words(key).rpartition(" ")[2]
    return NAMING.index(last) if last in NAMING else len(NAMING)


def _names_of_key(key: str) -> _Names:
    stems = _without_units(names_of(key))
    return _Names(stems, stems)


def _agreeing(leaf: _Leaf, ours: Mapping[str, Any], path: Path) -> int:
    """In how many fields two objects agree, the one in question left out; a key that names the object counts as one."""
    but = leaf.path[-1] if leaf.path else None
    others = [(_names_of_key(str(key)), value) for key, value in leaf.holder.items() if key != but and _is_plain(value)]
    count = 0
    for key, value in ours.items():
        if key == path[-1] or not _is_plain(value):
            continue
        names = _names_of_key(str(key))
        theirs = [other for stems, other in others if names.meets(stems)]
        count += any(same_value(value, other) for other in theirs)
    outer = [part for part in path[:-1] if isinstance(part, str)]
    return count + any(same_value(part, other) for part in outer for _, other in others if isinstance(other, str))


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _found(leaf: _Leaf, *, equal: bool) -> FieldMatch:
    relation = "supports" if equal else "contradicts"
    span = EvidenceSpan(
        evidence_id=leaf.source,
        start=leaf.start,
        end=leaf.end,
        text=leaf.text,
        relation=relation,
        score=EQUAL if equal else SURE,
    )
    return FieldMatch(equal, span)


def _of_records(records: Records, sources: tuple[str, ...], read: set[str]) -> Iterator[_Leaf]:
    """The cells of tables and of lines of keys and values."""
    for group in records.groups:
        source = sources[group.passage]
        if source in read:
            continue
        for record in records.records[group.first : group.last]:
            holder = {cell.name: _cell_value(cell) for cell in record.cells}
            for cell in record.cells:
                yield _Leaf((cell.name,), holder[cell.name], holder, source, cell.start, cell.end, cell.text)


def _cell_value(cell: Cell) -> Any:
    """The value of a cell; what it lists where it is a list of items."""
    listed = [" ".join(words) for words in cell.items]
    return listed if len(listed) > 1 and cell.text.count(",") == len(listed) - 1 else cell.text


def _leaves(item: Evidence) -> Iterator[_Leaf]:
    stripped = item.text.lstrip("\ufeff \t\r\n")
    if stripped[:1] not in ("{", "[") or len(item.text) > MOST_JSON:
        return
    try:
        parsed = parse(item.text)
    except JsonTextError:
        return
    if parsed.suspect:
        return
    for number, (path, place) in enumerate(_plain_values(parsed)):
        if number == MOST_LEAVES:
            return
        holder = _value_at(parsed.value, path[:-1]) if path else None
        start = place.key_start if place.key_start is not None else place.start
        yield _Leaf(
            path,
            _value_at(parsed.value, path),
            holder if isinstance(holder, Mapping) else {},
            item.id,
            start,
            place.end,
            item.text[start : place.end],
        )


def _plain_values(parsed: Parsed) -> Iterator[tuple[Path, Any]]:
    for path, place in walk(parsed):
        if parsed.text[place.start - parsed.start] not in "{[":
            yield path, place


def _value_at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _names(path: Path) -> tuple[str, ...]:
    return tuple(_words(part) for part in path if isinstance(part, str))


def _key(path: Path) -> str:
    return next((_words(part) for part in reversed(path) if isinstance(part, str)), "")


def _words(key: str) -> str:
    return " ".join(_PARTS.findall(key)).casefold()
