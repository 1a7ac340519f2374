"""Streams of text: what is given out, how they stop, what they cost, what becomes of the source."""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from assay.errors import AssayError, InputError, WithheldError
from assay.guard import Guard
from assay.guard.streams.text_streams import AsyncTextStream, Correction, Notice, TextStream
from assay.policy import preset
from assay.schema import Action
from assay.schema.run.arguments import read_arguments
from assay.schema.run.builder import RunBuilder
from assay.schema.run.model import TextPart, ToolCall, ToolResult, UserInput
from assay.testing import FailingScorer, FakeScorer

EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full."
TRUE = "Leave is paid in full. Partners are entitled to 2 weeks of leave."
FALSE = "Leave is paid in full. Partners are entitled to 4 weeks of leave."
FALSE_FIRST = "Partners are entitled to 4 weeks of leave. Leave is paid in full."


def guard(policy: str = "general") -> Guard:
    return Guard(policy, scorer=FakeScorer())


def pieces(text: str, size: int = 5) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def test_a_text_that_passes_comes_out_whole() -> None:
    stream = guard().stream(pieces(TRUE), EVIDENCE)
    assert "".join(stream) == TRUE
    assert stream.outcome.finished
    assert stream.outcome.passed
    assert stream.outcome.action == "emit"
    assert stream.report is not None
    assert stream.report.output == TRUE
    assert stream.report.action is Action.EMIT


def test_the_report_is_that_of_a_check_of_the_whole() -> None:
    stream = guard().stream(pieces(TRUE), EVIDENCE, question="How long is leave?")
    list(stream)
    direct = guard().check(TRUE, EVIDENCE, question="How long is leave?")
    assert stream.report is not None
    assert stream.report.model_copy(update={"timing": direct.timing}) == direct


DOCUMENT = '{"fee": "The fee is 40 euros. It is due in May."}'


@pytest.mark.parametrize("options", [{"structure": {}}, {"schema": {"type": "object"}, "structure": {}}])
def test_a_document_is_held_to_its_structure_only_when_it_is_whole(options: dict[str, Any]) -> None:
    stream = guard().stream(pieces(DOCUMENT), DOCUMENT, **options)
    assert "".join(stream) == DOCUMENT
    assert stream.outcome.passed


def test_a_document_that_is_cut_off_does_not_pass() -> None:
    stream = guard().stream(pieces(DOCUMENT[:-2]), DOCUMENT, structure={})
    list(stream)
    assert not stream.outcome.passed
    assert any("violation of its schema" in reason for reason in stream.outcome.reasons)


def test_a_stream_stops_before_a_claim_that_does_not_pass() -> None:
    stream = guard().stream(pieces(FALSE), EVIDENCE)
    shown = list(stream)
    assert "".join(shown[:-1]) == stream.text
    assert FALSE.startswith(stream.text)
    assert "Leave is paid in full." in stream.text
    assert "entitled" not in stream.text
    assert isinstance(shown[-1], Notice)
    assert "withheld" in shown[-1]
    assert stream.outcome.action == "block"
    assert not stream.outcome.passed
    assert stream.outcome.notice is not None
    assert stream.outcome.notice in shown[-1]
    assert stream.report is not None
    assert "4 weeks" in stream.report.output


def test_a_stream_that_is_stopped_ends_as_it_is_told() -> None:
    silent = guard().stream(pieces(FALSE_FIRST), EVIDENCE, on_withheld="end")
    assert list(silent) == []
    assert silent.outcome.notice
    raising = guard().stream(pieces(FALSE), EVIDENCE, on_withheld="raise")
    shown: list[str] = []
    with pytest.raises(WithheldError, match="withheld") as caught:
        shown.extend(raising)
    assert "4 weeks" not in "".join(shown)
    assert caught.value.report == raising.report


def test_the_tail_is_checked_without_any_sign_of_its_end() -> None:
    stream = guard().stream(["Leave is paid in full. ", "Partners are entitled to 4 weeks of leave"], EVIDENCE)
    assert "entitled" not in "".join(stream)


def test_a_sentence_goes_out_while_the_next_is_being_made() -> None:
    """The source goes on only when the first sentence has come out: were it held, the test would never end."""
    seen = threading.Event()

    def source() -> Iterator[str]:
        yield from pieces("Leave is paid in full. Partners are ")
        assert seen.wait(60)
        yield "entitled to 2 weeks of leave."

    got = ""
    for piece in guard().stream(source(), EVIDENCE):
        got += piece
        if "full." in got:
            seen.set()
    assert got == TRUE


def test_a_sentence_goes_out_while_an_asynchronous_source_waits() -> None:
    async def scene() -> str:
        seen = asyncio.Event()

        async def source() -> AsyncIterator[str]:
            for piece in pieces("Leave is paid in full. Partners are "):
                yield piece
            await seen.wait()
            yield "entitled to 2 weeks of leave."

        got = ""
        async for piece in guard().stream(source(), EVIDENCE):
            got += piece
            if "full." in got:
                seen.set()
        return got

    assert asyncio.run(asyncio.wait_for(scene(), 60)) == TRUE


@pytest.mark.parametrize("text", [TRUE, FALSE, FALSE_FIRST, ""])
@pytest.mark.parametrize("mode", ["enforce", "annotate"])
def test_both_kinds_of_streams_give_the_same(text: str, mode: Any) -> None:
    async def scene() -> tuple[str, AsyncTextStream]:
        stream = guard().astream(pieces(text), EVIDENCE, mode=mode)
        return "".join([piece async for piece in stream if not isinstance(piece, Correction)]), stream

    waiting = guard().stream(pieces(text), EVIDENCE, mode=mode)
    got, stream = asyncio.run(scene())
    assert "".join(piece for piece in waiting if not isinstance(piece, Correction)) == got
    one, other = waiting.outcome, stream.outcome
    assert (one.action, one.passed, one.released, one.notice) == (
        other.action,
        other.passed,
        other.released,
        other.notice,
    )


def test_an_empty_stream_does_not_pass() -> None:
    stream = guard().stream([], EVIDENCE)
    assert all(isinstance(piece, Notice) for piece in stream)
    assert not stream.outcome.passed


def test_a_greeting_waits_for_a_claim_and_goes_with_it() -> None:
    stream = guard().stream(pieces(f"Hello there! {TRUE}"), EVIDENCE)
    assert "".join(stream) == f"Hello there! {TRUE}"
    alone = guard().stream(pieces("Hello there! Thank you!"), EVIDENCE)
    assert "Hello" not in "".join(alone)
    declared = guard().stream(pieces("Hello there! Thank you!"), EVIDENCE, claim_free=True)
    assert "".join(declared) == "Hello there! Thank you!"


def test_annotate_gives_all_out_at_once_and_corrects() -> None:
    stream = guard().stream(pieces(FALSE_FIRST), EVIDENCE, mode="annotate")
    shown = list(stream)
    corrections = [piece for piece in shown if isinstance(piece, Correction)]
    assert "".join(piece for piece in shown if not isinstance(piece, Correction)) == FALSE_FIRST
    assert len(corrections) == 1
    assert "4 weeks" in corrections[0]
    assert corrections[0].report is not None
    assert corrections[0].report.claims
    assert not stream.outcome.passed
    assert stream.text == FALSE_FIRST


def test_annotate_says_nothing_where_nothing_is_wrong() -> None:
    assert list(guard().stream(pieces(TRUE), EVIDENCE, mode="annotate")) == pieces(TRUE)


def test_annotate_gives_a_piece_out_before_the_next_one_comes() -> None:
    asked: list[int] = []
    seen = threading.Event()

    def source() -> Iterator[str]:
        yield "Leave"
        assert seen.wait(60)
        asked.append(1)
        yield " is paid in full."

    stream = guard().stream(source(), EVIDENCE, mode="annotate")
    assert next(stream) == "Leave"
    assert not asked
    seen.set()
    assert "".join(stream) == " is paid in full."


def test_what_a_source_raises_is_raised_and_nothing_goes_out_after_it() -> None:
    def source() -> Iterator[str]:
        yield "Leave is paid in full. Partners"
        raise OSError("the line is dead")

    stream = guard().stream(source(), EVIDENCE)
    got: list[str] = []
    with pytest.raises(OSError, match="the line is dead"):
        got.extend(stream)
    assert "Partners" not in "".join(got)
    assert not stream.outcome.passed
    assert stream.outcome.action == "unchecked"


def test_what_cannot_be_checked_is_withheld() -> None:
    stream = Guard(scorer=FailingScorer()).stream(pieces(TRUE), EVIDENCE)
    assert [type(piece) for piece in stream] == [Notice]
    assert stream.outcome.action != "emit"


def test_text_that_is_no_unicode_is_withheld() -> None:
    stream = guard().stream(["Leave is paid \ud800in full."], EVIDENCE)
    assert [type(piece) for piece in stream] == [Notice]


def test_a_reader_who_leaves_closes_the_source() -> None:
    closed = threading.Event()

    def source() -> Iterator[str]:
        try:
            while True:
                yield f"{TRUE} "
        finally:
            closed.set()

    with guard().stream(source(), EVIDENCE) as stream:
        assert next(stream)
    assert closed.wait(60)
    assert not stream.outcome.passed


def test_a_forgotten_stream_may_be_closed_by_the_thread_that_reads_its_source() -> None:
    read, closed = threading.Event(), threading.Event()
    raised: list[BaseException] = []
    streams: list[TextStream] = []

    def source() -> Iterator[str]:
        try:
            yield f"{TRUE} "
            read.wait(60)
            streams[0].close()  # what the garbage collector does, on whichever thread it happens to run
            yield f"{TRUE} "
        except RuntimeError as error:
            raised.append(error)
        finally:
            closed.set()

    streams.append(guard().stream(source(), EVIDENCE))
    assert next(streams[0])
    read.set()
    assert closed.wait(60)
    assert not raised


def test_an_asynchronous_reader_who_leaves_closes_the_source() -> None:
    closed: list[bool] = []

    async def source() -> AsyncIterator[str]:
        try:
            while True:
                yield f"{TRUE} "
                await asyncio.sleep(0)
        finally:
            closed.append(True)

    async def scene() -> None:
        async with guard().stream(source(), EVIDENCE) as stream:
            assert await anext(stream)
        assert closed == [True]

    asyncio.run(scene())


class Source:
    """A source that notes how it is closed: a connection, say, that was opened before anything was read of it."""

    def __init__(self) -> None:
        self.closed = 0

    def __iter__(self) -> Iterator[str]:
        return iter(pieces(TRUE))

    def close(self) -> None:
        self.closed += 1


class AsyncSource:
    """As `Source`, asynchronous."""

    def __init__(self) -> None:
        self.closed = 0

    async def __aiter__(self) -> AsyncIterator[str]:
        for piece in pieces(TRUE):
            yield piece

    async def aclose(self) -> None:
        self.closed += 1


def test_a_reader_who_leaves_before_reading_closes_the_source_once() -> None:
    source = Source()
    with guard().stream(source, EVIDENCE) as stream:
        pass
    stream.close()
    assert source.closed == 1
    assert list(stream) == []
    assert not stream.outcome.passed
    with guard().stream(pieces(TRUE), EVIDENCE):
        pass  # a list cannot be closed


def test_an_asynchronous_reader_who_leaves_before_reading_closes_the_source_once() -> None:
    async def scene() -> None:
        source = AsyncSource()
        async with guard().stream(source, EVIDENCE) as stream:
            pass
        await stream.aclose()
        assert source.closed == 1
        assert [piece async for piece in stream] == []
        assert not stream.outcome.passed

    asyncio.run(scene())


def test_a_source_that_is_read_to_its_end_is_closed_once() -> None:
    source = Source()
    with guard().stream(source, EVIDENCE) as stream:
        assert "".join(stream) == TRUE
    assert source.closed == 1


def test_a_source_that_is_cancelled_from_elsewhere_ends_the_stream_with_an_error() -> None:
    async def source() -> AsyncIterator[str]:
        yield "Leave is paid in full. Partners"
        waited: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        waited.cancel()
        yield await waited

    async def scene() -> None:
        stream = guard().stream(source(), EVIDENCE)
        got: list[str] = []

        async def read() -> None:
            while True:
                got.append(await anext(stream))

        with pytest.raises(AssayError, match="was cancelled"):
            await asyncio.wait_for(read(), 60)
        assert "Partners" not in "".join(got)
        assert not stream.outcome.passed

    asyncio.run(scene())


def test_a_reader_who_is_cancelled_is_cancelled_and_closes_the_source() -> None:
    closed: list[bool] = []

    async def source() -> AsyncIterator[str]:
        try:
            yield "Leave is paid"
            await asyncio.Event().wait()
        finally:
            closed.append(True)

    async def scene() -> None:
        stream = guard().stream(source(), EVIDENCE)
        reader = asyncio.create_task(anext(stream))
        await asyncio.sleep(0.01)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        assert closed == [True]

    asyncio.run(scene())


def test_a_stream_that_is_stopped_closes_the_source() -> None:
    closed = threading.Event()

    def source() -> Iterator[str]:
        try:
            yield f"{FALSE} "
            while True:
                yield "More. "
        finally:
            closed.set()

    list(guard().stream(source(), EVIDENCE))
    assert closed.wait(60)


def test_a_source_is_not_read_far_ahead_of_its_reader() -> None:
    taken: list[int] = []

    def source() -> Iterator[str]:
        while True:
            taken.append(1)
            yield "x"

    with guard().stream(source(), EVIDENCE, mode="annotate") as stream:
        assert next(stream) == "x"
        assert len(taken) < 5_000
    gc.collect()


def test_what_it_cost_is_in_the_outcome_and_in_the_report() -> None:
    stream = guard().stream(pieces(TRUE), EVIDENCE)
    list(stream)
    timing = stream.outcome.timing
    assert timing.first_ms is not None
    assert timing.total_ms is not None
    assert timing.longest_ms >= timing.first_ms >= 0
    assert stream.report is not None
    assert stream.report.timing.stages_ms["stream_first"] == timing.first_ms
    assert stream.report.timing.stages_ms["stream_total"] == timing.total_ms


def test_pieces_of_any_kind_are_read_as_told() -> None:
    chunks: list[Any] = [{"text": None}, *({"text": piece} for piece in pieces(TRUE)), {"text": ""}]
    assert "".join(guard().stream(chunks, EVIDENCE, read=lambda chunk: chunk["text"])) == TRUE
    with pytest.raises(InputError, match="read"):
        list(guard().stream(chunks, EVIDENCE))


def test_the_end_of_a_run_is_checked_against_the_run() -> None:
    builder = RunBuilder("r")
    builder.add(UserInput(content=(TextPart(text="How long is leave?"),)))
    builder.add(ToolCall(id="c1", name="look_up", arguments=read_arguments('{"topic": "leave"}')))
    builder.add(ToolResult(call_id="c1", content=(TextPart(text=EVIDENCE),)))
    run = builder.run()
    tools = [{"name": "look_up", "parameters": {"type": "object", "properties": {"topic": {"type": "string"}}}}]
    good = guard().stream(pieces(TRUE), run=run, tools=tools)
    assert "".join(good) == TRUE
    assert good.report is not None
    assert good.report.tool_call_validations
    assert "4 weeks" not in "".join(guard().stream(pieces(FALSE), run=builder, tools=tools))


def test_an_answer_that_may_only_be_shown_with_a_disclosure_is_followed_by_it() -> None:
    lenient = preset("rag")
    text = "Leave is paid in full."
    found = Guard(lenient, scorer=FakeScorer()).check(text, "Leave is paid.")
    stream = Guard(lenient, scorer=FakeScorer()).stream(pieces(text), "Leave is paid.")
    shown = list(stream)
    if found.decision.route == "serve_with_disclosure":
        assert isinstance(shown[-1], Notice)
        assert shown[-1].strip() == found.decision.response
    else:
        assert stream.outcome.action == found.action.value


@pytest.mark.parametrize(
    ("options", "word"),
    [({"mode": "shadow"}, "mode"), ({"on_withheld": "hide"}, "on_withheld"), ({"fail_on": "emit"}, "fail_on")],
)
def test_a_setting_that_does_not_exist_is_named(options: dict[str, Any], word: str) -> None:
    with pytest.raises(InputError, match=word):
        guard().stream([], EVIDENCE, **options)


@pytest.mark.parametrize("source", ["text", b"bytes", 7, None])
def test_what_is_no_stream_is_refused(source: Any) -> None:
    with pytest.raises(InputError, match="iterable"):
        guard().stream(source, EVIDENCE)


def test_evidence_that_can_be_read_once_is_kept() -> None:
    stream = guard().stream(pieces(TRUE), iter([EVIDENCE]))
    assert isinstance(stream, TextStream)
    assert "".join(stream) == TRUE
