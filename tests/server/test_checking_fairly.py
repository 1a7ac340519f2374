"""Callers share the checks of a server: who asks for much waits for it, and nobody else does."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from tests.server.gateway_site import limited, play, site
from tests.server.test_api import BODY

from assay.models.fair_queue import FairQueue
from assay.server.caller import LOCAL, ActiveRequest, Caller, answering, called, owner_of
from assay.server.checking import LARGE_BYTES, LINGER_S, PACE_S, Checker, CheckFailedError
from assay.server.http.bodies import Shares
from assay.server.settings import Limits


class Work:
    """Checks that end when they are told to, and note who began."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.free = threading.Event()

    def __call__(self, name: str) -> Callable[[], str]:
        def work() -> str:
            self.begun.append(name)
            assert self.free.wait(20)
            return name

        return work


def run_as(checker: Checker, owner: str, work: Callable[[], str], size: int = 0) -> "asyncio.Task[str]":
    with answering(ActiveRequest(owner, size)):
        return asyncio.create_task(checker.run(work))


async def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end, "it did not come about in ten seconds"
        await asyncio.sleep(0.002)


@pytest.fixture
def lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who was served counts as being served for long, however busy the machine is."""
    monkeypatch.setattr("assay.server.checking.LINGER_S", 60.0)


def scene_of(told: Callable[[Checker, Work], Awaitable[None]], **limits: float) -> None:
    async def scene() -> None:
        given = {"threads": 1, "queue": 100, "seconds": 20.0} | limits
        checker = Checker(int(given["threads"]), int(given["queue"]), given["seconds"], turns=FairQueue(2))
        work = Work()
        try:
            await told(checker, work)
        finally:
            work.free.set()
            checker.close()

    play(scene)


def test_the_first_check_of_another_caller_comes_before_the_tenth_of_one() -> None:
    async def told(checker: Checker, work: Work) -> None:
        checks = [run_as(checker, "heavy", work(f"heavy {n}")) for n in range(10)]
        await until(lambda: len(work.begun) == 1)
        # What the first of them costs is not known before it ends: so it is said here.
        checker._turns.add("heavy", 1.0)
        checks.append(run_as(checker, "good", work("good")))
        await asyncio.sleep(0.01)
        work.free.set()
        await asyncio.gather(*checks)
        assert work.begun[:2] == ["heavy 0", "good"]
        assert len(work.begun) == 11
        assert checker.open == 0

    scene_of(told)


def test_who_asks_one_thing_at_a_time_finds_a_thread_free_beside_who_asks_many(lingering: None) -> None:
    """Also between its checks, in which it is answered and asks again."""

    async def told(checker: Checker, work: Work) -> None:
        work.free.set()
        assert await run_as(checker, "good", work("good")) == "good"
        work.free.clear()
        work.begun.clear()
        checks = [run_as(checker, "many", work(f"many {n}")) for n in range(10)]
        await until(lambda: len(work.begun) == 1)
        await asyncio.sleep(PACE_S / 2)
        checks.append(run_as(checker, "good", work("good")))
        await until(lambda: len(work.begun) == 2)
        assert work.begun == ["many 0", "good"]
        work.free.set()
        await asyncio.gather(*checks)

    scene_of(told, threads=2)


def test_who_asks_many_begins_a_check_each_so_often_while_another_is_served_and_loses_none() -> None:
    async def told(checker: Checker, work: Work) -> None:
        work.free.set()
        await run_as(checker, "good", work("good"))
        begun = time.monotonic()
        await asyncio.gather(*(run_as(checker, "many", work(f"many {n}")) for n in range(30)))
        # The first few are paced, the others begin when the other has been gone for a while.
        assert time.monotonic() - begun > LINGER_S / 2
        assert sorted(work.begun) == sorted(["good", *(f"many {n}" for n in range(30))])

    scene_of(told, threads=2)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_check_holds_back_no_short_one_of_its_caller(threads: int) -> None:
    async def told(checker: Checker, work: Work) -> None:
        work.free.set()
        for owner in ("one", "two", "three"):
            await run_as(checker, owner, work(owner))
        work.free.clear()
        long = run_as(checker, "many", work("long"), LARGE_BYTES + 1)
        await until(lambda: "long" in work.begun)
        short = run_as(checker, "many", work("short"))
        await until(lambda: "short" in work.begun)
        work.free.set()
        await asyncio.gather(long, short)

    scene_of(told, threads=threads)


def test_what_ends_a_request_comes_first_of_its_caller_and_is_not_paced(lingering: None) -> None:
    async def told(checker: Checker, work: Work) -> None:
        work.free.set()
        await run_as(checker, "good", work("good"))
        work.free.clear()
        checks = [run_as(checker, "many", work(f"many {n}")) for n in range(9)]
        await until(lambda: "many 0" in work.begun)
        with answering(ActiveRequest("many", 0)):
            checks.append(asyncio.create_task(checker.run(work("signature"), follows=True)))
        await until(lambda: "signature" in work.begun)
        assert work.begun[-2:] == ["many 0", "signature"]
        work.free.set()
        await asyncio.gather(*checks)

    scene_of(told, threads=2)


def test_alone_or_among_equals_nobody_waits_for_a_thread_that_is_free() -> None:
    async def told(checker: Checker, work: Work) -> None:
        work.free.set()
        for owner in ("one", "other", "one", "other"):
            await run_as(checker, owner, work(owner))
        work.free.clear()
        work.begun.clear()
        checks = [run_as(checker, owner, work(owner)) for owner in ("one", "one", "other", "other")]
        await until(lambda: len(work.begun) == 2)
        work.free.set()
        await asyncio.gather(*checks)

    scene_of(told, threads=2)


def test_a_short_check_never_waits_for_a_long_one_and_long_ones_wait_for_each_other() -> None:
    async def told(checker: Checker, work: Work) -> None:
        large = LARGE_BYTES + 1
        long = [run_as(checker, f"caller {n}", work(f"long {n}"), large) for n in range(3)]
        await until(lambda: len(work.begun) == 1)
        short = run_as(checker, "good", lambda: "done")
        assert await short == "done"
        assert work.begun == ["long 0"]
        work.free.set()
        await asyncio.gather(*long)
        assert work.begun == ["long 0", "long 1", "long 2"]

    scene_of(told)


def test_where_the_queue_is_full_the_longest_gives_way_and_its_owner_is_told() -> None:
    async def told(checker: Checker, work: Work) -> None:
        heavy = [run_as(checker, "heavy", work(f"heavy {n}")) for n in range(4)]
        await until(lambda: len(work.begun) == 1)
        assert checker.full
        good = run_as(checker, "good", work("good"))
        with pytest.raises(CheckFailedError, match="most of them were yours"):
            await heavy[3]
        with pytest.raises(CheckFailedError, match="at most 4 checks may wait"):
            await run_as(checker, "heavy", work("heavy 4"))
        work.free.set()
        assert await good == "good"
        assert await asyncio.gather(*heavy[:3]) == ["heavy 0", "heavy 1", "heavy 2"]

    scene_of(told, queue=4)


def test_a_check_that_overran_its_time_gets_no_further_turns_and_counts_until_it_ends() -> None:
    async def told(checker: Checker, work: Work) -> None:
        from assay.models.fair_queue import StoppedError, current_ticket

        found: list[type[BaseException]] = []

        def slow() -> str:
            assert work.free.wait(20)
            ticket = current_ticket()
            assert ticket is not None
            try:
                with ticket.turn():
                    return "it had a turn"
            except StoppedError as error:
                found.append(type(error))
                raise

        with pytest.raises(CheckFailedError, match="longer than"):
            await run_as(checker, "heavy", slow)
        assert checker.open == 1
        work.free.set()
        await until(lambda: checker.open == 0)
        assert found == [StoppedError]

    scene_of(told, seconds=0.2)


def test_a_check_whose_client_left_while_it_waited_never_runs() -> None:
    async def told(checker: Checker, work: Work) -> None:
        running = run_as(checker, "a", work("running"))
        await until(lambda: work.begun == ["running"])
        waiting = run_as(checker, "b", work("waiting"))
        await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        work.free.set()
        await running
        await until(lambda: checker.open == 0)
        assert work.begun == ["running"]

    scene_of(told)


def test_what_work_raises_reaches_who_waits() -> None:
    async def told(checker: Checker, _: Work) -> None:
        def exhausted() -> str:
            return next(iter(()))

        for broken, said in ((exhausted, "RuntimeError"), (lambda: str(1 // 0), "ZeroDivisionError")):
            with pytest.raises(CheckFailedError, match=said):
                await run_as(checker, "a", broken)
        assert checker.open == 0

    scene_of(told)


def test_callers_are_told_apart_by_key_or_user_and_else_by_address() -> None:
    key = Caller("bot", frozenset(), "acme", "key", "k-1")
    assert owner_of(key, "10.0.0.1") == owner_of(key, "10.0.0.2")
    assert owner_of(key, "10.0.0.1") != owner_of(replace(key, tenant="other"), "10.0.0.1")
    assert owner_of(LOCAL, "10.0.0.1") != owner_of(LOCAL, "10.0.0.2")
    assert called().owner == "the server"


def test_one_owner_has_at_most_half_of_what_there_is() -> None:
    shares = Shares(10)
    assert [shares.take("a") for _ in range(6)] == [True] * 5 + [False]
    assert shares.take("b", 5)
    assert not shares.take("c")
    shares.give_back("a", 5)
    assert shares.take("c", 5)
    assert shares.total == 10


def test_one_caller_cannot_take_all_requests_that_may_be_open() -> None:
    async def scene() -> None:
        release = asyncio.Event()
        async with site(settings=limited(in_flight=4)) as here:
            original = here.app._access_middleware

            async def slow(scope: object, receive: object, send: object) -> None:
                await release.wait()
                await original(scope, receive, send)  # type: ignore[arg-type]

            here.app._access_middleware = slow  # type: ignore[assignment]
            asked = [asyncio.create_task(here.post("/v1/check", BODY)) for _ in range(2)]
            await until(lambda: here.app._in_flight.total == 2)
            status, headers, body = await here.post("/v1/check", BODY)
            assert (status, headers["retry-after"]) == (503, "1")
            assert b"as many requests open as one caller may" in body
            release.set()
            assert [status for status, _, _ in await asyncio.gather(*asked)] == [200, 200]

    play(scene)


def test_each_check_of_a_batch_counts_with_its_own_share_of_the_body() -> None:
    async def scene() -> None:
        async with site() as here:
            sizes: list[int | None] = []
            run = here.app.checker.run

            async def noting(work: Callable[[], object], *, size: int | None = None) -> object:
                sizes.append(size)
                return await run(work, size=size)

            here.app.checker.run = noting  # type: ignore[assignment, method-assign]
            status, _, _ = await here.post("/v1/batch", {"requests": [BODY] * 4})
            assert status == 200
            assert len(sizes) >= 4
            assert all(size is not None and size <= 1_000 for size in sizes)

    play(scene)


def test_limits_say_what_they_expect() -> None:
    from assay.errors import PolicyError

    for name in ("head_s", "heads", "body_s", "bodies_bytes", "stranger_bodies", "stranger_body_s"):
        with pytest.raises(PolicyError, match=f"the limit {name} is a number"):
            Limits(**{name: 0})
