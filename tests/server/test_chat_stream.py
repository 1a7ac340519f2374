"""Streamed chat completions through the gateway: what is held back, what goes out, and how a stream ends."""

import asyncio
import json
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.upstream_script import chat_chunk, chat_stream, cut, stream_answer

from assay.server.settings import Mode
from assay.testing import FailingScorer, FakeScorer

EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
TRUE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Managers approve every request."
LATE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Partners are entitled to 4 weeks of leave."


def asked(**more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": EVIDENCE}, {"role": "user", "content": "How long is partner leave?"}]
    return {"model": "model-1", "stream": True, "messages": messages, **more}


def events(body: bytes) -> list[Any]:
    """The JSON of the events of a stream; comments are passed over, as every client does."""
    blocks = [block[6:] for block in body.decode().split("\n\n") if block.startswith("data: ")]
    return [block if block == "[DONE]" else json.loads(block) for block in blocks]


def shown(body: bytes) -> str:
    """The text that came from the upstream."""
    return "".join(
        choice["delta"].get("content") or ""
        for event in events(body)
        if event != "[DONE]" and "assay" not in event
        for choice in event["choices"]
    )


def trailer(body: bytes) -> dict[str, Any]:
    line = next(line for line in body.decode().splitlines() if line.startswith(": assay "))
    return dict(json.loads(line.removeprefix(": assay ")))


async def streamed(here: Site, *, body: dict[str, Any] | None = None) -> tuple[dict[str, str], bytes]:
    status, headers, answer = await here.post("/v1/chat/completions", body or asked())
    assert status == 200
    return headers, answer


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_a_stream_that_passes_goes_out_byte_for_byte_whatever_the_chunks(size: int) -> None:
    async def scene() -> None:
        async with site() as here:
            sent = b"".join(chat_stream(TRUE))
            here.upstream.script(stream_answer(cut(sent, size)))
            headers, body = await streamed(here)
            assert body.startswith(sent)
            assert body[len(sent) :].startswith(b": assay ")
            assert trailer(body)["action"] == "emit"
            assert headers["x-assay-action"] == "pending"

    play(scene)


def test_half_a_character_in_every_chunk_changes_nothing() -> None:
    async def scene() -> None:
        async with site() as here:
            text = "Die Gebühr beträgt 2 € — 二周。 Καλημέρα."
            sent = b"".join(chat_stream(text))
            here.upstream.script(stream_answer(cut(sent, 1)))
            body = (await streamed(here, body={**asked(), "messages": [{"role": "system", "content": text}]}))[1]
            assert body.startswith(sent)

    play(scene)


def test_a_false_sentence_and_all_behind_it_are_never_shown() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(chat_stream(LATE)))
            _, body = await streamed(here)
            assert shown(body) in LATE
            assert LATE.startswith(shown(body))
            assert "4" not in shown(body)
            last = events(body)[-2]
            assert last["choices"][0]["finish_reason"] == "content_filter"
            assert last["assay"]["claims"][0]["verdict"] == "contradicted"
            assert events(body)[-1] == "[DONE]"
            assert trailer(body)["action"] == "block"

    play(scene)


def test_the_tail_without_a_full_stop_is_checked_too() -> None:
    async def scene() -> None:
        async with site() as here:
            text = "Leave is paid in full. Partners are entitled to 4 weeks of leave"
            here.upstream.script(stream_answer(chat_stream(text)))
            _, body = await streamed(here)
            assert "4" not in shown(body)

    play(scene)


def test_the_tail_of_a_stream_that_ends_without_saying_so_is_checked_too() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(chat_stream(LATE)[:-2]))
            _, body = await streamed(here)
            assert "4" not in shown(body)
            here.upstream.script(stream_answer(chat_stream(TRUE)[:-2]))
            _, body = await streamed(here)
            assert shown(body) == TRUE

    play(scene)


def test_a_sentence_goes_out_while_the_next_one_is_still_being_made() -> None:
    async def scene() -> None:
        async with site() as here:
            gate = asyncio.Event()
            chunks = chat_stream(TRUE)
            # Nothing of the last sentence but its first word is sent before the client has read the first.
            held = next(number for number, chunk in enumerate(chunks) if b"approve" in chunk)
            here.upstream.script(stream_answer(chunks, gates={held: gate}))
            async with here.http.post(f"{here.url}/v1/chat/completions", json=asked()) as response:
                got = b""
                while b" full." not in got:
                    got += await response.content.readany()
                assert "Managers" not in shown(got)
                gate.set()
                got += await response.read()
            assert shown(got) == TRUE

    play(scene)


def test_the_end_of_a_stream_tells_what_holding_it_back_cost() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(chat_stream(TRUE)))
            told = trailer((await streamed(here))[1])
            assert told["first_ms"] > 0
            assert told["longest_wait_ms"] >= told["added_first_ms"] >= 0
            assert told["added_total_ms"] >= 0

    play(scene)


def test_a_greeting_is_kept_until_a_claim_follows_it() -> None:
    async def scene() -> None:
        async with site() as here:
            gate = asyncio.Event()
            chunks = chat_stream("Hello there! " + TRUE)
            here.upstream.script(stream_answer(chunks, gates={len(chunks) - 2: gate}))
            async with here.http.post(f"{here.url}/v1/chat/completions", json=asked()) as response:
                got = b""
                while b" full." not in got:
                    got += await response.content.readany()
                gate.set()
                got += await response.read()
            assert shown(got) == "Hello there! " + TRUE

    play(scene)


def test_an_answer_in_which_nothing_can_be_checked_is_withheld_as_a_whole() -> None:
    said = "# Hello\n\nWhat would you like to know?"

    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(chat_stream(said)))
            _, body = await streamed(here)
            assert shown(body) == ""
            here.upstream.script(stream_answer(chat_stream(said)))
            _, body = await streamed(here, body=asked(assay={"claim_free": True}))
            assert shown(body) == said

    play(scene)


def test_talk_that_claims_nothing_goes_out() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(chat_stream("Hello there! What would you like to know?")))
            _, body = await streamed(here)
            assert shown(body) == "Hello there! What would you like to know?"

    play(scene)


def test_a_check_that_fails_stops_the_stream() -> None:
    async def scene() -> None:
        async with site(scorer=FailingScorer(only="paid")) as here:
            here.upstream.script(stream_answer(chat_stream(TRUE)))
            _, body = await streamed(here)
            assert "paid" not in shown(body)
            assert events(body)[-2]["choices"][0]["finish_reason"] == "content_filter"

    play(scene)


def test_annotate_shows_everything_and_then_what_was_wrong() -> None:
    async def scene() -> None:
        async with site(Mode.ANNOTATE) as here:
            here.upstream.script(stream_answer(chat_stream(LATE)))
            _, body = await streamed(here)
            assert shown(body) == LATE
            notes = [event["assay"] for event in events(body) if event != "[DONE]" and "assay" in event]
            assert [note["type"] for note in notes] == ["correction"]
            assert notes[0]["claims"][0]["text"].startswith("Partners are entitled to 4")
            assert events(body)[-1] == "[DONE]"
            assert trailer(body)["action"] == "block"

    play(scene)


def test_shadow_passes_a_stream_on_as_it_comes() -> None:
    async def scene() -> None:
        async with site(Mode.SHADOW) as here:
            sent = b"".join(chat_stream(LATE))
            here.upstream.script(stream_answer(cut(sent, 11)))
            headers, body = await streamed(here)
            assert body == sent
            assert headers["x-assay-action"] == "unchecked"

    play(scene)


def test_malformed_events_stop_a_stream_that_is_held_back() -> None:
    async def scene() -> None:
        async with site() as here:
            for broken in (b'data: {"choices": [\n\n', b"data: \xff\xfe\n\n", b'data: "text"\n\n'):
                chunks = [*chat_stream(TRUE)[:12], broken, *chat_stream(TRUE)[12:]]
                here.upstream.script(stream_answer(chunks))
                _, body = await streamed(here)
                assert TRUE.startswith(shown(body))
                assert shown(body) != TRUE
                assert trailer(body)["action"] == "unchecked"

    play(scene)


def test_fields_that_no_check_knows_stop_a_stream() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = [*chat_stream(TRUE)[:3], chat_chunk({"audio": {"transcript": "4 weeks"}}), b"data: [DONE]\n\n"]
            here.upstream.script(stream_answer(chunks))
            _, body = await streamed(here)
            assert '"transcript"' not in body.decode()
            assert "4 weeks" not in body.decode()
            assert trailer(body)["action"] == "unchecked"

    play(scene)


def test_comments_and_fields_of_others_go_through_as_they_came() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = chat_stream(TRUE)
            sent = b"".join([b": processing\r\n\r\n", *chunks[:4], b": still here\n\n", *chunks[4:]])
            here.upstream.script(stream_answer(cut(sent, 13)))
            _, body = await streamed(here)
            assert body.startswith(sent)

    play(scene)


def test_two_choices_are_checked_each_for_itself() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = [
                chat_chunk({"content": "Leave is paid "}, index=0),
                chat_chunk({"content": "Partners are entitled "}, index=1),
                chat_chunk({"content": "in full."}, index=0),
                chat_chunk({"content": "to 4 weeks of leave."}, index=1),
                chat_chunk({}, "stop", index=0),
                chat_chunk({}, "stop", index=1),
                b"data: [DONE]\n\n",
            ]
            here.upstream.script(stream_answer(chunks))
            _, body = await streamed(here, body=asked(n=2))
            assert "4 weeks" not in body.decode().split('"assay"')[0]
            assert "to 4 weeks" not in shown(body)

    play(scene)


class Sure(FakeScorer):
    """Sure of everything: of 360 statements that are each nearly sure, one may well be wrong."""

    def _judge(self, premise: str, claim: str) -> tuple[float, float, float]:
        return 1.0, 0.0, 0.0


def test_a_long_text_is_checked_in_windows_and_passes() -> None:
    async def scene() -> None:
        async with site(scorer=Sure()) as here:
            text = " ".join([TRUE] * 120)
            sent = b"".join(chat_stream(text))
            here.upstream.script(stream_answer(cut(sent, 4096)))
            _, body = await streamed(here)
            assert shown(body) == text

    play(scene)
