"""Words that point at the evidence itself: `passage 2`, `sources 1 and 3`, `the second document`.

Answers of chat models name the passages that they were given by their number. Such a number is a label of the prompt
and no number of the world: no evidence supports it, and none has to.
"""

import re
from typing import Final

_THING: Final = r"(?:passages?|excerpts?|snippets?|contexts?|search results?|sources?|documents?|docs?|references?)"
_ONE: Final = r"#?\d{1,2}(?:\s?[-–]\s?\d{1,2})?(?![\w%]|[.,:/-]\d|\s(?:%|percent))"
_SOME: Final = rf"{_ONE}(?:(?:,\s{_ONE}){{0,9}},?\s(?:and|or|&)\s{_ONE})?"
_ORDINAL: Final = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,2}(?:st|nd|rd|th))"

NUMBERED: Final = rf"{_THING}\s(?:no\.?\s|number\s)?{_SOME}"
"""A pattern for pieces of evidence with their numbers, such as `passages 1 and 3`."""
POINTER: Final = (
    rf"(?:(?:the\s)?{NUMBERED}(?:(?:,\s|,?\sand\s|\sor\s)(?:the\s)?{NUMBERED}){{0,4}}|the\s{_ORDINAL}\s{_THING}"
    rf"|(?:one|another|each|both)(?:\sof)?(?:\sthe)?(?:\s(?:given|provided))?\s{_THING})"
)
"""A pattern for whatever points at one or some of the given pieces of evidence."""

_FOUND: Final = re.compile(rf"\b{NUMBERED}(?:(?:,\s|,?\sand\s|\sor\s){NUMBERED}){{0,4}}", re.IGNORECASE)
_MAY_POINT: Final = re.compile(r"passage|source|excerpt|snippet|context|doc|reference|result", re.IGNORECASE)
_ALSO_VERBS: Final = ("source", "doc", "reference")
_BEFORE_NOUN: Final = frozenset(
    (
        "the",
        "in",
        "to",
        "from",
        "of",
        "by",
        "per",
        "see",
        "as",
        "on",
        "with",
        "and",
        "or",
        "both",
        "also",
        "given",
        "provided",
        "while",
        "whereas",
        "that",
        "than",
        "but",
    )
)
_WORD_BEFORE: Final = re.compile(r"(\w+)\s$")


def find_pointers(text: str) -> list[tuple[int, int]]:
    """Where numbered pieces of the evidence are named, in order; half-open ranges of characters.

    A word that can be a verb counts only where a noun can stand: `Doctors document 50 cases` names no document.

    >>> text = "Passage 1 says 20 minutes, and passages 2 and 3 say 30."
    >>> [text[a:b] for a, b in find_pointers(text)]
    ['Passage 1', 'passages 2 and 3']
    """
    if _MAY_POINT.search(text) is None:
        return []
    return [match.span() for match in _FOUND.finditer(text) if _is_noun(text, match)]


def _is_noun(text: str, match: re.Match[str]) -> bool:
    if not match.group().lower().startswith(_ALSO_VERBS):
        return True
    before = _WORD_BEFORE.search(text, max(0, match.start() - 20), match.start())
    return before is None or before.group(1).lower() in _BEFORE_NOUN
