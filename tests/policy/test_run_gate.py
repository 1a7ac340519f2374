"""A run that cannot be taken as it stands is never emitted; what nobody revises is answered by a template."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.policy import PRESETS, ClaimSignal, GateInput, decide, escalated, fallback_response, permissiveness
from assay.schema import (
    Action,
    ClaimKind,
    ClaimReport,
    ClaimStatus,
    Coverage,
    Decision,
    HallucinationReport,
    Identity,
    Labels,
    Retrieval,
    Span,
    Stakes,
    Timing,
    Verdict,
)


def gate(**other: Any) -> GateInput:
    fields: dict[str, Any] = {
        "claims": (ClaimSignal(0.99, Verdict.SUPPORTED, critical=False, severity=None),),
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


@pytest.mark.parametrize("policy", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("task", ["qa", "creative"])
def test_a_fault_of_the_run_is_never_emitted_and_is_named(policy: Any, task: str) -> None:
    clean, _ = decide(policy, gate(task=task))
    faulty, _ = decide(policy, gate(task=task, run_faults=("It has not ended.",)))
    assert clean.action is Action.EMIT
    assert faulty.action is not Action.EMIT
    assert "It has not ended." in faulty.reasons


@given(
    st.sampled_from(sorted(PRESETS)), st.lists(st.text(max_size=9), max_size=3), st.integers(0, 3), st.integers(0, 2)
)
def test_one_more_fault_never_loosens_a_decision(name: str, faults: list[str], rejected: int, diverged: int) -> None:
    less = gate(run_faults=tuple(faults), rejected_tool_calls=rejected, diverged_probes=diverged)
    more = gate(run_faults=(*faults, "more"), rejected_tool_calls=rejected + 1, diverged_probes=diverged + 1)
    actions = [decide(PRESETS[name], asked)[0].action for asked in (more, less)]
    assert permissiveness(actions[0]) <= permissiveness(actions[1])


@pytest.mark.parametrize("action", [Action.EMIT, Action.ESCALATE, Action.BLOCK])
def test_only_what_would_be_revised_is_escalated(action: Action) -> None:
    decision = Decision(action=action, route="x", reasons=("why",))
    assert escalated(decision, "No.") is decision


def test_what_may_be_served_with_a_disclosure_is_not_escalated() -> None:
    decision = Decision(action=Action.REVISE, route="serve_with_disclosure", reasons=("why",), response="Note.")
    assert escalated(decision, "No.") is decision


def report(decision: Decision, *verdicts: Verdict, output: str = "Text.") -> HallucinationReport:
    identity = Identity(name="x", digest="x")
    claims = tuple(
        ClaimReport(
            text="Text.",
            span=Span(start=0, end=5),
            kind=ClaimKind.FACTUAL,
            critical=False,
            verdict=verdict,
            status=ClaimStatus.REVISE,
        )
        for verdict in verdicts
    )
    return HallucinationReport(
        run_id="r",
        output=output,
        claims=claims,
        retrieval=Retrieval(evidence=0, windows=0, pairs=0, pairs_possible=0),
        coverage=Coverage(characters=len(output), checked=len(output), not_checkable=0, unchecked=0),
        action=decision.action,
        decision=decision,
        policy=identity,
        verifier=identity,
        timing=Timing(total_ms=0),
        labels=Labels(verdict="FAIL", abstention="ABSTAIN", routing="WITHHOLD", escalation="block"),
    )


REVISE = Decision(action=Action.REVISE, route="revise", reasons=("why",))


def test_the_answer_instead_is_that_of_the_decision_where_it_has_one() -> None:
    decision = Decision(action=Action.BLOCK, route="withhold", reasons=("why",), response="This was withheld.")
    assert fallback_response(report(decision)) == "This was withheld."


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        (Verdict.CONTRADICTED, "does not agree with the available documents"),
        (Verdict.UNSUPPORTED, "do not support an important part"),
        (Verdict.UNCHECKED, "Not all of it could be checked"),
    ],
)
def test_each_reason_has_a_deliberate_answer(verdict: Verdict, words: str) -> None:
    assert words in fallback_response(report(REVISE, verdict))


def test_no_answer_instead_is_empty() -> None:
    assert fallback_response(report(REVISE)).startswith("This answer was withheld. ")
    assert "No answer was produced" in fallback_response(report(REVISE, output=" "))
