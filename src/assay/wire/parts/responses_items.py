"""The items of an answer of `POST /v1/responses`: their kinds, and what was told of each."""

from dataclasses import dataclass, field
from typing import Final

from assay.wire.interface import (
    Json,
    objects,
    text_of,
)

TEXT_PARTS: Final = {"output_text": "text", "refusal": "refusal"}
CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call"})
CALLS_OF_CLIENTS: Final = CALLS | {"apply_patch_call"}
RESULTS: Final = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
"""The items that answer calls with a text."""
PROVIDER: Final = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "mcp_list_tools", "tool_search_call", "tool_search_output", "compaction", "program"}
)
"""Items that are no part of the answer, or that the provider executed itself."""
SILENT: Final = (
    "response.reasoning",
    "response.web_search_call.",
    "response.file_search_call.",
    "response.mcp_",
    "response.code_interpreter_call",
    "response.image_generation_call.",
    "keepalive",
)
"""Events of these kinds show nothing of the answer."""
BEGINNINGS: Final = frozenset({"response.created", "response.queued", "response.in_progress"})
WORDS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where each kind of call that is streamed in parts has its words."""
PIECES: Final = {
    "response.function_call_arguments.": "function_call",
    "response.custom_tool_call_input.": "custom_tool_call",
}
"""The kind of call that events with these beginnings go on with."""
LEFT_OUT: Final = frozenset({"status", "annotations", "logprobs"})
"""Members of an item that may differ between its own event and the one that repeats the whole answer."""
QUIET: Final = (
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
"""The members of an answer that stay when what it shows is withheld."""
ENDS: Final = frozenset({"response.completed", "response.incomplete"})


def text_of_message(item: Json) -> str | None:
    """The text of a message; none where a part of it is of no known kind."""
    parts = parts_of(item)
    return None if parts is None else "".join(text for _, text in parts)


def parts_of(item: Json) -> list[tuple[str, str]] | None:
    """The type and the text of each part of a message; none where one is of a type that nobody reads."""
    content = item.get("content") or []
    parts = objects(content)
    if not isinstance(content, list) or len(parts) < len(content):
        return None
    kinds = [text_of(part.get("type")) for part in parts]
    if any(kind not in TEXT_PARTS for kind in kinds):
        return None
    return [(kind, text_of(part.get(TEXT_PARTS[kind]))) for kind, part in zip(kinds, parts, strict=True)]


def bare_response() -> Json:
    """An answer of which nothing is known yet."""
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


def compared(value: object) -> object:
    """A value as far as two events that tell of one item have to agree on it."""
    if isinstance(value, dict):
        made = {name: compared(inner) for name, inner in value.items() if name not in LEFT_OUT}
        return {name: inner for name, inner in made.items() if inner not in (None, "", [], {})}
    return [compared(inner) for inner in value] if isinstance(value, list) else value


def message_item(name: str, text: str) -> Json:
    """A message of one text."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": name, "type": "message", "status": "incomplete", "role": "assistant", "content": [part]}


@dataclass(slots=True)
class Item:
    """One item as far as the stream has brought it."""

    added: Json
    parts: list[list[str]] = field(default_factory=list)
    """Of a message: the type of each part, and the pieces of its text."""
    words: list[str] = field(default_factory=list)
    """Of a call: the pieces of its words."""
    pieces: bool | None = None
    """Whether its words come in pieces, or all at once with an end; none as long as there are none."""
    done: Json | None = None

    @property
    def kind(self) -> str:
        """The item's type."""
        return text_of(self.added.get("type"))

    def takes(self, piece: bool, words: str) -> bool:
        """Whether words may come as a piece, or all at once: a client that reads only one of the two must miss all."""
        if words and self.pieces is None:
            self.pieces = piece
        return not words or self.pieces == piece

    def ends_with(self, end: Json) -> bool:
        """Whether an event that ends a call says the words that were said; a call without arguments need not say so."""
        name = WORDS.get(self.kind)
        if name is None:
            return True
        words, said = text_of(end.get(name)), "".join(self.words)
        return words == said or (not said and words == "{}" and name == "arguments")

    def said(self) -> list[tuple[str, str]]:
        """The parts of a message as they would be compared."""
        return [(kind, "".join(pieces)) for kind, *pieces in self.parts]
