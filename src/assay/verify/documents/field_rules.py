"""Rules over several fields of a document, and references into the evidence; each finding with its JSON Pointer."""

import json
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
"""Findings of one rule that are listed at most."""
_LARGEST_FLOAT: Final = sys.float_info.max
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")

Pattern = tuple[str, ...]
Leaf = tuple[Path, Any]


def read_pattern(text: str) -> Pattern:
    """The parts of a JSON Pointer with places for any key.

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


def begins(path: Path, patterns: Collection[Pattern]) -> bool:
    """Whether a path is, or lies inside of, what one of the patterns names."""
    return any(
        len(pattern) <= len(path) and all(want in ("*", str(got)) for want, got in zip(pattern, path, strict=False))
        for pattern in patterns
    )


def found(value: Any, pattern: Pattern, path: Path = ()) -> Iterator[tuple[Path, Any, Pattern]]:
    """The values that a pattern names, each with its path and with what every `*` stood for."""
    stack: list[tuple[Any, int, Path, Pattern]] = [(value, 0, path, ())]
    while stack:
        at, depth, here, bound = stack.pop()
        if depth == len(pattern):
            yield here, at, bound
            continue
        part = pattern[depth]
        members: list[tuple[str | int, Any]] = []
        if isinstance(at, Mapping):
            members = list(at.items()) if part == "*" else [(part, at[part])] if part in at else []
        elif isinstance(at, list):
            if part == "*":
                members = list(enumerate(at))
            elif part.isdigit() and len(part) < 10 and int(part) < len(at):
                members = [(int(part), at[int(part)])]
        for key, inner in reversed(members):
            stack.append((inner, depth + 1, (*here, key), (*bound, str(key)) if part == "*" else bound))


def check_rules(parsed: Parsed, structure: Structure, evidence_ids: Collection[str]) -> list[Issue]:
    """Every rule that a document breaks and every reference that names no evidence.

    Args:
        parsed: the document.
        structure: what it is held to.
        evidence_ids: the ids that may be referred to.

    Raises:
        InputError: a pointer of the structure is none.
    """
    broken: list[tuple[Path, str, str]] = []
    for rule in structure.rules:
        broken += islice(_CHECKS[rule.rule](parsed.value, rule), MOST_RULE_ISSUES)
    for text in (*structure.references, *(cited.sources for cited in structure.cited)):
        broken += islice(_references(parsed.value, read_pattern(text), frozenset(evidence_ids)), MOST_RULE_ISSUES)
    if not broken:
        return []
    wanted = {path for path, _, _ in broken}
    where = {path: place for path, place in walk(parsed) if path in wanted}
    return [
        Issue(
            code=f"structure.{code}",
            message=message,
            path=pointer(path),
            span=Span(start=where[path].start, end=where[path].end) if path in where else None,
        )
        for path, code, message in broken
    ]


def cited_objects(parsed: Parsed, cited: Sequence[CitedField], evidence_ids: Collection[str]) -> list[dict[str, Any]]:
    """The statements of a document with the sources that they name, in the form of docs/concepts.md#citations.

    Sources that do not exist are findings of `check_rules` already.
    """
    made: list[dict[str, Any]] = []
    for one in cited:
        sources: dict[Pattern, list[str]] = {}
        for _, value, bound in found(parsed.value, read_pattern(one.sources)):
            named = value if isinstance(value, list) else [value]
            sources.setdefault(bound, []).extend(name for name in named if isinstance(name, str))
        for _, statement, bound in found(parsed.value, read_pattern(one.statement)):
            ids = [name for name in sources.get(bound, ()) if name in evidence_ids]
            if isinstance(statement, str) and ids and statement.strip():
                made.append({"claim_text": statement, "citations": [{"source_id": name} for name in ids]})
    return made


def _references(value: Any, pattern: Pattern, ids: frozenset[str]) -> Iterator[tuple[Path, str, str]]:
    for path, at, _ in found(value, pattern):
        named = [((*path, place), item) for place, item in enumerate(at)] if isinstance(at, list) else [(path, at)]
        for where, name in named:
            if not isinstance(name, str) or name not in ids:
                yield where, "reference", f"{_shown(name)} at {pointer(where)} is no id of the evidence."


def _pairs(value: Any, rule: FieldRule) -> Iterator[tuple[Path, Any, Path, Any]]:
    """Each value of the first side with the value of the second side that belongs to it."""
    second = read_pattern(rule.to or "")
    for path, first, bound in found(value, read_pattern(rule.of)):
        filled = list(second)
        for name in bound:
            if "*" in filled:
                filled[filled.index("*")] = name
        for other, then, _ in islice(found(value, tuple(filled)), 1):
            yield path, first, other, then


def _order(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, first, other, then in _pairs(value, rule):
        before, after = _ordered(first), _ordered(then)
        if before is None or after is None or before[0] != after[0]:
            if first is not None and then is not None:
                yield path, "rule", f"{_shown(first)} at {pointer(path)} cannot be compared with {_shown(then)}."
        elif before[1] > after[1]:
            yield path, "rule", (f"{_shown(first)} at {pointer(path)} comes after {_shown(then)} at {pointer(other)}.")


def _sum(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, stated, _ in found(value, read_pattern(rule.to or "")):
        bound = [str(part) for part, want in zip(path, read_pattern(rule.to or ""), strict=False) if want == "*"]
        parts = [at for _, at, _ in found(value, _bound(read_pattern(rule.of), bound))]
        if not _is_number(stated) or not all(map(_is_number, parts)):
            yield path, "rule", f"What should add up to {pointer(path)} is not all numbers."
            continue
        total = _total(parts)
        if _differ(total, stated, rule.tolerance):
            shown = f"{round(total, 6):g}" if abs(total) < _LARGEST_FLOAT else _shown(int(total))
            yield path, "rule", f"{pointer(path)} says {_shown(stated)}; its parts add up to {shown}."


def _count(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, stated, _ in found(value, read_pattern(rule.to or "")):
        bound = [str(part) for part, want in zip(path, read_pattern(rule.to or ""), strict=False) if want == "*"]
        count = sum(1 for _ in found(value, _bound(read_pattern(rule.of), bound)))
        if not _is_number(stated) or stated != count:
            yield path, "rule", f"{pointer(path)} says {_shown(stated)}; there are {count}."


def _unique(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    seen: dict[str, Path] = {}
    for path, at, _ in found(value, read_pattern(rule.of)):
        key = f"{type(at).__name__} {_shown(at, 10_000)}"
        if key in seen:
            yield path, "rule", f"{_shown(at)} at {pointer(path)} stands at {pointer(seen[key])} already."
        seen.setdefault(key, path)


def _member(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    allowed = {_shown(at, 10_000) for _, at, _ in found(value, read_pattern(rule.to or ""))}
    for path, at, _ in found(value, read_pattern(rule.of)):
        if _shown(at, 10_000) not in allowed:
            yield path, "rule", f"{_shown(at)} at {pointer(path)} is none of those at {rule.to}."


def _equal(value: Any, rule: FieldRule) -> Iterator[tuple[Path, str, str]]:
    for path, first, other, then in _pairs(value, rule):
        numbers = _is_number(first) and _is_number(then)
        if _differ(first, then, rule.tolerance) if numbers else first != then:
            yield path, "rule", f"{_shown(first)} at {pointer(path)} differs from {_shown(then)} at {pointer(other)}."


_CHECKS: Final[Mapping[str, Callable[[Any, FieldRule], Iterator[tuple[Path, str, str]]]]] = {
    "order": _order,
    "sum": _sum,
    "count": _count,
    "unique": _unique,
    "member": _member,
    "equal": _equal,
}


def _bound(pattern: Pattern, names: Sequence[str]) -> Pattern:
    """A pattern with its first `*`s filled in; those beyond stay."""
    filled = list(pattern)
    for name in names:
        if "*" in filled:
            filled[filled.index("*")] = name
    return tuple(filled)


def _ordered(value: Any) -> tuple[str, Any] | None:
    """What a value is compared by: its kind and itself."""
    if _is_number(value):
        return "number", value
    if not isinstance(value, str):
        return None
    if _DATE.match(value):
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            return None
        # A time without a zone is read as if it was in UTC: rules compare fields of one document.
        return "date", (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    return "text", value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _total(parts: Sequence[int | float]) -> int | float | Fraction:
    """The sum; a fraction where a whole number is too large to be added to a float."""
    try:
        return sum(parts)
    except OverflowError:
        return sum(map(Fraction, parts), Fraction(0))


def _differ(first: float | Fraction, second: float, tolerance: float) -> bool:
    """Whether two numbers of any size differ by more than a tolerance."""
    try:
        return abs(first - second) > tolerance
    except OverflowError:
        return abs(Fraction(first) - Fraction(second)) > tolerance


def _shown(value: Any, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, sort_keys=True)
    return text if len(text) <= most else f"{text[: most - 1]}\u2026"
