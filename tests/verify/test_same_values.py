"""Values that the evidence writes otherwise than the claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.guard.claims.date_ranges import expand_dates
from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence


def asked(claim: str, evidence: str) -> str:
    return expand_dates(claim, claim, check_exact(claim, index_evidence([Evidence(id="e", text=evidence)], "en"))).text


@pytest.mark.parametrize(
    ("claim", "evidence", "reads"),
    [
        ("The flight leaves at 2:35 pm.", "The flight leaves at 14:35.", "The flight leaves at 14:35."),
        ("A quarter of the staff left.", "25% of the staff left.", "25% of the staff left."),
        ("He works 40 hours a week.", "He works forty hours a week.", "He works forty hours a week."),
        ("The lake is 5 km long.", "The lake has a length of 5,000 m.", "The lake is 5,000 m long."),
        ("The course runs for a fortnight.", "The course runs for two weeks.", "The course runs for two weeks."),
        ("The fair opens on 1 March 2026.", "The fair opens on 2026-03-01.", "The fair opens on 2026-03-01."),
    ],
)
def test_the_network_reads_a_value_in_the_form_of_the_evidence(claim: str, evidence: str, reads: str) -> None:
    assert asked(claim, evidence) == reads


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The flight leaves at 2:35 pm.", "The flight leaves at 14:40."),
        ("The flight leaves at 14:35.", "The flight leaves at 14:35."),
        ("It has 40 rooms.", "It has forty parking spaces."),
        ("It lasts at least two hours.", "It lasts 120 minutes."),
        ("The fair opens in March 2026.", "The fair opens on 2026-03-01."),
    ],
)
def test_another_value_or_a_coarser_one_is_read_as_it_stands(claim: str, evidence: str) -> None:
    assert asked(claim, evidence) == claim


@given(st.integers(2, 59), st.integers(13, 23))
def test_the_places_of_what_was_replaced_lead_back_to_the_claim(minute: int, hour: int) -> None:
    claim = f"The train leaves at {hour - 12}:{minute:02} pm from platform two."
    index = index_evidence([Evidence(id="e", text=f"The train leaves at {hour}:{minute:02} from platform two.")], "en")
    found = check_exact(claim, index)
    read = expand_dates(claim, claim, found)
    for start, end, here, there in read.places:
        assert read.text[here:there] in index.passages[0].text
        assert 0 <= start < end <= len(claim)
    assert read.text == f"The train leaves at {hour}:{minute:02} from platform two."


def test_pounds_are_money_beside_sterling_and_a_mass_beside_a_mass() -> None:
    covered = index_evidence([Evidence(id="a", text="The policy covers water damage up to £38m.")])
    assert not check_exact("Water damage is covered up to 38 million pounds.", covered).findings
    wrong = check_exact("Water damage is covered up to 36 million pounds.", covered).findings
    assert [one.code for one in wrong] == ["number.mismatch"]
    weighed = index_evidence([Evidence(id="a", text="The crate weighs 40 kg and costs £38.")])
    assert [one.code for one in check_exact("The crate weighs 38 pounds.", weighed).findings] == ["number.mismatch"]
