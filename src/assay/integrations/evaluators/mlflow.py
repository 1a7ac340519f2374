"""MLflow: scorers for `mlflow.genai.evaluate`, and the scores of a report for a run.

    from assay.integrations.evaluators.mlflow import assay_support, log_report
    mlflow.genai.evaluate(data=rows, scorers=[assay_support()])

A row has `inputs`, `outputs` and, in `inputs` or `expectations`, the evidence as `context`. The extra `mlflow` installs
what this needs; tested with mlflow 3.
"""

from collections.abc import Callable, Mapping
from typing import Any, Unpack

from assay.config import Guard as ConfiguredGuard
from assay.guard import AskedCheckOptions, Guard, require_options
from assay.integrations.evaluators.verdicts import scored, texts
from assay.integrations.run_gate import missing
from assay.schema import HallucinationReport

try:
    import mlflow
    from mlflow.entities import Feedback
    from mlflow.genai.scorers import scorer
except ImportError as error:
    raise missing("mlflow", error, "assay.integrations.evaluators") from error

__all__ = ["assay_support", "log_report"]

_QUESTIONS = ("question", "query", "input")


def assay_support(
    guard: Guard | None = None,
    *,
    evidence: str = "context",
    answer: str = "answer",
    **options: Unpack[AskedCheckOptions],
) -> Callable[..., Any]:
    """A scorer whose feedback is the share of supported claims, with the reason and the details beside it.

    Args:
        guard: what checks; `general` by default.
        evidence: the key of the evidence in `inputs` or `expectations`.
        answer: the key of the answer, where `outputs` is a mapping.
        options: further ones of `Guard.check`.
    """
    require_options(options, AskedCheckOptions)
    checks = guard if guard is not None else ConfiguredGuard()

    def assay_support(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
        places = [one for one in (inputs, expectations) if isinstance(one, Mapping)]
        given = next((one[evidence] for one in places if one.get(evidence) is not None), None)
        question = next((one[name] for one in places for name in _QUESTIONS if name in one), None)
        said = outputs.get(answer) if isinstance(outputs, Mapping) else outputs
        wants = f"`inputs.{evidence}` or `expectations.{evidence}`"
        found = scored(checks, said, texts(given), question, wants=wants, **options)
        details = {"action": found.report.action.value, "policy": found.report.policy.name}
        return Feedback(value=found.score, rationale=found.reason, metadata=details)

    made: Callable[..., Any] = scorer(assay_support)
    return made


def log_report(report: HallucinationReport, *, prefix: str = "assay", step: int | None = None) -> None:
    """Log the metrics of a report to the run that is active, and the report as an artifact.

    Args:
        report: the report.
        prefix: what the names of metrics begin with.
        step: the step of the run.
    """
    values = {f"{prefix}.{name}": one.value for name, one in report.metrics.items() if one.value is not None}
    mlflow.log_metrics({**values, f"{prefix}.overall_score": report.overall_score or 0.0}, step=step)
    mlflow.log_dict(report.model_dump(mode="json"), f"{prefix}/{report.run_id}.json")
