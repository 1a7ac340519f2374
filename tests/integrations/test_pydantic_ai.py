"""In a PydanticAI agent no rejected call is executed and no output that does not pass comes out, streamed or not."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import pytest
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.schema import Action, HallucinationReport

pytest.importorskip("pydantic_ai", reason="needs the extra pydantic-ai: pip install 'assay-ai[pydantic-ai]'")

from pydantic import BaseModel, Field
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    Tool,
    ToolApproved,
    UnexpectedModelBehavior,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset

from assay.integrations.pydantic_ai import AssayCapability, CheckedToolset, checked_output


@pytest.fixture(autouse=True)
def _loop() -> Iterator[None]:
    """`run_sync` runs on the thread's loop and leaves it open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    asyncio.set_event_loop(None)


class Script:
    """A model that says what a test wrote down, and keeps what it was asked."""

    def __init__(self, *said: Any) -> None:
        self.said = list(said)
        self.asked: list[list[ModelMessage]] = []

    def __call__(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.asked.append(list(messages))
        said = self.said.pop(0)
        if isinstance(said, ModelResponse):
            return said
        return ModelResponse(parts=[TextPart(said)] if isinstance(said, str) else said)

    async def stream(self, messages: list[ModelMessage], info: AgentInfo) -> Any:
        raise AssertionError("what is held back is not streamed")
        yield ""


def calling(*orders: str, name: str = "get_order") -> list[ToolCallPart]:
    return [ToolCallPart(name, {"order_id": order}) for order in orders]


def agent(shop: Shop, script: Script, retries: int = 3, output: Any = str, **options: Any) -> Agent[None, Any]:
    return Agent(
        FunctionModel(script, stream_function=script.stream),
        output_type=output,
        instructions=SYSTEM,
        retries=retries,
        tools=[shop.get_order],
        capabilities=[AssayCapability(guard, **options)],
    )


def sync(made: Agent[None, Any]) -> Any:
    return made.run_sync(ASKED).output


def awaited(made: Agent[None, Any]) -> Any:
    async def run() -> Any:
        return (await made.run(ASKED)).output

    return asyncio.run(run())


ways = pytest.mark.parametrize("run", [sync, awaited])
Run = Callable[[Agent[None, Any]], Any]


def kinds(messages: list[ModelMessage]) -> list[list[str]]:
    return [[part.part_kind for part in message.parts] for message in messages]


@ways
def test_an_honest_run_is_what_it_would_be_without_the_capability(run: Run) -> None:
    shop, script, plain = Shop(), Script(calling("W-17"), TRUE), Script(calling("W-17"), TRUE)
    assert run(agent(shop, script)) == TRUE
    run(Agent(FunctionModel(plain), instructions=SYSTEM, tools=[Shop().get_order]))
    assert shop.asked == ["W-17"]
    assert [kinds(asked) for asked in script.asked] == [kinds(asked) for asked in plain.asked]


@ways
def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why(run: Run) -> None:
    shop, script = Shop(), Script(calling("W-99"), calling("W-17"), calling("W-99"), TRUE)
    assert run(agent(shop, script)) == TRUE
    assert shop.asked == ["W-17"]
    told = script.asked[1][-1]
    assert isinstance(told, ModelRequest)
    assert "was not executed" in str(told.parts[0].content)


@ways
def test_of_parallel_calls_only_the_honest_one_is_executed(run: Run) -> None:
    shop = Shop()
    assert run(agent(shop, Script(calling("W-17", "W-99"), TRUE))) == TRUE
    assert shop.asked == ["W-17"]


def test_an_id_that_the_instructions_name_is_no_invention() -> None:
    shop = Shop()
    made = agent(shop, Script(calling("W-99"), TRUE))
    made.run_sync(ASKED, instructions="The order on display is W-99.")
    assert shop.asked == ["W-99"]


@ways
def test_a_model_that_does_not_listen_is_stopped_by_the_tools_own_retries(run: Run) -> None:
    shop, script = Shop(), Script(*(calling(f"X-{n}") for n in range(50)))
    with pytest.raises((CallRejectedError, UnexpectedModelBehavior)):
        run(agent(shop, script, retries=1))
    assert shop.asked == []
    assert len(script.asked) == 2


@ways
def test_an_output_that_does_not_pass_does_not_come_out(run: Run) -> None:
    script = Script(calling("W-17"), *[FALSE] * 9)
    with pytest.raises(WithheldError) as caught:
        run(agent(Shop(), script))
    assert isinstance(caught.value.report, HallucinationReport)
    assert len(script.asked) <= 2 + guard.policy.max_revisions


def cut_off(words: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(words)], finish_reason="length")


@ways
@pytest.mark.parametrize("script", [(cut_off(TRUE),), (FALSE, cut_off(TRUE))], ids=["answer", "correction"])
def test_what_is_cut_off_is_withheld(run: Run, script: tuple[Any, ...]) -> None:
    with pytest.raises(WithheldError):
        run(agent(Shop(), Script(calling("W-17"), *script)))


def test_no_stream_shows_an_answer_that_is_cut_off() -> None:
    async def streamed(made: Agent[None, Any]) -> str:
        async with made.run_stream(ASKED) as shown:
            return str(await shown.get_output())

    with pytest.raises(WithheldError):
        asyncio.run(streamed(agent(Shop(), Script(calling("W-17"), cut_off(TRUE)), retries=0)))


@ways
@pytest.mark.parametrize(("said", "kept"), [(TRUE, True), (FALSE, False)])
def test_what_is_said_beside_calls_stays_only_if_it_passes_and_the_calls_go_on(run: Run, said: str, kept: bool) -> None:
    shop, script = Shop(), Script(calling("W-17"), [TextPart(said), *calling("W-17")], TRUE)
    assert run(agent(shop, script)) == TRUE
    assert shop.asked == ["W-17", "W-17"]
    assert (said in str(script.asked[-1])) is kept


def test_the_words_of_the_policy_come_out_where_they_are_asked_for() -> None:
    script = Script(calling("W-17"), *[FALSE] * 9)
    assert sync(agent(Shop(), script, on_withheld="answer")).startswith(WITHHELD)


@ways
def test_a_corrected_output_comes_out_after_the_frameworks_own_retry(run: Run) -> None:
    reports: list[HallucinationReport] = []
    script = Script(calling("W-17"), FALSE, TRUE)
    assert run(agent(Shop(), script, on_report=reports.append)) == TRUE
    assert "did not pass a check" in str(script.asked[2][-1].parts[0].content)
    assert [report.action for report in reports] == [Action.BLOCK, Action.EMIT]
    assert reports[-1].output == TRUE


def test_a_conversation_goes_on_with_what_was_said_before() -> None:
    shop, script = Shop(), Script(calling("W-17"), FALSE, TRUE, TRUE)
    made = agent(shop, script)
    first = made.run_sync(ASKED)
    assert made.run_sync("And now?", message_history=first.all_messages()).output == TRUE


class Place(BaseModel):
    """Where an order is."""

    summary: str


def test_a_structured_output_is_checked_and_never_replaced_by_words() -> None:
    good, bad = ([ToolCallPart("final_result", {"summary": said})] for said in (TRUE, FALSE))
    assert sync(agent(Shop(), Script(calling("W-17"), bad, good), output=Place)) == Place(summary=TRUE)
    with pytest.raises(WithheldError):
        sync(agent(Shop(), Script(calling("W-17"), *[bad] * 9), output=Place, on_withheld="answer"))


# --- streams -------------------------------------------------------------------------------------------------------


async def texts(made: Agent[None, Any]) -> list[str]:
    async with made.run_stream(ASKED) as stream:
        return [text async for text in stream.stream_text(delta=True)]


async def events(made: Agent[None, Any]) -> list[str]:
    async with made.run_stream_events(ASKED) as stream:
        return [str(event) async for event in stream]


streams = pytest.mark.parametrize("stream", [texts, events])


@streams
def test_a_stream_gives_an_answer_that_passes(stream: Any) -> None:
    shop = Shop()
    shown = asyncio.run(stream(agent(shop, Script(calling("W-99"), calling("W-17"), TRUE))))
    assert shop.asked == ["W-17"]
    assert "W-17 is in Hamburg." in "".join(shown)


@streams
def test_no_stream_shows_what_does_not_pass(stream: Any) -> None:
    shown: list[str] = []

    async def run() -> None:
        shown.extend(await stream(agent(Shop(), Script(calling("W-17"), *[FALSE] * 9))))

    with pytest.raises(WithheldError):
        asyncio.run(run())
    assert shown == []


@streams
def test_no_stream_shows_what_does_not_pass_beside_calls(stream: Any) -> None:
    script = Script(calling("W-17"), [TextPart(FALSE), *calling("W-17")], TRUE)
    shown = asyncio.run(stream(agent(Shop(), script)))
    assert "9 May" not in "".join(shown)
    assert "W-17 is in Hamburg." in "".join(shown)
    assert "9 May" not in str(script.asked[-1])


@streams
def test_a_stream_gives_the_corrected_answer(stream: Any) -> None:
    shown = asyncio.run(stream(agent(Shop(), Script(calling("W-17"), f"{TRUE} {FALSE}", TRUE))))
    assert "9 May" not in "".join(shown)
    assert "W-17 is in Hamburg." in "".join(shown)


def test_no_stream_of_a_structured_output_shows_what_does_not_pass() -> None:
    bad = [ToolCallPart("final_result", {"summary": FALSE})]

    async def run() -> list[Any]:
        async with agent(Shop(), Script(calling("W-17"), bad), output=Place).run_stream(ASKED) as stream:
            return [part async for part in stream.stream_output()]

    with pytest.raises(WithheldError):
        asyncio.run(run())


def test_a_call_of_an_external_tool_is_checked_before_it_leaves_the_run() -> None:
    tools = ExternalToolset(
        [ToolDefinition(name="get_order", parameters_json_schema={"properties": {"order_id": {"type": "string"}}})]
    )
    script = Script(calling("W-99"), calling("W-17"), TRUE)
    made: Agent[None, Any] = Agent(
        FunctionModel(script),
        output_type=[str, DeferredToolRequests],
        retries=3,
        toolsets=[tools],
        capabilities=[AssayCapability(guard)],
    )
    first = made.run_sync(ASKED)
    assert [call.args for call in first.output.calls] == [{"order_id": "W-17"}]
    results = DeferredToolResults(calls={first.output.calls[0].tool_call_id: FOUND})
    assert made.run_sync(message_history=first.all_messages(), deferred_tool_results=results).output == TRUE


# --- what a person or a hook makes of a call -----------------------------------------------------------------------


def approving(order: str, override: dict[str, Any] | None, more: tuple[Any, ...] = ()) -> tuple[Shop, list[int]]:
    """The shop behind a person who approves a call of that order, with other arguments if there are any."""
    shop, counts = Shop(), list[int]()

    def get_order(order_id: str, count: int = 1) -> str:
        """Gets an order."""
        counts.append(count)
        return shop.get_order(order_id)

    script = Script(calling(order), *[TRUE] * 9)
    made: Agent[None, Any] = Agent(
        FunctionModel(script),
        output_type=[str, DeferredToolRequests],
        instructions=SYSTEM,
        retries=3,
        tools=[Tool(get_order, requires_approval=True)],
        capabilities=[AssayCapability(guard, on_withheld="answer"), *more],
    )
    first = made.run_sync(ASKED)
    approvals: dict[str, Any] = {
        call.tool_call_id: ToolApproved(override_args=override) for call in first.output.approvals
    }
    results = DeferredToolResults(approvals=approvals)
    said = made.run_sync(message_history=first.all_messages(), deferred_tool_results=results)
    assert (said.output == TRUE) is bool(shop.asked)
    history = ModelMessagesTypeAdapter.validate_json(said.all_messages_json())
    assert (made.run_sync("And now?", message_history=history).output == TRUE) is bool(shop.asked)
    return shop, counts


@pytest.mark.parametrize(
    ("sent", "override", "executed"),
    [
        ("W-17", None, ["W-17"]),
        ("W-99", None, []),
        ("W-99", {"order_id": "W-17"}, ["W-17"]),  # a person mends what the model made up
        ("W-17", {"order_id": "W-99"}, ["W-99"]),  # a person knows another order
        ("W-17", {"order_id": "W-17"}, ["W-17"]),
        ("W-99", {"order_id": "W-99", "count": 2}, []),  # a person left what the model made up
    ],
)
def test_what_a_person_puts_in_the_place_of_arguments_is_checked_as_their_word(
    sent: str, override: dict[str, Any] | None, executed: list[str]
) -> None:
    shop, _ = approving(sent, override)
    assert shop.asked == executed


def test_what_a_person_puts_in_the_place_of_arguments_has_to_be_what_the_tool_takes() -> None:
    shop, counts = approving("W-17", {"order_id": "W-17", "count": 2})
    assert (shop.asked, counts) == (["W-17"], [2])


@pytest.mark.parametrize("kept", ["W-17", {"c1": 1}, {"c1": {"arguments": {"order_id": "W-17"}, "said": ""}}])
def test_what_a_history_says_of_an_execution_that_is_to_come_changes_nothing(kept: Any) -> None:
    shop, script = Shop(), Script([ToolCallPart("get_order", {"order_id": "W-99"}, tool_call_id="c1")], *[TRUE] * 9)
    made: Agent[None, Any] = Agent(
        FunctionModel(script),
        output_type=[str, DeferredToolRequests],
        tools=[Tool(shop.get_order, requires_approval=True)],
        capabilities=[AssayCapability(guard, on_withheld="answer")],
    )
    history = made.run_sync(ASKED).all_messages()
    history[-1].metadata = {"assay": kept}
    made.run_sync(message_history=history, deferred_tool_results=DeferredToolResults(approvals={"c1": True}))
    assert shop.asked == []


@pytest.mark.parametrize("approved", [False, True])
def test_arguments_that_a_hook_changes_are_those_that_are_checked(approved: bool) -> None:
    class Changes(AbstractCapability[Any]):
        async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            return {**args, "order_id": "W-99"}

    if approved:  # by somebody who saw other arguments
        assert approving("W-17", None, (Changes(),))[0].asked == []
        return
    shop = Shop()
    made = Agent(
        FunctionModel(Script(calling("W-17"), *[TRUE] * 9)),
        retries=3,
        tools=[shop.get_order],
        capabilities=[AssayCapability(guard, on_withheld="answer"), Changes()],
    )
    made.run_sync(ASKED)
    assert shop.asked == []


def test_arguments_that_the_framework_reads_into_types_are_those_that_the_model_sent() -> None:
    seen: list[Any] = []

    class Window(BaseModel):
        """When to look."""

        day: date
        made_at: float = Field(default_factory=time.monotonic)

    def orders_of(window: Window, kinds: set[str], limit: int = 3) -> str:
        """Gets the orders of a day."""
        seen.append((window.day, kinds, limit))
        return FOUND

    sent = {"window": {"day": "2026-05-03"}, "kinds": ["parcel"]}
    for args in (sent, json.dumps(sent)):
        made = Agent(
            FunctionModel(Script([ToolCallPart("orders_of", args)], TRUE)),
            tools=[orders_of],
            capabilities=[AssayCapability(guard)],
        )
        made.run_sync("Which parcel came on 2026-05-03, such as W-17?")
    assert seen == [(date(2026, 5, 3), {"parcel"}, 3)] * 2


# --- the parts -----------------------------------------------------------------------------------------------------


def test_a_toolset_and_an_output_validator_do_the_same_by_themselves() -> None:
    shop, script = Shop(), Script(calling("W-99"), calling("W-17"), FALSE, TRUE)
    made = Agent(FunctionModel(script), retries=3, toolsets=[CheckedToolset(FunctionToolset([shop.get_order]), guard)])
    made.output_validator(checked_output(guard))
    assert made.run_sync(ASKED).output == TRUE
    assert shop.asked == ["W-17"]
    assert FOUND in str(script.asked[-1])


def test_an_output_validator_alone_refuses_a_stream() -> None:
    async def words(messages: list[ModelMessage], info: AgentInfo) -> Any:
        yield TRUE

    made = Agent(FunctionModel(stream_function=words))
    made.output_validator(checked_output(guard))

    async def run() -> None:
        async with made.run_stream(ASKED) as stream:
            async for _ in stream.stream_text():
                raise AssertionError("nothing is shown")

    with pytest.raises(InputError, match="AssayCapability"):
        asyncio.run(run())
