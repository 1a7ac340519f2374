"""The messages of the OpenTelemetry GenAI conventions: a role, and parts of many types."""

from typing import Any, Final

from assay.schema.run.arguments import Arguments, read_argument_object, read_arguments
from assay.schema.run.model import Executor, Passage, Step, TextPart, ToolCall, ToolResult
from assay.schema.traces.content import opaque, read_part
from assay.schema.traces.fields import Fields, numbered
from assay.schema.traces.turns import TurnBuilder

_ROLES: Final = frozenset({"system", "developer", "user", "assistant"})


def read_message(message: Any, place: str) -> list[Step]:
    """Reads one message; a result may be in a message of any role."""
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return [opaque(message, place)]
    fields = Fields(message, place)
    role = fields.text("role")
    stop_reason = fields.text("finish_reason")
    parts = numbered(fields.items("parts") or [], fields.at("parts"))
    if role == "tool":
        return _read_tool_message(parts, fields)
    if role not in _ROLES:
        return [opaque(message, place).model_copy(update={"type": "message", "role": role})]
    turns = TurnBuilder(role, fields)
    for where, part in parts:
        step = _read_step(part, where)
        if step is not None:
            turns.add(step)
        else:
            turns.say(read_part(part, where, turns.faults), where)
    return turns.finished(stop_reason if role == "assistant" else None)


def read_either_arguments(value: Any) -> Arguments:
    """Arguments as JSON text or as JSON; some instrumentations write one and some the other."""
    return read_arguments(value) if isinstance(value, str) else read_argument_object(value)


def result_fields_of(value: Any) -> dict[str, Any]:
    """The fields of a result that is a text or JSON."""
    return {"content": (TextPart(text=value),)} if isinstance(value, str) else {"structured": value}


def read_document(document: Any, place: str) -> Step:
    """Reads a retrieved document: the conventions name its id and its score, and leave the rest open."""
    if not isinstance(document, dict):
        return opaque(document, place)
    fields = Fields(document, place)
    number = fields.any("id")
    text = next((fields.text(key) for key in ("content", "text") if isinstance(fields.peek(key), str)), None)
    values = {"title": fields.text("title"), "source": fields.text("source") or fields.text("uri")}
    score = fields.number("score")
    return Passage(id=None if number is None else str(number), text=text or "", score=score, **values, **fields.step())


def _read_tool_message(parts: list[tuple[str, Any]], fields: Fields) -> list[Step]:
    found: list[Step] = []
    for where, part in parts:
        step = _read_step(part, where)
        if step is None:
            words = read_part(part, where, fields.faults)
            step = ToolResult(content=(words,), place=where)
        found.append(step)
    if not found:
        found.append(ToolResult(place=fields.place))
    update = {"extra": {**found[0].extra, **fields.rest()}, "faults": (*found[0].faults, *fields.faults)}
    found[0] = found[0].model_copy(update=update)
    return found


def _read_step(part: Any, place: str) -> Step | None:
    """A call or a result; none for words and data."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind not in ("tool_call", "tool_call_response", "server_tool_call", "server_tool_call_response"):
        return None
    fields = Fields(part, place)
    fields.drop("type", kind)
    number, name = fields.text("id"), fields.text("name")
    served = kind.startswith("server_")
    executor = Executor.PROVIDER if served else Executor.CLIENT
    if kind.endswith("_response"):
        result_fields = result_fields_of(fields.any(kind if served else "response"))
        return ToolResult(call_id=number, name=name, executor=executor, **result_fields, **fields.step())
    if not name:
        fields.fault("call.no_name", "a tool is called without a name")
    given = fields.any(kind) if served else fields.any("arguments")
    written = "function"
    if served and isinstance(given, dict):
        kind_of_tool = given.get("type")
        written = kind_of_tool if isinstance(kind_of_tool, str) else "server_tool_call"
        given = {key: value for key, value in given.items() if key != "type" or value != written}
    values: dict[str, Any] = {"arguments": read_either_arguments(given), "type": written, "executor": executor}
    return ToolCall(id=number, name=name or "", **values, **fields.step())
