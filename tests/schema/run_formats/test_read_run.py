"""Every format is recognised or refused with reasons; hostile transcripts break no reader and lose no word."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.schema.run.model import ModelTurn, Run, Step, ToolCall, ToolResult, UserInput
from assay.schema.traces import FORMATS, read_run, read_steps

Check = Callable[[Any, Run], None]
SHARED = Path(__file__).resolve().parents[4] / "shared"
TRAJECTORIES = SHARED / "data" / "tool" / "taubench_airline_gpt4o.trajectories.jsonl.gz"

TOOL = {"type": "object", "properties": {"order": {"type": "string"}}}
CHAT: dict[str, Any] = {
    "tools": [{"type": "function", "function": {"name": "find_order", "description": "Finds.", "parameters": TOOL}}],
    "messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Where is A-17?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": "A-17"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "in Hamburg"},
        {"role": "assistant", "content": "It is in Hamburg."},
    ],
}
RESPONSES: dict[str, Any] = {
    "tools": [{"type": "function", "name": "find_order", "description": "Finds.", "parameters": TOOL}],
    "instructions": "You help.",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Where is A-17?"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "call_id": "c1", "name": "find_order", "arguments": '{"order": "A-17"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "in Hamburg"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is in Hamburg."}]},
    ],
}
ANTHROPIC: dict[str, Any] = {
    "tools": [{"name": "find_order", "description": "Finds.", "input_schema": TOOL}],
    "system": "You help.",
    "messages": [
        {"role": "user", "content": "Where is A-17?"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "c1", "name": "find_order", "input": {"order": "A-17"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "in Hamburg"}]},
        {"role": "assistant", "content": "It is in Hamburg."},
    ],
}
OTEL: dict[str, Any] = {
    "spans": [
        {
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.tool.definitions": [
                    {"type": "function", "name": "find_order", "description": "Finds.", "parameters": TOOL}
                ],
                "gen_ai.system_instructions": [{"type": "text", "content": "You help."}],
                "gen_ai.input.messages": [
                    {"role": "user", "parts": [{"type": "text", "content": "Where is A-17?"}]},
                    {
                        "role": "assistant",
                        "parts": [
                            {"type": "text", "content": "Let me look."},
                            {"type": "tool_call", "id": "c1", "name": "find_order", "arguments": {"order": "A-17"}},
                        ],
                    },
                    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "in Hamburg"}]},
                ],
                "gen_ai.output.messages": [
                    {"role": "assistant", "parts": [{"type": "text", "content": "It is in Hamburg."}]}
                ],
            }
        }
    ]
}
MCP: list[Any] = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "find_order", "inputSchema": TOOL}]}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "find_order", "arguments": {"order": "A-17"}},
    },
    {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "in Hamburg"}], "isError": False}},
]
TRANSCRIPTS: dict[str, Any] = {
    "openai_chat": CHAT,
    "openai_responses": RESPONSES,
    "anthropic_messages": ANTHROPIC,
    "otel_genai": OTEL,
    "mcp": MCP,
}


def _meaning(step: Step) -> dict[str, Any]:
    """A step without what only says how the format wrote it."""
    said = step.model_dump(exclude={"place", "extra", "faults", "is_error", "content"})
    if isinstance(step, ToolCall):
        said["arguments"] = step.arguments.value
    if not isinstance(step, ToolCall) and hasattr(step, "text"):
        said["text"] = step.text
    return said


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_recognised(name: str) -> None:
    assert read_run(TRANSCRIPTS[name]).format == name


@pytest.mark.parametrize("name", ["openai_responses", "anthropic_messages", "otel_genai"])
def test_the_same_happenings_give_the_same_steps_in_every_format(name: str) -> None:
    expected = [_meaning(step) for step in read_run(CHAT).steps]
    assert [_meaning(step) for step in read_run(TRANSCRIPTS[name]).steps] == expected


@pytest.mark.parametrize("name", FORMATS)
def test_text_bytes_and_values_are_read_alike(name: str) -> None:
    run = read_run(TRANSCRIPTS[name])
    text = json.dumps(TRANSCRIPTS[name])
    assert read_run(text) == run
    assert read_run(text.encode()) == run
    assert read_run(run.model_dump_json()) == run
    assert read_run(run) is run


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_of_a_transcript_is_lost_in_any_format(name: str, nothing_lost: Check) -> None:
    nothing_lost(TRANSCRIPTS[name], read_run(TRANSCRIPTS[name]))


def test_the_id_is_the_callers_or_the_transcripts_or_a_digest_of_it() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    assert read_run(messages, run_id="mine").run_id == "mine"
    assert read_run({"id": "its-own", "messages": messages}).run_id == "its-own"
    assert read_run(messages).run_id == read_run(json.dumps(messages)).run_id
    assert read_run(messages).run_id != read_run([{"role": "user", "content": "Ho"}]).run_id


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "an empty object"),
        ([], "an empty array"),
        ([[]], "an array whose first item is an array"),
        ([1, 2], "an array whose first item is a number"),
        ({"prompt": "x", "completion": "y"}, "an object with the members 'prompt', 'completion'"),
        ('"only a text"', "a single value"),
    ],
)
def test_what_is_in_no_format_is_refused_with_what_was_expected_and_what_came(raw: Any, said: str) -> None:
    with pytest.raises(InputError, match=r"transcript|expected") as caught:
        read_run(raw)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ("{", "no JSON"),
        ('{"messages": [], "messages": []}', "twice"),
        ('[{"role": "user"}]\n{"role": ', "neither JSON nor JSON Lines"),
        ("[" * 100_000, "nested too deep"),
        ("[" * 300 + "]" * 300, "at most 200 levels"),
        ("[" + "1" * 5000 + "]", "5000 characters"),
        ([{"role": "user", "content": object()}], "a Python object"),
        ([{"role": "user", 1: "x"}], "the names of an object are texts"),
        ([{"role": "user", "content": 10**5000}], "more than 400 digits"),
        (b"\xff\xfe", "UTF-8"),
        ({"run_id": "r", "steps": [{"kind": "dream"}]}, "like a run of assay"),
    ],
)
def test_what_cannot_be_read_is_refused_with_reasons(raw: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_run(raw)
    assert said in str(caught.value)


def test_an_unknown_name_of_a_format_is_refused() -> None:
    with pytest.raises(InputError, match="one of the formats openai_chat"):
        read_run([], format="gemini")
    with pytest.raises(InputError, match="one of the formats openai_chat"):
        read_steps([], format="gemini")


def test_halves_of_surrogate_pairs_neither_break_the_run_nor_pass_unseen(nothing_lost: Check) -> None:
    run = read_run([{"role": "user", "content": "a \ud800 b", "na\udfffme": "x"}])
    (user,) = run.steps
    assert isinstance(user, UserInput)
    assert user.text == "a \\ud800 b"
    assert {fault.code for fault in user.faults} == {"value.lone_surrogate"}
    nothing_lost([], run)


def test_arguments_with_values_that_are_no_json_are_malformed() -> None:
    block = {"type": "tool_use", "id": "t", "name": "f", "input": {"n": float("inf"), "s": "\udc00"}}
    (call,) = read_run([{"role": "assistant", "content": [block]}]).steps
    assert isinstance(call, ToolCall)
    assert call.arguments.value is None
    assert call.arguments.verbatim == '{"n": Infinity, "s": "\\udc00"}'
    assert {fault.code for fault in call.arguments.faults} == {"arguments.not_finite", "arguments.lone_surrogate"}


@pytest.mark.parametrize("name", FORMATS)
def test_reading_does_not_change_what_it_reads(name: str) -> None:
    before = json.dumps(TRANSCRIPTS[name])
    read_run(TRANSCRIPTS[name])
    assert json.dumps(TRANSCRIPTS[name]) == before


words = st.text(st.characters(codec="utf-8"), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | words
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=8
)


def _places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [path]
    if isinstance(value, dict):
        for key, member in value.items():
            found += _places(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            found += _places(member, (*path, index))
    return found


def _replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    copied: Any = dict(value) if isinstance(value, dict) else list(value)
    copied[path[0]] = _replaced(value[path[0]], path[1:], new)
    return copied


@given(st.data(), st.sampled_from(sorted(FORMATS)))
def test_a_transcript_with_anything_anywhere_is_read_and_nothing_of_it_is_lost(
    nothing_lost: Check, data: st.DataObject, name: str
) -> None:
    transcript = TRANSCRIPTS[name]
    for number in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(transcript)[1:]))
        marker = f"marker-{number}"
        new = data.draw(
            st.sampled_from([marker, {"unread": marker}, [marker], {"type": marker}, [{"type": "text", "odd": marker}]])
        )
        transcript = _replaced(transcript, path, data.draw(st.just(new) | values))
    run = read_run(transcript, format=name)
    markers = [text for text in ("marker-0", "marker-1", "marker-2") if text in json.dumps(transcript)]
    written = run.model_dump_json()
    assert [text for text in markers if text not in written] == []
    nothing_lost([], run)


@given(st.data(), st.sampled_from(sorted(FORMATS)))
def test_a_field_that_no_reader_knows_is_never_lost(nothing_lost: Check, data: st.DataObject, name: str) -> None:
    objects = [path for path in _places(TRANSCRIPTS[name]) if isinstance(_at(TRANSCRIPTS[name], path), dict)]
    path = data.draw(st.sampled_from(objects))
    secret = data.draw(values)
    changed = _replaced(
        TRANSCRIPTS[name], path, {**_at(TRANSCRIPTS[name], path), "x_new": {"deep": ["x-marker", secret]}}
    )
    run = read_run(changed, format=name)
    assert "x-marker" in run.model_dump_json()
    nothing_lost([], run)


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


@given(values)
def test_no_json_value_breaks_the_recognition(value: Any) -> None:
    try:
        run = read_run(value)
    except InputError:
        return
    assert Run.model_validate_json(run.model_dump_json()) == run


@pytest.mark.shared
@pytest.mark.skipif(not TRAJECTORIES.exists(), reason="the recorded trajectories are not beside the project")
def test_recorded_trajectories_are_read_without_loss(nothing_lost: Check) -> None:
    calls = results = 0
    with gzip.open(TRAJECTORIES, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            run = read_run(row)
            assert run.format == "openai_chat"
            assert not any(step.faults for step in run.steps)
            written = [call for message in row["messages"] for call in message.get("tool_calls") or []]
            found = [step for step in run.steps if isinstance(step, ToolCall)]
            assert [call.arguments.verbatim for call in found] == [call["function"]["arguments"] for call in written]
            assert all(call.arguments.well_formed for call in found)
            spoken = [message["content"] for message in row["messages"] if message["role"] == "assistant"]
            turns = [step.text for step in run.steps if isinstance(step, ModelTurn)]
            assert turns == [text for text in spoken if text]
            nothing_lost(row, run)
            calls += len(found)
            results += sum(isinstance(step, ToolResult) for step in run.steps)
    assert (calls, results) == (1164, 1164)


@pytest.mark.parametrize(
    ("format_name", "transcript"),
    [
        (
            "openai_responses",
            [{"type": "file_search_call", "id": "f", "results": [{"file_id": "1", "text": "t", "score": 10**350}]}],
        ),
        ("otel_genai", [{"attributes": [{"key": "gen_ai.x", "value": {"intValue": "--5"}}]}]),
        ("anthropic_messages", [{"role": "user", "content": [{"type": "tool_result", "content": {"type": []}}]}]),
        ("anthropic_messages", [{"role": "user", "content": [{"type": "tool_result", "content": [{"type": {}}]}]}]),
    ],
)
def test_a_hostile_value_where_another_type_belongs_is_kept_and_never_raises(
    format_name: str, transcript: list[Any]
) -> None:
    run = read_run(transcript, format=format_name)
    assert run.format == format_name


def test_values_of_an_own_run_that_json_cannot_hold_are_faults_of_the_run() -> None:
    call = '{"kind": "tool_call", "name": "pay", "arguments": {"form": "json", "value": {"amount": NaN}}}'
    run = read_run('{"run_id": "r", "steps": [' + call + "]}")
    assert [(fault.code, fault.place) for fault in run.faults] == [
        ("value.not_finite", "/steps/0/arguments/value/amount")
    ]
