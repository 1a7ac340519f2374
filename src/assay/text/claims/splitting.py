"""Splits one clean sentence into atomic statements, stage by stage."""

from collections.abc import Callable

from assay.text.claims.clauses import (
    MAX_TOKENS,
    Clause,
    clause_of,
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
SENTENCE_ENDS = frozenset(".!?")


def split_statement(text: str) -> list[Clause]:
    """The atomic statements of one clean sentence; the whole sentence where it cannot be split safely.

    >>> from assay.text.lexicon.tokens import render
    >>> [render(p.tokens) for p in split_statement("Acme was founded in 1990 and employs 40 people.")]
    ['Acme was founded in 1990', 'Acme employs 40 people']
    """
    return split_tokens(tokenise(text))


def split_tokens(words: list[Token]) -> list[Clause]:
    """The atomic statements of a sentence that is already tokenised."""
    tokens = list(words)
    while tokens and tokens[-1].tag in SENTENCE_ENDS:
        tokens.pop()
    if not tokens:
        return []
    clauses = [clause_of(tokens, tokens)]
    if len(tokens) > MAX_TOKENS:
        return clauses
    for stage in _STAGES:
        clauses = [part for clause in clauses for part in _split_safely(stage, clause)]
    return clauses


def _split_safely(stage: Callable[[Clause], list[Clause]], clause: Clause) -> list[Clause]:
    """The parts into which the stage splits a clause; the clause itself where a part would not be a sentence."""
    found = stage(clause)
    return found if len(found) == 1 or all(stands_alone(part.tokens) for part in found) else [clause]
