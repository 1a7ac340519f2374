"""The wire format of `POST /v1/chat/completions`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from assay.guard.holdback import Reading
from assay.schema.run_formats import openai_chat
from assay.wire.interface import (
    Json,
    Shown,
    WireStream,
    calls_of,
    objects,
    text_of,
    unknown_fields,
    unstreamed,
)
from assay.wire.sse import Event

WITHHELD: Final = "content_filter"
"""The finish reason that every client knows for an answer that was held back."""
ENDED: Final = "stop"
"""The finish reason of an answer that is complete."""
_CALLING: Final = ("tool_calls", "function_call")
"""Those of an answer that asks for calls."""

_ERROR_TYPES: Final = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "invalid_request_error", 429: "rate_limit_error",
}  # fmt: skip
_MESSAGE: Final = frozenset(
    {"role", "content", "refusal", "tool_calls", "function_call", "annotations", "name", "reasoning_content"}
    | {"reasoning", "reasoning_details", "provider_specific_fields"}
)
"""The fields of a message that are read, or that are no part of the answer."""
_CHOICE: Final = frozenset(
    {"index", "message", "delta", "finish_reason", "logprobs", "content_filter_results", "content_filter_offsets"}
    | {"stop_reason", "native_finish_reason", "matched_stop", "token_ids", "seed", "provider_specific_fields"}
)
"""The fields of a choice that are read, or that say nothing beside what is read."""


class ChatCompletions:
    """Chat completions, streamed and not."""

    name = openai_chat.NAME

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape."""
        kind = _ERROR_TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": f"assay_{status}"}}

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream."""
        return _event(self.error(502, message))

    def refused(self, request: Json) -> str | None:
        """Why a request asks for an answer that could never be checked."""
        modalities = request.get("modalities")
        if isinstance(modalities, list) and "audio" in modalities:
            return "audio cannot be checked; leave `audio` out of `modalities`"
        return None

    def schema(self, request: Json) -> Json | None:
        """The schema of `response_format`."""
        wanted = request.get("response_format")
        inner = wanted.get("json_schema") if isinstance(wanted, dict) else None
        schema = inner.get("schema") if isinstance(inner, dict) else None
        return schema if isinstance(schema, dict) else None

    def shown(self, answer: Json) -> Shown:
        """The text and the refusal of each choice, and its calls."""
        if not isinstance(answer.get("choices"), list):
            return Shown(unreadable="the answer has no choices")
        texts: dict[str, str] = {}
        unreadable = None
        for number, choice in enumerate(answer["choices"]):
            message = choice.get("message") if isinstance(choice, dict) else None
            if not isinstance(message, dict):
                return Shown(unreadable=f"choice {number} has no message")
            strange = [*unknown_fields(message, _MESSAGE), *unknown_fields(choice, _CHOICE)]
            if strange:
                unreadable = f"choice {number} has the unknown field {strange[0]!r}"
            content = _content(message.get("content"))
            if content is None:
                return Shown(unreadable=f"the content of choice {number} is no text")
            if content or not (message.get("refusal") or message.get("tool_calls") or message.get("function_call")):
                texts[f"{number}"] = content
            if message.get("refusal"):
                texts[f"{number}/refusal"] = text_of(message["refusal"])
        calls, strange_item = calls_of(answer, self.name)
        return Shown(texts, calls, unreadable or strange_item)

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with the notice as the text of each choice, and without its calls."""
        choices = []
        for number, choice in enumerate(objects(answer.get("choices"))):
            kept = {"index": choice.get("index", number), "logprobs": None, "finish_reason": WITHHELD}
            choices.append({**kept, "message": {"role": "assistant", "content": notice, "refusal": None}})
        return {**answer, "choices": choices, "assay": summary}

    def disclose(self, answer: Json, notice: str) -> Json:
        """The answer with the notice behind the text of each choice."""
        choices = []
        for choice in objects(answer.get("choices")):
            message = choice.get("message") or {}
            text = f"{_content(message.get('content')) or ''}\n\n{notice}".lstrip()
            choices.append({**choice, "message": {**message, "content": text}})
        return {**answer, "choices": choices}

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in its one choice, and without its calls."""
        choices = objects(answer.get("choices"))
        if len(choices) != 1:
            return None
        kept = {name: choices[0][name] for name in ("index", "finish_reason") if name in choices[0]}
        if kept.get("finish_reason") in _CALLING:
            kept["finish_reason"] = ENDED
        message = {"role": "assistant", "content": text, "refusal": None}
        return {**answer, "choices": [{**kept, "logprobs": None, "message": message}]}

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """What was said and what was found of it as two more messages."""
        messages = request.get("messages")
        if not isinstance(messages, list):
            return None
        more = [{"role": "assistant", "content": said}, {"role": "user", "content": message}]
        return unstreamed(request, messages=[*messages, *more])

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The message with the calls, and a message of the tool for each."""
        messages, choices = request.get("messages"), objects(answer.get("choices"))
        said = choices[0].get("message") if len(choices) == 1 else None
        calls = objects(said.get("tool_calls")) if isinstance(said, dict) else []
        names = [text_of(call.get("id")) for call in calls]
        if not isinstance(messages, list) or not isinstance(said, dict) or not names or set(names) != set(replies):
            return None
        kept = {name: value for name, value in said.items() if name in ("role", "content", "tool_calls")}
        results = [{"role": "tool", "tool_call_id": name, "content": replies[name]} for name in names]
        return unstreamed(request, messages=[*messages, kept, *results])

    def stream(self) -> WireStream:
        """A reader for one stream."""
        return _Stream()


def _content(value: object) -> str | None:
    """The text of a message's content; none where it is none."""
    if value is None or isinstance(value, str):
        return value or ""
    parts = objects(value)
    if not isinstance(value, list) or len(parts) < len(value) or any(part.get("type") != "text" for part in parts):
        return None
    return "".join(text_of(part.get("text")) for part in parts)


def _event(data: Json) -> bytes:
    return b"data: " + json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"


class _Stream:
    """One stream of chunks."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, Json]] = {}
        self._said: set[str] = set()
        self._ended: set[str] = set()
        self._last: Json = {}
        self._sent_text: set[int] = set()
        self._sent_choices: set[int] = {0}

    def read(self, event: Event, data: Any) -> Reading:
        """Text, parts of calls and the ends of choices."""
        if event.data is not None and event.data.strip() == "[DONE]":
            made = self.end()
            made.needs_all, made.ends = True, True
            return made
        if not isinstance(data, dict):
            return Reading(unreadable="a chunk is no JSON object" if event.data is not None else None)
        if data.get("error"):
            return Reading(failed=True)
        made = Reading()
        for choice in objects(data.get("choices")):
            self._choice(choice, made)
        return made

    def _choice(self, choice: Json, made: Reading) -> None:
        number = str(choice.get("index", 0))
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        strange = [*unknown_fields(delta, _MESSAGE), *unknown_fields(choice, _CHOICE)]
        if strange:
            made.unreadable = f"a chunk has the unknown field {strange[0]!r}"
        for name, channel in (("content", number), ("refusal", f"{number}/refusal")):
            value = delta.get(name)
            if isinstance(value, str) and value:
                self._said.add(channel)
                made.texts.append((channel, value))
            elif value is not None and value != "":
                made.unreadable = f"the {name} of a delta is no text"
        self._call_parts(number, delta, made)
        if choice.get("finish_reason") is not None:
            self._end(number, made)
            made.needs_texts += [channel for channel in (number, f"{number}/refusal") if channel in self._said]
            made.calls += list(self._calls.get(number, {}))

    def _call_parts(self, number: str, delta: Json, made: Reading) -> None:
        parts = objects(delta.get("tool_calls"))
        if isinstance(delta.get("function_call"), dict):
            parts = [*parts, {"index": "function_call", "function": delta["function_call"]}]
        for part in parts:
            key = f"{number}/{part.get('index', 0)}"
            call = self._calls.setdefault(number, {}).setdefault(key, {})
            made.calls.append(key)
            _grow(call, part)

    def _end(self, number: str, made: Reading) -> None:
        if number in self._ended:
            return
        self._ended.add(number)
        calls = self._calls.get(number, {})
        silent = not calls and f"{number}/refusal" not in self._said
        made.ended_texts += [c for c in (number, f"{number}/refusal") if c in self._said or (silent and c == number)]
        for key, call in calls.items():
            made.ended_calls[key] = {"role": "assistant", "tool_calls": [_whole(call)]}

    def end(self) -> Reading:
        """Every choice that has begun is complete."""
        made = Reading()
        for number in sorted({channel.partition("/")[0] for channel in self._said} | set(self._calls)):
            self._end(number, made)
        return made

    def sent(self, data: Any) -> None:
        """Takes note of which choices the client knows."""
        if not isinstance(data, dict):
            return
        self._last = {name: data[name] for name in ("id", "object", "created", "model") if name in data}
        for choice in objects(data.get("choices")):
            number = choice.get("index", 0)
            if isinstance(number, int):
                self._sent_choices.add(number)
                if isinstance(choice.get("delta"), dict) and choice["delta"].get("content"):
                    self._sent_text.add(number)

    def withhold(self, notice: str, summary: Json) -> bytes:
        """The notice as the last text of each choice, the finish reason, and the end."""
        texts = {number: f"\n\n{notice}" if number in self._sent_text else notice for number in self._sent_choices}
        return self._ending(texts, WITHHELD, summary)

    def finish(self, text: str, summary: Json) -> bytes:
        """The text as the last one of each choice, the finish reason of a complete answer, and the end."""
        return self._ending(dict.fromkeys(self._sent_choices, text), ENDED, summary)

    def _ending(self, texts: Mapping[int, str], why: str, summary: Json) -> bytes:
        head = {"id": "chatcmpl-assay", "object": "chat.completion.chunk", "created": 0, "model": "assay", **self._last}
        chunks = []
        for number, text in sorted(texts.items()):
            for delta, reason in (({"content": text}, None), ({}, why)):
                choice = {"index": number, "delta": delta, "logprobs": None, "finish_reason": reason}
                chunks.append(_event({**head, "choices": [choice], "assay": summary}))
        return b"".join((*chunks, b"data: [DONE]\n\n"))

    def correct(self, summary: Json) -> bytes:
        """A chunk without choices, as that of the usage is, with what was wrong."""
        head = {"id": "chatcmpl-assay", "object": "chat.completion.chunk", "created": 0, "model": "assay", **self._last}
        return _event({**head, "choices": [], "assay": {"type": "correction", **summary}})


def _grow(call: Json, part: Json) -> None:
    """Adds a part of a call to what is known of it."""
    for name in ("id", "type"):
        if isinstance(part.get(name), str) and part[name]:
            call[name] = part[name]
    for kind, words in (("function", "arguments"), ("custom", "input")):
        piece = part.get(kind)
        if not isinstance(piece, dict):
            continue
        call.setdefault("type", kind)
        inner = call.setdefault(kind, {"name": [], words: []})
        inner["name"].append(text_of(piece.get("name")))
        inner[words].append(text_of(piece.get(words)))


def _whole(call: Json) -> Json:
    """The call with its parts joined."""
    kinds: Json = {
        kind: {name: "".join(parts) for name, parts in call[kind].items()}
        for kind in ("function", "custom")
        if kind in call
    }
    return {**call, **kinds}
