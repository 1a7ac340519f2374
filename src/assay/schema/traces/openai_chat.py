"""Reads OpenAI chat completions: requests, responses, and bare lists of messages.

The form is that of `POST /v1/chat/completions` (types of the `openai` package 3.54): roles `system`, `developer`,
`user`, `assistant`, `tool` and the older `function`; tool calls with their arguments as JSON text.
"""

from typing import Any

from assay.schema.run.arguments import Arguments, free_text, read_argument_object, read_arguments
from assay.schema.run.model import (
    ModelTurn,
    Opaque,
    RefusalPart,
    Step,
    SystemPrompt,
    ToolCall,
    ToolResult,
    UserInput,
)
from assay.schema.traces.content import opaque, read_content
from assay.schema.traces.fields import Fields, merged, numbered
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.tools import read_tool, read_tools

NAME = "openai_chat"
"""The name of the format."""


def read(value: Any, place: str = "") -> ReadTrace:
    """Reads a request, a response, or a list of messages."""
    if isinstance(value, list):
        return ReadTrace(read_messages(value, place))
    fields = Fields(value, place)
    steps = read_tools(fields.items("tools") or [], fields.at("tools"))
    for where, function in numbered(fields.items("functions") or [], fields.at("functions")):
        steps.append(read_tool(function, where) if isinstance(function, dict) else opaque(function, where))
    steps += read_messages(fields.items("messages") or [], fields.at("messages"))
    for where, choice in numbered(fields.items("choices") or [], fields.at("choices")):
        steps += _read_choice(choice, where)
    if "role" in fields:
        return ReadTrace(read_messages([value], place, single=True))
    return ReadTrace(steps, fields)


def read_messages(messages: list[Any], place: str, *, single: bool = False) -> list[Step]:
    """Reads messages in order."""
    steps: list[Step] = []
    for where, message in [(place, messages[0])] if single else numbered(messages, place):
        steps += _read_message(message, where) if isinstance(message, dict) else [opaque(message, where)]
    return steps


def _read_message(message: dict[str, Any], place: str) -> list[Step]:
    fields = Fields(message, place)
    role = fields.text("role")
    match role:
        case "system" | "developer":
            return [SystemPrompt(content=read_content(fields), role=role, **fields.step())]
        case "user":
            return [UserInput(content=read_content(fields), name=fields.text("name"), **fields.step())]
        case "assistant":
            return _read_assistant(fields)
        case "tool":
            call_id, name = fields.text("tool_call_id"), fields.text("name")
            return [ToolResult(call_id=call_id, name=name, content=read_content(fields), **fields.step())]
        case "function":
            return [ToolResult(name=fields.text("name"), content=read_content(fields), **fields.step())]
        case _:
            return [_unknown_role(message, role, place)]


def _read_assistant(fields: Fields, stop_reason: str | None = None) -> list[Step]:
    content = read_content(fields)
    refusal = fields.text("refusal")
    if refusal:
        content = (*content, RefusalPart(text=refusal))
    calls: list[Step] = []
    for where, call in numbered(fields.items("tool_calls") or [], fields.at("tool_calls")):
        calls.append(_read_call(call, where) if isinstance(call, dict) else opaque(call, where))
    function_call = fields.object("function_call")
    if function_call is not None:
        calls.append(_read_function(Fields(function_call, fields.at("function_call")), None))
    turn = ModelTurn(content=content, name=fields.text("name"), stop_reason=stop_reason, **fields.step())
    return [turn, *calls] if says_something(turn) or not calls else calls


def says_something(turn: ModelTurn) -> bool:
    """Whether a turn has anything besides the calls that follow it."""
    return bool(turn.content or turn.extra or turn.faults or turn.name or turn.phase)


def _read_call(call: dict[str, Any], place: str) -> Step:
    fields = Fields(call, place)
    kind = fields.text("type", "function")
    call_id = fields.text("id")
    inner = fields.object(kind) if kind in ("function", "custom") else None
    if inner is None:
        return opaque(call, place, call_id=call_id)
    nested = Fields(inner, f"{place}/{kind}")
    if kind == "function":
        return _read_function(nested, call_id, fields)
    return _call(nested, fields, call_id, kind, _free(nested))


def _read_function(nested: Fields, call_id: str | None, outer: Fields | None = None) -> ToolCall:
    written = nested.any("arguments")
    # Some servers of this format send the arguments as an object.
    arguments = read_arguments(written) if isinstance(written, str) else read_argument_object(written)
    return _call(nested, outer, call_id, "function", arguments)


def _free(nested: Fields) -> Arguments:
    text = nested.text("input")
    return read_argument_object(None) if text is None else free_text(text)


def _call(nested: Fields, outer: Fields | None, call_id: str | None, kind: str, arguments: Arguments) -> ToolCall:
    name = nested.text("name", "")
    if not name:
        nested.fault("call.no_name", "a tool is called without a name")
    faults = (*(outer.faults if outer else ()), *nested.faults)
    extra = merged(outer, nested, kind) if outer else nested.rest()
    place = outer.place if outer else nested.place
    return ToolCall(id=call_id, name=name, arguments=arguments, type=kind, place=place, faults=faults, extra=extra)


def _read_choice(choice: Any, place: str) -> list[Step]:
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return [opaque(choice, place)]
    outer = Fields(choice, place)
    fields = Fields(outer.object("message") or {}, outer.at("message"))
    fields.drop("role", "assistant")
    steps = _read_assistant(fields, outer.text("finish_reason"))
    rest = outer.rest()
    if rest.get("index") == 0:
        del rest["index"]
    if rest:
        # Other fields of the choice (the index of a further one, log probabilities) go with its first step.
        steps[0] = steps[0].model_copy(update={"extra": {**steps[0].extra, "choice": rest}})
    return steps


def _unknown_role(message: dict[str, Any], role: str | None, place: str) -> Opaque:
    step = opaque(message, place)
    return step.model_copy(update={"type": "message", "role": role})
