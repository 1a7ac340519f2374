# ruff: noqa: SIM905 word lists read better as running text
"""The words of one sentence, with offsets and a coarse tag from closed word lists.

Quotations and bracketed asides are one token each, so that no rule looks for structure inside them.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from assay.text.lexicon import verbs

_TOKEN = re.compile(
    r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»"
    r"|\([^()\n]{0,300}\)"
    r"|(?:https?://|www\.)[^\s<>\"]{1,2000}(?<![.,;:!?)])"
    r"|[$€£¥#]?\w+(?:[-'’.,/:&@+]\w+)*%?(?:\.(?=\w))?"
    r"|\S"
)
_MAX_CACHED_LENGTH = 32
"""Characters; the tags of longer words are not cached, so that a hostile text cannot fill the cache with its words."""
DETERMINERS = frozenset(
    "a an the this that these those its his her their our your my some any each every another several many most both "
    "all no few various numerous".split()
)
PREPOSITIONS = frozenset(
    "in on at by for from with of to into onto under over through during between among against about as via within "
    "without across after before since until per near around along including toward towards upon despite".split()
)
NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty seventy "
    "eighty ninety hundred thousand million billion".split()
)
PRONOUNS = frozenset("he she it they we i you this these there who".split())
SUBORDINATORS = frozenset(
    "that which who whose whom because if when where while whereas since unless although though whether until once "
    "whenever wherever provided how why what".split()
)
ADVERBS = frozenset(
    "also then later still now often never always only not already even currently originally subsequently eventually "
    "usually typically generally together soon just again thus therefore instead recently initially previously "
    "formerly primarily mainly later ultimately first finally both either".split()
)


class Token(NamedTuple):
    """One word or sign. A token that a rule inserted has no place in the text: its `start` and `end` are -1."""

    text: str
    start: int
    end: int
    tag: str
    glued: bool
    """Whether no white space separates it from the token before it."""
    low: str
    """The word in lower case."""


@lru_cache(maxsize=1 << 14)
def _cached_tag(word: str, first: bool) -> str:
    return _tag(word, first)


def _tag(word: str, first: bool) -> str:
    low = word.lower().replace("’", "'")
    if word == "&":
        return "NAME"  # part of a company's name far more often than a conjunction
    if len(word) == 1 and not word.isalnum():
        return word
    if word[0] in '"“«':
        return "QUOTE"
    if word[0] == "(":
        return "ASIDE"
    if low == "and":
        return "AND"
    if low in {"or", "nor"}:
        return "OR"
    if low in {"but", "yet"}:
        return "BUT"
    if low in verbs.AUXILIARY and not (word == "May" and not first):
        return "AUX"
    if low in DETERMINERS:
        return "DET"
    if low in PREPOSITIONS:
        return "PREP"
    if low in SUBORDINATORS:
        return "SUB"
    if low in PRONOUNS:
        return "PRON"
    if low in ADVERBS or (low.endswith("ly") and len(low) > 4 and low not in verbs.BASE and low != "family"):
        return "ADV"
    if any(c.isdigit() for c in word) and not any(c.isalpha() for c in word.lstrip("$€£¥#")[:1]):
        return "NUM"
    if low in NUMBER_WORDS:
        return "NUM"
    if word[0].isupper() and not first:
        return "NAME"
    if low in verbs.AMBIGUOUS:
        return "VA"
    if low in verbs.THIRD or low in verbs.ONLY_PAST:
        return "V"
    if low in verbs.PAST:
        return "VN"
    if word[0].isupper():
        return "NAME"
    return "W"


def tokenise(text: str) -> list[Token]:
    """The tokens of the text in order, without white space.

    >>> [t.tag for t in tokenise("Acme was founded in 1990 and employs 40 people.")]
    ['NAME', 'AUX', 'VN', 'PREP', 'NUM', 'AND', 'V', 'NUM', 'W', '.']
    """
    found: list[Token] = []
    end = 0
    for match in _TOKEN.finditer(text):
        word = match.group()
        start = match.start()
        glued = start == end and bool(found)
        end = match.end()
        if found and found[-1].text == "May" and word[0].isdigit():
            found[-1] = found[-1]._replace(tag="NAME")
        tag = _cached_tag(word, not found) if end - start <= _MAX_CACHED_LENGTH else _tag(word, not found)
        found.append(Token(word, start, end, tag, glued, word.lower()))
    return found


def render(tokens: "list[Token] | tuple[Token, ...]") -> str:
    """The tokens as text, spaced as they were.

    >>> render(tokenise("It costs $5 (net), says Acme."))
    'It costs $5 (net), says Acme.'
    """
    out: list[str] = []
    before: Token | None = None
    for token in tokens:
        neighbours = before is not None and token.start >= 0 and before.end == token.start
        if out and not neighbours and not (token.text in ",.;:!?" and token.start < 0):
            out.append(" ")
        out.append(token.text)
        before = token
    return "".join(out)


def inserted(text: str, tag: str = "W") -> Token:
    """A token that is inserted by a rule."""
    return Token(text, -1, -1, tag, glued=False, low=text.lower())
