"""Abstention as a part of the decision: what a policy file says of it, and that it loosens nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PolicyError
from assay.policy import (
    LABELS,
    Abstaining,
    Policy,
    Route,
    labels_for,
    parse_policy,
    permissiveness,
    preset,
    with_answering,
)
from assay.policy.calibration.provenance import Calibration, policy_text
from assay.schema import Action, Decision
from assay.schema.report_parts.abstention import Abstention, AbstentionTrigger, Answering, FiredTrigger

SERVED = Decision(action=Action.EMIT, route=Route.SERVE, reasons=("All hold.",))


def abstention(outcome: Answering, *triggers: AbstentionTrigger) -> Abstention:
    fired = tuple(FiredTrigger(trigger=one, value=0.0, threshold=1.0) for one in triggers)
    reason = triggers[0].value if triggers else "low_confidence"
    return Abstention(outcome=outcome, reason=reason, response="I do not know. Ask again.", triggers=fired)


def test_an_answer_that_is_confident_enough_stays_as_the_gate_decided() -> None:
    assert with_answering(SERVED, abstention(Answering.RESPOND)) == SERVED


def test_one_that_is_half_sure_may_only_be_served_with_a_disclosure() -> None:
    decision = with_answering(SERVED, abstention(Answering.PARTIAL_WITH_CAVEATS))
    assert (decision.action, decision.route) == (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)
    assert decision.response is not None
    assert labels_for(decision).abstention == "PARTIAL_WITH_CAVEATS"


def test_one_that_is_not_sure_is_held_back_with_the_reason() -> None:
    decision = with_answering(SERVED, abstention(Answering.ABSTAIN))
    assert (decision.action, decision.route) == (Action.BLOCK, Route.WITHHOLD)
    assert decision.response == "I do not know. Ask again."
    assert labels_for(decision).abstention == "ABSTAIN"


def test_a_gap_in_the_documents_goes_to_those_who_keep_them() -> None:
    decision = with_answering(SERVED, abstention(Answering.ABSTAIN, AbstentionTrigger.LOW_COVERAGE))
    assert decision.route == Route.WITHHOLD_KNOWLEDGE_GAP


@given(
    pair=st.sampled_from(sorted(LABELS)),
    outcome=st.sampled_from(Answering),
    triggers=st.lists(st.sampled_from(AbstentionTrigger), max_size=2),
)
def test_deciding_whether_to_answer_loosens_nothing(
    pair: tuple[Action, Route], outcome: Answering, triggers: list[AbstentionTrigger]
) -> None:
    before = Decision(action=pair[0], route=pair[1], reasons=("So.",), response="x")
    after = with_answering(before, abstention(outcome, *triggers))
    assert permissiveness(after.action) <= permissiveness(before.action)
    assert (after.action, Route(after.route)) in LABELS
    assert after.reasons


def test_a_policy_file_says_when_to_abstain_and_the_digest_tells() -> None:
    text = (
        "version: 1\npolicy:\n  preset: general\n  abstention:\n    high: 0.9\n    slope: 1.5\n"
        "    weights: {consistency: 0.5}\n"
    )
    policy = parse_policy(text, "assay.yaml")
    assert policy.abstention is not None
    assert (policy.abstention.high, policy.abstention.slope, policy.abstention.low) == (0.9, 1.5, 0.4)
    assert policy.abstention.weights.consistency == 0.5
    assert policy.digest != preset("general").digest


@pytest.mark.parametrize(
    "block", ["{high: 0.3, low: 0.5}", "{slope: 0.0}", "{slope: -1.0}", "{claim: 2.0}", "{hihg: 0.9}"]
)
def test_a_block_that_makes_no_sense_is_refused(block: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(f"version: 1\npolicy:\n  preset: general\n  abstention: {block}\n", "assay.yaml")


def test_a_fitted_policy_is_read_again_as_it_was_written() -> None:
    fitted = Policy.model_validate(
        {**preset("rag").model_dump(), "name": "rag-calibrated", "abstention": Abstaining(high=0.8, slope=2.0, rows=90)}
    )
    calibration = Calibration(
        method="least_loss",
        statement="Nothing.",
        rows=1,
        hallucinated=1,
        leaked=0,
        documents=1,
        cost_leak=1.0,
        cost_false_block=1.0,
        cost_abstention=1.0,
        loss=0.0,
        seed=0,
        data_digest="d",
        policy_digest=fitted.digest,
        verifier="v",
        verifier_digest="v",
    )
    assert parse_policy(policy_text(fitted, calibration), "assay.yaml") == fitted
