"""Errors of an upstream go out as they came, unless they have an answer in them that nobody checked."""

import gzip
import json
from typing import Any

import pytest
from tests.server.gateway_site import play, site
from tests.server.test_official_clients import CHAT, MESSAGE, RESPONSE
from tests.server.test_what_clients_execute import LIE, PATHS
from tests.server.upstream_script import Answer, chat_completion, chat_stream, message, output_message, response_value

from assay.server.settings import Mode

ASKED: dict[str, Any] = {"chat": CHAT, "responses": RESPONSE, "messages": MESSAGE}
LIES: dict[str, Any] = {
    "chat": chat_completion(LIE),
    "responses": response_value([output_message(LIE)]),
    "messages": message(LIE),
}
JSON = {"content-type": "application/json"}
STATUSES = (400, 401, 404, 418, 429, 500, 529)


def with_lie(kind: str, how: str) -> Answer:
    lie = json.dumps(LIES[kind])
    match how:
        case "alone":
            return Answer(lie.encode(), headers=JSON)
        case "beside an error":
            return Answer(json.dumps({"error": {"message": "busy"}, **LIES[kind]}).encode(), headers=JSON)
        case "as the second of two members":
            name = {"chat": "choices", "responses": "output", "messages": "content"}[kind]
            told = json.dumps(LIES[kind][name])
            return Answer(f'{{"error": {{"message": "busy"}}, "{name}": 1, "{name}": {told}}}'.encode(), headers=JSON)
        case "called text":
            return Answer(lie.encode(), headers={"content-type": "text/plain"})
        case "compressed":
            return Answer(gzip.compress(lie.encode()), headers={**JSON, "content-encoding": "gzip"})
        case "as a stream":
            return Answer(b"".join(chat_stream(LIE)), headers={"content-type": "text/event-stream"})
        case "as a stream that is called text":
            return Answer(b"".join(chat_stream(LIE)), headers={"content-type": "text/plain"})
        case "with a byte that is no UTF-8":
            return Answer(lie.encode().replace(LIE.encode(), LIE.encode() + b"\xff"), headers=JSON)
        case "with a line break in a string":
            return Answer(lie.encode().replace(LIE.encode(), LIE.encode() + b"\n"), headers=JSON)
        case "under names in capitals":
            return Answer(json.dumps({k.title(): v for k, v in LIES[kind].items()}).encode(), headers=JSON)
    raise AssertionError(how)


HOW = (
    *("alone", "beside an error", "as the second of two members", "called text", "compressed", "as a stream"),
    *("as a stream that is called text", "with a byte that is no UTF-8", "with a line break in a string"),
    "under names in capitals",
)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", PATHS)
def test_an_error_with_an_answer_in_it_is_made_anew(kind: str, how: str) -> None:
    async def scene() -> None:
        async with site() as here:
            for status in STATUSES:
                answer = with_lie(kind, how)
                answer.status = status
                here.upstream.script(answer)
                got, headers, body = await here.post(PATHS[kind], ASKED[kind])
                assert (got, headers["x-assay-action"]) == (status, "none")
                assert headers["content-type"] == "application/json"
                assert "content-encoding" not in headers
                assert "withheld" in json.loads(body)["error"]["message"]
                assert LIE.encode() not in body

    play(scene)


@pytest.mark.parametrize(
    "error",
    [
        b'{"error": {"message": "busy", "type": "server_error", "code": null}, "request_id": "r"}',
        b'{"object": "error", "message": "no such model", "code": 404}',
        b'{"detail": [{"loc": ["body", "content"], "msg": "field required"}]}',
        b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
        b"<html><body>502 Bad Gateway</body></html>",
        b"",
        b"[" * 5_000,
    ],
)
@pytest.mark.parametrize("kind", PATHS)
def test_any_other_error_goes_out_as_it_came(kind: str, error: bytes) -> None:
    async def scene() -> None:
        async with site() as here:
            here.upstream.script(Answer(error, status=500, headers={"content-type": "text/html; charset=utf-8"}))
            status, headers, body = await here.post(PATHS[kind], ASKED[kind])
            if error.startswith(b"["):  # too deep to be read
                assert b"withheld" in body
                return
            assert (status, body, headers["content-type"]) == (500, error, "text/html; charset=utf-8")

    play(scene)


def test_where_nothing_is_enforced_errors_are_not_looked_at() -> None:
    async def scene() -> None:
        async with site(Mode.ANNOTATE) as here:
            here.upstream.script(Answer(json.dumps(LIES["chat"]).encode(), status=500, headers=JSON))
            _, _, body = await here.post(PATHS["chat"], CHAT)
            assert json.loads(body) == LIES["chat"]

    play(scene)
