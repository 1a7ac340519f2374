"""The logic of an output within its check: findings as issues on the claims that they concern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.guard.check.verdicts import Judged
from assay.models import PairScorer
from assay.policy import Policy, is_logic_fault
from assay.schema import ExtractedClaim, Issue, Span, Verdict

_ARITHMETIC = {"logic.arithmetic": "arithmetic.", "logic.date": "date.order", "logic.order": "date.order"}
"""Codes of the exact tier that say the same of the same words."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What was found of the reasoning of one output."""

    at_claim: Mapping[int, tuple[Issue, ...]] = field(default_factory=dict)
    """By the claim's place among the claims."""
    loose: tuple[Issue, ...] = ()
    """What concerns no claim."""
    notes: tuple[str, ...] = ()
    """What could not be looked at."""

    @property
    def loose_faults(self) -> int:
        """Faults that concern no claim."""
        return sum(map(is_logic_fault, self.loose))


def reasoning_of(
    text: str,
    claims: Sequence[ExtractedClaim],
    judged: Mapping[int, Judged],
    policy: Policy,
    scorer: PairScorer,
    evidence: Sequence[str] = (),
) -> Reasoning:
    """Audit the logic of an output as far as its policy asks for it.

    Args:
        text: the output, as far as it was read.
        claims: all that it claims.
        judged: what was found of each checkable claim, by its place.
        policy: says how much is looked at.
        scorer: the network, asked where the policy has the whole audit.
        evidence: the texts whose rules are premises of what the output concludes.
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
    """The checkable claim that most of a place lies in."""
    shared = [
        (min(place.end, claim.span.end) - max(place.start, claim.span.start), -at)
        for at, claim in enumerate(claims)
        if claim.checkable
    ]
    most, at = max(shared, default=(0, 0))
    return -at if most > 0 else None


def _said_already(issue: Issue, judged: Judged | None) -> bool:
    """Whether the exact tier has the same finding against a claim that fails."""
    same = _ARITHMETIC.get(issue.code)
    if same is None or judged is None or judged.verdict is Verdict.SUPPORTED:
        return False
    return any(finding.code.startswith(same) for finding in judged.exact.findings)
