"""Reads answers of endpoints as completions; an endpoint is not trusted to keep to the form of its API."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Final

from assay.errors import ChatError
from assay.models.chat.interface import ChatRequest, Choice, Completion, Finish, TokenLogprob, Usage

BYTES_PER_TOKEN: Final = 3
"""A guess on the high side of what a text costs: byte-pair vocabularies have about four bytes of English a token."""
LONGEST_BODY: Final = 32 * 1024 * 1024
"""Bytes of an answer that are read."""
_THOUGHT: Final = re.compile(r"\s*<think>[^<]*(?:<(?!/think>)[^<]*)*</think>\s*")


def body_of(content: bytes, where: str) -> Mapping[str, Any]:
    """The JSON object of an answer.

    Raises:
        ChatError: it is none.
    """
    if len(content) > LONGEST_BODY:
        raise ChatError(f"{where}: expected an answer of at most {LONGEST_BODY:,} bytes, got {len(content):,}", calls=1)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ChatError(f"{where}: expected JSON, got something else ({type(error).__name__})", calls=1) from error
    if not isinstance(value, dict):
        raise ChatError(f"{where}: expected a JSON object, got {type(value).__name__}", calls=1)
    return value


def read_chat_completion(value: Mapping[str, Any], request: ChatRequest, where: str) -> Completion:
    """An answer in the form of OpenAI's chat completions.

    Raises:
        ChatError: there is no answer in it.
    """
    choices = tuple(_chat_choice(one) for one in _listed(value.get("choices")))
    if not choices:
        raise ChatError(f"{where}: the answer has no choices", calls=1)
    return _completion(choices[: request.n], _chat_usage(value.get("usage")), value, request)


def read_message(value: Mapping[str, Any], request: ChatRequest, where: str) -> Completion:
    """An answer in the form of Anthropic's messages.

    Raises:
        ChatError: there is no answer in it.
    """
    if not isinstance(value.get("content"), list):
        raise ChatError(f"{where}: the answer has no content", calls=1)
    texts = [_text(block.get("text")) for block in _listed(value["content"]) if block.get("type") == "text"]
    finish = _ANTHROPIC.get(str(value.get("stop_reason")), Finish.OTHER)
    refusal = "the endpoint declined to answer" if finish is Finish.REFUSAL else None
    return _completion((Choice("".join(texts), finish, refusal),), _message_usage(value.get("usage")), value, request)


_OPENAI: Final = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.REFUSAL}
_ANTHROPIC: Final = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


def _chat_choice(value: Mapping[str, Any]) -> Choice:
    message = value.get("message")
    message = message if isinstance(message, Mapping) else {}
    refusal = _text(message.get("refusal")) or None
    finish = Finish.REFUSAL if refusal else _OPENAI.get(str(value.get("finish_reason")), Finish.OTHER)
    text = _text(message.get("content"))
    # Local servers leave a reasoning model's thoughts in front of the answer.
    thought = _THOUGHT.match(text)
    return Choice(text[thought.end() :] if thought else text, finish, refusal, _logprobs(value.get("logprobs")))


def _logprobs(value: Any) -> tuple[TokenLogprob, ...] | None:
    content = value.get("content") if isinstance(value, Mapping) else None
    tokens = [_token(one) for one in _listed(content)]
    known = tuple(token for token in tokens if token is not None)
    return known if known and len(known) == len(tokens) else None


def _token(value: Mapping[str, Any]) -> TokenLogprob | None:
    if not _is_logprob(value.get("logprob")):
        return None
    top = _listed(value.get("top_logprobs"))
    likely = tuple((_text(one.get("token")), float(one["logprob"])) for one in top if _is_logprob(one.get("logprob")))
    return TokenLogprob(_text(value.get("token")), float(value["logprob"]), likely)


def _is_logprob(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _chat_usage(value: Any) -> Usage | None:
    if not isinstance(value, Mapping) or "prompt_tokens" not in value:
        return None
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    prompt = _count(value.get("prompt_tokens"))
    # More tokens from the cache than the prompt has would make the price of the rest negative.
    return Usage(prompt, _count(value.get("completion_tokens")), min(_count(cached), prompt))


def _message_usage(value: Any) -> Usage | None:
    if not isinstance(value, Mapping) or "input_tokens" not in value:
        return None
    cached = _count(value.get("cache_read_input_tokens"))
    prompt = _count(value.get("input_tokens")) + _count(value.get("cache_creation_input_tokens")) + cached
    return Usage(prompt, _count(value.get("output_tokens")), cached)


def _completion(
    choices: tuple[Choice, ...], usage: Usage | None, value: Mapping[str, Any], request: ChatRequest
) -> Completion:
    if usage is None:
        written = sum(estimate_tokens(choice.text) for choice in choices)
        usage = Usage(prompt_estimate(request), written, estimated=True)
    return Completion(choices, usage, _text(value.get("model")))


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, on the high side for prose.

    >>> estimate_tokens("Partners are entitled to 2 weeks.")
    11
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def prompt_estimate(request: ChatRequest) -> int:
    """About how many tokens the messages of a request have; a message has a few around it."""
    return sum(estimate_tokens(message.content) + 8 for message in request.messages)


def _count(value: Any) -> int:
    return max(0, value) if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _listed(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; none where there is no list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
