"""A stream of server-sent events on its way to a client: held back until checked, or released and corrected."""

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
    """One stream of a wire format: bytes in any chunks go in, whole events come out unchanged or not at all."""

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
            report_id: the id of the report in summaries.
            enforces: whether what does not pass is held back; otherwise it is released and corrected.
            says: whether a stream that is stopped ends with a notice, in the format's own events.
            hides: whether the text of the model's reasoning is removed, which no check reads.
            most: the largest event, in bytes.
            request: the request that the stream answers, which decides what it may show; without one, nothing of a
                provider's tools.
        """
        self._stream = wire.stream(request)
        super().__init__(self._stream, enforces=enforces)
        self._disclosures = self._stream.disclosure_writer()
        self._notices: dict[str, str] = {}
        self._report_id = report_id
        self._sends_notice = says
        self._hides = wire.name if hides else None
        self._sse = SseReader(most)

    def reword(self, ruling: Ruling, text: str) -> bool:
        """End the stream with a reviewer's text in place of its only text and of every call that still waits.

        What has gone out stays: a text that begins with it continues it, any other follows it as a new paragraph.

        Args:
            ruling: the ruling on the reviewer's text.
            text: the reviewer's text, all of it.

        Returns:
            Whether it was done; false where the stream has ended or has several texts.
        """
        shown = list(self._holdback.shown().values())
        if self.finished or len(shown) != 1:
            return False
        rest = text.removeprefix(shown[0]) if text.startswith(shown[0]) else f"\n\n{text}"
        self._rulings = {STREAM: ruling}
        self._out.append(self._stream.finish(rest, ruling.summary(self._report_id)))
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
        # A truncated event would swallow the event that is sent after it, so it gets its empty line.
        return self._read([] if last is None else [replace(last, raw=last.raw + b"\n\n")])

    def _read(self, events: list[Event]) -> Iterable[tuple[Event, Any]]:
        for event in events:
            data, readable = json_of(event)
            if not readable:
                self.fail("the model's stream has an event that cannot be read")
            if readable or not self.finished:
                yield (event, data) if self._hides is None else event_without_reasoning(self._hides, event, data)

    def settle(self, job: Job, found: Mapping[str, Ruling], at: float) -> None:
        """As in `Flow`; the disclosures of texts that have ended and passed are noted first."""
        if self._enforces:
            ended = [text.channel for text in job.texts if text.final and found[text.channel].passes]
            self._notices |= {name: notice for name in ended if (notice := found[name].notice) is not None}
        super().settle(job, found, at)

    def _shown(self, event: Event, data: Any) -> bytes:
        replacement = self._disclosures.event(event, data, self._notices)
        return event.raw if replacement is None else replacement

    def _disclosure(self, ruling: Ruling) -> Iterable[bytes]:  # noqa: ARG002 each text has its own
        left = self._disclosures.end(self._notices)
        return (left,) if left else ()

    def _break_off(self, event: Event) -> None:
        # The event goes out unchanged only if it holds nothing but the error: anything else in it was never checked.
        data = json_of(event)[0]
        error = self._stream.failure(data)
        is_error_alone = json_of(read_event(error))[0] == data and event.name in (None, data.get("type"))
        super()._break_off(event if is_error_alone else replace(event, raw=error))

    def _ending(self, ruling: Ruling) -> Iterable[bytes]:
        if not self._sends_notice:
            return ()
        return (self._stream.withhold(ruling.notice or "", ruling.summary(self._report_id)),)

    def _correction(self, ruling: Ruling) -> Iterable[bytes]:
        return (self._stream.correct(ruling.summary(self._report_id)),)


def json_of(event: Event) -> tuple[Any, bool]:
    """The JSON of an event, and whether the event can be read; one without data can, and has no JSON.

    An event cannot be read if its data is no JSON, names a member twice, so that readers would disagree, or is nested
    more than `MOST_DEPTH` levels deep.
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
