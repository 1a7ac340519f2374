"""What keeps a conversation going is no claim; what states something of the world stays one."""

import pytest
from tests.guard.runs import transcript
from tests.scorers import Steady

from assay.guard import Guard
from assay.guard.runs.small_talk import is_courtesy
from assay.schema import Action, ClaimKind, ExtractedClaim, Span, Verdict
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
        "I apologize for any inconvenience caused.",
        "I hope this helps!",
        "I hope you have a great trip.",
        "I hope your cat feels better soon!",
        "I hope the situation is resolved soon and that you have a safe journey.",
        "I appreciate that you took the time to explain.",
        "I understand that you would like to cancel your order.",
        "I understand you're frustrated with the delay.",
        "I understand how frustrating this situation must be for you.",
        "I understand how much this trip means to you.",
        "I'm sorry that this happened to you.",
        "I'm sorry that you are having trouble.",
        "I apologize that I cannot help you further.",
        "I apologize for the confusion and I'll be happy to help.",
        "If you believe that there is an error, please let me know.",
        "I cannot confirm that the refund has been paid.",
        "I cannot refund this under our current policy.",
        "I understand this is not what you wanted to hear.",
        "I understand that this situation is stressful.",
        "I appreciate your patience while I looked into this.",
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
        "I apologize that the parcel was destroyed by the courier.",
        "I apologize that the refund was sent to the wrong account by our accountant.",
        "I apologize that the parcel's been lost.",
        "I'm sorry that it was refunded to another account.",
        "I understand the frustration that the courier destroyed the parcel.",
        "I understand the courier destroyed the parcel.",
        "I understand how the courier lost the parcel.",
        "I understand that the shop ships parcels abroad.",
        "I understand that you were charged twice.",
        "I understand the urgency and have cancelled the order.",
        "I understand the frustration that the courier destroyed the parcel, but I am unable to help.",
        "I appreciate that the manager waived the fee.",
        "I hope you enjoy the free upgrade to a suite that the hotel granted.",
        "I hope everything works out and the refund is on its way.",
        "If you missed that the shop went bankrupt in spring, feel free to ask.",
        "If you missed the shop went bankrupt in spring, feel free to ask.",
        "Thanks for telling us that the courier destroyed the parcel, feel free to ask.",
        "Have a nice day and the deposit is refundable in full.",
        "Let me know if that works and the refund is on its way to the bank.",
        "I can transfer you to a human agent who refunded the order.",
        "I cannot refund orders under the law of the country.",
        "I cannot refund tickets that the airline sold.",
        "I understand this is not what the courier told you.",
        "I understand that the situation was caused by the courier.",
        "I appreciate your patience while I looked into this and cancelled your order.",
        "I appreciate your patience while I cancelled this.",
    ],
)
def test_what_states_something_stays_a_claim(text: str) -> None:
    assert not all(courtesies(text))


@pytest.mark.parametrize(
    "answer",
    [
        "I apologize that the parcel was destroyed by the courier. Let me know if you need anything else.",
        "I understand the frustration that the courier destroyed the parcel.",
        "I hope you enjoy the free upgrade to a suite that the hotel granted.",
        "If you missed that the shop went bankrupt in spring, feel free to ask.",
        "I cannot refund orders under the law of the country.",
    ],
)
def test_a_statement_inside_a_courtesy_keeps_a_run_from_being_emitted(answer: str) -> None:
    looked = ("get_order", {"order_id": "W-17"}, '{"order_id": "W-17", "status": "cancelled"}')
    report = Guard("general", scorer=Steady(0.02)).check_run(transcript(answer, looked, user="What of order W-17?"))
    assert any(claim.verdict is not Verdict.NOT_CHECKABLE for claim in report.claims)
    assert report.action is not Action.EMIT


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
