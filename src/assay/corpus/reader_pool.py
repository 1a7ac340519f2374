"""Processes that read files, each bounded in time and memory; a file that ends one is unreadable, the rest go on."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

SECONDS: Final = 60.0
"""What one file may take to be read."""
_GRACE: Final = 5.0
"""Seconds after which a process that did not end itself is ended."""
_STARTUP: Final = 300.0
"""Seconds that a process may take until it can read: on a busy machine loading modules takes longer than any file."""
_AHEAD: Final = 4
"""Files for each process that are read ahead of whoever takes the results: results wait in memory."""

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What became of one file."""

    read: dict[str, Any] | None
    """The file made ready (`assay.corpus.reader.prepare`)."""
    reason: str | None = None
    """Why it could not be read."""


class ReaderPool:
    """Some processes that read files. Use it in a `with` block: they end with it."""

    def __init__(self, size: int, seconds: float = SECONDS) -> None:
        """Make the pool; its processes are started with the first files.

        Args:
            size: how many processes, at least 1.
            seconds: what one file may take.
        """
        self._size, self._seconds = size, seconds
        self._idle: queue.SimpleQueue[subprocess.Popen[str] | None] = queue.SimpleQueue()
        self._all: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="assay-corpus")
        for _ in range(size):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the processes, whatever they are at."""
        with self._lock:
            for process in self._all:
                process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            _end(process)

    def read(self, files: Iterable[tuple[Asked, Path, str]]) -> Iterator[tuple[Asked, ReadResult]]:
        """Files in their order, each with what became of it; only a few are read ahead.

        Args:
            files: each with what it is told by, its place, and its name in the corpus.
        """
        waiting: deque[tuple[Asked, Future[ReadResult]]] = deque()
        for asked, path, name in files:
            waiting.append((asked, self._threads.submit(self._one, path, name)))
            if len(waiting) >= _AHEAD * self._size:
                first, done = waiting.popleft()
                yield first, done.result()
        while waiting:
            first, done = waiting.popleft()
            yield first, done.result()

    def _one(self, path: Path, name: str) -> ReadResult:
        process = self._idle.get()
        if process is None:
            try:
                process = self._start()
            except BaseException:
                self._idle.put(None)  # else the next file would wait for this place for ever
                raise
        timer = threading.Timer(self._seconds + _GRACE, process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdin is not None  # noqa: S101 both are pipes
            assert process.stdout is not None  # noqa: S101
            request = {"path": os.fsencode(path).hex(), "name": name, "seconds": self._seconds}
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):
            line = ""
        finally:
            timer.cancel()
        if not line.endswith("\n"):
            _end(process)
            self._idle.put(None)
            return ReadResult(None, f"reading it took more than {self._seconds:g} s or ended the process that read it")
        self._idle.put(process)
        answer = json.loads(line)
        return ReadResult(answer.get("read"), answer.get("unreadable"))

    def _start(self) -> subprocess.Popen[str]:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in sys.path if part)}
        environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        process = subprocess.Popen(
            # -P: modules are never taken from the working folder, which may be the corpus itself.
            [sys.executable, "-P", "-m", "assay.corpus.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env=environ,
        )
        with self._lock:
            self._all = [one for one in self._all if one.poll() is None]
            self._all.append(process)
        timer = threading.Timer(_STARTUP, process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None  # noqa: S101 it is a pipe
            process.stdout.readline()  # that it is ready; where it has ended instead, the first file shows it
        finally:
            timer.cancel()
        return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # what was written to a process that has ended
                pipe.close()
