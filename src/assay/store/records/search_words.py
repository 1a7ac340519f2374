"""The words that reports are found by: one way to cut texts for both databases.

SQLite's FTS5 and PostgreSQL's text search cut texts differently, and each by tables of its own. So texts are cut here,
and both get words of ASCII letters and digits alone, which neither cuts any further: accents are dropped, case is
folded, a character of a script without spaces is a word by itself, and what is then not ASCII is spelled by its bytes.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError

MOST_WORDS: Final = 4_000
"""Words of one report that can be found; what follows them is not."""
MOST_READ: Final = 60_000
"""Characters of one report that are cut into words."""
LONGEST_WORD: Final = 64
"""Characters of a word that count."""
LONGEST_QUERY: Final = 400
MOST_TERMS: Final = 20

_WORD: Final = re.compile(r"[^\W_]+")
_TERM: Final = re.compile(r'"([^"]*)"?|([^\s"]+)')
# Thai, Lao, Khmer, Myanmar; kana, Han and what is next to them; the planes of further Han.
_ALONE: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def words_of(text: str, most: int = MOST_WORDS) -> list[str]:
    """The words of a text, in order.

    Args:
        text: any text; only its first `MOST_READ` characters are read.
        most: at most so many.

    >>> words_of("Caf\u00e9 no. 12: 2 weeks")
    ['cafe', 'no', 'n12', 'n2', 'weeks']
    """
    read = text[:MOST_READ]
    if read.isascii():
        found = _WORD.findall(read.lower())
        return [_spelled(word) for word in found[:most]]
    plain = "".join(one for one in unicodedata.normalize("NFKD", read) if not unicodedata.combining(one)).casefold()
    made: list[str] = []
    for word in _WORD.findall(plain):
        if len(made) >= most:
            break
        made += _parts(word)
    return made[:most]


def _parts(word: str) -> list[str]:
    if word.isascii() or not _ALONE.search(word):
        return [_spelled(word)]
    return [_spelled(part) for part in re.split(f"({_ALONE.pattern})", word) if part]


def _spelled(word: str) -> str:
    cut = word[:LONGEST_WORD]
    if not cut.isascii():
        return f"u{cut.encode('utf-8', 'replace').hex()}"
    # PostgreSQL takes what begins with a digit for a number, and writes some of them again.
    return f"n{cut}" if cut[0].isdigit() else cut


@dataclass(frozen=True, slots=True)
class Term:
    """What has to be in a report: words one behind the other."""

    words: tuple[str, ...]
    begins: bool = False
    """Whether the last of them is only the beginning of a word."""


def terms_of(query: str) -> tuple[Term, ...]:
    """What somebody searches for: words and "phrases" that all have to be there; `word*` is how a word begins.

    Raises:
        InputError: it is too long, or holds no word.

    >>> terms_of('"partner leave" week*')
    (Term(words=('partner', 'leave'), begins=False), Term(words=('week',), begins=True))
    """
    if len(query) > LONGEST_QUERY:
        raise InputError(f"a search has at most {LONGEST_QUERY} characters, got {len(query)}")
    made: list[Term] = []
    for quoted, unquoted in _TERM.findall(query):
        words = words_of(quoted or unquoted)
        if words:
            made.append(Term(tuple(words), begins=bool(unquoted) and unquoted.endswith("*")))
    if not made:
        raise InputError("a search needs a word of letters or digits; there is none in it")
    return tuple(made[:MOST_TERMS])


def for_sqlite(terms: tuple[Term, ...], owner: str) -> str:
    """The terms as FTS5 reads them, in the rows of one owner.

    >>> for_sqlite(terms_of("leave week*"), "acme")
    'owner : "acme" AND words : ("leave" AND "week" *)'
    """
    said = " AND ".join(f'"{" ".join(term.words)}"{" *" if term.begins else ""}' for term in terms)
    return f'owner : "{owner}" AND words : ({said})'


def for_postgresql(terms: tuple[Term, ...]) -> str:
    """The terms as a `tsquery` is written.

    >>> for_postgresql(terms_of('"partner leave" week*'))
    "('partner' <-> 'leave') & ('week':*)"
    """
    return " & ".join(
        f"({' <-> '.join(_quoted(word, term.begins and word is term.words[-1]) for word in term.words)})"
        for term in terms
    )


def _quoted(word: str, begins: bool) -> str:
    return f"'{word}'{':*' if begins else ''}"
