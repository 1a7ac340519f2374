"""The timer as tasks of a server. Checks that it makes run on the server's own pool, as long ones of a caller of their
own: short checks go first, and at the network every caller with less service does (`assay.server.checking`). Nothing of
it is in the path that answers a request."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Final

from assay.errors import AssayError
from assay.monitor import TimedStep
from assay.server.cadence.timer import Timer
from assay.server.caller import ActiveRequest, answering
from assay.server.checking import LARGE_BYTES
from assay.server.services import Services

TICK_S: Final = 1.0
"""Seconds between two looks at the plans."""
OWNER: Final = "the monitor"
"""Whose the checks are, where callers share the server."""
_log = logging.getLogger("assay.server")


async def keep_time(services: Services) -> None:
    """Turns, the budget and the judge."""
    await _repeat(services, (TimedStep.TURN, TimedStep.BUDGET, TimedStep.JUDGE))


async def keep_golden(services: Services) -> None:
    """The golden set, in a task of its own: a run of an hour keeps nothing else waiting."""
    await _repeat(services, (TimedStep.GOLDEN,))


async def _repeat(services: Services, steps: Sequence[TimedStep]) -> None:
    settings = services.settings.monitor
    if settings is None or not set(steps) & set(settings.cadences.steps):
        await asyncio.Event().wait()
        return
    timer = Timer(
        services.store,
        settings,
        lambda: services.guard_of(None),
        secrets.token_hex(8),
        runs=runner(services, asyncio.get_running_loop()),
    )
    while True:
        work = asyncio.ensure_future(asyncio.to_thread(timer.once, steps))
        try:
            await asyncio.shield(work)
        except AssayError:
            _log.exception("timed work of the monitor could not be looked at; it is tried again")
        except asyncio.CancelledError:
            # A row that is being checked is finished; the next process goes on behind it.
            timer.stopping.set()
            with contextlib.suppress(Exception):
                await asyncio.wait_for(work, services.settings.limits.check_s)
            raise
        await asyncio.sleep(TICK_S)


def runner(
    services: Services, loop: asyncio.AbstractEventLoop, owner: str = OWNER
) -> Callable[[Callable[[], Any]], Any]:
    """Runs a check on the server's pool, from a thread beside its loop, as one of an owner's."""

    async def check(work: Callable[[], Any]) -> Any:
        with answering(ActiveRequest(owner)):
            return await services.checker.run(work, size=LARGE_BYTES + 1)

    def run(work: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(check(work), loop).result()

    return run
