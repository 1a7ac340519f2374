"""What did not pass goes back to the upstream: what it is told, what comes of it, and what it costs."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.server.gateway_site import Site, limited, play, site
from tests.server.test_official_clients import CHAT, MESSAGE, RESPONSE, TOOL_USE
from tests.server.upstream_script import Answer, chat_completion, json_answer, message, output_message, response_value

from assay.errors import PolicyError
from assay.server.settings import Mode, Route, ServerSettings, parse_settings
from assay.wire.reviser import sum_usage

PAID = "Leave is paid in full."
FALSE = f"{PAID} Partners are entitled to 4 weeks of leave."
TRUE = f"{PAID} Partners are entitled to 2 weeks of leave."
CALL = {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"order_id": "W-1743"}'}}
INVENTED = {**CALL, "function": {"name": "cancel", "arguments": '{"order_id": "X-99"}'}}
FUNCTION_CALL = {
    "id": "fc_1",
    "type": "function_call",
    "call_id": "c1",
    "name": "cancel",
    "arguments": '{"order_id": "W-1743"}',
    "status": "completed",
}


def said(text: str) -> Answer:
    return json_answer(chat_completion(text))


def revising(mode: Mode = Mode.ENFORCE, **route: Any) -> Callable[[ServerSettings], ServerSettings]:
    one = Route(mode=mode, **{"revise": "block", "attempts": 2, **route})
    return lambda told: replace(told, routes=dict.fromkeys(told.routes, one))


async def asked(here: Site, *answers: Answer, **more: Any) -> tuple[dict[str, str], Any]:
    here.upstream.script(*answers)
    status, headers, body = await here.post("/v1/chat/completions", {**CHAT, **more})
    assert status == 200
    return headers, json.loads(body)


def text_of(value: Any) -> str:
    return str(value["choices"][0]["message"]["content"])


def test_a_false_sentence_goes_back_with_what_was_found_and_the_corrected_answer_goes_out() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            headers, value = await asked(here, said(FALSE), said(TRUE))
            assert headers["x-assay-action"] == "emit"
            assert (text_of(value), value["choices"][0]["finish_reason"]) == (TRUE, "stop")
            first, again = (one.json() for one in here.upstream.asked)
            assert again["messages"][: len(first["messages"])] == first["messages"]
            told = again["messages"][len(first["messages"]) :]
            assert [one["role"] for one in told] == ["assistant", "user"]
            assert told[0]["content"] == FALSE
            assert "4 weeks" in told[1]["content"]
            assert f'"sentence": "{PAID}' not in told[1]["content"]
            cost = value["assay"]["revision"]
            assert (cost["requests"], cost["stopped"], cost["usage"]["total_tokens"]) == (1, "passed", 42)
            assert [attempt["outcome"] for attempt in cost["attempts"]] == ["better"]

    play(scene)


def test_what_had_passed_stays_to_the_character_whatever_the_upstream_makes_of_it() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            changed = "Leave is paid entirely. Partners are entitled to 2 weeks of leave."
            headers, value = await asked(here, said(FALSE), said(changed))
            assert (headers["x-assay-action"], text_of(value)) == ("emit", TRUE)

    play(scene)


def test_an_answer_that_does_not_get_better_is_escalated_and_withheld() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            worse = FALSE.replace("4 weeks", "9 weeks")
            headers, value = await asked(here, said(FALSE), said(worse), said(worse))
            assert headers["x-assay-action"] == "block"
            assert "weeks" not in text_of(value)
            assert value["assay"]["revision"]["stopped"] == "no_improvement"
            assert len(here.upstream.asked) == 2

    play(scene)


def test_the_upstream_is_asked_no_more_often_than_the_route_says() -> None:
    async def scene() -> None:
        for attempts in (0, 1):
            async with site(settings=revising(attempts=attempts)) as here:
                await asked(here, *(said(FALSE.replace("4", str(n))) for n in (4, 5, 6, 7)))
                assert len(here.upstream.asked) == 1 + attempts

    play(scene)


@pytest.mark.parametrize(
    ("setting", "times"), [({"revise": "off"}, 1), ({"revise": "revise"}, 1), ({"revise": "block"}, 2)]
)
def test_a_route_says_which_decisions_send_an_answer_back(setting: dict[str, Any], times: int) -> None:
    async def scene() -> None:
        async with site(settings=revising(**setting)) as here:
            headers, _ = await asked(here, said(FALSE), said(TRUE))
            assert len(here.upstream.asked) == times
            assert headers["x-assay-action"] == ("emit" if times == 2 else "block")

    play(scene)


@pytest.mark.parametrize("mode", [Mode.ANNOTATE, Mode.SHADOW, Mode.OFF])
def test_only_a_route_that_enforces_asks_again(mode: Mode) -> None:
    async def scene() -> None:
        async with site(settings=revising(mode)) as here:
            _, value = await asked(here, said(FALSE), said(TRUE))
            assert (text_of(value), len(here.upstream.asked)) == (FALSE, 1)

    play(scene)


@pytest.mark.parametrize(
    "failing",
    [
        Answer(b'{"error": {"message": "slow down"}}', 429),
        Answer(b"oops", 500),
        Answer(b"no json"),
        json_answer({"choices": []}),
        json_answer(chat_completion(None, tool_calls=[CALL])),
        Answer(chunks=[b'{"choices"', b"x"], breaks_after=1),
    ],
    ids=["429", "500", "no json", "no choices", "a call", "broken off"],
)
def test_an_upstream_that_fails_when_it_is_asked_again_leaves_the_answer_withheld(failing: Answer) -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            headers, value = await asked(here, said(FALSE), failing)
            assert headers["x-assay-action"] in ("block", "escalate")
            assert "weeks" not in text_of(value)
            assert value["assay"]["revision"]["requests"] == 1

    play(scene)


def test_an_upstream_that_is_silent_when_it_is_asked_again_is_waited_for_no_longer_than_the_limit() -> None:
    def told(settings: ServerSettings) -> ServerSettings:
        return limited(revise_s=0.2)(revising()(settings))

    async def scene() -> None:
        async with site(settings=told) as here:
            _, value = await asked(here, said(FALSE), Answer(silent=True))
            assert "weeks" not in text_of(value)
            assert value["assay"]["revision"]["stopped"] == "out_of_time"

    play(scene)


def test_a_refused_call_is_answered_as_a_tool_that_failed_and_the_corrected_call_goes_out() -> None:
    async def scene() -> None:
        async with site(settings=revising(revise="revise")) as here:
            bad = json_answer(chat_completion(None, tool_calls=[INVENTED, {**CALL, "id": "c2"}]))
            good = json_answer(chat_completion(None, tool_calls=[CALL]))
            headers, value = await asked(here, bad, good)
            assert headers["x-assay-action"] == "emit"
            assert value["choices"][0]["message"]["tool_calls"] == [CALL]
            assert value["assay"]["revision"]["requests"] == 1
            told = here.upstream.asked[1].json()["messages"][-3:]
            assert [call["id"] for call in told[0]["tool_calls"]] == ["c1", "c2"]
            assert [(one["role"], one["tool_call_id"]) for one in told[1:]] == [("tool", "c1"), ("tool", "c2")]
            assert "order_id" in told[1]["content"]
            assert "another call" in told[2]["content"]

    play(scene)


def test_a_call_that_stays_wrong_is_withheld_after_the_last_attempt() -> None:
    async def scene() -> None:
        async with site(settings=revising(revise="revise")) as here:
            bad = json_answer(chat_completion(None, tool_calls=[INVENTED]))
            headers, value = await asked(here, bad)
            assert headers["x-assay-action"] == "revise"
            assert "tool_calls" not in value["choices"][0]["message"]
            assert value["assay"]["revision"]["stopped"] == "exhausted"
            assert len(here.upstream.asked) == 3
            assert "Do not call it again" in here.upstream.asked[2].json()["messages"][-1]["content"]

    play(scene)


def test_a_model_that_answers_instead_of_calling_is_checked_like_any_other() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            bad = json_answer(chat_completion(None, tool_calls=[INVENTED]))
            headers, value = await asked(here, bad, said(FALSE), said(TRUE))
            assert (headers["x-assay-action"], text_of(value)) == ("emit", TRUE)
            assert len(here.upstream.asked) == 3
            headers, value = await asked(here, bad, said("I have cancelled order X-99."))
            assert headers["x-assay-action"] != "emit"
            assert "X-99" not in text_of(value)

    play(scene)


def test_an_answer_that_breaks_its_schema_is_asked_for_again() -> None:
    schema = {"type": "object", "properties": {"leave": {"type": "string"}}, "required": ["leave"]}
    wanted = {"type": "json_schema", "json_schema": {"name": "leave", "schema": schema}}
    right = json.dumps({"leave": PAID})

    async def scene() -> None:
        async with site(settings=revising(policies=("creative",))) as here:
            free = {"policy": "creative"}
            headers, value = await asked(here, said(PAID), said(right), response_format=wanted, assay=free)
            assert (headers["x-assay-action"], text_of(value)) == ("emit", right)
            assert "JSON" in here.upstream.asked[1].json()["messages"][-1]["content"]

    play(scene)


def test_several_choices_are_not_revised() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            two = chat_completion(FALSE)
            two["choices"].append({**two["choices"][0], "index": 1})
            headers, value = await asked(here, json_answer(two), said(TRUE))
            assert (headers["x-assay-action"], len(here.upstream.asked)) == ("block", 1)
            assert "revision" not in value["assay"]

    play(scene)


def test_what_belongs_to_one_body_only_is_not_sent_with_another() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            here.upstream.script(said(FALSE), said(TRUE))
            given = {"evidence": ["Order W-1 is open."]}
            headers = {"idempotency_key": "k1", "authorization": "Bearer k"}
            await here.post("/v1/chat/completions?v=1", {**CHAT, "assay": given}, **headers)
            first, again = here.upstream.asked
            assert (first.header("idempotency-key"), again.header("idempotency-key")) == ("k1", None)
            assert (again.header("authorization"), again.path) == ("Bearer k", "/v1/chat/completions?v=1")
            assert "assay" not in again.json()

    play(scene)


def test_a_message_is_revised_and_its_calls_are_answered() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            here.upstream.script(json_answer(message(FALSE)), json_answer(message(TRUE)))
            _, headers, body = await here.post("/v1/messages", MESSAGE)
            assert headers["x-assay-action"] == "emit"
            assert json.loads(body)["content"] == [{"type": "text", "text": TRUE}]
            assert [one["role"] for one in here.upstream.asked[1].json()["messages"]] == ["user", "assistant", "user"]
            bad = {**message(""), "content": [{**TOOL_USE, "input": {"order_id": "X-1"}}], "stop_reason": "tool_use"}
            good = {**bad, "content": [TOOL_USE]}
            here.upstream.script(json_answer(bad), json_answer(good))
            _, headers, body = await here.post("/v1/messages", MESSAGE)
            assert (headers["x-assay-action"], json.loads(body)["content"]) == ("emit", [TOOL_USE])
            result = here.upstream.asked[1].json()["messages"][-1]["content"][0]
            assert (result["tool_use_id"], result["is_error"]) == ("t1", True)

    play(scene)


def test_a_response_is_revised_and_its_calls_are_answered() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            answers = [json_answer(response_value([output_message(text)])) for text in (FALSE, TRUE)]
            here.upstream.script(*answers)
            _, headers, body = await here.post("/v1/responses", RESPONSE)
            value = json.loads(body)
            assert (headers["x-assay-action"], value["status"]) == ("emit", "completed")
            assert value["output"][0]["content"][0]["text"] == TRUE
            assert [one["role"] for one in here.upstream.asked[1].json()["input"]] == ["user", "assistant", "user"]
            bad = response_value([{**FUNCTION_CALL, "arguments": '{"order_id": "X-1"}'}])
            here.upstream.script(json_answer(bad), json_answer(response_value([FUNCTION_CALL])))
            _, headers, body = await here.post("/v1/responses", RESPONSE)
            assert (headers["x-assay-action"], json.loads(body)["output"]) == ("emit", [FUNCTION_CALL])
            assert here.upstream.asked[1].json()["input"][-1]["type"] == "function_call_output"
            here.upstream.script(*answers)
            _, headers, _ = await here.post("/v1/responses", {**RESPONSE, "conversation": "conv_1"})
            assert (headers["x-assay-action"], len(here.upstream.asked)) == ("block", 1)

    play(scene)


def test_a_gateway_file_says_what_is_revised() -> None:
    told = parse_settings(
        {
            "routes": {
                "messages": {"revise": False},
                "responses": {"revise": "block", "attempts": 1},
                "chat_completions": False,
            }
        },
        {},
        ServerSettings(),
    )
    assert told.route("messages").revise == "off"
    assert (told.route("responses").revise, told.route("responses").attempts) == ("block", 1)
    assert told.route("chat_completions").mode is Mode.OFF
    for wrong in ({"revise": "always"}, {"attempts": -1}, {"attempts": True}):
        with pytest.raises(PolicyError):
            parse_settings({"routes": {"messages": wrong}}, {}, ServerSettings())


def test_usage_is_added_up_whatever_stands_in_it() -> None:
    assert sum_usage({"a": 1, "b": "x"}, {"a": 2, "b": 3, "c": {"d": 1.5}, "e": True}) == {
        "a": 3,
        "b": 3,
        "c": {"d": 1.5},
    }
    assert sum_usage({"a": 1}, None) == {"a": 1}


def test_a_client_that_vanishes_while_the_upstream_is_asked_again_cancels_that_call() -> None:
    async def scene() -> None:
        async with site(settings=revising()) as here:
            here.upstream.script(said(FALSE), Answer(silent=True))
            asking = asyncio.create_task(here.post("/v1/chat/completions", CHAT))
            while len(here.upstream.asked) < 2:
                await asyncio.sleep(0.005)
            asking.cancel()
            await here.upstream.gone.wait()
            headers, _ = await asked(here, said(TRUE))
            assert headers["x-assay-action"] == "emit"
            assert here.app._in_flight.total == 0

    play(scene)
