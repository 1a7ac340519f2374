"""The words of a claim as they are shown, and the tokens that belong to them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.models.cross_encoder import EMBEDDED
from assay.models.pair_tokens import PairTokenizer, load_tokenizer

TOKENIZER: PairTokenizer = load_tokenizer(Path(EMBEDDED) / "tokenizer.json")


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
