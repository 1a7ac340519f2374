"""Characters by which a reader is shown another text than the one that is there.

    "24" between marks that turn the order of letters round is shown as "42"
    a terminal passes over what stands between its control sequences; formulas strike out what \\cancel{} holds
    letters of the plane of tags, and runs of marks without a width, are shown to nobody and read by programs

None of them has a place in an answer, and what is shown cannot be told from what is written without a screen. So they
are found, not read.
"""

import re
import unicodedata
from typing import Final, NamedTuple


class HiddenCharacters(NamedTuple):
    """A place."""

    start: int
    end: int
    why: str
    """What such characters do, as what follows "characters that"."""


_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
"""The flags of England, Scotland and the like: the only tags that are shown."""
_CODE: Final = re.compile(r"(`+)(?!`).{1,2000}?(?<!`)\1(?!`)", re.DOTALL)
_KINDS: Final = (
    (re.compile("[\u202d\u202e]+"), "turn the order of letters round"),
    (re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+"), "control a terminal"),
    (re.compile("[\U000e0000-\U000e007f]+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"), "nobody is shown"),
    (re.compile("[\u200b-\u200f\u2060-\u2064\u180e\ufeff]{3,}|[\u2061-\u2064]"), "nobody is shown"),
)
_STRUCK: Final = re.compile(r"\\(?:[xb]?cancel|cancelto|sout|hphantom|vphantom|phantom)\s{0,3}\{")
_MOVING: Final = re.compile("[\u202a\u202b\u2066-\u2068]+")
"""Marks that set a text of another direction off; where no letter runs from right to left, they only move numbers."""
_RIGHT: Final = frozenset({"R", "AL"})


def find_hidden_characters(text: str) -> list[HiddenCharacters]:
    """The places of such characters, in order.

    >>> [(one.start, one.why) for one in find_hidden_characters("It takes \\u202e24\\u202c weeks.")]
    [(9, 'turn the order of letters round')]
    >>> find_hidden_characters("Two weeks, \\u05e9\\u05d1\\u05d5\\u05e2\\u05d9\\u05d9\\u05dd.")
    []
    """
    found = []
    if "\\" in text:
        without_code = _CODE.sub(lambda match: " " * len(match.group()), text) if "`" in text else text
        found += [
            HiddenCharacters(*match.span(), "strike out what they hold") for match in _STRUCK.finditer(without_code)
        ]
    if text.isascii() and text.isprintable():
        return found
    shown = _FLAG.sub(lambda match: "\U0001f3f4" * len(match.group()), text)
    for pattern, why in _KINDS:
        found += [HiddenCharacters(*match.span(), why) for match in pattern.finditer(shown)]
    if not any(unicodedata.bidirectional(letter) in _RIGHT for letter in text):
        found += [HiddenCharacters(*match.span(), "turn the order of words round") for match in _MOVING.finditer(text)]
    return sorted(found)
