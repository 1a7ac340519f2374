"""Google's Agent Development Kit: a plugin that checks every tool call and every answer of an app's agents.

    from assay.integrations.agents.google_adk import AssayPlugin
    app = App(name="shop", root_agent=agent, plugins=[AssayPlugin(guard)])  # then Runner(app=app, ...)

Calls are checked in `before_tool_callback`: one that is rejected is not executed, and the model gets the reasons as its
result. Answers are checked in `after_model_callback`, before they are an event of the session; corrections are asked of
the agent's own model within the same step. The partial responses of a stream are held back, and the whole one comes
when it is checked. Live (bidirectional) runs speak before anything can be checked, and are refused.

The kit wraps errors of plugins in a `RuntimeError`, which has ours as its cause. Put the plugin first: the first one
that answers a callback is the last that is asked. Traces show the model's raw words. The extra `google-adk` installs
what this needs; tested with google-adk 2.13.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import Guard
from assay.integrations.run_gate import (
    GateOptions,
    Recent,
    RunGate,
    before_call,
    in_words,
    missing,
    not_executed,
    plain,
    run_from,
    text_parts,
    tool_result,
    was_not_executed,
)
from assay.rewrite.revise import Feedback
from assay.schema.run import ModelTurn, Run, Step, SystemPrompt, ToolCall, UserInput, read_argument_object

try:
    from google.adk.models import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.genai import types
except ImportError as error:
    raise missing("google-adk", error, "assay.integrations.agents") from error

__all__ = ["AssayPlugin"]

_HANDOVER = "transfer_to_agent"
"""The call by which an agent hands over to another; it does nothing outside of the run."""
_STRUCTURED = "set_model_response"
"""The call by which a model without structured output gives a structured answer."""


class AssayPlugin(BasePlugin):
    """Checks every tool call before it is executed, and every answer before it is in the session.

    One may serve many runners. Of a run it keeps what the model was asked last; the rest is in the session.
    """

    def __init__(self, guard: Guard, *, name: str = "assay", **options: Unpack[GateOptions]) -> None:
        """Make the plugin.

        Args:
            guard: what checks.
            name: the plugin's name, one for each runner.
            options: those of `assay.integrations.run_gate.RunGate`; `on_withheld` is `answer` by default.
        """
        super().__init__(name=name)
        gate_options: GateOptions = {"on_withheld": "answer", **options}
        self._gate = RunGate(guard, **gate_options)
        self._asked: Recent[Any] = Recent()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        """Keep what the model is asked, which knows the tools and the instructions.

        Raises:
            InputError: the run is live.
        """
        if callback_context.get_invocation_context().live_request_queue is not None:
            raise InputError("a live run speaks before its words can be checked: run the agent with run_async")
        self._asked.put(_place(callback_context), llm_request)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        """Check what the model wants to call or to say.

        Returns:
            The response in its place; none where it may go on as it is.

        Raises:
            WithheldError: the answer does not pass, and `on_withheld` is `raise` or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and `on_withheld` is `raise`.
        """
        if llm_response.partial:
            return LlmResponse(partial=True)  # without content nothing of it becomes an event
        request = self._asked.get(_place(callback_context))
        if request is None:
            raise InputError("the model answered what this plugin has not seen it asked: nothing of it comes out")
        parts = list(llm_response.content.parts or ()) if llm_response.content is not None else []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        if not any(part.function_call for part in parts):
            said = await self._said(callback_context, request, text) if text.strip() else text
            return None if said == text else _saying(llm_response, said)
        run = self._run(callback_context, request, _steps("model", parts))
        try:
            for step in run.steps[len(run.steps) - sum(part.function_call is not None for part in parts) :]:
                if isinstance(step, ToolCall) and step.name not in (_HANDOVER, _STRUCTURED):
                    await self._gate.adecide(*before_call(run, step.id))
        except CallRejectedError as error:
            return _saying(llm_response, self._gate.instead_of_calls(error))
        if not text.strip() or await self._gate.abeside(self._run(callback_context, request, _turn(text))):
            return None
        quiet = types.Content(role="model", parts=[part for part in parts if not part.text or part.thought])
        return llm_response.model_copy(update={"content": quiet})

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """The reasons why a call is not executed, as its result; none where it may be.

        Raises:
            WithheldError: the call is a structured answer that does not pass.
        """
        if tool.name == _HANDOVER:
            return None
        request = self._asked.get(_place(tool_context))
        run = self._run(tool_context, request, ())
        earlier, asked = before_call(run, tool_context.function_call_id)
        if asked is None or asked.name != tool.name or asked.arguments != _arguments(tool_args):
            return {"error": not_executed(tool.name)}
        if tool.name == _STRUCTURED:
            steps = (*earlier.steps, *_turn(in_words(tool_args)))
            await replace(self._gate, on_withheld="raise").aanswer(earlier.model_copy(update={"steps": steps}))
            return None
        decision = await self._gate.adecide(earlier, asked)
        return None if decision.accepted else {"error": decision.message}

    async def _said(self, context: Any, request: Any, text: str) -> str:
        config = request.config
        structured = config.response_schema is not None or config.response_json_schema is not None
        if structured:
            words = in_words(_parsed(text))
            await replace(self._gate, on_withheld="raise").aanswer(self._run(context, request, _turn(words)))
            return text

        async def author(feedback: Feedback) -> str:
            more = [
                types.Content(role="model", parts=[types.Part(text=feedback.output)]),
                types.Content(role="user", parts=[types.Part(text=feedback.text)]),
            ]
            again = request.model_copy(update={"contents": [*request.contents, *more]})
            model = context.get_invocation_context().agent.canonical_model
            found = [response async for response in model.generate_content_async(again, stream=False)]
            parts = [part for one in found if one.content is not None for part in one.content.parts or ()]
            if any(part.function_call for part in parts):
                return feedback.output
            return "".join(part.text for part in parts if part.text and not part.thought)

        return await self._gate.aanswer(self._run(context, request, _turn(text)), author)

    def _run(self, context: Any, request: Any, end: Iterable[Step]) -> Run:
        """What the session has seen, and what it ends with."""
        steps: list[Step] = [*self._gate.declared(_declared(request))]
        told = "" if request is None else _instructions(request.config.system_instruction)
        if told.strip():
            steps.append(SystemPrompt(content=text_parts(told)))
        for event in context.session.events:
            if event.content is not None and not event.partial:
                steps += _steps(event.author, event.content.parts or ())
        return run_from([*steps, *end])


def _place(context: Any) -> str:
    return f"{context.invocation_id} {context.agent_name}"


def _parsed(text: str) -> Any:
    """A structured answer; what is no JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _saying(response: Any, text: str) -> Any:
    """A response that says something else; it keeps what the other cost, not what it said."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, usage_metadata=response.usage_metadata, model_version=response.model_version)


def _turn(text: str) -> list[Step]:
    return [ModelTurn(content=text_parts(text))] if text else []


def _instructions(given: Any) -> str:
    """The system instruction of a request as text."""
    if given is None or isinstance(given, str):
        return given or ""
    if isinstance(given, list):
        return "\n".join(map(_instructions, given))
    parts = given.parts or () if isinstance(given, types.Content) else (given,)
    return "\n".join(part.text for part in parts if getattr(part, "text", None))


def _declared(request: Any) -> list[dict[str, Any]]:
    """The functions that a request declares, as the model is told of them."""
    found: list[dict[str, Any]] = []
    for tool in (request.config.tools or ()) if request is not None else ():
        for one in getattr(tool, "function_declarations", None) or ():
            schema = one.parameters_json_schema or (_plain_schema(one.parameters) if one.parameters else None)
            found.append(
                {
                    "name": one.name,
                    "description": one.description or "",
                    "parameters": schema or {"type": "object", "properties": {}},
                }
            )
    return found


def _plain_schema(schema: Any) -> Any:
    """A schema of Gemini's own form, whose types are in capitals, as JSON Schema."""
    return _lowered(schema.model_dump(mode="json", exclude_none=True, by_alias=True))


def _lowered(value: Any) -> Any:
    if isinstance(value, list):
        return [_lowered(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: one.lower() if key == "type" and isinstance(one, str) else _lowered(one)
        for key, one in value.items()
        if key not in {"propertyOrdering", "property_ordering", "nullable"}
    }


def _steps(author: str, parts: Iterable[Any]) -> list[Step]:
    """The steps of one event; what is said comes before what is called."""
    said, found = "", list[Step]()
    for number, part in enumerate(parts):
        if part.function_call is not None:
            call = part.function_call
            found.append(
                ToolCall(id=call.id or f"call-{number}", name=call.name, arguments=_arguments(call.args or {}))
            )
        elif part.function_response is not None:
            given = part.function_response
            result = _result(given.response)
            failed = isinstance(given.response, dict) and "error" in given.response
            failed = failed or (isinstance(result, str) and was_not_executed(result))
            found.append(tool_result(given.id, given.name, result, failed=failed))
        elif part.text and not part.thought:
            said += part.text
    if not said:
        return found
    return [UserInput(content=text_parts(said)) if author == "user" else ModelTurn(content=text_parts(said)), *found]


def _result(response: Any) -> Any:
    """What a function gave; the kit puts what is no object under a name of its own."""
    if isinstance(response, dict) and len(response) == 1:
        for name in ("result", "error"):
            if name in response:
                return response[name] if response[name] not in (None, "") else "done"
    return response or "done"


def _arguments(given: Any) -> Any:
    return read_argument_object(plain(given))
