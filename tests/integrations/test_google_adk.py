"""A runner of Google's Agent Development Kit with the plugin: nothing unchecked is executed, said or streamed."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import BaseModel, Field
from tests.integrations.orders import ASKED, FALSE, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import WithheldError

pytest.importorskip("google.adk", reason="needs the extra google-adk: pip install 'assay-ai[google-adk]'")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from assay.integrations.agents.google_adk import AssayPlugin

pytestmark = pytest.mark.filterwarnings("default")  # the kit's own, of its dependencies

Call = tuple[str, dict[str, Any]]


class Scripted(BaseLlm):
    """Says what a test wrote down, word by word where it streams; the last of it again and again."""

    said: list[Any]
    asked: list[Any] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:
        self.asked.append(list(llm_request.contents))
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        parts = [
            types.Part(text=one) if isinstance(one, str) else types.Part.from_function_call(name=one[0], args=one[1])
            for one in ([said] if isinstance(said, str) else said)
        ]
        if stream:
            for part in parts:
                for word in (part.text or "").split():
                    piece = types.Content(role="model", parts=[types.Part(text=f"{word} ")])
                    yield LlmResponse(content=piece, partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def order(*ids: str) -> list[Call]:
    return [("get_order", {"order_id": one}) for one in ids]


def ran(shop: Shop, model: Scripted, *, streams: bool = False, schema: Any = None, **options: Any) -> list[Any]:
    """The events of a run."""

    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    agent = LlmAgent(name="shop", model=model, instruction=SYSTEM, tools=[get_order], output_schema=schema)
    if schema is not None:
        agent = LlmAgent(name="shop", model=model, instruction=SYSTEM, output_schema=schema)
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=[AssayPlugin(guard, **options)]))

    async def play() -> list[Any]:
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        asked = types.Content(role="user", parts=[types.Part(text=ASKED)])
        mode = RunConfig(streaming_mode=StreamingMode.SSE if streams else StreamingMode.NONE)
        found = runner.run_async(user_id="u", session_id=session.id, new_message=asked, run_config=mode)
        return [event async for event in found]

    return asyncio.run(asyncio.wait_for(play(), 300))


def said(events: list[Any]) -> str:
    """All that a reader of the events gets to see of the model's words."""
    contents = [event.content for event in events if event.content is not None]
    return "".join(part.text or "" for content in contents for part in content.parts or ())


def test_an_honest_run_comes_out_as_the_model_gave_it() -> None:
    shop = Shop()
    assert said(ran(shop, Scripted(model="m", said=[order("W-17"), TRUE]))) == TRUE
    assert shop.asked == ["W-17"]


def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why() -> None:
    shop, model = Shop(), Scripted(model="m", said=[order("W-99"), order("W-17"), order("W-99"), TRUE], asked=[])
    assert said(ran(shop, model)) == TRUE
    assert shop.asked == ["W-17"]
    assert "was not executed" in str(model.asked[1][-1].parts[0].function_response.response)


def test_of_parallel_calls_only_the_honest_one_is_executed() -> None:
    shop = Shop()
    ran(shop, Scripted(model="m", said=[order("W-17", "W-99"), TRUE]))
    assert shop.asked == ["W-17"]


def test_a_wrong_answer_is_corrected_before_it_is_an_event() -> None:
    model = Scripted(model="m", said=[order("W-17"), FALSE, TRUE], asked=[])
    assert said(ran(Shop(), model)) == TRUE
    assert "3 May 2026" in model.asked[-1][-1].parts[0].text


def test_an_answer_that_stays_wrong_is_withheld_in_words_or_as_an_error() -> None:
    words = said(ran(Shop(), Scripted(model="m", said=[order("W-17"), FALSE])))
    assert words.startswith(WITHHELD)
    assert "9 May" not in words
    with pytest.raises(RuntimeError) as raised:
        ran(Shop(), Scripted(model="m", said=[order("W-17"), FALSE]), on_withheld="raise")
    assert isinstance(raised.value.__cause__, WithheldError)


def test_nothing_is_streamed_before_it_passes() -> None:
    assert said(ran(Shop(), Scripted(model="m", said=[order("W-17"), TRUE]), streams=True)) == TRUE
    words = said(ran(Shop(), Scripted(model="m", said=[order("W-17"), FALSE]), streams=True))
    assert words.startswith(WITHHELD)
    assert "9 May" not in words


def test_what_is_said_beside_calls_is_taken_out_where_it_does_not_pass() -> None:
    script = [order("W-17"), [FALSE, *order("W-17")], TRUE]
    assert said(ran(Shop(), Scripted(model="m", said=script))) == TRUE


def test_a_model_that_does_not_listen_is_stopped() -> None:
    shop, model = Shop(), Scripted(model="m", said=[order(f"X-{n}") for n in range(50)], asked=[])
    assert said(ran(shop, model)).startswith(WITHHELD)
    assert shop.asked == []
    assert len(model.asked) < 6


class Status(BaseModel):
    """Where an order is."""

    answer: str


def test_a_structured_answer_is_checked_and_never_replaced() -> None:
    told = Status(answer="Hello!").model_dump_json()
    assert said(ran(Shop(), Scripted(model="m", said=[told]), schema=Status, claim_free=True)) == told
    wrong = Status(answer=FALSE).model_dump_json()
    with pytest.raises(RuntimeError) as raised:
        ran(Shop(), Scripted(model="m", said=[wrong]), schema=Status)
    assert isinstance(raised.value.__cause__, WithheldError)
