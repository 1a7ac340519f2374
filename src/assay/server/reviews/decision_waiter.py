"""Waiting for a reviewer's decision: requests that are held open, and streams of events.

Any process over the database may store a decision. A waiter therefore polls the database, and is woken at once when
the decision is made in its own process.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Final

from assay.schema import ReviewItem
from assay.server.reviews import MOST_WAIT_S
from assay.server.reviews.service import ReviewService
from assay.store.records import micros
from assay.store.reviews import changed_since

POLL_S: Final = 0.5
"""Seconds between two polls of the database."""
KEEPALIVE_S: Final = 15.0
"""Seconds without an event after which a stream sends a comment, so that proxies keep the connection open."""
COMMIT_US: Final = 5_000_000
"""Microseconds after its moment within which a change is visible to readers. A change gets its moment before it is
stored, so that one may become visible after another with a later moment."""
MOST_CHANGES: Final = 2_000
"""Changes that are read at once."""


class Wakeup:
    """Wakes every waiter of this process. Used on one event loop only."""

    def __init__(self) -> None:
        """Without waiters."""
        self._futures: set[asyncio.Future[None]] = set()

    def wake_all(self) -> None:
        """Wakes all waiters."""
        for future in self._futures:
            if not future.done():
                future.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Waits until the next `wake_all`, and for `seconds` at most."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._futures.add(future)
        try:
            await asyncio.wait([future], timeout=seconds)
        finally:
            self._futures.discard(future)


class DecisionWaiter:
    """Waits for decisions on the items of one server's review queue."""

    def __init__(self, service: ReviewService, wakeup: Wakeup | None = None) -> None:
        """Reads items through `service`; code that changes an item in this process calls `wakeup.wake_all`."""
        self._service, self.wakeup = service, wakeup or Wakeup()

    async def wait_for_decision(self, tenant: str, id_: str, seconds: float) -> ReviewItem | None:
        """The item once it is decided, or as it is after `seconds`; `None` where the tenant has no such item.

        No wait is longer than `MOST_WAIT_S`.
        """
        deadline = time.monotonic() + min(seconds, MOST_WAIT_S)
        while True:
            item = await asyncio.to_thread(self._service.item, tenant, id_)
            left = deadline - time.monotonic()
            if item is None or item.state.decided or left <= 0:
                return item
            await self.wakeup.wait(min(POLL_S, left))

    async def item_events(self, tenant: str, id_: str) -> AsyncIterator[bytes]:
        """The events of one item as a stream of server-sent events, which ends with the decision."""
        version, last_sent = 0, time.monotonic()
        while True:
            item = await asyncio.to_thread(self._service.item, tenant, id_)
            if item is None:
                return
            if item.version > version:
                version, last_sent = item.version, time.monotonic()
                yield sse_event(item)
            if item.state.decided:
                return
            if time.monotonic() - last_sent > KEEPALIVE_S:
                last_sent = time.monotonic()
                yield b": alive\n\n"
            await self.wakeup.wait(POLL_S)

    async def queue_events(self, tenant: str, since: int | None = None) -> AsyncIterator[bytes]:
        """Every change of the tenant's queue, as an endless stream of server-sent events.

        Args:
            tenant: the tenant.
            since: the id of the last event that the client has received; from now on by default.
        """
        now = micros(self._service.reviews.store.now())
        last = now if since is None else since
        known = await asyncio.to_thread(self._changes, tenant, min(last, now - COMMIT_US))
        # What was stored before the stream began is not new.
        sent = {(item.id, item.updated) for item in known if micros(item.updated) <= last}
        last_sent = time.monotonic()
        while True:
            settled = micros(self._service.reviews.store.now()) - COMMIT_US
            items = await asyncio.to_thread(self._changes, tenant, min(last, settled))
            new = [item for item in items if (item.id, item.updated) not in sent]
            for item in new:
                last = max(last, micros(item.updated))
                yield sse_event(item)
            sent = {(item.id, item.updated) for item in items if micros(item.updated) > min(last, settled)}
            if new:
                last_sent = time.monotonic()
            elif time.monotonic() - last_sent > KEEPALIVE_S:
                last_sent = time.monotonic()
                yield b": alive\n\n"
            await self.wakeup.wait(POLL_S)

    def _changes(self, tenant: str, since: int) -> list[ReviewItem]:
        """All items that were changed after a moment (in microseconds since 1970), or the first part of very many.

        A part never ends between items that were changed at the same moment.
        """
        limit = MOST_CHANGES
        with self._service.reviews.store.reading(tenant) as connection:
            while True:
                items = changed_since(connection, tenant, since, limit)
                if len(items) < limit:
                    return items
                part = [item for item in items if item.updated < items[-1].updated]
                if part:
                    return part
                limit *= 2


def sse_event(item: ReviewItem) -> bytes:
    """The state of an item as a server-sent event, without the content of the item.

    The id of the event is the time of the change in microseconds since 1970: a client that lost the connection sends
    it to resume the stream.
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
