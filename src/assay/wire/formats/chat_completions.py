"""The wire format of `POST /v1/chat/completions`."""

import re
from collections.abc import Mapping
from typing import Any, Final

from assay.guard.streams import StreamDelta
from assay.schema.traces import openai_chat
from assay.wire.fields import Fields, Said
from assay.wire.interface import (
    Json,
    Shown,
    Telling,
    WireStream,
    calls_of,
    index_of,
    objects,
    sayable,
    text_of,
    unstreamed,
    words_of,
)
from assay.wire.sse import Event, json_event
from assay.wire.telling import GAP, ChatTelling

WITHHELD: Final = "content_filter"
"""The finish reason that every client knows for an answer that was held back."""
ENDED: Final = "stop"
"""The finish reason of an answer that is complete."""
_CALLING: Final = ("tool_calls", "function_call")
"""Those of an answer that asks for calls."""

_ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_QUIET: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "usage")
"""The members of an answer that stay when what it shows is withheld."""
_CHUNK: Final = "chat.completion.chunk"
_UNNAMED: Final = re.compile(r"(?!thread\.|error\Z|ping\Z).*", re.DOTALL)
"""Names of events under which a client reads a chunk as one; it takes the others for something else."""


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
        quieted = Fields.of(self.name).quiet("answer", answer, _QUIET)
        head = {"id": "chatcmpl-assay", "object": "chat.completion", "created": 0, "model": "assay", **quieted}
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

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream."""
        return _Stream(Said(request))


def _withheld_choice(notice: str, index: int = 0) -> Json:
    message = {"role": "assistant", "content": notice, "refusal": None}
    return {"index": index, "logprobs": None, "finish_reason": WITHHELD, "message": message}


def _content(value: object) -> str | None:
    """The text of a message's content; none where it is none."""
    if value is None or isinstance(value, str):
        return value or ""
    parts = objects(value)
    if not isinstance(value, list) or len(parts) < len(value) or any(part.get("type") != "text" for part in parts):
        return None
    return "".join(text_of(part.get("text")) for part in parts)


_WORDS: Final = {"function": "arguments", "custom": "input"}
"""Where each kind of call has its words."""


class _Stream:
    """One stream of chunks.

    What a client puts together of them is what is checked: parts that its library would put together in another way
    than they came, or that come behind the end of what they belong to, cannot be read.
    """

    def __init__(self, said: Said) -> None:
        self._said_before = said
        self._calls: dict[str, dict[str, Json]] = {}
        self._said: set[str] = set()
        self._ended: set[str] = set()
        self._finished: dict[str, str] = {}
        self._known: list[str] = []
        self._done = False
        self._last: Json = {}
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
            made = self.end()
            made.needs_all, made.ends = True, True
            return made
        if not isinstance(data, dict):
            return StreamDelta(unreadable="a chunk is no JSON object")
        if data.get("error"):
            return StreamDelta(failed=True)
        fault = Fields.of(openai_chat.NAME).fault("event", data, self._said_before)
        if fault is None and data.get("object") != _CHUNK and any(map(_adds, objects(data.get("choices")))):
            fault = "no word that it is one, so that some clients would pass over it"
        if fault is None and not _UNNAMED.fullmatch(event.name or ""):
            fault = f"a chunk in an event named {sayable(event.name)}"
        if fault is not None:
            return StreamDelta(unreadable=f"a chunk has {fault}")
        made = StreamDelta()
        seen: set[str] = set()
        for choice in objects(data.get("choices")):
            number = index_of(choice)
            if number is None or str(number) in seen:
                return StreamDelta(unreadable="a chunk has no clear place for what it adds")
            seen.add(str(number))
            self._choice(str(number), choice, made)
        return made

    def _choice(self, number: str, choice: Json, made: StreamDelta) -> None:
        if number not in self._known:
            if number != str(len(self._known)):
                made.unreadable = f"choice {number} begins before choice {len(self._known)}"
            self._known.append(number)
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        finish = text_of(choice.get("finish_reason"))
        if number in self._finished:
            shows = any(delta.get(name) for name in ("content", "refusal", "tool_calls", "function_call"))
            if shows or finish not in ("", self._finished[number]):
                made.unreadable = f"choice {number} goes on after its end"
            return
        for name, channel in (("content", number), ("refusal", f"{number}/refusal")):
            value = delta.get(name)
            if isinstance(value, str) and value:
                self._said.add(channel)
                made.texts.append((channel, value))
        self._call_parts(number, delta, made)
        if finish:
            self._finished[number] = finish
            self._end(number, made)
            made.needs_texts += [channel for channel in (number, f"{number}/refusal") if channel in self._said]
            made.calls += list(self._calls.get(number, {}))

    def _call_parts(self, number: str, delta: Json, made: StreamDelta) -> None:
        listed = objects(delta.get("tool_calls"))
        places = [index_of(part) for part in listed]
        if None in places or len(set(places)) < len(places):
            made.unreadable = "parts of calls have no clear place"
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
                made.unreadable = f"call {place} begins before the one in front of it"
            made.calls.append(key)
            made.unreadable = _grow(calls.setdefault(key, {}), part) or made.unreadable

    def _end(self, number: str, made: StreamDelta) -> None:
        if number in self._ended:
            return
        self._ended.add(number)
        calls = self._calls.get(number, {})
        silent = not calls and f"{number}/refusal" not in self._said
        made.ended_texts += [c for c in (number, f"{number}/refusal") if c in self._said or (silent and c == number)]
        for key, call in calls.items():
            made.ended_calls[key] = {"role": "assistant", "tool_calls": [_whole(call)]}

    def end(self) -> StreamDelta:
        """Every choice that has begun is complete."""
        made = StreamDelta()
        for number in sorted({channel.partition("/")[0] for channel in self._said} | set(self._calls)):
            self._end(number, made)
        return made

    def sent(self, data: Any) -> None:
        """Takes note of which choices the client knows."""
        if not isinstance(data, dict):
            return
        self._last = {name: data[name] for name in ("id", "object", "created", "model") if name in data}
        for choice in objects(data.get("choices")):
            number = index_of(choice)
            if number is not None:
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
                chunks.append(json_event({**head, "choices": [choice], "assay": summary}, named=False))
        return b"".join((*chunks, b"data: [DONE]\n\n"))

    def failure(self, data: Any) -> bytes:
        """The error alone, whatever else the chunk says."""
        error = words_of(data.get("error"), ("message", "type", "param", "code"))
        return json_event({"error": error}, named=False)

    def telling(self) -> Telling:
        """What writes the disclosures after its texts."""
        return ChatTelling()

    def correct(self, summary: Json) -> bytes:
        """A chunk without choices, as that of the usage is, with what was wrong."""
        head = {"id": "chatcmpl-assay", "object": "chat.completion.chunk", "created": 0, "model": "assay", **self._last}
        return json_event({**head, "choices": [], "assay": {"type": "correction", **summary}}, named=False)


def _adds(choice: Json) -> bool:
    """Whether a choice of a chunk adds something; those that only tell of filters do not say what they are."""
    return bool(choice.get("delta") or choice.get("finish_reason"))


def _grow(call: Json, part: Json) -> str | None:
    """Adds a part of a call to what is known of it; says why, where readers would put it together in different ways."""
    kinds = [kind for kind in _WORDS if isinstance(part.get(kind), dict) and part[kind]]
    for name, given in (("id", part.get("id")), ("type", part.get("type"))):
        if isinstance(given, str) and given and call.setdefault(name, given) != given:
            return f"a part of a call has another {name} than the call"
    if len({*kinds, *(kind for kind in _WORDS if kind in call)}) > 1:
        return "a call is of two kinds"
    for kind in kinds:
        call.setdefault("type", kind)
        inner = call.setdefault(kind, {"name": [], _WORDS[kind]: []})
        name, words = text_of(part[kind].get("name")), text_of(part[kind].get(_WORDS[kind]))
        if name and any(inner[_WORDS[kind]]):
            return "a call is named when its arguments have begun"
        inner["name"].append(name)
        inner[_WORDS[kind]].append(words)
    return None


def _whole(call: Json) -> Json:
    """The call with its parts joined."""
    kinds: Json = {
        kind: {name: "".join(parts) for name, parts in call[kind].items()}
        for kind in ("function", "custom")
        if kind in call
    }
    return {**call, **kinds}
