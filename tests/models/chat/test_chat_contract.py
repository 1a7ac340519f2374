"""What every adapter of a chat model keeps to, over real HTTP and in both of its forms."""

import asyncio
import json
from typing import Any

import pytest
from tests.models.chat.chat_contract import (
    FORMATS,
    SECRET,
    WAYS,
    Adapter,
    Ask,
    Format,
    against,
    asking,
    play,
    said,
    status,
)
from tests.server.upstream_script import Answer, Upstream, chat_completion, json_answer, message, serving_upstream

from assay.errors import AnswerError, ChatError, InputError
from assay.models.chat.interface import Choice, Finish
from assay.models.chat.load import Chat, ChatOptions
from assay.models.chat.meter import Meter, Price
from assay.models.chat.providers.anthropic_chat import AnthropicChat
from assay.models.chat.providers.openai_chat import OpenAIChat
from assay.models.chat.providers.responses import read_chat_completion
from assay.models.chat.retry import Retries
from assay.models.chat.structured import read_structured

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"weeks": {"type": "integer"}},
    "required": ["weeks"],
    "additionalProperties": False,
}


@pytest.fixture(params=FORMATS, ids=lambda told: told.name)
def told(request: pytest.FixtureRequest) -> Format:
    found: Format = request.param
    return found


@pytest.fixture(params=list(WAYS))
def ask(request: pytest.FixtureRequest) -> Ask:
    return WAYS[request.param]


def test_the_text_the_tokens_and_the_model_come_back(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await ask(adapter, asking())
        assert made.text == "Two weeks."
        assert made.complete
        assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (9, 12)
        assert not made.usage.estimated
        assert (made.model, made.calls, made.retries, made.cached) == ("model-1", 1, 0, False)

    against(told, said(told, "Two weeks."), scene=scene)


def test_every_message_is_sent_and_the_key_only_as_a_header(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        await ask(adapter, asking("How long? \U0001f600", max_tokens=77))
        body = upstream.asked[0].json()
        assert body["model"] == "model-1"
        assert body["max_tokens"] == 77
        assert body["messages"][-1] == {"role": "user", "content": "How long? \U0001f600"}
        assert "Answer briefly." in json.dumps(body)
        assert SECRET not in upstream.asked[0].body.decode()
        assert any(SECRET in value for _, value in upstream.asked[0].headers)

    against(told, said(told, "x"), scene=scene)


@pytest.mark.parametrize("ours", ["stop", "length", "refusal", "other"])
def test_every_end_is_told_and_only_one_is_complete(told: Format, ask: Ask, ours: str) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await ask(adapter, asking())
        assert made.finish is Finish(ours)
        assert made.complete == (ours == "stop")

    against(told, json_answer(told.ended("Two", told.ends[ours])), scene=scene)


def test_an_end_that_nobody_knows_is_not_complete(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        assert (await ask(adapter, asking())).finish is Finish.OTHER

    against(told, json_answer(told.ended("Two", "brand_new")), scene=scene)


def test_a_refusal_says_whether_asking_again_may_help(told: Format, ask: Ask) -> None:
    helps = {400: False, 401: False, 403: False, 404: False, 408: True, 429: True, 500: True, 503: True, 529: True}

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        for code, retryable in helps.items():
            upstream.script(status(told, code, "no such thing"))
            with pytest.raises(ChatError, match=f"status {code}: no such thing") as caught:
                await ask(adapter, asking())
            assert caught.value.retryable is retryable
            assert caught.value.calls == 1
            assert len(upstream.asked) == 1, "the SDK's own retries are off"

    against(told, scene=scene)


def test_the_pause_that_an_endpoint_asks_for_is_told(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError) as caught:
            await ask(adapter, asking())
        assert caught.value.wait == 7.5

    answer = status(told, 429)
    answer.headers = {**answer.headers, "retry-after": "7.5"}
    against(told, answer, scene=scene)


def test_an_answer_that_is_none_is_an_error_and_never_a_text(told: Format, ask: Ask) -> None:
    bodies = (b"", b"not json", b"[]", b"{}", b'{"choices": []}', b'{"choices": 3}', b'{"content": {}}', b"[" * 5000)

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        for body in bodies:
            upstream.script(Answer(body))
            with pytest.raises(ChatError):
                await ask(adapter, asking())

    against(told, scene=scene)


def test_an_answer_without_counts_is_counted_by_its_length(told: Format, ask: Ask) -> None:
    value = told.said("Two weeks of leave.")
    del value["usage"]

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await ask(adapter, asking())
        assert made.usage.estimated
        assert made.usage.prompt_tokens > 0
        assert made.usage.completion_tokens > 0

    against(told, json_answer(value), scene=scene)


def test_an_endpoint_that_does_not_answer_in_time_may_be_asked_again(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError, match="could not be reached") as caught:
            await ask(adapter, asking(timeout=0.05))
        assert caught.value.retryable

    against(told, Answer(silent=True), scene=scene)


def test_an_endpoint_that_is_not_there_is_told_without_the_key(told: Format, ask: Ask) -> None:
    async def scene() -> None:
        adapter = told.make("http://127.0.0.1:1")
        with pytest.raises(ChatError, match="is it running") as caught:
            await ask(adapter, asking())
        assert caught.value.retryable
        assert SECRET not in str(caught.value)
        adapter.close()
        await adapter.aclose()

    play(scene)


def test_what_an_endpoint_says_cannot_steer_a_terminal(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError) as caught:
            await ask(adapter, asking())
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500

    against(told, status(told, 400, "\x1b[2Jwiped\n\u202e" + "x" * 9999), scene=scene)


def test_a_digest_tells_models_and_endpoints_apart_and_holds_no_key(told: Format) -> None:
    digests = {told.make(url).digest for url in ("http://a", "http://b")}
    assert len(digests) == 2
    assert told.make("http://a").digest in digests
    assert {OpenAIChat("m", api_key="1").digest} == {OpenAIChat("m", api_key="2").digest}


@pytest.mark.parametrize("kind", [OpenAIChat, AnthropicChat])
def test_a_model_has_a_name(kind: type[Adapter]) -> None:
    with pytest.raises(InputError, match="a name"):
        kind("  ")


def test_one_adapter_serves_one_event_loop_after_the_other(told: Format) -> None:
    adapters: list[Adapter] = []

    async def scene() -> None:
        async with serving_upstream() as upstream:
            upstream.script(said(told, "Two."))
            adapters.append(told.make(upstream.url))
            adapter = adapters[0] if len(adapters) == 1 else adapters[-1]
            assert (await adapter.acomplete(asking())).text == "Two."
            await adapter.aclose()

    play(scene)
    play(scene)


def test_many_tasks_share_an_adapter(told: Format) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await asyncio.gather(*(adapter.acomplete(asking(str(i))) for i in range(20)))
        assert [one.text for one in made] == ["Two."] * 20
        assert len(upstream.asked) == 20

    against(told, said(told, "Two."), scene=scene)


def test_the_whole_asks_again_and_for_every_answer_that_is_missing(ask: Ask) -> None:
    async def scene() -> None:
        async with serving_upstream() as upstream:
            one = json_answer(chat_completion("Two."))
            upstream.script(status(FORMATS[0], 503), one)
            options = ChatOptions(timeout=5.0, retries=Retries(first_s=0.0), at_once=2)
            chat = Chat("model-1", base_url=f"{upstream.url}/v1", api_key=SECRET, options=options)
            meter = Meter(chat, price=Price(1.0, 1.0))
            made = await ask(meter.asking("samples"), asking(n=3, temperature=0.7, seed=1))
            assert [choice.text for choice in made.choices] == ["Two."] * 3
            assert sorted(asked.json()["seed"] for asked in upstream.asked[1:]) == [1, 2, 3]
            (spending,) = meter.spending
            assert (spending.requests, spending.calls, spending.retries, spending.prompt_tokens) == (1, 4, 1, 27)
            chat.close()
            await chat.aclose()

    play(scene)


# What only one of them does


def test_openai_is_asked_for_a_schema_in_its_response_format(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        await ask(adapter, asking(schema=SCHEMA, seed=3, temperature=0.5, n=2, logprobs=True))
        body = upstream.asked[0].json()
        expected = {"name": "answer", "schema": SCHEMA, "strict": True}
        assert body["response_format"] == {"type": "json_schema", "json_schema": expected}
        assert (body["seed"], body["temperature"], body["n"], body["logprobs"], body["top_logprobs"]) == (
            3,
            0.5,
            2,
            True,
            5,
        )

    against(FORMATS[0], json_answer(chat_completion("{}")), scene=scene)


def test_an_open_schema_is_not_asked_for_in_strict_mode(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        await ask(adapter, asking(schema={"type": "object", "properties": {"a": {"type": "string"}}}))
        assert upstream.asked[0].json()["response_format"]["json_schema"]["strict"] is False

    against(FORMATS[0], json_answer(chat_completion("{}")), scene=scene)


def test_anthropic_is_asked_for_a_schema_in_its_output_config_and_for_no_temperature(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        await ask(adapter, asking(schema=SCHEMA, seed=3, temperature=0.5, n=2, logprobs=True))
        body = upstream.asked[0].json()
        assert body["output_config"]["format"]["type"] == "json_schema"
        assert body["output_config"]["format"]["schema"]["required"] == ["weeks"]
        assert body["system"] == "Answer briefly."
        assert set(body) == {"model", "max_tokens", "messages", "system", "output_config"}

    against(FORMATS[1], json_answer(message("{}")), scene=scene)


def test_log_probabilities_come_back_where_they_are_offered(ask: Ask) -> None:
    value = chat_completion("Two.")
    top = [{"token": "Two", "logprob": -0.1, "bytes": None}, {"token": "Four", "logprob": -2.5, "bytes": None}]
    value["choices"][0]["logprobs"] = {
        "content": [{"token": "Two", "logprob": -0.1, "bytes": None, "top_logprobs": top}],
        "refusal": None,
    }

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        (token,) = (await ask(adapter, asking(logprobs=True))).logprobs or ()
        assert (token.token, token.logprob) == ("Two", -0.1)
        assert token.alternatives == (("Two", -0.1), ("Four", -2.5))

    against(FORMATS[0], json_answer(value), scene=scene)


@pytest.mark.parametrize(
    "entry", [{"token": "Two"}, {"token": "Two", "logprob": "high"}, {"token": "Two", "logprob": True}]
)
def test_log_probabilities_that_are_none_are_left_out_as_a_whole(ask: Ask, entry: dict[str, Any]) -> None:
    value = chat_completion("Two.")
    value["choices"][0]["logprobs"] = {"content": [{"token": "A", "logprob": -1.0}, entry]}

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        assert (await ask(adapter, asking(logprobs=True))).logprobs is None

    against(FORMATS[0], json_answer(value), scene=scene)


def test_a_refusal_of_openai_is_told_apart_from_its_text(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await ask(adapter, asking())
        assert made.refusal == "I will not."
        assert made.finish is Finish.REFUSAL
        assert not made.complete

    against(FORMATS[0], json_answer(chat_completion(None, refusal="I will not.")), scene=scene)


def test_the_thoughts_of_a_local_model_are_no_part_of_its_answer(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        assert (await ask(adapter, asking())).text == "Two."

    against(FORMATS[0], json_answer(chat_completion("<think>Is it < 4?\n</think>\n\nTwo.")), scene=scene)


def _refusing(name: str, words: str = "") -> Answer:
    error = {
        "message": words or f"Unsupported parameter: '{name}'.",
        "param": name or None,
        "code": "unsupported_parameter",
    }
    return Answer(json.dumps({"error": error}).encode(), status=400)


def test_a_setting_that_an_endpoint_does_not_take_is_left_out_from_then_on(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        made = await ask(adapter, asking(temperature=0.0))
        assert (made.text, made.calls, made.retries) == ("Two.", 3, 2)
        last = upstream.asked[-1].json()
        assert "temperature" not in last
        assert "max_tokens" not in last
        assert last["max_completion_tokens"] == 1024
        again = await ask(adapter, asking(temperature=0.0))
        assert again.calls == 1

    answers = [
        _refusing("max_tokens"),
        _refusing("", "`temperature` is not supported"),
        json_answer(chat_completion("Two.")),
    ]
    against(FORMATS[0], *answers, scene=scene)


def test_an_endpoint_that_refuses_the_messages_is_not_asked_again(ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError, match="status 400"):
            await ask(adapter, asking())
        assert len(upstream.asked) == 1

    against(FORMATS[0], _refusing("messages"), scene=scene)


def test_an_account_without_credit_is_not_asked_again(ask: Ask) -> None:
    error = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota", "param": None}}

    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError) as caught:
            await ask(adapter, asking())
        assert not caught.value.retryable

    against(FORMATS[0], Answer(json.dumps(error).encode(), status=429), scene=scene)


def test_azure_is_asked_by_deployment_and_version(ask: Ask) -> None:
    async def scene() -> None:
        async with serving_upstream() as upstream:
            upstream.script(json_answer(chat_completion("Two.")))
            adapter = OpenAIChat("team", base_url=upstream.url, api_key=SECRET, azure=True, api_version="2024-10-21")
            assert (await ask(adapter, asking())).text == "Two."
            assert upstream.asked[0].path == "/openai/deployments/team/chat/completions?api-version=2024-10-21"
            assert upstream.asked[0].header("api-key") == SECRET
            adapter.close()
            await adapter.aclose()

    play(scene)


def test_a_text_that_cannot_be_encoded_is_an_error_of_the_chat_model(told: Format, ask: Ask) -> None:
    async def scene(adapter: Adapter, upstream: Upstream) -> None:
        with pytest.raises(ChatError, match="cannot be sent"):
            await ask(adapter, asking("half of a pair: \ud83d"))

    against(told, said(told, "Two weeks."), scene=scene)


def test_more_cached_tokens_than_the_prompt_has_do_not_make_a_check_cheaper() -> None:
    value = {
        "choices": [{"message": {"content": "Two."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9_000}},
    }
    usage = read_chat_completion(value, asking(), "model 'm'").usage
    assert usage.cached_tokens == 9
    assert Price(prompt=2.0, completion=8.0, cached=0.0).of(usage) >= 0


@pytest.mark.parametrize(
    "text", ["[" * 900 + "]" * 900, "[" * 90_000, '{"weeks": 1e999}', '{"weeks": NaN}', '{"weeks": 1, "weeks": 2}']
)
def test_a_hostile_structured_answer_is_an_answer_error(text: str) -> None:
    with pytest.raises(AnswerError):
        read_structured(Choice(text), {"type": "object", "properties": {"weeks": {"type": ["number", "array"]}}})
