"""Spans and events: of every stage of a check, in the caller's trace, in memory and over a real OTLP receiver."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.server.gateway_site import play, site
from tests.server.test_chat_gateway import FALSE, TRUE
from tests.server.test_chat_gateway import asked as chat_request
from tests.server.upstream_script import chat_completion, chat_stream, json_answer, stream_answer
from tests.store.making import report_of

from assay.integrations.opentelemetry import EVENT, CheckTelemetry
from assay.schema import Metric, Timing
from assay.server.settings import Mode
from assay.server.telemetry.telemetry import Telemetry, telemetry_of
from assay.server.telemetry.tracing import Tracing, tracing_of

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
CHECK = {"answer": TRUE, "evidence": [TRUE]}


@dataclass
class Seen:
    """What a server told, in memory."""

    spans: InMemorySpanExporter
    events: InMemoryLogRecordExporter
    telemetry: Telemetry

    def named(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans.get_finished_spans() if span.name == name)
        return found

    def told(self) -> list[dict[str, Any]]:
        return [dict(one.log_record.attributes or {}) for one in self.events.get_finished_logs()]


@pytest.fixture
def seen() -> Iterator[Seen]:
    spans, events = InMemorySpanExporter(), InMemoryLogRecordExporter()
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    loggers.add_log_record_processor(SimpleLogRecordProcessor(events))
    yield Seen(spans, events, Telemetry(None, Tracing(tracers, loggers)))
    tracers.shutdown()
    loggers.shutdown()


def test_a_check_is_a_span_with_one_for_each_stage_in_the_callers_trace(seen: Seen) -> None:
    async def scene() -> None:
        async with site(telemetry=seen.telemetry) as there:
            status, _, body = await there.post("/v1/check", CHECK, traceparent=TRACEPARENT)
            assert status == 200
            report = json.loads(body)
        request, check = seen.named("POST /v1/check"), seen.named("assay.check")
        assert request.context is not None
        assert check.context is not None
        assert f"{request.context.trace_id:032x}" == TRACE
        assert request.parent is not None
        assert f"{request.parent.span_id:016x}" == PARENT
        assert check.parent is not None
        assert check.parent.span_id == request.context.span_id
        assert dict(request.attributes or {})["http.response.status_code"] == 200
        stages = {
            span.name.removeprefix("assay."): span
            for span in seen.spans.get_finished_spans()
            if span.parent is not None and span.parent.span_id == check.context.span_id
        }
        assert stages.keys() == {name for name, ms in report["timing"]["stages_ms"].items() if ms > 0}
        assert {"evidence", "claims", "judging"} <= stages.keys()
        for name, span in stages.items():
            assert span.start_time is not None
            assert span.end_time is not None
            length = (span.end_time - span.start_time) / 1e6
            assert length == pytest.approx(report["timing"]["stages_ms"][name], abs=1e-3)
            assert check.start_time <= span.start_time <= span.end_time <= check.end_time
        assert stages["evidence"].end_time <= stages["claims"].start_time <= stages["judging"].start_time

    play(scene)


def test_every_metric_that_has_a_value_is_an_event_and_none_holds_words(seen: Seen) -> None:
    async def scene() -> None:
        async with site(telemetry=seen.telemetry) as there:
            _, _, body = await there.post("/v1/check", {**CHECK, "answer": FALSE})
            report = json.loads(body)
        told = {one["gen_ai.evaluation.name"]: one for one in seen.told()}
        defined = {name: one["value"] for name, one in report["metrics"].items() if one["value"] is not None}
        assert told.keys() == {"hallucination", *defined}
        for name, value in defined.items():
            assert told[name]["gen_ai.evaluation.score.value"] == value
        assert told["hallucination"]["gen_ai.evaluation.score.label"] == report["labels"]["verdict"].lower()
        assert "gen_ai.evaluation.explanation" not in told["hallucination"]
        for one in seen.events.get_finished_logs():
            assert one.log_record.event_name == EVENT
            check = seen.named("assay.check").context
            assert check is not None
            assert one.log_record.span_id == check.span_id
        words = json.dumps(seen.told()) + "".join(span.to_json() for span in seen.spans.get_finished_spans())
        assert "weeks" not in words

    play(scene)


def test_the_gateway_passes_the_trace_on_and_its_events_belong_to_the_call(seen: Seen) -> None:
    async def scene() -> None:
        async with site(telemetry=seen.telemetry) as there:
            there.upstream.script(json_answer(chat_completion(TRUE)))
            sent = {"traceparent": TRACEPARENT, "tracestate": "vendor=1"}
            status, _, _ = await there.post("/v1/chat/completions", chat_request(), **sent)
            assert status == 200
            asked = there.upstream.asked[0]
        call = seen.named("chat model-1")
        assert call.context is not None
        assert f"{call.context.trace_id:032x}" == TRACE
        assert asked.header("traceparent") == f"00-{TRACE}-{call.context.span_id:016x}-01"
        assert asked.header("tracestate") == "vendor=1"
        attributes = dict(call.attributes or {})
        assert attributes["gen_ai.operation.name"] == "chat"
        assert attributes["gen_ai.provider.name"] == "openai"
        answer = chat_completion(TRUE)
        assert attributes["gen_ai.response.id"] == answer["id"]
        for one in seen.events.get_finished_logs():
            assert one.log_record.span_id == call.context.span_id
            assert dict(one.log_record.attributes or {})["gen_ai.response.id"] == answer["id"]
        assert seen.told()

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.ANNOTATE, Mode.SHADOW])
def test_a_stream_is_told_of_once_and_every_span_ends(seen: Seen, mode: Mode) -> None:
    async def scene() -> None:
        async with site(mode, telemetry=seen.telemetry) as there:
            there.upstream.script(stream_answer(chat_stream(TRUE)))
            assert (await there.post("/v1/chat/completions", chat_request(stream=True)))[0] == 200
        names = [span.name for span in seen.spans.get_finished_spans()]
        assert names.count("assay.check") == 1
        assert names.count("chat model-1") == names.count("POST /v1/chat/completions") == 1

    play(scene)


def test_an_upstream_that_fails_ends_the_span_of_the_call_as_an_error(seen: Seen) -> None:
    async def scene() -> None:
        async with site(telemetry=seen.telemetry) as there:
            answer = json_answer({"error": {"message": "no"}})
            answer.status = 500
            there.upstream.script(answer)
            await there.post("/v1/chat/completions", chat_request())
        call = seen.named("chat model-1")
        assert not call.status.is_ok
        assert dict(call.attributes or {})["error.type"] == "500"

    play(scene)


def test_without_telemetry_the_trace_is_passed_on_as_it_came() -> None:
    async def scene() -> None:
        async with site() as there:
            there.upstream.script(json_answer(chat_completion(TRUE)))
            await there.post("/v1/chat/completions", chat_request(), traceparent=TRACEPARENT)
            assert there.upstream.asked[0].header("traceparent") == TRACEPARENT

    play(scene)


def test_a_metric_without_a_value_has_no_event_and_stages_lie_end_to_end(seen: Seen) -> None:
    assert seen.telemetry.tracing is not None
    report = report_of(
        metrics={"faithfulness": Metric(value=0.5), "factscore": Metric(undefined="nothing was checked")},
        timing=Timing(total_ms=30.0, stages_ms={"judging": 20.0, "evidence": 4.0, "claims": 6.0, "logic": 0.0}),
    )
    seen.telemetry.tracing.checks.tell(report, ended_ns=1_000_000_000)
    assert [one["gen_ai.evaluation.name"] for one in seen.told()] == ["hallucination", "faithfulness"]
    spans = {span.name: (span.start_time, span.end_time) for span in seen.spans.get_finished_spans()}
    assert spans == {
        "assay.check": (970_000_000, 1_000_000_000),
        "assay.evidence": (970_000_000, 974_000_000),
        "assay.claims": (974_000_000, 980_000_000),
        "assay.judging": (980_000_000, 1_000_000_000),
    }


def test_reasons_are_told_only_where_content_is_to_be_captured() -> None:
    events = InMemoryLogRecordExporter()
    loggers = LoggerProvider()
    loggers.add_log_record_processor(SimpleLogRecordProcessor(events))
    CheckTelemetry(None, loggers, captures_content=True).tell(report_of())
    told = [dict(one.log_record.attributes or {}) for one in events.get_finished_logs()]
    assert told[0]["gen_ai.evaluation.explanation"] == "It holds."
    loggers.shutdown()


# Over the wire


@dataclass
class Receiver:
    """A collector that speaks OTLP over HTTP."""

    spans: list[Any] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    resource: dict[str, str] = field(default_factory=dict)
    url: str = ""

    async def traces(self, request: web.Request) -> web.Response:
        told = ExportTraceServiceRequest.FromString(await request.read())
        for group in told.resource_spans:
            self.resource |= {one.key: one.value.string_value for one in group.resource.attributes}
            self.spans += [span for scope in group.scope_spans for span in scope.spans]
        return web.Response(content_type="application/x-protobuf")

    async def logs(self, request: web.Request) -> web.Response:
        told = ExportLogsServiceRequest.FromString(await request.read())
        for group in told.resource_logs:
            self.events += [one for scope in group.scope_logs for one in scope.log_records]
        return web.Response(content_type="application/x-protobuf")


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    app = web.Application()
    app.router.add_post("/v1/traces", made.traces)
    app.router.add_post("/v1/logs", made.logs)
    runner = web.AppRunner(app)
    await runner.setup()
    there = web.TCPSite(runner, "127.0.0.1", 0)
    await there.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()


def test_spans_and_events_go_out_over_otlp_where_the_environment_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with receiver() as there:
            environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": there.url, "OTEL_SERVICE_NAME": "my-gate"}
            for name, value in environ.items():
                monkeypatch.setenv(name, value)
            telemetry = await asyncio.to_thread(telemetry_of, environ)
            async with site(telemetry=telemetry) as server:
                await server.post("/v1/check", CHECK, traceparent=TRACEPARENT)
            # The server has sent all of it when it has stopped.
            names = {span.name for span in there.spans}
            assert {"POST /v1/check", "assay.check", "assay.judging"} <= names
            assert {span.trace_id.hex() for span in there.spans} == {TRACE}
            assert there.resource["service.name"] == "my-gate"
            assert {one.event_name for one in there.events} == {EVENT}
            assert {one.trace_id.hex() for one in there.events} == {TRACE}

    play(scene)


@pytest.mark.parametrize(
    ("environ", "traced"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"}, False),
        (
            {
                "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
                "OTEL_TRACES_EXPORTER": "none",
                "OTEL_LOGS_EXPORTER": "none",
            },
            False,
        ),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
    ],
)
def test_tracing_is_on_where_the_environment_asks_for_it(environ: dict[str, str], traced: bool) -> None:
    found = tracing_of(environ)
    assert (found is not None) is traced


def test_a_protocol_whose_package_is_missing_is_told_and_the_server_starts(caplog: pytest.LogCaptureFixture) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    with caplog.at_level(logging.ERROR):
        assert tracing_of(environ) is None
    assert "assay-ai[otel]" in caplog.text
