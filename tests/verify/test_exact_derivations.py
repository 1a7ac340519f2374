"""What follows from the numbers of the evidence is computed, shown and never called wrong."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence
from assay.verify.exact.findings import ExactResult


def checked(claim: str, *texts: str) -> ExactResult:
    index = index_evidence([Evidence(id=f"e{n}", text=text) for n, text in enumerate(texts)])
    return check_exact(claim, index)


FOLLOWS = [
    ("For a group of 3 people, Team comes to €33 a month.", "Team costs €11 per person and month.", "11 × 3 = 33"),
    ("Altogether 8.7 mm of rain is forecast.", "Rain is forecast: 2.3 mm, 4.1 mm and 2.3 mm.", "2.3 + 4.1 + 2.3 = 8.7"),
    ("Cobden Row is £90 cheaper.", "Cobden Row costs £1,150 and Cobden Court £1,240.", "1240 − 1150 = 90"),
    ("With the discount, the ticket costs $85 less than before: $15.", "The ticket cost $100 before.", "100 − 15 = 85"),
    ("The film lasts 110 minutes.", "The film runs from 18:10 to 20:00.", "18:10 to 20:00: 110 minutes"),
    ("The camp lasts 14 days.", "The camp runs from 3 July to 17 July.", "3 July to 17 July: 14 days"),
    (
        "The offer takes 20% off: $85.20 in all.",
        "The price is $106.50 and the offer takes 20% off.",
        "106.5 − 20% = 85.2",
    ),
    ("For a plot of 50 m², lime with two kilos.", "Use 400 g of lime for every 10 m² of the plot.", "400 × 50 ÷ 10"),
    ("Liming 50 m² takes 20 kg.", "Liming takes 400 g/m² of lime.", "400 × 50 = 20"),
]


@pytest.mark.parametrize(("claim", "evidence", "working"), FOLLOWS)
def test_a_number_that_follows_is_noted_with_its_working(claim: str, evidence: str, working: str) -> None:
    result = checked(claim, evidence)
    notes = [f for f in result.findings if f.code == "number.derived"]
    assert any(working in note.message for note in notes), [f.message for f in result.findings]
    assert result.signals["numbers_computed"] > 0
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Partners get 4 weeks of leave.", "Partners are entitled to 2 weeks."),
        ("The loan bears interest at 5.4 percent.", "The loan bears interest at 4.5 percent per annum."),
    ],
)
def test_a_wrong_number_does_not_follow_by_chance(claim: str, evidence: str) -> None:
    result = checked(claim, evidence)
    assert [f for f in result.findings if f.effect == "contradicts"]
    assert result.signals["numbers_computed"] == 0


def test_a_price_for_one_does_not_speak_against_a_total_as_surely_as_a_total_does() -> None:
    one = checked("Tablecloths come to €64.", "Tablecloths cost €7 per table.")
    whole = checked("Tablecloths come to €64.", "Tablecloths cost €7.")
    assert one.signals["contradicts_number"] < 0.7 * whole.signals["contradicts_number"]


@given(st.integers(101, 9_999), st.integers(101, 9_999))
def test_every_sum_and_difference_follows_and_shows_a_true_equation(first: int, second: int) -> None:
    evidence = f"The first hall has {first} seats and the second hall has {second} seats."
    for value, word in ((first + second, "altogether"), (abs(first - second), "more")):
        if value < 11 or value in (first, second) or value % 10 == 0:
            continue
        result = checked(f"That makes {value} seats {word}.", evidence)
        messages = [f.message for f in result.findings if f.code == "number.derived"]
        assert messages
        left, right = messages[0].rsplit(": ", 1)[1].rstrip(".").split(" = ")
        sign = "+" if "+" in left else "−"
        a, b = (Decimal(part.strip()) for part in left.split(sign))
        assert (a + b if sign == "+" else a - b) == Decimal(right) == value


@pytest.mark.parametrize(
    ("claim", "evidence", "working"),
    [
        ("The meeting takes two hours.", "The meeting is from 14:00 to 15:30 in room 4.", "14:00 to 15:30: 90 minutes"),
        ("The course lasts twenty days.", "The course runs from 3 March to 14 March.", "3 March to 14 March: 12 days"),
    ],
)
def test_a_wrong_length_is_told_with_the_right_one(claim: str, evidence: str, working: str) -> None:
    found = [f for f in checked(claim, evidence).findings if f.code == "number.mismatch" and f.confidence >= 0.8]
    assert any(working in f.message for f in found), found


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The meeting takes an hour and a half.", "The meeting is from 14:00 to 15:30 in room 4."),
        ("The course lasts eleven days.", "The course runs from 3 March to 14 March."),
        ("Three days cost €120.", "A place costs €40 per day."),
        ("Three days with materials cost €145.", "A place costs €40 per day; materials are €25."),
        ("The break lasts ten minutes.", "The meeting is from 14:00 to 15:30 and has a break."),
    ],
)
def test_a_right_length_and_what_is_added_to_are_not_called_wrong(claim: str, evidence: str) -> None:
    assert not [f for f in checked(claim, evidence).findings if f.effect == "contradicts" and f.confidence >= 0.8]
