"""What sort of statement a sentence is."""

import pytest

from assay.schema.verdict import ClaimKind
from assay.text.claims.kinds.courtesies import is_meta
from assay.text.claims.rule_extractor import RuleClaimExtractor


@pytest.mark.parametrize(
    "text",
    [
        "If you have any more questions or need further assistance, feel free to ask!",
        "If there's anything else you need help with, please let me know.",
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
        "If you need help, the fee is waived.",
        "If you have more questions, feel free to ask about the fee, which is 5 euros.",
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


def test_a_claim_behind_an_abstention_is_found_without_a_comma_too() -> None:
    found = RuleClaimExtractor().extract("The documents do not mention a fee and the fee is $500.")
    assert any(claim.checkable and "500" in claim.text for claim in found)


def test_what_an_abstention_does_not_know_is_no_claim_of_its_own() -> None:
    found = RuleClaimExtractor().extract("The documents do not say whether parking and meals are included.")
    assert [(claim.kind, claim.checkable) for claim in found] == [(ClaimKind.ABSTENTION, True)]


@pytest.mark.parametrize(
    "text",
    [
        "I cannot confirm it, partners get 4 weeks of leave.",
        "I have no information, however, partners get 4 weeks of leave.",
        "I cannot find the date - partners get 4 weeks of leave.",
        "I don't have access to the file, partners get 4 weeks of leave.",
        "Let me know that partners get 4 weeks of leave.",
    ],
)
def test_no_claim_hides_behind_an_abstention_or_a_courtesy(text: str) -> None:
    assert any(claim.checkable and "4 weeks" in claim.text for claim in RuleClaimExtractor().extract(text))
