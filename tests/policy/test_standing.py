"""Where the presets stand between the two rates, and that the figures are those of what ships."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from assay import Guard
from assay.cli.evaluate import GATES
from assay.cli.reports.text_report import text_report
from assay.policy import PRESETS, Policy
from assay.policy.calibration.standing import FILE, standing_of
from assay.server.console.charts import trade_off_curve
from assay.server.console.pages.policies import _standing
from assay.store.insights.what_if import PolicyVersion

MEASURED: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def shown(policy: Any) -> str:
    report = Guard(policy).check("Partners get 2 weeks of leave.", ["Partners get 2 weeks of leave."])
    return "\n".join("".join(text for text, _ in line.parts) for line in text_report("answer", report))


@pytest.mark.parametrize("name", GATES)
def test_every_preset_was_measured_with_the_verifier_that_ships(name: str) -> None:
    found = standing_of(PRESETS[name].digest, Guard(name).verifier.digest)
    assert found is not None, "measure the presets anew: python -m train.standing"
    assert 0 <= found.emitted <= found.honest
    assert 0 <= found.stopped <= found.wrong
    assert min(found.honest, found.wrong) > 100
    assert found.threshold == PRESETS[name].emit_threshold


@pytest.mark.parametrize("name", GATES)
def test_a_higher_threshold_emits_no_more_and_stops_no_less(name: str) -> None:
    found = standing_of(PRESETS[name].digest)
    assert found is not None
    for before, after in zip(found.curve, found.curve[1:], strict=False):
        assert after[0] >= before[0]
        assert after[1] <= before[1]
        assert after[2] >= before[2]


def test_figures_of_another_verifier_and_of_other_policies_are_not_told() -> None:
    assert standing_of(PRESETS["general"].digest, "0" * 64) is None
    assert standing_of(PRESETS["general"].model_copy(update={"emit_threshold": 0.9}).digest) is None


def test_a_report_of_a_preset_tells_where_it_stands_and_one_of_ones_own_policy_does_not() -> None:
    found = standing_of(PRESETS["general"].digest)
    assert found is not None
    assert f"general {found.words}" in shown("general")
    assert "honest answers" not in shown(Policy(name="own", aggregation="joint"))


def test_the_page_of_a_preset_draws_the_curve_with_its_own_place() -> None:
    preset = PRESETS["rag"]
    version = PolicyVersion(
        name="rag",
        digest=preset.digest,
        created=datetime(2026, 1, 1, tzinfo=UTC),
        last=None,
        decisions=0,
        settings=preset.model_dump(mode="json"),
    )
    page = str(_standing(version))
    assert "Where it stands" in page
    assert "<circle" in page


def test_a_place_in_the_corner_is_drawn_in_the_corner() -> None:
    drawn = str(trade_off_curve([(0.0, 1.0), (1.0, 0.0)], (1.0, 1.0), ("right", "up"), "both"))
    assert '<circle cx="252.0" cy="8.0"' in drawn
    assert "M40.0 8.0 L252.0 160.0" in drawn
