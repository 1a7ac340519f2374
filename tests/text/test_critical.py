"""Critical marks and why they are given."""

import pytest

from assay.text.claims.criticality import critical_reasons


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("The fee is $5.", "number"),
        ("Revenue tripled.", "number"),
        ("It was sold in March 2020.", "date"),
        ("It opens on Monday.", "date"),
        ("The plan is run by Acme.", "entity"),
        ("See order AB-1234.", "identifier"),
        ("Write to ann@example.org.", "identifier"),
        ("Version 2.1.3 is out.", "identifier"),
        ("I have sent the form.", "commitment"),
        ("We will refund you.", "commitment"),
        ("Your order has been cancelled.", "commitment"),
    ],
)
def test_a_claim_is_critical_for_the_reason_that_a_reader_would_name(claim: str, reason: str) -> None:
    assert reason in critical_reasons(claim, claim)


@pytest.mark.parametrize(
    "claim",
    [
        "Acme paid the fee.",
        "Acme’s office is closed.",
        "Ada was born there.",
        "Oslo is the capital of the country.",
        "Stockley has recently acquired a mill.",
        "Fermilab announced a delay.",
    ],
)
def test_one_name_that_opens_a_claim_is_known_by_what_it_does(claim: str) -> None:
    assert critical_reasons(claim, claim) == ("entity",)


@pytest.mark.parametrize(
    "claim",
    [
        "Partners paid the fee.",
        "Management announced a delay.",
        "He was born there.",
        "Leave is paid in full.",
        "Everyone signed.",
        "Nobody’s office is closed.",
        "Today’s office is closed.",
        "It’s closed.",
        "Water is a liquid.",
        "Nothing lost.",
        "Insurance paid the fee.",
        "Research said so.",
        "Who won?",
    ],
)
def test_a_common_noun_that_opens_a_claim_is_no_name(claim: str) -> None:
    assert "entity" not in critical_reasons(claim, claim)


@pytest.mark.parametrize("claim", ["The leave is fully paid.", "It is long.", "I will be happy."])
def test_a_plain_claim_is_not_critical(claim: str) -> None:
    assert critical_reasons(claim, claim) == ()


def test_a_citation_is_read_from_the_source_and_not_from_the_clean_text() -> None:
    assert critical_reasons("It is paid.", "It is paid [hr-2].") == ("citation",)


def test_a_year_is_a_date_and_no_number() -> None:
    assert critical_reasons("it began in 1990.", "") == ("date",)
