"""The model card is filled from what was measured, and every set that is trained on has a licence."""

import re
from pathlib import Path
from typing import Any

import pytest
from train.draw_errors import replaced
from train.held_out import REPOSITORY
from train.licences import SOURCES
from train.model_card import (
    about_table,
    data_table,
    edits_table,
    energy_table,
    figures_table,
    stages_table,
    weakest_table,
)
from train.rows import QUOTAS

CARD = REPOSITORY / "docs" / "model-card.md"


def entry(name: str, rows: int, accuracy: float | None, span: float | None = None) -> dict[str, Any]:
    def figure(value: float | None) -> dict[str, Any]:
        ends = (None, None) if value is None else (value - 0.1, value + 0.1)
        return {"value": value, "low": ends[0], "high": ends[1], "undefined": None}

    names = ("auroc", "f1", "fpr", "fnr", "ece", "contradiction_auroc")
    figures = {"balanced_accuracy": figure(accuracy), **dict.fromkeys(names, figure(0.5)), "span_f1": figure(span)}
    return {"name": name, "rows": rows, "figures": figures}


def summary(span: float | None = None) -> dict[str, Any]:
    return {
        "identity": {"verifier": "assay 9", "policy": "general"},
        "overall": entry("all rows", 300, 0.75),
        "sets": [entry("b", 200, 0.7, span), entry("a", 100, None)],
        "slices": {"number": [entry("with", 150, 0.6), entry("without", 150, 0.8)], "date": [entry("with", 20, 0.1)]},
    }


def test_every_set_that_is_trained_on_has_one_licence() -> None:
    named = [name for source in SOURCES for name in source.sets]
    assert sorted(named) == sorted(QUOTAS)
    assert all(source.licence and source.repository for source in SOURCES)


def test_every_table_has_as_many_cells_in_each_row() -> None:
    manifest = {"name": "n", "version": "1", "base": "b", "training": {"stages": [{"what": "first", "steps": 1200}]}}
    tables = [data_table(), stages_table(manifest), figures_table(summary()), weakest_table(summary())]
    for lines in [*tables, energy_table([1.0, 2.0])]:
        assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_a_figure_that_no_set_has_is_no_column() -> None:
    assert "span F1" not in figures_table(summary())[0]
    assert "span F1" in figures_table(summary(0.3))[0]
    assert [line.split(" | ")[0] for line in figures_table(summary())[2:5]] == ["| all rows", "| a", "| b"]


def test_the_weakest_slices_come_first_and_small_ones_not_at_all() -> None:
    lines = weakest_table(summary())[2:]
    assert [line.split(" | ")[0] for line in lines] == ["| number: with", "| number: without"]


def test_a_manifest_of_one_run_is_one_stage() -> None:
    manifest = {"name": "n", "version": "1", "base": "b", "training": {"steps": 5, "held_out": {"accuracy": 0.5}}}
    assert stages_table(manifest)[2] == "| 1. one run | 5 |  |  |  | 0.500 |  |"


def test_the_card_says_of_weights_of_several_stages_that_one_command_repeats_one_stage() -> None:
    base = {"base": "b", "licence": "l"}
    one, many = (
        "\n".join(about_table({**base, "training": training}))
        for training in ({"steps": 5}, {"stages": [{"what": "first"}, {"what": "second"}, {"what": "third"}]})
    )
    assert "| made by | `make train` (see" in one
    assert "| made by | 3 stages of `train.network`" in many
    assert "3 stages" in about_table({**base, "training": {"before": {"stages": [{}, {}]}}})[5]
    assert "one command repeats a stage, not the line" in many
    assert all(len({line.count("|") for line in table.splitlines()}) == 1 for table in (one, many))


def test_energy_is_hours_times_the_assumed_draw_and_says_so() -> None:
    lines = energy_table([2.0, 4.0])
    assert lines[4] == "| all | 6.0 | 0.090 |"
    assert "assumed" in lines[-1]


def test_edits_are_read_as_they_are_printed() -> None:
    printed = (
        "kind pairs\nprose   776   0.941   0.019   0.996   0.778 0.8\nrecords 213   0.737   0.188   0.975   0.497 0.6\n"
    )
    assert edits_table(printed)[2:] == [
        "| prose | 776 | 0.941 | 0.019 | 0.778 |",
        "| records | 213 | 0.737 | 0.188 | 0.497 |",
    ]
    with pytest.raises(ValueError, match="expected a line of records"):
        edits_table("prose 776 0.941 0.019 0.996 0.778\n")


def test_the_card_has_every_place_that_is_filled_and_links_that_lead_somewhere() -> None:
    text = CARD.read_text()
    for name in ("data", "stages", "dev", "held", "edits", "weakest", "energy"):
        assert replaced(text, name, []) != ""
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (Path(CARD.parent) / target).exists(), target
