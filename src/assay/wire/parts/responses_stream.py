"""The stream of `POST /v1/responses`, which repeats everything several times: the repetitions have to agree."""

from typing import Any

from assay.guard.streams import StreamDelta
from assay.schema.traces import openai_responses
from assay.wire.disclosures import ResponsesDisclosures
from assay.wire.fields import Fields, RequestContent
from assay.wire.interface import (
    DisclosureWriter,
    Json,
    error_members,
    index_of,
    objects,
    quotable,
    text_of,
)
from assay.wire.parts.responses_items import (
    ARGUMENT_MEMBERS,
    CALL_PIECE_EVENTS,
    CLIENT_CALLS,
    END_EVENTS,
    KEPT_MEMBERS,
    PROVIDER_ITEMS,
    SILENT_EVENTS,
    START_EVENTS,
    TEXT_PARTS,
    Item,
    comparable,
    empty_response,
    message_item,
    parts_of,
)
from assay.wire.sse import Event, json_event


class ResponsesStream:
    """One stream of items.

    The format sends everything several times: in pieces, at the end of each part, of each item, and of the answer. What
    came first is checked, and every repetition has to equal it, because a client may read any of them. A text that
    comes only with one of these ends is checked as if it had been streamed.
    """

    def __init__(self, request: RequestContent) -> None:
        self._request = request
        self._items: dict[int, Item] = {}
        self._ended: set[str] = set()
        self._is_over = False
        self._ends_seen: set[tuple[object, ...]] = set()
        self._response: Json = {}
        self._sequence = -1
        self._next_index = 0
        self._sent_message: Json | None = None
        self._sent_items: list[Json] = []

    def read(self, event: Event, data: Any) -> StreamDelta:
        """Text, calls and the ends of items."""
        if event.data is None or not event.data.strip():
            return StreamDelta()
        if event.data.strip() == "[DONE]":
            # Clients of this format also stop reading here, although it has its own last event.
            self._is_over = True
            result = self.end()
            result.needs_all = True
            return result
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            return StreamDelta(unreadable="an event is no JSON object with a type")
        kind = data["type"]
        if event.name not in (None, "", kind):
            return StreamDelta(
                unreadable=f"an event named {quotable(event.name)} says that it is one of the type {quotable(kind)}"
            )
        if kind in ("response.failed", "error") or data.get("error"):
            return StreamDelta(failed=True)
        fault = Fields.of(openai_responses.NAME).fault("event", data, self._request)
        if fault is not None:
            return StreamDelta(unreadable=f"an event has {fault}")
        if self._is_over:
            return StreamDelta(unreadable="the stream goes on after its end")
        if kind in END_EVENTS:
            return self._final_response(data.get("response"))
        if kind in START_EVENTS:
            return self._start(data.get("response"))
        if kind.startswith(SILENT_EVENTS):
            return StreamDelta()
        place = index_of(data, "output_index")
        if place is None:
            return StreamDelta(unreadable="an event has no clear place for what it adds")
        end = (kind, place, data.get("content_index"))
        if kind.endswith((".done", "part.added")):
            if end in self._ends_seen:
                return StreamDelta(unreadable=f"an event of the type {quotable(kind)} comes twice")
            self._ends_seen.add(end)
        match kind:
            case "response.output_item.added":
                return self._added(place, data.get("item"))
            case "response.output_item.done":
                return self._done(place, data.get("item"))
            case "response.output_text.annotation.added":
                return StreamDelta(texts=[(str(place), "")]) if self._open_message(place) else _belongs_nowhere(kind)
            case "response.content_part.added" | "response.content_part.done":
                return self._part(place, data, data.get("part"), done=kind.endswith("done"))
            case "response.output_text.delta" | "response.refusal.delta":
                return self._text(place, data, _part_of(kind), text_of(data.get("delta")))
            case "response.output_text.done" | "response.refusal.done":
                part = _part_of(kind)
                return self._text_end(place, data, part, text_of(data.get(TEXT_PARTS[part])))
            case _:
                return self._call_part(kind, place, data)

    def _start(self, response: object) -> StreamDelta:
        output = response.get("output") if isinstance(response, dict) else None
        return StreamDelta(unreadable="a response begins with output" if output else None)

    def _added(self, place: int, item: object) -> StreamDelta:
        kind = text_of(item.get("type")) if isinstance(item, dict) else ""
        if not isinstance(item, dict) or kind not in {"message", *CLIENT_CALLS, *PROVIDER_ITEMS}:
            return StreamDelta(unreadable=f"an item of the unknown type {quotable(kind)}")
        if place in self._items or place < max(self._items, default=-1):
            return StreamDelta(unreadable=f"item {place} begins a second time, or behind one that follows it")
        known = self._items[place] = Item(item)
        if kind == "message":
            return StreamDelta(unreadable="a message begins with content" if item.get("content") else None)
        if kind in CLIENT_CALLS:
            if kind in ARGUMENT_MEMBERS and item.get(ARGUMENT_MEMBERS[kind]):
                known.words, known.in_pieces = [text_of(item[ARGUMENT_MEMBERS[kind]])], False
            return StreamDelta(calls=[str(place)])
        return StreamDelta()

    def _open_message(self, place: int) -> Item | None:
        item = self._items.get(place)
        return item if item is not None and item.kind == "message" and item.final is None else None

    def _part(self, place: int, data: Json, part: object, *, done: bool) -> StreamDelta:
        kind = text_of(part.get("type")) if isinstance(part, dict) else ""
        item = self._items.get(place)
        if kind == "reasoning_text" and item is not None and item.kind == "reasoning":
            return StreamDelta()
        if not isinstance(part, dict) or kind not in TEXT_PARTS:
            return StreamDelta(unreadable=f"a part of the unknown type {quotable(kind)}")
        words = text_of(part.get(TEXT_PARTS[kind]))
        if done:
            return self._text_end(place, data, kind, words)
        if item is None or self._open_message(place) is None or index_of(data, "content_index") != len(item.parts):
            return _belongs_nowhere("response.content_part.added")
        item.parts.append([kind])
        return StreamDelta(unreadable="a part begins with a text" if words else None)

    def _part_at(self, place: int, data: Json, kind: str) -> list[str] | None:
        """The part that an event continues, the last one of an open message; an unannounced one begins here."""
        item, index = self._open_message(place), index_of(data, "content_index")
        if item is None or index is None or index > len(item.parts):
            return None
        if index == len(item.parts):
            item.parts.append([kind])
        part = item.parts[index]
        return part if index == len(item.parts) - 1 and part[0] == kind else None

    def _text(self, place: int, data: Json, kind: str, words: str, *, piece: bool = True) -> StreamDelta:
        part = self._part_at(place, data, kind)
        if part is None or not self._items[place].accepts(piece, words):
            return _belongs_nowhere(text_of(data.get("type")))
        part.append(words)
        return StreamDelta(texts=[(str(place), words)] if words else [])

    def _text_end(self, place: int, data: Json, kind: str, words: str) -> StreamDelta:
        """The end of a part, which repeats all of its text; it has to come before a later item begins, because clients
        that read only these events get the texts in their order."""
        if place < max(self._items, default=-1):
            return StreamDelta(unreadable=f"a text of item {place} ends behind an item that follows it")
        item, index = self._items.get(place), index_of(data, "content_index")
        part = item.parts[index] if item is not None and index is not None and index < len(item.parts) else None
        if part is not None and part[0] == kind and "".join(part[1:]) == words:
            return StreamDelta(needs_texts=[str(place)])
        if part is not None and any(part[1:]):
            return StreamDelta(unreadable="a text ends as another one than was streamed")
        result = self._text(place, data, kind, words, piece=False)
        result.needs_texts = [str(place)]
        return result

    def _call_part(self, kind: str, place: int, data: Json) -> StreamDelta:
        wanted = next((call for begin, call in CALL_PIECE_EVENTS.items() if kind.startswith(begin)), None)
        item = self._items.get(place)
        if wanted is None:
            return StreamDelta(unreadable=f"an event of the unknown type {quotable(kind)}")
        if item is None or item.kind != wanted or item.final is not None:
            return _belongs_nowhere(kind)
        if kind.endswith(".delta"):
            words = text_of(data.get("delta"))
            if not item.accepts(True, words):
                return StreamDelta(unreadable="a call begins with all of its words and goes on with more")
            item.words.append(words)
            return StreamDelta(calls=[str(place)])
        if data.get("name") not in (None, "", item.first.get("name")) or not item.ends_with(data):
            return StreamDelta(unreadable="a call ends as another one than was streamed")
        return StreamDelta(calls=[str(place)])

    def _done(self, place: int, item: object) -> StreamDelta:
        if not isinstance(item, dict):
            return StreamDelta(unreadable="an item is no object")
        result = StreamDelta()
        if place not in self._items:
            result = self._added(place, {**item, "content": []} if item.get("type") == "message" else item)
            if result.unreadable is not None:
                return result
        known = self._items[place]
        if known.final is not None or _is_another(known.first, item):
            return StreamDelta(unreadable=f"item {place} ends twice, or as another one than began")
        if known.kind == "message":
            result = self._message_done(place, known, item)
        elif known.kind in CLIENT_CALLS:
            if not known.ends_with(item):
                return StreamDelta(unreadable="a call ends as another one than was streamed")
            result = StreamDelta(calls=[str(place)], ended_calls={str(place): [item]})
        known.final = item
        return result

    def _message_done(self, place: int, known: Item, item: Json) -> StreamDelta:
        parts, result = parts_of(item), StreamDelta()
        if parts is None:
            return StreamDelta(unreadable="a message has a part of an unknown type")
        if not any(text for _, text in known.texts()):
            result.texts = [(str(place), text) for _, text in parts if text]
        elif [part for part in parts if part[1]] != [part for part in known.texts() if part[1]]:
            return StreamDelta(unreadable="a message ends as another one than was streamed")
        self._ended.add(str(place))
        result.ended_texts, result.needs_texts = [str(place)], [str(place)]
        return result

    def _final_response(self, response: object) -> StreamDelta:
        """The event that repeats the whole answer: it has to equal what was streamed, or hold all where nothing was."""
        output = response.get("output") if isinstance(response, dict) else None
        self._is_over = True
        listed = objects(output or [])
        if len(listed) < len(output or []):
            return StreamDelta(unreadable="an item is no object")
        result = StreamDelta()
        if not self._items:
            for place, item in enumerate(listed):
                step = self._done(place, item)
                result.texts += step.texts
                result.ended_texts += step.ended_texts
                result.ended_calls |= step.ended_calls
                result.unreadable = result.unreadable or step.unreadable
        elif listed:
            result.unreadable = self._difference(listed)
        rest = self.end()
        result.ended_texts += rest.ended_texts
        if not any(item.kind == "message" or item.kind in CLIENT_CALLS for item in self._items.values()):
            result.ended_texts.append("0")
        result.needs_all = result.ends = True
        return result

    def _difference(self, listed: list[Json]) -> str | None:
        """How the final answer differs from the streamed items; none where it does not."""
        streamed = [item for _, item in sorted(self._items.items()) if item.kind != "reasoning"]
        listed = [item for item in listed if item.get("type") != "reasoning"]
        if len(streamed) != len(listed):
            return f"an answer of {len(streamed)} items ends as one of {len(listed)}"
        for known, item in zip(streamed, listed, strict=True):
            if known.kind in PROVIDER_ITEMS and known.final is not None and known.kind == item.get("type"):
                continue
            if known.final is not None and comparable(known.final) == comparable(item):
                continue
            open_text = known.kind == "message" and known.final is None and not _is_another(known.first, item)
            if not open_text or parts_of(item) != known.texts():
                return f"an item of the type {quotable(item.get('type'))} ends as another one than was streamed"
        return None

    def end(self) -> StreamDelta:
        """Every message that has begun is complete."""
        begun = [str(place) for place, item in self._items.items() if item.kind == "message"]
        return StreamDelta(ended_texts=[channel for channel in begun if channel not in self._ended])

    def sent(self, data: Any) -> None:
        """Notes which items the client has seen."""
        if not isinstance(data, dict):
            return
        number = data.get("sequence_number")
        self._sequence = max(self._sequence, number) if isinstance(number, int) else self._sequence
        if isinstance(data.get("response"), dict):
            self._response = data["response"]
        item, place = data.get("item"), index_of(data, "output_index")
        match data.get("type"):
            case "response.output_item.added" if isinstance(item, dict) and place is not None:
                self._next_index = max(self._next_index, place + 1)
                if item.get("type") == "message":
                    self._sent_message = {"id": text_of(item.get("id")), "place": place, "parts": [], "closed": True}
            case "response.content_part.added" if self._sent_message is not None and isinstance(data.get("part"), dict):
                self._sent_message["parts"].append(dict(data["part"]))
                self._sent_message["closed"] = False
            case "response.content_part.done" if self._sent_message is not None:
                self._sent_message["closed"] = True
            case "response.output_text.delta" | "response.refusal.delta" if self._sent_message is not None:
                self._show(self._sent_message, _part_of(data["type"]), text_of(data.get("delta")))
            case "response.output_item.done" if isinstance(item, dict):
                self._sent_items.append(item)
                self._sent_message = None
            case _:
                pass

    @staticmethod
    def _show(opened: Json, kind: str, words: str) -> None:
        if not opened["parts"]:
            opened["parts"].append({"type": kind, TEXT_PARTS[kind]: ""})
            opened["closed"] = False
        part = opened["parts"][-1]
        name = TEXT_PARTS.get(text_of(part.get("type")), "text")
        part[name] = text_of(part.get(name)) + words

    def withhold(self, notice: str, summary: Json) -> bytes:
        """Ends an incomplete response with the notice, in the open message or in a new one.

        The last event has the type `response.completed`, from which helpers of clients take the answer; the status in
        it is `incomplete`, with the reason.
        """
        opened = self._sent_message is not None and any(_text_of_part(part) for part in self._sent_message["parts"])
        why = {"reason": "content_filter"}
        return self._ending(f"\n\n{notice}" if opened else notice, "incomplete", why, summary)

    def finish(self, text: str, summary: Json) -> bytes:
        """Ends a complete response with the text, in the open message or in a new one."""
        return self._ending(text, "completed", None, summary)

    def _ending(self, more: str, status: str, why: Json | None, summary: Json) -> bytes:
        events: list[Json] = [] if self._response else [self._begin()]
        opened = self._sent_message
        if opened is None:
            opened = {"id": "msg_assay", "place": self._next_index, "parts": [], "closed": True}
            item = {**message_item("msg_assay", ""), "status": "in_progress", "content": []}
            events.append({"type": "response.output_item.added", "output_index": self._next_index, "item": item})
        parts = opened["parts"]
        where = {"item_id": opened["id"], "output_index": opened["place"], "content_index": max(0, len(parts) - 1)}
        if parts and not opened["closed"] and parts[-1].get("type") != "output_text":
            events.append({"type": "response.content_part.done", **where, "part": parts[-1]})
            opened["closed"] = True
        if opened["closed"]:
            parts.append({"type": "output_text", "text": "", "annotations": [], "logprobs": []})
            where["content_index"] = len(parts) - 1
            events.append({"type": "response.content_part.added", **where, "part": dict(parts[-1])})
        part = parts[-1]
        part["text"] = text_of(part.get("text")) + more
        whole = {**message_item(opened["id"], ""), "status": status, "content": parts}
        response = {
            **self._response,
            "status": status,
            "incomplete_details": why,
            "output": [*self._sent_items, whole],
        }
        events += [
            {"type": "response.output_text.delta", **where, "delta": more, "logprobs": []},
            {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []},
            {"type": "response.content_part.done", **where, "part": part},
            {"type": "response.output_item.done", "output_index": opened["place"], "item": whole},
            {"type": "response.completed", "response": response},
        ]
        return b"".join(self._numbered(event, summary) for event in events)

    def failure(self, data: Any) -> bytes:
        """The error alone, without the rest of the event."""
        failed, number = data.get("response"), index_of(data, "sequence_number")
        number = self._sequence + 1 if number is None else number
        if data.get("type") == "response.failed" and isinstance(failed, dict):
            kept = Fields.of(openai_responses.NAME).metadata("answer", failed, KEPT_MEMBERS)
            error = error_members(failed.get("error"), ("code", "message"))
            response = {**empty_response(), **kept, "status": "failed", "error": error}
            return json_event({"type": "response.failed", "response": response, "sequence_number": number})
        inner = data.get("error")
        error = error_members(inner if isinstance(inner, dict) else data, ("code", "message", "param"))
        return json_event({"type": "error", **error, "sequence_number": number})

    def last_part(self, place: int) -> tuple[int, str, bool]:
        """The index and the type of a message's last part, and whether its text came in pieces."""
        item = self._items[place]
        parts = item.parts or [["output_text"]]
        return len(parts) - 1, parts[-1][0], bool(item.in_pieces)

    @property
    def messages(self) -> list[tuple[int, str]]:
        """The indexes of the messages that have begun, in order, with their ids."""
        found = sorted(place for place, item in self._items.items() if item.kind == "message")
        return [(place, text_of(self._items[place].first.get("id"))) for place in found]

    def disclosure_writer(self) -> DisclosureWriter:
        """Writes the disclosures into its texts."""
        return ResponsesDisclosures(self)

    def correct(self, summary: Json) -> bytes:
        """An event of its own type, which clients ignore if they do not know it."""
        return self._numbered({"type": "assay.correction"}, {"type": "correction", **summary})

    def _numbered(self, event: Json, summary: Json) -> bytes:
        self._sequence += 1
        return json_event({**event, "sequence_number": self._sequence, "assay": summary})

    def _begin(self) -> Json:
        self._response = empty_response()
        return {"type": "response.created", "response": self._response}


def _part_of(kind: str) -> str:
    """The type of the part that a text event continues."""
    return "refusal" if kind.startswith("response.refusal") else "output_text"


def _text_of_part(part: Json) -> str:
    return text_of(part.get(TEXT_PARTS.get(text_of(part.get("type")), "")))


def _belongs_nowhere(kind: str) -> StreamDelta:
    return StreamDelta(unreadable=f"an event of the type {quotable(kind)} belongs to nothing that is open")


def _is_another(one: Json, other: Json) -> bool:
    """Whether two events are about different items."""
    if one.get("type") != other.get("type"):
        return True
    if any((one.get(name) or None) != (other.get(name) or None) for name in ("name", "namespace")):
        # Also where the first one has no name: a client that executes the call by it would execute another one.
        return True
    return any(one.get(name) and one[name] != other.get(name) for name in ("id", "call_id"))
