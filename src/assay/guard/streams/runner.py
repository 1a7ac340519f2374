"""Driving a flow: its source is read, complete sentences are checked meanwhile, and what has passed is handed out.

One check at a time runs on a thread beside the reading. The source is read a bounded number of pieces ahead of the
reader. An error of the source or of a check is raised where the stream is read, and nothing goes out after it.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Generator, Iterable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from assay.errors import AssayError
from assay.guard.rulings import Ruling, unchecked
from assay.guard.streams.flow import Flow
from assay.guard.streams.holdback import Job

I = TypeVar("I")  # noqa: E741 what comes in
O = TypeVar("O")  # noqa: E741 what goes out

Check = Callable[[Job], Mapping[str, Ruling]]
"""Gives the rulings on a job, by channel and by call."""

MOST_AHEAD: Final = 1_024
"""How many pieces of a source are read ahead of the reader."""
_CLOSING_S: Final = 1.0
"""How many seconds a reader who leaves waits for the thread that reads the source."""
_CANCELLED: Final = (
    "expected the source of a stream to end or to raise an error, but reading or checking it was cancelled; nothing "
    "more goes out: make sure that nobody cancels what the source awaits, or read the stream from the start"
)


@dataclass(frozen=True, slots=True)
class _Note:
    """Something that happened on another thread or task, and when: a piece, the end, a check or an error."""

    at: float
    piece: Any = None
    ended: bool = False
    checked: tuple[Job, Mapping[str, Ruling]] | None = None
    error: BaseException | None = None

    @property
    def is_piece(self) -> bool:
        return not self.ended and self.checked is None and self.error is None


class _FlowState:
    """The state of a flow between its source and its checks."""

    def __init__(self, flow: Flow[Any, Any, Any]) -> None:
        self._flow = flow
        self._checking = False
        self._ended = False

    def note(self, note: _Note) -> Job | None:
        """Takes a note, and returns the job to be checked now, if there is one."""
        if note.error is not None:
            raise note.error
        if note.checked is not None:
            self._checking = False
            self._flow.settle(*note.checked, note.at)
        elif note.ended:
            self._ended = True
            self._flow.end(note.at)
        else:
            self._flow.take(note.piece, note.at)
        job = None if self._checking else self._flow.job()
        self._checking = self._checking or job is not None
        if self._ended and not self._checking:
            self._flow.close()
        return job


def ruled(check: Check, job: Job) -> Mapping[str, Ruling]:
    """The rulings of a check; if it could not be made, everything in the job counts as unchecked."""
    try:
        return check(job)
    except AssayError as error:
        return dict.fromkeys([*(text.channel for text in job.texts), *job.calls], unchecked(str(error)))


def drive(
    source: Iterable[I], flow: Flow[I, Any, O], check: Check, *, cancel: Callable[[], object] | None = None
) -> Generator[O, None, None]:
    """Yields what a flow releases of a source.

    The source is read on a thread of its own, and closed there if it can be closed when it has ended or the reader
    leaves. `cancel` wakes it if it waits for something that may never come.
    """
    inbox: SimpleQueue[_Note] = SimpleQueue()
    slots, left = threading.BoundedSemaphore(MOST_AHEAD), threading.Event()

    def pump() -> None:
        try:
            for piece in source:
                slots.acquire()
                if left.is_set():
                    return
                inbox.put(_Note(time.perf_counter(), piece))
        finally:
            close_source(source)
        inbox.put(_Note(time.perf_counter(), ended=True))

    reading = _beside(pump, inbox)
    state = _FlowState(flow)
    try:
        while not flow.finished:
            note = inbox.get()
            if note.is_piece:
                slots.release()
            job = state.note(note)
            if job is not None:
                _beside(_checked, inbox, check, job, inbox)
            yield from flow.out()
    finally:
        if flow.complete and flow.stopped is None:
            # The rest of the source has no text: it may end by itself, and its connection may be used again.
            _free(slots)
            _await(reading)
        left.set()
        if reading.is_alive():
            if cancel is not None:
                cancel()
            _free(slots)
            _await(reading)


def close_source(source: object) -> None:
    """Closes a source where it can be closed."""
    close = getattr(source, "close", None)
    if callable(close):
        close()


async def aclose_source(source: object) -> None:
    """As `close_source`, for an asynchronous source."""
    close = getattr(source, "aclose", None)
    if callable(close):
        await close()


def _await(thread: threading.Thread) -> None:
    """Waits a moment for a thread, unless it is this one: any thread may collect and so close a forgotten stream."""
    if thread is not threading.current_thread():
        thread.join(_CLOSING_S)


def _checked(check: Check, job: Job, inbox: "SimpleQueue[_Note]") -> None:
    found = ruled(check, job)
    inbox.put(_Note(time.perf_counter(), checked=(job, found)))


def _free(slots: threading.BoundedSemaphore) -> None:
    """Lets a thread that waits for a slot go on."""
    try:
        slots.release()
    except ValueError:
        return  # all of them were free


def _beside(work: Callable[..., None], inbox: "SimpleQueue[_Note]", *args: Any) -> threading.Thread:
    """Runs work on a thread that does not keep the process from ending."""

    def run() -> None:
        try:
            work(*args)
        # The source may be anybody's code. Whatever it raises on this thread is raised again where the stream is read;
        # without the note the reader would wait for ever.
        except BaseException as error:  # noqa: BLE001
            inbox.put(_Note(time.perf_counter(), error=error))

    thread = threading.Thread(target=copy_context().run, args=(run,), name="assay-stream", daemon=True)
    thread.start()
    return thread


async def adrive(source: AsyncIterable[I], flow: Flow[I, Any, O], check: Check) -> AsyncGenerator[O, None]:
    """As `drive`, for an asynchronous source; checks run on threads."""
    inbox: asyncio.Queue[_Note] = asyncio.Queue()
    slots = asyncio.Semaphore(MOST_AHEAD)
    tasks: set[asyncio.Task[_Note]] = set()

    async def pump() -> _Note:
        async for piece in source:
            await slots.acquire()
            inbox.put_nowait(_Note(time.perf_counter(), piece))
        return _Note(time.perf_counter(), ended=True)

    async def checked(job: Job) -> _Note:
        found = await asyncio.to_thread(ruled, check, job)
        return _Note(time.perf_counter(), checked=(job, found))

    def beside(work: Coroutine[Any, Any, _Note]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(lambda done: _report(done, inbox))
        task.add_done_callback(tasks.discard)

    beside(pump())
    state = _FlowState(flow)
    try:
        while not flow.finished:
            note = await inbox.get()
            if note.is_piece:
                slots.release()
            job = state.note(note)
            if job is not None:
                beside(checked(job))
            for piece in flow.out():
                yield piece
    finally:
        if flow.complete and flow.stopped is None and tasks:
            # The rest of the source has no text: it may end by itself, and its connection may be used again.
            await asyncio.wait(tasks, timeout=_CLOSING_S)
        running = list(tasks)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await aclose_source(source)


def _report(task: "asyncio.Task[_Note]", inbox: "asyncio.Queue[_Note]") -> None:
    # A source that awaits what somebody else cancelled ends like this too, and without a note the reader would wait for
    # ever. It is no cancellation of the reader, who must see that the stream has broken off. Where the reader left, and
    # so cancelled the task, nobody reads the note.
    error = AssayError(_CANCELLED) if task.cancelled() else task.exception()
    inbox.put_nowait(task.result() if error is None else _Note(time.perf_counter(), error=error))
