"""Words that refer to the evidence itself: `passage 2`, `sources 1 and 3`, `the second document`.

Chat models refer to the passages of their prompt by number. Such a number is a label of the prompt and not a fact
about the world: no evidence supports it, and none needs to.
"""

import re
from typing import Final

_EVIDENCE_NOUN: Final = (
    r"(?:passages?|excerpts?|snippets?|contexts?|search results?|sources?|documents?|docs?|references?)"
)
_LABEL_NUMBER: Final = r"#?\d{1,2}(?:\s?[-–]\s?\d{1,2})?(?![\w%]|[.,:/-]\d|\s(?:%|percent))"
_LABEL_NUMBERS: Final = rf"{_LABEL_NUMBER}(?:(?:,\s{_LABEL_NUMBER}){{0,9}},?\s(?:and|or|&)\s{_LABEL_NUMBER})?"
_ORDINAL: Final = r"(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|\d{1,2}(?:st|nd|rd|th))"

NUMBERED: Final = rf"{_EVIDENCE_NOUN}\s(?:no\.?\s|number\s)?{_LABEL_NUMBERS}"
"""A pattern for numbered pieces of evidence, such as `passages 1 and 3`."""
POINTER: Final = (
    rf"(?:(?:the\s)?{NUMBERED}(?:(?:,\s|,?\sand\s|\sor\s)(?:the\s)?{NUMBERED}){{0,4}}|the\s{_ORDINAL}\s{_EVIDENCE_NOUN}"
    rf"|(?:one|another|each|both)(?:\sof)?(?:\sthe)?(?:\s(?:given|provided))?\s{_EVIDENCE_NOUN})"
)
"""A pattern for a reference to one or several of the given pieces of evidence."""

_NUMBERED_SERIES: Final = re.compile(rf"\b{NUMBERED}(?:(?:,\s|,?\sand\s|\sor\s){NUMBERED}){{0,4}}", re.IGNORECASE)
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
    """The half-open character ranges that name numbered pieces of the evidence, in order.

    A word that can also be a verb counts only in a noun's position: `Doctors document 50 cases` names no document.

    >>> text = "Passage 1 says 20 minutes, and passages 2 and 3 say 30."
    >>> [text[a:b] for a, b in find_pointers(text)]
    ['Passage 1', 'passages 2 and 3']
    """
    if _MAY_POINT.search(text) is None:
        return []
    return [match.span() for match in _NUMBERED_SERIES.finditer(text) if _is_noun(text, match)]


def _is_noun(text: str, match: re.Match[str]) -> bool:
    if not match.group().lower().startswith(_ALSO_VERBS):
        return True
    before = _WORD_BEFORE.search(text, max(0, match.start() - 20), match.start())
    return before is None or before.group(1).lower() in _BEFORE_NOUN
