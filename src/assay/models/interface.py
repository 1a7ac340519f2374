"""The interface of what scores pairs of premise and claim: the embedded network, any cross-encoder, a fake in tests."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

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
        """The name that reports show."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the weights and everything else that a score depends on."""
        ...

    @property
    def three_way(self) -> bool:
        """Whether the model has an output for contradiction; otherwise that column is 0."""
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


WordScores = tuple[float, ...]
"""For each word of a claim the probability that it is wrong under the premise; empty where a scorer cannot say."""


@runtime_checkable
class WordScorer(PairScorer, Protocol):
    """A scorer that says in the same pass which words of the claim are wrong."""

    def words(self, claim: str) -> tuple[tuple[int, int], ...]:
        """Start and end of each word of the claim, in characters of it, as the network cuts them."""
        ...

    def score_words(self, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[WordScores]]:
        """As `score`, with the words' probabilities of each pair: as many as `words` of its claim has, or none.

        Raises:
            VerifierError: the model failed, or a pair is longer than `max_pair_tokens`.
        """
        ...


def score_words(scorer: PairScorer, pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float32], list[WordScores]]:
    """Scores of the pairs and of the claims' words, the latter empty where the scorer has none.

    Raises:
        VerifierError: the model failed, or a pair is longer than `max_pair_tokens`.
    """
    if _tells_words(type(scorer)):
        return cast("WordScorer", scorer).score_words(pairs)
    return scorer.score(pairs), [()] * len(pairs)


def words_of(scorer: PairScorer, claim: str) -> tuple[tuple[int, int], ...]:
    """The words of a claim as the scorer divides it; none where it has no scores of words."""
    return cast("WordScorer", scorer).words(claim) if _tells_words(type(scorer)) else ()


@lru_cache(maxsize=64)
def _tells_words(kind: type) -> bool:
    """Whether a class of scorers has the methods of a `WordScorer`; cached, since it is needed for every claim."""
    return hasattr(kind, "words") and hasattr(kind, "score_words")
