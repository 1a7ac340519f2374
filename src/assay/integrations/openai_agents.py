"""The OpenAI Agents SDK: tool guardrails, an output guardrail, and the model between them that sees the whole history.

The SDK shows a guardrail the call or the output, but not what the run has seen. So `AssayGuardrails(guard).agent(...)`
puts three things around an agent: its model, which reads each request and response and checks them; a guardrail on
each tool, which rejects the calls that failed (`reject_content`, and `raise_exception` once the model was told to stop
and did not); and an output guardrail, whose tripwire stops an answer that the model did not check.

An answer that does not pass goes back to the model with what is wrong; what still fails raises the SDK's own
`OutputGuardrailTripwireTriggered` with the report in `output_info`, or with `on_withheld="answer"` becomes the policy's
words. What the model says beside its calls is checked too, and taken out of the response where it does not pass; the
calls go on. A stream is held back until its response is checked: what passes is replayed event by event.

The extra `openai-agents` installs what this needs; tested with openai-agents 0.24.
"""

import copy
import hashlib
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError, WithheldError
from assay.guard import CallDecision, Guard
from assay.integrations.agents.turns import call_before, correction
from assay.integrations.run_gate import GateOptions, Recent, RunGate, in_words, missing, not_executed
from assay.rewrite.revise import Feedback
from assay.schema.run import read_arguments

try:
    from agents import (
        Agent,
        FunctionTool,
        GuardrailFunctionOutput,
        Model,
        OutputGuardrail,
        OutputGuardrailResult,
        OutputGuardrailTripwireTriggered,
        ToolGuardrailFunctionOutput,
        ToolInputGuardrail,
    )
    from agents.exceptions import ModelBehaviorError
    from agents.models.multi_provider import MultiProvider

    from assay.integrations.frameworks.openai_agents_items import (
        calls_of,
        events_of,
        hosted,
        run_of,
        stop_reason,
        text_of,
        with_text,
    )
except ImportError as error:
    raise missing("openai-agents", error) from error

__all__ = ["AssayGuardrails", "CheckedModel"]


class AssayGuardrails:
    """The guardrails of agents; one set may serve many agents and runs."""

    def __init__(self, guard: Guard, **options: Unpack[GateOptions]) -> None:
        """Make the guardrails.

        Args:
            guard: what checks.
            options: those of `assay.integrations.run_gate.RunGate`.
        """
        self.gate = RunGate(guard, **options)
        self.tool_guardrail: Any = ToolInputGuardrail(self._tool, name="assay")
        """For `FunctionTool.tool_input_guardrails` and for MCP servers; rejects every call that was not checked."""
        self.output_guardrail: Any = OutputGuardrail(self._output, name="assay")
        """For `Agent.output_guardrails`; stops every answer that was not checked."""
        self._calls = _Decisions()
        self._answers: Recent[bool] = Recent()

    def agent(self, agent: Any, *, provider: Any = None) -> Any:
        """The agent behind the guardrails, with the agents that it may hand over to.

        Args:
            agent: the agent; it is not changed.
            provider: what finds models by name; the SDK's own by default.

        Raises:
            InputError: it has tools that run on this machine and that no guardrail can stop, or an MCP server without
                `tool_guardrail` among its `tool_input_guardrails`.
        """
        return self._agent(agent, provider or MultiProvider(), {})

    def _agent(self, agent: Any, provider: Any, made: dict[int, Any]) -> Any:
        if id(agent) in made:
            return made[id(agent)]
        for server in agent.mcp_servers:
            if self.tool_guardrail not in (getattr(server, "tool_input_guardrails", None) or ()):
                raise InputError(
                    f"the MCP server {server.name!r} runs tools without a check: "
                    "make it with tool_input_guardrails=[guardrails.tool_guardrail]"
                )
        inner = agent.model if isinstance(agent.model, Model) else provider.get_model(agent.model)
        clone = made[id(agent)] = agent.clone(
            tools=[self._guarded(tool) for tool in agent.tools],
            output_guardrails=[*agent.output_guardrails, self.output_guardrail],
        )
        clone.model = CheckedModel(inner, self, clone)
        clone.handoffs = [
            self._agent(one, provider, made) if isinstance(one, Agent) else one for one in agent.handoffs
        ]  # a Handoff names its own agent, which is to be put behind guardrails where it is made
        return clone

    def _guarded(self, tool: Any) -> Any:
        if isinstance(tool, FunctionTool):
            return replace(tool, tool_input_guardrails=[*(tool.tool_input_guardrails or ()), self.tool_guardrail])
        if hosted(tool):
            return tool
        raise InputError(f"no guardrail can stop a {type(tool).__name__}; give the agent function tools instead")

    def _tool(self, data: Any) -> Any:
        known = self._calls.on(data.context)
        if known is None:
            return ToolGuardrailFunctionOutput.reject_content(not_executed(data.context.tool_name))
        if isinstance(known, CallRejectedError):
            return ToolGuardrailFunctionOutput.raise_exception(known)
        if known.accepted:
            return ToolGuardrailFunctionOutput.allow(known.validation)
        return ToolGuardrailFunctionOutput.reject_content(known.message, known.validation)

    def _output(self, context: Any, agent: Any, output: Any) -> Any:  # noqa: ARG002 the SDK's own signature
        checked = self._answers.get(in_words(output)) is not None
        return GuardrailFunctionOutput("checked" if checked else "not checked", tripwire_triggered=not checked)

    async def settle(self, request: "_Request", response: Any, agent: Any) -> Any:
        """A response as it may go on: its calls decided, its answer checked and where it must be, another one.

        Raises:
            OutputGuardrailTripwireTriggered: the answer does not pass, and the options ask for errors.
        """
        run = run_of(self.gate, request, response.output)
        for call in calls_of(response.output, request.tools):
            known: CallDecision | CallRejectedError
            try:
                known = await self.gate.adecide(
                    *call_before(run, call.call_id, call.name, read_arguments(call.arguments))
                )
            except CallRejectedError as error:
                known = error
            self._calls.put(call, request.items, known)
        text, stopped = text_of(response.output), stop_reason(response.output)
        if not text:
            return response
        if any(item.type == "function_call" for item in response.output):
            if await self.gate.abeside(run_of(self.gate, request, text, stopped)):
                return response
            return _replaced(response, [item for item in response.output if item.type != "message"])
        schema = request.schema if request.schema is not None and not request.schema.is_plain_text() else None
        words = text if schema is None else in_words(schema.validate_json(text))
        gate = self.gate if schema is None else replace(self.gate, on_withheld="raise")
        try:
            run = run_of(self.gate, request, words, stopped)
            said = await gate.aanswer(run, request.author if schema is None else None)
        except WithheldError as error:
            found = GuardrailFunctionOutput(error.report, tripwire_triggered=True)
            raise OutputGuardrailTripwireTriggered(
                OutputGuardrailResult(self.output_guardrail, text, agent, found)
            ) from error
        self._answers.put(said, True)
        return response if said == words else _replaced(response, with_text(response.output, said))


class CheckedModel(Model):
    """A model whose responses are checked against the whole request, streamed or not."""

    def __init__(self, inner: Any, guardrails: AssayGuardrails, agent: Any = None) -> None:
        """Put a model behind guardrails; `agent` is named in their errors."""
        self._inner = inner
        self._guardrails = guardrails
        self._agent = agent

    async def close(self) -> None:
        """Release what the model holds."""
        await self._inner.close()

    def get_retry_advice(self, request: Any) -> Any:
        """The model's own advice on a request that failed."""
        return self._inner.get_retry_advice(request)

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **named: Any) -> Any:  # noqa: A002 the SDK's own name
        """The checked response."""
        request = _Request(self._inner, system_instructions, input, args, named)
        return await self._guardrails.settle(request, _own(await request.ask(request.items)), self._agent)

    async def stream_response(
        self,
        system_instructions: Any,
        input: Any,  # noqa: A002 the SDK's own name
        *args: Any,
        **named: Any,
    ) -> AsyncIterator[Any]:
        """The events of a response, once it is whole and checked."""
        request = _Request(self._inner, system_instructions, input, args, named)
        events = [event async for event in self._inner.stream_response(system_instructions, input, *args, **named)]
        whole = [event.response for event in events if event.type == "response.completed"]
        if not whole:
            raise ModelBehaviorError("the stream ended before its response was complete: nothing of it was checked")
        own = _own(whole[-1])
        settled = await self._guardrails.settle(request, own, self._agent)
        for event in events if settled is own else events_of(settled):
            yield event.model_copy(update={"response": settled}) if event.type == "response.completed" else event


class _Request:
    """What a model was asked, and how it is asked once more."""

    def __init__(self, model: Any, system: Any, given: Any, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        if named.get("previous_response_id") or named.get("conversation_id"):
            raise InputError(
                "the provider keeps the history of this run, so nothing can be traced in it: "
                "run without previous_response_id and conversation_id, with a Session where one is needed"
            )
        self._model, self._args, self._named = model, args, named
        self.system = system
        self.items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        names = ("model_settings", "tools", "output_schema", "handoffs", "tracing")
        asked = {**dict(zip(names, args, strict=False)), **named}
        self.tools, self.schema, self.handoffs = asked["tools"], asked["output_schema"], asked["handoffs"]

    async def ask(self, items: list[Any]) -> Any:
        return await self._model.get_response(self.system, items, *self._args, **self._named)

    async def author(self, feedback: Feedback) -> str:
        """The model's own corrected version; the same again where it calls tools instead or is cut off."""
        more = [{"role": "assistant", "content": feedback.output}, {"role": "user", "content": feedback.text}]
        found = (await self.ask([*self.items, *more])).output
        calls = any(item.type == "function_call" for item in found)
        return correction(feedback, text_of(found), stop_reason(found), calls=calls)


def _replaced(response: Any, output: list[Any]) -> Any:
    """A response with other items: the SDK's own kind, or the provider's where it was streamed."""
    copied = copy.copy(response)
    copied.output = output
    return copied


def _own(response: Any) -> Any:
    """The response with items of this run's own: a model may give one from its cache to many runs."""
    return _replaced(response, [copy.copy(item) for item in response.output])


@dataclass(frozen=True, slots=True)
class _Decided:
    """The decision on one call of one response."""

    call: Any
    arguments: str
    found: CallDecision | CallRejectedError


class _Decisions:
    """The last decisions on calls: each holds for its own call alone, since ids of models come again in other runs.

    A run that was paused for a person's approval goes on with copies of its calls. A decision on a call with the same
    id, name, arguments and user's words is taken for one; where there are several, the first that refused.
    """

    def __init__(self) -> None:
        self._calls: Recent[_Decided] = Recent()
        self._alike: Recent[CallDecision | CallRejectedError] = Recent()

    def put(self, call: Any, items: Iterable[Any], found: CallDecision | CallRejectedError) -> None:
        """Keep the decision on a call of the response to these items."""
        self._calls.put(str(id(call)), _Decided(call, call.arguments, found))  # it keeps the call, and so its identity
        key = _key(call.call_id, call.name, call.arguments, items)
        before = self._alike.get(key)
        if before is None or (isinstance(before, CallDecision) and before.accepted):
            self._alike.put(key, found)

    def on(self, context: Any) -> CallDecision | CallRejectedError | None:
        """The decision on a call that is to be executed; none where there is none, or its arguments are others."""
        call = context.tool_call
        known = self._calls.get(str(id(call)))
        if known is not None and known.call is call:
            same = (call.call_id, call.name) == (context.tool_call_id, context.tool_name)
            return known.found if same and context.tool_arguments == call.arguments == known.arguments else None
        return self._alike.get(
            _key(context.tool_call_id, context.tool_name, context.tool_arguments, context.turn_input)
        )


def _key(call_id: str, name: str, arguments: str, items: Iterable[Any]) -> str:
    """A digest of what calls have in common that are taken for one, as far as a paused run still tells it."""
    said = [one.get("content") for one in items if isinstance(one, dict) and one.get("role") == "user"]
    spelled = json.dumps([call_id, name, arguments, said], sort_keys=True, default=repr)
    return hashlib.sha256(spelled.encode()).hexdigest()
