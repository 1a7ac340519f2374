"""Checks fields that must agree with others in the same message: tokens with their text, an error without an answer.

The lists of fields (`assay.wire.fields`) decide on each field by itself. Two depend on others: the tokens with their
probabilities, which SDKs show as text, and the error, which must not come with an answer.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.wire.interface import Json, text_of

_TOKEN: Final = re.compile(r"\s{0,64}\S{0,64}\s{0,64}")
"""What one token of a model can be: not several words with blanks between them."""
_SPECIAL: Final = re.compile(r"<[|/]?[\w|]{1,32}>")
"""Tokens that end a text without being part of it, which servers of open models list."""


def side_field_fault(message: Json) -> str | None:
    """Which contradiction between fields an answer or event has, as a phrase; none where it has none.

    Args:
        message: an answer or an event of a stream, all of whose fields are known.

    >>> side_field_fault({"status": "completed", "error": {"code": "x", "message": "It is free."}})
    'an error beside an answer'
    >>> token = {"token": "It is free.", "logprob": 0.0, "bytes": None, "top_logprobs": []}
    >>> side_field_fault({"choices": [{"message": {"content": "No."}, "logprobs": {"content": [token]}}]})
    'tokens that are not those of the text beside them'
    """
    inner = message.get("response")
    for holder in (message, inner if isinstance(inner, dict) else {}):
        if holder.get("error") and holder.get("status") not in (None, "failed"):
            return "an error beside an answer"
    for entries, text in _token_lists(message):
        if not _make_up(entries, text):
            return "tokens that are not those of the text beside them"
    return None


def _token_lists(message: Json) -> Iterator[tuple[list[Any], str]]:
    """The lists of tokens of a message, each with the text beside it."""
    left: list[object] = [message]
    while left:
        item = left.pop()
        if isinstance(item, list):
            left += item
        if not isinstance(item, dict):
            continue
        left += item.values()
        listed = item.get("logprobs")
        if isinstance(listed, dict):
            said = item.get("message") or item.get("delta")
            for name, entries in listed.items():
                if isinstance(entries, list) and entries:
                    yield entries, text_of(said.get(name) if isinstance(said, dict) else None)
        elif isinstance(listed, list) and listed:
            yield listed, text_of(item.get("text", item.get("delta")))


def _make_up(entries: list[Any], text: str) -> bool:
    """Whether entries are tokens that make up a text, apart from special ones at its end."""
    if not all(isinstance(entry, dict) and _is_token(entry) for entry in entries):
        return False
    while entries and _SPECIAL.fullmatch(text_of(entries[-1].get("token"))) and not text.endswith(entries[-1]["token"]):
        entries = entries[:-1]
    whole = [entry.get("bytes") for entry in entries]
    if all(isinstance(one, list) for one in whole):
        return b"".join(map(_bytes, whole)) == text.encode("utf-8", "replace")
    joined = "".join(text_of(entry.get("token")) for entry in entries)
    if "\ufffd" not in joined:
        return joined == text
    # A character whose bytes are split between two tokens is readable in neither.
    return re.fullmatch(".{0,2}".join(map(re.escape, re.split("\ufffd+", joined))), text, re.DOTALL) is not None


def _is_token(entry: Json) -> bool:
    """Whether an entry's token equals its bytes, and its alternatives can be tokens."""
    listed = entry.get("bytes")
    if isinstance(listed, list) and (shown := _bytes(listed).decode("utf-8", "replace")) != text_of(entry.get("token")):
        return "\ufffd" in shown and _TOKEN.fullmatch(text_of(entry.get("token"))) is not None
    others = entry.get("top_logprobs")
    alternatives = others if isinstance(others, list) else []
    return all(isinstance(one, dict) and _TOKEN.fullmatch(text_of(one.get("token"))) for one in alternatives)


def _bytes(values: object) -> bytes:
    """The bytes of a token; empty where the value is no list of bytes."""
    try:
        return bytes(values) if isinstance(values, list) else b""
    except (TypeError, ValueError):
        return b""
