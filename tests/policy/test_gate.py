"""The gate: the rules of the source documents, one by one, and the properties that hold for any input."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.policy import (
    LABELS,
    PRESETS,
    ClaimSignal,
    GateInput,
    Policy,
    Route,
    claim_status,
    decide,
    overall_score,
    permissiveness,
    preset,
)
from assay.schema import Action, ClaimStatus, Decision, Stakes, Verdict

GENERAL = preset("general")
GROUNDED = sorted(set(PRESETS) - {"creative"})


def claim(score: float | None = 0.95, verdict: Verdict = Verdict.SUPPORTED, **other: Any) -> ClaimSignal:
    fields: dict[str, Any] = {"critical": False, "severity": None}
    return ClaimSignal(score=score, verdict=verdict, **(fields | other))


def contradicted(critical: bool = True) -> ClaimSignal:
    return claim(0.05, Verdict.CONTRADICTED, critical=critical, contradiction=0.9)


def unsupported(score: float = 0.2, critical: bool = False) -> ClaimSignal:
    return claim(score, Verdict.UNSUPPORTED, critical=critical)


def output(*claims: ClaimSignal, **other: Any) -> GateInput:
    """An output without any fault besides those given."""
    fields: dict[str, Any] = {
        "claims": claims,
        "citations_fabricated": 0,
        "citations_failed": 0,
        "claims_uncited": 0,
        "citations_unchecked": 0,
        "conflicts": 0,
        "unchecked_characters": 0,
        "evidence_unread_characters": 0,
        "structural_issues": 0,
        "rejected_tool_calls": 0,
        "diverged_probes": 0,
        "declared_claim_free": False,
        "task": "qa",
        "stakes": Stakes.MEDIUM,
        "revisions_failed": 0,
        "faithfulness": None,
        "factscore": None,
        "has_evidence": True,
        "abstention_only": False,
    }
    return GateInput(**(fields | other))


def decided(policy: Policy | str, gate: GateInput) -> Decision:
    return decide(preset(policy) if isinstance(policy, str) else policy, gate)[0]


def outcome(policy: Policy | str, gate: GateInput) -> tuple[Action, str]:
    decision = decided(policy, gate)
    return decision.action, decision.route


# The bands (docs/concepts.md#thresholds).


def test_claims_at_the_emit_threshold_are_emitted() -> None:
    assert outcome("general", output(claim(0.85))) == (Action.EMIT, Route.SERVE)


def test_an_answer_is_emitted_where_all_of_its_claims_are_likely_to_hold_together() -> None:
    likely = output(*[claim(0.99)] * 10)
    assert outcome("general", likely) == (Action.EMIT, Route.SERVE)
    assert decide(preset("general"), likely)[1] == pytest.approx(0.99 ** (10 * preset("general").independence))
    doubtful = output(*[claim(0.95)] * 10)
    assert outcome("general", doubtful) == (Action.REVISE, Route.REVISE)


def test_a_claim_just_below_the_emit_threshold_is_revised() -> None:
    assert outcome("general", output(claim(0.8499))) == (Action.REVISE, Route.REVISE)


def test_a_claim_between_block_and_revise_is_revised() -> None:
    assert decided("general", output(claim(), unsupported(0.5, critical=True))).action is Action.REVISE


def test_a_critical_claim_below_the_block_threshold_blocks() -> None:
    assert decided("general", output(claim(), unsupported(0.39, critical=True))).action is Action.BLOCK


def test_a_plain_claim_below_the_block_threshold_is_revised() -> None:
    assert decided("general", output(claim(), unsupported(0.1))).action is Action.REVISE


def test_a_contradicted_critical_claim_blocks_however_well_it_scores() -> None:
    high = claim(0.99, Verdict.CONTRADICTED, critical=True, contradiction=0.6)
    assert decided("general", output(high)).action is Action.BLOCK


def test_a_diverging_probe_is_revised() -> None:
    assert decided("general", output(claim(), diverged_probes=1)).action is Action.REVISE


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("fault", ["structural_issues", "rejected_tool_calls"])
def test_structure_and_tool_calls_are_gated_under_every_preset(name: str, fault: str) -> None:
    assert decided(name, output(claim(0.99), **{fault: 1})).action is Action.REVISE


def test_repeated_failed_revisions_block() -> None:
    gate = output(claim(0.7), revisions_failed=2)
    assert decided("general", replace(gate, revisions_failed=1)).action is Action.REVISE
    assert decided("general", gate).action is Action.BLOCK
    assert decided("general", output(claim(), revisions_failed=9)).action is Action.EMIT


# Logic (docs/concepts.md#categories).


@pytest.mark.parametrize("name", GROUNDED)
def test_a_claim_at_odds_with_the_output_itself_goes_back_though_the_evidence_supports_it(name: str) -> None:
    decision = decided(name, output(claim(0.99, logic_fault=True)))
    assert decision.action is Action.REVISE
    assert decision.reasons[0] == "1 claim is at odds with the output's own reasoning."
    assert claim_status(preset(name), claim(0.99, logic_fault=True)) is ClaimStatus.REVISE


def test_a_fault_of_reasoning_outside_of_claims_is_revised() -> None:
    assert decided("general", output(claim(0.99), logic_faults=1)).action is Action.REVISE


def test_fiction_need_not_add_up() -> None:
    assert decided("creative", output(claim(0.99, logic_fault=True), logic_faults=1)).action is Action.EMIT


# Citations (docs/concepts.md#citations).


@pytest.mark.parametrize("name", GROUNDED)
def test_a_fabricated_citation_withholds_at_once_in_every_preset_but_creative(name: str) -> None:
    expected = (Action.BLOCK, Route.WITHHOLD_CITATION)
    assert outcome(name, output(claim(0.99), citations_fabricated=1)) == expected
    assert outcome(name, output(claim(0.99, fabricated_citation=True))) == expected


def test_a_fabricated_citation_is_allowed_in_fiction() -> None:
    assert decided("creative", output(claim(0.99), citations_fabricated=1)).action is Action.EMIT


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("general", Action.REVISE),
        ("rag", Action.BLOCK),
        ("support-desk", Action.ESCALATE),
        ("high-stakes", Action.BLOCK),
    ],
)
def test_a_citation_that_does_not_hold_leads_to_what_the_policy_says(name: str, action: Action) -> None:
    assert decided(name, output(claim(0.99), citations_failed=1)).action is action


@pytest.mark.parametrize(
    ("failed", "said"), [(1, "citation does not support the text that it is attached to."), (2, "they are attached")]
)
def test_the_reason_counts_citations_as_people_do(failed: int, said: str) -> None:
    assert any(said in one for one in decided("general", output(claim(0.99), citations_failed=failed)).reasons)


@pytest.mark.parametrize(
    ("level", "action"),
    [("off", Action.EMIT), ("verify", Action.EMIT), ("require", Action.REVISE), ("strict", Action.REVISE)],
)
def test_a_claim_without_a_citation_matters_where_one_is_required(level: str, action: Action) -> None:
    policy = Policy.model_validate({**GENERAL.model_dump(), "citations": level})
    assert decided(policy, output(claim(0.99), claims_uncited=1)).action is action


# Coverage.


@pytest.mark.parametrize("name", GROUNDED)
@pytest.mark.parametrize(
    "fault",
    [
        {"unchecked_characters": 1},
        {"evidence_unread_characters": 1},
        {"citations_unchecked": 1},
        {"claims": (claim(0.99), claim(None, Verdict.UNCHECKED))},
        {"claims": (claim(0.99), claim(None))},
    ],
)
def test_what_nobody_checked_is_never_emitted(name: str, fault: dict[str, Any]) -> None:
    decision = decided(name, replace(output(claim(0.99)), **fault))
    assert decision.action is Action(preset(name).unchecked_action)
    assert any("could not be checked" in reason or " not " in reason for reason in decision.reasons)


@pytest.mark.parametrize("name", GROUNDED)
def test_claims_without_any_evidence_are_withheld(name: str) -> None:
    decision = decided(name, output(claim(0.99), has_evidence=False))
    assert (decision.action, decision.route) == (Action.BLOCK, Route.WITHHOLD_KNOWLEDGE_GAP)


@pytest.mark.parametrize("name", GROUNDED)
def test_no_claims_are_never_emitted_undeclared(name: str) -> None:
    assert decided(name, output()).action is not Action.EMIT
    assert decided(name, output(claim(None, Verdict.NOT_CHECKABLE))).action is not Action.EMIT


def test_a_declared_claim_free_output_is_emitted_by_its_own_route() -> None:
    gate = output(claim(None, Verdict.NOT_CHECKABLE), declared_claim_free=True)
    assert outcome("general", gate) == (Action.EMIT, Route.SERVE_CLAIM_FREE)
    strict = Policy.model_validate({**GENERAL.model_dump(), "claim_free_may_emit": False})
    assert decided(strict, gate).action is not Action.EMIT


def test_declaring_an_output_claim_free_does_not_spare_its_claims() -> None:
    assert decided("general", output(contradicted(), declared_claim_free=True)).action is Action.BLOCK


def test_an_abstention_is_a_valid_output_even_without_evidence() -> None:
    gate = output(claim(None, Verdict.NOT_CHECKABLE), abstention_only=True, has_evidence=False)
    assert outcome("high-stakes", gate) == (Action.EMIT, Route.SERVE_ABSTENTION)
    assert decided("general", replace(gate, unchecked_characters=3)).action is not Action.EMIT


@pytest.mark.parametrize("name", PRESETS)
def test_an_empty_answer_is_never_emitted_whatever_was_declared(name: str) -> None:
    gate = output(empty=True, declared_claim_free=True, abstention_only=True)
    assert decided(name, gate).action is Action.BLOCK


# Tasks.


def test_creative_work_is_not_held_to_evidence() -> None:
    gate = output(contradicted(), has_evidence=False)
    assert outcome("creative", gate) == (Action.EMIT, Route.SERVE_UNGROUNDED)
    assert outcome("general", replace(gate, task="brainstorm")) == (Action.EMIT, Route.SERVE_UNGROUNDED)


def test_an_unknown_task_is_held_to_evidence() -> None:
    assert decided("general", output(contradicted(), task="Creative!")).action is Action.BLOCK


def test_a_strict_preset_does_not_take_the_word_creative_for_an_excuse() -> None:
    assert decided("high-stakes", output(contradicted(), task="creative")).action is Action.BLOCK


# The routing table (docs/concepts.md#routing-table).


@pytest.mark.parametrize(
    ("faithfulness", "factscore", "expected"),
    [
        (0.85, 0.80, (Action.EMIT, Route.SERVE)),
        (0.95, None, (Action.EMIT, Route.SERVE)),
        (0.95, 0.79, (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)),
        (0.84, 0.90, (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)),
        (0.65, 0.90, (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)),
        (0.64, 0.90, (Action.BLOCK, Route.WITHHOLD_CLOSEST_SOURCES)),
        (0.40, 0.90, (Action.BLOCK, Route.WITHHOLD_CLOSEST_SOURCES)),
        (0.39, 0.90, (Action.BLOCK, Route.WITHHOLD_KNOWLEDGE_GAP)),
    ],
)
def test_the_routing_table(faithfulness: float, factscore: float | None, expected: tuple[Action, str]) -> None:
    assert outcome("rag", output(claim(0.99), faithfulness=faithfulness, factscore=factscore)) == expected


def test_the_table_takes_the_overall_score_where_faithfulness_is_undefined() -> None:
    assert outcome("rag", output(claim(0.7))) == (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)


def test_conflicting_sources_are_disclosed_and_not_synthesized() -> None:
    assert outcome("rag", output(claim(0.99), conflicts=1)) == (Action.BLOCK, Route.CONFLICT_DISCLOSURE)
    decision = decided("rag", output(claim(0.99), conflicts=1))
    assert "contradict each other" in (decision.response or "")
    assert outcome("general", output(claim(0.99), conflicts=1)) == (Action.REVISE, Route.CONFLICT_DISCLOSURE)
    assert outcome("general", output(contradicted(), conflicts=1)) == (Action.BLOCK, Route.CONFLICT_DISCLOSURE)


def test_weak_support_says_the_sentence_of_the_table() -> None:
    response = decided("rag", output(claim(0.5))).response or ""
    assert "This question could not be fully answered from available documents." in response


def test_a_disclosure_does_not_excuse_a_weak_critical_claim() -> None:
    gate = output(claim(), claim(), claim(), unsupported(0.7, critical=True), faithfulness=0.89)
    assert outcome("rag", gate) == (Action.REVISE, Route.REVISE)


def test_parental_leave_has_partial_support_and_one_contradiction() -> None:
    """Seven facts, one contradicted number, one not mentioned."""
    held = tuple(claim(0.95, critical=True) for _ in range(5))
    gate = output(*held, contradicted(), unsupported(0.1), factscore=5 / 7)
    assert decided("rag", gate).action is Action.BLOCK


def test_partial_support_may_be_disclosed_after_failed_revisions() -> None:
    gate = output(claim(0.7), revisions_failed=5)
    assert outcome("rag", gate) == (Action.REVISE, Route.SERVE_WITH_DISCLOSURE)


# PASS, WARN and FAIL (docs/concepts.md#unsupported-rate).


@pytest.mark.parametrize(
    ("bad", "of", "action"),
    [
        (0, 3, Action.EMIT),
        (1, 11, Action.EMIT),
        (1, 10, Action.REVISE),
        (29, 100, Action.REVISE),
        (3, 10, Action.BLOCK),
        (2, 3, Action.BLOCK),
        (3, 3, Action.BLOCK),
    ],
)
def test_the_monitor_passes_below_a_tenth_and_fails_from_three_tenths(bad: int, of: int, action: Action) -> None:
    claims = [unsupported(critical=True)] * bad + [claim(0.9)] * (of - bad)
    decision, overall = decide(preset("monitor"), output(*claims))
    assert decision.action is action
    assert overall == pytest.approx(1 - bad / of)


# Escalation labels (docs/concepts.md#decision-labels).


@pytest.mark.parametrize(
    ("score", "action"),
    [(0.85, Action.EMIT), (0.6, Action.REVISE), (0.59, Action.ESCALATE), (0.3, Action.ESCALATE), (0.29, Action.BLOCK)],
)
def test_the_support_desk_asks_a_person_in_the_lower_band(score: float, action: Action) -> None:
    assert decided("support-desk", output(claim(score))).action is action


# People.


def test_high_stakes_and_low_confidence_bring_in_a_person() -> None:
    gate = output(unsupported(0.3), stakes=Stakes.HIGH)
    assert outcome("general", gate) == (Action.ESCALATE, Route.REVIEW)
    assert decided("general", replace(gate, stakes=Stakes.MEDIUM)).action is Action.REVISE


def test_the_risk_must_exceed_the_threshold() -> None:
    assert decided("general", output(claim(0.5), stakes=Stakes.HIGH)).action is Action.REVISE


def test_critical_severity_brings_in_a_person_where_the_policy_says_so() -> None:
    gate = output(claim(0.99, severity=0.81))
    assert outcome("high-stakes", gate) == (Action.ESCALATE, Route.REVIEW)
    assert decided("general", gate).action is Action.EMIT
    assert decided("high-stakes", output(claim(0.99, severity=0.8))).action is Action.EMIT


def test_a_blocked_output_of_critical_severity_is_also_reviewed() -> None:
    bad = claim(0.05, Verdict.CONTRADICTED, critical=True, severity=0.9)
    assert outcome("high-stakes", output(bad)) == (Action.BLOCK, Route.WITHHOLD_FOR_REVIEW)


# Scores.


def test_the_weighted_mean_counts_critical_claims_more() -> None:
    policy = Policy(name="mean", aggregation="weighted_mean")
    score = overall_score(policy, (claim(1.0, critical=True), unsupported(0.4)))
    assert score == pytest.approx((2 * 1.0 + 0.4) / 3)


def test_an_undefined_score_is_never_averaged() -> None:
    assert overall_score(preset("rag"), (claim(1.0), claim(None, Verdict.UNCHECKED))) == 1
    assert overall_score(GENERAL, (claim(None, Verdict.NOT_CHECKABLE), claim(None, Verdict.UNCHECKED))) is None


@pytest.mark.parametrize("bad", [float("nan"), -0.1, 1.5, float("inf")])
def test_a_score_that_is_no_probability_is_an_error_and_not_a_pass(bad: float) -> None:
    with pytest.raises(InputError, match="score"):
        claim(bad)
    with pytest.raises(InputError, match="faithfulness"):
        output(faithfulness=bad)


def test_a_negative_count_is_an_error() -> None:
    with pytest.raises(InputError, match="conflicts"):
        output(conflicts=-1)


@pytest.mark.parametrize(
    ("signal", "status"),
    [
        (claim(0.9), ClaimStatus.PASS),
        (claim(0.7), ClaimStatus.REVISE),
        (unsupported(0.1), ClaimStatus.REVISE),
        (unsupported(0.1, critical=True), ClaimStatus.BLOCK),
        (contradicted(), ClaimStatus.BLOCK),
        (contradicted(critical=False), ClaimStatus.REVISE),
        (claim(0.9, fabricated_citation=True), ClaimStatus.BLOCK),
        (claim(None, Verdict.UNCHECKED), ClaimStatus.UNCHECKED),
        (claim(None), ClaimStatus.UNCHECKED),
        (claim(None, Verdict.NOT_CHECKABLE), ClaimStatus.NOT_CHECKABLE),
    ],
)
def test_the_status_of_one_claim(signal: ClaimSignal, status: ClaimStatus) -> None:
    assert claim_status(GENERAL, signal) is status


def test_the_status_under_a_rate_is_the_verdict() -> None:
    assert claim_status(preset("monitor"), claim(0.9)) is ClaimStatus.PASS
    assert claim_status(preset("monitor"), unsupported()) is ClaimStatus.REVISE


# Properties.

probability = st.floats(0, 1) | st.sampled_from([0.0, 0.3, 0.4, 0.5, 0.6, 0.65, 0.8, 0.85, 0.95, 1.0])


@st.composite
def signals(draw: st.DrawFn) -> ClaimSignal:
    verdict = draw(st.sampled_from(Verdict))
    unscored = verdict in {Verdict.UNCHECKED, Verdict.NOT_CHECKABLE}
    return ClaimSignal(
        score=None if unscored else draw(probability),
        verdict=verdict,
        critical=draw(st.booleans()),
        severity=draw(st.none() | probability),
        contradiction=draw(st.none() | probability),
        fabricated_citation=draw(st.booleans()),
        logic_fault=draw(st.booleans()),
    )


count = st.integers(0, 2) | st.just(0)
COUNTS = (
    "citations_fabricated",
    "citations_failed",
    "claims_uncited",
    "citations_unchecked",
    "conflicts",
    "unchecked_characters",
    "evidence_unread_characters",
    "structural_issues",
    "rejected_tool_calls",
    "diverged_probes",
    "logic_faults",
)


@st.composite
def gates(draw: st.DrawFn) -> GateInput:
    return output(
        *draw(st.lists(signals(), max_size=5)),
        **{name: draw(count) for name in (*COUNTS, "revisions_failed")},
        declared_claim_free=draw(st.booleans()),
        task=draw(st.sampled_from(["qa", "creative", "", "x"])),
        stakes=draw(st.sampled_from(Stakes)),
        faithfulness=draw(st.none() | probability),
        factscore=draw(st.none() | probability),
        has_evidence=draw(st.booleans()),
        abstention_only=draw(st.booleans()),
        empty=draw(st.booleans()),
    )


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Presets, and policies with any switches and thresholds that go together."""
    base = PRESETS[draw(st.sampled_from(sorted(PRESETS)))]
    if draw(st.booleans()):
        return base
    block, support, revise, emit = sorted(draw(st.tuples(*[st.floats(0.01, 1)] * 4)))
    fields: dict[str, Any] = {
        "block_threshold": block,
        "revise_threshold": revise,
        "emit_threshold": emit,
        "support_threshold": support,
        "aggregation": draw(st.sampled_from(["minimum", "weighted_mean", "unsupported_rate"])),
        "critical_action": draw(st.sampled_from(["revise", "block"])),
        "weak_action": draw(st.sampled_from(["revise", "escalate"])),
        "unchecked_action": draw(st.sampled_from(["revise", "escalate"])),
        "failed_citation": draw(st.sampled_from(["revise", "escalate", "block"])),
        "citations": draw(st.sampled_from(["off", "verify", "require", "strict"])),
        "block_on_overall": draw(st.booleans()),
        "route_by_table": draw(st.booleans()),
        "escalate_critical_severity": draw(st.booleans()),
        "max_revisions": draw(st.integers(0, 3)),
    }
    return Policy.model_validate({**base.model_dump(), **fields})


@given(policy=policies(), gate=gates())
def test_every_input_gets_a_known_decision_with_reasons_in_prose(policy: Policy, gate: GateInput) -> None:
    decision, overall = decide(policy, gate)
    assert (decision.action, Route(decision.route)) in LABELS
    assert decision.reasons
    for reason in decision.reasons:
        assert reason[0].isupper() or reason[0].isdigit()
        assert reason.endswith(".")
        assert " " in reason
    assert overall is None or 0 <= overall <= 1
    withheld = decision.action in {Action.BLOCK, Action.ESCALATE} or decision.route == Route.SERVE_WITH_DISCLOSURE
    assert bool(decision.response) == withheld
    assert decide(policy, gate) == (decision, overall)


WORSE = {Verdict.SUPPORTED: Verdict.UNSUPPORTED, Verdict.UNSUPPORTED: Verdict.CONTRADICTED}


@given(policy=policies(), gate=gates(), data=st.data())
def test_making_a_claim_worse_never_makes_the_action_more_permissive(
    policy: Policy, gate: GateInput, data: st.DataObject
) -> None:
    if not gate.claims:
        return
    index = data.draw(st.integers(0, len(gate.claims) - 1))
    before = gate.claims[index]
    changes: list[dict[str, Any]] = [{"fabricated_citation": True}, {"logic_fault": True}]
    if before.score is not None:
        changes.append({"score": before.score * data.draw(probability)})
        changes.append({"contradiction": max(before.contradiction or 0, data.draw(probability))})
        if before.contradiction is None:
            # None on a contradicted claim counts as certain, so a probability would be news in its favour.
            changes.pop()
    if before.severity is not None:
        changes.append({"severity": max(before.severity, data.draw(probability))})
    if before.verdict in WORSE:
        changes.append({"verdict": WORSE[before.verdict]})
    after = replace(before, **data.draw(st.sampled_from(changes)))
    worse = replace(gate, claims=(*gate.claims[:index], after, *gate.claims[index + 1 :]))
    assert permissiveness(decided(policy, worse).action) <= permissiveness(decided(policy, gate).action)


@given(policy=policies(), gate=gates(), name=st.sampled_from((*COUNTS, "revisions_failed")), more=st.integers(1, 5))
def test_one_more_fault_never_makes_the_action_more_permissive(
    policy: Policy, gate: GateInput, name: str, more: int
) -> None:
    worse = replace(gate, **{name: getattr(gate, name) + more})
    assert permissiveness(decided(policy, worse).action) <= permissiveness(decided(policy, gate).action)


@given(policy=policies(), gate=gates(), factor=probability, name=st.sampled_from(["faithfulness", "factscore"]))
def test_a_lower_metric_never_makes_the_action_more_permissive(
    policy: Policy, gate: GateInput, factor: float, name: str
) -> None:
    value = getattr(gate, name)
    changed: dict[str, Any] = {name: None if value is None else value * factor}
    worse = replace(gate, **changed)
    assert permissiveness(decided(policy, worse).action) <= permissiveness(decided(policy, gate).action)


@given(gate=gates(), name=st.sampled_from(GROUNDED))
def test_zero_claims_never_emit_undeclared(gate: GateInput, name: str) -> None:
    bare = replace(gate, claims=(), declared_claim_free=False, abstention_only=False, task="qa")
    assert decided(name, bare).action is not Action.EMIT


@given(gate=gates(), policy=policies())
def test_what_is_emitted_has_no_fault_that_the_gate_looks_at(gate: GateInput, policy: Policy) -> None:
    if decided(policy, gate).action is not Action.EMIT:
        return
    assert not gate.empty
    assert not gate.structural_issues
    assert not gate.rejected_tool_calls
    if policy.citations != "off":
        assert not gate.citations_fabricated
        assert not gate.citations_failed
    if policy.groundedness and gate.task not in policy.ungrounded_tasks:
        assert not gate.unchecked_characters
        assert not gate.evidence_unread_characters
        assert not any(c.critical and c.verdict is Verdict.CONTRADICTED for c in gate.claims)
        assert all(c.score is not None for c in gate.claims if c.checkable)


@given(gate=gates(), policy=policies())
def test_the_order_of_claims_does_not_change_the_decision(gate: GateInput, policy: Policy) -> None:
    assert decide(policy, gate) == decide(policy, replace(gate, claims=gate.claims[::-1]))


@given(gate=gates(), policy=policies())
def test_a_response_reveals_no_internals(gate: GateInput, policy: Policy) -> None:
    response = (decided(policy, gate).response or "").lower()
    assert not any(character.isdigit() for character in response)
    for word in ("threshold", "score", "policy", "prompt", "model", "verifier", "severity", "claim"):
        assert word not in response


@pytest.mark.parametrize("critical", [False, True])
def test_reasons_promise_no_person_of_whom_the_gate_knows_nothing(critical: bool) -> None:
    found = claim(0.1, Verdict.CONTRADICTED, critical=critical, severity=0.99)
    decision = decided("high-stakes", output(found, stakes=Stakes.HIGH))
    told = " ".join(decision.reasons)
    assert "critical severity" in told
    assert "The stakes are high" in told
    assert "person" not in told
