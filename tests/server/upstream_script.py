"""A scripted upstream: a real HTTP server that answers as a test wrote down, and keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Answer:
    """One answer of the upstream."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"content-type": "application/json"})
    chunks: list[bytes] | None = None
    """The body of a stream, a chunk at a time."""
    gates: dict[int, asyncio.Event] = field(default_factory=dict)
    """What is waited for before the chunk of that number."""
    breaks_after: int | None = None
    """How many chunks are sent before the connection is torn down."""
    silent_after: int | None = None
    """How many chunks are sent before nothing more comes."""
    silent: bool = False
    """Whether it never answers."""


@dataclass
class Asked:
    """One request as the upstream got it."""

    method: str
    path: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    def json(self) -> Any:
        return json.loads(self.body)


class Upstream:
    """Answers requests in turn; the last answer is given again and again."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.gone = asyncio.Event()
        """Set when a client has closed its connection before the end."""
        self.url = ""

    def script(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked.clear()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = [(key.decode(), value.decode("latin-1")) for key, value in request.raw_headers]
        self.asked.append(Asked(request.method, request.path_qs, headers, await request.read()))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        try:
            if answer.silent:
                await asyncio.Event().wait()
            if answer.chunks is None:
                return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
            return await self._stream(request, answer)
        except (asyncio.CancelledError, ConnectionResetError):
            self.gone.set()
            raise

    async def _stream(self, request: web.Request, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(status=answer.status, headers=answer.headers)
        await response.prepare(request)
        for number, chunk in enumerate(answer.chunks or []):
            if number in answer.gates:
                await answer.gates[number].wait()
            if number == answer.breaks_after:
                assert request.transport is not None
                request.transport.abort()
                return response
            if number == answer.silent_after:
                await asyncio.Event().wait()
            await response.write(chunk)
            await asyncio.sleep(0)
        await response.write_eof()
        return response


@asynccontextmanager
async def serving_upstream() -> AsyncIterator[Upstream]:
    """The upstream on a port of its own."""
    upstream = Upstream()
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/{path:.*}", upstream.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    upstream.url = f"http://{host}:{port}"
    try:
        yield upstream
    finally:
        await runner.cleanup()


def json_answer(value: Any, **headers: str) -> Answer:
    return Answer(json.dumps(value).encode(), headers={"content-type": "application/json", **headers})


def stream_answer(chunks: Iterable[bytes], **more: Any) -> Answer:
    return Answer(chunks=list(chunks), headers={"content-type": "text/event-stream"}, **more)


def cut(data: bytes, size: int) -> list[bytes]:
    """The bytes in chunks of one size, which ends inside of characters and lines."""
    return [data[at : at + size] for at in range(0, len(data), size)]


def words(text: str) -> list[str]:
    """A text as a model streams it: a word with the space before it at a time."""
    pieces: list[str] = []
    for part in text.split(" "):
        pieces.append(part if not pieces else f" {part}")
    return pieces


def chat_completion(text: str | None, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "model-1",
        "choices": [{"index": 0, "message": said, "logprobs": None, "finish_reason": finish}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
    }


def chat_chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> bytes:
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "model-1",
        "choices": [{"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


def chat_stream(text: str) -> list[bytes]:
    """The events of a streamed chat completion, one a chunk."""
    deltas = [chat_chunk({"content": piece}) for piece in words(text)]
    opening = chat_chunk({"role": "assistant", "content": ""})
    return [opening, *deltas, chat_chunk({}, "stop"), b"data: [DONE]\n\n"]


def message(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "model-1",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "output_tokens": 12},
    }


def named_event(value: dict[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def message_events(blocks: list[dict[str, Any]], stop_reason: str = "end_turn") -> list[bytes]:
    """The events of a streamed message with these blocks."""
    start = {**message(""), "content": [], "stop_reason": None}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            opening, kind, field_ = {**block, "text": ""}, "text_delta", "text"
            pieces = words(block["text"])
        else:
            opening, kind, field_ = {**block, "input": {}}, "input_json_delta", "partial_json"
            written = json.dumps(block["input"])
            pieces = [written[at : at + 5] for at in range(0, len(written), 5)]
        made.append({"type": "content_block_start", "index": index, "content_block": opening})
        made += [
            {"type": "content_block_delta", "index": index, "delta": {"type": kind, field_: piece}} for piece in pieces
        ]
        made.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    made += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}}, {"type": "message_stop"}]
    return [named_event(value) for value in made]


def output_message(text: str, status: str = "completed") -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"id": "msg_1", "type": "message", "status": status, "role": "assistant", "content": [part]}


def response_value(output: list[dict[str, Any]], status: str = "completed") -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_700_000_000,
        "status": status,
        "model": "model-1",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "temperature": 1.0,
        "top_p": 1.0,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": None,
    }


def response_events(items: list[dict[str, Any]]) -> list[bytes]:
    """The events of a streamed response with these items."""
    made: list[dict[str, Any]] = [{"type": "response.created", "response": response_value([], "in_progress")}]
    for place, item in enumerate(items):
        made += _item_events(item, place)
    made.append({"type": "response.completed", "response": response_value(items)})
    return [named_event({**value, "sequence_number": number}) for number, value in enumerate(made)]


def _item_events(item: dict[str, Any], place: int) -> list[dict[str, Any]]:
    where = {"item_id": item["id"], "output_index": place}
    if item["type"] == "message":
        text = item["content"][0]["text"]
        opening = {**item, "status": "in_progress", "content": []}
        part = {**where, "content_index": 0}
        inner = [
            {"type": "response.content_part.added", **part, "part": {**item["content"][0], "text": ""}},
            *({"type": "response.output_text.delta", **part, "delta": one, "logprobs": []} for one in words(text)),
            {"type": "response.output_text.done", **part, "text": text, "logprobs": []},
            {"type": "response.content_part.done", **part, "part": item["content"][0]},
        ]
    else:
        opening = {**item, "status": "in_progress", "arguments": ""}
        kind = "response.function_call_arguments"
        pieces = [item["arguments"][at : at + 5] for at in range(0, len(item["arguments"]), 5)]
        inner = [{"type": f"{kind}.delta", **where, "delta": piece} for piece in pieces]
        inner.append({"type": f"{kind}.done", **where, "arguments": item["arguments"], "name": item["name"]})
    return [
        {"type": "response.output_item.added", "output_index": place, "item": opening},
        *inner,
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]
