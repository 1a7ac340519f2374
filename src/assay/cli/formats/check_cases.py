"""A checked answer as a case: its problems as findings with their place in the file."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from assay.cli.formats.cases import Case, Finding, Level, Lines, Passage, Place, file_name
from assay.cli.inputs import Request
from assay.cli.terminal import one_line
from assay.schema import Action, Evidence, HallucinationReport, Verdict
from assay.schema.views import Problem, problems_of
from assay.stats import shown_score

SHARES: Final = ("supported", "contradicted", "unsupported", "unchecked")
"""The verdicts whose share of the checkable claims limits may name."""
METRICS: Final = (
    "faithfulness",
    "weighted_faithfulness",
    "groundedness",
    "factscore",
    "hallucination_rate",
    "answer_support",
    "attribution_precision",
    "attribution_existence",
    "attribution_accuracy",
    "attribution_entailment",
    "self_consistency",
    "factual_accuracy_rate",
    "coverage_rate",
    "composite_hallucination_score",
)
"""The metrics of a report (docs/metrics.md)."""
KNOWN: Final = frozenset({*METRICS, *SHARES, "overall_score"})
"""The metrics that `--fail-under` and `--fail-over` may name."""


def case_of(
    request: Request, evidence: Sequence[Evidence], report: HallucinationReport, harmless: AbstractSet[Action]
) -> Case:
    """The case of one answer.

    Args:
        request: the request with the answer.
        evidence: the evidence that it was checked against.
        report: its report.
        harmless: the decisions with which the case passes.
    """
    passed = report.action in harmless
    file = None if request.file is None else file_name(request.file)
    score = "" if report.overall_score is None else f", score {shown_score(report.overall_score)}"
    reasons = "" if passed or not report.decision.reasons else f": {' '.join(report.decision.reasons)}"
    sources = {piece.id: piece.source for piece in evidence}
    lines = Lines(report.output)
    return Case(
        name=request.name,
        group="check",
        passed=passed,
        headline=one_line(f"{report.action.value}{score}{reasons}"),
        findings=tuple(_findings(problems_of(report), report, request, file, lines, sources, passed=passed)),
        place=None if file is None else Place(file, request.line),
        seconds=report.timing.total_ms / 1000,
        broken=not passed and not any(claim.verdict in _CHECKED for claim in report.claims) and bool(report.claims),
        properties={
            "assay.action": report.action.value,
            "assay.score": "" if report.overall_score is None else f"{report.overall_score:.4f}",
            "assay.policy": report.policy.name,
            "assay.run_id": report.run_id,
        },
        metrics=metrics_of(report),
    )


_CHECKED: Final = frozenset({Verdict.SUPPORTED, Verdict.CONTRADICTED, Verdict.UNSUPPORTED})


def metrics_of(report: HallucinationReport) -> dict[str, float | None]:
    """The metrics that limits may name; without a checkable claim the shares have no value."""
    checkable = [claim.verdict.value for claim in report.claims if claim.verdict is not Verdict.NOT_CHECKABLE]
    metrics: dict[str, float | None] = dict.fromkeys(METRICS)
    metrics |= {name: metric.value for name, metric in report.metrics.items()}
    metrics |= {name: checkable.count(name) / len(checkable) if checkable else None for name in SHARES}
    return metrics | {"overall_score": report.overall_score}


def _findings(
    problems: Sequence[Problem],
    report: HallucinationReport,
    request: Request,
    file: str | None,
    lines: Lines,
    sources: dict[str, str | None],
    *,
    passed: bool,
) -> Iterator[Finding]:
    for problem in problems:
        level: Level = "note" if passed else "warning" if problem.kind == Verdict.UNSUPPORTED.value else "error"
        message, code = problem.messages[0] if problem.messages else (problem.kind, "")
        yield Finding(
            code=code or f"decision.{report.action.value}",
            level=level,
            message=message,
            place=_place(problem, report, request, file, lines),
            claim=problem.text if problem.number is not None else "",
            words=", ".join(report.output[start:end] for start, end in problem.wrong),
            passages=tuple(
                Passage(span.evidence_id, span.text, sources.get(span.evidence_id)) for span in problem.passages
            ),
        )


def _place(
    problem: Problem, report: HallucinationReport, request: Request, file: str | None, lines: Lines
) -> Place | None:
    """The place of the wrong words or of the claim, if the answer is the file itself; otherwise that of the request."""
    if file is None:
        return None
    spans = problem.wrong or (() if problem.span is None else (problem.span,))
    if not request.verbatim or report.output != request.answer or not spans:
        return Place(file, request.line)
    return lines.place(file, spans[0][0], spans[-1][1])
