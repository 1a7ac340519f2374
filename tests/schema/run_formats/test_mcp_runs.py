"""MCP messages become the normal form, and nothing of them is lost."""

import json
from collections.abc import Callable
from typing import Any

from assay.schema.run.model import DataPart, Opaque, Passage, Run, ToolCall, ToolDeclaration, ToolResult
from assay.schema.traces import read_run

Check = Callable[[Any, Run], None]

SESSION: list[Any] = [
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2026-07-28", "capabilities": {}},
    },
    {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2026-07-28", "serverInfo": {"name": "orders"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": "page-1"}},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {
            "tools": [
                {
                    "name": "find_order",
                    "title": "Find an order",
                    "description": "Finds an order by its number.",
                    "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}},
                    "outputSchema": {"type": "object", "properties": {"place": {"type": "string"}}},
                    "annotations": {"readOnlyHint": True, "title": "Find"},
                }
            ],
            "nextCursor": "page-2",
        },
    },
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "find_order", "arguments": {"order": "A-17"}, "_meta": {"progressToken": "p"}},
    },
    {"jsonrpc": "2.0", "id": "2", "method": "tools/call", "params": {"name": "now"}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "result": {
            "content": [
                {"type": "text", "text": '{"place": "Hamburg"}'},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {
                    "type": "resource",
                    "resource": {
                        "uri": "file:///orders/17.txt",
                        "mimeType": "text/plain",
                        "text": "Order A-17: shipped.",
                    },
                },
                {"type": "resource_link", "uri": "file:///orders/18.txt", "name": "Order A-18"},
            ],
            "structuredContent": {"place": "Hamburg"},
            "isError": False,
        },
    },
    {"jsonrpc": "2.0", "id": "2", "error": {"code": -32602, "message": "Unknown tool: now"}},
]


def test_a_session_is_read_in_the_order_in_which_things_happened(nothing_lost: Check) -> None:
    run = read_run(SESSION)
    assert run.format == "mcp"
    assert [step.kind for step in run.steps] == [
        "opaque",
        "opaque",
        "opaque",
        "opaque",
        "tool_declaration",
        "tool_call",
        "tool_call",
        "tool_result",
        "passage",
        "passage",
        "tool_result",
    ]
    assert not any(step.faults for step in run.steps)
    nothing_lost(SESSION, run)


def test_a_declaration_has_both_schemas() -> None:
    tool = read_run(SESSION).steps[4]
    assert isinstance(tool, ToolDeclaration)
    assert tool.parameters == {"type": "object", "properties": {"order": {"type": "string"}}}
    assert tool.output_schema == {"type": "object", "properties": {"place": {"type": "string"}}}
    assert tool.extra["annotations"] == {"readOnlyHint": True, "title": "Find"}
    assert tool.extra["list"] == {"nextCursor": "page-2"}


def test_a_call_without_arguments_calls_with_none() -> None:
    first, second = read_run(SESSION).steps[5:7]
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.id, first.arguments.value) == ("2", {"order": "A-17"})
    assert (second.name, second.arguments.value) == ("now", {})


def test_a_result_has_its_text_its_structure_and_its_passages() -> None:
    result, embedded, link = read_run(SESSION).steps[7:10]
    assert isinstance(result, ToolResult)
    assert isinstance(embedded, Passage)
    assert isinstance(link, Passage)
    assert (result.text, result.structured, result.is_error) == ('{"place": "Hamburg"}', {"place": "Hamburg"}, False)
    assert isinstance(result.content[1], DataPart)
    assert (embedded.text, embedded.source) == ("Order A-17: shipped.", "file:///orders/17.txt")
    assert (link.text, link.title, link.call_id) == ("", "Order A-18", "2")


def test_an_error_of_the_protocol_is_a_failed_result() -> None:
    result = read_run(SESSION).steps[10]
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.is_error) == ("2", True)
    assert "Unknown tool" in result.text


def test_a_failure_of_the_tool_is_a_failed_result() -> None:
    answer = {
        "jsonrpc": "2.0",
        "id": 5,
        "result": {"content": [{"type": "text", "text": "no such order"}], "isError": True},
    }
    (result,) = read_run([answer]).steps
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.is_error, result.text) == ("5", True, "no such order")


def test_json_lines_and_batches_are_read_alike() -> None:
    lines = "\n".join(json.dumps(message) for message in SESSION)
    steps = [step.model_copy(update={"place": None}) for step in read_run(SESSION).steps]
    assert [step.model_copy(update={"place": None}) for step in read_run(lines).steps] == steps
    batched = read_run([SESSION[:4], SESSION[4:]])
    assert [step.kind for step in batched.steps] == [step.kind for step in steps]


def test_what_resources_read_returns_are_passages(nothing_lost: Check) -> None:
    raw = [
        {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "file:///a"}},
        {"jsonrpc": "2.0", "id": 1, "result": {"contents": [{"uri": "file:///a", "text": "A text."}], "ttlMs": 5}},
    ]
    run = read_run(raw)
    _, passage = run.steps
    assert isinstance(passage, Passage)
    assert (passage.source, passage.text) == ("file:///a", "A text.")
    nothing_lost(raw, run)


def test_bare_lists_and_results_are_read_without_their_frame() -> None:
    (tool,) = read_run({"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}).steps
    assert isinstance(tool, ToolDeclaration)
    (result,) = read_run({"content": [{"type": "text", "text": "x"}], "isError": True}).steps
    assert isinstance(result, ToolResult)
    assert result.is_error is True
    (call,) = read_run({"method": "tools/call", "params": {"name": "f", "arguments": {"a": 1}}}).steps
    assert isinstance(call, ToolCall)
    assert (call.id, call.arguments.value) == (None, {"a": 1})


def test_messages_that_are_none_are_kept_and_named(nothing_lost: Check) -> None:
    raw = [{"jsonrpc": "2.0", "id": [1], "result": {"content": [], "odd": "kept"}}, "text", {"jsonrpc": "2.0", "id": 3}]
    run = read_run(raw)
    assert isinstance(run.steps[1], Opaque)
    assert [fault.code for fault in run.steps[1].faults] == ["item.unknown_type"]
    nothing_lost(raw, run)


def test_the_id_of_declarations_that_answer_no_request_is_kept() -> None:
    tools = [{"name": "find", "inputSchema": {"type": "object"}}]
    (tool,) = read_run([{"jsonrpc": "2.0", "id": "lost", "result": {"tools": tools}}], format="mcp").steps
    assert tool.extra["message"] == {"id": "lost"}
