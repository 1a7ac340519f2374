"""Splits the names of fields into words, and gives the stems by which a claim names a field."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from assay.text.lexicon import find_words, lexeme, word_set
from assay.text.quantities import UNIT_SYMBOLS, find_quantities, is_unit_letter

LONGEST_NAME: Final = 60
"""Characters of the longest name; a longer text before a colon is a sentence, and a longer JSON key is truncated."""

# A boundary within a name in camelCase, and the words of such a name.
_CAMEL_BOUNDARY: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+")
BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
"""Text in brackets, which is not essential to a name or a list."""

GENERIC: Final = frozenset(
    lexeme(word).stem for word in word_set("date name number no nr id ids code type value the of s at on by in is and")
)
"""Words of a field's name that a claim may omit if others remain: "released" for "release date"."""

_LONG_FORMS: Final = {
    short: lexeme(long).stem
    for short, long in {
        "dob": "born",
        "birthdate": "born",
        "birthday": "born",
        "birth": "born",
        "qty": "quantity",
        "amt": "amount",
        "addr": "address",
        "dest": "destination",
        "dept": "department",
        "tel": "phone",
        "desc": "description",
        "pct": "percent",
        "msg": "message",
        "avg": "average",
        "temp": "temperature",
    }.items()
}
"""The long forms of abbreviated field names."""

_NO_SYMBOLS: Final = frozenset({"min"})
"""Symbols of units that mean something else at the end of a name: the least value."""
_KEPT: Final = 1024

_NAMING: Final = word_set("name title id key label code sku number")
"""Last words of the names of fields that name their record."""


def split_name(name: str) -> str:
    """A field's name as words, with camelCase and snake_case split.

    >>> split_name("releaseDate"), split_name("zip_code"), split_name("HTTPStatus")
    ('release Date', 'zip code', 'HTTP Status')
    """
    if "_" in name or (" " not in name and _CAMEL_BOUNDARY.search(name)):
        return " ".join(piece for word in re.split(r"[\s_]+", name) for piece in _PART.findall(word))
    return name


def name_stems(text: str) -> Iterator[str]:
    """The stems of the words of a name or a title, including function words."""
    for word in find_words(split_name(text)).lexemes:
        yield _LONG_FORMS.get(word.stem, word.stem)


def key_stems(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that a claim needs to name a field, and all stems of its name.

    >>> sorted(key_stems("Number of nights (2019)")[0])
    ['night']
    >>> sorted(key_stems("timeoutS")[0]), sorted(key_stems("price_cents")[0])
    (['timeout'], ['pric'])
    >>> sorted(key_stems("option_d")[0])
    ['d', 'option']
    """
    all_stems = frozenset(name_stems(name))
    outer = frozenset(name_stems(BRACKETS.sub(" ", name))) or all_stems
    needed = outer - GENERIC
    first, _, last = split_name(name).rpartition(" ")
    if first and (is_unit_letter(last, first) if len(last) == 1 and last.isalpha() else _is_unit(last)):
        needed = (needed - frozenset(name_stems(last))) or needed
    return (needed or outer - {"of", "the", "by", "s"} or outer), all_stems


@lru_cache(_KEPT)
def _is_unit(word: str) -> bool:
    """Whether the last word of a name is a unit, which a claim states behind its number or in another form.

    >>> _is_unit("km"), _is_unit("cents"), _is_unit("days"), _is_unit("min")
    (True, True, False, False)
    """
    if word in UNIT_SYMBOLS:
        return word not in _NO_SYMBOLS
    return any(q.dimension.startswith("money:") and q.low != q.value for q in find_quantities(f"1 {word}"))


def is_naming_field(name: str) -> bool:
    """Whether a field names its record, judged by the last word of its name.

    >>> is_naming_field("booking id"), is_naming_field("nights")
    (True, False)
    """
    return name.lower().rpartition(" ")[2] in _NAMING
