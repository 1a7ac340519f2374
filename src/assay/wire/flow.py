"""A stream of server-sent events on its way to a client: held back, or released and corrected, event by event."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from assay.errors import InputError
from assay.guard import Ruling
from assay.guard.streams import STREAM, Flow, Job
from assay.wire.exchange import MOST_DEPTH, members_once, require_depth
from assay.wire.interface import Json, Wire
from assay.wire.parts.reasoning import event_without_reasoning
from assay.wire.sse import Event, SseReader, read_event


class WireFlow(Flow[bytes, Event, bytes]):
    """One stream of a wire format: bytes in any chunks go in, whole events come out as they came or not at all."""

    def __init__(
        self,
        wire: Wire,
        report_id: str,
        *,
        enforces: bool,
        says: bool = True,
        hides: bool = False,
        most: int = 4 * 1024 * 1024,
        request: Json | None = None,
    ) -> None:
        """A flow of a format.

        Args:
            wire: the format.
            report_id: the name under which a summary tells of the check.
            enforces: whether what does not pass is held back; otherwise it is released and corrected.
            says: whether a stream that is stopped ends with the notice, in the format's own events.
            hides: whether the words of the model's reasoning are taken out, which no check reads.
            most: how many bytes one event may have.
            request: what the stream answers, which says what it may show; without it nothing of a provider's tools.
        """
        self._stream = wire.stream(request)
        super().__init__(self._stream, enforces=enforces)
        self._telling = self._stream.telling()
        self._notices: dict[str, str] = {}
        self._report_id = report_id
        self._says = says
        self._hides = wire.name if hides else None
        self._sse = SseReader(most)

    def reword(self, ruling: Ruling, text: str) -> bool:
        """End the stream with a person's words in the place of its one text, and of every call that still waits.

        What has gone out stays: words that begin with it go on from there, others follow it as a paragraph.

        Args:
            ruling: the ruling on the words.
            text: the words, all of them.

        Returns:
            Whether it was done: not where the stream has several texts.
        """
        shown = list(self._holdback.shown().values())
        if self.finished or len(shown) != 1:
            return False
        more = text.removeprefix(shown[0]) if text.startswith(shown[0]) else f"\n\n{text}"
        self._rulings = {STREAM: ruling}
        self._out.append(self._stream.finish(more, ruling.summary(self._report_id)))
        self.finished = True
        return True

    def _events(self, piece: bytes) -> Iterable[tuple[Event, Any]]:
        try:
            events = self._sse.feed(piece)
        except InputError as error:
            self.fail(str(error))
            return ()
        return self._read(events)

    def _last_events(self) -> Iterable[tuple[Event, Any]]:
        last = self._sse.end()
        # A reader passes over an event that is cut off, and it would swallow what is said behind it.
        return self._read([] if last is None else [replace(last, raw=last.raw + b"\n\n")])

    def _read(self, events: list[Event]) -> Iterable[tuple[Event, Any]]:
        for event in events:
            data, readable = json_of(event)
            if not readable:
                self.fail("the model's stream has an event that cannot be read")
            if readable or not self.finished:
                yield (event, data) if self._hides is None else event_without_reasoning(self._hides, event, data)

    def settle(self, job: Job, found: Mapping[str, Ruling], at: float) -> None:
        """As for every stream; disclosures after texts that have ended and passed are noted first."""
        if self._enforces:
            ended = [text.channel for text in job.texts if text.final and found[text.channel].passes]
            self._notices |= {name: notice for name in ended if (notice := found[name].notice) is not None}
        super().settle(job, found, at)

    def _shown(self, event: Event, data: Any) -> bytes:
        made = self._telling.event(event, data, self._notices)
        return event.raw if made is None else made

    def _disclosure(self, ruling: Ruling) -> Iterable[bytes]:  # noqa: ARG002 each text has its own
        left = self._telling.end(self._notices)
        return (left,) if left else ()

    def _break_off(self, event: Event) -> None:
        # What the event says beside the error was never checked: it goes out as it came where it says nothing else.
        data = json_of(event)[0]
        made = self._stream.failure(data)
        only = json_of(read_event(made))[0] == data and event.name in (None, data.get("type"))
        super()._break_off(event if only else replace(event, raw=made))

    def _ending(self, ruling: Ruling) -> Iterable[bytes]:
        if not self._says:
            return ()
        return (self._stream.withhold(ruling.notice or "", ruling.summary(self._report_id)),)

    def _correction(self, ruling: Ruling) -> Iterable[bytes]:
        return (self._stream.correct(ruling.summary(self._report_id)),)


def json_of(event: Event) -> tuple[Any, bool]:
    """The JSON of an event, and whether it can be read; an event without data says nothing and can be.

    One that names a member twice cannot, because readers would disagree, and neither can one that is nested more than
    `MOST_DEPTH` levels deep.
    """
    if event.broken:
        return None, False
    if event.data is None or event.data.strip() in ("", "[DONE]"):
        return None, True
    try:
        value = json.loads(event.data, object_pairs_hook=members_once)
        if event.data.count("{") + event.data.count("[") > MOST_DEPTH:
            require_depth(value, MOST_DEPTH, "an event")
    except (InputError, ValueError, RecursionError):
        return None, False
    return value, True
