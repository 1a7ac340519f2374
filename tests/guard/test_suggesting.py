"""Values that the evidence gives for wrong ones: of the same kind, in the right unit, in the right place, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.guard import Guard
from assay.policy import preset
from assay.schema import HallucinationReport, Suggestion
from assay.testing import FakeScorer

guard = Guard("general", scorer=FakeScorer())


def suggested(report: HallucinationReport) -> list[Suggestion]:
    return [one for claim in report.claims for one in claim.suggestions]


@pytest.mark.parametrize(
    ("answer", "evidence", "expected"),
    [
        ("The old door costs 5 euros.", "The old door costs 7 euros.", [("5", "7")]),
        ("The rent is $1,200 a month.", "The rent is $1,500 a month.", [("1,200", "1,500")]),
        ("The trial lasts 4 weeks.", "The trial lasts 10 days.", [("4 weeks", "10 days")]),
        ("The lease ends on 3 May 2025.", "The lease ends on 5 June 2025.", [("3 May 2025", "5 June 2025")]),
        ("The order A-1234 is late.", "The order A-1235 is late.", [("A-1234", "A-1235")]),
    ],
)
def test_a_wrong_value_is_answered_with_that_of_the_evidence(
    answer: str, evidence: str, expected: list[tuple[str, str]]
) -> None:
    found = suggested(guard.check(answer, [evidence]))
    assert [(one.before, one.after) for one in found] == expected
    for one in found:
        assert answer[one.span.start : one.span.end] == one.before


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [
        ("The old door costs 7 euros.", ["The old door costs 7 euros."]),
        ("The old door costs 5 euros.", ["Trains run at night."]),
        ("The old door costs 5 euros.", ["The old door costs between 7 and 9 euros."]),
        ("The hall is open.", ["The hall is not open."]),
        ("The lease of the hall ends on 3 May 2025.", ["The lease of the hall ends in 2031."]),
    ],
)
def test_where_the_evidence_gives_no_one_value_nothing_is_suggested(answer: str, evidence: list[str]) -> None:
    assert suggested(guard.check(answer, evidence)) == []


@given(st.integers(2, 900), st.integers(2, 900))
def test_applying_a_suggestion_gives_the_sentence_of_the_evidence(wrong: int, right: int) -> None:
    answer, truth = f"The old door weighs {wrong} kg.", f"The old door weighs {right} kg."
    for one in suggested(guard.check(answer, [truth])):
        assert answer[: one.span.start] + one.after + answer[one.span.end :] == truth


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs")), max_size=60))
def test_any_output_is_sliced_exactly(text: str) -> None:
    report = guard.check(f"{text} The old door costs 5 euros.", ["The old door costs 7 euros."])
    for one in suggested(report):
        assert report.output[one.span.start : one.span.end] == one.before


def test_policies_have_no_say_in_it() -> None:
    report = Guard(preset("monitor"), scorer=FakeScorer()).check(
        "The old door costs 5 euros.", ["The old door costs 7 euros."]
    )
    assert len(suggested(report)) == 1


SCHEMA = {
    "type": "object",
    "properties": {"price_euros": {"type": "number"}, "starts": {"type": "string"}, "order": {"type": "string"}},
}


@pytest.mark.parametrize(
    ("document", "evidence", "expected"),
    [
        ('{"price_euros": 5}', "The price is 7 euros.", [("5", "7")]),
        ('{"price_euros": 5.5}', "The price is 1,200 euros.", [("5.5", "1200")]),
        ('{"starts": "2025-05-03"}', "It starts on 5 June 2025.", [('"2025-05-03"', '"2025-06-05"')]),
        ('{"starts": "2025-05-03"}', "It starts in 2026.", []),
        ('{"order": "A-1234"}', "The order is A-1235.", [('"A-1234"', '"A-1235"')]),
        ('{"price_euros": 5}', "The price is 7 dollars.", []),
    ],
)
def test_a_value_of_a_document_is_answered_in_the_form_of_the_document(
    document: str, evidence: str, expected: list[tuple[str, str]]
) -> None:
    found = suggested(guard.check(document, [evidence], schema=SCHEMA))
    assert [(one.before, one.after) for one in found] == expected
    assert all(document[one.span.start : one.span.end] == one.before for one in found)


def test_values_that_changed_places_are_not_mended_one_by_one() -> None:
    answer = "The paper appears 6 times a week instead of 3."
    for one in suggested(guard.check(answer, ["The paper appears 3 times a week instead of 6."])):
        rest = answer[: one.span.start] + answer[one.span.end :]
        assert one.after not in rest.split()
