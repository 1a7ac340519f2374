"""Mends JSON that is plainly broken, and nothing else: what the text says stays, and every change is recorded.

Fences and prose around the document, commas that are too many or missing, brackets that were not closed, quotes of
other kinds, keys without quotes, constants as Python writes them, control characters and quotes inside of texts. Where
two readings are possible, or a value is missing, nothing is repaired: a guess would be an invention of ours. A document
that was cut off is closed only if asked for, and then said to be incomplete, since its last value may be half of one.
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
"""Which signs end a text that begins with each."""
_BARE: Final = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LOOSE_NUMBER: Final = re.compile(r"\+?(-?)(0|[1-9][0-9]*)?(?:\.([0-9]*))?")
_KEY: Final = re.compile(r"[^\W\d][\w.$-]*")
_ESCAPES: Final = '"\\/bfnrt'
_FENCE: Final = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})[^\n`]{0,40}\n?", re.MULTILINE)
_AFTER: Final = ",}]:"
_SHOWN: Final = 40
MOST_REPAIRS: Final = 1_000
"""Changes after which a document counts as broken through and through."""


@dataclass(frozen=True, slots=True)
class JsonRepair:
    """One change of a broken document."""

    code: str
    """What was wrong, such as `trailing_comma`."""
    at: int
    """Where in the text as it came, in Unicode code points."""
    removed: str
    put: str

    @property
    def message(self) -> str:
        """A sentence for people.

        >>> JsonRepair("trailing_comma", 7, ",", "").message
        'A comma before a closing bracket: removed “,” at character 7.'
        """
        shown = [
            f"{what} \u201c{_short(text)}\u201d"
            for what, text in (("removed", self.removed), ("put", self.put))
            if text
        ]
        return f"{_WORDS[self.code]}: {' and '.join(shown)} at character {self.at}."


_WORDS: Final = {
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
    """A document that can be read, and what was done for it."""

    text: str
    repairs: tuple[JsonRepair, ...] = ()
    complete: bool = True
    """False where the document was cut off: its last value may be half of one, and what followed is not known."""


@dataclass(slots=True)
class _Level:
    """One open bracket: what it is and what may come next in it."""

    bracket: str
    wants: str
    comma: int | None = None
    """Where the piece of a comma stands that nothing has followed yet."""


@dataclass(slots=True)
class _Work:
    """A repair under way."""

    text: str
    at: int
    stack: list[_Level] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    repairs: list[JsonRepair] = field(default_factory=list)
    complete: bool = True
    number: bool = False
    """Whether the last value is a number, which may be half of one where the text ends."""


def repair_json(text: str, *, cut_off: bool = False) -> RepairedJson:
    """A document that is plainly broken, repaired; one that is not is given back as it is.

    Args:
        text: the output of a model.
        cut_off: whether a document that ends in the middle is closed; the result says that it is not complete.

    Raises:
        JsonTextError: it is no document, or repairing it would mean to guess.

    >>> mended = repair_json("{'a': [1, 2,], b: True")
    >>> mended.text
    '{"a": [1, 2], "b": true}'
    >>> [repair.code for repair in mended.repairs]
    ['quotes', 'trailing_comma', 'bare_key', 'constant', 'unclosed']
    """
    try:
        return _read(text, parse(text))
    except JsonTextError as error:
        first = error
    starts = [place for place in (text.find("{"), text.find("[")) if place >= 0]
    if first.code != "structure.not_json" or not starts:
        raise first
    work = _Work(text, min(starts))
    _around(work, 0, work.at)
    try:
        _walk(work, cut_off)
        made = "".join(work.pieces)
        parse(made)
    except _UnclearError as unclear:
        raise JsonTextError("structure.not_json", str(unclear), unclear.at) from first
    except JsonTextError:
        raise first from None
    return RepairedJson(made, tuple(work.repairs), work.complete)


def _read(text: str, parsed: Parsed) -> RepairedJson:
    """A document that can be read as it is, without what stands around it."""
    work = _Work(text, parsed.start)
    body = parsed.text.rstrip()
    _around(work, 0, parsed.start)
    _around(work, parsed.start + len(body), len(text))
    return RepairedJson(body if work.repairs else text, tuple(work.repairs))


class _UnclearError(Exception):
    """More than one reading, or none."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def _around(work: _Work, start: int, end: int) -> None:
    """Records what stands before or behind the document and is left out."""
    piece = work.text[start:end]
    for mark in _FENCE.finditer(piece):
        work.repairs.append(JsonRepair("fence", start + mark.start(), mark[0].strip(), ""))
    prose = _FENCE.sub("", piece).strip("\ufeff \t\r\n")
    if prose:
        work.repairs.append(JsonRepair("prose", start, prose, ""))


def _walk(work: _Work, cut_off: bool) -> None:
    """Reads the document token by token, without recursion."""
    while match := _TOKEN.match(work.text, work.at):
        sign, work.at = match[0], match.end()
        if sign.isspace():
            work.pieces.append(sign)
        elif sign.startswith(("//", "/*")):
            work.repairs.append(JsonRepair("comment", match.start(), sign, ""))
        elif sign in _CLOSING:
            _open(work, sign, match.start())
        elif sign in "]}":
            _close(work, sign, match.start())
        elif sign == ",":
            _comma(work, match.start())
        elif sign == ":":
            _colon(work, match.start())
        elif sign in _QUOTES:
            _put(work, _quoted(work, sign, match.start(), cut_off), match.start(), text=True)
        else:
            _put(work, sign, match.start(), text=False)
        if len(work.repairs) > MOST_REPAIRS:
            raise _UnclearError("there is more wrong with it than can be mended", work.at)
        if not work.stack:
            return _finish(work)
    return _end(work, cut_off)


def _finish(work: _Work) -> None:
    """Looks at what follows a document that has ended."""
    rest = work.text[work.at :]
    surplus = len(rest) - len(rest.lstrip("]} \t\r\n"))
    for mark in islice(re.finditer(r"[\]}]", rest[:surplus]), MOST_REPAIRS):
        work.repairs.append(JsonRepair("surplus", work.at + mark.start(), mark[0], ""))
    remainder = rest[surplus:]
    if "{" in remainder or "[" in remainder:
        raise _UnclearError("there is more than one document in it", work.at + len(rest) - len(remainder))
    _around(work, len(work.text) - len(remainder), len(work.text))


def _end(work: _Work, cut_off: bool) -> None:
    """Closes what is open where the text has ended."""
    level = work.stack[-1] if work.stack else None
    if level is None:
        raise _UnclearError("there is no document in it", len(work.text))
    halved = level.wants in ("colon", "value") or (work.number and level.wants == "comma")
    if (halved or not work.complete) and not cut_off:
        raise _UnclearError("it ends in the middle", len(work.text))
    if halved:
        work.complete = False
        work.repairs.append(JsonRepair("cut_off", len(work.text), "", ""))
        if level.wants == "value":
            work.pieces.append(" null")
        elif level.wants == "colon":
            work.pieces.append(": null")
    for open_level in reversed(work.stack):
        _drop_comma(work, open_level, len(work.text))
        work.repairs.append(JsonRepair("unclosed", len(work.text), "", _CLOSING[open_level.bracket]))
        work.pieces.append(_CLOSING[open_level.bracket])
    work.stack.clear()


def _open(work: _Work, sign: str, at: int) -> None:
    if work.stack:
        _before_value(work, at, key=False)
    if len(work.stack) >= DEEPEST:
        raise _UnclearError(f"it is nested deeper than {DEEPEST} levels", at)
    work.pieces.append(sign)
    work.stack.append(_Level(sign, "key" if sign == "{" else "item"))


def _close(work: _Work, sign: str, at: int) -> None:
    if not any(_CLOSING[level.bracket] == sign for level in work.stack):
        work.repairs.append(JsonRepair("surplus", at, sign, ""))
        return
    while True:
        level = work.stack.pop()
        if level.wants in ("colon", "value"):
            raise _UnclearError("a value is missing", at)
        _drop_comma(work, level, at)
        closing = _CLOSING[level.bracket]
        work.pieces.append(closing)
        if closing == sign:
            break
        work.repairs.append(JsonRepair("unclosed", at, "", closing))
    work.number = False
    if work.stack:
        work.stack[-1].wants = "comma"


def _drop_comma(work: _Work, level: _Level, at: int) -> None:
    if level.comma is not None:
        work.pieces[level.comma] = ""
        work.repairs.append(JsonRepair("trailing_comma", at, ",", ""))
        level.comma = None


def _comma(work: _Work, at: int) -> None:
    level = work.stack[-1]
    if level.wants == "comma":
        level.comma = len(work.pieces)
        work.pieces.append(",")
        level.wants = "key" if level.bracket == "{" else "item"
    elif level.wants in ("key", "item"):
        work.repairs.append(JsonRepair("double_comma", at, ",", ""))
    else:
        raise _UnclearError("a value is missing", at)


def _colon(work: _Work, at: int) -> None:
    level = work.stack[-1]
    if level.wants != "colon":
        raise _UnclearError("a colon stands where none may", at)
    work.pieces.append(":")
    level.wants = "value"


def _put(work: _Work, token: str, at: int, *, text: bool) -> None:
    """Puts a text, a number, a constant or a key where it stands."""
    level = work.stack[-1]
    if level.wants == "colon":
        raise _UnclearError("there is no colon behind a key", at)
    key = level.bracket == "{" and level.wants in ("key", "comma")
    _before_value(work, at, key=key)
    if key:
        work.pieces.append(token if text else _key(work, token, at))
        level.wants = "colon"
    else:
        work.pieces.append(token if text else _unquoted(work, token, at))
    work.number = not text and not key and token not in _BARE


def _before_value(work: _Work, at: int, *, key: bool) -> None:
    """Sees to the comma before a value, and to what the level wants behind it."""
    level = work.stack[-1]
    if level.wants == "comma":
        work.repairs.append(JsonRepair("missing_comma", at, "", ","))
        work.pieces.append(",")
    elif level.wants == "colon" or (level.wants == "key" and not key):
        raise _UnclearError("a key is missing", at)
    level.comma = None
    level.wants = "comma"


def _key(work: _Work, token: str, at: int) -> str:
    if not _KEY.fullmatch(token):
        raise _UnclearError("a key is no name", at)
    made = json.dumps(token, ensure_ascii=False)
    work.repairs.append(JsonRepair("bare_key", at, token, made))
    return made


def _unquoted(work: _Work, token: str, at: int) -> str:
    if token in _BARE:
        if _BARE[token] != token:
            work.repairs.append(JsonRepair("constant", at, token, _BARE[token]))
        return _BARE[token]
    if _NUMBER.fullmatch(token):
        return token
    loose = _LOOSE_NUMBER.fullmatch(token)
    if loose is None or not (loose[2] or loose[3]):
        raise _UnclearError(f"\u201c{_short(token)}\u201d is no JSON value", at)
    made = f"{loose[1]}{loose[2] or '0'}" + (f".{loose[3]}" if loose[3] else "")
    work.repairs.append(JsonRepair("number", at, token, made))
    return made


def _quoted(work: _Work, sign: str, at: int, cut_off: bool) -> str:
    """The text that begins behind a quotation mark, as JSON writes it."""
    ends, made, text = _QUOTES[sign], ['"'], work.text
    for place, letter in _letters(work):
        if letter in ends and _ends_here(work):
            if sign != '"':
                work.repairs.append(JsonRepair("quotes", at, sign, '"'))
            return "".join((*made, '"'))
        made.append(_written(work, letter, place, sign))
    if not cut_off:
        raise _UnclearError("a text does not end", at)
    work.complete = False
    work.repairs.append(JsonRepair("cut_off", len(text), "", '"'))
    return "".join((*made, '"'))


def _letters(work: _Work) -> Iterator[tuple[int, str]]:
    """The letters of a text with their places, an escape as one of them; `work.at` follows each."""
    text = work.text
    while work.at < len(text):
        place, letter = work.at, text[work.at]
        if letter == "\\" and place + 1 < len(text):
            letter = text[place : place + 2]
        work.at += len(letter)
        yield place, letter


def _written(work: _Work, letter: str, place: int, sign: str) -> str:
    """One letter of a text as JSON writes it."""
    if letter == '"':
        if sign == '"':
            work.repairs.append(JsonRepair("inner_quote", place, letter, '\\"'))
        return '\\"'
    if len(letter) == 2:
        if letter[1] in _ESCAPES or (
            letter[1] == "u" and re.match(r"[0-9A-Fa-f]{4}", work.text[place + 2 : place + 6])
        ):
            return letter
        put = letter[1] if letter[1] in "'\u2018\u2019\u201c\u201d" else json.dumps(letter, ensure_ascii=False)[1:-1]
        work.repairs.append(JsonRepair("escape", place, letter, put))
        return put
    if letter < " " or letter == "\\":
        put = json.dumps(letter)[1:-1]
        work.repairs.append(JsonRepair("control" if letter < " " else "escape", place, letter, put))
        return put
    return letter


def _ends_here(work: _Work) -> bool:
    """Whether a quotation mark ends its text: by what follows."""
    match = _SPACE.match(work.text, work.at)
    after = match.end() if match else work.at
    if after >= len(work.text) or work.text[after] in _AFTER:
        return True
    # A text on the next line is the next one, with the comma forgotten.
    return work.text[after] in _QUOTES and "\n" in work.text[work.at : after]


_SPACE: Final = re.compile(r"\s*")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}\u2026"
