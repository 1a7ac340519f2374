"""The wire format of `POST /v1/chat/completions`."""

import re
from collections.abc import Mapping
from typing import Any, Final

from assay.guard.streams import StreamDelta
from assay.schema.traces import openai_chat
from assay.wire.disclosures import CHUNK_HEAD, GAP, ChatDisclosures
from assay.wire.fields import Fields, RequestContent
from assay.wire.interface import (
    DisclosureWriter,
    Json,
    Shown,
    WireStream,
    calls_of,
    error_members,
    index_of,
    objects,
    quotable,
    text_of,
    unstreamed,
)
from assay.wire.sse import Event, json_event

WITHHELD: Final = "content_filter"
"""The finish reason of a withheld answer, which every client knows."""
ENDED: Final = "stop"
"""The finish reason of a complete answer."""
_CALL_REASONS: Final = ("tool_calls", "function_call")
"""The finish reasons of an answer that requests calls."""

_ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_KEPT_MEMBERS: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "usage")
"""The members that a withheld answer keeps."""
_CHUNK: Final = "chat.completion.chunk"
_CHUNK_EVENT_NAME: Final = re.compile(r"(?!thread\.|error\Z|ping\Z).*", re.DOTALL)
"""Event names under which clients read a chunk; under others they take it for something else."""


class ChatCompletions:
    """Chat completions, streamed and not."""

    name = openai_chat.NAME

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape."""
        kind = _ERROR_TYPES.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "param": None, "code": f"assay_{status}"}}

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream."""
        return json_event(self.error(502, message), named=False)

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
        for number, choice in enumerate(answer["choices"]):
            message = choice.get("message") if isinstance(choice, dict) else None
            if not isinstance(message, dict):
                return Shown(unreadable=f"choice {number} has no message")
            content = _content(message.get("content"))
            if content is None:
                return Shown(unreadable=f"the content of choice {number} is no text")
            if content or not (message.get("refusal") or message.get("tool_calls") or message.get("function_call")):
                texts[f"{number}"] = content
            if message.get("refusal"):
                texts[f"{number}/refusal"] = text_of(message["refusal"])
        calls, strange = calls_of(answer, self.name)
        return Shown(texts, calls, strange)

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with the notice as the text of each choice, and without its calls."""
        choices = []
        for number, choice in enumerate(objects(answer.get("choices"))):
            choices.append(_withheld_choice(notice, index_of(choice, default=number) or 0))
        kept = Fields.of(self.name).metadata("answer", answer, _KEPT_MEMBERS)
        head = {"id": "chatcmpl-assay", "object": "chat.completion", "created": 0, "model": "assay", **kept}
        return {**head, "choices": choices or [_withheld_choice(notice)], "assay": summary}

    def disclose(self, answer: Json, notices: Mapping[str, str]) -> Json:
        """The answer with the notices behind the texts and the refusals of its choices."""
        choices = []
        for number, choice in enumerate(objects(answer.get("choices"))):
            message = choice.get("message") or {}
            fields: Json = {}
            if notice := notices.get(str(number)):
                fields["content"] = f"{_content(message.get('content')) or ''}{GAP}{notice}"
            if notice := notices.get(f"{number}/refusal"):
                fields["refusal"] = f"{text_of(message.get('refusal'))}{GAP}{notice}"
            choices.append({**choice, "message": {**message, **fields}})
        return {**answer, "choices": choices}

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in its one choice, and without its calls."""
        choices = objects(answer.get("choices"))
        if len(choices) != 1:
            return None
        kept = {name: choices[0][name] for name in ("index", "finish_reason") if name in choices[0]}
        if kept.get("finish_reason") in _CALL_REASONS:
            kept["finish_reason"] = ENDED
        message = {"role": "assistant", "content": text, "refusal": None}
        return {**answer, "choices": [{**kept, "logprobs": None, "message": message}]}

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """The request with two more messages: what the model said, and what was found wrong with it."""
        messages = request.get("messages")
        if not isinstance(messages, list):
            return None
        more = [{"role": "assistant", "content": said}, {"role": "user", "content": message}]
        return unstreamed(request, messages=[*messages, *more])

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The request with the message that has the calls, and a tool message for each call."""
        messages, choices = request.get("messages"), objects(answer.get("choices"))
        message = choices[0].get("message") if len(choices) == 1 else None
        calls = objects(message.get("tool_calls")) if isinstance(message, dict) else []
        names = [text_of(call.get("id")) for call in calls]
        if not isinstance(messages, list) or not isinstance(message, dict) or not names or set(names) != set(replies):
            return None
        kept = {name: value for name, value in message.items() if name in ("role", "content", "tool_calls")}
        results = [{"role": "tool", "tool_call_id": name, "content": replies[name]} for name in names]
        return unstreamed(request, messages=[*messages, kept, *results])

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream."""
        return _Stream(RequestContent(request))


def _withheld_choice(notice: str, index: int = 0) -> Json:
    message = {"role": "assistant", "content": notice, "refusal": None}
    return {"index": index, "logprobs": None, "finish_reason": WITHHELD, "message": message}


def _content(value: object) -> str | None:
    """The text of a message's content; none where the content is not only text."""
    if value is None or isinstance(value, str):
        return value or ""
    parts = objects(value)
    if not isinstance(value, list) or len(parts) < len(value) or any(part.get("type") != "text" for part in parts):
        return None
    return "".join(text_of(part.get("text")) for part in parts)


_ARGUMENT_MEMBERS: Final = {"function": "arguments", "custom": "input"}
"""The member with the arguments of each kind of call."""


class _Stream:
    """One stream of chunks.

    What is checked is what a client assembles from them. A stream is unreadable if client libraries would assemble its
    parts in another order than they came, or if parts come after the end of what they belong to.
    """

    def __init__(self, request: RequestContent) -> None:
        self._request = request
        self._calls: dict[str, dict[str, Json]] = {}
        self._begun_texts: set[str] = set()
        self._ended_choices: set[str] = set()
        self._finish_reasons: dict[str, str] = {}
        self._choices: list[str] = []
        self._done = False
        self._last_head: Json = {}
        self._sent_text: set[int] = set()
        self._sent_choices: set[int] = {0}

    def read(self, event: Event, data: Any) -> StreamDelta:
        """Text, parts of calls and the ends of choices."""
        if event.data is None:
            return StreamDelta()
        if self._done:
            return StreamDelta(unreadable="the stream goes on after its end")
        if event.data.strip() == "[DONE]":
            self._done = True
            result = self.end()
            result.needs_all, result.ends = True, True
            return result
        if not isinstance(data, dict):
            return StreamDelta(unreadable="a chunk is no JSON object")
        if data.get("error"):
            return StreamDelta(failed=True)
        fault = Fields.of(openai_chat.NAME).fault("event", data, self._request)
        if fault is None and data.get("object") != _CHUNK and any(map(_has_content, objects(data.get("choices")))):
            fault = "no word that it is one, so that some clients would pass over it"
        if fault is None and not _CHUNK_EVENT_NAME.fullmatch(event.name or ""):
            fault = f"a chunk in an event named {quotable(event.name)}"
        if fault is not None:
            return StreamDelta(unreadable=f"a chunk has {fault}")
        result = StreamDelta()
        places: set[str] = set()
        for choice in objects(data.get("choices")):
            number = index_of(choice)
            if number is None or str(number) in places:
                return StreamDelta(unreadable="a chunk has no clear place for what it adds")
            places.add(str(number))
            self._choice(str(number), choice, result)
        return result

    def _choice(self, number: str, choice: Json, result: StreamDelta) -> None:
        if number not in self._choices:
            if number != str(len(self._choices)):
                result.unreadable = f"choice {number} begins before choice {len(self._choices)}"
            self._choices.append(number)
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        finish = text_of(choice.get("finish_reason"))
        if number in self._finish_reasons:
            shows = any(delta.get(name) for name in ("content", "refusal", "tool_calls", "function_call"))
            if shows or finish not in ("", self._finish_reasons[number]):
                result.unreadable = f"choice {number} goes on after its end"
            return
        for name, channel in (("content", number), ("refusal", f"{number}/refusal")):
            value = delta.get(name)
            if isinstance(value, str) and value:
                self._begun_texts.add(channel)
                result.texts.append((channel, value))
        self._call_parts(number, delta, result)
        if finish:
            self._finish_reasons[number] = finish
            self._end(number, result)
            result.needs_texts += [channel for channel in (number, f"{number}/refusal") if channel in self._begun_texts]
            result.calls += list(self._calls.get(number, {}))

    def _call_parts(self, number: str, delta: Json, result: StreamDelta) -> None:
        listed = objects(delta.get("tool_calls"))
        places = [index_of(part) for part in listed]
        if None in places or len(set(places)) < len(places):
            result.unreadable = "parts of calls have no clear place"
            return
        parts: list[tuple[Json, object]] = list(zip(listed, places, strict=True))
        if isinstance(delta.get("function_call"), dict):
            parts.append(({"function": delta["function_call"]}, "function_call"))
        calls = self._calls.setdefault(number, {}) if parts else {}
        for part, place in parts:
            key = f"{number}/{place}"
            if (
                key not in calls
                and place != "function_call"
                and place != sum("function_call" not in one for one in calls)
            ):
                result.unreadable = f"call {place} begins before the one in front of it"
            result.calls.append(key)
            result.unreadable = _add_part(calls.setdefault(key, {}), part) or result.unreadable

    def _end(self, number: str, result: StreamDelta) -> None:
        if number in self._ended_choices:
            return
        self._ended_choices.add(number)
        calls = self._calls.get(number, {})
        silent = not calls and f"{number}/refusal" not in self._begun_texts
        result.ended_texts += [
            c for c in (number, f"{number}/refusal") if c in self._begun_texts or (silent and c == number)
        ]
        for key, call in calls.items():
            result.ended_calls[key] = {"role": "assistant", "tool_calls": [_joined_call(call)]}

    def end(self) -> StreamDelta:
        """Every choice that has begun is complete."""
        result = StreamDelta()
        for number in sorted({channel.partition("/")[0] for channel in self._begun_texts} | set(self._calls)):
            self._end(number, result)
        return result

    def sent(self, data: Any) -> None:
        """Notes which choices the client has seen."""
        if not isinstance(data, dict):
            return
        self._last_head = {name: data[name] for name in ("id", "object", "created", "model") if name in data}
        for choice in objects(data.get("choices")):
            number = index_of(choice)
            if number is not None:
                self._sent_choices.add(number)
                if isinstance(choice.get("delta"), dict) and choice["delta"].get("content"):
                    self._sent_text.add(number)

    def withhold(self, notice: str, summary: Json) -> bytes:
        """Ends each choice with the notice as its last text."""
        texts = {number: f"\n\n{notice}" if number in self._sent_text else notice for number in self._sent_choices}
        return self._ending(texts, WITHHELD, summary)

    def finish(self, text: str, summary: Json) -> bytes:
        """Ends each choice with the text as its last, as a complete answer."""
        return self._ending(dict.fromkeys(self._sent_choices, text), ENDED, summary)

    def _ending(self, texts: Mapping[int, str], why: str, summary: Json) -> bytes:
        chunks = []
        for number, text in sorted(texts.items()):
            for delta, reason in (({"content": text}, None), ({}, why)):
                choice = {"index": number, "delta": delta, "logprobs": None, "finish_reason": reason}
                chunks.append(self._chunk([choice], summary))
        return b"".join((*chunks, b"data: [DONE]\n\n"))

    def failure(self, data: Any) -> bytes:
        """The error alone, without the rest of the chunk."""
        error = error_members(data.get("error"), ("message", "type", "param", "code"))
        return json_event({"error": error}, named=False)

    def disclosure_writer(self) -> DisclosureWriter:
        """Writes the disclosures into its texts."""
        return ChatDisclosures()

    def correct(self, summary: Json) -> bytes:
        """A chunk without choices, like the chunk of the usage, with the correction."""
        return self._chunk([], {"type": "correction", **summary})

    def _chunk(self, choices: list[Json], summary: Json) -> bytes:
        return json_event({**CHUNK_HEAD, **self._last_head, "choices": choices, "assay": summary}, named=False)


def _has_content(choice: Json) -> bool:
    """Whether a choice of a chunk adds something; a chunk with filter results alone may lack its `object`."""
    return bool(choice.get("delta") or choice.get("finish_reason"))


def _add_part(call: Json, part: Json) -> str | None:
    """Add a part to a call; returns why not, where clients would assemble the call in different ways."""
    kinds = [kind for kind in _ARGUMENT_MEMBERS if isinstance(part.get(kind), dict) and part[kind]]
    for name, given in (("id", part.get("id")), ("type", part.get("type"))):
        if isinstance(given, str) and given and call.setdefault(name, given) != given:
            return f"a part of a call has another {name} than the call"
    if len({*kinds, *(kind for kind in _ARGUMENT_MEMBERS if kind in call)}) > 1:
        return "a call is of two kinds"
    for kind in kinds:
        call.setdefault("type", kind)
        inner = call.setdefault(kind, {"name": [], _ARGUMENT_MEMBERS[kind]: []})
        name, words = text_of(part[kind].get("name")), text_of(part[kind].get(_ARGUMENT_MEMBERS[kind]))
        if name and any(inner[_ARGUMENT_MEMBERS[kind]]):
            return "a call is named when its arguments have begun"
        inner["name"].append(name)
        inner[_ARGUMENT_MEMBERS[kind]].append(words)
    return None


def _joined_call(call: Json) -> Json:
    """The call with its parts joined."""
    kinds: Json = {
        kind: {name: "".join(parts) for name, parts in call[kind].items()}
        for kind in ("function", "custom")
        if kind in call
    }
    return {**call, **kinds}
