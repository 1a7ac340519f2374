"""An agent of Microsoft's framework with the middleware: nothing unchecked is executed, said or streamed."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel
from tests.integrations.orders import ASKED, FALSE, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError

pytest.importorskip(
    "agent_framework", reason="needs the extra agent-framework: pip install 'assay-ai[agent-framework]'"
)

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

from assay.integrations.agents.agent_framework import assay_middleware

Call = tuple[str, dict[str, Any]]


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """Says what a test wrote down; the last of it again and again."""

    def __init__(self, *said: Any) -> None:
        super().__init__()
        self.said = list(said)
        self.asked: list[Any] = []

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **how: Any) -> Any:
        self.asked.append(list(messages))
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        contents = [
            Content.from_text(one)
            if isinstance(one, str)
            else Content.from_function_call(f"c{len(self.asked)}-{n}", one[0], arguments=json.dumps(one[1]))
            for n, one in enumerate([said] if isinstance(said, str) else said)
        ]
        if not stream:

            async def whole() -> Any:
                return ChatResponse(messages=[Message("assistant", contents)], response_id="r")

            return whole()

        async def updates() -> AsyncIterator[Any]:
            for one in contents:
                yield ChatResponseUpdate(contents=[one], role="assistant")

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def order(*ids: str) -> list[Call]:
    return [("get_order", {"order_id": one}) for one in ids]


def agent(shop: Shop, model: Scripted, **options: Any) -> Any:
    @tool(approval_mode="never_require")
    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    return Agent(model, instructions=SYSTEM, tools=[get_order], middleware=assay_middleware(guard, **options))


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
