"""A chat model by its name, with everything around it that it should have."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from assay.errors import InputError
from assay.models.chat.cache import Cached, ChatCache
from assay.models.chat.interface import ChatModel, ChatRequest, Completion
from assay.models.chat.limit import DEFAULT_AT_ONCE, Limited
from assay.models.chat.meter import Price
from assay.models.chat.providers.anthropic_chat import AnthropicChat
from assay.models.chat.providers.clients import DEFAULT_TIMEOUT_S
from assay.models.chat.providers.openai_chat import OpenAIChat
from assay.models.chat.retry import Retries, Retrying
from assay.models.chat.several_answers import Several
from assay.models.chat.wrapping import ChatWrapper

Form = Literal["openai", "azure", "anthropic"]
"""The form of an endpoint."""
FORMS: Final[tuple[Form, ...]] = ("openai", "azure", "anthropic")


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """How a model is asked."""

    timeout: float = DEFAULT_TIMEOUT_S
    """Seconds that one request over the network may take."""
    retries: Retries = field(default_factory=Retries)
    at_once: int = DEFAULT_AT_ONCE
    """Requests under way at once."""
    cache: Path | None = None
    """The file of answers that are kept; none for no cache."""
    keep_s: float = 7 * 86_400.0
    """Seconds for which an answer in the cache may be given again."""
    price: Price | None = None
    """What tokens cost, so that reports can say what a check cost."""


class Chat(ChatWrapper):
    """A chat model by its name: an adapter behind a limit, retries and a cache, giving as many answers as asked for."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        api_version: str | None = None,
        options: ChatOptions | None = None,
    ) -> None:
        """Name a model; nothing is sent.

        Args:
            model: the model's name, with the form of its endpoint in front where it is not OpenAI's: `anthropic:NAME`,
                `azure:DEPLOYMENT`, `openai:NAME`. A name that begins with `claude` is Anthropic's unless there is a
                base URL.
            base_url: the endpoint, such as `http://localhost:11434/v1` of Ollama or `http://localhost:8000/v1` of
                vLLM; by default what the SDK finds in the environment (`OPENAI_BASE_URL`), else the form's own.
            api_key: the key; what the SDK finds in the environment by default (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`).
            api_version: Azure's API version.
            options: how it is asked.

        Raises:
            InputError: the name is blank.
        """
        options = options or ChatOptions()
        self._adapter = _adapter(model, base_url, api_key, api_version, options.timeout)
        stacked: ChatModel = Retrying(Limited(self._adapter, options.at_once), options.retries)
        if options.cache is not None:
            stacked = Cached(stacked, ChatCache(options.cache, keep_s=options.keep_s))
        self._model: ChatModel = Several(stacked)
        self.price = options.price
        """What its tokens cost, where that is known."""

    def complete(self, request: ChatRequest) -> Completion:
        """The answer to a request.

        Raises:
            ChatError: none could be had.
        """
        return self._model.complete(request)

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        return await self._model.acomplete(request)

    def close(self) -> None:
        """Close the synchronous connections; the next request opens new ones."""
        self._adapter.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._adapter.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


def _adapter(
    model: str, base_url: str | None, api_key: str | None, api_version: str | None, timeout: float
) -> OpenAIChat | AnthropicChat:
    form, name = form_of(model, base_url)
    if form == "anthropic":
        return AnthropicChat(name, base_url=base_url, api_key=api_key, timeout=timeout)
    return OpenAIChat(
        name, base_url=base_url, api_key=api_key, azure=form == "azure", api_version=api_version, timeout=timeout
    )


def form_of(model: str, base_url: str | None = None) -> tuple[Form, str]:
    """The form of a model's endpoint, and its name there.

    >>> form_of("azure:team-gpt"), form_of("llama3.2:3b", "http://localhost:11434/v1")
    (('azure', 'team-gpt'), ('openai', 'llama3.2:3b'))

    Raises:
        InputError: the name is blank.
    """
    before, _, after = model.strip().partition(":")
    for form in FORMS:
        if before == form and after:
            return form, after
    if not model.strip():
        raise InputError("a chat model has a name, got a blank one")
    return ("anthropic" if base_url is None and model.strip().startswith("claude") else "openai"), model.strip()
