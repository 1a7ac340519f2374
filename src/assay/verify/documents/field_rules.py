"""Checks rules over several fields of a document, and references to evidence; each finding has its JSON Pointer."""

import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from itertools import islice
from typing import Any, Final

from assay.errors import InputError
from assay.schema import CitedField, FieldRule, Issue, Span, Structure
from assay.verify.documents.json_text import Parsed, Path, pointer, walk

MOST_RULE_ISSUES: Final = 100
"""The most findings of one rule that are listed."""
_LARGEST_FLOAT: Final = sys.float_info.max
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")

Pattern = tuple[str, ...]
Leaf = tuple[Path, Any]


def read_pattern(text: str) -> Pattern:
    """The parts of a JSON Pointer in which `*` stands for any key.

    Raises:
        InputError: it does not begin with a slash.

    >>> read_pattern("/lines/*/price~1unit")
    ('lines', '*', 'price/unit')
    """
    if text == "":
        return ()
    if not text.startswith("/"):
        raise InputError(f"a JSON Pointer begins with a slash, got {text!r}")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/"))


def is_within(path: Path, patterns: Collection[Pattern]) -> bool:
    """Whether a path matches one of the patterns, or is inside a value that does."""
    return any(
        len(pattern) <= len(path) and all(part in ("*", str(key)) for part, key in zip(pattern, path, strict=False))
        for pattern in patterns
    )


def find_values(value: Any, pattern: Pattern, path: Path = ()) -> Iterator[tuple[Path, Any, Pattern]]:
    """The values that a pattern matches, each with its path and the keys that its `*`s matched."""
    stack: list[tuple[Any, int, Path, Pattern]] = [(value, 0, path, ())]
    while stack:
        current, depth, current_path, bound = stack.pop()
        if depth == len(pattern):
            yield current_path, current, bound
            continue
        part = pattern[depth]
        members: list[tuple[str | int, Any]] = []
        if isinstance(current, Mapping):
            members = list(current.items()) if part == "*" else [(part, current[part])] if part in current else []
        elif isinstance(current, list):
            if part == "*":
                members = list(enumerate(current))
            elif part.isdigit() and len(part) < 10 and int(part) < len(current):
                members = [(int(part), current[int(part)])]
        for key, inner in reversed(members):
            stack.append((inner, depth + 1, (*current_path, key), (*bound, str(key)) if part == "*" else bound))


def check_rules(parsed: Parsed, structure: Structure, evidence_ids: Collection[str]) -> list[Issue]:
    """The issues of every broken rule of a document, and of every reference to unknown evidence.

    Args:
        parsed: the document.
        structure: its rules and references.
        evidence_ids: the ids that may be referred to.

    Raises:
        InputError: a pointer of the structure is not valid.
    """
    broken: list[tuple[Path, str, str]] = []
    for rule in structure.rules:
        broken += islice(_CHECKS[rule.rule](parsed.value, rule), MOST_RULE_ISSUES)
    for text in (*structure.references, *(cited.sources for cited in structure.cited)):
        broken += islice(
            _broken_references(parsed.value, read_pattern(text), frozenset(evidence_ids)), MOST_RULE_ISSUES
        )
    if not broken:
        return []
    broken_paths = {path for path, _, _ in broken}
    places = {path: place for path, place in walk(parsed) if path in broken_paths}
    return [
        Issue(
            code=f"structure.{code}",
            message=message,
            path=pointer(path),
            span=Span(start=places[path].start, end=places[path].end) if path in places else None,
        )
        for path, code, message in broken
    ]


def cited_objects(parsed: Parsed, cited: Sequence[CitedField], evidence_ids: Collection[str]) -> list[dict[str, Any]]:
    """The statements of a document with their sources, in the form of docs/concepts.md#citations.

    Sources that do not exist are left out; `check_rules` reports them.
    """
    objects: list[dict[str, Any]] = []
    for field in cited:
        sources: dict[Pattern, list[str]] = {}
        for _, value, bound in find_values(parsed.value, read_pattern(field.sources)):
            named = value if isinstance(value, list) else [value]
            sources.setdefault(bound, []).extend(name for name in named if isinstance(name, str))
        for _, statement, bound in find_values(parsed.value, read_pattern(field.statement)):
            ids = [name for name in sources.get(bound, ()) if name in evidence_ids]
            if isinstance(statement, str) and ids and statement.strip():
                objects.append({"claim_text": statement, "citations": [{"source_id": name} for name in ids]})
    return objects


def _broken_references(value: Any, pattern: Pattern, ids: frozenset[str]) -> Iterator[tuple[Path, str, str]]:
    for path, reference, _ in find_values(value, pattern):
        named = (
            [((*path, place), item) for place, item in enumerate(reference)]
            if isinstance(reference, list)
            else [(path, reference)]
        )
        for name_path, name in named:
            if not isinstance(name, str) or name not in ids:
                yield name_path, "reference", f"{_as_json(name)} at {pointer(name_path)} is no id of the evidence."


def _counterparts(value: Any, rule: FieldRule) -> Iterator[tuple[Path, Any, Path, Any]]:
    """Each value of the first side with its counterpart of the second side."""
    second = read_pattern(rule.to or "")
    for path, first, bound in find_values(value, read_pattern(rule.of)):
        for other, counterpart, _ in islice(find_values(value, _bind(second, bound)), 1):
            yield path, first, other, counterpart


def _order(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, first, other_path, counterpart in _counterparts(value, rule):
        first_key, second_key = _order_key(first), _order_key(counterpart)
        if first_key is None or second_key is None or first_key[0] != second_key[0]:
            if first is not None and counterpart is not None:
                yield (
                    path,
                    "rule",
                    f"{_as_json(first)} at {pointer(path)} cannot be compared with {_as_json(counterpart)}.",
                )
        elif first_key[1] > second_key[1]:
            yield (
                path,
                "rule",
                (f"{_as_json(first)} at {pointer(path)} comes after {_as_json(counterpart)} at {pointer(other_path)}."),
            )


def _sum(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, stated, _ in find_values(value, read_pattern(rule.to or "")):
        bound = [str(part) for part, want in zip(path, read_pattern(rule.to or ""), strict=False) if want == "*"]
        parts = [at for _, at, _ in find_values(value, _bind(read_pattern(rule.of), bound))]
        if not _is_number(stated) or not all(map(_is_number, parts)):
            yield path, "rule", f"What should add up to {pointer(path)} is not all numbers."
            continue
        total = _total(parts)
        if _differ(total, stated, rule.tolerance):
            shown = f"{round(total, 6):g}" if -_LARGEST_FLOAT < total < _LARGEST_FLOAT else _as_json(int(total))
            yield path, "rule", f"{pointer(path)} says {_as_json(stated)}; its parts add up to {shown}."


def _count(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, stated, _ in find_values(value, read_pattern(rule.to or "")):
        bound = [str(part) for part, want in zip(path, read_pattern(rule.to or ""), strict=False) if want == "*"]
        count = sum(1 for _ in find_values(value, _bind(read_pattern(rule.of), bound)))
        if not _is_number(stated) or stated != count:
            yield path, "rule", f"{pointer(path)} says {_as_json(stated)}; there are {count}."


def _unique(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    seen: dict[str, Path] = {}
    for path, item, _ in find_values(value, read_pattern(rule.of)):
        key = f"{type(item).__name__} {_as_json(item, 10_000)}"
        if key in seen:
            yield path, "rule", f"{_as_json(item)} at {pointer(path)} stands at {pointer(seen[key])} already."
        seen.setdefault(key, path)


def _member(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    allowed = {_as_json(item, 10_000) for _, item, _ in find_values(value, read_pattern(rule.to or ""))}
    for path, item, _ in find_values(value, read_pattern(rule.of)):
        if _as_json(item, 10_000) not in allowed:
            yield path, "rule", f"{_as_json(item)} at {pointer(path)} is none of those at {rule.to}."


def _equal(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, first, other_path, counterpart in _counterparts(value, rule):
        numbers = _is_number(first) and _is_number(counterpart)
        if _differ(first, counterpart, rule.tolerance) if numbers else first != counterpart:
            yield (
                path,
                "rule",
                f"{_as_json(first)} at {pointer(path)} differs from {_as_json(counterpart)} at {pointer(other_path)}.",
            )


_CHECKS: Final[Mapping[str, Callable[[Any, FieldRule], Iterator[tuple[Path, str, str]]]]] = {
    "order": _order,
    "sum": _sum,
    "count": _count,
    "unique": _unique,
    "member": _member,
    "equal": _equal,
}


def _bind(pattern: Pattern, names: Sequence[str]) -> Pattern:
    """A pattern with names in place of its first `*`s; further ones stay."""
    filled = list(pattern)
    for name in names:
        if "*" in filled:
            filled[filled.index("*")] = name
    return tuple(filled)


def _order_key(value: Any) -> tuple[str, Any] | None:
    """The key by which a value is ordered: its kind and its comparable value."""
    if _is_number(value):
        return "number", value
    if not isinstance(value, str):
        return None
    if _DATE.match(value):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        # A time without a zone counts as UTC: rules compare fields of the same document.
        return "date", (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return "text", value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _total(parts: Sequence[float]) -> float | Fraction:
    """The sum; a fraction where a whole number, or the sum itself, is too large for a float."""
    try:
        total = sum(parts)
    except OverflowError:
        total = math.inf
    return total if -_LARGEST_FLOAT <= total <= _LARGEST_FLOAT else sum(map(Fraction, parts), Fraction(0))


def _differ(first: float | Fraction, second: float, tolerance: float) -> bool:
    """Whether two numbers of any size differ by more than a tolerance."""
    try:
        return abs(first - second) > tolerance
    except OverflowError:
        return abs(Fraction(first) - Fraction(second)) > tolerance


def _as_json(value: Any, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
