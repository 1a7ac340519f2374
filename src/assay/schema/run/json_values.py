"""Converts a transcript in any Python form to plain JSON, the only form that readers and wire formats see.

Transcripts come as JSON text, as mappings and lists, and as values of the official clients, often mixed. Two kinds of
Python value have no portable JSON: numbers that are not finite, and texts with half of a surrogate pair. Hostile text
may contain either; they are replaced by their written form (`"NaN"`, `"\\ud800"`) and marked with a fault, so that
they neither break the check nor go unnoticed.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel, Field

from assay.errors import InputError
from assay.schema.base import Value

DEEPEST: Final = 200
"""The most levels of nesting that are read; pydantic and the JSON Schema validator stop at 255."""

LONGEST_NUMBER: Final = 400
"""The most characters of one number that are read; a float has at most 17 significant digits and 3 of exponent."""

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Fault(Value):
    """Something wrong with an item of a transcript: the item is kept as it came and marked with this."""

    code: str = Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")
    """A stable name such as `arguments.invalid_json`."""
    message: str
    """A sentence for people."""
    place: str | None = None
    """The JSON Pointer of what is wrong in the transcript, or for arguments in the arguments."""


class Altered(str):
    """The written form of a value that JSON cannot hold; `original` is the value itself."""

    __slots__ = ("original",)
    original: str | float

    @classmethod
    def of(cls, original: str | float) -> "Altered":
        """The written form of a number that is not finite, or of a text with half of a surrogate pair."""
        if isinstance(original, str):
            altered = cls(_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", original))
        else:
            altered = cls("NaN" if math.isnan(original) else "Infinity" if original > 0 else "-Infinity")
        altered.original = original
        return altered


@dataclass(slots=True)
class Plain:
    """Plain JSON, with a fault for every value that had to be altered."""

    value: Any
    faults: list[Fault] = field(default_factory=list)


def plain_json(raw: object) -> Plain:
    """Copies a value as plain JSON; pydantic values become their dump.

    Raises:
        InputError: something in it is of another type, or it is nested deeper than `DEEPEST`.
    """
    faults: list[Fault] = []
    return Plain(_copy(raw, "", 0, faults), faults)


def parse_json(text: str, what: str) -> Any:
    """Parses a transcript: one JSON value, or JSON Lines.

    Raises:
        InputError: it is neither, names a member twice in one object, or holds a number that is too long.
    """
    try:
        return _loads(text, what)
    except json.JSONDecodeError as error:
        # Not `splitlines`: a JSON string may hold U+2028 and other line separators unescaped.
        lines = [line for line in text.split("\n") if line.strip()]
        if error.msg != "Extra data" or len(lines) < 2:
            raise InputError(f"{what} is no JSON: {error.msg} at character {error.pos}") from None
    try:
        return [_loads(line, what) for line in lines]
    except json.JSONDecodeError as error:
        raise InputError(f"{what} is neither JSON nor JSON Lines: {error.msg} in {error.doc[:60]!a}") from None


def restored(value: Any) -> Any:
    """The value with every `Altered` text turned back into what it stands for."""
    if isinstance(value, Altered):
        return value.original
    if isinstance(value, dict):
        return {restored(key): restored(member) for key, member in value.items()}
    if isinstance(value, list):
        return [restored(item) for item in value]
    return value


def places(value: object) -> Iterator[tuple[str, object]]:
    """Every value and every member name within a value, with its JSON Pointer; not recursive."""
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        place, item = stack.pop()
        yield place, item
        if isinstance(item, dict):
            for key, member in item.items():
                yield place, key
                stack.append((f"{place}/{escaped(key)}", member))
        elif isinstance(item, list):
            stack.extend((f"{place}/{index}", member) for index, member in enumerate(item))


def has_lone_surrogate(text: str) -> bool:
    """Whether the text contains half of a surrogate pair, which no encoding can write."""
    return _SURROGATE.search(text) is not None


def json_kind(value: object) -> str:
    """What JSON calls the value, with its article.

    >>> json_kind([]), json_kind(None), json_kind(1.5)
    ('an array', 'null', 'a number')
    """
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case dict():
            return "an object"
        case list() | tuple():
            return "an array"
        case _:
            return f"a Python {type(value).__name__}"


def escaped(key: str) -> str:
    """A member's name as one part of a JSON Pointer (RFC 6901).

    >>> escaped("a/b~c")
    'a~1b~0c'
    """
    return key.replace("~", "~0").replace("/", "~1")


def _copy(raw: object, place: str, depth: int, faults: list[Fault]) -> Any:
    if isinstance(raw, Enum):
        raw = raw.value
    if isinstance(raw, date):
        raw = raw.isoformat()
    if isinstance(raw, str):
        return _text(str(raw), place, faults)
    if raw is None or isinstance(raw, bool):
        return raw
    if isinstance(raw, int):
        return _whole(int(raw), place)
    if isinstance(raw, float):
        if math.isfinite(raw):
            return float(raw)
        faults.append(_fault("not_finite", f"the number {raw} is no JSON", place))
        return Altered.of(raw)
    if depth >= DEEPEST:
        raise InputError(f"a transcript is nested at most {DEEPEST} levels deep; at {place[:80]}... it goes deeper")
    if isinstance(raw, BaseModel):
        raw = raw.model_dump(by_alias=True)  # the aliases are the names on the wire
    if isinstance(raw, Mapping):
        return _members(raw, place, depth, faults)
    if isinstance(raw, Sequence) and not isinstance(raw, bytes | bytearray | memoryview):
        return [_copy(item, f"{place}/{index}", depth + 1, faults) for index, item in enumerate(raw)]
    raise InputError(
        f"a transcript is made of JSON values, but at {place or 'its root'} there is a Python {type(raw).__name__}; "
        "pass its dictionary form"
    )


def _members(raw: Mapping[Any, Any], place: str, depth: int, faults: list[Fault]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, member in raw.items():
        if not isinstance(key, str):
            raise InputError(f"the names of an object are texts, but at {place or 'the root'} one is {ascii(key)[:60]}")
        name = _text(key, place, faults)
        if name in found:
            raise InputError(f"two members at {place or 'the root'} have the same written name {ascii(name)[:60]}")
        found[name] = _copy(member, f"{place}/{escaped(name)}", depth + 1, faults)
    return found


def _text(raw: str, place: str, faults: list[Fault]) -> str:
    if not has_lone_surrogate(raw):
        return raw
    faults.append(_fault("lone_surrogate", "half of a surrogate pair was replaced by its written form", place))
    return Altered.of(raw)


def _whole(raw: int, place: str) -> int:
    # 400 digits are 1,329 bits; longer numbers cannot be printed in linear time.
    if raw.bit_length() > LONGEST_NUMBER * 4:
        raise InputError(f"a number at {place or 'the root'} has more than {LONGEST_NUMBER} digits; give it as a text")
    return raw


def _fault(code: str, message: str, place: str) -> Fault:
    return Fault(code=f"value.{code}", message=message, place=place)


def _loads(text: str, what: str) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1) if len(names) < 1000 else "one of many"
            raise InputError(f"{what} names the member {ascii(twice)[:60]} twice in one object; readers would disagree")
        return found

    def whole(literal: str) -> int:
        if len(literal) > LONGEST_NUMBER:
            raise InputError(f"{what} holds a number of {len(literal)} characters; at most {LONGEST_NUMBER} are read")
        return int(literal)

    try:
        return json.loads(text, object_pairs_hook=members, parse_int=whole)
    except RecursionError:
        raise InputError(f"{what} is nested too deep: at most {DEEPEST} levels are read") from None
