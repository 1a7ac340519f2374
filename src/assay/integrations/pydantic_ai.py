"""PydanticAI: a capability that checks calls and outputs, and its two parts, a toolset and an output validator.

`AssayCapability` in `Agent(capabilities=[...])` does everything. A call that is rejected raises `ModelRetry`, and so
does an output that does not pass: the framework sends the reasons to the model and counts its own `retries`. An output
that still does not pass then is a `WithheldError`, or with `on_withheld="answer"` the policy's words if it is text.
What the model says beside its calls is checked too, and taken out of the response where it does not pass.

Streaming: the capability has the model answer in one piece, checks that, asks for corrections where it fails, and only
then gives out its events; what does not pass raises before its first word. `checked_output` alone cannot do that and
refuses to check a stream.

The extra `pydantic-ai` installs what this needs; tested with pydantic-ai-slim 2.68.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Unpack

from assay.errors import InputError, WithheldError
from assay.guard import Guard
from assay.integrations.agents.turns import correction
from assay.integrations.run_gate import GateOptions, RunGate, before_call, in_words, missing
from assay.policy import fallback_response
from assay.rewrite.revise import Feedback

try:
    from pydantic_ai import DeferredToolRequests, ModelRetry
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
    from pydantic_ai.models import CompletedStreamedResponse
    from pydantic_ai.models.wrapper import WrapperModel
    from pydantic_ai.toolsets import WrapperToolset

    from assay.integrations.frameworks.pydantic_ai_messages import as_executed, executing, keep, run_of
except ImportError as error:
    raise missing("pydantic-ai", error) from error

__all__ = ["AssayCapability", "CheckedToolset", "checked_output"]


class AssayCapability(AbstractCapability[Any]):
    """Checks every tool call before it is executed and every output before it comes out, streamed or not.

    It keeps nothing of a run: one may serve many agents and runs.
    """

    def __init__(self, guard: Guard, **options: Unpack[GateOptions]) -> None:
        """Make the capability.

        Args:
            guard: what checks.
            options: those of `assay.integrations.run_gate.RunGate`. `retries` is the tool's own by default; `attempts`
                is bounded by the agent's `retries` for outputs.
        """
        self._gate = RunGate(guard, **options)
        self._check = _output_check(self._gate, streams=True)

    def get_wrapper_toolset(self, toolset: Any) -> Any:
        """The agent's tools behind the check of their calls."""
        return CheckedToolset(toolset, self._gate)

    def get_wrapper_model(self, model: Any) -> Any:
        """The model, holding back what it streams until it is checked."""
        return _HeldBack(model, self._gate)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:  # noqa: ARG002 the hook's own names
        """Check the calls of external tools, and what is said beside calls.

        Whoever executes external tools does so behind the run, where nothing checks them. Text beside calls that does
        not pass is taken out of the response.

        Raises:
            ModelRetry: one is rejected; the whole response goes back.
        """
        tools = request_context.model_request_parameters.function_tools
        external = {tool.name for tool in tools if tool.kind == "external"}
        run = run_of(self._gate.declared(_declared(tools)), [*request_context.messages, response])
        for call in response.tool_calls:
            if call.tool_name in external:
                decision = await self._gate.adecide(*before_call(run, call.tool_call_id))
                if not decision.accepted:
                    raise ModelRetry(decision.message)
        return await _quiet(self._gate, _declared(tools), request_context.messages, response)

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:  # noqa: ARG002 the hook's own names
        """Execute a tool; the check before it learns with which arguments a person has approved the call."""
        with executing(call):
            return await handler(args)

    async def after_output_process(self, ctx: Any, *, output_context: Any, output: Any) -> Any:  # noqa: ARG002 the hook's own names
        """Check an output; see `checked_output`."""
        return await self._check(ctx, output)


@dataclass
class CheckedToolset(WrapperToolset[Any]):
    """A toolset whose tools are executed only if the call passes; otherwise the model is asked to mend the call.

    What is checked is what is executed. Where a person approves a call with other arguments
    (`ToolApproved(override_args=...)`), the values that the model did not send are the person's word, as if a user had
    said them before the call; what the person leaves as it is stays the model's, and so does what hooks change. Only
    `AssayCapability` tells a person's arguments from a hook's: to the toolset alone they are nobody's word.
    """

    gate: RunGate | Guard

    async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        """Execute a tool.

        Raises:
            ModelRetry: the call is rejected; the message is for the model.
            CallRejectedError: the model was told to stop, and did not.
        """
        gate = self.gate if isinstance(self.gate, RunGate) else RunGate(self.gate)
        retries = ctx.max_retries if gate.retries is None else gate.retries
        declared = _declared(tool.tool_def for tool in (await self.get_tools(ctx)).values())
        run = run_of(gate.declared(declared), ctx.messages)
        run, call, changed = as_executed(*before_call(run, ctx.tool_call_id), tool_args, ctx, tool)
        decision = await replace(gate, retries=retries).adecide(run, call)
        if not decision.accepted:
            raise ModelRetry(decision.message)
        if changed is not None:
            keep(ctx, changed)
        return await super().call_tool(name, tool_args, ctx, tool)


def checked_output(guard: Guard, **options: Unpack[GateOptions]) -> Callable[[Any, Any], Awaitable[Any]]:
    """An output validator: `agent.output_validator(checked_output(guard))`.

    Args:
        guard: what checks.
        options: those of `RunGate`.

    Returns:
        The validator. It raises `ModelRetry` with the findings while retries are left, then `WithheldError`; and
        `InputError` in a stream, which would show an output before it is checked.
    """
    return _output_check(RunGate(guard, **options), streams=False)


def _output_check(gate: RunGate, *, streams: bool) -> Callable[[Any, Any], Awaitable[Any]]:
    async def checked(ctx: Any, output: Any) -> Any:
        if isinstance(output, DeferredToolRequests):  # the run waits for someone: there is no answer yet
            return output
        if ctx.partial_output:
            if streams:
                return output  # of what was held back, and checked
            raise InputError("a stream shows an output before it is checked: use AssayCapability, or do not stream")
        tools = ctx.tool_manager.tools if ctx.tool_manager is not None and ctx.tool_manager.tools is not None else {}
        declared = gate.declared(_declared(tool.tool_def for tool in tools.values()))
        said = list(ctx.messages)
        last = said.pop() if said and isinstance(said[-1], ModelResponse) else None
        stopped = None if last is None else last.finish_reason
        report = await gate.areport(run_of(declared, said, in_words(output), stopped), ctx.retry)
        if gate.passes(report):
            return gate.words(report) if isinstance(output, str) else output
        left = min(ctx.max_retries, gate.versions()) - ctx.retry
        if left > 0 and (feedback := gate.feedback(report, left)) is not None:
            raise ModelRetry(feedback)
        if not isinstance(output, str):
            raise WithheldError(fallback_response(report), report)
        return gate.words(report)

    return checked


class _HeldBack(WrapperModel):
    """A model whose streams begin when they are whole and checked."""

    def __init__(self, wrapped: Any, gate: RunGate) -> None:
        super().__init__(wrapped)
        self._gate = replace(gate, on_withheld="raise")

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[Any],
        model_settings: Any,
        model_request_parameters: Any,
        run_context: Any = None,  # noqa: ARG002 the framework's own signature
    ) -> AsyncIterator[Any]:
        """The stream of a response that was checked: its answer passes, or it calls tools."""
        asked = (model_settings, model_request_parameters)
        response = await self._settled(messages, asked, await self.wrapped.request(messages, *asked))
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)

    async def _settled(self, messages: list[Any], asked: tuple[Any, Any], response: Any) -> Any:
        outputs = {tool.name for tool in asked[1].output_tools}
        declared = self._gate.declared(_declared(asked[1].function_tools))
        answers = [call for call in response.tool_calls if call.tool_name in outputs]
        for call in answers:
            await self._gate.aanswer(run_of(declared, messages, in_words(call.args_as_dict()), response.finish_reason))
        if response.tool_calls or not response.text:
            return await _quiet(self._gate, _declared(asked[1].function_tools), messages, response)

        async def author(feedback: Feedback) -> str:
            more = [ModelResponse(parts=[TextPart(feedback.output)]), ModelRequest([UserPromptPart(feedback.text)])]
            found = await self.wrapped.request([*messages, *more], *asked)
            return correction(feedback, found.text or "", found.finish_reason, calls=bool(found.tool_calls))

        said = await self._gate.aanswer(run_of(declared, messages, response.text, response.finish_reason), author)
        if said == response.text:
            return response
        parts = [part for part in response.parts if not isinstance(part, TextPart)]
        return replace(response, parts=[*parts, TextPart(said)])


async def _quiet(gate: RunGate, tools: list[dict[str, Any]], messages: list[Any], response: Any) -> Any:
    """A response without what it says beside its calls, where that does not pass."""
    if not response.tool_calls or not (response.text or "").strip():
        return response
    if await gate.abeside(run_of(gate.declared(tools), messages, response.text, response.finish_reason)):
        return response
    return replace(response, parts=[part for part in response.parts if not isinstance(part, TextPart)])


def _declared(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Definitions of tools as the model is told of them."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters_json_schema}
        for tool in tools
        if tool.kind != "output"
    ]
