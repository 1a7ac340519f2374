"""Server-sent events, read from chunks of bytes of any size, each with its original bytes.

An event ends at an empty line. Lines end with LF, CR or CRLF. Nothing is decoded before an event is complete, so that a
chunk may end inside a character.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError

_BLANK_LINE: Final = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_OTHER_FIELDS: Final = frozenset({"", "id", "retry"})
"""Fields that are not part of the content; one without a name is a comment."""
_GATEWAY_COMMENTS: Final = (": assay", ":assay")
"""The beginnings of the comments with a gateway's decision (`assay.server.gateway.relay_stream`)."""
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One event."""

    raw: bytes
    """Its original bytes, including the empty line."""
    name: str | None = None
    """The field `event`."""
    data: str | None = None
    """The lines of the field `data`; none where there are none, as in a comment."""
    broken: bool = False
    """Whether it is no valid event: no UTF-8, or with lines that are no fields of an event."""


class SseReader:
    """Collects chunks and returns events.

    >>> reader = SseReader()
    >>> reader.feed("data: caf\\u00e9".encode()[:-1])
    []
    >>> [event.data for event in reader.feed("data: caf\\u00e9\\n\\n".encode()[-3:])]
    ['café']
    """

    def __init__(self, most: int = 4 * 1024 * 1024) -> None:
        """A reader; `most` is the largest event, in bytes."""
        self._most = most
        self._buffer = bytearray()
        self._searched = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that a chunk completes.

        Raises:
            InputError: an event is larger than the limit.
        """
        self._buffer += chunk
        events: list[Event] = []
        at = 0
        # An empty line may have begun in the last bytes that were searched.
        place = max(0, self._searched - 3)
        while (match := _BLANK_LINE.search(self._buffer, place)) is not None:
            events.append(read_event(bytes(self._buffer[at : match.end()])))
            at = place = match.end()
        if at:
            del self._buffer[:at]
        self._searched = len(self._buffer)
        if self._searched > self._most:
            raise InputError(f"an event of a stream has at most {self._most:,} bytes, got more")
        return events

    def end(self) -> Event | None:
        """The truncated event at the end of the stream, or none."""
        raw = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        return read_event(raw) if raw else None


def read_event(raw: bytes) -> Event:
    """Reads one event from its bytes, without comments of an upstream that imitate this gateway's own.

    >>> read_event(b': assay {"action": "emit"}\\ndata: 1\\n\\n').raw
    b'data: 1\\n\\n'
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Event(raw, broken=True)
    lines = _LINE_END.split(text)
    kept = [line for line in lines if not line.startswith(_GATEWAY_COMMENTS)]
    if len(kept) != len(lines):
        raw = "\n".join(kept).encode() if any(kept) else b""
    name: str | None = None
    data: list[str] = []
    for line in kept:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field not in _OTHER_FIELDS:
            # No stream of events at all, a byte order mark, which readers treat differently, or text that none reads.
            return Event(raw, broken=True)
    return Event(raw, name, "\n".join(data) if data else None)


def with_data(event: Event, data: str) -> Event:
    """An event with other data and its other fields unchanged; `data` is one line.

    >>> with_data(read_event(b"id: 7\\nevent: a\\ndata: 1\\ndata: 2\\n\\n"), "{}").raw
    b'id: 7\\nevent: a\\ndata: {}\\n\\n'
    """
    kept = [line for line in _LINE_END.split(event.raw.decode("utf-8")) if line and line.partition(":")[0] != "data"]
    written = "".join(f"{line}\n" for line in (*kept, f"data: {data}"))
    return Event(f"{written}\n".encode("utf-8", "backslashreplace"), event.name, data)


def comment(text: str) -> bytes:
    """A comment, which every reader of events ignores."""
    return f": {text}\n\n".encode()


def json_event(data: Mapping[str, Any], *, named: bool = True) -> bytes:
    """An event that holds a JSON object.

    Args:
        data: the object.
        named: whether the event has the name of the object's `type`, as Messages and Responses have it.

    >>> json_event({"type": "ping"}), json_event({"id": "\\ud83d"}, named=False)
    (b'event: ping\\ndata: {"type":"ping"}\\n\\n', b'data: {"id":"\\\\ud83d"}\\n\\n')
    """
    name = f"event: {data['type']}\n" if named else ""
    return f"{name}data: {compact_json(data)}\n\n".encode("utf-8", "backslashreplace")


def compact_json(value: object) -> str:
    """A value as JSON on one line, without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
