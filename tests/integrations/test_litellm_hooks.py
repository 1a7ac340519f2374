"""What a caller or a model might try to get past the guardrail of LiteLLM, at its hooks."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.integrations.client_site import CALL, CHAT, FALSE, TRUE

from assay.config import Guard
from assay.testing import FakeScorer

pytest.importorskip("litellm", reason="needs the extra litellm: pip install 'assay-ai[litellm]'")

import litellm

from assay.integrations.litellm import AssayGuardrail

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # what LiteLLM's own types make pydantic say
LIE = "4 weeks"


def guardrail(**more: Any) -> AssayGuardrail:
    guard = Guard("general", scorer=FakeScorer(), environ={})
    return AssayGuardrail(guard, guardrail_name="assay", event_hook="post_call", default_on=True, **more)


def message(text: str | None, **more: Any) -> Any:
    said = {"role": "assistant", "content": text, **more}
    choice = {"index": 0, "finish_reason": "stop", "message": said}
    return litellm.ModelResponse(id="c-1", created=1, model="model-1", object="chat.completion", choices=[choice])


def answered(response: Any, asked: Any = None, guard: AssayGuardrail | None = None, where: str = "assay") -> str:
    """All that a client is shown of a response, without what the gate says of it, which names the claims that it
    refused; with a member `assay` of the request, or one that hides in another.
    """
    hooks = guard or guardrail()

    async def scene() -> Any:
        data: dict[str, Any] = {**CHAT}
        if asked is not None:
            data |= {"assay": asked} if where == "assay" else {"metadata": {"assay": asked}}
        data = await hooks.async_pre_call_hook(None, None, data, "completion")
        return await hooks.async_post_call_success_hook(data, None, response)

    told = asyncio.run(scene()).model_dump()
    return str({name: value for name, value in told.items() if name != "assay"})


@pytest.mark.parametrize("where", ["assay", "metadata"])
@pytest.mark.parametrize(
    "asked",
    [
        {"task": "creative"},
        {"policy": "creative"},
        {"policy": "general"},
        {"stakes": "low"},
        {"claim_free": True},
        {"sources": []},
        {"evidence": []},
        {"unknown": 1},
        "creative",
        ["creative"],
    ],
)
def test_no_request_has_a_lie_let_out(asked: Any, where: str) -> None:
    assert LIE not in answered(message(FALSE), asked, where=where)


def test_what_the_operator_lists_a_request_may_declare() -> None:
    assert LIE in answered(message(FALSE), {"task": "creative"}, guardrail(tasks=["creative"]))
    assert TRUE in answered(message(TRUE), {"stakes": "high"})


@pytest.mark.parametrize(
    "more",
    [
        {"reasoning_content": FALSE},
        {"thinking_blocks": [{"type": "thinking", "thinking": FALSE, "signature": "x"}]},
        {"provider_specific_fields": {"answer": FALSE}},
        {"annotations": [{"type": "url_citation", "url_citation": {"title": FALSE, "url": "https://a.example"}}]},
        {"audio": {"id": "a", "data": "", "transcript": FALSE, "expires_at": 1}},
        {"images": [{"type": "image_url", "index": 0, "image_url": {"url": FALSE}}]},
        {"refusal": FALSE},
        {"function_call": {"name": "tell", "arguments": '{"text": "Partners get 4 weeks"}'}},
        {"tool_calls": [{**CALL, "function": {"name": "tell", "arguments": '{"text": "Partners get 4 weeks"}'}}]},
        {"anything": FALSE},
    ],
)
def test_nothing_beside_the_text_has_a_lie_let_out(more: dict[str, Any]) -> None:
    assert LIE not in answered(message(TRUE, **more))


def test_of_several_choices_each_is_checked() -> None:
    both = message(TRUE)
    both.choices.append(litellm.Choices(index=1, finish_reason="stop", message={"role": "assistant", "content": FALSE}))
    assert LIE not in answered(both)


@pytest.mark.parametrize(
    "response",
    [
        lambda: {"choices": [{"message": {"content": FALSE}}]},
        lambda: litellm.TextCompletionResponse(choices=[{"text": FALSE, "index": 0, "finish_reason": "stop"}]),
        lambda: litellm.ImageResponse(data=[{"url": FALSE}]),
        lambda: FALSE,
        lambda: None,
    ],
)
def test_what_is_no_chat_completion_is_withheld(response: Callable[[], Any]) -> None:
    assert LIE not in answered(response())


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> Any:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return litellm.ModelResponseStream(id="c-1", created=1, model="model-1", choices=[choice])


@pytest.mark.parametrize(
    "pieces",
    [
        [{"content": TRUE}, {"content": f" {FALSE}"}, {"finish": "stop"}],
        [{"content": TRUE}, {"finish": "stop"}, {"content": f" {FALSE}"}],
        [{"content": TRUE}, {"index": 1, "content": FALSE}, {"finish": "stop"}, {"finish": "stop", "index": 1}],
        [{"content": TRUE, "reasoning_content": FALSE}, {"finish": "stop"}],
        [{"content": TRUE, "refusal": FALSE}, {"finish": "stop"}],
        [b"data: " + FALSE.encode() + b"\n\n"],
        [FALSE],
        [],
    ],
)
def test_no_stream_has_a_lie_let_out(pieces: list[Any]) -> None:
    hooks = guardrail()

    async def scene() -> list[str]:
        async def response() -> Any:
            for piece in pieces:
                yield chunk(**piece) if isinstance(piece, dict) else piece

        given = hooks.async_post_call_streaming_iterator_hook(None, response(), {**CHAT})
        seen = []
        try:
            async for piece in given:
                seen.append(str(piece))  # noqa: PERF401 what came before an error counts too
        except Exception as error:  # noqa: BLE001 whatever it is, the proxy ends the stream with it
            seen.append(type(error).__name__)
        return seen

    assert LIE not in " ".join(asyncio.run(scene()))
