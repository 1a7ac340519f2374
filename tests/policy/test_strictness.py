"""A policy's one dial, against the gate itself."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError, PolicyError
from assay.guard import Guard
from assay.policy import PRESETS, Policy, parse_policy, preset
from assay.policy.calibration.provenance import Calibration, policy_text, void_because
from assay.policy.calibration.strictness import STEPS, at_strictness, block_grid_of, grid_of, levels_of, loosest
from assay.policy.parse import parse_calibration
from assay.schema import Action, HallucinationReport
from assay.testing import FakeScorer

EVIDENCE = (
    "Partners are entitled to 16 weeks of paid leave. The office in Ghent opened on 3 May 2019.",
    "Visitors must register at the desk before noon. The canteen serves lunch from Monday to Friday.",
)
SENTENCES = (
    "Partners are entitled to 16 weeks of paid leave.",
    "Partners are entitled to 12 weeks of paid leave.",
    "The office opened in Ghent.",
    "The office in Ghent opened on 3 May 2021.",
    "Visitors must register before noon.",
    "Visitors need not register at the desk.",
    "The canteen serves breakfast and lunch on Friday.",
    "Thank you for asking!",
    "I could not find that in the documents.",
    "The desk is staffed by volunteers [e9].",
)


def checked(policy: Policy, answer: str, evidence: Sequence[str] = EVIDENCE) -> HallucinationReport:
    return Guard(policy, scorer=FakeScorer()).check(answer, evidence)


answers = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=25)
@given(answer=answers, name=st.sampled_from(sorted(PRESETS)), step=st.sampled_from(STEPS))
def test_a_report_made_once_says_what_every_stricter_policy_would_do(answer: str, name: str, step: float) -> None:
    policy = preset(name)
    levels = levels_of(checked(loosest(policy), answer), policy)
    threshold = max(step, grid_of(policy)[0])
    emitted = checked(at_strictness(policy, threshold), answer).action is Action.EMIT
    assert emitted == (levels.passes >= threshold)


@settings(max_examples=25)
@given(answer=answers, name=st.sampled_from(sorted(PRESETS)), share=st.floats(0, 1))
def test_and_what_it_would_withhold(answer: str, name: str, share: float) -> None:
    policy = preset(name)
    grid = block_grid_of(policy)
    block = grid[min(int(share * len(grid)), len(grid) - 1)]
    levels = levels_of(checked(loosest(policy), answer), policy)
    withheld = checked(at_strictness(policy, 1.0, block), answer).action is Action.BLOCK
    assert withheld == (levels.passes < 1.0 and levels.blocked <= block)


def test_a_report_of_another_policy_is_refused() -> None:
    with pytest.raises(InputError, match="loosest form"):
        levels_of(checked(preset("general"), SENTENCES[0]), preset("general"))


def test_what_counts_as_support_is_never_touched() -> None:
    policy = Policy(name="worst", aggregation="minimum")
    with pytest.raises(InputError, match="support_threshold"):
        at_strictness(policy, 0.2)
    assert grid_of(policy)[0] == policy.support_threshold


def test_where_all_claims_have_to_be_supported_their_joint_probability_may_be_asked_for_less() -> None:
    loose = at_strictness(preset("general"), 0.2)
    assert loose.emit_threshold == 0.2
    assert loose.support_threshold == preset("general").support_threshold


def calibration(policy: Policy, **changes: object) -> Calibration:
    fields: dict[str, object] = {
        "method": "learn_then_test",
        "statement": "At most 10%.",
        "alpha": 0.1,
        "delta": 0.05,
        "rows": 300,
        "hallucinated": 120,
        "leaked": 4,
        "upper_bound": 0.09,
        "false_abstention": 0.4,
        "documents": 290,
        "cost_leak": 10.0,
        "cost_false_block": 3.0,
        "cost_abstention": 1.0,
        "loss": 0.7,
        "seed": 7,
        "data_digest": "d" * 64,
        "policy_digest": policy.digest,
        "verifier": "net",
        "verifier_digest": "v" * 64,
    }
    return Calibration.model_validate(fields | changes)


@given(name=st.sampled_from(sorted(PRESETS)), step=st.sampled_from(STEPS))
def test_a_written_policy_reads_back_the_same(name: str, step: float) -> None:
    base = preset(name)
    policy = at_strictness(base, max(step, grid_of(base)[0])).model_copy(update={"name": f"{name}-calibrated"})
    text = policy_text(policy, calibration(policy))
    assert parse_policy(text, "assay.yaml").digest == policy.digest
    assert parse_calibration(text, "assay.yaml") == calibration(policy)


def test_a_promise_is_void_for_another_verifier_or_a_changed_policy() -> None:
    policy = preset("general")
    made = calibration(policy)
    assert void_because(made, policy, "v" * 64) == ()
    assert "another verifier" in void_because(made, policy, "w" * 64)[0]
    assert "changed after" in void_because(made, preset("rag"), "v" * 64)[0]


def test_a_calibration_block_that_cannot_be_read_is_pointed_at() -> None:
    with pytest.raises(PolicyError, match=r"assay.yaml:2:1: .*calibration.method"):
        parse_policy("version: 1\ncalibration: {method: guess}\npolicy: rag", "assay.yaml")
    assert parse_calibration("version: 1\npolicy: rag", "assay.yaml") is None
