"""Anthropic's messages through its official SDK."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.errors import ChatError, InputError, MissingPackageError
from assay.models.chat.interface import ChatRequest, Completion
from assay.models.chat.providers.clients import (
    DEFAULT_TIMEOUT_S,
    Clients,
    SdkChat,
    client_error,
    client_errors,
    connection_error,
    settings_digest,
    status_error,
    unsendable_error,
)
from assay.models.chat.providers.responses import body_of, read_message

if TYPE_CHECKING:  # the SDK is an extra, and slow to import
    from anthropic import Anthropic, AsyncAnthropic


class AnthropicChat(SdkChat):
    """The official SDK behind the interface, without its own retries.

    The API takes no temperature and no seed since its version of 2026-10-21, gives no log-probabilities, and gives one
    answer at a time: these settings of a request are left out, and `Several` asks again for further answers.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        """Make an adapter; nothing is sent.

        Args:
            model: the model's name.
            base_url: the endpoint; Anthropic's own by default.
            api_key: the key; what the SDK finds in the environment by default.
            timeout: seconds that one request may take.

        Raises:
            InputError: the model has no name.
        """
        if not model.strip():
            raise InputError("a chat model has a name, got a blank one")
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._timeout = timeout
        self._clients: Clients[Anthropic, AsyncAnthropic] = Clients(
            lambda: self._client(asynchronous=False), lambda: self._client(asynchronous=True)
        )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def digest(self) -> str:
        """Of the endpoint and the model."""
        return settings_digest(form="anthropic", model=self._model, url=self._base_url)

    def complete(self, request: ChatRequest) -> Completion:
        """Send one request and read its answer.

        Raises:
            ChatError: there is none.
        """
        from anthropic import AnthropicError

        try:
            raw = self._clients.sync.messages.with_raw_response.create(**self._body(request))
        except AnthropicError as error:
            raise self._chat_error(error) from error
        except UnicodeError as error:
            raise unsendable_error(self._where, error) from error
        return read_message(body_of(raw.http_response.content, self._where), request, self._where)

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        from anthropic import AnthropicError

        try:
            raw = await self._clients.here.messages.with_raw_response.create(**self._body(request))
        except AnthropicError as error:
            raise self._chat_error(error) from error
        except UnicodeError as error:
            raise unsendable_error(self._where, error) from error
        return read_message(body_of(raw.http_response.content, self._where), request, self._where)

    def _client(self, *, asynchronous: bool) -> Any:
        try:
            import anthropic
        except ImportError as error:
            raise MissingPackageError(
                "Anthropic's models need its package: pip install 'assay-ai[anthropic]'"
            ) from error
        kind = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
        try:
            return kind(base_url=self._base_url, api_key=self._api_key, timeout=self._timeout, max_retries=0)
        except client_errors(anthropic.AnthropicError) as error:
            raise client_error(self._where, error) from error

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        spoken = [one for one in request.messages if one.role != "system"]
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": one.role, "content": one.content} for one in spoken],
            "timeout": self._timeout if request.timeout is None else min(self._timeout, request.timeout),
        }
        system = "\n\n".join(one.content for one in request.messages if one.role == "system")
        if system:
            body["system"] = system
        if request.schema is not None:
            from anthropic import transform_schema

            body["output_config"] = {
                "format": {"type": "json_schema", "schema": transform_schema(dict(request.schema))}
            }
        return body

    def _chat_error(self, error: Exception) -> ChatError:
        from anthropic import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            return status_error(self._where, error.status_code, error.body, error.response.headers)
        if isinstance(error, APIConnectionError):
            return connection_error(self._where, error)
        return ChatError(f"{self._where}: {error}")
