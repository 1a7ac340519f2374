"""What the official clients hold is read as it is: their own models, mixed with mappings."""

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

from assay.schema.run.model import ModelTurn, Passage, Phase, ReasoningPart, Run, ToolCall, ToolDeclaration, ToolResult
from assay.schema.traces import read_run

Check = Callable[[Any, Run], None]


def _needs(package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


@_needs("openai")
def test_a_chat_completion_of_the_openai_client_is_read(nothing_lost: Check) -> None:
    from openai.types.chat import ChatCompletion

    wire = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
                        {"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
                    ],
                },
            }
        ],
    }
    completion = ChatCompletion.model_validate(wire)
    run = read_run(completion)
    assert [(step.id, step.name) for step in run.steps if isinstance(step, ToolCall)] == [("c1", "f"), ("c2", "sql")]
    assert run.steps == read_run(wire).steps == read_run(completion.model_dump()).steps
    nothing_lost(wire, run)


@_needs("openai")
def test_a_message_of_the_openai_client_stands_among_mappings() -> None:
    from openai.types.chat import ChatCompletionMessage

    spoken = ChatCompletionMessage(role="assistant", content="It is in Hamburg.")
    run = read_run([{"role": "user", "content": "Where?"}, spoken])
    assert run.final_answer == "It is in Hamburg."
    assert run.steps[1].extra == {}


@_needs("openai")
def test_a_response_of_the_openai_client_is_read(nothing_lost: Check) -> None:
    from openai.types.responses import Response

    wire = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1.0,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": True}],
        "output": [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Look."}]},
            {
                "type": "file_search_call",
                "id": "fs",
                "status": "completed",
                "queries": ["warranty"],
                "results": [{"file_id": "f1", "filename": "w.pdf", "score": 0.5, "text": "Two years."}],
            },
            {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"},
            {
                "type": "message",
                "id": "msg",
                "role": "assistant",
                "status": "completed",
                "phase": "final_answer",
                "content": [{"type": "output_text", "text": "Two years.", "annotations": []}],
            },
        ],
    }
    run = read_run(Response.model_validate(wire))
    declared, reasoning, search, passage, call, turn = run.steps
    assert isinstance(declared, ToolDeclaration)
    assert isinstance(reasoning, ModelTurn)
    assert isinstance(search, ToolCall)
    assert isinstance(passage, Passage)
    assert isinstance(call, ToolCall)
    assert isinstance(turn, ModelTurn)
    assert reasoning.content == (ReasoningPart(text="Look."),)
    assert (passage.text, passage.call_id, call.id, turn.phase) == ("Two years.", "fs", "c1", Phase.FINAL_ANSWER)
    nothing_lost(wire, run)


@_needs("openai")
def test_every_item_type_of_the_openai_client_is_known() -> None:
    from typing import get_args

    from openai.types.responses.response_input_item import ResponseInputItem

    from assay.schema.traces.openai_responses import ITEM_TYPES

    union = get_args(ResponseInputItem)[0]
    names = {name for model in get_args(union) for name in _literals(model.model_fields.get("type"))}
    assert len(names) > 20
    assert names - ITEM_TYPES == set()


def _literals(field: Any) -> list[str]:
    from typing import get_args

    found = list(get_args(field.annotation)) if field is not None else []
    return [name for value in found for name in (get_args(value) or (value,)) if isinstance(name, str)]


@_needs("anthropic")
def test_a_message_of_the_anthropic_client_is_read(nothing_lost: Check) -> None:
    from anthropic.types import Message

    wire = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
        "content": [
            {"type": "thinking", "thinking": "I need it.", "signature": "sig=="},
            {"type": "text", "text": "Let me look."},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "law"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "s1",
                "content": [
                    {
                        "type": "web_search_result",
                        "url": "https://example.org",
                        "title": "Law",
                        "encrypted_content": "x",
                    }
                ],
            },
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": None, "b": [1]}},
        ],
    }
    run = read_run(Message.model_validate(wire))
    assert [step.kind for step in run.steps] == ["model_turn", "tool_call", "tool_result", "passage", "tool_call"]
    call = run.steps[4]
    assert isinstance(call, ToolCall)
    assert call.arguments.value == {"a": None, "b": [1]}
    assert not any(step.faults for step in run.steps)
    nothing_lost(wire, run)


@_needs("anthropic")
def test_a_conversation_of_the_anthropic_client_mixes_its_blocks_with_mappings() -> None:
    from anthropic.types import TextBlock, ToolUseBlock

    blocks = [TextBlock(type="text", text="Let me look."), ToolUseBlock(type="tool_use", id="t", name="f", input={})]
    result = {"type": "tool_result", "tool_use_id": "t", "content": "in Hamburg"}
    run = read_run([{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}])
    assert [step.kind for step in run.steps] == ["model_turn", "tool_call", "tool_result"]


@_needs("mcp")
def test_the_values_of_the_mcp_client_are_read() -> None:
    from mcp.types import CallToolRequest, CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

    listed = ListToolsResult(tools=[Tool(name="f", input_schema={"type": "object"})])
    asked = CallToolRequest(params=CallToolRequestParams(name="f", arguments={"a": 1}))
    returned = CallToolResult(
        content=[TextContent(text="in Hamburg")], structured_content={"place": "Hamburg"}, is_error=True
    )
    declared, call, result = read_run([listed, asked, returned], format="mcp").steps
    assert isinstance(declared, ToolDeclaration)
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert declared.parameters == {"type": "object"}
    assert call.arguments.value == {"a": 1}
    assert (result.text, result.structured, result.is_error) == ("in Hamburg", {"place": "Hamburg"}, True)
