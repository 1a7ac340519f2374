"""OpenAI Responses items become the normal form, and nothing of them is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.schema.run.model import (
    Executor,
    ModelTurn,
    Opaque,
    Passage,
    Phase,
    ReasoningPart,
    Run,
    ToolCall,
    ToolDeclaration,
    ToolResult,
)
from assay.schema.traces import read_run

Check = Callable[[Any, Run], None]

RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "model": "gpt-5",
    "instructions": "Answer from the files.",
    "tools": [
        {"type": "function", "name": "find_order", "parameters": {"type": "object"}, "strict": False},
        {"type": "file_search", "vector_store_ids": ["vs_1"]},
        {"type": "mcp", "server_label": "crm", "server_url": "https://crm.example.org/mcp"},
        {
            "type": "namespace",
            "name": "billing",
            "description": "Bills.",
            "tools": [{"type": "function", "name": "refund", "parameters": {"type": "object"}}],
        },
    ],
    "input": "How long is the warranty of order A-17?",
    "output": [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Look at the files."}],
            "encrypted_content": "gAAA",
        },
        {
            "type": "file_search_call",
            "id": "fs_1",
            "status": "completed",
            "queries": ["warranty"],
            "results": [
                {
                    "file_id": "file_1",
                    "filename": "warranty.pdf",
                    "score": 0.875,
                    "text": "The warranty lasts two years.",
                    "attributes": {"region": "EU"},
                }
            ],
        },
        {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {
                "type": "search",
                "query": "warranty law",
                "sources": [{"type": "url", "url": "https://example.org/law"}],
            },
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "find_order",
            "arguments": '{"order":"A-17"}',
            "status": "completed",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": '{"bought": "2024-03-01"}'},
        {
            "type": "mcp_call",
            "id": "mcp_1",
            "server_label": "crm",
            "name": "note",
            "arguments": '{"text": "asked"}',
            "output": "saved",
        },
        {
            "type": "code_interpreter_call",
            "id": "ci_1",
            "code": "print(2)",
            "container_id": "cntr_1",
            "status": "completed",
            "outputs": [{"type": "logs", "logs": "2\n"}],
        },
        {
            "type": "message",
            "id": "msg_0",
            "role": "assistant",
            "status": "completed",
            "phase": "commentary",
            "content": [{"type": "output_text", "text": "I have what I need.", "annotations": []}],
        },
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "phase": "final_answer",
            "content": [
                {
                    "type": "output_text",
                    "text": "The warranty lasts two years.",
                    "annotations": [
                        {"type": "file_citation", "file_id": "file_1", "filename": "warranty.pdf", "index": 3}
                    ],
                }
            ],
        },
    ],
    "usage": {"total_tokens": 77},
}


def _read() -> Run:
    return read_run(RESPONSE)


def test_a_response_is_read_in_the_order_in_which_things_happened(nothing_lost: Check) -> None:
    run = _read()
    assert (run.format, run.run_id) == ("openai_responses", "resp_1")
    assert [step.kind for step in run.steps] == [
        *["tool_declaration"] * 4,
        "system_prompt",
        "user_input",
        "model_turn",
        "tool_call",
        "passage",
        "tool_call",
        "passage",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "model_turn",
        "model_turn",
    ]
    nothing_lost(RESPONSE, run)


def test_the_final_answer_is_what_the_model_marks_as_such() -> None:
    run = _read()
    assert run.final_answer == "The warranty lasts two years."
    turns = [step for step in run.steps if isinstance(step, ModelTurn)]
    assert [turn.phase for turn in turns] == [None, Phase.COMMENTARY, Phase.FINAL_ANSWER]


def test_results_of_a_file_search_are_passages_of_their_call() -> None:
    call, passage = _read().steps[7:9]
    assert isinstance(call, ToolCall)
    assert isinstance(passage, Passage)
    assert (call.name, call.executor, call.arguments.value) == (
        "file_search",
        Executor.PROVIDER,
        {"queries": ["warranty"]},
    )
    assert (passage.id, passage.source, passage.score) == ("file_1", "warranty.pdf", 0.875)
    assert passage.text == "The warranty lasts two years."
    assert passage.call_id == call.id == "fs_1"
    assert passage.extra == {"attributes": {"region": "EU"}}


def test_sources_of_a_web_search_are_passages_with_an_address() -> None:
    call, passage = _read().steps[9:11]
    assert isinstance(call, ToolCall)
    assert isinstance(passage, Passage)
    assert call.arguments.value == {"type": "search", "query": "warranty law"}
    assert (passage.text, passage.source) == ("", "https://example.org/law")


def test_reasoning_is_no_answer() -> None:
    turn = _read().steps[6]
    assert isinstance(turn, ModelTurn)
    assert turn.text == ""
    assert turn.content == (ReasoningPart(text="Look at the files."),)
    assert turn.extra["encrypted_content"] == "gAAA"


def test_a_function_call_is_answered_by_its_call_id() -> None:
    call, result = _read().steps[11:13]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert call.id == result.call_id == "call_1"
    assert (call.executor, call.extra["id"]) == (Executor.CLIENT, "fc_1")


def test_tools_of_servers_and_namespaces_say_to_whom_they_belong() -> None:
    tools = [step for step in _read().steps if isinstance(step, ToolDeclaration)]
    assert [(tool.name, tool.namespace, tool.executor) for tool in tools] == [
        ("find_order", None, Executor.CLIENT),
        ("file_search", None, Executor.PROVIDER),
        ("crm", "crm", Executor.PROVIDER),
        ("refund", "billing", Executor.CLIENT),
    ]


def test_a_failed_mcp_call_is_a_failed_result(nothing_lost: Check) -> None:
    call = {
        "type": "mcp_call",
        "id": "m",
        "server_label": "crm",
        "name": "note",
        "arguments": "{}",
        "error": "no rights",
    }
    run = read_run([call])
    _, result = run.steps
    assert isinstance(result, ToolResult)
    assert (result.is_error, result.text) == (True, "no rights")
    nothing_lost([call], run)


def test_a_call_that_waits_for_approval_is_a_call_without_a_result() -> None:
    asked = {
        "type": "mcp_approval_request",
        "id": "a",
        "server_label": "crm",
        "name": "wipe",
        "arguments": '{"all":true}',
    }
    (call,) = read_run([asked]).steps
    assert isinstance(call, ToolCall)
    assert (call.name, call.type, call.arguments.value) == ("wipe", "mcp_approval_request", {"all": True})


def test_a_search_of_the_provider_that_failed_is_a_failed_result() -> None:
    item = {"type": "web_search_call", "id": "w", "status": "failed", "action": {"type": "search", "query": "x"}}
    _, result = read_run([item]).steps
    assert isinstance(result, ToolResult)
    assert (result.call_id, result.is_error) == ("w", True)


def test_tools_of_a_server_are_declared_where_they_are_listed(nothing_lost: Check) -> None:
    listed = {
        "type": "mcp_list_tools",
        "id": "l",
        "server_label": "crm",
        "tools": [
            {"name": "note", "input_schema": {"type": "object"}, "description": "d", "annotations": {"hint": "safe"}}
        ],
    }
    run = read_run([listed])
    (tool,) = run.steps
    assert isinstance(tool, ToolDeclaration)
    assert (tool.name, tool.namespace, tool.parameters) == ("note", "crm", {"type": "object"})
    nothing_lost([listed], run)


@pytest.mark.parametrize(
    ("item", "name", "value"),
    [
        ({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}, "shell", {"commands": ["ls"]}),
        (
            {"type": "computer_call", "call_id": "c", "actions": [{"type": "wait"}]},
            "computer",
            {"actions": [{"type": "wait"}]},
        ),
        ({"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a"}}, "apply_patch", {"path": "a"}),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            "local_shell",
            {"command": ["ls"]},
        ),
    ],
)
def test_calls_that_the_agents_own_program_executes_can_be_stopped(item: Any, name: str, value: Any) -> None:
    (call,) = read_run([item]).steps
    assert isinstance(call, ToolCall)
    assert (call.name, call.id, call.executor, call.arguments.value) == (name, "c", Executor.CLIENT, value)


def test_free_text_for_a_custom_tool_is_no_malformed_json() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": "SELECT 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "1"}]},
    ]
    call, result = read_run(items).steps
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (call.arguments.verbatim, call.arguments.well_formed, result.text) == ("SELECT 1", True, "1")


def test_known_items_that_say_nothing_are_opaque_without_a_fault_and_unknown_ones_with(nothing_lost: Check) -> None:
    raw = [
        {"type": "item_reference", "id": "msg_9"},
        {"type": "teleport_call", "id": "t", "where": "Mars"},
        {"type": 4},
    ]
    run = read_run(raw, format="openai_responses")
    known, unknown, _ = run.steps
    assert isinstance(known, Opaque)
    assert isinstance(unknown, Opaque)
    assert (known.type, known.faults) == ("item_reference", ())
    assert unknown.type == "teleport_call"
    assert [fault.code for fault in unknown.faults] == ["item.unknown_type"]
    nothing_lost(raw, run)


def test_what_a_response_repeats_of_its_request_is_read_once() -> None:
    request = {"instructions": "Be brief.", "input": [{"role": "user", "content": "Hi"}], "tools": []}
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]}]
    run = read_run(
        {"request": request, "response": {"object": "response", "instructions": "Be brief.", "output": output}}
    )
    assert [step.kind for step in run.steps] == ["system_prompt", "user_input", "model_turn"]
