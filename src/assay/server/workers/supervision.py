"""Several worker processes over one socket that share the pages of one loaded network.

The supervisor loads the network and then forks: pages that no worker changes stay one copy for all of them (ADR 10 has
the measurements). A worker that dies is replaced, whatever killed it; the socket belongs to the supervisor, so that
connections wait in its queue meanwhile. A fork copies one thread only, so it happens before there are others; where a
library has already started threads, `can_share` is false and every worker loads the network itself.
"""

import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from assay.server.telemetry.metrics import drop_worker_gauges

_log = logging.getLogger("assay.server")

MOST_EARLY_ENDS: Final = 5
"""How often in a row, times the number of workers, one may end within `SETTLED_S` before the supervisor gives up."""
SETTLED_S: Final = 5.0
"""Seconds after which a worker counts as started."""
THREADS_END_S: Final = 2.0
"""Seconds for which `can_share` waits for other threads to end."""
PAUSE_S: Final = 0.1
"""Seconds before a worker that ended early is replaced; twice as many each time."""
KILL_AFTER_S: Final = 5.0
"""Seconds beyond `shutdown_s` after which a worker is killed."""

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD) if hasattr(signal, "SIGCHLD") else ()


def can_share() -> bool:
    """Whether this process can be forked safely: on Linux, with no other thread running.

    The system lists a thread for a moment after Python has joined it, so it is looked for repeatedly.
    """
    tasks = Path("/proc/self/task")
    if sys.platform != "linux" or not tasks.exists():
        return False
    until = time.monotonic() + THREADS_END_S
    while len(list(tasks.iterdir())) > 1:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Workers:
    """Keeps a number of forked processes running until it gets SIGTERM or SIGINT."""

    def __init__(self, count: int, work: Callable[[int], None], *, shutdown_s: float) -> None:
        """Supervise `count` processes.

        Args:
            count: the number of workers.
            work: runs in each worker with its number, from 0 up, and returns after SIGTERM. A worker that replaces
                another has the same number.
            shutdown_s: seconds that a worker may take to stop before it is killed.
        """
        self._count, self._work, self._shutdown_s = count, work, shutdown_s
        self._started: dict[int, tuple[int, float]] = {}
        """By process id, the worker's number and when it was started (`time.monotonic`)."""
        self._early_ends = 0

    def run(self) -> int:
        """Fork the workers, replace those that die, and return when the signal to stop has come and all have ended.

        Returns:
            An exit status: 0, or 1 where workers could not be kept alive.
        """
        gc.collect()
        gc.freeze()  # The collector writes into what it looks at, and every page written to becomes a copy.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            return self._supervise()
        finally:
            self._stop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            gc.unfreeze()

    def _supervise(self) -> int:
        for number in range(self._count):
            self._fork(number)
        while True:
            # The signals are blocked and wait for this call: none is lost between two iterations.
            received = signal.sigwaitinfo(_SIGNALS)
            if received.si_signo != signal.SIGCHLD:
                return 0
            for pid, status in self._reap():
                if not self._replace(pid, status):
                    return 1

    def _fork(self, number: int) -> None:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self._reset_signals()
                self._work(number)
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            except Exception:  # noqa: BLE001 the edge of a process: logged, and the supervisor sees the exit status 1
                _log.exception("a worker failed")
            finally:
                logging.shutdown()
                os._exit(status)
        self._started[pid] = number, time.monotonic()

    def _reset_signals(self) -> None:
        """In the new process: default signal handlers, and no children."""
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        self._started.clear()

    def _reap(self) -> list[tuple[int, int]]:
        """The workers that have ended, each with its wait status. One signal may announce several."""
        found = []
        for pid in list(self._started):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                drop_worker_gauges(pid)
                found.append((pid, status))
        return found

    def _replace(self, pid: int, status: int) -> bool:
        """Fork a replacement for a worker that ended; false where workers keep ending at once."""
        number, started = self._started.pop(pid)
        lived = time.monotonic() - started
        self._early_ends = self._early_ends + 1 if lived < SETTLED_S else 0
        _log.warning("worker %d ended with status %d after %.1f s", pid, os.waitstatus_to_exitcode(status), lived)
        if self._early_ends >= MOST_EARLY_ENDS * self._count:
            _log.error("workers end as soon as they start; giving up")
            return False
        if self._early_ends > self._count:
            time.sleep(PAUSE_S * 2 ** min(6, self._early_ends // self._count))
        self._fork(number)
        return True

    def _stop(self) -> None:
        """Stop all workers: each finishes the requests that it has accepted, or is killed when its time is up."""
        for pid in self._started:
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + self._shutdown_s + KILL_AFTER_S
        while self._started and time.monotonic() < until:
            for pid, _ in self._reap():
                del self._started[pid]
            if self._started:
                signal.sigtimedwait((signal.SIGCHLD,), 0.2)
        for pid in self._started:
            _log.error("worker %d did not stop in time and is killed", pid)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._started.clear()
