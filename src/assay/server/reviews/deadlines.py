"""The background task of a server that settles the deadlines of review items as they pass."""

import asyncio
from datetime import timedelta
from typing import Final

from assay.server.services import Services
from assay.store.reviews import Reviews, next_sweep, sweep_deadlines

LONGEST_PAUSE: Final = timedelta(seconds=10)
"""The longest pause between two sweeps, since new items may arrive and the clock may be set."""
SHORTEST_PAUSE_S: Final = 0.2
"""The shortest pause in seconds, however soon the next deadline is."""


async def settle_deadlines(services: Services) -> None:
    """Settles deadlines until the task is cancelled."""
    reviews = Reviews(services.store)
    while True:
        swept = await asyncio.to_thread(sweep_deadlines, reviews)
        longest = LONGEST_PAUSE if swept.settled == 0 else timedelta(0)
        pause = await asyncio.to_thread(next_sweep, reviews, longest)
        await asyncio.sleep(max(SHORTEST_PAUSE_S, pause.total_seconds()))
