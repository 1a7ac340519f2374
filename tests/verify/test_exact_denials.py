"""Denied things, other states and exchanged roles speak against a claim, and only those of what it is about."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence


def against(claim: str, evidence: str, title: str = "") -> list[str]:
    """The codes of what surely speaks against a claim."""
    index = index_evidence([Evidence(id="e", text=evidence, title=title or None)])
    return [f.code for f in check_exact(claim, index).findings if f.effect == "contradicts" and f.confidence >= 0.8]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The policy lacks an excess.", "The excess is 250 euros for each claim."),
        ("There is no deadline for taking the leave.", "The leave has to be taken within 12 months of the birth."),
        ("There is no upper limit for the daily dose.", "Do not take more than 80 mg a day. The dose may be raised."),
        ("There is no need to report a claim.", "Claims must be reported within 7 days."),
        ("There is no limit to how often guests train.", "Guests may train twice."),
        ("Only the provider may terminate.", "Either party may terminate with three months' notice."),
    ],
)
def test_what_is_denied_is_told_of(claim: str, evidence: str) -> None:
    assert "polarity.denied" in against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("There is no excess for cars.", "The excess of a house is 250 euros."),
        ("There is no late fee.", "The fee is 5 euros."),
        ("There is no fee.", "The fee is waived for members."),
        ("There is no fee for members.", "The fee is 5 euros a month."),
        ("There is no limit on guests.", "Rooms cost up to 5 euros."),
        ("There is no need to register in advance.", "Guests must register at the desk."),
        ("Only members may vote.", "All members may vote."),
    ],
)
def test_what_is_denied_of_something_else_is_not(claim: str, evidence: str) -> None:
    assert "polarity.denied" not in against(claim, evidence)


@pytest.mark.parametrize("claim", ["Order W-17 has shipped.", "Order W-17 is paid."])
def test_a_record_with_another_state_or_an_empty_field_speaks_against_a_claim(claim: str) -> None:
    assert "polarity.denied" in against(claim, '{"id": "W-17", "status": "unpaid", "shipped_at": null}')


@pytest.mark.parametrize(
    "claim",
    [
        "Order W-17 has not shipped.",
        "Order W-17 is unpaid.",
        "Once it is paid it will be shipped.",
        "Order W-18 is paid.",
    ],
)
def test_its_own_state_and_another_record_do_not(claim: str) -> None:
    assert "polarity.denied" not in against(claim, '{"id": "W-17", "status": "unpaid", "shipped_at": null}')


def test_an_only_one_is_quoted_with_the_words_that_say_so() -> None:
    claim = "None but members may open the safe."
    index = index_evidence([Evidence(id="e", text="All guests may open the safe.")])
    (finding,) = check_exact(claim, index).findings
    assert claim[finding.claim_start : finding.claim_end] == "None but"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The tenants will write to Berg.", "Berg will write to the tenants."),
        ("The museum closes an hour before the café.", "The café closes an hour before the museum."),
        ("A year costs 35 euros, a month 350.", "A month costs 35 euros, a year 350 euros."),
    ],
)
def test_two_in_each_others_place_are_found(claim: str, evidence: str) -> None:
    assert "name.swapped" in against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Anna met Bert in Rome.", "Bert met Anna in Rome."),
        ("Anna wrote to Bert.", "Bert was written to by Anna."),
        ("Vienna is the capital of Austria.", "The capital of Austria is Vienna."),
        ("The meeting on Monday opens the week.", "On Monday the meeting opens the week."),
        ("A year costs 350 euros, a month 35 euros.", "A month costs 35 euros, a year 350 euros."),
    ],
)
def test_what_says_the_same_in_another_order_is_not(claim: str, evidence: str) -> None:
    assert "name.swapped" not in against(claim, evidence)


def test_a_clause_that_leaves_out_its_verb_has_its_own_number() -> None:
    evidence = "Adults pay 9 euros, students 5 euros, children under 6 enter free."
    assert against("The museum charges students 5 euros.", evidence, "Museum") == []
    assert against("visitor: students; price: 5 euros", evidence, "Museum") == []
