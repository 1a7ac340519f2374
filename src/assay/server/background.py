"""The background tasks of a server, which run from its start to its stop."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from assay.server.services import Services

PAUSE_S: Final = 5.0
"""Seconds before a task that failed is started again."""

Task = Callable[[Services], Coroutine[Any, Any, None]]
"""A task: it runs until it is cancelled, and does in a `finally` what is left to do at the stop."""


async def _deadlines(services: Services) -> None:
    from assay.server.reviews.deadlines import settle_deadlines

    await settle_deadlines(services)


async def _messages(services: Services) -> None:
    from assay.server.notify.delivery import deliver

    await deliver(services)


async def _checkpoints(services: Services) -> None:
    from assay.server.audit.timers import sign_logs

    await sign_logs(services)


async def _retention(services: Services) -> None:
    from assay.server.audit.timers import apply_retention

    await apply_retention(services)


async def _refusals(services: Services) -> None:
    from assay.server.audit.refusals import write_refusal_counts

    await write_refusal_counts(services)


async def _watch(services: Services) -> None:
    from assay.server.panels.worker import run_panel_worker

    await run_panel_worker(services)


async def _overlays(services: Services) -> None:
    from assay.server.cadence.overlays import follow

    await follow(services.store, services.overlays)


async def _timer(services: Services) -> None:
    from assay.server.cadence.tasks import keep_time

    await keep_time(services)


async def _golden(services: Services) -> None:
    from assay.server.cadence.tasks import keep_golden

    await keep_golden(services)


async def _passing(services: Services) -> None:
    from assay.server.cadence.passing import count_passing

    await count_passing(services)


async def _redteam(services: Services) -> None:
    from assay.server.redteam.tasks import keep_attacking

    await keep_attacking(services)


async def _experiments(services: Services) -> None:
    from assay.server.datasets.experiments import keep_experiments

    await keep_experiments(services)


OWN: Final[Mapping[str, Task]] = {"refusals": _refusals, "overlays": _overlays, "passing": _passing}
"""The tasks of every process, by name: they handle what the process itself holds in memory."""
TURNS: Final[Mapping[str, Task]] = {
    "deadlines": _deadlines,
    "messages": _messages,
    "checkpoints": _checkpoints,
    "retention": _retention,
    "watch": _watch,
    "timer": _timer,
    "golden": _golden,
    "redteam": _redteam,
    "experiments": _experiments,
}
"""The tasks of a database, by name. Several servers over one database settle through it which of them does the work;
within a server only the first worker runs them (`assay.server.workers`)."""

_log = logging.getLogger("assay.server")


class Background:
    """The tasks of one server."""

    def __init__(self, services: Services, own: Mapping[str, Task] = OWN, turns: Mapping[str, Task] = TURNS) -> None:
        """Tasks over these services; without a database there are none."""
        self._services = services
        self._own = own if services.kept is not None else {}
        self._turns = turns if services.kept is not None else {}
        self._running: list[asyncio.Task[None]] = []
        self._stopping = False

    def leave_turns(self) -> None:
        """Leave the tasks of the database to another process; called before the start."""
        self._turns = {}

    def start(self) -> None:
        """Start the tasks."""
        self._stopping = False
        tasks = {**self._own, **self._turns}
        self._running = [asyncio.create_task(self._keep_running(name, task)) for name, task in tasks.items()]

    async def stop(self) -> None:
        """Cancel the tasks and wait for what each has to finish; what fails there is logged."""
        self._stopping = True
        for running in self._running:
            running.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running = []

    async def _keep_running(self, name: str, task: Task) -> None:
        while True:
            try:
                await task(self._services)
            except Exception:  # noqa: BLE001 whatever a task raises is logged, and must not end it for good
                _log.exception("the task %s failed", name)
                if self._stopping:  # what it had to finish failed in place of its cancellation
                    return
            await asyncio.sleep(PAUSE_S)
