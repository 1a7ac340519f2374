"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Azure, vLLM, Ollama, llama.cpp and many others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from assay.errors import ChatError, InputError, MissingPackageError
from assay.models.chat.interface import ChatRequest, Completion
from assay.models.chat.providers.clients import (
    DEFAULT_TIMEOUT_S,
    Clients,
    SdkChat,
    clean,
    client_error,
    client_errors,
    connection_error,
    refused_parameter,
    settings_digest,
    status_error,
    unsendable_error,
)
from assay.models.chat.providers.responses import body_of, read_chat_completion

if TYPE_CHECKING:  # the SDK is an extra, and slow to import
    from openai import AsyncOpenAI, OpenAI, OpenAIError

ALTERNATIVES: Final = 5
"""Likeliest tokens that are asked for with log-probabilities."""
MOST_DROPPED: Final = 4
"""Settings that an endpoint may refuse one after the other."""
_OPTIONAL: Final[frozenset[str]] = frozenset(
    {"temperature", "seed", "n", "logprobs", "top_logprobs", "response_format", "max_tokens"}
)
"""Settings that a request may do without: callers check the form of the answer in any case."""


class OpenAIChat(SdkChat):
    """The official SDK behind the interface, without its own retries.

    What an endpoint says it does not take (a temperature with some reasoning models, a seed) is left out from then on;
    the limit of tokens is then sent under its newer name.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure: bool = False,
        api_version: str | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        """Make an adapter; nothing is sent.

        Args:
            model: the model's name at the endpoint; with Azure the name of the deployment.
            base_url: the endpoint, such as `http://localhost:11434/v1`; OpenAI's own by default. With Azure the
                resource's address.
            api_key: the key; what the SDK finds in the environment by default. An endpoint that was named gets a
                placeholder where there is none: local servers take any.
            azure: whether the endpoint is Azure's, with deployments and API versions.
            api_version: Azure's API version; what the SDK finds in the environment by default.
            timeout: seconds that one request may take.

        Raises:
            InputError: the model has no name.
        """
        if not model.strip():
            raise InputError("a chat model has a name, got a blank one")
        self._model = model
        self._base_url = base_url
        self._api_key = api_key
        self._azure = azure
        self._api_version = api_version
        self._timeout = timeout
        self._refused: frozenset[str] = frozenset()
        self._clients: Clients[OpenAI, AsyncOpenAI] = Clients(
            lambda: self._client(asynchronous=False), lambda: self._client(asynchronous=True)
        )

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def digest(self) -> str:
        """Of the endpoint and the model."""
        return settings_digest(form="openai", model=self._model, url=self._base_url, version=self._api_version)

    def complete(self, request: ChatRequest) -> Completion:
        """Send one request and read its answer.

        Raises:
            ChatError: there is none.
        """
        from openai import OpenAIError

        for calls in range(1, MOST_DROPPED + 2):
            body = self._body(request)
            try:
                raw = self._clients.sync.chat.completions.with_raw_response.create(**body)
            except OpenAIError as error:
                self._learn(error, body, calls)
            except UnicodeError as error:
                raise unsendable_error(self._where, error) from error
            else:
                return self._read(raw.http_response.content, request, calls)
        raise ChatError(f"{self._where}: the endpoint refuses one setting after the other", calls=MOST_DROPPED + 1)

    async def acomplete(self, request: ChatRequest) -> Completion:
        """As `complete`, without blocking the event loop."""
        from openai import OpenAIError

        for calls in range(1, MOST_DROPPED + 2):
            body = self._body(request)
            try:
                raw = await self._clients.here.chat.completions.with_raw_response.create(**body)
            except OpenAIError as error:
                self._learn(error, body, calls)
            except UnicodeError as error:
                raise unsendable_error(self._where, error) from error
            else:
                return self._read(raw.http_response.content, request, calls)
        raise ChatError(f"{self._where}: the endpoint refuses one setting after the other", calls=MOST_DROPPED + 1)

    def _client(self, *, asynchronous: bool) -> Any:
        try:
            import openai
        except ImportError as error:
            raise MissingPackageError("chat models need the openai package: pip install 'assay-ai[openai]'") from error
        shared: dict[str, Any] = {"api_key": self._api_key, "timeout": self._timeout, "max_retries": 0}
        try:
            if self._azure:
                kind: Any = openai.AsyncAzureOpenAI if asynchronous else openai.AzureOpenAI
                return kind(azure_endpoint=self._base_url, api_version=self._api_version, **shared)
            plain: Any = openai.AsyncOpenAI if asynchronous else openai.OpenAI
            return _with_any_key(plain, self._base_url, shared)
        except client_errors(openai.OpenAIError) as error:
            raise client_error(self._where, error) from error

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "messages": [{"role": one.role, "content": one.content} for one in request.messages],
            "max_tokens": request.max_tokens,
        }
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.seed is not None:
            body["seed"] = request.seed
        if request.n > 1:
            body["n"] = request.n
        if request.logprobs:
            body |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
        if request.schema is not None:
            schema = dict(request.schema)
            named = {"name": "answer", "schema": schema, "strict": is_strict(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        for name in self._refused & body.keys():
            value = body.pop(name)
            if name == "max_tokens":
                body["max_completion_tokens"] = value
        limit = self._timeout if request.timeout is None else min(self._timeout, request.timeout)
        return {**body, "model": self._model, "timeout": limit}

    def _read(self, content: bytes, request: ChatRequest, calls: int) -> Completion:
        made = read_chat_completion(body_of(content, self._where), request, self._where)
        return replace(made, calls=calls, retries=calls - 1)

    def _learn(self, error: OpenAIError, body: Mapping[str, Any], calls: int) -> None:
        """Remember a setting that the endpoint does not take, so that later requests leave it out.

        Raises:
            ChatError: the endpoint failed, or refused for another reason.
        """
        from openai import APIConnectionError, APIStatusError

        if isinstance(error, APIStatusError):
            name = refused_parameter(error.body, _OPTIONAL & body.keys()) if error.status_code in (400, 422) else None
            if name is not None:
                self._refused |= {name, "top_logprobs"} if name == "logprobs" else {name}
                return
            failed = status_error(self._where, error.status_code, error.body, error.response.headers)
        elif isinstance(error, APIConnectionError):
            failed = connection_error(self._where, error)
        else:
            failed = ChatError(f"{self._where}: {clean(str(error))}")
        failed.calls = calls
        raise failed from error


def _with_any_key(kind: Any, base_url: str | None, shared: Mapping[str, Any]) -> Any:
    from openai import OpenAIError

    try:
        return kind(base_url=base_url, **shared)
    except OpenAIError:
        if base_url is None or shared["api_key"] is not None:
            raise
        return kind(base_url=base_url, **{**shared, "api_key": "none"})


def is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether OpenAI's strict mode takes a schema: every object closed, and all of its properties required.

    >>> is_strict({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    False
    """
    if "properties" in schema and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(schema["properties"])
    ):
        return False
    return all(is_strict(inner) for inner in _inner_schemas(schema))


def _inner_schemas(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    found.append(schema.get("items"))
    return [one for one in found if isinstance(one, Mapping)]
