"""The metrics of a report that both cadences observe."""

from typing import Final

from assay.schema import HallucinationReport, Verdict

_WRONG_VERDICTS: Final = frozenset({Verdict.CONTRADICTED, Verdict.UNSUPPORTED})


def verdict_values(report: HallucinationReport) -> dict[str, float | None]:
    """Whether a claim of a report is wrong (`bad`), and one minus its support (`score`); larger is worse."""
    return {
        "bad": float(any(claim.verdict in _WRONG_VERDICTS for claim in report.claims)),
        "score": None if report.overall_score is None else 1 - report.overall_score,
    }
