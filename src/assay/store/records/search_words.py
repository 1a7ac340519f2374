"""The words of the search index: one tokenizer for both databases.

SQLite's FTS5 and PostgreSQL's text search tokenize texts differently, each with tables of its own. So texts are
tokenized here, and both get words of ASCII letters and digits, which neither splits further: accents are dropped, case
is folded, a character of a script without spaces is a word by itself, and what is then not ASCII is encoded as the
hexadecimal digits of its bytes.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from assay.errors import InputError

MOST_WORDS: Final = 4_000
"""The most words of one report that are indexed."""
MOST_READ: Final = 60_000
"""The most characters of one report that are tokenized."""
LONGEST_WORD: Final = 64
"""The most characters of a word; the rest is cut off."""
LONGEST_QUERY: Final = 400
"""The most characters of a search."""
MOST_TERMS: Final = 20
"""The most terms of a search; further ones are ignored."""

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
        most: the most words.

    >>> words_of("Caf\u00e9 no. 12: 2 weeks")
    ['cafe', 'no', 'n12', 'n2', 'weeks']
    """
    read = text[:MOST_READ]
    if read.isascii():
        return [_encoded(word) for word in _WORD.findall(read.lower())[:most]]
    plain = "".join(char for char in unicodedata.normalize("NFKD", read) if not unicodedata.combining(char)).casefold()
    words: list[str] = []
    for word in _WORD.findall(plain):
        if len(words) >= most:
            break
        words += _split(word)
    return words[:most]


def _split(word: str) -> list[str]:
    if word.isascii() or not _ALONE.search(word):
        return [_encoded(word)]
    return [_encoded(part) for part in re.split(f"({_ALONE.pattern})", word) if part]


def _encoded(word: str) -> str:
    cut = word[:LONGEST_WORD]
    if not cut.isascii():
        return f"u{cut.encode('utf-8', 'replace').hex()}"
    # PostgreSQL parses a word that begins with a digit as a number, and rewrites some numbers.
    return f"n{cut}" if cut[0].isdigit() else cut


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a search: consecutive words that a report must contain."""

    words: tuple[str, ...]
    begins: bool = False
    """Whether the last of them is a prefix."""


def terms_of(query: str) -> tuple[Term, ...]:
    """The terms of a search: words and "phrases" that must all be there; `word*` matches words that begin so.

    Raises:
        InputError: it is too long, or contains no word.

    >>> terms_of('"partner leave" week*')
    (Term(words=('partner', 'leave'), begins=False), Term(words=('week',), begins=True))
    """
    if len(query) > LONGEST_QUERY:
        raise InputError(f"a search has at most {LONGEST_QUERY} characters, got {len(query)}")
    terms: list[Term] = []
    for quoted, unquoted in _TERM.findall(query):
        words = words_of(quoted or unquoted)
        if words:
            terms.append(Term(tuple(words), begins=bool(unquoted) and unquoted.endswith("*")))
    if not terms:
        raise InputError("a search needs a word of letters or digits; there is none in it")
    return tuple(terms[:MOST_TERMS])


def for_sqlite(terms: tuple[Term, ...], owner: str) -> str:
    """The terms as an FTS5 query over the rows of one owner.

    >>> for_sqlite(terms_of("leave week*"), "acme")
    'owner : "acme" AND words : ("leave" AND "week" *)'
    """
    query = " AND ".join(f'"{" ".join(term.words)}"{" *" if term.begins else ""}' for term in terms)
    return f'owner : "{owner}" AND words : ({query})'


def for_postgresql(terms: tuple[Term, ...]) -> str:
    """The terms as the text of a `tsquery`.

    >>> for_postgresql(terms_of('"partner leave" week*'))
    "('partner' <-> 'leave') & ('week':*)"
    """
    return " & ".join(
        "({}{})".format(" <-> ".join(f"'{word}'" for word in term.words), ":*" if term.begins else "") for term in terms
    )
