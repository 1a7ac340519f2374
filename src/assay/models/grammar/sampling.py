"""Constrained decoding with numpy alone: any function that gives logits writes a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import AnswerError
from assay.models.grammar.mask import JsonGrammar

Logits = Callable[[Sequence[int]], NDArray[np.floating[Any]]]
"""The logits of the next token, given the tokens so far."""


def sample_document(
    logits: Logits,
    grammar: JsonGrammar,
    random: np.random.Generator,
    *,
    tokens: int = 1_024,
    hurry: int | None = None,
    temperature: float = 1.0,
) -> str:
    """Have a model write one document that keeps to a schema.

    Args:
        logits: the model.
        grammar: the schema, compiled for its vocabulary.
        random: what chooses among the tokens that are allowed.
        tokens: the most that the document may have.
        hurry: from how many tokens on only those count that bring the document to its end; half of them by default.
        temperature: 0 takes the likeliest allowed token.

    Raises:
        AnswerError: the document did not end within its tokens.
    """
    mask = grammar.mask()
    taken: list[int] = []
    soon = tokens // 2 if hurry is None else hurry
    while len(taken) < tokens:
        may = mask.allowed() if len(taken) < soon else mask.hurried()
        token = choose(logits(taken), may, random, temperature)
        mask.accept(token)
        if mask.ended:
            return grammar.vocabulary.text(taken)
        taken.append(token)
    raise AnswerError(f"The document did not end within {tokens} tokens.")


def choose(
    logits: NDArray[np.floating[Any]], may: NDArray[np.bool_], random: np.random.Generator, temperature: float
) -> int:
    """One of the allowed tokens, by P'(y) = P(y) / sum of P over those that are allowed
    (docs/concepts.md#structured-output)."""
    places = np.flatnonzero(may[: len(logits)])
    if not len(places):
        raise AnswerError("The model has no logit for any of the tokens that are allowed.")
    values = np.asarray(logits, dtype=np.float64)[places]
    values = np.where(np.isnan(values), -np.inf, values)
    best = values.max()
    if not np.isfinite(best):  # a model that rules out all that is allowed leaves the choice open
        return int(random.choice(places))
    if temperature <= 0:
        return int(places[int(np.argmax(values))])
    weights = np.exp((values - best) / temperature)
    return int(random.choice(places, p=weights / weights.sum()))
