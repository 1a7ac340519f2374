"""Where a text names the evidence that it was given by number, and what is left of a claim without it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema.verdict import ClaimKind
from assay.text.citations.passage_references import find_pointers
from assay.text.claims.rule_extractor import RuleClaimExtractor


def _claims(text: str) -> list[str]:
    return [claim.text for claim in RuleClaimExtractor().extract(text) if claim.checkable]


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ("Passage 1 says 20 minutes, and passages 2 and 3 say 30.", ["Passage 1", "passages 2 and 3"]),
        ("According to passage 1, 20 minutes are enough.", ["passage 1"]),
        ("As source 3 says, see document 4.", ["source 3", "document 4"]),
        ("Passages 1, 2 and 4 agree.", ["Passages 1, 2 and 4"]),
        ("Doctors document 50 cases a week.", []),
        ("They source 12 parts from abroad.", []),
        ("Source 3.5 volts from the battery.", []),
        ("The passage of 20 ships took a day.", []),
    ],
)
def test_a_numbered_piece_of_evidence_is_told_from_a_number_of_the_world(text: str, pointers: list[str]) -> None:
    assert [text[start:end] for start, end in find_pointers(text)] == pointers


@given(st.text(alphabet="Pasge source docum123, and%.", max_size=80))
def test_pointers_lie_in_the_text_in_order_and_apart(text: str) -> None:
    found = find_pointers(text)
    ends = [0, *(place for pair in found for place in pair), len(text)]
    assert ends == sorted(ends)
    assert all(start < end for start, end in found)


@pytest.mark.parametrize(
    "text",
    [
        "Passage 1 states that the fee is $5.",
        "Passage 1: The fee is $5.",
        "* Passages 1 and 2: The fee is $5.",
        "The second passage also mentions that the fee is $5.",
        "One of the passages notes that the fee is $5.",
        "In passage 1, it is stated that the fee is $5.",
        "According to the third passage, the fee is $5.",
        "As mentioned in passages 1 and 2, the fee is $5.",
        "From the given passages, we can conclude that the fee is $5.",
        "It is mentioned in passage 2 that the fee is $5.",
        "The fee is $5 (passage 1).",
        "The fee is $5 (see passages 1 and 3).",
        "The fee is $5 (as stated in Passage 2).",
        "The fee is $5, as stated in passage 2.",
        "The fee is $5, according to the given passages.",
        "The fee is $5 based on the information provided.",
        "To answer your question: the fee is $5.",
        "Answer: The fee is $5.",
    ],
)
def test_words_that_ascribe_a_claim_to_the_given_evidence_are_no_part_of_it(text: str) -> None:
    assert _claims(text) == ["The fee is $5."]


def test_what_ascribes_a_claim_stays_within_its_span() -> None:
    text = "The fee is $5, as stated in passage 2. It is due in May."
    first, second = RuleClaimExtractor().extract(text)
    assert text[first.span.start : first.span.end] == "The fee is $5, as stated in passage 2."
    assert text[second.span.start : second.span.end] == "It is due in May."


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("He was convicted based on the evidence.", "He was convicted based on the evidence."),
        ("The fee is $5, according to the bursar.", "The fee is $5, according to the bursar."),
        ("Bring document 7 (form B).", "Bring document 7 (form B)."),
        ("Passage 1 of the ferry costs $5.", "Passage 1 of the ferry costs $5."),
        ("The fee is $5 (9 weeks).", "The fee is $5 (9 weeks)."),
    ],
)
def test_words_that_say_something_of_the_world_stay(text: str, claim: str) -> None:
    assert _claims(text) == [claim]


@pytest.mark.parametrize(
    "text",
    [
        "Passage 3 does not mention the fee.",
        "Neither passage mentions the fee.",
        "No information about the fee is given.",
    ],
)
def test_what_is_said_not_to_be_in_the_evidence_is_checked(text: str) -> None:
    (found,) = RuleClaimExtractor().extract(text)
    assert (found.checkable, found.kind) == (True, ClaimKind.ABSTENTION)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Unable to answer based on given passages.", ClaimKind.ABSTENTION),
        ("It cannot be determined from the passages.", ClaimKind.ABSTENTION),
        ("As an AI language model, I don't have personal experience.", ClaimKind.ABSTENTION),
        ("The information provided in the passages is limited.", ClaimKind.ABSTENTION),
        ("The given passages provide the following information about ham:", ClaimKind.META),
        ("The passages provide some information about several types of oak.", ClaimKind.META),
        ("Some key points are:", ClaimKind.META),
        ("This information is found in passage 1.", ClaimKind.META),
        ("I hope this information is helpful to you.", ClaimKind.META),
        ("Without further information, it is difficult to give a definitive answer.", ClaimKind.META),
        ("That's a good question!", ClaimKind.META),
        ("That is so interesting!", ClaimKind.META),
    ],
)
def test_a_sentence_about_the_given_evidence_alone_is_no_claim(text: str, kind: ClaimKind) -> None:
    (found,) = RuleClaimExtractor().extract(text)
    assert (found.checkable, found.kind) == (False, kind)


@pytest.mark.parametrize(
    "text",
    [
        "Passage 3 mentions that the fee is 9 euros.",
        "Passage 3 does not mention it, but the fee is 9 euros.",
        "Unable to answer, but the fee is 9 euros.",
        "Unable to answer: the fee is 9 euros.",
        "The passages provide information about the fee, which is 9 euros.",
        "The passages provide information about the fee that was raised to 9 euros.",
        "The passages provide the following information: the fee is 9 euros.",
        "I hope this helps, the fee is 9 euros.",
        "This answer is based on the passages and the fee is 9 euros.",
        "No information about the fee is given, it is 9 euros.",
        "Without further information, it is difficult to say more, the fee is 9 euros.",
        "Without further information, it is difficult to say more than 9 euros.",
        "It cannot be determined from the passages, the fee is 9 euros.",
        "That's great, the fee is 9 euros!",
        "Some key points are: the fee is 9 euros.",
        "The fee is 9 euros, as stated in passage 2.",
    ],
)
def test_no_claim_hides_behind_words_about_the_evidence(text: str) -> None:
    assert any("9 euros" in claim for claim in _claims(text)), text
