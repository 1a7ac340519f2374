"""What judges a pair of premise and claim: the embedded network, any cross-encoder, or a fake in tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # numpy is loaded with the network, not with the interface
    import numpy as np
    from numpy.typing import NDArray

MIN_PAIR_TOKENS = 32
"""A scorer that reads fewer tokens than this at once cannot judge a claim against a sentence."""


class PairScorer(Protocol):
    """Gives entailment, neutral and contradiction for pairs of texts.

    The score of a pair depends on that pair alone: neither on the other pairs of the call, nor on their order, nor on
    the number of threads (docs/adr/0006-deterministic-batches.md).
    """

    @property
    def name(self) -> str:
        """A name for people."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the weights and everything else that a score depends on."""
        ...

    @property
    def three_way(self) -> bool:
        """Whether contradiction is told apart; a single-score model leaves that column 0."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without special tokens."""
        ...

    @property
    def max_pair_tokens(self) -> int:
        """The most tokens that premise and claim may have together, special tokens included."""
        ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Probabilities of shape (len(pairs), 3): entailment, neutral, contradiction; rows sum to 1.

        Pairs are (premise, claim). A pair that does not fit raises rather than being cut.

        Raises:
            VerifierError: the model failed, or a pair is longer than `max_pair_tokens`.
        """
        ...
