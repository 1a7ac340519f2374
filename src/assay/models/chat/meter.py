"""What one check may spend on chat models, and what it spent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

from assay.errors import BudgetError, ChatError, InputError
from assay.models.chat.interface import ChatModel, ChatRequest, Completion, Usage
from assay.models.chat.providers.responses import prompt_estimate
from assay.models.chat.tape import Tape
from assay.models.chat.wrapping import ChatWrapper
from assay.schema.report_parts import Spending

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens. Prices change, so there is no table of them here: the caller gives them."""

    prompt: float
    completion: float
    cached: float | None = None
    """Of those tokens of the prompt that the endpoint had in its own cache; as the others by default."""
    currency: str = "USD"

    def of(self, usage: Usage) -> float:
        """What so many tokens cost.

        >>> Price(prompt=2.0, completion=8.0).of(Usage(500_000, 250_000))
        3.0
        """
        fresh = usage.prompt_tokens - usage.cached_tokens
        cached = self.prompt if self.cached is None else self.cached
        parts = fresh * self.prompt + usage.cached_tokens * cached + usage.completion_tokens * self.completion
        return parts / MILLION


@runtime_checkable
class Priced(Protocol):
    """A model that knows what its tokens cost."""

    price: Price | None


@runtime_checkable
class Knowing(Protocol):
    """A replay of a recorded model, with earlier verdicts that the recorded check used again."""

    known: Mapping[str, Any]


def price_of(model: ChatModel) -> Price | None:
    """What a model's tokens cost; none where it does not know."""
    return model.price if isinstance(model, Priced) else None


@dataclass(frozen=True, slots=True)
class Budget:
    """What one check may spend at most; none is no bound."""

    calls: int | None = 64
    """Requests over the network, retries included."""
    tokens: int | None = 400_000
    """Tokens in and out. Before a call its prompt is estimated and its whole answer reserved."""
    seconds: float | None = 600.0
    """From the first request on."""
    cost: float | None = None
    """Money, in the currency of the price."""

    def __post_init__(self) -> None:
        """Refuse bounds that are none.

        Raises:
            InputError: a bound is negative or no number.
        """
        for name in ("calls", "tokens", "seconds", "cost"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"a budget's {name} is 0 or more, got {value}")


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent, or is reserved for what is under way."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    requests: int = 0
    from_cache: int = 0
    failures: int = 0
    retries: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.usage + other.usage,
            self.requests + other.requests,
            self.from_cache + other.from_cache,
            self.failures + other.failures,
            self.retries + other.retries,
        )


@dataclass(slots=True)
class _Account:
    """The mutable state of a meter; used only under its lock."""

    spent: dict[str, Spent] = field(default_factory=dict)
    reserved_calls: int = 0
    reserved: list[Usage] = field(default_factory=list)
    begun: float | None = None

    @property
    def total(self) -> Spent:
        return sum(self.spent.values(), Spent())


class Meter:
    """Counts what one check spends. Make one for each check, and ask the model through `asking`."""

    def __init__(
        self,
        model: ChatModel,
        budget: Budget | None = None,
        price: Price | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make one.

        Args:
            model: the model that is asked.
            budget: what may be spent.
            price: what tokens cost, where it is known.
            clock: seconds from any beginning.

        Raises:
            InputError: money is bounded and no price is known.
        """
        self._model = model
        self._budget = budget or Budget()
        self._price = price
        self._clock = clock
        self._account = _Account()
        self._lock = threading.Lock()
        self._tape = Tape()
        if self._budget.cost is not None and price is None:
            raise InputError("a budget in money needs the price of the model's tokens")

    def asking(self, purpose: str) -> ChatModel:
        """The model, with its cost booked under a purpose."""
        return _Metered(self, self._model, purpose)

    @property
    def tape(self) -> Tape:
        """The answers so far."""
        return self._tape

    def recorded(self) -> dict[str, Any] | None:
        """The tape as a JSON value; none where it is empty."""
        price = None if self._price is None else asdict(self._price)
        return self._tape.value(self._model.name, self._model.digest, price)

    @property
    def known(self) -> Mapping[str, Any]:
        """Earlier verdicts of a judge, where a recorded check is run again (`assay.models.chat.tape`)."""
        return self._model.known if isinstance(self._model, Knowing) else {}

    @property
    def total(self) -> Spent:
        """What was spent so far."""
        with self._lock:
            return self._account.total

    @property
    def spending(self) -> tuple[Spending, ...]:
        """What was spent so far, by purpose, in the order in which the purposes came up."""
        with self._lock:
            spent = dict(self._account.spent)
        return tuple(self._spending(purpose, one) for purpose, one in spent.items())

    def _spending(self, purpose: str, one: Spent) -> Spending:
        return Spending(
            purpose=purpose,
            model=self._model.name,
            requests=one.requests,
            from_cache=one.from_cache,
            failures=one.failures,
            calls=one.calls,
            retries=one.retries,
            prompt_tokens=one.usage.prompt_tokens,
            completion_tokens=one.usage.completion_tokens,
            cached_tokens=one.usage.cached_tokens,
            estimated=one.usage.estimated,
            cost=None if self._price is None else self._price.of(one.usage),
            currency="USD" if self._price is None else self._price.currency,
        )

    def reserve(self, request: ChatRequest) -> ChatRequest:
        """Reserve what a request may cost, and bound the request by what is left.

        Raises:
            BudgetError: there is not enough left.
        """
        need = _need(request)
        with self._lock:
            now = self._clock()
            self._account.begun = now if self._account.begun is None else self._account.begun
            calls, seconds = self._left(need, now - self._account.begun)
            self._account.reserved_calls += request.n
            self._account.reserved.append(need)
        timeout = min((limit for limit in (seconds, request.timeout) if limit is not None), default=None)
        allowed = min((limit for limit in (calls, request.most_calls) if limit is not None), default=None)
        return replace(request, timeout=timeout, most_calls=allowed)

    def _left(self, need: Usage, elapsed: float) -> tuple[int | None, float | None]:
        """Calls and seconds that are left. The caller holds the lock."""
        budget, total = self._budget, self._account.total
        calls = None if budget.calls is None else budget.calls - total.calls - self._account.reserved_calls
        if calls is not None and calls < 1:
            raise BudgetError(f"the check may make {budget.calls} calls to chat models, and has made or planned them")
        planned = sum(self._account.reserved, total.usage) + need
        if budget.tokens is not None and planned.total > budget.tokens:
            raise BudgetError(
                f"the check may spend {budget.tokens:,} tokens; with the next request, of up to {need.total:,}, it "
                f"would be up to {planned.total:,}"
            )
        seconds = None if budget.seconds is None else budget.seconds - elapsed
        if seconds is not None and seconds <= 0:
            raise BudgetError(f"the check may take {budget.seconds:g} seconds with chat models, and has taken them")
        if budget.cost is not None and self._price is not None:
            cost = self._price.of(planned)
            if cost > budget.cost:
                raise BudgetError(
                    f"the check may cost {budget.cost:g}; with the next request it would be up to {cost:g}"
                )
        return calls, seconds

    def settle(self, purpose: str, request: ChatRequest, spent: Spent) -> None:
        """Replace the reservation of a request by what it really cost."""
        with self._lock:
            self._account.reserved_calls -= request.n
            self._account.reserved.remove(_need(request))
            self._account.spent[purpose] = self._account.spent.get(purpose, Spent()) + spent


def _need(request: ChatRequest) -> Usage:
    """What a request may cost: its prompt as estimated, and all the tokens that it allows."""
    return Usage(prompt_estimate(request), request.n * request.max_tokens, estimated=True)


class _Metered(ChatWrapper):
    """The model of a meter under one purpose."""

    def __init__(self, meter: Meter, model: ChatModel, purpose: str) -> None:
        self._meter = meter
        self._model = model
        self._purpose = purpose

    def _bound(self, request: ChatRequest) -> ChatRequest:
        try:
            return self._meter.reserve(request)
        except BudgetError as error:
            self._meter.tape.failed(self._purpose, request, error)
            raise

    def complete(self, request: ChatRequest) -> Completion:
        bound = self._bound(request)
        spent = _lost(request)
        try:
            made = self._model.complete(bound)
            spent = _of(made)
        except ChatError as error:
            spent = Spent(calls=error.calls, requests=1, failures=1)
            self._meter.tape.failed(self._purpose, request, error)
            raise
        finally:
            self._meter.settle(self._purpose, request, spent)
        self._meter.tape.said(self._purpose, request, made)
        return made

    async def acomplete(self, request: ChatRequest) -> Completion:
        bound = self._bound(request)
        spent = _lost(request)
        try:
            made = await self._model.acomplete(bound)
            spent = _of(made)
        except ChatError as error:
            spent = Spent(calls=error.calls, requests=1, failures=1)
            self._meter.tape.failed(self._purpose, request, error)
            raise
        finally:
            self._meter.settle(self._purpose, request, spent)
        self._meter.tape.said(self._purpose, request, made)
        return made


def _of(made: Completion) -> Spent:
    if made.cached:
        return Spent(requests=1, from_cache=1)
    return Spent(made.calls, made.usage, requests=1, retries=made.retries)


def _lost(request: ChatRequest) -> Spent:
    """The cost of a request that was broken off: all that was reserved for it."""
    return Spent(request.n, _need(request), requests=1, failures=1)
