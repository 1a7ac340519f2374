"""Over random streams, chunkings and verdicts: what goes out is a beginning, and no part of a blocked claim."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from multidict import CIMultiDict
from tests.server.upstream_script import chat_chunk, named_event, output_message, response_value

from assay.guard.rulings import Ruling
from assay.guard.streams.holdback import Job
from assay.schema import Action
from assay.server.checking import Checker
from assay.server.gateway.escalated_answers import ReviewWait
from assay.server.gateway.relay_stream import StreamRelay
from assay.server.gateway.request_context import RequestContext
from assay.server.gateway.targets import Target
from assay.server.settings import Limits, Mode, Route, Upstream
from assay.wire.formats.chat_completions import ChatCompletions
from assay.wire.formats.messages import Messages
from assay.wire.formats.responses import Responses
from assay.wire.interface import Wire

OPENINGS = ("The office opens at", "Κλείνει στις", "库房编号是", "- Item", "Dr. Żółć pays", "Fee of $3.50 and")
ENDS = (". ", "! ", "? ", ".\n", "。", ".\n\n", ".) ", ". [1] ", " ")


@dataclass
class Content:
    """The bytes of a response, in the chunks that they come in."""

    chunks: list[bytes]

    async def iter_any(self) -> Any:
        for chunk in self.chunks:
            await asyncio.sleep(0)
            yield chunk


@dataclass
class Response:
    """What a relay needs of an upstream's response."""

    content: Content
    status: int = 200
    headers: CIMultiDict[str] = field(default_factory=CIMultiDict)
    raw_headers: tuple[tuple[bytes, bytes], ...] = ()

    def close(self) -> None:
        """Nothing to close."""


class Reply:
    """Keeps what a client would get."""

    def __init__(self) -> None:
        self.got = b""
        self.ended = False

    async def start(self, status: int, headers: Any) -> None:
        """Nothing is kept of the head."""

    async def write(self, piece: bytes) -> None:
        assert not self.ended
        self.got += piece
        await asyncio.sleep(0)

    async def end(self, piece: bytes = b"") -> None:
        assert not self.ended
        self.got += piece
        self.ended = True


@dataclass
class Exchange:
    """Rules on texts by the marks that stand in them, in place of a guard."""

    wire: Wire
    bad: frozenset[str]
    claims: frozenset[str]
    report_id: str = "run_1"
    request: dict[str, Any] = field(default_factory=dict)

    def part(self, job: Job) -> dict[str, Ruling]:
        found = {}
        for text in job.texts:
            blocked = any(mark in text.text for mark in self.bad)
            waits = not text.final and not text.begun and not any(mark in text.text for mark in self.claims)
            action = Action.BLOCK if blocked else Action.EMIT
            passes = not blocked and not waits
            notice = None if passes else "withheld"
            found[text.channel] = Ruling(action.value, passes, notice, waits=waits and not blocked)
        return found


class Forgetful:
    """Remembers nothing, in place of a store."""

    async def part(self, job: Job, found: dict[str, Ruling]) -> dict[str, Ruling]:
        return found

    async def unread(self, ruling: Ruling) -> None: ...


def chat_events(pieces: list[str]) -> list[bytes]:
    deltas = [chat_chunk({"content": piece}) for piece in pieces]
    return [chat_chunk({"role": "assistant", "content": ""}), *deltas, chat_chunk({}, "stop"), b"data: [DONE]\n\n"]


def message_events(pieces: list[str]) -> list[bytes]:
    block: dict[str, Any] = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}} for piece in pieces
    ]
    end: dict[str, Any] = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
    start: dict[str, Any] = {"type": "message_start", "message": {"content": [], "usage": {"output_tokens": 0}}}
    made = [start, block, *deltas, {"type": "content_block_stop", "index": 0}, end, {"type": "message_stop"}]
    return [named_event(value) for value in made]


def response_events(pieces: list[str]) -> list[bytes]:
    item = output_message("".join(pieces))
    where = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    deltas = [{"type": "response.output_text.delta", **where, "delta": piece} for piece in pieces]
    made: list[dict[str, Any]] = [
        {"type": "response.created", "response": response_value([], "in_progress")},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **where, "part": {**item["content"][0], "text": ""}},
        *deltas,
        {"type": "response.output_text.done", **where, "text": "".join(pieces)},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response_value([item])},
    ]
    return [named_event({**value, "sequence_number": number}) for number, value in enumerate(made)]


FORMATS: dict[str, tuple[Wire, Callable[[list[str]], list[bytes]]]] = {
    "chat": (ChatCompletions(), chat_events),
    "messages": (Messages(), message_events),
    "responses": (Responses(), response_events),
}


def shown(body: bytes) -> str:
    """Every character of the upstream's text that stands anywhere in what a client got: the longest text of them all,
    because the last events of a response repeat it."""
    deltas, repeated = "", [""]
    for block in body.decode().split("\n\n"):
        data = next((line[6:] for line in block.splitlines() if line.startswith("data: ")), "[DONE]")
        value = {} if data == "[DONE]" else json.loads(data)
        if "assay" in value:
            continue
        for choice in value.get("choices", []):
            deltas += choice["delta"].get("content") or ""
        if value.get("type") == "content_block_delta":
            deltas += value["delta"]["text"]
        if value.get("type") == "response.output_text.delta":
            deltas += value["delta"]
        repeated += [value["text"]] if value.get("type") == "response.output_text.done" else []
        repeated += [part["text"] for part in value.get("item", {}).get("content", [])]
        repeated += [part["text"] for item in value.get("response", {}).get("output", []) for part in item["content"]]
    return max([deltas, *repeated], key=len)


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[str], frozenset[str], frozenset[str]]:
    """Sentences, the marks of those that are blocked, and of those that are claims."""
    sentences, bad, claims = [], set(), set()
    for number in range(draw(st.integers(1, 7))):
        mark = f"q{number}z"
        sentences.append(f"{draw(st.sampled_from(OPENINGS))} {mark} a day{draw(st.sampled_from(ENDS))}")
        kind = draw(st.sampled_from(("claim", "claim", "blocked", "greeting")))
        bad |= {mark} if kind == "blocked" else set()
        claims |= {mark} if kind != "greeting" else set()
    return sentences, frozenset(bad), frozenset(claims)


def cut_at(data: Any, places: list[int]) -> list[Any]:
    edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[a:b] for a, b in pairwise(edges) if a < b]


@settings(max_examples=150)
@given(
    said=texts(),
    kind=st.sampled_from(sorted(FORMATS)),
    deltas=st.lists(st.integers(0, 10_000), max_size=60),
    chunks=st.lists(st.integers(0, 1_000_000), max_size=80),
    lost=st.integers(0, 3),
)
def test_nothing_of_a_blocked_claim_goes_out_and_what_goes_out_is_a_beginning(
    said: tuple[list[str], frozenset[str], frozenset[str]], kind: str, deltas: list[int], chunks: list[int], lost: int
) -> None:
    sentences, bad, claims = said
    text = "".join(sentences)
    wire, events_of = FORMATS[kind]
    events = events_of(cut_at(text, deltas))
    # Some streams end without the events that say so.
    sent = b"".join(events[: len(events) - lost])
    got = asyncio.run(_relayed(wire, cut_at(sent, chunks), bad, claims))
    out = shown(got)
    # What a lost event would have said cannot be held against anything.
    seen = shown(sent)
    first_bad = min((seen.index(mark) for mark in bad if mark in seen), default=len(text))
    begins = max(at for at in _starts(sentences) if at <= first_bad) if first_bad < len(text) else len(text)
    assert text.startswith(out)
    assert len(out) <= begins
    if not bad and not lost:
        assert out == text
        assert got.startswith(sent)


def _starts(sentences: list[str]) -> list[int]:
    starts, at = [], 0
    for sentence in sentences:
        starts.append(at)
        at += len(sentence)
    return starts


async def _relayed(wire: Wire, chunks: list[bytes], bad: frozenset[str], claims: frozenset[str]) -> bytes:
    reply, checker = Reply(), Checker(1, 8, 30)
    target = Target("chat_completions", wire, "/v1/chat/completions", True)
    route = Route(mode=Mode.ENFORCE)
    passage = RequestContext(target, route, Upstream("main", "http://127.0.0.1:1"), "run_1", time.perf_counter())
    # Stand-ins that have what a relay uses of the real ones.
    response: Any = Response(Content(chunks))
    exchange: Any = Exchange(wire, bad, claims)
    client: Any = reply
    kept: Any = Forgetful()
    people = ReviewWait(None, route, kept)
    relay = StreamRelay(response, passage, exchange, kept, client, checker, Limits(), people)
    await relay.run(lambda work: work.close())
    checker.close()
    assert reply.ended
    return reply.got
