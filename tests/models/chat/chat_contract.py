"""What the contract of chat models needs: adapters in both forms, and an upstream that answers in each one's format."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from tests.server.upstream_script import Answer, Upstream, chat_completion, json_answer, message, serving_upstream

from assay.models.chat.interface import ChatModel, ChatRequest, Completion, Message
from assay.models.chat.providers.anthropic_chat import AnthropicChat
from assay.models.chat.providers.openai_chat import OpenAIChat

Adapter = OpenAIChat | AnthropicChat
Ask = Callable[[ChatModel, ChatRequest], Awaitable[Completion]]
SECRET = "sk-test-0123456789abcdef"  # noqa: S105 the key of nothing


@dataclass(frozen=True)
class Format:
    """One adapter with the answers of its endpoint."""

    name: str
    make: Callable[[str], Adapter]
    said: Callable[[str], Any]
    ended: Callable[[str, str], Any]
    """An answer with a text and a reason for its end, in the words of the endpoint."""
    ends: dict[str, str]
    """The endpoint's words by ours."""
    error: Callable[[str], Any]


def _openai(url: str) -> OpenAIChat:
    return OpenAIChat("model-1", base_url=f"{url}/v1", api_key=SECRET, timeout=5.0)


def _anthropic(url: str) -> AnthropicChat:
    return AnthropicChat("model-1", base_url=url, api_key=SECRET, timeout=5.0)


def _chat_ended(text: str, reason: str) -> Any:
    value = chat_completion(text)
    value["choices"][0]["finish_reason"] = reason
    return value


FORMATS = [
    Format(
        "openai",
        _openai,
        chat_completion,
        _chat_ended,
        {"stop": "stop", "length": "length", "refusal": "content_filter", "other": "tool_calls"},
        lambda words: {"error": {"message": words, "type": "invalid_request_error", "code": None, "param": None}},
    ),
    Format(
        "anthropic",
        _anthropic,
        message,
        lambda text, reason: {**message(text), "stop_reason": reason},
        {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "other": "pause_turn"},
        lambda words: {"type": "error", "error": {"type": "invalid_request_error", "message": words}},
    ),
]


async def _in_thread(adapter: ChatModel, request: ChatRequest) -> Completion:
    return await asyncio.to_thread(adapter.complete, request)


async def _in_loop(adapter: ChatModel, request: ChatRequest) -> Completion:
    return await adapter.acomplete(request)


WAYS: dict[str, Ask] = {"sync": _in_thread, "async": _in_loop}


def asking(text: str = "How long is leave?", **settings: Any) -> ChatRequest:
    return ChatRequest((Message("system", "Answer briefly."), Message("user", text)), **settings)


def play(scene: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Runs a scene, with a bound on its time that no honest run comes near."""
    asyncio.run(asyncio.wait_for(scene(), 60))


def against(told: Format, *answers: Answer, scene: Callable[[Adapter, Upstream], Coroutine[Any, Any, None]]) -> None:
    """Plays a scene with an adapter and its scripted upstream."""

    async def whole() -> None:
        async with serving_upstream() as upstream:
            upstream.script(*answers)
            adapter = told.make(upstream.url)
            try:
                await scene(adapter, upstream)
            finally:
                adapter.close()
                await adapter.aclose()

    play(whole)


def said(told: Format, text: str) -> Answer:
    return json_answer(told.said(text))


def status(told: Format, code: int, words: str = "no", **headers: str) -> Answer:
    answer = json_answer(told.error(words), **headers)
    answer.status = code
    return answer
