"""A protected client of an official SDK gives what the client itself gives, field by field, where nothing is wrong."""

from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from tests.integrations.client_site import (
    CALL,
    CHAT,
    FUNCTION_CALL,
    MESSAGE,
    RESPONSE,
    TOOL_USE,
    TRUE,
    dumped,
    guard,
    play,
    upstream,
)
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

from assay.integrations import anthropic as assay_anthropic
from assay.integrations import openai as assay_openai
from assay.integrations.clients.calls import given

CALL_CHUNKS = [
    chat_chunk({"role": "assistant", "content": None, "tool_calls": [{"index": 0, **CALL}]}),
    chat_chunk({}, "tool_calls"),
    b"data: [DONE]\n\n",
]
Protect = Callable[[Any], Any]
MODES: Any = ["enforce", "annotate", "shadow"]


def openai_sync(url: str) -> Any:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def openai_async(url: str) -> Any:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)


def anthropic_sync(url: str) -> Any:
    return anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)


def anthropic_async(url: str) -> Any:
    return anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)


def chat_whole(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client:
        return dumped(client.chat.completions.create(**CHAT))


def chat_streamed(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client:
        return [dumped(chunk) for chunk in client.chat.completions.create(**CHAT, stream=True)]


def chat_helper(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client, client.chat.completions.stream(**CHAT) as stream:
        return [event.type for event in stream], dumped(stream.get_final_completion())


def chat_parsed(url: str, protect: Protect) -> Any:
    told = {name: value for name, value in CHAT.items() if name != "tools"}
    with protect(openai_sync(url)) as client:
        return dumped(client.chat.completions.parse(**told))


def chat_raw(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client:
        raw = client.chat.completions.with_raw_response.create(**CHAT)
        return raw.status_code, dumped(raw.parse())


def chat_streaming_response(url: str, protect: Protect) -> Any:
    with (
        protect(openai_sync(url)) as client,
        client.chat.completions.with_streaming_response.create(**CHAT) as response,
    ):
        return response.status_code, b"".join(response.iter_bytes())


def response_whole(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client:
        return dumped(client.responses.create(**RESPONSE))


def response_streamed(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client:
        return [dumped(event) for event in client.responses.create(**RESPONSE, stream=True)]


def response_helper(url: str, protect: Protect) -> Any:
    with protect(openai_sync(url)) as client, client.responses.stream(**RESPONSE) as stream:
        return [event.type for event in stream], dumped(stream.get_final_response())


def message_whole(url: str, protect: Protect) -> Any:
    with protect(anthropic_sync(url)) as client:
        return dumped(client.messages.create(**MESSAGE))


def message_streamed(url: str, protect: Protect) -> Any:
    with protect(anthropic_sync(url)) as client:
        return [dumped(event) for event in client.messages.create(**MESSAGE, stream=True)]


def message_helper(url: str, protect: Protect) -> Any:
    with protect(anthropic_sync(url)) as client, client.messages.stream(**MESSAGE) as stream:
        return [event.type for event in stream], dumped(stream.get_final_message())


def message_beta(url: str, protect: Protect) -> Any:
    with protect(anthropic_sync(url)) as client:
        return dumped(client.beta.messages.create(**MESSAGE))


SYNC: list[tuple[Callable[[str, Protect], Any], Callable[[], Answer]]] = [
    (chat_whole, lambda: json_answer(chat_completion(TRUE))),
    (chat_whole, lambda: json_answer(chat_completion(None, tool_calls=[CALL]))),
    (chat_streamed, lambda: stream_answer(cut(b"".join(chat_stream(TRUE)), 17))),
    (chat_streamed, lambda: stream_answer(CALL_CHUNKS)),
    (chat_helper, lambda: stream_answer(chat_stream(TRUE))),
    (chat_helper, lambda: stream_answer(CALL_CHUNKS)),
    (chat_parsed, lambda: json_answer(chat_completion(TRUE))),
    (chat_raw, lambda: json_answer(chat_completion(TRUE))),
    (chat_streaming_response, lambda: json_answer(chat_completion(TRUE))),
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
    (message_beta, lambda: json_answer(message(TRUE))),
]


def protection(mode: Any) -> Protect:
    def protect(client: Any) -> Any:
        kind = assay_openai if isinstance(client, openai.OpenAI | openai.AsyncOpenAI) else assay_anthropic
        return kind.protect(client, guard(), mode=mode)

    return protect


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("asks", "answer"), SYNC, ids=lambda value: getattr(value, "__name__", None))
def test_a_client_that_waits_gives_the_same(
    asks: Callable[[str, Protect], Any], answer: Callable[[], Answer], mode: Any
) -> None:
    with upstream(answer()) as here:
        direct = asks(here.url, lambda client: client)
        sent = here.asked[-1].json()
        with given() as told:
            assert asks(here.url, protection(mode)) == direct
        assert here.asked[-1].json() == sent
    if mode != "shadow":
        assert [outcome.passed for outcome in told.outcomes] == [True]


async def chat_awaited(url: str, protect: Protect) -> Any:
    async with protect(openai_async(url)) as client:
        stream = await client.chat.completions.create(**CHAT, stream=True)
        return [dumped(chunk) async for chunk in stream]


async def chat_helper_awaited(url: str, protect: Protect) -> Any:
    async with protect(openai_async(url)) as client, client.chat.completions.stream(**CHAT) as stream:
        return [event.type async for event in stream], dumped(await stream.get_final_completion())


async def chat_whole_awaited(url: str, protect: Protect) -> Any:
    async with protect(openai_async(url)) as client:
        return dumped(await client.chat.completions.create(**CHAT))


async def response_awaited(url: str, protect: Protect) -> Any:
    async with protect(openai_async(url)) as client:
        stream = await client.responses.create(**RESPONSE, stream=True)
        return [dumped(event) async for event in stream]


async def response_whole_awaited(url: str, protect: Protect) -> Any:
    async with protect(openai_async(url)) as client:
        return dumped(await client.responses.create(**RESPONSE))


async def message_awaited(url: str, protect: Protect) -> Any:
    async with protect(anthropic_async(url)) as client:
        stream = await client.messages.create(**MESSAGE, stream=True)
        return [dumped(event) async for event in stream]


async def message_helper_awaited(url: str, protect: Protect) -> Any:
    async with protect(anthropic_async(url)) as client, client.messages.stream(**MESSAGE) as stream:
        return [event.type async for event in stream], dumped(await stream.get_final_message())


async def message_whole_awaited(url: str, protect: Protect) -> Any:
    async with protect(anthropic_async(url)) as client:
        return dumped(await client.messages.create(**MESSAGE))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("asks", "answer"),
    [
        (chat_awaited, lambda: stream_answer(cut(b"".join(chat_stream(TRUE)), 11))),
        (chat_awaited, lambda: stream_answer(CALL_CHUNKS)),
        (chat_helper_awaited, lambda: stream_answer(chat_stream(TRUE))),
        (chat_whole_awaited, lambda: json_answer(chat_completion(TRUE))),
        (response_awaited, lambda: stream_answer(response_events([output_message(TRUE), FUNCTION_CALL]))),
        (response_whole_awaited, lambda: json_answer(response_value([output_message(TRUE), FUNCTION_CALL]))),
        (message_awaited, lambda: stream_answer(message_events([{"type": "text", "text": TRUE}]))),
        (message_helper_awaited, lambda: stream_answer(message_events([{"type": "text", "text": TRUE}, TOOL_USE]))),
        (message_whole_awaited, lambda: json_answer(message(TRUE))),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_client_of_an_event_loop_gives_the_same(asks: Any, answer: Callable[[], Answer], mode: Any) -> None:
    with upstream(answer()) as here:

        async def scene() -> None:
            direct = await asks(here.url, lambda client: client)
            with given() as told:
                assert await asks(here.url, protection(mode)) == direct
            if mode != "shadow":
                assert [outcome.passed for outcome in told.outcomes] == [True]

        play(scene)
