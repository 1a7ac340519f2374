"""What the official SDKs show a client of an answer, whole or streamed: the words and the calls, however it looks."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
from anthropic import Anthropic
from openai import OpenAI

CHAT, RESPONSES, MESSAGES = "openai_chat", "openai_responses", "anthropic_messages"


@dataclass
class Seen:
    """What a client has seen, in one of the ways in which it can look."""

    texts: dict[str, str] = field(default_factory=dict)
    calls: list[tuple[str, str]] = field(default_factory=list)
    dumped: str = ""
    """Everything that the SDK's values hold, as JSON."""
    raised: bool = False
    """Whether the SDK raised an error before the end."""

    def add(self, channel: str, text: object) -> None:
        if isinstance(text, str) and text:
            self.texts[channel] = self.texts.get(channel, "") + text
        elif text:
            self.texts[channel] = self.texts.get(channel, "") + json.dumps(plain(text))

    def call(self, name: object, words: object) -> None:
        told = words if isinstance(words, str) else json.dumps(plain(words))
        self.calls.append((str(name), compact(told)))


def plain(value: Any) -> Any:
    """A value of an SDK as JSON."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", warnings=False)
    return [plain(one) for one in value] if isinstance(value, list) else value


def _of_others(value: Any) -> Any:
    """A value without what the gate says of it, which names the claims and the calls that it refused."""
    if isinstance(value, dict):
        return {name: _of_others(inner) for name, inner in value.items() if name != "assay"}
    return [_of_others(one) for one in value] if isinstance(value, list) else value


def compact(words: str) -> str:
    """JSON in one spelling; other words as they are."""
    try:
        return json.dumps(json.loads(words), sort_keys=True)
    except ValueError:
        return words


@cache
def _clients() -> tuple[OpenAI, Anthropic, list[httpx2.Response]]:
    """Clients of both SDKs that are answered with the last response of the list."""
    answers: list[httpx2.Response] = []
    http = httpx2.Client(transport=httpx2.MockTransport(lambda _: answers[-1]))
    openai = OpenAI(base_url="http://model.test/v1", api_key="k", max_retries=0, http_client=http)
    return openai, Anthropic(base_url="http://model.test", api_key="k", max_retries=0, http_client=http), answers


def eyes(kind: str, body: bytes, *, streamed: bool) -> Iterator[Seen]:
    """What a client sees of a body, looking in each way that the SDK offers."""
    openai, claude, answers = _clients()
    media = "text/event-stream" if streamed else "application/json"
    heard: list[Any] = []
    for look in _LOOKS[kind, streamed]:
        answers[:] = [httpx2.Response(200, headers={"content-type": media}, content=body)]
        if look in _EVENTS and not heard:
            heard = list(_heard(openai))
        seen = Seen()
        held: list[Any] = []
        try:
            look(_raising(heard) if look in _EVENTS else openai if kind != MESSAGES else claude, seen, held)
        except Exception:  # noqa: BLE001 whatever an SDK raises, the client has seen what came before
            seen.raised = True
        seen.dumped = json.dumps([_of_others(plain(one)) for one in held], ensure_ascii=False, default=str)
        yield seen


def _heard(client: Any) -> Iterator[Any]:
    """The events of a stream of responses, and behind them the error that the SDK raised, or none."""
    try:
        yield from client.responses.create(model="m", input="?", stream=True)
    except Exception as error:  # noqa: BLE001 whatever an SDK raises
        yield error
    else:
        yield None


def _raising(heard: list[Any]) -> Iterator[Any]:
    yield from heard[:-1]
    if heard[-1] is not None:
        raise heard[-1]


_MESSAGES: Any = [{"role": "user", "content": "?"}]


def _chat_message(seen: Seen, number: int, message: Any) -> None:
    seen.add(f"{number}", message.content)
    seen.add(f"{number}/refusal", message.refusal)
    for call in message.tool_calls or []:
        inner: Any = getattr(call, call.type or "function", None) or getattr(call, "custom", None)
        inner = inner if not isinstance(inner, dict) else _Loose(inner)
        words = inner.input if getattr(call, "type", "") == "custom" else inner.arguments
        seen.call(inner.name, words)
    if message.function_call:
        seen.call(message.function_call.name, message.function_call.arguments)


class _Loose:
    def __init__(self, members: dict[str, Any]) -> None:
        self.__dict__.update(members)


def _chat_whole(client: Any, seen: Seen, held: list[Any]) -> None:
    found = client.chat.completions.create(model="m", messages=_MESSAGES)
    held.append(found)
    for number, choice in enumerate(found.choices):
        _chat_message(seen, number, choice.message)


def _chat_chunks(client: Any, seen: Seen, held: list[Any]) -> None:
    """A program that puts the chunks together itself."""
    calls: dict[tuple[int, Any], list[str]] = {}
    try:
        for chunk in client.chat.completions.create(model="m", messages=_MESSAGES, stream=True):
            held.append(chunk)
            for choice in chunk.choices or []:
                seen.add(f"{choice.index}", choice.delta.content)
                seen.add(f"{choice.index}/refusal", choice.delta.refusal)
                parts = [
                    (one.index, one.function or _Loose(getattr(one, "custom", None) or {}))
                    for one in choice.delta.tool_calls or []
                ]
                if choice.delta.function_call:
                    parts.append(("f", choice.delta.function_call))
                for index, part in parts:
                    call = calls.setdefault((choice.index, index), ["", ""])
                    call[0] += getattr(part, "name", None) or ""
                    call[1] += getattr(part, "arguments", None) or getattr(part, "input", None) or ""
    finally:
        for name, words in calls.values():
            seen.call(name, words)


def _chat_helper(client: Any, seen: Seen, held: list[Any]) -> None:
    with client.chat.completions.stream(model="m", messages=_MESSAGES) as stream:
        snapshot = None
        try:
            for _ in stream:
                snapshot = stream.current_completion_snapshot
        finally:
            if snapshot is not None:
                held.append(snapshot)
                for choice in snapshot.choices:
                    _chat_message(seen, choice.index, choice.message)


def _output(seen: Seen, output: list[Any]) -> None:
    place = 0
    for item in output:
        match item.type:
            case "message":
                for part in item.content:
                    seen.add(f"{place}", part.text if part.type == "output_text" else part.refusal)
                place += 1
            case "function_call":
                seen.call(item.name, item.arguments)
            case "custom_tool_call":
                seen.call(item.name, item.input)


def _response_whole(client: Any, seen: Seen, held: list[Any]) -> None:
    found = client.responses.create(model="m", input="?")
    held.append(found)
    _output(seen, found.output)


def _response_deltas(events: Any, seen: Seen, held: list[Any]) -> None:
    """A program that takes the pieces."""
    calls: dict[int, list[str]] = {}
    places: dict[int, str] = {}
    try:
        for event in events:
            held.append(event)
            match event.type:
                case "response.output_text.delta" | "response.refusal.delta":
                    seen.add(places.setdefault(event.output_index, f"{len(places)}"), event.delta)
                case "response.output_item.added" if event.item.type in ("function_call", "custom_tool_call"):
                    words = getattr(event.item, "arguments", None) or getattr(event.item, "input", None)
                    calls[event.output_index] = [event.item.name, words or ""]
                case "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta":
                    calls[event.output_index][1] += event.delta
    finally:
        for name, words in calls.values():
            seen.call(name, words)


def _response_items(events: Any, seen: Seen, held: list[Any]) -> None:
    """A program that takes the items as they end."""
    for event in events:
        if event.type == "response.output_item.done":
            held.append(event)
            place = len(seen.texts)
            inner = Seen()
            _output(inner, [event.item])
            seen.calls += inner.calls
            for text in inner.texts.values():
                seen.add(f"{place}", text)


def _response_ends(events: Any, seen: Seen, held: list[Any]) -> None:
    """A program that takes the ends of texts and of arguments."""
    names: dict[int, str] = {}
    places: dict[int, str] = {}
    for event in events:
        match event.type:
            case "response.output_text.done":
                seen.add(places.setdefault(event.output_index, f"{len(places)}"), event.text)
            case "response.refusal.done":
                seen.add(places.setdefault(event.output_index, f"{len(places)}"), event.refusal)
            case "response.output_item.added":
                names[event.output_index] = getattr(event.item, "name", "")
            case "response.function_call_arguments.done":
                seen.call(names[event.output_index], event.arguments)
            case "response.custom_tool_call_input.done":
                seen.call(names[event.output_index], event.input)


def _response_helper(client: Any, seen: Seen, held: list[Any]) -> None:
    with client.responses.stream(model="m", input="?") as stream:
        found = stream.get_final_response()
    held.append(found)
    _output(seen, found.output)


def _message_content(seen: Seen, found: Any) -> None:
    for block in found.content:
        match block.type:
            case "text":
                seen.add("text", block.text)
            case "tool_use":
                seen.call(block.name, block.input)
    if found.stop_details is not None:
        seen.add("explanation", found.stop_details.explanation)


def _message_whole(client: Any, seen: Seen, held: list[Any]) -> None:
    found = client.messages.create(model="m", max_tokens=9, messages=_MESSAGES)
    held.append(found)
    _message_content(seen, found)


def _message_deltas(client: Any, seen: Seen, held: list[Any]) -> None:
    """A program that takes the pieces."""
    calls: dict[int, list[str]] = {}
    try:
        for event in client.messages.create(model="m", max_tokens=9, messages=_MESSAGES, stream=True):
            held.append(event)
            match event.type:
                case "content_block_start" if event.content_block.type == "text":
                    seen.add("text", event.content_block.text)
                case "content_block_start" if event.content_block.type == "tool_use":
                    block = event.content_block
                    calls[event.index] = [block.name, json.dumps(block.input) if block.input else ""]
                case "content_block_delta" if event.delta.type == "text_delta":
                    seen.add("text", event.delta.text)
                case "content_block_delta" if event.delta.type == "input_json_delta" and event.index in calls:
                    calls[event.index][1] += event.delta.partial_json
                case "message_delta" if event.delta.stop_details is not None:
                    seen.add("explanation", event.delta.stop_details.explanation)
    finally:
        for name, words in calls.values():
            seen.call(name, words or "{}")


def _message_helper(client: Any, seen: Seen, held: list[Any]) -> None:
    with client.messages.stream(model="m", max_tokens=9, messages=_MESSAGES) as stream:
        try:
            stream.until_done()
        finally:
            held.append(stream.current_message_snapshot)
            _message_content(seen, stream.current_message_snapshot)


Look = Callable[[Any, Seen, list[Any]], None]
_EVENTS = (_response_deltas, _response_items, _response_ends)
"""Ways of looking at the same events, which are read once."""
_LOOKS: dict[tuple[str, bool], tuple[Look, ...]] = {
    (CHAT, False): (_chat_whole,),
    (CHAT, True): (_chat_chunks, _chat_helper),
    (RESPONSES, False): (_response_whole,),
    (RESPONSES, True): (_response_deltas, _response_items, _response_ends, _response_helper),
    (MESSAGES, False): (_message_whole,),
    (MESSAGES, True): (_message_deltas, _message_helper),
}
