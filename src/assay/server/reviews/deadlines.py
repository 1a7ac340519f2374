"""The task of a server that settles deadlines as they pass."""

import asyncio
from datetime import timedelta
from typing import Final

from assay.server.services import Services
from assay.store.reviews import Reviews, next_sweep, sweep_deadlines

LONGEST: Final = timedelta(seconds=10)
"""The longest pause between two sweeps: items come in, and clocks are set."""
SHORTEST_S: Final = 0.2


async def settle_deadlines(services: Services) -> None:
    """Sweep until the server stops."""
    reviews = Reviews(services.store)
    while True:
        done = await asyncio.to_thread(sweep_deadlines, reviews)
        pause = LONGEST if done.settled == 0 else timedelta(0)
        left = await asyncio.to_thread(next_sweep, reviews, pause)
        await asyncio.sleep(max(SHORTEST_S, left.total_seconds()))
