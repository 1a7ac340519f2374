"""How soon a person has to look, and what they are given."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.reviewing import held

from assay.errors import PolicyError
from assay.guard import Guard
from assay.policy import Escalation, Policy, parse_policy, preset
from assay.policy.escalation import (
    TIERS,
    approved,
    deadline_of,
    escalation_of,
    minutes_of,
    overdue,
    package_of,
    pressing,
    rejected,
    row_of,
    tier_of_risk,
)
from assay.schema import Action, ClaimReport, Decision, Evidence, Stakes, Verdict
from assay.schema.escalation import TaskContext
from assay.schema.report_parts.tier import Tier
from assay.testing import FakeScorer

ASKS = Decision(action=Action.ESCALATE, route="review", reasons=("A person decides.",))
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
risks = st.floats(0, 1)

ROWS = {
    None: ("auto_approve", "nobody", "none", False, True),
    "async": ("flag_for_review", "domain expert", "hours", False, False),
    "sync": ("require_approval", "available reviewer", "minutes", True, False),
    "blocking": ("block", "senior authority", "immediate", True, False),
}


@pytest.mark.parametrize("row", TIERS, ids=lambda row: str(row.tier))
def test_every_row_of_the_table(row: object) -> None:
    tier = getattr(row, "tier", None)
    told = tuple(getattr(row, name) for name in ("level", "reviewer", "latency", "wakes", "released"))
    assert told == ROWS[None if tier is None else tier.value]


def test_the_table_has_every_tier_once_and_lets_nothing_out_that_waits() -> None:
    assert [row.tier for row in TIERS] == [None, *Tier]
    assert len({row.level for row in TIERS}) == len(TIERS)
    assert all(row.released == (row.tier is None) for row in TIERS)


@given(one=risks, other=risks)
def test_a_greater_risk_is_never_less_pressing(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert pressing(tier_of_risk(Escalation(), low)) <= pressing(tier_of_risk(Escalation(), high))


@given(risk=risks, theta=st.tuples(risks, risks, risks))
def test_the_bands_are_those_of_the_seed(risk: float, theta: tuple[float, float, float]) -> None:
    first, second, third = sorted(theta)
    rules = Escalation(threshold=first, sync_threshold=second, blocking_threshold=third)
    tier = tier_of_risk(rules, risk)
    if risk > third:
        assert tier is Tier.BLOCKING
    elif risk > second:
        assert tier is Tier.SYNC
    else:
        assert tier is Tier.ASYNC


@given(stakes=st.sampled_from(Stakes), confidence=st.none() | risks)
def test_what_is_escalated_has_a_tier_and_nothing_else_has(stakes: Stakes, confidence: float | None) -> None:
    policy = preset("general")
    told = escalation_of(policy, ASKS, stakes, confidence)
    assert told is not None
    assert told.risk == pytest.approx(policy.escalation.weight(stakes) * (1 - (confidence or 0.0)))
    assert (told.level, told.minutes) == (row_of(told.tier).level, minutes_of(policy.escalation, told.tier))
    for action in (Action.EMIT, Action.REVISE):
        assert escalation_of(policy, ASKS.model_copy(update={"action": action}), stakes, confidence) is None
    blocked = escalation_of(policy, ASKS.model_copy(update={"action": Action.BLOCK}), stakes, confidence)
    assert (blocked is not None and blocked.tier is Tier.BLOCKING) == (stakes is Stakes.HIGH)


def _grave() -> ClaimReport:
    from assay.policy import severity

    claim = held().report.claims[0]
    grave = severity(
        preset("high-stakes"),
        verdict=Verdict.UNSUPPORTED,
        kind=claim.kind,
        critical_reasons=("number",),
        stakes=Stakes.HIGH,
        hedge=0,
        contradiction=None,
        has_specifics=True,
        feeds_action=True,
    )
    return claim.model_copy(update={"severity": grave.model_copy(update={"score": 0.95})})


@pytest.mark.parametrize("stakes", list(Stakes))
@pytest.mark.parametrize("name", ["general", "rag", "support-desk", "high-stakes"])
def test_what_is_blocked_with_a_claim_of_critical_severity_is_seen_by_somebody_senior(
    name: str, stakes: Stakes
) -> None:
    told = escalation_of(preset(name), ASKS.model_copy(update={"action": Action.BLOCK}), stakes, 0.9, [_grave()])
    assert told is not None
    assert told.tier is Tier.BLOCKING


@pytest.mark.parametrize("name", ["monitor", "creative"])
def test_a_policy_without_the_formula_asks_nobody_about_what_it_blocks(name: str) -> None:
    decision = ASKS.model_copy(update={"action": Action.BLOCK})
    assert escalation_of(preset(name), decision, Stakes.HIGH, 0.0, [_grave()]) is None


def test_a_claim_of_critical_severity_is_for_senior_people_where_the_policy_says_so() -> None:
    worst = _grave()
    told = escalation_of(preset("high-stakes"), ASKS, Stakes.LOW, 0.9, [worst])
    assert told is not None
    assert told.tier is Tier.BLOCKING
    told = escalation_of(preset("general"), ASKS, Stakes.LOW, 0.9, [worst])
    assert told is not None
    assert told.tier is Tier.ASYNC


def test_deadlines_come_from_the_policy() -> None:
    rules = Escalation(async_minutes=90.0)
    assert deadline_of(rules, Tier.ASYNC, NOW) - NOW == timedelta(minutes=90)
    policy = parse_policy("version: 1\npolicy: {escalation: {sync_minutes: 3, sync_overdue: reject}}", "assay.yaml")
    assert (policy.escalation.sync_minutes, policy.escalation.sync_overdue) == (3, "reject")


@pytest.mark.parametrize(
    "setting", ["sync_minutes: 0", "blocking_overdue: next_tier", "async_overdue: emit", "sync_threshold: 0.9"]
)
def test_what_makes_no_sense_is_refused(setting: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(f"version: 1\npolicy: {{escalation: {{{setting}}}}}", "assay.yaml")


@given(tier=st.sampled_from(Tier), rule=st.sampled_from(["next_tier", "reject", "wait"]))
def test_a_passed_deadline_never_makes_an_item_less_pressing(tier: Tier, rule: str) -> None:
    last = "wait" if rule == "next_tier" else rule
    rules = Escalation.model_validate({"async_overdue": rule, "sync_overdue": rule, "blocking_overdue": last})
    found = overdue(rules, tier)
    assert pressing(found.tier) >= pressing(tier)
    assert found.rejected == (rule == "reject")
    assert found.minutes == minutes_of(rules, found.tier)


def test_the_digest_of_a_policy_is_that_of_the_policy_read_back() -> None:
    for name in ("general", "rag", "support-desk", "high-stakes"):
        policy = preset(name)
        assert Policy.model_validate_json(policy.model_dump_json()).digest == policy.digest


def context(record: object = None) -> TaskContext:
    return TaskContext(
        task="qa", kind="check", run_id="run-1", stakes=Stakes.HIGH, policy="general", reasons=("Why.",), created=NOW
    )


def test_a_package_has_all_that_the_seed_asks_for() -> None:
    report = held().report
    package = package_of(
        report,
        (Evidence(id="a", text="Partners get 2 weeks."),),
        context(),
        tier=Tier.SYNC,
        deadline=NOW,
        weight=1.0,
        reasoning=("Hm.",),
    )
    assert (package.output, package.verification_report, package.deadline) == (report.output, report, NOW)
    assert [claim.claim for claim in package.flagged_claims] == [0]
    assert package.confidence_breakdown.risk == package.risk == pytest.approx(0.7)
    assert package.suggested_corrections[0].before == report.output
    assert package.reasoning == ("Hm.",)
    assert package.suggested_action == "edit"


@given(
    verdicts=st.lists(st.sampled_from(list(Verdict)), min_size=1, max_size=4),
    evidence=st.booleans(),
)
def test_what_does_not_hold_is_never_suggested_for_approval(verdicts: list[Verdict], evidence: bool) -> None:
    report = held().report
    claims = tuple(report.claims[0].model_copy(update={"verdict": one}) for one in verdicts)
    given_ = (Evidence(id="a", text="Partners get 2 weeks."),) if evidence else ()
    package = package_of(
        report.model_copy(update={"claims": claims}), given_, context(), tier=Tier.ASYNC, deadline=None, weight=0.5
    )
    if set(verdicts) & {Verdict.CONTRADICTED, Verdict.UNSUPPORTED, Verdict.UNCHECKED}:
        assert package.suggested_action != "approve"


def test_a_reviewer_is_offered_the_values_that_the_check_is_sure_of_and_no_others() -> None:
    evidence = [Evidence(id="a", text="The door costs 7 euros.")]
    report = Guard("general", scorer=FakeScorer()).check("The door costs 5 euros.", evidence)
    (sure,) = report.claims[0].suggestions
    package = package_of(report, evidence, context(), tier=Tier.SYNC, deadline=NOW, weight=1.0)
    (offered,) = package.suggested_corrections
    assert (offered.span, offered.before, offered.after) == (sure.span, "5", "7")
    assert (offered.source, offered.evidence) == ("evidence", sure.evidence)
    assert offered.reason in {issue.message for issue in report.claims[0].issues}
    assert package.suggested_action == "edit"
    unsure = report.model_copy(update={"claims": (report.claims[0].model_copy(update={"suggestions": ()}),)})
    package = package_of(unsure, evidence, context(), tier=Tier.SYNC, deadline=NOW, weight=1.0)
    assert {one.after for one in package.suggested_corrections} == {None}
    assert package.suggested_corrections[0].evidence is not None
    assert package.suggested_action == "reject"


def test_what_a_person_decides_changes_the_decision_alone() -> None:
    report = held().report
    let_out, kept = approved(report), rejected(report, "Ask the office.")
    assert (let_out.action, let_out.labels.verdict, let_out.escalation) == (Action.EMIT, "PASS", None)
    assert (kept.action, kept.decision.response, kept.labels.escalation) == (Action.BLOCK, "Ask the office.", "block")
    for made in (let_out, kept):
        assert (made.claims, made.output, made.overall_score) == (report.claims, report.output, report.overall_score)
