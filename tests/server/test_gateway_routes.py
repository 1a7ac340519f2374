"""Routes, upstreams, keys, connections and limits, over real sockets."""

import asyncio
import json
import logging
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from tests.server.gateway_site import Site, limited, play, site
from tests.server.test_chat_stream import LATE, TRUE, asked, events, shown
from tests.server.test_serve_command import serve
from tests.server.upstream_script import (
    Upstream,
    chat_chunk,
    chat_completion,
    chat_stream,
    json_answer,
    message,
    output_message,
    response_value,
    serving_upstream,
    stream_answer,
)

from assay.server.settings import Mode, Route, ServerSettings
from assay.server.settings import Upstream as UpstreamSetting

PATH = "/v1/chat/completions"
PLAIN: dict[str, Any] = {name: value for name, value in asked().items() if name != "stream"}
QUESTION = [{"role": "user", "content": "How long is partner leave?"}]


@asynccontextmanager
async def two_upstreams(**routes: Route) -> AsyncIterator[tuple[Site, Upstream]]:
    """A gateway with the upstreams `main` and `lab`; the second one has a key that the gateway holds."""
    async with serving_upstream() as lab:

        def told(settings: ServerSettings) -> ServerSettings:
            other = UpstreamSetting("lab", lab.url, key="held-secret", key_header="x-api-key")
            return replace(settings, upstreams=(*settings.upstreams, other), routes={**settings.routes, **routes})

        async with site(settings=told) as here:
            yield here, lab


def test_a_request_goes_to_the_upstream_that_its_path_its_header_or_its_route_names() -> None:
    async def scene() -> None:
        async with two_upstreams(messages=Route(mode=Mode.OFF, upstream="lab")) as (here, lab):
            here.upstream.script(json_answer(chat_completion(TRUE)))
            lab.script(json_answer(chat_completion(TRUE)))
            await here.post(PATH, PLAIN)
            assert (len(here.upstream.asked), len(lab.asked)) == (1, 0)
            await here.post(f"/upstreams/lab{PATH}", PLAIN)
            await here.post(PATH, PLAIN, x_assay_upstream="lab")
            lab.script(json_answer(message(TRUE)))
            await here.post("/v1/messages", {"model": "m", "max_tokens": 9, "messages": QUESTION})
            assert (len(here.upstream.asked), len(lab.asked)) == (1, 1)
            await here.post("/upstreams/main/v1/messages", {"model": "m", "max_tokens": 9, "messages": QUESTION})
            assert (len(here.upstream.asked), len(lab.asked)) == (2, 1)

    play(scene)


def test_a_key_is_passed_on_to_one_upstream_and_held_for_another() -> None:
    async def scene() -> None:
        async with two_upstreams() as (here, lab):
            here.upstream.script(json_answer(chat_completion(TRUE)))
            lab.script(json_answer(chat_completion(TRUE)))
            for path in (PATH, f"/upstreams/lab{PATH}"):
                status, _, answer = await here.post(path, PLAIN, authorization="Bearer of-the-client")
                assert status == 200, answer
            assert here.upstream.asked[0].header("authorization") == "Bearer of-the-client"
            assert here.upstream.asked[0].header("x-api-key") is None
            assert lab.asked[0].header("x-api-key") == "held-secret"
            assert lab.asked[0].header("authorization") is None

    play(scene)


def test_each_upstream_lists_its_own_models() -> None:
    async def scene() -> None:
        async with two_upstreams() as (here, lab):
            for upstream, name in ((here.upstream, "one"), (lab, "two")):
                upstream.script(json_answer({"object": "list", "data": [{"id": name}]}))
            for path, name in (("/v1/models", "one"), ("/upstreams/lab/v1/models", "two"), ("/v1/models/one", "one")):
                async with here.http.get(here.url + path) as response:
                    assert (await response.json())["data"] == [{"id": name}]
            assert here.upstream.asked[-1].path == "/v1/models/one"

    play(scene)


def test_each_route_has_a_mode_of_its_own() -> None:
    def told(settings: ServerSettings) -> ServerSettings:
        modes = {"chat_completions": Mode.ENFORCE, "messages": Mode.ANNOTATE, "responses": Mode.SHADOW}
        return replace(settings, routes={name: Route(mode=mode) for name, mode in modes.items()})

    async def scene() -> None:
        evidence = {"evidence": ["Partners are entitled to 2 weeks of leave."]}
        false = "Partners are entitled to 4 weeks of leave."
        async with site(settings=told) as here:
            here.upstream.script(json_answer(chat_completion(false)))
            _, headers, body = await here.post(PATH, {"model": "m", "messages": QUESTION, "assay": evidence})
            assert (headers["x-assay-action"], b"4 weeks" in body.split(b'"assay"')[0]) == ("block", False)
            here.upstream.script(json_answer(message(false)))
            body_of = {"model": "m", "max_tokens": 9, "messages": QUESTION, "assay": evidence}
            _, headers, body = await here.post("/v1/messages", body_of)
            assert (headers["x-assay-action"], json.loads(body)["content"][0]["text"]) == ("block", false)
            here.upstream.script(json_answer(response_value([output_message(false)])))
            _, headers, body = await here.post("/v1/responses", {"model": "m", "input": "Why?", "assay": evidence})
            assert (headers["x-assay-action"], "assay" in json.loads(body)) == ("unchecked", False)

    play(scene)


def test_connections_to_an_upstream_are_used_again() -> None:
    async def scene() -> None:
        places = set()

        async def answer(request: web.Request) -> web.Response:
            assert request.transport is not None
            places.add(request.transport.get_extra_info("peername"))
            await request.read()
            return web.json_response(chat_completion(TRUE))

        async with elsewhere(answer) as url, site(settings=at(url)) as here:
            for _ in range(5):
                assert (await here.post(PATH, PLAIN))[0] == 200
            assert len(places) == 1

    play(scene)


@asynccontextmanager
async def elsewhere(answer: Any) -> AsyncIterator[str]:
    """An upstream that answers with a function."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def at(url: str, mode: Mode = Mode.ENFORCE) -> Any:
    return lambda told: replace(
        told, upstreams=(UpstreamSetting("main", url),), routes={"chat_completions": Route(mode=mode)}
    )


@pytest.mark.parametrize("mode", [Mode.OFF, Mode.ANNOTATE])
def test_a_client_that_does_not_read_holds_the_upstream_back(mode: Mode) -> None:
    piece, most = chat_chunk({"content": "x" * 60_000}), 400

    async def scene() -> None:
        sent = 0

        async def answer(request: web.Request) -> web.StreamResponse:
            nonlocal sent
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            for _ in range(most):
                await response.write(piece)
                sent += 1
            await response.write(chat_chunk({}, "stop") + b"data: [DONE]\n\n")
            return response

        async with elsewhere(answer) as url, site(settings=at(url, mode)) as here:
            host, port = here.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port), limit=65_536)
            body = json.dumps(asked()).encode()
            head = f"POST {PATH} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
            while True:
                before = sent
                await asyncio.sleep(0.5)
                if sent == before > 0:
                    break
            # What the two connections and their buffers hold, and no more.
            assert sent < most / 2
            writer.close()
            await reader.read(10)

    play(scene)


def test_a_slow_upstream_is_waited_for_as_long_as_it_goes_on() -> None:
    async def scene() -> None:
        async with site(settings=limited(idle_s=1.0)) as here:
            chunks = chat_stream(TRUE)
            gates = {number: asyncio.Event() for number in range(3, len(chunks), 4)}
            here.upstream.script(stream_answer(chunks, gates=gates))
            loop = asyncio.get_running_loop()
            for place, gate in enumerate(gates.values(), start=1):
                loop.call_later(0.3 * place, gate.set)
            status, _, body = await here.post(PATH, asked())
            assert (status, shown(body)) == (200, TRUE)

    play(scene)


def test_a_request_that_takes_longer_than_it_may_ends_with_an_error() -> None:
    async def scene() -> None:
        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            while True:
                await response.write(chat_chunk({"content": "and "}))
                await asyncio.sleep(0.05)

        def told(settings: ServerSettings) -> ServerSettings:
            return limited(total_s=0.7)(at(url)(settings))

        async with elsewhere(answer) as url, site(settings=told) as here:
            status, _, body = await here.post(PATH, asked())
            assert status == 200
            assert "error" in events(body)[-1]
            assert shown(b"\n\n".join(part for part in body.split(b"\n\n") if b'"error"' not in part)) == ""

    play(scene)


def test_a_server_whose_queue_is_full_is_not_ready() -> None:
    async def scene() -> None:
        async with site(settings=limited(check_queue=1)) as here:
            hold = asyncio.Event()
            here.app.checker._open = 1
            async with here.http.get(f"{here.url}/readyz") as response:
                assert (response.status, (await response.json())["status"]) == (503, "not ready")
            here.app.checker._open = 0
            async with here.http.get(f"{here.url}/readyz") as response:
                assert response.status == 200
            hold.set()

    play(scene)


def test_the_log_has_a_line_for_each_answer_and_no_secret_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)

    async def scene() -> None:
        async with two_upstreams() as (here, lab):
            here.upstream.script(json_answer(chat_completion(LATE)))
            lab.script(json_answer(chat_completion(TRUE)))
            secret = {"authorization": "Bearer of-the-client", "x_api_key": "another-secret"}
            await here.post(PATH, PLAIN, **secret)
            await here.post(f"/upstreams/lab{PATH}", PLAIN, **secret)
            await here.post(f"/upstreams/none{PATH}?key=in-the-query", PLAIN, **secret)
            lab.script(json_answer({"no": "answer"}))
            await here.post(f"/upstreams/lab{PATH}?key=in-the-query", PLAIN, **secret)

    play(scene)
    records = [record for record in caplog.records if record.name.startswith(("assay", "uvicorn", "aiohttp.client"))]
    answers = [record for record in records if record.getMessage().startswith("answer")]
    lines = [record.__dict__["line"] for record in answers]
    assert [line["action"] for line in lines] == ["block", "emit", "unchecked"]
    assert {"report_id", "route", "upstream", "mode", "status", "ms", "overhead_ms"} <= set(lines[0])
    written = " ".join(f"{record.getMessage()} {record.__dict__.get('line')}" for record in records)
    for secret in ("of-the-client", "another-secret", "held-secret", "in-the-query", "4 weeks", "partner leave"):
        assert secret not in written


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are forked on Linux only")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_server_that_is_told_to_stop_answers_everything_that_it_has_accepted(workers: str) -> None:
    async def scene() -> None:
        here, gate = asyncio.get_running_loop(), asyncio.Event()
        waiting = 0

        async def answer(request: web.Request) -> web.Response:
            nonlocal waiting
            await request.read()
            waiting += 1
            await gate.wait()
            return web.json_response(chat_completion(TRUE))

        async def asking(url: str, number: int) -> tuple[int, str]:
            async with aiohttp.ClientSession() as http, http.post(f"{url}{PATH}", json=PLAIN) as response:
                return response.status, (await response.json())["choices"][0]["message"]["content"]

        async def stopped(port: int, pid: int) -> list[tuple[int, str]]:
            asked_now = [asyncio.create_task(asking(f"http://127.0.0.1:{port}", n)) for n in range(8)]
            while waiting < len(asked_now):
                await asyncio.sleep(0.01)
            os.kill(pid, signal.SIGTERM)
            here.call_later(0.5, gate.set)
            return await asyncio.gather(*asked_now)

        def served(url: str) -> list[tuple[int, str]]:
            with serve("--workers", workers, "--upstream", url) as (port, process):
                return asyncio.run_coroutine_threadsafe(stopped(port, process.pid), here).result()

        async with elsewhere(answer) as url:
            assert await asyncio.to_thread(served, url) == [(200, TRUE)] * 8

    asyncio.run(asyncio.wait_for(scene(), 300))
