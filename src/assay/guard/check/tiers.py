"""The verifier of three tiers: words and numbers by rules, meaning by a network, and what weighs the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.guard.check.evidence_index import Limits, PreparedEvidence, prepare
from assay.guard.check.verdicts import Job, Judged, Thresholds, judge_jobs
from assay.guard.parts import GuardParts
from assay.models import PairScorer
from assay.retrieve import IndexCache
from assay.schema import Evidence
from assay.verify.network import Combination


@dataclass(frozen=True, slots=True)
class Tiers:
    """Makes evidence ready, and says of claims whether it supports or contradicts them."""

    scorer: PairScorer
    combination: Combination
    thresholds: Thresholds
    windows: int | None
    """How many windows of evidence the network reads for each claim; None for all."""
    limits: Limits
    locale: str
    indices: IndexCache

    def prepare(self, evidence: Sequence[Evidence]) -> PreparedEvidence:
        """Evidence sorted, limited and indexed."""
        return prepare(evidence, self.scorer, self.indices, self.limits, self.locale)

    def judge(self, jobs: Sequence[Job]) -> list[Judged]:
        """What is found of each job, in one call of the network."""
        return judge_jobs(jobs, self.scorer, self.combination, self.thresholds, self.windows)

    def judge_beside(self, claims: Sequence[tuple[str, tuple[Evidence, ...]]]) -> list[Judged]:
        """What is found of claims, each beside its own evidence."""
        return self.judge([Job(claim, self.prepare(evidence)) for claim, evidence in claims])

    def uncorrected(self) -> Tiers:
        """The tiers with verdicts by the share of supported claims in use, and scores at that of labelled rows."""
        return replace(self, thresholds=replace(self.thresholds, corrects=False))

    def at_fitted_prior(self) -> Tiers:
        """The tiers without any correction to the share of supported claims in use."""
        return replace(self, thresholds=replace(self.thresholds, prior=None))


def tiers_of(parts: GuardParts) -> Tiers:
    """The tiers that a guard judges with."""
    policy = parts.policy
    return Tiers(
        scorer=parts.scorer,
        combination=parts.combination,
        thresholds=Thresholds(policy.support_threshold, policy.contradiction_threshold, prior=policy.prior),
        windows=policy.windows_per_claim,
        limits=parts.limits,
        locale=parts.locale,
        indices=parts.caches.indices,
    )
