"""The content of messages and results: a text, or an array of parts whose types differ by format."""

from collections.abc import Callable
from typing import Any, Final

from assay.schema.run.json_values import Fault, json_kind
from assay.schema.run.model import DataPart, Opaque, Part, ReasoningPart, RefusalPart, TextPart
from assay.schema.traces.fields import Fields, numbered

_TEXTS: Final = {"text": "text", "input_text": "text", "output_text": "text", "summary_text": "text"}
_REASONING: Final = {"thinking": "thinking", "reasoning_text": "text", "reasoning": "content"}
_KNOWN_DATA: Final = frozenset(
    {"image", "image_url", "input_image", "input_audio", "audio", "input_file", "file", "container_upload", "video"}
    | {"computer_screenshot", "blob", "uri", "redacted_thinking", "compaction", "tool_reference", "browser_state"}
)
"""Types of parts that are no text and that the formats define."""

PartReader = Callable[[dict[str, Any], str], "Part | None"]
"""Reads a part that only one format has; none for any other part."""


def read_content(fields: Fields, key: str = "content", special: PartReader | None = None) -> tuple[Part, ...]:
    """Takes the content of an item as parts; an empty text is no part."""
    value = fields.any(key)
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (TextPart(text=value),)
    if not isinstance(value, list):
        fields.fault("item.unexpected_type", f"expected a string or an array of parts, got {json_kind(value)}", key)
        return (DataPart(name=key, value=value),)
    return tuple(read_part(part, place, fields.faults, special) for place, part in numbered(value, fields.at(key)))


def read_part(part: object, place: str, faults: list[Fault], special: PartReader | None = None) -> Part:
    """Reads one part of a content; a part of an unknown type is kept as it came, with a fault."""
    if isinstance(part, str):
        return TextPart(text=part)
    if not isinstance(part, dict):
        faults.append(_fault("item.unexpected_type", f"expected a part, got {json_kind(part)}", place))
        return DataPart(name="unknown", value=part)
    special_part = special(part, place) if special else None
    if special_part is not None:
        return special_part
    name = part.get("type")
    fields = Fields(part, place)
    if isinstance(name, str):
        read = _read_words(name, fields)
        if read is not None:
            return read
    if not isinstance(name, str) or name not in _KNOWN_DATA:
        faults.append(
            _fault("item.unknown_type", f"a part of the unknown type {_shown(name)} is kept as it came", place)
        )
    return DataPart(name=name if isinstance(name, str) else "unknown", value=part)


def opaque(item: object, place: str, *, known: bool = False, call_id: str | None = None) -> Opaque:
    """An item that has no place in the normal form; with a fault, unless its type is known to hold nothing to check."""
    name = item.get("type") if isinstance(item, dict) else None
    role = item.get("role") if isinstance(item, dict) else None
    message = (
        f"an item of the unknown type {_shown(name)} is kept as it came"
        if isinstance(item, dict)
        else f"expected an item, got {json_kind(item)}"
    )
    return Opaque(
        type=name if isinstance(name, str) else "unknown",
        role=role if isinstance(role, str) else None,
        call_id=call_id,
        value=item,
        place=place,
        faults=() if known else (_fault("item.unknown_type", message, place),),
    )


def _read_words(name: str, fields: Fields) -> Part | None:
    """A text, a refusal or a reasoning; none for every other type, and for one without its words."""
    for table, kind in ((_TEXTS, TextPart), (_REASONING, ReasoningPart), ({"refusal": "refusal"}, RefusalPart)):
        key = table.get(name)
        if key is None:
            continue
        if not isinstance(fields.peek(key), str):
            key = "content"  # OpenTelemetry's name for the words of every part
        if isinstance(fields.peek(key), str):
            words = fields.text(key, "")
            fields.drop("type", name)
            part: Part = kind(text=words, extra=fields.rest())
            return part
    return None


def _shown(name: object) -> str:
    return repr(name) if isinstance(name, str) and len(name) <= 80 else f"({json_kind(name)})"


def _fault(code: str, message: str, place: str) -> Fault:
    return Fault(code=code, message=message, place=place)
