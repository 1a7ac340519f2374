"""Phoenix: what assay finds as annotations of spans.

    from phoenix.client import Client
    from assay.integrations.evaluators.phoenix import annotate_export, annotate_report
    annotate_report(Client(), report, span_id=span_id)       # one check
    annotate_export(Client(), Guard("rag"), "spans.jsonl")   # every answer of an export, judged and annotated

A report becomes the annotation `assay`, with the gate's overall score and its action as label, and one of each metric
that has a value. The extra `phoenix` installs what this needs; tested with arize-phoenix-client 3.5.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.evaluation.rows import read_rows
from assay.evaluation.rows.elsewhere import read_translation
from assay.guard import Guard
from assay.schema import HallucinationReport

__all__ = ["annotate_export", "annotate_report", "annotations_of"]


def annotations_of(
    report: HallucinationReport, span_id: str, *, prefix: str = "assay", explains: bool = True
) -> list[dict[str, Any]]:
    """A report as annotations of a span, in Phoenix's own form.

    Args:
        report: what assay found.
        span_id: the span that gave the answer.
        prefix: the name of the annotation, and what those of metrics begin with.
        explains: whether reasons are sent, which may repeat words of what was checked.
    """
    result: dict[str, Any] = {"label": report.action.value}
    if report.overall_score is not None:
        result["score"] = report.overall_score
    if explains and report.decision.reasons:
        result["explanation"] = " ".join(report.decision.reasons)
    shared = {"span_id": span_id, "annotator_kind": "CODE"}
    facts = {"policy": report.policy.name, "verifier": report.verifier.name}
    return [
        {**shared, "name": prefix, "result": result, "metadata": facts, "identifier": ""},
        *(
            {**shared, "name": f"{prefix}_{name}", "result": {"score": float(metric.value)}, "metadata": facts}
            for name, metric in sorted(report.metrics.items())
            if metric.value is not None
        ),
    ]


def annotate_report(client: Any, report: HallucinationReport, *, span_id: str, **how: Any) -> None:
    """Write the annotations of one report.

    Args:
        client: a `phoenix.client.Client`.
        report: what assay found.
        span_id: the span that gave the answer.
        how: further arguments of `annotations_of`.
    """
    client.spans.log_span_annotations(span_annotations=annotations_of(report, span_id, **how), sync=True)


def annotate_export(
    client: Any, guard: Guard, path: str | Path, *, mapped: Sequence[str] = (), prefix: str = "assay"
) -> list[HallucinationReport]:
    """Judge every answer of an export of Phoenix, and annotate the spans that it came from.

    Args:
        client: a `phoenix.client.Client`.
        guard: what judges.
        path: spans, as `assay eval --from phoenix` reads them.
        mapped: which fields are what, as in `--map`.
        prefix: the name of the annotation.

    Returns:
        The reports, one for each answer in the order of the file.

    Raises:
        InputError: the file cannot be read, or holds no answer with evidence.
    """
    reports = []
    for row in read_rows(Path(path), read_translation("phoenix", mapped)):
        report = guard.check(row.text, row.evidence, question=row.question)
        annotate_report(client, report, span_id=row.id, prefix=prefix)
        reports.append(report)
    return reports
