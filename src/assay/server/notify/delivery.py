"""Delivers the outbox: takes the messages that are due, sends them, and marks the result, until the server stops."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

from assay.server.notify.senders import Sender, SendError
from assay.server.notify.settings import NotifySettings
from assay.server.services import Services
from assay.store.db import Store
from assay.store.reviews import (
    HOLD,
    MESSAGE_BATCH,
    Message,
    mark_failed,
    mark_sent,
    purge_messages,
    spread_messages,
    take_messages,
)

PAUSE_S: Final = 1.0
"""Seconds between two checks of the outbox."""
IDLE_S: Final = 30.0
"""The same without any targets."""
PURGE_EVERY: Final = 3_600
"""Checks of the outbox between two removals of old messages."""
KEEP_DONE: Final = timedelta(days=30)
"""How long sent and abandoned messages are kept."""
AT_ONCE: Final = 8
"""The most messages that are sent concurrently."""
SAFE_SHARE: Final = 0.8
"""The share of the hold time of messages within which all of them have to be sent, even to the slowest recipients."""
_log = logging.getLogger("assay.server")


class Delivery:
    """Delivers the messages of a store to the targets of its operator."""

    def __init__(self, store: Store, settings: NotifySettings, sender: Sender | None = None) -> None:
        """Takes the store, the targets, and the sender, for tests."""
        self._store, self._settings = store, settings
        self._sender = sender or Sender(settings)
        # All messages taken must be finished before another process may take them, however slow recipients are.
        rounds = int(HOLD.total_seconds() * SAFE_SHARE // settings.timeout_s)
        self._most = min(MESSAGE_BATCH, AT_ONCE * max(1, rounds))

    async def once(self) -> int:
        """Delivers the messages that are due; returns the number of messages that were tried.

        Raises:
            StoreError: the outbox cannot be read or written.
        """
        await asyncio.to_thread(spread_messages, self._store, self._targets)
        messages = await asyncio.to_thread(take_messages, self._store, self._most)
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(message: Message) -> None:
            async with gate:
                await self._deliver(message)

        await asyncio.gather(*(one(message) for message in messages))
        return len(messages)

    async def run(self) -> None:
        """Delivers messages until it is cancelled."""
        pause = PAUSE_S if self._settings.targets else IDLE_S
        try:
            while True:
                await asyncio.to_thread(purge_messages, self._store, KEEP_DONE)
                for _ in range(PURGE_EVERY):
                    if not await self.once():
                        await asyncio.sleep(pause)
        finally:
            await self._sender.close()

    def _targets(self, tenant: str, event: str, tier: str) -> list[str]:
        return [target.name for target in self._settings.targets if target.hears(tenant, event, tier)]

    async def _deliver(self, message: Message) -> None:
        target = self._settings.target(message.target)
        if target is None or (target.callback and self._settings.callback(target.name, message.tenant) is None):
            await asyncio.to_thread(mark_failed, self._store, message, "the operator configured no such target", 0)
            return
        try:
            await self._sender.send(message, target)
        except SendError as error:
            most = 0 if error.final else self._settings.attempts
            again = await asyncio.to_thread(mark_failed, self._store, message, str(error), most, error.wait)
            _log.warning(
                "a message to the target %s did not arrive%s: %s",
                target.name,
                "" if again else " and is given up",
                error,
            )
        else:
            await asyncio.to_thread(mark_sent, self._store, message)


async def deliver(services: Services) -> None:
    """The task of a server: delivers messages until the server stops."""
    await Delivery(services.store, services.settings.notify).run()
