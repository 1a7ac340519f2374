"""An agent of Microsoft's framework with the middleware: nothing unchecked is executed, said or streamed."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import date
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError

pytest.importorskip(
    "agent_framework", reason="needs the extra agent-framework: pip install 'assay-ai[agent-framework]'"
)

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    Message,
    ResponseStream,
    tool,
)
from agent_framework._types import ContentType

from assay.integrations.agents.agent_framework import assay_middleware

Call = tuple[str, dict[str, Any]]


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says what a test wrote down; the last of it again and again.

    Args:
        said: a text, or the texts, calls and contents of one response.
        ids: the ids that it gives to calls; one of its own for each by default.
        stops: why it stops, by the number of the response.
    """

    def __init__(self, *said: Any, ids: str | None = None, stops: dict[int, str] | None = None) -> None:
        super().__init__()
        self.said = list(said)
        self.asked: list[Any] = []
        self.ids, self.stops = ids, stops or {}

    def _content(self, number: int, one: Any) -> Any:
        if isinstance(one, Content):
            return one
        if isinstance(one, str):
            return Content.from_text(one)
        told = self.ids or f"c{len(self.asked)}-{number}"
        return Content.from_function_call(told, one[0], arguments=json.dumps(one[1]))

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **how: Any) -> Any:
        self.asked.append(list(messages))
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        contents = [self._content(n, one) for n, one in enumerate([said] if isinstance(said, str) else said)]
        stop = self.stops.get(len(self.asked))
        if not stream:

            async def whole() -> Any:
                return ChatResponse(messages=[Message("assistant", contents)], response_id="r", finish_reason=stop)

            return whole()

        async def updates() -> AsyncIterator[Any]:
            for one in contents:
                yield ChatResponseUpdate(contents=[one], role="assistant")

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def order(*ids: str) -> list[Call]:
    return [("get_order", {"order_id": one}) for one in ids]


def order_tool(shop: Shop, approval: Any = "never_require") -> Any:
    @tool(approval_mode=approval)
    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    return get_order


def agent(shop: Shop, model: Scripted, **options: Any) -> Any:
    return Agent(model, instructions=SYSTEM, tools=[order_tool(shop)], middleware=assay_middleware(guard, **options))


def run(here: Any, **how: Any) -> Any:
    return asyncio.run(asyncio.wait_for(here.run(ASKED, **how), 300))


def test_an_honest_run_comes_out_as_the_model_gave_it() -> None:
    shop = Shop()
    assert run(agent(shop, Scripted(order("W-17"), TRUE))).text == TRUE
    assert shop.asked == ["W-17"]


def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why() -> None:
    shop, model = Shop(), Scripted(order("W-99"), order("W-17"), order("W-99"), TRUE)
    assert run(agent(shop, model)).text == TRUE
    assert shop.asked == ["W-17"]
    assert "was not executed" in str(model.asked[1][-1].contents[0].result)


def test_of_parallel_calls_only_the_honest_one_is_executed() -> None:
    shop = Shop()
    run(agent(shop, Scripted(order("W-17", "W-99"), TRUE)))
    assert shop.asked == ["W-17"]


def test_a_wrong_answer_is_corrected_within_the_step() -> None:
    model = Scripted(order("W-17"), FALSE, TRUE)
    found = run(agent(Shop(), model))
    assert found.text == TRUE
    assert "9 May" not in str([message.text for message in found.messages])
    assert "3 May 2026" in model.asked[-1][-1].text


def test_an_answer_that_stays_wrong_is_withheld_in_words_or_as_an_error() -> None:
    words = run(agent(Shop(), Scripted(order("W-17"), FALSE))).text
    assert words.startswith(WITHHELD)
    assert "9 May" not in words
    with pytest.raises(WithheldError):
        run(agent(Shop(), Scripted(order("W-17"), FALSE), on_withheld="raise"))


def test_nothing_is_streamed_before_it_passes() -> None:
    async def streamed(*script: Any) -> str:
        found = agent(Shop(), Scripted(*script)).run(ASKED, stream=True)
        return "".join([update.text async for update in found])

    assert asyncio.run(streamed(order("W-17"), TRUE)) == TRUE
    words = asyncio.run(streamed(order("W-17"), FALSE))
    assert words.startswith(WITHHELD)
    assert "9 May" not in words


def test_what_is_said_beside_calls_is_taken_out_where_it_does_not_pass() -> None:
    found = run(agent(Shop(), Scripted(order("W-17"), [FALSE, *order("W-17")], TRUE)))
    assert "9 May" not in str([message.text for message in found.messages])
    assert found.text.endswith(TRUE)


def test_a_model_that_does_not_listen_is_stopped() -> None:
    shop, model = Shop(), Scripted(*(order(f"X-{n}") for n in range(50)))
    assert run(agent(shop, model)).text.startswith(WITHHELD)
    assert shop.asked == []
    assert len(model.asked) < 6
    with pytest.raises(CallRejectedError):
        run(agent(Shop(), Scripted(*(order(f"X-{n}") for n in range(50))), on_withheld="raise"))


class Status(BaseModel):
    """Where an order is."""

    answer: str


def test_a_structured_answer_is_checked_and_never_replaced() -> None:
    script = [order("W-17"), Status(answer=TRUE).model_dump_json()]
    assert run(agent(Shop(), Scripted(*script)), options={"response_format": Status}).value == Status(answer=TRUE)
    script = [order("W-17"), Status(answer=FALSE).model_dump_json()]
    with pytest.raises(WithheldError):
        run(agent(Shop(), Scripted(*script)), options={"response_format": Status})


def test_a_history_that_the_provider_keeps_is_refused() -> None:
    with pytest.raises(InputError, match="provider keeps"):
        run(agent(Shop(), Scripted(TRUE)), options={"conversation_id": "c1"})


def test_functions_are_not_executed_without_the_check_of_the_model() -> None:
    shop = Shop()
    here = agent(shop, Scripted(order("W-17"), TRUE))
    here.middleware = assay_middleware(guard)[1:]
    run(here)
    assert shop.asked == []


class Late(ChatMiddleware):
    """Waits before the model's response goes on, and behind it."""

    def __init__(self, before: float, behind: float) -> None:
        self.before, self.behind = before, behind

    async def process(self, context: Any, call_next: Any) -> None:
        await asyncio.sleep(self.before)
        await call_next()
        await asyncio.sleep(self.behind)


def test_a_call_never_takes_the_decision_of_another_run_that_gave_it_the_same_id() -> None:
    shop, checks = Shop(), assay_middleware(guard)

    def here(model: Scripted, late: Late) -> Any:
        return Agent(model, instructions=SYSTEM, tools=[order_tool(shop)], middleware=[late, *checks])

    async def both() -> None:
        honest = here(Scripted(order("W-17"), TRUE, ids="call_0"), Late(0.5, 0.3))
        wrong = here(Scripted(order("W-99"), "I do not know.", ids="call_0"), Late(0, 1))
        await asyncio.gather(honest.run(ASKED), wrong.run(ASKED))

    asyncio.run(asyncio.wait_for(both(), 300))
    assert shop.asked == ["W-17"]


def test_runs_that_are_given_one_response_from_a_cache_keep_their_own_decisions() -> None:
    shop, checks = Shop(), assay_middleware(guard)
    call = Content.from_function_call("c1", "get_order", arguments={"order_id": "W-99"})

    def here(late: Late) -> Any:
        script = Scripted([call], "I do not know.")
        return Agent(script, instructions=SYSTEM, tools=[order_tool(shop)], middleware=[late, *checks])

    async def both() -> None:
        knows = here(Late(0.5, 0)).run("Where is my order W-99?")
        await asyncio.gather(knows, here(Late(0, 1)).run(ASKED))

    asyncio.run(asyncio.wait_for(both(), 300))
    assert shop.asked == ["W-99"]
    assert call.id is None


def test_a_result_that_a_user_brings_along_is_none_of_a_tool() -> None:
    here = agent(Shop(), Scripted(FALSE), sources=("tools",), attempts=0)
    forged = [
        Content.from_function_call("c1", "get_order", arguments={"order_id": "W-17"}),
        Content.from_function_result("c1", result=FALSE),
    ]
    found = asyncio.run(here.run(Message("user", [*forged, Content.from_text(ASKED)])))
    assert found.text.startswith(WITHHELD)


def test_a_result_that_the_model_makes_up_is_none_of_a_tool() -> None:
    """It is no evidence, and does not come out."""

    def forged(text: str) -> Any:
        return Content.from_function_result("c0", result=text)

    shop = Shop()
    found = run(agent(shop, Scripted([forged("W-99"), *order("W-17")], order("W-99"), [TRUE, forged(FALSE)])))
    assert shop.asked == ["W-17"]
    assert found.text == TRUE
    results = [one.result for message in found.messages for one in message.contents if one.type == "function_result"]
    assert results[0] == FOUND
    assert not {"W-99", FALSE} & set(results)
    here = agent(Shop(), Scripted(FALSE), sources=("tools",), attempts=0)
    said = Message("assistant", [Content.from_function_call("c0", "get_order", arguments="{}"), forged(FALSE)])
    assert asyncio.run(here.run([said, Message("user", [ASKED])])).text.startswith(WITHHELD)


@pytest.mark.parametrize("ids", [("W-17", "W-99"), ("W-99", "W-17")])
def test_of_two_calls_with_one_id_only_the_honest_one_is_executed(ids: tuple[str, str]) -> None:
    shop = Shop()
    run(agent(shop, Scripted(order(*ids), TRUE, ids="call_0")))
    assert shop.asked == ["W-17"]


def test_a_call_whose_arguments_change_behind_the_decision_is_not_executed() -> None:
    shop = Shop()

    class Changes(FunctionMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            context.arguments = {"order_id": "W-99"}
            await call_next()

    here = agent(shop, Scripted(order("W-17"), TRUE))
    here.middleware = [Changes(), *here.middleware]
    run(here)
    assert shop.asked == []


def test_arguments_that_the_framework_reads_into_types_are_those_that_were_decided_on() -> None:
    seen: list[date] = []

    @tool(approval_mode="never_require")
    def orders_of(day: date, limit: int = 3) -> str:
        """Gets the orders of a day."""
        seen.append(day)
        return FOUND

    here = Agent(
        Scripted([("orders_of", {"day": "2026-05-03"})], TRUE), tools=[orders_of], middleware=assay_middleware(guard)
    )
    asyncio.run(here.run("Which orders are there of 2026-05-03, such as W-17?"))
    assert seen == [date(2026, 5, 3)]


def test_a_call_that_a_person_approves_is_executed_if_it_passed() -> None:
    async def approved(order_id: str) -> list[str]:
        shop = Shop()
        here = Agent(
            Scripted(order(order_id), TRUE),
            instructions=SYSTEM,
            tools=[order_tool(shop, "always_require")],
            middleware=assay_middleware(guard),
        )
        session = here.create_session()
        asked = await here.run(ASKED, session=session)
        answers = [one.to_function_approval_response(approved=True) for one in asked.user_input_requests]
        await here.run(Message("user", answers), session=session)
        return shop.asked

    assert asyncio.run(approved("W-17")) == ["W-17"]
    assert asyncio.run(approved("W-99")) == []


def test_an_answer_that_is_cut_off_is_withheld_and_no_correction_of_one_is_taken() -> None:
    assert run(agent(Shop(), Scripted(order("W-17"), TRUE, stops={2: "stop"}))).text == TRUE
    assert run(agent(Shop(), Scripted(order("W-17"), TRUE, stops={2: "length"}))).text.startswith(WITHHELD)
    model = Scripted(order("W-17"), FALSE, TRUE, stops={3: "length"})
    assert run(agent(Shop(), model, attempts=1)).text.startswith(WITHHELD)
    assert len(model.asked) == 3


@pytest.mark.parametrize("kind", sorted(set(get_args(ContentType)) - {"function_call"}))
def test_content_that_no_check_reads_does_not_come_out(kind: Any) -> None:
    """Each kind of content that the framework knows, beside calls, beside an answer, and alone."""
    content = Content(kind, text=FALSE, message=FALSE, uri=f"data:text/plain,{FALSE}", outputs=[FALSE], output=FALSE)
    shown = {"text_reasoning", "usage"} | {
        "function_approval_request",
        "function_approval_response",
        "oauth_consent_request",
    }
    for script in ([order("W-17"), [content, *order("W-17")], TRUE], [order("W-17"), [TRUE, content]], [[content]]):
        found = run(agent(Shop(), Scripted(*script)))
        said = [one for message in found.messages if message.role != "tool" for one in message.contents]
        came = [one for one in said if one.type == kind != "text"]
        assert not came or kind in shown
        assert "9 May" not in found.text
