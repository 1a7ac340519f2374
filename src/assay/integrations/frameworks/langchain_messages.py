"""LangChain's messages as the steps of a run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.utils.function_calling import convert_to_openai_tool

from assay.integrations.agents.turns import turn
from assay.integrations.run_gate import run_from, text_parts, tool_result
from assay.schema.run import (
    Run,
    Step,
    SystemPrompt,
    ToolCall,
    ToolDeclaration,
    UserInput,
    plain_json,
    read_argument_object,
    read_arguments,
)
from assay.schema.traces import read_steps

_REASONING: Final = frozenset({"reasoning", "thinking", "redacted_thinking"})
"""Blocks of what is no answer."""
_READ: Final = frozenset({"text", *_REASONING})
"""Blocks of what is checked, and of what is no answer."""
_FURTHER: Final = frozenset({"tool_calls", "function_call", "reasoning", "reasoning_content"})
"""Fields of `additional_kwargs` that repeat the calls, or are no answer."""
_CALLS: Final = frozenset(
    {
        "tool_call",
        "tool_call_chunk",
        "invalid_tool_call",
        "tool_use",
        "input_json_delta",
        "function_call",
        "custom_tool_call",
    }
)
"""Blocks of calls, in LangChain's words and in those of providers."""
_STOPS: Final = ("finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason")
"""Where the metadata of a message say why its model stopped, by provider."""


def run_of(declarations: Iterable[ToolDeclaration], system: str | None, messages: Iterable[Any]) -> Run:
    """The run that a list of messages tells of."""
    steps: list[Step] = [*declarations, *([SystemPrompt(content=text_parts(system))] if system else [])]
    for message in convert_to_messages(messages):
        steps += _steps(message)
    return run_from(steps)


def _steps(message: BaseMessage) -> Sequence[Step]:
    text = str(message.text)
    match message:
        case AIMessage():
            return [*turn(text, stop_reason(message)), *_called(message)]
        case ToolMessage():
            failed = message.status == "error"
            said = text or "done"
            return [tool_result(message.tool_call_id, message.name, said, failed=failed)]
        case SystemMessage():
            return [SystemPrompt(content=text_parts(text))]
        case HumanMessage():
            return [UserInput(content=text_parts(text))]
        case _:
            return read_steps(convert_to_openai_messages([message]), format="openai_chat")


def read_call(call: Mapping[str, Any]) -> ToolCall:
    """A call as a step."""
    return ToolCall(id=call["id"], name=call["name"], arguments=read_argument_object(plain_json(call["args"]).value))


def _called(message: AIMessage) -> list[ToolCall]:
    """The calls of a message, those whose arguments are no JSON behind the others."""
    good = [read_call(call) for call in message.tool_calls]
    bad = [
        ToolCall(id=call["id"], name=call["name"] or "", arguments=read_arguments(call["args"] or ""))
        for call in message.invalid_tool_calls
    ]
    return [*good, *bad]


def request_facts(system: BaseMessage | None, tools: Iterable[Any]) -> dict[str, Any]:
    """What only a model's request knows, in JSON: tools are as the model is told of them, without what is injected."""
    declared = [dict(tool) if isinstance(tool, Mapping) else convert_to_openai_tool(tool) for tool in tools]
    return {"system": None if system is None else str(system.text), "tools": declared}


def messages_of(state: Any) -> list[Any]:
    """The messages of a graph's state, whatever form it has."""
    if isinstance(state, list):
        return state
    found = state.get("messages", []) if isinstance(state, Mapping) else getattr(state, "messages", [])
    return list(found)


def with_text(message: BaseMessage, text: str) -> AIMessage:
    """A message that says something else in the place of another; it keeps what the other cost, not what it said."""
    used = message.usage_metadata if isinstance(message, AIMessage) else None
    return AIMessage(content=text, id=message.id, name=message.name, usage_metadata=used)


def stop_reason(message: BaseMessage) -> str | None:
    """Why the model stopped, in its provider's word; none where it does not say."""
    metadata = message.response_metadata
    found = next((metadata[name] for name in _STOPS if isinstance(metadata.get(name), str)), None)
    return "incomplete" if found is None and metadata.get("status") == "incomplete" else found


def is_plain(message: BaseMessage) -> bool:
    """Whether a message shows its text alone: no calls, and no content that nobody reads."""
    calls = isinstance(message, AIMessage) and (message.tool_calls or message.invalid_tool_calls)
    return not calls and not any(map(_is_call, _blocks(message))) and only_read(message) is message


def only_read(message: BaseMessage) -> BaseMessage:
    """A message without what no check reads and a reader may see, such as images, refusals and results of provider's
    tools: text, reasoning and calls stay. The message itself where it has nothing else.
    """
    blocks = [one for one in _blocks(message) if isinstance(one, str) or one.get("type") in _READ or _is_call(one)]
    further = {name: value for name, value in message.additional_kwargs.items() if not value or _goes_on(name)}
    if len(blocks) == len(_blocks(message)) and len(further) == len(message.additional_kwargs):
        return message
    content = message.content if isinstance(message.content, str) else blocks
    return message.model_copy(update={"content": content, "additional_kwargs": further})


def _blocks(message: BaseMessage) -> list[Any]:
    return [] if isinstance(message.content, str) else message.content


def _is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _CALLS


def _goes_on(name: str) -> bool:
    """Whether a further field of a message is reasoning, a call, or a provider's signature of one of them."""
    return "signature" in name or name in _FURTHER


def without_text(content: Any) -> Any:
    """The content of a message without what it shows: calls stay, in whatever form they have, and reasoning."""
    if isinstance(content, str):
        return ""
    return [block for block in content if isinstance(block, dict) and block.get("type") in _CALLS | _REASONING]
