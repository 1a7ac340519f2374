"""How soon a person has to look, what they are given, and what happens when they do not (docs/concepts.md#escalation).

risk = stakes * (1 - confidence). Above theta_1 (`threshold`) the gate escalates; theta_2 and theta_3 part the tiers:

    async     theta_1 < risk <= theta_2
    sync      theta_2 < risk <= theta_3
    blocking  risk > theta_3, or a claim of critical severity where the policy has that brought before a person

An output that is escalated for another reason (a policy that asks people about weak claims, about unchecked text) has
the tier of its risk too, and `async` where that is below theta_1.

What the gate blocks stays blocked, whatever people say of it. Where the stakes are high or the severity of a claim is
critical, somebody senior has to look at what happened all the same (docs/adr/0038): `blocking`, unless the policy has
the whole formula off.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from assay.policy.model import Escalation, Policy
from assay.policy.routes import Route, labels_for
from assay.schema import (
    Action,
    ClaimReport,
    ClaimStatus,
    Decision,
    Evidence,
    HallucinationReport,
    Span,
    Stakes,
    Verdict,
)
from assay.schema import Suggestion as Correction
from assay.schema.escalation import (
    Alternative,
    ConfidenceBreakdown,
    EscalationPackage,
    FlaggedClaim,
    Suggestion,
    TaskContext,
)
from assay.schema.report_parts import Escalated, Tier, decided


@dataclass(frozen=True, slots=True)
class TierRow:
    """One row of the table of tiers."""

    tier: Tier | None
    """The tier of docs/concepts.md#escalation; none where nobody is asked."""
    level: str
    """The label of the same tier (docs/concepts.md#escalation)."""
    reviewer: str
    """Who reviews."""
    latency: str
    """How long that may take."""
    wakes: bool
    """Whether somebody is notified in real time, rather than finding it in a queue."""
    released: bool
    """Whether the output goes out before anybody has decided. Nothing that a person has to look at goes out before."""


TIERS: Final = (
    TierRow(None, "auto_approve", "nobody", "none", wakes=False, released=True),
    TierRow(Tier.ASYNC, "flag_for_review", "domain expert", "hours", wakes=False, released=False),
    TierRow(Tier.SYNC, "require_approval", "available reviewer", "minutes", wakes=True, released=False),
    TierRow(Tier.BLOCKING, "block", "senior authority", "immediate", wakes=True, released=False),
)
"""The tiers beside their labels, the least pressing first."""

_ROWS: Final[Mapping[Tier, TierRow]] = MappingProxyType({row.tier: row for row in TIERS if row.tier is not None})
_ORDER: Final = (Tier.ASYNC, Tier.SYNC, Tier.BLOCKING)

MOST_SUGGESTIONS: Final = 50
"""Suggestions of one package."""
_FLAGGED: Final = frozenset({ClaimStatus.REVISE, ClaimStatus.BLOCK, ClaimStatus.UNCHECKED})


def row_of(tier: Tier) -> TierRow:
    """The row of a tier.

    >>> row_of(Tier.SYNC).level
    'require_approval'
    """
    return _ROWS[tier]


def pressing(tier: Tier) -> int:
    """How pressing a tier is: 0 for `async`, 2 for `blocking`."""
    return _ORDER.index(tier)


def tier_of_risk(rules: Escalation, risk: float) -> Tier:
    """The tier of a risk, in [0, 1]; one below theta_1 too, for what is escalated for another reason.

    >>> [tier_of_risk(Escalation(), risk).value for risk in (0.6, 0.61, 0.81)]
    ['async', 'sync', 'blocking']
    """
    if risk > max(rules.threshold, rules.blocking_threshold):
        return Tier.BLOCKING
    return Tier.SYNC if risk > max(rules.threshold, rules.sync_threshold) else Tier.ASYNC


def escalation_of(
    policy: Policy, decision: Decision, stakes: Stakes, confidence: float | None, claims: Sequence[ClaimReport] = ()
) -> Escalated | None:
    """How soon a person has to look, at what the gate escalates and at what it blocks; none where it asks for nobody.

    >>> from assay.policy.presets import preset
    >>> held = Decision(action=Action.BLOCK, route="withhold", reasons=("The output is empty.",))
    >>> [escalation_of(preset("general"), held, stakes, 0.0) is not None for stakes in (Stakes.MEDIUM, Stakes.HIGH)]
    [False, True]

    Args:
        policy: the thresholds.
        decision: what the gate decided.
        stakes: how much depends on the output.
        confidence: the overall score, in [0, 1]; none, where nothing was checked, counts as 0.
        claims: the claims, for their severity.
    """
    rules = policy.escalation
    critical = any(claim.severity is not None and claim.severity.score > policy.severity.critical for claim in claims)
    blocked = decision.action is Action.BLOCK
    if blocked and not (rules.enabled and (critical or stakes is Stakes.HIGH)):
        return None
    if not blocked and decision.action is not Action.ESCALATE:
        return None
    risk = rules.risk(stakes, confidence or 0.0)
    mandatory = blocked or (critical and policy.escalate_critical_severity)
    tier = Tier.BLOCKING if mandatory else tier_of_risk(rules, risk)
    return Escalated(
        tier=tier,
        level=row_of(tier).level,
        risk=risk,
        stakes_weight=rules.weight(stakes),
        confidence=confidence,
        minutes=minutes_of(rules, tier),
    )


def with_escalation(policy: Policy, report: HallucinationReport) -> HallucinationReport:
    """The report with the tier that its decision has now; for a decision that was made again."""
    found = escalation_of(policy, report.decision, report.stakes, report.overall_score, report.claims)
    return report if found == report.escalation else report.model_copy(update={"escalation": found})


def minutes_of(rules: Escalation, tier: Tier) -> float:
    """How many minutes a tier gives a person to decide."""
    return {Tier.ASYNC: rules.async_minutes, Tier.SYNC: rules.sync_minutes, Tier.BLOCKING: rules.blocking_minutes}[tier]


def deadline_of(rules: Escalation, tier: Tier, now: datetime) -> datetime:
    """When somebody must have decided on what comes to a tier now.

    >>> from datetime import UTC
    >>> deadline_of(Escalation(), Tier.SYNC, datetime(2026, 3, 1, 12, tzinfo=UTC)).minute
    15
    """
    return now + timedelta(minutes=minutes_of(rules, tier))


@dataclass(frozen=True, slots=True)
class Overdue:
    """What happens to an item whose deadline has passed. There is no value that lets it out."""

    rejected: bool
    """Whether it is rejected; else it goes on waiting."""
    tier: Tier
    """The tier that it has from then on."""
    minutes: float
    """Until the next deadline."""


def overdue(rules: Escalation, tier: Tier) -> Overdue:
    """What the policy says of an item whose deadline has passed.

    >>> overdue(Escalation(), Tier.SYNC).tier.value, overdue(Escalation(), Tier.BLOCKING).tier.value
    ('blocking', 'blocking')
    """
    rule = {
        Tier.ASYNC: rules.async_overdue,
        Tier.SYNC: rules.sync_overdue,
        Tier.BLOCKING: rules.blocking_overdue,
    }[tier]
    to = _ORDER[min(pressing(tier) + 1, len(_ORDER) - 1)] if rule == "next_tier" else tier
    return Overdue(rule == "reject", to, minutes_of(rules, to))


# The package


def package_of(
    report: HallucinationReport,
    evidence: Sequence[Evidence],
    context: TaskContext,
    *,
    tier: Tier,
    deadline: datetime | None,
    weight: float,
    reasoning: Sequence[str] = (),
) -> EscalationPackage:
    """All that a reviewer needs to decide on an output.

    Args:
        report: what was found.
        evidence: what it was checked against.
        context: why the output was made and what brought it here.
        tier: the tier that it has now.
        deadline: when the review is needed.
        weight: what the stakes count, in [0, 1].
        reasoning: what the model was thinking, where the run tells it.
    """
    suggestions = tuple(_suggestions(report))[:MOST_SUGGESTIONS]
    action, because = suggested_action(report, suggestions, has_evidence=any(item.text.strip() for item in evidence))
    risk = weight * (1 - (report.overall_score or 0.0))
    return EscalationPackage(
        output=report.output,
        flagged_claims=tuple(_flagged(report)),
        verification_report=report,
        evidence_used=tuple(evidence),
        confidence_breakdown=ConfidenceBreakdown(
            overall=report.overall_score,
            stakes=report.stakes,
            stakes_weight=weight,
            risk=risk,
            verdicts=dict(Counter(claim.verdict.value for claim in report.claims)),
            metrics=report.metrics,
            unchecked_characters=report.coverage.unchecked,
        ),
        suggested_corrections=suggestions,
        alternatives=tuple(_alternatives(report)),
        reasoning=tuple(reasoning),
        task_context=context,
        tier=tier,
        level=row_of(tier).level,
        risk=risk,
        deadline=deadline,
        suggested_action=action,
        suggested_because=because,
    )


def suggested_action(
    report: HallucinationReport, suggestions: Sequence[Suggestion], *, has_evidence: bool
) -> tuple[str, str]:
    """What the findings support, and why; a person decides.

    Never `approve` where a claim is contradicted, unsupported or unchecked.
    """
    found = {claim.verdict for claim in report.claims}
    if Verdict.CONTRADICTED in found:
        if any(one.after is not None for one in suggestions):
            return "edit", "The evidence says otherwise of a claim, and what it says can be put in its place."
        return "reject", "The evidence says otherwise of a claim."
    if not has_evidence:
        return "ask_evidence", "There is no evidence to hold the output against."
    if Verdict.UNCHECKED in found or report.coverage.unchecked:
        return "ask_evidence", "Part of the output could not be checked."
    if Verdict.UNSUPPORTED in found:
        return "edit", "A claim has no support: take it out, or ask for evidence of it."
    if any(claim.status in _FLAGGED for claim in report.claims) or report.issues:
        return "edit", "Something was found against the output, though its claims have support."
    if report.action is Action.BLOCK:
        return "reject", "The gate blocks the output, and nobody can release it as it is."
    return "approve", "No finding is against a claim; the output is here because of its stakes."


def _flagged(report: HallucinationReport) -> Iterator[FlaggedClaim]:
    for place, claim in enumerate(report.claims):
        if claim.status in _FLAGGED or claim.conflict:
            yield FlaggedClaim(
                claim=place,
                text=claim.text,
                span=claim.span,
                verdict=claim.verdict,
                critical=claim.critical,
                category=claim.category,
                severity=claim.severity.level if claim.severity else None,
                score=claim.score,
                issues=claim.issues,
                evidence=claim.evidence_spans,
            )


def _suggestions(report: HallucinationReport) -> Iterator[Suggestion]:
    """What may be put in the place of what: the evidence's own words where the finding names both, else the passage."""
    for claim in report.claims:
        if claim.verdict not in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
            continue
        named = [issue for issue in claim.issues if issue.span is not None and issue.evidence is not None]
        yield from (_value(one, claim) for one in claim.suggestions)
        for issue in named:
            span, passage = issue.span, issue.evidence
            if span is None or passage is None or any(_meet(span, one.span) for one in claim.suggestions):
                continue
            # The check gave no value for these words, so there is none that is sure: only the passage is shown.
            yield Suggestion(
                span=span,
                before=report.output[span.start : span.end],
                after=None,
                source="evidence",
                reason=issue.message,
                evidence=passage,
            )
        if not named:
            yield Suggestion(
                span=claim.span,
                before=report.output[claim.span.start : claim.span.end],
                after=None,
                source="evidence",
                reason="No evidence supports this: leave it out, or ask for evidence.",
                evidence=claim.evidence_spans[0] if claim.evidence_spans else None,
            )


def _value(found: Correction, claim: ClaimReport) -> Suggestion:
    """A correction that the check has found, with the sentence of the finding behind it."""
    value = (
        issue.message
        for issue in claim.issues
        if issue.code == found.code and issue.span is not None and _meet(issue.span, found.span)
    )
    return Suggestion(
        span=found.span,
        before=found.before,
        after=found.after,
        source="evidence",
        reason=next(value, f"The evidence has “{found.after}” in the place of “{found.before}”."),
        evidence=found.evidence,
    )


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _alternatives(report: HallucinationReport) -> Iterator[Alternative]:
    if report.revision is not None and report.revision.original != report.output:
        yield Alternative(kind="original", text=report.revision.original)
    if report.abstention is not None and report.abstention.response:
        yield Alternative(kind="abstention", text=report.abstention.response)
    if report.decision.response and report.action is not Action.EMIT:
        yield Alternative(kind="refusal", text=report.decision.response)


# What a person makes of it

_UNAPPROVED: Final = (
    "This answer was withheld. The person who reviewed it did not approve it. Ask the person responsible for the "
    "subject."
)


def approved(report: HallucinationReport) -> HallucinationReport:
    """The report of an output that a reviewer releases although the gate did not emit it.

    What was found stays as it was found; only the decision is another.
    """
    decision = Decision(
        action=Action.EMIT, route=Route.SERVE_APPROVED, reasons=("A reviewer approved it.", *report.decision.reasons)
    )
    return _decided(report, decision)


def rejected(report: HallucinationReport, response: str | None = None) -> HallucinationReport:
    """The report of an output that a reviewer, or a deadline, rejected.

    Args:
        report: what was found.
        response: what to say in its place; a text that names no internals by default.
    """
    decision = Decision(
        action=Action.BLOCK,
        route=Route.WITHHOLD,
        reasons=("A reviewer did not approve it.", *report.decision.reasons),
        response=response or _UNAPPROVED,
    )
    return _decided(report, decision)


def _decided(report: HallucinationReport, decision: Decision) -> HallucinationReport:
    return decided(
        report,
        {"decision": decision, "action": decision.action, "labels": labels_for(decision), "escalation": None},
    )
