"""Claims that are records themselves are resolved by name and column; what a record tells is not said to be missing."""

import json

import pytest

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.compare_records.denied_information import refuting_field
from assay.verify.exact.findings import ExactResult

ORDER = json.dumps(
    {
        "order": "SO-77120",
        "status": "open",
        "total": 243.0,
        "currency": "EUR",
        "paid": False,
        "carrier": None,
        "placed_on": "2026-03-01",
        "contact": {"name": "R. Haas", "city": "Graz"},
    }
)
PLANS = "| Plan | Price | Seats |\n|---|---|---|\n| Solo | 7 | 1 |\n| Team | 11 | 3 |"


def checked(claim: str, text: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id="e", text=text)]))


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Status: open", ORDER),
        ("Total: 243.00 EUR", ORDER),
        ("Total: EUR 243", ORDER),
        ("Paid: no", ORDER),
        ("Carrier: none", ORDER),
        ("Placed on: 1 March 2026", ORDER),
        ("Plan: Team; Price: 11; Seats: 3", PLANS),
        ("Plan: Solo; Seats: one", PLANS),
        ("- **Status**: `open`", ORDER),
    ],
)
def test_labelled_values_that_a_record_has_are_stated_by_it(claim: str, text: str) -> None:
    result = checked(claim, text)
    assert result.signals["supports_record"] >= 0.8
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "text", "words"),
    [
        ("Status: shipped", ORDER, "shipped"),
        ("Total: 423.00 EUR", ORDER, "423.00 EUR"),
        ("Total: 243 USD", ORDER, "243 USD"),
        ("Paid: yes", ORDER, "yes"),
        ("Carrier: UPS", ORDER, "UPS"),
        ("Placed on: 3 March 2026", ORDER, "3 March 2026"),
        ("Plan: Team; Price: 7", PLANS, "7"),
        ("Plan: Solo; Seats: 3", PLANS, "3"),
    ],
)
def test_another_value_of_the_field_is_contradicted_by_the_record(claim: str, text: str, words: str) -> None:
    result = checked(claim, text)
    (finding,) = [f for f in result.findings if f.code == "record.mismatch"]
    assert claim[finding.claim_start : finding.claim_end] == words
    assert finding.confidence >= 0.7
    assert result.signals["supports_record"] == 0


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Price: 9", PLANS),
        ("Plan: Enterprise; Price: 9", PLANS),
        ("Discount: 10%", ORDER),
        ("Note: the order is open and nothing has been shipped so far.", ORDER),
        ("Price: 11", "The price is 9."),
    ],
)
def test_labels_that_no_record_has_or_that_fit_several_say_nothing(claim: str, text: str) -> None:
    result = checked(claim, text)
    assert result.signals["supports_record"] == 0
    assert not [f for f in result.findings if f.code == "record.mismatch" and f.confidence > 0.8]


def test_a_sum_in_another_currency_than_its_record_is_contradicted_in_prose_too() -> None:
    assert checked("The total is 243 euros.", ORDER).signals["supports_record"] >= 0.8
    assert checked("The total is 243 dollars.", ORDER).signals["supports_record"] == 0


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The record does not show the total.", "243.0"),
        ("Nothing is said about the status.", "open"),
        ("No total is mentioned.", "243.0"),
        ("The record does not show a carrier.", None),
        ("The record does not say when the total was paid.", None),
        ("The record does not mention a discount.", None),
        ("The order has no carrier.", None),
    ],
)
def test_what_a_field_has_is_told_and_what_is_empty_or_more_than_a_field_is_not(claim: str, told: str | None) -> None:
    span = refuting_field(claim, index_evidence([Evidence(id="e", text=ORDER)]))
    assert (None if span is None else span.text.strip('"')) == told
