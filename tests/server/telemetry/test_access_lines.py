"""One line of the access log for each request, whatever became of it, without a word of anybody."""

import logging
from typing import Any

import pytest
from tests.server.gateway_site import play, site
from tests.server.test_chat_gateway import TRUE
from tests.server.test_chat_gateway import asked as chat_request
from tests.server.upstream_script import chat_completion, json_answer


def lines(caplog: pytest.LogCaptureFixture, level: int = logging.INFO) -> list[dict[str, Any]]:
    return [
        record.line
        for record in caplog.records
        if record.name == "assay.server.access" and record.levelno >= level and hasattr(record, "line")
    ]


def test_each_request_has_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with site() as there:
            await there.post("/v1/check", {"answer": TRUE, "evidence": [TRUE], "run_id": "secret-name"})
            await there.post("/v1/check?token=secret", {"answer": 3})
            async with there.http.get(f"{there.url}/nowhere/at/all?q=secret") as answer:
                assert answer.status == 404
            async with there.http.head(f"{there.url}/openapi.json") as answer:
                assert answer.status == 200
            async with there.http.get(f"{there.url}/healthz") as answer:
                assert answer.status == 200
            there.upstream.script(json_answer(chat_completion(TRUE)))
            await there.post("/v1/chat/completions", chat_request())
            await there.post("/v1/chat/completions", [1])
            await there.post("/v1/completions", chat_request())

    with caplog.at_level(logging.INFO, "assay.server.access"):
        play(scene)
    told = lines(caplog)
    assert [(one["event"], one.get("method"), one["route"], one["status"]) for one in told] == [
        ("request", "POST", "/v1/check", 200),
        ("request", "POST", "/v1/check", 422),
        ("request", "GET", "other", 404),
        ("request", "HEAD", "/openapi.json", 200),
        ("answer", None, "chat_completions", 200),
        ("request", "POST", "/v1/chat/completions", 400),
        ("request", "POST", "other", 404),
    ]
    assert all(one["ms"] > 0 for one in told)
    assert "secret" not in str(told)
    assert told[0]["bytes"] > 500


def test_a_hostile_path_stays_in_its_line(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with site() as there, there.http.get(f"{there.url}/x%0d%0a{{%22event%22:1}}{'y' * 4_000}") as answer:
            assert answer.status == 404

    with caplog.at_level(logging.INFO, "assay.server.access"):
        play(scene)
    (told,) = lines(caplog)
    assert len(told["path"]) == 200
    import json

    assert "\n" not in json.dumps(told)
