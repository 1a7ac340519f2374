"""A partial order of policies: what the stricter one emits, the looser one emits as well."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policy.test_gate import gates, policies

from assay.policy import PRESETS, Escalation, GateInput, Policy, decide, preset
from assay.policy.order import STRICTER, at_least_as_strict, looser_settings
from assay.policy.routes import permissiveness

SAME = {
    "aggregation",
    "critical_weight",
    "route_by_table",
    "factscore_threshold",
    "severity",
    "judge_calls",
    "judge_confidence",
    "external",
}
"""Settings that have no order: they have to be the same, unless they decide nothing."""


def test_every_setting_has_an_order_or_has_to_be_the_same() -> None:
    assert set(Policy.model_fields) == set(STRICTER) | SAME
    assert not set(STRICTER) & SAME


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_a_policy_is_as_strict_as_itself(name: str) -> None:
    assert at_least_as_strict(preset(name), preset(name))


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"creative"}))
def test_creative_is_less_strict_than_any_other(name: str) -> None:
    assert not at_least_as_strict(preset("creative"), preset(name))


def test_high_stakes_is_stricter_than_general_and_not_the_other_way_round() -> None:
    assert at_least_as_strict(preset("high-stakes"), preset("general"))
    assert "emit_threshold" in looser_settings(preset("general"), preset("high-stakes"))


def tightened(draw: st.DrawFn, policy: Policy) -> Policy:
    """The policy with some of its settings made stricter."""
    orders: dict[str, list[Any]] = {
        "citations": ["off", "verify", "require", "strict"],
        "failed_citation": ["revise", "escalate", "block"],
        "critical_action": ["revise", "block"],
        "weak_action": ["revise", "escalate"],
        "unchecked_action": ["revise", "escalate"],
        "block_on_overall": [False, True],
        "escalate_critical_severity": [False, True],
        "claim_free_may_emit": [True, False],
        "abstention_may_emit": [True, False],
    }
    changed: dict[str, Any] = {}
    for name, order in orders.items():
        if draw(st.booleans()):
            changed[name] = draw(st.sampled_from(order[order.index(getattr(policy, name)) :]))
    for name in ("emit_threshold", "revise_threshold", "block_threshold"):
        if draw(st.booleans()):
            changed[name] = draw(st.floats(getattr(policy, name), 1))
    if draw(st.booleans()):
        changed["max_revisions"] = draw(st.integers(0, policy.max_revisions))
    values = {**policy.model_dump(), **changed}
    values["revise_threshold"] = max(values["revise_threshold"], values["block_threshold"])
    values["emit_threshold"] = max(values["emit_threshold"], values["revise_threshold"])
    return Policy.model_validate(values)


@settings(max_examples=400)
@given(data=st.data(), loose=policies(), gate=gates())
def test_what_a_policy_holds_back_a_stricter_one_does_not_emit(
    data: st.DataObject, loose: Policy, gate: GateInput
) -> None:
    strict = data.draw(st.composite(lambda draw: tightened(draw, loose))())
    assert at_least_as_strict(strict, loose)
    if decide(strict, gate)[0].action == "emit":
        assert decide(loose, gate)[0].action == "emit"


@settings(max_examples=400)
@given(one=policies(), other=policies(), gate=gates())
def test_of_any_two_that_are_in_order_the_stricter_is_no_more_permissive(
    one: Policy, other: Policy, gate: GateInput
) -> None:
    if at_least_as_strict(one, other):
        ours, theirs = decide(one, gate)[0].action, decide(other, gate)[0].action
        assert ours != "emit" or permissiveness(ours) <= permissiveness(theirs)


@pytest.mark.parametrize(
    ("operator", "caller"),
    [
        ({"expertise": "tax"}, {}),
        ({"senior": "partner"}, {}),
        ({"blocking_threshold": 0.6}, {}),
        ({"expertise": "tax", "enabled": False}, {"enabled": False}),
    ],
)
def test_a_policy_that_asks_less_of_reviewers_is_looser(operator: dict[str, Any], caller: dict[str, Any]) -> None:
    own, named = (
        preset("general").model_copy(update={"escalation": Escalation(**changes)}) for changes in (operator, caller)
    )
    assert looser_settings(named, own) == ("escalation",)
    assert at_least_as_strict(own, own)


def test_a_policy_may_ask_more_of_reviewers_than_the_operators() -> None:
    plain = preset("general").model_copy(update={"escalation": Escalation(senior="")})
    asking = preset("general").model_copy(update={"escalation": Escalation(expertise="tax", senior="partner")})
    assert at_least_as_strict(asking, plain)
