"""The atomic statements of one clean sentence: clauses, relative clauses, verb phrases, adjuncts and lists parted."""

from collections.abc import Callable

from assay.text.claims.clauses import (
    MAX_TOKENS,
    Piece,
    piece,
    split_asides,
    split_clauses,
    split_relatives,
    split_verbs,
    stands_alone,
)
from assay.text.claims.phrases import split_adjuncts, split_lists, split_measures
from assay.text.lexicon.tokens import Token, tokenise

_STAGES = (
    split_clauses,
    split_asides,
    split_relatives,
    split_verbs,
    split_relatives,
    split_adjuncts,
    split_lists,
    split_measures,
)
ENDS = frozenset(".!?")


def split_statement(text: str) -> list[Piece]:
    """The atomic statements of one clean sentence; the whole of it where nothing can safely be parted.

    >>> from assay.text.lexicon.tokens import render
    >>> [render(p.tokens) for p in split_statement("Acme was founded in 1990 and employs 40 people.")]
    ['Acme was founded in 1990', 'Acme employs 40 people']
    """
    return split_tokens(tokenise(text))


def split_tokens(words: list[Token]) -> list[Piece]:
    """The atomic statements of a sentence that is already tokenised."""
    tokens = list(words)
    while tokens and tokens[-1].tag in ENDS:
        tokens.pop()
    if not tokens:
        return []
    pieces = [piece(tokens, tokens)]
    if len(tokens) > MAX_TOKENS:
        return pieces
    for stage in _STAGES:
        pieces = [p for given in pieces for p in _parted(stage, given)]
    return pieces


def _parted(stage: Callable[[Piece], list[Piece]], given: Piece) -> list[Piece]:
    """What the stage makes of a statement; the statement itself where a part of it would be no sentence."""
    found = stage(given)
    return found if len(found) == 1 or all(stands_alone(p.tokens) for p in found) else [given]
