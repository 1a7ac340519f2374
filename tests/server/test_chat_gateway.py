"""Chat completions through the gateway, not streamed."""

import json
import logging
from typing import Any

import pytest
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
            assert len(headers["x-assay-report-id"]) == 32
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


def test_the_field_of_the_body_is_read_and_not_forwarded_and_every_other_byte_is() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(FALSE)))
            given = json.dumps({"evidence": ["Partners are entitled to 4 weeks of leave."], "sources": []}).encode()
            rest = b'"model":  "model-1", "messages": [{"role": "user", "content": "How long\\u003f"}]}'
            status, headers, _ = await here.post("/v1/chat/completions", b'{ "assay": ' + given + b", " + rest)
            assert (status, headers["x-assay-action"]) == (200, "emit")
            assert here.upstream.asked[0].body == b"{ " + rest

    play(scene)


def test_headers_go_both_ways_but_for_those_of_the_connection_and_our_own() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(TRUE), **{"x-request-id": "r7", "openai-version": "1"}))
            trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            _, headers, _ = await here.post(
                "/v1/chat/completions?beta=1",
                asked(),
                traceparent=trace,
                authorization="Bearer k",
                x_assay_stakes="high",
            )
            seen = here.upstream.asked[0]
            assert (seen.header("traceparent"), seen.header("authorization")) == (trace, "Bearer k")
            assert seen.header("x-assay-stakes") is None
            assert seen.path == "/v1/chat/completions?beta=1"
            assert (headers["x-request-id"], headers["openai-version"]) == ("r7", "1")

    play(scene)


def test_a_request_may_name_a_policy_that_the_route_allows_and_no_file() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(FALSE)))
            status, _, body = await here.post("/v1/chat/completions", asked(), x_assay_policy="creative")
            assert (status, "at least as strict" in json.loads(body)["error"]["message"]) == (400, True)
            _, headers, _ = await here.post("/v1/chat/completions", asked(), x_assay_policy="high-stakes")
            assert headers["x-assay-action"] != "emit"
            for wrong in ("nonesuch", "../assay.yaml", "/etc/passwd"):
                status, _, body = await here.post("/v1/chat/completions", asked(), x_assay_policy=wrong)
                assert (status, "policies" in json.loads(body)["error"]["message"]) == (400, True)

    play(scene)


def test_an_upstream_is_named_by_the_path_or_by_a_header() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(TRUE)))
            assert (await here.post("/upstreams/main/v1/chat/completions", asked()))[0] == 200
            assert here.upstream.asked[0].path == "/v1/chat/completions"
            assert (await here.post("/upstreams/other/v1/chat/completions", asked()))[0] == 404
            assert (await here.post("/v1/chat/completions", asked(), x_assay_upstream="other"))[0] == 404

    play(scene)


def test_an_action_that_no_call_did_is_withheld() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion("I have sent the e-mail to Anna.")))
            messages = [{"role": "user", "content": "Send the e-mail to Anna."}]
            _, headers, body = await here.post("/v1/chat/completions", asked(messages=messages))
            assert headers["x-assay-action"] == "block"
            assert b"have sent" not in json.dumps(json.loads(body)["choices"]).encode()

    play(scene)


def test_an_answer_that_breaks_the_schema_of_its_request_is_withheld() -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(json_answer(chat_completion(TRUE)))
            schema = {"type": "object", "properties": {"weeks": {"type": "integer"}}}
            wanted = {"type": "json_schema", "json_schema": {"name": "leave", "schema": schema}}
            _, headers, _ = await here.post("/v1/chat/completions", asked(response_format=wanted))
            assert headers["x-assay-action"] == "revise"

    play(scene)


def test_text_beside_the_message_is_not_let_out_unread() -> None:
    async def scene() -> None:
        async with site() as here:
            value = chat_completion(TRUE)
            value["choices"][0]["text"] = FALSE
            here.upstream.script(json_answer(value))
            _, headers, body = await here.post("/v1/chat/completions", asked())
            assert headers["x-assay-action"] == "unchecked"
            assert b"4 weeks" not in body

    play(scene)


def test_shadow_says_in_the_log_what_would_have_been_withheld(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "assay.server.access")

    async def scene() -> None:
        async with site(Mode.SHADOW) as here:
            here.upstream.script(json_answer(chat_completion(FALSE)))
            await here.post("/v1/chat/completions", asked())

    play(scene)  # a server that stops waits for the checks that follow its answers
    lines = [record.__dict__["line"] for record in caplog.records if "line" in record.__dict__]
    assert [(line["event"], line["action"]) for line in lines] == [("answer", None), ("shadow", "block")]
    assert lines[1]["reasons"]
