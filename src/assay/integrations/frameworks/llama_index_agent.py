"""LlamaIndex's messages as the steps of a run, its nodes as evidence, and its tools behind the check of their calls."""

import json
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatResponse, MessageRole
from llama_index.core.tools import FunctionTool, ToolOutput

from assay.errors import InputError
from assay.integrations.run_gate import (
    RunGate,
    not_executed,
    plain,
    run_from,
    text_parts,
    tool_result,
    was_not_executed,
)
from assay.schema.run import ModelTurn, Run, Step, SystemPrompt, ToolCall, UserInput, read_argument_object


class CheckedTool(FunctionTool):
    """A tool that is executed only if the agent's check of this call let it pass.

    It asks for the workflow's context as function tools may, because the decision is kept there.
    """

    def __init__(self, inner: Any) -> None:
        """Put a tool behind the check."""
        self._inner = inner
        self._metadata = inner.metadata
        self.requires_context = True
        self.ctx_param_name = "assay_context"
        self.partial_params: dict[str, Any] = {}

    def call(self, *args: Any, **named: Any) -> Any:  # noqa: ARG002 the framework's own signature
        """Refused: without the context of a run there is nothing to check against."""
        raise InputError("a checked tool is called by its agent; call the tool itself outside of a run")

    async def acall(self, *args: Any, assay_context: Any = None, **named: Any) -> Any:
        """Execute the tool, or say why not."""
        name = self.metadata.get_name()
        calls = await assay_context.store.get("assay_calls", default={}) if assay_context is not None else {}
        message = calls.get(call_key(name, named), not_executed(name))
        if message:
            return ToolOutput(content=message, tool_name=name, raw_input=named, raw_output=message, is_error=True)
        inner = self._inner
        if isinstance(inner, FunctionTool) and inner.requires_context and inner.ctx_param_name is not None:
            named = {**named, inner.ctx_param_name: assay_context}
        return await inner.acall(*args, **named)


def call_key(name: str, arguments: Any) -> str:
    """What identifies a call within one step of an agent."""
    return json.dumps([name, plain(arguments)], sort_keys=True)


def evidence_of(nodes: Any) -> list[dict[str, Any]]:
    """Source nodes as evidence; a node that comes twice counts once."""
    found = {one.node.node_id: one.node.get_content() for one in nodes}
    return [{"id": node_id, "text": text} for node_id, text in found.items()]


def run_of(gate: RunGate, tools: Any, llm: Any, history: Any, end: Sequence[Any] | str) -> Run:
    """The run of an agent up to calls that it wants to make, or to what it wants to answer."""
    steps: list[Step] = [*gate.declared(tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools)]
    for message in history:
        steps += _steps(message, llm)
    ending = [ModelTurn(content=text_parts(end))] if isinstance(end, str) else [_call(call) for call in end]
    return run_from([*steps, *ending])


def _steps(message: Any, llm: Any) -> list[Step]:
    text = message.content or ""
    match message.role:
        case MessageRole.SYSTEM | MessageRole.DEVELOPER:
            return [SystemPrompt(content=text_parts(text))]
        case MessageRole.USER:
            return [UserInput(content=text_parts(text))]
        case MessageRole.TOOL | MessageRole.FUNCTION:
            # The workflow does not carry over whether a tool output is an error; the guard's own words say so.
            call_id = message.additional_kwargs.get("tool_call_id")
            return [
                tool_result(
                    call_id, message.additional_kwargs.get("name"), text or "done", failed=was_not_executed(text)
                )
            ]
        case _:
            calls = llm.get_tool_calls_from_response(ChatResponse(message=message), error_on_no_tool_call=False)
            return [*([ModelTurn(content=text_parts(text))] if text else []), *map(_call, calls or ())]


def _call(call: Any) -> ToolCall:
    return ToolCall(id=call.tool_id, name=call.tool_name, arguments=read_argument_object(plain(call.tool_kwargs)))
