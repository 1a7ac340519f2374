"""The wire format of `POST /v1/messages`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from assay.guard.streams import StreamDelta
from assay.schema.traces import anthropic_messages
from assay.wire.disclosures import GAP, MessagesDisclosures
from assay.wire.fields import Fields, RequestContent
from assay.wire.interface import (
    DisclosureWriter,
    Json,
    Shown,
    WireStream,
    calls_of,
    error_members,
    index_of,
    objects,
    quotable,
    text_of,
    unstreamed,
)
from assay.wire.sse import Event, json_event

WITHHELD: Final = "refusal"
"""The stop reason of a withheld answer, which every client knows."""
ENDED: Final = "end_turn"
"""The stop reason of a complete answer."""

TEXT: Final = "text"
"""The channel of all text blocks of a message: they are one answer, cut where citations begin and end."""

_ERROR_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
EXPLANATION: Final = "explanation"
"""The channel of the explanation of a refusal, which is beside the message."""

_KEPT_MEMBERS: Final = ("id", "type", "role", "model", "container", "usage")
"""The members that a withheld answer keeps."""
_SILENT_BLOCKS: Final = frozenset(
    {"thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use", "container_upload"}
)
"""Blocks that are not part of the answer, or calls that the provider executes itself."""
_RESULT_BLOCKS: Final = frozenset(
    {"web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "bash_code_execution_tool_result"}
    | {"text_editor_code_execution_tool_result", "tool_search_tool_result", "mcp_tool_result", "advisor_tool_result"}
)
"""Blocks with the results of a provider's tools."""
_DELTAS: Final[Mapping[str, frozenset[str]]] = {
    "text_delta": frozenset({"text"}),
    "citations_delta": frozenset({"text"}),
    "input_json_delta": frozenset({"tool_use", "server_tool_use", "mcp_tool_use"}),
    "thinking_delta": frozenset({"thinking"}),
    "signature_delta": frozenset({"thinking"}),
}
"""The blocks that each delta can belong to."""


class Messages:
    """Messages, streamed and not."""

    name = anthropic_messages.NAME

    def error(self, status: int, message: str) -> Json:
        """An error in the format's own shape."""
        return {"type": "error", "error": {"type": _ERROR_TYPES.get(status, "api_error"), "message": message}}

    def error_event(self, message: str) -> bytes:
        """An error inside of a stream."""
        return json_event(self.error(502, message))

    def refused(self, request: Json) -> str | None:  # noqa: ARG002 every request of this format can be checked
        """Why a request asks for an answer that could never be checked."""
        return None

    def schema(self, request: Json) -> Json | None:
        """The schema of `output_config.format`, or of `output_format`."""
        config = request.get("output_config")
        wanted = config.get("format") if isinstance(config, dict) else request.get("output_format")
        schema = wanted.get("schema") if isinstance(wanted, dict) else None
        return schema if isinstance(schema, dict) else None

    def shown(self, answer: Json) -> Shown:
        """The text of all text blocks together, and the calls."""
        blocks = answer.get("content")
        if not isinstance(blocks, list):
            return Shown(unreadable="the answer has no content")
        strange = next((block for block in blocks if not _is_known(block)), None)
        calls, unknown = calls_of({"role": "assistant", "content": blocks}, self.name)
        if strange is not None:
            unknown = (
                f"a block of the unknown type {quotable(strange.get('type') if isinstance(strange, dict) else None)}"
            )
        text = "".join(text_of(block.get("text")) for block in objects(blocks) if block.get("type") == "text")
        texts = {TEXT: text} if text or not calls else {}
        if explained := _explanation(answer.get("stop_details")):
            texts[EXPLANATION] = explained
        return Shown(texts, calls, unknown)

    def withhold(self, answer: Json, notice: str, summary: Json) -> Json:
        """The answer with the notice as its only block."""
        blocks = [{"type": "text", "text": notice}]
        kept = Fields.of(self.name).metadata("answer", answer, _KEPT_MEMBERS)
        head = {**_message_start()["message"], **kept}
        return {**head, "content": blocks, "stop_reason": WITHHELD, "stop_sequence": None, "assay": summary}

    def disclose(self, answer: Json, notices: Mapping[str, str]) -> Json:
        """The answer with the notice of its text as one more block, and that of a refusal's explanation behind it."""
        made = dict(answer)
        if notice := notices.get(TEXT):
            made["content"] = [*answer["content"], {"type": "text", "text": f"{GAP}{notice}"}]
        if notice := notices.get(EXPLANATION):
            details = answer["stop_details"]
            made["stop_details"] = {**details, "explanation": f"{details['explanation']}{GAP}{notice}"}
        return made

    def reword(self, answer: Json, text: str) -> Json | None:
        """The answer with one text block where its first one stood, and without its calls."""
        blocks = objects(answer.get("content"))
        first = next((place for place, block in enumerate(blocks) if block.get("type") == "text"), None)
        if first is None:
            return None
        before, after = (
            [block for block in some if block.get("type") not in ("text", "tool_use")]
            for some in (blocks[:first], blocks[first:])
        )
        made = {**answer, "content": [*before, {"type": "text", "text": text}, *after]}
        return {**made, "stop_reason": ENDED} if answer.get("stop_reason") == "tool_use" else made

    def ask_again(self, request: Json, said: str, message: str) -> Json | None:
        """The request with two more messages: what the model said, and what was found wrong with it."""
        messages = objects(request.get("messages"))
        if not messages or messages[-1].get("role") != "user" or not said.strip():
            # An answer that continues a message of the request (prefill) could not be told from it when asked again.
            return None
        more = [{"role": "assistant", "content": said.rstrip()}, {"role": "user", "content": message}]
        return unstreamed(request, messages=[*messages, *more])

    def refuse_calls(self, request: Json, answer: Json, replies: Mapping[str, str]) -> Json | None:
        """The request with the blocks of the answer, and a result for each call."""
        messages, blocks = objects(request.get("messages")), objects(answer.get("content"))
        names = [text_of(block.get("id")) for block in blocks if block.get("type") == "tool_use"]
        if not messages or not names or set(names) != set(replies):
            return None
        results = [
            {"type": "tool_result", "tool_use_id": name, "is_error": True, "content": replies[name]} for name in names
        ]
        more = [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
        return unstreamed(request, messages=[*messages, *more])

    def stream(self, request: Json | None = None) -> WireStream:
        """A reader for one stream."""
        return _Stream(RequestContent(request))


def _is_known(block: object) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str):
        return False
    return kind in ("text", "tool_use") or kind in _SILENT_BLOCKS or kind in _RESULT_BLOCKS


def _explanation(details: object) -> str:
    return text_of(details.get("explanation")) if isinstance(details, dict) else ""


class _Stream:
    """One stream of blocks.

    Clients assemble blocks and deltas by their indexes. A stream is unreadable if parts would be assembled in another
    order than they came, or if a block grows after its end.
    """

    def __init__(self, request: RequestContent) -> None:
        self._request = request
        self._blocks: list[Json] = []
        self._stopped: set[int] = set()
        self._inputs: dict[int, list[str]] = {}
        self._has_text = False
        self._ended = False
        self._has_calls = False
        self._is_over = False
        self._open_block: int | None = None
        self._next_index = 0
        self._open_is_text = False
        self._sent_text = False
        self._usage: Json = {"output_tokens": 0}
        self._client_has_start = False
        self._has_start = False
        self._explained = False

    def read(self, event: Event, data: Any) -> StreamDelta:
        """Text, parts of calls and the end of the message."""
        if event.data is None or not event.data.strip():
            return StreamDelta()
        if not isinstance(data, dict):
            return StreamDelta(unreadable="an event is no JSON object")
        kind = data.get("type")
        if event.name != kind:
            return StreamDelta(
                unreadable=f"an event named {quotable(event.name)} says that it is one of the type {quotable(kind)}"
            )
        if kind == "error":
            return StreamDelta(failed=True)
        fault = Fields.of(anthropic_messages.NAME).fault("event", data, self._request)
        if fault is not None:
            return StreamDelta(unreadable=f"an event has {fault}")
        if kind == "ping":
            return StreamDelta()
        if self._is_over or (self._has_start == (kind == "message_start")):
            return StreamDelta(unreadable=f"an event of the type {quotable(kind)} stands where none may")
        self._has_start = True
        match kind:
            case "content_block_start" if not self._ended:
                return self._start(data)
            case "content_block_delta" if not self._ended:
                return self._delta(data)
            case "content_block_stop" if not self._ended:
                return self._stop(index_of(data))
            case "message_delta":
                return self._message_delta(data.get("delta"))
            case "message_stop":
                result = self.end()
                result.needs_all = result.ends = self._is_over = True
                return result
            case "message_start":
                return self._message(data)
            case _:
                return StreamDelta(
                    unreadable=f"an event of the type {quotable(kind)} stands behind the end of the message"
                )

    def _message_delta(self, delta: object) -> StreamDelta:
        # A client keeps the last of several, so only one of them may hold an explanation.
        explained = _explanation(delta.get("stop_details")) if isinstance(delta, dict) else ""
        if self._explained or (explained and self._ended):
            return StreamDelta(unreadable="the end of a message is explained twice")
        self._explained = bool(explained)
        result = self.end()
        result.needs_texts, result.calls = [TEXT], [str(index) for index in self._inputs]
        if explained:
            result.texts.append((EXPLANATION, explained))
            result.ended_texts.append(EXPLANATION)
            result.needs_texts.append(EXPLANATION)
        return result

    @staticmethod
    def _message(data: Json) -> StreamDelta:
        message = data.get("message")
        if not isinstance(message, dict) or message.get("content") or message.get("stop_details"):
            return StreamDelta(unreadable="a message begins with content, or is none")
        return StreamDelta()

    def _start(self, data: Json) -> StreamDelta:
        index, block = index_of(data), data.get("content_block")
        if not isinstance(block, dict) or not _is_known(block):
            return StreamDelta(unreadable="a block of an unknown type begins")
        if index != len(self._blocks):
            return StreamDelta(unreadable=f"a block begins at {index!r} where block {len(self._blocks)} is next")
        self._blocks.append(block)
        if block["type"] == "tool_use":
            self._inputs[index] = []
            self._has_calls = True
            return StreamDelta(calls=[str(index)])
        return self._text(text_of(block.get("text"))) if block["type"] == "text" else StreamDelta()

    def _delta(self, data: Json) -> StreamDelta:
        index, delta = index_of(data), data.get("delta")
        kind = delta.get("type") if isinstance(delta, dict) else None
        if not isinstance(delta, dict) or index is None or index >= len(self._blocks) or index in self._stopped:
            return StreamDelta(unreadable="a delta belongs to no open block")
        block = self._blocks[index]
        if block["type"] not in _DELTAS.get(text_of(kind), ()):
            return StreamDelta(unreadable=f"a delta of the type {quotable(kind)} belongs to no block of that kind")
        match kind:
            case "text_delta" if any(one["type"] == "text" for one in self._blocks[index + 1 :]):
                return StreamDelta(unreadable="a text goes on behind the next one")
            case "text_delta":
                return self._text(text_of(delta.get("text")))
            case "input_json_delta" if index in self._inputs:
                if block.get("input") and delta.get("partial_json"):
                    return StreamDelta(unreadable="a call begins with an input and goes on with another")
                self._inputs[index].append(text_of(delta.get("partial_json")))
                return StreamDelta(calls=[str(index)])
            case "citations_delta":
                # It quotes a source; it goes out after the text that it belongs to.
                return StreamDelta(texts=[(TEXT, "")])
            case _:
                return StreamDelta()

    def _text(self, piece: str) -> StreamDelta:
        self._has_text = self._has_text or bool(piece)
        return StreamDelta(texts=[(TEXT, piece)] if piece else [])

    def _stop(self, index: int | None) -> StreamDelta:
        if index is None or index >= len(self._blocks) or index in self._stopped:
            return StreamDelta(unreadable="a block ends that is not open")
        self._stopped.add(index)
        return self._call(index) if index in self._inputs else StreamDelta()

    def _call(self, index: int) -> StreamDelta:
        block = self._blocks[index]
        written = "".join(self._inputs[index])
        value: Any = block.get("input")
        if written.strip():
            try:
                value = json.loads(written)
            except (ValueError, RecursionError):
                value = written
        whole = {"role": "assistant", "content": [{**block, "input": value}]}
        return StreamDelta(calls=[str(index)], ended_calls={str(index): whole})

    def end(self) -> StreamDelta:
        """The text is complete."""
        if self._ended:
            return StreamDelta()
        self._ended = True
        result = StreamDelta(ended_texts=[TEXT] if self._has_text or not self._has_calls else [])
        for index in self._inputs:
            result.ended_calls |= self._call(index).ended_calls
        return result

    def sent(self, data: Any) -> None:
        """Notes which block is open at the client."""
        if not isinstance(data, dict):
            return
        match data.get("type"):
            case "message_start":
                self._client_has_start = True
                usage = (data.get("message") or {}).get("usage") or {}
                self._usage = {"output_tokens": usage.get("output_tokens", 0)}
            case "content_block_start":
                self._open_block = index_of(data, default=0) or 0
                self._open_is_text = self._blocks[self._open_block]["type"] == "text"
                self._next_index = self._open_block + 1
            case "content_block_delta":
                self._sent_text = self._sent_text or (data.get("delta") or {}).get("type") == "text_delta"
            case "content_block_stop":
                self._open_block = None
            case _:
                pass

    def withhold(self, notice: str, summary: Json) -> bytes:
        """Ends the message with the notice, in the open text block or in a new one."""
        return self._ending(f"\n\n{notice}" if self._sent_text else notice, WITHHELD, summary)

    def finish(self, text: str, summary: Json) -> bytes:
        """Ends the message as complete with the text, in the open text block or in a new one."""
        return self._ending(text, ENDED, summary)

    def _ending(self, text: str, why: str, summary: Json) -> bytes:
        events: list[Json] = [] if self._client_has_start else [_message_start()]
        index = self._open_block
        if index is None or not self._open_is_text:
            events += [{"type": "content_block_stop", "index": index}] if index is not None else []
            index = self._next_index
            block = {"type": "text", "text": ""}
            events.append({"type": "content_block_start", "index": index, "content_block": block})
        end = {"stop_reason": why, "stop_sequence": None}
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": index},
            {"type": "message_delta", "delta": end, "usage": self._usage},
            {"type": "message_stop"},
        ]
        return b"".join(json_event({**event, "assay": summary}) for event in events)

    def failure(self, data: Any) -> bytes:
        """The error alone, without the rest of the event."""
        body = {"type": "error", "error": error_members(data.get("error"), ("type", "message"))}
        name = data.get("request_id")
        return json_event({**body, "request_id": name} if isinstance(name, str) else body)

    @property
    def next_block(self) -> tuple[int, bool]:
        """The index of the block for a disclosure, and whether that is a text block that is still open."""
        last = len(self._blocks) - 1
        opened = last >= 0 and last not in self._stopped and self._blocks[last]["type"] == "text"
        return (last, True) if opened else (last + 1, False)

    def disclosure_writer(self) -> DisclosureWriter:
        """Writes the disclosures into its texts."""
        return MessagesDisclosures(self, TEXT, EXPLANATION)

    def correct(self, summary: Json) -> bytes:
        """An event of its own type, which clients ignore if they do not know it."""
        return json_event({"type": "assay_correction", "assay": {"type": "correction", **summary}})


def _message_start() -> Json:
    message: Json = {
        "id": "msg_assay",
        "type": "message",
        "role": "assistant",
        "model": "assay",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    return {"type": "message_start", "message": message}
