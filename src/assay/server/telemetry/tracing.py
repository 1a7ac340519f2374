"""Traces of a server: a span for each request and each call of a model, and what `CheckTelemetry` reports of checks."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from assay._version import __version__
from assay.integrations.opentelemetry import CheckTelemetry

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

TRACES: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER")
EVENTS: Final = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "OTEL_LOGS_EXPORTER")
BOTH: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_PROVIDERS: Final = {"chat_completions": "openai", "responses": "openai", "messages": "anthropic"}
_ERROR: Final = 500
_log = logging.getLogger("assay.server")

HeaderPairs = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a model that is in progress."""

    span: "Span"
    context: "Context"
    """The context in which the span is the current one."""


class Tracing:
    """The spans of one process."""

    def __init__(self, tracers: Any = None, loggers: Any = None, *, captures_content: bool = False) -> None:
        """Over these providers; the global ones by default.

        Raises:
            MissingPackageError: the API of OpenTelemetry is not installed.
        """
        self._own_providers = [one for one in (tracers, loggers) if one is not None]
        self.checks = CheckTelemetry(tracers, loggers, captures_content=captures_content)

    # Requests

    def begin(self, method: str, headers: Iterable[tuple[bytes, bytes]]) -> tuple["Span", Any]:
        """Begin the span of a request as the current one; its parent is the span that `traceparent` names.

        Returns:
            The span, and the token with which `end` restores the context.
        """
        from opentelemetry import context, propagate, trace

        carrier = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in headers
            if name.lower() in _PROPAGATION_HEADERS
        }
        parent = propagate.extract(carrier)
        span = self.checks.tracer.start_span(
            method, parent, kind=trace.SpanKind.SERVER, attributes={"http.request.method": method}
        )
        return span, context.attach(trace.set_span_in_context(span, parent))

    def end(self, span: "Span", token: Any, route: str, method: str, status: int | None) -> None:
        """End the span of a request."""
        from opentelemetry import context, trace

        span.update_name(f"{method} {route}")
        span.set_attribute("http.route", route)
        if status is not None:
            span.set_attribute("http.response.status_code", status)
        if status is None or status >= _ERROR:
            span.set_status(trace.Status(trace.StatusCode.ERROR))
            span.set_attribute("error.type", "client_gone" if status is None else str(status))
        span.end()
        context.detach(token)

    # Calls of models

    def ask(self, wire: str, model: str | None, upstream: str, headers: HeaderPairs) -> tuple[ModelCall, HeaderPairs]:
        """Begin the span of a call of a model; returns it with the headers that continue the trace at the upstream."""
        from opentelemetry import propagate, trace

        attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(wire, wire),
            "assay.upstream": upstream,
        }
        if model is not None:
            attributes["gen_ai.request.model"] = model
        name = "chat" if model is None else f"chat {model}"
        span = self.checks.tracer.start_span(name, kind=trace.SpanKind.CLIENT, attributes=attributes)
        inside = trace.set_span_in_context(span)
        carrier: dict[str, str] = {}
        propagate.inject(carrier, inside)
        if not carrier:
            return ModelCall(span, inside), headers
        kept = [pair for pair in headers if pair[0].lower().decode("latin-1") not in carrier]
        kept += [(name.encode(), value.encode("latin-1")) for name, value in carrier.items()]
        return ModelCall(span, inside), kept

    def answered(self, asked: ModelCall, status: int | None, answer: Mapping[str, Any] | None = None) -> str | None:
        """End the span of a call of a model; returns the id of its answer, where it was read."""
        from opentelemetry import trace

        if not asked.span.is_recording():  # it has ended, or nobody records it
            return None
        if status is not None:
            asked.span.set_attribute("http.response.status_code", status)
        if status is None or status >= 400:
            asked.span.set_status(trace.Status(trace.StatusCode.ERROR))
            asked.span.set_attribute("error.type", "no_answer" if status is None else str(status))
        found: str | None = None
        if answer is not None:
            for attribute, name in (("gen_ai.response.id", "id"), ("gen_ai.response.model", "model")):
                value = answer.get(name)
                if isinstance(value, str):
                    asked.span.set_attribute(attribute, value[:_LONGEST_ATTRIBUTE])
            found = answer["id"][:_LONGEST_ATTRIBUTE] if isinstance(answer.get("id"), str) else None
        asked.span.end()
        return found

    @staticmethod
    def trace_id(span: "Span") -> str | None:
        """The id of a span's trace; none for a span without a valid context."""
        from opentelemetry.trace import format_trace_id

        found = span.get_span_context()
        return format_trace_id(found.trace_id) if found.is_valid else None

    def close(self) -> None:
        """Export what is buffered, and stop; blocks for a few seconds at most where the collector is away."""
        for provider in self._own_providers:
            provider.shutdown()


_LONGEST_ATTRIBUTE: Final = 200
_PROPAGATION_HEADERS: Final = frozenset(
    {b"traceparent", b"tracestate", b"baggage", b"b3", b"x-b3-traceid", b"x-b3-spanid", b"x-b3-sampled"}
)
"""Headers that may carry a trace; `OTEL_PROPAGATORS` says which are read."""


def is_asked_for(environ: Mapping[str, str]) -> bool:
    """Whether the `OTEL_*` variables of the environment ask for spans or events; exporting them takes threads."""
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    return _exports_otlp(environ, *TRACES) or _exports_otlp(environ, *EVENTS)


def tracing_of(environ: Mapping[str, str]) -> Tracing | None:
    """The tracing that the `OTEL_*` variables of the environment ask for; none where they ask for none.

    Spans and events are exported over OTLP. Where a package is missing, an error is logged and the server starts
    without tracing: a variable that is set for a whole cluster must not keep a gate from working.
    """
    if not is_asked_for(environ):
        return None
    traces, events = _exports_otlp(environ, *TRACES), _exports_otlp(environ, *EVENTS)
    captures = environ.get(CAPTURE, "").strip().lower() == "true"
    try:
        tracers = _tracers(environ) if traces else None
        loggers = _loggers(environ) if events else None
        return Tracing(tracers, loggers, captures_content=captures)
    except ImportError as error:
        _log.error("OTEL_* asks for telemetry, and a package is missing: %s; pip install 'assay-ai[otel]'", error)
        return None


def _exports_otlp(environ: Mapping[str, str], endpoint: str, exporter: str) -> bool:
    named = environ.get(exporter, "").strip().lower()
    if named and "otlp" not in [one.strip() for one in named.split(",")]:
        return False
    return bool(named or environ.get(endpoint, "").strip() or environ.get(BOTH, "").strip())


def _resource(environ: Mapping[str, str]) -> Any:
    from opentelemetry.sdk.resources import Resource

    given = environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    named = environ.get("OTEL_SERVICE_NAME", "").strip() or "service.name=" in given
    return Resource.create({"service.version": __version__, **({} if named else {"service.name": "assay"})})


def _uses_grpc(environ: Mapping[str, str], signal: str) -> bool:
    own = environ.get(f"OTEL_EXPORTER_OTLP_{signal}_PROTOCOL", "").strip()
    return (own or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "").strip()) == "grpc"


def _tracers(environ: Mapping[str, str]) -> "TracerProvider":
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if _uses_grpc(environ, "TRACES"):
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as Exporter
    else:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as Exporter
    made = TracerProvider(resource=_resource(environ), shutdown_on_exit=False)
    made.add_span_processor(BatchSpanProcessor(Exporter()))
    return made


def _loggers(environ: Mapping[str, str]) -> Any:
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor

    if _uses_grpc(environ, "LOGS"):
        from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as Exporter
    else:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as Exporter
    made = LoggerProvider(resource=_resource(environ), shutdown_on_exit=False)
    made.add_log_record_processor(BatchLogRecordProcessor(Exporter()))
    return made
