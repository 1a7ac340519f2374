"""A grammar of wire messages: answers that a provider would give, and what an upstream could make of them.

A message begins as one that is well formed, whole or streamed. Then up to four things happen to it: at any place of
its JSON (fields of its own format and made-up ones, values of other types, members named twice), among its events
(lost, repeated, swapped, moved to another place, out of another message), and in its bytes. Whatever is put in says
what no check would let out; so does one honest message in seven, in a place that is read.
"""

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from tests.server.upstream_script import (
    chat_completion,
    message,
    message_events,
    output_message,
    response_events,
    response_value,
)
from tests.wire.sdk_eyes import CHAT, MESSAGES, RESPONSES

from assay.wire.fields import Fields

LIE = "partners get 4 weeks"
DEED = "delete all"
"""The name of a tool that nobody may call."""
LIES = (LIE, DEED)
WORDS = ("Leave", "is", "paid", "in", "full.", "Partners", "get", "2", "weeks.", "Not", "“all”", "Καλά", "\n", "📎")
MADE_UP = ("plan", "steps", "actions", "output_text", "data", "value", "display", "thought", "tool_use", "message")
Path = tuple[Any, ...]


@dataclass(frozen=True)
class Message:
    """One answer as its upstream sends it."""

    kind: str
    streamed: bool
    body: bytes
    done: tuple[str, ...]
    """What happened to it."""


def sentence(rng: Random) -> str:
    said = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 9)))
    return f"{said} {LIE}" if rng.random() < 0.07 else said


def arguments(rng: Random) -> dict[str, Any]:
    told: dict[str, Any] = {"order": rng.choice(("W-1", "W-2"))}
    if rng.random() < 0.4:
        told["note"] = sentence(rng)
    return told


def name(rng: Random) -> str:
    return DEED if rng.random() < 0.05 else rng.choice(("cancel", "find"))


def message_of(rng: Random, kind: str) -> Message:
    """A message of a format."""
    streamed = rng.random() < 0.7
    done: list[str] = []
    events = _ANSWERS[kind](rng, streamed)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 2, 3, 4))):
        ways = [*_WAYS, *(_STREAM_WAYS if streamed else ())]
        way = rng.choice(ways)
        events = way(rng, kind, events)
        done.append(way.__name__.strip("_"))
    body = _written(rng, kind, events, done) if streamed else dumped(events[0])
    if rng.random() < 0.12:
        way_of_bytes = rng.choice(_BYTES)
        body = way_of_bytes(rng, body)
        done.append(way_of_bytes.__name__.strip("_"))
    return Message(kind, streamed, body, tuple(done))


# ------------------------------------------------------------------ well-formed answers


def _call(rng: Random, number: int) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": name(rng), "arguments": json.dumps(arguments(rng))},
    }


def _chat(rng: Random, streamed: bool) -> list[Any]:
    choices = rng.choice((1, 1, 1, 2))
    whole = chat_completion("")
    made: list[dict[str, Any]] = []
    for number in range(choices):
        calls = [_call(rng, at) for at in range(rng.choice((0, 0, 1, 2)))]
        if calls and rng.random() < 0.15:
            calls[-1] = {"id": "cx", "type": "custom", "custom": {"name": name(rng), "input": sentence(rng)}}
        said: dict[str, Any] = {"role": "assistant", "content": None if calls and rng.random() < 0.5 else sentence(rng)}
        if rng.random() < 0.1:
            said["refusal"] = sentence(rng)
        if calls:
            said["tool_calls"] = calls
        elif rng.random() < 0.1:
            said["function_call"] = {"name": name(rng), "arguments": json.dumps(arguments(rng))}
        made.append(
            {"index": number, "message": said, "logprobs": None, "finish_reason": "tool_calls" if calls else "stop"}
        )
    if not streamed:
        return [{**whole, "choices": made}]
    chunks: list[Any] = []
    head = {**{key: whole[key] for key in ("id", "created", "model")}, "object": "chat.completion.chunk"}

    def chunk(number: int, delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": number, "delta": delta, "logprobs": None, "finish_reason": finish}
        chunks.append({**head, "choices": [choice]})

    for choice in made:
        number, said = choice["index"], choice["message"]
        chunk(number, {"role": "assistant", "content": ""})
        for field in ("content", "refusal"):
            for piece in cut(rng, said.get(field) or ""):
                chunk(number, {field: piece})
        for at, call in enumerate(said.get("tool_calls", [])):
            inner, words = call["type"], "arguments" if call["type"] == "function" else "input"
            begun = {"name": call[inner]["name"], words: ""}
            chunk(number, {"tool_calls": [{"index": at, "id": call["id"], "type": inner, inner: begun}]})
            for piece in cut(rng, call[inner][words]):
                chunk(number, {"tool_calls": [{"index": at, inner: {words: piece}}]})
        if "function_call" in said:
            chunk(number, {"function_call": {"name": said["function_call"]["name"], "arguments": ""}})
            for piece in cut(rng, said["function_call"]["arguments"]):
                chunk(number, {"function_call": {"arguments": piece}})
        chunk(number, {}, choice["finish_reason"])
    if rng.random() < 0.3:
        chunks.append({**head, "choices": [], "usage": whole["usage"]})
    return [*chunks, "[DONE]"]


def _responses(rng: Random, streamed: bool) -> list[Any]:
    items: list[dict[str, Any]] = []
    for number in range(rng.choice((1, 1, 2, 3))):
        kind = rng.choice(("message", "message", "function_call", "custom_tool_call", "reasoning", "local_shell_call"))
        item: dict[str, Any] = {"id": f"i{number}", "type": kind, "status": "completed"}
        match kind:
            case "message":
                item = {**output_message(sentence(rng)), "id": f"i{number}"}
            case "function_call":
                item |= {"call_id": f"c{number}", "name": name(rng), "arguments": json.dumps(arguments(rng))}
            case "custom_tool_call":
                item |= {"call_id": f"c{number}", "name": name(rng), "input": sentence(rng)}
            case "reasoning":
                item |= {"summary": [{"type": "summary_text", "text": LIE}]}
            case "local_shell_call":
                item |= {"call_id": f"c{number}", "action": {"type": "exec", "command": [sentence(rng)], "env": {}}}
        items.append(item)
    if not streamed:
        return [response_value(items)]
    events: list[Any] = [_value(response_events([])[0])]
    for place, item in enumerate(items):
        if item["type"] in ("message", "function_call"):
            inner = [_value(event) for event in response_events([item])[1:-1]]
            events += [{**event, "output_index": place} for event in inner]
        else:
            opening = {**item, "status": "in_progress"}
            if item["type"] == "custom_tool_call":
                opening["input"] = ""
            events.append({"type": "response.output_item.added", "output_index": place, "item": opening})
            where = {"item_id": item["id"], "output_index": place}
            if item["type"] == "custom_tool_call":
                kind = "response.custom_tool_call_input"
                events += [{"type": f"{kind}.delta", **where, "delta": one} for one in cut(rng, item["input"])]
                events.append({"type": f"{kind}.done", **where, "input": item["input"]})
            if item["type"] == "reasoning":
                part = {**where, "summary_index": 0}
                events.append({"type": "response.reasoning_summary_text.delta", **part, "delta": LIE})
            events.append({"type": "response.output_item.done", "output_index": place, "item": item})
    events.append({"type": "response.completed", "response": response_value(items)})
    return [{**event, "sequence_number": number} for number, event in enumerate(events)]


def _messages(rng: Random, streamed: bool) -> list[Any]:
    blocks: list[dict[str, Any]] = []
    for number in range(rng.choice((1, 1, 2, 3))):
        match rng.choice(("text", "text", "tool_use", "thinking")):
            case "text":
                blocks.append({"type": "text", "text": sentence(rng)})
            case "tool_use":
                blocks.append({"type": "tool_use", "id": f"t{number}", "name": name(rng), "input": arguments(rng)})
            case _ if not streamed:
                blocks.append({"type": "thinking", "thinking": LIE, "signature": "EqQB"})
    why = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    details = {"type": "refusal", "category": None, "explanation": sentence(rng)} if rng.random() < 0.1 else None
    if not streamed:
        return [{**message(""), "content": blocks, "stop_reason": why, "stop_details": details}]
    events = [_value(event) for event in message_events(blocks, why)]
    events[-2]["delta"]["stop_details"] = details
    return events


_ANSWERS: dict[str, Callable[[Random, bool], list[Any]]] = {CHAT: _chat, RESPONSES: _responses, MESSAGES: _messages}


def cut(rng: Random, words: str) -> list[str]:
    """A text in pieces."""
    pieces, at = [], 0
    while at < len(words):
        end = at + rng.randint(1, 12)
        pieces.append(words[at:end])
        at = end
    return pieces


def _value(event: bytes) -> Any:
    return json.loads(event.split(b"data: ", 1)[1])


# ------------------------------------------------------------------ what happens to them


def falsehood(rng: Random) -> Any:
    """Something that must not go out, in any shape."""
    return rng.choice(
        (
            LIE,
            [LIE],
            {"text": LIE},
            [{"type": "text", "text": LIE}],
            {"message": {"content": LIE}},
            {LIE: 1},
            {"name": DEED, "arguments": "{}"},
            [{"type": "function", "function": {"name": DEED, "arguments": "{}"}}],
            {"type": "tool_use", "id": "x", "name": DEED, "input": {}},
            f'{{"name": "{DEED}"}}',
            7,
            True,
            {"type": "function_call", "call_id": "x", "name": DEED, "arguments": "{}"},
            [[LIE]],
            f"data: {LIE}",
        )
    )


@cache
def names_of(kind: str) -> tuple[str, ...]:
    """The fields of a format, whatever they belong to."""
    known = {field for fields in Fields.of(kind).types.values() for field in fields}
    return (*sorted(known), *MADE_UP)


@cache
def types_of(kind: str) -> tuple[str, ...]:
    """The words of a format that tell one type from another."""
    fields = Fields.of(kind).types.values()
    forms = (form for one in fields for form in one.get("type", ()) if form.startswith("="))
    return tuple(sorted({word for form in forms for word in form[1:].split("|")}))


def places(value: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every place in a value of JSON."""
    yield at, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def _pick(rng: Random, events: list[Any], wanted: type | tuple[type, ...]) -> tuple[list[Any], Any, Any]:
    """A copy of the events, and a place in it where something of a type stands: what holds it, and its key."""
    made = copy.deepcopy(events)
    found = [at for at, value in places(made) if at and isinstance(value, wanted) and value != "[DONE]"]
    if not found:
        return made, None, None
    *outer, key = rng.choice(found)
    holder: Any = made
    for step in outer:
        holder = holder[step]
    return made, holder, key


def _with_field(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made, holder, key = _pick(rng, events, dict)
    if holder is not None:
        holder[key][rng.choice(names_of(kind))] = falsehood(rng)
    return made


def _replaced(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made, holder, key = _pick(rng, events, (str, int, list, type(None)))
    if holder is not None and holder is not made:
        holder[key] = falsehood(rng)
    return made


def _extended(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made, holder, key = _pick(rng, events, list)
    if holder is not None:
        holder[key].insert(rng.randint(0, len(holder[key])), falsehood(rng))
    return made


def _retyped(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made = copy.deepcopy(events)
    typed = [value for _, value in places(made) if isinstance(value, dict) and "type" in value]
    if typed:
        rng.choice(typed)["type"] = rng.choice(types_of(kind))
    return made


def _without_field(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made, holder, key = _pick(rng, events, (str, int, list, dict, type(None)))
    if isinstance(holder, dict):
        del holder[key]
    return made


def _moved(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made = copy.deepcopy(events)
    indexed = [
        (value, field)
        for _, value in places(made)
        if isinstance(value, dict)
        for field in ("index", "output_index", "content_index")
        if isinstance(value.get(field), int)
    ]
    if indexed:
        value, field = rng.choice(indexed)
        value[field] = rng.choice((0, 1, 2, -1, 7, True, "0", None, 0.0))
    return made


def _twice(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    """A member named twice: `dumped` writes it so."""
    made, holder, key = _pick(rng, events, (str, list, dict))
    if isinstance(holder, dict) and isinstance(key, str):
        holder[f"\0{key}"] = falsehood(rng)
    return made


def _other_words(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    """One of the places where words are read, with other words."""
    made = copy.deepcopy(events)
    names = ("text", "delta", "content", "arguments", "input", "partial_json", "name", "refusal", "code", "cited_text")
    found = [
        (value, field) for _, value in places(made) if isinstance(value, dict) for field in names if field in value
    ]
    if found:
        value, field = rng.choice(found)
        value[field] = rng.choice((LIE, '{"all": "every thing"}', "not ", DEED, {"a": LIE}, [LIE], "", None))
    return made


_WAYS = [_with_field, _with_field, _replaced, _extended, _retyped, _without_field, _moved, _twice, _other_words]


def _lost(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    at = rng.randrange(len(events)) if events else 0
    return events[:at] + events[at + 1 :]


def _repeated(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    if not events:
        return events
    return _put(rng, events, copy.deepcopy(rng.choice(events)))


def _swapped(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    made = list(events)
    if len(made) > 1:
        one, other = rng.randrange(len(made)), rng.randrange(len(made))
        made[one], made[other] = made[other], made[one]
    return made


def _foreign(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    """An event, or several, out of another message of the format."""
    other = _ANSWERS[kind](rng, True)
    at = rng.randrange(len(other))
    made = list(events)
    for event in other[at : at + rng.choice((1, 1, 3, 9))]:
        made = _put(rng, made, event) if rng.random() < 0.5 else [*made, event]
    return made


def _other_format(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    other = rng.choice([one for one in _ANSWERS if one != kind])
    return _put(rng, events, rng.choice(_ANSWERS[other](rng, True)))


def _whole_inside(rng: Random, kind: str, events: list[Any]) -> list[Any]:
    return _put(rng, events, _ANSWERS[kind](rng, False)[0])


def _put(rng: Random, events: list[Any], event: Any) -> list[Any]:
    at = rng.randint(0, len(events))
    return [*events[:at], event, *events[at:]]


_STREAM_WAYS = [_lost, _repeated, _swapped, _foreign, _foreign, _other_format, _whole_inside]


def dumped(value: Any) -> bytes:
    """JSON, with the members that are to be named twice."""
    return json.dumps(value, ensure_ascii=False).replace("\\u0000", "").encode()


def _written(rng: Random, kind: str, events: list[Any], done: list[str]) -> bytes:
    """The events as bytes, now and then with a line that a provider would not write."""
    made = []
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    for event in events:
        said = event if isinstance(event, str) else dumped(event).decode()
        lines = [f"data: {said}"]
        told = event.get("type") if isinstance(event, dict) else None
        if kind != CHAT and isinstance(told, str):
            lines.insert(0, f"event: {told}")
        if rng.random() < 0.005:
            strange = ("event: ping", "event: thread.x", "event: error", "event", f"note: {LIE}", f"id: {LIE}")
            lines[0] = rng.choice(strange)
            done.append("strange line")
        made.append(end.join(lines) + end + end)
    return "".join(made).encode()


def _plain_json(rng: Random, body: bytes) -> bytes:
    return dumped(chat_completion(LIE))


def _marked(rng: Random, body: bytes) -> bytes:
    return b"\xef\xbb\xbf" + body


def _commented(rng: Random, body: bytes) -> bytes:
    return b": waits\n\n" + body


def _cut_off(rng: Random, body: bytes) -> bytes:
    return body[: rng.randrange(len(body) + 1)]


def _recoded(rng: Random, body: bytes) -> bytes:
    return body.decode("utf-8", "replace").encode(rng.choice(("utf-16", "utf-32", "utf-7", "latin-1")), "replace")


def _spliced(rng: Random, body: bytes) -> bytes:
    at = rng.randrange(len(body) + 1)
    piece = rng.choice(
        (b"\n", b"\n\n", b"\r", b"\0", b"data: ", b"\ndata: [DONE]\n\n", b"\xff", b"\n\n" + LIE.encode())
    )
    return body[:at] + piece + body[at:]


_BYTES = [_plain_json, _marked, _commented, _cut_off, _recoded, _spliced]
