"""The stream of the review queue tells every change once, whenever it becomes visible."""

import asyncio
from pathlib import Path

import pytest
from tests.store.reviewing import ANN, BOB, TENANT, Clock, held

from assay.config import Guard
from assay.policy import preset
from assay.server.reviews.decision_waiter import DecisionWaiter
from assay.server.reviews.service import ReviewService
from assay.store.db.store import Store
from assay.store.records import micros
from assay.store.reviews import Reviews, list_items
from assay.testing import FakeScorer

GUARD = Guard(preset("general"), scorer=FakeScorer(), environ={})


def test_a_change_that_becomes_visible_after_a_later_one_is_told_and_none_is_told_twice(tmp_path: Path) -> None:
    """A change gets its moment before it is stored: another may overtake it."""
    clock = Clock()
    with Store(f"sqlite:///{tmp_path / 'r.db'}", clock=clock) as store:
        reviews = Reviews(store)
        for text in ("One.", "Two."):
            store.record(held(text))
        with store.reading(TENANT) as connection:
            overtaken, overtaking = (item.id for item in list_items(connection, TENANT))
        clock.go(minutes=1)

        async def scene() -> None:
            waiter = DecisionWaiter(ReviewService(reviews, lambda _: GUARD))
            events = waiter.queue_events(TENANT, micros(clock.now))
            clock.go(seconds=2)
            reviews.claim(TENANT, overtaking, BOB, None)
            assert overtaking in (await asyncio.wait_for(anext(events), 5)).decode()
            clock.go(seconds=-1)
            reviews.claim(TENANT, overtaken, ANN, None)
            assert overtaken in (await asyncio.wait_for(anext(events), 5)).decode()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 1.2)

        asyncio.run(scene())


def test_a_client_that_comes_back_is_told_what_it_missed_and_nothing_else(tmp_path: Path) -> None:
    clock = Clock()
    with Store(f"sqlite:///{tmp_path / 'r.db'}", clock=clock) as store:
        for number in range(4):
            store.record(held(f"Number {number}."))
        with store.reading(TENANT) as connection:
            first, second, *_ = (item.id for item in list_items(connection, TENANT))
        reviews, waiter = Reviews(store), DecisionWaiter(ReviewService(Reviews(store), lambda _: GUARD))
        clock.go(seconds=1)
        reviews.claim(TENANT, first, ANN, None)
        seen = micros(clock.now)
        clock.go(seconds=1)
        reviews.claim(TENANT, second, ANN, None)

        async def scene() -> None:
            events = waiter.queue_events(TENANT, seen)
            assert second in (await asyncio.wait_for(anext(events), 5)).decode()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 1.2)

        asyncio.run(scene())
