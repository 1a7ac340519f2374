"""What sort of statement a sentence is."""

import pytest

from assay.text.kinds import is_meta


@pytest.mark.parametrize(
    "text",
    [
        "Congratulations!",
        "Congratulations on the news!",
        "Congrats on your new home!",
        "Many congratulations to you.",
        "That's great news!",
        "Wonderful news!",
        "Well done!",
        "Happy birthday!",
        "Welcome back!",
    ],
)
def test_an_exclamation_of_courtesy_is_no_claim(text: str) -> None:
    assert is_meta(text)


@pytest.mark.parametrize(
    "text",
    [
        "Congratulations on your 9 weeks of leave!",
        "Congratulations to Ada Lovelace on the Turing Prize!",
        "Congratulations, the fee was waived.",
        "Great news: the fee was waived!",
        "That's great news for Acme!",
        "Happy customers returned.",
        "Welcome bonuses are paid in May.",
    ],
)
def test_a_courtesy_that_carries_a_claim_is_a_claim(text: str) -> None:
    assert not is_meta(text)
