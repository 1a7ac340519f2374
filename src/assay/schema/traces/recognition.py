"""Recognises the wire format of a transcript by its shape."""

from collections.abc import Iterator
from typing import Any, Final

from assay.errors import InputError
from assay.schema.run.json_values import json_kind
from assay.schema.traces import anthropic_messages, mcp, openai_chat, openai_responses
from assay.schema.traces.otel import genai

EXPECTED: Final = (
    "OpenAI chat messages (`messages` with `role` and `content`), OpenAI Responses items (`input`, `output`), "
    "Anthropic messages (`messages` with content blocks, `system`), OpenTelemetry GenAI spans (`resourceSpans`, "
    "`attributes`), MCP messages (`jsonrpc`, `method`) or a run of assay (`run_id`, `steps`)"
)
"""What `recognise` knows, in words."""

LOOKED_AT: Final = 1000
"""Items of a list that are looked at; where none of them decides, plain messages are chat messages."""


def recognise(value: dict[str, Any] | list[Any]) -> str:
    """The name of the format.

    Messages that say nothing of their format (a role and a text) are read as OpenAI chat messages; Anthropic's mean
    the same.

    Raises:
        InputError: it is none of them.

    >>> recognise({"messages": [], "system": "Be brief."})
    'anthropic_messages'
    """
    if isinstance(value, list):
        found = _of_items(value)
    elif all(isinstance(value.get(key), dict) for key in ("request", "response")):
        # The response first: requests of two formats may look alike.
        found = _of_object(value["response"]) or _of_object(value["request"])
    else:
        found = _of_object(value)
    if found is None:
        raise InputError(f"expected {EXPECTED}; got {_shown(value)}; name the format if it is one of these")
    return found


def _of_object(value: dict[str, Any]) -> str | None:
    keys = value.keys()
    if "jsonrpc" in keys or (isinstance(value.get("method"), str) and "params" in keys):
        return mcp.NAME
    if any(key in keys for key in ("resourceSpans", "scopeSpans", "spans")) or "attributes" in keys:
        return genai.NAME
    if isinstance(value.get("choices"), list):
        return openai_chat.NAME
    if isinstance(value.get("messages"), list):
        return _of_conversation(value)
    if value.get("object") == "response" or "input" in keys or "instructions" in keys or "output" in keys:
        return openai_responses.NAME
    if "type" in keys or "role" in keys:
        return _of_items([value])
    if isinstance(value.get("tools"), list) and any("inputSchema" in tool for tool in _objects(value["tools"])):
        return mcp.NAME
    if isinstance(value.get("content"), list) and ("isError" in keys or "structuredContent" in keys):
        return mcp.NAME
    return None


def _of_conversation(value: dict[str, Any]) -> str | None:
    tools = list(_objects(value.get("tools")))
    if "system" in value or any("input_schema" in tool for tool in tools):
        return anthropic_messages.NAME
    if "functions" in value or any("function" in tool for tool in tools):
        return openai_chat.NAME
    return _of_items(value["messages"]) if value["messages"] else openai_chat.NAME


def _of_items(items: list[Any]) -> str | None:
    """The format of the first item that decides; plain messages are chat messages."""
    plain = False
    for item in items[:LOOKED_AT]:
        if isinstance(item, list):  # a batch of JSON-RPC messages, or groups of spans
            found = _of_items(item)
        elif isinstance(item, dict):
            found = _of_item(item)
            plain = plain or isinstance(item.get("role"), str)
        else:
            found = None
        if found is not None:
            return found
    return openai_chat.NAME if plain else None


def _of_item(item: dict[str, Any]) -> str | None:
    keys, kind = item.keys(), item.get("type")
    if "jsonrpc" in keys or ("method" in keys and "role" not in keys):
        return mcp.NAME
    if "parts" in keys or "attributes" in keys or "resourceSpans" in keys or "scopeSpans" in keys:
        return genai.NAME
    if item.get("role") in ("tool", "function") or "tool_calls" in keys or "function_call" in keys:
        return openai_chat.NAME
    blocks = {block.get("type") for block in _objects(item.get("content")) if isinstance(block.get("type"), str)}
    if blocks & anthropic_messages.BLOCK_TYPES or any(str(name).endswith("_tool_result") for name in blocks):
        return anthropic_messages.NAME
    if blocks & {"input_text", "output_text", "input_image", "input_file"}:
        return openai_responses.NAME
    if isinstance(kind, str) and kind == "message" and isinstance(item.get("content"), list):
        # Both have messages of this type; only Anthropic's blocks are called `text`.
        return anthropic_messages.NAME if "text" in blocks or "model" in keys else openai_responses.NAME
    if isinstance(kind, str) and kind in openai_responses.ITEM_TYPES:
        return openai_responses.NAME
    if blocks & {"image_url", "input_audio", "file", "refusal"} or item.get("role") == "developer":
        return openai_chat.NAME
    return None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value[:LOOKED_AT] if isinstance(item, dict))


def _shown(value: dict[str, Any] | list[Any]) -> str:
    if isinstance(value, dict):
        names = ", ".join(ascii(key)[:40] for key in list(value)[:8])
        return f"an object with the members {names}" if names else "an empty object"
    if not value:
        return "an empty array"
    first = value[0]
    return f"an array whose first item is {_shown(first) if isinstance(first, dict) else json_kind(first)}"
