"""What every `PairScorer` must keep; a test module calls each check for each implementation."""

from collections.abc import Callable

import numpy as np
import pytest

from assay.errors import VerifierError
from assay.models.interface import PairScorer, score_words, words_of

PAIRS = [
    ("Partners are entitled to 2 weeks of leave.", "Partners get 4 weeks of leave."),
    ("The bridge opened in 1932.", "The bridge was opened in 1932."),
    ("The bridge opened in 1932.", "Cats sleep a lot."),
    ("Rain is likely in the north tomorrow, and " * 4 + "wind.", "It will rain."),
    ("", "An empty premise says nothing."),
    ("Ünïcode, \u0645\u0631\u062d\u0628\u0627, 漢字, 👩‍👩‍👧 and a lone \ud800 half.", "It survives \udc00."),
]


def scores_are_probabilities(scorer: PairScorer) -> None:
    scores = scorer.score(PAIRS)
    assert scores.shape == (len(PAIRS), 3)
    assert scores.dtype == np.float32
    assert (scores >= 0).all()
    assert np.allclose(scores.sum(axis=1), 1, atol=1e-5)
    if not scorer.three_way:
        assert (scores[:, 2] == 0).all()


def no_pairs_give_no_rows(scorer: PairScorer) -> None:
    assert scorer.score([]).shape == (0, 3)
    assert scorer.count_tokens([]) == []


def a_score_is_a_function_of_its_pair_alone(scorer: PairScorer) -> None:
    together = scorer.score(PAIRS)
    alone = np.concatenate([scorer.score([pair]) for pair in PAIRS])
    backwards = scorer.score(PAIRS[::-1])[::-1]
    repeated = scorer.score([*PAIRS, *PAIRS])[len(PAIRS) :]
    for other in (alone, backwards, repeated):
        assert other.tobytes() == together.tobytes()


def a_pair_that_does_not_fit_raises(scorer: PairScorer) -> None:
    long = "word " * scorer.max_pair_tokens
    with pytest.raises(VerifierError, match="tokens"):
        scorer.score([PAIRS[0], (long, "A claim.")])


def a_pair_that_just_fits_is_judged(scorer: PairScorer) -> None:
    claim = "A claim."
    room = scorer.max_pair_tokens - 4 - scorer.count_tokens([claim])[0]
    premise = "a " * room
    assert scorer.count_tokens([premise]) == [room]
    assert scorer.score([(premise, claim)]).shape == (1, 3)


def tokens_add_up_over_words(scorer: PairScorer) -> None:
    one, two, both, none = scorer.count_tokens(["seven wild", "geese", "seven wild geese", ""])
    assert one + two == both
    assert none == 0
    assert min(one, two) >= 1


def it_says_what_it_is(scorer: PairScorer) -> None:
    assert scorer.name
    assert len(scorer.digest) == 64
    assert set(scorer.digest) <= set("0123456789abcdef")


def words_lie_in_their_claim_and_each_has_a_probability(scorer: PairScorer) -> None:
    scores, words = score_words(scorer, PAIRS)
    assert scores.tobytes() == scorer.score(PAIRS).tobytes()
    for (_, claim), row in zip(PAIRS, words, strict=True):
        spans = words_of(scorer, claim)
        assert len(row) in {0, len(spans)}
        assert all(0 <= p <= 1 for p in row)
        edges = [edge for span in spans for edge in span]
        assert edges == sorted(edges)
        assert all(claim[start:end].strip() == claim[start:end] != "" for start, end in spans)


def scores_of_words_are_a_function_of_their_pair_alone(scorer: PairScorer) -> None:
    together = score_words(scorer, PAIRS)[1]
    assert [score_words(scorer, [pair])[1][0] for pair in PAIRS] == together
    assert score_words(scorer, PAIRS[::-1])[1][::-1] == together
    assert score_words(scorer, [*PAIRS, *PAIRS])[1][len(PAIRS) :] == together


CHECKS: tuple[Callable[[PairScorer], None], ...] = (
    scores_are_probabilities,
    no_pairs_give_no_rows,
    a_score_is_a_function_of_its_pair_alone,
    a_pair_that_does_not_fit_raises,
    a_pair_that_just_fits_is_judged,
    tokens_add_up_over_words,
    words_lie_in_their_claim_and_each_has_a_probability,
    scores_of_words_are_a_function_of_their_pair_alone,
    it_says_what_it_is,
)
