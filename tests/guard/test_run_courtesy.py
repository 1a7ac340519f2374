"""What keeps a conversation going is no claim; what states something of the world stays one."""

import pytest

from assay.guard.runs.small_talk import is_courtesy
from assay.schema import ClaimKind, ExtractedClaim, Span
from assay.text.claims.rule_extractor import RuleClaimExtractor

TOOLS = ("get_order", "transfer_to_human_agents")


def courtesies(text: str, tools: tuple[str, ...] = TOOLS) -> list[bool]:
    return [is_courtesy(claim, tools) for claim in RuleClaimExtractor().extract(text) if claim.checkable]


@pytest.mark.parametrize(
    "text",
    [
        "If you need further assistance, feel free to reach out.",
        "If you have any other questions, please let me know!",
        "Safe travels!",
        "I understand your concern.",
        "I hope everything works out smoothly for your trip!",
        "Unfortunately, I am unable to offer a higher amount through this system.",
        "I can transfer you to a human agent who may be able to assist you further.",
        "You're welcome! Feel free to reach out whenever you are ready.",
        "I'm truly sorry to hear about your loss.",
        "I\u2019m sorry for the delay.",
        "Have a safe and pleasant trip!",
        "Safe travels, and take care!",
        "You may need to contact a human agent for assistance with this request.",
        "They will be able to assist you further with any discrepancies in your account information.",
        "Otherwise, I can transfer you to a human agent for further assistance.",
        "For further compensation beyond this, I would need to transfer you to a human agent.",
        "I understand your situation, but I still need the reservation ID to proceed with the cancellation.",
        "I understand your situation, but unfortunately, I am unable to offer a partial refund.",
        "It seems there was a misunderstanding.",
        "One moment, please.",
        "Let me check the details of your order.",
        "I'll look that up for you.",
    ],
)
def test_a_courtesy_is_no_claim(text: str) -> None:
    assert all(courtesies(text))


@pytest.mark.parametrize(
    "text",
    [
        "I hope you enjoy your refund of 400 dollars.",
        "Feel free to call Anna Berg at the Lyon office.",
        "I am unable to refund this because it is non-refundable.",
        "I understand your concern, but refunds are not possible.",
        "If you cancel, the refund is paid to your card.",
        "Your reservation has been cancelled.",
        "If you need help, please use the code SAVE20.",
        "I have transferred you to a human agent.",
        "I can refund the full amount.",
        "Please note that bags are free.",
        "If you want a refund, please note that all refunds are free.",
        "I am unable to help, bags are free.",
        "I understand your situation, but the refund has been paid.",
        "I understand your situation, but unfortunately, I am unable to help because bags are never free.",
        "I'm sorry to hear about your loss, the refund is paid.",
        "You may need to contact the office in Lyon.",
        "Let me check your order, it is in Hamburg.",
        "I'll cancel your order now.",
        "Let me look up order W-17.",
        "They will be able to refund the whole fare.",
        "I need the reservation ID, and the refund takes a day to proceed.",
    ],
)
def test_what_states_something_stays_a_claim(text: str) -> None:
    assert not all(courtesies(text))


def test_an_offer_to_hand_over_needs_a_tool_that_does() -> None:
    offer = "I can transfer you to a human agent."
    assert courtesies(offer) == [True]
    assert courtesies(offer, ("get_order",)) == [False]


@pytest.mark.parametrize("piece", ["if you ", "i hope ", "thanks, ", "i can transfer ", "feel free "])
def test_a_long_hostile_sentence_is_no_courtesy(piece: str) -> None:
    text = piece * 10_000
    span = Span(start=0, end=len(text))
    claim = ExtractedClaim(text=text, span=span, sentence=span, kind=ClaimKind.FACTUAL, checkable=True)
    assert not is_courtesy(claim, TOOLS)
