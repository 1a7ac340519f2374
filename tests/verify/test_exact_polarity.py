"""Converse relations, names set against each other, the rest of a share and sums are no contradictions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.findings import ExactFinding

SURE = 0.8


def against(claim: str, evidence: str) -> list[ExactFinding]:
    """What speaks against the claim with confidence."""
    found = check_exact(claim, index_evidence([Evidence(id="e", text=evidence)])).findings
    return [f for f in found if f.effect == "contradicts" and f.confidence >= SURE]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The chapel lies west of the museum.", "The museum lies east of the chapel."),
        ("Compared with the Tarn 5, the Orin 40 is wider.", "Compared with the Orin 40, the Tarn 5 is narrower."),
        ("Compared with the Tarn 5, the Orin 40 is wider.", "The Tarn 5 is narrower than the Orin 40."),
        ("The election was longer than the trial.", "The trial was shorter than the election."),
        ("The curator bought the house from the baker.", "The baker sold the house to the curator."),
        ("The brewery is to the right of the station.", "Seen from the street, the station is left of the brewery."),
        ("Rainfall in Arn is higher than in Belmont.", "Rainfall in Belmont is lower than in Arn."),
    ],
)
def test_the_opposite_relation_of_two_that_changed_places_is_the_same(claim: str, evidence: str) -> None:
    assert not against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The chapel lies west of the museum.", "The chapel lies east of the museum."),
        ("The Orin 40 is wider than the Tarn 5.", "The Orin 40 is narrower than the Tarn 5."),
        ("The curator bought the house from the baker.", "The curator sold the house to the baker."),
        ("Rainfall in Arn is higher than in Belmont.", "Rainfall in Arn is lower than in Belmont."),
        ("The mayor accepted the offer of the club.", "The club rejected the offer of the mayor."),
    ],
)
def test_the_opposite_relation_of_two_in_their_places_is_a_contradiction(claim: str, evidence: str) -> None:
    assert against(claim, evidence)


NAMES = st.sampled_from(["Arn", "Belmont", "Corin", "Farrow", "Lindholm", "Osterby"])
PAIRS = st.sampled_from([("wider", "narrower"), ("older", "younger"), ("heavier", "lighter"), ("faster", "slower")])


@given(NAMES, NAMES, PAIRS)
def test_a_comparison_agrees_with_its_converse_and_not_with_its_opposite(a: str, b: str, pair: tuple[str, str]) -> None:
    if a == b:
        return
    one, other = pair
    assert not against(f"{a} is {one} than {b}.", f"{b} is {other} than {a}.")
    assert against(f"{a} is {one} than {b}.", f"{a} is {other} than {b}.")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Ann Lee, not Bo Dahl, lost the appeal.", "Ann Lee lost the appeal, while Bo Dahl studied law."),
        ("Ann Lee, not Bo Dahl, led the tour.", "Bo Dahl was introduced to Ann Lee, who led the tour."),
        ("Not Bo Dahl but Ann Lee lost the appeal.", "Ann Lee lost the appeal before Bo Dahl studied law."),
        ("Arsenal Women are not the least successful team.", "Arsenal Women are the most successful team."),
        ("Nearly all of the seats were sold.", "Few of the seats were not sold."),
    ],
)
def test_who_is_set_against_another_and_the_least_deny_nothing_that_is_stated(claim: str, evidence: str) -> None:
    assert not against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The plan does not cover Alex Berg.", "The plan covers Alex Berg."),
        ("The ferry, not free, runs daily.", "The ferry is free and runs daily."),
        ("Maria Lopez did not lose the appeal.", "Maria Lopez lost the appeal."),
        ("The seats were sold.", "The seats were not sold."),
    ],
)
def test_a_plain_negation_still_contradicts(claim: str, evidence: str) -> None:
    assert against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("25% of the members were not located in the north.", "75% of the members were located in the north."),
        ("The remaining 35% of the farms were not insured.", "In the survey, 65 percent of the farms were insured."),
        ("48 of the pupils were not in favour of the plan.", "Of 60 pupils, 12 were in favour of the plan."),
        ("20% of the farms were not insured.", "Of 60 farms, 48 were insured."),
        ("The branch planted 955 trees in total.", "The branch planted 510 trees in 2021. The figure in 2022 was 445."),
        (
            "The branch planted 250 trees on average.",
            "The branch planted 300 trees in May. In June it planted 200 trees.",
        ),
        ("The theatre was finished by 1952.", "Work on the theatre began in 1935. The theatre was finished in 1945."),
    ],
)
def test_what_is_left_and_what_adds_up_follows_from_the_evidence(claim: str, evidence: str) -> None:
    assert not against(claim, evidence)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("25% of the members were located in the north.", "75% of the members were located in the north."),
        ("75% of the members were not located in the north.", "75% of the members were located in the north."),
        ("30% of the members were not located in the north.", "75% of the members were located in the north."),
        ("The branch planted 955 trees in 2021.", "The branch planted 510 trees in 2021. The figure in 2022 was 445."),
    ],
)
def test_what_is_not_left_and_is_no_sum_is_still_found(claim: str, evidence: str) -> None:
    assert against(claim, evidence)


@given(st.integers(1, 99))
def test_the_rest_of_a_share_is_no_contradiction_and_the_share_itself_is(share: int) -> None:
    said = f"{share}% of the members were paid in full."
    assert not against(f"{100 - share}% of the members were not paid in full.", said) or share == 50
    if abs(2 * share - 100) > 2:
        assert against(f"{share}% of the members were not paid in full.", said)
