"""Waiting for a decision: a request that holds, and streams of events.

A decision may be made by any process over the database. So whoever waits looks at the database now and then, and at
once where the decision was made in its own process.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Final

from assay.schema import ReviewItem
from assay.server.reviews.service import ReviewService
from assay.store.records import micros
from assay.store.reviews import changed_since

LOOK_S: Final = 0.5
"""Seconds between two looks at the database."""
BEAT_S: Final = 15.0
"""Seconds after which a silent stream says that it lives."""
MOST_WAIT_S: Final = 900.0
"""The longest that one request waits."""


class Bell:
    """Wakes those of one process who wait, whatever for."""

    def __init__(self) -> None:
        """Nobody waits yet."""
        self._waiting: set[asyncio.Future[None]] = set()

    def ring(self) -> None:
        """Wake all; call it on the event loop."""
        for one in self._waiting:
            if not one.done():
                one.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Until the next ring, or for some seconds."""
        rung: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(rung)
        try:
            await asyncio.wait([rung], timeout=seconds)
        finally:
            self._waiting.discard(rung)


class Waiting:
    """Waits for decisions of one server."""

    def __init__(self, desk: ReviewService, bell: Bell | None = None) -> None:
        """Over a desk; `bell` rings when somebody acts in this process."""
        self._desk, self.bell = desk, bell or Bell()

    async def decided(self, tenant: str, id_: str, seconds: float) -> ReviewItem | None:
        """The item once it is decided, or as it is when the time is up; none where the tenant has none."""
        ends = time.monotonic() + min(seconds, MOST_WAIT_S)
        while True:
            item = await asyncio.to_thread(self._desk.item, tenant, id_)
            left = ends - time.monotonic()
            if item is None or item.state.decided or left <= 0:
                return item
            await self.bell.wait(min(LOOK_S, left))

    async def of_item(self, tenant: str, id_: str) -> AsyncIterator[bytes]:
        """The events of one item, as a stream that ends with its decision."""
        seen, beat = 0, time.monotonic()
        while True:
            item = await asyncio.to_thread(self._desk.item, tenant, id_)
            if item is None:
                return
            if item.version > seen:
                seen, beat = item.version, time.monotonic()
                yield event_of(item)
            if item.state.decided:
                return
            if time.monotonic() - beat > BEAT_S:
                beat = time.monotonic()
                yield b": alive\n\n"
            await self.bell.wait(LOOK_S)

    async def of_queue(self, tenant: str, since: int | None = None) -> AsyncIterator[bytes]:
        """Every change of the tenant's queue, as a stream without an end.

        Args:
            tenant: whose.
            since: the id of the last event that the client has seen; from now on by default.
        """
        last = micros(self._desk.reviews.store.now()) if since is None else since
        beat = time.monotonic()
        while True:
            items = await asyncio.to_thread(self._changed, tenant, last)
            for item in items:
                last = max(last, micros(item.updated))
                yield event_of(item)
            if items:
                beat = time.monotonic()
            elif time.monotonic() - beat > BEAT_S:
                beat = time.monotonic()
                yield b": alive\n\n"
            await self.bell.wait(LOOK_S)

    def _changed(self, tenant: str, since: int) -> list[ReviewItem]:
        with self._desk.reviews.store.reading(tenant) as connection:
            return changed_since(connection, tenant, since)


def event_of(item: ReviewItem) -> bytes:
    """An item as a server-sent event; its content is not in it.

    The id is the moment of the change, by which a client that lost the connection goes on.
    """
    body = {
        "id": item.id,
        "state": item.state.value,
        "tier": item.tier.value,
        "version": item.version,
        "holder": item.holder,
        "assignee": item.assignee,
        "deadline": None if item.deadline is None else item.deadline.isoformat(),
    }
    data = json.dumps(body, separators=(",", ":"))
    return f"id: {micros(item.updated)}\nevent: review\ndata: {data}\n\n".encode()
