"""Measures that are given of a thing in passing, over ways to say it and over things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.schema import Evidence
from assay.verify.exact import check_exact, index_evidence

THINGS = {
    "approval": ("The approval takes 6 weeks and costs 40 euros.", 6, 9, "week", "costs 40 euros"),
    "warranty": ("The warranty of the lamp lasts 24 months.", 24, 36, "month", "makes repairs free of charge"),
    "ferry crossing": ("The ferry crossing takes 50 minutes.", 50, 35, "minute", "is free for dogs"),
    "lease": ("The lease runs 4 years.", 4, 7, "year", "can be renewed"),
}
WAYS = (
    "The {x}-{unit} {thing} {rest}.",
    "Our {thing} of {x} {unit}s {rest}.",
    "The {thing} ({x} {unit}s) {rest}.",
    "The {thing}, which takes {x} {unit}s, {rest}.",
    "Who would mind {x} {unit}s of {thing}?",
    "Even {x} {unit}s into the {thing}, nothing changes.",
    "When the {x} {unit}s of the {thing} are over, call us.",
)
RANGES = ("The {thing} takes {low} to {high} {unit}s.", "The {thing} takes between {low} and {high} {unit}s.")


def sure(text: str, evidence: str) -> list[str]:
    found = check_exact(text, index_evidence([Evidence(id="a", text=evidence)])).findings
    return [one.code for one in found if one.effect == "contradicts" and one.confidence >= 0.8]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("thing", THINGS)
def test_another_measure_of_the_thing_is_contradicted_however_it_is_put(thing: str, way: str) -> None:
    evidence, right, wrong, unit, rest = THINGS[thing]
    told = {"thing": thing, "unit": unit, "rest": rest}
    assert "number.mismatch" in sure(way.format(x=wrong, **told), evidence)
    assert "number.mismatch" not in sure(way.format(x=right, **told), evidence)


@pytest.mark.parametrize("way", RANGES)
@pytest.mark.parametrize("thing", THINGS)
def test_a_range_says_more_than_the_one_number_of_the_evidence(thing: str, way: str) -> None:
    evidence, right, wrong, unit, _ = THINGS[thing]
    low, high = sorted((right, wrong))
    text = way.format(thing=thing, low=low, high=high, unit=unit)
    assert "number.mismatch" in sure(text, evidence)
    assert "number.mismatch" not in sure(text, f"{evidence} In winter it is {wrong} {unit}s.")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("A bag of 26 kg costs 36 euros more.", "The bag weighs 8 kg."),
        ("A 9-week approval costs more.", "The approval takes 6 weeks."),
        ("The 9-week trial is free.", "The approval takes 6 weeks."),
        ("The 9-week approval costs 40 euros.", "The approval takes at least 6 weeks."),
        ("The 9-week approval costs 40 euros.", "The approval takes 6 weeks, the express approval takes 9 weeks."),
        ("The 9-week approval costs 40 euros.", "The approval was given 6 weeks ago."),
        ("The 42-day approval costs 40 euros.", "The approval takes 6 weeks."),
    ],
)
def test_cases_other_things_and_limits_are_not(claim: str, evidence: str) -> None:
    assert "number.mismatch" not in sure(claim, evidence)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_compared_and_never_contradicts_itself(claim: str, evidence: str) -> None:
    assert "number.mismatch" not in sure(claim, claim)
    sure(claim, evidence)
