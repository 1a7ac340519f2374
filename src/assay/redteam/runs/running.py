"""Asks a target every case of a suite: several at once, within a budget, nothing twice."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

from assay.errors import InputError
from assay.redteam.cases import Case
from assay.redteam.runs.log import Answer, RunLog
from assay.redteam.targets import Target, TargetError, request_of


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How much is asked, and how fast."""

    concurrency: int = 4
    """Calls at once."""
    per_second: float | None = None
    """Calls that begin in a second at most."""
    most_calls: int | None = None
    """Calls of this process at most."""
    most_seconds: float | None = None
    """Seconds after which no call begins any more."""
    retry_failed: bool = False
    """Whether cases whose call failed before are asked again."""
    at_most_once: bool = False
    """Whether a call that was under way when a process died is given up, and not made again: for agents whose calls
    have effects."""
    trial: int = 1
    """The number of the trial."""

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"expected at least one call at once, got {self.concurrency}")
        if self.per_second is not None and self.per_second <= 0:
            raise InputError(f"expected a rate above 0 calls per second, got {self.per_second:g}")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run did."""

    calls: int
    """Calls that were made now."""
    kept: int
    """Cases that had been answered before."""
    left: int
    """Cases that the budget did not allow."""


class _Pace:
    """Lets calls begin at a steady rate."""

    def __init__(self, per_second: float | None) -> None:
        self._gap = 0.0 if per_second is None else 1.0 / per_second
        self._next = 0.0
        self._lock = threading.Lock()

    def wait(self) -> None:
        if not self._gap:
            return
        with self._lock:
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._gap
        time.sleep(max(0.0, at - now))


def run_cases(
    cases: Sequence[Case],
    target: Target,
    log: RunLog,
    options: RunOptions | None = None,
    told: Callable[[Answer], None] | None = None,
) -> Spent:
    """Asks what has not been asked yet and records every call.

    Args:
        cases: the suite.
        target: the system under test.
        log: the record; what it holds is not asked again.
        options: concurrency, rate and budget.
        told: hears of each answer as it comes.
    """
    options = options or RunOptions()
    for case in cases:
        known = log.answers.get((case.id, options.trial))
        if known is not None and known.error is not None and options.retry_failed:
            log.drop(case.id, options.trial)
    if options.at_most_once:
        for case in cases:
            key = (case.id, options.trial)
            if key in log.begun and key not in log.answers:
                log.end(Answer(case.id, None, "was under way when a process died, and is not asked again", 0.0, key[1]))
    open_cases = [case for case in cases if (case.id, options.trial) not in log.answers]
    allowed = open_cases if options.most_calls is None else open_cases[: options.most_calls]
    until = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    pace = _Pace(options.per_second)

    def call(case: Case) -> Answer | None:
        pace.wait()
        if until is not None and time.monotonic() >= until:
            return None
        request = request_of(case)
        log.begin(case.id, options.trial, request)
        begun = time.monotonic()
        try:
            answer = Answer(case.id, target.ask(request), None, time.monotonic() - begun, options.trial)
        except TargetError as error:
            answer = Answer(case.id, None, str(error), time.monotonic() - begun, options.trial)
        log.end(answer)
        return answer

    made = 0
    with ThreadPoolExecutor(options.concurrency, "redteam") as pool:
        for answer in _in_flight(pool, call, allowed, options.concurrency):
            if answer is not None:
                made += 1
                if told is not None:
                    told(answer)
    return Spent(made, len(cases) - len(open_cases), len(open_cases) - made)


def _in_flight(
    pool: ThreadPoolExecutor, call: Callable[[Case], Answer | None], cases: Iterable[Case], most: int
) -> Iterable[Answer | None]:
    """The answers as they come; no more cases are handed out than are asked at once, so that an interrupt ends soon."""
    waiting = iter(cases)
    flying: set[Future[Answer | None]] = {pool.submit(call, case) for case in islice(waiting, most)}
    while flying:
        done, flying = wait(flying, return_when=FIRST_COMPLETED)
        flying |= {pool.submit(call, case) for case in islice(waiting, len(done))}
        for one in done:
            yield one.result()
