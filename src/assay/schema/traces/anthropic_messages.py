"""Reads Anthropic messages: requests, responses, and bare lists of messages.

The form is that of `POST /v1/messages` (types of the `anthropic` package 2.12). Documents and search results, given by
the user or returned by a tool, become passages; the provider's own tools and remote MCP servers are marked as such.
"""

from typing import Any, Final

from assay.schema.run.arguments import read_argument_object
from assay.schema.run.json_values import json_kind
from assay.schema.run.model import (
    Executor,
    Part,
    Passage,
    ReasoningPart,
    Step,
    SystemPrompt,
    TextPart,
    ToolCall,
    ToolResult,
)
from assay.schema.traces.content import opaque, read_content, read_part
from assay.schema.traces.fields import Fields, numbered
from assay.schema.traces.outcome import ReadTrace
from assay.schema.traces.tools import read_tools
from assay.schema.traces.turns import TurnBuilder

NAME = "anthropic_messages"
"""The name of the format."""

_CALLS: Final = {
    "tool_use": Executor.CLIENT,
    "server_tool_use": Executor.PROVIDER,
    "mcp_tool_use": Executor.PROVIDER,
}
_PASSAGES: Final = frozenset({"document", "search_result", "web_search_result", "web_fetch_result"})
BLOCK_TYPES: Final = frozenset(_CALLS) | _PASSAGES | {"tool_result", "thinking", "redacted_thinking", "mcp_tool_result"}
"""Types of blocks by which this format is recognised."""


def read(value: Any, place: str = "") -> ReadTrace:
    """Reads a request, a response, or a list of messages."""
    if isinstance(value, list):
        return ReadTrace(read_messages(value, place))
    fields = Fields(value, place)
    if "role" in fields:
        return ReadTrace(_read_message(value, place))
    steps = read_tools(fields.items("tools") or [], fields.at("tools"))
    if "system" in fields:
        where = fields.at("system")
        before = len(fields.faults)
        content = read_content(fields, "system")
        steps.append(SystemPrompt(content=content, place=where, faults=tuple(fields.faults[before:])))
        del fields.faults[before:]
    steps += read_messages(fields.items("messages") or [], fields.at("messages"))
    return ReadTrace(steps, fields)


def read_messages(messages: list[Any], place: str) -> list[Step]:
    """Reads messages in order."""
    steps: list[Step] = []
    for where, message in numbered(messages, place):
        steps += _read_message(message, where) if isinstance(message, dict) else [opaque(message, where)]
    return steps


def _read_message(message: dict[str, Any], place: str) -> list[Step]:
    fields = Fields(message, place)
    fields.drop("type", "message")
    role = fields.text("role")
    if role not in ("user", "assistant", "system"):
        return [opaque(message, place).model_copy(update={"type": "message", "role": role})]
    content = fields.any("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    if content is None:
        content = []
    if not isinstance(content, list):
        fields.fault("item.unexpected_type", f"expected a string or an array of blocks, got {json_kind(content)}")
        content = [content]
    turns = TurnBuilder(role, fields)
    for where, block in numbered(content, fields.at("content")):
        _read_block(block, where, turns)
    return turns.finished(fields.text("stop_reason"))


def _read_block(block: Any, place: str, turns: TurnBuilder) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or not isinstance(kind, str):
        turns.add(opaque(block, place))
    elif kind in _CALLS:
        turns.add(_read_call(Fields(block, place), kind))
    elif kind == "tool_result" or kind.endswith("_tool_result"):
        turns.add(*_read_result(Fields(block, place), kind))
    elif kind in _PASSAGES:
        turns.add(read_passage(block, place))
    else:
        turns.say(read_part(block, place, turns.faults, _read_redacted), place)


def _read_call(fields: Fields, kind: str) -> ToolCall:
    fields.drop("type", kind)
    name = fields.text("name", "")
    if not name:
        fields.fault("call.no_name", "a tool is called without a name")
    values: dict[str, Any] = {
        "id": fields.text("id"),
        "arguments": read_argument_object(fields.any("input")),
        "namespace": fields.text("toolset_name") or fields.text("server_name"),
    }
    written = "function" if kind == "tool_use" else kind
    return ToolCall(name=name, type=written, executor=_CALLS[kind], **values, **fields.step())


def _read_result(fields: Fields, kind: str) -> list[Step]:
    """A result, and behind it the passages that it contains."""
    fields.drop("type", kind)
    call_id = fields.text("tool_use_id")
    failed = fields.boolean("is_error") or False
    content, where = fields.peek("content"), fields.at("content")
    passages: list[Step] = []
    values: dict[str, Any] = {}
    if isinstance(content, dict):
        fields.any("content")
        failed = failed or str(content.get("type", "")).endswith("_error")
        if _is_passage(content):
            passages = [read_passage(content, where, call_id)]
        else:
            values["structured"] = content
    elif isinstance(content, list):
        fields.any("content")
        words = []
        for place, block in numbered(content, where):
            if isinstance(block, dict) and _is_passage(block):
                passages.append(read_passage(block, place, call_id))
            else:
                words.append(read_part(block, place, fields.faults))
        values["content"] = tuple(words)
    else:
        values["content"] = read_content(fields)
    executor = Executor.CLIENT if kind == "tool_result" else Executor.PROVIDER
    return [ToolResult(call_id=call_id, is_error=failed, executor=executor, **values, **fields.step()), *passages]


def _is_passage(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind in _PASSAGES


def read_passage(block: dict[str, Any], place: str, call_id: str | None = None) -> Passage:
    """Reads a document, a search result, or a page that the provider found or fetched."""
    fields = Fields(block, place)
    kind = fields.text("type")
    title, source, text = fields.text("title"), None, ""
    match kind:
        case "document":
            text = _document_text(fields)
        case "search_result":
            source = fields.text("source")
            text = _text_of(fields, "content")
        case "web_fetch_result":
            source = fields.text("url")
            inner = fields.object("content") or {}
            nested = Fields(inner, fields.at("content"))
            nested.drop("type", "document")
            title = title or nested.text("title")
            text = _document_text(nested)
            extra = fields.rest() | ({"content": nested.rest()} if nested.rest() else {})
            faults = (*fields.faults, *nested.faults)
            return Passage(
                text=text, title=title, source=source, call_id=call_id, place=place, faults=faults, extra=extra
            )
        case _:
            source = fields.text("url")
    return Passage(text=text, title=title, source=source, call_id=call_id, **fields.step())


def _document_text(fields: Fields) -> str:
    """The text of a document; one that is a file or an address keeps its source in the rest and has no text."""
    source = fields.peek("source")
    if not isinstance(source, dict):
        return ""
    key = {"text": "data", "content": "content"}.get(str(source.get("type")))
    if key is None:
        return ""
    inner = Fields(source, fields.at("source"))
    text = _text_of(inner, key)
    inner.drop("type", "text", "content")
    inner.drop("media_type", "text/plain")
    fields.any("source")
    fields.faults += inner.faults
    if inner.rest():
        fields.keep("source", inner.rest())
    return text


def _text_of(fields: Fields, key: str) -> str:
    """The text of a content; parts that are no text, or that carry more than their text, also stay where they are."""
    value = fields.peek(key)
    parts = read_content(fields, key)
    if any(not isinstance(part, TextPart) or part.extra for part in parts):
        fields.keep(key, value)
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def _read_redacted(block: dict[str, Any], _: str) -> Part | None:
    if block.get("type") != "redacted_thinking":
        return None
    return ReasoningPart(text="", extra={key: value for key, value in block.items() if key != "type"})
