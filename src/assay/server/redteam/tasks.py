"""The timer of the red team: the task of a server that makes the runs that are due."""

import asyncio
import logging
import os
import secrets
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from assay.config import read_settings
from assay.errors import AssayError
from assay.server.redteam.due_runs import StoppedError, run_due
from assay.server.redteam.schedules import Schedule, read_schedules
from assay.server.services import Services

TICK_S: Final = 10.0
"""Seconds between two checks of the plans."""
_SUFFIXES: Final = (".yaml", ".yml")
_log = logging.getLogger("assay.server")


def schedules_of_server(policy: str | None, environ: Mapping[str, str]) -> tuple[Schedule, ...]:
    """The schedules of a server: those in its policy's own file if it has any, else those in the file that
    `ASSAY_CONFIG` names.

    Raises:
        AssayError: a file cannot be read, or a schedule is invalid.
    """
    own = Path(policy) if policy is not None and policy.lower().endswith(_SUFFIXES) else None
    return read_schedules(own) or read_schedules(read_settings(environ).config)


async def keep_attacking(services: Services) -> None:
    """Makes the runs that are due, in a thread, until the server stops."""
    schedules = schedules_of_server(services.settings.policy, os.environ)
    if not schedules:
        await asyncio.Event().wait()
        return
    stopping, holder = threading.Event(), secrets.token_hex(8)

    def run_once() -> None:
        store = services.store
        run_due(store.now(), store, schedules, lambda: services.guard_of(None), holder, os.environ, stopping)

    while True:
        work = asyncio.ensure_future(asyncio.to_thread(run_once))
        try:
            await asyncio.shield(work)
        except StoppedError:
            return
        except AssayError:
            _log.exception("the schedules of the red team could not be looked at; it is tried again")
        except asyncio.CancelledError:
            # Open calls are waited for and their answers stored; the next process resumes after them.
            stopping.set()
            await asyncio.wait({work}, timeout=services.settings.limits.shutdown_s)
            error = work.exception() if work.done() and not work.cancelled() else None
            if error is not None and not isinstance(error, StoppedError):
                _log.error("a run of the red team failed while the server was stopping", exc_info=error)
            raise
        await asyncio.sleep(TICK_S)
