"""The gate for clients of the official `openai` package.

    from openai import OpenAI
    from assay.integrations import openai as assay_openai

    client = assay_openai.protect(OpenAI())
    completion = client.chat.completions.create(model=..., messages=[...])
    assay_openai.outcome_of(completion).report

The protected client is of the same class and gives the same types: chat completions and responses, streamed or not,
with the helpers `parse`, `stream`, `with_raw_response` and `with_streaming_response`.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final, Literal, TypeVar

from assay.errors import InputError
from assay.guard import EvidenceLike, Guard
from assay.integrations.clients.calls import Given, Outcome, given
from assay.integrations.clients.paths import Paths
from assay.integrations.clients.protected_client import (
    answers_below,
    client_gate,
    outcome_of,
    package,
    protected_client,
)
from assay.schema import Stakes
from assay.wire import ChatCompletions, Responses, Wire

__all__ = ["Given", "Outcome", "given", "outcome_of", "protect"]

C = TypeVar("C")

PLAIN: Final = (
    "GET models", "embeddings", "files", "uploads", "moderations", "images", "audio", "vector_stores", "fine_tuning",
    "containers", "responses/input_tokens",
)  # fmt: skip
"""Paths whose answers are no text of a model that could be checked."""


def protect(
    client: C,
    guard: Guard | None = None,
    *,
    mode: Literal["enforce", "annotate", "shadow"] = "enforce",
    on_withheld: Literal["answer", "raise"] = "answer",
    evidence: EvidenceLike = None,
    sources: Collection[str] | None = None,
    question: str | None = None,
    stakes: Stakes | str = Stakes.MEDIUM,
    task: str = "qa",
    claim_free: bool = False,
    fail_on: Literal["revise", "block"] = "revise",
    attempts: int = 0,
    reasoning: Literal["withhold", "pass"] = "withhold",
    plain: Iterable[str] = (),
    on_outcome: Callable[[Outcome], object] | None = None,
) -> C:
    """A client like `client`, whose answers and tool calls are checked before the program gets them.

    Args:
        client: an `OpenAI`, `AsyncOpenAI`, `AzureOpenAI` or `AsyncAzureOpenAI`; it stays as it is.
        guard: what checks; one with the policy of the environment by default.
        mode: `enforce` holds back what does not pass; `annotate` lets everything out and adds a member `assay` to what
            did not pass, in a stream a correction; `shadow` lets everything out and checks it afterwards.
        on_withheld: what the program gets of an answer that is withheld: an `answer` in the format's own words, with
            the policy's notice as its text and `content_filter` as its end; or `raise` a `WithheldError`, for tool
            calls a `CallRejectedError`.
        evidence: evidence for calls that bring none; beside it only tool results and passages of a request count. By
            default the request is the evidence: tool results, passages, what the user and the system prompt state.
        sources: the kinds of content of a request that count: any of `tools`, `passages`, `user` and `system`.
        question: what the answers answer; the user's last words by default.
        stakes: how much hangs on them.
        task: the kind of task.
        claim_free: whether answers are declared to contain no claims.
        fail_on: the mildest decision that withholds: `revise`, or `block` to let `revise` pass.
        attempts: how often the model is asked again, with what was found, for an answer that does not pass (not for
            streams). Sentences that passed stay to the character.
        reasoning: what becomes under `enforce` of the words of the model's reasoning, which no check reads: they are
            taken out (`withhold`; signatures and encrypted reasoning stay), or `pass` for programs that have to send
            them back and show them to nobody.
        plain: further paths behind the base address whose answers hold no text of a model.
        on_outcome: gets the outcome of every answer.

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
    gate = client_gate(
        guard, mode=mode, on_withheld=on_withheld, evidence=evidence, sources=sources, question=question,
        stakes=stakes, task=task, claim_free=claim_free, fail_on=fail_on, attempts=attempts, on_outcome=on_outcome,
        reasoning=reasoning,
    )  # fmt: skip
    base: Any = client.base_url
    answers: dict[str, Wire] = {"chat/completions": ChatCompletions(), "responses": Responses()}
    return protected_client(client, gate, Paths(base.path, answers, answers_below(PLAIN, plain)))
