"""The disclosure after a text, put into the stream that the text came in.

Told is what an answer that passes leaves untold of its question, and only when its text has ended. The events that end
a text wait until all of it has passed, so that the words can stand before them: as one more piece of the text, and in
every event that says all of the text again. Everything else goes out as it came.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from assay.wire.interface import Json, index_of, objects, text_of
from assay.wire.sse import Event, compact_json, json_event, with_data

GAP: Final = "\n\n"
"""What separates a text from the disclosure after it."""
_HEAD: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
"""The members that the chunks of one stream share."""
_TEXTS: Final = {"output_text": "text", "refusal": "refusal"}
"""The parts of a message of the Responses format, and where each has its text."""
_PART_ENDS: Final = frozenset({"response.output_text.done", "response.refusal.done", "response.content_part.done"})
_ENDS: Final = frozenset({"response.completed", "response.incomplete"})


class ChatTelling:
    """Chat completions: one more piece of text in front of the chunk with the finish reason."""

    def __init__(self) -> None:
        """Nothing was disclosed."""
        self._shown: set[str] = set()
        self._head: Json = {"id": "chatcmpl-assay", "object": "chat.completion.chunk", "created": 0, "model": "assay"}

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """The chunk that ends a choice, in two; the end of the stream where none did."""
        if not isinstance(data, dict):
            ends = event.data is not None and event.data.strip() == "[DONE]"
            return self.end(notices) + event.raw if ends and set(notices) - self._shown else None
        self._head |= {name: data[name] for name in _HEAD if name in data}
        ahead: list[Json] = []
        kept: list[Json] = []
        for choice in objects(data.get("choices")):
            words = self._words(index_of(choice), notices) if choice.get("finish_reason") else {}
            if not words:
                kept.append(choice)
                continue
            delta = dict(choice["delta"]) if isinstance(choice.get("delta"), dict) else {}
            delta |= {name: text_of(delta.get(name)) + text for name, text in words.items()}
            ahead.append({**choice, "delta": delta, "finish_reason": None})
            kept.append({**choice, "delta": {}, **({"logprobs": None} if "logprobs" in choice else {})})
        if not ahead:
            return None
        return self._chunk(ahead) + with_data(event, compact_json({**data, "choices": kept})).raw

    def _words(self, number: int | None, notices: Mapping[str, str]) -> Json:
        """The disclosure in a choice that ends, by the member of its delta."""
        found: Json = {}
        for channel, notice in notices.items():
            place, _, refusal = channel.partition("/")
            if place == str(number) and channel not in self._shown:
                self._shown.add(channel)
                found["refusal" if refusal else "content"] = GAP + notice
        return found

    def end(self, notices: Mapping[str, str]) -> bytes:
        """A chunk of its own."""
        left = sorted({int(channel.partition("/")[0]) for channel in set(notices) - self._shown})
        choices = [{"index": number, "delta": self._words(number, notices), "finish_reason": None} for number in left]
        return self._chunk(choices) if choices else b""

    def _chunk(self, choices: list[Json]) -> bytes:
        return json_event({**self._head, "choices": choices}, named=False)


class MessagesStream(Protocol):
    """What a stream of messages knows of itself."""

    @property
    def next_block(self) -> tuple[int, bool]:
        """The place of the disclosure that is written now, and whether a block of text is open there."""
        ...


class MessagesTelling:
    """Messages: one more block of text in front of the event with the stop reason."""

    def __init__(self, stream: MessagesStream, text: str, explanation: str) -> None:
        """Over a stream; `text` and `explanation` are the names of its two channels."""
        self._stream, self._text, self._explanation = stream, text, explanation
        self._shown: set[str] = set()

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """The event with the stop reason, behind the block."""
        kind = data.get("type") if isinstance(data, dict) else None
        if kind not in ("message_delta", "message_stop"):
            return None
        ahead, delta = self.end(notices), data.get("delta")
        details = delta.get("stop_details") if isinstance(delta, dict) else None
        if self._explanation in notices and self._explanation not in self._shown and isinstance(details, dict):
            self._shown.add(self._explanation)
            words = text_of(details.get("explanation")) + GAP + notices[self._explanation]
            changed = {**data, "delta": {**delta, "stop_details": {**details, "explanation": words}}}
            event = with_data(event, compact_json(changed))
        elif not ahead:
            return None
        return ahead + event.raw

    def end(self, notices: Mapping[str, str]) -> bytes:
        """The block, or one more piece of the one that is open."""
        if self._text not in notices or self._text in self._shown:
            return b""
        self._shown.add(self._text)
        place, opened = self._stream.next_block
        delta = {"type": "text_delta", "text": GAP + notices[self._text]}
        made: list[Json] = [{"type": "content_block_delta", "index": place, "delta": delta}]
        if not opened:
            block = {"type": "text", "text": ""}
            made.insert(0, {"type": "content_block_start", "index": place, "content_block": block})
            made.append({"type": "content_block_stop", "index": place})
        return b"".join(map(json_event, made))


class ResponsesStream(Protocol):
    """What a stream of Responses knows of itself."""

    def last_part(self, place: int) -> tuple[int, str, bool]:
        """Of a message: the index and the type of its last part, and whether its text came in pieces."""
        ...

    @property
    def messages(self) -> list[tuple[int, str]]:
        """The places of the messages that have begun, in order, and their ids."""
        ...


class ResponsesTelling:
    """Responses: one more piece of the last part of a message, and the same in all that says the text again."""

    def __init__(self, stream: ResponsesStream) -> None:
        """Over a stream."""
        self._stream = stream
        self._shown: set[str] = set()
        self._added = 0
        self._number = -1

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """An event that ends a text with all of it; the numbers of those behind what was added are higher."""
        if not isinstance(data, dict):
            ends = event.data is not None and event.data.strip() == "[DONE]"
            return self.end(notices) + event.raw if ends and set(notices) - self._shown else None
        number = index_of(data, "sequence_number")
        self._number = self._number if number is None else number
        ahead, changed = self._ended(data, notices)
        if changed is None and (number is None or not self._added):
            return None
        made = changed or data
        if number is not None:
            made = {**made, "sequence_number": number + self._added}
        return ahead + with_data(event, compact_json(made)).raw

    def _ended(self, data: Json, notices: Mapping[str, str]) -> tuple[bytes, Json | None]:
        kind, place = text_of(data.get("type")), index_of(data, "output_index")
        if kind in _ENDS and isinstance(data.get("response"), dict):
            return self._whole(data, notices)
        words = notices.get(str(place))
        if words is None or place is None:
            return b"", None
        if kind == "response.output_item.done" and isinstance(data.get("item"), dict):
            ahead = self._ahead(place, words)
            return ahead, {**data, "item": grown(data["item"], words)}
        if kind not in _PART_ENDS or index_of(data, "content_index") != self._stream.last_part(place)[0]:
            return b"", None
        ahead = self._ahead(place, words)
        if isinstance(data.get("part"), dict):
            return ahead, {**data, "part": _longer(data["part"], words)}
        name = "refusal" if kind.startswith("response.refusal") else "text"
        return ahead, {**data, name: text_of(data.get(name)) + GAP + words}

    def _whole(self, data: Json, notices: Mapping[str, str]) -> tuple[bytes, Json | None]:
        places = iter([place for place, _ in self._stream.messages])
        output, ahead, placed = [], b"", False
        for item in objects(data["response"].get("output")):
            place = next(places, None) if item.get("type") == "message" else None
            words = notices.get(str(place))
            if words is not None and place is not None:
                ahead, placed = ahead + self._ahead(place, words), True
                item = grown(item, words)  # noqa: PLW2901 another item takes its place
            output.append(item)
        ahead += self.end(notices)
        made = {**data, "response": {**data["response"], "output": output}} if placed else None
        return ahead, made or (data if ahead else None)

    def _ahead(self, place: int, words: str) -> bytes:
        """The piece of text, once; none where the text did not come in pieces."""
        index, kind, pieces = self._stream.last_part(place)
        if str(place) in self._shown or not pieces:
            return b""
        self._shown.add(str(place))
        number = max(0, self._number) + self._added
        self._added += 1
        type_ = "refusal" if kind == "refusal" else "output_text"
        more: Json = {} if type_ == "refusal" else {"logprobs": []}
        names = dict(self._stream.messages)
        return json_event(
            {
                "type": f"response.{type_}.delta",
                "item_id": names.get(place, ""),
                "output_index": place,
                "content_index": index,
                "delta": GAP + words,
                **more,
                "sequence_number": number,
            }
        )

    def end(self, notices: Mapping[str, str]) -> bytes:
        """A piece of text for each message that no event has ended."""
        return b"".join(
            self._ahead(place, notices[str(place)]) for place, _ in self._stream.messages if str(place) in notices
        )


def grown(item: Json, words: str) -> Json:
    """A message with more at the end of its last part."""
    content = list(item["content"]) if isinstance(item.get("content"), list) else []
    if content and isinstance(content[-1], dict):
        content[-1] = _longer(content[-1], words)
    return {**item, "content": content}


def _longer(part: Json, words: str) -> Json:
    name = _TEXTS.get(text_of(part.get("type")), "text")
    return {**part, name: text_of(part.get(name)) + GAP + words}
