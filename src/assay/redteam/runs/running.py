"""Asks a target every case of a suite: several at once, within a budget, nothing twice."""

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
"""Tokens of an answer that are expected before any is known."""


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
    most_tokens: int | None = None
    """Tokens of requests and answers at most, over all runs of one record."""
    most_cost: float | None = None
    """What all runs of one record may cost, in the currency of the prices."""
    price_in: float | None = None
    """What a million tokens of requests cost."""
    price_out: float | None = None
    """What a million tokens of answers cost."""
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
        """What tokens cost; none where no prices are declared.

        >>> RunOptions(price_in=2.0, price_out=10.0).cost(Tokens(500_000, 100_000))
        2.0
        """
        if self.price_in is None or self.price_out is None:
            return None
        return (tokens.given * self.price_in + tokens.got * self.price_out) / MILLION


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run did."""

    calls: int
    """Calls that were made now."""
    kept: int
    """Cases that had been answered before."""
    left: int
    """Cases that the budget did not allow."""
    tokens: Tokens = field(default_factory=Tokens)
    """What all calls of the record took, those of earlier runs too."""
    cost: float | None = None
    """What they cost; none where no prices are declared."""
    counted: bool = False
    """Whether the target counted all tokens; else some are estimated."""


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
    on_answer: Callable[[Answer], None] | None = None,
) -> Spent:
    """Asks what has not been asked yet and records every call.

    Args:
        cases: the suite.
        target: the system under test.
        log: the record; what it holds is not asked again.
        options: concurrency, rate and budget.
        on_answer: is called with each answer as it comes.
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
    if options.is_bounded:
        open_cases = spread(open_cases)
    allowed = open_cases if options.most_calls is None else open_cases[: options.most_calls]
    until = None if options.most_seconds is None else time.monotonic() + options.most_seconds
    pace = _Pace(options.per_second)

    admitting = threading.Lock()

    def call(case: Case) -> Answer | None:
        pace.wait()
        request = request_of(case)
        with admitting:
            if (until is not None and time.monotonic() >= until) or not _affordable(request, log, options):
                return None
            log.begin(case.id, options.trial, request)
        answer = _asked(target, request, options.trial)
        log.end(answer)
        return answer

    made = 0
    with ThreadPoolExecutor(options.concurrency, "redteam") as pool:
        for answer in _in_flight(pool, call, allowed, options.concurrency):
            if answer is not None:
                made += 1
                if on_answer is not None:
                    on_answer(answer)
    taken = log.taken
    kept = len(cases) - len(open_cases)
    return Spent(made, kept, len(open_cases) - made, taken, options.cost(taken), log.counted)


def spread(cases: Sequence[Case]) -> list[Case]:
    """The cases with one of each category in turn, so that a budget which ends a run leaves none of them out."""
    by_category: dict[str, list[Case]] = {}
    for case in cases:
        by_category.setdefault(case.category, []).append(case)
    rounds = zip_longest(*by_category.values())
    return [case for one in rounds for case in one if case is not None]


def _affordable(request: Request, log: RunLog, options: RunOptions) -> bool:
    """Whether a call fits into what is left: each call under way and this one may give an answer as long as the longest
    one so far."""
    if options.most_tokens is None and options.most_cost is None:
        return True
    taken = log.taken
    expected = Tokens(
        taken.given + estimated_tokens(request), taken.got + (log.under_way + 1) * max(LEAST_EXPECTED, log.largest)
    )
    cost = options.cost(expected)
    within_tokens = options.most_tokens is None or expected.total <= options.most_tokens
    return within_tokens and (options.most_cost is None or cost is None or cost <= options.most_cost)


def _asked(target: Target, request: Request, trial: int) -> Answer:
    begun = time.monotonic()
    sent = estimated_tokens(request)
    try:
        reply = reply_of(target.ask(request))
    except TargetError as error:
        return Answer(request["id"], None, str(error), time.monotonic() - begun, trial, sent)
    seconds = time.monotonic() - begun
    got = reply.tokens_out if reply.tokens_out is not None else ceil(len(reply.text) / CHARACTERS_PER_TOKEN)
    given = reply.tokens_in if reply.tokens_in is not None else sent
    counted = reply.tokens_in is not None and reply.tokens_out is not None
    return Answer(request["id"], reply.text, None, seconds, trial, given, got, counted)


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
