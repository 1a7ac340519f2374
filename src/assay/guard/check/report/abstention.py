"""Abstention as a part of the decision, if the policy has fitted thresholds of confidence for it."""

from collections.abc import Sequence
from datetime import date

from assay.policy import Abstaining, concerns, labels_for, with_answering
from assay.rewrite.answers import Limits, assess
from assay.schema import Evidence, HallucinationReport
from assay.schema.report_parts import decided
from assay.stats import ConfidenceModel


def limits_from(settings: Abstaining) -> Limits:
    """The thresholds of a policy, in the form that the decision takes."""
    return Limits(
        high=settings.high,
        low=settings.low,
        claim=settings.claim,
        groundedness=settings.groundedness,
        coverage=settings.coverage,
        entropy=settings.entropy,
        agreement=settings.agreement,
        domain=settings.domain,
        staleness_days=settings.staleness_days,
    )


def model_from(settings: Abstaining) -> ConfidenceModel:
    """The confidence model of a policy: its weights and its curve."""
    weights = tuple(settings.weights.model_dump().items())
    return ConfidenceModel(weights, settings.slope, settings.intercept, settings.rows)


def with_abstention(
    report: HallucinationReport,
    settings: Abstaining,
    evidence: Sequence[Evidence],
    *,
    today: date | None = None,
    entropy: float | None = None,
) -> HallucinationReport:
    """The report with the decision whether to answer at all, which never makes its action more permissive.

    An output that the gate does not release, or that claims nothing, is left as it is: there is nothing to decide.

    Args:
        report: the report on the output.
        settings: the abstention settings of the policy.
        evidence: the evidence that the output was checked against.
        today: the day on which the output is to hold; without it evidence is never stale.
        entropy: the entropy of the output's tokens, if known.
    """
    if not concerns(report.decision):
        return report
    made = assess(
        report,
        evidence,
        limits=limits_from(settings),
        model=model_from(settings),
        entropy=entropy,
        today=today,
        domain=settings.scope or None,
    )
    decision = with_answering(report.decision, made, report.untold)
    return decided(
        report,
        {"abstention": made, "decision": decision, "action": decision.action, "labels": labels_for(decision)},
    )
