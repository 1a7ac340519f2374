"""The contract of what remembers used receipts, for the memory of a process and for both databases."""

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text
from tests.store.making import KEYS, RING
from tests.store.reviewing import Clock

from assay.errors import StoreError
from assay.receipt.interface import Claim, Outcome, Use, Uses
from assay.receipt.uses import FORGOTTEN_AFTER, UsesInMemory
from assay.store.audit.entries import COMMIT, read_entry_data
from assay.store.audit.merkle.checkpoint_signing import make_checkpoint
from assay.store.audit.verification.incremental import verify_contents_since
from assay.store.audit.verification.log import FindingCode, verify_log
from assay.store.audit.verification.run_contents import verify_contents
from assay.store.db.engine import writing
from assay.store.db.row_security import EVERY_TENANT, set_acting_tenant
from assay.store.db.store import Store
from assay.store.db.tables import audit_entries, receipt_uses
from assay.store.records.erasure import erase_before
from assay.store.records.receipt_uses import SWEPT_AT_ONCE, UNSETTLED_KEPT, UsesInStore, list_uses

DAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
KEY = "a" * 32


def use_of(issued: datetime = DAY, *, lasts: timedelta = HOUR, key: str = KEY, receipt: str | None = None) -> Use:
    """A use of a new receipt."""
    name = receipt or secrets.token_hex(16)
    return Use(key, name, secrets.token_hex(32), issued, issued + lasts)


@pytest.fixture
def clock() -> Clock:
    return Clock(DAY)


@pytest.fixture
def store(url: str, clock: Clock) -> Iterator[Store]:
    with Store(url, clock=clock) as opened:
        yield opened


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def uses(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Uses]:
    """Each of what remembers uses, going by one clock."""
    if request.param == "memory":
        yield UsesInMemory()
        return
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'uses.db'}"
    else:
        url = request.getfixturevalue("empty_postgres")
    with Store(url, clock=clock) as opened:
        yield UsesInStore(opened, clock=lambda _: clock.now)


# The contract


def test_the_first_claim_of_a_receipt_is_the_only_one(uses: Uses, clock: Clock) -> None:
    use = use_of()
    assert [uses.claim(use, clock.now) for _ in range(3)] == [Claim.FIRST, Claim.USED, Claim.USED]
    assert uses.claim(use_of(), clock.now) is Claim.FIRST


def test_what_became_of_the_sink_changes_nothing_of_the_claim(uses: Uses, clock: Clock) -> None:
    for outcome in Outcome:
        use = use_of()
        assert uses.claim(use, clock.now) is Claim.FIRST
        uses.settle(use, outcome)
        assert uses.claim(use, clock.now) is Claim.USED


def test_another_receipt_under_the_same_id_is_not_taken_for_the_first(uses: Uses, clock: Clock) -> None:
    use = use_of()
    assert uses.claim(use, clock.now) is Claim.FIRST
    assert uses.claim(use_of(receipt=use.receipt_id), clock.now) is Claim.TAKEN
    assert uses.claim(use, clock.now) is Claim.USED


def test_the_id_of_a_receipt_is_its_keys_own(uses: Uses, clock: Clock) -> None:
    use = use_of()
    assert uses.claim(use, clock.now) is Claim.FIRST
    assert uses.claim(use_of(key="b" * 32, receipt=use.receipt_id), clock.now) is Claim.FIRST


def test_what_is_too_old_is_never_used(uses: Uses, clock: Clock) -> None:
    use = use_of()
    clock.now = use.until + timedelta(seconds=1)
    assert uses.claim(use, clock.now) is Claim.LATE
    clock.now = use.until
    assert uses.claim(use, clock.now) is Claim.FIRST


def test_a_clock_that_was_set_back_opens_nothing_anew(uses: Uses, clock: Clock) -> None:
    use = use_of()
    assert uses.claim(use, clock.now) is Claim.FIRST
    clock.now = use.until + FORGOTTEN_AFTER - timedelta(seconds=1)
    assert uses.claim(use_of(clock.now), clock.now) is Claim.FIRST
    clock.now = DAY
    assert uses.claim(use, clock.now) is Claim.USED


def test_a_longer_lifetime_opens_nothing_that_was_forgotten(uses: Uses, clock: Clock) -> None:
    used = [use_of(DAY + timedelta(minutes=minute)) for minute in range(3)]
    assert {uses.claim(use, clock.now) for use in used} == {Claim.FIRST}
    clock.now = DAY + HOUR * 3
    for use in used:
        longer = Use(use.key_id, use.receipt_id, use.digest, use.issued, use.issued + timedelta(days=2))
        assert uses.claim(longer, clock.now) in (Claim.USED, Claim.LATE)
    # Nobody could tell whether this one was used and forgotten.
    assert uses.claim(use_of(DAY, lasts=timedelta(days=2)), clock.now) is Claim.LATE
    assert uses.claim(use_of(DAY + HOUR, lasts=timedelta(days=2)), clock.now) is Claim.FIRST


def test_of_threads_that_race_one_is_first(uses: Uses, clock: Clock) -> None:
    for _ in range(5):
        use, barrier = use_of(), threading.Barrier(8)

        def attempt(_: int, use: Use = use, barrier: threading.Barrier = barrier) -> Claim:
            barrier.wait()
            return uses.claim(use, clock.now)

        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(attempt, range(8))) == [Claim.FIRST] + [Claim.USED] * 7


STEPS = st.lists(
    st.tuples(
        st.integers(0, 5), st.integers(-30, 60), st.sampled_from([10, 60, 600]), st.integers(0, 400), st.booleans()
    ),
    max_size=40,
)


@given(STEPS)
def test_memory_takes_no_receipt_twice_whatever_the_lifetimes_and_the_order(
    steps: list[tuple[int, int, int, int, bool]],
) -> None:
    _never_twice(UsesInMemory(), Clock(DAY), steps)


def test_the_database_takes_no_receipt_twice_whatever_the_lifetimes_and_the_order(tmp_path: Path) -> None:
    clock, number = Clock(DAY), iter(range(10**6))
    with Store(str(tmp_path / "x.db"), clock=clock) as store:

        @given(STEPS)
        def tried(steps: list[tuple[int, int, int, int, bool]]) -> None:
            clock.now = DAY
            tenant = f"t{next(number)}"
            memory, stored = UsesInMemory(), UsesInStore(store, tenant)
            found = _never_twice(stored, clock, steps, key=tenant)
            if all(minutes >= 0 for _, minutes, *_ in steps):
                # The two tell apart alike what is first, as long as the clock goes on.
                known = _never_twice(memory, Clock(DAY), steps, key=tenant)
                assert [one is Claim.FIRST for one in found] == [one is Claim.FIRST for one in known]

        tried()


def _never_twice(uses: Uses, clock: Clock, steps: list[tuple[int, int, int, int, bool]], key: str = KEY) -> list[Claim]:
    """What came of claims of six receipts with other lifetimes, while time goes on."""
    found, firsts = [], set()
    begun = [DAY + timedelta(minutes=20 * number) for number in range(6)]
    for which, minutes, lasts, later, settles in steps:
        issued = begun[which]
        use = Use(key, f"{which:032x}", f"{which:064x}", issued, issued + timedelta(minutes=lasts))
        claim = uses.claim(use, clock.now)
        found.append(claim)
        assert claim is not Claim.FIRST or which not in firsts
        if claim is Claim.FIRST:
            firsts.add(which)
        if settles and claim is not Claim.LATE:
            uses.settle(use, Outcome.RETURNED)
        # The clock goes on, and now and then back by less than what is allowed for.
        clock.now += timedelta(minutes=later if minutes >= 0 else minutes)
    return found


def test_memory_forgets_what_can_no_longer_be_committed() -> None:
    used = UsesInMemory()
    for number in range(5_000):
        now = DAY + timedelta(minutes=number)
        assert used.claim(use_of(now), now) is Claim.FIRST
        assert len(used) <= 121


# In the database


def stored(store: Store) -> int:
    with store.reading_across() as connection:
        return len(connection.execute(select(receipt_uses.c.receipt)).all())


def test_rows_are_dropped_when_their_receipts_can_no_longer_be_committed(store: Store, clock: Clock) -> None:
    uses, settled = UsesInStore(store, clock=lambda _: clock.now), []
    for second in range(300):
        settled.append(use_of(DAY + timedelta(seconds=second)))
        assert uses.claim(settled[-1], clock.now) is Claim.FIRST
        uses.settle(settled[-1], Outcome.RETURNED)
    unsettled = use_of()
    assert uses.claim(unsettled, clock.now) is Claim.FIRST
    assert stored(store) == 301
    clock.now += HOUR * 3 + timedelta(minutes=10)
    uses.claim(use_of(clock.now), clock.now)
    assert stored(store) == 302 - SWEPT_AT_ONCE
    uses.claim(use_of(clock.now), clock.now)
    # The two that are new, the newest of those that are old, and one of which people have to hear.
    assert stored(store) == 4
    assert [one.receipt_id for one in list_uses(store, unsettled=True)][-1] == unsettled.receipt_id
    clock.now += UNSETTLED_KEPT
    uses.claim(use_of(clock.now), clock.now)
    assert unsettled.receipt_id not in [one.receipt_id for one in list_uses(store)]


def test_what_one_tenant_used_is_used_for_all_and_shown_to_none_of_them(store: Store, clock: Clock) -> None:
    acme, globex = (UsesInStore(store, name, clock=lambda _: clock.now) for name in ("acme", "globex"))
    use = use_of()
    assert acme.claim(use, clock.now) is Claim.FIRST
    assert globex.claim(use, clock.now) is Claim.TAKEN
    globex.settle(use, Outcome.RAISED)
    assert [one.outcome for one in list_uses(store, "acme")] == [None]
    assert list_uses(store, "globex") == []


def test_people_see_who_claimed_and_what_became_of_it(store: Store, clock: Clock) -> None:
    uses, use = UsesInStore(store, clock=lambda _: clock.now), use_of()
    uses.claim(use, clock.now)
    (seen,) = list_uses(store, unsettled=True)
    assert (seen.receipt_id, seen.key_id, seen.claimed, seen.until, seen.outcome) == (
        use.receipt_id,
        KEY,
        clock.now,
        use.until,
        None,
    )
    assert ":" in seen.holder
    uses.settle(use, Outcome.RAISED)
    assert list_uses(store, unsettled=True) == []
    assert [one.outcome for one in list_uses(store)] == [Outcome.RAISED]


def test_the_clock_that_counts_is_the_databases_own_in_postgresql(url: str) -> None:
    # The machine's clock lies ten days ahead; PostgreSQL's does not.
    ahead = Clock(datetime.now(UTC) + timedelta(days=10))
    now = datetime.now(UTC)
    with Store(url, clock=ahead) as store:
        found = UsesInStore(store).claim(use_of(now), now)
    assert found is (Claim.FIRST if url.startswith("postgresql") else Claim.LATE)


def test_each_first_use_is_an_entry_of_the_log_and_no_other_try_is(store: Store, clock: Clock) -> None:
    uses, use = UsesInStore(store, clock=lambda _: clock.now), use_of()
    for _ in range(3):
        uses.claim(use, clock.now)
    with store.reading("default") as connection:
        found = connection.execute(select(audit_entries.c.kind, audit_entries.c.data)).all()
    assert [row.kind for row in found] == [COMMIT]
    told = read_entry_data(bytes(found[0].data))
    assert (told["receipt"], told["key"], told["at"]) == (use.receipt_id, KEY, "2026-03-01T12:00:00Z")


def test_a_use_that_was_deleted_beside_the_log_is_found_when_it_is_used_again(store: Store, clock: Clock) -> None:
    uses, use = UsesInStore(store, clock=lambda _: clock.now), use_of()
    uses.claim(use, clock.now)
    uses.claim(use_of(), clock.now)
    make_checkpoint(store, KEYS, "default")
    with writing(store.engine).begin() as connection:
        set_acting_tenant(connection, EVERY_TENANT)
        connection.execute(text("DELETE FROM receipt_uses"))
    with store.reading("default") as connection:
        held, state = verify_contents_since(connection, "default", verify_log(connection, "default", RING), None)
        assert held.holds
        assert state is not None
    assert uses.claim(use, clock.now) is Claim.FIRST
    with store.reading("default") as connection:
        log = verify_log(connection, "default", RING)
        in_full = verify_contents(connection, "default", log)
        from_there_on, _ = verify_contents_since(connection, "default", log, state)
    for found in (in_full, from_there_on):
        assert [one.code for one in found.findings] == [FindingCode.USED_TWICE]
        assert use.receipt_id in found.findings[0].message


def test_an_erasure_leaves_uses_as_they_are(store: Store, clock: Clock) -> None:
    uses, use = UsesInStore(store, clock=lambda _: clock.now), use_of()
    uses.claim(use, clock.now)
    erase_before(store, clock.now + timedelta(days=1), "default")
    assert uses.claim(use, clock.now) is Claim.USED


def test_a_database_that_does_not_answer_gets_no_claim_through(store: Store, clock: Clock) -> None:
    uses = UsesInStore(store, clock=lambda _: clock.now, answer_s=0.2)
    begun, ended = threading.Event(), threading.Event()

    def slow(_: object) -> datetime:
        begun.set()
        ended.wait(10)
        return clock.now

    holding = threading.Thread(target=UsesInStore(store, clock=slow).claim, args=(use_of(), clock.now))
    holding.start()
    assert begun.wait(10)
    use = use_of()
    with pytest.raises(StoreError, match="did not answer within"):
        uses.claim(use, clock.now)
    ended.set()
    holding.join()
    # Nobody had taken it up yet, so that it was never made.
    assert UsesInStore(store, clock=lambda _: clock.now).claim(use, clock.now) is Claim.FIRST
