"""What a model thinks is no answer and no check reads it: under `enforce` none of its words reach a client."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.server.gateway_site import play, site
from tests.server.test_chat_stream import EVIDENCE, LATE, TRUE, asked, shown, streamed, trailer
from tests.server.upstream_script import (
    chat_chunk,
    chat_completion,
    chat_stream,
    cut,
    json_answer,
    message,
    message_events,
    named_event,
    output_message,
    response_events,
    response_value,
    stream_answer,
)

from assay.errors import PolicyError
from assay.server.settings import Mode, Route, ServerSettings, parse_settings

THOUGHT = "Perhaps partners are entitled to 9 weeks of leave."
QUESTION = [{"role": "user", "content": f"{EVIDENCE} How long is partner leave?"}]
ITEM = {
    "id": "rs_1",
    "type": "reasoning",
    "summary": [{"type": "summary_text", "text": THOUGHT}],
    "encrypted_content": "gAAA",
}
BLOCK = {"type": "thinking", "thinking": THOUGHT, "signature": "EqQB"}
SUMMED_UP = [
    named_event(
        {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "delta": THOUGHT}
    ),
    named_event(
        {"type": "response.reasoning_summary_text.done", "item_id": "rs_1", "output_index": 0, "text": THOUGHT}
    ),
]


def wholes(text: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """A path, a request and an answer that thinks before it says something, in each format."""
    thinking = {**message(text), "content": [BLOCK, {"type": "text", "text": text}]}
    return [
        ("/v1/chat/completions", {"messages": QUESTION}, chat_completion(text, reasoning_content=THOUGHT)),
        ("/v1/messages", {"messages": QUESTION, "max_tokens": 99}, thinking),
        ("/v1/responses", {"input": QUESTION}, response_value([ITEM, output_message(text)])),
    ]


def behind(chunks: list[bytes], place: str) -> list[bytes]:
    """The events with what they add one place further on."""
    told = [json.loads(chunk.split(b"data: ", 1)[1]) for chunk in chunks]
    return [named_event({**value, place: value[place] + 1} if place in value else value) for value in told]


def streams(text: str) -> list[tuple[str, dict[str, Any], list[bytes]]]:
    """The same as streams."""
    thought = [chat_chunk({"reasoning_content": word}) for word in THOUGHT.split(" ")] + [
        chat_chunk({"reasoning_details": [{"type": "reasoning.text", "text": THOUGHT, "signature": "EqQB"}]})
    ]
    opening, *rest = chat_stream(text)
    said = message_events([{"type": "text", "text": text}])
    thinking = [
        {"type": "content_block_start", "index": 0, "content_block": {**BLOCK, "thinking": "", "signature": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": THOUGHT}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB"}},
        {"type": "content_block_stop", "index": 0},
    ]
    created, *answered = response_events([output_message(text)])
    begun = named_event({"type": "response.output_item.added", "output_index": 0, "item": {**ITEM, "summary": []}})
    ended = named_event({"type": "response.output_item.done", "output_index": 0, "item": ITEM})
    return [
        ("/v1/chat/completions", {"messages": QUESTION}, [opening, *thought, *rest]),
        (
            "/v1/messages",
            {"messages": QUESTION, "max_tokens": 99},
            [said[0], *map(named_event, thinking), *behind(said[1:], "index")],
        ),
        ("/v1/responses", {"input": QUESTION}, [created, begun, *SUMMED_UP, ended, *behind(answered, "output_index")]),
    ]


def routed(**route: Any) -> Callable[[ServerSettings], ServerSettings]:
    return lambda settings: replace(settings, routes={"chat_completions": Route(**route)})


@pytest.mark.parametrize("text", [TRUE, LATE])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_word_of_its_reasoning_goes_out_with_an_answer_whether_it_passes_or_not(number: int, text: str) -> None:
    path, request, answer = wholes(text)[number]

    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(answer))
            status, headers, body = await here.post(path, {"model": "m", **request})
            assert (status, headers["x-assay-action"] == "emit") == (200, text == TRUE)
            assert "9 weeks" not in body.decode()
            assert (TRUE in body.decode()) == (text == TRUE)
            # What holds it stays in its place, and so does what only the provider can read.
            told = json.loads(body)
            if text == TRUE:
                assert json.dumps(told).count("EqQB") + json.dumps(told).count("gAAA") == (number > 0)
                assert int(headers["content-length"]) == len(body)

    play(scene)


@pytest.mark.parametrize("size", [5, 100_000])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_word_of_its_reasoning_goes_out_in_a_stream(number: int, size: int) -> None:
    path, request, chunks = streams(TRUE)[number]

    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(cut(b"".join(chunks), size)))
            _, _, body = await here.post(path, {"model": "m", "stream": True, **request})
            assert trailer(body)["action"] == "emit"
            assert b"9 weeks" not in body
            assert b"Perhaps" not in body
            assert (b"EqQB" in body) or number == 2
            # All but the events that think is the upstream's, to the byte and in its order.
            at = 0
            for chunk in chunks:
                if b"reasoning" not in chunk and b"thinking" not in chunk:
                    at = body.index(chunk, at) + len(chunk)

    play(scene)


def test_a_stream_that_is_stopped_has_shown_no_reasoning_either() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(stream_answer(streams(LATE)[0][2]))
            _, body = await streamed(here)
            assert trailer(body)["action"] == "block"
            assert "4 weeks" not in shown(body)
            assert b"9 weeks" not in body

    play(scene)


def nested(levels: int) -> Any:
    """An object inside of an object, so many times."""
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


def test_an_answer_that_is_nested_too_deep_to_be_walked_through_is_withheld_with_an_error_of_its_format() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(TRUE, reasoning_details=nested(600))))
            status, headers, body = await here.post("/v1/chat/completions", {"model": "m", "messages": QUESTION})
            assert (status, headers["x-assay-action"]) == (502, "unchecked")
            assert "nested more than 100 levels deep" in json.loads(body)["error"]["message"]

    play(scene)


def test_an_event_that_is_nested_too_deep_stops_its_stream_with_a_notice() -> None:
    async def scene() -> None:
        async with site() as here:
            chunks = [chat_chunk({"reasoning_details": nested(600)}), *chat_stream(TRUE)]
            here.upstream.script(stream_answer(chunks))
            _, body = await streamed(here)
            assert trailer(body)["action"] == "unchecked"
            assert TRUE not in shown(body)

    play(scene)


def test_an_answer_that_was_asked_for_again_brings_no_reasoning() -> None:
    async def scene() -> None:
        async with site(settings=routed(revise="block", attempts=1)) as here:
            again = chat_completion(TRUE, reasoning_content=THOUGHT)
            here.upstream.script(json_answer(chat_completion(LATE, reasoning_content=THOUGHT)), json_answer(again))
            _, headers, body = await here.post("/v1/chat/completions", {**asked(), "stream": False})
            assert (headers["x-assay-action"], len(here.upstream.asked)) == ("emit", 2)
            assert b"9 weeks" not in body

    play(scene)


def test_a_route_may_let_reasoning_pass_and_modes_that_withhold_nothing_do() -> None:
    async def scene() -> None:
        for mode, reasoning in ((Mode.ENFORCE, "pass"), (Mode.ANNOTATE, "withhold"), (Mode.SHADOW, "withhold")):
            async with site(settings=routed(mode=mode, reasoning=reasoning)) as here:
                path, request, answer = wholes(TRUE)[0]
                here.upstream.script(json_answer(answer))
                _, _, body = await here.post(path, {"model": "m", **request})
                assert body == json.dumps(answer).encode()
                _, _, chunks = streams(TRUE)[0]
                here.upstream.script(stream_answer(chunks))
                _, body = await streamed(here)
                assert body.startswith(b"".join(chunks))

    play(scene)


def test_a_gateway_file_says_what_becomes_of_reasoning() -> None:
    made = parse_settings({"routes": {"messages": {"reasoning": "pass"}}}, {}, ServerSettings())
    assert (made.route("messages").reasoning, made.route("responses").reasoning) == ("pass", "withhold")
    with pytest.raises(PolicyError, match="withhold or pass"):
        parse_settings({"routes": {"messages": {"reasoning": "show"}}}, {}, ServerSettings())
