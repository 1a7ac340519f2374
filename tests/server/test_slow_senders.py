"""Clients that send half of something, or nothing: they are sent away, and everybody else is served."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.server.gateway_site import QUICK, limited, play, site
from tests.server.test_api import BODY

from assay.server.app import create_app
from assay.server.gateway.asgi import SlowBodyError
from assay.server.guards import Guards
from assay.server.http.bodies import Bodies
from assay.server.http.slow_clients import raise_descriptors, timed_heads
from assay.server.settings import Limits, ServerSettings
from assay.store.db.store import Store
from assay.testing import FakeScorer

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def opened(url: str, sent: bytes) -> Pair:
    host, _, port = url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(sent)
    await writer.drain()
    return reader, writer


async def answer(pair: Pair) -> bytes:
    """All that comes until the other side closes."""
    found = await asyncio.wait_for(pair[0].read(), 20)
    pair[1].close()
    return found


def half(path: str, length: int = 100, body: bytes = b'{"name"') -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
    return head.encode() + b"\r\n" + body


@pytest.mark.parametrize(
    ("path", "shape"),
    [("/v1/check", "type"), ("/v1/chat/completions", "error"), ("/v1/messages", "error"), ("/v1/responses", "error")],
)
def test_a_body_that_does_not_come_in_time_is_refused_in_the_routes_own_form(path: str, shape: str) -> None:
    async def scene() -> None:
        async with site(settings=limited(body_s=0.3)) as here:
            found = await answer(await opened(here.url, half(path)))
            head, _, body = found.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408 ")
            assert b"connection: close" in head.lower()
            assert shape in json.loads(body)
            assert b"within 0.3 seconds" in body
            assert (here.app._in_flight.total, here.app._bodies.held, here.upstream.asked) == (0, 0, [])

    play(scene)


def test_strangers_with_half_bodies_give_way_to_who_signs_in(tmp_path: Path) -> None:
    async def scene() -> None:
        tight = limited(stranger_bodies=4, stranger_body_s=20.0)
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store, settings=tight) as here:
                stuck = [await opened(here.url, half(path)) for path in ("/v1/login", "/console/login") * 5]
                begun = time.monotonic()
                status, _, _ = await here.post("/v1/login", {"name": "ada", "password": "wrong"})
                assert status in (401, 404)
                assert time.monotonic() - begun < 5
                first = await answer(stuck[0])
                assert first.startswith(b"HTTP/1.1 408 ")
                for _, writer in stuck:
                    writer.close()
                while here.app._in_flight.total:
                    await asyncio.sleep(0.01)
                assert here.app._bodies.held == 0

    play(scene)


def test_many_strangers_who_come_in_one_moment_are_all_told_that_their_time_is_up() -> None:
    """Newcomers in one turn of the event loop, and in the next ones, end several bodies, and none of them twice."""

    async def scene() -> None:
        bodies = Bodies(replace(Limits(), stranger_bodies=4, stranger_body_s=0.5))
        scope: dict[str, Any] = {"type": "http", "method": "POST", "headers": []}

        async def never() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError("nothing comes")

        async def read(turns: int) -> bytes:
            for _ in range(turns):
                await asyncio.sleep(0)
            with bodies.room("nobody") as room:
                return await bodies.read_of_stranger(scope, never, room, "10.0.0.7")

        found = await asyncio.gather(*(read(n // 3) for n in range(40)), return_exceptions=True)
        assert {type(one) for one in found} == {SlowBodyError}

    asyncio.run(scene())


def test_a_newcomer_ends_no_body_whose_own_time_is_just_up() -> None:
    async def scene() -> None:
        bodies = Bodies(replace(Limits(), stranger_bodies=2, stranger_body_s=0.2))
        scope: dict[str, Any] = {"type": "http", "method": "POST", "headers": []}

        async def never() -> dict[str, Any]:
            await asyncio.Event().wait()
            raise AssertionError("nothing comes")

        async def read() -> bytes:
            with bodies.room("nobody") as room:
                return await bodies.read_of_stranger(scope, never, room, "10.0.0.7")

        first = [asyncio.create_task(read()) for _ in range(2)]
        await asyncio.sleep(0.1)
        # Their time is up, and the newcomer comes before their tasks have run.
        for body in bodies._strangers:
            body.timer.reschedule(asyncio.get_running_loop().time())
        while not all(body.timer.expired() for body in bodies._strangers):
            await asyncio.sleep(0)
            first.append(asyncio.create_task(read()))
        found = await asyncio.gather(*first, return_exceptions=True)
        assert {type(one) for one in found} == {SlowBodyError}

    asyncio.run(scene())


def test_a_stranger_sends_at_most_so_much(tmp_path: Path) -> None:
    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                found = await answer(await opened(here.url, half("/v1/login", 65_537, b"")))
                assert found.startswith(b"HTTP/1.1 413 ")
                assert b"65,536 bytes" in found

    play(scene)


def test_bodies_of_one_caller_take_at_most_half_of_the_memory_for_bodies() -> None:
    async def scene() -> None:
        async with site(settings=limited(bodies_bytes=20_000)) as here:
            found = await answer(await opened(here.url, half("/v1/check", 15_000, b" " * 11_000)))
            assert found.startswith(b"HTTP/1.1 503 ")
            assert here.app._bodies.held == 0
            status, _, _ = await here.post("/v1/check", BODY)
            assert status == 200

    play(scene)


def test_a_body_in_drops_is_read_whole_where_it_ends_in_time() -> None:
    async def scene() -> None:
        async with site() as here:
            body = json.dumps(BODY).encode()
            reader, writer = await opened(here.url, half("/v1/check", len(body), b""))
            for place in range(0, len(body), 40):
                writer.write(body[place : place + 40])
                await writer.drain()
                await asyncio.sleep(0.002)
            assert (await asyncio.wait_for(reader.readline(), 20)).startswith(b"HTTP/1.1 200 ")
            writer.close()

    play(scene)


@asynccontextmanager
async def timed(head_s: float, most: int, **config: Any) -> AsyncIterator[tuple[str, Any]]:
    """A server with times for heads, as the command starts it."""
    app = create_app(ServerSettings(limits=QUICK), guards=lambda: Guards("general", scorer=FakeScorer()))
    protocol = timed_heads(head_s, most)
    made = uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="on", http=protocol, **config)
    server = uvicorn.Server(made)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", protocol
    finally:
        server.should_exit = True
        await task


GET = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


def test_a_silent_connection_is_closed_and_half_a_head_is_told_why() -> None:
    async def scene() -> None:
        async with timed(0.3, 100) as (url, protocol):
            assert await answer(await opened(url, b"")) == b""
            assert (await answer(await opened(url, GET[:20]))).startswith(b"HTTP/1.1 408 ")
            assert len(protocol.heads) == 0

    play(scene)


def test_a_further_head_on_the_same_connection_has_its_time_too() -> None:
    async def scene() -> None:
        async with timed(0.3, 100) as (url, protocol):
            pair = await opened(url, GET + GET[:20])
            found = await answer(pair)
            assert found.startswith(b"HTTP/1.1 200 ")
            assert found.count(b"HTTP/1.1") == 1
            assert len(protocol.heads) == 0

    play(scene)


def test_the_connection_that_waits_longest_gives_way_where_there_are_too_many() -> None:
    async def scene() -> None:
        async with timed(20.0, 5) as (url, protocol):
            silent = [await opened(url, b"") for _ in range(5)]
            reader, writer = await opened(url, GET)
            assert (await asyncio.wait_for(reader.readline(), 10)).startswith(b"HTTP/1.1 200 ")
            assert await answer(silent[0]) == b""
            assert len(protocol.heads) == 5
            for _, other in [*silent, (reader, writer)]:
                other.close()
            while len(protocol.heads):
                await asyncio.sleep(0.01)

    play(scene)


def test_a_kept_connection_is_served_again_and_again() -> None:
    async def scene() -> None:
        async with timed(0.5, 100, timeout_keep_alive=20) as (url, _):
            reader, writer = await opened(url, b"")
            for _ in range(3):
                writer.write(GET)
                await writer.drain()
                found = await asyncio.wait_for(reader.readuntil(b'"ok"'), 10)
                assert found.count(b"HTTP/1.1 200 ") == 1
                await asyncio.sleep(0.7)  # longer than a head has: nothing has begun meanwhile
            writer.close()

    play(scene)


def test_a_server_may_open_as_many_files_as_the_system_lets_it() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(256, before[1]), before[1]))
        allowed = raise_descriptors(512)
        assert allowed == min(512, before[1])
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == allowed
        assert raise_descriptors(300) == allowed
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_thousand_half_sent_bodies_do_not_keep_a_person_from_signing_in(tmp_path: Path) -> None:
    raise_descriptors()

    async def scene() -> None:
        with Store(str(tmp_path / "assay.db")) as store:
            async with site(store=store) as here:
                host, _, port = here.url.removeprefix("http://").partition(":")
                stuck = []
                for _ in range(1_050):
                    one = socket.create_connection((host, int(port)))
                    one.sendall(half("/v1/login"))
                    stuck.append(one)
                    await asyncio.sleep(0)
                status, _, _ = await here.post("/v1/login", {"name": "ada", "password": "wrong"})
                assert status in (401, 404)
                async with here.http.get(here.url + "/healthz") as response:
                    assert response.status == 200
                for one in stuck:
                    one.close()

    play(scene)
