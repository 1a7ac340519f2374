"""Parses JSON strictly, with the span of every value, and finds duplicate keys and numbers that cannot be represented.

`json.loads` of the standard library accepts `NaN`, keeps the last of two equal keys, turns 1e999 into infinity and
recurses into nested brackets; each of these would let a wrong output look right, or crash.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

DEEPEST: Final = 200
"""The most levels of nesting; the validator's own limit is 255."""

LONGEST_NUMBER: Final = 400
"""The most characters of a number; a float has at most 17 significant digits and 3 of exponent."""

Path = tuple[str | int, ...]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]{0,40}$", re.MULTILINE)


KEY_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_a-zA-Z]+")
"""A word of a key: "unit" and "Price" of `unitPrice`."""


class JsonTextError(Exception):
    """The text is not JSON, or JSON that is refused; `at` is the offset."""

    def __init__(self, code: str, message: str, at: int) -> None:
        super().__init__(message)
        self.code = code
        self.at = at


@dataclass(frozen=True, slots=True)
class Place:
    """The range of a value in the text, and for a member of an object where its key begins."""

    start: int
    end: int
    key_start: int | None = None


@dataclass(slots=True)
class Parsed:
    """A parsed value with its text."""

    value: Any
    text: str
    """The JSON."""
    start: int
    """The offset of the JSON in the whole text."""
    suspect: bool = False
    """Whether there is a duplicate key, or a number that cannot be represented."""


@dataclass(slots=True)
class Finding:
    """A fault that the parser accepts."""

    code: str
    path: Path
    place: Place
    detail: str


@dataclass(slots=True)
class _Level:
    """One open bracket during a walk."""

    start: int
    is_object: bool
    index: int = 0
    key: str = ""
    key_start: int | None = None
    seen: set[str] = field(default_factory=set)


def extract_json(output: str) -> tuple[str, int]:
    """The JSON of an output and its offset: the whole output, or the content of its only fenced block.

    >>> extract_json('Here it is:\\n```json\\n{"a": 1}\\n```')
    ('{"a": 1}\\n', 20)
    """
    body = output.lstrip("\ufeff \t\r\n")
    if body[:1] not in ("{", "["):
        fences = [match.span() for match in _FENCE.finditer(output)]
        if len(fences) == 2:
            start = fences[0][1] + 1
            return output[start : fences[1][0]], start
    return body, len(output) - len(body)


def parse(output: str) -> Parsed:
    """Parse the JSON in an output.

    Raises:
        JsonTextError: there is none, or it is nested deeper than `DEEPEST`.
    """
    text, offset = extract_json(output)
    _refuse_depth(text, offset)
    suspect_kinds: list[str] = []

    def pairs(members_: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(members_)
        if len(members) < len(members_):
            suspect_kinds.append("duplicate")
        return members

    def whole(literal: str) -> int:
        if len(literal) > LONGEST_NUMBER:
            suspect_kinds.append("number")
            return 0
        return int(literal)

    def real(literal: str) -> float:
        value = float(literal) if len(literal) <= LONGEST_NUMBER else float("inf")
        if value in (float("inf"), float("-inf")):
            suspect_kinds.append("number")
            return 0.0
        return value

    def constant(literal: str) -> Any:
        at = next((m.start() for m in _TOKEN.finditer(text) if m.group() == literal), 0)
        raise JsonTextError("structure.not_json", f"{literal} is no JSON value", offset + at)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_int=whole, parse_float=real, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise JsonTextError("structure.not_json", error.msg, offset + error.pos) from None
    return Parsed(value, text, offset, bool(suspect_kinds))


def walk(parsed: Parsed) -> Iterator[tuple[Path, Place]]:
    """The path and the place of every value in order, each after the values that it contains.

    It is one pass over the tokens, without recursion; the text must be valid JSON.
    """
    stack: list[_Level] = []
    path: list[str | int] = []
    for match in _TOKEN.finditer(parsed.text):
        sign, start, end = match.group(), parsed.start + match.start(), parsed.start + match.end()
        if sign in ("]", "}"):
            level = stack.pop()
            if path and len(path) > len(stack):
                path.pop()
            yield tuple(path), Place(level.start, end, _key_start(stack))
        elif sign == ",":
            if stack[-1].is_object:
                path.pop()
            stack[-1].index += 1
            if not stack[-1].is_object:
                path[-1] = stack[-1].index
        elif sign == ":":
            continue
        elif stack and stack[-1].is_object and len(path) < len(stack):
            stack[-1].key, stack[-1].key_start = json.loads(sign), start
            path.append(stack[-1].key)
        elif sign in ("[", "{"):
            stack.append(_Level(start, sign == "{"))
            if sign == "[":
                path.append(0)
        else:
            yield tuple(path), Place(start, end, _key_start(stack))


def find_places(parsed: Parsed, paths: Collection[Path]) -> dict[Path, Place]:
    """The places of the wanted values; of a duplicate key the last one, which parsers keep."""
    names = frozenset(paths)
    result: dict[Path, Place] = {}
    for path, place in walk(parsed):
        if path in names:
            result[path] = place
            if len(result) == len(names) and not parsed.suspect:
                break
    return result


def find_suspects(parsed: Parsed) -> list[Finding]:
    """The duplicate keys, and the numbers that cannot be represented."""
    found = []
    seen: set[tuple[Path, int | None]] = set()
    first: dict[Path, int] = {}
    for path, place in walk(parsed):
        literal = parsed.text[place.start - parsed.start : place.end - parsed.start] if place.end - place.start else ""
        if place.key_start is not None and (path, place.key_start) not in seen:
            seen.add((path, place.key_start))
            if path in first and first[path] != place.key_start:
                found.append(Finding("structure.duplicate_key", path, place, str(path[-1])))
            first[path] = place.key_start
        if literal[:1] in "-0123456789" and literal and _is_too_big(literal):
            found.append(Finding("structure.number", path, place, literal))
    return found


def pointer(path: Path) -> str:
    """The JSON Pointer of a path (RFC 6901).

    >>> pointer(("a/b", 0, "m~n"))
    '/a~1b/0/m~0n'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def value_at(value: Any, path: Path) -> Any:
    """The value at a path of a parsed document.

    Raises:
        LookupError: there is none.
    """
    for part in path:
        value = value[part]
    return value


def _key_start(stack: list[_Level]) -> int | None:
    return stack[-1].key_start if stack and stack[-1].is_object else None


def _is_too_big(literal: str) -> bool:
    if len(literal) > LONGEST_NUMBER:
        return True
    return any(c in literal for c in ".eE") and float(literal) in (float("inf"), float("-inf"))


def _refuse_depth(text: str, offset: int) -> None:
    depth = 0
    for match in _TOKEN.finditer(text):
        sign = match.group()
        if sign in ("[", "{"):
            depth += 1
            if depth > DEEPEST:
                message = f"it is nested deeper than {DEEPEST} levels"
                raise JsonTextError("structure.too_deep", message, offset + match.start())
        elif sign in ("]", "}"):
            depth -= 1
