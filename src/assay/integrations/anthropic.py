"""The gate for clients of the official `anthropic` package.

    from anthropic import Anthropic
    from assay.integrations import anthropic as assay_anthropic

    client = assay_anthropic.protect(Anthropic())
    message = client.messages.create(model=..., max_tokens=..., messages=[...])
    assay_anthropic.outcome_of(message).report

The protected client is of the same class and gives the same types: messages, streamed or not, with the helpers
`stream`, `with_raw_response` and `with_streaming_response`.
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
from assay.wire import Messages

__all__ = ["Given", "Outcome", "ProtectOptions", "given", "outcome_of", "protect"]

C = TypeVar("C")

PLAIN: Final = ("GET v1/models", "v1/files", "v1/messages/count_tokens")
"""Paths whose answers are no text of a model that could be checked."""


def protect(
    client: C, guard: Guard | None = None, *, plain: Iterable[str] = (), **options: Unpack[ProtectOptions]
) -> C:
    """A client like `client`, whose answers and tool calls are checked before the program gets them.

    An answer that is withheld has the policy's notice as its text and `refusal` as its stop reason.

    Args:
        client: an `Anthropic` or `AsyncAnthropic`; it stays as it is. Clients for Bedrock and Vertex speak in other
            paths, and are refused.
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
        from anthropic import Anthropic, AsyncAnthropic
    except ImportError as error:
        raise package("anthropic", error) from error
    if not isinstance(client, Anthropic | AsyncAnthropic):
        raise InputError(f"expected an Anthropic or AsyncAnthropic client, got {type(client).__name__}")
    gate = client_gate(guard, **options)
    base: Any = client.base_url
    return protected_client(client, gate, Paths(base.path, {"messages": Messages()}, answers_below(PLAIN, plain)))
