"""LangChain and LangGraph: an agent middleware, a wrapper of `ToolNode`, nodes that answer and check, checked chains.

`AssayMiddleware` for `langchain.agents.create_agent` checks each tool call in `wrap_tool_call`: one that is rejected is
not executed and comes back as a `ToolMessage` with the status `error`. It checks the final answer in `wrap_model_call`
and not in `after_model`, because there it is in the graph's state already, and so in what `stream` gives: what is not
emitted never gets there. Corrections are asked for inside of the same step. What the model says beside its calls is
checked there too, and taken out of the message where it does not pass; the calls stay.

Streaming: the model's own tokens are held back from every stream of the graph, `astream_events` included, and the
checked message comes in one piece. Callbacks and traces show the model's raw words all the same: they are not for
readers.

The extra `langchain` installs what this needs; tested with langchain 1.4 and langgraph 1.2.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Unpack

from assay.guard import Guard
from assay.integrations.run_gate import GateOptions, NodeOptions, RunGate, before_call, missing

try:
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ModelRequest,
        ModelResponse,
    )
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables import RunnableLambda
    from langgraph.prebuilt import ToolNode

    from assay.integrations.frameworks.langchain_chain import checked_chain
    from assay.integrations.frameworks.langchain_messages import messages_of, read_call, request_facts, run_of
    from assay.integrations.frameworks.langchain_screen import AssayDocumentFilter, as_retriever_filter
    from assay.integrations.frameworks.langchain_turn import Turn, unstreamed
    from assay.integrations.frameworks.langgraph_node import by_action, check_node
except ImportError as error:
    raise missing("langchain", error) from error

__all__ = [
    "AssayDocumentFilter",
    "AssayMiddleware",
    "AssayState",
    "as_retriever_filter",
    "by_action",
    "check_node",
    "checked_answer_node",
    "checked_chain",
    "checked_tool_node",
]


class AssayState(AgentState[Any]):
    """What the middleware adds to the state: what only the model's request knows and a tool call is traced to."""

    assay_told: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]  # type: ignore[valid-type]


class AssayMiddleware(AgentMiddleware[AssayState, Any, Any]):
    """Checks every tool call before it is executed, and the final answer before it is in the graph's state.

    One middleware may serve many agents and threads: what it knows of a run is in the run's state. Put it first in the
    list, so that what other middleware makes of an answer is checked as well.
    """

    state_schema = AssayState

    def __init__(self, guard: Guard, **options: Unpack[GateOptions]) -> None:
        """Make the middleware.

        Args:
            guard: what checks.
            options: those of `assay.integrations.run_gate.RunGate`; `on_withheld` is `answer` by default.
        """
        super().__init__()
        self.tools: list[Any] = []
        gate_options: GateOptions = {"on_withheld": "answer", **options}
        self._gate = RunGate(guard, **gate_options)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Ask the model and check what it wants to call or to say.

        Raises:
            WithheldError: the answer does not pass, and `on_withheld` is `raise` or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and `on_withheld` is `raise`.
        """
        turn = Turn(self._gate, request)

        def ask(asked: Any) -> Any:
            with unstreamed():
                return handler(asked)

        response = ask(request)
        said = turn.gave_up(response)
        if said is None and (run := turn.answered(response)) is not None:
            said = turn.gate_of(response).answer(run, turn.author(response, ask))
        if (beside := turn.beside(response)) is not None and not self._gate.beside(beside):
            response = turn.silent(response)
        return turn.settled(response, said)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_model_call`."""
        turn = Turn(self._gate, request)

        async def ask(asked: Any) -> Any:
            with unstreamed():
                return await handler(asked)

        response = await ask(request)
        said = await asyncio.to_thread(turn.gave_up, response)
        if said is None and (run := turn.answered(response)) is not None:
            said = await turn.gate_of(response).aanswer(run, turn.author(response, ask))
        if (beside := turn.beside(response)) is not None and not await self._gate.abeside(beside):
            response = turn.silent(response)
        return turn.settled(response, said)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """Execute the tool if the call passes; otherwise tell the model why not."""
        refused = _refused(self._gate, request)
        return handler(request) if refused is None else refused

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`."""
        refused = await asyncio.to_thread(_refused, self._gate, request)
        return await handler(request) if refused is None else refused


def checked_tool_node(
    tools: Sequence[Any], guard: Guard, *, node: Mapping[str, Any] | None = None, **options: Unpack[NodeOptions]
) -> Any:
    """LangGraph's `ToolNode` with the check of each call before it: for graphs that are put together by hand.

    Args:
        tools: the tools of the node.
        guard: what checks.
        node: further options of `ToolNode`.
        options: those of `RunGate`.

    Raises:
        CallRejectedError: while the graph runs: the model goes on with calls that are wrong though it was told to stop.
    """
    further = {"handle_tool_errors": False, **(node or {})}
    gate = AssayMiddleware(guard, **options)
    return ToolNode(tools, wrap_tool_call=gate.wrap_tool_call, awrap_tool_call=gate.awrap_tool_call, **further)


def checked_answer_node(model: Any, tools: Sequence[Any], guard: Guard, **options: Unpack[NodeOptions]) -> Any:
    """A node that asks a chat model for the next message of a graph's `messages`, and checks its final answers.

    Args:
        model: the chat model, without tools bound.
        tools: the tools that it may call.
        guard: what checks.
        options: those of `RunGate`; `on_withheld` is `answer` by default.
    """
    middleware = AssayMiddleware(guard, **options)

    def ask(request: Any) -> Any:
        bound = request.model.bind_tools(request.tools) if request.tools else request.model
        return ModelResponse(result=[bound.invoke(request.messages)])

    async def aask(request: Any) -> Any:
        bound = request.model.bind_tools(request.tools) if request.tools else request.model
        return ModelResponse(result=[await bound.ainvoke(request.messages)])

    def request_of(state: Any) -> Any:
        return ModelRequest(model=model, messages=messages_of(state), tools=list(tools))

    def node(state: Any) -> dict[str, Any]:
        return {"messages": middleware.wrap_model_call(request_of(state), ask).model_response.result}

    async def anode(state: Any) -> dict[str, Any]:
        response = await middleware.awrap_model_call(request_of(state), aask)
        return {"messages": response.model_response.result}

    return RunnableLambda(node, afunc=anode, name="assay_model")


def _refused(gate: RunGate, request: Any) -> ToolMessage | None:
    """What the model gets in the place of a result; none where the call may be executed."""
    known = request.state.get("assay_told") if isinstance(request.state, Mapping) else None
    if known is None:
        known = request_facts(None, request.runtime.tools or ([request.tool] if request.tool is not None else []))
    call = request.tool_call
    run = run_of(gate.declared(known["tools"]), known["system"], messages_of(request.state))
    asked = read_call(call)
    decision = gate.decide(before_call(run, call["id"])[0], asked)
    if decision.accepted:
        return None
    return ToolMessage(content=decision.message, name=call["name"], tool_call_id=call["id"], status="error")
