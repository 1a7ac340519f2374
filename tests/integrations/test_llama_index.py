"""In LlamaIndex no rejected call is executed, and no response or answer that does not pass comes out."""

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.integrations.run_gate import RunGate
from assay.schema import Action, HallucinationReport

pytest.importorskip("llama_index.core", reason="needs the extra llama-index: pip install 'assay-ai[llama-index]'")

from llama_index.core import Settings
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.query_engine import RetryQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel

from assay.integrations.llama_index import AssayEvaluator, CheckedFunctionAgent, CheckedQueryEngine

# LlamaIndex looks at every attribute of an agent, the deprecated ones of pydantic included.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:pydantic.*", "ignore::DeprecationWarning:inspect")

NODES = [NodeWithScore(node=TextNode(id_="n1", text=FOUND), score=0.9)]
NUMBERS = itertools.count()


class Engine(BaseQueryEngine):
    """Answers what a test wrote down, whole or as a stream, and keeps what it was asked."""

    def __init__(self, *said: str, stream: bool = False) -> None:
        super().__init__(None)
        self.said = list(said)
        self.stream = stream
        self.asked: list[str] = []

    def _get_prompt_modules(self) -> Any:
        return {}

    def _next(self, bundle: Any) -> str:
        self.asked.append(bundle.query_str)
        return self.said.pop(0)

    def _query(self, bundle: Any) -> Any:
        said = self._next(bundle)
        if self.stream:
            return StreamingResponse(response_gen=(word for word in said.split(" ")), source_nodes=NODES)
        return Response(response=said, source_nodes=NODES, metadata={"n": 1})

    async def _aquery(self, bundle: Any) -> Any:
        if not self.stream:
            return self._query(bundle)
        said = self._next(bundle)

        async def words() -> Any:
            for word in said.split(" "):
                yield f"{word} "

        return AsyncStreamingResponse(response_gen=words(), source_nodes=NODES)


def asked(engine: Any, way: str) -> Any:
    return engine.query(ASKED) if way == "sync" else asyncio.run(engine.aquery(ASKED))


ways = pytest.mark.parametrize("way", ["sync", "async"])


@ways
def test_a_response_that_passes_is_the_engines_own(way: str) -> None:
    engine = Engine(TRUE)
    response = asked(CheckedQueryEngine(engine, guard), way)
    assert response == Response(response=TRUE, source_nodes=NODES, metadata={"n": 1})
    assert engine.asked == [ASKED]


@ways
def test_a_response_that_does_not_pass_is_withheld(way: str) -> None:
    response = asked(CheckedQueryEngine(Engine(FALSE), guard), way)
    assert response.response.startswith(WITHHELD)
    assert response.source_nodes == NODES
    with pytest.raises(WithheldError):
        asked(CheckedQueryEngine(Engine(FALSE), guard, on_withheld="raise"), way)


@ways
def test_a_streamed_response_is_checked_before_its_first_word(way: str) -> None:
    response = asked(CheckedQueryEngine(Engine(FALSE, stream=True), guard), way)
    assert isinstance(response, Response)
    assert str(response.response).startswith(WITHHELD)


def test_an_author_may_correct_a_response() -> None:
    response = CheckedQueryEngine(Engine(f"{TRUE} {FALSE}"), guard, author=lambda feedback: TRUE).query(ASKED)
    assert str(response) == TRUE


def test_the_evaluator_makes_the_retry_engine_ask_again_with_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings, "_llm", MockLLM())  # LlamaIndex wants one, though it only puts the texts together
    engine = Engine(FALSE, TRUE)
    assert str(RetryQueryEngine(engine, AssayEvaluator(guard), max_retries=2).query(ASKED)) == TRUE
    assert "did not pass a check" in engine.asked[1]


def test_the_evaluator_says_whether_and_why() -> None:
    evaluator = AssayEvaluator(guard)
    assert evaluator.evaluate(ASKED, TRUE, [FOUND]).passing is True
    found = asyncio.run(evaluator.aevaluate(ASKED, FALSE, [FOUND]))
    assert found.passing is False
    assert "9 May" in found.feedback
    assert evaluator.evaluate(ASKED, TRUE, []).passing is False


# --- agents --------------------------------------------------------------------------------------------------------


class Script:
    """A model that says what a test wrote down, and keeps what it was asked."""

    def __init__(self, *said: Any) -> None:
        self.said: Iterator[Any] = iter(said)
        self.asked: list[list[ChatMessage]] = []
        self.llm = MockFunctionCallingLLM(response_generator=self._say, is_chat_model=True)

    def _say(self, messages: Any, **how: Any) -> ChatMessage:
        self.asked.append(list(messages))
        said = next(self.said)
        return ChatMessage(role="assistant", blocks=[TextBlock(text=said)] if isinstance(said, str) else said)


def calling(*orders: str) -> list[ToolCallBlock]:
    return [
        ToolCallBlock(tool_call_id=f"c{next(NUMBERS)}", tool_name="get_order", tool_kwargs={"order_id": order})
        for order in orders
    ]


def agent(shop: Shop, script: Script, **gate: Any) -> Any:
    return CheckedFunctionAgent(
        name="shop",
        description="Helps.",
        tools=[FunctionTool.from_defaults(shop.get_order)],
        llm=script.llm,
        system_prompt=SYSTEM,
        gate=RunGate(guard, **gate),
    )


async def talked(made: Any, *texts: str) -> tuple[list[str], list[str]]:
    """What was answered, and every event that was shown."""
    memory = ChatMemoryBuffer.from_defaults(token_limit=10_000)
    said, events = [], []
    for text in texts or (ASKED,):
        handler = made.run(user_msg=text, memory=memory)
        async for event in handler.stream_events():
            events.append(f"{type(event).__name__} {event}")  # noqa: PERF401 what was shown before an error counts
        said.append(str(await handler))
    return said, events


def run(made: Any, *texts: str) -> list[str]:
    return asyncio.run(talked(made, *texts))[0]


def test_an_honest_run_is_what_it_would_be_without_the_guard() -> None:
    shop, script, plain = Shop(), Script(calling("W-17"), TRUE), Script(calling("W-17"), TRUE)
    assert run(agent(shop, script)) == [TRUE]
    tools = [FunctionTool.from_defaults(Shop().get_order)]
    assert run(FunctionAgent(tools=tools, llm=plain.llm, system_prompt=SYSTEM, streaming=False)) == [TRUE]
    assert shop.asked == ["W-17"]
    assert [[(m.role, m.content) for m in asked] for asked in script.asked] == [
        [(m.role, m.content) for m in asked] for asked in plain.asked
    ]


def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why() -> None:
    shop, script = Shop(), Script(calling("W-99"), calling("W-17"), calling("W-99"), TRUE)
    assert run(agent(shop, script)) == [TRUE]
    assert shop.asked == ["W-17"]
    assert "was not executed" in str(script.asked[1][-1].content)


def test_of_parallel_calls_only_the_honest_one_is_executed() -> None:
    shop = Shop()
    assert run(agent(shop, Script(calling("W-17", "W-99"), TRUE))) == [TRUE]
    assert shop.asked == ["W-17"]


def test_a_model_that_does_not_listen_is_stopped() -> None:
    shop, script = Shop(), Script(*(calling(f"X-{n}") for n in range(50)))
    with pytest.raises(CallRejectedError):
        run(agent(shop, script))
    assert shop.asked == []
    assert len(script.asked) == 4
    words = run(agent(shop, Script(*(calling(f"X-{n}") for n in range(50))), on_withheld="answer"))
    assert words[0].startswith(WITHHELD)


def test_an_answer_that_does_not_pass_does_not_come_out() -> None:
    script = Script(calling("W-17"), *[FALSE] * 9)
    with pytest.raises(WithheldError) as caught:
        run(agent(Shop(), script))
    assert isinstance(caught.value.report, HallucinationReport)
    assert len(script.asked) <= 2 + guard.policy.max_revisions


def test_no_event_and_no_memory_shows_what_does_not_pass() -> None:
    script = Script(calling("W-17"), FALSE, calling("W-17"), TRUE)
    made = agent(Shop(), script, on_withheld="answer", attempts=0)
    said, events = asyncio.run(talked(made, ASKED, "And now?"))
    assert said[0].startswith(WITHHELD)
    assert said[1] == TRUE
    assert all("9 May" not in event for event in events)
    assert all("9 May" not in str(asked) for asked in script.asked)


@pytest.mark.parametrize(("said", "kept"), [(TRUE, True), (FALSE, False)])
def test_what_is_said_beside_calls_stays_only_if_it_passes_and_the_calls_go_on(said: str, kept: bool) -> None:
    shop, script = Shop(), Script(calling("W-17"), [TextBlock(text=said), *calling("W-17")], TRUE)
    answers, events = asyncio.run(talked(agent(shop, script)))
    assert answers == [TRUE]
    assert shop.asked == ["W-17", "W-17"]
    assert (said in str(script.asked[-1])) is kept
    assert any(said in event for event in events) or not kept
    assert kept or all(said not in event for event in events)


def test_a_corrected_answer_comes_out() -> None:
    reports: list[HallucinationReport] = []
    script = Script(calling("W-17"), f"{TRUE} {FALSE}", TRUE)
    assert run(agent(Shop(), script, on_report=reports.append)) == [TRUE]
    assert "did not pass a check" in str(script.asked[2][-1].content)
    assert [report.action for report in reports] == [Action.EMIT]


def test_an_agent_of_a_workflow_is_held_to_the_same() -> None:
    shop, script = Shop(), Script(calling("W-99"), calling("W-17"), *[FALSE] * 9)
    workflow = AgentWorkflow(agents=[agent(shop, script, on_withheld="answer")], root_agent="shop")
    assert run(workflow)[0].startswith(WITHHELD)
    assert shop.asked == ["W-17"]


class Place(BaseModel):
    """Where an order is."""

    summary: str


def test_what_would_not_be_checked_is_refused() -> None:
    for option in ({"output_cls": Place}, {"tool_retriever": object()}):
        with pytest.raises(InputError, match=next(iter(option))):
            CheckedFunctionAgent(tools=[], llm=Script().llm, gate=guard, **option)
