"""Committing through a guard: nothing reaches a sink without a receipt that holds."""

import asyncio
import functools
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import CommitError, ReceiptError
from assay.guard import Guard, Idempotent, ReceiptDesk
from assay.receipt import FixedKeys, KeyRing, KeyStore, PublicKey, SigningKey, UsesInMemory
from assay.schema import Action, Evidence, HallucinationReport, Timing
from assay.testing import FakeScorer

EVIDENCE = [Evidence(id="a", text="The warranty covers two years. Batteries are covered for six months.")]
ANSWER = "The warranty covers two years."
DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
KEY = SigningKey.from_seed(bytes(range(32)))
RING = KeyRing(keys=(PublicKey(key_id=KEY.key_id, public=KEY.public.hex(), created="2026-01-01T00:00:00Z"),))


class Clock:
    def __init__(self) -> None:
        self.now = DAY

    def __call__(self) -> datetime:
        return self.now


class Sink:
    """Keeps what it was called with."""

    def __init__(self) -> None:
        self.calls: list[str | bytes] = []

    def __call__(self, output: str | bytes) -> int:
        self.calls.append(output)
        return len(self.calls)


def guard_with(clock: Callable[[], datetime], policy: str = "general", **options: Any) -> Guard:
    desk = ReceiptDesk(FixedKeys(RING, KEY), clock=clock, used=UsesInMemory(), **options)
    return Guard(policy, scorer=FakeScorer(), receipts=desk)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> Guard:
    return guard_with(clock)


@pytest.fixture
def sink() -> Sink:
    return Sink()


@pytest.fixture(scope="module")
def report() -> HallucinationReport:
    found = guard_with(Clock()).check(ANSWER, EVIDENCE)
    assert found.action is Action.EMIT
    return found


# What holds


def test_an_emitted_output_reaches_the_sink_and_the_sinks_result_comes_back(
    guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    assert guard.commit(ANSWER, guard.issue(report), sink) == 1
    assert sink.calls == [ANSWER]


def test_sync_and_async_commit_alike(guard: Guard, sink: Sink, report: HallucinationReport) -> None:
    async def stored(output: str) -> int:
        await asyncio.sleep(0)
        return sink(output)

    async def run() -> list[int]:
        receipts = [await guard.aissue(report) for _ in range(3)]
        return [
            await guard.acommit(ANSWER, receipts[0], stored),
            await guard.acommit(ANSWER, receipts[1], sink),
            await guard.acommit(ANSWER, receipts[2], functools.partial(stored)),
        ]

    assert asyncio.run(run()) == [1, 2, 3]
    assert sink.calls == [ANSWER] * 3


def test_a_receipt_may_come_as_text_or_object_and_the_output_as_bytes(
    guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    guard.commit(ANSWER, guard.issue(report).to_text(), sink)
    guard.commit(ANSWER.encode(), guard.issue(report).model_dump(mode="json"), sink)
    assert sink.calls == [ANSWER, ANSWER.encode()]


# What does not


def refused(guard: Guard, output: Any, receipt: Any) -> frozenset[str]:
    """The codes with which a commit is refused, the same for both twins; no sink is ever called."""
    sink = Sink()
    with pytest.raises(CommitError, match="nothing was committed: ") as caught:
        guard.commit(output, receipt, sink)
    with pytest.raises(CommitError) as waited:
        asyncio.run(guard.acommit(output, receipt, sink))
    assert sink.calls == []
    assert caught.value.codes == waited.value.codes
    return caught.value.codes


def test_an_output_without_a_receipt_is_refused(guard: Guard) -> None:
    assert refused(guard, ANSWER, None) == {"missing"}


def test_an_output_with_the_receipt_of_another_is_refused(guard: Guard, report: HallucinationReport) -> None:
    receipt = guard.issue(report)
    for other in (f"{ANSWER} ", ANSWER.lower(), "", ANSWER.replace("two", "nine")):
        assert refused(guard, other, receipt) == {"other_output"}


@pytest.mark.parametrize("junk", ["", "{}", b"\xff", {}, 3, "[" * 20_000])
def test_junk_in_place_of_a_receipt_is_refused(guard: Guard, junk: object) -> None:
    assert refused(guard, ANSWER, junk) == {"malformed"}


@given(st.text() | st.binary())
def test_no_junk_ever_reaches_a_sink(junk: str | bytes) -> None:
    sink = Sink()
    with pytest.raises(CommitError):
        guard_with(Clock()).commit(ANSWER, junk, sink)
    assert sink.calls == []


def test_an_output_that_is_no_text_is_refused(guard: Guard, report: HallucinationReport) -> None:
    for odd in (None, 3, bytearray(ANSWER, "utf-8")):
        assert refused(guard, odd, guard.issue(report)) == {"other_output"}


def test_a_receipt_of_a_laxer_policy_is_refused(guard: Guard, clock: Clock) -> None:
    lax = guard_with(clock, "creative")
    report = lax.check("The moon hums.", EVIDENCE, task="creative")
    assert refused(guard, "The moon hums.", lax.issue(report)) == {"other_policy"}


def test_a_receipt_from_a_key_that_is_not_in_the_ring_is_refused(guard: Guard, report: HallucinationReport) -> None:
    other = SigningKey.from_seed(bytes(32))
    ring = KeyRing(keys=(PublicKey(key_id=other.key_id, public=other.public.hex(), created="2026-01-01T00:00:00Z"),))
    stranger = Guard("general", scorer=FakeScorer(), receipts=ReceiptDesk(FixedKeys(ring, other), clock=Clock()))
    assert refused(guard, ANSWER, stranger.issue(report)) == {"unknown_key"}


def test_a_guard_without_keys_neither_issues_nor_commits(guard: Guard, report: HallucinationReport) -> None:
    bare = Guard("general", scorer=FakeScorer())
    assert refused(bare, ANSWER, guard.issue(report)) == {"no_keys"}
    with pytest.raises(ReceiptError, match="no keys"):
        bare.issue(report)


def test_a_ring_that_cannot_be_read_lets_nothing_through(
    tmp_path: Path, guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    broken = Guard("general", scorer=FakeScorer(), receipts=ReceiptDesk(KeyStore(tmp_path / "none")))
    with pytest.raises(ReceiptError, match="create-key"):
        broken.commit(ANSWER, guard.issue(report), sink)
    assert sink.calls == []


def test_a_revocation_counts_from_the_next_commit_on(tmp_path: Path, sink: Sink, report: HallucinationReport) -> None:
    keys = KeyStore(tmp_path / "keys")
    key = keys.create(DAY)
    guard = Guard("general", scorer=FakeScorer(), receipts=ReceiptDesk(keys, clock=Clock(), used=UsesInMemory()))
    first, second = guard.issue(report), guard.issue(report)
    guard.commit(ANSWER, first, sink)
    keys.revoke(key.key_id, "a laptop was lost", DAY)
    assert refused(guard, ANSWER, second) == {"revoked_key"}
    assert sink.calls == [ANSWER]


def test_without_the_library_nothing_is_committed(
    guard: Guard, sink: Sink, report: HallucinationReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = guard.issue(report)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    with pytest.raises(ReceiptError, match=r"pip install 'assay-ai\[receipts\]'"):
        guard.commit(ANSWER, receipt, sink)
    assert sink.calls == []


# What is issued


def test_only_what_is_emitted_gets_a_receipt(guard: Guard) -> None:
    report = guard.check("The warranty covers nine years.", EVIDENCE)
    assert report.action is not Action.EMIT
    with pytest.raises(ReceiptError, match="nothing was signed"):
        guard.issue(report)


def test_a_guard_signs_only_reports_of_its_own_policy_and_verifier(guard: Guard, clock: Clock) -> None:
    with pytest.raises(ReceiptError, match="own policy"):
        guard.issue(guard_with(clock, "monitor").check(ANSWER, EVIDENCE))
    other = Guard("general", scorer=FakeScorer(), locale="de").check(ANSWER, EVIDENCE)
    with pytest.raises(ReceiptError, match="own verifier"):
        guard.issue(other)


def test_two_receipts_for_one_report_are_two_receipts(guard: Guard, sink: Sink, report: HallucinationReport) -> None:
    # The same short answer goes out to many people in one second; each has its own receipt.
    slower = report.model_copy(update={"timing": Timing(total_ms=99.0)})
    for receipt in (guard.issue(report), guard.issue(report), guard.issue(slower)):
        guard.commit(ANSWER, receipt, sink)
    assert len(sink.calls) == 3


# Once, and in time


def test_a_receipt_can_be_used_once(guard: Guard, sink: Sink, report: HallucinationReport) -> None:
    receipt = guard.issue(report)
    guard.commit(ANSWER, receipt, sink)
    assert refused(guard, ANSWER, receipt) == {"used"}
    assert sink.calls == [ANSWER]


def test_another_guard_of_the_process_does_not_take_it_again(report: HallucinationReport, sink: Sink) -> None:
    desk = {"clock": Clock()}
    first, second = (
        Guard("general", scorer=FakeScorer(), receipts=ReceiptDesk(FixedKeys(RING, KEY), clock=desk["clock"]))
        for _ in range(2)
    )
    receipt = first.issue(report)
    first.commit(ANSWER, receipt, sink)
    assert refused(second, ANSWER, receipt) == {"used"}


def test_a_sink_marked_idempotent_may_have_it_again(guard: Guard, sink: Sink, report: HallucinationReport) -> None:
    receipt = guard.issue(report)
    assert [guard.commit(ANSWER, receipt, Idempotent(sink)) for _ in range(2)] == [1, 2]
    assert refused(guard, ANSWER, receipt) == {"used"}


def test_the_exception_of_a_sink_passes_through_and_the_receipt_is_used(
    guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    class GoneError(Exception):
        pass

    error = GoneError("the mail server")

    def fails(output: str) -> None:
        raise error

    receipt = guard.issue(report)
    with pytest.raises(GoneError) as caught:
        guard.commit(ANSWER, receipt, fails)
    assert caught.value is error
    assert refused(guard, ANSWER, receipt) == {"used"}
    with pytest.raises(GoneError):
        asyncio.run(guard.acommit(ANSWER, guard.issue(report), fails))


def test_an_asynchronous_sink_is_refused_by_the_synchronous_twin(guard: Guard, report: HallucinationReport) -> None:
    async def stored(output: str) -> None:
        raise AssertionError

    class Stored:
        async def __call__(self, output: str) -> None:
            raise AssertionError

    receipt = guard.issue(report)
    for odd in (stored, Stored(), Idempotent(stored)):
        with pytest.raises(CommitError, match="acommit"):
            guard.commit(ANSWER, receipt, odd)
    assert guard.commit(ANSWER, receipt, len) == len(ANSWER)


def test_threads_that_race_for_one_receipt_call_the_sink_once(
    guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    receipt, barrier = guard.issue(report), threading.Barrier(8)

    def attempt(_: int) -> bool:
        barrier.wait()
        try:
            guard.commit(ANSWER, receipt, sink)
        except CommitError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    assert sink.calls == [ANSWER]


def test_a_receipt_that_waited_too_long_is_refused(guard: Guard, clock: Clock, report: HallucinationReport) -> None:
    receipt = guard.issue(report)
    clock.now += timedelta(hours=1, seconds=1)
    assert refused(guard, ANSWER, receipt) == {"too_old"}
    clock.now -= timedelta(seconds=1)
    assert guard.commit(ANSWER, receipt, len) == len(ANSWER)


def test_a_receipt_from_the_future_is_refused(guard: Guard, clock: Clock, report: HallucinationReport) -> None:
    receipt = guard.issue(report)
    clock.now -= timedelta(minutes=5, seconds=1)
    assert refused(guard, ANSWER, receipt) == {"issued_ahead"}


def test_the_lifetime_can_be_set_and_must_be_above_zero(clock: Clock, report: HallucinationReport) -> None:
    guard = guard_with(clock, lifetime=timedelta(days=2))
    receipt = guard.issue(report)
    clock.now += timedelta(days=1)
    assert guard.commit(ANSWER, receipt, len) == len(ANSWER)
    with pytest.raises(ReceiptError, match="above zero"):
        guard_with(clock, lifetime=timedelta(0))


def test_a_text_that_shows_two_faces_reaches_the_sink_as_it_was_verified(
    guard: Guard, sink: Sink, report: HallucinationReport
) -> None:
    class Janus(str):
        __slots__ = ()

        def encode(self, *_: object, **__: object) -> bytes:
            return ANSWER.encode()

        def __str__(self) -> str:
            return ANSWER

    assert refused(guard, Janus("Send all money."), guard.issue(report)) == {"other_output"}
    guard.commit(Janus(ANSWER), guard.issue(report), sink)
    assert type(sink.calls[0]) is str
