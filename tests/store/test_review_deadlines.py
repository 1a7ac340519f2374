"""Deadlines of reviews under clocks that stand, go, stand still for days and jump back."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from tests.store.making import RING
from tests.store.reviewing import ANN, BOB, TENANT, Clock, approve, escalating, held, reject, user

from assay.errors import ReviewError
from assay.policy.escalation import approved
from assay.schema.access import Role
from assay.schema.escalation import ReviewItem, ReviewState
from assay.store.access.users import change_user
from assay.store.audit.verification.log import verify_log
from assay.store.db import tables
from assay.store.db.store import Store
from assay.store.reviews import deadlines as review_deadlines
from assay.store.reviews.deadlines import next_sweep, sweep_deadlines
from assay.store.reviews.items import read_events, read_item
from assay.store.reviews.queue import Reviewer, Reviews


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(url: str, clock: Clock) -> Any:
    with Store(url, clock=clock) as made:
        yield made


def item_of(store: Store, id_: str) -> ReviewItem:
    with store.reading(TENANT) as connection:
        found = read_item(connection, TENANT, id_)
    assert found is not None
    return found


def acts(store: Store, id_: str) -> list[str]:
    with store.reading(TENANT) as connection:
        return [event.act for event in read_events(connection, TENANT, id_)]


def test_nothing_happens_while_the_clock_stands(store: Store) -> None:
    queue, record = Reviews(store), held()
    store.record(record)
    for _ in range(3):
        assert sweep_deadlines(queue).settled == 0
    assert item_of(store, record.id).version == 1


def test_a_passed_deadline_goes_up_a_tier_and_then_people_are_told_again_and_again(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_threshold=0.75))
    store.record(record)
    assert item_of(store, record.id).tier.value == "async"
    for tier, minutes, act in (
        ("sync", 240, "next_tier"),
        ("blocking", 15, "next_tier"),
        ("blocking", 5, "remind"),
        ("blocking", 5, "remind"),
    ):
        clock.go(minutes=minutes)
        assert sweep_deadlines(queue).settled == 1
        item = item_of(store, record.id)
        assert (item.tier.value, item.state, acts(store, record.id)[-1]) == (tier, ReviewState.OPEN, act)
    with store.reading(TENANT) as connection:
        events = connection.execute(select(tables.outbox.c.event).order_by(tables.outbox.c.created)).scalars().all()
        assert verify_log(connection, TENANT, RING).holds
    assert list(events) == ["review.opened", *["review.escalated"] * 2, *["review.overdue"] * 2]


def test_a_policy_may_have_it_rejected(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_overdue="reject"))
    store.record(record)
    clock.go(minutes=15)
    assert sweep_deadlines(queue).settled == 1
    item = item_of(store, record.id)
    assert (item.state, item.outcome and item.outcome.actor) == (ReviewState.REJECTED, "deadline")
    assert item.outcome is not None
    assert item.outcome.output is None
    assert acts(store, record.id) == ["open", "expire"]


def test_who_comes_too_late_finds_it_settled_though_nobody_has_swept(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_overdue="reject"))
    store.record(record)
    queue.claim(TENANT, record.id, ANN)
    clock.go(minutes=15)
    with pytest.raises(ReviewError) as caught:
        queue.decide(TENANT, record.id, ANN, approve(released=approved(record.report)))
    assert caught.value.code == "decided"
    assert item_of(store, record.id).state is ReviewState.REJECTED


def test_whoever_may_still_decide_does_so_after_the_deadline(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_overdue="wait"))
    store.record(record)
    queue.claim(TENANT, record.id, ANN, 1)
    clock.go(minutes=15)
    assert queue.decide(TENANT, record.id, ANN, reject(), 2).state is ReviewState.REJECTED
    assert acts(store, record.id) == ["open", "claim", "remind", "reject"]


def test_one_sweep_does_one_step_whatever_time_has_passed(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held(policy=escalating(sync_threshold=0.75))
    store.record(record)
    clock.go(days=30)
    assert sweep_deadlines(queue).settled == 1
    assert sweep_deadlines(queue).settled == 0
    item = item_of(store, record.id)
    assert (item.tier.value, item.deadline) == ("sync", clock.now + timedelta(minutes=15))


def test_a_clock_that_was_set_back_does_not_put_deadlines_off(store: Store, clock: Clock) -> None:
    queue, record = Reviews(store), held()
    clock.go(days=3)
    store.record(record)
    queue.claim(TENANT, record.id, ANN)
    clock.go(days=-3)
    assert sweep_deadlines(queue).repaired == 1
    item = item_of(store, record.id)
    assert item.deadline is not None
    assert item.deadline <= clock.now + timedelta(minutes=15)
    assert queue.claim(TENANT, record.id, BOB).holder == "bob"
    assert sweep_deadlines(queue).repaired == 0


def test_items_of_a_field_are_given_to_who_knows_it_and_has_the_fewest(store: Store) -> None:
    queue = Reviews(store)
    user(store, "cleo", "tax", "law")
    user(store, "dora", "tax")
    user(store, "eve", "law")
    user(store, "finn", "tax", roles="viewer")
    rules = escalating(expertise="tax")
    records = [held(policy=rules) for _ in range(4)]
    for record in records:
        store.record(record)
    assert sweep_deadlines(queue).assigned == 4
    given_to = sorted(str(item_of(store, record.id).assignee) for record in records)
    assert given_to == ["cleo", "cleo", "dora", "dora"]
    assert sweep_deadlines(queue).assigned == 0


def test_a_field_that_nobody_knows_does_not_keep_items_of_others_from_being_given(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_deadlines, "BATCH", 3)
    queue = Reviews(store)
    user(store, "cleo", "law")
    for field in ("tax", "tax", "tax", "tax", "law"):
        store.record(held(policy=escalating(expertise=field)))
    assert sweep_deadlines(queue).assigned == 1


def test_what_was_given_to_who_cannot_decide_any_more_is_given_to_another_and_nobody_is_kept_out(store: Store) -> None:
    queue = Reviews(store)
    user(store, "cleo", "tax")
    record = held(policy=escalating(expertise="tax"))
    store.record(record)
    assert sweep_deadlines(queue).assigned == 1
    change_user(store, "cleo", TENANT, actor="command", roles=[Role.VIEWER])
    user(store, "dora", "law")
    # Nobody knows the field now: it is not kept from those who are there.
    assert sweep_deadlines(queue).assigned == 0
    dora = Reviewer("dora", frozenset({"law"}))
    assert queue.claim(TENANT, record.id, dora).holder == "dora"
    queue.release(TENANT, record.id, dora)
    user(store, "eve", "tax")
    queue.assign(TENANT, record.id, "boss", to="cleo")
    assert sweep_deadlines(queue).assigned == 1
    assert item_of(store, record.id).assignee == "eve"


def test_the_next_sweep_is_when_the_next_deadline_is(store: Store) -> None:
    queue = Reviews(store)
    assert next_sweep(queue, timedelta(hours=1)) == timedelta(hours=1)
    store.record(held())
    assert next_sweep(queue, timedelta(hours=1)) == timedelta(minutes=15)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.integers(-100_000, 100_000), max_size=12), rule=st.sampled_from(["next_tier", "reject", "wait"])
)
def test_no_clock_lets_anything_out(tmp_path_factory: Any, steps: list[int], rule: str) -> None:
    clock = Clock()
    with Store(str(tmp_path_factory.mktemp("clock") / "x.db"), clock=clock) as store:
        record = held(policy=escalating(sync_overdue=rule))
        store.record(record)
        queue = Reviews(store)
        for seconds in steps:
            clock.go(seconds=seconds)
            sweep_deadlines(queue)
            item = item_of(store, record.id)
            assert not item.state.released
            assert item.deadline is None or item.deadline <= clock.now + timedelta(minutes=245)
        assert {"approve", "edit"} & set(acts(store, record.id)) == set()
