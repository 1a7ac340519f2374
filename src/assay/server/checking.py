"""Runs checks on threads of their own, bounded in number and time: CPU work stays off the event loop.

A check that fails, takes too long or finds the queue full raises `CheckFailedError`; whoever asked must then treat the
output as unchecked. A thread cannot be stopped: one that overran its time goes on counting against the bound until it
ends, so that a slow check can never pile up work without limit.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from assay.errors import AssayError, InputError, VerifierError

T = TypeVar("T")
_log = logging.getLogger("assay.server")


class CheckFailedError(VerifierError):
    """A check could not be made; what it was about is unchecked."""


class Checker:
    """A bounded pool of threads for checks."""

    def __init__(self, threads: int, queue: int, seconds: float) -> None:
        """Make a pool of `threads`, with at most `queue` checks waiting or running, each given `seconds`."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="assay-check")
        self._most = queue
        self._seconds = seconds
        self._open = 0

    @property
    def open(self) -> int:
        """Checks that wait or run."""
        return self._open

    @property
    def full(self) -> bool:
        """Whether one more would be refused."""
        return self._open >= self._most

    async def run(self, work: Callable[[], T]) -> T:
        """What the work returns.

        Raises:
            InputError: what was given cannot be checked; the work says why.
            CheckFailedError: the queue is full, the time is up, or the work failed.
        """
        if self.full:
            raise CheckFailedError(f"at most {self._most} checks may wait; try again later")
        self._open += 1
        future = self._pool.submit(work)
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda _: self._closed(loop))
        try:
            # Cancelled before it began, a check never runs; cancelled later, it ends by itself.
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError as error:
            raise CheckFailedError(f"the check took longer than {self._seconds:g} seconds") from error
        except InputError:
            raise
        except AssayError as error:
            raise CheckFailedError(f"the check failed: {error}") from error
        except Exception as error:
            _log.exception("a check failed")
            raise CheckFailedError(f"the check failed: {type(error).__name__}") from error

    def _closed(self, loop: asyncio.AbstractEventLoop) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._one_less)

    def _one_less(self) -> None:
        self._open -= 1

    def close(self) -> None:
        """Ends the threads; what waits is cancelled."""
        self._pool.shutdown(wait=False, cancel_futures=True)
