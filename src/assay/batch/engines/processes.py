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

from assay.batch.engines.interface import MOST_FAILED_STARTS, Died, Done
from assay.batch.engines.preloaded import PRELOAD, begin_work
from assay.batch.values import Piece, Work
from assay.errors import AssayError, VerifierError

_SAFE_PATH: Final = {"PYTHONSAFEPATH": "1"}
"""For new interpreters: no module is imported from the working folder, which may hold files of others."""
_SECONDS_TO_END: Final = 5.0
"""Seconds that a worker gets to end after it is asked to; then it is killed."""


class ProcessEngine:
    """A fixed number of processes, each of which holds one piece at a time.

    Where the system can fork, all are forked from one fork server that has loaded the network (`preloaded`).
    """

    def __init__(self, work: Work, workers: int) -> None:
        """Starts the workers, which set up in parallel.

        Args:
            work: their work.
            workers: how many.
        """
        self._work, self._count = work, workers
        self._context = _context(work)
        self._processes: dict[Connection, BaseProcess] = {}
        self._idle: list[Connection] = []
        self._pieces: dict[Connection, Piece] = {}
        self._failed_starts = 0
        for _ in range(workers):
            self._start()

    @property
    def capacity(self) -> int:
        """One piece for each worker."""
        return self._count

    @property
    def pids(self) -> list[int]:
        """The workers' process ids."""
        return [process.pid for process in self._processes.values() if process.pid is not None]

    def submit(self, piece: Piece) -> None:
        """Hands a piece to an idle worker. If that one has died meanwhile, `wait` notices."""
        connection = self._idle.pop()
        self._pieces[connection] = piece
        with contextlib.suppress(
            OSError
        ):  # the worker has died: `wait` reads the end of its stream and retries the piece
            connection.send(piece)

    def wait(self) -> Done | Died:
        """The next piece that has ended; blocks until there is one.

        Raises:
            VerifierError: workers end before they are ready, or cannot begin their work.
        """
        while True:
            for connection in wait(list(self._processes)):
                if isinstance(connection, Connection) and (outcome := self._receive(connection)) is not None:
                    return outcome

    def _receive(self, connection: Connection) -> Done | Died | None:
        try:
            kind, payload = connection.recv()
        except (EOFError, OSError):
            return self._replace_dead(connection)
        if kind == "ready":
            self._failed_starts = 0
            return None
        if kind == "unusable":
            raise VerifierError(f"a worker could not begin its work: {payload}")
        piece = self._pieces.pop(connection)
        self._idle.append(connection)
        return Done(piece, payload) if kind == "done" else Died(piece, payload)

    def _replace_dead(self, connection: Connection) -> Died | None:
        process = self._processes.pop(connection)
        process.join()
        connection.close()
        piece = self._pieces.pop(connection, None)
        if connection in self._idle:
            self._idle.remove(connection)
        self._failed_starts += 1
        if self._failed_starts > MOST_FAILED_STARTS * self._count:
            raise VerifierError(f"workers end as soon as they start, the last one {_how_it_ended(process.exitcode)}")
        self._start()
        return None if piece is None else Died(piece, f"the worker that judged it {_how_it_ended(process.exitcode)}")

    def _start(self) -> None:
        driver_end, worker_end = self._context.Pipe()
        process = self._context.Process(target=_run_worker, args=(worker_end, self._work), daemon=True)
        with _environ(_SAFE_PATH):
            process.start()
        worker_end.close()
        self._processes[driver_end] = process
        self._idle.append(driver_end)

    def close(self) -> None:
        """Ends the workers."""
        for connection in self._processes:
            connection.close()
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.join(_SECONDS_TO_END)
            if process.is_alive():
                process.kill()
                process.join()
        self._processes.clear()
        self._idle.clear()
        self._pieces.clear()


def _how_it_ended(status: int | None) -> str:
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
    context.set_forkserver_preload([begin_work.__module__])
    from multiprocessing.forkserver import ensure_running

    with _environ({**_SAFE_PATH, PRELOAD: f"{work.threads}:{work.model or ''}"}):
        ensure_running()  # where one runs already without this network, each worker loads it
    return context


@contextlib.contextmanager
def _environ(variables: Mapping[str, str]) -> Any:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _run_worker(connection: Connection, work: Work) -> None:
    """The loop of one worker: answers each piece with its results until the driver closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is handled by the driver alone
    try:
        answer = begin_work(work)
    except AssayError as error:
        connection.send(("unusable", str(error)))
        return
    with contextlib.suppress(EOFError, OSError):  # the driver has closed the connection: the work is over
        connection.send(("ready", None))
        while True:
            piece = connection.recv()
            connection.send(_answer_piece(answer, piece))


def _answer_piece(answer: Callable[[Any], list[Any]], piece: Piece) -> tuple[str, list[Any] | str]:
    try:
        return "done", answer(piece.rows)
    except Exception as error:  # noqa: BLE001 a defect of assay or of a library: sent to the driver, which retries, then rejects the row
        return "failed", f"a defect in assay: {traceback.format_exception_only(error)[-1].strip()}"
