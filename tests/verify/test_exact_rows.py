"""Statements of the rows of a table or list: how many, which is first, how two compare, what changed, the sum."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import ExactResult, check_exact, index_evidence

SALES = """| Region | Q1 | Q2 |
|---|---|---|
| North | 120 | 135 |
| South | 98 | 91 |
| East | 143 | 150 |"""
INVOICE = json.dumps(
    {
        "invoice": "INV-7",
        "total": 243.0,
        "paid": False,
        "currency": "EUR",
        "lines": [
            {"item": "chair", "quantity": 4, "unit_price": 45.0},
            {"item": "lamp", "quantity": 2, "unit_price": 31.5},
        ],
    }
)
ROOMS = json.dumps({"rooms": [{"name": "A", "price_eur": 95}, {"name": "B", "price_eur": 80}]})


def found(claim: str, evidence: str) -> ExactResult:
    return check_exact(claim, index_evidence([Evidence(id="e", text=evidence)]))


@pytest.mark.parametrize("claim", ["The average load is 5.", "The two rows from Lyon together amount to 5."])
def test_values_of_any_size_are_added_up(claim: str) -> None:
    rows = [{"name": name, "city": "Lyon", "load": 10**30} for name in ("North", "South")]
    assert "record.total" in [f.code for f in found(claim, json.dumps(rows)).findings]


def test_a_field_is_counted_in_millions_only_by_a_word_of_its_name() -> None:
    claim = "The number of millionaires in Oslo is 12 million."
    assert found(claim, '{"city": "Oslo", "millionaires": 12}').signals["supports_record"] == 0
    viewers = found("The number of viewers in Oslo is 12 million.", '{"city": "Oslo", "viewersMillions": 12}')
    assert viewers.signals["supports_record"] > 0.8


def test_the_name_of_an_object_is_no_unit_of_the_fields_in_it() -> None:
    club = '{"million_mile_club": {"members": 5, "city": "Oslo"}}'
    assert found("The number of members is 5 million.", club).signals["supports_record"] == 0
    assert found("The number of members is 5.", club).signals["supports_record"] > 0.8


@pytest.mark.parametrize(
    ("evidence", "claim"),
    [
        (SALES, "The table covers three regions."),
        (SALES, "East had the highest Q2 with 150."),
        (SALES, "The highest Q1 was 143."),
        (SALES, "South fell by 7 from Q1 to Q2."),
        (SALES, "East had 45 more than South in Q1."),
        (SALES, "In total, 361 units were sold in Q1."),
        (SALES, "Q2 came to 376 altogether."),
        (INVOICE, "The invoice has two lines."),
        (INVOICE, "The lamp is cheaper than the chair."),
        (ROOMS, "Room B is the cheapest."),
        (ROOMS, "The cheapest room costs 80 euros."),
        (ROOMS, "There are two rooms."),
        (SALES, "Quarter: Q1; North: 120"),
        (SALES, "Quarter: Q2; North: 135; South: 91"),
        ('{"passengers": [], "flight": "HB 13"}', "Passengers: none."),
    ],
)
def test_what_the_rows_say_is_supported(evidence: str, claim: str) -> None:
    result = found(claim, evidence)
    assert result.signals["supports_record"] >= 0.8
    assert not [f for f in result.findings if f.effect == "contradicts"]


@pytest.mark.parametrize(
    ("evidence", "claim", "code", "instead"),
    [
        (SALES, "The table covers four regions.", "record.rows", "3"),
        (SALES, "North had the highest Q2.", "record.extreme", "150 (East)"),
        (SALES, "The lowest Q1 was 91.", "record.extreme", "98 (South)"),
        (SALES, "South fell by 9 from Q1 to Q2.", "record.change", "7 (98 and 91)"),
        (SALES, "South rose from Q1 to Q2.", "record.change", "98 and 91"),
        (SALES, "East had 55 more than South in Q1.", "record.compared", "45 (143 and 98)"),
        (SALES, "In total, 371 units were sold in Q1.", "record.total", "120 + 98 + 143 = 361"),
        (INVOICE, "The invoice has three lines.", "record.rows", "2"),
        (INVOICE, "The lamp is dearer than the chair.", "record.compared", "31.5 and 45.0"),
        (ROOMS, "Room A is the cheapest.", "record.extreme", "80 (B)"),
        (SALES, "Quarter: Q1; North: 98", "record.mismatch", '"120"'),
        ('{"passengers": [], "flight": "HB 13"}', "Passengers: Ann Lee.", "record.mismatch", ""),
    ],
)
def test_the_wrong_one_is_told_with_the_right_one(evidence: str, claim: str, code: str, instead: str) -> None:
    result = found(claim, evidence)
    assert result.signals["supports_record"] == 0
    (message,) = [f.message for f in result.findings if f.code == code]
    assert instead in message


@pytest.mark.parametrize(
    "claim",
    [
        "Nearly three regions are covered.",
        "The table may cover four regions.",
        "If Q2 rises, East leads.",
        "East had the highest turnover of all competitors.",
        "South did not fall by 9 from Q1 to Q2.",
        "In total, 371 units were returned in Q1 to the warehouse.",
        "The four regions of Spain are green.",
    ],
)
def test_a_statement_with_something_unexplained_is_left_alone(claim: str) -> None:
    result = found(claim, SALES)
    assert not [f for f in result.findings if f.code.startswith("record.")]
    assert result.signals["supports_record"] == 0


@given(st.lists(st.integers(10, 9_999), min_size=2, max_size=7, unique=True), st.data())
def test_every_extreme_count_and_sum_of_a_table_is_recomputed(values: list[int], data: st.DataObject) -> None:
    names = [f"Town{chr(65 + n)}" for n in range(len(values))]
    rows = "\n".join(f"| {name} | {value} |" for name, value in zip(names, values, strict=True))
    table = f"| Place | Visitors |\n|---|---|\n{rows}"
    best = names[values.index(max(values))]
    assert found(f"{best} has the highest visitors.", table).signals["supports_record"] >= 0.8
    other = data.draw(st.sampled_from([name for name in names if name != best]))
    assert "record.extreme" in {f.code for f in found(f"{other} has the highest visitors.", table).findings}
    total = sum(values)
    assert found(f"In total there are {total} visitors.", table).signals["supports_record"] >= 0.8
    wrong = found(f"In total there are {total + data.draw(st.integers(11, 99))} visitors.", table)
    assert any(str(total) in f.message for f in wrong.findings if f.code == "record.total")
