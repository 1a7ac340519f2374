"""The denial of a statement, which is true where the statement is false.

A network finds support for a sentence more reliably than contradictions of it, so a source is also checked for support
of the denial. The denial need not be good English, only plain; it is not displayed to anyone.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from assay.text.claims.clauses import find_verb, subject_of
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import DETERMINERS, PREPOSITIONS, PRONOUNS, Token, tokenise

_MAX_LENGTH: Final = 400
"""Characters; a longer statement is denied as a whole."""
_NEGATIONS: Final = frozenset({"not", "no", "never", "n't"})
_AFFIRMATIVES: Final = {
    "nobody": "somebody",
    "none": "some",
    "nothing": "something",
    "without": "with",
    "nowhere": "somewhere",
    "neither": "both",
    "nor": "and",
    "cannot": "can",
}
_NOT_NEGATING: Final = frozenset({"only", "just", "least", "later", "more", "less", "earlier", "longer", "doubt"})
"""Words before which "not" and "no" do not deny the statement."""
_OBLIGATIONS: Final = frozenset({"must", "shall"})


@lru_cache(maxsize=512)
def denial_of(statement: str) -> str:
    """A statement that is true exactly where the given one is false.

    A negated statement loses its negation; any other gets one after its verb. Where the verb is not recognised, the
    statement is denied as a whole.

    >>> denial_of("The bridge is open to cars."), denial_of("Members enter for free.")
    ('The bridge is not open to cars.', 'Members do not enter for free.')
    >>> denial_of("Tenants must give notice."), denial_of("The fee was not paid.")
    ('Tenants do not have to give notice.', 'The fee was paid.')
    """
    text = statement.strip()
    if len(text) > _MAX_LENGTH:
        return _denied_as_whole(text)
    tokens = tokenise(text)
    verb = find_verb(tokens)
    affirmative = _without_negation(text, tokens, verb)
    if affirmative is not None:
        return affirmative
    if verb < 1:
        return _denied_as_whole(text)
    return _negated(text, tokens, verb) or _denied_as_whole(text)


def _denied_as_whole(text: str) -> str:
    first = tokenise(text[:_MAX_LENGTH])[:1]
    proper = not first or first[0].low not in DETERMINERS | PRONOUNS | PREPOSITIONS
    return f"It is not so that {text if proper else text[:1].lower() + text[1:]}"


def _without_negation(text: str, tokens: Sequence[Token], verb: int) -> str | None:
    """The statement without the negation of its main clause; none where that has no negation."""
    for i, token in enumerate(tokens):
        low = token.low.replace("’", "'")
        following = tokens[i + 1].low if i + 1 < len(tokens) else ""
        if token.tag in {"SUB", ";"} and i > max(verb, 0):
            return None
        if low.endswith("n't") and low in verbs.AUXILIARY | {"needn't"}:
            stem = {"ca": "can", "wo": "will"}.get(low[:-3], low[:-3])
            return text[: token.start] + stem + text[token.end :]
        if low in _AFFIRMATIVES:
            return _capital(text[: token.start] + _AFFIRMATIVES[low] + text[token.end :])
        if low in _NEGATIONS and following not in _NOT_NEGATING:
            return _capital(" ".join((text[: token.start].rstrip() + " " + text[token.end :].lstrip()).split()))
    return None


def _negated(text: str, tokens: Sequence[Token], verb: int) -> str | None:
    """The statement with its main verb negated; none where the form of the verb is not known."""
    token = tokens[verb]
    following = tokens[verb + 1] if verb + 1 < len(tokens) else None
    before, after = text[: token.start], text[token.end :]
    plural = _is_plural(tokens, verb)
    if token.low in _OBLIGATIONS:
        return f"{before}{'do' if plural else 'does'} not have to{after}"
    has_participle = following is not None and (
        following.tag in {"VN", "AUX", "ADV"} or following.low in verbs.PARTICIPLE | {"been"}
    )
    if token.low in verbs.BE | verbs.MODAL | verbs.DO or (token.low in verbs.HAVE and has_participle):
        return f"{before}{token.text} not{after}"
    base = verbs.base_of(token.low)
    if base is None:
        return None
    past = token.low in verbs.PAST and token.low not in verbs.BASE | verbs.THIRD
    helper = "did" if past or token.low == "had" else "do" if token.low == base else "does"
    return f"{before}{helper} not {base}{after}"


def _is_plural(tokens: Sequence[Token], verb: int) -> bool:
    """Whether the subject is plural, as far as its last noun shows."""
    subject = subject_of(tokens, verb)
    head = next((i for i, one in enumerate(subject) if one.tag == "PREP" and i), len(subject))
    last = subject[head - 1] if subject else None
    if last is None:
        return False
    several = last.low.endswith("s") and not last.low.endswith(("ss", "us"))
    return several or last.low in {"we", "you", "they", "i", "people"} or any(one.tag == "AND" for one in subject)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
