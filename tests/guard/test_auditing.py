"""The logic of an answer is a part of its check: its faults stand at the claims, and the gate knows of them."""

import pytest

from assay.guard import Guard
from assay.policy import Policy, preset
from assay.schema import Action, Category, ClaimStatus, HallucinationReport, Verdict
from assay.testing import FakeScorer, ScriptedScorer

SUM = "Four crates hold 4 × 12 = 46 bottles."
RIGHT = "Four crates hold 4 × 12 = 48 bottles."


def policy(**changed: object) -> Policy:
    return Policy.model_validate({**preset("general").model_dump(), **changed})


def codes(report: HallucinationReport) -> list[str]:
    return [issue.code for claim in report.claims for issue in claim.issues]


def test_a_wrong_sum_is_a_fault_though_the_evidence_repeats_it() -> None:
    report = Guard("general", scorer=FakeScorer()).check(SUM, [SUM])
    (claim,) = report.claims
    assert claim.verdict is Verdict.SUPPORTED
    assert "logic.arithmetic" in codes(report)
    assert (claim.status, claim.category) == (ClaimStatus.REVISE, Category.LOGICAL)
    assert report.action is Action.REVISE
    assert report.decision.reasons[0].endswith("at odds with the output's own reasoning.")


def test_a_right_sum_is_none() -> None:
    report = Guard("general", scorer=FakeScorer()).check(RIGHT, [RIGHT])
    assert codes(report) == []
    assert report.action is Action.EMIT


def test_the_place_of_a_fault_slices_back() -> None:
    text = f"The cellar is cool. {SUM}"
    report = Guard("general", scorer=FakeScorer()).check(text, [text])
    (issue,) = [issue for claim in report.claims for issue in claim.issues if issue.code == "logic.arithmetic"]
    assert issue.span is not None
    assert text[issue.span.start : issue.span.end] == "46 bottles"


def test_what_the_exact_tier_says_already_is_not_said_twice() -> None:
    report = Guard("general", scorer=FakeScorer()).check("It sold 4 + 4 = 9 tickets.", ["It sold 5 tickets."])
    found = codes(report)
    assert found.count("logic.arithmetic") + sum(code.startswith("arithmetic.") for code in found) <= 1


def test_a_policy_can_have_none_of_it() -> None:
    report = Guard(policy(logic="off"), scorer=FakeScorer()).check(SUM, [SUM])
    assert "logic.arithmetic" not in codes(report)
    assert report.action is Action.EMIT


def test_recomputing_asks_the_network_nothing() -> None:
    texts = "The hall has 5 doors. The hall has no doors. Therefore, the hall has 5 doors."
    once, twice = ScriptedScorer({}), ScriptedScorer({})
    Guard(policy(logic="off"), scorer=once).check(texts, ["The hall is red."])
    Guard(policy(), scorer=twice).check(texts, ["The hall is red."])
    assert once.calls == twice.calls


def test_the_whole_audit_finds_statements_that_contradict_each_other() -> None:
    first, second = "The old hall in Ghent has nine doors.", "The old hall in Ghent has no doors."
    said = {(first, second): (0.0, 0.02, 0.98), (second, first): (0.0, 0.02, 0.98)}
    said |= {(first, first): (0.99, 0.01, 0.0), (second, second): (0.99, 0.01, 0.0)}
    text = f"{first} It is often cold. {second}"
    found = Guard(policy(logic="full"), scorer=ScriptedScorer(said)).check(text, [text])
    assert "logic.contradiction" in codes(found)
    assert found.action is not Action.EMIT
    assert "logic.contradiction" not in codes(Guard(policy(), scorer=ScriptedScorer(said)).check(text, [text]))


def test_the_strictest_preset_has_the_whole_audit_and_fiction_none() -> None:
    assert (preset("high-stakes").logic, preset("general").logic, preset("creative").logic) == (
        "full",
        "recompute",
        "off",
    )


@pytest.mark.parametrize("text", ["", " ", "Hello!", "§" * 3000, "1 = " * 500])
def test_any_text_gets_a_report(text: str) -> None:
    assert Guard("high-stakes", scorer=FakeScorer()).check(text, ["It is 1."]).output == text
