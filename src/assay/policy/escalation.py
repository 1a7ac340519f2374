"""Escalation: when a person has to review an output, what the reviewer is given, and what happens past the deadline.

See docs/concepts.md#escalation. risk = stakes * (1 - confidence). Above theta_1 (`threshold`) the gate escalates;
theta_2 and theta_3 separate the tiers:

    async     theta_1 < risk <= theta_2
    sync      theta_2 < risk <= theta_3
    blocking  risk > theta_3, or a claim of critical severity where the policy sends such claims to a person

An output that is escalated for another reason (weak claims or unchecked text, where the policy escalates these) also
gets the tier of its risk, and `async` if the risk is below theta_1.

What the gate blocks stays blocked, whatever a reviewer decides. If the stakes are high or the severity of a claim is
critical, a senior reviewer still has to look at what happened (docs/adr/0038), in the tier `blocking`, unless the
policy turns the whole formula off.
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
    """The tier of docs/concepts.md#escalation; None if nobody is asked."""
    level: str
    """The label of the same tier (docs/concepts.md#escalation)."""
    reviewer: str
    """The role of the reviewer."""
    latency: str
    """How long the review may take."""
    wakes: bool
    """Whether a reviewer is notified in real time, rather than finding the item in a queue."""
    released: bool
    """Whether the output is released before a reviewer has decided: never where a review is required."""


TIERS: Final = (
    TierRow(None, "auto_approve", "nobody", "none", wakes=False, released=True),
    TierRow(Tier.ASYNC, "flag_for_review", "domain expert", "hours", wakes=False, released=False),
    TierRow(Tier.SYNC, "require_approval", "available reviewer", "minutes", wakes=True, released=False),
    TierRow(Tier.BLOCKING, "block", "senior authority", "immediate", wakes=True, released=False),
)
"""The tiers with their labels, the least urgent first."""

_ROWS: Final[Mapping[Tier, TierRow]] = MappingProxyType({row.tier: row for row in TIERS if row.tier is not None})
_ORDER: Final = (Tier.ASYNC, Tier.SYNC, Tier.BLOCKING)

MOST_SUGGESTIONS: Final = 50
"""The most suggestions in one package."""
_FLAGGED: Final = frozenset({ClaimStatus.REVISE, ClaimStatus.BLOCK, ClaimStatus.UNCHECKED})


def row_of(tier: Tier) -> TierRow:
    """The row of a tier.

    >>> row_of(Tier.SYNC).level
    'require_approval'
    """
    return _ROWS[tier]


def pressing(tier: Tier) -> int:
    """The urgency of a tier: 0 for `async`, 1 for `sync`, 2 for `blocking`."""
    return _ORDER.index(tier)


def tier_of_risk(rules: Escalation, risk: float) -> Tier:
    """The tier of a risk in [0, 1]; a risk below theta_1 has a tier too, for outputs escalated for another reason.

    >>> [tier_of_risk(Escalation(), risk).value for risk in (0.6, 0.61, 0.81)]
    ['async', 'sync', 'blocking']
    """
    if risk > max(rules.threshold, rules.blocking_threshold):
        return Tier.BLOCKING
    return Tier.SYNC if risk > max(rules.threshold, rules.sync_threshold) else Tier.ASYNC


def escalation_of(
    policy: Policy, decision: Decision, stakes: Stakes, confidence: float | None, claims: Sequence[ClaimReport] = ()
) -> Escalated | None:
    """The escalation of an output that the gate escalates or blocks; None if no review is required.

    >>> from assay.policy.presets import preset
    >>> held = Decision(action=Action.BLOCK, route="withhold", reasons=("The output is empty.",))
    >>> [escalation_of(preset("general"), held, stakes, 0.0) is not None for stakes in (Stakes.MEDIUM, Stakes.HIGH)]
    [False, True]

    Args:
        policy: the policy, with its thresholds.
        decision: the gate's decision.
        stakes: how much depends on the output.
        confidence: the overall score, in [0, 1]; none, where nothing was checked, counts as 0.
        claims: the claims, whose severity matters.
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
    """The report with the escalation of its present decision, for decisions that were changed after the check."""
    escalation = escalation_of(policy, report.decision, report.stakes, report.overall_score, report.claims)
    return report if escalation == report.escalation else report.model_copy(update={"escalation": escalation})


def minutes_of(rules: Escalation, tier: Tier) -> float:
    """How many minutes a reviewer has to decide in a tier."""
    return {Tier.ASYNC: rules.async_minutes, Tier.SYNC: rules.sync_minutes, Tier.BLOCKING: rules.blocking_minutes}[tier]


def deadline_of(rules: Escalation, tier: Tier, now: datetime) -> datetime:
    """The deadline for a decision on an item that enters a tier now.

    >>> from datetime import UTC
    >>> deadline_of(Escalation(), Tier.SYNC, datetime(2026, 3, 1, 12, tzinfo=UTC)).minute
    15
    """
    return now + timedelta(minutes=minutes_of(rules, tier))


@dataclass(frozen=True, slots=True)
class Overdue:
    """What happens to an item whose deadline has passed. No value releases it."""

    rejected: bool
    """Whether it is rejected; otherwise it keeps waiting."""
    tier: Tier
    """Its tier from then on."""
    minutes: float
    """The minutes until the next deadline."""


def overdue(rules: Escalation, tier: Tier) -> Overdue:
    """The policy's rule for an item whose deadline has passed.

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
    """Everything that a reviewer needs to decide on an output.

    Args:
        report: the report of the output.
        evidence: the evidence that it was checked against.
        context: why the output was made, and why it was escalated.
        tier: its present tier.
        deadline: when the review is due.
        weight: the weight of the stakes, in [0, 1].
        reasoning: the model's reasoning, where the run contains it.
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
    """The action that the findings suggest to the reviewer, and why; the reviewer decides.

    Never `approve` where a claim is contradicted, unsupported or unchecked.
    """
    verdicts = {claim.verdict for claim in report.claims}
    if Verdict.CONTRADICTED in verdicts:
        if any(one.after is not None for one in suggestions):
            return "edit", "The evidence says otherwise of a claim, and what it says can be put in its place."
        return "reject", "The evidence says otherwise of a claim."
    if not has_evidence:
        return "ask_evidence", "There is no evidence to hold the output against."
    if Verdict.UNCHECKED in verdicts or report.coverage.unchecked:
        return "ask_evidence", "Part of the output could not be checked."
    if Verdict.UNSUPPORTED in verdicts:
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
    """Replacements for wrong words: the evidence's own value where the check found one, otherwise only the passage."""
    for claim in report.claims:
        if claim.verdict not in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
            continue
        named = [issue for issue in claim.issues if issue.span is not None and issue.evidence is not None]
        yield from (_value_suggestion(one, claim) for one in claim.suggestions)
        for issue in named:
            span, passage = issue.span, issue.evidence
            if span is None or passage is None or any(_overlap(span, one.span) for one in claim.suggestions):
                continue
            # The check found no certain value for these words, so only the passage is shown.
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


def _value_suggestion(correction: Correction, claim: ClaimReport) -> Suggestion:
    """A correction found by the check, with the message of the finding that it rests on."""
    messages = (
        issue.message
        for issue in claim.issues
        if issue.code == correction.code and issue.span is not None and _overlap(issue.span, correction.span)
    )
    return Suggestion(
        span=correction.span,
        before=correction.before,
        after=correction.after,
        source="evidence",
        reason=next(messages, f"The evidence has “{correction.after}” in the place of “{correction.before}”."),
        evidence=correction.evidence,
    )


def _overlap(first: Span, second: Span) -> bool:
    return first.start < second.end and second.start < first.end


def _alternatives(report: HallucinationReport) -> Iterator[Alternative]:
    if report.revision is not None and report.revision.original != report.output:
        yield Alternative(kind="original", text=report.revision.original)
    if report.abstention is not None and report.abstention.response:
        yield Alternative(kind="abstention", text=report.abstention.response)
    if report.decision.response and report.action is not Action.EMIT:
        yield Alternative(kind="refusal", text=report.decision.response)


# The reviewer's decision

_UNAPPROVED: Final = (
    "This answer was withheld. The person who reviewed it did not approve it. Ask the person responsible for the "
    "subject."
)


def approved(report: HallucinationReport) -> HallucinationReport:
    """The report of an output that a reviewer releases although the gate did not emit it.

    The findings stay unchanged; only the decision is replaced.
    """
    decision = Decision(
        action=Action.EMIT, route=Route.SERVE_APPROVED, reasons=("A reviewer approved it.", *report.decision.reasons)
    )
    return _decided(report, decision)


def rejected(report: HallucinationReport, response: str | None = None) -> HallucinationReport:
    """The report of an output that a reviewer, or a deadline, rejected.

    Args:
        report: the report of the output.
        response: the text to give in its place; by default one that reveals no internals.
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
