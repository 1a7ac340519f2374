"""The metrics of one output, from what its report says of claims and citations."""

from collections.abc import Sequence

from assay.policy import Policy, claim_weight
from assay.schema import CitationReport, ClaimReport, Metric, Stakes, Verdict
from assay.stats import metrics as formulas


def metrics_of(
    claims: Sequence[ClaimReport],
    citations: Sequence[CitationReport],
    policy: Policy,
    stakes: Stakes,
    *,
    unread: int = 0,
) -> dict[str, Metric]:
    """Every metric that the report can have, each with a value or with the reason why it has none.

    Claims that could not be checked, and text of which no claims were extracted, leave all metrics over claims
    undefined: a mean over the rest would look better than what is known.

    Args:
        claims: every claim of the output.
        citations: every citation of the output.
        policy: gives the threshold of groundedness and the weights.
        stakes: how much hangs on the output.
        unread: characters of the output beyond the limit.
    """
    checkable = [claim for claim in claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    checked = [claim for claim in checkable if claim.score is not None]
    scores = [claim.score for claim in checked if claim.score is not None]
    weights = [
        claim_weight(
            policy,
            kind=c.kind,
            critical_reasons=c.critical_reasons,
            stakes=stakes,
            hedge=c.hedge,
            has_specifics=c.critical,
        )
        for c in checked
    ]
    supported = [claim.verdict is Verdict.SUPPORTED for claim in checked]
    values = {
        "faithfulness": formulas.faithfulness(scores),
        "weighted_faithfulness": formulas.weighted_faithfulness(scores, weights),
        "groundedness": formulas.groundedness(scores, policy.support_threshold),
        "factscore": formulas.factscore(supported),
        "hallucination_rate": formulas.hallucination_rate([not flag for flag in supported]),
    }
    open_claims = len(checkable) - len(checked)
    if unread:
        reason = f"{unread:,} characters of the output lie beyond the limit and were not read"
        values = {name: Metric(undefined=reason) for name in values}
    elif open_claims:
        reason = f"{open_claims} of {len(checkable)} claims could not be checked"
        values = {name: Metric(undefined=reason) for name in values}
    values |= formulas.attribution_precision(
        [c.exists for c in citations], [c.text_matches for c in citations], [c.entails for c in citations]
    )
    values["self_consistency"] = Metric(undefined="no claim was probed")
    values["factual_accuracy_rate"] = Metric(undefined="no authoritative reference was given to compare with")
    values["composite_hallucination_score"] = formulas.composite_hallucination_score(
        values, policy.metric_weights.as_mapping()
    )
    return values
