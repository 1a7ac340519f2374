"""Removes a model's reasoning, which no check reads, from answers and from the events of streams.

Only its text is removed. The members around it stay, so that clients find the form that they know, and so do signatures
and reasoning that the provider has encrypted, which no reader can read.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from assay.schema.traces import anthropic_messages, openai_chat, openai_responses
from assay.wire.interface import Json
from assay.wire.sse import Event, compact_json, with_data

_CHAT_MEMBERS: Final = ("reasoning_content", "reasoning", "reasoning_details", "provider_specific_fields")
"""Members of a chat message, or of a choice, that hold reasoning, or a proxy's copy of its provider's answer."""
_KEPT_MEMBERS: Final = frozenset(
    {"type", "id", "item_id", "object", "format", "status", "signature", "thought_signature", "thought_signatures"}
    | {"data", "encrypted_content", "obfuscation"}
)
"""Members of reasoning that hold nothing for a reader."""


def without_reasoning(name: str, answer: Json) -> Json:
    """A whole answer without the text of its reasoning; the same object where it has none.

    Args:
        name: the format's name.
        answer: the answer.

    >>> said = {"role": "assistant", "content": "4.", "reasoning_content": "2 and 2 is 5?"}
    >>> without_reasoning("openai_chat", {"choices": [{"message": said}]})["choices"][0]["message"]
    {'role': 'assistant', 'content': '4.', 'reasoning_content': ''}
    """
    return _ANSWERS[name](answer)


def event_without_reasoning(name: str, event: Event, data: Any) -> tuple[Event, Any]:
    """An event of a stream, and its JSON, without the text of reasoning; both unchanged where it has none.

    Args:
        name: the format's name.
        event: the event.
        data: its JSON; none where it has none.
    """
    if not isinstance(data, dict):
        return event, data
    quiet = _EVENTS[name](data)
    if quiet is data:
        return event, data
    return with_data(event, compact_json(quiet)), quiet


def _without_words(value: Any) -> Any:
    """A value with its texts emptied; the same value where it has none."""
    if isinstance(value, str):
        return "" if value else value
    if isinstance(value, list):
        return _map_items(value, _without_words)
    if isinstance(value, dict):
        return _with_members(value, {name: _without_words(value[name]) for name in value if name not in _KEPT_MEMBERS})
    return value


def _map_items(items: Any, change: Callable[[Any], Any]) -> Any:
    """A list with its items changed; the same list where no item changes, and the same value where it is no list."""
    if not isinstance(items, list):
        return items
    made = [change(item) for item in items]
    return items if all(one is other for one, other in zip(made, items, strict=True)) else made


def _with_members(value: Json, changes: Mapping[str, Any]) -> Json:
    """An object with some of its members replaced; the same object where none changes."""
    changed = {name: new for name, new in changes.items() if name in value and new is not value[name]}
    return {**value, **changed} if changed else value


def _chat(value: Json) -> Json:
    return _with_members(value, {"choices": _map_items(value.get("choices"), _choice)})


def _choice(choice: Any) -> Any:
    if not isinstance(choice, dict):
        return choice
    changes = {name: _without_words(choice.get(name)) for name in _CHAT_MEMBERS}
    for name in ("message", "delta"):
        message = choice.get(name)
        if isinstance(message, dict):
            changes[name] = _with_members(
                message, {member: _without_words(message.get(member)) for member in _CHAT_MEMBERS}
            )
    return _with_members(choice, changes)


def _message(value: Json) -> Json:
    return _with_members(value, {"content": _map_items(value.get("content"), _block)})


def _block(block: Any) -> Any:
    thinks = isinstance(block, dict) and block.get("type") in ("thinking", "redacted_thinking")
    return _without_words(block) if thinks else block


def _message_event(data: Json) -> Json:
    delta, message = data.get("delta"), data.get("message")
    changes = {"content_block": _block(data.get("content_block"))}
    if isinstance(delta, dict) and delta.get("type") == "thinking_delta":
        changes["delta"] = _without_words(delta)
    if isinstance(message, dict):
        changes["message"] = _message(message)
    return _with_members(data, changes)


def _response(value: Json) -> Json:
    return _with_members(value, {"output": _map_items(value.get("output"), _item)})


def _item(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    if item.get("type") == "reasoning":
        return _without_words(item)
    return _with_members(item, {"content": _map_items(item.get("content"), _part)})


def _part(part: Any) -> Any:
    thinks = isinstance(part, dict) and str(part.get("type")).startswith(("reasoning", "summary"))
    return _without_words(part) if thinks else part


def _response_event(data: Json) -> Json:
    if str(data.get("type")).startswith("response.reasoning"):
        return _without_words(data)  # type: ignore[no-any-return]
    response = data.get("response")
    changes = {"part": _part(data.get("part")), "item": _item(data.get("item"))}
    if isinstance(response, dict):
        changes["response"] = _response(response)
    return _with_members(data, changes)


_ANSWERS: Final[Mapping[str, Callable[[Json], Json]]] = {
    openai_chat.NAME: _chat,
    anthropic_messages.NAME: _message,
    openai_responses.NAME: _response,
}
_EVENTS: Final[Mapping[str, Callable[[Json], Json]]] = {
    openai_chat.NAME: _chat,
    anthropic_messages.NAME: _message_event,
    openai_responses.NAME: _response_event,
}
