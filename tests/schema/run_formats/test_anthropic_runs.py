"""Anthropic messages become the normal form, and nothing of them is lost."""

from collections.abc import Callable
from typing import Any

from assay.schema.run.model import (
    Executor,
    ModelTurn,
    Opaque,
    Passage,
    Run,
    ToolCall,
    ToolDeclaration,
    ToolResult,
)
from assay.schema.traces import read_run

Check = Callable[[Any, Run], None]

REQUEST: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 512,
    "system": [
        {"type": "text", "text": "Answer from the documents.", "cache_control": {"type": "ephemeral", "ttl": "5m"}}
    ],
    "tools": [
        {
            "name": "find_order",
            "description": "Finds an order.",
            "input_schema": {"type": "object", "required": ["order"]},
        },
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
        {"type": "bash_20250124", "name": "bash"},
    ],
    "messages": [
        {
            "role": "user",
            "content": [
                {
                    "type": "document",
                    "title": "Warranty",
                    "context": "valid since 2024",
                    "source": {"type": "text", "media_type": "text/plain", "data": "The warranty lasts two years."},
                    "citations": {"enabled": True},
                },
                {
                    "type": "search_result",
                    "source": "https://example.org/returns",
                    "title": "Returns",
                    "content": [{"type": "text", "text": "Returns within 30 days."}],
                },
                {"type": "text", "text": "How long is the warranty of A-17?"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "I need the order.", "signature": "sig=="},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_1", "name": "find_order", "input": {"order": "A-17"}},
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "warranty law"}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "srv_1",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": "https://example.org/law",
                            "title": "The law",
                            "encrypted_content": "EqgfCioIARgB",
                            "page_age": "April 2024",
                        }
                    ],
                },
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "The database is down."},
                        {
                            "type": "search_result",
                            "source": "cache",
                            "title": "Order A-17",
                            "content": [{"type": "text", "text": "bought 2024-03-01"}],
                        },
                    ],
                }
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "The warranty lasts "},
                {
                    "type": "text",
                    "text": "two years",
                    "citations": [{"type": "char_location", "cited_text": "lasts two years", "document_index": 0}],
                },
                {"type": "text", "text": "."},
            ],
        },
    ],
}


def test_a_request_is_read_in_the_order_in_which_things_happened(nothing_lost: Check) -> None:
    run = read_run(REQUEST)
    assert run.format == "anthropic_messages"
    assert [step.kind for step in run.steps] == [
        *["tool_declaration"] * 3,
        "system_prompt",
        "passage",
        "passage",
        "user_input",
        "model_turn",
        "tool_call",
        "tool_call",
        "tool_result",
        "passage",
        "tool_result",
        "passage",
        "model_turn",
    ]
    nothing_lost(REQUEST, run)


def test_blocks_of_an_answer_are_joined_as_they_are_read() -> None:
    run = read_run(REQUEST)
    assert run.final_answer == "The warranty lasts two years."
    turn = run.steps[-1]
    assert isinstance(turn, ModelTurn)
    assert turn.content[1].extra["citations"][0]["cited_text"] == "lasts two years"


def test_documents_and_search_results_of_the_user_are_passages() -> None:
    document, result = read_run(REQUEST).steps[4:6]
    assert isinstance(document, Passage)
    assert isinstance(result, Passage)
    assert (document.title, document.text, document.call_id) == ("Warranty", "The warranty lasts two years.", None)
    assert document.extra == {"context": "valid since 2024", "citations": {"enabled": True}}
    assert (result.source, result.text) == ("https://example.org/returns", "Returns within 30 days.")


def test_thinking_is_kept_and_is_no_answer() -> None:
    turn = read_run(REQUEST).steps[7]
    assert isinstance(turn, ModelTurn)
    assert turn.text == "Let me look."
    assert turn.content[0].extra == {"signature": "sig=="}


def test_a_failed_result_is_marked_and_its_passages_belong_to_the_call() -> None:
    result, passage = read_run(REQUEST).steps[12:14]
    assert isinstance(result, ToolResult)
    assert isinstance(passage, Passage)
    assert (result.call_id, result.is_error, result.text) == ("toolu_1", True, "The database is down.")
    assert (passage.call_id, passage.text) == ("toolu_1", "bought 2024-03-01")


def test_the_providers_tools_are_told_from_the_clients() -> None:
    run = read_run(REQUEST)
    tools = [step for step in run.steps if isinstance(step, ToolDeclaration)]
    assert [(tool.name, tool.type, tool.executor) for tool in tools] == [
        ("find_order", "function", Executor.CLIENT),
        ("web_search", "web_search_20250305", Executor.PROVIDER),
        ("bash", "bash_20250124", Executor.CLIENT),
    ]
    calls = [step for step in run.steps if isinstance(step, ToolCall)]
    assert [(call.name, call.executor, call.arguments.value) for call in calls] == [
        ("find_order", Executor.CLIENT, {"order": "A-17"}),
        ("web_search", Executor.PROVIDER, {"query": "warranty law"}),
    ]


def test_a_page_that_was_found_is_a_passage_even_where_its_text_is_encrypted() -> None:
    result, passage = read_run(REQUEST).steps[10:12]
    assert isinstance(result, ToolResult)
    assert isinstance(passage, Passage)
    assert (result.call_id, result.is_error, result.executor) == ("srv_1", False, Executor.PROVIDER)
    assert (passage.text, passage.source, passage.call_id) == ("", "https://example.org/law", "srv_1")
    assert passage.extra["encrypted_content"] == "EqgfCioIARgB"


def test_a_page_that_was_fetched_is_a_passage_with_its_text(nothing_lost: Check) -> None:
    block = {
        "type": "web_fetch_tool_result",
        "tool_use_id": "srv_2",
        "content": {
            "type": "web_fetch_result",
            "url": "https://example.org/a",
            "retrieved_at": "2026-01-01T00:00:00Z",
            "content": {
                "type": "document",
                "title": "A page",
                "source": {"type": "text", "media_type": "text/plain", "data": "What it says."},
            },
        },
    }
    raw = [{"role": "assistant", "content": [block]}]
    run = read_run(raw)
    _, passage = run.steps
    assert isinstance(passage, Passage)
    assert (passage.text, passage.title, passage.source) == ("What it says.", "A page", "https://example.org/a")
    nothing_lost(raw, run)


def test_an_error_of_the_providers_tool_is_a_failed_result(nothing_lost: Check) -> None:
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    raw = [{"role": "assistant", "content": [{"type": "web_search_tool_result", "tool_use_id": "s", "content": error}]}]
    run = read_run(raw)
    (result,) = run.steps
    assert isinstance(result, ToolResult)
    assert result.is_error is True
    assert "max_uses_exceeded" in result.text
    nothing_lost(raw, run)


def test_what_code_printed_is_in_the_result() -> None:
    content = {"type": "bash_code_execution_result", "stdout": "42", "stderr": "", "return_code": 0, "content": []}
    raw = [
        {
            "role": "assistant",
            "content": [{"type": "bash_code_execution_tool_result", "tool_use_id": "s", "content": content}],
        }
    ]
    (result,) = read_run(raw, format="anthropic_messages").steps
    assert isinstance(result, ToolResult)
    assert result.structured == content
    assert '"stdout": "42"' in result.text


def test_a_document_that_is_a_file_keeps_its_source(nothing_lost: Check) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
    raw = [{"role": "user", "content": [{"type": "document", "source": source}]}]
    run = read_run(raw)
    (passage,) = run.steps
    assert isinstance(passage, Passage)
    assert (passage.text, passage.extra) == ("", {"source": source})
    nothing_lost(raw, run)


def test_a_response_keeps_what_stands_beside_its_content(nothing_lost: Check) -> None:
    response = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "output_tokens": 9},
    }
    run = read_run(response)
    turn, call = run.steps
    assert isinstance(turn, ModelTurn)
    assert isinstance(call, ToolCall)
    assert (turn.text, turn.stop_reason, turn.extra["usage"]["output_tokens"]) == ("", "tool_use", 9)
    assert run.final_answer is None
    nothing_lost(response, run)


def test_instructions_in_the_middle_of_a_conversation_are_a_system_prompt() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "system", "content": "Now speak French."}]
    run = read_run({"messages": messages, "system": "Speak English."})
    assert [step.kind for step in run.steps] == ["system_prompt", "user_input", "system_prompt"]


def test_input_that_is_no_object_is_kept_and_marked() -> None:
    raw = [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": ["A-17"]}]}]
    (call,) = read_run(raw).steps
    assert isinstance(call, ToolCall)
    assert call.arguments.verbatim == '["A-17"]'
    assert [fault.code for fault in call.arguments.faults] == ["arguments.not_an_object"]


def test_unknown_blocks_and_roles_are_kept_and_named(nothing_lost: Check) -> None:
    raw = {
        "system": "s",
        "messages": [
            {"role": "oracle", "content": "The signs are good."},
            {"role": "user", "content": [{"type": "aura", "hue": "violet"}, 7]},
        ],
    }
    run = read_run(raw)
    _, oracle, user, number = run.steps
    assert isinstance(oracle, Opaque)
    assert isinstance(number, Opaque)
    assert oracle.role == "oracle"
    assert [fault.code for fault in user.faults] == ["item.unknown_type"]
    nothing_lost(raw, run)
