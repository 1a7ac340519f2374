"""Several worker processes over one socket that share the pages of one loaded network.

The process that supervises loads the network and then forks: whatever a worker does not change stays one copy for all
of them (ADR 10 has the measurements). A worker that dies is replaced, whatever killed it; the socket belongs to the
supervisor, so that connections wait in its queue meanwhile. A fork copies one thread only. So it is made before there
are others, and where a library has started some already, `can_share` says no and every worker has to load for itself.
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

from assay.server.telemetry.metrics import mark_gone

_log = logging.getLogger("assay.server")

STARTS: Final = 5
"""How often in a row a worker may end before it has lived for `SETTLED_S`; then something is wrong with all of them."""
SETTLED_S: Final = 5.0
"""Seconds after which a worker counts as one that had started."""
ENDING_S: Final = 2.0
"""Seconds for which `can_share` waits for threads to be gone."""
PAUSE_S: Final = 0.1
"""Seconds before a worker that ended early is replaced; twice as many each time."""
KILL_AFTER_S: Final = 5.0
"""Seconds that a worker gets beyond the time in which it should have stopped."""

_WATCHED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD) if hasattr(signal, "SIGCHLD") else ()


def can_share() -> bool:
    """Whether this process can be forked safely: the system offers it, and no thread is running beside this one.

    A thread that Python has seen to its end is there for a moment longer, so it is looked for more than once.
    """
    tasks = Path("/proc/self/task")
    if sys.platform != "linux" or not tasks.exists():
        return False
    until = time.monotonic() + ENDING_S
    while len(list(tasks.iterdir())) > 1:
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Workers:
    """Keeps a number of forked processes at work until it is told to stop."""

    def __init__(self, count: int, work: Callable[[int], None], *, shutdown_s: float) -> None:
        """Supervise `count` processes.

        Args:
            count: how many.
            work: what each does, told its number from 0 on; it returns when it gets SIGTERM and has finished. A worker
                that replaces another has the number of that one.
            shutdown_s: seconds that this may take before it is killed.
        """
        self._count, self._work, self._shutdown_s = count, work, shutdown_s
        self._born: dict[int, tuple[int, float]] = {}
        """By process id: the number, and the moment of birth."""
        self._early = 0

    def run(self) -> int:
        """Forks, replaces what dies, and returns when it was told to stop and all have ended.

        Returns:
            An exit status: 0, or 1 where workers could not be kept alive.
        """
        gc.collect()
        gc.freeze()  # The collector writes into what it looks at, and every page written to becomes a copy.
        signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            return self._supervise()
        finally:
            self._stop()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
            gc.unfreeze()

    def _supervise(self) -> int:
        for number in range(self._count):
            self._fork(number)
        while True:
            # Blocked signals wait for this call: none is lost between two turns of the loop.
            received = signal.sigwaitinfo(_WATCHED)
            if received.si_signo != signal.SIGCHLD:
                return 0
            for pid, status in self._ended():
                if not self._replace(pid, status):
                    return 1

    def _fork(self, number: int) -> None:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self._begin()
                self._work(number)
                status = 0
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
            except Exception:  # noqa: BLE001 the edge of a process: whatever it is, only the supervisor can go on
                _log.exception("a worker failed")
            finally:
                logging.shutdown()
                os._exit(status)
        self._born[pid] = number, time.monotonic()

    def _begin(self) -> None:
        """In the new process: signals as they are by default, and nobody else's children."""
        for number in _WATCHED:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        self._born.clear()

    def _ended(self) -> list[tuple[int, int]]:
        """The workers that have ended since, each with its wait status. One signal may stand for several."""
        found = []
        for pid in list(self._born):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                mark_gone(pid)
                found.append((pid, status))
        return found

    def _replace(self, pid: int, status: int) -> bool:
        """Forks another in place of one that ended; false where they end again and again."""
        number, born = self._born.pop(pid)
        lived = time.monotonic() - born
        self._early = self._early + 1 if lived < SETTLED_S else 0
        _log.warning("worker %d ended with status %d after %.1f s", pid, os.waitstatus_to_exitcode(status), lived)
        if self._early >= STARTS * self._count:
            _log.error("workers end as soon as they start; giving up")
            return False
        if self._early > self._count:
            time.sleep(PAUSE_S * 2 ** min(6, self._early // self._count))
        self._fork(number)
        return True

    def _stop(self) -> None:
        """Ends all workers: each finishes what it has accepted, and one that does not is killed."""
        for pid in self._born:
            os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + self._shutdown_s + KILL_AFTER_S
        while self._born and time.monotonic() < until:
            for pid, _ in self._ended():
                del self._born[pid]
            if self._born:
                signal.sigtimedwait((signal.SIGCHLD,), 0.2)
        for pid in self._born:
            _log.error("worker %d did not stop in time and is killed", pid)
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self._born.clear()
