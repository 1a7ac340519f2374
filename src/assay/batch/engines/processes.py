"""Worker processes of this machine."""

import contextlib
import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

from assay.batch.engines.interface import STARTS, Died, Done
from assay.batch.engines.preloaded import PRELOAD, begun
from assay.batch.values import Piece, Work
from assay.errors import AssayError, VerifierError

_SAFE: Final = {"PYTHONSAFEPATH": "1"}
"""For new interpreters: no module is taken from the working folder, which may be that of the rows."""
_END_S: Final = 5.0
"""Seconds that a worker gets to end before it is killed."""


class ProcessEngine:
    """As many processes as were asked for, each with one piece in hand.

    Where the system can fork, all are forked from one server that has loaded the network (`preloaded`).
    """

    def __init__(self, work: Work, workers: int) -> None:
        """Starts the workers; they set up beside each other.

        Args:
            work: what they do.
            workers: how many.
        """
        self._work, self._count = work, workers
        self._context = _context(work)
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._pieces: dict[Connection, Piece] = {}
        self._early = 0
        for _ in range(workers):
            self._start()

    @property
    def capacity(self) -> int:
        """One piece a worker."""
        return self._count

    @property
    def pids(self) -> list[int]:
        """The workers' process ids."""
        return [process.pid for process in self._processes.values() if process.pid is not None]

    def submit(self, piece: Piece) -> None:
        """Hands a piece to a worker that has none. One that died meanwhile is noticed by `wait`."""
        connection = self._idle.pop()
        self._pieces[connection] = piece
        with contextlib.suppress(OSError):  # it has died: reading from it will say so
            connection.send(piece)

    def wait(self) -> Done | Died:
        """The next piece that has come to an end.

        Raises:
            VerifierError: workers end before they are ready, or cannot begin their work.
        """
        while True:
            for ready in wait(list(self._processes)):
                if isinstance(ready, Connection) and (ended := self._received(ready)) is not None:
                    return ended

    def _received(self, connection: Connection) -> Done | Died | None:
        try:
            kind, payload = connection.recv()
        except (EOFError, OSError):
            return self._buried(connection)
        if kind == "ready":
            self._early = 0
            return None
        if kind == "unusable":
            raise VerifierError(f"a worker could not begin its work: {payload}")
        piece = self._pieces.pop(connection)
        self._idle.append(connection)
        return Done(piece, payload) if kind == "done" else Died(piece, payload)

    def _buried(self, connection: Connection) -> Died | None:
        process = self._processes.pop(connection)
        process.join()
        connection.close()
        piece = self._pieces.pop(connection, None)
        if connection in self._idle:
            self._idle.remove(connection)
        self._early += 1
        if self._early > STARTS * self._count:
            raise VerifierError(f"workers end as soon as they start, the last one {_how(process.exitcode)}")
        self._start()
        return None if piece is None else Died(piece, f"the worker that judged it {_how(process.exitcode)}")

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs, self._work), daemon=True)
        with _environ(_SAFE):
            process.start()
        theirs.close()
        self._processes[ours] = process
        self._idle.append(ours)

    def close(self) -> None:
        """Ends the workers."""
        for connection in self._processes:
            connection.close()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(_END_S)
            if process.is_alive():
                process.kill()
                process.join()
        self._processes.clear()
        self._idle.clear()
        self._pieces.clear()


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with status {status}"


def _context(work: Work) -> Any:
    if "forkserver" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([begun.__module__])
    from multiprocessing.forkserver import ensure_running

    with _environ({**_SAFE, PRELOAD: f"{work.threads}:{work.model or ''}"}):
        ensure_running()  # where one runs already, workers load what it has not
    return context


@contextlib.contextmanager
def _environ(more: Mapping[str, str]) -> Any:
    before = {name: os.environ.get(name) for name in more}
    os.environ.update(more)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(connection: Connection, work: Work) -> None:
    """One worker: answers each piece with its results, until the driver hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what an interrupt means
    try:
        answer = begun(work)
    except AssayError as error:
        connection.send(("unusable", str(error)))
        return
    with contextlib.suppress(EOFError, OSError):
        connection.send(("ready", None))
        while True:
            piece = connection.recv()
            connection.send(_answer(answer, piece))


def _answer(answer: Callable[[Any], list[Any]], piece: Piece) -> tuple[str, list[Any] | str]:
    try:
        return "done", answer(piece.rows)
    except Exception as error:  # noqa: BLE001 the edge of a process: the driver finds the row that does it
        return "failed", f"a defect in assay: {traceback.format_exception_only(error)[-1].strip()}"
