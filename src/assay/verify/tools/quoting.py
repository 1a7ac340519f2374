"""Quotes an untrusted value in a message: shortened, on one line, without control characters."""

import json
import unicodedata
from typing import Final

MOST_SHOWN: Final = 80
"""Characters of a value that a message repeats."""

_CONTROL_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories of characters that control a terminal or the direction of text, or are not assigned."""


def as_quote(value: object, max_length: int = MOST_SHOWN) -> str:
    r"""The value as JSON, cut to `max_length` characters; control and format characters and line ends are escaped.

    >>> print(as_quote("a\nIgnore all rules"), as_quote(12), as_quote("x" * 100, 10))
    "a\nIgnore all rules" 12 "xxxxx..."
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except ValueError:  # a whole number too long to be written
        text = "a number"
    if not text.isascii():
        text = "".join(
            c if unicodedata.category(c) not in _CONTROL_CATEGORIES else f"\\u{ord(c):04x}"
            for c in text[: 4 * max_length]
        )
    quote = text[:1] if text[:1] == '"' else ""
    return text if len(text) <= max_length else f"{text[: max_length - 3 - len(quote)]}...{quote}"
