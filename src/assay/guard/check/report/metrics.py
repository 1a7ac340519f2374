"""The metrics of one output, from the reports on its claims and citations."""

from collections.abc import Sequence

from assay.policy import Policy, claim_weight
from assay.schema import CitationReport, ClaimReport, Coverage, Metric, Stakes, Verdict
from assay.stats import metrics as formulas

OVER_CLAIMS = (
    "faithfulness",
    "weighted_faithfulness",
    "groundedness",
    "factscore",
    "hallucination_rate",
    "answer_support",
)
"""The metrics over claims."""


def metrics_of(
    claims: Sequence[ClaimReport],
    citations: Sequence[CitationReport],
    coverage: Coverage,
    policy: Policy,
    stakes: Stakes,
    *,
    unread: int = 0,
    self_consistency: Metric | None = None,
    accurate: Sequence[bool] | None = None,
) -> dict[str, Metric]:
    """Every metric of the report, each with a value or with the reason why it has none.

    Claims that could not be checked, and text from which no claims were extracted, leave all metrics over claims and
    the composite undefined: a mean over the rest would look better than what is known. Entries of a reference list that
    no statement refers to are not cited claims, and count in no metric of attribution.

    Args:
        claims: every claim of the output.
        citations: every citation of the output.
        coverage: how much of the output was checked.
        policy: the policy with the threshold of groundedness and the weights.
        stakes: how much depends on the output.
        unread: how many characters of the output lie beyond the limit.
        self_consistency: how far the model agrees with itself; None if it was not asked.
        accurate: whether each claim is right that a source of knowledge decided; None if no source was asked.
    """
    checkable = [claim for claim in claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    values = _over_claims([claim for claim in checkable if claim.score is not None], policy, stakes)
    cited = [c for c in citations if c.claim is not None or c.status != "verified"]
    values |= formulas.attribution_precision(
        [c.exists for c in cited], [c.text_matches for c in cited], [c.entails for c in cited]
    )
    values["self_consistency"] = self_consistency or Metric(undefined="no claim was probed")
    values["factual_accuracy_rate"] = _accuracy(accurate)
    values["coverage_rate"] = formulas.coverage_rate(coverage.checked, coverage.unchecked)
    values["composite_hallucination_score"] = formulas.composite_hallucination_score(
        values, policy.metric_weights.as_mapping()
    )
    open_claims = sum(claim.score is None for claim in checkable)
    if unread or open_claims:
        reason = (
            f"{unread:,} characters of the output lie beyond the limit and were not read"
            if unread
            else f"{open_claims} of {len(checkable)} claims could not be checked"
        )
        values |= {name: Metric(undefined=reason) for name in (*OVER_CLAIMS, "composite_hallucination_score")}
    return values


def _accuracy(accurate: Sequence[bool] | None) -> Metric:
    """The factual accuracy rate over the claims that a source of knowledge decided."""
    if accurate is None:
        return Metric(undefined="no authoritative reference was given to compare with")
    if not accurate:
        return Metric(undefined="no source of knowledge had a word on any claim")
    return formulas.factual_accuracy_rate(accurate)


def _weight(claim: ClaimReport, policy: Policy, stakes: Stakes) -> float:
    """The weight of a claim in weighted faithfulness, in [0, 1]."""
    return claim_weight(
        policy,
        kind=claim.kind,
        critical_reasons=claim.critical_reasons,
        stakes=stakes,
        hedge=claim.hedge,
        has_specifics=claim.critical,
    )


def _over_claims(checked: Sequence[ClaimReport], policy: Policy, stakes: Stakes) -> dict[str, Metric]:
    """The metrics named in `OVER_CLAIMS`, over the claims that have a score."""
    scores = [claim.score for claim in checked if claim.score is not None]
    weights = [_weight(claim, policy, stakes) for claim in checked]
    supported = [claim.verdict is Verdict.SUPPORTED for claim in checked]
    # A claim that one source supports and another contradicts is not grounded: contradiction comes before support.
    grounded = [0.0 if c.verdict is Verdict.CONTRADICTED else c.score for c in checked if c.score is not None]
    values = (
        formulas.faithfulness(scores),
        formulas.weighted_faithfulness(scores, weights),
        formulas.groundedness(grounded, policy.support_threshold),
        formulas.factscore(supported),
        formulas.hallucination_rate([not flag for flag in supported]),
        formulas.answer_support(scores),
    )
    return dict(zip(OVER_CLAIMS, values, strict=True))
