"""No relevant evidence, and parts of a question that nothing tells of, through the gateway in every format."""

import json
from typing import Any

import pytest
from tests.server.gateway_site import play, site
from tests.server.upstream_script import Answer, chat_completion, chat_stream, json_answer, stream_answer

from assay.server.settings import Mode

METAL = "Tungsten is a metal. It melts at 3422 °C."
PARTNERS = "Partners are entitled to 2 weeks of leave."
LEAVE = "How long is partners' leave?"
BOTH = "How long is the leave of partners and of mothers?"


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
            assert b"No evidence speaks of what was asked." in body
            assert b"The available documents do not cover this question." in body

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.ANNOTATE])
@pytest.mark.parametrize("stream", [False, True])
def test_what_nothing_tells_of_stands_beside_an_answer_that_goes_out_in_its_own_words(stream: bool, mode: Mode) -> None:
    async def scene() -> None:
        async with site(mode) as here:
            answer = scripted(PARTNERS, stream=stream)
            here.upstream.script(answer)
            status, headers, body = await here.post("/v1/chat/completions", asked(BOTH, PARTNERS, stream=stream))
            assert (status, told(body, stream=stream)["untold"]) == (200, ["mothers"])
            if stream:
                assert body.startswith(b"".join(answer.chunks or []))
                return
            assert headers["x-assay-action"] == "emit"
            value = json.loads(body)
            del value["assay"]
            assert value == json.loads(answer.body)

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
