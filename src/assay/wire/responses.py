"""The wire format of `POST /v1/responses`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from assay.guard.holdback import Reading
from assay.schema.run_formats import openai_responses
from assay.wire.chat_completions import ChatCompletions
from assay.wire.interface import Json, Shown, WireStream, calls_of, objects, text_of, unstreamed
from assay.wire.sse import Event

_TEXT_PARTS: Final = {"output_text": "text", "refusal": "refusal"}
_CALLS: Final = frozenset({"function_call", "custom_tool_call", "local_shell_call", "shell_call", "computer_call"})
_CALLS_OF_CLIENTS: Final = _CALLS | {"apply_patch_call"}
_RESULTS: Final = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
"""The items that answer calls with a text."""
_PROVIDER: Final = frozenset(
    {"reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "mcp_list_tools", "tool_search_call", "tool_search_output", "compaction", "program"}
)
"""Items that are no part of the answer, or that the provider executed itself."""
_QUIET: Final = (
    "response.reasoning", "response.web_search_call.", "response.file_search_call.", "response.mcp_",
    "response.code_interpreter_call", "response.image_generation_call.", "response.queued", "response.in_progress",
    "keepalive",
)  # fmt: skip
"""Events of these kinds show nothing of the answer."""
_ENDS: Final = frozenset({"response.completed", "response.incomplete"})


class Responses:
    """Responses, streamed and not."""

    name = openai_responses.NAME

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape, which it shares with chat completions."""
        return ChatCompletions().error(status, message)

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream."""
        return _event({"type": "error", "code": "assay_502", "message": message, "param": None, "sequence_number": 0})

    def refused(self, request: Json) -> str | None:
        """Why a request asks for an answer that could never be checked."""
        if request.get("background"):
            return "a background response would be fetched without a check; leave `background` out"
        return None

    def schema(self, request: Json) -> Json | None:
        """The schema of `text.format`."""
        text = request.get("text")
        wanted = text.get("format") if isinstance(text, dict) else None
        schema = wanted.get("schema") if isinstance(wanted, dict) else None
        return schema if isinstance(schema, dict) else None

    def shown(self, answer: Json) -> Shown:
        """The text of each message, and the calls."""
        output = answer.get("output")
        if not isinstance(output, list):
            return Shown(unreadable="the answer has no output")
        texts: dict[str, str] = {}
        unreadable = None
        for number, item in enumerate(output):
            kind = item.get("type") if isinstance(item, dict) else None
            if kind == "message":
                text = _text_of_message(item)
                if text is None:
                    return Shown(unreadable=f"item {number} has a part of an unknown type")
                texts[str(number)] = text
            elif kind not in _CALLS_OF_CLIENTS and kind not in _PROVIDER:
                unreadable = f"an item of the unknown type {kind!r}"
        calls, strange = calls_of(output, self.name)
        return Shown(texts or ({} if calls else {"0": ""}), calls, unreadable or strange)

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with one message that holds the notice, and without its calls."""
        kept = [item for item in objects(answer.get("output")) if item.get("type") in _PROVIDER]
        names = [text_of(item.get("id")) for item in objects(answer.get("output")) if item.get("type") == "message"]
        return {
            **answer,
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
            "output": [*kept, _message(names[0] if names else "msg_assay", notice)],
            "assay": summary,
        }

    def disclose(self, answer: Json, notice: str) -> Json:
        """The answer with the notice behind the text of its last message."""
        made = json.loads(json.dumps(answer))
        messages = [item for item in objects(made["output"]) if item.get("type") == "message"]
        parts = objects(messages[-1].get("content")) if messages else []
        for part in parts[-1:]:
            name = _TEXT_PARTS.get(text_of(part.get("type")), "text")
            part[name] = f"{text_of(part.get(name))}\n\n{notice}"
        return dict(made)

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in its one message, and without its calls."""
        output = [item for item in objects(answer.get("output")) if item.get("type") not in _CALLS_OF_CLIENTS]
        places = [place for place, item in enumerate(output) if item.get("type") == "message"]
        if len(places) != 1:
            return None
        (place,) = places
        made = {**_message(text_of(output[place].get("id")), text), "status": "completed"}
        return {**answer, "output": [*output[:place], made, *output[place + 1 :]]}

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """What was said and what was found of it as two more items."""
        before = _input_of(request)
        if before is None:
            return None
        more = [{"role": "assistant", "content": said}, {"role": "user", "content": message}]
        return unstreamed(request, input=[*before, *more])

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The items of the answer, and an output for each call."""
        before, output = _input_of(request), objects(answer.get("output"))
        results = []
        for item in output:
            if item.get("type") not in _CALLS_OF_CLIENTS:
                continue
            name, kind = text_of(item.get("call_id")), _RESULTS.get(text_of(item.get("type")))
            if kind is None or name not in replies:
                return None
            results.append({"type": kind, "call_id": name, "output": replies[name]})
        if before is None or not results:
            return None
        return unstreamed(request, input=[*before, *output, *results])

    def stream(self) -> WireStream:
        """A reader for one stream."""
        return _Stream()


def _input_of(request: Json) -> list[Any] | None:
    """The conversation of a request; none where the provider would keep what is asked again in its own."""
    given = request.get("input")
    if request.get("conversation") is not None:
        return None
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else None


def _text_of_message(item: Json) -> str | None:
    texts = []
    for part in objects(item.get("content")):
        name = _TEXT_PARTS.get(text_of(part.get("type")))
        if name is None:
            return None
        texts.append(text_of(part.get(name)))
    return "".join(texts)


def _message(name: str, text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": name, "type": "message", "status": "incomplete", "role": "assistant", "content": [part]}


def _event(data: Json) -> bytes:
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {data['type']}\ndata: {written}\n\n".encode()


class _Stream:
    """One stream of items."""

    def __init__(self) -> None:
        self._said: dict[str, list[str]] = {}
        self._calls: dict[str, Json] = {}
        self._ended: set[str] = set()
        self._response: Json = {}
        self._sequence = -1
        self._next = 0
        self._open: Json | None = None
        self._sent: dict[str, list[str]] = {}
        self._items: list[Json] = []

    def read(self, event: Event, data: Any) -> Reading:
        """Text, calls and the ends of items."""
        if event.data is None or event.data.strip() in ("", "[DONE]"):
            return Reading()
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            return Reading(unreadable="an event is no JSON object with a type")
        kind, channel = data["type"], str(data.get("output_index", 0))
        match kind:
            case "response.output_text.delta" | "response.refusal.delta":
                return self._text(channel, text_of(data.get("delta")))
            case "response.output_text.done" | "response.refusal.done" | "response.content_part.done":
                return Reading(needs_texts=[channel], texts=self._rest(channel, data))
            case "response.output_text.annotation.added":
                return Reading(texts=[(channel, "")])
            case "response.content_part.added":
                return self._part(channel, data.get("part"))
            case "response.output_item.added" | "response.output_item.done":
                return self._item(channel, data.get("item"), done=kind.endswith("done"))
            case "response.created":
                return self._created(data.get("response"))
            case "response.failed" | "error":
                return Reading(failed=True)
            case _ if kind in _ENDS:
                return self._whole(data.get("response"))
            case _ if kind.startswith(("response.function_call_arguments.", "response.custom_tool_call_input.")):
                return Reading(calls=[channel])
            case _ if kind.startswith(_QUIET):
                return Reading()
            case _:
                return Reading(unreadable=f"an event of the unknown type {kind!r}")

    def _text(self, channel: str, piece: str) -> Reading:
        self._said.setdefault(channel, []).append(piece)
        return Reading(texts=[(channel, piece)])

    def _rest(self, channel: str, data: Json) -> list[tuple[str, str]]:
        """Text that only the event at the end of a part shows."""
        part = data.get("part") if isinstance(data.get("part"), dict) else data
        written = text_of(part.get("text")) or text_of(part.get("refusal")) if isinstance(part, dict) else ""
        return self._missing(channel, written)

    def _missing(self, channel: str, written: str) -> list[tuple[str, str]]:
        said = "".join(self._said.get(channel, []))
        if not written or written in said:
            return []
        # Another text than was streamed: it is checked as if it followed what was.
        more = written.removeprefix(said)
        self._said.setdefault(channel, []).append(more)
        return [(channel, more)]

    def _part(self, channel: str, part: object) -> Reading:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or kind not in (*_TEXT_PARTS, "reasoning_text"):
            return Reading(unreadable=f"a part of the unknown type {kind!r}")
        words = text_of(part.get(_TEXT_PARTS.get(text_of(kind), "")))
        return self._text(channel, words) if words else Reading()

    def _item(self, channel: str, item: object, *, done: bool) -> Reading:
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(item, dict) or kind not in {"message", *_CALLS_OF_CLIENTS, *_PROVIDER}:
            return Reading(unreadable=f"an item of the unknown type {kind!r}")
        if kind in _CALLS_OF_CLIENTS:
            self._calls.setdefault(channel, {})
            return Reading(calls=[channel], ended_calls={channel: [item]} if done else {})
        if kind != "message":
            return Reading()
        text = _text_of_message(item)
        if text is None:
            return Reading(unreadable="a message has a part of an unknown type")
        made = Reading(texts=self._missing(channel, text))
        if done:
            self._said.setdefault(channel, [])
            self._ended.add(channel)
            made.ended_texts, made.needs_texts = [channel], [channel]
        return made

    @staticmethod
    def _created(response: object) -> Reading:
        output = response.get("output") if isinstance(response, dict) else None
        return Reading(unreadable="a response begins with output" if output else None)

    def _whole(self, response: object) -> Reading:
        """The event that repeats the whole answer: it must say nothing that was not streamed."""
        made = self.end()
        output = response.get("output") if isinstance(response, dict) else None
        for number, item in enumerate(objects(output)):
            channel = str(number)
            if item.get("type") == "message":
                made.texts += self._missing(channel, _text_of_message(item) or "")
                made.ended_texts.append(channel)
            elif item.get("type") in _CALLS_OF_CLIENTS and channel not in self._calls:
                made.ended_calls[channel] = [item]
            elif item.get("type") not in _PROVIDER and item.get("type") not in _CALLS_OF_CLIENTS:
                made.unreadable = f"an item of the unknown type {item.get('type')!r}"
        if not self._said and not self._calls and not made.texts and not made.ended_calls:
            made.ended_texts.append("0")
        made.needs_all = made.ends = True
        return made

    def end(self) -> Reading:
        """Every message that has begun is complete."""
        return Reading(ended_texts=[channel for channel in self._said if channel not in self._ended])

    def sent(self, data: Any) -> None:
        """Takes note of the items that the client knows."""
        if not isinstance(data, dict):
            return
        number = data.get("sequence_number")
        self._sequence = max(self._sequence, number) if isinstance(number, int) else self._sequence
        if isinstance(data.get("response"), dict):
            self._response = data["response"]
        item, place = data.get("item"), data.get("output_index")
        match data.get("type"):
            case "response.output_item.added" if isinstance(item, dict) and isinstance(place, int):
                self._next = max(self._next, place + 1)
                if item.get("type") == "message":
                    self._open = {"id": text_of(item.get("id")), "place": place, "part": False, "text": []}
            case "response.content_part.added" if self._open is not None:
                self._open["part"] = True
            case "response.output_text.delta" | "response.refusal.delta" if self._open is not None:
                self._open["text"].append(text_of(data.get("delta")))
            case "response.output_item.done" if isinstance(item, dict):
                self._items.append(item)
                self._open = None
            case _:
                pass

    def withhold(self, notice: str, summary: Json) -> bytes:
        """The notice in the open message or in one of its own, and the event of an incomplete response."""
        opened = self._open is not None and any(self._open["text"])
        why = {"reason": "content_filter"}
        return self._ending(f"\n\n{notice}" if opened else notice, "incomplete", why, summary)

    def finish(self, text: str, summary: Json) -> bytes:
        """The text in the open message or in one of its own, and the event of a complete response."""
        return self._ending(text, "completed", None, summary)

    def _ending(self, more: str, status: str, why: Json | None, summary: Json) -> bytes:
        made: list[Json] = [] if self._response else [self._begin()]
        opened = self._open
        if opened is None:
            opened = {"id": "msg_assay", "place": self._next, "part": False, "text": []}
            item = {**_message("msg_assay", ""), "status": "in_progress", "content": []}
            made.append({"type": "response.output_item.added", "output_index": self._next, "item": item})
        where = {"item_id": opened["id"], "output_index": opened["place"], "content_index": 0}
        empty = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        if not opened["part"]:
            made.append({"type": "response.content_part.added", **where, "part": empty})
        before = "".join(opened["text"])
        whole = {**_message(opened["id"], before + more), "status": status}
        response = {
            **self._response, "status": status, "incomplete_details": why, "output": [*self._items, whole],
        }  # fmt: skip
        made += [
            {"type": "response.output_text.delta", **where, "delta": more, "logprobs": []},
            {"type": "response.output_text.done", **where, "text": before + more, "logprobs": []},
            {"type": "response.content_part.done", **where, "part": whole["content"][0]},
            {"type": "response.output_item.done", "output_index": opened["place"], "item": whole},
            {"type": f"response.{status}", "response": response},
        ]
        return b"".join(self._numbered(event, summary) for event in made)

    def correct(self, summary: Json) -> bytes:
        """An event of its own type, which clients that do not know it pass over."""
        return self._numbered({"type": "assay.correction"}, {"type": "correction", **summary})

    def _numbered(self, event: Json, summary: Json) -> bytes:
        self._sequence += 1
        return _event({**event, "sequence_number": self._sequence, "assay": summary})

    def _begin(self) -> Json:
        self._response = {
            "id": "resp_assay", "object": "response", "created_at": 0, "model": "assay", "status": "in_progress",
            "output": [], "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        }  # fmt: skip
        return {"type": "response.created", "response": self._response}
