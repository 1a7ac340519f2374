"""A Strands agent with the plugin: no rejected call is executed, and nothing is said or streamed before it passes."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import InputError, WithheldError

pytest.importorskip("strands", reason="needs the extra strands: pip install 'assay-ai[strands]'")

from strands import Agent, tool
from strands.models import Model
from strands.types.exceptions import EventLoopException

from assay.integrations.agents.strands import AssayPlugin

Said = str | list[tuple[str, dict[str, Any]]]


class Scripted(Model):
    """Says what a test wrote down, a word at a time; the last of it again and again."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)
        self.asked: list[Any] = []

    def update_config(self, **config: Any) -> None:
        """There is none."""

    def get_config(self) -> Any:
        return {}

    async def structured_output(self, *args: Any, **named: Any) -> AsyncIterator[Any]:
        raise AssertionError
        yield

    async def stream(self, messages: Any, *args: Any, **named: Any) -> AsyncIterator[Any]:
        self.asked.append([dict(message) for message in messages])
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        blocks = [said] if isinstance(said, str) else said
        yield {"messageStart": {"role": "assistant"}}
        for number, block in enumerate(blocks):
            if isinstance(block, str):
                yield {"contentBlockStart": {"start": {}}}
                for word in block.split(" "):
                    yield {"contentBlockDelta": {"delta": {"text": word + " "}}}
            else:
                use = {"toolUseId": f"t{len(self.asked)}-{number}", "name": block[0]}
                yield {"contentBlockStart": {"start": {"toolUse": use}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(block[1])}}}}
            yield {"contentBlockStop": {}}
        calls = any(not isinstance(block, str) for block in blocks)
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}
        yield {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}, "metrics": {}}}


def order(*ids: str) -> list[tuple[str, dict[str, str]]]:
    return [("get_order", {"order_id": one}) for one in ids]


def agent(shop: Shop, model: Scripted, **options: Any) -> Any:
    @tool
    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    return Agent(
        model=model,
        tools=[get_order],
        system_prompt=SYSTEM,
        plugins=[AssayPlugin(guard, **options)],
        callback_handler=None,
    )


def said(result: Any) -> str:
    return str(result).strip()


def test_an_honest_run_comes_out_as_the_model_gave_it() -> None:
    shop = Shop()
    result = agent(shop, Scripted(order("W-17"), TRUE))(ASKED)
    assert (said(result), result.stop_reason, shop.asked) == (TRUE, "end_turn", ["W-17"])


def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why() -> None:
    shop, model = Shop(), Scripted(order("W-99"), order("W-17"), order("W-99"), TRUE)
    assert said(agent(shop, model)(ASKED)) == TRUE
    assert shop.asked == ["W-17"]
    refused = model.asked[1][-1]["content"][0]["toolResult"]
    assert refused["status"] == "error"
    assert "was not executed" in refused["content"][0]["text"]


def test_of_parallel_calls_only_the_honest_one_is_executed() -> None:
    shop = Shop()
    agent(shop, Scripted(order("W-17", "W-99"), TRUE))(ASKED)
    assert shop.asked == ["W-17"]


def test_a_wrong_answer_is_corrected_within_the_step_and_never_in_the_messages() -> None:
    model = Scripted(order("W-17"), FALSE, TRUE)
    here = agent(Shop(), model)
    assert said(here(ASKED)) == TRUE
    assert "9 May" not in str(here.messages)
    assert "3 May 2026" in str(model.asked[-1][-1])


def test_an_answer_that_stays_wrong_is_withheld_in_words_or_as_an_error() -> None:
    result = agent(Shop(), Scripted(order("W-17"), FALSE))(ASKED)
    assert result.stop_reason == "guardrail_intervened"
    assert said(result).startswith(WITHHELD)
    with pytest.raises(EventLoopException) as raised:
        agent(Shop(), Scripted(order("W-17"), FALSE), on_withheld="raise")(ASKED)
    assert isinstance(raised.value.__cause__, WithheldError)
    with pytest.raises(WithheldError):
        agent(Shop(), Scripted(FALSE), on_withheld="raise")(ASKED)


def test_nothing_is_streamed_before_it_passes() -> None:
    async def streamed(*script: Any) -> str:
        found = agent(Shop(), Scripted(*script)).stream_async(ASKED)
        return "".join([event["data"] async for event in found if "data" in event])

    assert asyncio.run(streamed(order("W-17"), TRUE)).strip() == TRUE
    wrong = asyncio.run(streamed(order("W-17"), FALSE))
    assert wrong.startswith(WITHHELD)
    assert "9 May" not in wrong


def test_what_is_said_beside_calls_is_taken_out_where_it_does_not_pass() -> None:
    here = agent(Shop(), Scripted(order("W-17"), [FALSE, *order("W-17")], TRUE))
    assert said(here(ASKED)) == TRUE
    assert "9 May" not in str(here.messages)


def test_a_model_that_does_not_listen_is_stopped() -> None:
    shop, model = Shop(), Scripted(*(order(f"X-{n}") for n in range(50)))
    assert said(agent(shop, model)(ASKED)).startswith(WITHHELD)
    assert shop.asked == []
    assert len(model.asked) < 6


class Status(BaseModel):
    """Where an order is."""

    answer: str


def test_structured_answers_are_checked_and_never_replaced() -> None:
    script = [order("W-17"), [("Status", {"answer": TRUE})]]
    found = agent(Shop(), Scripted(*script))(ASKED, structured_output_model=Status)
    assert found.structured_output == Status(answer=TRUE)
    script = [order("W-17"), [("Status", {"answer": FALSE})]]
    with pytest.raises(EventLoopException) as raised:
        agent(Shop(), Scripted(*script))(ASKED, structured_output_model=Status)
    assert isinstance(raised.value.__cause__, WithheldError)


def test_what_goes_past_the_middleware_is_refused() -> None:
    here = agent(Shop(), Scripted(TRUE))
    with pytest.raises(InputError, match="past every check"):
        here.structured_output(Status, ASKED)


def test_a_conversation_goes_on_with_what_was_seen() -> None:
    here = agent(Shop(), Scripted(order("W-17"), TRUE, TRUE))
    here(ASKED)
    assert FOUND in str(here.messages)
    assert said(here("And once more?")) == TRUE


def test_the_spans_that_it_writes_are_rows_of_an_evaluation_and_runs_to_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spans of a real instrumentation, as the SDK of OpenTelemetry has them in JSON."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from strands.telemetry import tracer as telemetry

    from assay.evaluation.rows import read_rows
    from assay.evaluation.rows.elsewhere import read_translation

    monkeypatch.setenv("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental")
    kept, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(telemetry, "_tracer_instance", None)
    monkeypatch.setattr(telemetry.trace_api, "get_tracer_provider", lambda: provider)
    for script in ([order("W-17"), TRUE], [order("W-17"), FALSE]):
        agent(Shop(), Scripted(*script), attempts=0)(ASKED)
    path = tmp_path / "spans.jsonl"
    spans = [json.dumps(json.loads(span.to_json())) + "\n" for span in kept.get_finished_spans()]
    path.write_text("".join(spans), encoding="utf-8")
    rows = list(read_rows(path, read_translation("otel", [])))
    assert len(rows) == 2
    assert {FOUND in piece.text for row in rows for piece in row.evidence} == {True}
    assert rows[0].text.strip() == TRUE
    assert rows[0].question is not None
    assert ASKED in rows[0].question
