"""OpenTelemetry GenAI spans become the normal form; what they repeat comes once, and nothing of them is lost."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assay.schema.run.model import (
    Executor,
    ModelTurn,
    Opaque,
    Passage,
    ReasoningPart,
    Run,
    SystemPrompt,
    ToolCall,
    ToolDeclaration,
    ToolResult,
    UserInput,
)
from assay.schema.traces import read_run
from assay.schema.traces.otel.genai import _overlap

Check = Callable[[Any, Run], None]

USER = {"role": "user", "parts": [{"type": "text", "content": "Where is order A-17?"}]}
ASKS = {
    "role": "assistant",
    "parts": [
        {"type": "reasoning", "content": "I need the order."},
        {"type": "tool_call", "id": "call_1", "name": "find_order", "arguments": {"order": "A-17"}},
    ],
}
RETURNS = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_1", "response": {"place": "Hamburg"}}]}
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "It is in Hamburg."}]}
TOOLS = [{"type": "function", "name": "find_order", "parameters": {"type": "object"}}]


def _span(name: str, start: int, end: int, attributes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": f"eee19b7ec3c1b1{start:02x}",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end),
        "attributes": [{"key": key, "value": _any_value(value)} for key, value in attributes.items()],
        **more,
    }


def _any_value(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case list():
            return {"arrayValue": {"values": [_any_value(item) for item in value]}}
        case _:
            return {"kvlistValue": {"values": [{"key": key, "value": _any_value(item)} for key, item in value.items()]}}


def _trace(encode: Callable[[Any], Any]) -> dict[str, Any]:
    """An agent's span around two inferences and a tool, in the order in which exporters write them: as they end."""
    common = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5"}
    spans = [
        _span(
            "chat gpt-5",
            10,
            20,
            {
                "gen_ai.operation.name": "chat",
                **common,
                "gen_ai.system_instructions": encode([{"type": "text", "content": "You help with orders."}]),
                "gen_ai.tool.definitions": encode(TOOLS),
                "gen_ai.input.messages": encode([USER]),
                "gen_ai.output.messages": encode([{**ASKS, "finish_reason": "tool_call"}]),
                "gen_ai.usage.input_tokens": 97,
            },
        ),
        _span(
            "execute_tool find_order",
            20,
            30,
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "find_order",
                "gen_ai.tool.call.id": "call_1",
                "gen_ai.tool.call.arguments": encode({"order": "A-17"}),
                "gen_ai.tool.call.result": encode({"place": "Hamburg"}),
            },
        ),
        _span(
            "chat gpt-5",
            30,
            40,
            {
                "gen_ai.operation.name": "chat",
                **common,
                "gen_ai.system_instructions": encode([{"type": "text", "content": "You help with orders."}]),
                "gen_ai.tool.definitions": encode(TOOLS),
                "gen_ai.input.messages": encode([USER, ASKS, RETURNS]),
                "gen_ai.output.messages": encode([{**ANSWER, "finish_reason": "stop"}]),
            },
        ),
        _span(
            "invoke_agent orders",
            5,
            45,
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "orders",
                "gen_ai.input.messages": encode([USER]),
                "gen_ai.output.messages": encode([ANSWER]),
            },
        ),
        _span("GET /health", 1, 2, {"http.request.method": "GET", "http.response.status_code": 200}),
    ]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "otel"}, "spans": spans}]}]}


EXPECTED = [
    "user_input",
    "tool_declaration",
    "system_prompt",
    "model_turn",
    "tool_call",
    "tool_result",
    "model_turn",
]


def test_a_trace_is_read_once_in_the_order_in_which_things_happened() -> None:
    run = read_run(_trace(json.dumps))
    assert run.format == "otel_genai"
    assert run.run_id == "5b8efff798038103d269b633813fc60c"
    assert [step.kind for step in run.steps] == EXPECTED
    assert run.final_answer == "It is in Hamburg."
    assert not any(step.faults for step in run.steps)


def test_attributes_as_json_text_and_as_values_say_the_same() -> None:
    written = read_run(_trace(json.dumps))
    structured = read_run(_trace(lambda value: value))
    assert [step.kind for step in structured.steps] == EXPECTED
    for one, other in zip(written.steps, structured.steps, strict=True):
        ignored = {"place", "arguments", "structured", "content"}
        assert one.model_dump(exclude=ignored) == other.model_dump(exclude=ignored)


def test_nothing_of_a_trace_is_lost(nothing_lost: Check) -> None:
    trace = _trace(lambda value: value)
    nothing_lost(list(_values(trace)), read_run(trace))


def _values(value: Any) -> Iterator[Any]:
    """The values of the spans, but the names of attributes and what only says the type of a part."""
    if isinstance(value, dict):
        if value.get("key") in ("type", "role"):
            return
        for name, member in value.items():
            if name != "key":
                yield from _values(member)
    elif isinstance(value, list):
        for member in value:
            yield from _values(member)
    elif isinstance(value, str) and not value.isdigit():
        yield value


def test_words_calls_and_results_have_their_parts() -> None:
    user, tool, system, turn, call, result, _ = read_run(_trace(json.dumps)).steps
    assert isinstance(user, UserInput)
    assert isinstance(tool, ToolDeclaration)
    assert isinstance(system, SystemPrompt)
    assert isinstance(turn, ModelTurn)
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert user.text == "Where is order A-17?"
    assert tool.parameters == {"type": "object"}
    assert system.text == "You help with orders."
    assert (turn.content, turn.stop_reason) == ((ReasoningPart(text="I need the order."),), "tool_call")
    assert (call.id, call.name, call.arguments.value) == ("call_1", "find_order", {"order": "A-17"})
    assert (result.call_id, result.text) == ("call_1", '{"place": "Hamburg"}')


def test_what_spans_say_beside_the_conversation_is_kept() -> None:
    spans = read_run(_trace(json.dumps)).extra["spans"]
    assert spans[0]["attributes"]["gen_ai.usage.input_tokens"] == 97
    assert spans[4]["attributes"] == {"http.request.method": "GET", "http.response.status_code": 200}


def test_the_json_of_the_python_sdk_is_read() -> None:
    span = {
        "name": "chat gpt-5",
        "context": {"trace_id": "0xabc", "span_id": "0x1", "trace_state": "[]"},
        "start_time": "2026-01-01T00:00:00.000001Z",
        "end_time": "2026-01-01T00:00:01Z",
        "attributes": {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([USER]),
            "gen_ai.output.messages": json.dumps([ANSWER]),
        },
    }
    run = read_run(span)
    assert (run.run_id, [step.kind for step in run.steps]) == ("0xabc", ["user_input", "model_turn"])


def test_messages_in_an_event_of_a_span_are_read() -> None:
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": {"gen_ai.input.messages": [USER]}}
    span = {"name": "chat", "attributes": {"gen_ai.operation.name": "chat"}, "events": [event]}
    assert [step.kind for step in read_run([span]).steps] == ["user_input"]


def test_a_call_that_was_executed_differently_is_marked() -> None:
    trace = _trace(json.dumps)
    tool = trace["resourceSpans"][0]["scopeSpans"][0]["spans"][1]
    tool["attributes"][3]["value"]["stringValue"] = '{"order": "B-99"}'
    calls = [step for step in read_run(trace).steps if isinstance(step, ToolCall)]
    assert [call.arguments.value for call in calls] == [{"order": "A-17"}, {"order": "B-99"}]
    assert [fault.code for fault in calls[1].faults] == ["span.differs"]


def test_a_tool_that_failed_is_a_failed_result_even_without_words() -> None:
    span = _span(
        "execute_tool f",
        1,
        2,
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "f",
            "gen_ai.tool.call.id": "c",
            "gen_ai.tool.call.arguments": "{}",
            "error.type": "timeout",
        },
    )
    call, result = read_run([span]).steps
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.is_error) == ("c", True)


def test_an_attribute_that_was_cut_off_is_kept_and_marked() -> None:
    cut = json.dumps([USER])[:-9]
    span = _span("chat", 1, 2, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": cut})
    (step,) = read_run([span]).steps
    assert isinstance(step, Opaque)
    assert (step.type, step.value) == ("gen_ai.input.messages", cut)
    assert [fault.code for fault in step.faults] == ["item.invalid_json"]


def test_numbers_that_are_no_json_inside_an_attribute_are_marked() -> None:
    message = '[{"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": {"n": NaN}}]}]'
    run = read_run([_span("chat", 1, 2, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": message})])
    (result,) = run.steps
    assert isinstance(result, ToolResult)
    assert result.structured == {"n": "NaN"}
    assert [fault.code for fault in result.faults] == ["value.not_finite"]


def test_retrieved_documents_are_passages() -> None:
    documents = [{"id": "d1", "score": 0.5, "content": "The warranty lasts two years."}, {"id": 7}]
    attributes = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": json.dumps(documents)}
    first, second = read_run([_span("retrieval", 1, 2, attributes)]).steps
    assert isinstance(first, Passage)
    assert isinstance(second, Passage)
    assert (first.id, first.score, first.text) == ("d1", 0.5, "The warranty lasts two years.")
    assert (second.id, second.text) == ("7", "")


def test_tools_of_the_provider_are_marked(nothing_lost: Check) -> None:
    call = {
        "type": "server_tool_call",
        "id": "s",
        "name": "web_search",
        "server_tool_call": {"type": "web_search", "query": "law"},
    }
    answer = {
        "type": "server_tool_call_response",
        "id": "s",
        "server_tool_call_response": {"type": "web_search", "hits": ["https://example.org"]},
    }
    raw = [{"role": "assistant", "parts": [call, answer, {"type": "text", "content": "Found it."}]}]
    run = read_run(raw)
    asked, result, turn = run.steps
    assert isinstance(asked, ToolCall)
    assert isinstance(result, ToolResult)
    assert isinstance(turn, ModelTurn)
    assert (asked.executor, asked.type, asked.arguments.value) == (Executor.PROVIDER, "web_search", {"query": "law"})
    assert result.executor is Executor.PROVIDER
    nothing_lost(raw, run)


def test_turns_without_a_history_are_not_taken_for_a_repetition() -> None:
    yes = {"role": "user", "parts": [{"type": "text", "content": "yes"}]}
    done = {"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}
    spans = [
        _span(
            "chat",
            at,
            at + 1,
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.input.messages": json.dumps([yes]),
                "gen_ai.output.messages": json.dumps([done]),
            },
        )
        for at in (1, 10)
    ]
    assert [step.kind for step in read_run(spans).steps] == ["user_input", "model_turn"] * 2


def test_a_windowed_history_continues_where_it_overlaps() -> None:
    messages = [{"role": "user", "parts": [{"type": "text", "content": f"line {n}"}]} for n in range(6)]
    spans = [
        _span("chat", 1, 2, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages[:4]}),
        _span("chat", 3, 4, {"gen_ai.operation.name": "chat", "gen_ai.input.messages": messages[2:]}),
    ]
    texts = [step.text for step in read_run(spans).steps if isinstance(step, UserInput)]
    assert texts == [f"line {n}" for n in range(6)]


@given(st.lists(st.sampled_from("ab"), max_size=12), st.lists(st.sampled_from("ab"), max_size=12))
def test_the_overlap_is_the_longest_end_that_is_a_start(history: list[str], keys: list[str]) -> None:
    lengths = range(min(len(history), len(keys)) + 1)
    assert _overlap(history, keys) == max(n for n in lengths if history[len(history) - n :] == keys[:n])
