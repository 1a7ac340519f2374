"""Streams of every wire format through the flow, with threads and with an event loop."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.test_stream_property import FORMATS, Exchange, _starts, cut_at, shown, texts

from assay.guard.rulings import Ruling
from assay.guard.streams.runner import adrive, drive
from assay.wire.flow import WireFlow


def passed(kind: str, chunks: list[bytes], bad: frozenset[str], claims: frozenset[str], waits: bool) -> Any:
    """What comes out of a stream, and its flow."""
    wire, _ = FORMATS[kind]
    flow = WireFlow(wire, "run_1", enforces=True)
    check = Exchange(wire, bad, claims).part
    if waits:
        got = list(drive(chunks, flow, check))
        return b"".join(got), flow

    async def source() -> AsyncIterator[bytes]:
        for chunk in chunks:
            await asyncio.sleep(0)
            yield chunk

    async def read() -> bytes:
        return b"".join([piece async for piece in adrive(source(), flow, check)])

    return asyncio.run(read()), flow


@settings(max_examples=150, deadline=None)
@given(
    said=texts(),
    kind=st.sampled_from(sorted(FORMATS)),
    deltas=st.lists(st.integers(0, 10_000), max_size=60),
    chunks=st.lists(st.integers(0, 1_000_000), max_size=80),
    lost=st.integers(0, 3),
    waits=st.booleans(),
)
def test_nothing_of_a_blocked_claim_goes_out_and_what_goes_out_is_a_beginning(
    said: tuple[list[str], frozenset[str], frozenset[str]],
    kind: str,
    deltas: list[int],
    chunks: list[int],
    lost: int,
    waits: bool,
) -> None:
    sentences, bad, claims = said
    text = "".join(sentences)
    events = FORMATS[kind][1](cut_at(text, deltas))
    sent = b"".join(events[: len(events) - lost])
    got, flow = passed(kind, cut_at(sent, chunks), bad, claims, waits)
    out, seen = shown(got), shown(sent)
    first_bad = min((seen.index(mark) for mark in bad if mark in seen), default=len(text))
    begins = max(at for at in _starts(sentences) if at <= first_bad) if first_bad < len(text) else len(text)
    assert text.startswith(out)
    assert len(out) <= begins
    assert flow.finished
    if first_bad < len(text):
        assert flow.stopped is not None
    if not bad and not lost:
        assert got == sent
        assert flow.ruling is not None
        assert flow.ruling.passes


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_a_reader_may_leave_when_the_answer_has_ended(kind: str) -> None:
    wire, events_of = FORMATS[kind]
    flow = WireFlow(wire, "run_1", enforces=True)
    sent = events_of(["It opens q0z at 9."])
    pieces = drive(sent, flow, Exchange(wire, frozenset(), frozenset({"q0z"})).part)
    got = [next(pieces) for _ in sent]
    assert flow.complete
    pieces.close()
    assert b"".join(got) == b"".join(sent)


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_what_cannot_be_read_is_withheld_or_marked(kind: str) -> None:
    wire, events_of = FORMATS[kind]
    events = events_of(["It opens q0z at 9."])
    broken = [*events[:-1], b"data: \xff\n\n", events[-1]]
    check = Exchange(wire, frozenset(), frozenset({"q0z"})).part
    strict, loose = WireFlow(wire, "run_1", enforces=True), WireFlow(wire, "run_1", enforces=False)
    list(drive(broken, strict, check))
    assert strict.stopped is not None
    got = list(drive(broken, loose, check))
    assert b"".join(got) == b"".join(broken)
    assert isinstance(loose.ruling, Ruling)
    assert not loose.ruling.passes


@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_half_a_surrogate_pair_in_a_name_or_an_error_does_not_keep_a_stream_from_ending(kind: str) -> None:
    half = "\ud83d"
    wire, _ = FORMATS[kind]
    stream = wire.stream()
    assert rb"\ud83d" in stream.failure({"type": "error", "error": {"type": half, "message": half}})
    stream.sent({"type": "response.created", "id": half, "response": {"id": half}})
    assert b"withheld" in stream.withhold(f"withheld {half}", {})


def test_an_event_that_is_too_large_stops_a_stream() -> None:
    wire, _ = FORMATS["chat"]
    flow = WireFlow(wire, "run_1", enforces=True, most=1_000)
    list(drive([b"data: " + b"x" * 2_000], flow, Exchange(wire, frozenset(), frozenset()).part))
    assert flow.stopped is not None
    assert "1,000" in flow.stopped.reasons[0]
