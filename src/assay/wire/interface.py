"""What a wire format has to offer: how it shows text and calls, and how it says that something was withheld."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from assay.errors import InputError
from assay.guard.streams import StreamDelta
from assay.schema.run import Executor, Opaque, ToolCall
from assay.schema.traces import read_steps
from assay.wire.sse import Event

Json = dict[str, Any]
_SAYABLE: Final = re.compile(r"[A-Za-z0-9_.$-]{1,60}")
FIELD: Final = "assay"
"""The member of a request's body that is read here and not forwarded."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What an answer shows to its reader."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Each text that is one answer, by a name of its own."""
    calls: tuple[ToolCall, ...] = ()
    """The calls that the client is asked to execute."""
    unreadable: str | None = None
    """What in it no check can read; then nothing of it counts as checked."""


class Telling(Protocol):
    """Writes the disclosures into one stream."""

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """What goes out in the place of an event; none where it goes out as it came.

        Args:
            event: the event.
            data: its content as JSON, none where it has none.
            notices: the disclosures after texts that have ended, by their channels.
        """
        ...

    def end(self, notices: Mapping[str, str]) -> bytes:
        """The events that tell what no event gave a place to, for a stream that ends without one."""
        ...


class WireStream(Protocol):
    """Reads one stream of a format, and writes the events that end it early."""

    def read(self, event: Event, data: Any) -> StreamDelta:
        """What an event adds; `data` is its JSON, none where it has none."""
        ...

    def end(self) -> StreamDelta:
        """What is complete because the stream has ended."""
        ...

    def sent(self, data: Any) -> None:
        """Takes note of an event that went out to the client."""
        ...

    def withhold(self, notice: str, summary: Json) -> bytes:
        """The events that end the answer for the client, with a notice in place of what is withheld."""
        ...

    def finish(self, text: str, summary: Json) -> bytes:
        """The events that end the answer as one that is complete, with a person's words behind what went out."""
        ...

    def failure(self, data: Any) -> bytes:
        """The event by which the client learns that the upstream failed, made from the one that says so."""
        ...

    def correct(self, summary: Json) -> bytes:
        """An event that says what was wrong in text that went out already."""
        ...

    def telling(self) -> Telling:
        """What writes the disclosures after the texts of this stream."""
        ...


class Wire(Protocol):
    """A wire format of chat models."""

    @property
    def name(self) -> str:
        """The name of its reader in `assay.schema.traces`."""
        ...

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape."""
        ...

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream, in the format's own shape."""
        ...

    def refused(self, request: Json) -> str | None:
        """Why a request asks for an answer that could never be checked; none where it does not."""
        ...

    def schema(self, request: Json) -> Json | None:
        """The JSON Schema that the request holds the answer to."""
        ...

    def shown(self, answer: Json) -> Shown:
        """What a whole answer shows."""
        ...

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with a notice in place of everything that it shows."""
        ...

    def disclose(self, answer: Json, notices: Mapping[str, str]) -> Json:
        """The answer with notices behind its texts, by their names in `shown`."""
        ...

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in the place of its own; none where it has no single text to take the place of.

        What belongs to the words that are gone (their probabilities, their citations) goes with them, and so do the
        calls that the client was to execute: they came with other words.
        """
        ...

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """The request that asks for another answer: what the model said and what was found of it follow the
        conversation. None where the conversation cannot be carried on so."""
        ...

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The request that asks for another answer in place of one whose calls were refused.

        `replies` has what each call is answered with, by its id; none where a call cannot be answered so.
        """
        ...

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream, the answer to a request; without one, to a request that offers nothing."""
        ...


def unstreamed(request: Json, **members: Any) -> Json:
    """A request for a whole answer, with these members in place of its own; the member that is not forwarded is left
    out.

    >>> unstreamed({"stream": True, "stream_options": {}, "assay": {}, "model": "m", "n": 1}, n=2)
    {'model': 'm', 'n': 2}
    """
    dropped = {"stream", "stream_options", FIELD}
    return {name: value for name, value in request.items() if name not in dropped} | members


def calls_of(answer: object, format: str) -> tuple[tuple[ToolCall, ...], str | None]:  # noqa: A002
    """The calls of an answer that its client is to execute, and what in it no reader knows."""
    try:
        steps = read_steps(answer, format=format)
    except InputError as error:
        return (), str(error)
    strange = [step.type for step in steps if isinstance(step, Opaque) and step.faults]
    calls = tuple(step for step in steps if isinstance(step, ToolCall) and step.executor is Executor.CLIENT)
    return calls, f"an item of the unknown type {sayable(strange[0])}" if strange else None


def objects(value: object) -> list[Json]:
    """The objects of an array; whatever else it is or holds is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The text, where it is one."""
    return value if isinstance(value, str) else ""


def sayable(value: object) -> str:
    """A name of a message as a reason may repeat it: the reason goes out in place of words that nobody read.

    >>> sayable("web_search_call"), sayable("Leave is 4 weeks")
    ("'web_search_call'", '(no name)')
    """
    return repr(value) if isinstance(value, str) and _SAYABLE.fullmatch(value) else "(no name)"


def index_of(item: Json, name: str = "index", default: int | None = None) -> int | None:
    """A place in an array, as an event names it; none where it names none, or what is none."""
    place = item.get(name, default)
    return place if isinstance(place, int) and not isinstance(place, bool) and place >= 0 else None


def words_of(error: object, names: Sequence[str]) -> Json:
    """What an error says under these names, in texts and numbers; whatever else it holds is left out.

    >>> words_of({"message": "no", "code": 7, "choices": [{}]}, ("message", "code", "param"))
    {'message': 'no', 'code': 7}
    """
    described = error if isinstance(error, dict) else {"message": str(error)}
    kept = {name: described[name] for name in names if name in described}
    return {name: value for name, value in kept.items() if isinstance(value, str | int | None)}
