"""Requests under keys, in both databases: claimed by one, settled with the record, forgotten after their time."""

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select
from tests.store.making import DAY, EVIDENCE, RING, record_of
from tests.store.reviewing import Clock

from assay.errors import StoreError
from assay.store.audit.verification.log import verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.records.check_rows import change_of
from assay.store.records.erasure import erase_runs
from assay.store.records.idempotency_keys import (
    ClaimedCheck,
    ClaimOutcome,
    RequestKey,
    claim_request,
    drop_old_keys,
    note_issued,
    note_record,
    recorded_report,
    release_request,
)

ONE = RequestKey("acme", "key app", "k" * 64, "f" * 64, 1)
THREE = replace(ONE, key="l" * 64, checks=3)
LEASE, KEPT = 60.0, 3_600.0


@pytest.fixture
def clock() -> Clock:
    return Clock(DAY)


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with Store(url, clock=clock) as opened:
        yield opened


def claimed(store: Store, asked: RequestKey, holder: str, *, adds: bool = True) -> ClaimOutcome:
    return asyncio.run(claim_request(store, asked, holder, LEASE, KEPT, adds=adds)).outcome


def record(store: Store, asked: RequestKey, position: int, holder: str, *, settled: bool = True) -> str:
    """Records a check in the transaction that notes it under its key."""
    made = record_of(tenant=asked.tenant)
    change = change_of(made, store.now())
    store.apply(replace(change, act=note_record(asked, position, holder, made.id, settled=settled)))
    return made.id


def runs(store: Store, tenant: str = "acme") -> int:
    with store.reading(tenant) as connection:
        return int(connection.execute(select(func.count()).select_from(tables.runs)).scalar_one())


def test_a_request_is_claimed_once_until_its_time_is_up(store: Store, clock: Clock) -> None:
    assert claimed(store, ONE, "first") is ClaimOutcome.CLAIMED
    assert claimed(store, ONE, "second") is ClaimOutcome.IN_FLIGHT
    assert claimed(store, replace(ONE, fingerprint="g" * 64), "second") is ClaimOutcome.OTHER
    for elsewhere in (replace(ONE, tenant="globex"), replace(ONE, caller="key other")):
        assert claimed(store, elsewhere, "second") is ClaimOutcome.CLAIMED
    clock.go(seconds=LEASE + 1)
    assert claimed(store, ONE, "second") is ClaimOutcome.CLAIMED


def test_what_its_holder_lets_go_of_is_free_at_once(store: Store) -> None:
    claimed(store, ONE, "first")
    asyncio.run(release_request(store, ONE, "another"))
    assert claimed(store, ONE, "second") is ClaimOutcome.IN_FLIGHT
    asyncio.run(release_request(store, ONE, "first"))
    assert claimed(store, ONE, "second") is ClaimOutcome.CLAIMED


def test_who_lost_the_request_records_nothing(store: Store, clock: Clock) -> None:
    claimed(store, ONE, "first")
    clock.go(seconds=LEASE + 1)
    claimed(store, ONE, "second")
    with pytest.raises(StoreError, match="another request"):
        record(store, ONE, 0, "first")
    assert runs(store) == 0
    kept = record(store, ONE, 0, "second")
    with pytest.raises(StoreError, match="another request"):
        record(store, ONE, 0, "second")
    assert runs(store) == 1
    assert asyncio.run(claim_request(store, ONE, "third", LEASE, KEPT)).checks == (
        ClaimedCheck(kept, None, settled=True),
    )
    with store.reading("acme") as connection:
        assert verify_contents(connection, "acme", verify_log(connection, "acme", RING)).runs == 1


def test_a_receipt_that_is_still_to_come_is_of_one_holder(store: Store, clock: Clock) -> None:
    claimed(store, ONE, "first")
    kept = record(store, ONE, 0, "first", settled=False)
    assert claimed(store, ONE, "second") is ClaimOutcome.IN_FLIGHT
    clock.go(seconds=LEASE + 1)
    assert asyncio.run(claim_request(store, ONE, "second", LEASE, KEPT)).checks == (ClaimedCheck(kept),)

    def issue(holder: str) -> None:
        change = change_of(record_of(tenant="acme"), store.now())
        store.apply(replace(change, act=note_issued(ONE, 0, holder, kept, f"of {holder}")))

    with pytest.raises(StoreError, match="another request"):
        issue("first")
    issue("second")
    assert asyncio.run(claim_request(store, ONE, "third", LEASE, KEPT)).checks == (
        ClaimedCheck(kept, "of second", settled=True),
    )


def test_of_several_checks_those_that_are_recorded_stay_so(store: Store) -> None:
    claimed(store, THREE, "first")
    kept = record(store, THREE, 1, "first")
    asyncio.run(release_request(store, THREE, "first"))
    found = asyncio.run(claim_request(store, THREE, "second", LEASE, KEPT))
    assert found.checks == (ClaimedCheck(), ClaimedCheck(kept, None, settled=True), ClaimedCheck())
    for count in (1, 2, 4):
        assert claimed(store, replace(THREE, checks=count), "third") is ClaimOutcome.OTHER


def test_a_key_is_forgotten_after_its_time(store: Store, clock: Clock) -> None:
    claimed(store, ONE, "first")
    clock.go(seconds=KEPT + 1)
    assert claimed(store, replace(ONE, fingerprint="g" * 64), "second") is ClaimOutcome.CLAIMED
    claimed(store, THREE, "first")
    assert asyncio.run(drop_old_keys(store, "acme", ONE.caller, KEPT)) == 4
    clock.now += timedelta(seconds=KEPT + 1)
    assert asyncio.run(drop_old_keys(store, "acme", ONE.caller, KEPT)) == 0


def test_without_room_known_keys_alone_are_claimed(store: Store) -> None:
    assert claimed(store, ONE, "first", adds=False) is ClaimOutcome.NO_ROOM
    claimed(store, ONE, "first")
    asyncio.run(release_request(store, ONE, "first"))
    assert claimed(store, ONE, "second", adds=False) is ClaimOutcome.CLAIMED


def test_an_erasure_takes_the_digest_of_the_request_along(store: Store) -> None:
    claimed(store, THREE, "first")
    kept = record(store, THREE, 0, "first")
    erase_runs(store, [kept], "request", "acme")
    assert claimed(store, THREE, "second") is ClaimOutcome.GONE
    with store.reading("acme") as connection:
        assert set(connection.execute(select(tables.idempotency_keys.c.fingerprint)).scalars()) == {""}


def test_a_record_is_given_for_its_own_request_alone(store: Store) -> None:
    made = record_of(tenant="acme", asked={"answer": "x", "as_of": "2026-03-01"})
    store.record(made)

    def found(asked: Mapping[str, object], tenant: str = "acme", evidence: object = EVIDENCE) -> bool:
        return recorded_report(store, tenant, made.id, asked, evidence, ("as_of",)) is not None  # type: ignore[arg-type]

    assert found({"answer": "x", "as_of": None})
    assert not found({"answer": "y", "as_of": None})
    assert not found({"answer": "x"} | {"task": "qa"})
    assert not found({"answer": "x"}, "globex")
    assert not found({"answer": "x"}, evidence=EVIDENCE[:1])


def test_of_many_that_claim_at_once_one_has_it(url: str) -> None:
    """Each has a connection pool of its own, as a replica has."""
    with Store(url), ThreadPoolExecutor(4) as pool:

        def claims(name: int) -> list[bool]:
            with Store(url) as own:
                asked = (replace(ONE, key=f"{turn}", checks=1 + (name + turn) % 3) for turn in range(12))
                return [claimed(own, one, f"{name}") is ClaimOutcome.CLAIMED for one in asked]

        tried = [done.result() for done in [pool.submit(claims, name) for name in range(4)]]
    assert [sum(one) for one in zip(*tried, strict=True)] == [1] * 12
    with Store(url) as store, store.reading("acme") as connection:
        rows = connection.execute(select(tables.idempotency_keys)).all()
    assert len({(row.key, row.holder) for row in rows}) == 12
