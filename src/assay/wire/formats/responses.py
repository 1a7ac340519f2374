"""The wire format of `POST /v1/responses`."""

from collections.abc import Mapping
from typing import Any

from assay.schema.traces import openai_responses
from assay.wire.disclosures import with_disclosure
from assay.wire.fields import Fields, RequestContent
from assay.wire.formats.chat_completions import ChatCompletions
from assay.wire.interface import (
    Json,
    Shown,
    WireStream,
    calls_of,
    objects,
    quotable,
    text_of,
    unstreamed,
)
from assay.wire.parts.responses_items import (
    CLIENT_CALLS,
    KEPT_MEMBERS,
    PROVIDER_ITEMS,
    RESULT_ITEMS,
    empty_response,
    message_item,
    text_of_message,
)
from assay.wire.parts.responses_stream import ResponsesStream
from assay.wire.sse import json_event


class Responses:
    """Responses, streamed and not."""

    name = openai_responses.NAME

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape, which it shares with chat completions."""
        return ChatCompletions().error(status, message)

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream."""
        return json_event(
            {"type": "error", "code": "assay_502", "message": message, "param": None, "sequence_number": 0}
        )

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
            kind = text_of(item.get("type")) if isinstance(item, dict) else ""
            if kind == "message":
                text = text_of_message(item)
                if text is None:
                    return Shown(unreadable=f"item {number} has a part of an unknown type")
                texts[str(number)] = text
            elif kind not in CLIENT_CALLS and kind not in PROVIDER_ITEMS:
                unreadable = f"an item of the unknown type {quotable(kind)}"
        calls, strange = calls_of(output, self.name)
        return Shown(texts or ({} if calls else {"0": ""}), calls, unreadable or strange)

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with one message that holds the notice, and without its calls."""
        return {
            **empty_response(),
            **Fields.of(self.name).metadata("answer", answer, KEPT_MEMBERS),
            "status": "incomplete",
            "incomplete_details": {"reason": "content_filter"},
            "output": [message_item("msg_assay", notice)],
            "assay": summary,
        }

    def disclose(self, answer: Json, notices: Mapping[str, str]) -> Json:
        """The answer with the notices behind the texts of its messages."""
        output = [
            with_disclosure(item, notices[str(place)]) if str(place) in notices else item
            for place, item in enumerate(answer["output"])
        ]
        return {**answer, "output": output}

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with another text in its one message, and without its calls."""
        output = [item for item in objects(answer.get("output")) if item.get("type") not in CLIENT_CALLS]
        places = [place for place, item in enumerate(output) if item.get("type") == "message"]
        if len(places) != 1:
            return None
        (place,) = places
        made = {**message_item(text_of(output[place].get("id")), text), "status": "completed"}
        return {**answer, "output": [*output[:place], made, *output[place + 1 :]]}

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """The request with two more items: what the model said, and what was found wrong with it."""
        before = _input_of(request)
        if before is None:
            return None
        more = [{"role": "assistant", "content": said}, {"role": "user", "content": message}]
        return unstreamed(request, input=[*before, *more])

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The request with the items of the answer, and an output for each call."""
        before, output = _input_of(request), objects(answer.get("output"))
        results = []
        for item in output:
            if item.get("type") not in CLIENT_CALLS:
                continue
            name, kind = text_of(item.get("call_id")), RESULT_ITEMS.get(text_of(item.get("type")))
            if kind is None or name not in replies:
                return None
            results.append({"type": kind, "call_id": name, "output": replies[name]})
        if before is None or not results:
            return None
        return unstreamed(request, input=[*before, *output, *results])

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream."""
        return ResponsesStream(RequestContent(request))


def _input_of(request: Json) -> list[Any] | None:
    """The conversation of a request; none where the provider stores it, and would store a repeated question in it."""
    given = request.get("input")
    if request.get("conversation") is not None:
        return None
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else None
