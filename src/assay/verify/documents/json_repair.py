"""Repairs JSON that is plainly broken without changing its content; every change is recorded.

It repairs fences and prose around the document, surplus or missing commas, unclosed brackets, other quotation marks,
keys without quotes, Python's constants, and control characters and quotes inside strings. Where two readings are
possible or a value is missing, nothing is repaired: a guess would invent content. A truncated document is closed only
on request, and is then marked as incomplete, since its last value may be truncated too.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from assay.verify.documents.json_text import DEEPEST, JsonTextError, Parsed, parse

_TOKEN: Final = re.compile(
    r"\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|[\[\]{}:,\"'\u2018\u2019\u201c\u201d\u201e\u201f]|[^\s\[\]{}:,\"'/]+|/", re.DOTALL
)
_CLOSING: Final = {"{": "}", "[": "]"}
_QUOTES: Final = {
    '"': '"',
    "'": "'",
    "\u201c": "\u201d\u201c",
    "\u201d": "\u201d",
    "\u201e": "\u201d\u201c",
    "\u201f": "\u201d",
    "\u2018": "\u2019\u2018",
    "\u2019": "\u2019",
}
"""The signs that may end a string, by its opening sign."""
_CONSTANTS: Final = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LOOSE_NUMBER: Final = re.compile(r"\+?(-?)(0|[1-9][0-9]*)?(?:\.([0-9]*))?")
_KEY: Final = re.compile(r"[^\W\d][\w.$-]*")
_ESCAPES: Final = '"\\/bfnrt'
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]{0,40}\n?", re.MULTILINE)
_AFTER_STRING: Final = ",}]:"
_SHOWN: Final = 40
MOST_REPAIRS: Final = 1_000
"""The most changes; a document that needs more is not repaired."""


@dataclass(frozen=True, slots=True)
class JsonRepair:
    """One change of a broken document."""

    code: str
    """The fault, such as `trailing_comma`."""
    at: int
    """The offset in the original text, in Unicode code points."""
    removed: str
    put: str
    """The text that was inserted."""

    @property
    def message(self) -> str:
        """The change as a sentence.

        >>> JsonRepair("trailing_comma", 7, ",", "").message
        'A comma before a closing bracket: removed “,” at character 7.'
        """
        changes = [
            f"{verb} \u201c{_shorten(text)}\u201d"
            for verb, text in (("removed", self.removed), ("put", self.put))
            if text
        ]
        return f"{_FAULTS[self.code]}: {' and '.join(changes)} at character {self.at}."


_FAULTS: Final = {
    "fence": "Marks of a code block around the document",
    "prose": "Text that is no part of the document",
    "comment": "A comment",
    "trailing_comma": "A comma before a closing bracket",
    "double_comma": "A comma too many",
    "missing_comma": "No comma between two values",
    "unclosed": "A bracket that was not closed",
    "surplus": "A closing bracket that closes nothing",
    "quotes": "Quotation marks that JSON does not have",
    "bare_key": "A key without quotation marks",
    "constant": "A constant as Python writes it",
    "number": "A number as JSON does not write it",
    "escape": "An escape that JSON does not have",
    "control": "A control character inside of a text",
    "inner_quote": "A quotation mark inside of a text",
    "cut_off": "The document was cut off",
}


@dataclass(frozen=True, slots=True)
class RepairedJson:
    """A document that can be parsed, and the repairs that were made."""

    text: str
    repairs: tuple[JsonRepair, ...] = ()
    complete: bool = True
    """False where the document was truncated: its last value may be truncated too, and the rest is unknown."""


@dataclass(slots=True)
class _Level:
    """One open bracket and what is expected next in it."""

    bracket: str
    expected: str
    """`key`, `colon`, `value`, `item` or `comma`."""
    comma: int | None = None
    """The index of the piece with a comma that nothing has followed yet."""


@dataclass(slots=True)
class _Repair:
    """The state of a repair."""

    text: str
    at: int
    stack: list[_Level] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    repairs: list[JsonRepair] = field(default_factory=list)
    complete: bool = True
    number: bool = False
    """Whether the last value is a number, which may be truncated at the end of the text."""


def repair_json(text: str, *, cut_off: bool = False) -> RepairedJson:
    """Repair a document that is plainly broken; a valid one is returned unchanged.

    Args:
        text: the output of a model.
        cut_off: whether a truncated document is closed; the result is then marked as incomplete.

    Raises:
        JsonTextError: it is not a document, or repairing it would require a guess.

    >>> mended = repair_json("{'a': [1, 2,], b: True")
    >>> mended.text
    '{"a": [1, 2], "b": true}'
    >>> [repair.code for repair in mended.repairs]
    ['quotes', 'trailing_comma', 'bare_key', 'constant', 'unclosed']
    """
    try:
        return _strip_around(text, parse(text))
    except JsonTextError as error:
        first = error
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if first.code != "structure.not_json" or not starts:
        raise first
    work = _Repair(text, min(starts))
    _record_around(work, 0, work.at)
    try:
        _read_tokens(work, cut_off)
        repaired = "".join(work.pieces)
        parse(repaired)
    except _UnclearError as unclear:
        raise JsonTextError("structure.not_json", str(unclear), unclear.at) from first
    except JsonTextError:
        raise first from None
    return RepairedJson(repaired, tuple(work.repairs), work.complete)


def _strip_around(text: str, parsed: Parsed) -> RepairedJson:
    """A valid document without the text around it."""
    work = _Repair(text, parsed.start)
    body = parsed.text.rstrip()
    _record_around(work, 0, parsed.start)
    _record_around(work, parsed.start + len(body), len(text))
    return RepairedJson(body if work.repairs else text, tuple(work.repairs))


class _UnclearError(Exception):
    """The text has several readings, or none."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def _record_around(work: _Repair, start: int, end: int) -> None:
    """Record the text before or after the document, which is left out."""
    piece = work.text[start:end]
    for mark in _FENCE.finditer(piece):
        work.repairs.append(JsonRepair("fence", start + mark.start(), mark[0].strip(), ""))
    prose = _FENCE.sub("", piece).strip("\ufeff \t\r\n")
    if prose:
        work.repairs.append(JsonRepair("prose", start, prose, ""))


def _read_tokens(work: _Repair, cut_off: bool) -> None:
    """Read the document token by token, without recursion."""
    while match := _TOKEN.match(work.text, work.at):
        sign, work.at = match[0], match.end()
        if sign.isspace():
            work.pieces.append(sign)
        elif sign.startswith(("//", "/*")):
            work.repairs.append(JsonRepair("comment", match.start(), sign, ""))
        elif sign in _CLOSING:
            _open_bracket(work, sign, match.start())
        elif sign in "]}":
            _close_bracket(work, sign, match.start())
        elif sign == ",":
            _comma(work, match.start())
        elif sign == ":":
            _colon(work, match.start())
        elif sign in _QUOTES:
            _append_token(work, _string(work, sign, match.start(), cut_off), match.start(), text=True)
        else:
            _append_token(work, sign, match.start(), text=False)
        if len(work.repairs) > MOST_REPAIRS:
            raise _UnclearError("there is more wrong with it than can be mended", work.at)
        if not work.stack:
            return _record_rest(work)
    return _close_all(work, cut_off)


def _record_rest(work: _Repair) -> None:
    """Record what follows the end of the document."""
    rest = work.text[work.at :]
    surplus = len(rest) - len(rest.lstrip("]} \t\r\n"))
    for mark in islice(re.finditer(r"[\]}]", rest[:surplus]), MOST_REPAIRS):
        work.repairs.append(JsonRepair("surplus", work.at + mark.start(), mark[0], ""))
    remainder = rest[surplus:]
    if "{" in remainder or "[" in remainder:
        raise _UnclearError("there is more than one document in it", work.at + len(rest) - len(remainder))
    _record_around(work, len(work.text) - len(remainder), len(work.text))


def _close_all(work: _Repair, cut_off: bool) -> None:
    """Close the open brackets at the end of the text."""
    level = work.stack[-1] if work.stack else None
    if level is None:
        raise _UnclearError("there is no document in it", len(work.text))
    truncated = level.expected in ("colon", "value") or (work.number and level.expected == "comma")
    if (truncated or not work.complete) and not cut_off:
        raise _UnclearError("it ends in the middle", len(work.text))
    if truncated:
        work.complete = False
        work.repairs.append(JsonRepair("cut_off", len(work.text), "", ""))
        if level.expected == "value":
            work.pieces.append(" null")
        elif level.expected == "colon":
            work.pieces.append(": null")
    for open_level in reversed(work.stack):
        _drop_comma(work, open_level, len(work.text))
        work.repairs.append(JsonRepair("unclosed", len(work.text), "", _CLOSING[open_level.bracket]))
        work.pieces.append(_CLOSING[open_level.bracket])
    work.stack.clear()


def _open_bracket(work: _Repair, sign: str, at: int) -> None:
    if work.stack:
        _prepare_value(work, at, key=False)
    if len(work.stack) >= DEEPEST:
        raise _UnclearError(f"it is nested deeper than {DEEPEST} levels", at)
    work.pieces.append(sign)
    work.stack.append(_Level(sign, "key" if sign == "{" else "item"))


def _close_bracket(work: _Repair, sign: str, at: int) -> None:
    if not any(_CLOSING[level.bracket] == sign for level in work.stack):
        work.repairs.append(JsonRepair("surplus", at, sign, ""))
        return
    while True:
        level = work.stack.pop()
        if level.expected in ("colon", "value"):
            raise _UnclearError("a value is missing", at)
        _drop_comma(work, level, at)
        closing = _CLOSING[level.bracket]
        work.pieces.append(closing)
        if closing == sign:
            break
        work.repairs.append(JsonRepair("unclosed", at, "", closing))
    work.number = False
    if work.stack:
        work.stack[-1].expected = "comma"


def _drop_comma(work: _Repair, level: _Level, at: int) -> None:
    if level.comma is not None:
        work.pieces[level.comma] = ""
        work.repairs.append(JsonRepair("trailing_comma", at, ",", ""))
        level.comma = None


def _comma(work: _Repair, at: int) -> None:
    level = work.stack[-1]
    if level.expected == "comma":
        level.comma = len(work.pieces)
        work.pieces.append(",")
        level.expected = "key" if level.bracket == "{" else "item"
    elif level.expected in ("key", "item"):
        work.repairs.append(JsonRepair("double_comma", at, ",", ""))
    else:
        raise _UnclearError("a value is missing", at)


def _colon(work: _Repair, at: int) -> None:
    level = work.stack[-1]
    if level.expected != "colon":
        raise _UnclearError("a colon stands where none may", at)
    work.pieces.append(":")
    level.expected = "value"


def _append_token(work: _Repair, token: str, at: int, *, text: bool) -> None:
    """Append a string, a number, a constant or a key."""
    level = work.stack[-1]
    if level.expected == "colon":
        raise _UnclearError("there is no colon behind a key", at)
    key = level.bracket == "{" and level.expected in ("key", "comma")
    _prepare_value(work, at, key=key)
    if key:
        work.pieces.append(token if text else _quote_key(work, token, at))
        level.expected = "colon"
    else:
        work.pieces.append(token if text else _scalar(work, token, at))
    work.number = not text and not key and token not in _CONSTANTS


def _prepare_value(work: _Repair, at: int, *, key: bool) -> None:
    """Insert a missing comma before a value, and set what is expected after it."""
    level = work.stack[-1]
    if level.expected == "comma":
        work.repairs.append(JsonRepair("missing_comma", at, "", ","))
        work.pieces.append(",")
    elif level.expected == "colon" or (level.expected == "key" and not key):
        raise _UnclearError("a key is missing", at)
    level.comma = None
    level.expected = "comma"


def _quote_key(work: _Repair, token: str, at: int) -> str:
    if not _KEY.fullmatch(token):
        raise _UnclearError("a key is no name", at)
    quoted = json.dumps(token, ensure_ascii=False)
    work.repairs.append(JsonRepair("bare_key", at, token, quoted))
    return quoted


def _scalar(work: _Repair, token: str, at: int) -> str:
    if token in _CONSTANTS:
        if _CONSTANTS[token] != token:
            work.repairs.append(JsonRepair("constant", at, token, _CONSTANTS[token]))
        return _CONSTANTS[token]
    if _NUMBER.fullmatch(token):
        return token
    loose = _LOOSE_NUMBER.fullmatch(token)
    if loose is None or not (loose[2] or loose[3]):
        raise _UnclearError(f"\u201c{_shorten(token)}\u201d is no JSON value", at)
    number = f"{loose[1]}{loose[2] or '0'}" + (f".{loose[3]}" if loose[3] else "")
    work.repairs.append(JsonRepair("number", at, token, number))
    return number


def _string(work: _Repair, sign: str, at: int, cut_off: bool) -> str:
    """The string after a quotation mark, in JSON notation."""
    ends, pieces, text = _QUOTES[sign], ['"'], work.text
    for offset, letter in _characters(work):
        if letter in ends and _ends_string(work):
            if sign != '"':
                work.repairs.append(JsonRepair("quotes", at, sign, '"'))
            return "".join((*pieces, '"'))
        pieces.append(_json_character(work, letter, offset, sign))
    if not cut_off:
        raise _UnclearError("a text does not end", at)
    work.complete = False
    work.repairs.append(JsonRepair("cut_off", len(text), "", '"'))
    return "".join((*pieces, '"'))


def _characters(work: _Repair) -> Iterator[tuple[int, str]]:
    """The characters of a string with their offsets, an escape as one; `work.at` is moved after each."""
    text = work.text
    while work.at < len(text):
        offset, letter = work.at, text[work.at]
        if letter == "\\" and offset + 1 < len(text):
            letter = text[offset : offset + 2]
        work.at += len(letter)
        yield offset, letter


def _json_character(work: _Repair, letter: str, offset: int, sign: str) -> str:
    """One character of a string in JSON notation."""
    if letter == '"':
        if sign == '"':
            work.repairs.append(JsonRepair("inner_quote", offset, letter, '\\"'))
        return '\\"'
    if len(letter) == 2:
        if letter[1] in _ESCAPES or (
            letter[1] == "u" and re.match(r"[0-9A-Fa-f]{4}", work.text[offset + 2 : offset + 6])
        ):
            return letter
        replacement = (
            letter[1] if letter[1] in "'\u2018\u2019\u201c\u201d" else json.dumps(letter, ensure_ascii=False)[1:-1]
        )
        work.repairs.append(JsonRepair("escape", offset, letter, replacement))
        return replacement
    if letter < " " or letter == "\\":
        replacement = json.dumps(letter)[1:-1]
        work.repairs.append(JsonRepair("control" if letter < " " else "escape", offset, letter, replacement))
        return replacement
    return letter


def _ends_string(work: _Repair) -> bool:
    """Whether a quotation mark ends its string, judged by what follows."""
    match = _SPACE.match(work.text, work.at)
    after = match.end() if match else work.at
    if after >= len(work.text) or work.text[after] in _AFTER_STRING:
        return True
    # A quotation mark on the next line begins the next string; the comma is missing.
    return work.text[after] in _QUOTES and "\n" in work.text[work.at : after]


_SPACE: Final = re.compile(r"\s*")


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}\u2026"
