"""Characters that make the displayed text differ from the one that is there.

    "24" between marks that reverse the order of letters is displayed as "42"
    a terminal does not display its control sequences; a formula strikes out the content of \\cancel{}
    tag characters and runs of zero-width characters are displayed to no one but read by programs

None of them belongs in an answer, and without a screen it is unknown what is displayed. So they are reported, not
interpreted.
"""

import re
import unicodedata
from typing import Final, NamedTuple


class HiddenCharacters(NamedTuple):
    """A range of a text with such characters."""

    start: int
    end: int
    effect: str
    """What they do, worded to follow "characters that"."""


_FLAG: Final = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
"""The flags of England, Scotland and the like: the only tag characters that are displayed."""
_CODE: Final = re.compile(r"(`+)(?!`).{1,2000}?(?<!`)\1(?!`)", re.DOTALL)
_PATTERNS: Final = (
    (re.compile("[\u202d\u202e]+"), "turn the order of letters round"),
    (re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]+"), "control a terminal"),
    (re.compile("[\U000e0000-\U000e007f]+|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}"), "nobody is shown"),
    (re.compile("[\u200b-\u200f\u2060-\u2064\u180e\ufeff]{3,}|[\u2061-\u2064]"), "nobody is shown"),
)
_STRUCK_OUT: Final = re.compile(r"\\(?:[xb]?cancel|cancelto|sout|hphantom|vphantom|phantom)\s{0,3}\{")
_DIRECTION_MARKS: Final = re.compile("[\u202a\u202b\u2066-\u2068]+")
"""Marks that set off a text of another direction; without right-to-left letters, they only move numbers."""
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL"})


def find_hidden_characters(text: str) -> list[HiddenCharacters]:
    """The ranges of a text with characters that hide or reorder it, in order.

    >>> [(one.start, one.effect) for one in find_hidden_characters("It takes \\u202e24\\u202c weeks.")]
    [(9, 'turn the order of letters round')]
    >>> find_hidden_characters("Two weeks, \\u05e9\\u05d1\\u05d5\\u05e2\\u05d9\\u05d9\\u05dd.")
    []
    """
    found = []
    if "\\" in text:
        without_code = _CODE.sub(lambda match: " " * len(match.group()), text) if "`" in text else text
        found += [
            HiddenCharacters(*match.span(), "strike out what they hold") for match in _STRUCK_OUT.finditer(without_code)
        ]
    if text.isascii() and text.isprintable():
        return found
    shown = _FLAG.sub(lambda match: "\U0001f3f4" * len(match.group()), text)
    for pattern, effect in _PATTERNS:
        found += [HiddenCharacters(*match.span(), effect) for match in pattern.finditer(shown)]
    if not any(unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in text):
        found += [
            HiddenCharacters(*match.span(), "turn the order of words round")
            for match in _DIRECTION_MARKS.finditer(text)
        ]
    return sorted(found)
