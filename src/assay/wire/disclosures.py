"""Writes the disclosure of a text into the stream of the text.

A disclosure names what an answer that passes leaves unanswered of its question; it follows the text when that has
ended. The events that end a text wait until all of it has passed, so that the disclosure can be put before them: as one
more piece of the text, and in every event that repeats the whole text. All other events are unchanged.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from assay.wire.interface import Json, index_of, objects, text_of
from assay.wire.parts.responses_items import END_EVENTS, TEXT_PARTS
from assay.wire.sse import Event, compact_json, json_event, with_data

GAP: Final = "\n\n"
"""The separator between a text and its disclosure."""
CHUNK_HEAD: Final[Json] = {
    "id": "chatcmpl-assay",
    "object": "chat.completion.chunk",
    "created": 0,
    "model": "assay",
}
"""The members of a chunk that is sent before any chunk of the upstream."""
_SHARED_MEMBERS: Final = ("id", "object", "created", "model", "system_fingerprint", "service_tier")
"""The members that the chunks of one stream share."""
_PART_ENDS: Final = frozenset({"response.output_text.done", "response.refusal.done", "response.content_part.done"})


class ChatDisclosures:
    """Chat completions: one more piece of text in front of the chunk with the finish reason."""

    def __init__(self) -> None:
        """Nothing was disclosed."""
        self._disclosed: set[str] = set()
        self._chunk_head: Json = dict(CHUNK_HEAD)

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """The chunk that ends a choice, split in two; or the end of the stream, where no chunk ended the choice."""
        if not isinstance(data, dict):
            ends = event.data is not None and event.data.strip() == "[DONE]"
            return self.end(notices) + event.raw if ends and set(notices) - self._disclosed else None
        self._chunk_head |= {name: data[name] for name in _SHARED_MEMBERS if name in data}
        before: list[Json] = []
        rest: list[Json] = []
        for choice in objects(data.get("choices")):
            words = self._disclosures_of(index_of(choice), notices) if choice.get("finish_reason") else {}
            if not words:
                rest.append(choice)
                continue
            delta = dict(choice["delta"]) if isinstance(choice.get("delta"), dict) else {}
            delta |= {name: text_of(delta.get(name)) + text for name, text in words.items()}
            before.append({**choice, "delta": delta, "finish_reason": None})
            rest.append({**choice, "delta": {}, **({"logprobs": None} if "logprobs" in choice else {})})
        if not before:
            return None
        return self._chunk(before) + with_data(event, compact_json({**data, "choices": rest})).raw

    def _disclosures_of(self, number: int | None, notices: Mapping[str, str]) -> Json:
        """The disclosures of a choice that ends, by the member of its delta."""
        found: Json = {}
        for channel, notice in notices.items():
            place, _, refusal = channel.partition("/")
            if place == str(number) and channel not in self._disclosed:
                self._disclosed.add(channel)
                found["refusal" if refusal else "content"] = GAP + notice
        return found

    def end(self, notices: Mapping[str, str]) -> bytes:
        """A chunk with the disclosures that are left."""
        left = sorted({int(channel.partition("/")[0]) for channel in set(notices) - self._disclosed})
        choices = [
            {"index": number, "delta": self._disclosures_of(number, notices), "finish_reason": None} for number in left
        ]
        return self._chunk(choices) if choices else b""

    def _chunk(self, choices: list[Json]) -> bytes:
        return json_event({**self._chunk_head, "choices": choices}, named=False)


class MessagesStream(Protocol):
    """What `MessagesDisclosures` needs from a stream of messages."""

    @property
    def next_block(self) -> tuple[int, bool]:
        """The index of the block for a disclosure, and whether that is a text block that is still open."""
        ...


class MessagesDisclosures:
    """Messages: one more block of text in front of the event with the stop reason."""

    def __init__(self, stream: MessagesStream, text: str, explanation: str) -> None:
        """Over a stream; `text` and `explanation` are the names of its two channels."""
        self._stream, self._text, self._explanation = stream, text, explanation
        self._disclosed: set[str] = set()

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """The event with the stop reason, after the block."""
        kind = data.get("type") if isinstance(data, dict) else None
        if kind not in ("message_delta", "message_stop"):
            return None
        before, delta = self.end(notices), data.get("delta")
        details = delta.get("stop_details") if isinstance(delta, dict) else None
        if self._explanation in notices and self._explanation not in self._disclosed and isinstance(details, dict):
            self._disclosed.add(self._explanation)
            words = text_of(details.get("explanation")) + GAP + notices[self._explanation]
            changed = {**data, "delta": {**delta, "stop_details": {**details, "explanation": words}}}
            event = with_data(event, compact_json(changed))
        elif not before:
            return None
        return before + event.raw

    def end(self, notices: Mapping[str, str]) -> bytes:
        """A block with the disclosure, or one more piece of the open block."""
        if self._text not in notices or self._text in self._disclosed:
            return b""
        self._disclosed.add(self._text)
        place, opened = self._stream.next_block
        delta = {"type": "text_delta", "text": GAP + notices[self._text]}
        events: list[Json] = [{"type": "content_block_delta", "index": place, "delta": delta}]
        if not opened:
            block = {"type": "text", "text": ""}
            events.insert(0, {"type": "content_block_start", "index": place, "content_block": block})
            events.append({"type": "content_block_stop", "index": place})
        return b"".join(map(json_event, events))


class ResponsesStream(Protocol):
    """What `ResponsesDisclosures` needs from a stream of Responses."""

    def last_part(self, place: int) -> tuple[int, str, bool]:
        """The index and the type of a message's last part, and whether its text came in pieces."""
        ...

    @property
    def messages(self) -> list[tuple[int, str]]:
        """The indexes of the messages that have begun, in order, with their ids."""
        ...


class ResponsesDisclosures:
    """Responses: one more piece of the last part of a message, and the same in every event that repeats the text."""

    def __init__(self, stream: ResponsesStream) -> None:
        """Over a stream."""
        self._stream = stream
        self._disclosed: set[str] = set()
        self._added_events = 0
        self._last_number = -1

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """An event that ends a text, with the disclosure; sequence numbers grow by the number of added events."""
        if not isinstance(data, dict):
            ends = event.data is not None and event.data.strip() == "[DONE]"
            return self.end(notices) + event.raw if ends and set(notices) - self._disclosed else None
        number = index_of(data, "sequence_number")
        self._last_number = self._last_number if number is None else number
        before, changed = self._replacement(data, notices)
        if changed is None and (number is None or not self._added_events):
            return None
        replaced = changed or data
        if number is not None:
            replaced = {**replaced, "sequence_number": number + self._added_events}
        return before + with_data(event, compact_json(replaced)).raw

    def _replacement(self, data: Json, notices: Mapping[str, str]) -> tuple[bytes, Json | None]:
        kind, place = text_of(data.get("type")), index_of(data, "output_index")
        if kind in END_EVENTS and isinstance(data.get("response"), dict):
            return self._final_event(data, notices)
        words = notices.get(str(place))
        if words is None or place is None:
            return b"", None
        if kind == "response.output_item.done" and isinstance(data.get("item"), dict):
            before = self._piece_once(place, words)
            return before, {**data, "item": with_disclosure(data["item"], words)}
        if kind not in _PART_ENDS or index_of(data, "content_index") != self._stream.last_part(place)[0]:
            return b"", None
        before = self._piece_once(place, words)
        if isinstance(data.get("part"), dict):
            return before, {**data, "part": _part_with_disclosure(data["part"], words)}
        name = "refusal" if kind.startswith("response.refusal") else "text"
        return before, {**data, name: text_of(data.get(name)) + GAP + words}

    def _final_event(self, data: Json, notices: Mapping[str, str]) -> tuple[bytes, Json | None]:
        places = iter([place for place, _ in self._stream.messages])
        output, before, placed = [], b"", False
        for item in objects(data["response"].get("output")):
            place = next(places, None) if item.get("type") == "message" else None
            words = notices.get(str(place))
            if words is not None and place is not None:
                before, placed = before + self._piece_once(place, words), True
                item = with_disclosure(item, words)  # noqa: PLW2901 another item takes its place
            output.append(item)
        before += self.end(notices)
        replaced = {**data, "response": {**data["response"], "output": output}} if placed else None
        return before, replaced or (data if before else None)

    def _piece_once(self, place: int, words: str) -> bytes:
        """The event with the disclosure as a piece of text, once; none where the text did not come in pieces."""
        index, kind, pieces = self._stream.last_part(place)
        if str(place) in self._disclosed or not pieces:
            return b""
        self._disclosed.add(str(place))
        number = max(0, self._last_number) + self._added_events
        self._added_events += 1
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
        """A piece with the disclosure for each message that no event has ended."""
        return b"".join(
            self._piece_once(place, notices[str(place)]) for place, _ in self._stream.messages if str(place) in notices
        )


def with_disclosure(item: Json, words: str) -> Json:
    """A message with a disclosure at the end of its last part."""
    content = list(item["content"]) if isinstance(item.get("content"), list) else []
    if content and isinstance(content[-1], dict):
        content[-1] = _part_with_disclosure(content[-1], words)
    return {**item, "content": content}


def _part_with_disclosure(part: Json, words: str) -> Json:
    name = TEXT_PARTS.get(text_of(part.get("type")), "text")
    return {**part, name: text_of(part.get(name)) + GAP + words}
