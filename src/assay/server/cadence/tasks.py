"""The timer as tasks of a server. Its checks run on the server's own pool, as long checks of a caller of their own, so
that short checks, and callers that used the network less, go first (`assay.server.checking`). Nothing of it is in the
request path."""

import asyncio
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
"""Seconds between two checks of the plans."""
OWNER: Final = "the monitor"
"""The caller that the checks count for, where callers share the server."""
_log = logging.getLogger("assay.server")


async def keep_time(services: Services) -> None:
    """The task of a server: turns of the monitor, the budget and the judge."""
    await _repeat(services, (TimedStep.TURN, TimedStep.BUDGET, TimedStep.JUDGE))


async def keep_golden(services: Services) -> None:
    """The task of a server: the golden set, separately, so that a run of an hour delays nothing else."""
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
            # The row that is being checked is finished; the next process continues after it.
            timer.stopping.set()
            await asyncio.wait({work}, timeout=services.settings.limits.check_s)
            if work.done() and not work.cancelled() and (error := work.exception()) is not None:
                _log.error("timed work of the monitor failed while the server was stopping", exc_info=error)
            raise
        await asyncio.sleep(TICK_S)


def runner(
    services: Services, loop: asyncio.AbstractEventLoop, owner: str = OWNER
) -> Callable[[Callable[[], Any]], Any]:
    """A function that runs a check on the server's pool, on behalf of an owner; to be called outside of the loop.

    Args:
        services: the services of the server.
        loop: the event loop of the server.
        owner: the caller that the checks count for.
    """

    async def check(work: Callable[[], Any]) -> Any:
        with answering(ActiveRequest(owner)):
            return await services.checker.run(work, size=LARGE_BYTES + 1)

    def run(work: Callable[[], Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(check(work), loop).result()

    return run
