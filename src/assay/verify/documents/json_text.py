"""Reads JSON with the eyes of a checker: where every value stands, which keys come twice, what no reader could hold.

`json.loads` of the standard library accepts `NaN`, keeps the last of two equal keys, turns 1e999 into infinity and
recurses into nested brackets; each of these would let a wrong output look right, or crash.
"""

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

DEEPEST: Final = 200
"""The most levels of nesting that are read; the validator's own limit is 255."""

LONGEST_NUMBER: Final = 400
"""The most characters of one number that are read; a float has at most 17 significant digits and 3 of exponent."""

Path = tuple[str | int, ...]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]{0,40}$", re.MULTILINE)


class JsonTextError(Exception):
    """The text is no JSON, or none that is read; with the place."""

    def __init__(self, code: str, message: str, at: int) -> None:
        super().__init__(message)
        self.code = code
        self.at = at


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands; for a member of an object also where its key stands."""

    start: int
    end: int
    key_start: int | None = None


@dataclass(slots=True)
class Parsed:
    """A value with the place in the text that it was read from."""

    value: Any
    text: str
    start: int
    """Index of the JSON in the whole text."""
    suspect: bool = False
    """Whether a key came twice or a number cannot be held."""


@dataclass(slots=True)
class Finding:
    """A place that the parser accepts and that is wrong all the same."""

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


def cut_out(output: str) -> tuple[str, int]:
    """The JSON of an output and its offset: the whole of it, or the inside of its one fenced block.

    >>> cut_out('Here it is:\\n```json\\n{"a": 1}\\n```')
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
    """Parses the JSON in an output.

    Raises:
        JsonTextError: there is none, or it is nested deeper than `DEEPEST`.
    """
    text, offset = cut_out(output)
    _refuse_depth(text, offset)
    suspects: list[str] = []

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(found)
        if len(members) < len(found):
            suspects.append("duplicate")
        return members

    def whole(literal: str) -> int:
        if len(literal) > LONGEST_NUMBER:
            suspects.append("number")
            return 0
        return int(literal)

    def real(literal: str) -> float:
        value = float(literal) if len(literal) <= LONGEST_NUMBER else float("inf")
        if value in (float("inf"), float("-inf")):
            suspects.append("number")
            return 0.0
        return value

    def constant(literal: str) -> Any:
        at = next((m.start() for m in _TOKEN.finditer(text) if m.group() == literal), 0)
        raise JsonTextError("structure.not_json", f"{literal} is no JSON value", offset + at)

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_int=whole, parse_float=real, parse_constant=constant)
    except json.JSONDecodeError as error:
        raise JsonTextError("structure.not_json", error.msg, offset + error.pos) from None
    return Parsed(value, text, offset, bool(suspects))


def walk(parsed: Parsed) -> Iterator[tuple[Path, Place]]:
    """The path and the place of every value, members and items in order, each behind what it holds.

    One pass over the tokens without recursion; the text must be valid JSON.
    """
    stack: list[_Level] = []
    path: list[str | int] = []
    for match in _TOKEN.finditer(parsed.text):
        sign, start, end = match.group(), parsed.start + match.start(), parsed.start + match.end()
        if sign in ("]", "}"):
            level = stack.pop()
            if path and len(path) > len(stack):
                path.pop()
            yield tuple(path), Place(level.start, end, _key_of(stack))
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
            yield tuple(path), Place(start, end, _key_of(stack))


def places(parsed: Parsed, wanted: Collection[Path]) -> dict[Path, Place]:
    """Where the wanted values stand; of a key that comes twice the last, as parsers read it."""
    names = frozenset(wanted)
    found: dict[Path, Place] = {}
    for path, place in walk(parsed):
        if path in names:
            found[path] = place
            if len(found) == len(names) and not parsed.suspect:
                break
    return found


def suspects(parsed: Parsed) -> list[Finding]:
    """Keys that come twice in their object, and numbers that cannot be held."""
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
        if literal[:1] in "-0123456789" and literal and _too_big(literal):
            found.append(Finding("structure.number", path, place, literal))
    return found


def pointer(path: Path) -> str:
    """The JSON Pointer of a path (RFC 6901).

    >>> pointer(("a/b", 0, "m~n"))
    '/a~1b/0/m~0n'
    """
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def _key_of(stack: list[_Level]) -> int | None:
    return stack[-1].key_start if stack and stack[-1].is_object else None


def _too_big(literal: str) -> bool:
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
