"""Root causes of the findings of a check, as a part of its report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from assay.schema import Evidence, HallucinationReport, Verdict

_FAILING = (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)


def with_causes(report: HallucinationReport, evidence: Sequence[Evidence], as_of: date | None) -> HallucinationReport:
    """The report with the likely causes of its findings, and with issues about expired evidence.

    Args:
        report: the report without causes.
        evidence: the evidence that the claims were checked against, in the order in which it was given.
        as_of: the day on which the answer is to hold.
    """
    structural = any(issue.code.startswith("structure.") for issue in report.issues)
    failing = structural or any(claim.verdict in _FAILING for claim in report.claims)
    if not failing and as_of is None:
        return report
    from assay.verify.causes import Circumstances, attribute, expired_issues
    from assay.verify.consistency import diverged

    circumstances = Circumstances(
        evidence,
        report.question,
        as_of,
        frozenset(report.generation.left_out if report.generation else ()),
        frozenset(probe.claim for probe in report.consistency_probes if diverged(probe)),
    )
    claims = report.claims
    if as_of is not None:
        expired = [expired_issues(claim, circumstances) for claim in claims]
        claims = tuple(
            claim.model_copy(update={"issues": (*claim.issues, *issues)}) if issues else claim
            for claim, issues in zip(claims, expired, strict=True)
        )
    causes = attribute(claims, report.issues, report.output, circumstances)
    return report.model_copy(update={"claims": claims, "causes": causes})
