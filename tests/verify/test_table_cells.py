"""Cells of an answer's table are resolved by row and column, and a total is the sum of its parts."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.guard import Guard
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.testing import FakeScorer
from assay.text.sentences.tables import read_tables
from assay.verify.documents.table_cells import compare_total

PLANS = """| Plan | Price per month | Seats |
|---|---|---|
| Basic | $9 | 1 |
| Team | $29 | 10 |
| Scale | $99 | 50 |"""
CSV = "plan,price_per_month,seats\nBasic,9,1\nTeam,29,10\nScale,99,50"
RECORDS = json.dumps({"plans": [{"plan": "Basic", "seats": 1}, {"plan": "Team", "seats": 10}]})
TURNED = "| | Basic | Team |\n|---|---|---|\n| Price per month | $9 | $29 |\n| Seats | 1 | 10 |"
HTML = """<table>
<tr><th>Plan</th><th>Seats</th></tr>
<tr><td>Basic</td><td>1</td></tr><tr><td>Team</td><td>10</td></tr>
</table>"""
PAIRS = "Status: Closed\nAgent: R. Osei\nRefund: GBP 75.50"
OF_PAIRS = "| Field | Value |\n|---|---|\n| Agent | R. Osei |\n| Refund | £75.50 |"


def check(answer: str, evidence: str) -> HallucinationReport:
    return Guard("general", scorer=FakeScorer()).check(answer, [Evidence(id="e", text=evidence)])


@pytest.mark.parametrize(
    ("answer", "evidence"),
    [(PLANS, PLANS), (PLANS, CSV), (TURNED, PLANS), (HTML, RECORDS), (HTML, CSV), (OF_PAIRS, PAIRS)],
)
def test_a_right_table_beside_the_same_in_another_form_is_emitted(answer: str, evidence: str) -> None:
    report = check(answer, evidence)
    assert report.action is Action.EMIT
    assert {claim.verdict for claim in report.claims} <= {Verdict.SUPPORTED, Verdict.NOT_CHECKABLE}


@pytest.mark.parametrize(
    ("answer", "evidence", "right", "wrong", "row", "column"),
    [
        (PLANS, CSV, "| 10 |", "| 12 |", "Team", "Seats"),
        (TURNED, PLANS, "| 10 |", "| 12 |", "Seats", "Team"),
        (HTML, RECORDS, "<td>10</td>", "<td>50</td>", "Team", "Seats"),
        (OF_PAIRS, PAIRS, "£75.50", "£57.50", "Refund", "Value"),
        (PLANS, PLANS, "$99", "$9", "Scale", "Price per month"),
    ],
)
def test_a_wrong_cell_is_named_by_row_and_column(
    answer: str, evidence: str, right: str, wrong: str, row: str, column: str
) -> None:
    report = check(answer.replace(right, wrong), evidence)
    assert report.action is not Action.EMIT
    against = [claim for claim in report.claims if claim.verdict is Verdict.CONTRADICTED]
    assert len(against) == 1
    assert all(f"in row “{row}”, column “{column}”" in issue.message for issue in against[0].issues)


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=12), st.integers(1, 500))
def test_the_total_of_a_column_is_the_sum_of_its_rows(values: list[int], off: int) -> None:
    rows = "\n".join(f"| item {number} | {value:,} |" for number, value in enumerate(values))
    for total, holds in ((sum(values), True), (sum(values) + off, False)):
        (table,) = read_tables(f"| Item | Amount |\n|---|---|\n{rows}\n| **Total** | **{total:,}** |")
        match = compare_total(table, len(values), 1)
        assert match is not None
        assert match.equal is holds
        assert match.expected.endswith(f"= {sum(values)}")


@pytest.mark.parametrize("cells", [("40%", "60%", "100%"), ("20 °C", "30 °C", "50 °C"), ("5 kg", "3 m", "8 kg")])
def test_what_does_not_add_up_has_no_total(cells: tuple[str, str, str]) -> None:
    one, other, total = cells
    (table,) = read_tables(f"| Item | Value |\n|---|---|\n| a | {one} |\n| b | {other} |\n| Total | {total} |")
    assert compare_total(table, 2, 1) is None


def test_a_wrong_total_of_an_answer_is_told_with_the_right_one() -> None:
    report = check(f"{PLANS}\n| Total | $137 | 71 |", PLANS)
    (wrong,) = [claim for claim in report.claims if claim.verdict is Verdict.CONTRADICTED]
    assert wrong.text.endswith("Seats: 71")
    assert "1 + 10 + 50 = 61" in wrong.issues[0].message


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td>A</td><td rowspan=2>B</td></tr><tr><td>C</td></tr></table>",
        "<table><tr>The fee is 5 euros.<td>A</td></tr></table>",
        "<table><tr><td>A</td><td>B</td></tr>",
    ],
)
def test_a_table_whose_cells_cannot_be_told_is_read_as_before(html: str) -> None:
    assert read_tables(html) == []


def test_words_around_the_rows_of_a_table_are_claims_still() -> None:
    report = check(
        "<table><caption>The fee is 70 euros.</caption><tr><th>A</th></tr><tr><td>x</td></tr></table>", PLANS
    )
    assert "The fee is 70 euros." in [
        claim.text for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE
    ]
