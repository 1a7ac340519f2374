"""Compares values of a document with the fields of structured evidence: the field of the same name in the same object.

Prose about a record is read by the record tier and the network; a document with evidence in JSON, tables or "key:
value" lines needs neither. A field is found by its path without list indices, then by its own name, then by the words
of its name and of the objects around it ("customer_name" for `customer.name`, "weight" for `weight_kg`). If several
objects of the evidence have it, those count whose naming value (`id`, `sku`, `name`) is that of the value's own object;
without a naming value, the objects that agree in most fields.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.schema import Evidence, EvidenceSpan
from assay.text.lexicon import lexeme, word_set
from assay.text.quantities import UNIT_WORDS
from assay.verify.documents.field_values import key_stems, same_value
from assay.verify.documents.json_text import KEY_PART, JsonTextError, Parsed, Path, parse, value_at, walk
from assay.verify.exact.records import Cell, Records

MOST_JSON: Final = 200_000
"""Characters of the longest source that is read as JSON."""
MOST_LEAVES: Final = 5_000
"""The most values of one source."""
NAMING: Final = ("id", "sku", "code", "key", "name", "title", "label", "number")
"""Keys whose value names the object that contains them, the best first."""
EQUAL: Final = 0.999
"""The support of a value that equals its field. A document has many values, whose probabilities multiply."""
SURE: Final = 0.98
"""The probability of contradiction of a value that differs from its field."""
_GENERIC_STEMS: Final = frozenset(
    lexeme(word).stem
    for word in word_set("amount value id ids name number no nr code type date total of the in by at is has per as")
)
"""Words of a key that another key for the same field may lack, if others remain."""
_UNIT_STEMS: Final = frozenset(lexeme(word).stem for word in UNIT_WORDS if word.isalpha()) | frozenset(
    word_set("pct percent usd eur gbp chf jpy m2 m3 mmhg")
)


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """The field of the evidence that a value is compared with, or the calculation of which it is the result."""

    equal: bool
    span: EvidenceSpan | None
    """The field in the evidence; none where the value is computed from other values of the document."""
    expected: str = ""
    """The right value for the message; empty where it is the text of the span."""


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
    """The stems of a field's own name without its unit, and of all names on its path."""

    own: frozenset[str]
    all: frozenset[str]

    @classmethod
    def of(cls, path: Path) -> "_Names":
        keys = [key_stems(part) for part in path if isinstance(part, str)]
        own = _without_units(keys[-1]) if keys else frozenset()
        return cls(own, own.union(*keys[:-1]))

    def may_match(self, other: "_Names") -> bool:
        """Whether two names may mean the same field: the words of one are in the other name or on its path."""
        if self.own == other.own:
            return True
        if self.own - _GENERIC_STEMS == other.own - _GENERIC_STEMS and self.own - _GENERIC_STEMS:
            return True
        return self.is_composed_of(other) or other.is_composed_of(self)

    def is_composed_of(self, other: "_Names") -> bool:
        """Whether this name consists of the other's own name and names on the other's path."""
        return bool(self.own - _GENERIC_STEMS) and other.own - _GENERIC_STEMS <= self.own <= other.all | _GENERIC_STEMS


def _without_units(stems: frozenset[str]) -> frozenset[str]:
    return stems - _UNIT_STEMS or stems


class DocumentFields:
    """The fields of evidence in JSON, tables, or lines of keys and values."""

    def __init__(
        self, evidence: tuple[Evidence, ...], records: Records | None = None, sources: tuple[str, ...] = ()
    ) -> None:
        """Parse the sources that are JSON, and add the records of the others.

        Args:
            evidence: the sources.
            records: the records of an index of the sources.
            sources: the evidence ids of the passages of the index, in order.
        """
        self._leaves: list[_Leaf] = []
        json_ids = set()
        for item in evidence:
            count_before = len(self._leaves)
            self._leaves += _leaves(item)
            if len(self._leaves) > count_before:
                json_ids.add(item.id)
        if records is not None:
            self._leaves += _record_leaves(records, sources, json_ids)
        self._by_key: dict[str, list[_Leaf]] = {}
        self._named: list[tuple[_Names, _Leaf]] | None = None
        for leaf in self._leaves:
            self._by_key.setdefault(_last_name(leaf.path), []).append(leaf)

    def __bool__(self) -> bool:
        return bool(self._leaves)

    def match(self, document: Any, path: Path) -> FieldMatch | None:
        """The comparison of a value with its field; none where the evidence has no such field, or conflicting ones.

        Args:
            document: the whole document.
            path: the path of the value.
        """
        value, holder = value_at(document, path), value_at(document, path[:-1]) if path else None
        same_key = self._by_key.get(_last_name(path), [])
        candidates_by_name = (
            [leaf for leaf in same_key if _path_names(leaf.path) == _path_names(path)]
            or same_key
            or self._related(path)
        )
        if not isinstance(holder, Mapping):  # an item of a list of scalars: any equal item supports it
            equal_leaves = [leaf for leaf in candidates_by_name if same_value(value, leaf.value)]
            return _field_match(equal_leaves[0], equal=True) if equal_leaves else None
        candidates = _in_same_object(candidates_by_name, document, path)
        if not candidates or any(not same_value(leaf.value, candidates[0].value) for leaf in candidates):
            return None
        equal = same_value(value, candidates[0].value)
        return None if equal is None else _field_match(candidates[0], equal=equal)

    def _related(self, path: Path) -> list[_Leaf]:
        """The leaves whose names match a path by their words; only those that share the most words."""
        if self._named is None:
            self._named = [(leaf.names, leaf) for leaf in self._leaves]
        own_names = _Names.of(path)
        matches = [(len(own_names.all & names.all), leaf) for names, leaf in self._named if own_names.may_match(names)]
        most = max((shared for shared, _ in matches), default=0)
        return [leaf for shared, leaf in matches if shared == most]


def _in_same_object(leaves: list[_Leaf], document: Any, path: Path) -> list[_Leaf]:
    """The leaves of the object of the evidence that corresponds to the object of a value."""
    holder = value_at(document, path[:-1])
    for key in sorted((key for key in holder if _is_naming(str(key))), key=lambda value: _naming_rank(str(value))):
        if key == path[-1]:  # the value itself names its object
            same = [leaf for leaf in leaves if same_value(holder[key], leaf.value)]
            if same:
                return same
            continue
        names = _names_of_key(str(key))
        values_by_leaf = [
            (leaf, [v for k, v in leaf.holder.items() if names.may_match(_names_of_key(str(k)))]) for leaf in leaves
        ]
        named = [leaf for leaf, values in values_by_leaf if any(same_value(holder[key], value) for value in values)]
        # A single object may be meant even if the document gives it a wrong name, unless that name is an exact key.
        if named or (any(values for _, values in values_by_leaf) and (key in NAMING or len(leaves) > 1)):
            return named
    if len(leaves) <= 1:
        return leaves
    shared = [_count_agreeing(leaf, holder, path) for leaf in leaves]
    best = max(shared)
    return [leaf for leaf, count in zip(leaves, shared, strict=True) if count == best] if best else leaves


def _is_naming(key: str) -> bool:
    return _naming_rank(key) < len(NAMING)


def _naming_rank(key: str) -> int:
    """How well a key names its object, by its last word; smaller is better."""
    last = _normal_key(key).rpartition(" ")[2]
    return NAMING.index(last) if last in NAMING else len(NAMING)


def _names_of_key(key: str) -> _Names:
    stems = _without_units(key_stems(key))
    return _Names(stems, stems)


def _count_agreeing(leaf: _Leaf, holder: Mapping[str, Any], path: Path) -> int:
    """In how many fields two objects agree, without the compared one; a key of an outer object counts as one field."""
    own_key = leaf.path[-1] if leaf.path else None
    others = [
        (_names_of_key(str(key)), value) for key, value in leaf.holder.items() if key != own_key and _is_scalar(value)
    ]
    count = 0
    for key, value in holder.items():
        if key == path[-1] or not _is_scalar(value):
            continue
        names = _names_of_key(str(key))
        matching = [other for stems, other in others if names.may_match(stems)]
        count += any(same_value(value, other) for other in matching)
    outer = [part for part in path[:-1] if isinstance(part, str)]
    return count + any(same_value(part, other) for part in outer for _, other in others if isinstance(other, str))


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, Mapping | list)


def _field_match(leaf: _Leaf, *, equal: bool) -> FieldMatch:
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


def _record_leaves(records: Records, sources: tuple[str, ...], json_ids: set[str]) -> Iterator[_Leaf]:
    """The cells of tables and of lines of keys and values."""
    for group in records.groups:
        source = sources[group.passage]
        if source in json_ids:
            continue
        for record in records.records[group.first : group.last]:
            holder = {cell.name: _cell_value(cell) for cell in record.cells}
            for cell in record.cells:
                yield _Leaf((cell.name,), holder[cell.name], holder, source, cell.start, cell.end, cell.text)


def _cell_value(cell: Cell) -> Any:
    """The value of a cell: its text, or its items where it is a list."""
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
    for number, (path, place) in enumerate(_scalar_values(parsed)):
        if number == MOST_LEAVES:
            return
        holder = value_at(parsed.value, path[:-1]) if path else None
        start = place.key_start if place.key_start is not None else place.start
        yield _Leaf(
            path,
            value_at(parsed.value, path),
            holder if isinstance(holder, Mapping) else {},
            item.id,
            start,
            place.end,
            item.text[start : place.end],
        )


def _scalar_values(parsed: Parsed) -> Iterator[tuple[Path, Any]]:
    for path, place in walk(parsed):
        if parsed.text[place.start - parsed.start] not in "{[":
            yield path, place


def _path_names(path: Path) -> tuple[str, ...]:
    return tuple(_normal_key(part) for part in path if isinstance(part, str))


def _last_name(path: Path) -> str:
    return next((_normal_key(part) for part in reversed(path) if isinstance(part, str)), "")


def _normal_key(key: str) -> str:
    return " ".join(KEY_PART.findall(key)).casefold()
