"""The interface of a wire format: how it shows text and calls, and how it withholds, discloses and corrects."""

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
_QUOTABLE: Final = re.compile(r"[A-Za-z0-9_.$-]{1,60}")
FIELD: Final = "assay"
"""The member of a request's body with the options of its check, which is not forwarded."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What an answer shows to its reader."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Each text that is an answer of its own, by the name of its channel."""
    calls: tuple[ToolCall, ...] = ()
    """The calls that the client is asked to execute."""
    unreadable: str | None = None
    """Why no check can read it all; then nothing of it counts as checked."""


class DisclosureWriter(Protocol):
    """Writes the disclosures into one stream."""

    def event(self, event: Event, data: Any, notices: Mapping[str, str]) -> bytes | None:
        """What is sent in place of an event; none where it is sent unchanged.

        Args:
            event: the event.
            data: its JSON, none where it has none.
            notices: the disclosures of texts that have ended, by channel.
        """
        ...

    def end(self, notices: Mapping[str, str]) -> bytes:
        """The events with the disclosures that no event had a place for, at the end of a stream."""
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
        """Notes an event that was sent to the client."""
        ...

    def withhold(self, notice: str, summary: Json) -> bytes:
        """The events that end the answer for the client, with a notice in place of what is withheld."""
        ...

    def finish(self, text: str, summary: Json) -> bytes:
        """The events that end the answer as complete, with a reviewer's text after what was sent."""
        ...

    def failure(self, data: Any) -> bytes:
        """The event that tells the client of the upstream's failure, from the upstream's own event."""
        ...

    def correct(self, summary: Json) -> bytes:
        """An event that corrects text that was already sent."""
        ...

    def disclosure_writer(self) -> DisclosureWriter:
        """Writes the disclosures into the texts of this stream."""
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
        """The answer with notices after its texts, by their names in `shown`."""
        ...

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in place of its only one; none where it does not have exactly one.

        The probabilities and citations of the replaced text are removed, and so are the calls that the client was to
        execute: they came with another text.
        """
        ...

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """The request for another answer: the conversation continued with what the model said and a message about it.

        None where the conversation cannot be continued like this.
        """
        ...

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The request for another answer in place of one whose calls were refused.

        `replies` has the result of each call by its id; none where a call cannot be given such a result.
        """
        ...

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream, the answer to a request; without one, to a request that offers nothing."""
        ...


def unstreamed(request: Json, **members: Any) -> Json:
    """A request for a whole answer, not a stream, with these members in place of its own and without the field `assay`.

    >>> unstreamed({"stream": True, "stream_options": {}, "assay": {}, "model": "m", "n": 1}, n=2)
    {'model': 'm', 'n': 2}
    """
    dropped = {"stream", "stream_options", FIELD}
    return {name: value for name, value in request.items() if name not in dropped} | members


def calls_of(answer: object, format: str) -> tuple[tuple[ToolCall, ...], str | None]:  # noqa: A002
    """The calls of an answer that its client is to execute, and why it is unreadable, none where it is not."""
    try:
        steps = read_steps(answer, format=format)
    except InputError as error:
        return (), str(error)
    strange = [step.type for step in steps if isinstance(step, Opaque) and step.faults]
    calls = tuple(step for step in steps if isinstance(step, ToolCall) and step.executor is Executor.CLIENT)
    return calls, f"an item of the unknown type {quotable(strange[0])}" if strange else None


def objects(value: object) -> list[Json]:
    """The objects of an array; other items are left out, and anything but an array has none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """A text; empty where the value is none."""
    return value if isinstance(value, str) else ""


def quotable(value: object) -> str:
    """A name from a message, in the form in which a reason may quote it: reasons reach readers, so no text does.

    >>> quotable("web_search_call"), quotable("Leave is 4 weeks")
    ("'web_search_call'", '(no name)')
    """
    return repr(value) if isinstance(value, str) and _QUOTABLE.fullmatch(value) else "(no name)"


def index_of(item: Json, name: str = "index", default: int | None = None) -> int | None:
    """An index in an array that an event names; none where it names none or no valid one."""
    place = item.get(name, default)
    return place if isinstance(place, int) and not isinstance(place, bool) and place >= 0 else None


def error_members(error: object, names: Sequence[str]) -> Json:
    """The members of an error with these names that are texts or numbers.

    >>> error_members({"message": "no", "code": 7, "choices": [{}]}, ("message", "code", "param"))
    {'message': 'no', 'code': 7}
    """
    described = error if isinstance(error, dict) else {"message": str(error)}
    kept = {name: described[name] for name in names if name in described}
    return {name: value for name, value in kept.items() if isinstance(value, str | int | None)}
