"""The audit of an output's own logic within its check: its findings become issues of the claims that they concern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.guard.check.verdicts import Judged
from assay.models import PairScorer
from assay.policy import Policy, is_logic_fault
from assay.schema import ExtractedClaim, Issue, Span, Verdict

_ARITHMETIC = {"logic.arithmetic": "arithmetic.", "logic.date": "date.order", "logic.order": "date.order"}
"""Codes of the exact tier for the same faults."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The findings about the reasoning of one output."""

    at_claim: Mapping[int, tuple[Issue, ...]] = field(default_factory=dict)
    """The issues of a claim, by its place among the claims."""
    loose: tuple[Issue, ...] = ()
    """The issues that concern no claim."""
    notes: tuple[str, ...] = ()
    """What could not be audited."""

    @property
    def loose_faults(self) -> int:
        """The number of faults that concern no claim."""
        return sum(map(is_logic_fault, self.loose))


def reasoning_of(
    text: str,
    claims: Sequence[ExtractedClaim],
    judged: Mapping[int, Judged],
    policy: Policy,
    scorer: PairScorer,
    evidence: Sequence[str] = (),
) -> Reasoning:
    """Audits the logic of an output as far as the policy requires.

    Args:
        text: the output, as far as it was read.
        claims: all its claims.
        judged: the judgement of each checkable claim, by its place.
        policy: determines the extent of the audit.
        scorer: the network, used for the full audit.
        evidence: texts whose rules may be premises of the output's conclusions.
    """
    if policy.logic == "off" or not text:
        return Reasoning()
    from assay.verify.logic import audit_logic, issue_of

    whole = policy.logic == "full"
    supported = [
        (claims[at].span.start, claims[at].span.end)
        for at, found in judged.items()
        if found.verdict is Verdict.SUPPORTED
    ]
    audit = audit_logic(text, scorer if whole else None, claims=claims, supported=supported, evidence=evidence)
    at_claim: dict[int, tuple[Issue, ...]] = {}
    loose: list[Issue] = []
    for finding in audit.findings:
        at = _claim_at(finding.span, claims)
        issue = issue_of(finding)
        if at is None:
            loose.append(issue)
        elif not _said_already(issue, judged.get(at)):
            at_claim[at] = (*at_claim.get(at, ()), issue)
    return Reasoning(at_claim, tuple(loose), audit.unchecked if whole else ())


def _claim_at(place: Span, claims: Sequence[ExtractedClaim]) -> int | None:
    """The place of the checkable claim that contains most of a span; None if no claim overlaps it."""
    shared = [
        (min(place.end, claim.span.end) - max(place.start, claim.span.start), -at)
        for at, claim in enumerate(claims)
        if claim.checkable
    ]
    most, at = max(shared, default=(0, 0))
    return -at if most > 0 else None


def _said_already(issue: Issue, judged: Judged | None) -> bool:
    """Whether the exact tier already reports the same fault for a failing claim."""
    same = _ARITHMETIC.get(issue.code)
    if same is None or judged is None or judged.verdict is Verdict.SUPPORTED:
        return False
    return any(finding.code.startswith(same) for finding in judged.exact.findings)
