"""With the OpenAI Agents SDK no rejected call is executed and no answer that fails comes out, streamed or not."""

import asyncio
import contextlib
import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.integrations.client_site import upstream
from tests.integrations.orders import ASKED, FALSE, SYSTEM, TRUE, WITHHELD, Shop, guard
from tests.server.upstream_script import json_answer, output_message, response_events, response_value, stream_answer

from assay.errors import InputError
from assay.schema import Action, HallucinationReport

pytest.importorskip("agents", reason="needs the extra openai-agents: pip install 'assay-ai[openai-agents]'")

from agents import (
    Agent,
    LocalShellTool,
    Model,
    ModelResponse,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailTripwireTriggered,
    Usage,
    UserError,
    function_tool,
    tool_input_guardrail,
)
from agents.exceptions import ModelBehaviorError
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)
from pydantic import BaseModel

from assay.integrations.openai_agents import AssayGuardrails

NUMBERS = itertools.count()
QUIET = RunConfig(tracing_disabled=True)


def item(said: Any) -> list[Any]:
    if not isinstance(said, str):
        return list(said)
    part = ResponseOutputText(type="output_text", text=said, annotations=[])
    return [ResponseOutputMessage(id="m1", type="message", role="assistant", status="completed", content=[part])]


class Scripted(Model):
    """Says what a test wrote down, a word at a time where it is streamed, and keeps what it was asked."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)
        self.asked: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **named: Any) -> ModelResponse:  # noqa: A002 the SDK's own name
        self.asked.append(list(input) if not isinstance(input, str) else [input])
        return ModelResponse(output=item(self.said.pop(0)), usage=Usage(), response_id="r1")

    async def stream_response(self, system_instructions: Any, input: Any, *args: Any, **named: Any) -> Any:  # noqa: A002 the SDK's own name
        output = (await self.get_response(system_instructions, input)).output
        for one in output:
            if one.type == "message":
                for word in one.content[0].text.split(" "):
                    yield ResponseTextDeltaEvent(
                        type="response.output_text.delta",
                        delta=f"{word} ",
                        item_id="m1",
                        output_index=0,
                        content_index=0,
                        logprobs=[],
                        sequence_number=0,
                    )
        whole = Response(
            id="r1",
            created_at=0,
            model="m",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=1)


def calling(*orders: str) -> list[ResponseFunctionToolCall]:
    return [
        ResponseFunctionToolCall(
            type="function_call",
            call_id=f"c{next(NUMBERS)}",
            name="get_order",
            arguments=json.dumps({"order_id": order}),
        )
        for order in orders
    ]


def agent(shop: Shop, chat: Model, output: Any = None, **options: Any) -> Any:
    made: Agent[Any] = Agent(
        name="shop", instructions=SYSTEM, model=chat, tools=[function_tool(shop.get_order)], output_type=output
    )
    return AssayGuardrails(guard, **options).agent(made)


def sync(made: Any) -> Any:
    return Runner.run_sync(made, ASKED, run_config=QUIET).final_output


def awaited(made: Any) -> Any:
    return asyncio.run(Runner.run(made, ASKED, run_config=QUIET)).final_output


def streamed(made: Any) -> Any:
    return asyncio.run(shown(made, []))


async def shown(made: Any, events: list[str]) -> Any:
    result = Runner.run_streamed(made, ASKED, run_config=QUIET)
    async for event in result.stream_events():
        events.append(str(event))  # noqa: PERF401 what was shown before an error counts
    return result.final_output


ways = pytest.mark.parametrize("run", [awaited, streamed])


@ways
def test_an_honest_run_is_what_it_would_be_without_guardrails(run: Any) -> None:
    shop, chat, plain = Shop(), Scripted(calling("W-17"), TRUE), Scripted(calling("W-17"), TRUE)
    assert run(agent(shop, chat)) == TRUE
    run(Agent(name="shop", instructions=SYSTEM, model=plain, tools=[function_tool(Shop().get_order)]))
    assert shop.asked == ["W-17"]
    assert [[one.get("type", one.get("role")) for one in asked if isinstance(one, dict)] for asked in chat.asked] == [
        [one.get("type", one.get("role")) for one in asked if isinstance(one, dict)] for asked in plain.asked
    ]


@ways
def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why(run: Any) -> None:
    shop, chat = Shop(), Scripted(calling("W-99"), calling("W-17"), calling("W-99"), TRUE)
    assert run(agent(shop, chat)) == TRUE
    assert shop.asked == ["W-17"]
    assert "was not executed" in chat.asked[1][-1]["output"]


@ways
def test_of_parallel_calls_only_the_honest_one_is_executed(run: Any) -> None:
    shop = Shop()
    assert run(agent(shop, Scripted(calling("W-17", "W-99"), TRUE))) == TRUE
    assert shop.asked == ["W-17"]


@ways
def test_a_model_that_does_not_listen_is_stopped_with_the_sdks_own_error(run: Any) -> None:
    shop, chat = Shop(), Scripted(*(calling(f"X-{n}") for n in range(50)))
    with pytest.raises(ToolInputGuardrailTripwireTriggered):
        run(agent(shop, chat))
    assert shop.asked == []
    assert len(chat.asked) == 4


@ways
def test_an_answer_that_does_not_pass_trips_the_output_guardrail(run: Any) -> None:
    chat = Scripted(calling("W-17"), *[FALSE] * 9)
    with pytest.raises(OutputGuardrailTripwireTriggered) as caught:
        run(agent(Shop(), chat))
    report = caught.value.guardrail_result.output.output_info
    assert isinstance(report, HallucinationReport)
    assert report.action is not Action.EMIT
    assert len(chat.asked) <= 2 + guard.policy.max_revisions


def cut_off(words: str) -> list[ResponseOutputMessage]:
    part = ResponseOutputText(type="output_text", text=words, annotations=[])
    return [ResponseOutputMessage(id="m1", type="message", role="assistant", status="incomplete", content=[part])]


@ways
@pytest.mark.parametrize("script", [(cut_off(TRUE),), (FALSE, cut_off(TRUE))], ids=["answer", "correction"])
def test_what_is_cut_off_trips_the_output_guardrail(run: Any, script: tuple[Any, ...]) -> None:
    with pytest.raises(OutputGuardrailTripwireTriggered):
        run(agent(Shop(), Scripted(calling("W-17"), *script), attempts=1))


@ways
def test_the_words_of_the_policy_come_out_where_they_are_asked_for(run: Any) -> None:
    assert run(agent(Shop(), Scripted(calling("W-17"), *[FALSE] * 9), on_withheld="answer")).startswith(WITHHELD)


@ways
@pytest.mark.parametrize(("said", "kept"), [(TRUE, True), (FALSE, False)])
def test_what_is_said_beside_calls_goes_on_only_if_it_passes_and_the_calls_go_on(
    run: Any, said: str, kept: bool
) -> None:
    shop, chat = Shop(), Scripted(calling("W-17"), [*item(said), *calling("W-17")], TRUE)
    assert run(agent(shop, chat)) == TRUE
    assert shop.asked == ["W-17", "W-17"]
    assert (said in str(chat.asked[-1])) is kept


def test_no_stream_shows_what_does_not_pass_beside_calls() -> None:
    events: list[str] = []
    chat = Scripted(calling("W-17"), [*item(FALSE), *calling("W-17")], TRUE)
    assert asyncio.run(shown(agent(Shop(), chat), events)) == TRUE
    assert events
    assert all("9 May" not in event for event in events)


@ways
def test_a_corrected_answer_comes_out(run: Any) -> None:
    chat = Scripted(calling("W-17"), f"{TRUE} {FALSE}", TRUE)
    assert run(agent(Shop(), chat)) == TRUE
    assert "did not pass a check" in chat.asked[2][-1]["content"]


def test_no_stream_shows_what_does_not_pass() -> None:
    events: list[str] = []
    with pytest.raises(OutputGuardrailTripwireTriggered):
        asyncio.run(shown(agent(Shop(), Scripted(calling("W-17"), *[FALSE] * 9)), events))
    assert all("9 May" not in event for event in events)
    events.clear()
    said = asyncio.run(shown(agent(Shop(), Scripted(calling("W-17"), *[FALSE] * 9), on_withheld="answer"), events))
    assert said.startswith(WITHHELD)
    assert all("9 May" not in event for event in events)


def test_a_session_keeps_a_conversation_going() -> None:
    async def run() -> list[Any]:
        shop, session = Shop(), SQLiteSession("s1")
        made = agent(shop, Scripted(calling("W-99"), calling("W-17"), TRUE, calling("W-17"), TRUE))
        said = [
            (await Runner.run(made, text, session=session, run_config=QUIET)).final_output
            for text in (ASKED, "And now?")
        ]
        session.close()
        return [*said, shop.asked]

    assert asyncio.run(run()) == [TRUE, TRUE, ["W-17", "W-17"]]


class Place(BaseModel):
    """Where an order is."""

    summary: str


@ways
def test_a_structured_answer_is_checked_and_never_replaced_by_words(run: Any) -> None:
    good, bad = (json.dumps({"summary": said}) for said in (TRUE, FALSE))
    assert run(agent(Shop(), Scripted(calling("W-17"), good), Place)) == Place(summary=TRUE)
    with pytest.raises(OutputGuardrailTripwireTriggered):
        run(agent(Shop(), Scripted(calling("W-17"), bad), Place, on_withheld="answer"))


def test_the_agents_that_are_handed_over_to_are_held_to_the_same() -> None:
    shop = Shop()
    second: Agent[Any] = Agent(
        name="second", model=Scripted(calling("W-99"), *[TRUE] * 9), tools=[function_tool(shop.get_order)]
    )
    handing = [ResponseFunctionToolCall(type="function_call", call_id="h1", name="transfer_to_second", arguments="{}")]
    first: Agent[Any] = Agent(name="first", model=Scripted(handing), handoffs=[second])
    second.handoffs.append(first)
    with pytest.raises(OutputGuardrailTripwireTriggered):
        awaited(AssayGuardrails(guard).agent(first))
    assert shop.asked == []


def test_an_answer_that_went_around_the_check_is_stopped() -> None:
    made = agent(Shop(), Scripted(TRUE))
    around = RunConfig(tracing_disabled=True, model=Scripted(calling("W-17"), TRUE))
    with pytest.raises(OutputGuardrailTripwireTriggered) as caught:
        asyncio.run(Runner.run(made, ASKED, run_config=around))
    assert caught.value.guardrail_result.output.output_info == "not checked"


@ways
def test_the_real_client_over_http_is_held_to_the_same(run: Any) -> None:
    call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "get_order", "status": "completed"}
    turns = [
        [{**call, "arguments": json.dumps({"order_id": "W-99"})}],
        [{**call, "call_id": "c2", "arguments": json.dumps({"order_id": "W-17"})}],
        [output_message(TRUE)],
    ]
    whole = [json_answer(response_value(items)) for items in turns]
    parts = [stream_answer(response_events(items)) for items in turns]

    async def asked(address: str, shop: Shop) -> Any:
        async with AsyncOpenAI(base_url=f"{address}/v1", api_key="k", max_retries=0) as client:
            made = agent(shop, OpenAIResponsesModel("m", client))
            if run is streamed:
                return await shown(made, [])
            return (await Runner.run(made, ASKED, run_config=QUIET)).final_output

    shop = Shop()
    with upstream(*(parts if run is streamed else whole)) as here:
        assert asyncio.run(asked(here.url, shop)) == TRUE
        assert shop.asked == ["W-17"]
        assert "was not executed" in here.asked[1].json()["input"][-1]["output"]


def test_runs_beside_each_other_do_not_mix() -> None:
    async def talk(made: Any, order: str) -> Any:
        return (await Runner.run(made, f"Where is my order {order}?", run_config=QUIET)).final_output

    async def all_of_them() -> list[Any]:
        guardrails, talks = AssayGuardrails(guard, on_withheld="answer"), []
        for number in range(12):
            # Every other user names an order that is another one's: its call is an invention.
            chat = Scripted(calling("W-17"), TRUE) if number % 2 else Scripted(calling("W-17"), *[TRUE] * 9)
            made: Agent[Any] = Agent(name="shop", model=chat, tools=[function_tool(Shop().get_order)])
            talks.append(talk(guardrails.agent(made), "W-17" if number % 2 else "W-18"))
        return await asyncio.gather(*talks)

    said = asyncio.run(all_of_them())
    assert said[1::2] == [TRUE] * 6
    assert all(text.startswith("This answer ") for text in said[::2])  # withheld, or held for a person


def with_id(call_id: str, *orders: str) -> list[ResponseFunctionToolCall]:
    return [call.model_copy(update={"call_id": call_id}) for call in calling(*orders)]


class Beside:
    """Two runs of one set of guardrails: the second is asked when the first one's call is about to be executed."""

    def __init__(self, **options: Any) -> None:
        self.guardrails = AssayGuardrails(guard, **options)
        self.shops = Shop(), Shop()
        self.reached, self.executed = asyncio.Event(), asyncio.Event()

    async def first(self, chat: Model, asked: str) -> Any:
        @tool_input_guardrail
        async def late(data: Any) -> ToolGuardrailFunctionOutput:
            self.reached.set()
            await self.executed.wait()
            return ToolGuardrailFunctionOutput.allow()

        shown = replace(function_tool(self.shops[0].get_order), tool_input_guardrails=[late])
        return await self._run(chat, asked, shown)

    async def second(self, chat: Model, asked: str) -> Any:
        await self.reached.wait()
        try:
            return await self._run(chat, asked, function_tool(self.shops[1].get_order))
        finally:
            self.executed.set()

    async def _run(self, chat: Model, asked: str, tool: Any) -> Any:
        made: Agent[Any] = Agent(name="shop", instructions=SYSTEM, model=chat, tools=[tool])
        return await Runner.run(self.guardrails.agent(made), asked, run_config=QUIET)


@pytest.mark.parametrize("other", ["W-17", "W-99"])
def test_a_call_never_takes_the_decision_of_another_run_that_gave_it_the_same_id(other: str) -> None:
    """Whether the arguments are other ones, or the same that only the other run has a source of."""

    async def both() -> Beside:
        made = Beside(on_withheld="answer")
        refused = Scripted(with_id("call_0", "W-99"), *[TRUE] * 9)
        await asyncio.gather(
            made.first(refused, ASKED),
            made.second(Scripted(with_id("call_0", other), *[TRUE] * 9), f"Where is my order {other}?"),
        )
        return made

    assert [shop.asked for shop in asyncio.run(both()).shops] == [[], [other]]


def test_runs_that_are_given_one_response_from_a_cache_keep_their_own_decisions() -> None:
    call = with_id("call_0", "W-99")

    async def both() -> Beside:
        made = Beside(on_withheld="answer")
        await asyncio.gather(
            made.first(Scripted(call, *[TRUE] * 9), ASKED),
            made.second(Scripted(call, *[TRUE] * 9), "Where is my order W-99?"),
        )
        return made

    assert [shop.asked for shop in asyncio.run(both()).shops] == [[], ["W-99"]]


@pytest.mark.parametrize("ids", [("W-17", "W-99"), ("W-99", "W-17")])
def test_of_two_calls_with_one_id_no_invented_one_is_executed(ids: tuple[str, str]) -> None:
    shop = Shop()
    with contextlib.suppress(ModelBehaviorError):  # the SDK may refuse them itself
        awaited(agent(shop, Scripted(with_id("call_0", *ids), TRUE)))
    assert "W-99" not in shop.asked


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("order", "executed"), [("W-17", ["W-17"]), ("W-99", [])])
def test_a_call_that_a_person_approves_is_executed_if_it_passed(stored: bool, order: str, executed: list[str]) -> None:
    async def approved() -> list[str]:
        shop, session = Shop(), SQLiteSession("s1")
        tool = function_tool(shop.get_order, needs_approval=True)
        chat = Scripted("Hello.", with_id("call_0", order), TRUE)
        made: Agent[Any] = Agent(name="shop", instructions=SYSTEM, model=chat, tools=[tool])
        checked = AssayGuardrails(guard, on_withheld="answer", attempts=0).agent(made)
        await Runner.run(checked, "Hello.", session=session, run_config=QUIET)
        state = (await Runner.run(checked, ASKED, session=session, run_config=QUIET)).to_state()
        if stored:
            state = await RunState.from_json(checked, json.loads(json.dumps(state.to_json())))
        for asked in state.get_interruptions():
            state.approve(asked)
        await Runner.run(checked, state, session=session, run_config=QUIET)
        session.close()
        return shop.asked

    assert asyncio.run(approved()) == executed


def test_what_cannot_be_stopped_or_traced_is_refused() -> None:
    shell: Agent[Any] = Agent(name="shell", model=Scripted(), tools=[LocalShellTool(executor=lambda request: "")])
    with pytest.raises(InputError, match="LocalShellTool"):
        AssayGuardrails(guard).agent(shell)
    with pytest.raises(UserError, match="server-managed"):  # the SDK's own refusal, which the guardrail brings about
        asyncio.run(Runner.run(agent(Shop(), Scripted(TRUE)), ASKED, previous_response_id="r0", run_config=QUIET))
