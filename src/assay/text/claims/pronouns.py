# ruff: noqa: SIM905 word lists read better as running text
"""Resolves a pronoun at the start of a sentence where it has exactly one safe antecedent."""

from collections.abc import Sequence

from assay.text.claims.clauses import find_verb, has_rival, is_person, subject_of
from assay.text.lexicon import verbs
from assay.text.lexicon.tokens import Token, inserted

_EXPLETIVE = frozenset(
    "seems appears turns takes took rains rained follows depends happens important possible necessary worth clear "
    "likely unclear true estimated believed said known recommended noted".split()
)
_ADVERBS = frozenset("often also sometimes now long well still even therefore thus then once always never".split())
_OTHER_GENDER_TITLES = {
    "she": frozenset("mr sir lord king prince duke monsieur herr señor signor".split()),
    "he": frozenset("mrs ms miss lady queen princess duchess dame madam madame frau señora signora".split()),
}
"""By pronoun, the forms of address of people to whom it does not refer."""
_MAX_SUBJECT = 8


def plain_subject(tokens: Sequence[Token]) -> list[Token]:
    """The subject of a statement, if it is a plain phrase that a pronoun may refer to; otherwise empty."""
    verb = find_verb(tokens)
    if verb < 1:
        return []
    found = subject_of(tokens, verb)
    while found and found[0].tag == "PREP":  # `In 2002, Acme bought`: the subject follows the comma
        comma = next((i for i, t in enumerate(found) if t.tag == ","), -1)
        if comma < 0:
            return []
        found = found[comma + 1 :]
    plain = all(t.tag in {"DET", "NAME", "W", "NUM", "VA", "ASIDE", "QUOTE"} or t.low == "of" for t in found)
    if not found or not plain or len(found) > _MAX_SUBJECT or found[0].low in {"this", "that", "these", "those", "no"}:
        return []
    if found[0].low in {"a", "an"}:
        found[0] = inserted("The", "DET")
    return [t for t in found if t.tag != "ASIDE"] if found[-1].tag == "ASIDE" else found


def antecedent(previous: Sequence[Token], previous_subject: Sequence[Token], pronoun: str) -> list[Token]:
    """What a pronoun refers to; empty where that is uncertain.

    Args:
        previous: the tokens of the sentence before.
        previous_subject: the subject that the sentence before resolved to, used where its own is not plain.
        pronoun: `it`, `they`, `he` or `she`.
    """
    found = plain_subject(previous) or list(previous_subject)
    if not found:
        return []
    verb = find_verb(previous)
    is_plural = _is_plural(previous[verb]) if plain_subject(previous) and verb > 0 else None
    plural = is_plural if is_plural is not None else found[-1].low.endswith("s") and found[-1].tag != "NAME"
    names = is_person(found)
    rival = has_rival(previous, max(verb, 1))
    match pronoun:
        case "it" if previous and previous[0].low in {"he", "she"}:
            return []  # that subject is a person
        case "it":
            return [] if plural or (rival and not (names or found[0].low == "the")) else found
        case "they":
            return found if plural and not rival else []
        case "he" | "she":
            addressed = {part.strip(".") for token in found for part in token.low.split()}
            return found if names and not rival and not addressed & _OTHER_GENDER_TITLES[pronoun] else []
        case _:
            return []


def _is_plural(verb: Token) -> bool | None:
    """Whether a finite verb has a plural subject; none where its form does not show it."""
    if verb.low in {"is", "was", "has", "does", "isn't", "wasn't", "hasn't", "doesn't"} or verb.low in verbs.THIRD:
        return False
    return True if verb.low in {"are", "were", "have", "do"} or verb.low in verbs.BASE - verbs.PAST else None


_BACK_REFERENCES = frozenset("it he she they this that these those its his her their both neither such".split())


def refers_back(tokens: Sequence[Token]) -> bool:
    """Whether a sentence begins with a word that refers to something in the sentence before it.

    >>> from assay.text.lexicon.tokens import tokenise
    >>> [refers_back(tokenise(t)) for t in ("They get 16 weeks.", "The latter is free.", "It is true that it is free.")]
    [True, True, False]
    """
    if not tokens:
        return False
    first = tokens[0].low
    if first in {"it", "he", "she", "they"}:
        return bool(opens_with_pronoun(tokens))
    return first in _BACK_REFERENCES or (
        first == "the" and len(tokens) > 1 and tokens[1].low in {"former", "latter", "same"}
    )


def opens_with_pronoun(tokens: Sequence[Token]) -> str:
    """The personal pronoun that is the subject of the statement, or an empty string."""
    if len(tokens) < 2 or tokens[0].low not in {"it", "he", "she", "they"}:
        return ""
    verb = find_verb(tokens)
    if verb < 1 or verb > 2:
        return ""
    near = [t.low for t in tokens[1:9] if t.low not in _ADVERBS and not t.low.endswith("ly")][:5]
    says_nothing = any(w in _EXPLETIVE for w in near[:3]) or ("that" in near and tokens[verb].low in verbs.BE)
    return "" if tokens[0].low == "it" and says_nothing else tokens[0].low
