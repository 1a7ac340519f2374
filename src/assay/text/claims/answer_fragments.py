"""Answers that are not sentences: a bare noun phrase, number or date, read together with the question."""

from functools import lru_cache

from assay.text.claims.clauses import find_verb
from assay.text.lexicon.tokens import tokenise
from assay.text.sentences.markup import clean

_MAX_WORDS = 12


@lru_cache(maxsize=256)  # called several times for each claim
def is_fragment(text: str) -> bool:
    """Whether the text is one phrase without a verb of its own.

    >>> is_fragment("4 weeks"), is_fragment("Paris."), is_fragment("It is Paris.")
    (True, True, False)
    """
    cleaned = clean(text.strip()).text
    if not any(c.isalnum() for c in cleaned) or "\n" in text.strip():
        return False
    tokens = tokenise(cleaned[:400])
    words = [t for t in tokens if t.text[0].isalnum() or t.text[0] in "$€£¥"]
    if len(words) > _MAX_WORDS or len(cleaned) > 200:
        return False
    if not cleaned.isascii() and len(words) <= 1 and len(cleaned) > 8:
        return False  # a script without spaces, in which verbs are not recognised
    body = tokens[:-1] if tokens[-1].tag in {".", "!"} else tokens
    return not any(t.tag in {".", "?", ";"} for t in body) and find_verb(body) < 1 and body[0].tag != "AUX"
