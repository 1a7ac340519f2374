"""A pool of processes that read files with limits on time and memory; a file that ends its process is unreadable."""

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
"""Time limit for reading one file, in seconds."""
_GRACE: Final = 5.0
"""Seconds beyond the time limit after which a process that has not ended itself is killed."""
_STARTUP: Final = 300.0
"""Seconds that a process may take to start: on a busy machine importing modules takes longer than any file."""
_AHEAD: Final = 4
"""Files for each process that are read ahead of the consumer: their results wait in memory."""

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The result of reading one file."""

    read: dict[str, Any] | None
    """The prepared file (`assay.corpus.reader.prepare`)."""
    reason: str | None = None
    """Why it could not be read."""


class ReaderPool:
    """Processes that read files. Use it in a `with` block, at whose end they are ended."""

    def __init__(self, size: int, seconds: float = SECONDS) -> None:
        """Create the pool; its processes are started with the first files.

        Args:
            size: the number of processes, at least 1.
            seconds: the time limit for one file.
        """
        self._size, self._seconds = size, seconds
        self._idle: queue.SimpleQueue[subprocess.Popen[str] | None] = queue.SimpleQueue()
        self._processes: list[subprocess.Popen[str]] = []
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(size, thread_name_prefix="assay-corpus")
        for _ in range(size):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Kill the processes, even while they read."""
        with self._lock:
            for process in self._processes:
                process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)
        for process in self._processes:
            _end(process)

    def read(self, files: Iterable[tuple[Key, Path, str]]) -> Iterator[tuple[Key, ReadResult]]:
        """Read files; yields the results in order and reads only a few files ahead.

        Args:
            files: for each its key, its path, and its name in the corpus.
        """
        waiting: deque[tuple[Key, Future[ReadResult]]] = deque()
        for key, path, name in files:
            waiting.append((key, self._executor.submit(self._read_one, path, name)))
            if len(waiting) >= _AHEAD * self._size:
                first, done = waiting.popleft()
                yield first, done.result()
        while waiting:
            first, done = waiting.popleft()
            yield first, done.result()

    def _read_one(self, path: Path, name: str) -> ReadResult:
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
            # -P: modules are never imported from the working folder, which may be the corpus itself.
            [sys.executable, "-P", "-m", "assay.corpus.reader"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env=environ,
        )
        with self._lock:
            self._processes = [one for one in self._processes if one.poll() is None]
            self._processes.append(process)
        timer = threading.Timer(_STARTUP, process.kill)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None  # noqa: S101 it is a pipe
            process.stdout.readline()  # the line "ready"; if the process has ended instead, the first file shows it
        finally:
            timer.cancel()
        return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):  # buffered input to a process that has ended
                pipe.close()
