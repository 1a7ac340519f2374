"""The mask as a logits processor of transformers.

model.generate(**prompt, logits_processor=[GrammarLogits(grammar, prompt_tokens=prompt["input_ids"].shape[1])])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from assay.models.grammar.mask import JsonGrammar, TokenMask


@dataclass(slots=True)
class _Row:
    """One sequence of a batch as far as it was followed."""

    mask: TokenMask
    taken: list[int] = field(default_factory=list)


class GrammarLogits:
    """Rules out every token that no valid document goes on with.

    One processor serves one call of `generate`; rows of a batch, samples and beams are followed each by themselves.
    transformers asks nothing of a processor but to be called, so nothing is inherited and PyTorch is imported by its
    caller.
    """

    def __init__(self, grammar: JsonGrammar, prompt_tokens: int, *, hurry: int | None = None) -> None:
        """Follow the sequences behind a prompt.

        Args:
            grammar: the schema, compiled for the model's vocabulary.
            prompt_tokens: tokens of the prompt; the document begins behind them.
            hurry: from how many tokens of the document on only those count that bring it to its end.
        """
        self._grammar = grammar
        self._prompt = prompt_tokens
        self._hurry = hurry
        self._rows: list[_Row] = []

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """The scores with minus infinity for what may not come next.

        Args:
            input_ids: the tokens so far, a tensor of rows and tokens.
            scores: the logits of the next token, a tensor of rows and vocabulary.

        Raises:
            InputError: a sequence holds a token that was not allowed.
        """
        import torch

        sequences = [row[self._prompt :] for row in input_ids.tolist()]
        self._rows = [self._followed(place, taken) for place, taken in enumerate(sequences)]
        width = scores.shape[-1]
        may = np.stack([self._allowed(row, width) for row in self._rows])
        keep = torch.from_numpy(may).to(scores.device)
        return scores.masked_fill(~keep, float("-inf"))

    def _followed(self, place: int, taken: list[int]) -> _Row:
        """The row at a place, which a search over beams may have filled with another sequence."""
        row = self._rows[place] if place < len(self._rows) else None
        if row is None or row.taken != taken[: len(row.taken)]:
            row = _Row(self._grammar.mask())
        for token in taken[len(row.taken) :]:
            if not row.mask.ended:  # behind its end a sequence is filled up with whatever the model pads with
                row.mask.accept(token)
        return _Row(row.mask, taken)

    def _allowed(self, row: _Row, width: int) -> Any:
        hurried = self._hurry is not None and len(row.taken) >= self._hurry
        may = row.mask.hurried() if hurried else row.mask.allowed()
        return np.concatenate([may, np.zeros(max(0, width - len(may)), dtype=bool)])[:width]
