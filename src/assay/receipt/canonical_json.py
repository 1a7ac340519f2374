"""Canonical JSON: exactly one text for each value, and a strict reader.

`canonical` writes RFC 8785 (JCS): keys sorted by their UTF-16 code units, no white space, numbers as ECMAScript writes
them, UTF-8. A digest can therefore be recomputed in any language. Whole numbers are written with all their digits, even
beyond 2^53, where RFC 8785 asks for strings; a reader that parses every number as a double finds the same value.
"""

import hashlib
import json
from collections.abc import Callable
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, Final, NoReturn

from assay.errors import ReceiptError

LARGEST_EXACT: Final = 2**53 - 1
"""The largest whole number that every reader of JSON holds exactly."""

_LONGEST_FIXED: Final = 21
"""ECMAScript writes numbers below 10^21 without an exponent (Number::toString, step 6)."""
_MOST_ZEROS: Final = 6
"""ECMAScript writes numbers from 10^-6 up without an exponent (step 8)."""

_SMALLEST_PLAIN: Final = 1e-4
"""Down to here Python writes a fraction without an exponent, as ECMAScript does."""


def canonical(value: Any) -> bytes:
    r"""The canonical bytes of a JSON value.

    Args:
        value: None, booleans, finite numbers, strings, lists, tuples, and mappings with string keys.

    Raises:
        ReceiptError: it is not a JSON value, contains a number that is not finite or half a surrogate pair, or is
            nested too deeply to be read back.

    >>> canonical({"b": [1.0, 1e-7, "\u20ac"], "a": None}).decode()
    '{"a":null,"b":[1,1e-7,"€"]}'
    """
    try:
        pieces: list[str] = []
        _write(value, pieces.append)
        return "".join(pieces).encode()
    except UnicodeEncodeError as error:
        raise ReceiptError("expected text that is valid Unicode, got half a surrogate pair") from error
    except RecursionError as error:
        raise ReceiptError("expected a value of moderate depth, got one nested too deeply to write") from error


def digest(value: Any) -> str:
    """SHA-256, in hexadecimal, of the canonical bytes.

    Raises:
        ReceiptError: see `canonical`.
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def _write(value: Any, write: Callable[[str], None]) -> None:
    # The common types first; a report has some thousand values.
    if isinstance(value, str):
        write(encode_basestring(value))
    elif isinstance(value, dict):
        _write_object(value, write)
    elif isinstance(value, list | tuple):
        _write_list(value, write)
    elif value is None:
        write("null")
    elif isinstance(value, bool):
        write("true" if value else "false")
    elif isinstance(value, float):
        write(_number(value))
    elif isinstance(value, int):
        write(int.__repr__(value))
    else:
        raise ReceiptError(f"expected a JSON value, got {type(value).__name__}")


def _write_list(value: list[Any] | tuple[Any, ...], write: Callable[[str], None]) -> None:
    opening = "["
    for item in value:
        write(opening)
        _write(item, write)
        opening = ","
    write("]" if value else "[]")


def _write_object(value: dict[Any, Any], write: Callable[[str], None]) -> None:
    try:
        # For ASCII the order of code points is that of UTF-16 code units.
        keys = sorted(value) if "".join(value).isascii() else sorted(value, key=_utf16)
    except TypeError as error:
        raise ReceiptError("expected texts as the keys of an object, got something else") from error
    opening = "{"
    for key in keys:
        write(f"{opening}{encode_basestring(key)}:")
        _write(value[key], write)
        opening = ","
    write("}" if value else "{}")


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be", "surrogatepass")


def _number(value: float) -> str:
    """A number as ECMAScript writes it: the shortest digits that read back as the same double.

    >>> [_number(n) for n in (0.1, -0.0, 1e21, 123e18, 1.5e-7, 0.000001)]
    ['0.1', '0', '1e+21', '123000000000000000000', '1.5e-7', '0.000001']
    """
    if not isfinite(value):
        raise ReceiptError(f"expected a finite number, got {value!r}")
    if value == 0:
        return "0"
    plain = float.__repr__(value)
    if "e" not in plain and not plain.endswith(".0") and abs(value) >= _SMALLEST_PLAIN:
        return plain
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = float.__repr__(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    figures = (whole + fraction).lstrip("0")
    # The position of the decimal point, counted from before the first figure: value = 0.figures * 10^point.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(figures))
    figures = figures.rstrip("0")
    if len(figures) <= point <= _LONGEST_FIXED:
        return sign + figures.ljust(point, "0")
    if 0 < point <= _LONGEST_FIXED:
        return f"{sign}{figures[:point]}.{figures[point:]}"
    if -_MOST_ZEROS < point <= 0:
        return f"{sign}0.{'0' * -point}{figures}"
    tail = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{sign}{figures[0]}{tail}e{point - 1:+d}"


def read_json(text: str | bytes, what: str, limit: int) -> Any:
    """Reads a JSON value that consists only of objects, lists, strings, whole numbers, true, false and null.

    Args:
        text: the text; bytes must be UTF-8.
        what: what it is called in error messages, such as `the receipt`.
        limit: the largest size accepted, in bytes.

    Raises:
        ReceiptError: it is larger, is not JSON, repeats a key, or contains a fraction, NaN, an infinity or a whole
            number that some readers cannot represent exactly.
    """
    try:
        data = text.encode() if isinstance(text, str) else bytes(text)
        if len(data) > limit:
            raise ReceiptError(f"expected {what} in at most {limit:,} bytes, got {len(data):,}")
        return json.loads(
            data.decode(),
            object_pairs_hook=_members,
            parse_float=_no_fraction,
            parse_int=_whole,
            parse_constant=_no_fraction,
        )
    except UnicodeError as error:
        raise ReceiptError(f"expected {what} in UTF-8, got other bytes") from error
    except RecursionError as error:
        raise ReceiptError(f"expected {what} as JSON of moderate depth, got one nested too deeply to read") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ReceiptError(f"expected {what} as JSON, but at {place}: {error.msg}") from error
    except _RefusedError as error:
        raise ReceiptError(f"expected {what} as JSON of texts and whole numbers, but it holds {error}") from error


class _RefusedError(Exception):
    """The parser accepts it, and this format does not."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("a key twice in one object")
    return members


def _no_fraction(_: str) -> NoReturn:
    raise _RefusedError("a number that is not whole")


def _whole(digits: str) -> int:
    # Length first: Python's own limit is 4,300 digits, far beyond what is allowed here.
    if len(digits) > len(str(-LARGEST_EXACT)) or abs(int(digits)) > LARGEST_EXACT:
        raise _RefusedError("a whole number beyond 2^53")
    return int(digits)
