"""Scorers that tests of several packages need."""

from assay.testing import FakeScorer


class Steady(FakeScorer):
    """Finds every claim equally well supported, so that a test does not hang on shared words.

    Args:
        entailed: the probability of entailment that every pair gets, from 0 to 1; the rest is neutral.
    """

    def __init__(self, entailed: float) -> None:
        super().__init__()
        self._entailed = entailed

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        return self._entailed, 1 - self._entailed, 0.0
