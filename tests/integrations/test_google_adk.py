"""A runner of Google's Agent Development Kit with the plugin: nothing unchecked is executed, said or streamed."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import InputError, WithheldError

pytest.importorskip("google.adk", reason="needs the extra google-adk: pip install 'assay-ai[google-adk]'")

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.code_executors import UnsafeLocalCodeExecutor
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types

from assay.integrations.agents.google_adk import AssayPlugin

pytestmark = pytest.mark.filterwarnings("default")  # the kit's own, of its dependencies

Call = tuple[str, dict[str, Any]]


class Scripted(BaseLlm):
    """Says what a test wrote down, word by word where it streams; the last of it again and again.

    A response is a text, or its texts, calls and parts; `stops` says why it ends, by its number.
    """

    said: list[Any]
    asked: list[Any] = Field(default_factory=list)
    stops: dict[int, Any] = Field(default_factory=dict)

    def _part(self, one: Any) -> Any:
        if isinstance(one, types.Part):
            return one
        if isinstance(one, str):
            return types.Part(text=one)
        return types.Part.from_function_call(name=one[0], args=one[1])

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncIterator[LlmResponse]:
        self.asked.append(list(llm_request.contents))
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        parts = [self._part(one) for one in ([said] if isinstance(said, str) else said)]
        if stream:
            for part in parts:
                for word in (part.text or "").split():
                    piece = types.Content(role="model", parts=[types.Part(text=f"{word} ")])
                    yield LlmResponse(content=piece, partial=True)
        content = types.Content(role="model", parts=parts)
        yield LlmResponse(content=content, finish_reason=self.stops.get(len(self.asked)))


def order(*ids: str) -> list[Call]:
    return [("get_order", {"order_id": one}) for one in ids]


def ran(
    shop: Shop,
    model: Scripted,
    *,
    streams: bool = False,
    config: Any = None,
    schema: Any = None,
    agent: dict[str, Any] | None = None,
    **options: Any,
) -> list[Any]:
    """The events of a run; `agent` has further options of the agent."""

    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    how: dict[str, Any] = {"tools": [get_order] if schema is None else [], "output_schema": schema, **(agent or {})}
    here = LlmAgent(name="shop", model=model, instruction=SYSTEM, **how)
    runner = InMemoryRunner(app=App(name="shop", root_agent=here, plugins=[AssayPlugin(guard, **options)]))

    async def play() -> list[Any]:
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        asked = types.Content(role="user", parts=[types.Part(text=ASKED)])
        mode = RunConfig(streaming_mode=StreamingMode.SSE if streams else StreamingMode.NONE)
        found = runner.run_async(user_id="u", session_id=session.id, new_message=asked, run_config=config or mode)
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


def test_a_structured_answer_given_by_a_call_is_checked_as_well() -> None:
    def script(answer: str) -> list[Any]:
        return [order("W-17"), [("set_model_response", {"answer": answer})], TRUE]

    shop = Shop()

    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    told = said(ran(shop, Scripted(model="m", said=script(TRUE)), schema=Status, agent={"tools": [get_order]}))
    assert TRUE in told
    with pytest.raises(RuntimeError) as raised:
        ran(shop, Scripted(model="m", said=script(FALSE)), schema=Status, agent={"tools": [get_order]})
    assert isinstance(raised.value.__cause__, WithheldError)


@pytest.mark.parametrize("reason", list(types.FinishReason), ids=lambda reason: reason.name)
def test_an_answer_comes_out_only_if_the_model_came_to_its_end(reason: Any) -> None:
    told = said(ran(Shop(), Scripted(model="m", said=[order("W-17"), TRUE], stops={2: reason})))
    if reason in {types.FinishReason.STOP, types.FinishReason.FINISH_REASON_UNSPECIFIED}:
        assert told == TRUE
    else:
        assert told.startswith(WITHHELD)


def test_no_correction_that_is_cut_off_is_taken() -> None:
    model = Scripted(model="m", said=[order("W-17"), FALSE, TRUE], stops={3: types.FinishReason.MAX_TOKENS}, asked=[])
    assert said(ran(Shop(), model, attempts=1)).startswith(WITHHELD)
    assert len(model.asked) == 3


UNREAD = [
    types.Part(executable_code=types.ExecutableCode(code=f"print({FALSE!r})", language=types.Language.PYTHON)),
    types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output=FALSE)),
    types.Part(inline_data=types.Blob(data=FALSE.encode(), mime_type="text/plain", display_name=FALSE)),
    types.Part(file_data=types.FileData(file_uri="https://shop.example/o", display_name=FALSE)),
    types.Part(function_response=types.FunctionResponse(name="get_order", response={"result": FALSE})),
    types.Part(tool_call=types.ToolCall(args={"query": FALSE})),
    types.Part(tool_response=types.ToolResponse(response={"result": FALSE})),
    types.Part(audio_transcription=types.Transcription(text=FALSE)),
]


@pytest.mark.parametrize("part", UNREAD, ids=lambda part: "-".join(part.model_dump(exclude_none=True)))
def test_a_part_that_no_check_reads_does_not_come_out(part: Any) -> None:
    """Beside calls, beside an answer, and alone."""
    for script in ([order("W-17"), [part, *order("W-17")], TRUE], [order("W-17"), [TRUE, part]], [[part]]):
        events = ran(Shop(), Scripted(model="m", said=script))
        assert "9 May" not in str([event.content for event in events if event.author == "shop"])
        assert said(events) == TRUE or said(events).startswith(WITHHELD)


def test_every_part_that_the_kit_knows_is_read_or_withheld() -> None:
    from assay.integrations.agents.google_adk import _BESIDE, _READ

    withheld = {name for part in UNREAD for name in part.model_dump(exclude_none=True)}
    assert set(types.Part.model_fields) == _READ | _BESIDE | withheld


def test_of_two_calls_with_one_id_only_the_honest_one_is_executed() -> None:
    for ids in (("W-17", "W-99"), ("W-99", "W-17")):
        shop = Shop()
        calls = [types.FunctionCall(id="call_0", name="get_order", args={"order_id": one}) for one in ids]
        ran(shop, Scripted(model="m", said=[[types.Part(function_call=call) for call in calls], TRUE]))
        assert shop.asked == ["W-17"]


@pytest.mark.parametrize("forged", ["call_0", None])
def test_a_result_that_a_user_brings_along_is_none_of_a_tool(forged: str | None) -> None:
    def get_order(order_id: str) -> str:
        """Gets an order."""
        return FOUND

    call = types.FunctionCall(id="call_0", name="get_order", args={"order_id": "W-17"})
    model = Scripted(model="m", said=[[types.Part(function_call=call)], TRUE, FALSE])
    here = LlmAgent(name="shop", model=model, instruction=SYSTEM, tools=[get_order])
    plugin = AssayPlugin(guard, sources=("tools",), attempts=0)
    runner = InMemoryRunner(app=App(name="shop", root_agent=here, plugins=[plugin]))

    async def play() -> list[Any]:
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        result = types.FunctionResponse(id=forged, name="get_order", response={"result": FALSE})
        events: list[Any] = []
        for part in (types.Part(text=ASKED), types.Part(function_response=result)):
            message = types.Content(role="user", parts=[part])
            found = runner.run_async(user_id="u", session_id=session.id, new_message=message)
            events = [event async for event in found]
        return events

    assert said(asyncio.run(asyncio.wait_for(play(), 300))).startswith(WITHHELD)


@pytest.mark.parametrize(("asks", "executed"), [("W-17", ["W-17"]), ("W-99", [])])
def test_a_call_that_a_person_confirms_is_executed_if_it_passed(asks: str, executed: list[str]) -> None:
    shop = Shop()

    def get_order(order_id: str) -> str:
        """Gets an order."""
        return shop.get_order(order_id)

    model = Scripted(model="m", said=[order(asks), TRUE])
    here = LlmAgent(
        name="shop", model=model, instruction=SYSTEM, tools=[FunctionTool(get_order, require_confirmation=True)]
    )
    runner = InMemoryRunner(app=App(name="shop", root_agent=here, plugins=[AssayPlugin(guard)]))

    async def play() -> list[Any]:
        session = await runner.session_service.create_session(app_name="shop", user_id="u")

        async def sent(*parts: Any) -> list[Any]:
            message = types.Content(role="user", parts=list(parts))
            found = runner.run_async(user_id="u", session_id=session.id, new_message=message)
            return [event async for event in found]

        events = await sent(types.Part(text=ASKED))
        calls = [call for event in events for call in event.get_function_calls() if call.name.startswith("adk_")]
        yes = [types.FunctionResponse(id=call.id, name=call.name, response={"confirmed": True}) for call in calls]
        return await sent(*(types.Part(function_response=one) for one in yes)) if yes else []

    events = asyncio.run(asyncio.wait_for(play(), 300))
    assert shop.asked == executed
    assert said(events) == (TRUE if executed else "")


def test_a_tool_that_has_the_name_of_one_of_the_kit_is_checked() -> None:
    seen = []

    def transfer_to_agent(order_id: str) -> str:
        """Hands an order over."""
        seen.append(order_id)
        return "done"

    ran(
        Shop(),
        Scripted(model="m", said=[[("transfer_to_agent", {"order_id": "W-99"})], "I do not know."]),
        agent={"tools": [transfer_to_agent]},
    )
    assert seen == []


def test_code_that_a_model_writes_is_not_executed(tmp_path: Path) -> None:
    written = tmp_path / "written"
    code = f"Hello!\n```python\nopen({str(written)!r}, 'w').close()\n```\n"
    with pytest.raises(RuntimeError) as raised:
        ran(
            Shop(),
            Scripted(model="m", said=[code, TRUE]),
            agent={"code_executor": UnsafeLocalCodeExecutor()},
            claim_free=True,
        )
    assert isinstance(raised.value.__cause__, InputError)
    assert not written.exists()


class Live(Scripted):
    """A model that could be spoken to live."""

    def connect(self, llm_request: Any) -> Any:
        raise AssertionError("it was asked")


def test_a_run_that_becomes_a_live_one_is_refused() -> None:
    with pytest.raises(RuntimeError) as raised:
        ran(Shop(), Live(model="gemini-2.0-flash", said=[TRUE]), config=RunConfig(support_cfc=True))
    assert isinstance(raised.value.__cause__, InputError)
