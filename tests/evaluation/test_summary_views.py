"""The summary of an evaluation for people."""

import pytest
from tests.cli.standin import StandIn
from tests.schema.test_report_views import read

from assay.evaluation import evaluate
from assay.evaluation.figures import Summary, summarise
from assay.evaluation.rows import ResultLog, Row
from assay.schema import Evidence


@pytest.fixture
def summary() -> Summary:
    rows = [
        Row(
            set="<b>set</b>" if number % 3 else "other",
            id=str(number),
            evidence=(Evidence(id="e", text=f"D {number}."),),
            text=f"It is {'FALSE' if number % 2 else 'so'} {number}.",
            whole=number % 5 != 0,
            label="contradicted" if number % 2 else "supported",
        )
        for number in range(40)
    ]
    guard = StandIn()
    with ResultLog(None, {}) as log:
        results = evaluate(guard, rows, log)  # type: ignore[arg-type]
    return summarise(rows, results, {"verifier": "stand-in", "policy": "general"})


def test_a_printed_summary_has_the_figures_with_intervals_in_ten_lines(summary: Summary) -> None:
    lines = str(summary).split("\n")
    assert len(lines) <= 10
    assert lines[0] == "40 labelled rows, 20 wrong, 2 sets (stand-in, policy general)"
    assert any("balanced accuracy" in line and "1.000 (" in line for line in lines)
    assert any(line.strip() == "gate: 4 of 4 honest emitted, 4 of 4 wrong stopped" for line in lines)


def test_the_html_of_a_notebook_has_a_row_for_each_set(summary: Summary) -> None:
    reader = read(summary._repr_html_())
    assert "<b>set</b>" in reader.text
    assert summary._repr_html_().count("<tr>") == 4


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_figures_become_a_data_frame(summary: Summary, library: str) -> None:
    pytest.importorskip(library)
    frame = summary.to_dataframe(library)
    assert list(frame["way"])[:3] == ["all", "set", "set"]
    assert next(iter(frame["rows"])) == 40
    assert "balanced_accuracy_low" in frame.columns
