"""The OpenAI Agents SDK's items as the steps of a run, and responses with another text."""

from collections.abc import Iterator, Sequence
from typing import Any

from agents import (
    CodeInterpreterTool,
    FileSearchTool,
    FunctionTool,
    HostedMCPTool,
    ImageGenerationTool,
    ToolSearchTool,
    WebSearchTool,
)
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseCreatedEvent,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from assay.integrations.run_gate import RunGate, run_from, text_parts, tool_result, was_not_executed
from assay.schema.run import Executor, ModelTurn, Run, Step, SystemPrompt, ToolDeclaration, ToolResult
from assay.schema.traces import read_steps

_HOSTED = (FileSearchTool, WebSearchTool, HostedMCPTool, ImageGenerationTool, CodeInterpreterTool, ToolSearchTool)


def hosted(tool: Any) -> bool:
    """Whether the provider runs the tool, so that it has run when its call is seen."""
    return isinstance(tool, _HOSTED)


def run_of(gate: RunGate, request: Any, output: list[Any] | str, stop_reason: str | None = None) -> Run:
    """The run up to a response: its items, or the words of an answer in their place, and why they ended."""
    declared = [*map(_declaration, request.tools), *map(_handoff, request.handoffs)]
    steps: list[Step] = [*gate.declared(declared)]
    if request.system:
        steps.append(SystemPrompt(content=text_parts(request.system)))
    said = [] if isinstance(output, str) else [item.model_dump(exclude_unset=True) for item in output]
    steps += map(_marked, read_steps([*request.items, *said], format="openai_responses"))
    if isinstance(output, str):
        steps.append(ModelTurn(content=text_parts(output), stop_reason=stop_reason))
    return run_from(steps)


def stop_reason(output: Sequence[Any]) -> str | None:
    """`incomplete` where a message of the response is; the SDK keeps no other reason."""
    return "incomplete" if any(item.type == "message" and item.status == "incomplete" for item in output) else None


def _declaration(tool: Any) -> ToolDeclaration | dict[str, Any]:
    if isinstance(tool, FunctionTool):
        return {"name": tool.name, "description": tool.description, "parameters": tool.params_json_schema}
    return ToolDeclaration(name=tool.name, type=tool.name, executor=Executor.PROVIDER)


def _handoff(handoff: Any) -> dict[str, Any]:
    schema = handoff.input_json_schema or {"type": "object", "properties": {}}
    return {"name": handoff.tool_name, "description": handoff.tool_description, "parameters": schema}


def _marked(step: Step) -> Step:
    """A step; where it is the refusal of a call it is an error, which the items of the SDK cannot say."""
    if isinstance(step, ToolResult) and was_not_executed(step.text):
        return tool_result(step.call_id, step.name, step.text, failed=True)
    return step


def calls_of(output: Sequence[Any], tools: Sequence[Any]) -> list[Any]:
    """The calls of functions that this program would run; a handoff is none."""
    names = {tool.name for tool in tools if isinstance(tool, FunctionTool)}
    return [item for item in output if item.type == "function_call" and item.name in names]


def text_of(output: Sequence[Any]) -> str:
    """What a response says to its reader, refusals included."""
    parts = [part for item in output if item.type == "message" for part in item.content]
    return "".join(part.text if part.type == "output_text" else part.refusal for part in parts)


def with_text(output: Sequence[Any], text: str) -> list[Any]:
    """The items of a response with another text in the place of its own."""
    messages = [item for item in output if item.type == "message"]
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    said = messages[-1].model_copy(update={"content": [part]})
    return [*(item for item in output if item.type != "message"), said]


def events_of(response: Response) -> Iterator[Any]:
    """The events of a response that did not come as a stream, its text in one piece."""
    number = iter(range(1_000_000))
    yield ResponseCreatedEvent(type="response.created", response=response, sequence_number=next(number))
    for index, item in enumerate(response.output):
        yield ResponseOutputItemAddedEvent(
            type="response.output_item.added", item=item, output_index=index, sequence_number=next(number)
        )
        if item.type == "message":
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                delta=text_of([item]),
                item_id=item.id,
                output_index=index,
                content_index=0,
                logprobs=[],
                sequence_number=next(number),
            )
        yield ResponseOutputItemDoneEvent(
            type="response.output_item.done", item=item, output_index=index, sequence_number=next(number)
        )
    yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=next(number))
