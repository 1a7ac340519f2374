"""The gate for clients of the official `openai` package.

    from openai import OpenAI
    from assay.integrations import openai as assay_openai

    client = assay_openai.protect(OpenAI())
    completion = client.chat.completions.create(model=..., messages=[...])
    assay_openai.outcome_of(completion).report

The protected client is of the same class and gives the same types: chat completions and responses, streamed or not,
with the helpers `parse`, `stream`, `with_raw_response` and `with_streaming_response`.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeVar, Unpack

from assay.errors import InputError
from assay.guard import Guard
from assay.integrations.clients.calls import Given, Outcome, given
from assay.integrations.clients.paths import Paths
from assay.integrations.clients.protected_client import (
    ProtectOptions,
    answers_below,
    client_gate,
    outcome_of,
    package,
    protected_client,
)
from assay.wire import ChatCompletions, Responses, Wire

__all__ = ["Given", "Outcome", "ProtectOptions", "given", "outcome_of", "protect"]

C = TypeVar("C")

PLAIN: Final = (
    "GET models",
    "embeddings",
    "files",
    "uploads",
    "moderations",
    "images",
    "audio",
    "vector_stores",
    "fine_tuning",
    "containers",
    "responses/input_tokens",
)
"""Paths whose answers are no text of a model that could be checked."""


def protect(
    client: C, guard: Guard | None = None, *, plain: Iterable[str] = (), **options: Unpack[ProtectOptions]
) -> C:
    """A client like `client`, whose answers and tool calls are checked before the program gets them.

    An answer that is withheld has the policy's notice as its text and `content_filter` as its end.

    Args:
        client: an `OpenAI`, `AsyncOpenAI`, `AzureOpenAI` or `AsyncAzureOpenAI`; it stays as it is.
        guard: what checks; one with the policy of the environment by default.
        plain: further paths behind the base address whose answers hold no text of a model.
        options: mode, evidence and the like (`ProtectOptions`).

    Returns:
        The protected client; `copy` and `with_options` of it are protected as well.

    Raises:
        InputError: this is no such client, or an option is not what it should be.
        MissingPackageError: the package is not installed.
    """
    try:
        from openai import AsyncOpenAI, OpenAI
    except ImportError as error:
        raise package("openai", error) from error
    if not isinstance(client, OpenAI | AsyncOpenAI):
        raise InputError(f"expected a client of the package openai, got {type(client).__name__}")
    gate = client_gate(guard, **options)
    base: Any = client.base_url
    answers: dict[str, Wire] = {"chat/completions": ChatCompletions(), "responses": Responses()}
    return protected_client(client, gate, Paths(base.path, answers, answers_below(PLAIN, plain)))
