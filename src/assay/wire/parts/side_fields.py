"""What an answer says beside its words may not say something else: tokens are those of its text, errors stand alone.

The lists of fields (`assay.wire.fields`) say of each field by itself what may be there. Two depend on others of the
same message: the tokens with their probabilities, which SDKs show as words, and why there is no answer, where there is
one.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from assay.wire.interface import Json

_TOKEN: Final = re.compile(r"\s{0,64}\S{0,64}\s{0,64}")
"""What one token of a model can be: no words with blanks between them."""
_SPECIAL: Final = re.compile(r"<[|/]?[\w|]{1,32}>")
"""Tokens that end a text and are no part of it, as servers of open models list them."""


def fault_beside(message: Json) -> str | None:
    """What in an answer or an event contradicts what is next to it; none where nothing does.

    Args:
        message: an answer or an event of a stream, whose fields are all known.

    >>> fault_beside({"status": "completed", "error": {"code": "x", "message": "It is free."}})
    'an error beside an answer'
    >>> token = {"token": "It is free.", "logprob": 0.0, "bytes": None, "top_logprobs": []}
    >>> fault_beside({"choices": [{"message": {"content": "No."}, "logprobs": {"content": [token]}}]})
    'tokens that are not those of the text beside them'
    """
    inner = message.get("response")
    for holder in (message, inner if isinstance(inner, dict) else {}):
        if holder.get("error") and holder.get("status") not in (None, "failed"):
            return "an error beside an answer"
    for entries, text in _listed(message):
        if not _of_text(entries, text):
            return "tokens that are not those of the text beside them"
    return None


def _listed(message: Json) -> Iterator[tuple[list[Any], str]]:
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
                    yield entries, _text(said.get(name) if isinstance(said, dict) else None)
        elif isinstance(listed, list) and listed:
            yield listed, _text(item.get("text", item.get("delta")))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _of_text(entries: list[Any], text: str) -> bool:
    """Whether tokens make up a text, but for a special one at its end, and are tokens."""
    if not all(isinstance(entry, dict) and _is_token(entry) for entry in entries):
        return False
    while entries and _SPECIAL.fullmatch(_text(entries[-1].get("token"))) and not text.endswith(entries[-1]["token"]):
        entries = entries[:-1]
    whole = [entry.get("bytes") for entry in entries]
    if all(isinstance(one, list) for one in whole):
        return b"".join(map(_bytes, whole)) == text.encode("utf-8", "replace")
    joined = "".join(_text(entry.get("token")) for entry in entries)
    if "\ufffd" not in joined:
        return joined == text
    # A character whose bytes are in two tokens shows in neither.
    return re.fullmatch(".{0,2}".join(map(re.escape, re.split("\ufffd+", joined))), text, re.DOTALL) is not None


def _is_token(entry: Json) -> bool:
    """Whether what an entry shows as a token, and in its place, can be tokens, and is what its bytes say."""
    listed = entry.get("bytes")
    if isinstance(listed, list) and (shown := _bytes(listed).decode("utf-8", "replace")) != _text(entry.get("token")):
        return "\ufffd" in shown and _TOKEN.fullmatch(_text(entry.get("token"))) is not None
    others = entry.get("top_logprobs")
    alternatives = others if isinstance(others, list) else []
    return all(isinstance(one, dict) and _TOKEN.fullmatch(_text(one.get("token"))) for one in alternatives)


def _bytes(values: object) -> bytes:
    """The bytes of a token; none where they are none."""
    try:
        return bytes(values) if isinstance(values, list) else b""
    except (TypeError, ValueError):
        return b""
