"""No relevant evidence, and parts of a question that nothing tells of, through the gateway in every format."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import play, site
from tests.server.test_gateway_receipts import keys, signing, verified
from tests.server.test_recording import again, holds, stored
from tests.server.upstream_script import (
    Answer,
    chat_completion,
    chat_stream,
    json_answer,
    message,
    message_events,
    output_message,
    response_events,
    response_value,
    stream_answer,
)
from tests.wire.sdk_eyes import CHAT, MESSAGES, RESPONSES, eyes

from assay.server.settings import Mode
from assay.store.db.store import Store

__all__ = ["keys"]

METAL = "Tungsten is a metal. It melts at 3422 °C."
PARTNERS = "Partners are entitled to 2 weeks of leave."
LEAVE = "How long is partners' leave?"
BOTH = "How long is the leave of partners and of mothers?"
GIVEN = f"{PARTNERS}\n\nThe available documents say nothing of “mothers”."
"""What a reader gets."""
_SAID = [{"role": "user", "content": BOTH}]
Whole = Callable[[str], dict[str, Any]]
Events = Callable[[str], list[bytes]]
FORMATS: dict[str, tuple[str, dict[str, Any], Whole, Events]] = {
    CHAT: ("/v1/chat/completions", {"model": "m", "messages": _SAID}, chat_completion, chat_stream),
    RESPONSES: (
        "/v1/responses",
        {"model": "m", "input": BOTH},
        lambda text: response_value([output_message(text)]),
        lambda text: response_events([output_message(text)]),
    ),
    MESSAGES: (
        "/v1/messages",
        {"model": "m", "max_tokens": 99, "messages": _SAID},
        message,
        lambda text: message_events([{"type": "text", "text": text}]),
    ),
}


def asked(question: str, evidence: str, *, stream: bool) -> dict[str, Any]:
    messages = [{"role": "user", "content": question}]
    return {"model": "m", "stream": stream, "messages": messages, "assay": {"evidence": [evidence]}}


def scripted(text: str, *, stream: bool) -> Answer:
    return stream_answer(chat_stream(text)) if stream else json_answer(chat_completion(text))


def told(body: bytes, *, stream: bool) -> dict[str, Any]:
    """What the gateway says beside the answer."""
    if not stream:
        return dict(json.loads(body).get("assay", {}))
    line = next(line for line in body.decode().splitlines() if line.startswith(": assay "))
    return dict(json.loads(line.removeprefix(": assay ")))


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_to_another_question_from_evidence_on_something_else_is_withheld(stream: bool) -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(scripted("Tungsten melts at 3422 °C.", stream=stream))
            _, _, body = await here.post("/v1/chat/completions", asked(LEAVE, METAL, stream=stream))
            assert b"3422" not in body.split(b'"claims"')[0]
            assert b"No evidence covers the question." in body
            assert b"The available documents do not cover this question." in body

    play(scene)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_the_reader_of_an_answer_that_goes_out_is_told_what_nothing_tells_of_however_the_sdk_looks(
    kind: str, stream: bool
) -> None:
    async def scene() -> None:
        async with site() as here:
            path, body, whole, events = FORMATS[kind]
            here.upstream.script(stream_answer(events(PARTNERS)) if stream else json_answer(whole(PARTNERS)))
            sent = {**body, "stream": stream, "assay": {"evidence": [PARTNERS]}}
            status, headers, got = await here.post(path, sent)
            assert (status, headers["x-assay-action"]) == (200, "pending" if stream else "emit")
            for number, seen in enumerate(eyes(kind, got, streamed=stream)):
                assert (number, "".join(seen.texts.values()), seen.raised) == (number, GIVEN, False)
            assert told(got, stream=stream)["untold"] == ["mothers"]

    play(scene)


@pytest.mark.parametrize("stream", [False, True])
def test_where_nothing_is_enforced_the_words_stay_and_it_stands_beside_them(stream: bool) -> None:
    async def scene() -> None:
        async with site(Mode.ANNOTATE) as here:
            answer = scripted(PARTNERS, stream=stream)
            here.upstream.script(answer)
            _, _, body = await here.post("/v1/chat/completions", asked(BOTH, PARTNERS, stream=stream))
            assert told(body, stream=stream)["untold"] == ["mothers"]
            if stream:
                assert body.startswith(b"".join(answer.chunks or []))
            else:
                value = json.loads(body)
                del value["assay"]
                assert value == json.loads(answer.body)

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.ANNOTATE])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", sorted(FORMATS))
def test_the_receipt_is_for_the_text_that_went_out_and_the_record_has_both_parts_of_it(
    kind: str, stream: bool, mode: Mode, keys: Path, tmp_path: Path
) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with signing(keys, mode, store=store) as here:
                path, body, whole, events = FORMATS[kind]
                here.upstream.script(stream_answer(events(PARTNERS)) if stream else json_answer(whole(PARTNERS)))
                sent = {**body, "stream": stream, "assay": {"evidence": [PARTNERS]}}
                _, headers, got = await here.post(path, sent)
            (receipt,) = told(got, stream=stream)["receipts"] if stream else [headers["x-assay-receipt"]]
            out = "".join(next(one.texts for one in eyes(kind, got, streamed=stream) if one.texts).values())
            assert out == (GIVEN if mode is Mode.ENFORCE else PARTNERS)
            assert verified(keys, out, receipt) == 0
            assert verified(keys, PARTNERS if out == GIVEN else GIVEN, receipt) == 1
            report = stored(store, told(got, stream=stream)["report_id"]).report
            assert report is not None
            assert f"{report.output}\n\n{report.decision.response}" == GIVEN
            assert holds(store)
            assert again(store, told(got, stream=stream)["report_id"])

    play(scene)


def test_what_stands_beside_calls_and_what_is_to_be_read_as_json_gets_no_words_behind_it() -> None:
    async def scene() -> None:
        async with site() as here:
            call = {"id": "c", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
            tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
            for text, more, body in (
                (PARTNERS, {"tool_calls": [call]}, {"tools": [tool]}),
                (json.dumps({"leave": PARTNERS}), {}, {}),
            ):
                here.upstream.script(json_answer(chat_completion(text, **more)))
                sent = {**asked(BOTH, PARTNERS, stream=False), **body}
                _, _, got = await here.post("/v1/chat/completions", sent)
                assert json.loads(got)["choices"][0]["message"]["content"] == text

    play(scene)


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_says_itself_what_nothing_tells_of_goes_out_as_it_came(stream: bool) -> None:
    async def scene() -> None:
        async with site() as here:
            answer = scripted(f"{PARTNERS} Nothing is said of mothers.", stream=stream)
            here.upstream.script(answer)
            _, _, body = await here.post("/v1/chat/completions", asked(BOTH, PARTNERS, stream=stream))
            assert body.startswith(b"".join(answer.chunks or []) if stream else answer.body)
            assert "untold" not in told(body, stream=stream)

    play(scene)


@pytest.mark.parametrize("stream", [False, True])
def test_it_stands_in_the_words_that_take_the_place_of_a_withheld_answer(stream: bool) -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(scripted("Partners are entitled to 4 weeks of leave.", stream=stream))
            _, _, body = await here.post("/v1/chat/completions", asked(BOTH, PARTNERS, stream=stream))
            assert "The available documents say nothing of “mothers”." in body.decode("utf-8")

    play(scene)
