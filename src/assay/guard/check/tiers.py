"""The tiers of the verifier: rules for words and numbers, a network for meaning, and a model that combines the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assay.guard.check.evidence_index import Limits, PreparedEvidence, prepare
from assay.guard.check.verdicts import Job, Judged, JudgingModels, Thresholds, judge_jobs
from assay.guard.parts import GuardParts
from assay.retrieve import IndexCache
from assay.schema import Evidence


@dataclass(frozen=True, slots=True)
class Tiers:
    """Prepares evidence, and judges whether it supports or contradicts claims."""

    models: JudgingModels
    thresholds: Thresholds
    windows: int | None
    """How many windows of evidence the network reads for each claim; None for all."""
    limits: Limits
    locale: str
    indices: IndexCache

    def prepare(self, evidence: Sequence[Evidence]) -> PreparedEvidence:
        """Evidence sorted, limited and indexed."""
        return prepare(evidence, self.models.scorer, self.indices, self.limits, self.locale)

    def judge(self, jobs: Sequence[Job]) -> list[Judged]:
        """The judgement of each job, with one call of the network for all of them."""
        return judge_jobs(jobs, self.models, self.thresholds, self.windows)

    def judge_beside(self, claims: Sequence[tuple[str, tuple[Evidence, ...]]]) -> list[Judged]:
        """The judgement of each claim by its own evidence."""
        return self.judge([Job(claim, self.prepare(evidence)) for claim, evidence in claims])

    def uncorrected(self) -> Tiers:
        """The tiers with verdicts corrected to the share of supported claims in use, but with uncorrected scores."""
        return replace(self, thresholds=replace(self.thresholds, corrects=False))

    def at_fitted_prior(self) -> Tiers:
        """The tiers without any correction to the share of supported claims in use."""
        return replace(self, thresholds=replace(self.thresholds, prior=None))


def tiers_of(parts: GuardParts) -> Tiers:
    """The tiers that a guard judges with."""
    policy = parts.policy
    return Tiers(
        models=JudgingModels(parts.scorer, parts.conflicts, parts.combination),
        thresholds=Thresholds(policy.support_threshold, policy.contradiction_threshold, prior=policy.prior),
        windows=policy.windows_per_claim,
        limits=parts.limits,
        locale=parts.locale,
        indices=parts.caches.indices,
    )
