"""OpenAI chat completions become the normal form, and nothing of them is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.schema.run.arguments import ArgumentsForm
from assay.schema.run.model import (
    DataPart,
    ModelTurn,
    Opaque,
    Run,
    SystemPrompt,
    ToolCall,
    ToolDeclaration,
    ToolResult,
    UserInput,
)
from assay.schema.traces import read_run, read_steps

Check = Callable[[Any, Run], None]

REQUEST: dict[str, Any] = {
    "model": "gpt-5",
    "temperature": 0.25,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "find_order",
                "description": "Finds an order by its number.",
                "strict": True,
                "parameters": {
                    "type": "object",
                    "properties": {"order": {"type": "string"}},
                    "required": ["order"],
                    "additionalProperties": False,
                },
            },
        },
        {"type": "custom", "custom": {"name": "run_sql", "description": "Runs a query.", "format": {"type": "text"}}},
    ],
    "messages": [
        {"role": "developer", "content": "You help with orders."},
        {"role": "user", "name": "ada", "content": "Where is order A-17?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "find_order", "arguments": '{"order": "A-17"}'},
                },
                {"id": "call_2", "type": "custom", "custom": {"name": "run_sql", "input": "SELECT place FROM orders"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": '{"place": "Hamburg"}'},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "1 row"}]},
        {"role": "assistant", "content": "Order A-17 is in Hamburg."},
    ],
}


def test_a_request_is_read_in_the_order_in_which_things_happened(nothing_lost: Check) -> None:
    run = read_run(REQUEST)
    assert run.format == "openai_chat"
    assert [step.kind for step in run.steps] == [
        "tool_declaration",
        "tool_declaration",
        "system_prompt",
        "user_input",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "model_turn",
    ]
    assert run.final_answer == "Order A-17 is in Hamburg."
    nothing_lost(REQUEST, run)


def test_declarations_keep_their_schema_and_what_else_they_say() -> None:
    function, custom = read_run(REQUEST).steps[:2]
    assert isinstance(function, ToolDeclaration)
    assert isinstance(custom, ToolDeclaration)
    assert function.name == "find_order"
    assert function.strict is True
    assert function.parameters is not None
    assert function.parameters["required"] == ["order"]
    assert custom.type == "custom"
    assert custom.parameters is None
    assert custom.extra == {"format": {"type": "text"}}


def test_calls_have_their_ids_and_read_arguments() -> None:
    function, custom = read_run(REQUEST).steps[4:6]
    assert isinstance(function, ToolCall)
    assert isinstance(custom, ToolCall)
    assert (function.id, function.name, function.arguments.value) == ("call_1", "find_order", {"order": "A-17"})
    assert function.arguments.verbatim == '{"order": "A-17"}'
    assert custom.arguments.form is ArgumentsForm.TEXT
    assert custom.arguments.verbatim == "SELECT place FROM orders"
    assert custom.arguments.well_formed


def test_steps_know_where_they_stand_in_the_transcript() -> None:
    run = read_run(REQUEST)
    assert [step.place for step in run.steps[3:6]] == [
        "/messages/1",
        "/messages/2/tool_calls/0",
        "/messages/2/tool_calls/1",
    ]


def test_roles_keep_their_words() -> None:
    system, user = read_run(REQUEST).steps[2:4]
    assert isinstance(system, SystemPrompt)
    assert isinstance(user, UserInput)
    assert (system.role, system.text) == ("developer", "You help with orders.")
    assert user.name == "ada"


def test_a_response_gives_the_turn_and_its_calls(nothing_lost: Check) -> None:
    response = {
        "id": "chatcmpl-9",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "gpt-5",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "logprobs": {"content": [{"token": "Let", "logprob": -0.5}]},
                "message": {
                    "role": "assistant",
                    "content": "Let me look.",
                    "refusal": None,
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
            }
        ],
        "usage": {"total_tokens": 31},
    }
    run = read_run(response)
    turn, call = run.steps
    assert isinstance(turn, ModelTurn)
    assert isinstance(call, ToolCall)
    assert (turn.text, turn.stop_reason) == ("Let me look.", "tool_calls")
    assert run.run_id == "chatcmpl-9"
    assert run.extra["usage"] == {"total_tokens": 31}
    assert run.final_answer is None
    nothing_lost(response, run)


def test_every_choice_of_a_response_is_a_turn_that_can_be_checked() -> None:
    choices = [{"index": n, "message": {"role": "assistant", "content": f"answer {n}"}} for n in range(3)]
    run = read_run({"choices": choices})
    assert run.final_answer == "answer 0\nanswer 1\nanswer 2"


def test_a_request_and_its_response_are_one_run(nothing_lost: Check) -> None:
    exchange = {
        "request": {"messages": [{"role": "user", "content": "Hello"}], "model": "gpt-5"},
        "response": {"id": "chatcmpl-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}}]},
        "tenant": "north",
    }
    run = read_run(exchange)
    assert [step.place for step in run.steps] == ["/request/messages/0", "/response/choices/0/message"]
    assert (run.run_id, run.final_answer, run.extra["tenant"]) == ("chatcmpl-1", "Hi.", "north")
    nothing_lost(exchange, run)


def test_the_older_functions_are_read_like_tools(nothing_lost: Check) -> None:
    raw = {
        "functions": [{"name": "find_order", "parameters": {"type": "object", "properties": {}}}],
        "messages": [
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": None, "function_call": {"name": "find_order", "arguments": "{}"}},
            {"role": "function", "name": "find_order", "content": "Hamburg"},
        ],
    }
    run = read_run(raw)
    declared, _, call, result = run.steps
    assert isinstance(declared, ToolDeclaration)
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert (declared.type, call.id, call.name, call.arguments.value) == ("function", None, "find_order", {})
    assert (result.call_id, result.name, result.text) == (None, "find_order", "Hamburg")
    nothing_lost(raw, run)


def test_parts_that_are_no_text_are_kept_as_they_came(nothing_lost: Check) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": "low"}}
    raw = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}]
    run = read_run(raw)
    (user,) = run.steps
    assert isinstance(user, UserInput)
    assert user.text == "What is this?"
    assert user.content[1] == DataPart(name="image_url", value=image)
    assert user.faults == ()
    nothing_lost(raw, run)


def test_a_refusal_is_what_its_reader_sees() -> None:
    run = read_run([{"role": "assistant", "content": None, "refusal": "I cannot help with that."}])
    (turn,) = run.steps
    assert isinstance(turn, ModelTurn)
    assert turn.refused
    assert run.final_answer == "I cannot help with that."


def test_arguments_that_came_as_an_object_are_read_too() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}
    (step,) = read_run([{"role": "assistant", "content": "", "tool_calls": [call]}]).steps
    assert isinstance(step, ToolCall)
    assert step.arguments.value == {"a": 1}


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ('{"a": 1', "invalid_json"),
        ('{"a": 1, "a": 2}', "duplicate_key"),
        ('{"a": NaN}', "not_finite"),
        ("[1]", "not_an_object"),
        ("", "empty"),
    ],
)
def test_malformed_arguments_are_kept_verbatim_and_marked(written: str, code: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": written}}
    (step,) = read_run([{"role": "assistant", "tool_calls": [call]}]).steps
    assert isinstance(step, ToolCall)
    assert step.arguments.verbatim == written
    assert step.arguments.value is None
    assert [fault.code for fault in step.arguments.faults] == [f"arguments.{code}"]


def test_a_call_without_arguments_or_name_is_still_a_call() -> None:
    (step,) = read_run([{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {}}]}]).steps
    assert isinstance(step, ToolCall)
    assert step.name == ""
    assert [fault.code for fault in step.faults] == ["call.no_name"]
    assert [fault.code for fault in step.arguments.faults] == ["arguments.missing"]


def test_unknown_types_and_roles_are_kept_and_named(nothing_lost: Check) -> None:
    raw = [
        {"role": "oracle", "content": "The signs are good."},
        {"role": "assistant", "tool_calls": [{"id": "7", "type": "ritual", "ritual": {"chant": "om"}}]},
        {"role": "user", "content": [{"type": "hologram", "beam": "blue"}]},
        "not a message",
    ]
    run = read_run(raw)
    oracle, ritual, user, text = run.steps
    assert isinstance(oracle, Opaque)
    assert isinstance(ritual, Opaque)
    assert isinstance(text, Opaque)
    assert (oracle.type, oracle.role) == ("message", "oracle")
    assert (ritual.type, ritual.call_id) == ("ritual", "7")
    assert {fault.code for step in run.steps for fault in step.faults} == {"item.unknown_type"}
    assert "'hologram'" in user.faults[0].message
    nothing_lost(raw, run)


def test_a_schema_that_is_no_object_leaves_a_fault_and_no_schema() -> None:
    raw = {"tools": [{"type": "function", "function": {"name": "f", "parameters": True}}], "messages": []}
    (tool,) = read_run(raw).steps
    assert isinstance(tool, ToolDeclaration)
    assert tool.parameters is None
    assert tool.extra == {"parameters": True}
    assert tool.faults[0].message == "expected an object, got a boolean"
    assert tool.faults[0].place == "/tools/0/function/parameters"


def test_the_same_name_beside_and_inside_a_function_is_kept_twice(nothing_lost: Check) -> None:
    raw = {"tools": [{"type": "function", "note": "outer", "function": {"name": "f", "note": "inner"}}], "messages": []}
    nothing_lost(raw, read_run(raw))


def test_a_growing_run_is_read_message_by_message() -> None:
    whole = read_run(REQUEST["messages"]).steps
    grown = [step for message in REQUEST["messages"] for step in read_steps(message, format="openai_chat")]
    assert [step.model_copy(update={"place": None}) for step in whole] == [
        step.model_copy(update={"place": None}) for step in grown
    ]
