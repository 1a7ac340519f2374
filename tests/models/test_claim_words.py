"""The words of a claim as they are shown, and the tokens that belong to them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.tiny_models import write_model

from assay.errors import ModelError, VerifierError
from assay.models.cross_encoder import OnnxCrossEncoder
from assay.models.manifest import EMBEDDED
from assay.models.pair_tokens import PairTokenizer, load_tokenizer

TOKENIZER: PairTokenizer = load_tokenizer(EMBEDDED / "tokenizer.json")


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("Revenue rose 12.5% to $4,000.", ["Revenue", "rose", "12.5%", "to", "$4,000"]),
        ("“Bob’s” well-known CFO (in the U.S.)", ["Bob’s", "well-known", "CFO", "in", "the", "U.S"]),
        ("It costs 3 € or 5 %.", ["It", "costs", "3", "€", "or", "5", "%"]),
        ("...", []),
        ("", []),
    ],
)
def test_words_are_shown_without_the_punctuation_around_them(claim: str, words: list[str]) -> None:
    assert [claim[start:end] for start, end in TOKENIZER.words(claim).spans] == words


def test_every_token_of_a_number_belongs_to_its_word() -> None:
    found = TOKENIZER.words("It made $4,000 net.")
    assert found.of_token.count(2) == len(["$", "4", ",", "000"])


def test_a_claim_that_is_not_read_as_it_stands_has_no_words() -> None:
    assert TOKENIZER.words("a" * 200).spans == ()


@given(st.text(max_size=79))
def test_words_lie_in_the_claim_in_order_and_tokens_point_at_them(claim: str) -> None:
    found = TOKENIZER.words(claim)
    edges = [edge for span in found.spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(claim) for start, end in found.spans)
    assert all(-1 <= word < len(found.spans) for word in found.of_token)
    assert len(found.of_token) == TOKENIZER.count([claim])[0]


def test_a_word_is_as_wrong_as_its_worst_token(tmp_path: Path) -> None:
    scorer = OnnxCrossEncoder.load(write_model(tmp_path, "words"))
    claim = "Cats zq sleep."
    ((cats, unknown, sleep),) = scorer.score_words([("Cats sleep a lot.", claim)])[1]
    letters = [scorer.score_words([("Cats sleep a lot.", text)])[1][0][0] for text in ("z", "cats", "sleep")]
    assert [claim[a:b] for a, b in scorer.words(claim)] == ["Cats", "zq", "sleep"]
    assert (cats, sleep) == pytest.approx((letters[1], letters[2]))
    assert unknown >= letters[0] - 1e-6


def test_a_network_without_scores_of_tokens_shows_no_words(tmp_path: Path) -> None:
    scorer = OnnxCrossEncoder.load(write_model(tmp_path))
    assert scorer.words("Cats sleep.") == ()
    assert scorer.score_words([("Cats sleep.", "Cats sleep.")])[1] == [()]


def test_as_many_scores_as_tokens_are_expected(tmp_path: Path) -> None:
    with pytest.raises((ModelError, VerifierError), match="tokens"):
        OnnxCrossEncoder.load(write_model(tmp_path, "misworded")).score([("Cats sleep.", "Cats sleep.")])
