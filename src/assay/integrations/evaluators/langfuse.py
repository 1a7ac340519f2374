"""Langfuse: what assay finds as scores of traces and observations.

    from langfuse import Langfuse
    from assay.integrations.evaluators.langfuse import score_export, score_report
    score_report(Langfuse(), report, trace_id=trace_id)      # one check
    score_export(Langfuse(), Guard("rag"), "traces.jsonl")   # every answer of an export, judged and scored

A report becomes the scores `assay_support` (the gate's overall score, numeric), `assay_action` (a category) and one of
each metric that has a value. Langfuse keeps one score by its id: scoring a trace again replaces what was said before.
The extra `langfuse` installs what this needs; tested with langfuse 5.0.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.evaluation.rows import read_rows
from assay.evaluation.rows.elsewhere import read_translation
from assay.guard import Guard
from assay.schema import HallucinationReport

__all__ = ["score_export", "score_report"]


def score_report(
    client: Any,
    report: HallucinationReport,
    *,
    trace_id: str,
    observation_id: str | None = None,
    prefix: str = "assay",
    explains: bool = True,
) -> None:
    """Write the scores of one report; `client.flush()` sends what the client still holds.

    Args:
        client: a `langfuse.Langfuse`.
        report: what assay found.
        trace_id: the trace that the answer belongs to.
        observation_id: the observation that gave it, where it was one of several.
        prefix: what the names of the scores begin with.
        explains: whether reasons are sent, which may repeat words of what was checked.
    """
    subject = f"{trace_id}:{observation_id}" if observation_id is not None else trace_id
    why = " ".join(report.decision.reasons) if explains and report.decision.reasons else None
    for name, value, kind in _scores(report):
        client.create_score(
            name=f"{prefix}_{name}",
            value=value,
            data_type=kind,
            trace_id=trace_id,
            observation_id=observation_id,
            score_id=f"{prefix}:{subject}:{name}",
            comment=why if name in {"support", "action"} else None,
            metadata={"policy": report.policy.name, "verifier": report.verifier.name},
        )


def score_export(
    client: Any, guard: Guard, path: str | Path, *, mapped: Sequence[str] = (), prefix: str = "assay"
) -> list[HallucinationReport]:
    """Judge every answer of an export of Langfuse, and write its scores to where it came from.

    Args:
        client: a `langfuse.Langfuse`.
        guard: what judges.
        path: traces or observations, as `assay eval --from langfuse` reads them.
        mapped: which fields are what, as in `--map`.
        prefix: what the names of the scores begin with.

    Returns:
        The reports, one for each answer in the order of the file.

    Raises:
        InputError: the file cannot be read, or holds no answer with evidence.
    """
    reports = []
    for row in read_rows(Path(path), read_translation("langfuse", mapped)):
        report = guard.check(row.text, row.evidence, question=row.question)
        trace = next((row.meta[name] for name in ("traceId", "trace_id") if row.meta.get(name)), None)
        observed = None if trace is None or str(trace) == row.id else row.id
        score_report(client, report, trace_id=str(trace or row.id), observation_id=observed, prefix=prefix)
        reports.append(report)
    client.flush()
    return reports


def _scores(report: HallucinationReport) -> Iterator[tuple[str, float | str, str]]:
    """Name, value and type of each score; what has no value has none."""
    yield "action", report.action.value, "CATEGORICAL"
    if report.overall_score is not None:
        yield "support", report.overall_score, "NUMERIC"
    for name, metric in sorted(report.metrics.items()):
        if metric.value is not None:
            yield name, float(metric.value), "NUMERIC"
