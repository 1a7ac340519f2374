"""Chat completions through the gateway, not streamed."""

import json
from typing import Any

from tests.server.gateway_site import play, site
from tests.server.upstream_script import chat_completion, json_answer

from assay.server.settings import Mode

LEAVE = "Partners are entitled to 2 weeks of leave."
TRUE = "Partners are entitled to 2 weeks of leave."
FALSE = "Partners are entitled to 4 weeks of leave."


def asked(**more: Any) -> dict[str, Any]:
    messages = [{"role": "system", "content": LEAVE}, {"role": "user", "content": "How long is partner leave?"}]
    return {"model": "model-1", "messages": messages, **more}


def test_an_answer_that_passes_goes_out_byte_for_byte() -> None:
    async def scene() -> None:
        async with site() as here:
            answer = json_answer(chat_completion(TRUE))
            answer.body = b"  " + answer.body.replace(b": ", b" :  ") + b"\n"
            here.upstream.script(answer)
            status, headers, body = await here.post("/v1/chat/completions", asked())
            assert (status, body) == (200, answer.body)
            assert headers["x-assay-action"] == "emit"
            assert float(headers["x-assay-score"]) > 0.8
            assert headers["x-assay-report-id"].startswith("run_")
            assert float(headers["x-assay-overhead-ms"]) >= 0

    play(scene)


def test_an_answer_that_the_evidence_contradicts_is_withheld_in_the_formats_own_shape() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(FALSE)))
            status, headers, body = await here.post("/v1/chat/completions", asked())
            value = json.loads(body)
            choice = value["choices"][0]
            assert status == 200
            assert headers["x-assay-action"] == "block"
            assert choice["finish_reason"] == "content_filter"
            assert "4 weeks" not in choice["message"]["content"]
            assert "withheld" in choice["message"]["content"]
            assert value["assay"]["claims"][0]["verdict"] == "contradicted"
            assert value["usage"] == chat_completion(FALSE)["usage"]

    play(scene)


def test_annotate_lets_a_false_answer_out_with_what_was_found() -> None:
    async def scene() -> None:
        async with site(Mode.ANNOTATE) as here:
            here.upstream.script(json_answer(chat_completion(FALSE)))
            _, headers, body = await here.post("/v1/chat/completions", asked())
            value = json.loads(body)
            assert headers["x-assay-action"] == "block"
            assert value.pop("assay")["action"] == "block"
            assert value == chat_completion(FALSE)

    play(scene)


def test_shadow_lets_everything_out_at_once_and_never_calls_it_clean() -> None:
    async def scene() -> None:
        async with site(Mode.SHADOW) as here:
            answer = json_answer(chat_completion(FALSE))
            here.upstream.script(answer)
            _, headers, body = await here.post("/v1/chat/completions", asked())
            assert body == answer.body
            assert headers["x-assay-action"] == "unchecked"

    play(scene)
