"""Asks a target the cases of a suite: concurrently, within a budget, and no case twice."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from math import ceil, isfinite
from typing import Final

from assay.errors import InputError
from assay.redteam.cases import Case
from assay.redteam.runs.log import Answer, RunLog, Tokens
from assay.redteam.targets import Request, Target, TargetError, estimated_tokens, reply_of, request_of
from assay.redteam.targets.interface import CHARACTERS_PER_TOKEN

MILLION: Final = 1_000_000
LEAST_EXPECTED: Final = 64
"""The expected tokens of an answer before any is known."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The rate and budget of a run.

    Raises:
        InputError: a number is out of range, or a budget of money lacks prices.
    """

    concurrency: int = 4
    """Concurrent calls."""
    per_second: float | None = None
    """The most calls that begin in a second."""
    most_calls: int | None = None
    """The most calls of this process."""
    most_seconds: float | None = None
    """Seconds after which no further call begins."""
    most_tokens: int | None = None
    """The most tokens of requests and answers, over all runs of one record."""
    most_cost: float | None = None
    """The most that all runs of one record may cost, in the currency of the prices."""
    price_in: float | None = None
    """The price of a million tokens of requests."""
    price_out: float | None = None
    """The price of a million tokens of answers."""
    retry_failed: bool = False
    """Whether cases whose call failed in an earlier run are asked again."""
    at_most_once: bool = False
    """Whether a call that was in progress when a process died is recorded as failed rather than repeated: for agents
    whose calls have side effects."""
    trial: int = 1
    """The number of the trial."""

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InputError(f"expected at least one call at once, got {self.concurrency}")
        if self.per_second is not None and not self.per_second > 0:
            raise InputError(f"expected a rate above 0 calls per second, got {self.per_second:g}")
        if self.most_seconds is not None and not self.most_seconds >= 0:
            raise InputError(f"expected a budget of 0 seconds or more, got {self.most_seconds:g}")
        prices = [self.price_in, self.price_out]
        if any(one is not None and not (isfinite(one) and one >= 0) for one in [*prices, self.most_cost]):
            raise InputError("expected prices and a budget that are finite and not below 0")
        if self.most_cost is not None and None in prices:
            raise InputError("a budget of money needs both prices of a million tokens: --price-in and --price-out")
        if self.most_tokens is not None and self.most_tokens < 1:
            raise InputError(f"expected a budget of at least one token, got {self.most_tokens}")

    @property
    def is_bounded(self) -> bool:
        """Whether a budget may leave cases unasked."""
        limits = (self.most_calls, self.most_seconds, self.most_tokens, self.most_cost)
        return any(one is not None for one in limits)

    def cost(self, tokens: Tokens) -> float | None:
        """The cost of tokens; none without prices.

        >>> RunOptions(price_in=2.0, price_out=10.0).cost(Tokens(500_000, 100_000))
        2.0
        """
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens.sent * self.price_in + tokens.received * self.price_out) / MILLION


@dataclass(frozen=True, slots=True)
class RunUsage:
    """The calls and tokens of a run."""

    calls: int
    """Calls that this run made."""
    kept: int
    """Cases that an earlier run had answered."""
    left: int
    """Cases that the budget did not allow."""
    tokens: Tokens = field(default_factory=Tokens)
    """The tokens of all calls of the record, including earlier runs."""
    cost: float | None = None
    """Their cost; none without prices."""
    counted: bool = False
    """Whether the target counted all tokens; otherwise some are estimated."""


class _Pace:
    """Delays calls so that they begin at a steady rate."""

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
    on_answer: Callable[[Answer], None] | None = None,
) -> RunUsage:
    """Asks the cases that have no answer yet and records every call.

    Args:
        cases: the suite.
        target: the system under test.
        log: the record; cases that it has an answer to are not asked again.
        options: concurrency, rate and budget.
        on_answer: called with each answer as it arrives.
    """
    options = options or RunOptions()
    for case in cases:
        answer = log.answers.get((case.id, options.trial))
        if answer is not None and answer.error is not None and options.retry_failed:
            log.drop(case.id, options.trial)
    if options.at_most_once:
        for case in cases:
            key = (case.id, options.trial)
            if key in log.started_calls and key not in log.answers:
                log.end(Answer(case.id, None, "was under way when a process died, and is not asked again", 0.0, key[1]))
    open_cases = [case for case in cases if (case.id, options.trial) not in log.answers]
    if options.is_bounded:
        open_cases = spread(open_cases)
    cases_to_ask = open_cases if options.most_calls is None else open_cases[: options.most_calls]
    deadline = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    pace = _Pace(options.per_second)

    admitting = threading.Lock()

    def call(case: Case) -> Answer | None:
        pace.wait()
        request = request_of(case)
        with admitting:
            if (deadline is not None and time.monotonic() >= deadline) or not _affordable(request, log, options):
                return None
            log.begin(case.id, options.trial, request)
        answer = _ask_target(target, request, options.trial)
        log.end(answer)
        return answer

    calls = 0
    with ThreadPoolExecutor(options.concurrency, "redteam") as pool:
        for answer in _answers_in_flight(pool, call, cases_to_ask, options.concurrency):
            if answer is not None:
                calls += 1
                if on_answer is not None:
                    on_answer(answer)
    used = log.used
    kept = len(cases) - len(open_cases)
    return RunUsage(calls, kept, len(open_cases) - calls, used, options.cost(used), log.counted)


def spread(cases: Sequence[Case]) -> list[Case]:
    """The cases in an order that takes one of each category in turn, so that a budget cuts no category off entirely."""
    by_category: dict[str, list[Case]] = {}
    for case in cases:
        by_category.setdefault(case.category, []).append(case)
    rounds = zip_longest(*by_category.values())
    return [case for one in rounds for case in one if case is not None]


def _affordable(request: Request, log: RunLog, options: RunOptions) -> bool:
    """Whether a call fits into the remaining budget if it and each open call get an answer as long as the longest so
    far."""
    if options.most_tokens is None and options.most_cost is None:
        return True
    expected = log.expected(estimated_tokens(request), LEAST_EXPECTED)
    cost = options.cost(expected)
    within_tokens = options.most_tokens is None or expected.total <= options.most_tokens
    return within_tokens and (options.most_cost is None or cost is None or cost <= options.most_cost)


def _ask_target(target: Target, request: Request, trial: int) -> Answer:
    started = time.monotonic()
    sent = estimated_tokens(request)
    try:
        reply = reply_of(target.ask(request))
    except TargetError as error:
        return Answer(request["id"], None, str(error), time.monotonic() - started, trial, sent)
    seconds = time.monotonic() - started
    received = reply.tokens_out if reply.tokens_out is not None else ceil(len(reply.text) / CHARACTERS_PER_TOKEN)
    sent = reply.tokens_in if reply.tokens_in is not None else sent
    counted = reply.tokens_in is not None and reply.tokens_out is not None
    return Answer(request["id"], reply.text, None, seconds, trial, sent, received, counted)


def _answers_in_flight(
    pool: ThreadPoolExecutor, call: Callable[[Case], Answer | None], cases: Iterable[Case], most: int
) -> Iterable[Answer | None]:
    """The answers as they arrive. No more than `most` cases are submitted at a time, so that an interrupt ends soon."""
    waiting = iter(cases)
    pending: set[Future[Answer | None]] = {pool.submit(call, case) for case in islice(waiting, most)}
    while pending:
        done, pending = wait(pending, return_when=FIRST_COMPLETED)
        pending |= {pool.submit(call, case) for case in islice(waiting, len(done))}
        for future in done:
            yield future.result()
