"""Microsoft Agent Framework: middleware that checks every tool call before it is executed and every answer.

    from assay.integrations.agents.agent_framework import assay_middleware
    agent = Agent(client, tools=[get_order], middleware=assay_middleware(guard))

The chat middleware sees each request to the model with the whole history: it decides on the calls of a response, checks
its answer, and asks again within the same step where it fails. The function middleware, which the framework shows the
call alone, executes what was decided on and nothing else; they belong together, and each lets nothing more out without
the other. A stream is asked for in one piece, checked, and then given out as updates.

Put them first, so that what other middleware makes of an answer is checked as well. Telemetry shows the model's raw
words. The extra `agent-framework` installs what this needs; tested with agent-framework-core 1.23.
"""

import json
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from assay.errors import CallRejectedError, InputError
from assay.guard import CallDecision, Guard
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
from assay.schema.run import (
    ModelTurn,
    Run,
    Step,
    SystemPrompt,
    ToolCall,
    UserInput,
    read_argument_object,
    read_arguments,
)

try:
    from agent_framework import (
        ChatMiddleware,
        ChatResponse,
        ChatResponseUpdate,
        FunctionMiddleware,
        FunctionTool,
        Message,
        ResponseStream,
    )
except ImportError as error:
    raise missing("agent-framework", error, "assay.integrations.agents") from error

__all__ = ["assay_middleware"]


def assay_middleware(guard: Guard, **options: Unpack[GateOptions]) -> list[Any]:
    """The middleware of agents; one list may serve many agents and runs.

    Args:
        guard: what checks.
        options: those of `assay.integrations.run_gate.RunGate`; `on_withheld` is `answer` by default. `raise` lets the
            agent's `run` raise `WithheldError` and `CallRejectedError`.

    Returns:
        Two objects for `Agent(middleware=...)`: one for the model, one for functions.
    """
    gate_options: GateOptions = {"on_withheld": "answer", **options}
    decided: Recent[CallDecision] = Recent()
    return [_Answers(RunGate(guard, **gate_options), decided), _Calls(decided)]


class _Calls(FunctionMiddleware):
    """Executes the calls that passed, and tells the model why not of all others."""

    def __init__(self, decided: Recent[CallDecision]) -> None:
        self._decided = decided

    async def process(self, context: Any, call_next: Any) -> None:
        """Execute a function, or put the reasons in the place of its result."""
        known = self._decided.get(_call_key(context.metadata.get("call_id"), context.function.name))
        if known is not None and known.accepted:
            await call_next()
        else:
            context.result = not_executed(context.function.name) if known is None else known.message


class _Answers(ChatMiddleware):
    """Checks what each response of the model calls and says."""

    def __init__(self, gate: RunGate, decided: Recent[CallDecision]) -> None:
        self._gate, self._decided = gate, decided

    async def process(self, context: Any, call_next: Any) -> None:
        """Ask the model and check what it wants to call or to say.

        Raises:
            WithheldError: the answer does not pass, and `on_withheld` is `raise` or the answer is structured.
            CallRejectedError: the model does not stop sending calls that are wrong, and `on_withheld` is `raise`.
            InputError: the provider keeps the history, so that nothing can be traced in it.
        """
        asked = dict(context.options or {})
        if asked.get("conversation_id"):
            raise InputError(
                "the provider keeps the history of this run, so nothing can be traced in it: "
                "run without a conversation_id and with store=False"
            )
        streams, context.stream = context.stream, False
        await call_next()
        response = await self._settled(context, call_next, asked, context.result)
        context.stream, context.result = streams, _streamed(response) if streams else response

    async def _settled(self, context: Any, call_next: Any, asked: dict[str, Any], response: Any) -> Any:
        history = list(context.messages)
        tools = [tool for tool in _listed(asked.get("tools")) if isinstance(tool, FunctionTool)]
        declared = [tool.to_json_schema_spec() for tool in tools]

        def run(*messages: Any) -> Run:
            return _run_of(self._gate, declared, asked.get("instructions"), [*history, *messages])

        calls = [one for message in response.messages for one in message.contents if one.type == "function_call"]
        text = "\n".join(message.text for message in response.messages if message.text)
        if calls:
            try:
                whole = run(*response.messages)
                for call in calls:
                    decision = await self._gate.adecide(*before_call(whole, call.call_id))
                    self._decided.put(_call_key(call.call_id, call.name), decision)
            except CallRejectedError as error:
                return _saying(response, self._gate.instead_of_calls(error))
            if not text.strip() or await self._gate.abeside(run(Message("assistant", [text]))):
                return response
            return _silent(response)
        if not text.strip():
            return response
        structured = asked.get("response_format") is not None
        words = in_words(_parsed(text)) if structured else text

        async def author(feedback: Feedback) -> str:
            more = [Message("assistant", [feedback.output]), Message("user", [feedback.text])]
            context.messages = [*history, *more]
            try:
                await call_next()
            finally:
                context.messages = history
            again = context.result
            called = any(one.type == "function_call" for message in again.messages for one in message.contents)
            return feedback.output if called else again.text

        gate = replace(self._gate, on_withheld="raise") if structured else self._gate
        said = await gate.aanswer(run(Message("assistant", [words])), None if structured else author)
        return response if said == words else _saying(response, said)


def _call_key(call_id: str | None, name: str) -> str:
    return json.dumps([call_id, name])


def _listed(tools: Any) -> Sequence[Any]:
    if tools is None:
        return ()
    return tools if isinstance(tools, Sequence) else (tools,)


def _parsed(text: str) -> Any:
    """A structured answer; what is no JSON is text."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _saying(response: Any, text: str) -> Any:
    """A response that says something else; it keeps what the other cost, not what it said."""
    return ChatResponse(
        messages=[Message("assistant", [text])],
        response_id=response.response_id,
        model=response.model,
        created_at=response.created_at,
        finish_reason="stop",
        usage_details=response.usage_details,
    )


def _silent(response: Any) -> Any:
    """The response without what it says beside its calls."""
    for message in response.messages:
        message.contents = [one for one in message.contents if one.type != "text"]
    return response


def _streamed(response: Any) -> Any:
    """A response as the updates of a stream."""

    async def updates() -> AsyncIterator[Any]:
        for message in response.messages:
            yield ChatResponseUpdate(
                contents=message.contents,
                role=message.role,
                response_id=response.response_id,
                message_id=message.message_id,
                model=response.model,
                finish_reason=response.finish_reason,
            )

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _run_of(gate: RunGate, tools: Iterable[Any], instructions: Any, messages: Iterable[Any]) -> Run:
    """The run that messages tell of."""
    steps: list[Step] = [*gate.declared(tools)]
    if isinstance(instructions, str) and instructions.strip():
        steps.append(SystemPrompt(content=text_parts(instructions)))
    for message in messages:
        steps += _steps(message)
    return run_from(steps)


def _steps(message: Any) -> list[Step]:
    text = message.text
    said = text_parts(text)
    found: list[Step] = []
    if said:
        match str(message.role):
            case "system" | "developer":
                found.append(SystemPrompt(content=said))
            case "assistant":
                found.append(ModelTurn(content=said))
            case "user":
                found.append(UserInput(content=said))
    for one in message.contents:
        if one.type == "function_call":
            given = one.arguments
            arguments = read_arguments(given) if isinstance(given, str) else read_argument_object(plain(given or {}))
            found.append(ToolCall(id=one.call_id, name=one.name, arguments=arguments))
        elif one.type == "function_result":
            result = _result(one)
            failed = one.exception is not None or (isinstance(result, str) and was_not_executed(result))
            found.append(tool_result(one.call_id, None, result, failed=failed))
    return found


def _result(content: Any) -> Any:
    """What a function gave: its texts where it gave several items, else as it is."""
    texts = [item.text for item in content.items or () if getattr(item, "text", None)]
    return "\n".join(texts) or content.result or "done"
