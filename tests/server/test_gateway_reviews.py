"""An answer that the gate escalates: its request waits for a person, and gets what that person decides."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.server.gateway_site import Site, play, site
from tests.server.test_chat_stream import shown, trailer
from tests.server.test_reviews_api import EVIDENCE, HELD, RIGHT, WRONG, Desk
from tests.server.upstream_script import chat_completion, chat_stream, json_answer, message, stream_answer

from assay.errors import PolicyError
from assay.server.settings import Mode, Route, ServerSettings, parse_settings
from assay.store.db.store import Store

CHAT = {
    "model": "m",
    "messages": [{"role": "user", "content": "How long is partner leave?"}],
    "assay": {"evidence": EVIDENCE, "stakes": "high"},
}


@pytest.fixture
def store(tmp_path: Path) -> Any:
    with Store(str(tmp_path / "assay.db")) as made:
        yield made


def waiting(seconds: float, mode: Mode = Mode.ENFORCE) -> Callable[[ServerSettings], ServerSettings]:
    one = Route(mode=mode, review_s=seconds)
    return lambda told: replace(told, routes=dict.fromkeys(told.routes, one))


async def decided(here: Site, act: str, **more: Any) -> None:
    desk = Desk(here)
    async with asyncio.timeout(10):
        while not (page := (await desk.get(""))[1]["items"]):
            await asyncio.sleep(0.02)
    status, said = await desk.decide(page[0]["id"], act, **more)
    assert status == 200, said


async def asked(here: Site, act: str | None, path: str = "/v1/chat/completions", **more: Any) -> Any:
    answer = message(HELD["answer"]) if path == "/v1/messages" else chat_completion(HELD["answer"])
    here.upstream.script(json_answer(answer))
    body = {**CHAT, "max_tokens": 99} if path == "/v1/messages" else CHAT
    request = asyncio.create_task(here.post(path, body))
    if act is not None:
        await decided(here, act, **more)
    status, headers, told = await request
    assert status == 200
    return headers, json.loads(told)


def text_of(value: Any) -> str:
    return str(value["choices"][0]["message"]["content"])


def test_an_approved_answer_goes_out_as_it_came(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(20)) as here:
            headers, value = await asked(here, "approve")
            assert (headers["x-assay-action"], headers["x-assay-review-state"]) == ("emit", "approved")
            assert headers["x-assay-review"] == headers["x-assay-report-id"]
            assert value == chat_completion(HELD["answer"])

    play(scene)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_an_edited_answer_goes_out_in_the_words_of_the_reviewer(store: Store, path: str) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(20)) as here:
            headers, value = await asked(here, "edit", path, text=RIGHT)
            assert headers["x-assay-action"] == "emit"
            assert RIGHT in json.dumps(value)
            assert HELD["answer"] not in json.dumps(value)

    play(scene)


def test_a_rejected_answer_is_withheld_with_what_the_reviewer_says(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(20)) as here:
            headers, value = await asked(here, "reject", response="Please ask the office.")
            assert headers["x-assay-action"] == "block"
            assert text_of(value) == "Please ask the office."
            assert HELD["answer"] not in json.dumps(value["choices"])

    play(scene)


def test_an_answer_that_nobody_decides_on_in_time_is_withheld(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(0.05)) as here:
            headers, value = await asked(here, None)
            assert (headers["x-assay-action"], headers["x-assay-review-state"]) == ("escalate", "open")
            assert HELD["answer"] not in text_of(value)
            status, told, _ = await Desk(here).get(f"/{headers['x-assay-review']}")
            assert (status, told["package"]["output"]) == (200, HELD["answer"])

    play(scene)


@pytest.mark.parametrize("streams", [False, True])
def test_an_answer_that_is_blocked_at_high_stakes_is_withheld_at_once_and_names_its_review(
    store: Store, streams: bool
) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(30)) as here:
            here.upstream.script(stream_answer(chat_stream(WRONG)) if streams else json_answer(chat_completion(WRONG)))
            status, headers, body = await here.post("/v1/chat/completions", CHAT | {"stream": streams})
            assert status == 200
            assert WRONG not in (shown(body) if streams else text_of(json.loads(body)))
            told = trailer(body) if streams else None
            id_ = headers["x-assay-review"] if told is None else told["review"]
            _, seen, _ = await Desk(here).get(f"/{id_}")
            assert (seen["item"]["state"], seen["item"]["tier"]) == ("open", "blocking")
            assert seen["package"]["output"] == WRONG

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ANNOTATE, Mode.SHADOW])
def test_what_goes_out_anyway_is_not_held(store: Store, mode: Mode) -> None:
    async def scene() -> None:
        async with site(store=store, policy="support-desk", settings=waiting(20, mode)) as here:
            _, value = await asked(here, None)
            assert text_of(value) == HELD["answer"]
            assert (await Desk(here).get(""))[1]["items"] == []

    play(scene)


@pytest.mark.parametrize("seconds", [-1, 901, True, "long"])
def test_how_long_a_route_waits_is_a_number_within_bounds(seconds: Any) -> None:
    with pytest.raises(PolicyError, match="waits"):
        parse_settings({"routes": {"messages": {"review_s": seconds}}}, {}, ServerSettings())
