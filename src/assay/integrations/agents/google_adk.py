"""Google's Agent Development Kit: a plugin that checks every tool call and every answer of an app's agents.

    from assay.integrations.agents.google_adk import AssayPlugin
    app = App(name="shop", root_agent=agent, plugins=[AssayPlugin(guard)])  # then Runner(app=app, ...)

Calls are checked in `before_tool_callback`: one that is rejected is not executed, and the model gets the reasons as its
result. Answers are checked in `after_model_callback`, before they are an event of the session; corrections are asked of
the agent's own model within the same step. The partial responses of a stream are held back, and the whole one comes
when it is checked. Live (bidirectional) runs speak before anything can be checked, and are refused, as are agents that
execute the code that a model writes.

The kit wraps errors of plugins in a `RuntimeError`, which has ours as its cause. Put the plugin first: the first one
that answers a callback is the last that is asked. Traces show the model's raw words. The extra `google-adk` installs
what this needs; tested with google-adk 2.13.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any, Final, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import Guard
from assay.integrations.agents.turns import (
    arguments,
    call_before,
    correction,
    ending,
    instead_of_unread,
    last_calls,
    parsed,
    turn,
)
from assay.integrations.run_gate import (
    GateOptions,
    Recent,
    RunGate,
    in_words,
    missing,
    not_executed,
    run_from,
    text_parts,
    tool_result,
    was_not_executed,
)
from assay.rewrite.revise import Feedback
from assay.schema.run import Run, Step, SystemPrompt, ToolCall, UserInput

try:
    from google.adk.code_executors import BuiltInCodeExecutor
    from google.adk.flows.llm_flows.functions import (
        REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
        REQUEST_EUC_FUNCTION_CALL_NAME,
    )
    from google.adk.models import LlmResponse
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.set_model_response_tool import SetModelResponseTool
    from google.adk.tools.transfer_to_agent_tool import TransferToAgentTool
    from google.genai import types
except ImportError as error:
    raise missing("google-adk", error, "assay.integrations.agents") from error

__all__ = ["AssayPlugin"]

_READ: Final = frozenset({"text", "thought", "thought_signature", "function_call"})
"""What a part of a response may have and go on. The kit's parts have more (`google.genai.types.Part`), such as code,
what it printed, files and images: nobody reads them here, so such parts are withheld."""
_BESIDE: Final = frozenset(
    {"part_metadata", "media_resolution", "video_metadata", "media_processing", "speech_metadata"}
)
"""What a part has beside what it shows."""


_QUESTIONS: Final = frozenset({REQUEST_CONFIRMATION_FUNCTION_CALL_NAME, REQUEST_EUC_FUNCTION_CALL_NAME})
"""Calls in which the kit asks a person to confirm another call, or to log in."""


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
            InputError: the run is live, or the agent executes code that its model writes.
        """
        here = callback_context.get_invocation_context()
        if here.live_request_queue is not None or (here.run_config is not None and here.run_config.support_cfc):
            raise InputError(
                "a live run speaks before its words can be checked: run the agent with run_async, without support_cfc"
            )
        executor = getattr(here.agent, "code_executor", None)
        if executor is not None and not isinstance(executor, BuiltInCodeExecutor):
            raise InputError(
                f"a {type(executor).__name__} executes what a model writes, and no check reads code: "
                "give the agent tools"
            )
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
        given = list(llm_response.content.parts or ()) if llm_response.content is not None else []
        parts = [part for part in given if _shown(part) <= _READ]
        unread = [kind for part in given for kind in _shown(part) - _READ]
        read = _with_parts(llm_response, parts) if unread or llm_response.output_transcription else None
        text, stop = _text_of(parts), llm_response.finish_reason
        calls = [part.function_call for part in parts if part.function_call is not None]
        if not calls:
            if not text.strip():
                return _saying(llm_response, instead_of_unread(self._gate, unread)) if unread else read
            said = await self._said(callback_context, request, text, stop)
            return read if said == text else _saying(llm_response, said)
        run = self._run(callback_context, request, _steps("model", parts))
        try:
            for earlier, asked in last_calls(run, len(calls)):
                if not isinstance(request.tools_dict.get(asked.name), TransferToAgentTool | SetModelResponseTool):
                    await self._gate.adecide(earlier, asked)
        except CallRejectedError as error:
            return _saying(llm_response, self._gate.instead_of_calls(error))
        if not text.strip():
            return read
        if await self._gate.abeside(ending(self._run(callback_context, request), text, stop)):
            return read
        return _with_parts(llm_response, [part for part in parts if not part.text or part.thought])

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """The reasons why a call is not executed, as its result; none where it may be.

        Raises:
            WithheldError: the call is a structured answer that does not pass.
        """
        if isinstance(tool, TransferToAgentTool):
            return None  # it does nothing outside of the run
        run = self._run(tool_context, self._asked.get(_place(tool_context)))
        earlier, asked = call_before(run, tool_context.function_call_id, tool.name, tool_args)
        if asked is None:
            return {"error": not_executed(tool.name)}
        if isinstance(tool, SetModelResponseTool):  # a structured answer of a model that has no form for one
            await replace(self._gate, on_withheld="raise").aanswer(ending(earlier, in_words(tool_args)))
            return None
        decision = await self._gate.adecide(earlier, asked)
        return None if decision.accepted else {"error": decision.message}

    async def _said(self, context: Any, request: Any, text: str, stop: Any) -> str:
        config, run = request.config, self._run(context, request)
        if config.response_schema is not None or config.response_json_schema is not None:
            await replace(self._gate, on_withheld="raise").aanswer(ending(run, in_words(parsed(text)), stop))
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
            ends = [one.finish_reason for one in found if one.finish_reason is not None]
            calls = any(part.function_call for part in parts)
            return correction(feedback, _text_of(parts), ends[-1] if ends else None, calls=calls)

        return await self._gate.aanswer(ending(run, text, stop), author)

    def _run(self, context: Any, request: Any, end: Iterable[Step] = ()) -> Run:
        """What the session has seen, and what it ends with."""
        steps: list[Step] = [*self._gate.declared(_declared(request))]
        instructions = "" if request is None else _instructions(request.config.system_instruction)
        if instructions.strip():
            steps.append(SystemPrompt(content=text_parts(instructions)))
        asked: set[str] = set()
        for event in context.session.events:
            asked |= event.long_running_tool_ids or set()
            if event.content is not None and not event.partial:
                parts = event.content.parts or ()
                steps += _steps(event.author, [one for one in parts if _counts(one, event.author, asked)])
        return run_from([*steps, *end])


def _counts(part: Any, author: str, long_running: Collection[str]) -> bool:
    """Whether a part of an event is of the run.

    The kit's own questions to a person and their answers are not: no model has made these calls. Nor are results that
    the user's message brings, but for those of long-running tools, which come in that way.
    """
    one = part.function_call or part.function_response
    if one is None:
        return True
    if one.id in long_running:
        return one.name not in _QUESTIONS
    return author != "user"


def _place(context: Any) -> str:
    return f"{context.invocation_id} {context.agent_name}"


def _text_of(parts: Iterable[Any]) -> str:
    """What parts say to their reader: reasoning is no answer."""
    return "".join(part.text for part in parts if part.text and not part.thought)


def _shown(part: Any) -> set[str]:
    """What a part has, by the names of its fields."""
    return {name for name in type(part).model_fields if getattr(part, name) is not None} - _BESIDE


def _with_parts(response: Any, parts: list[Any]) -> Any:
    """The response with these parts alone."""
    content = types.Content(role="model", parts=parts)
    return response.model_copy(update={"content": content, "output_transcription": None})


def _saying(response: Any, text: str) -> Any:
    """A response that says something else; it keeps what the other cost, not what it said."""
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, usage_metadata=response.usage_metadata, model_version=response.model_version)


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
            found.append(ToolCall(id=call.id or f"call-{number}", name=call.name, arguments=arguments(call.args or {})))
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
    return [*([UserInput(content=text_parts(said))] if author == "user" else turn(said)), *found]


def _result(response: Any) -> Any:
    """What a function gave; the kit puts what is no object under a name of its own."""
    if isinstance(response, dict) and len(response) == 1:
        for name in ("result", "error"):
            if name in response:
                return response[name] if response[name] not in (None, "") else "done"
    return response or "done"
