"""Names of fields: taken apart into words, and the stems that a claim names a field by."""

import re
from collections.abc import Iterator
from typing import Final

from assay.text.lexicon import find_words, lexeme, word_set

LONGEST_NAME: Final = 60
"""Characters of a field's name; what is longer is a sentence before a colon, or is cut off in JSON."""

# A border within a name in camelCase, and the words of such a name.
_HUMP: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+")
BRACKETS: Final = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
"""What is in brackets, which a name or a list can do without."""

GENERIC: Final = frozenset(
    lexeme(word).stem for word in word_set("date name number no nr id ids code type value the of s at on by in is and")
)
"""Words of a field's name that a claim may leave out where others remain: "released" for "release date"."""

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
"""What the short names of fields stand for."""

_NAMING: Final = word_set("name title id key label code sku number")
"""Last words of the names of fields that name their record."""


def split_name(name: str) -> str:
    """A field's name as words: camelCase and snake_case taken apart.

    >>> split_name("releaseDate"), split_name("zip_code"), split_name("HTTPStatus")
    ('release Date', 'zip code', 'HTTP Status')
    """
    if "_" in name or (" " not in name and _HUMP.search(name)):
        return " ".join(piece for word in re.split(r"[\s_]+", name) for piece in _PART.findall(word))
    return name


def stems_of(text: str) -> Iterator[str]:
    """The stems of the words of a name or a title, function words too."""
    for word in find_words(split_name(text)).lexemes:
        yield _LONG_FORMS.get(word.stem, word.stem)


def key_stems(name: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems that name a field, and all of its name.

    >>> sorted(key_stems("Number of nights (2019)")[0])
    ['night']
    """
    every = frozenset(stems_of(name))
    outer = frozenset(stems_of(BRACKETS.sub(" ", name))) or every
    needed = outer - GENERIC
    return (needed or outer - {"of", "the", "by", "s"} or outer), every


def names_record(name: str) -> bool:
    """Whether the name of a field says that it names its record.

    >>> names_record("booking id"), names_record("nights")
    (True, False)
    """
    return name.lower().rpartition(" ")[2] in _NAMING
