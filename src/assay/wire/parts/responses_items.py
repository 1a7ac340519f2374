"""The items of an answer of `POST /v1/responses`: their types, and the state of each in a stream."""

from dataclasses import dataclass, field
from typing import Final

from assay.wire.interface import (
    Json,
    objects,
    text_of,
)

TEXT_PARTS: Final = {"output_text": "text", "refusal": "refusal"}
CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call"})
CLIENT_CALLS: Final = CALLS | {"apply_patch_call"}
RESULT_ITEMS: Final = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
"""The type of the item that answers each type of call with a text."""
PROVIDER_ITEMS: Final = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "mcp_list_tools", "tool_search_call", "tool_search_output", "compaction", "program"}
)
"""Items that are not part of the answer, or calls that the provider executes itself."""
SILENT_EVENTS: Final = (
    "response.reasoning",
    "response.web_search_call.",
    "response.file_search_call.",
    "response.mcp_",
    "response.code_interpreter_call",
    "response.image_generation_call.",
    "keepalive",
)
"""The beginnings of types of events that show nothing of the answer."""
START_EVENTS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
ARGUMENT_MEMBERS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""The member with the arguments of each type of call that is streamed in parts."""
CALL_PIECE_EVENTS: Final = {
    "response.function_call_arguments.": "function_call",
    "response.custom_tool_call_input.": "custom_tool_call",
}
"""The type of call that events of types with these beginnings continue."""
NOT_COMPARED: Final = frozenset({"status", "annotations", "logprobs"})
"""Members of an item that may differ between its own event and the one that repeats the whole answer."""
KEPT_MEMBERS: Final = (
    "id",
    "object",
    "created_at",
    "completed_at",
    "model",
    "status",
    "background",
    "max_output_tokens",
    "metadata",
    "max_tool_calls",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "store",
    "text",
    "safety_identifier",
    "service_tier",
    "temperature",
    "tool_choice",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
)
"""The members that a withheld answer keeps."""
END_EVENTS: Final = frozenset({"response.completed", "response.incomplete"})


def text_of_message(item: Json) -> str | None:
    """The text of a message; none where a part of it has an unknown type."""
    parts = parts_of(item)
    return None if parts is None else "".join(text for _, text in parts)


def parts_of(item: Json) -> list[tuple[str, str]] | None:
    """The type and the text of each part of a message; none where a part has an unknown type."""
    content = item.get("content") or []
    parts = objects(content)
    if not isinstance(content, list) or len(parts) < len(content):
        return None
    kinds = [text_of(part.get("type")) for part in parts]
    if any(kind not in TEXT_PARTS for kind in kinds):
        return None
    return [(kind, text_of(part.get(TEXT_PARTS[kind]))) for kind, part in zip(kinds, parts, strict=True)]


def empty_response() -> Json:
    """An answer with default values and no output."""
    return {
        "id": "resp_assay",
        "object": "response",
        "created_at": 0,
        "model": "assay",
        "status": "in_progress",
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
    }


def comparable(value: object) -> object:
    """A value reduced to what two events about one item have to agree on."""
    if isinstance(value, dict):
        made = {name: comparable(inner) for name, inner in value.items() if name not in NOT_COMPARED}
        return {name: inner for name, inner in made.items() if inner not in (None, "", [], {})}
    return [comparable(inner) for inner in value] if isinstance(value, list) else value


def message_item(name: str, text: str) -> Json:
    """A message with one text; `name` is its id."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": name, "type": "message", "status": "incomplete", "role": "assistant", "content": [part]}


@dataclass(slots=True)
class Item:
    """The state of one item in a stream."""

    first: Json
    parts: list[list[str]] = field(default_factory=list)
    """Of a message: for each part, its type followed by the pieces of its text."""
    words: list[str] = field(default_factory=list)
    """Of a call: the pieces of its arguments."""
    in_pieces: bool | None = None
    """Whether its text or arguments come in pieces rather than all at once; none until there are some."""
    final: Json | None = None

    @property
    def kind(self) -> str:
        """The item's type."""
        return text_of(self.first.get("type"))

    def accepts(self, piece: bool, words: str) -> bool:
        """Whether words may come as a piece, or all at once: never both, as some clients read only one of the two."""
        if words and self.in_pieces is None:
            self.in_pieces = piece
        return not words or self.in_pieces == piece

    def ends_with(self, end: Json) -> bool:
        """Whether the arguments in an event that ends a call are those that were streamed; `{}` counts as none."""
        name = ARGUMENT_MEMBERS.get(self.kind)
        if name is None:
            return True
        words, texts = text_of(end.get(name)), "".join(self.words)
        return words == texts or (not texts and words == "{}" and name == "arguments")

    def texts(self) -> list[tuple[str, str]]:
        """The type and the text of each part of a message."""
        return [(kind, "".join(in_pieces)) for kind, *in_pieces in self.parts]
