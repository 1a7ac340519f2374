"""In a LangChain agent no rejected call is executed, and no answer that does not pass gets into the graph's state."""

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

import pytest
from tests.integrations.orders import ASKED, FALSE, FOUND, SYSTEM, TRUE, WITHHELD, Shop, guard

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.schema import Action, HallucinationReport

pytest.importorskip("langchain", reason="needs the extra langchain: pip install 'assay-ai[langchain]'")
pytest.importorskip("langgraph", reason="needs the extra langchain: pip install 'assay-ai[langchain]'")

from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from pydantic import BaseModel, Field

from assay.integrations.langchain import (
    AssayMiddleware,
    by_action,
    check_node,
    checked_answer_node,
    checked_chain,
    checked_tool_node,
)


class Scripted(GenericFakeChatModel):
    """Says what a test wrote down, a word at a time where it is streamed, and keeps what it was asked."""

    asked: list[list[BaseMessage]] = Field(default_factory=list)

    def bind_tools(self, tools: Sequence[Any], **how: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **how: Any) -> Any:
        self.asked.append(messages)
        return super()._generate(messages, *args, **how)

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **how: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = self._generate(messages).generations[0].message
        calls = [{**call, "args": json.dumps(call["args"]), "index": n} for n, call in enumerate(said.tool_calls)]
        words = [AIMessageChunk(content=word, id=said.id) for word in re.findall(r"\S+\s*", said.text)]
        for piece in [*words, AIMessageChunk(content="", tool_call_chunks=calls, chunk_position="last", id=said.id)]:
            chunk = ChatGenerationChunk(message=piece)
            if run_manager is not None:
                run_manager.on_llm_new_token(piece.text, chunk=chunk)
            yield chunk


def model(*said: AIMessage | str) -> Scripted:
    return Scripted(messages=iter(said))


def calling(*orders: str, name: str = "get_order", first: int = 0) -> AIMessage:
    calls = [{"name": name, "args": {"order_id": order}, "id": f"c{first}-{n}"} for n, order in enumerate(orders)]
    return AIMessage(content="", tool_calls=calls)


def agent(shop: Shop, chat: Scripted, **options: Any) -> Any:
    return create_agent(
        chat, [tool(shop.get_order)], system_prompt=SYSTEM, middleware=[AssayMiddleware(guard, **options)]
    )


def asked(text: str = ASKED) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def run(graph: Any, way: str, given: Any = None) -> list[BaseMessage]:
    given = asked() if given is None else given
    found = graph.invoke(given) if way == "sync" else asyncio.run(graph.ainvoke(given))
    messages: list[BaseMessage] = found["messages"]
    return messages


ways = pytest.mark.parametrize("way", ["sync", "async"])


@ways
def test_an_honest_run_is_what_it_would_be_without_the_middleware(way: str) -> None:
    shop = Shop()
    script = [calling("W-17"), AIMessage(content=TRUE, response_metadata={"model": "m"})]
    plain = create_agent(model(*script), [tool(Shop().get_order)], system_prompt=SYSTEM).invoke(asked())["messages"]
    found = run(agent(shop, model(*script)), way)
    assert shop.asked == ["W-17"]
    assert [m.model_dump(exclude={"id"}) for m in found] == [m.model_dump(exclude={"id"}) for m in plain]


@ways
def test_an_invented_id_never_reaches_the_tool_not_even_sent_again_and_the_model_is_told_why(way: str) -> None:
    shop, chat = Shop(), model(calling("W-99"), calling("W-17", first=1), calling("W-99", first=2), TRUE)
    found = run(agent(shop, chat), way)
    assert shop.asked == ["W-17"]
    refused = chat.asked[1][-1]
    assert isinstance(refused, ToolMessage)
    assert refused.status == "error"
    assert "was not executed" in refused.text
    assert "W-99" in refused.text
    assert found[-1].text == TRUE


@ways
def test_of_parallel_calls_only_the_honest_one_is_executed(way: str) -> None:
    shop = Shop()
    found = run(agent(shop, model(calling("W-17", "W-99"), TRUE)), way)
    assert shop.asked == ["W-17"]
    assert [m.status for m in found if isinstance(m, ToolMessage)] == ["success", "error"]


def test_an_id_that_the_system_prompt_names_is_no_invention() -> None:
    shop = Shop()
    chat = model(calling("W-99"), TRUE)
    create_agent(
        chat, [tool(shop.get_order)], system_prompt="The order on display is W-99.", middleware=[AssayMiddleware(guard)]
    ).invoke(asked())
    assert shop.asked == ["W-99"]


@ways
def test_a_model_that_does_not_listen_is_stopped(way: str) -> None:
    shop = Shop()
    chat = model(*(calling(f"X-{n}", first=n) for n in range(50)))
    found = run(agent(shop, chat), way)
    assert shop.asked == []
    assert len(chat.asked) == 4
    assert found[-1].text.startswith(WITHHELD)


@ways
def test_it_is_stopped_with_an_error_where_errors_are_asked_for(way: str) -> None:
    chat = model(*(calling(f"X-{n}", first=n) for n in range(50)))
    with pytest.raises(CallRejectedError):
        run(agent(Shop(), chat, on_withheld="raise", retries=0), way)
    assert len(chat.asked) == 2


@ways
def test_an_answer_that_does_not_pass_does_not_come_out(way: str) -> None:
    chat = model(calling("W-17"), *[FALSE] * 9)
    found = run(agent(Shop(), chat), way)
    assert found[-1].text.startswith(WITHHELD)
    assert all("9 May" not in str(message.content) for message in found)


@ways
@pytest.mark.parametrize(("said", "shown"), [(TRUE, TRUE), (FALSE, ""), ("One moment, please.", "One moment, please.")])
def test_what_is_said_beside_calls_is_shown_only_if_it_passes_and_the_calls_go_on(
    way: str, said: str, shown: str
) -> None:
    shop, again = Shop(), calling("W-17", first=1).model_copy(update={"content": said})
    found = run(agent(shop, model(calling("W-17"), again, TRUE)), way)
    assert shop.asked == ["W-17", "W-17"]
    assert [message.text for message in found if isinstance(message, AIMessage)] == ["", shown, TRUE]
    assert [call["id"] for call in found[3].tool_calls] == ["c1-0"]


def test_blocks_beside_calls_that_are_no_text_stay() -> None:
    content: list[Any] = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": FALSE}]
    chat = model(calling("W-17"), calling("W-17", first=1).model_copy(update={"content": content}), TRUE)
    found = run(agent(Shop(), chat), "invoke")
    assert found[3].content == [{"type": "thinking", "thinking": "Hm."}]


def test_no_stream_shows_what_does_not_pass_beside_calls() -> None:
    chat = model(calling("W-17"), calling("W-17", first=1).model_copy(update={"content": FALSE}), TRUE)
    for mode in ("messages", "updates", "values"):
        shown = str(list(agent(Shop(), chat.model_copy(deep=True)).stream(asked(), stream_mode=mode)))
        assert "9 May" not in shown
        chat = model(calling("W-17"), calling("W-17", first=1).model_copy(update={"content": FALSE}), TRUE)


@ways
def test_a_corrected_answer_comes_out_and_the_feedback_is_not_in_the_history(way: str) -> None:
    reports: list[HallucinationReport] = []
    chat = model(calling("W-17"), f"{TRUE} {FALSE}", f"{TRUE} Order W-17 arrives on 3 May 2026.")
    found = run(agent(Shop(), chat, on_report=reports.append), way)
    assert found[-1].text == f"{TRUE} Order W-17 arrives on 3 May 2026."
    assert [type(message) for message in found] == [HumanMessage, AIMessage, ToolMessage, AIMessage]
    assert "did not pass a check" in str(chat.asked[2][-1].content)
    assert [report.action for report in reports] == [Action.EMIT]
    assert reports[0].revision is not None


def test_an_answer_raises_where_errors_are_asked_for() -> None:
    with pytest.raises(WithheldError) as caught:
        run(agent(Shop(), model(calling("W-17"), FALSE), on_withheld="raise", attempts=0), "sync")
    assert isinstance(caught.value.report, HallucinationReport)


@pytest.mark.parametrize("mode", ["messages", "updates", "values", "custom"])
def test_no_stream_shows_what_does_not_pass(mode: Any) -> None:
    graph = agent(Shop(), model(calling("W-17"), *[FALSE] * 9))
    shown = [str(part) for part in graph.stream(asked(), stream_mode=mode)]
    assert all("9 May" not in part for part in shown)
    if mode != "custom":
        assert any(WITHHELD in part for part in shown)


def test_no_asynchronous_stream_shows_what_does_not_pass() -> None:
    async def shown() -> list[str]:
        graph = agent(Shop(), model(calling("W-17"), *[FALSE] * 9))
        return [str(part) async for part in graph.astream(asked(), stream_mode=["messages", "updates"])]

    parts = asyncio.run(shown())
    assert all("9 May" not in part for part in parts)
    assert any(WITHHELD in part for part in parts)


@pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning")
@pytest.mark.parametrize("version", ["v2", "v3"])
def test_no_events_show_what_does_not_pass(version: Any) -> None:
    async def shown() -> list[str]:
        graph = agent(Shop(), model(calling("W-17"), *[FALSE] * 9))
        events = graph.astream_events(asked(), version=version)
        return [str(event) async for event in (await events if version == "v3" else events)]

    events = asyncio.run(shown())
    assert all("9 May" not in event for event in events)
    assert any(WITHHELD in event for event in events)


def test_a_trace_keeps_what_the_model_said() -> None:
    class Trace(BaseCallbackHandler):
        def __init__(self) -> None:
            self.said: list[str] = []

        def on_llm_end(self, response: Any, **more: Any) -> None:
            self.said.append(response.generations[0][0].text)

    trace = Trace()
    agent(Shop(), model(calling("W-17"), *[FALSE] * 9)).invoke(asked(), {"callbacks": [trace]})
    assert FALSE in trace.said


def test_a_stream_shows_an_answer_that_passes_in_one_piece() -> None:
    graph = agent(Shop(), model(calling("W-17"), TRUE))
    parts = [part for part, _ in graph.stream(asked(), stream_mode="messages") if isinstance(part, AIMessage)]
    assert [part.text for part in parts if part.text] == [TRUE]


def test_a_conversation_goes_on_with_what_was_said_before() -> None:
    shop = Shop()
    graph = agent(shop, model(calling("W-17"), TRUE, calling("W-17", first=1), TRUE))
    first = run(graph, "sync")
    again = run(graph, "sync", {"messages": [*first, HumanMessage("And now?")]})
    assert shop.asked == ["W-17", "W-17"]
    assert again[-1].text == TRUE


class Place(BaseModel):
    """Where an order is."""

    summary: str


@pytest.mark.parametrize(("summary", "passes"), [(TRUE, True), (FALSE, False)])
def test_a_structured_answer_is_checked_and_never_replaced_by_words(summary: str, passes: bool) -> None:
    answer = AIMessage(content="", tool_calls=[{"name": "Place", "args": {"summary": summary}, "id": "s1"}])
    graph = create_agent(
        model(calling("W-17"), answer),
        [tool(Shop().get_order)],
        response_format=Place,
        system_prompt=SYSTEM,
        middleware=[AssayMiddleware(guard)],
    )
    if passes:
        assert graph.invoke(asked())["structured_response"] == Place(summary=summary)
    else:
        with pytest.raises(WithheldError):
            graph.invoke(asked())


# --- graphs that are put together by hand --------------------------------------------------------------------------


def graph_of(shop: Shop, chat: Scripted) -> Any:
    tools = [tool(shop.get_order)]
    graph = StateGraph(MessagesState)
    graph.add_node("model", checked_answer_node(chat, tools, guard))
    graph.add_node("tools", checked_tool_node(tools, guard))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


@ways
def test_a_graph_of_ones_own_is_held_to_the_same(way: str) -> None:
    shop = Shop()
    found = run(graph_of(shop, model(calling("W-99"), calling("W-17", first=1), *[FALSE] * 9)), way)
    assert shop.asked == ["W-17"]
    assert found[-1].text.startswith(WITHHELD)
    assert run(graph_of(shop, model(calling("W-17"), TRUE)), way)[-1].text == TRUE


# --- chains --------------------------------------------------------------------------------------------------------

PASSAGES = [Document(page_content=FOUND, metadata={"source": "orders.txt"})]


def chain(answer: Any) -> Any:
    return RunnableLambda(lambda given: {"input": given["input"], "context": PASSAGES, "answer": answer})


@ways
@pytest.mark.parametrize(("said", "passes"), [(TRUE, True), (FALSE, False)])
def test_a_retrieval_chain_gives_its_answer_only_if_it_passes(way: str, said: str, passes: bool) -> None:
    checked = checked_chain(chain(said), guard, on_withheld="answer")
    given = {"input": ASKED}
    made = checked.invoke(given) if way == "sync" else asyncio.run(checked.ainvoke(given))
    assert made["context"] == PASSAGES
    assert made["answer"] == said if passes else made["answer"].startswith(WITHHELD)


def test_a_stream_of_a_chain_is_checked_before_its_first_word() -> None:
    def words(given: Any) -> Iterator[str]:
        yield from ("Order W-17 ", "arrives on ", "9 May 2026.")

    checked = checked_chain(RunnableLambda(words), guard, evidence=lambda given, made: PASSAGES)
    with pytest.raises(WithheldError):
        next(iter(checked.stream(ASKED)))


def test_a_chain_that_gives_a_message_gives_one() -> None:
    checked = checked_chain(
        model(AIMessage(content=FALSE, id="m1")), guard, evidence=lambda given, made: PASSAGES, on_withheld="answer"
    )
    made = checked.invoke(ASKED)
    assert isinstance(made, AIMessage)
    assert made.text.startswith(WITHHELD)
    assert (
        model(TRUE).invoke(ASKED).text
        == checked_chain(model(TRUE), guard, evidence=lambda given, made: PASSAGES).invoke(ASKED).text
    )


class RagState(TypedDict, total=False):
    question: str
    documents: list[Document]
    answer: str
    assay_action: str
    assay_report: dict[str, Any]
    assay_feedback: str
    assay_failed: int


def rag_graph(*said: str, **options: Any) -> tuple[Any, list[str]]:
    """A graph that retrieves, writes, checks, and writes again where it has to; and what its writer was told."""
    script, told = list(said), list[str]()

    def write(state: RagState) -> RagState:
        told.append(state.get("assay_feedback", ""))
        return {"answer": script.pop(0) if len(script) > 1 else script[0]}

    graph = StateGraph(RagState)
    graph.add_node("retrieve", lambda state: {"documents": [Document(id="d1", page_content=FOUND)]})
    graph.add_node("write", write)
    graph.add_node("check", check_node(guard, **options))
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "write")
    graph.add_edge("write", "check")
    graph.add_conditional_edges("check", by_action, {"emit": END, "revise": "write", "block": END, "escalate": END})
    return graph.compile(), told


@ways
def test_a_node_checks_the_answer_in_the_state_and_the_edge_goes_by_the_action(way: str) -> None:
    def final(graph: Any) -> Any:
        given = {"question": ASKED}
        return graph.invoke(given) if way == "sync" else asyncio.run(graph.ainvoke(given))

    graph, told = rag_graph(FALSE, TRUE)
    found = final(graph)
    assert (found["answer"], found["assay_action"], found["assay_failed"]) == (TRUE, "emit", 1)
    assert "3 May 2026" in told[1]
    graph, told = rag_graph(FALSE, attempts=2)
    found = final(graph)
    assert found["answer"].startswith(WITHHELD)
    assert found["assay_action"] == "block"
    assert len(told) == 3


def test_what_failed_in_one_turn_does_not_count_in_the_next() -> None:
    node = check_node(guard)
    state: dict[str, Any] = {"question": ASKED, "documents": [FOUND]}
    told = []
    for said in (FALSE, FALSE, FALSE, FALSE, TRUE, FALSE, TRUE):
        state |= node.invoke({**state, "answer": said})
        told.append((state["assay_action"], state["assay_failed"]))
    assert told == [("revise", 1), ("revise", 2), ("block", 3), ("revise", 1), ("emit", 1), ("revise", 1), ("emit", 1)]


@pytest.mark.parametrize(
    "metadata", [{"finish_reason": "length"}, {"stop_reason": "max_tokens"}, {"status": "incomplete"}]
)
def test_an_answer_that_is_cut_off_does_not_pass(metadata: dict[str, str]) -> None:
    cut, whole = (
        AIMessage(TRUE, response_metadata=metadata),
        AIMessage(TRUE, response_metadata={"finish_reason": "stop"}),
    )
    state = {"question": ASKED, "documents": [FOUND]}
    found = check_node(guard).invoke({**state, "answer": cut})
    assert found["assay_action"] == "revise"
    assert found["answer"].text.startswith(WITHHELD)
    assert "cut off" in found["assay_feedback"]
    assert check_node(guard, attempts=0).invoke({**state, "answer": cut})["assay_action"] == "block"
    assert check_node(guard).invoke({**state, "answer": whole})["answer"] is whole
    for script, passes in (((whole,), True), ((cut,), False), ((AIMessage(FALSE), cut), False)):
        messages = {"messages": [HumanMessage(ASKED)]}
        settled = agent(Shop(), model(calling("W-17"), *script), attempts=1).invoke(messages)["messages"][-1].text
        assert (settled == TRUE) is passes
        assert passes or settled.startswith(WITHHELD)


def test_content_of_a_message_that_no_check_reads_does_not_come_out() -> None:
    text, refusal = {"type": "text", "text": TRUE}, {"type": "refusal", "refusal": FALSE}
    said = AIMessage([text, refusal], tool_calls=[{"name": "get_order", "args": {"order_id": "W-99"}, "id": "c1"}])
    found = check_node(guard).invoke({"question": ASKED, "documents": [FOUND], "answer": said})["answer"]
    assert (found.text, found.tool_calls) == (TRUE, [])
    assert "9 May" not in str(found)
    beside = AIMessage([{"type": "text", "text": FALSE}, refusal], tool_calls=calling("W-17").tool_calls)
    state = agent(Shop(), model(beside, TRUE)).invoke({"messages": [HumanMessage(ASKED)]})
    assert "9 May" not in str(state["messages"][1])
    assert state["messages"][-1].text == TRUE


UNREAD: list[dict[str, Any]] = [
    {"type": "refusal", "refusal": FALSE},
    {"type": "image", "url": f"https://shop.example/{FALSE}.png"},
    {"type": "image_url", "image_url": {"url": f"https://shop.example/{FALSE}.png"}},
    {"type": "non_standard", "value": {"text": FALSE}},
    {"type": "server_tool_result", "output": FALSE},
    {"type": "web_search_tool_result", "content": [{"title": FALSE}]},
    {"type": "of_another_day", "text": FALSE},
]


@pytest.mark.parametrize("unread", UNREAD, ids=lambda block: block["type"])
def test_of_an_answer_that_passes_only_what_was_read_comes_out(unread: dict[str, Any]) -> None:
    def said(*calls: Any) -> AIMessage:
        return AIMessage([{"type": "text", "text": TRUE}, unread], tool_calls=list(calls))

    call = {"name": "get_order", "args": {"order_id": "W-17"}, "id": "c9"}
    shop = Shop()
    made = agent(shop, model(calling("W-17"), said(call), said())).invoke(asked())["messages"]
    assert "9 May" not in str(made)
    assert shop.asked == ["W-17", "W-17"]
    assert [message.text for message in made if isinstance(message, AIMessage)] == ["", TRUE, TRUE]
    shown = str(list(agent(Shop(), model(calling("W-17"), said())).stream(asked(), stream_mode="updates")))
    assert "9 May" not in shown
    checked = checked_chain(RunnableLambda(lambda _: said()), guard, evidence=lambda given, made: PASSAGES)
    assert (checked.invoke(ASKED).text, "9 May" in str(checked.invoke(ASKED))) == (TRUE, False)
    checked = checked_chain(chain(said()), guard)
    assert "9 May" not in str(checked.invoke({"input": ASKED})["answer"])


def test_a_refusal_beside_the_content_of_a_message_does_not_come_out_and_reasoning_stays() -> None:
    further = {"refusal": FALSE, "audio": {"transcript": FALSE}, "reasoning_content": "Hm."}
    made = agent(Shop(), model(calling("W-17"), AIMessage(TRUE, additional_kwargs=further))).invoke(asked())["messages"]
    assert made[-1].text == TRUE
    assert "9 May" not in str(made[-1])
    beside = calling("W-17", first=1).model_copy(update={"content": TRUE, "additional_kwargs": further})
    made = agent(Shop(), model(calling("W-17"), beside, TRUE)).invoke(asked())["messages"]
    assert made[3].additional_kwargs == {"reasoning_content": "Hm."}
    thought = AIMessage([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": TRUE}])
    assert agent(Shop(), model(calling("W-17"), thought)).invoke(asked())["messages"][-1].content == thought.content


def test_content_beside_a_structured_answer_that_no_check_reads_does_not_come_out() -> None:
    call = {"name": "Place", "args": {"summary": TRUE}, "id": "s1"}
    answer = AIMessage([{"type": "refusal", "refusal": FALSE}], tool_calls=[call])
    graph = create_agent(
        model(calling("W-17"), answer),
        [tool(Shop().get_order)],
        response_format=Place,
        system_prompt=SYSTEM,
        middleware=[AssayMiddleware(guard)],
    )
    made = graph.invoke(asked())
    assert made["structured_response"] == Place(summary=TRUE)
    assert "9 May" not in str(made["messages"])


def test_a_state_that_was_not_checked_goes_where_what_is_blocked_goes() -> None:
    assert by_action({}) == by_action({"assay_action": "anything"}) == "block"
    with pytest.raises(InputError, match="'documents'"):
        check_node(guard).invoke({"answer": TRUE})
    with pytest.raises(InputError, match="'answer'"):
        check_node(guard).invoke({"documents": [FOUND]})
