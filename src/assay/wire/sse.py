"""Server-sent events out of any chunks of bytes, each with the bytes that it came as.

An event ends at an empty line. Lines end with LF, CR or CRLF. Nothing is decoded before an event is complete, so that
a chunk may end inside a character.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from assay.errors import InputError

_BLANK_LINE: Final = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_OTHERS: Final = frozenset({"", "id", "retry"})
"""Fields that say nothing of the content; one without a name is a comment."""
_OURS: Final = (": assay", ":assay")
"""How the comments begin in which a gateway tells what it decided (`assay.server.gateway.relay_stream`)."""
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One event."""

    raw: bytes
    """The bytes that it came as, its empty line included."""
    name: str | None = None
    """The field `event`."""
    data: str | None = None
    """The lines of the field `data`; none where there are none, as in a comment."""
    broken: bool = False
    """Whether it is no event: no UTF-8, or with lines that are no fields of one."""


class SseReader:
    """Collects chunks and gives events.

    >>> reader = SseReader()
    >>> reader.feed("data: caf\\u00e9".encode()[:-1])
    []
    >>> [event.data for event in reader.feed("data: caf\\u00e9\\n\\n".encode()[-3:])]
    ['café']
    """

    def __init__(self, most: int = 4 * 1024 * 1024) -> None:
        """`most` is how many bytes one event may have."""
        self._most = most
        self._left = bytearray()
        self._seen = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that a chunk completes.

        Raises:
            InputError: an event is larger than the limit.
        """
        self._left += chunk
        found: list[Event] = []
        at = 0
        # An empty line may have begun in the last bytes that were looked at.
        place = max(0, self._seen - 3)
        while (match := _BLANK_LINE.search(self._left, place)) is not None:
            found.append(read_event(bytes(self._left[at : match.end()])))
            at = place = match.end()
        if at:
            del self._left[:at]
        self._seen = len(self._left)
        if self._seen > self._most:
            raise InputError(f"an event of a stream has at most {self._most:,} bytes, got more")
        return found

    def end(self) -> Event | None:
        """What is left at the end of the stream: an event that was cut off, or none."""
        raw = bytes(self._left)
        self._left.clear()
        self._seen = 0
        return read_event(raw) if raw else None


def read_event(raw: bytes) -> Event:
    """Reads one event from its bytes. Comments in which an upstream speaks as this gateway does are left out of it.

    >>> read_event(b': assay {"action": "emit"}\\ndata: 1\\n\\n').raw
    b'data: 1\\n\\n'
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return Event(raw, broken=True)
    lines = _LINE_END.split(text)
    said = [line for line in lines if not line.startswith(_OURS)]
    if len(said) != len(lines):
        raw = "\n".join(said).encode() if any(said) else b""
    name: str | None = None
    data: list[str] = []
    for line in said:
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field not in _OTHERS:
            # No stream of events at all, a byte order mark, which readers disagree on, or words that nobody reads.
            return Event(raw, broken=True)
    return Event(raw, name, "\n".join(data) if data else None)


def with_data(event: Event, data: str) -> Event:
    """An event with other data, and with all else that it says; `data` is one line.

    >>> with_data(read_event(b"id: 7\\nevent: a\\ndata: 1\\ndata: 2\\n\\n"), "{}").raw
    b'id: 7\\nevent: a\\ndata: {}\\n\\n'
    """
    kept = [line for line in _LINE_END.split(event.raw.decode("utf-8")) if line and line.partition(":")[0] != "data"]
    written = "".join(f"{line}\n" for line in (*kept, f"data: {data}"))
    return Event(f"{written}\n".encode("utf-8", "backslashreplace"), event.name, data)


def comment(text: str) -> bytes:
    """A comment: every reader of events passes over it."""
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
