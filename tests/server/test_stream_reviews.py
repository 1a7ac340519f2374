"""Streams and answers with calls that the gate escalates: they wait for a person and go on as that person decides."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.test_chat_stream import events, shown, trailer
from tests.server.test_gateway_reviews import decided, waiting
from tests.server.test_official_clients import CHAT, MESSAGE, RESPONSE, TOOL_USE
from tests.server.test_official_clients import FUNCTION_CALL as FUNCTION
from tests.server.test_reviews_api import EVIDENCE, RIGHT, WRONG, Desk
from tests.server.upstream_script import (
    chat_chunk,
    chat_completion,
    chat_stream,
    json_answer,
    message_events,
    output_message,
    response_events,
    stream_answer,
    words,
)

from assay.errors import StoreError
from assay.server.gateway import relay_stream
from assay.server.reviews.held_answers import HeldAnswers
from assay.store.db.store import Store

DOUBT = "Everybody may be absent for a while."
"""What a person has to decide on."""
TEXT = f"{RIGHT} {DOUBT} {RIGHT}"
CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "W-1743"}'}}
ASSAY = {"evidence": EVIDENCE, "stakes": "high"}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", CHAT),
    "responses": ("/v1/responses", RESPONSE),
    "messages": ("/v1/messages", MESSAGE),
}


def streamed(wire: str, text: str, *, call: bool = False) -> list[bytes]:
    """A stream of a format with a text, and a call behind it."""
    if wire == "messages":
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}, *([TOOL_USE] if call else [])]
        return message_events(blocks, "tool_use" if call else "end_turn")
    if wire == "responses":
        return response_events([output_message(text), *([FUNCTION] if call else [])])
    if not call:
        return chat_stream(text)
    pieces = [chat_chunk({"content": piece}) for piece in words(text)]
    return [
        *pieces,
        chat_chunk({"tool_calls": [{"index": 0, **CALL}]}),
        chat_chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    ]


async def answered(here: Site, wire: str, chunks: list[bytes], act: str | None, **more: Any) -> bytes:
    """What the client of a stream gets when a person decides."""
    here.upstream.script(stream_answer(chunks))
    path, body = ASKED[wire]
    request = asyncio.create_task(here.post(path, {**body, "stream": True, "assay": ASSAY}))
    if act is not None:
        await decided(here, act, **more)
    status, _, got = await request
    assert status == 200
    return got


def desk(store: Store, seconds: float = 30) -> Any:
    return site(store=store, policy="support-desk", settings=waiting(seconds))


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(str(tmp_path / "assay.db")) as made:
        yield made


def without_comments(body: bytes) -> bytes:
    return b"".join(block + b"\n\n" for block in body.split(b"\n\n") if block and not block.startswith(b":"))


@pytest.mark.parametrize("call", [False, True])
@pytest.mark.parametrize("wire", list(ASKED))
def test_an_approved_stream_goes_out_byte_for_byte_with_its_calls(store: Store, wire: str, call: bool) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            chunks = streamed(wire, TEXT, call=call)
            body = await answered(here, wire, chunks, "approve")
            assert without_comments(body) == b"".join(chunks)
            told = trailer(body)
            assert (told["action"], told["review_state"]) == ("emit", "approved")

    play(scene)


def test_the_reviewer_sees_the_whole_text_and_the_call_beside_it_while_nothing_of_it_is_out(store: Store) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            here.upstream.script(stream_answer(streamed("chat", TEXT, call=True)))
            sent = {**CHAT, "stream": True, "assay": ASSAY}
            async with here.http.post(f"{here.url}/v1/chat/completions", json=sent) as response:
                got = b""
                while b"assay-review" not in got:
                    got += await response.content.readany()
                assert "paid" not in shown(got)
                assert b"tool_calls" not in without_comments(got)
                said = json.loads(got.split(b": assay-review ")[1].split(b"\n")[0])
                people = Desk(here)
                _, item, _ = await people.get(f"/{said['review']}")
                assert item["package"]["output"] == TEXT
                calls = item["package"]["verification_report"]["tool_call_validations"]
                assert [(one["tool"], one["status"]) for one in calls] == [("cancel", "accepted")]
                assert (await people.decide(said["review"], "approve"))[0] == 200
                got += await response.read()
            assert shown(got) == TEXT

    play(scene)


@pytest.mark.parametrize("wire", list(ASKED))
def test_a_stream_whose_database_is_away_while_it_waits_ends_withheld(
    store: Store, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreError("the database is away")

    monkeypatch.setattr(HeldAnswers, "wait_for_decision", away)

    async def scene() -> None:
        async with desk(store) as here:
            chunks = streamed(wire, TEXT)
            body = await answered(here, wire, chunks, None)
            assert trailer(body)["action"] == "escalate"
            assert chunks[-2] not in body

    play(scene)


@pytest.mark.parametrize("wire", list(ASKED))
def test_the_words_of_a_reviewer_end_a_stream_as_a_complete_answer_without_its_calls(store: Store, wire: str) -> None:
    better = f"{RIGHT} {RIGHT}"
    ends = {"chat": b'"finish_reason":"stop"', "responses": b"response.completed", "messages": b'"end_turn"'}

    async def scene() -> None:
        async with desk(store) as here:
            body = await answered(here, wire, streamed(wire, TEXT, call=True), "edit", text=better, accept=True)
            assert ends[wire] in body
            assert b"paid" not in body
            assert b"W-1743" not in body
            told = trailer(body)
            assert (told["action"], told["review_state"]) == ("emit", "edited")
            if wire == "chat":
                said = [one["choices"][0]["delta"].get("content") or "" for one in events(body) if one != "[DONE]"]
                assert "".join(said) == better

    play(scene)


def test_words_that_do_not_begin_with_what_is_out_follow_it_as_a_paragraph(store: Store) -> None:
    other = "The leave of partners is 2 weeks."

    async def scene() -> None:
        async with desk(store) as here:
            body = await answered(here, "chat", streamed("chat", TEXT), "edit", text=other, accept=True)
            said = [one["choices"][0]["delta"].get("content") or "" for one in events(body) if one != "[DONE]"]
            assert "".join(said).endswith(f"\n\n{other}")
            assert RIGHT.startswith("".join(said).removesuffix(f"\n\n{other}").strip())
            assert DOUBT not in "".join(said)

    play(scene)


def test_a_rejected_stream_ends_with_what_the_reviewer_says(store: Store) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            said = "Please ask the office."
            body = await answered(here, "chat", streamed("chat", TEXT, call=True), "reject", response=said)
            assert events(body)[-2]["choices"][0]["finish_reason"] == "content_filter"
            assert said.encode() in body
            assert b"paid" not in without_comments(body).replace(b'"claims"', b"").split(b'"assay"')[0]
            assert b"W-1743" not in body
            assert (trailer(body)["action"], trailer(body)["review_state"]) == ("block", "rejected")

    play(scene)


def test_a_stream_that_nobody_decides_on_in_time_is_withheld_and_names_its_review(store: Store) -> None:
    async def scene() -> None:
        async with desk(store, 0.05) as here:
            body = await answered(here, "chat", streamed("chat", TEXT), None)
            told = trailer(body)
            assert (told["action"], told["review_state"]) == ("escalate", "open")
            assert DOUBT not in shown(body)
            status, item, _ = await Desk(here).get(f"/{told['review']}")
            assert (status, item["package"]["output"]) == (200, TEXT)

    play(scene)


def test_a_route_that_does_not_wait_stops_at_once_and_names_the_review(store: Store) -> None:
    async def scene() -> None:
        async with desk(store, 0) as here:
            told = trailer(await answered(here, "chat", streamed("chat", TEXT), None))
            assert (told["action"], told["review_state"]) == ("escalate", "open")
            assert (await Desk(here).get(f"/{told['review']}"))[0] == 200

    play(scene)


def test_a_stream_that_the_gate_blocks_further_on_waits_for_nobody(store: Store) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            body = await answered(here, "chat", streamed("chat", f"{DOUBT} {WRONG} {RIGHT}"), None)
            assert trailer(body)["action"] == "block"
            assert shown(body) == ""
            (item,) = (await Desk(here).get(""))[1]["items"]
            assert (item["tier"], item["state"]) == ("blocking", "open")  # at high stakes it is looked at afterwards

    play(scene)


def test_a_call_that_is_refused_is_not_released_by_anybody(store: Store) -> None:
    bad = {**CALL, "function": {"name": "cancel", "arguments": '{"order_id": "X-99"}'}}

    async def scene() -> None:
        async with desk(store) as here:
            here.upstream.script(json_answer(chat_completion(DOUBT, tool_calls=[bad])))
            status, headers, body = await here.post("/v1/chat/completions", {**CHAT, "assay": ASSAY})
            assert (status, "x-assay-review" in headers) == (200, False)
            assert json.loads(body)["choices"][0]["finish_reason"] == "content_filter"

    play(scene)


@pytest.mark.parametrize("act", ["approve", "edit"])
def test_a_whole_answer_with_a_call_waits_and_goes_out_as_the_reviewer_decides(store: Store, act: str) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            answer = chat_completion(DOUBT, tool_calls=[CALL])
            here.upstream.script(json_answer(answer))
            request = asyncio.create_task(here.post("/v1/chat/completions", {**CHAT, "assay": ASSAY}))
            await decided(here, act, **({"text": RIGHT} if act == "edit" else {}))
            _, headers, body = await request
            value = json.loads(body)
            assert headers["x-assay-action"] == "emit"
            if act == "approve":
                assert value == answer
            else:
                choice = value["choices"][0]
                assert (choice["message"]["content"], choice["finish_reason"]) == (RIGHT, "stop")
                assert "tool_calls" not in choice["message"]

    play(scene)


def test_comments_keep_a_stream_alive_that_waits(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_stream, "HEARTBEAT_S", 0.05)

    async def scene() -> None:
        async with desk(store, 0.6) as here:
            body = await answered(here, "chat", streamed("chat", TEXT), None)
            assert body.count(b": assay-review") > 2

    play(scene)


def test_a_client_that_leaves_a_waiting_stream_can_ask_for_the_decision_later(store: Store) -> None:
    async def scene() -> None:
        async with desk(store) as here:
            here.upstream.script(stream_answer(streamed("chat", TEXT)))
            sent = {**CHAT, "stream": True, "assay": ASSAY}
            async with here.http.post(f"{here.url}/v1/chat/completions", json=sent) as response:
                got = b""
                while b"assay-review" not in got:
                    got += await response.content.readany()
            said = json.loads(got.split(b": assay-review ")[1].split(b"\n")[0])
            assert (await Desk(here).decide(said["review"], "approve"))[0] == 200
            _, item, _ = await Desk(here).get(f"/{said['review']}")
            assert (item["item"]["state"], item["item"]["outcome"]["output"]) == ("approved", TEXT)

    play(scene)
