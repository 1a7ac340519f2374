"""The interface of chat models: one request in, one completion out, synchronously or asynchronously."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Protocol

from assay.errors import InputError

Role = Literal["system", "user", "assistant"]
MOST_CHOICES = 32
"""The most answers that one request may ask for."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. Foreign text is in it only within a fence (`assay.prompts`)."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked of a chat model."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """A JSON Schema of the answer, asked for in the endpoint's own way. The answer is still to be validated."""
    temperature: float | None = 0.0
    """From 0 up; none leaves it to the endpoint."""
    n: int = 1
    """How many answers, each of its own. An endpoint that gives one at a time is asked several times."""
    logprobs: bool = False
    """Whether to ask for log-probabilities; an endpoint that has none answers without them."""
    max_tokens: int = 1024
    """The most tokens of one answer."""
    seed: int | None = None
    """Asks for the same answer again, where the endpoint can; with several answers each gets its own."""
    timeout: float | None = None
    """Seconds that the call may take with all of its retries; it never changes an answer."""
    most_calls: int | None = None
    """Requests over the network that the call may take with all of its retries."""

    def __post_init__(self) -> None:
        """Refuse what no endpoint can answer.

        Raises:
            InputError: a setting is out of its range.
        """
        if not self.messages:
            raise InputError("a chat request has at least one message")
        if not 1 <= self.n <= MOST_CHOICES:
            raise InputError(f"a chat request asks for 1 to {MOST_CHOICES} answers, got n={self.n}")
        if self.max_tokens < 1:
            raise InputError(f"max_tokens is 1 or more, got {self.max_tokens}")
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(f"a temperature is from 0 to 2, got {self.temperature}")


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    """The model ended its answer by itself."""
    LENGTH = "length"
    """It reached the limit of tokens: the answer is cut off."""
    REFUSAL = "refusal"
    """The model, or a filter in front of it, declined."""
    OTHER = "other"
    """Anything else: the answer is not to be relied on."""


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of an answer with the natural logarithm of its probability."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()
    """The likeliest tokens at this place with theirs, this one usually among them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer."""

    text: str
    finish: Finish = Finish.STOP
    refusal: str | None = None
    """The text of a refusal, where the endpoint gives it apart from the answer."""
    logprobs: tuple[TokenLogprob, ...] | None = None
    """One for each token; none where the endpoint gives none."""

    @property
    def complete(self) -> bool:
        """Whether the answer is whole and no refusal; only then may its text be used."""
        return self.finish is Finish.STOP and self.refusal is None


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost in tokens."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Those of the prompt that the endpoint had in its own cache."""
    estimated: bool = False
    """Whether the endpoint did not say, so that the counts are guessed from the texts' lengths, on the high side."""

    @property
    def total(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer to one request."""

    choices: tuple[Choice, ...]
    """As many as were asked for; fewer, but at least one, where an endpoint gave no more."""
    usage: Usage = Usage()
    """What it cost when it was made."""
    model: str = ""
    """The model that answered, as the endpoint names it."""
    calls: int = 1
    """Requests over the network that it took, failed ones and retries included; 0 from a cache."""
    retries: int = 0
    """Those of them that repeated a failed one."""
    cached: bool = False
    """Whether it came from a cache, so that nothing was spent."""

    @property
    def text(self) -> str:
        """The first answer's text."""
        return self.choices[0].text

    @property
    def finish(self) -> Finish:
        """Why the first answer ended."""
        return self.choices[0].finish

    @property
    def refusal(self) -> str | None:
        """The text of the refusal in the first answer."""
        return self.choices[0].refusal

    @property
    def logprobs(self) -> tuple[TokenLogprob, ...] | None:
        """The first answer's log-probabilities."""
        return self.choices[0].logprobs

    @property
    def complete(self) -> bool:
        """Whether the first answer is one; see `Choice.complete`."""
        return self.choices[0].complete

    def joined(self, other: Completion) -> Completion:
        """This one with the answers and the cost of another one behind."""
        return replace(
            self,
            choices=(*self.choices, *other.choices),
            usage=self.usage + other.usage,
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            cached=self.cached and other.cached,
        )


class ChatModel(Protocol):
    """Answers requests. Safe to use from several threads and tasks at once."""

    @property
    def name(self) -> str:
        """The model's name, as the endpoint knows it."""
        ...

    @property
    def digest(self) -> str:
        """Identifies the endpoint, the model and the settings that an answer depends on; no secret is in it."""
        ...

    def complete(self, request: ChatRequest) -> Completion:
        """The answer to a request.

        Raises:
            ChatError: no answer could be had; `retryable` says whether asking again may help.
            BudgetError: asking would go beyond what this check may spend.
        """
        ...

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop.

        Raises:
            ChatError: no answer could be had.
            BudgetError: asking would go beyond what this check may spend.
        """
        ...
