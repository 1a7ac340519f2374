"""Severity: the formula, its levels, and what makes a finding graver."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.policy import SeverityWeights, claim_weight, preset, severity, severity_level
from assay.schema import ClaimKind, Severity, SeverityLevel, Stakes, Verdict

GENERAL = preset("general")


def graded(**changes: Any) -> Severity:
    fields: dict[str, Any] = {
        "verdict": Verdict.UNSUPPORTED,
        "kind": ClaimKind.FACTUAL,
        "critical_reasons": (),
        "stakes": Stakes.MEDIUM,
        "hedge": 0.0,
        "contradiction": None,
        "has_specifics": False,
    }
    return severity(GENERAL, **(fields | changes))


def test_the_score_is_the_formula_over_its_factors() -> None:
    found = graded(critical_reasons=("number",), has_specifics=True, stakes=Stakes.HIGH)
    assert found.score == pytest.approx(
        0.3 * found.propagation_risk + 0.3 * found.undetectability + 0.4 * found.consequence
    )


@pytest.mark.parametrize(
    ("score", "level"),
    [
        (0.0, SeverityLevel.LOW),
        (0.3, SeverityLevel.LOW),
        (0.31, SeverityLevel.MEDIUM),
        (0.6, SeverityLevel.MEDIUM),
        (0.61, SeverityLevel.HIGH),
        (0.8, SeverityLevel.HIGH),
        (0.81, SeverityLevel.CRITICAL),
        (1.0, SeverityLevel.CRITICAL),
    ],
)
def test_a_level_begins_above_its_threshold(score: float, level: SeverityLevel) -> None:
    assert severity_level(SeverityWeights(), score) is level


def test_a_made_up_commitment_at_high_stakes_is_critical_and_halts() -> None:
    found = graded(critical_reasons=("commitment",), has_specifics=True, stakes=Stakes.HIGH)
    assert found.level is SeverityLevel.CRITICAL
    assert found.response == "Immediate halt; a person must review it."


def test_a_hedged_aside_at_low_stakes_is_low_and_logged() -> None:
    found = graded(hedge=0.5, stakes=Stakes.LOW)
    assert found.level is SeverityLevel.LOW
    assert "regression" in found.response


@pytest.mark.parametrize(
    ("graver", "lighter"),
    [
        ({"feeds_action": True}, {}),
        ({"critical_reasons": ("number",)}, {}),
        ({"critical_reasons": ("commitment",)}, {"critical_reasons": ("number",)}),
        ({"kind": ClaimKind.PROCEDURAL}, {"kind": ClaimKind.INFERENTIAL}),
        ({"kind": ClaimKind.INFERENTIAL}, {}),
        ({"has_specifics": True}, {}),
        ({}, {"hedge": 0.5}),
        ({"stakes": Stakes.HIGH}, {}),
        ({}, {"stakes": Stakes.LOW}),
    ],
)
def test_what_makes_a_finding_graver(graver: dict[str, Any], lighter: dict[str, Any]) -> None:
    assert graded(**graver).score > graded(**lighter).score


def test_a_confabulation_is_the_hardest_to_catch() -> None:
    made_up = graded(has_specifics=True)
    denied = graded(has_specifics=True, verdict=Verdict.CONTRADICTED, contradiction=0.9)
    assert made_up.undetectability > denied.undetectability
    assert denied.consequence > made_up.consequence


@pytest.mark.parametrize("verdict", [Verdict.SUPPORTED, Verdict.NOT_CHECKABLE])
def test_a_claim_that_is_no_finding_has_no_severity(verdict: Verdict) -> None:
    found = graded(verdict=verdict, feeds_action=True, stakes=Stakes.HIGH)
    assert (found.score, found.level) == (0, SeverityLevel.LOW)


def test_what_was_not_checked_is_as_grave_as_what_has_no_support() -> None:
    assert graded(verdict=Verdict.UNCHECKED) == graded()


def test_the_weight_of_a_claim_does_not_depend_on_its_verdict() -> None:
    weight = claim_weight(
        GENERAL, kind=ClaimKind.FACTUAL, critical_reasons=("date",), stakes=Stakes.LOW, hedge=0, has_specifics=True
    )
    assert weight == graded(critical_reasons=("date",), stakes=Stakes.LOW, has_specifics=True).score


@pytest.mark.parametrize("field", ["hedge", "contradiction"])
@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.1])
def test_a_factor_that_is_no_probability_is_an_error(field: str, bad: float) -> None:
    with pytest.raises(InputError, match=field):
        graded(**{field: bad})


@given(
    verdict=st.sampled_from(Verdict),
    kind=st.sampled_from(ClaimKind),
    reasons=st.lists(st.sampled_from(["number", "date", "commitment"]), unique=True),
    stakes=st.sampled_from(Stakes),
    hedge=st.floats(0, 1),
    contradiction=st.none() | st.floats(0, 1),
    specifics=st.booleans(),
    acted_on=st.booleans(),
)
def test_severity_is_defined_and_within_bounds_for_every_claim(
    verdict: Verdict,
    kind: ClaimKind,
    reasons: list[str],
    stakes: Stakes,
    hedge: float,
    contradiction: float | None,
    specifics: bool,
    acted_on: bool,
) -> None:
    found = severity(
        GENERAL,
        verdict=verdict,
        kind=kind,
        critical_reasons=reasons,
        stakes=stakes,
        hedge=hedge,
        contradiction=contradiction,
        has_specifics=specifics,
        feeds_action=acted_on,
    )
    assert 0 <= found.score <= 1
    assert found.level is severity_level(GENERAL.severity, found.score)
    assert found.response
