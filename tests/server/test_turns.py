"""Callers who read much, send half of something or come with bad keys: everybody else is answered, on every route."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select
from tests.server.gateway_site import Site, limited, play, site
from tests.server.test_api import BODY
from tests.server.test_repeats import Named
from tests.server.test_slow_senders import answer, half, opened
from tests.store.making import KEYS, record_of

from assay.server.http.downloads import IN_MEMORY, download
from assay.server.http.turns import OF_ONE, Turns
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.datasets import add_rows, make_dataset
from assay.store.db import tables
from assay.store.db.store import Store

NOBODY_KNOWN = "0" * 32


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(str(tmp_path / "assay.db")) as opened_store:
        yield opened_store


async def ignore(message: Any) -> None:
    del message


CALLERS = st.lists(st.tuples(st.sampled_from("abcd"), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(asked=CALLERS, most=st.integers(1, 6))
def test_all_have_their_turn_and_nobody_more_than_his_share(asked: list[tuple[str, bool, int]], most: int) -> None:
    """Some leave while they wait or while they are answered."""

    async def scene() -> None:
        turns, running, answered = Turns(most), Counter[str](), 0

        async def one(owner: str, steps: int) -> None:
            nonlocal answered
            async with turns.turn(owner, ignore):
                running[owner] += 1
                assert running[owner] <= OF_ONE
                assert running.total() <= most
                try:
                    for _ in range(steps):
                        await asyncio.sleep(0)
                    answered += 1
                finally:
                    running[owner] -= 1

        tasks = [asyncio.ensure_future(one(owner, steps)) for owner, _, steps in asked]
        await asyncio.sleep(0)
        for task, (_, leaves, _) in zip(tasks, asked, strict=True):
            if leaves:
                task.cancel()
                await asyncio.sleep(0)
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [one for one in found if isinstance(one, AssertionError)] == []
        assert answered >= sum(not leaves for _, leaves, _ in asked)
        assert (turns.running, turns._waiting) == (0, {})

    asyncio.run(scene())


def test_of_those_who_wait_the_caller_with_fewest_comes_first() -> None:
    async def scene() -> None:
        turns, order = Turns(2), list[str]()
        ends = {name: asyncio.Event() for name in ("a1", "a2", "a3", "b1")}

        async def one(name: str) -> None:
            async with turns.turn(name[0], ignore):
                order.append(name)
                await ends[name].wait()

        tasks = []
        for name in ends:
            tasks.append(asyncio.ensure_future(one(name)))
            await asyncio.sleep(0)
        assert order == ["a1", "a2"]
        ends["a1"].set()
        await asyncio.sleep(0.01)
        assert order == ["a1", "a2", "b1"]
        for end in ends.values():
            end.set()
        await asyncio.gather(*tasks)

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("headers", "ends"),
    [
        ([(b"content-length", b"3")], True),
        ([(b"content-type", b"text/event-stream; charset=utf-8")], True),
        ([(b"content-type", b"application/jsonl")], False),
    ],
)
def test_a_turn_ends_where_the_answer_is_made(headers: list[tuple[bytes, bytes]], ends: bool) -> None:
    async def scene() -> None:
        turns = Turns(1)
        async with turns.turn("a", ignore) as send:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            assert (turns.running == 0) is ends
        assert turns.running == 0

    asyncio.run(scene())


def test_who_reads_much_keeps_nobody_from_the_database(store: Store) -> None:
    """One caller asks for sixty exports at once; what another asks for comes while nearly all of them still wait."""
    ids = []
    for number in range(60):
        one = record_of(f"Partners get {number} weeks of leave.")
        store.record(one)
        ids.append(one.id)
    made = make_dataset(store, "default", "Leave", maker="ann", actor="local")
    add_rows(store, "default", made, ids, adder="ann", actor="local")

    async def scene() -> None:
        async with site(store=store, access=Named()) as here:
            done = 0

            async def asks(path: str, who: str) -> int:
                nonlocal done
                headers = {"x-test-caller": f"{who}/default"}
                async with here.http.get(here.url + path, headers=headers) as found:
                    await found.read()
                    done += who == "heavy"
                    return found.status

            heavy = [asyncio.ensure_future(asks(f"/v1/datasets/{made}/export", "heavy")) for _ in range(60)]
            while here.app._turns.running < OF_ONE:
                await asyncio.sleep(0.001)
            for path in ("/v1/datasets", f"/v1/datasets/{made}/rows", "/v1/reports", "/v1/changes", "/console/runs"):
                assert await asks(path, "good") in (200, 404), path
            status, _, _ = await here.post("/v1/check", BODY, x_test_caller="good/default")
            assert (status, done < 40) == (200, True)
            assert set(await asyncio.gather(*heavy)) == {200}
            assert here.app._turns.running == 0

    play(scene)


def test_a_file_that_nobody_reads_holds_no_turn() -> None:
    async def scene() -> None:
        turns, stuck, seen = Turns(1), asyncio.Event(), list[Any]()

        async def send(message: Any) -> None:
            seen.append(message)
            if message["type"] == "http.response.body":
                await stuck.wait()

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def reads() -> None:
            async with turns.turn("a", send) as sending:
                pieces = ("Leave. " * 1_000 for _ in range(1_000))
                await download(pieces, "text/plain")({"type": "http", "asgi": {}}, receive, sending)

        reading = asyncio.ensure_future(reads())
        while len(seen) < 2:
            await asyncio.sleep(0.001)
        async with turns.turn("a", ignore):
            assert turns.running == 1
        stuck.set()
        await reading
        sent = b"".join(message.get("body", b"") for message in seen)
        assert dict(seen[0]["headers"])[b"content-length"] == str(len(sent)).encode()
        assert len(sent) == 7_000_000 > IN_MEMORY

    asyncio.run(scene())


def test_exports_are_whole_before_they_are_sent(store: Store) -> None:
    store.record(record_of("Partners get 2 weeks of leave."))
    make_checkpoint(store, KEYS, "default")

    async def scene() -> None:
        async with site(store=store, access=Named()) as here:
            headers = {"x-test-caller": "one/default"}
            for path in ("/v1/audit/export?partial=true", "/v1/reviews/rows", "/console/audit/export?partial=true"):
                async with here.http.get(here.url + path, headers=headers) as found:
                    body = await found.read()
                    assert (found.status, found.headers["content-length"]) == (200, str(len(body))), path

    play(scene)


async def routes_with_bodies(here: Site) -> list[tuple[str, str]]:
    """Every operation of the document that has a body."""
    async with here.http.get(f"{here.url}/openapi.json") as document:
        paths = (await document.json())["paths"]
    return [
        (method.upper(), re.sub(r"\{[^}]*\}", NOBODY_KNOWN, path))
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    ]


def test_half_a_body_is_sent_away_on_every_route_and_holds_nothing(store: Store) -> None:
    async def scene() -> None:
        async with site(store=store, settings=limited(body_s=0.3)) as here:
            routes = await routes_with_bodies(here)
            named = {"/v1/screen", "/v1/consensus", "/v1/datasets", "/v1/changes", "/v1/batch"}
            assert named <= {path for _, path in routes}
            keyed = [half(path).replace(b"POST", method.encode(), 1) for method, path in routes]
            keyed = [one.replace(b"host:", b"idempotency-key: k-1\r\nhost:", 1) for one in keyed]
            stuck = [await opened(here.url, one) for one in keyed]
            assert (await here.post("/v1/check", BODY))[0] == 200
            for (method, path), pair in zip(routes, stuck, strict=True):
                assert (await answer(pair)).startswith(b"HTTP/1.1 408 "), f"{method} {path}"
            assert (here.app._in_flight.total, here.app._bodies.held, here.app._turns.running) == (0, 0, 0)
            with store.reading("default") as connection:
                assert connection.execute(select(func.count()).select_from(tables.idempotency_keys)).scalar_one() == 0

    play(scene)
