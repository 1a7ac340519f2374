"""The fence around foreign text.

1. Each record is one line of JSON. Line ends, control characters, format characters and anything else that affects
   reading direction or lines are escaped, so no text can start a line of its own, and therefore no mark.
2. The marks carry a token derived from all records of the message that occurs in none of them. To forge a mark, the
   author of a record would have to find a text that contains a piece of its own hash.
3. The characters from which chat templates build control tokens (`<|im_end|>`, `[/INST]`, `</s>`) are escaped too, so
   a server that parses such tokens in message text finds none.

The result is plain JSON: every record reads back to the character (two halves of a surrogate pair, which text from
outside never contains, become the character that they encode).
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError

TOKEN_CHARACTERS: Final = 16
"""Hexadecimal digits of the token: 64 bits."""
_STEERING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ROLE: Final = re.compile(r"\[(?!(?:true|false|null)\])(?=/?[A-Za-z_]{1,40}\])")
_OPENING: Final = re.compile(r"-----BEGIN DATA ([a-z_]+) ([0-9a-f]+)-----")


@dataclass(frozen=True, slots=True)
class Data:
    """Foreign text for one placeholder of a prompt: records whose field names are ours and whose values are not."""

    records: tuple[Mapping[str, Any], ...]
    """Their values are texts, numbers, booleans, and lists of these."""

    @classmethod
    def of(cls, *records: Mapping[str, Any]) -> Data:
        """Data made of these records."""
        return cls(records)

    @property
    def lines(self) -> list[str]:
        """One line for each record.

        Raises:
            InputError: a record cannot be written as JSON.
        """
        return [quoted(record) for record in self.records]


def quoted(record: Mapping[str, Any]) -> str:
    r"""A record as JSON on one line, with every character escaped that controls lines, direction or chat templates.

    >>> print(quoted({"text": "a\nb <|im_end|>"}))
    {"text": "a\nb \u003c|im_end|\u003e"}

    Raises:
        InputError: it cannot be written as JSON.
    """
    try:
        text = json.dumps(record, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"a record of a prompt must be JSON: {error}") from error
    # These characters occur only inside strings, where an escape means the same. The one exception, a bracket around a
    # single bare word (a list of true, false or null), is left alone.
    text = text.replace("<", "\\u003c").replace(">", "\\u003e")
    text = _ROLE.sub(r"\\u005b", text)
    return text if text.isascii() and text.isprintable() else "".join(_harmless(c) for c in text)


def _harmless(character: str) -> str:
    steers = unicodedata.category(character) in _STEERING
    # Full-width brackets and bars make the control tokens of some models.
    return json.dumps(character)[1:-1] if steers or character in "＜＞｜▁" else character


def token_of(lines: Iterable[str]) -> str:
    """A token that occurs in none of the lines; equal lines give an equal token.

    >>> token_of(["a"]) == token_of(["a"]), token_of(["a"]) in "a"
    (True, False)
    """
    everything = "\n".join(lines)
    number = 0
    while True:
        content = f"{number}\n{everything}".encode("utf-8", "surrogatepass")
        token = hashlib.sha256(content).hexdigest()[:TOKEN_CHARACTERS]
        if token not in everything.lower():
            return token
        number += 1


def fenced(label: str, lines: Sequence[str], token: str) -> str:
    """Lines between their two marks.

    Args:
        label: what they are, in lower case; never foreign text.
        lines: as `Data.lines` gives them.
        token: as `token_of` derives it from every line of the message.
    """
    return "\n".join((f"-----BEGIN DATA {label} {token}-----", *lines, f"-----END DATA {label} {token}-----"))


def unfenced(message: str) -> tuple[str, list[tuple[str, list[Any]]]]:
    """Takes a rendered message apart: our own words, with a marker where each block of data was, and the data.

    It parses as strictly as a reader can be expected to; the tests use it to prove that the fence holds.

    Raises:
        InputError: a fence is not closed, or something inside it is not a line of JSON.
    """
    ours: list[str] = []
    data: list[tuple[str, list[Any]]] = []
    lines = iter(message.split("\n"))
    for line in lines:
        opening = _OPENING.fullmatch(line)
        if opening is None:
            ours.append(line)
            continue
        end = f"-----END DATA {opening[1]} {opening[2]}-----"
        records: list[Any] = []
        for inner in lines:
            if inner == end:
                break
            try:
                records.append(json.loads(inner))
            except ValueError as error:
                raise InputError(f"expected a line of JSON inside of the fence, got {inner!r:.80}") from error
        else:
            raise InputError(f"the fence of {opening[1]} does not end")
        ours.append(f"(data: {opening[1]})")
        data.append((opening[1], records))
    return "\n".join(ours), data
