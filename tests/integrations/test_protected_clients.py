"""What a protected client gives where something is wrong, and that no way leads around its gate."""

import asyncio
import gc
import gzip
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from tests.integrations.client_site import (
    CALL,
    CHAT,
    EVIDENCE,
    FALSE,
    FUNCTION_CALL,
    INVENTED,
    MESSAGE,
    RESPONSE,
    TOOL_USE,
    TRUE,
    dumped,
    guard,
    loop_of,
    play,
    upstream,
)
from tests.server.upstream_script import (
    Answer,
    chat_chunk,
    chat_completion,
    chat_stream,
    json_answer,
    message,
    message_events,
    output_message,
    response_events,
    response_value,
    stream_answer,
)

from assay.errors import CallRejectedError, InputError, VerifierError, WithheldError
from assay.guard import Guard
from assay.integrations import anthropic as assay_anthropic
from assay.integrations import openai as assay_openai
from assay.integrations.clients import protected_client
from assay.integrations.clients.calls import Outcome, given
from assay.integrations.clients.protected_client import outcome_of
from assay.integrations.clients.transport import _HeldStream
from assay.testing import FailingScorer

ALONE: dict[str, Any] = {"model": "model-1", "messages": [{"role": "user", "content": "How long is leave?"}]}


def plain(url: str, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0, **more)


def client(url: str, **how: Any) -> openai.OpenAI:
    return assay_openai.protect(plain(url), how.pop("guard", None) or guard(), **how)


def claude(url: str, **how: Any) -> anthropic.Anthropic:
    made = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    return assay_anthropic.protect(made, guard(), **how)


def test_an_answer_that_does_not_pass_has_the_formats_own_shape() -> None:
    with upstream(json_answer(chat_completion(FALSE))) as here, client(here.url) as model:
        found = model.chat.completions.create(**CHAT)
        outcome = outcome_of(found)
    assert found.choices[0].finish_reason == "content_filter"
    assert "withheld" in (found.choices[0].message.content or "")
    assert "4 weeks" not in found.choices[0].message.model_dump_json()
    assert outcome is not None
    assert outcome.action == "block"
    assert not outcome.passed
    assert outcome.report is not None
    assert outcome.report.output == FALSE


def test_a_response_that_does_not_pass_is_incomplete() -> None:
    with upstream(json_answer(response_value([output_message(FALSE)]))) as here, client(here.url) as model:
        found = model.responses.create(**RESPONSE)
    assert found.status == "incomplete"
    assert "withheld" in found.output_text
    assert "4 weeks" not in found.output_text


def test_a_message_that_does_not_pass_is_a_refusal() -> None:
    with upstream(json_answer(message(FALSE))) as here, claude(here.url) as model:
        found = model.messages.create(**MESSAGE)
    assert found.stop_reason == "refusal"
    assert "4 weeks" not in str(found.content)
    assert outcome_of(found) is not None


def test_an_answer_that_does_not_pass_is_an_error_where_errors_were_asked_for() -> None:
    with upstream(json_answer(chat_completion(FALSE))) as here, client(here.url, on_withheld="raise") as model:
        with pytest.raises(WithheldError, match="withheld") as caught:
            model.chat.completions.create(**CHAT)
        with pytest.raises(WithheldError):
            model.chat.completions.with_raw_response.create(**CHAT)
        assert caught.value.report.output == FALSE  # type: ignore[attr-defined]
        assert len(here.asked) == 2  # and nothing was tried again


def test_a_tool_call_with_an_invented_argument_is_not_returned() -> None:
    answer = json_answer(chat_completion(None, tool_calls=[INVENTED]))
    with upstream(answer) as here:
        with client(here.url) as model:
            found = model.chat.completions.create(**CHAT)
            assert found.choices[0].message.tool_calls is None
            assert found.choices[0].finish_reason == "content_filter"
        with client(here.url, on_withheld="raise") as model, pytest.raises(CallRejectedError, match="order_id"):
            model.chat.completions.create(**CHAT)


def test_a_tool_use_with_an_invented_argument_is_not_returned() -> None:
    invented = {**TOOL_USE, "input": {"order_id": "X-1"}}
    answer = json_answer({**message(""), "content": [invented], "stop_reason": "tool_use"})
    with upstream(answer) as here, claude(here.url) as model:
        found = model.messages.create(**MESSAGE)
    assert [block.type for block in found.content] == ["text"]
    outcome = outcome_of(found)
    assert outcome is not None
    assert not outcome.calls[0].accepted


def test_a_stream_stops_before_a_claim_that_does_not_pass() -> None:
    with upstream(stream_answer(chat_stream(FALSE))) as here, client(here.url) as model:
        stream = model.chat.completions.create(**CHAT, stream=True)
        chunks = list(stream)
        outcome = outcome_of(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text.startswith("Leave is paid in full.")
    assert "4 weeks" not in text
    assert "withheld" in text
    assert chunks[-1].choices[0].finish_reason == "content_filter"
    assert outcome is not None
    assert outcome.timing is not None
    assert outcome.timing.first_ms is not None
    assert outcome.action == "block"


def test_a_stream_that_stops_raises_where_errors_were_asked_for() -> None:
    with upstream(stream_answer(chat_stream(FALSE))) as here, client(here.url, on_withheld="raise") as model:
        got: list[str] = []
        with pytest.raises(WithheldError, match="withheld"):
            got.extend(_text_of(chunk) for chunk in model.chat.completions.create(**CHAT, stream=True))
    assert "4 weeks" not in "".join(got)
    assert "withheld" not in "".join(got)


def test_streams_of_the_other_formats_stop_too() -> None:
    with upstream(stream_answer(response_events([output_message(FALSE)]))) as here, client(here.url) as model:
        events: list[Any] = list(model.responses.create(**RESPONSE, stream=True))
    assert events[-1].type == "response.completed"
    assert events[-1].response.status == "incomplete"
    assert "4 weeks" not in events[-1].response.output_text
    assert "4 weeks" not in "".join(event.delta for event in events if event.type == "response.output_text.delta")
    blocks = message_events([{"type": "text", "text": FALSE}])
    with upstream(stream_answer(blocks)) as here, claude(here.url) as asked, asked.messages.stream(**MESSAGE) as stream:
        found = stream.get_final_message()
    assert found.stop_reason == "refusal"
    assert "4 weeks" not in str(found.content)


def test_a_stream_of_an_event_loop_stops_too() -> None:
    async def scene(url: str) -> str:
        made = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        async with assay_openai.protect(made, guard()) as model:
            stream = await model.chat.completions.create(**CHAT, stream=True)
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
            outcome = outcome_of(stream)
            assert outcome is not None
            assert outcome.action == "block"
            return text

    with upstream(stream_answer(chat_stream(FALSE))) as here:
        text = play(lambda: scene(here.url))
    assert "4 weeks" not in text
    assert "withheld" in text


def test_a_sentence_of_a_stream_comes_before_the_next_one_was_sent() -> None:
    """The upstream goes on only when the first sentence has come out: were it held, the test would never end."""

    async def scene(url: str, loop: Any, gate: asyncio.Event) -> str:
        made = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
        got = ""
        async with assay_openai.protect(made, guard()) as model:
            async for chunk in await model.chat.completions.create(**CHAT, stream=True):
                got += chunk.choices[0].delta.content or ""
                if got.startswith("Partners are entitled to 2 weeks of leave."):
                    loop.call_soon_threadsafe(gate.set)
        return got

    gate = asyncio.Event()
    chunks = chat_stream(TRUE)
    with upstream(stream_answer(chunks, gates={len(chunks) - 4: gate})) as here:
        assert play(lambda: scene(here.url, loop_of(here), gate)) == TRUE


def test_annotate_adds_what_was_found_and_lets_everything_out() -> None:
    answer = json_answer(chat_completion(FALSE))
    with upstream(answer) as here, client(here.url, mode="annotate") as model:
        found = model.chat.completions.create(**CHAT)
    assert found.choices[0].message.content == FALSE
    added = (found.model_extra or {})["assay"]
    assert added["action"] == "block"
    assert "4 weeks" in added["claims"][0]["text"]


def test_annotate_corrects_a_stream() -> None:
    with upstream(stream_answer(chat_stream(FALSE))) as here, client(here.url, mode="annotate") as model:
        chunks = list(model.chat.completions.create(**CHAT, stream=True))
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert text == FALSE
    corrections = [chunk for chunk in chunks if "assay" in (chunk.model_extra or {})]
    assert len(corrections) == 1
    assert not corrections[0].choices


@pytest.mark.parametrize("streamed", [False, True])
def test_a_shadow_sees_and_changes_nothing(streamed: bool) -> None:
    seen = threading.Event()
    outcomes: list[Outcome] = []

    def note(outcome: Outcome) -> None:
        outcomes.append(outcome)
        seen.set()

    answer = stream_answer(chat_stream(FALSE)) if streamed else json_answer(chat_completion(FALSE))
    with upstream(answer) as here:
        with plain(here.url) as model:
            direct = model.chat.completions.create(**CHAT, stream=streamed)
            expected = [dumped(chunk) for chunk in direct] if streamed else dumped(direct)
        with client(here.url, mode="shadow", on_outcome=note) as model:
            found = model.chat.completions.create(**CHAT, stream=streamed)
            assert ([dumped(chunk) for chunk in found] if streamed else dumped(found)) == expected
    assert seen.wait(60)
    assert [outcome.action for outcome in outcomes] == ["block"]
    assert not outcomes[0].passed


def test_evidence_comes_with_a_call_and_is_not_sent() -> None:
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url) as model:
        without = model.chat.completions.create(**ALONE)
        assert without.choices[0].finish_reason == "content_filter"
        body = {"assay": {"evidence": [{"id": "hr-2", "text": EVIDENCE}], "question": "How long is leave?"}}
        found = model.chat.completions.create(**ALONE, extra_body=body)
        assert found.choices[0].message.content == TRUE
        assert "assay" not in here.asked[-1].json()
        report = _report(found)
        assert report.question == "How long is leave?"
        assert report.claims[0].evidence_spans[0].evidence_id == "hr-2"


def test_evidence_is_given_around_calls() -> None:
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url) as model:
        with given([EVIDENCE], stakes="high") as told:
            assert model.chat.completions.create(**ALONE).choices[0].message.content == TRUE
        assert told.report is not None
        assert told.report.stakes == "high"
        assert model.chat.completions.create(**ALONE).choices[0].finish_reason == "content_filter"
        assert len(told.outcomes) == 1


def test_evidence_is_given_to_the_client() -> None:
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url, evidence=[EVIDENCE]) as model:
        assert model.chat.completions.create(**ALONE).choices[0].message.content == TRUE


@pytest.mark.parametrize("field", [{"evidenc": []}, {"policy": "rag"}, {"stakes": "huge"}, 7])
def test_a_wrong_member_of_the_body_is_an_error_and_nothing_is_sent(field: Any) -> None:
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url) as model:
        with pytest.raises(InputError):
            model.chat.completions.create(**ALONE, extra_body={"assay": field})
        assert not here.asked


@pytest.mark.parametrize(
    ("field", "why"), [({"task": "creative"}, "may not declare it"), ({"stakes": "medium"}, "may raise the stakes")]
)
@pytest.mark.parametrize("around", [False, True])
def test_a_body_asks_for_nothing_looser_than_the_program_set(field: dict[str, Any], why: str, around: bool) -> None:
    """A program may hand on a body that somebody else wrote."""
    own = {} if around else {"stakes": "high"}
    with upstream(json_answer(chat_completion(FALSE))) as here, client(here.url, **own) as model:
        with given([EVIDENCE], stakes="high" if around else None), pytest.raises(InputError, match=why):
            model.chat.completions.create(**ALONE, extra_body={"assay": field})
        assert not here.asked


def test_what_the_program_declares_a_body_may_repeat() -> None:
    body = {"assay": {"task": "creative", "stakes": "high"}}
    with upstream(json_answer(chat_completion(FALSE))) as here, client(here.url, task="creative") as model:
        assert model.chat.completions.create(**ALONE, extra_body=body).choices[0].message.content == FALSE


def test_an_error_of_the_provider_is_the_clients_own() -> None:
    busy = Answer(b'{"error": {"message": "slow down"}}', status=429)
    with upstream(busy) as here, client(here.url) as model, pytest.raises(openai.RateLimitError, match="slow down"):
        model.chat.completions.create(**CHAT)


def test_the_client_tries_again_as_it_does_without_a_gate() -> None:
    busy = Answer(b"{}", status=429, headers={"content-type": "application/json", "retry-after-ms": "1"})
    with upstream(busy, json_answer(chat_completion(TRUE))) as here:
        model = assay_openai.protect(plain(here.url).with_options(max_retries=2), guard())
        assert model.chat.completions.create(**CHAT).choices[0].message.content == TRUE
        assert len(here.asked) == 2
        model.close()


def test_a_stream_that_breaks_off_is_the_clients_own_error() -> None:
    chunks = chat_stream(TRUE)
    with upstream(stream_answer(chunks, breaks_after=12)) as here, client(here.url) as model:
        got: list[str] = []
        with pytest.raises((openai.APIConnectionError, httpx2.HTTPError)):
            got.extend(_text_of(chunk) for chunk in model.chat.completions.create(**CHAT, stream=True))
    assert TRUE.startswith("".join(got))


def test_an_event_that_cannot_be_read_stops_a_stream() -> None:
    chunks = [*chat_stream(TRUE)[:3], b"data: {broken\n\n", *chat_stream(TRUE)[3:]]
    with upstream(stream_answer(chunks)) as here, client(here.url) as model:
        found = list(model.chat.completions.create(**CHAT, stream=True))
    assert found[-1].choices[0].finish_reason == "content_filter"


def test_a_silent_upstream_does_not_hold_a_reader_who_leaves() -> None:
    chunks = chat_stream(f"{TRUE} {TRUE}")
    with upstream(stream_answer(chunks, silent_after=18)) as here, client(here.url) as model:
        stream = model.chat.completions.create(**CHAT, stream=True)
        text = ""
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
            if "leave." in text:
                break
        stream.close()
    outcome = outcome_of(stream)
    assert outcome is not None
    assert not outcome.passed


def test_a_check_that_fails_withholds() -> None:
    broken = Guard("general", scorer=FailingScorer())
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url, guard=broken) as model:
        found = model.chat.completions.create(**CHAT)
    assert found.choices[0].finish_reason == "content_filter"
    assert TRUE not in found.model_dump_json()


def test_an_answer_that_is_no_json_is_withheld() -> None:
    broken = Answer(b"Partners get 4 weeks.")
    with upstream(broken) as here, client(here.url) as model, pytest.raises(VerifierError, match="withheld"):
        model.chat.completions.create(**CHAT)


def test_a_compressed_answer_is_read() -> None:
    body = gzip.compress(json.dumps(chat_completion(TRUE)).encode())
    packed = Answer(body, headers={"content-type": "application/json", "content-encoding": "gzip"})
    with upstream(packed) as here, client(here.url) as model:
        assert model.chat.completions.create(**CHAT).choices[0].message.content == TRUE


def test_copies_are_protected_and_the_first_client_is_not() -> None:
    with upstream(json_answer(chat_completion(FALSE))) as here, plain(here.url) as first:
        model = assay_openai.protect(first, guard())
        assert type(model).__name__ == "OpenAI"
        assert isinstance(model, openai.OpenAI)
        copy = model.with_options(timeout=5)
        assert copy.chat.completions.create(**CHAT).choices[0].finish_reason == "content_filter"
        assert outcome_of(copy.chat.completions.create(**CHAT)) is not None
        assert first.chat.completions.create(**CHAT).choices[0].message.content == FALSE
        with pytest.raises(InputError, match="already"):
            assay_openai.protect(model, guard())


def test_paths_whose_answers_no_check_could_read_are_not_sent() -> None:
    models = {"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "lab"}]}
    with upstream(json_answer(models)) as here, client(here.url) as model:
        assert [one.id for one in model.models.list()] == ["m"]
        for ask in (
            lambda: model.completions.create(model="m", prompt="x"),
            lambda: model.responses.retrieve("resp_1"),
            lambda: model.post("/models/../completions", cast_to=dict, body={}),
            lambda: model.get("/threads/t/messages", cast_to=dict),
            lambda: model.post("/models/m:generate", cast_to=dict, body={}),
        ):
            with pytest.raises(InputError, match="not sent"):
                ask()
        assert len(here.asked) == 1
    with upstream(json_answer({"data": []})) as here, claude(here.url) as asked:
        assert asked.messages.count_tokens(model="m", messages=[{"role": "user", "content": "x"}]) is not None
        with pytest.raises(InputError, match="not sent"):
            asked.messages.batches.results("b")


def test_further_paths_may_be_named() -> None:
    with upstream(json_answer({"object": "list", "data": []})) as here, client(here.url, plain=["/batches"]) as model:
        assert list(model.batches.list()) == []


def test_a_response_in_the_background_is_not_asked_for() -> None:
    with upstream(json_answer(response_value([]))) as here, client(here.url) as model:
        with pytest.raises(InputError, match="background"):
            model.responses.create(**RESPONSE, background=True)
        assert not here.asked


def test_sockets_are_not_opened() -> None:
    with upstream(json_answer({})) as here, client(here.url) as model:
        with pytest.raises(InputError, match="sockets"):
            model.realtime.connect(model="m")
        with pytest.raises(InputError, match="sockets"), model.responses.connect():
            pass


def test_the_model_is_asked_again_and_what_passed_stays_to_the_character() -> None:
    better = "Leave is paid in full!! Partners are entitled to 2 weeks of leave."
    answers = [json_answer(chat_completion(FALSE)), json_answer(chat_completion(better))]
    with upstream(*answers) as here, client(here.url, attempts=2) as model:
        found = model.chat.completions.create(**{**CHAT, "tools": []})
        again = here.asked[1].json()
    assert found.choices[0].message.content == "Leave is paid in full. Partners are entitled to 2 weeks of leave."
    outcome = outcome_of(found)
    assert outcome is not None
    assert outcome.passed
    assert outcome.revision is not None
    assert outcome.revision["requests"] == 1
    assert outcome.report is not None
    assert outcome.report.revision is not None
    assert again["messages"][-2] == {"role": "assistant", "content": FALSE}
    assert "4 weeks" in again["messages"][-1]["content"]


def test_the_model_is_asked_again_on_an_event_loop_too() -> None:
    better = "Leave is paid in full. Partners are entitled to 2 weeks of leave."
    answers = [json_answer(message(FALSE)), json_answer(message(better))]

    async def scene(url: str) -> Any:
        made = anthropic.AsyncAnthropic(base_url=url, api_key="k", max_retries=0)
        async with assay_anthropic.protect(made, guard(), attempts=1) as model:
            return await model.messages.create(**{**MESSAGE, "tools": []})

    with upstream(*answers) as here:
        found = play(lambda: scene(here.url))
    assert found.content[0].text == better
    assert found.stop_reason == "end_turn"


def test_a_model_that_does_not_mend_its_answer_is_asked_a_bounded_number_of_times() -> None:
    with upstream(json_answer(chat_completion(FALSE))) as here, client(here.url, attempts=3) as model:
        found = model.chat.completions.create(**{**CHAT, "tools": []})
        assert len(here.asked) <= 4
    assert found.choices[0].finish_reason == "content_filter"


def test_a_refused_call_is_sent_back_with_what_was_wrong() -> None:
    answers = [
        json_answer(chat_completion(None, tool_calls=[INVENTED])),
        json_answer(chat_completion(None, tool_calls=[CALL])),
    ]
    with upstream(*answers) as here, client(here.url, attempts=1) as model:
        found = model.chat.completions.create(**CHAT)
        told = here.asked[1].json()["messages"][-1]
    calls = found.choices[0].message.tool_calls
    assert calls is not None
    assert '"W-1743"' in calls[0].model_dump_json().replace("\\", "")
    assert told["role"] == "tool"
    assert "order_id" in told["content"]


def test_an_upstream_that_fails_when_asked_again_leaves_the_answer_withheld() -> None:
    answers = [json_answer(chat_completion(FALSE)), Answer(b"{}", status=500)]
    with upstream(*answers) as here, client(here.url, attempts=2) as model:
        found = model.chat.completions.create(**{**CHAT, "tools": []})
    assert found.choices[0].finish_reason == "content_filter"


def test_every_outcome_is_told() -> None:
    told: list[Outcome] = []
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url, on_outcome=told.append) as model:
        model.chat.completions.create(**CHAT)
        list(model.models.with_raw_response.list().headers)
    assert [outcome.passed for outcome in told] == [True]


def test_a_raw_response_has_its_outcome() -> None:
    with upstream(json_answer(chat_completion(TRUE))) as here, client(here.url) as model:
        raw = model.chat.completions.with_raw_response.create(**CHAT)
    outcome = outcome_of(raw)
    assert outcome is not None
    assert outcome.passed
    assert raw.headers["x-assay-action"] == "emit"
    assert raw.headers["x-assay-report-id"] == outcome.report_id


def test_results_that_are_not_known_have_no_outcome() -> None:
    assert outcome_of(object()) is None
    assert outcome_of("text") is None


@pytest.mark.parametrize(
    "how", [{"mode": "off"}, {"mode": "loud"}, {"on_withheld": "hide"}, {"fail_on": "emit"}, {"attempts": -1}]
)
def test_a_wrong_option_is_named(how: dict[str, Any]) -> None:
    with plain("http://127.0.0.1:1") as first, pytest.raises(InputError, match=next(iter(how))):
        assay_openai.protect(first, guard(), **how)


def test_what_is_no_client_is_refused() -> None:
    with pytest.raises(InputError, match="openai"):
        assay_openai.protect(object(), guard())
    with pytest.raises(InputError, match="Anthropic"):
        assay_anthropic.protect(object(), guard())


def test_several_answers_are_checked_each() -> None:
    two = chat_completion(TRUE)
    two["choices"].append({**two["choices"][0], "index": 1, "message": {"role": "assistant", "content": FALSE}})
    with upstream(json_answer(two)) as here, client(here.url) as model:
        found = model.chat.completions.create(**CHAT, n=2)
    assert [choice.finish_reason for choice in found.choices] == ["content_filter"] * 2
    outcome = outcome_of(found)
    assert outcome is not None
    assert len(outcome.reports) == 2


def test_an_invented_call_in_a_stream_does_not_come_out() -> None:
    chunks = [
        chat_chunk({"role": "assistant", "content": None, "tool_calls": [{"index": 0, **INVENTED}]}),
        chat_chunk({}, "tool_calls"),
        b"data: [DONE]\n\n",
    ]
    with upstream(stream_answer(chunks)) as here, client(here.url) as model:
        found = list(model.chat.completions.create(**CHAT, stream=True))
    shown = [choice.delta.tool_calls for chunk in found for choice in chunk.choices]
    assert not any(shown)


def test_a_response_with_a_call_passes_field_by_field() -> None:
    with upstream(json_answer(response_value([FUNCTION_CALL]))) as here, client(here.url) as model:
        assert model.responses.create(**RESPONSE).output[0].type == "function_call"


def test_a_client_of_azure_is_protected_too() -> None:
    with upstream(json_answer(chat_completion(FALSE))) as here:
        first = openai.AzureOpenAI(azure_endpoint=here.url, api_key="k", api_version="2024-10-21", max_retries=0)
        with assay_openai.protect(first, guard()) as model:
            assert model.chat.completions.create(**CHAT).choices[0].finish_reason == "content_filter"
            assert here.asked[0].path.startswith("/openai/deployments/model-1/chat/completions")


def test_threads_share_a_client_and_keep_their_calls_apart() -> None:
    def ask(model: openai.OpenAI, number: int) -> bool:
        # Every other thread brings evidence that bears the answer out.
        with given([EVIDENCE if number % 2 else "The office opens at nine."]) as told:
            list(model.chat.completions.create(**ALONE, stream=True))
            return [outcome.passed for outcome in told.outcomes] == [bool(number % 2)]

    with upstream(stream_answer(chat_stream(TRUE))) as here, client(here.url) as model, ThreadPoolExecutor(6) as pool:
        assert all(pool.map(lambda number: ask(model, number), range(24)))


def test_a_stream_that_is_left_wakes_no_connection_that_was_given_back() -> None:
    """Another request may have it by then."""
    woken: list[str] = []
    stream = _HeldStream(SimpleNamespace(close=lambda: woken.append("given back")))
    stream.while_held(lambda: woken.append("held"))
    stream.close()
    stream.while_held(lambda: woken.append("another's"))
    assert woken == ["held", "given back"]


def test_nothing_is_left_behind() -> None:
    with upstream(stream_answer(chat_stream(TRUE))) as here, client(here.url) as model:
        for _ in range(5):
            list(model.chat.completions.create(**CHAT, stream=True))
            next(iter(model.chat.completions.create(**CHAT, stream=True)))
    gc.collect()
    for thread in [one for one in threading.enumerate() if one.name.startswith("assay-stream")]:
        thread.join(60)
        assert not thread.is_alive()
    gc.collect()  # what only those threads held
    assert not [call for call, _ in protected_client._CALLS.values() if call() is not None]


def test_a_connection_is_used_again_after_a_stream() -> None:
    seen = []
    with upstream(stream_answer(chat_stream(TRUE))) as here, client(here.url) as model:
        for _ in range(3):
            stream = model.chat.completions.create(**CHAT, stream=True)
            seen.append(stream.response.extensions["network_stream"].get_extra_info("client_addr"))
            list(stream)
    assert len(set(seen)) == 1


def _text_of(chunk: Any) -> str:
    return "".join(choice.delta.content or "" for choice in chunk.choices)


def _report(result: object) -> Any:
    outcome = outcome_of(result)
    assert outcome is not None
    assert outcome.report is not None
    return outcome.report


# Reasoning

THOUGHT = "Perhaps it is 9 weeks."
THINKING = [{"type": "thinking", "thinking": THOUGHT, "signature": "EqQB"}, {"type": "text", "text": TRUE}]


@pytest.mark.parametrize("reasoning", ["withhold", "pass"])
def test_the_words_of_reasoning_reach_a_program_only_where_it_says_so(reasoning: Any) -> None:
    with upstream() as here:
        here.script(json_answer({**message(TRUE), "content": THINKING}))
        asked: Any = {"model": "m", "max_tokens": 99, "messages": ALONE["messages"]}
        with claude(here.url, evidence=EVIDENCE, reasoning=reasoning) as safe:
            thought, said = safe.messages.create(**asked).content
        assert (thought.thinking, thought.signature, said.text) == (
            THOUGHT if reasoning == "pass" else "",
            "EqQB",
            TRUE,
        )
        opening, *rest = chat_stream(TRUE)
        here.script(stream_answer([opening, chat_chunk({"reasoning_content": THOUGHT}), *rest]))
        words, seen = "", ""
        with client(here.url, evidence=EVIDENCE, reasoning=reasoning) as chat:
            for chunk in chat.chat.completions.create(**ALONE, stream=True):
                for choice in chunk.choices:
                    words += choice.delta.content or ""
                    seen += getattr(choice.delta, "reasoning_content", None) or ""
        assert (words, seen) == (TRUE, THOUGHT if reasoning == "pass" else "")


def test_what_is_no_way_to_treat_reasoning_is_refused() -> None:
    with openai.OpenAI(api_key="k") as model, pytest.raises(InputError, match="reasoning"):
        assay_openai.protect(model, guard(), reasoning="show")  # type: ignore[arg-type]
