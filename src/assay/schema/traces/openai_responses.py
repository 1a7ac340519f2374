"""Reads OpenAI Responses: requests, responses, and bare lists of items.

The form is that of `POST /v1/responses` (types of the `openai` package 3.54). Each item is one happening: messages,
reasoning, calls of functions and of the provider's own tools, their outputs. Results of a file search and sources of a
web search become passages.
"""

from collections.abc import Callable
from typing import Any, Final

from assay.schema.run.arguments import free_text, read_argument_object, read_arguments
from assay.schema.run.model import (
    DataPart,
    Executor,
    ModelTurn,
    Part,
    Passage,
    Phase,
    ReasoningPart,
    Step,
    SystemPrompt,
    TextPart,
    ToolCall,
    ToolResult,
    UserInput,
)
from assay.schema.traces.content import opaque, read_content
from assay.schema.traces.fields import Fields, numbered
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.tools import read_tools

NAME = "openai_responses"
"""The name of the format."""

_SILENT: Final = frozenset(
    {"item_reference", "compaction", "compaction_trigger", "configuration_update", "mcp_approval_response"}
)
"""Known types of items without content for a check."""

_STRUCTURED_CALLS: Final = {
    # type: (name of the tool, field of the arguments, who executes it)
    "local_shell_call": ("local_shell", "action", Executor.CLIENT),
    "shell_call": ("shell", "action", Executor.CLIENT),
    "computer_call": ("computer", "action", Executor.CLIENT),
    "apply_patch_call": ("apply_patch", "operation", Executor.CLIENT),
    "tool_search_call": ("tool_search", "arguments", Executor.PROVIDER),
    "web_search_call": ("web_search", "action", Executor.PROVIDER),
}
_GATHERED_CALLS: Final = {
    # type: (name of the tool, fields that are its arguments, fields that are its result, who executes it)
    "file_search_call": ("file_search", ("queries",), (), Executor.PROVIDER),
    "code_interpreter_call": ("code_interpreter", ("code",), ("outputs",), Executor.PROVIDER),
    "image_generation_call": ("image_generation", ("revised_prompt", "action"), ("result",), Executor.PROVIDER),
    "program": ("program", ("code",), (), Executor.PROVIDER),
}
_OUTPUTS: Final = {
    # type: (field of the output, field of the call's id, who executed it)
    "function_call_output": ("output", "call_id", Executor.CLIENT),
    "custom_tool_call_output": ("output", "call_id", Executor.CLIENT),
    "local_shell_call_output": ("output", "id", Executor.CLIENT),
    "shell_call_output": ("output", "call_id", Executor.CLIENT),
    "computer_call_output": ("output", "call_id", Executor.CLIENT),
    "apply_patch_call_output": ("output", "call_id", Executor.CLIENT),
    "program_output": ("result", "call_id", Executor.PROVIDER),
}


def read(value: Any, place: str = "") -> ReadTrace:
    """Reads a request, a response, or a list of items."""
    if isinstance(value, list):
        return ReadTrace(read_items(value, place))
    if isinstance(value.get("type"), str) and "object" not in value:
        return ReadTrace(_read_item(value, place))
    fields = Fields(value, place)
    steps = read_tools(fields.items("tools") or [], fields.at("tools"))
    if isinstance(fields.peek("instructions"), list):
        steps += read_items(fields.items("instructions") or [], fields.at("instructions"))
    elif instructions := fields.text("instructions"):
        steps.append(SystemPrompt(content=(TextPart(text=instructions),), place=fields.at("instructions")))
    user_input = fields.any("input")
    if isinstance(user_input, str):
        steps.append(UserInput(content=(TextPart(text=user_input),), place=fields.at("input")))
    elif user_input is not None:
        steps += read_items(user_input if isinstance(user_input, list) else [user_input], fields.at("input"))
    steps += read_items(fields.items("output") or [], fields.at("output"))
    return ReadTrace(steps, fields)


def read_items(items: list[Any], place: str) -> list[Step]:
    """Reads items in order."""
    steps: list[Step] = []
    for where, item in numbered(items, place):
        steps += _read_item(item, where) if isinstance(item, dict) else [opaque(item, where)]
    return steps


def _read_item(item: dict[str, Any], place: str) -> list[Step]:
    kind = item.get("type", "message")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return [opaque(item, place, known=kind in _SILENT if isinstance(kind, str) else False)]
    fields = Fields(item, place)
    fields.drop("type", kind)
    return reader(fields, kind, item)


def _read_message(fields: Fields, _: str, item: dict[str, Any]) -> list[Step]:
    role = fields.text("role")
    match role:
        case "user":
            return [UserInput(content=read_content(fields), **fields.step())]
        case "system" | "developer":
            return [SystemPrompt(content=read_content(fields), role=role, **fields.step())]
        case "assistant":
            return [ModelTurn(content=read_content(fields), phase=_phase(fields), **fields.step())]
        case _:
            return [opaque(item, fields.place)]


def _phase(fields: Fields) -> Phase | None:
    written = fields.peek("phase")
    known = next((phase for phase in Phase if phase == written), None)
    if known is not None:
        fields.any("phase")
    return known


def _read_reasoning(fields: Fields, _: str, __: dict[str, Any]) -> list[Step]:
    parts: list[Part] = []
    for key in ("summary", "content"):
        parts += [
            ReasoningPart(text=part.text, extra=part.extra) if isinstance(part, TextPart) else part
            for part in read_content(fields, key)
        ]
    return [ModelTurn(content=tuple(parts), **fields.step())]


def _read_function_call(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    written = fields.any("arguments")
    arguments = read_arguments(written) if isinstance(written, str) else read_argument_object(written)
    return [_call(fields, kind, "function", arguments=arguments)]


def _read_custom_call(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    text = fields.text("input")
    return [_call(fields, kind, "custom", arguments=read_argument_object(None) if text is None else free_text(text))]


def _call(fields: Fields, kind: str, written: str, **values: Any) -> ToolCall:
    name = fields.text("name", "")
    if not name:
        fields.fault("call.no_name", f"an item of type {kind} calls a tool without a name")
    call_id = fields.text("call_id") or fields.text("id")
    namespace = fields.text("namespace")
    return ToolCall(id=call_id, name=name, type=written, namespace=namespace, **values, **fields.step())


def _read_structured_call(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    name, key, executor = _STRUCTURED_CALLS[kind]
    call_id = fields.text("call_id") or fields.text("id")
    action = fields.any(key)
    if action is None and kind == "computer_call":
        action = {"actions": fields.items("actions") or []}
    if kind == "tool_search_call" and fields.peek("execution") == "client":
        executor = Executor.CLIENT
    sources = action.get("sources") if kind == "web_search_call" and isinstance(action, dict) else None
    passages: list[Step] = []
    if isinstance(sources, list):
        action = {member: value for member, value in action.items() if member != "sources"}
        where = f"{fields.at(key)}/sources"
        passages = [_read_source(source, place, call_id) for place, source in numbered(sources, where)]
    failure = _failure(fields, call_id, executor)
    arguments = read_argument_object(action)
    call = ToolCall(id=call_id, name=name, arguments=arguments, type=name, executor=executor, **fields.step())
    return [call, *failure, *passages]


def _failure(fields: Fields, call_id: str | None, executor: Executor) -> list[Step]:
    """The failed result of a tool of the provider, which reports the failure in the status of the call."""
    if executor is not Executor.PROVIDER or fields.peek("status") != "failed":
        return []
    return [ToolResult(call_id=call_id, is_error=True, executor=executor, place=fields.at("status"))]


def _read_source(source: Any, place: str, call_id: str | None) -> Step:
    if not isinstance(source, dict):
        return opaque(source, place, call_id=call_id)
    fields = Fields(source, place)
    url, title = fields.text("url"), fields.text("title")
    return Passage(text="", source=url, title=title, call_id=call_id, **fields.step())


def _read_gathered_call(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    """A call that carries its arguments, and where the provider has run it its result, in fields of its own."""
    name, inputs, results, executor = _GATHERED_CALLS[kind]
    call_id = fields.text("call_id") or fields.text("id")
    arguments = {key: value for key in inputs if (value := fields.any(key)) is not None}
    found = _failure(fields, call_id, executor)
    for key in results:
        if key in fields:
            content = _output_parts(fields, key)
            found.append(ToolResult(call_id=call_id, content=content, executor=executor, place=fields.at(key)))
    if kind == "file_search_call":
        for where, result in numbered(fields.items("results") or [], fields.at("results")):
            found.append(_read_result(result, where, call_id))
    read = read_argument_object(arguments)
    call = ToolCall(id=call_id, name=name, arguments=read, type=name, executor=executor, **fields.step())
    return [call, *found]


def _output_parts(fields: Fields, key: str) -> tuple[Part, ...]:
    if isinstance(fields.peek(key), str):
        return (DataPart(name="image", value=fields.any(key)),)
    return read_content(fields, key, _read_log)


def _read_log(part: dict[str, Any], place: str) -> Part | None:
    if part.get("type") != "logs" or not isinstance(part.get("logs"), str):
        return None
    fields = Fields(part, place)
    fields.drop("type", "logs")
    return TextPart(text=fields.text("logs", ""), extra=fields.rest())


def _read_result(result: Any, place: str, call_id: str | None) -> Step:
    if not isinstance(result, dict):
        return opaque(result, place, call_id=call_id)
    fields = Fields(result, place)
    name = fields.text("filename")
    values = {"id": fields.text("file_id"), "text": fields.text("text", ""), "score": fields.number("score")}
    return Passage(**values, title=name, source=name, call_id=call_id, **fields.step())


def _read_output(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    key, id_key, executor = _OUTPUTS[kind]
    values: dict[str, Any] = {"call_id": fields.text(id_key), "name": fields.text("name"), "executor": executor}
    if kind == "apply_patch_call_output":
        values["is_error"] = fields.peek("status") == "failed"
    if kind in ("shell_call_output", "computer_call_output"):
        values["structured"] = fields.any(key)
    else:
        values["content"] = read_content(fields, key)
    return [ToolResult(**values, **fields.step())]


def _read_mcp_call(fields: Fields, kind: str, _: dict[str, Any]) -> list[Step]:
    written = fields.any("arguments")
    arguments = read_arguments(written) if isinstance(written, str) else read_argument_object(written)
    call_id, namespace = fields.text("id"), fields.text("server_label")
    done = "output" in fields or "error" in fields
    result: dict[str, Any] = {"place": fields.at("output")}
    if done:
        error = fields.any("error")
        result["content"] = read_content(fields, "output")
        result["is_error"] = error is not None
        if isinstance(error, str):
            result["content"] = (*result["content"], TextPart(text=error))
        else:
            result["structured"] = error
    name = fields.text("name", "")
    if not name:
        fields.fault("call.no_name", f"an item of type {kind} calls a tool without a name")
    values: dict[str, Any] = {"namespace": namespace, "type": kind.removesuffix("_call"), "executor": Executor.PROVIDER}
    call = ToolCall(id=call_id, name=name, arguments=arguments, **values, **fields.step())
    return [call, ToolResult(call_id=call_id, executor=Executor.PROVIDER, **result)] if done else [call]


def _read_tool_list(fields: Fields, kind: str, item: dict[str, Any]) -> list[Step]:
    """Declarations in the middle of a run: of an MCP server, found by a search, or added by the developer."""
    executor = Executor.PROVIDER if kind == "mcp_list_tools" else Executor.CLIENT
    tools = read_tools(fields.items("tools") or [], fields.at("tools"), executor=executor)
    label = fields.peek("server_label")
    if isinstance(label, str):
        tools = [tool.model_copy(update={"namespace": label}) for tool in tools]
    if kind == "tool_search_output":
        call_id = fields.text("call_id") or fields.text("id")
        return [ToolResult(call_id=call_id, executor=Executor.PROVIDER, **fields.step()), *tools]
    if not tools:
        return [opaque(item, fields.place, known=True)]
    tools[0] = tools[0].model_copy(update={"extra": {**tools[0].extra, "list": fields.rest()}})
    return tools


_READERS: Final[dict[str, Callable[[Fields, str, dict[str, Any]], list[Step]]]] = {
    "message": _read_message,
    "reasoning": _read_reasoning,
    "function_call": _read_function_call,
    "custom_tool_call": _read_custom_call,
    "mcp_call": _read_mcp_call,
    "mcp_approval_request": _read_mcp_call,
    "mcp_list_tools": _read_tool_list,
    "tool_search_output": _read_tool_list,
    "additional_tools": _read_tool_list,
    **dict.fromkeys(_STRUCTURED_CALLS, _read_structured_call),
    **dict.fromkeys(_GATHERED_CALLS, _read_gathered_call),
    **dict.fromkeys(_OUTPUTS, _read_output),
}

ITEM_TYPES: Final = frozenset(_READERS) | _SILENT
"""The types of items that this format has."""
