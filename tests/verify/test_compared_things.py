"""What follows from two values, from one for each and from a time before another."""

import pytest

from assay.schema import Evidence
from assay.verify.exact import ExactResult, check_exact, index_evidence

PRICES = "Adults pay 9 euros, students 5 euros, children under 6 enter free."


def found(claim: str, *texts: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(texts)]))


def against(claim: str, *texts: str) -> set[str]:
    return {one.code for one in found(claim, *texts).findings if one.effect == "contradicts"}


@pytest.mark.parametrize("claim", ["Students pay more than adults.", "Adults pay less than students."])
def test_a_rank_that_the_two_values_turn_round_is_contradicted(claim: str) -> None:
    assert "comparative.reversed" in against(claim, PRICES)


@pytest.mark.parametrize("claim", ["Students pay less than adults.", "Adults pay more than students."])
def test_a_rank_that_the_two_values_bear_out_is_not(claim: str) -> None:
    assert not against(claim, PRICES)


def test_a_rank_of_things_without_values_is_left_alone() -> None:
    assert not against("Students pay more than adults.", "Students like the museum, adults pay 9 euros.")


def test_so_many_of_what_each_needs_is_worked_out() -> None:
    told = "Each hall needs ten measurements. There are three halls."
    right = found("Three halls need thirty measurements.", told)
    assert "number.derived" in {one.code for one in right.findings}
    assert not against("Three halls need thirty measurements.", told)
    assert "number.mismatch" in against("Three halls need forty measurements.", told)


def test_what_closes_at_half_past_nine_closes_before_ten() -> None:
    assert not against("The kitchen closes before 10 pm.", "The kitchen closes at 9:30 pm.")
    assert "time.mismatch" in against("The kitchen closes before 9 pm.", "The kitchen closes at 9:30 pm.")


def test_a_need_said_by_two_negations_is_no_denial() -> None:
    assert not against("You cannot upgrade without a backup.", "The upgrade needs a backup of the database.")


def test_what_was_done_to_another_thing_of_the_sentence_denies_nothing() -> None:
    text = "Export to PDF was added; import from PDF is planned for 3.3."
    assert not against("Import from PDF has not been added yet.", text)
    assert "polarity.negation" in against("Export to PDF was not added.", text)


def test_by_day_is_when_and_night_trains_are_what() -> None:
    assert not against("Tickets are valid by day on all lines.", "Tickets are valid on all lines except night trains.")


def test_what_is_lent_is_borrowed() -> None:
    assert not against("A book can be borrowed for three weeks.", "Books are lent for three weeks.")


@pytest.mark.parametrize(("claim", "differs"), [("until May 2028", True), ("until May 2027", False)])
def test_an_end_is_not_borne_out_by_an_earlier_one(claim: str, differs: bool) -> None:
    result = found(f"The pump is under warranty {claim}.", '{"item": "pump", "warranty_until": "2027-05-31"}')
    assert ("record.mismatch" in {one.code for one in result.findings}) is differs
    assert bool(result.supporting) is not differs
