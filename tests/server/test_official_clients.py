"""The official clients get from the gateway what they get from the upstream itself, field by field."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import APIError, AsyncOpenAI, OpenAI
from tests.server.gateway_site import Site, play, site
from tests.server.upstream_script import (
    Answer,
    chat_chunk,
    chat_completion,
    chat_stream,
    cut,
    json_answer,
    message,
    message_events,
    output_message,
    response_events,
    response_value,
    stream_answer,
)

from assay.server.settings import Mode

EVIDENCE = "Partners are entitled to 2 weeks of leave. Leave is paid in full. Order W-1743 belongs to Anna."
TRUE = "Partners are entitled to 2 weeks of leave. Leave is paid in full."
FALSE = "Leave is paid in full. Partners are entitled to 4 weeks of leave."
CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "W-1743"}'}}
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
CHAT: dict[str, Any] = {
    "model": "model-1",
    "messages": [
        {"role": "system", "content": EVIDENCE},
        {"role": "user", "content": "Cancel order W-1743. How long is leave?"},
    ],
    "tools": [{"type": "function", "function": {"name": "cancel", "parameters": SCHEMA}}],
}
RESPONSE: dict[str, Any] = {
    "model": "model-1",
    "instructions": EVIDENCE,
    "input": "Cancel order W-1743. How long is leave?",
    "tools": [{"type": "function", "name": "cancel", "parameters": SCHEMA, "strict": False}],
}
MESSAGE: dict[str, Any] = {
    "model": "model-1",
    "max_tokens": 100,
    "system": EVIDENCE,
    "messages": [{"role": "user", "content": "Cancel order W-1743. How long is leave?"}],
    "tools": [{"name": "cancel", "input_schema": SCHEMA}],
}
TOOL_USE = {"type": "tool_use", "id": "t1", "name": "cancel", "input": {"order_id": "W-1743"}}
FUNCTION_CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "cancel",
    "arguments": '{"order_id": "W-1743"}',
    "status": "completed",
}
INVENTED = {**FUNCTION_CALL, "arguments": '{"order_id": "X-1"}'}
CALL_CHUNKS = [
    chat_chunk({"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CALL}]}),
    chat_chunk({}, "tool_calls"),
    b"data: [DONE]\n\n",
]


@asynccontextmanager
async def both(answer: Callable[[], Answer], mode: Mode = Mode.ENFORCE) -> AsyncIterator[Site]:
    """A gateway whose upstream gives one answer again and again."""
    async with site(mode) as here:
        here.upstream.script(answer())
        yield here


def dumped(value: Any) -> Any:
    return value.model_dump(mode="json")


def openai_sync(url: str) -> OpenAI:
    return OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def openai_async(url: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def anthropic_sync(url: str) -> Anthropic:
    return Anthropic(base_url=url, api_key="k", max_retries=0)


def anthropic_async(url: str) -> AsyncAnthropic:
    return AsyncAnthropic(base_url=url, api_key="k", max_retries=0)


def chat_whole(url: str) -> Any:
    with openai_sync(url) as client:
        return dumped(client.chat.completions.create(**CHAT))


def chat_streamed(url: str) -> Any:
    with openai_sync(url) as client:
        return [dumped(chunk) for chunk in client.chat.completions.create(**CHAT, stream=True)]


def chat_helper(url: str) -> Any:
    with openai_sync(url) as client, client.chat.completions.stream(**CHAT) as stream:
        return [event.type for event in stream], dumped(stream.get_final_completion())


def response_whole(url: str) -> Any:
    with openai_sync(url) as client:
        return dumped(client.responses.create(**RESPONSE))


def response_streamed(url: str) -> Any:
    with openai_sync(url) as client:
        return [dumped(event) for event in client.responses.create(**RESPONSE, stream=True)]


def response_helper(url: str) -> Any:
    with openai_sync(url) as client, client.responses.stream(**RESPONSE) as stream:
        return [event.type for event in stream], dumped(stream.get_final_response())


def message_whole(url: str) -> Any:
    with anthropic_sync(url) as client:
        return dumped(client.messages.create(**MESSAGE))


def message_streamed(url: str) -> Any:
    with anthropic_sync(url) as client:
        return [dumped(event) for event in client.messages.create(**MESSAGE, stream=True)]


def message_helper(url: str) -> Any:
    with anthropic_sync(url) as client, client.messages.stream(**MESSAGE) as stream:
        return [event.type for event in stream], dumped(stream.get_final_message())


SYNC = [
    (chat_whole, lambda: json_answer(chat_completion(TRUE))),
    (chat_whole, lambda: json_answer(chat_completion(None, tool_calls=[CALL]))),
    (chat_streamed, lambda: stream_answer(cut(b"".join(chat_stream(TRUE)), 17))),
    (chat_streamed, lambda: stream_answer(CALL_CHUNKS)),
    (chat_helper, lambda: stream_answer(chat_stream(TRUE))),
    (chat_helper, lambda: stream_answer(CALL_CHUNKS)),
    (response_whole, lambda: json_answer(response_value([output_message(TRUE)]))),
    (response_whole, lambda: json_answer(response_value([FUNCTION_CALL]))),
    (response_streamed, lambda: stream_answer(cut(b"".join(response_events([output_message(TRUE)])), 19))),
    (response_streamed, lambda: stream_answer(response_events([output_message(TRUE), FUNCTION_CALL]))),
    (response_helper, lambda: stream_answer(response_events([output_message(TRUE), FUNCTION_CALL]))),
    (message_whole, lambda: json_answer(message(TRUE))),
    (message_whole, lambda: json_answer({**message(""), "content": [TOOL_USE], "stop_reason": "tool_use"})),
    (message_streamed, lambda: stream_answer(cut(b"".join(message_events([{"type": "text", "text": TRUE}])), 23))),
    (message_streamed, lambda: stream_answer(message_events([{"type": "text", "text": TRUE}, TOOL_USE], "tool_use"))),
    (message_helper, lambda: stream_answer(message_events([{"type": "text", "text": TRUE}, TOOL_USE], "tool_use"))),
]


@pytest.mark.parametrize("mode", [Mode.ENFORCE, Mode.ANNOTATE, Mode.OFF])
@pytest.mark.parametrize(("asks", "answer"), SYNC, ids=lambda value: getattr(value, "__name__", None))
def test_a_client_that_waits_gets_the_same(
    asks: Callable[[str], Any], answer: Callable[[], Answer], mode: Mode
) -> None:
    async def scene() -> None:
        async with both(answer, mode) as here:
            direct = await asyncio.to_thread(asks, here.upstream.url)
            assert await asyncio.to_thread(asks, here.url) == direct

    play(scene)


async def chat_awaited(url: str) -> Any:
    async with openai_async(url) as client:
        stream = await client.chat.completions.create(**CHAT, stream=True)
        return [dumped(chunk) async for chunk in stream]


async def response_awaited(url: str) -> Any:
    async with openai_async(url) as client:
        stream = await client.responses.create(**RESPONSE, stream=True)
        return [dumped(event) async for event in stream]


async def message_awaited(url: str) -> Any:
    async with anthropic_async(url) as client:
        stream = await client.messages.create(**MESSAGE, stream=True)
        return [dumped(event) async for event in stream]


async def chat_whole_awaited(url: str) -> Any:
    async with openai_async(url) as client:
        return dumped(await client.chat.completions.create(**CHAT))


async def message_whole_awaited(url: str) -> Any:
    async with anthropic_async(url) as client:
        return dumped(await client.messages.create(**MESSAGE))


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (chat_awaited, lambda: stream_answer(chat_stream(TRUE))),
        (response_awaited, lambda: stream_answer(response_events([output_message(TRUE)]))),
        (message_awaited, lambda: stream_answer(message_events([{"type": "text", "text": TRUE}]))),
        (chat_whole_awaited, lambda: json_answer(chat_completion(TRUE))),
        (message_whole_awaited, lambda: json_answer(message(TRUE))),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_client_of_an_event_loop_gets_the_same(asks: Callable[[str], Any], answer: Callable[[], Answer]) -> None:
    async def scene() -> None:
        async with both(answer) as here:
            assert await asks(here.url) == await asks(here.upstream.url)

    play(scene)


def test_the_list_of_models_comes_from_the_upstream() -> None:
    async def scene() -> None:
        models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "lab"}]}
        async with both(lambda: json_answer(models)) as here:
            async with openai_async(here.url) as client:
                assert [model.id async for model in client.models.list()] == ["m"]
            assert here.upstream.asked[-1].path == "/v1/models"

    play(scene)


def test_an_openai_client_understands_a_stream_that_was_stopped() -> None:
    async def scene() -> None:
        async with both(lambda: stream_answer(chat_stream(FALSE))) as here:
            async with openai_async(here.url) as client:
                stream = await client.chat.completions.create(**CHAT, stream=True)
                chunks = [chunk async for chunk in stream]
            assert chunks[-1].choices[0].finish_reason == "content_filter"
            text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
            assert "4 weeks" not in text
            assert "withheld" in text

    play(scene)


def test_an_openai_client_understands_a_response_that_was_stopped() -> None:
    async def scene() -> None:
        async with both(lambda: stream_answer(response_events([output_message(FALSE)]))) as here:
            async with openai_async(here.url) as client:
                stream = await client.responses.create(**RESPONSE, stream=True)
                events: list[Any] = [event async for event in stream]
            last = events[-1]
            assert last.type == "response.completed"
            assert last.response.status == "incomplete"
            assert last.response.incomplete_details.reason == "content_filter"
            assert "4 weeks" not in last.response.output_text
            assert last.response.output_text.startswith("Leave is paid in full.")
            assert last.response.output_text == "".join(
                event.delta for event in events if event.type == "response.output_text.delta"
            )
            numbers = [event.sequence_number for event in events]
            assert numbers == sorted(set(numbers))

    play(scene)


def test_an_anthropic_client_understands_a_stream_that_was_stopped() -> None:
    def ask(url: str) -> Any:
        with anthropic_sync(url) as client, client.messages.stream(**MESSAGE) as stream:
            return stream.get_final_message()

    async def scene() -> None:
        async with both(lambda: stream_answer(message_events([{"type": "text", "text": FALSE}]))) as here:
            found = await asyncio.to_thread(ask, here.url)
            assert found.stop_reason == "refusal"
            text = "".join(block.text for block in found.content)
            assert text.startswith("Leave is paid in full.")
            assert "4 weeks" not in text
            assert "withheld" in text

    play(scene)


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (chat_helper, lambda: stream_answer(chat_stream(FALSE))),
        (message_helper, lambda: stream_answer(message_events([{"type": "text", "text": FALSE}]))),
        (response_streamed, lambda: stream_answer(response_events([output_message(FALSE)]))),
    ],
    ids=["chat", "messages", "responses"],
)
def test_a_correction_does_not_disturb_a_client(asks: Callable[[str], Any], answer: Callable[[], Answer]) -> None:
    async def scene() -> None:
        async with both(answer, Mode.ANNOTATE) as here:
            found = await asyncio.to_thread(asks, here.url)
            assert "4 weeks" in str(found)
            if asks is response_streamed:
                assert any("correction" in str(event) for event in found)

    play(scene)


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (response_whole, lambda: json_answer(response_value([output_message(FALSE)]))),
        (message_whole, lambda: json_answer(message(FALSE))),
    ],
    ids=["responses", "messages"],
)
def test_an_answer_that_was_withheld_has_the_formats_own_shape(
    asks: Callable[[str], Any], answer: Callable[[], Answer]
) -> None:
    async def scene() -> None:
        async with both(answer) as here:
            found = await asyncio.to_thread(asks, here.url)
            assert "4 weeks" not in str(found.get("output") or found.get("content"))
            assert found.get("stop_reason", "refusal") == "refusal"
            assert found.get("status", "incomplete") == "incomplete"

    play(scene)


@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (
            response_streamed,
            lambda: stream_answer(response_events([{**FUNCTION_CALL, "arguments": '{"order_id": "X-1"}'}])),
        ),
        (message_streamed, lambda: stream_answer(message_events([{**TOOL_USE, "input": {"order_id": "X-1"}}]))),
    ],
    ids=["responses", "messages"],
)
def test_nothing_of_a_refused_tool_call_goes_out(asks: Callable[[str], Any], answer: Callable[[], Answer]) -> None:
    async def scene() -> None:
        async with both(answer) as here:
            events = await asyncio.to_thread(asks, here.url)
            shown = [{key: value for key, value in event.items() if key != "assay"} for event in events]
            assert "X-1" not in str(shown)
            assert "cancel" not in str([event for event in shown if "response" not in event])

    play(scene)


def test_an_error_in_a_stream_reaches_the_client_as_an_error() -> None:
    async def scene() -> None:
        chunks = chat_stream(TRUE)
        async with both(lambda: stream_answer(chunks, breaks_after=6)) as here, openai_async(here.url) as client:
            stream = await client.chat.completions.create(**CHAT, stream=True)
            with pytest.raises(APIError):
                async for _ in stream:
                    pass

    play(scene)
