"""What can be computed from rows and from sentences is computed; what may be of something else is left alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import ExactResult, check_exact, index_evidence

ORDERS = """| Order | City | Items | Amount | Express |
|---|---|---|---|---|
| 4411 | Lyon | 3 | 120.00 | yes |
| 4412 | Paris | 1 | 45.50 | no |
| 4413 | Lyon | 2 | 88.00 | no |"""
STAFF = json.dumps(
    [
        {"name": "Nils Aho", "team": "Data", "salary": 58000, "remote": True},
        {"name": "Vera Lund", "team": "Sales", "salary": 72000, "remote": False},
        {"name": "Omar Said", "team": "Data", "salary": 49500, "remote": True},
    ]
)
LINES = "item,quantity,unit_price\nChair,4,45.00\nDesk,2,180.00\nLamp,3,25.50"
TICKETS = "Tickets cost 14 euros each."
LICENCES = "Each licence is $40 and the setup fee is $60."
BRIDGES = "The old bridge was 112 metres long. The new bridge is 148 metres long."
TRAIN = "The night train leaves at 22:40 and arrives at 06:10 the next day."
SHIFT = json.dumps({"shift": "late", "start": "14:15", "end": "22:45", "break_min": 45})


def found(claim: str, evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id="e", text=evidence)]))


def against(result: ExactResult) -> list[str]:
    return [one.message for one in result.findings if one.effect == "contradicts" and one.confidence >= 0.8]


COMPUTED = [
    (ORDERS, "The two orders from Lyon together amount to {}.", "208.00", "218.00", "120.00 + 88.00 = 208"),
    (ORDERS, "There are {} orders from Lyon.", "two", "three", "2 (4411, 4413)"),
    (ORDERS, "{} orders have an amount above 80.", "Two", "Three", "2 (4411, 4413)"),
    (ORDERS, "{} orders are not express.", "Two", "Three", "2 (4412, 4413)"),
    (ORDERS, "The order with the highest amount is {}.", "4411", "4412", "120.00 (4411)"),
    (STAFF, "{} employees are in the Data team.", "Two", "Three", "2 (Nils Aho, Omar Said)"),
    (STAFF, "Two of the {} employees work remotely.", "three", "four", "3"),
    (STAFF, "The Data team earns {} on average.", "53,750", "54,750", "= 53750"),
    (LINES, "The four chairs cost {} in all.", "180", "160", "4 × 45.00 = 180"),
    (LINES, "The whole order comes to {}.", "616.50", "661.50", "= 616.5"),
    (TICKETS, "Five tickets cost {} euros in total.", "70", "75", "5 × 14 = 70"),
    (LICENCES, "3 licences and the setup fee come to {}.", "$180", "$160", "3 × 40 + 60 = 180"),
    (BRIDGES, "The new bridge is {} metres longer than the old one.", "36", "46", "148 − 112 = 36"),
    (TRAIN, "The night train takes {} hours.", "seven and a half", "eight and a half", "7 h 30 min"),
    (SHIFT, "The late shift lasts {} hours.", "eight and a half", "nine", "8 h 30 min"),
]


@pytest.mark.parametrize(("evidence", "claim", "right", "wrong", "working"), COMPUTED)
def test_a_wrong_result_is_contradicted_with_the_right_one(
    evidence: str, claim: str, right: str, wrong: str, working: str
) -> None:
    assert against(found(claim.format(right), evidence)) == []
    told = against(found(claim.format(wrong), evidence))
    assert any(working in message for message in told), told


@pytest.mark.parametrize(("evidence", "claim", "right", "wrong", "working"), COMPUTED[:10])
def test_a_right_result_of_rows_is_supported_and_shows_its_working(
    evidence: str, claim: str, right: str, wrong: str, working: str
) -> None:
    result = found(claim.format(right), evidence)
    assert result.signals["supports_record"] >= 0.8
    assert [one for one in result.findings if one.code == "number.derived"]


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        (ORDERS, "The Lyon orders have 5 items in total."),
        (ORDERS, "Two more orders came from Lyon."),
        (ORDERS, "At least two orders are from Lyon."),
        (ORDERS, "There are two cities."),
        (ORDERS, "The first two orders come to 165.50."),
        (STAFF, "Not all three employees work remotely."),
        (LINES, "Two chairs cost 90 in total."),
        ("Tickets cost 14 euros each. Children pay half.", "Two adults and two children pay 42 euros in total."),
        ("Tickets cost 14 euros each; with the family card 20% off.", "Five tickets cost 56 euros in total."),
        ("A day ticket costs 12 euros, a week ticket 50 euros.", "Seven days cost 50 euros in total."),
        ("The room costs 80 euros a night for two.", "The room costs 560 euros a week in total."),
        (
            "The old bridge was 112 metres long, 6 metres wide. The new bridge is 148 metres long and 9 metres wide.",
            "The new bridge is 3 metres wider than the old one.",
        ),
        ("On Monday 20 people came, on Tuesday 34. On Wednesday nobody came.", "On average 18 people came each day."),
        (SHIFT, "The break takes 45 minutes."),
    ],
)
def test_what_may_be_of_something_else_is_not_contradicted(evidence: str, claim: str) -> None:
    assert against(found(claim, evidence)) == []


@pytest.mark.parametrize("more", [{"total": 37}, {"has_more": True}, {"next_page": "p2"}])
def test_a_list_that_goes_on_decides_nothing(more: dict[str, object]) -> None:
    page = json.dumps({**more, "tickets": [{"name": "A", "open": True}, {"name": "B", "open": False}]})
    assert against(found("There are 37 tickets.", page)) == []
    assert against(found("There are 37 tickets.", json.dumps({"tickets": json.loads(page)["tickets"]})))


def test_a_month_that_is_written_short_is_the_month() -> None:
    table = "| set | cast | volume |\n|---|---|---|\n| D1 | 3 Nov 2025 | 48 |\n| D2 | 10 Nov 2025 | 50 |"
    assert against(found("D2 was cast on 10 November 2025.", table)) == []
    assert against(found("D2 was cast on 11 November 2025.", table))


@given(st.lists(st.tuples(st.sampled_from(["Lyon", "Paris", "Lille"]), st.integers(1, 999)), min_size=3, max_size=9))
def test_rows_are_counted_and_added_up_as_they_are(rows: list[tuple[str, int]]) -> None:
    lines = "\n".join(f"| A-{number} | {city} | {amount} |" for number, (city, amount) in enumerate(rows))
    table = f"| Order | City | Amount |\n|---|---|---|\n{lines}"
    chosen = [amount for city, amount in rows if city == "Lyon"]
    if len(chosen) > 1:
        assert against(found(f"There are {len(chosen)} orders from Lyon.", table)) == []
        assert against(found(f"There are {len(chosen) + 1} orders from Lyon.", table))
        total = "The orders from Lyon together have an amount of {}."
        assert against(found(total.format(sum(chosen)), table)) == []
        assert against(found(total.format(sum(chosen) + 1), table))


MESSAGE = json.dumps({"message_id": "m-4", "attachments": [], "cc": None, "flags": ["urgent", "billing"]})


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("The message has no attachments.", "The message has an attachment."),
        ("There are no attachments.", "There are attachments."),
        ("Nobody is in cc.", "There is a cc."),
        ("The message carries two flags.", "The message carries three flags."),
    ],
)
def test_what_is_empty_is_not_there(right: str, wrong: str) -> None:
    result = found(right, MESSAGE)
    assert result.signals["supports_record"] >= 0.8
    assert against(result) == []
    assert against(found(wrong, MESSAGE))


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        ({"first": {"errors": []}, "second": {"errors": ["timeout"]}}, "There is an error."),
        ({"owner": None}, "The owner is Kim."),
        ({"notes": []}, "Notes may exist."),
        ({"notes": []}, "There are notes on the door."),
    ],
)
def test_an_empty_field_says_nothing_of_more_than_itself(evidence: object, claim: str) -> None:
    assert against(found(claim, json.dumps(evidence))) == []


ROOMS = "The south room is 30 °C. The north room is 20 °C."


def test_a_difference_of_temperatures_is_in_degrees() -> None:
    right = found("The south room is 10 °C warmer than the north room.", ROOMS)
    wrong = found("The south room is 15 °C warmer than the north room.", ROOMS)
    assert [one.code for one in right.findings] == ["number.derived"]
    assert "30 − 20 = 10" in against(wrong)[0]


def test_an_average_of_temperatures_is_shown_in_their_unit() -> None:
    result = found("On average it was 25 °C in the room.", "In the room it was 10 °C, 20 °C and 30 °C.")
    assert against(result) == ["The claim says '25 °C'; by the evidence it is (10 + 20 + 30) ÷ 3 = 20."]


@pytest.mark.parametrize(
    "claim",
    [
        "The temperature doubled from 10 °C to 20 °C.",
        "The temperature rose from 10 °C to 20 °C, an increase of 100%.",
        "20 °C minus 5 °C is 15 °C.",
    ],
)
def test_arithmetic_with_degrees_is_not_done_in_kelvins(claim: str) -> None:
    assert against(found(claim, "It was 10 °C at first, then 20 °C.")) == []


def test_a_temperature_that_falls_upwards_is_still_wrong() -> None:
    assert against(found("It fell from 0 °C to 5 °C.", "It was 0 °C, then 5 °C.")) != []


def test_a_wrong_sum_is_shown_in_the_unit_of_the_claim() -> None:
    assert "the sum is 5." in against(found("2 km plus 3 km is 6 km.", "Walks of 2 km and 3 km."))[0]
