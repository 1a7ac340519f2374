"""A value of a document beside documents: the field of the same name, in the object of the same name, is compared.

Prose about a record is read by the record tier and the network; one JSON beside another needs neither. A field is found
by its path without the places in lists. Where several objects of the evidence have it, those count whose naming value
(`id`, `sku`, `name`) is that of the value's own object; where none names it, the object that agrees in most fields.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from assay.schema import Evidence, EvidenceSpan
from assay.verify.json_text import JsonTextError, Parsed, Path, parse, walk

MOST_JSON: Final = 200_000
"""Characters of a source that are read as JSON."""
MOST_LEAVES: Final = 5_000
NAMING: Final = ("id", "sku", "code", "key", "name", "title", "label", "number")
"""Keys whose value names the object that they stand in."""
EQUAL: Final = 0.999
"""The support of a value that equals the field of its name. Many make one document, and their chances multiply."""
SURE: Final = 0.98
"""The probability that two fields of one name that differ contradict each other."""
_PARTS: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True, slots=True)
class FieldMatch:
    """The field of the evidence that a value is compared with."""

    equal: bool
    span: EvidenceSpan


@dataclass(frozen=True, slots=True)
class _Leaf:
    path: Path
    value: Any
    holder: Mapping[str, Any]
    source: str
    start: int
    end: int
    text: str


class DocumentFields:
    """The fields of the evidence that is JSON."""

    def __init__(self, evidence: tuple[Evidence, ...]) -> None:
        """Read the sources that are JSON; the others are left out."""
        self._by_key: dict[str, list[_Leaf]] = {}
        for item in evidence:
            for leaf in _leaves(item):
                self._by_key.setdefault(_key(leaf.path), []).append(leaf)

    def match(self, document: Any, path: Path) -> FieldMatch | None:
        """The field that a value of a document is to be compared with; none where the evidence has none, or several.

        Args:
            document: the whole document.
            path: where the value stands in it.
        """
        value, holder = _value_at(document, path), _value_at(document, path[:-1]) if path else None
        known = self._by_key.get(_key(path), [])
        alike = [leaf for leaf in known if _names(leaf.path) == _names(path)] or known
        if not isinstance(holder, Mapping):  # a list of plain values: whatever it holds there
            same = [leaf for leaf in alike if _same(leaf.value, value)]
            return _found(same[0], equal=True) if same else None
        candidates = _of_one_object(alike, holder, path)
        if not candidates or any(not _same(leaf.value, candidates[0].value) for leaf in candidates):
            return None
        return _found(candidates[0], equal=_same(candidates[0].value, value))


def _of_one_object(leaves: list[_Leaf], holder: Mapping[str, Any], path: Path) -> list[_Leaf]:
    """The leaves that stand in the object that the holder describes."""
    for key in NAMING:
        own = holder.get(key)
        if own is not None and path[-1:] != (key,):
            named = [leaf for leaf in leaves if key in leaf.holder and _same(leaf.holder[key], own)]
            if named or any(key in leaf.holder for leaf in leaves):
                return named
    if len(leaves) <= 1:
        return leaves
    shared = [_agreeing(leaf.holder, holder, path[-1]) for leaf in leaves]
    best = max(shared)
    return [leaf for leaf, count in zip(leaves, shared, strict=True) if count == best] if best else leaves


def _agreeing(theirs: Mapping[str, Any], ours: Mapping[str, Any], but: str | int) -> int:
    return sum(key != but and key in theirs and _same(theirs[key], value) for key, value in ours.items())


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


def _leaves(item: Evidence) -> Iterator[_Leaf]:
    bare = item.text.lstrip("\ufeff \t\r\n")
    if bare[:1] not in ("{", "[") or len(item.text) > MOST_JSON:
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
            path, _value_at(parsed.value, path), holder if isinstance(holder, Mapping) else {}, item.id,
            start, place.end, item.text[start : place.end],
        )  # fmt: skip


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


def _same(one: Any, other: Any) -> bool:
    """Whether two values say the same: 1250, 1250.0 and "1250" are one number, "007" and "7" two names.

    >>> _same("1250.00", 1250), _same(True, 1), _same(" Mia  Li", "mia li"), _same("007", "7")
    (True, False, True, False)
    """
    if isinstance(one, str) and isinstance(other, str):
        return _text(one) == _text(other)
    return _plain(one) == _plain(other)


def _text(value: object) -> str:
    return " ".join(str(value).split()).casefold()


def _plain(value: Any) -> tuple[str, Any]:
    if isinstance(value, bool) or value is None:
        return "truth", value
    if isinstance(value, int | float | str):
        try:
            number = Decimal(str(value).strip())
            if number.is_finite():
                return "number", number
        except InvalidOperation:
            pass
    return "text", _text(value)
