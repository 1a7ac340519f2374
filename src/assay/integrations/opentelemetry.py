"""OpenTelemetry: a span for a check and for each of its stages, and an event for each metric of a report.

Needs `opentelemetry-api` (`pip install 'assay-ai[otel]'`). Spans and events go to the providers that are given, or to
the global ones: without an SDK nothing happens and nothing is paid for.

Names follow the semantic conventions of generative AI: each metric is an event `gen_ai.evaluation.result` with
`gen_ai.evaluation.name`, `gen_ai.evaluation.score.value` and `gen_ai.evaluation.score.label`, parented to the span of
the model's call where there is one, and with `gen_ai.response.id` where the answer has one. Reasons may repeat what was
checked, so `gen_ai.evaluation.explanation` is set only where content is to be captured
(`OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true`). What has no value has no event.
"""

import time
from typing import TYPE_CHECKING, Any, Final

from assay._version import __version__
from assay.errors import MissingPackageError
from assay.schema import HallucinationReport

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer, TracerProvider

SCOPE: Final = "assay"
"""The name of the instrumentation."""
EVENT: Final = "gen_ai.evaluation.result"
OVERALL: Final = "hallucination"
"""The name of the evaluation that the gate decided by."""
ORDER: Final = (
    "tools",
    "screening",
    "evidence",
    "claims",
    "judging",
    "logic",
    "judge",
    "knowledge",
    "probing",
    "stream_first",
    "stream_total",
)
"""The order in which the stages of a check run."""
_INFO: Final = 9
"""The severity number of events."""


class CheckTelemetry:
    """Reports checks to OpenTelemetry as spans and events."""

    def __init__(
        self,
        tracers: "TracerProvider | None" = None,
        loggers: "LoggerProvider | None" = None,
        *,
        captures_content: bool = False,
    ) -> None:
        """Over these providers; the global ones by default.

        Args:
            tracers: where spans go.
            loggers: where events go.
            captures_content: whether events may hold words of what was checked.

        Raises:
            MissingPackageError: the API of OpenTelemetry is not installed.
        """
        try:
            from opentelemetry import _logs, trace
        except ImportError as error:
            raise MissingPackageError(
                "telemetry needs the API of OpenTelemetry: pip install 'assay-ai[otel]'"
            ) from error
        self.tracer: Tracer = trace.get_tracer(SCOPE, __version__, tracers)
        self._logger = _logs.get_logger(SCOPE, __version__, loggers)
        self._captures = captures_content

    def tell(
        self,
        report: HallucinationReport,
        *,
        kind: str = "check",
        ended_ns: int | None = None,
        context: "Context | None" = None,
        evaluated: "Context | None" = None,
        response_id: str | None = None,
    ) -> None:
        """Emit the spans and events of one report.

        The report says how long the check and each stage took. Their spans are laid end to end in the order in which
        stages run, the last one ending with the check: lengths are measured, the gaps between stages are not.

        Args:
            report: the report of the check.
            kind: what was checked: `check`, `run`, `gateway`.
            ended_ns: when it ended, in nanoseconds since 1970; now by default.
            context: the context whose span the check is a part of; the current one by default.
            evaluated: the context of the span of the model's call, to which events belong; that of the check by
                default.
            response_id: the id that the model's provider gave the answer.
        """
        from opentelemetry import trace

        ended = time.time_ns() if ended_ns is None else ended_ns
        stages = [
            (name, round(ms * 1_000_000))
            for name, ms in sorted(report.timing.stages_ms.items(), key=_stage_order)
            if ms > 0
        ]
        begun = ended - max(round(report.timing.total_ms * 1_000_000), sum(length for _, length in stages))
        span = self.tracer.start_span("assay.check", context, start_time=begun, attributes=_attributes(report, kind))
        inside = trace.set_span_in_context(span, context)
        if span.is_recording():
            at = ended - sum(length for _, length in stages)
            for name, length in stages:
                stage = self.tracer.start_span(f"assay.{name}", inside, start_time=at, attributes={"assay.stage": name})
                at += length
                stage.end(at)
        self._events(report, inside if evaluated is None else evaluated, ended, response_id)
        span.end(ended)

    def _events(self, report: HallucinationReport, context: "Context", at: int, response_id: str | None) -> None:
        from opentelemetry._logs import LogRecord, SeverityNumber

        shared: dict[str, Any] = {"assay.action": report.action.value}
        if response_id is not None:
            shared["gen_ai.response.id"] = response_id
        overall: dict[str, Any] = {
            "gen_ai.evaluation.name": OVERALL,
            "gen_ai.evaluation.score.label": report.labels.verdict.lower(),
        }
        if report.overall_score is not None:
            overall["gen_ai.evaluation.score.value"] = report.overall_score
        if self._captures and report.decision.reasons:
            overall["gen_ai.evaluation.explanation"] = " ".join(report.decision.reasons)
        events = [overall] + [
            {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": metric.value}
            for name, metric in sorted(report.metrics.items())
            if metric.value is not None
        ]
        for attributes in events:
            self._logger.emit(
                LogRecord(
                    timestamp=at,
                    observed_timestamp=at,
                    context=context,
                    severity_number=SeverityNumber(_INFO),
                    event_name=EVENT,
                    attributes={**shared, **attributes},
                )
            )


def _stage_order(stage: tuple[str, float]) -> tuple[int, str]:
    return (ORDER.index(stage[0]) if stage[0] in ORDER else len(ORDER), stage[0])


def _attributes(report: HallucinationReport, kind: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "assay.kind": kind,
        "assay.action": report.action.value,
        "assay.route": report.decision.route,
        "assay.stakes": report.stakes.value,
        "assay.policy": report.policy.name,
        "assay.verifier": report.verifier.name,
        "assay.claims": len(report.claims),
        "assay.unchecked_characters": report.coverage.unchecked,
    }
    if report.overall_score is not None:
        made["assay.score"] = report.overall_score
    return made
