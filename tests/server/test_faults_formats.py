"""The faults of an upstream in each of the three formats: no hang, a known end, nothing that did not pass."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from tests.server.gateway_site import limited, play, site
from tests.server.test_chat_stream import EVIDENCE, LATE, TRUE, trailer
from tests.server.test_faults import call_parts, more, opening
from tests.server.upstream_script import (
    Answer,
    chat_stream,
    cut,
    message_events,
    named_event,
    output_message,
    response_events,
    stream_answer,
)

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
TOOLS = ("cancel_order", "find")
WISH = "Please cancel my orders W-1743 and W-1744."
Calls = list[tuple[str, str]]


def texts_of(body: bytes) -> str:
    """All words that the upstream's own events show, whatever the format."""
    found = []
    for block in body.decode("utf-8", "replace").split("\n\n"):
        line = next((line for line in block.splitlines() if line.startswith("data: {")), "data: {}")
        data = json.loads(line[6:])
        if "assay" in data:
            continue
        delta = data.get("delta", {})
        choices = data.get("choices") or [{}]
        found.append(delta if isinstance(delta, str) else delta.get("text", ""))
        found.append(choices[0].get("delta", {}).get("content") or "")
    return "".join(found)


def chat_calls(calls: Calls) -> list[bytes]:
    begun = [opening(index, name) for index, (name, _) in enumerate(calls)]
    pieces = [[more(i, order[at : at + 4]) for at in range(0, len(order), 4)] for i, (_, order) in enumerate(calls)]
    return call_parts(*begun, *turns(pieces))


def turns(rows: list[list[Any]]) -> list[Any]:
    """What the rows hold, one of each in turn."""
    longest = max(map(len, rows))
    return [row[at] for at in range(longest) for row in reversed(rows) if at < len(row)]


def interleaved(events: list[dict[str, Any]], place: str, first: str) -> list[dict[str, Any]]:
    """The events with the parts of their items in turn: all begin, then all go on."""
    rows: dict[int, list[dict[str, Any]]] = {}
    for event in events:
        rows.setdefault(event[place], []).append(event)
    assert all(row[0]["type"] == first for row in rows.values())
    return [row[0] for row in rows.values()] + turns([row[1:] for row in rows.values()])


def read(chunk: bytes) -> dict[str, Any]:
    return dict(json.loads(chunk.split(b"data: ", 1)[1]))


def message_calls(calls: Calls) -> list[bytes]:
    blocks = [
        {"type": "tool_use", "id": f"t{n}", "name": name, "input": json.loads(order)}
        for n, (name, order) in enumerate(calls)
    ]
    events = list(map(read, message_events(blocks, "tool_use")))
    inner = [one for one in events if "index" in one]
    mixed = interleaved(inner, "index", "content_block_start")
    return [named_event(one) for one in (*events[:2], *mixed, *events[-2:])]


def response_calls(calls: Calls) -> list[bytes]:
    items = [
        {
            "type": "function_call",
            "id": f"fc{n}",
            "call_id": f"c{n}",
            "name": name,
            "arguments": order,
            "status": "completed",
        }
        for n, (name, order) in enumerate(calls)
    ]
    created, *inner, completed = map(read, response_events(items))
    mixed = interleaved(inner, "output_index", "response.output_item.added")
    return [named_event(one) for one in (created, *mixed, completed)]


@dataclass(frozen=True)
class Format:
    """One of the formats, as a scene needs it."""

    path: str
    asked: dict[str, Any]
    said: Callable[[str], list[bytes]]
    called: Callable[[Calls], list[bytes]]
    tools: list[dict[str, Any]]
    refused: str
    """How a client is told that the answer was withheld."""
    call: str
    """What stands in an event that shows a call."""

    def body(self, wish: str | None = None, *, tools: bool = True) -> dict[str, Any]:
        told = [{"role": "user", "content": wish or f"{EVIDENCE} How long is partner leave?"}]
        name = "input" if self.path.endswith("responses") else "messages"
        return {
            "model": "m",
            "stream": True,
            name: told,
            **self.asked,
            **({"tools": self.tools} if wish and tools else {}),
        }


CHAT = Format(
    "/v1/chat/completions",
    {},
    chat_stream,
    chat_calls,
    [{"type": "function", "function": {"name": name, "parameters": ORDER}} for name in TOOLS],
    '"finish_reason":"content_filter"',
    '"tool_calls"',
)
MESSAGES = Format(
    "/v1/messages",
    {"max_tokens": 99},
    lambda text: message_events([{"type": "text", "text": text}]),
    message_calls,
    [{"name": name, "input_schema": ORDER} for name in TOOLS],
    '"stop_reason":"refusal"',
    '"tool_use"',
)
RESPONSES = Format(
    "/v1/responses",
    {},
    lambda text: response_events([output_message(text)]),
    response_calls,
    [{"type": "function", "name": name, "parameters": ORDER} for name in TOOLS],
    '"incomplete_details":{"reason":"content_filter"}',
    '"function_call"',
)
FORMATS = pytest.mark.parametrize("form", [CHAT, MESSAGES, RESPONSES], ids=["chat", "messages", "responses"])


@FORMATS
@pytest.mark.parametrize("how", ["silent_after", "breaks_after"])
def test_a_stream_that_does_not_end_ends_with_an_error_and_without_its_tail(form: Format, how: str) -> None:
    async def scene() -> None:
        async with site(settings=limited(idle_s=0.5)) as here:
            chunks = form.said(TRUE)
            # Cut off in the middle of the last sentence.
            whole = next(n for n, chunk in enumerate(chunks) if b'"every' in chunk or b" every" in chunk)
            here.upstream.script(stream_answer(chunks, **{how: whole}))
            _, _, body = await here.post(form.path, form.body())
            assert TRUE.startswith(texts_of(body))
            assert "approve" not in texts_of(body)
            assert "error" in body.decode()
            assert trailer(body)["action"] == "unchecked"

    play(scene)


@FORMATS
def test_malformed_events_stop_a_stream_before_anything_of_them_is_shown(form: Format) -> None:
    broken = [
        b'data: {"type": \n\n',
        b"data: 4 weeks\n\n",
        b"data: [1, 2]\n\n",
        b'data: {"a": "\xff"}\n\n',
        b'event: made.up\ndata: {"type": "made.up", "text": "4 weeks", "choices": [}\n\n',
    ]

    async def scene() -> None:
        async with site() as here:
            for bad in broken:
                begun, *rest = form.said(TRUE)
                here.upstream.script(stream_answer([begun, bad, *rest]))
                _, _, body = await here.post(form.path, form.body())
                assert form.refused in body.decode().replace('": "', '":"')
                assert texts_of(body) == ""
                assert b"4 weeks" not in body
                assert trailer(body)["action"] == "unchecked"

    play(scene)


@FORMATS
@pytest.mark.parametrize("status", [429, 500, 529])
def test_an_error_in_place_of_a_stream_comes_back_as_it_is(form: Format, status: int) -> None:
    async def scene() -> None:
        async with site() as here:
            error = json.dumps({"type": "error", "error": {"type": "made_up", "message": "no"}}).encode()
            here.upstream.script(Answer(error, status, {"content-type": "application/json", "retry-after": "7"}))
            got, headers, body = await here.post(form.path, form.body())
            assert (got, body, headers["retry-after"]) == (status, error, "7")
            assert len(here.upstream.asked) == 1

    play(scene)


@FORMATS
def test_half_a_character_in_every_chunk_is_put_together(form: Format) -> None:
    text = "Die Gebühr beträgt 2 € — 二周。 Καλημέρα."

    async def scene() -> None:
        async with site() as here:
            sent = b"".join(form.said(text))
            here.upstream.script(stream_answer(cut(sent, 1)))
            _, _, body = await here.post(form.path, form.body(text, tools=False))
            assert body.startswith(sent)
            assert trailer(body)["action"] == "emit"

    play(scene)


@FORMATS
@pytest.mark.parametrize("size", [3, 100_000])
def test_parallel_calls_whose_parts_come_in_turn_go_out_as_they_came_or_not_at_all(form: Format, size: int) -> None:
    async def scene() -> None:
        async with site() as here:
            good = b"".join(
                form.called([("cancel_order", '{"order_id": "W-1743"}'), ("find", '{"order_id": "W-1744"}')])
            )
            here.upstream.script(stream_answer(cut(good, size)))
            _, _, body = await here.post(form.path, form.body(WISH))
            assert body.startswith(good)
            assert trailer(body)["action"] == "emit"
            bad = b"".join(
                form.called([("cancel_order", '{"order_id": "W-1743"}'), ("find", '{"order_id": "W-8888"}')])
            )
            here.upstream.script(stream_answer(cut(bad, size)))
            _, _, body = await here.post(form.path, form.body(WISH))
            shown = b"\n\n".join(block for block in body.split(b"\n\n") if b'"assay"' not in block)
            assert b"W-8888" not in shown
            assert form.call.encode() not in shown
            assert form.refused in body.decode().replace('": "', '":"')
            assert trailer(body)["action"] == "revise"

    play(scene)


@FORMATS
def test_a_false_last_sentence_is_never_shown_however_the_upstream_ends(form: Format) -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = form.said(LATE)
            for last in range(1, 6):
                here.upstream.script(stream_answer(chunks[:-last]))
                _, _, body = await here.post(form.path, form.body())
                assert "4 weeks" not in texts_of(body)
                assert trailer(body)["action"] != "emit"

    play(scene)
